"""The answers for many candidates given one conditioning set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Candidates, Floats, Outcome, TestColumns, as_positions

CandidateGroup = tuple[Candidates, Sequence[int]]
"""Candidates and the conditioning set they are tested with."""

NO_VARIABLES = np.empty(0, np.uint32)


class ScreenResult:
    """Answers for many candidates given one conditioning set, in arrays as long as the candidates.

    An unreliable test was not performed: its statistic and log p are NaN.
    """

    rows: NDArray[np.int64] | None = None
    """The number of rows behind each answer, where they differ."""

    def __init__(
        self,
        candidates: NDArray[np.uint32],
        given: tuple[int, ...],
        statistic: Floats,
        dof: Floats,
        reliable: NDArray[np.bool_],
        log_p: Floats | Callable[[Floats, Floats], Floats],
    ) -> None:
        self.xs = candidates
        self.given = given
        self.statistic = statistic
        self.dof = dof
        self.reliable = reliable
        self._log_p = log_p

    def __len__(self) -> int:
        return len(self.xs)

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle, which has the name of a function of the core instead of the function."""
        name = getattr(self._log_p, "__name__", "")
        return {**self.__dict__, "_log_p": name if getattr(_core, name, None) is self._log_p else self._log_p}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state["_log_p"], str):
            self._log_p = getattr(_core, state["_log_p"])

    @property
    def performed(self) -> int:
        """How many tests are reliable."""
        return int(np.count_nonzero(self.reliable))

    @property
    def tail(self) -> Callable[[Floats, Floats], Floats] | None:
        """The function that computes log p from statistics and dof; None if log p is known."""
        return self._log_p if callable(self._log_p) else None

    @cached_property
    def log_p(self) -> Floats:
        """The logarithms of the p-values, computed when first asked for."""
        return self.log_p_of(np.arange(len(self)))

    def log_p_of(self, indices: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some indices only."""
        if not callable(self._log_p):
            return self._log_p[indices]
        log_p = self._log_p(self.statistic[indices], self.dof[indices])
        log_p[~self.reliable[indices]] = math.nan
        return log_p

    def dependent(self, log_alpha: float) -> NDArray[np.bool_]:
        """Return which answers are reliable and show dependence."""
        return self.reliable & (self.log_p <= log_alpha)

    def partition(self, log_alpha: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of the answers that show dependence, and of those that show independence."""
        dependent = self.dependent(log_alpha)
        return np.flatnonzero(dependent), np.flatnonzero(self.reliable & ~dependent)

    def that_depend(self, log_alpha: float) -> ScreenResult:
        """Return the answers that show dependence."""
        return self.at(self.partition(log_alpha)[0])

    def dependents(self, log_alpha: float) -> list[int]:
        """Return the candidates whose answers show dependence, the strongest first; ties by position."""
        return self.ranked_split(log_alpha)[0]

    def ranked_split(self, log_alpha: float) -> tuple[list[int], NDArray[np.uint32]]:
        """Return the `dependents`, and the candidates whose answers show independence."""
        dependent, independent = self.partition(log_alpha)
        return self.xs[self.ranked(self.by_position(dependent))].tolist(), self.xs[independent]

    def by_position(self, indices: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return indices in the order of the candidates' positions."""
        return indices[self.xs[indices].argsort(kind="stable")]

    def ranked(self, indices: NDArray[np.intp], ties: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Return the indices of some reliable answers from the strongest to the weakest.

        Exact ties are broken by the numbers in `ties`, or by the order of the indices.
        """
        ties = np.arange(len(indices)) if ties is None else ties
        return indices[np.lexsort((ties, -self.statistic[indices], self.log_p_of(indices)))]

    def at(self, indices: NDArray[np.intp]) -> ScreenResult:
        """Return the answers at some indices."""
        return self._select(self.xs[indices], indices)

    def _select(self, xs: NDArray[np.uint32], indices: NDArray[np.intp] | NDArray[np.uint32]) -> ScreenResult:
        log_p = self._log_p if callable(self._log_p) else self._log_p[indices]
        return self.like(xs, self.statistic[indices], self.dof[indices], self.reliable[indices], log_p)

    def like(
        self,
        xs: NDArray[np.uint32],
        statistic: Floats,
        dof: Floats,
        reliable: NDArray[np.bool_],
        log_p: Floats | Callable[[Floats, Floats], Floats],
    ) -> ScreenResult:
        """Return other answers of the same test given the same set."""
        return self._of_arrays()(xs, self.given, statistic, dof, reliable, log_p)

    def _of_arrays(self) -> Callable[..., ScreenResult]:
        """Return a function that makes such a screen from arrays."""
        return type(self)

    def part(self, candidates: NDArray[np.uint32]) -> ScreenResult:
        """Return the answers for some of the candidates; those of this screen must be in ascending order."""
        return self._select(candidates, self._places(candidates))

    def performed_with(self, candidates: NDArray[np.uint32]) -> int:
        """Return how many tests of some candidates are reliable; those of this screen must be in ascending order."""
        return int(np.count_nonzero(self.reliable[self._places(candidates)]))

    def _places(self, candidates: NDArray[np.uint32]) -> NDArray[np.intp] | NDArray[np.uint32]:
        if len(self.xs) == 0 or self.xs[-1] == len(self.xs) - 1:  # a screen of all variables, in order
            return candidates
        return self.xs.searchsorted(candidates)

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return index, x, log p and statistic of the reliable answers."""
        return list(zip(*(column.tolist() for column in self.columns()), strict=True))

    def columns(self) -> TestColumns:
        """Return index, x, log p and statistic of the reliable answers, in arrays."""
        indices = np.flatnonzero(self.reliable)
        return indices, self.xs[indices], self.log_p_of(indices), self.statistic[indices]

    def with_log_p(self, threads: int) -> ScreenResult:
        """Return the same answers with their p-values, computed on several threads where the test can."""
        del threads
        return self

    def tests_at(self, indices: NDArray[np.intp]) -> GivenTests:
        """Return some reliable answers, with the conditioning set of all."""
        given = VariableSets.alike(self.given, len(indices))
        return GivenTests(self.statistic[indices], self.dof[indices], self.log_p_of(indices), given)

    def strongest(self) -> tuple[list[int], float]:
        """Return the indices of the strongest reliable answers (several if they tie exactly) and their log p."""
        indices = np.flatnonzero(self.reliable)
        if len(indices) == 0:
            return [], 0.0
        log_p, statistic = self.log_p[indices], self.statistic[indices]
        lowest = log_p == log_p.min()
        best = lowest & (statistic == statistic[lowest].max())
        return indices[best].tolist(), float(log_p.min())

    def indices_of(self, x: int) -> list[int]:
        """Return the indices of the answers about one x."""
        found: list[int] = (self.xs == x).nonzero()[0].tolist()
        return found

    def shown(self, x: int, log_alpha: float) -> list[tuple[float, int]]:
        """Return log p and index of the answers that show x to be dependent: reliable, with a log p up to a value."""
        outcomes = ((self.outcome(k), k) for k in self.indices_of(x))
        return [(outcome.log_p, k) for outcome, k in outcomes if outcome.reliable and outcome.log_p <= log_alpha]

    def given_of(self, index: int) -> tuple[int, ...]:
        """Return the conditioning set of one answer."""
        del index
        return self.given

    def by_group(self, groups: CandidateGroups, also: int) -> Iterator[ScreenResult]:
        """Return the answers of `IndependenceTest.screens` for the candidates of each group, with their set."""
        begin = 0
        for candidates, given in groups.all:
            if also not in given and len(candidates):
                part = self.at(np.arange(begin, begin + len(candidates)))
                part.given = (*map(int, given), int(also))
                begin += len(candidates)
                yield part

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        log_p = float(self.log_p_of(np.array([index]))[0])
        rows = None if self.rows is None else int(self.rows[index])
        return Outcome(float(self.statistic[index]), float(self.dof[index]), log_p, bool(self.reliable[index]), rows)


class CandidateGroups:
    """Groups of candidates, each with the conditioning set they are tested with; they serve many questions."""

    def __init__(self, groups: Iterable[CandidateGroup]) -> None:
        self.all = list(groups)
        self._native: tuple[_core.PackedTable, _core.CandidateGroups] | None = None
        self._smaller: dict[int, CandidateGroups] = {}

    def native_in(self, table: _core.PackedTable) -> _core.CandidateGroups:
        """Return the groups as the core takes them, for a table; kept for the next question."""
        if self._native is None or self._native[0] is not table:
            self._native = table, _core.CandidateGroups(table, self.all)
        return self._native[1]

    def up_to(self, size: int) -> CandidateGroups:
        """Return the groups whose sets have at most `size` members; kept for the next question."""
        if size not in self._smaller:
            few = [group for group in self.all if len(group[1]) <= size]
            self._smaller[size] = self if len(few) == len(self.all) else CandidateGroups(few)
        return self._smaller[size]


def as_screen_result(candidates: Candidates, given: Sequence[int], outcomes: list[Outcome]) -> ScreenResult:
    """Return single answers as one result."""
    reliable = np.array([o.reliable for o in outcomes], bool)

    def column(values: list[float]) -> Floats:
        return np.where(reliable, np.array(values, np.float64), math.nan)

    return ScreenResult(
        as_positions(candidates),
        tuple(given),
        column([o.statistic for o in outcomes]),
        np.array([o.dof for o in outcomes], np.float64),
        reliable,
        column([o.log_p for o in outcomes]),
    )
