"""Screens of contingency tables whose answers stay in the core."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.outcomes import Floats, Outcome
from serape.independence.screens import ScreenResult


class NativeScreenResult(ScreenResult):
    """A screen whose answers stay in the core until they are needed.

    Ranking and verdicts need p-values only where degrees of freedom differ, or close to alpha.
    """

    _parted: tuple[float, tuple[NDArray[np.intp], NDArray[np.intp]], NativeScreenResult] | None = None
    """The log alpha of `that_depend`, the partition, and the answer: a search and its algorithm ask for the same."""

    def __init__(self, candidates: NDArray[np.uint32], given: tuple[int, ...], answers: _core.ScreenAnswers) -> None:
        self.xs = candidates
        self.given = given
        self._answers = answers
        self._log_p = _core.chi_square_log_sf

    def __getattr__(self, name: str) -> Any:
        if name not in ("statistic", "dof", "reliable"):
            raise AttributeError(name)
        self.statistic, self.dof, self.reliable = self._answers.arrays()
        return self.__dict__[name]

    @property
    def performed(self) -> int:
        """How many tests are reliable."""
        return self._answers.performed

    def with_log_p(self, threads: int) -> ScreenResult:
        """Return the same answers with their p-values, computed on several threads."""
        log_p = _core.chi_square_log_sf(self.statistic, self.dof, threads)
        return ScreenResult(self.xs, self.given, self.statistic, self.dof, self.reliable, log_p)

    def log_p_of(self, indices: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some indices only."""
        return _core.chi_square_log_sf(self.statistic[indices], self.dof[indices])

    @cached_property
    def log_p(self) -> Floats:
        """The logarithms of the p-values, computed when first asked for."""
        return _core.chi_square_log_sf(self.statistic, self.dof)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_arrays, (self.xs, self.given, *self._answers.arrays())

    def at(self, indices: NDArray[np.intp]) -> NativeScreenResult:
        """Return the answers at some indices."""
        return self._select(self.xs[indices], indices)

    def _select(self, xs: NDArray[np.uint32], indices: NDArray[np.intp] | NDArray[np.uint32]) -> NativeScreenResult:
        return NativeScreenResult(xs, self.given, self._answers.at(indices))

    def _of_arrays(self) -> Callable[..., ScreenResult]:
        return _of_arrays

    def partition(self, log_alpha: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of the answers that show dependence, and of those that show independence."""
        parted = self._parted
        return parted[1] if parted is not None and parted[0] == log_alpha else self._answers.partition(log_alpha)

    def that_depend(self, log_alpha: float) -> ScreenResult:
        """Return the answers that show dependence."""
        parted = self._parted
        if parted is None or parted[0] != log_alpha:
            parts = self._answers.partition(log_alpha)
            parted = self._parted = log_alpha, parts, self.at(parts[0])
        return parted[2].alone()

    def alone(self) -> NativeScreenResult:
        """Return the same answers without the arrays that were made of them, which would be kept with them."""
        return NativeScreenResult(self.xs, self.given, self._answers)

    def dependents(self, log_alpha: float) -> list[int]:
        """Return the candidates whose answers show dependence, the strongest first; ties by position."""
        return self._answers.dependents(self.xs, log_alpha)

    def ranked_split(self, log_alpha: float) -> tuple[list[int], NDArray[np.uint32]]:
        """Return the `dependents`, and the candidates whose answers show independence."""
        return self._answers.ranked_split(self.xs, log_alpha)

    def ranked(self, indices: NDArray[np.intp], ties: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Return the indices of some reliable answers from the strongest to the weakest."""
        return self._answers.ranked(indices) if ties is None else super().ranked(indices, ties)

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return index, x, log p and statistic of the reliable answers."""
        return self._answers.each(self.xs)

    def shown(self, x: int, log_alpha: float) -> list[tuple[float, int]]:
        """Return log p and index of the answers that show x to be dependent."""
        return self._answers.shown(self.xs, x, log_alpha)

    def strongest(self) -> tuple[list[int], float]:
        """Return the indices of the strongest reliable answers (several if they tie exactly) and their log p."""
        return self._answers.strongest()

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        return Outcome(*self._answers.outcome(index))


def _of_arrays(
    xs: NDArray[np.uint32],
    given: tuple[int, ...],
    statistic: Floats,
    dof: Floats,
    reliable: NDArray[np.bool_],
    log_p: Callable[[Floats, Floats], Floats] | None = None,
) -> NativeScreenResult:
    del log_p  # always that of chi-square
    return NativeScreenResult(xs, given, _core.ScreenAnswers(statistic, dof, reliable))
