"""Tests on tables with gaps: every question is answered on the rows that are complete for the variables it names.

This is the *available-case analysis* of Little and Rubin (Statistical Analysis with Missing Data, 2002, section 3.4).
It uses all that was observed, and is right where values go missing regardless of what they would have been. Different
questions are answered on different rows, so the answers need not fit together as those on one sample do.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.table import Table
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import NO_OUTCOME, Candidates, Floats, Outcome, Poll, Tally, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery, n_subsets
from serape.independence.subsets import Association, SubsetResult, weaker

FEWEST_ROWS = 2
"""On fewer complete rows a question has no answer."""
MOST_VALUES = 1 << 28
"""Values held in parts of the table, all parts together."""
MOST_PARTS = 512
_MOST_COUNTS = 1 << 16
_SMALL_PART = 64  # columns

Gaps = frozenset[int]
"""Which patterns of gaps a question meets; columns that miss the same rows have the same pattern."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows that are complete for some gaps, some columns of them, and the test made on these."""

    rows: int
    columns: NDArray[np.uint32]
    """Positions in the whole table, ascending."""
    index: dict[int, int]
    """From positions in the whole table to positions here."""
    everything: bool
    """Whether these are all the columns that have no other gaps."""
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
    It must build the same test whatever the columns. Two variables that were never observed together give an outcome
    that is not reliable. `name` is that of the test made.
    """

    def __init__(self, table: Table, make: Callable[[Table], IndependenceTest]) -> None:
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self._make = make
        self._pattern = np.full(len(table.names), -1, np.int32)
        self._masks: list[NDArray[np.bool_]] = []
        known: dict[bytes, int] = {}
        for k, mask in table.missing.items():
            self._pattern[k] = known.setdefault(np.packbits(mask).tobytes(), len(known))
            if len(known) > len(self._masks):
                self._masks.append(mask)
        self._pattern_of = {k: int(self._pattern[k]) for k in table.missing}
        self._parts: OrderedDict[Gaps, _Part] = OrderedDict()
        self._held = 0
        self._counts: dict[Gaps, int] = {frozenset(): table.rows}
        self._lock = threading.Lock()
        fewest = min(range(len(table.names)), key=lambda k: int(table.missing[k].sum()) if k in table.missing else 0)
        built = self._build(self._gaps([fewest]), [fewest])
        self.name = built.name
        self.dof, self.reliability = getattr(built, "dof", None), getattr(built, "reliability", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table, self._make), {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns that the test refuses, if it refuses any."""
        alike: dict[Gaps, list[int]] = {}
        for k in range(len(self.variables)):
            if k in variables:
                alike.setdefault(self._gaps([k]), []).append(k)
        for gaps, columns in alike.items():
            if gaps:
                self._build(gaps, columns).check(range(len(columns)))
            else:
                part = self._part(gaps, columns)
                assert part.test is not None  # all rows are complete
                part.test.check(set(part.indices(columns)))

    def rows_of(self, variables: Iterable[int]) -> int:
        """Return how many rows are complete for all of some variables."""
        return self._count(self._gaps(variables))

    # --- questions -----------------------------------------------------------------------------------------------

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given on the rows that are complete for these variables."""
        asked = (x, y, *given)
        part = self._part(self._gaps(asked), asked)
        if part.test is None:
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=part.rows)
        at = part.indices(asked)
        outcome = part.test.test(at[0], at[1], tuple(at[2:]))
        return Outcome(outcome.statistic, outcome.dof, outcome.log_p, outcome.reliable, part.rows)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of these variables, of complete rows."""
        asked = tuple(variables)
        if not asked:
            return self.table.rows
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
        shared = self._gaps((target, *given))
        patterns = self._beyond(xs, shared)
        statistic, log_p = np.full(len(xs), math.nan), np.full(len(xs), math.nan)
        dof, reliable, rows = np.full(len(xs), math.nan), np.zeros(len(xs), bool), np.zeros(len(xs), np.int64)
        for pattern in np.unique(patterns):
            own = np.flatnonzero(patterns == pattern)
            gaps = shared if pattern < 0 else shared | {int(pattern)}
            part = self._part(gaps, [target, *given, *xs[own].tolist()])
            rows[own] = part.rows
            if part.test is None:
                continue
            found = part.test.screen(
                part.index[target], part.positions(xs[own]), part.indices(given), threads=threads, poll=poll
            )
            statistic[own], dof[own], reliable[own] = found.statistic, found.dof, found.reliable
            log_p[own] = found.log_p
        return _Screen(xs, tuple(given), statistic, dof, reliable, log_p, rows)

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; that one, if any, is the last of the answers."""
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
        return _Screen(asked, tuple(given), found.statistic, found.dof, found.reliable, found.log_p, rows)

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Search conditioning sets: at once if all questions are about the same rows, otherwise one by one.

        A test that is not reliable must not become so with a larger conditioning set.
        """
        target, fixed = query.target, query.fixed
        asked, others = as_positions(query.xs), as_positions(query.pool)
        ever = np.concatenate([asked, others])
        gaps, part = self._gaps((target, *fixed)), None
        if (self._beyond(ever, gaps) < 0).all():
            part = self._part(gaps, [target, *fixed, *ever.tolist()])
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
        return _Associations(asked, found, sets, np.array(rows, np.int64)), tally

    # --- parts of the table --------------------------------------------------------------------------------------

    def _gaps(self, variables: Iterable[int]) -> Gaps:
        of = self._pattern_of
        return frozenset(of[v] for v in variables if v in of)

    def _beyond(self, variables: NDArray[np.uint32], known: Gaps) -> NDArray[np.int32]:
        """Return the pattern of every variable's gaps; −1 for none or a known one."""
        patterns = self._pattern[variables]
        patterns[np.isin(patterns, list(known))] = -1
        return patterns

    def _complete(self, gaps: Gaps) -> NDArray[np.bool_]:
        complete = np.ones(self.table.rows, bool)
        for pattern in gaps:
            complete &= ~self._masks[pattern]
        return complete

    def _count(self, gaps: Gaps) -> int:
        count = self._counts.get(gaps)
        if count is None:
            count = int(np.count_nonzero(self._complete(gaps)))
            if len(self._counts) >= _MOST_COUNTS:
                self._counts = {frozenset(): self.table.rows}
            self._counts[gaps] = count
        return count

    def _build(self, gaps: Gaps, columns: Sequence[int]) -> IndependenceTest:
        if gaps:
            return self._make(self.table.part(columns, np.flatnonzero(self._complete(gaps))))
        whole = not self.table.missing and len(columns) == len(self.variables)
        return self._make(self.table if whole else self.table.part(columns))

    def _part(self, gaps: Gaps, asked: Sequence[int]) -> _Part:
        """Return the part of the table, and the test on it, for some variables and all the gaps they have.

        The first question about these rows takes its own columns only, the next takes all that have no other gaps.
        """
        with self._lock:
            held = self._parts.get(gaps)
            if held is not None:
                self._parts.move_to_end(gaps)
        rows = self._count(gaps)
        if held is not None and (held.everything or all(v in held.index for v in asked)):
            return held
        if rows < FEWEST_ROWS:
            made = _Part(rows, np.zeros(0, np.uint32), {}, True, None)
        else:
            chosen, everything = self._columns(gaps, asked, held, rows)
            index = {k: at for at, k in enumerate(chosen)}
            made = _Part(rows, np.array(chosen, np.uint32), index, everything, self._build(gaps, chosen))
        with self._lock:
            before = self._parts.pop(gaps, None)
            self._held += made.values - (0 if before is None else before.values)
            self._parts[gaps] = made
            while len(self._parts) > 1 and (self._held > MOST_VALUES or len(self._parts) > MOST_PARTS):
                self._held -= self._parts.popitem(last=False)[1].values
        return made

    def _columns(self, gaps: Gaps, asked: Sequence[int], held: _Part | None, rows: int) -> tuple[list[int], bool]:
        """Return the columns a part is to have, and whether these are all that it could have."""
        own = sorted(set(asked))
        fitting = np.flatnonzero(np.isin(self._pattern, [-1, *gaps]))
        affordable = len(fitting) * rows <= MOST_VALUES // 16
        if not gaps or len(own) > len(fitting) // 2 or (held is not None and affordable):
            return [int(k) for k in fitting], True
        if held is not None and len(held.columns) < _SMALL_PART:
            own = sorted({*own, *held.columns.tolist()})
        return own, False


