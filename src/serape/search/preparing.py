"""How a search prepares steps: it computes them on several cores, before an algorithm asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from serape.progress import ProgressCallback
from serape.search.record import Step
from serape.search.state import NeedsOtherTarget, SearchState, Work
from serape.search.steps import key_of_part

Value = TypeVar("Value")


class PreparingSearch(SearchState):
    """A search that can prepare steps; `Search` asks the questions."""

    def prepare(self, step: Callable[..., object], others: Iterable[int], *rest: Any) -> None:
        """Announce that `step(search, x, *rest)` will be asked for, for each of these x: several cores compute it now.

        The step must be `preparable` or `memoised`. On one core only the test prepares for them; so it is where the
        order of steps counts, because a number of tests ends the search or ties are broken at random.
        """
        others = list(map(int, others))
        self.expect(others)
        bounded = self._budget is not None and self._budget.max_tests is not None
        ordered = bounded or self._random is not None or self.stepwise
        if self._work.compute_each is None or ordered or (self.subject is None and self._recorder.enabled):
            return
        function, memoised = step.__wrapped__, hasattr(step, "is_memoised")  # type: ignore[attr-defined]
        asked = dict.fromkeys(others)
        if memoised:
            known = [x for x in asked if self._steps.knows((function, x, *rest), self._excluded)]
            asked = {x: None for x in asked if x != self.subject and x not in known}
        if len(asked) < 2:
            return
        threads = max(1, 2 * self.threads // len(asked))  # more than cores: the others end before the largest step

        def compute(x: int, watch: ProgressCallback) -> Step[object] | None:
            work = Work(threads, watch, restricted=True)
            try:
                if memoised:
                    record = self._record_of_step(x, tells=self._steps.tell or self._recorder.enabled)
                    return self._computed((function, x, *rest), x, lambda: function(self, x, *rest), record, work)
                record = self._record_of_step(self._record.about, tells=self._record.told is not None)
                with self._recording(record, work):
                    return Step(x, function(self, x, *rest), record)
            except NeedsOtherTarget:
                return None  # it asks for other steps, and is computed when it is asked for

        def done(x: int, found: Step[object] | None) -> None:
            if found is not None:
                self._steps.add_in_advance((function, x, *rest) if memoised else key_of_part(function, x, rest), found)
            self._tick()

        self._work.compute_each(compute, list(asked), done)

    def prepared_or_computed(self, step: Callable[..., Value], target: int, rest: Sequence[Any]) -> Value:
        """Return the value of a part of a step, recorded as a part; it was prepared, or is computed now."""
        found: Step[Value] | None = self._steps.in_advance(key_of_part(step, target, rest), self._excluded)
        if found is None:
            return step(self, target, *rest)
        self._record.merge(found.record)
        self._tick()
        return found.value
