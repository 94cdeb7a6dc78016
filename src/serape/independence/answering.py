"""Asks whom `choose` names: what devices and clusters answer, and how a test finds who answers its question.

To add a kernel on a device, write it, and name it in `_ALL`: of which columns on a device, for which question, and for
which shapes it is faster than the core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from serape.engines.gpu.pairs import MAX_STRONGEST
from serape.engines.gpu.subsets import MAX_SIZE
from serape.independence.backends import (
    NO_OFFER,
    PATTERNS,
    QUESTIONS,
    Backend,
    DeviceColumns,
    Offer,
    Pays,
    QuestionName,
    Shape,
    choose,
)
from serape.independence.device_correlations import pairs_by_correlation, search_each_by_correlation
from serape.independence.device_pairs import pairs_in_blocks, pairs_on_device
from serape.independence.device_pools import grow_pools_on_device
from serape.independence.device_separations import separate_on_device
from serape.independence.device_spouses import find_spouses_on_device
from serape.independence.device_subsets import search_each_on_device
from serape.independence.near import Fetcher, each_given_rest_near, search_near
from serape.independence.outcomes import Candidates, Poll, Tally
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.base import IndependenceTest

LARGE_POOL = 2048
"""Variables of a pool from which on the way to a device pays (docs/gpu.md)."""


def _always(shape: Shape) -> bool:
    del shape
    return True


def _usual(shape: Shape) -> bool:
    return shape.usual


def _few_strongest(shape: Shape) -> bool:
    return shape.strongest <= MAX_STRONGEST


def _small_sets(shape: Shape) -> bool:
    return len(shape.sizes) > 0 and shape.sizes.start >= 1 and shape.sizes.stop - 1 <= MAX_SIZE


def _large_pool(shape: Shape) -> bool:
    return shape.usual and shape.pool >= LARGE_POOL and shape.sizes == range(1, 2)


@dataclass(frozen=True)
class Elsewhere:
    """A question that a device or a cluster answers."""

    kind: str
    """The `kind` of the columns on the device, or of what fetches from the cluster."""
    question: QuestionName
    answer: Callable[..., Any]
    """Takes the test, these columns or what fetches, and what the test's own method takes; None if the test must."""
    pays: Pays = _always
    together: int = 0
    """Of questions that are asked some at a time: how many in one call, at least."""


_ALL: Final[Mapping[Backend, tuple[Elsewhere, ...]]] = {
    "device": (
        Elsewhere("planes", "all pairs", pairs_on_device, _few_strongest),
        Elsewhere("blocks of planes", "all pairs", pairs_in_blocks, _few_strongest),
        Elsewhere("planes", "subsets", separate_on_device, _large_pool),
        Elsewhere("planes", "subsets of many", search_each_on_device, _small_sets),
        Elsewhere("planes", "growing pools", grow_pools_on_device, _usual),
        Elsewhere("planes", "spouses", find_spouses_on_device, _usual, together=1024),
        Elsewhere("correlations", "dependent pairs", pairs_by_correlation, _usual),
        Elsewhere("correlations", "subsets of many", search_each_by_correlation, _small_sets),
    ),
    "cluster": (
        Elsewhere("fetched", "subsets", search_near),
        Elsewhere("fetched", "each given the rest", each_given_rest_near),
    ),
}
ELSEWHERE: Final[Mapping[tuple[str, QuestionName], Elsewhere]] = {
    (one.kind, one.question): one for some in _ALL.values() for one in some
}
"""By the kind of what is elsewhere, and the question."""
OFFERS: Final[Mapping[str, Offer]] = {
    kind: Offer(backend, {one.question: one.pays for one in some if one.kind == kind})
    for backend, some in _ALL.items()
    for kind in dict.fromkeys(one.kind for one in some)
}
"""By kind, the questions that are answered elsewhere."""


def _elsewhere(test: IndependenceTest) -> DeviceColumns | Fetcher | None:
    """Return what is on a device, or fetches from a cluster: a test has one at most."""
    return test.device_columns if test.fetcher is None else test.fetcher


def who_answers(test: IndependenceTest, shape: Shape) -> Backend | None:
    """Return who answers a question for a test; None if it must be asked by pattern."""
    there = _elsewhere(test)
    return choose(shape, test.core_answers, NO_OFFER if there is None else OFFERS[there.kind])


class AtOnce:
    """A question of a test: calling it is asking."""

    def __init__(self, test: IndependenceTest, backend: Backend, question: QuestionName) -> None:
        answers_itself = question in PATTERNS or question in test.core_answers
        self._own = getattr(test, QUESTIONS[question].method) if answers_itself else None
        self._test = test
        self._there = _elsewhere(test) if backend in _ALL else None
        self._kernel = None if self._there is None else ELSEWHERE[self._there.kind, question]

    @property
    def together(self) -> int:
        """Of questions that are asked some at a time: how many in one call, at least."""
        return 0 if self._kernel is None else self._kernel.together

    def __call__(self, *asked: Any, **options: Any) -> Any:
        """Return the answer; None if it must be asked by pattern after all."""
        if self._kernel is not None:
            found = self._kernel.answer(self._test, self._there, *asked, **options)
            if found is not None:
                return found
        return None if self._own is None else self._own(*asked, **options)


def at_once(test: IndependenceTest, shape: Shape) -> AtOnce | None:
    """Return what answers a question; None if it must be asked by pattern."""
    backend = who_answers(test, shape)
    return None if backend is None else AtOnce(test, backend, shape.question)


def search_subsets(
    test: IndependenceTest, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
) -> tuple[SubsetResult, Tally]:
    """Search the conditioning sets of a query."""
    if _elsewhere(test) is None:  # there is no choice, and searches ask a great many of these
        return test.search_subsets(query, threads=threads, poll=poll)
    one_by_one = query.shrinking and not query.until_survivor and query.max_tests is None and query.n_exhausted == -1
    plain = len(query.fixed) == 0 and query.max_size != 0 and query.stop_above is not None
    ask = at_once(test, Shape("subsets", len(query.pool), query.sizes, usual=one_by_one and plain))
    assert ask is not None
    found: tuple[SubsetResult, Tally] = ask(query, threads=threads, poll=poll)
    return found


def each_given_rest(
    test: IndependenceTest,
    xs: Candidates,
    target: int,
    pool: Candidates,
    stop_above: float,
    *,
    max_size: int | None = None,
    poll: Poll | None = None,
) -> tuple[SubsetResult, Tally]:
    """Test each x in turn given the rest of the pool."""
    if _elsewhere(test) is None:
        return test.test_each_given_rest(xs, target, pool, stop_above, max_size=max_size, poll=poll)
    ask = at_once(test, Shape("each given the rest"))
    assert ask is not None
    found: tuple[SubsetResult, Tally] = ask(xs, target, pool, stop_above, max_size=max_size, poll=poll)
    return found
