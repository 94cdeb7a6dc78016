"""The weakest association of each pair of variables that a search has kept together."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_FEW = 100  # answers that are looked at one by one


class Associations:
    """By target and candidate, the largest log p of a test that showed dependence; 0 if a set separates the two."""

    def __init__(self) -> None:
        self._log_p: dict[int, dict[int, float]] = {}
        self._separated: dict[int, dict[int, None]] = {}  # by target, before any test showed dependence

    def note(self, x: int, target: int, log_p: float) -> None:
        """Note a test that showed dependence."""
        known = self._log_p.setdefault(target, {})
        known[x] = max(log_p, known.get(x, -math.inf))

    def note_screen(self, screen: ScreenResult, target: int, log_alpha: float) -> None:
        """Note the tests of candidates that show dependence."""
        self._note_all(screen, target, log_alpha)

    def note_subsets(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Note the weakest associations that a search through conditioning sets found, and what it separated."""
        self._note_all(found, target, log_alpha)
        self._note_separated(found.separated_variables, target)

    def merge(self, other: Associations) -> None:
        """Note what another store has noted, as if it were noted now."""
        for target, xs in other._separated.items():
            self._note_separated(xs, target)
        for target, noted in other._log_p.items():
            known = self._log_p.setdefault(target, {})
            for x, log_p in noted.items():
                known[x] = max(log_p, known.get(x, -math.inf))

    def get(self, x: int, target: int) -> float | None:
        """Return the weakest association of a candidate with a target, or None if no test showed dependence."""
        return self._log_p.get(target, {}).get(x)

    def _note_separated(self, xs: Iterable[int], target: int) -> None:
        known = self._log_p.get(target, {})
        for x in xs:
            if x in known:
                known[x] = 0.0
            else:
                self._separated.setdefault(target, {})[x] = None

    def _note_all(self, answers: ScreenResult | SubsetResult, target: int, log_alpha: float) -> None:
        if len(answers) <= _FEW:
            dependent = [(x, log_p) for _, x, log_p, _ in answers.each() if log_p <= log_alpha]
        else:
            indices = np.flatnonzero(answers.reliable & (answers.log_p <= log_alpha))
            dependent = list(zip(answers.xs[indices].tolist(), answers.log_p_of(indices).tolist(), strict=True))
        for x, log_p in dependent:
            self.note(x, target, log_p)
