"""Which results of many targets keep their evidence: as much as there is room for, for all targets together.

As a search leaves it, evidence costs no time, but more room than in columns. So it is put into columns, that of the
first results first, when the room is full. Where columns would be too much as well, no result keeps it.
"""

from __future__ import annotations

from collections import deque

from serape.results.explanation import Evidence
from serape.results.result import Result

MAX_BYTES = 256 << 20
"""The most room for the evidence of all targets of a call."""
_VARIABLE_BYTES = 33  # in columns
_TEST_BYTES = 64  # as a search leaves it, of a test or a variable
_SEARCH_BYTES = 16 << 10  # of a search without tests


class KeptEvidence:
    """The room for the evidence of a call about so many targets of a table with so many variables."""

    def __init__(self, targets: int, variables: int) -> None:
        self.wanted = targets * variables * _VARIABLE_BYTES <= MAX_BYTES
        """Whether searches are to gather evidence."""
        self._variables = variables
        self._size = 0
        self._as_left: deque[tuple[Evidence, int]] = deque()  # with its size

    def has_room(self, result: Result) -> bool:
        """Return whether a result keeps its evidence."""
        trace = result.trace
        if not trace.at_hand:
            return False
        if trace.is_partly_kept:
            trace.gather()
        if trace.is_gathered:
            self._size += trace.nbytes
        else:
            size = _SEARCH_BYTES + _TEST_BYTES * (self._variables + result.tests + result.skipped)
            self._as_left.append((trace, size))
            self._size += size
        while self._size > MAX_BYTES and self._as_left:
            first, size = self._as_left.popleft()
            self._size += first.nbytes - size
        if self._size <= MAX_BYTES:
            return True
        self._size -= trace.nbytes
        return False
