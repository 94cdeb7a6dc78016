"""The set that an algorithm builds."""

from __future__ import annotations

from collections.abc import Iterator

from serape.search.evidence import EvidenceLog


class Members:
    """The set that an algorithm builds, in order of entry. It may change while a loop runs through it."""

    def __init__(self, log: EvidenceLog | None) -> None:
        self._members: dict[int, None] = {}  # in order of entry
        self._log = log

    def add(self, x: int) -> None:
        """Add a variable."""
        x = int(x)
        self._members[x] = None
        if self._log is not None:
            self._log.note_event(x, "entered")

    def remove(self, x: int) -> None:
        """Remove a variable."""
        x = int(x)
        del self._members[x]
        if self._log is not None:
            self._log.note_event(x, "left")

    def without(self, x: int) -> tuple[int, ...]:
        """Return all members but one."""
        return tuple([v for v in self._members if v != x])

    def __contains__(self, x: object) -> bool:
        return x in self._members

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._members))

    def __len__(self) -> int:
        return len(self._members)
