"""Steps of algorithms: each is computed once, and found in one place by every search that asks for it.

A search finds a step here, whoever computed it. The tests of these have been counted where the step was computed:

- those of a search of the same call, here or in another process (`add_pickled`);
- those that are the set of variables, or pool, that the call found for each target (`pools`).

The tests of these count here, where a search first asks for the step, as its record says:

- those that were prepared before the algorithm asked for them (`Search.prepare`);
- those of an earlier call about the same table (`EarlierSteps`).

So the answers, the numbers of tests and the evidence are those of a search that computes all by itself, in the same
order, and a step that nobody asks for counts for nothing.
"""

from __future__ import annotations

import functools
import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from serape.errors import OptionError
from serape.progress import ProgressCallback
from serape.search.pools import Pools
from serape.search.record import Step
from serape.wording import setting

if TYPE_CHECKING:
    from serape.search.search import Search

Value = TypeVar("Value")
Compute = Callable[[int, ProgressCallback], Step[Any] | None]
SentStep = tuple[str, str, tuple[Any, ...], Step[Any]]
"""A step as it can be sent to another process: module and name of its function, further arguments, and result."""

_MOST = 1 << 20
"""At most so many steps of earlier calls times variables are kept: a step takes some bytes for each variable."""
STEP_BYTES = 16 * _MOST
"""The size of all steps of earlier calls, at most."""


class ComputeEach(Protocol):
    """Computes a step about each of some variables in other processes, and calls `done` here with each."""

    def __call__(self, work: Compute, items: Sequence[int], done: Callable[[int, Step[Any] | None], None]) -> None:
        """Compute all; an exception in one ends all others."""
        ...


class EarlierSteps:
    """The steps of calls for one target after another, on one table with the same settings.

    hiton-pc asks for the candidate sets of all neighbours of its target. A program that asks about one target after
    another would compute each of these sets once for every neighbour.
    """

    def __init__(self) -> None:
        self._known: dict[Any, Step[Any]] = {}

    def recall(self, key: Any) -> Step[Any] | None:
        """Return a step as an earlier call computed it, or None if none did."""
        return self._known.get(key)

    def keep(self, key: Any, step: Step[Any], variables: int) -> None:
        """Remember a step, unless it asked for others, which a later search would have to ask for too."""
        if step.record.told is None or key in self._known:
            return
        if len(self._known) * variables >= _MOST:
            self._known.clear()
        self._known[key] = step


@dataclass
class Steps:
    """The steps that are known to the searches of a call, which must use the same test with the same settings.

    The key of a step is its function, its target and its further arguments.
    """

    earlier: EarlierSteps | None = None
    """The steps of earlier calls."""
    counted: set[str] | None = None
    """Of a run with a checkpoint, the labels of the steps whose tests an earlier part of it has counted; else None."""
    evidence_of: frozenset[int] = frozenset()
    """The targets of searches that keep evidence: the record of every step has what these need of it."""
    pools: Pools = field(default_factory=Pools)
    """The steps that are one set of variables for each target."""
    _steps: dict[Any, Step[Any]] = field(default_factory=dict)
    _about: dict[int, list[Any]] = field(default_factory=dict)
    """By target, the keys of the steps."""
    _elsewhere: dict[int, bytes] = field(default_factory=dict)
    """By target, the pickled steps that other processes computed and nobody here has asked for."""
    _in_advance: dict[Any, Step[Any]] = field(default_factory=dict)
    """Prepared steps, which nobody has asked for or counted."""
    _running: dict[Any, threading.Event | None] = field(default_factory=dict)
    """The steps that some thread computes now; with an event, if others wait for it."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def tell(self) -> bool:
        """Whether the record of a step has what searches about other variables need."""
        return self.earlier is not None or bool(self.evidence_of)

    def recall(self, key: Any, first: Callable[[], Step[Value]]) -> Step[Value]:
        """Return the step of a key.

        Where no search of the call has asked for it, `first` computes it, or finds it `in_advance`; where a thread is
        about to do so, this waits for it.
        """
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
            step = first()
            self._keep(key, step)
        finally:
            with self._lock:
                event = self._running.pop(key)
            if event is not None:
                event.set()
        return step

    def knows(self, key: Any, excluded: frozenset[int]) -> bool:
        """Return whether a step of a search with these excluded variables need not be computed."""
        with self._lock:
            self._fetch(key[1])
            if key in self._steps or key in self._in_advance:
                return True
        return self.earlier is not None and self.earlier.recall((key, excluded)) is not None

    def take(self, target: int) -> Step[Any]:
        """Return the only step about a target, and forget it."""
        (key,) = self._about.pop(target)
        return self._steps.pop(key)

    # --- steps that are known before a search asks -------------------------------------------------------------------

    def add_in_advance(self, key: Any, step: Step[Any]) -> None:
        """Add a step that nobody has asked for."""
        self._in_advance[key] = step

    def in_advance(self, key: Any, excluded: frozenset[int]) -> Step[Any] | None:
        """Return a step that nobody has asked for, to be counted now, or None if it must be computed."""
        found = self._in_advance.pop(key, None)
        return found if found is not None or self.earlier is None else self.earlier.recall((key, excluded))

    def remember(self, key: Any, excluded: frozenset[int], step: Step[Any], variables: int) -> None:
        """Keep a step of a search with these excluded variables for later calls, if there will be any."""
        if self.earlier is not None:
            self.earlier.keep((key, excluded), step, variables)

    # --- steps of other processes ------------------------------------------------------------------------------------

    def pickled(self, target: int) -> bytes:
        """Return the known steps about a target, for `add_pickled` in another process."""
        return pickle.dumps(self._sent(target), pickle.HIGHEST_PROTOCOL)

    def add_pickled(self, target: int, steps: bytes) -> None:
        """Add the steps about a target that another process computed; they are unpickled when they are needed."""
        self._elsewhere[target] = steps

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle holds: the steps of all processes, to be unpickled one by one."""
        elsewhere = {target: self.pickled(target) for target in self._about} | self._elsewhere
        return Steps, (None, self.counted, self.evidence_of, self.pools, {}, {}, elsewhere)

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


def step_label(key: Any) -> str:
    """Return the label of a step in a checkpoint: its function, its target, and a digest of function and arguments.

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
        return search.step((step, target, *rest), target, lambda: step(search, target, *rest))

    cached.is_memoised = True  # type: ignore[attr-defined]
    return cached


def preparable(step: Callable[..., Value]) -> Callable[..., Value]:
    """Allow `step(search, target, ...)` to be prepared: see `Search.prepare`. It is a part of the step that asks.

    It must depend only on its arguments and the answers to its questions, and not ask for `memoised` steps.
    """

    @functools.wraps(step)
    def asked(search: Search, target: int, *rest: Any) -> Value:
        return search.prepared_or_computed(step, target, rest)

    return asked


@dataclass(frozen=True, slots=True, eq=False)
class _This:
    """An argument that equals no other object."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of_part(step: Callable[..., Any], target: int, rest: Sequence[Any]) -> tuple[Any, ...]:
    """Return the key of a prepared part of a step; further arguments count as the same if they are the same objects."""
    return (step, int(target), *map(_This, rest))
