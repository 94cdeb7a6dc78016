"""Steps about other variables, computed on several cores before an algorithm asks for them.

An algorithm announces which steps it will ask for (`Search.prepare`). What the search records while a step is computed
is kept with its value, and recorded when the algorithm asks for the step. So the answers, the numbers of tests and the
evidence are those of a search on one core, in the same order, and a step that nobody asks for counts for nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from serape.independence.outcomes import Outcome, Tally
from serape.progress import ProgressCallback
from serape.search.associations import Associations
from serape.search.separations import Separations

Value = TypeVar("Value")


class Record(NamedTuple):
    """What a search records while a step about another variable than its subject is computed."""

    tally: Tally
    notes: list[str]
    separations: Separations
    associations: Associations | None
    other_side: dict[tuple[int, bool], tuple[Outcome, tuple[int, ...]]]


class PreparedStep(NamedTuple):
    """The value of a step, and what was recorded while it was computed."""

    value: Any
    record: Record


Compute = Callable[[int, ProgressCallback], PreparedStep | None]


class ComputeEach(Protocol):
    """Computes a step about each of some variables in other processes, and calls `done` here with each."""

    def __call__(self, work: Compute, items: Sequence[int], done: Callable[[int, PreparedStep | None], None]) -> None:
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
