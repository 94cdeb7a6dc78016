"""The set that an algorithm builds."""

from __future__ import annotations

from collections.abc import Iterator

from serape.search.evidence import EvidenceLog


class Members:
    """The set that an algorithm builds, in order of entry. It may change while a loop runs through it."""

    def __init__(self, log: EvidenceLog | None) -> None:
        self._order: tuple[int, ...] = ()
        self._members: set[int] = set()
        self._log = log

    def add(self, x: int) -> None:
        """Add a variable."""
        x = int(x)
        if x not in self._members:
            self._order += (x,)
            self._members.add(x)
        if self._log is not None:
            self._log.note_event(x, "entered")

    def remove(self, x: int) -> None:
        """Remove a variable."""
        x = int(x)
        self._members.remove(x)
        self._order = self.without(x)
        if self._log is not None:
            self._log.note_event(x, "left")

    def without(self, x: int) -> tuple[int, ...]:
        """Return all members but one."""
        return tuple([v for v in self._order if v != x])

    def __contains__(self, x: object) -> bool:
        return x in self._members

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)
