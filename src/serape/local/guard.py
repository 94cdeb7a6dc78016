"""A guard against endless cycles.

With a perfect test, the sets that an interleaved algorithm goes through never repeat. With data they can: a variable
enters, is removed, and enters again.
"""

from __future__ import annotations

from collections.abc import Collection

from serape.search import Search


def note_repetition(search: Search, algorithm: str) -> None:
    """Add the note that an algorithm stopped because a state repeated."""
    search.notes.append(f"{algorithm} stopped because a set of members repeated, which noisy data can cause")


class CycleGuard:
    """Detects a state that repeats."""

    def __init__(self, search: Search, algorithm: str) -> None:
        self._search = search
        self._algorithm = algorithm
        self._states: set[frozenset[int]] = set()

    def repeats(self, state: Collection[int]) -> bool:
        """Return whether the state is a repeated one; if so, add a note to the result."""
        now = frozenset(state)
        if now in self._states:
            note_repetition(self._search, self._algorithm)
            return True
        self._states.add(now)
        return False
