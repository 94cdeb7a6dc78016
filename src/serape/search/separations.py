"""Which sets separate which pairs of variables.

In a search over many variables, a few sets separate most of them, in batches. Batches are kept as the arrays they come
in, and searched when a pair is looked up. The answers of a screen are looked through when a pair is first looked up, or
when there are many; then those that a screen is the first to separate become a batch. So a screen costs no time if
nobody asks, and each variable is in one batch at most of those that screens of a target make.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Positions
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_SMALL = 32  # batches up to this size are kept pair by pair …
_LATER = 128  # answers of a search through conditioning sets up to so many are looked through when a pair is looked up
_FEW = 4  # … or up to this size, if one set separates them all
_MAX_PENDING = 8  # answers per variable of the largest screen that are kept before they are looked through …
_MIN_PENDING = 1 << 15  # … or so many, if that is more
_ALL_BUT = 0.98  # a batch of more than this part of the variables is kept by those that are not in it, in 32 bits each


class _Batch(NamedTuple):
    """Many x, each with the set that separates it."""

    serial: int
    xs: Positions
    which: NDArray[np.int32]
    sets: Sequence[Sequence[int]]

    def get(self, x: int) -> tuple[int, ...] | None:
        indices = np.flatnonzero(self.xs == x)
        return tuple(self.sets[self.which[indices[0]]]) if len(indices) else None

    def mark(self, separated: NDArray[np.bool_]) -> None:
        separated[self.xs] = True


class _OneSet(NamedTuple):
    """Many x that one set separates, a bit for each variable."""

    serial: int
    bits: bytes
    given: tuple[int, ...]

    def get(self, x: int) -> tuple[int, ...] | None:
        return self.given if x < 8 * len(self.bits) and self.bits[x >> 3] >> (x & 7) & 1 else None

    def mark(self, separated: NDArray[np.bool_]) -> None:
        bits = np.frombuffer(self.bits, np.uint8)
        own = np.unpackbits(bits, count=min(8 * len(bits), len(separated)), bitorder="little").view(bool)
        separated[: len(own)] |= own


class _AllBut(NamedTuple):
    """Many x that one set separates: all variables up to the last but a few."""

    serial: int
    end: int
    others: Positions
    given: tuple[int, ...]

    def get(self, x: int) -> tuple[int, ...] | None:
        if x >= self.end:
            return None
        at = int(self.others.searchsorted(x))
        return None if at < len(self.others) and self.others[at] == x else self.given

    def mark(self, separated: NDArray[np.bool_]) -> None:
        before = separated[self.others]
        separated[: self.end] = True
        separated[self.others] = before


class _Screen(NamedTuple):
    """Tests of many x given one set, which separates those whose log p is above a level."""

    serial: int
    answers: ScreenResult
    level: float


class Separations:
    """Separating sets by pair, whichever of the two was the target; the first found is kept."""

    def __init__(self) -> None:
        self._serial = 0  # the number of the latest entry
        self._pairs: dict[int, tuple[int, tuple[int, ...]]] = {}  # with the serial number
        self._batches: dict[int, list[_Batch | _OneSet | _AllBut]] = {}
        self._later: list[tuple[int, SubsetResult, int, float]] = []  # serial before it, answers, target, log alpha
        self._screens: dict[int, list[_Screen]] = {}  # by target, those that are not looked through
        self._pending = self._largest = 0  # their answers, and those of the largest

    def __getstate__(self) -> tuple[Any, ...]:
        self._look_through()
        return self._serial, self._pairs, self._batches

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._serial, self._pairs, self._batches = state
        self._later, self._screens, self._pending, self._largest = [], {}, 0, 0

    def add(self, x: int, target: int, given: tuple[int, ...]) -> None:
        """Keep a set that separates two variables."""
        self._serial += 1
        self._pairs.setdefault(_pair(x, target), (self._serial, given))

    def add_batch(
        self, xs: Positions, target: int, which: NDArray[np.int32] | None, sets: Sequence[Sequence[int]]
    ) -> None:
        """Keep, for many x, which of the sets separates each from the target (the first, if `which` is None)."""
        if len(xs) == 0:
            return
        if len(xs) <= (_FEW if which is None else _SMALL):
            indices = [0] * len(xs) if which is None else which.tolist()
            for x, k in zip(xs.tolist(), indices, strict=True):
                self.add(x, target, tuple(sets[k]))
            return
        self._serial += 1
        batch = _Batch(self._serial, xs, which, sets) if which is not None else _one_set(self._serial, xs, sets[0])
        self._batches.setdefault(target, []).append(batch)

    def add_screen(self, answers: ScreenResult, target: int, level: float) -> None:
        """Keep the set of a screen for the candidates whose test is reliable and has a log p above a level."""
        self._serial += 1
        self._screens.setdefault(target, []).append(_Screen(self._serial, answers, level))
        self._pending += len(answers)
        self._largest = max(self._largest, len(answers))
        if self._pending > max(_MAX_PENDING * self._largest, _MIN_PENDING):
            self.look_through_screens()

    def add_found(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Keep the separating sets that a search through conditioning sets found."""
        if len(found) <= _LATER:
            self._later.append((self._serial, found, target, log_alpha))
            self._serial += len(found)
            return
        indices = found.above(log_alpha)
        self.add_batch(found.xs[indices], target, found.which[indices], found.sets)

    def merge(self, other: Separations) -> None:
        """Keep what another store has found, as if it were found now."""
        other._look_through()
        for pair, (serial, given) in other._pairs.items():
            self._keep_first(pair, self._serial + serial, given)
        for target, batches in other._batches.items():
            later = [batch._replace(serial=self._serial + batch.serial) for batch in batches]
            self._batches.setdefault(target, []).extend(later)
        self._serial += other._serial

    def get(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return a set that separates two variables, or None if none was found."""
        self._look_through()
        pair = _pair(x, y)
        found = [self._pairs[pair]] if pair in self._pairs else []
        for target, other in ((y, x), (x, y)):
            for batch in self._batches.get(target, ()):
                given = batch.get(other)
                if given is not None:
                    found.append((batch.serial, given))
                    break  # the first batch counts
        return min(found)[1] if found else None

    def look_through_screens(self) -> None:
        """Keep the pairs that screens separated, each with the first set; nobody else may do so at the same time."""
        for target, screens in self._screens.items():
            entries = sorted((*self._batches.get(target, ()), *screens), key=lambda entry: entry.serial)
            separated = np.zeros(1 + max(_last(entry) for entry in entries), bool)
            kept: list[_Batch | _OneSet | _AllBut] = []
            for entry in entries:
                if not isinstance(entry, _Screen):
                    entry.mark(separated)
                    kept.append(entry)
                    continue
                answers = entry.answers
                xs = answers.xs[answers.partition(entry.level)[1]]
                xs = xs[~separated[xs]]
                separated[xs] = True
                if len(xs) > _FEW:
                    kept.append(_one_set(entry.serial, xs, answers.given))
                    continue
                for x in xs.tolist():
                    self._keep_first(_pair(x, target), entry.serial, answers.given)
            self._batches[target] = kept
        self._screens, self._pending, self._largest = {}, 0, 0

    def _look_through(self) -> None:
        """Keep the pairs that searches separated; several threads may do so at once, with the same result.

        That does not hold for screens, which the thread that adds them has looked through before others ask.
        """
        if self._screens:
            self.look_through_screens()
        for before, found, target, log_alpha in self._later:
            for serial, (x, given) in enumerate(found.separations(log_alpha), before + 1):
                self._keep_first(_pair(x, target), serial, given)
        self._later = []

    def _keep_first(self, pair: int, serial: int, given: tuple[int, ...]) -> None:
        known = self._pairs.get(pair)
        if known is None or serial < known[0]:
            self._pairs[pair] = serial, given


class NoSeparations(Separations):
    """Keeps nothing, for a search that nobody asks for separating sets."""

    def add(self, x: int, target: int, given: tuple[int, ...]) -> None:
        """Keep nothing."""

    def add_batch(
        self, xs: Positions, target: int, which: NDArray[np.int32] | None, sets: Sequence[Sequence[int]]
    ) -> None:
        """Keep nothing."""

    def add_screen(self, answers: ScreenResult, target: int, level: float) -> None:
        """Keep nothing."""

    def add_found(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Keep nothing."""

    def merge(self, other: Separations) -> None:
        """Keep nothing."""

    def get(self, x: int, y: int) -> tuple[int, ...] | None:
        """Refuse: a set may have been found."""
        raise LookupError(f"the search keeps no separating sets, so that of {x} and {y} is not known")

    def __reduce__(self) -> str:
        return "NO_SEPARATIONS"


NO_SEPARATIONS = NoSeparations()


def _one_set(serial: int, xs: Positions, given: Sequence[int]) -> _OneSet | _AllBut:
    """Return a batch that one set separates."""
    if len(xs) > _ALL_BUT * int(xs[-1]) and _core.ascending(xs):
        return _AllBut(serial, int(xs[-1]) + 1, _core.gaps(xs), tuple(given))
    return _OneSet(serial, _core.bits_of(xs), tuple(given))


def _last(entry: _Batch | _OneSet | _AllBut | _Screen) -> int:
    """Return a variable after which an entry has no other."""
    if isinstance(entry, _Screen):
        return int(entry.answers.xs.max(initial=0))
    if isinstance(entry, _Batch):
        return int(entry.xs.max())
    return entry.end - 1 if isinstance(entry, _AllBut) else 8 * len(entry.bits) - 1


def _pair(x: int, y: int) -> int:
    """Return a number for an unordered pair of variables."""
    return x << 32 | y if x < y else y << 32 | x
