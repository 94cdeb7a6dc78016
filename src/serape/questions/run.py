"""One call of a question: what it may spend, what it shows while it works, what it counts, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from serape.errors import Interrupted, embedded
from serape.independence import IndependenceTest
from serape.independence.outcomes import Tally
from serape.independence.registry import has_rows
from serape.parallel.map import parallel_map
from serape.parallel.progress_bar import ProgressBar
from serape.progress import ProgressCallback, StatusLine, progress_callback
from serape.search import Budget, BudgetSpent, Search
from serape.search.budget import STOPPED
from serape.settings import RunSettings

if TYPE_CHECKING:
    from serape.questions.query import Query

TARGET_SECONDS = 60.0
"""The meaning of `max_seconds="auto"` for a target on data."""
STRUCTURE_SECONDS = 600.0
"""The meaning of `max_seconds="auto"` for many variables together, on data."""
INTERRUPTED = "the search was interrupted"
"""How the note begins that says that Ctrl-C ended a search."""

Value = TypeVar("Value")


class Run:
    """One call of a question.

    What it does stands in `with run.part():`. Ctrl-C or a spent budget ends a part: what the part has kept stays, the
    run is not `complete` from then on, and the question leaves out its later parts. `hand_over` returns the result, or
    raises `Interrupted` with it.
    """

    def __init__(
        self,
        settings: RunSettings,
        source: object,
        seconds: float = STRUCTURE_SECONDS,
        *,
        budget: Budget | None = None,
    ) -> None:
        """Begin a call about a test or a score; `seconds` is the meaning of `max_seconds="auto"` on data.

        A `budget` is that of a larger call.
        """
        self.settings = settings
        self.source = source
        self.budget = self.new_budget(seconds) if budget is None else budget
        self.watch = progress_callback(settings.progress)
        self.tally = Tally()
        """The tests of all searches."""
        self.notes: list[str] = []
        self.ended = ""
        """What ended the call, if it is not complete."""
        self.interrupted = False
        self._started = time.perf_counter()

    def new_budget(self, seconds: float) -> Budget | None:
        """Return a budget of its own for a part, from now on."""
        on_data = has_rows(self.source) if isinstance(self.source, IndependenceTest) else hasattr(self.source, "table")
        return Budget.of(self.settings, seconds if on_data else None, waits=_is_elsewhere(self.source))

    @property
    def complete(self) -> bool:
        """Whether nothing has ended the call."""
        return not self.ended

    @property
    def seconds(self) -> float:
        """The time since it began."""
        return time.perf_counter() - self._started

    # --- parts -------------------------------------------------------------------------------------------------------

    @contextmanager
    def part(self) -> Iterator[None]:
        """Do a part of the call, up to Ctrl-C or the end of the budget."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted, self.ended = True, INTERRUPTED
        except BudgetSpent as spent:
            self.ended = f"{STOPPED}{embedded(spent)}"
        finally:
            self.hide_progress()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Do a part of which a piece is of no use: after Ctrl-C, nothing of it is found."""
        try:
            yield
        except Interrupted:
            raise KeyboardInterrupt from None

    @contextmanager
    def searching(
        self,
        query: Query,
        target: int | None = None,
        *,
        budget: Budget | None = None,
        watch: ProgressCallback | None = None,
        **how: Any,
    ) -> Iterator[Search]:
        """Search on the budget of the call, or another; however it ends, its tests count and its notes are kept."""
        spends = self.budget if budget is None else budget
        search = query.search(target, self.settings.threads, watch or self.watch, budget=spends, **how)
        try:
            yield search
        finally:
            self.hide_progress()
            self.tally.merge(search.tally)
            self.notes += search.notes
            if spends is not None:
                spends.spent += search.tally.performed

    @contextmanager
    def bar(self, what: str, total: int) -> Iterator[ProgressBar]:
        """Show how many of some things are done."""
        bar = ProgressBar(what, total, self.settings.progress)
        try:
            yield bar
        finally:
            bar.close()

    def each(
        self,
        work: Callable[[int, ProgressCallback], Value],
        items: Sequence[int],
        keep: Callable[[int, Value], None],
        *,
        detach: Callable[[Value], Value] | None = None,
    ) -> None:
        """Do the work for each item, on as many cores as the caller allows; `keep` gets each value as it is found."""
        parallel_map(work, items, self.settings.threads, keep, test=self.source, detach=detach)

    # --- the end -----------------------------------------------------------------------------------------------------

    def hide_progress(self) -> None:
        """Take away the status line, until there is more to show."""
        if isinstance(self.watch, StatusLine):
            self.watch.close()

    def hand_over(self, result: Value) -> Value:
        """Return the result; after Ctrl-C, raise Interrupted with it."""
        if self.interrupted:
            raise Interrupted(result) from None
        return result


def _is_elsewhere(source: object) -> bool:
    """Return whether the processors of others answer the questions of a test or a score, while this one waits."""
    return getattr(getattr(source, "table", None), "remote", None) is not None