class _OneByOne(IndependenceTest):
    """A search through conditioning sets that asks for no more than is needed.

    A test that is not reliable is not performed. If none was for sets of a size, none is for larger ones: there are no
    more rows and no fewer cells. These are counted as skipped without being gone through.
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
        at = part.indices(asked)
        return part.test.answer(at[0], at[1], tuple(at[2:]))

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


class _Screen(ScreenResult):
    """Answers on different rows."""

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
        self.rows = rows
        """How many rows each answer is from."""

    def _taken(self, xs: NDArray[np.uint32], indices: NDArray[np.intp] | NDArray[np.uint32]) -> ScreenResult:
        return _Screen(
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
        k = index
        return Outcome(
            float(self.statistic[k]),
            float(self.dof[k]),
            float(self.log_p[k]),
            bool(self.reliable[k]),
            int(self.rows[k]),
        )


class _Associations(SubsetResult):
    """Answers on different rows."""

    def __init__(
        self, xs: NDArray[np.uint32], found: SubsetResult, sets: Sequence[Sequence[int]], rows: NDArray[np.int64]
    ) -> None:
        verdict = np.where(found.separated, 2, found.reliable).astype(np.int32)
        super().__init__(xs, found.statistic, found.dof, found.log_p, verdict, found.which, sets)
        self.rows = rows
        """How many rows each answer is from."""

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        k = index
        return Outcome(
            float(self.statistic[k]),
            float(self.dof[k]),
            float(self.log_p[k]),
            bool(self.reliable[k]),
            int(self.rows[k]),
        )
