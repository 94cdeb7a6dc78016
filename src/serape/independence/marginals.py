"""Tests of targets with all variables given nothing, by target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import as_positions
from serape.independence.screens import ScreenResult


class Marginals(Mapping[int, ScreenResult]):
    """Screens given nothing by target, and what is asked about all of them."""

    dependent_at: float | None = None
    """The ln α at which pairs must be dependent for their answers to be kept; None if all answers are kept."""

    @property
    def tests(self) -> int:
        """The number of tests behind them; a pair of targets counts once."""
        targets = as_positions(list(self))
        total = sum(screen.performed for screen in self.values())
        return total - sum(screen.performed_with(targets) for screen in self.values()) // 2

    def ranked_dependents(self, targets: NDArray[np.uint32], log_alpha: float, threads: int) -> VariableSets:
        """Return the variables that depend on each target, the strongest first."""
        del threads
        return VariableSets.of([self[target].dependents(log_alpha) for target in targets.tolist()])

    def tests_of(self, targets: NDArray[np.uint32], pools: VariableSets, threads: int) -> GivenTests:
        """Return the tests of each target with the members of its pool, all of which depend on it."""
        parts = [self[x].part(as_positions(pool)) for x, pool in zip(targets.tolist(), pools, strict=True)]
        statistic, dof = (np.concatenate([getattr(part, name) for part in parts]) for name in ("statistic", "dof"))
        log_p = _core.chi_square_log_sf(statistic, dof, threads)
        return GivenTests(statistic, dof, log_p, VariableSets.alike((), len(log_p)))


class AllMarginals(Marginals):
    """Screens given nothing by target. Another process makes each of them from its arrays when it is first needed."""

    def __init__(self, screens: Mapping[int, Any], *, are_made: bool = True) -> None:
        self._made: dict[int, ScreenResult] = dict(screens) if are_made else {}
        self._parts: dict[int, Any] = {} if are_made else dict(screens)

    def __getitem__(self, target: int) -> ScreenResult:
        if target not in self._made:
            make, arguments = self._parts[target]
            self._made[target] = make(*arguments)
        return self._made[target]

    def __iter__(self) -> Iterator[int]:
        return iter(self._parts or self._made)

    def __len__(self) -> int:
        return len(self._parts or self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._parts or {target: _parts_of(screen) for target, screen in self._made.items()}
        return _unmade, (parts,)


def as_marginals(screens: Mapping[int, ScreenResult]) -> Marginals:
    """Return screens given nothing with what is asked about all of them."""
    return screens if isinstance(screens, Marginals) else AllMarginals(screens)


def _parts_of(screen: ScreenResult) -> tuple[Any, ...]:
    """Return a function, and the arguments with which it makes the screen."""
    reduced = screen.__reduce_ex__(5)
    return reduced if isinstance(reduced, tuple) and len(reduced) == 2 else (_itself, (screen,))


def _itself(screen: ScreenResult) -> ScreenResult:
    return screen


def _unmade(parts: Mapping[int, tuple[Any, ...]]) -> AllMarginals:
    return AllMarginals(parts, are_made=False)
