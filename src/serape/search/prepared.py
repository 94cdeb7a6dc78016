"""Steps about other variables, computed on several cores before an algorithm asks for them.

An algorithm announces which steps it will ask for (`Search.prepare`). What the search records while a step is computed
is kept with its value, and recorded when the algorithm asks for the step. So the answers, the numbers of tests and the
evidence are those of a search on one core, in the same order, and a step that nobody asks for counts for nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from serape.progress import ProgressCallback
from serape.search.record import Step

Value = TypeVar("Value")
Compute = Callable[[int, ProgressCallback], Step[Any] | None]


class ComputeEach(Protocol):
    """Computes a step about each of some variables in other processes, and calls `done` here with each."""

    def __call__(self, work: Compute, items: Sequence[int], done: Callable[[int, Step[Any] | None], None]) -> None:
        """Compute all; an exception in one ends all others."""
        ...


def preparable(step: Callable[..., Value]) -> Callable[..., Value]:
    """Allow `step(search, target, ...)` to be prepared: see `Search.prepare`.

    It must depend only on its arguments and the answers to its questions, and not ask for `memoised` steps.
    """

    @functools.wraps(step)
    def asked(search: Any, target: int, *rest: Any) -> Value:
        found: Value = search.prepared_or_computed(step, target, rest)
        return found

    return asked


def key_of(step: Callable[..., Any], target: int, rest: Sequence[Any]) -> tuple[Any, ...]:
    """Return the key of a prepared step; further arguments count as the same if they are the same objects."""
    return (step, int(target), *map(id, rest))
