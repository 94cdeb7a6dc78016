"""Search: what an algorithm talks to.

It turns outcomes into verdicts (significance and reliability), counts every test, remembers separating sets and
evidence, reports progress, and stops on Ctrl-C. Algorithms see variables as positions and never see data.

A verdict has three values. A reliable test with p > alpha shows *independence*, one with p <= alpha *dependence*; an
unreliable test shows neither: it is skipped and counted as such. A question whose conditioning set is larger than
`max_conditioning` is skipped in the same way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError, is_whole
from serape.independence.base import NO_OUTCOME, Association, IndependenceTest, Outcome, Screen, Tally, as_positions
from serape.search.evidence import Trail
from serape.search.progress import Progress, Watcher

Positions = NDArray[np.uint32]
Candidates = Sequence[int] | Positions

_TICK = 0.1  # seconds between two reports of progress


class Search:
    """One search: a test, a significance level, and everything that is remembered."""

    def __init__(
        self,
        test: IndependenceTest,
        *,
        alpha: float = 0.05,
        max_conditioning: int | None = None,
        random_state: int | np.random.Generator | None = None,
        threads: int = 1,
        progress: Watcher | None = None,
    ) -> None:
        if not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
            raise OptionError(f"alpha must lie between 0 and 1, not be {alpha!r}")
        if max_conditioning is not None and not (is_whole(max_conditioning) and max_conditioning >= 0):
            raise OptionError(f"max_conditioning must be a whole number, 0 or more, not {max_conditioning!r}")
        self.test = test
        self.alpha = float(alpha)
        self.log_alpha = math.log(alpha)
        self.max_conditioning = max_conditioning
        self.variables = range(len(test.variables))
        self._all = np.arange(len(test.variables), dtype=np.uint32)
        self.tally = Tally()
        self.notes: list[str] = []
        self.separating_sets: dict[frozenset[int], tuple[int, ...]] = {}
        try:
            self._random = None if random_state is None else np.random.default_rng(random_state)
        except (TypeError, ValueError):
            raise OptionError(f"random_state must be a whole number from 0 on, not {random_state!r}") from None
        self._threads = threads
        self._progress = progress
        self._known: dict[int, Screen] = {}
        self._trails: dict[int, Trail] = {}
        self._members: dict[int, Members] = {}
        self._started = time.perf_counter()
        self._ticked = self._started

    # --- verdicts ------------------------------------------------------------------------------------------------

    def ask(self, x: int, target: int, given: Sequence[int] = ()) -> Outcome | None:
        """Return the outcome of one test, or None if it is skipped."""
        given = tuple(given)
        if x == target or x in given or target in given or not 0 <= x < len(self.variables):
            raise OptionError(
                f"a question must be about different variables of the table, not {x} and {target} | {given}"
            )
        if self._too_large(given):
            self.tally.add(len(given), 0, 1)
            self.trail(target).note(x, NO_OUTCOME, given)
            return None
        outcome = self.test.test(x, target, given)
        self.tally.add(len(given), outcome.reliable, not outcome.reliable)
        self.trail(target).note(x, outcome, given)
        self._tick()
        if not outcome.reliable:
            return None
        if outcome.log_p > self.log_alpha:
            self.separating_sets.setdefault(frozenset((x, target)), given)
        return outcome

    def independent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a reliable test shows X ⊥ T | given."""
        outcome = self.ask(x, target, given)
        return outcome is not None and outcome.log_p > self.log_alpha

    def dependent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a reliable test shows that X ⊥ T | given does not hold."""
        outcome = self.ask(x, target, given)
        return outcome is not None and outcome.log_p <= self.log_alpha

    # --- many candidates -----------------------------------------------------------------------------------------

    def screen(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Screen:
        """Test all candidates against the target given one set."""
        given = tuple(given)
        if self._too_large(given):
            return self._passed_over(target, candidates, given)
        if not given and target in self._known:
            screen = self._known[target].part(as_positions(candidates))
            self.trail(target).note_screen(screen)
            return screen
        screen = self.test.screen(target, candidates, given, threads=self._threads, poll=self._tick)
        return self._counted(target, screen)

    def know(self, target: int, marginal: Screen) -> None:
        """Take the tests of a target given nothing as known: they are not performed again, nor counted."""
        self._known[target] = marginal

    def strongest(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> int | None:
        """Return the dependent candidate most strongly associated with the target, or None if none is dependent."""
        screen = self.screen(target, candidates, given)
        places, log_p = screen.strongest()
        if not places or log_p > self.log_alpha:
            return None
        place = places[0] if self._random is None or len(places) == 1 else self._random.choice(places)
        return int(screen.candidates[place])

    def by_strength(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Positions:
        """Return the candidates that could be tested, most strongly associated first."""
        screen = self.screen(target, candidates, given)
        return screen.candidates[self._order(screen)]

    def dependents(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> list[int]:
        """Return the dependent candidates, most strongly associated first."""
        screen = self.screen(target, candidates, given)
        order = self._order(screen)
        return [int(x) for x in screen.candidates[order[screen.log_p[order] <= self.log_alpha]]]

    def first_dependent(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> int | None:
        """Test the candidates in order and return the place of the first that is dependent, or None."""
        given = tuple(given)
        if self._too_large(given):
            self._passed_over(target, candidates, given)
            return None
        screen = self._counted(
            target, self.test.first_dependent(target, candidates, given, self.log_alpha, poll=self._tick)
        )
        last = len(screen) - 1
        if last >= 0 and screen.reliable[last] and screen.outcome(last).log_p <= self.log_alpha:
            return last
        return None

    # --- many conditioning sets ----------------------------------------------------------------------------------

    def weakest(
        self, xs: Sequence[int], target: int, pool: Sequence[int], must_include: int | None = None
    ) -> list[Association]:
        """Return, for each x, its least association with the target over subsets of the pool."""
        return self._subsets(xs, target, pool, range(len(pool) + 1), must_include, None)

    def separate(
        self, xs: Sequence[int], target: int, pool: Sequence[int], sizes: range | None = None
    ) -> list[Association]:
        """Return, for each x, the first subset of the pool that separates it from the target, if any does."""
        return self._subsets(xs, target, pool, range(len(pool) + 1) if sizes is None else sizes, None, self.log_alpha)

    def _subsets(
        self,
        xs: Sequence[int],
        target: int,
        pool: Sequence[int],
        sizes: range,
        must_include: int | None,
        stop_above: float | None,
    ) -> list[Association]:
        if self.max_conditioning is not None and sizes.stop > self.max_conditioning + 1:
            for size in range(max(sizes.start, self.max_conditioning + 1), sizes.stop):
                for x in xs:
                    fixed = {x, target, must_include}
                    left = math.comb(len(set(pool) - fixed), size - (must_include is not None))
                    self.tally.add(size, 0, left)
            sizes = range(sizes.start, max(sizes.start, self.max_conditioning + 1))
        found, tally = self.test.search_subsets(
            xs,
            target,
            pool,
            sizes,
            must_include=must_include,
            stop_above=stop_above,
            threads=self._threads,
            poll=self._tick,
        )
        self.tally.merge(tally)
        trail = self.trail(target)
        for x, association in zip(xs, found, strict=True):
            trail.note(x, association.outcome, association.given)
            if association.outcome.reliable and association.outcome.log_p > self.log_alpha:
                self.separating_sets.setdefault(frozenset((x, target)), association.given)
        self._tick()
        return found

    # --- what is remembered --------------------------------------------------------------------------------------

    def others(self, *excluded: int) -> Positions:
        """Return all variables but the excluded ones, in the table's order."""
        cuts = sorted(set(excluded))
        pieces = [self._all[begin + 1 : end] for begin, end in pairwise([-1, *cuts, len(self._all)])]
        return np.concatenate(pieces)

    def outside(self, candidates: Candidates, members: Collection[int]) -> Positions:
        """Return the candidates that are not members, in their order."""
        positions = as_positions(candidates)
        return positions[~np.isin(positions, tuple(members))]

    def rows_per_cell(self, *variables: int) -> float:
        """Return the mean number of rows in a cell of the table of these variables."""
        return self.test.rows_per_cell(variables)

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return a set found to separate two variables, whichever of them was the target, or None."""
        known = self.separating_sets.get(frozenset((x, y)))
        if known is not None:
            return known
        for a, b in ((x, y), (y, x)):
            decision = self._trails[b].latest(a) if b in self._trails else None
            if decision is not None and decision.outcome.reliable and decision.outcome.log_p > self.log_alpha:
                return decision.given
        return None

    def trail(self, target: int) -> Trail:
        """Return the evidence gathered about a target."""
        if target not in self._trails:
            self._trails[target] = Trail(len(self.variables))
        return self._trails[target]

    def members(self, target: int) -> Members:
        """Return an empty set to build the answer about a target in; what enters and leaves it is remembered."""
        self._members[target] = Members(self.trail(target))
        return self._members[target]

    def so_far(self, target: int) -> tuple[int, ...]:
        """Return what is in the set being built for a target."""
        return tuple(self._members.get(target, ()))

    # --- inside --------------------------------------------------------------------------------------------------

    def _too_large(self, given: tuple[int, ...]) -> bool:
        return self.max_conditioning is not None and len(given) > self.max_conditioning

    def _passed_over(self, target: int, candidates: Candidates, given: tuple[int, ...]) -> Screen:
        nothing = np.full(len(candidates), math.nan)
        reliable = np.zeros(len(candidates), bool)
        return self._counted(target, Screen(as_positions(candidates), given, nothing, nothing, reliable, nothing))

    def _counted(self, target: int, screen: Screen) -> Screen:
        performed = int(np.count_nonzero(screen.reliable))
        self.tally.add(len(screen.given), performed, len(screen) - performed)
        self.trail(target).note_screen(screen)
        self._tick()
        return screen

    def _order(self, screen: Screen) -> NDArray[np.intp]:
        """Return the places of the reliable answers, strongest first; exact ties by place, or at random if asked."""
        places = np.flatnonzero(screen.reliable)
        tie = np.arange(len(places)) if self._random is None else self._random.permutation(len(places))
        return places[np.lexsort((tie, -screen.statistic[places], screen.log_p[places]))]

    def _tick(self) -> None:
        if self._progress is None:
            return
        now = time.perf_counter()
        if now - self._ticked < _TICK:
            return
        self._ticked = now
        target = next(iter(self._members), None)
        names = self.test.variables
        self._progress(
            Progress(
                "" if target is None else names[target],
                () if target is None else tuple(names[v] for v in self._members[target]),
                self.tally.tests.total(),
                self.tally.skipped.total(),
                now - self._started,
            )
        )


class Members:
    """The set an algorithm builds: ordered by entry, and remembered."""

    def __init__(self, trail: Trail) -> None:
        self._order: dict[int, None] = {}
        self._trail = trail

    def add(self, x: int) -> None:
        """Let a variable in."""
        self._order[x] = None
        self._trail.note_event(x, "entered")

    def remove(self, x: int) -> None:
        """Put a variable out."""
        del self._order[x]
        self._trail.note_event(x, "left")

    def without(self, x: int) -> tuple[int, ...]:
        """Return the members but one."""
        return tuple(v for v in self._order if v != x)

    def __contains__(self, x: object) -> bool:
        return x in self._order

    def __iter__(self) -> Iterator[int]:
        return iter(tuple(self._order))

    def __len__(self) -> int:
        return len(self._order)
