"""Answers of tests on tables with missing values: each comes from the rows that are complete for its variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats, Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult


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
