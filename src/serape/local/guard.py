"""A guard against going round in circles.

With a perfect test the sets that an interleaved algorithm passes through never repeat. With data they can: what enters
is dropped, and its dropping lets it in again.
"""

from __future__ import annotations

from collections.abc import Collection

from serape.search import Search


class CycleGuard:
    """Notices a state that was there before."""

    def __init__(self, search: Search, algorithm: str) -> None:
        self._search = search
        self._algorithm = algorithm
        self._seen: set[frozenset[int]] = set()

    def repeats(self, state: Collection[int]) -> bool:
        """Return whether the state was there before, and note it in the result if so."""
        now = frozenset(state)
        if now in self._seen:
            self._search.notes.append(
                f"{self._algorithm} came back to a set it had left, as noisy data can make it, and stopped there"
            )
            return True
        self._seen.add(now)
        return False
