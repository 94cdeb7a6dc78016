"""Tests in contingency tables, answered by the native core.

Degrees of freedom: `"full"` is (r_x − 1)(r_y − 1)·∏ r_z over all levels; `"adjusted"` sums (non-empty rows − 1) times
(non-empty columns − 1) over the strata that occur. `"auto"` is `"full"` for a single test; for a search it is the rule
with which the algorithm is more accurate (`docs/degrees-of-freedom.md`).

Reliability: `"dof"` requires at least `minimum` (5) rows per *full* degree of freedom, `"cells"` as many per cell on
average, `None` nothing. A test of 0 degrees of freedom carries no information and is never reliable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table
from serape.errors import OptionError
from serape.independence.backends import PATTERNS, Questions
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects, table_effects
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.native_pairs import NativePairs
from serape.independence.native_screens import NativeScreenResult
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, Tally, as_positions
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import SubsetQuery, TargetLists, for_core
from serape.independence.subsets import SubsetResult, native_result
from serape.types import DofRule, ReliabilityRule
from serape.wording import setting


class InterIapcRun(NamedTuple):
    """What a run of Inter-IAPC asked, and the answers."""

    rounds: list[tuple[tuple[int, ...], int, int, NDArray[np.uint32], list[tuple[SubsetResult, Tally]]]]
    """The members before each round, the numbers of tests of the others that were performed and skipped, which of these
    are independent, and the tests of members given the rest."""
    repeats: bool
    """Whether a set of members repeated."""
    separated: tuple[SubsetResult, Tally]
    """The search that separates members of the blanket given subsets of the others."""
    weakest: list[tuple[int, Outcome, tuple[int, ...]]]
    """Of the candidates to weigh, the weakest test that showed dependence before they entered, and its set."""


Spouses = tuple[Sequence[int] | NDArray[np.uint32], Tally, SubsetResult, Tally]
"""Of a child: the dependent candidates, the number of tests; what separates them, and its number of tests."""
IN_TABLES: Questions = PATTERNS | {
    "screen in another table", "subsets of many", "growing pool", "growing pools", "spouses", "inter-iapc",
}  # fmt: skip
"""What the core answers in contingency tables, whatever the statistic."""
_OTHER: dict[str, Literal["g2", "x2"]] = {"g2": "x2", "x2": "g2"}


def check_rules(dof: str, reliability: str | None) -> None:
    """Refuse unknown rules."""
    if dof not in ("auto", "full", "adjusted"):
        raise OptionError(f"{setting('dof', dof)} is not known; use 'auto', 'full' or 'adjusted'")
    if reliability not in ("dof", "cells", None):
        raise OptionError(f"{setting('reliability', reliability)} is not known; use 'dof', 'cells' or None")


class ContingencyTest(IndependenceTest):
    """A test of independence in the contingency tables of a Table's categorical columns."""

    statistic: ClassVar[Literal["g2", "x2"]]
    has_effect = True
    counts_cells = True
    core_answers = IN_TABLES
    made_of: ClassVar[tuple[str, ...] | None] = ("statistic", "dof", "reliability", "minimum")

    def __init__(
        self, table: Table, dof: DofRule = "auto", reliability: ReliabilityRule = "dof", minimum: float = 5.0
    ) -> None:
        check_rules(dof, reliability)
        if not minimum > 0:
            raise OptionError(f"the minimum number of rows must be positive, not {minimum!r}")
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self.dof = "full" if dof == "auto" else dof
        self.reliability = reliability
        self.minimum = minimum
        self.native = _core.ContingencyTest(table.packed, self.statistic, self.dof, reliability or "none", minimum)

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.table, self.dof, self.reliability, self.minimum)
        return type(self), made_of, {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns."""
        self.table.check_categorical(f"test {self.name!r}", variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        return Outcome(*self.native.test(x, y, given), self.rows)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return G² in bits and Cramér's V; the statistic that the test does not use takes one more screen."""
        del dof
        other = self._other_statistic(target, as_positions(candidates), given)
        return self._effects(statistic, other, self._least_levels(target, candidates))

    def effects_of(
        self, xs: NDArray[np.uint32], ys: NDArray[np.uint32], tests: GivenTests, *, threads: int = 1
    ) -> Effects | None:
        """Return the effects of tests, each of its own x and y, in one call; None for a test of a caller."""
        if self.of_caller:
            return None
        packed, given = self.table.packed, tests.given
        test = _core.ContingencyTest(packed, _OTHER[self.statistic], "adjusted", "none", 1.0)
        other = _core.statistic_each(test, ys, xs, given.ends, given.members, threads)
        levels = packed.all_levels()
        return self._effects(tests.statistic, other, np.minimum(levels[xs], levels[ys]))

    def _effects(self, statistic: Floats, other: Floats, least_levels: Sequence[int] | NDArray[np.uint32]) -> Effects:
        g2, x2 = (statistic, other) if self.likelihood_ratio else (other, statistic)
        assert self.rows is not None
        return table_effects(g2, x2, self.rows, np.array(least_levels, np.int64))

    def _least_levels(self, target: int, xs: Candidates) -> list[int]:
        """Return, for each x, the smaller number of levels of x and the target."""
        own = self._levels(target)
        return [min(own, self._levels(int(x))) for x in xs]

    def _levels(self, variable: int) -> int:
        return self.table.levels(variable)

    def _other_statistic(self, target: int, xs: NDArray[np.uint32], given: Sequence[int]) -> Floats:
        """Return X² of a test by G², or G² of a test by X²."""
        return other_statistic(self.table.packed, self.statistic, target, xs, given)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self.table.rows / math.prod(map(self.table.levels, variables))

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable."""
        return self.screen(y, [x], given).outcome(0)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
        strategy: str = "automatic",
    ) -> ScreenResult:
        """Test every candidate against the target given one set, in one native call.

        `strategy` forces a way to count ("panels", "planes", "scatter", "sparse", "ones") for the candidates that it
        can serve; the others are counted as by "automatic". All give the same bits.
        """
        positions = as_positions(candidates)
        return NativeScreenResult(
            positions, tuple(given), self.native.screen(target, positions, given, threads, poll, strategy)
        )

    def working_set(self, among: NDArray[np.uint32]) -> Callable[..., ScreenResult]:
        """Return a function that screens some of these candidates; if they are many, from a table of their own."""
        if len(among) < _core.CandidateGroups.many:
            return self.screen
        native = CandidateGroups([(among, ())]).native_in(self.table.packed)

        def screen(
            target: int,
            candidates: Candidates,
            given: Sequence[int] = (),
            *,
            threads: int = 1,
            poll: Poll | None = None,
        ) -> ScreenResult:
            positions = as_positions(candidates)
            answers = self.native.screen_among(target, native, positions, given, threads, poll)
            return NativeScreenResult(positions, tuple(given), answers)

        return screen

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; its answer, if there is one, is the last."""
        positions = as_positions(candidates)
        answers = self.native.first_dependent(target, positions, given, log_alpha, poll)
        return NativeScreenResult(positions[: len(answers)], tuple(given), answers)

    def marginals(
        self, targets: Sequence[int], forbidden: Callable[[int], Collection[int]] | None = None, *, threads: int = 1
    ) -> dict[int, ScreenResult]:
        """Test each target against all variables given nothing, each pair once; not against forbidden members."""
        if forbidden is not None:
            return super().marginals(targets, forbidden, threads=threads)
        all_variables = np.arange(len(self.variables), dtype=np.uint32)
        answers = self.native.marginals(targets, threads)
        return {
            target: NativeScreenResult(all_variables, (), own) for target, own in zip(targets, answers, strict=True)
        }

    def screen_in(
        self, packed: _core.PackedTable, target: int, candidates: NDArray[np.uint32], given: Sequence[int]
    ) -> _core.ScreenAnswers:
        """Test candidates that are columns of another table of the same rows."""
        return self.native.screen_in(packed, target, candidates, given)

    def all_pairs(self, columns: NDArray[np.uint32], log_alpha: float, *, threads: int = 1) -> NativePairs:
        """Return what tests all pairs of some columns of few levels, given nothing."""
        return NativePairs(self, columns, log_alpha, threads)

    def screens(
        self, target: int, groups: CandidateGroups, also: int, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[ScreenResult, Tally]:
        """Test the candidates of each group given its set and the variable `also`, in one native call."""
        native = groups.native_in(self.table.packed)
        answers, xs, tests, skipped = self.native.screens(target, native, also, threads, poll)
        return NativeScreenResult(xs, (), answers), Tally(tests, skipped)

    def find_spouses(
        self,
        target: int,
        groups: CandidateGroups,
        children: Sequence[int],
        log_alpha: float,
        *,
        as_written: bool = False,
        max_size: int | None = None,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> list[Spouses]:
        """Screen groups given each child too, and separate the dependent candidates given it and one of the others.

        Returns, by child, the dependent candidates, the strongest first, and the number of tests; then, of several, the
        answers of the search that separates them, and its number of tests. With `as_written` they are tested in the
        order of the table, otherwise the weakest first.
        """
        found = self.native.find_spouses(
            target, groups.native_in(self.table.packed), for_core(children), log_alpha, as_written, max_size,
            threads, poll,
        )  # fmt: skip
        return [
            (dependents, Tally(tests, skipped), *native_result(answers, self.rows))
            for dependents, answers, tests, skipped in found
        ]

    def inter_iapc(
        self,
        targets: Sequence[int],
        among: CandidateGroups,
        log_alpha: float,
        *,
        weigh: NDArray[np.uint32],
        threads: int = 1,
        poll: Poll | None = None,
    ) -> list[InterIapcRun]:
        """Run Inter-IAPC for each target, whose candidates are the others in `among`, in one native call.

        Of the candidates in `weigh` the weakest association is told too, as far as the other answers do not have it.
        """
        found = self.native.inter_iapc(
            among.native_in(self.table.packed), for_core(targets), log_alpha, weigh, threads, poll
        )  # fmt: skip
        return [
            InterIapcRun(
                [
                    (tuple(given), performed, skipped, xs, [native_result(one, self.rows) for one in tested])
                    for given, performed, skipped, xs, tested in rounds
                ],
                repeats,
                native_result(separated, self.rows),
                [
                    (x, Outcome(statistic, dof, log_p, reliable=True), tuple(rounds[at][0]))
                    for x, statistic, dof, log_p, at in weakest
                ],
            )
            for rounds, repeats, separated, weakest in found
        ]

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Search conditioning sets; a formula counts those that cannot be reliable as skipped."""
        found = self.native.search_subsets(query.native(), threads, poll)
        return native_result(found, self.rows)

    def grow_pool(
        self, query: SubsetQuery, *, examine: bool, enough: int, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally, list[tuple[int, bool]], int]:
        """Search the candidates `query.xs` in turn; one that no set separates joins the pool, in one native call.

        See `serape.search.growing_pool`. After `enough` tests the other candidates are left. Returns the answers, the
        number of tests, the changes of the pool and the number of candidates that were searched.
        """
        found, changes, asked = self.native.grow_pool(query.native(), examine, enough, poll)
        return *native_result(found, self.rows), changes, asked

    def grow_pools(
        self,
        targets: NDArray[np.uint32],
        candidates: VariableSets,
        log_alpha: float,
        *,
        max_size: int | None,
        weigh: bool = False,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> tuple[VariableSets, GivenTests, Tally]:
        """Do as `grow_pool`, with `examine`, for many targets in one native call; return their pools.

        The pools are empty at first, and the candidates depend on their target given nothing. With `weigh`, each member
        comes with its weakest association given a set that was searched: NaN if none was.
        """
        ends, members, statistic, dof, log_p, given_ends, given, tests, skipped = self.native.grow_pools(
            targets, candidates.ends, candidates.members, log_alpha, max_size, weigh, threads, poll
        )
        weakest = GivenTests(statistic, dof, log_p, VariableSets(given_ends, given))
        return VariableSets(ends, members), weakest, Tally(tests, skipped)

    def search_each(
        self,
        asked: TargetLists,
        pools: TargetLists,
        size: int,
        *,
        max_size: int | None,
        stop_above: float,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> tuple[SubsetResult, Tally]:
        """Search the sets of one size in the pool of each target for those in `asked`, in one native call.

        The targets of both are the same. Returns the answers and the number of tests of all searches together.
        """
        found = self.native.search_each(
            asked.targets, asked.ends, asked.members, pools.ends, pools.members, size, max_size, stop_above,
            threads, poll,
        )  # fmt: skip
        return native_result(found, self.rows)

    def test_each_given_rest(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        stop_above: float,
        *,
        max_size: int | None = None,
        poll: Poll | None = None,
    ) -> tuple[SubsetResult, Tally]:
        """Test each x in turn given the rest of the pool, in one native call."""
        found = self.native.test_each_given_rest(for_core(xs), target, for_core(pool), max_size, stop_above, poll)
        return native_result(found, self.rows)


def other_statistic(
    table: _core.PackedTable, statistic: Literal["g2", "x2"], target: int, xs: NDArray[np.uint32], given: Sequence[int]
) -> Floats:
    """Return, for every x, X² if the statistic is G², or G² if it is X²."""
    other = _core.ContingencyTest(table, _OTHER[statistic], "adjusted", "none", 1.0)
    return other.screen(target, xs, list(map(int, given)), 1, None, "automatic").arrays()[0]
