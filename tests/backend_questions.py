"""The questions of `backends.py`: random tables, and what is asked of a test and of its plain twin alike."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

import serape
from plain import random_table
from plain_correlations import correlated
from serape.independence import Outcome, ScreenResult, SubsetQuery, answering
from serape.independence.backends import QuestionName, Shape
from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import DependentBlocks, find_dependent_pairs, strongest_pairs
from serape.independence.native_screens import NativeScreenResult
from serape.independence.outcomes import Tally
from serape.independence.registry import make_test
from serape.independence.subset_query import TargetLists
from serape.independence.subsets import SubsetResult
from serape.local.gll import GLL, after_every_inclusion, by_association, gll_pc_nonsym
from serape.local.hiton import INTERLEAVED
from serape.local.hpc import de_pcs
from serape.local.inter_iapc import inter_iapc_each
from serape.search import CandidateGroups, Search, grow_pools
from serape.search import many_targets as many
from serape.search.discoveries import FalseDiscoveryRate

SIZE, FEW = 12, 6  # columns
LOG_ALPHA = math.log(0.05)
RATE = FalseDiscoveryRate(0.2)
SLOW = ("gcm", "pcm", "regression", "g2-permutation", "g2-semiparametric", "correlation-permutation", "trend")


class Plain(IndependenceTest):
    """A test that answers one question after another, and for which nobody has a kernel."""

    def __init__(self, test: IndependenceTest) -> None:
        self.inner, self.variables, self.rows, self.name = test, test.variables, test.rows, test.name

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        return self.inner.test(x, y, given)


# --- tables -----------------------------------------------------------------------------------------------------------


def categories(random: np.random.Generator, levels: Sequence[int], size: int = SIZE) -> serape.Table:
    """Draw columns of some numbers of levels."""
    rows = int(random.choice([30, 90, 300, 1000]))
    return random_table(random, rows, random.choice(levels, size).tolist(), float(random.choice([0.3, 0.6])))


def numbers(
    random: np.random.Generator, size: int = SIZE, *, troubled: bool = True, rows: Sequence[int] = (12, 40, 300)
) -> serape.Table:
    """Draw numbers; of troubled columns some are copies, nearly so, or constant."""
    is_troubled = troubled and random.random() < 0.3
    return serape.Table(
        correlated(int(random.integers(10**6)), int(random.choice(rows)), size, is_troubled), kinds="continuous"
    )


def mixture(random: np.random.Generator, size: int = SIZE) -> serape.Table:
    """Draw numbers, every third of which is divided into classes."""
    rows = 40 if size == FEW else int(random.choice([40, 90, 200]))
    values = correlated(int(random.integers(10**6)), rows, size)
    columns: dict[str, Any] = {f"x{k}": values[:, k] for k in range(size)}
    for k in range(0, size, 3):
        columns[f"x{k}"] = np.digitize(values[:, k], [-0.7, 0.7][: 1 + k % 2]).astype(str)
    kinds = {name: "continuous" if k % 3 else "categorical" for k, name in enumerate(columns)}
    return serape.Table(columns, kinds=kinds)


@cache
def table_for(name: str) -> Callable[[np.random.Generator], serape.Table]:
    """Return what draws the tables that a test takes."""
    size = FEW if name in SLOW else SIZE
    makers: tuple[Callable[[np.random.Generator], serape.Table], ...] = (
        lambda random: mixture(random, size),
        lambda random: categories(random, (2, 2, 3, 4, 8, 12), size),
        lambda random: numbers(random, size),
    )
    for maker in makers:
        table = maker(np.random.default_rng(0))
        with contextlib.suppress(serape.DataError):
            make_test(table, name).check(range(len(table.names)))
            return maker
    raise AssertionError(name)


# --- questions --------------------------------------------------------------------------------------------------------
# Each takes a test, and numbers drawn alike for the test and its twin; it returns answers that can be compared.


def of_screen(screen: ScreenResult) -> list[Any]:
    return [
        (x, (screen.statistic[k], screen.dof[k], screen.log_p[k]) if screen.reliable[k] else None)
        for k, x in enumerate(screen.xs.tolist())
    ]


def of_subsets(found: SubsetResult, tally: Tally | None = None) -> list[Any]:
    facts: list[Any] = [] if tally is None else [tally.tests_by_size, tally.skipped_by_size]
    for x, one in zip(found.xs.tolist(), found, strict=True):
        outcome = one.outcome
        facts.append((x, one.separated, tuple(map(int, one.given)) if outcome.reliable else None))
        facts.append((outcome.statistic, outcome.dof, outcome.log_p) if outcome.reliable else None)
    return facts


def drawn(test: IndependenceTest, random: np.random.Generator) -> tuple[int, list[int], list[int]]:
    """Return a target, and two lists of other variables that may have some in common; tests that take long get few."""
    few = test.name in SLOW
    target, *order = random.permutation(len(test.variables)).tolist()
    begin = int(random.integers(1, 2) if few else random.integers(2, 6))
    return target, order[: 2 if few else 6], order[begin : begin + int(random.integers(1, 3 if few else 7))]


def screen(test: IndependenceTest, random: np.random.Generator) -> Any:
    target, *order = random.permutation(len(test.variables)).tolist()
    size = int(random.integers(2 if test.name in SLOW else 4))
    candidates = order[size : size + 2] if test.name in SLOW else order[size:]
    return of_screen(test.screen(target, np.array(candidates, np.uint32), order[:size], threads=2))


def subsets(test: IndependenceTest, random: np.random.Generator) -> Any:
    target, xs, pool = drawn(test, random)
    query = SubsetQuery(
        xs, target, pool, [range(3), range(1, 3), range(2, 3), range(2)][int(random.integers(4))],
        fixed=[order for order in range(len(test.variables)) if order not in (target, *xs, *pool)][
            : int(random.integers(2))
        ],
        max_size=[None, None, 1, 2][int(random.integers(4))],
        n_exhausted=int(random.integers(-1, 2)),
        stop_above=[None, LOG_ALPHA][int(random.integers(2))],
        shrinking=bool(random.integers(2)),
        until_survivor=bool(random.integers(4) == 0),
    )  # fmt: skip
    return of_subsets(*answering.search_subsets(test, query))


def separations_of_a_pool(test: IndependenceTest, random: np.random.Generator) -> Any:
    """The first step of HPC: the weakest is tested first, given each of the others."""
    target = int(random.integers(len(test.variables)))
    others = [x for x in range(len(test.variables)) if x != target]
    pool = test.screen(target, others).dependents(math.log(0.5))
    query = SubsetQuery(pool[::-1], target, pool, range(1, 2), stop_above=LOG_ALPHA, shrinking=True)
    return of_subsets(*answering.search_subsets(test, query))


def each_given_rest(test: IndependenceTest, random: np.random.Generator) -> Any:
    target, xs, pool = drawn(test, random)
    pool = sorted({*xs, *pool})[: 3 if test.name in SLOW else 5]
    found = answering.each_given_rest(
        test, [x for x in xs if x in pool], target, pool, LOG_ALPHA, max_size=[None, 2][int(random.integers(2))]
    )
    return of_subsets(*found)


def pairs(test: IndependenceTest, random: np.random.Generator) -> Any:
    targets = random.permutation(len(test.variables))[: 2 if test.name in SLOW else 5].tolist()
    size = len(test.variables)
    asked = (lambda x: [y for y in range(size) if (x + y) % 4 == 0 and y != x]) if random.random() < 0.3 else None
    return {x: of_screen(screen) for x, screen in test.marginals(targets, asked, threads=2).items()}


def all_pairs(test: Any, random: np.random.Generator) -> Any:
    size, strongest = len(test.variables), int(random.integers(1, 4))
    targets, columns = random.permutation(size).tolist(), np.arange(size, dtype=np.uint32)
    few = targets[: int(random.integers(1, size))]
    if isinstance(test, Plain):
        known = test.marginals(targets)
        dependents = [known[x].dependents(LOG_ALPHA) for x in range(size)]
        return (
            {x: dependents[x] for x in targets},
            {x: dependents[x] for x in few},
            [(len(own), {round(float(known[x].statistic[y]), 9) for y in own[:strongest]}) for x, own in
             enumerate(dependents)],
            sum(known[x].performed for x in range(size)) // 2,
        )  # fmt: skip
    found = find_dependent_pairs(test, targets, LOG_ALPHA, 2)
    assert found is not None
    blocks = {x: block[x].dependents(LOG_ALPHA) for block in DependentBlocks(test, few, LOG_ALPHA, 2) for x in block}
    counts, partners, statistic, _ = strongest_pairs(test, columns, LOG_ALPHA, strongest, 2)
    listed = [
        (int(counts[x]), {round(v, 9) for v in statistic[x * strongest : (x + 1) * strongest].tolist() if v == v})
        for x in range(size)
    ]
    del partners  # of equally strong ones, either
    return {x: found[x].dependents(LOG_ALPHA) for x in targets}, blocks, listed, found.tests


def dependent_pairs(test: IndependenceTest, random: np.random.Generator) -> Any:
    del random
    search = a_search(test)
    variables = [*search.variables]
    with mock.patch.object(many, "_MANY", 2):
        found = many.dependent_pairs(search, variables)
    if found is None:
        parts = [(x, search.partition(x, np.array(variables[k:], np.uint32))[0]) for k, x in enumerate(variables, 1)]
        listed = [((x, y), rest) for x, part in parts for y, rest in of_screen(part)]
    else:
        listed = [((x, y), rest) for x, (y, rest) in zip(found[0].tolist(), of_screen(found[1]), strict=True)]
    return sorted(listed), search.tally


def screen_elsewhere(test: Any, random: np.random.Generator) -> Any:
    """Candidates are columns of another table, in another order."""
    whole: serape.Table = getattr(test, "inner", test).table
    order = random.permutation(len(whole.names)).tolist()
    near, far = order[:4], order[4:]
    target, *given = range(1 + int(random.integers(4)))
    if isinstance(test, Plain):
        return of_screen(test.screen(near[target], far, [near[z] for z in given]))
    made = type(test)(whole.part(near), test.dof, test.reliability)
    ask = answering.at_once(made, Shape("screen in another table"))
    assert ask is not None
    answers = ask(whole.part(far).packed, target, np.arange(len(far), dtype=np.uint32), given)
    return of_screen(NativeScreenResult(np.array(far, np.uint32), (), answers))


def subsets_of_many(test: IndependenceTest, random: np.random.Generator) -> Any:
    size, n = int(random.integers(4)), len(test.variables)
    targets = random.permutation(n)[:6].tolist()
    asked = {x: [y for y in random.permutation(n).tolist() if y != x][: int(random.integers(1, 4))] for x in targets}
    pools = {x: [z for z in random.permutation(n).tolist() if z != x][: int(random.integers(1, 6))] for x in targets}
    search = a_search(test, max_conditioning=[None, None, 2][int(random.integers(3))])
    parts = list(many.separate_each(search, TargetLists.of(asked), TargetLists.of(pools), size))
    return [one for _, found, _ in parts for one in of_subsets(found)], search.tally


def growing_pool(test: IndependenceTest, random: np.random.Generator) -> Any:
    target = int(random.integers(len(test.variables)))
    rules = GLL(by_association, interleaving=after_every_inclusion)
    search = Search(test, subject=target, alpha=0.05, max_conditioning=[None, 1, 3][int(random.integers(3))])
    members = gll_pc_nonsym(search, target, rules)
    others = [x for x in search.variables if x != target]
    return members, search.tally, search.log(target).events, [search.separating_set(x, target) for x in others]


def growing_pools(test: IndependenceTest, random: np.random.Generator) -> Any:
    targets = random.permutation(len(test.variables))[: int(random.integers(1, SIZE))].tolist()
    largest, rate = [None, 1, 3][int(random.integers(3))], [None, RATE][int(random.integers(2))]
    search = a_search(test, max_conditioning=largest, fdr=rate)
    known: Any = test.marginals(targets)
    if not isinstance(test, Plain) and (test.device_columns is not None or random.random() < 0.5):
        known = find_dependent_pairs(test, range(len(test.variables)), LOG_ALPHA) or known
    search.use_marginals(known)
    pools = grow_pools(search, targets, known)
    if not pools.of:
        of = {x: tuple(gll_pc_nonsym(search, x, INTERLEAVED)) for x in targets}
        return of, search.tally, {(y, x): search.weakest_association(y, x) for x in targets for y in of[x]}
    return pools.of, search.tally, {(y, x): pools.weakest_of(y, x) for x in targets for y in pools.of[x]}


def spouses(test: IndependenceTest, random: np.random.Generator) -> Any:
    target, n = int(random.integers(len(test.variables))), len(test.variables)
    search = a_search(test, max_conditioning=[None, None, 1, 2][int(random.integers(4))], keep_separations=True)
    pcs, separated = de_pcs(search, target)
    groups = CandidateGroups((ys, given) for given, ys in separated.items())
    children = [*pcs, *(x for x in range(0, n, 4) if x != target and x not in pcs)]
    found = list(many.dependents_given_each(search, target, groups, children, as_written=bool(random.integers(4) == 0)))
    sets = [search.separating_set(x, target) for x in range(n) if x != target]
    return found, search.tally, sets


def inter_iapc(test: IndependenceTest, random: np.random.Generator) -> Any:
    n = len(test.variables)
    among = np.flatnonzero(random.random(n) < 0.7).astype(np.uint32)
    search = Search(test, alpha=0.05, evidence=False, threads=2, fdr=[None, RATE][int(random.integers(2))])
    targets = random.permutation(n)[:5].tolist()
    found = list(inter_iapc_each(search, targets, among))
    pairs = [(x, y) for x in targets for y in among.tolist() if x != y]
    weakest = [search.weakest_association(y, x) for x, y in pairs]
    return found, search.tally, [search.separating_set(*pair) for pair in pairs], weakest


ASKED: dict[QuestionName, Callable[[Any, np.random.Generator], Any]] = {
    "screen": screen,
    "subsets": subsets,
    "each given the rest": each_given_rest,
    "pairs": pairs,
    "all pairs": all_pairs,
    "dependent pairs": dependent_pairs,
    "screen in another table": screen_elsewhere,
    "subsets of many": subsets_of_many,
    "growing pool": growing_pool,
    "growing pools": growing_pools,
    "spouses": spouses,
    "inter-iapc": inter_iapc,
}


def a_search(test: IndependenceTest, **more: Any) -> Search:
    return Search(test, **{"alpha": 0.05, "evidence": False, "keep_separations": False, "threads": 2, **more})
