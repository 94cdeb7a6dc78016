"""Tests on tables with missing values: every test uses the rows that are complete for its variables.

This is the *available-case analysis* of Little and Rubin (Statistical Analysis with Missing Data, 2002, section 3.4).
It uses all observed values, and is valid where whether a value is missing does not depend on the values. Different
questions are answered on different rows, so the answers need not be consistent as those on one sample are.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.table import Table
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects
from serape.independence.outcomes import NO_OUTCOME, Candidates, Floats, Outcome, Poll, Rows, Tally, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery, n_subsets
from serape.independence.subsets import Association, SubsetResult, weaker

MIN_ROWS = 2
"""On fewer complete rows a test is not computed."""
MAX_VALUES = 1 << 28
"""The most values kept in parts of the table, over all parts."""
MAX_PARTS = 512
_MAX_COUNTS = 1 << 16
_SMALL_PART = 64  # columns

GapPatterns = frozenset[int]
"""The patterns of missing values in a question; columns that miss the same rows have the same pattern."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows that are complete under some patterns, some of their columns, and the test on these."""

    rows: int
    columns: NDArray[np.uint32]
    """Positions in the whole table, ascending."""
    index: dict[int, int]
    """Positions in this part by position in the whole table."""
    everything: bool
    """Whether the part holds all columns that have no other gaps."""
    test: IndependenceTest | None

    def indices(self, variables: Iterable[int]) -> list[int]:
        return [self.index[int(v)] for v in variables]

    def positions(self, variables: Candidates) -> NDArray[np.uint32]:
        return np.searchsorted(self.columns, as_positions(variables)).astype(np.uint32)

    @property
    def values(self) -> int:
        return self.rows * len(self.columns)


