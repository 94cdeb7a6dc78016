"""Steps of algorithms that are computed once and shared, within a search and between searches."""

from __future__ import annotations

import functools
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from serape.errors import OptionError
from serape.search.pools import Pools
from serape.search.record import SentStep, Step
from serape.wording import setting

if TYPE_CHECKING:
    from serape.search.search import Search

Value = TypeVar("Value")


@dataclass
class StepCache:
    """Computed steps. Searches that share a cache must use the same test with the same settings."""

    _steps: dict[Any, Step[Any]] = field(default_factory=dict)
    _about: dict[int, list[Any]] = field(default_factory=dict)  # by target, the keys of the steps
    _running: dict[Any, threading.Event | None] = field(
        default_factory=dict
    )  # with an event, if a thread waits for the step
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _elsewhere: dict[int, bytes] = field(default_factory=dict)
    """By target, the pickled steps that other processes computed and nobody here has asked for."""
    pools: Pools = field(default_factory=Pools)
    """The steps about targets of which each is one set of variables."""
    counted: set[str] | None = None
    """The steps whose tests an earlier part of the run has counted; None if nobody asks."""
    evidence_of: frozenset[int] = frozenset()
    """The targets of searches that keep evidence: what they need of a step is in its record, whoever computes it."""

    def recall(self, key: Any, compute: Callable[[], Step[Value]]) -> Step[Value]:
        """Return the step of a key; compute it if it is not known, or wait for the thread that computes it."""
        done = self._steps.get(key)
        if done is not None:
            return done
        if key[1] in self.pools.of:
            return self.pools.step(key[1])
        while True:
            with self._lock:
                self._fetch(key[1])
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
            self._keep(key, step)
        finally:
            with self._lock:
                event = self._running.pop(key)
            if event is not None:
                event.set()
        return step

    def knows(self, key: Any) -> bool:
        """Return whether a step has been computed."""
        with self._lock:
            self._fetch(key[1])
            return key in self._steps

    def _fetch(self, target: int) -> None:
        """Add the steps about a target that other processes computed."""
        pickled = self._elsewhere.pop(target, None)
        sent: list[SentStep] = [] if pickled is None else pickle.loads(pickled)  # by our own processes
        for module, name, rest, step in sent:
            key = (getattr(import_module(module), name).__wrapped__, step.target, *rest)
            if key not in self._steps:
                self._keep(key, step)

    def _keep(self, key: Any, step: Step[Any]) -> None:
        self._steps[key] = step
        self._about.setdefault(step.target, []).append(key)

    def _sent(self, target: int) -> list[SentStep]:
        return [
            (key[0].__module__, key[0].__qualname__, key[2:], self._steps[key]) for key in self._about.get(target, ())
        ]

    def take(self, target: int) -> Step[Any]:
        """Return the only step about a target, and forget it."""
        (key,) = self._about.pop(target)
        return self._steps.pop(key)

    def pickled(self, target: int) -> bytes:
        """Return the known steps about a target, for `add_pickled` in another process."""
        return pickle.dumps(self._sent(target), pickle.HIGHEST_PROTOCOL)

    def add_pickled(self, target: int, steps: bytes) -> None:
        """Add the steps about a target that another process computed; they are unpickled when they are needed."""
        self._elsewhere[target] = steps

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle holds: the steps of all processes, to be unpickled one by one."""
        return _cache_of, (
            {target: self.pickled(target) for target in self._about} | self._elsewhere,
            self.pools,
            self.counted,
            self.evidence_of,
        )


def _cache_of(
    steps: dict[int, bytes], pools: Pools, counted: set[str] | None, evidence_of: frozenset[int]
) -> StepCache:
    return StepCache(_elsewhere=steps, pools=pools, counted=counted, evidence_of=evidence_of)


def step_label(key: Any) -> str:
    """Return what a checkpoint calls a step: its function, its target, and what both and further arguments are made of.

    Unlike the key it is the same in another process.
    """
    from serape.canonical import Unidentified

    step, target, *rest = key
    try:
        return f"{step.__qualname__} {target} {_made_of(step, *rest)}"
    except Unidentified as reason:
        raise OptionError(
            f"a checkpoint needs steps that another run can recognise, but {reason}; leave out {setting('checkpoint')}"
        ) from None


@functools.lru_cache(maxsize=256, typed=True)
def _made_of(*parts: Any) -> str:
    from serape.canonical import digest

    return digest(parts, "an argument of a step")


def memoised(step: Callable[..., Value]) -> Callable[..., Value]:
    """Compute `step(search, target, ...)` once for each target (and further arguments).

    A step must depend only on its arguments and the answers to its questions. It can be prepared, see
    `Search.prepare`, if it does not ask for other such steps.
    """

    @functools.wraps(step)
    def cached(search: Search, target: int, *rest: Any) -> Value:
        return search.step((step, target, *rest), target, lambda: search.prepared_or_computed(step, target, rest))

    cached.is_memoised = True  # type: ignore[attr-defined]
    return cached
