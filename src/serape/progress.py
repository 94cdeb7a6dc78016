"""Progress: on a status line of a terminal or a notebook, silent, or passed to a callback."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from serape.errors import OptionError, shown
from serape.markup import escaped, plain

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

PATIENCE = 2.0
"""Seconds before a search shows its progress."""
INTERVAL = 0.2
"""Seconds between two texts in a notebook, at least."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search.

    Examples
    --------
    >>> _ = serape.blankets(patients, ["ECG", "Ward"], progress=lambda done: print(done.target, done.members))
    ECG ('HeartDisease',)
    Ward ()
    """

    target: str
    members: tuple[str, ...]
    """The members of the set being built."""
    tests: int
    skipped: int
    seconds: float
    doing: str = ""
    """A description of the work, if it is not tests about a target."""


ProgressCallback = Callable[[Progress], object]


def in_notebook() -> bool:
    """Return whether this runs in a notebook."""
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


def is_watched() -> bool:
    """Return whether progress can be seen: on a terminal or in a notebook."""
    return sys.stderr.isatty() or in_notebook()


class NotebookLine:
    """A line below a cell of a notebook, with a bar if the amount of work is known. It needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._updated = 0.0

    def update(self, text: Text | str, done: int | None = None, total: int | None = None) -> None:
        """Show a text, a few times a second at most."""
        now = time.monotonic()
        if self._handle is not None and now - self._updated < INTERVAL:
            return
        self._updated = now
        count = "" if total is None else f" {done:,}/{total:,}"
        bar = "" if total is None else f'<progress value="{done}" max="{total}"></progress> '
        line = f"{text}{count}"
        self._show({"text/plain": line, "text/html": f"<div>{bar}{escaped(line)}</div>"})

    def stop(self) -> None:
        """Remove the line."""
        if self._handle is not None:
            self._show({"text/plain": "", "text/html": ""})
            self._handle = None

    def _show(self, bundle: dict[str, str]) -> None:
        if self._handle is None:
            notebook = import_module("IPython.display")  # there is a notebook, so there is IPython
            self._handle = notebook.display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


class StatusLine:
    """Shows progress on standard error, or in a notebook, once a search has taken a moment."""

    def __init__(self, patience: float = PATIENCE, on_stop: str = "Ctrl-C keeps what was found") -> None:
        self._patience, self._on_stop = patience, on_stop
        self._status: Status | NotebookLine | None = None

    def __call__(self, now: Progress) -> None:
        """Show the progress."""
        if now.seconds < self._patience:
            return
        from rich.console import Console
        from rich.status import Status
        from rich.text import Text

        done = now.doing or f"{len(now.members)} found, {now.tests:,} tests"
        text = plain(f"{now.target or 'searching'}: {done}, {now.seconds:.0f} s; {self._on_stop}")
        if self._status is None and in_notebook():
            self._status = NotebookLine()
        elif self._status is None:
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
    if not callable(progress) and not (progress is None or isinstance(progress, bool)):
        raise OptionError(f"progress must be True, False, None or a callable, not {shown(progress)}")


def progress_callback(
    progress: bool | ProgressCallback | None, on_stop: str = "Ctrl-C keeps what was found"
) -> ProgressCallback | None:
    """Return the callback for `progress`: None shows it on a terminal or in a notebook, True always, False never.

    `on_stop` says what Ctrl-C does.
    """
    check_progress(progress)
    if callable(progress):
        return progress
    if progress is False or (progress is None and not is_watched()):
        return None
    return StatusLine(0.0 if progress else PATIENCE, on_stop)


class Sayer:
    """Reports progress of work that is no search, now and then."""

    def __init__(self, callback: ProgressCallback | None, what: str) -> None:
        self._callback, self._what = callback, what
        self._started = self._last = time.monotonic()

    def __call__(self, doing: str) -> None:
        """Report what is being done."""
        now = time.monotonic()
        if self._callback is not None and now - self._last > INTERVAL / 2:
            self._last = now
            self._callback(Progress(self._what, (), 0, 0, now - self._started, doing))

    def of(self, total: int, what: str) -> Callable[[int], None]:
        """Return a function that reports how much of a total is done."""
        return lambda done: self(f"{done:,} of {total:,} {what}")
