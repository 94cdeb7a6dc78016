"""The set that an algorithm builds."""

from __future__ import annotations

from collections.abc import Iterator

from serape.search.evidence import EvidenceLog


class Members:
    """The set an algorithm builds: ordered by entry, and remembered. It may be changed while it is gone through."""

    def __init__(self, log: EvidenceLog | None) -> None:
        self._order: tuple[int, ...] = ()
        self._inside: set[int] = set()
        self._log = log

    def add(self, x: int) -> None:
        """Add a variable."""
        x = int(x)
        if x not in self._inside:
            self._order += (x,)
            self._inside.add(x)
        if self._log is not None:
            self._log.note_event(x, "entered")

    def remove(self, x: int) -> None:
        """Remove a variable."""
        x = int(x)
        self._inside.remove(x)
        self._order = self.without(x)
        if self._log is not None:
            self._log.note_event(x, "left")

    def without(self, x: int) -> tuple[int, ...]:
        """Return the members but one."""
        return tuple([v for v in self._order if v != x])

    def __contains__(self, x: object) -> bool:
        return x in self._inside

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)
