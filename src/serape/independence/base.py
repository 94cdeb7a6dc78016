"""What every independence test offers.

A test answers "is X ⊥ Y | Z?". Algorithms ask in batches, of which there are three:

- `screen`: one conditioning set, many candidates;
- `first_dependent`: the same, in order, until a candidate is dependent;
- `search_subsets`: many conditioning sets, drawn from a pool (`weakest` and `separate` are its two everyday forms).

A new test has to supply `test` alone; the batch questions are built on it here. Tests that can do better override
them, and must give the same answers. Variables are positions in `variables` throughout.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import overload

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Candidates = Sequence[int] | NDArray[np.uint32]
Poll = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one question. A test that is not reliable shows neither dependence nor independence."""

    statistic: float
    dof: float
    log_p: float
    reliable: bool
    rows: int | None = None

    @property
    def p(self) -> float:
        """The p-value; 0.0 where it is too small for a float (`log_p` is not)."""
        return math.exp(self.log_p) if not math.isnan(self.log_p) else math.nan


NO_OUTCOME = Outcome(math.nan, math.nan, math.nan, reliable=False)


class Screen:
    """Answers for many candidates given one conditioning set, in arrays as long as the candidates.

    An unreliable test was not performed: its statistic and log p are NaN.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint32],
        given: tuple[int, ...],
        statistic: Floats,
        dof: Floats,
        reliable: NDArray[np.bool_],
        log_p: Floats | Callable[[Floats, Floats], Floats],
    ) -> None:
        self.candidates = candidates
        self.given = given
        self.statistic = statistic
        self.dof = dof
        self.reliable = reliable
        self._log_p = log_p

    def __len__(self) -> int:
        return len(self.candidates)

    @cached_property
    def log_p(self) -> Floats:
        """The logarithms of the p-values, computed when first asked for."""
        return self.log_p_of(np.arange(len(self)))

    def log_p_of(self, places: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some places only."""
        if not callable(self._log_p):
            return self._log_p[places]
        log_p = self._log_p(self.statistic[places], self.dof[places])
        log_p[~self.reliable[places]] = math.nan
        return log_p

    def part(self, candidates: NDArray[np.uint32]) -> Screen:
        """Return the answers for some of the candidates; those of this screen must be in ascending order."""
        places = np.searchsorted(self.candidates, candidates)
        log_p = self._log_p if callable(self._log_p) else self._log_p[places]
        return type(self)(
            candidates, self.given, self.statistic[places], self.dof[places], self.reliable[places], log_p
        )

    def strongest(self) -> tuple[list[int], float]:
        """Return the places of the strongest reliable answers (several if they tie exactly) and their log p."""
        places = np.flatnonzero(self.reliable)
        if len(places) == 0:
            return [], 0.0
        log_p, statistic = self.log_p[places], self.statistic[places]
        lowest = log_p == log_p.min()
        best = lowest & (statistic == statistic[lowest].max())
        return places[best].tolist(), float(log_p.min())

    def outcome(self, place: int) -> Outcome:
        """Return one answer."""
        log_p = float(self.log_p_of(np.array([place]))[0])
        return Outcome(float(self.statistic[place]), float(self.dof[place]), log_p, bool(self.reliable[place]))


@dataclass(frozen=True, slots=True)
class Association:
    """What a search through conditioning sets found for one x.

    The separating test if there was one (`separated`), otherwise the weakest association met. If no test was reliable,
    neither is the outcome.
    """

    outcome: Outcome
    given: tuple[int, ...]
    separated: bool


