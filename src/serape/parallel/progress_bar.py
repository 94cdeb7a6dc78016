"""A bar that shows how much of the work on many items is done."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from serape.progress import PATIENCE, NotebookLine, Progress, ProgressCallback, in_notebook, is_watched

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class ProgressBar:
    """A bar, on a terminal or in a notebook, once the work has taken a moment; or a caller's callback."""

    def __init__(self, label: str, total: int, progress: bool | ProgressCallback | None) -> None:
        self._label = label
        self._callback = progress if callable(progress) else None
        self._visible = progress is True or (progress is None and is_watched())
        self._patience = 0.0 if progress is True else PATIENCE
        self._started = time.perf_counter()
        self._total, self._done, self._tests = total, 0, 0
        self._bar: Bar | NotebookLine | None = None
        self._lock = threading.Lock()

    def advance(self, target: str, members: tuple[str, ...], tests: int, skipped: int) -> None:
        """Count one more target as done."""
        with self._lock:
            seconds = self._count(1, tests)
            if self._callback is not None:
                self._callback(Progress(target, members, self._tests, skipped, seconds))

    def advance_by(self, targets: int, tests: int) -> None:
        """Count several more targets as done; a callback is not called."""
        with self._lock:
            self._count(targets, tests)

    def _count(self, targets: int, tests: int) -> float:
        self._done += targets
        self._tests += tests
        seconds = time.perf_counter() - self._started
        if self._visible and seconds >= self._patience:
            if self._bar is None:
                self._bar = NotebookLine() if in_notebook() else self._terminal_bar()
            if isinstance(self._bar, NotebookLine):
                self._bar.update(self._label, self._done, self._total)
            else:
                self._bar.update(self._bar.task_ids[0], completed=self._done)
        return seconds

    def _terminal_bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (TextColumn(self._label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Bar(*columns, console=Console(stderr=True))
        bar.start()
        bar.add_task(self._label, total=self._total)
        return bar

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