class Pairwise(IndependenceTest):
    """Any test, on the rows that are complete for the variables of each question.

    `make` builds the test on a table without gaps: some columns and rows of the table, with the same kinds and levels.
    It must build the same test whatever the columns. The test of two variables that were never observed together is not
    reliable. `name` is that of the test that `make` builds.
    """

    core_answers = SCREENS | {"subsets"}
    made_of = ("_make",)

    def __init__(self, table: Table, make: Callable[[Table], IndependenceTest]) -> None:
        self.table = table
        self.variables = table.names
        self.rows: int = self._rows_of(np.ones(table.rows, bool))
        self._make = make
        self._pattern = np.full(len(table.names), -1, np.int32)
        self._masks: list[NDArray[np.bool_]] = []
        known: dict[bytes, int] = {}
        for k, mask in table.missing.items():
            self._pattern[k] = known.setdefault(np.packbits(mask).tobytes(), len(known))
            if len(known) > len(self._masks):
                self._masks.append(mask)
        self._pattern_of = {k: int(self._pattern[k]) for k in table.missing}
        self._parts: OrderedDict[GapPatterns, _Part] = OrderedDict()
        self._held = 0
        self._counts: dict[GapPatterns, int] = {frozenset(): self.rows}
        self._lock = threading.Lock()
        fewest = min(range(len(table.names)), key=lambda k: int(table.missing[k].sum()) if k in table.missing else 0)
        built = self._one_column = self._build(self._gaps([fewest]), [fewest])
        self.name = built.name
        self.has_effect = built.has_effect
        self.dof, self.reliability = getattr(built, "dof", None), getattr(built, "reliability", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table, self._make), {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse the columns that the test refuses."""
        by_gaps: dict[GapPatterns, list[int]] = {}
        for k in range(len(self.variables)):
            if k in variables:
                by_gaps.setdefault(self._gaps([k]), []).append(k)
        for gaps, columns in by_gaps.items():
            if gaps:
                self._build(gaps, columns).check(range(len(columns)))
            else:
                part = self._part(gaps, columns)
                assert part.test is not None  # all rows are complete
                part.test.check(set(part.indices(columns)))

    def rows_of(self, variables: Iterable[int]) -> int:
        """Return how many rows are complete for all of the variables."""
        return self._count(self._gaps(variables))

    # --- questions -----------------------------------------------------------------------------------------------

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given on the rows that are complete for these variables."""
        asked = (x, y, *given)
        part = self._part(self._gaps(asked), asked)
        if part.test is None:
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=part.rows)
        first, second, *rest = part.indices(asked)
        outcome = part.test.test(first, second, tuple(rest))
        return Outcome(outcome.statistic, outcome.dof, outcome.log_p, outcome.reliable, part.rows)

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return the conditional mutual information in nats, as the test that `make` builds estimates it."""
        return self._one_column.information(statistic, dof, rows)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the effect sizes on the rows that are complete for the variables of each question."""
        xs = as_positions(candidates)
        found = Effects.unknown(len(xs))
        for own, part in self._parts_of(target, xs, given):
            if part.test is not None:
                at, rest = part.index[target], part.indices(given)
                found.put(own, part.test.effects(at, part.positions(xs[own]), rest, statistic[own], dof[own]))
        return found

    def effect_dof(self, x: int, y: int, given: Sequence[int], outcome: Outcome) -> float:
        """Return the degrees of freedom of the effect, of the test on the rows that are complete."""
        asked = (x, y, *given)
        part = self._part(self._gaps(asked), asked)
        if part.test is None:
            return outcome.dof
        first, second, *rest = part.indices(asked)
        return part.test.effect_dof(first, second, tuple(rest), outcome)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of complete rows per cell of the table of the variables."""
        asked = tuple(variables)
        if not asked:
            return self.rows
        part = self._part(self._gaps(asked), asked)
        return float(part.rows) if part.test is None else part.test.rows_per_cell(part.indices(asked))

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set; candidates with the same gaps in one call."""
        xs = as_positions(candidates)
        statistic, log_p = np.full(len(xs), math.nan), np.full(len(xs), math.nan)
        dof, reliable, rows = np.full(len(xs), math.nan), np.zeros(len(xs), bool), np.zeros(len(xs), np.int64)
        for own, part in self._parts_of(target, xs, given):
            rows[own] = part.rows
            if part.test is None:
                continue
            found = part.test.screen(
                part.index[target], part.positions(xs[own]), part.indices(given), threads=threads, poll=poll
            )
            statistic[own], dof[own], reliable[own] = found.statistic, found.dof, found.reliable
            log_p[own] = found.log_p
        return PairwiseScreen(xs, tuple(given), statistic, dof, reliable, log_p, rows)

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; its answer, if there is one, is the last."""
        xs = as_positions(candidates)
        gaps, part = self._gaps((target, *given)), None
        if (self._beyond(xs, gaps) < 0).all():
            part = self._part(gaps, [target, *given, *xs.tolist()])
        if part is not None and part.test is not None:
            found = part.test.first_dependent(
                part.index[target], part.positions(xs), part.indices(given), log_alpha, poll=poll
            )
        else:
            found = super().first_dependent(target, candidates, given, log_alpha, poll=poll)
        asked = xs[: len(found)]
        rows = np.array([self.rows_of((x, target, *given)) for x in asked.tolist()], np.int64)
        return PairwiseScreen(asked, tuple(given), found.statistic, found.dof, found.reliable, found.log_p, rows)

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Search conditioning sets: in one call if all questions use the same rows, otherwise one by one.

        This assumes that an unreliable test stays unreliable with a larger conditioning set.
        """
        target, fixed = query.target, query.fixed
        asked, others = as_positions(query.xs), as_positions(query.pool)
        named = np.concatenate([asked, others])
        gaps, part = self._gaps((target, *fixed)), None
        if (self._beyond(named, gaps) < 0).all():
            part = self._part(gaps, [target, *fixed, *named.tolist()])
        if part is None or part.test is None:
            found, tally = _OneByOne(self).search_subsets(query, threads=threads, poll=poll)
            sets: Sequence[Sequence[int]] = found.sets
        else:
            within = query._replace(
                xs=part.positions(asked),
                target=part.index[target],
                pool=part.positions(others),
                fixed=part.indices(fixed),
            )
            found, tally = part.test.search_subsets(within, threads=threads, poll=poll)
            sets = [tuple(part.columns[list(members)].tolist()) for members in found.sets]
        asked = asked[: len(found)]
        rows = [
            self.rows_of((x, target, *sets[which])) if reliable else self.rows_of((x, target))
            for x, which, reliable in zip(asked.tolist(), found.which.tolist(), found.reliable.tolist(), strict=True)
        ]
        return PairwiseSubsets(asked, found, sets, np.array(rows, np.int64)), tally

    # --- parts of the table --------------------------------------------------------------------------------------

    def _gaps(self, variables: Iterable[int]) -> GapPatterns:
        of = self._pattern_of
        return frozenset(of[v] for v in variables if v in of)

    def _beyond(self, variables: NDArray[np.uint32], known: GapPatterns) -> NDArray[np.int32]:
        """Return the pattern of each variable's gaps; −1 if it has none or its pattern is known."""
        patterns = self._pattern[variables]
        patterns[np.isin(patterns, list(known))] = -1
        return patterns

    def _parts_of(
        self, target: int, xs: NDArray[np.uint32], given: Sequence[int]
    ) -> Iterator[tuple[NDArray[np.intp], _Part]]:
        """Yield the indices of candidates that have the same gaps, with the part of the table for them."""
        shared = self._gaps((target, *given))
        patterns = self._beyond(xs, shared)
        for pattern in np.unique(patterns):
            own = np.flatnonzero(patterns == pattern)
            gaps = shared if pattern < 0 else shared | {int(pattern)}
            yield own, self._part(gaps, [target, *given, *xs[own].tolist()])

    def _complete(self, gaps: GapPatterns) -> NDArray[np.bool_]:
        complete = np.ones(self.table.rows, bool)
        for pattern in gaps:
            complete &= ~self._masks[pattern]
        return complete

    def _rows_of(self, rows: NDArray[np.bool_]) -> int:
        """Return how many rows a mask chooses; of rows with weights, the effective number."""
        if self.table.weights is None:
            return int(np.count_nonzero(rows))
        return self.table.weights.at(rows).rows if rows.any() else 0

    def _count(self, gaps: GapPatterns) -> int:
        count = self._counts.get(gaps)
        if count is None:
            count = self._rows_of(self._complete(gaps))
            if len(self._counts) >= _MAX_COUNTS:
                self._counts = {frozenset(): self.rows}
            self._counts[gaps] = count
        return count

    def _build(self, gaps: GapPatterns, columns: Sequence[int]) -> IndependenceTest:
        if gaps:
            return self._make(self.table.part(columns, np.flatnonzero(self._complete(gaps))))
        whole = not self.table.missing and len(columns) == len(self.variables)
        return self._make(self.table if whole else self.table.part(columns))

    def _part(self, gaps: GapPatterns, asked: Sequence[int]) -> _Part:
        """Return the part of the table, and the test on it, for some variables and their gaps.

        The first question about these rows takes its own columns only, the next all columns that have no other gaps.
        """
        with self._lock:
            held = self._parts.get(gaps)
            if held is not None:
                self._parts.move_to_end(gaps)
        rows = self._count(gaps)
        if held is not None and (held.everything or all(v in held.index for v in asked)):
            return held
        if rows < MIN_ROWS:
            made = _Part(rows, np.zeros(0, np.uint32), {}, True, None)
        else:
            chosen, everything = self._columns(gaps, asked, held, rows)
            index = {k: position for position, k in enumerate(chosen)}
            made = _Part(rows, np.array(chosen, np.uint32), index, everything, self._build(gaps, chosen))
        with self._lock:
            before = self._parts.pop(gaps, None)
            self._held += made.values - (0 if before is None else before.values)
            self._parts[gaps] = made
            while len(self._parts) > 1 and (self._held > MAX_VALUES or len(self._parts) > MAX_PARTS):
                self._held -= self._parts.popitem(last=False)[1].values
        return made

    def _columns(
        self, gaps: GapPatterns, asked: Sequence[int], held: _Part | None, rows: int
    ) -> tuple[list[int], bool]:
        """Return the columns for a part, and whether these are all the columns it can have."""
        own = sorted(set(asked))
        fitting = np.flatnonzero(np.isin(self._pattern, [-1, *gaps]))
        affordable = len(fitting) * rows <= MAX_VALUES // 16
        if not gaps or len(own) > len(fitting) // 2 or (held is not None and affordable):
            return [int(k) for k in fitting], True
        if held is not None and len(held.columns) < _SMALL_PART:
            own = sorted({*own, *held.columns.tolist()})
        return own, False


