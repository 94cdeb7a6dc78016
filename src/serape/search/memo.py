"""Steps that are computed once, however often an algorithm, or several searches, come back to them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from serape.search.separations import Separations

if TYPE_CHECKING:
    from serape.search.search import Search

Value = TypeVar("Value")


class CachedStep(NamedTuple, Generic[Value]):
    """What a step about one target gave, and the separating sets it came upon."""

    target: int
    value: Value
    separations: Separations


class NeedsOtherTarget(Exception):
    """A step about another variable was to be taken in a search that is confined to one."""


StepRecord = tuple[str, str, tuple[Any, ...], CachedStep[Any]]
"""A step as it can be sent to another process: where its function is, its further arguments, and what it gave."""


@dataclass
class StepCache:
    """Steps that have been computed. Searches that share one must ask the same test with the same settings."""

    _steps: dict[Any, CachedStep[Any]] = field(default_factory=dict)
    _about: dict[int, list[Any]] = field(default_factory=dict)  # by target, the keys of what was computed here
    _running: dict[Any, threading.Event | None] = field(default_factory=dict)  # with an event, if somebody waits
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def recall(self, key: Any, compute: Callable[[], CachedStep[Value]]) -> CachedStep[Value]:
        """Return the step of a key, computing it if nobody has; a thread that is computing it is waited for."""
        done = self._steps.get(key)
        if done is not None:
            return done
        while True:
            with self._lock:
                known = self._steps.get(key)
                if known is not None:
                    return known
                if key not in self._running:
                    self._running[key] = None
                    break
                running = self._running[key] = self._running[key] or threading.Event()
            running.wait()
        try:
            step = compute()
            self._steps[key] = step
            self._about.setdefault(step.target, []).append(key)
        finally:
            with self._lock:
                waited_for = self._running.pop(key)
            if waited_for is not None:
                waited_for.set()
        return step

    def records(self, target: int) -> list[StepRecord]:
        """Return the steps about a target that were computed here."""
        return [
            (key[0].__module__, key[0].__qualname__, key[2:], self._steps[key]) for key in self._about.get(target, ())
        ]

    def add(self, steps: Iterable[StepRecord]) -> None:
        """Remember steps that were taken elsewhere."""
        for module, name, rest, step in steps:
            function = getattr(import_module(module), name).__wrapped__
            self._steps.setdefault((function, step.target, *rest), step)


def memoised(step: Callable[..., Value]) -> Callable[..., Value]:
    """Let `step(search, target, ...)` be computed once for each target (and further arguments).

    A step must depend on nothing but its arguments and the answers to its questions.
    """

    @functools.wraps(step)
    def remembered(search: Search, target: int, *rest: Any) -> Value:
        return search.step((step, target, *rest), target, lambda: step(search, target, *rest))

    return remembered
