"""How a search prepares steps: it computes them on several cores, and records what belongs to them when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from serape.progress import ProgressCallback
from serape.search.prepared import key_of
from serape.search.record import Step
from serape.search.state import SearchState, Work

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
            known = [x for x in asked if self._cache.knows((function, x, *rest))]
            asked = {x: None for x in asked if x != self.subject and x not in known}
        if len(asked) < 2:
            return
        threads = max(1, 2 * self.threads // len(asked))  # more than cores: the others end before the largest step

        def compute(x: int, watch: ProgressCallback) -> Step[object] | None:
            record = self._record.of_step(x if memoised else self._record.about)
            with self._recording(record, Work(threads, watch)), self.only_steps_about(None):
                return Step(x, function(self, x, *rest), record)
            return None  # it asks for other steps, and is computed when it is asked for

        def done(x: int, found: Step[object] | None) -> None:
            if found is not None:
                self._prepared[key_of(function, x, rest)] = found, rest
            self._tick()

        self._work.compute_each(compute, list(asked), done)

    def prepared_or_computed(self, step: Callable[..., Value], target: int, rest: Sequence[Any]) -> Value:
        """Return the value of a step that was prepared, and record what belongs to it; or compute it now."""
        found, _ = self._prepared.pop(key_of(step, target, rest), (None, ()))
        if found is None:
            return step(self, target, *rest)
        self._record.merge(found.record)
        self._tick()
        value: Value = found.value
        return value