class _OneByOne(IndependenceTest):
    """A search through conditioning sets, one test after another.

    An unreliable test is not performed. If no test is reliable for sets of one size, none is for larger sets: they have
    no more rows and no fewer cells. A formula counts these as skipped.
    """

    def __init__(self, source: Pairwise) -> None:
        self.source = source
        self.variables, self.rows = source.variables, source.rows

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable."""
        asked = (x, y, *given)
        part = self.source._part(self.source._gaps(asked), asked)
        if part.test is None:
            return NO_OUTCOME
        first, second, *rest = part.indices(asked)
        return part.test.answer(first, second, tuple(rest))

    def _search_one(
        self,
        x: int,
        query: SubsetQuery,
        live: Mapping[int, int],
        sizes: range,
        n_exhausted: int,
        tally: Tally,
        poll: Poll | None,
    ) -> Association:
        weakest = Association(NO_OUTCOME, (), separated=False)
        others = [z for z in live if z not in (x, query.target, *query.fixed)]
        exhausted = sum(live[z] < n_exhausted for z in others) if n_exhausted >= 0 else None
        for size in range(sizes.start, min(sizes.stop, len(others) + 1)):
            own = Tally()
            found = super()._search_one(x, query, live, range(size, size + 1), n_exhausted, own, poll)
            tally.merge(own)
            if found.separated:
                return found
            if found.outcome.reliable and weaker(found.outcome, weakest.outcome):
                weakest = found
            if own.skipped_by_size and not own.tests_by_size:
                for larger in range(size + 1, min(sizes.stop, len(others) + 1)):
                    tally.add(len(query.fixed) + larger, 0, n_subsets(len(others), exhausted, larger))
                break
        return weakest


# --- answers of different rows ---------------------------------------------------------------------------------------


class PairwiseScreen(ScreenResult):
    """A screen whose answers come from different rows."""

    def __init__(
        self,
        candidates: NDArray[np.uint32],
        given: tuple[int, ...],
        statistic: Floats,
        dof: Floats,
        reliable: NDArray[np.bool_],
        log_p: Floats,
        rows: NDArray[np.int64],
    ) -> None:
        super().__init__(candidates, given, statistic, dof, reliable, log_p)
        self.rows: NDArray[np.int64] = rows

    def _select(self, xs: NDArray[np.uint32], indices: NDArray[np.intp] | NDArray[np.uint32]) -> ScreenResult:
        return PairwiseScreen(
            xs,
            self.given,
            self.statistic[indices],
            self.dof[indices],
            self.reliable[indices],
            self.log_p[indices],
            self.rows[indices],
        )

    def _of_arrays(self) -> Callable[..., ScreenResult]:
        return ScreenResult

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        return _outcome(self, index)


class PairwiseSubsets(SubsetResult):
    """Answers of a subset search, from different rows."""

    def __init__(
        self, xs: NDArray[np.uint32], found: SubsetResult, sets: Sequence[Sequence[int]], rows: NDArray[np.int64]
    ) -> None:
        verdict = np.where(found.separated, 2, found.reliable).astype(np.int32)
        super().__init__(xs, found.statistic, found.dof, found.log_p, verdict, found.which, sets)
        self.rows = rows
        """The number of rows behind each answer."""

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        return _outcome(self, index)


def _outcome(answers: PairwiseScreen | PairwiseSubsets, k: int) -> Outcome:
    return Outcome(
        float(answers.statistic[k]),
        float(answers.dof[k]),
        float(answers.log_p[k]),
        bool(answers.reliable[k]),
        int(answers.rows[k]),
    )
