"""Tests given nothing, which the searches for many targets share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import (
    DependentBlocks,
    DependentPairs,
    find_dependent_pairs,
    have_few_levels,
)
from serape.independence.outcomes import as_positions
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge

MAX_SHARED = 10_000_000
"""The most targets times variables for which tests given nothing are shared: 250 MB of answers."""


class Marginals(Mapping[int, ScreenResult]):
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


def _parts_of(screen: ScreenResult) -> tuple[Any, ...]:
    """Return a function, and the arguments with which it makes the screen."""
    reduced = screen.__reduce_ex__(5)
    return reduced if isinstance(reduced, tuple) and len(reduced) == 2 else (_itself, (screen,))


def _itself(screen: ScreenResult) -> ScreenResult:
    return screen


def _unmade(parts: Mapping[int, tuple[Any, ...]]) -> Marginals:
    return Marginals(parts, are_made=False)


def marginal_tests(
    test: IndependenceTest,
    targets: Sequence[int],
    knowledge: BoundKnowledge | None = None,
    threads: int = 1,
    log_alpha: float | None = None,
) -> Mapping[int, ScreenResult]:
    """Test every target against all variables given nothing, each pair once; none if the answers are too many.

    Of many pairs only those dependent at `log_alpha` are kept, if it is given. Forbidden members are not tested.
    """
    if len(targets) < 2:
        return {}
    if len(targets) * len(test.variables) > MAX_SHARED:
        if log_alpha is None or not _leaves_tests_alone(knowledge):
            return {}
        return find_dependent_pairs(test, targets, log_alpha, threads) or {}
    forbidden = knowledge.forbidden_members if knowledge is not None and knowledge.has_forbidden_members else None
    return Marginals(test.marginals(targets, forbidden, threads=threads))


def marginal_blocks(
    test: IndependenceTest, targets: Sequence[int], knowledge: BoundKnowledge | None, threads: int, log_alpha: float
) -> DependentBlocks | None:
    """Return the same in blocks of targets where `marginal_tests` returns none; None if the answers are too few."""
    few = len(targets) < 2 or len(targets) * len(test.variables) <= MAX_SHARED
    if few or not _leaves_tests_alone(knowledge) or not have_few_levels(test, range(len(test.variables))):
        return None
    return DependentBlocks(test, targets, log_alpha, threads)


def _leaves_tests_alone(knowledge: BoundKnowledge | None) -> bool:
    return knowledge is None or knowledge.leaves_tests_alone


def shared_tests(known: Mapping[int, ScreenResult]) -> int:
    """Return the number of tests behind the marginal tests of targets: a pair of targets was tested once."""
    if isinstance(known, DependentPairs):
        return known.tests
    targets = as_positions(list(known))
    total = sum(screen.performed for screen in known.values())
    return total - sum(screen.performed_with(targets) for screen in known.values()) // 2
