"""Progress: on a status line, silent, or passed to a callback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.status import Status
from rich.text import Text

from serape.errors import OptionError

PATIENCE = 2.0
"""Seconds before a search shows its progress."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search."""

    target: str
    members: tuple[str, ...]
    """The members of the set being built."""
    tests: int
    skipped: int
    seconds: float
    doing: str = ""
    """A description of the work, if it is not tests about a target."""


ProgressCallback = Callable[[Progress], object]


class StatusLine:
    """Shows progress on standard error once a search has taken a moment."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._status: Status | None = None

    def __call__(self, now: Progress) -> None:
        """Show the progress."""
        if now.seconds < self._patience:
            return
        done = now.doing or f"{len(now.members)} found, {now.tests:,} tests"
        text = f"{now.target or 'searching'}: {done}, {now.seconds:.0f} s; Ctrl-C keeps what was found"
        if self._status is None:
            self._status = Status(Text(text), console=Console(stderr=True))
            self._status.start()
        self._status.update(Text(text))

    def close(self) -> None:
        """Remove the status line."""
        if self._status is not None:
            self._status.stop()
            self._status = None


def check_progress(progress: object) -> None:
    """Refuse a value that is neither True, False, None nor a callable."""
    if not callable(progress) and progress not in (None, True, False):
        raise OptionError(f"progress must be True, False, None or a callable, not {progress!r:.60}")


def progress_callback(progress: bool | ProgressCallback | None) -> ProgressCallback | None:
    """Return the callback for `progress`: None shows progress on a terminal, True always, False never."""
    check_progress(progress)
    if callable(progress):
        return progress
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None
    return StatusLine(0.0 if progress else PATIENCE)
