"""How a search prepares steps: it computes them on several cores, and records what belongs to them when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from serape.independence.outcomes import Tally
from serape.progress import ProgressCallback
from serape.search.associations import Associations
from serape.search.memo import NeedsOtherTarget
from serape.search.prepared import PreparedStep, Record, key_of
from serape.search.separations import NO_SEPARATIONS, Separations
from serape.search.state import SearchState
from serape.search.unreliable import added_notes

Value = TypeVar("Value")

_APART = (
    "tally",
    "notes",
    "_separations",
    "_associations",
    "_members",
    "_threads",
    "_progress",
    "_compute_each",
    "restrict_to",
)


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
        if self._compute_each is None or ordered or (self.subject is None and self._recorder.enabled):
            return
        function, memoised = step.__wrapped__, hasattr(step, "is_memoised")  # type: ignore[attr-defined]
        asked = dict.fromkeys(others)
        if memoised:
            known = [x for x in asked if self._cache.knows((function, x, *rest))]
            asked = {x: None for x in asked if x != self.subject and x not in known}
        if len(asked) < 2:
            return
        threads = max(1, 2 * self._threads // len(asked))  # more than cores: the others end before the largest step

        def compute(x: int, watch: ProgressCallback) -> PreparedStep | None:
            with self._recording_apart(x if memoised else self._recorder.step_of, threads, watch) as record:
                try:
                    return PreparedStep(function(self, x, *rest), record)
                except NeedsOtherTarget:  # it is computed when it is asked for
                    return None

        def done(x: int, found: PreparedStep | None) -> None:
            if found is not None:
                self._prepared[key_of(function, x, rest)] = found, rest
            self._tick()

        self._compute_each(compute, list(asked), done)

    def prepared_or_computed(self, step: Callable[..., Value], target: int, rest: Sequence[Any]) -> Value:
        """Return the value of a step that was prepared, and record what belongs to it; or compute it now."""
        found, _ = self._prepared.pop(key_of(step, target, rest), (None, ()))
        if found is None:
            return step(self, target, *rest)
        tally, notes, separations, associations, other_side = found.record
        self.tally.merge(tally)
        self.notes += added_notes(notes, self.notes)
        self._separations.merge(separations)
        if self._associations is not None and associations is not None:
            self._associations.merge(associations)
        self._recorder.other_side.update(other_side)
        self._tick()
        value: Value = found.value
        return value

    @contextmanager
    def _recording_apart(self, step_of: int | None, threads: int, watch: ProgressCallback) -> Iterator[Record]:
        """Record in a record of its own what happens inside; ask for no other step there."""
        outside = {name: getattr(self, name) for name in _APART}
        step_outside, other_side = self._recorder.step_of, self._recorder.other_side
        separations = Separations() if self.keeps_separations else NO_SEPARATIONS
        record = Record(Tally(), [], separations, None if self._associations is None else Associations(), {})
        self.tally, self.notes, self._separations, self._associations, self._recorder.other_side = record
        self._members, self._threads, self._progress = {}, threads, watch
        self._compute_each, self.restrict_to, self._recorder.step_of = None, -1, step_of
        try:
            yield record
        finally:
            self._recorder.step_of, self._recorder.other_side = step_outside, other_side
            for name, value in outside.items():
                setattr(self, name, value)
