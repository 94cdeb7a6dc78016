"""Searches of many candidates in turn, each given the subsets of the members so far, in one call of the test.

A search that must not separate required pairs, reads unreliable tests as independence or ends after a number of tests
asks candidate by candidate. So does one with a test for which nobody has such a kernel. The answers and the numbers of
tests are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from serape.arrays import Positions
from serape.independence.answering import at_once
from serape.independence.backends import Shape
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.marginals import as_marginals
from serape.independence.outcomes import as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.search.pools import PoolAssociations, Pools
from serape.search.search import Search

_ROWS = 20_000_000
"""Rows of all tests of one call together: then it returns, so that the members so far are known."""
_MIN_TESTS = 64
_GROWING = Shape("growing pool")


class GrownPool(NamedTuple):
    """What became of a pool."""

    changes: list[tuple[int, bool]]
    """The variables that joined the pool (True) or left it (False), in turn."""
    asked: int
    """How many of the candidates were searched."""


def can_grow_pool(search: Search, target: int) -> bool:
    """Return whether `grow_pool` answers questions about a target."""
    return search.asks_plainly(target) and at_once(search.test, _GROWING) is not None


def grow_pool(
    search: Search, target: int, pool: Sequence[int], candidates: Positions, *, n_exhausted: int, examine: bool
) -> GrownPool:
    """Search the candidates in turn: one that no subset of the pool separates from the target joins the pool.

    With `examine`, each older member is then searched given the subsets that contain the new one, and leaves the pool
    if one separates it. `n_exhausted` is that of a `SubsetQuery` for candidates.
    """
    ask = at_once(search.test, _GROWING)
    assert ask is not None
    rows = search.test.rows
    sizes = range(len(pool) + len(candidates) + 1)
    query = SubsetQuery(
        candidates, target, pool, sizes, (), search.max_conditioning, n_exhausted, search.log_alpha, shrinking=True
    )
    enough = _MIN_TESTS if rows is None else max(_MIN_TESTS, _ROWS // rows)
    found, tally, changes, asked = ask(query, examine=examine, enough=enough, poll=search.poll)
    search.record_subsets(target, found, tally)
    return GrownPool(changes, asked)


def grow_pools(search: Search, targets: Sequence[int], known: Mapping[int, ScreenResult]) -> Pools:
    """Return the pool of each target after its dependent candidates, the strongest first, with `examine`.

    `known` are the tests given nothing. The pools of many targets grow in one call, if there is such a kernel and the
    search keeps nothing but the pools and associations; otherwise there is no answer.
    """
    test, log_alpha, weigh = search.test, search.log_alpha, search.keeps_associations
    alone = search.keeps_no_more_than_associations and not search.keeps_separations and not search.is_random
    marginals = as_marginals(known)
    pairs_alone = marginals.dependent_at is not None  # as of large tables
    ask = at_once(test, Shape("growing pools", usual=pairs_alone))
    if ask is None or not alone or search.excludes(search.variables) or not known:
        return Pools({})
    if pairs_alone and marginals.dependent_at != log_alpha:
        return Pools({})
    each = as_positions(targets)
    pools, weakest, tally = ask(
        each,
        marginals.ranked_dependents(each, log_alpha, search.threads),
        log_alpha,
        max_size=search.max_conditioning,
        weigh=weigh,
        threads=search.threads,
        poll=search.poll,
    )
    search.count(tally)
    found = dict(zip(each.tolist(), pools, strict=True))
    if not weigh:
        return Pools(found)
    given_nothing = marginals.tests_of(each, pools, search.threads)
    weigh_by = PoolAssociations(each, pools, _weaker(weakest, given_nothing), test.rows)
    return Pools(found, dict.fromkeys(found, weigh_by))


def _weaker(given_sets: GivenTests, given_nothing: GivenTests) -> GivenTests:
    """Return, of the two tests of each member, the weaker one; that given nothing if they are alike, or it is alone."""
    is_weaker = given_sets.log_p > given_nothing.log_p
    statistic, dof, log_p = (
        np.where(is_weaker, getattr(given_sets, name), getattr(given_nothing, name))
        for name in ("statistic", "dof", "log_p")
    )
    sizes = given_sets.given.sizes
    members = given_sets.given.members[is_weaker.repeat(sizes)]
    return GivenTests(statistic, dof, log_p, VariableSets(np.cumsum(np.where(is_weaker, sizes, 0)), members))