@dataclass(slots=True)
class Tally:
    """How many tests gave a verdict, and how many were passed over as unreliable, by size of the conditioning set."""

    tests: Counter[int] = field(default_factory=Counter)
    skipped: Counter[int] = field(default_factory=Counter)

    def add(self, size: int, tests: int, skipped: int) -> None:
        """Count questions with a conditioning set of one size."""
        if tests:
            self.tests[size] += tests
        if skipped:
            self.skipped[size] += skipped

    def merge(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.tests.update(other.tests)
        self.skipped.update(other.skipped)


class IndependenceTest(ABC):
    """A source of answers about conditional independence."""

    name: str = "custom"
    variables: tuple[str, ...]
    rows: int | None = None

    @abstractmethod
    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of variables; infinite where there are no data."""
        del variables
        return math.inf

    # --- batch questions -----------------------------------------------------------------------------------------

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> Screen:
        """Test every candidate against the target given one set."""
        del threads
        outcomes = []
        for x in candidates:
            outcomes.append(self.test(int(x), target, given))
            if poll is not None:
                poll()
        return _as_screen(candidates, given, outcomes)

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> Screen:
        """Test the candidates in order until one is dependent; that one, if any, is the last of the answers."""
        outcomes: list[Outcome] = []
        for x in candidates:
            outcomes.append(self.test(int(x), target, given))
            if poll is not None:
                poll()
            if outcomes[-1].reliable and outcomes[-1].log_p <= log_alpha:
                break
        return _as_screen(candidates[: len(outcomes)], given, outcomes)

    def search_subsets(
        self,
        xs: Sequence[int],
        target: int,
        pool: Sequence[int],
        sizes: range,
        *,
        must_include: int | None = None,
        stop_above: float | None = None,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> tuple[list[Association], Tally]:
        """For each x, test x against the target given subsets of the pool, smallest first, in the pool's order.

        With `stop_above` the search for an x ends at the first reliable test whose log p is above it: it separates.
        Otherwise it goes through all subsets. `must_include` names a member of the pool that every subset has to have.
        """
        del threads
        tally = Tally()
        return [self._search_one(x, target, pool, sizes, must_include, stop_above, tally, poll) for x in xs], tally

    def _search_one(
        self,
        x: int,
        target: int,
        pool: Sequence[int],
        sizes: range,
        must_include: int | None,
        stop_above: float | None,
        tally: Tally,
        poll: Poll | None,
    ) -> Association:
        weakest = Association(NO_OUTCOME, (), separated=False)
        if must_include == x:
            return weakest
        fixed = () if must_include is None else (must_include,)
        others = [z for z in pool if z not in (x, target, must_include)]
        for size in sizes:
            if size < len(fixed):
                continue
            for rest in combinations(others, size - len(fixed)):
                given = fixed + rest
                outcome = self.test(x, target, given)
                if poll is not None:
                    poll()
                if not outcome.reliable:
                    tally.add(size, 0, 1)
                    continue
                tally.add(size, 1, 0)
                if stop_above is not None and outcome.log_p > stop_above:
                    return Association(outcome, given, separated=True)
                if _weaker(outcome, weakest.outcome):
                    weakest = Association(outcome, given, separated=False)
        return weakest

    # --- the two everyday forms ----------------------------------------------------------------------------------

    @overload
    def weakest(
        self, x: int, target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> Association: ...
    @overload
    def weakest(
        self, x: Sequence[int], target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> list[Association]: ...
    def weakest(
        self, x: int | Sequence[int], target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> Association | list[Association]:
        """Return the least association of x (one or many) with the target over subsets of the pool."""
        xs = [x] if isinstance(x, int) else x
        found, _ = self.search_subsets(xs, target, pool, range(max_size + 1), must_include=must_include)
        return found[0] if isinstance(x, int) else found

    @overload
    def separate(self, x: int, target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05) -> Association: ...
    @overload
    def separate(
        self, x: Sequence[int], target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05
    ) -> list[Association]: ...
    def separate(
        self, x: int | Sequence[int], target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05
    ) -> Association | list[Association]:
        """Return the first subset of the pool that separates x (one or many) from the target."""
        xs = [x] if isinstance(x, int) else x
        found, _ = self.search_subsets(xs, target, pool, sizes, stop_above=math.log(alpha))
        return found[0] if isinstance(x, int) else found


def _weaker(outcome: Outcome, than: Outcome) -> bool:
    if not than.reliable:
        return True
    return outcome.log_p > than.log_p or (outcome.log_p == than.log_p and outcome.statistic < than.statistic)


def _as_screen(candidates: Candidates, given: Sequence[int], outcomes: list[Outcome]) -> Screen:
    reliable = np.array([o.reliable for o in outcomes], bool)

    def column(values: list[float]) -> Floats:
        return np.where(reliable, np.array(values, np.float64), math.nan)

    return Screen(
        as_positions(candidates),
        tuple(given),
        column([o.statistic for o in outcomes]),
        np.array([o.dof for o in outcomes], np.float64),
        reliable,
        column([o.log_p for o in outcomes]),
    )


def as_positions(variables: Candidates) -> NDArray[np.uint32]:
    """Return variables as the array of positions that the core takes."""
    return np.ascontiguousarray(variables, np.uint32)
