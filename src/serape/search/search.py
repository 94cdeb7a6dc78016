"""Search: what an algorithm talks to.

It turns outcomes into verdicts (significance and reliability), counts every test, remembers separating sets and
evidence, reports progress, and stops on Ctrl-C. Algorithms see variables as positions and never see data.

A verdict has three values. A reliable test with p > alpha shows *independence*, one with p <= alpha *dependence*; an
unreliable test shows neither: it is skipped and counted as such. A question whose conditioning set is larger than
`max_conditioning` is skipped in the same way.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import OptionError
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import NO_OUTCOME, Outcome, Tally, as_positions
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult
from serape.knowledge import BoundKnowledge
from serape.progress import Progress, ProgressCallback
from serape.search.evidence import Decision, EvidenceLog
from serape.search.members import Members
from serape.search.memo import CachedStep, NeedsOtherTarget, StepCache
from serape.search.recorder import Recorder
from serape.search.required import search_all_but
from serape.search.separations import Separations
from serape.settings import check_alpha, check_max_conditioning, check_random_state

Positions = NDArray[np.uint32]
Candidates = Sequence[int] | Positions

Value = TypeVar("Value")

_TICK = 0.1  # seconds between two reports of progress


@functools.lru_cache(maxsize=4)
def _all_variables(count: int) -> Positions:
    all_variables = np.arange(count, dtype=np.uint32)
    all_variables.flags.writeable = False
    return all_variables


class Search:
    """One search: a test, a significance level, and everything that is remembered.

    `subject` is the variable the whole search is about: evidence is then kept for it alone, seen from either side, and
    not for the other variables that an algorithm takes for a target along the way; with `evidence=False`, for none.
    `cache` is shared by searches that may take `memoised` steps from each other. Pairs that `knowledge` forbids are no
    candidates for each other, and pairs that it requires are never separated; `known` are members of the subject's
    blanket. Variables that are `excluded` are candidates for no target. Variables may be given as integers of any kind.
    """

    def __init__(
        self,
        test: IndependenceTest,
        *,
        subject: int | None = None,
        alpha: float = 0.05,
        max_conditioning: int | None = None,
        random_state: int | np.random.Generator | None = None,
        threads: int = 1,
        progress: ProgressCallback | None = None,
        cache: StepCache | None = None,
        evidence: bool = True,
        knowledge: BoundKnowledge | None = None,
        known: Collection[int] = (),
        excluded: Collection[int] = (),
    ) -> None:
        check_alpha(alpha)
        check_max_conditioning(max_conditioning)
        check_random_state(random_state)
        self.test = test
        self._screen = test.screen
        self.subject = subject
        self.alpha = float(alpha)
        self.log_alpha = math.log(alpha)
        self.max_conditioning = max_conditioning
        self.variables = range(len(test.variables))
        self._all = _all_variables(len(test.variables))
        self._excluded = frozenset(excluded)
        if excluded:
            self._all = np.delete(self._all, np.fromiter(excluded, np.intp, len(excluded)))
        self.tally = Tally()
        self.notes: list[str] = []
        self._random = None if random_state is None else np.random.default_rng(random_state)
        self._threads = threads
        self._progress = progress
        self._knowledge = knowledge
        self._known_members = tuple(known)
        self._cache = cache
        self._steps: dict[int, dict[int, CachedStep[Any]]] = {}  # those this search has come by, by target and identity
        self._separations = Separations()
        self.restrict_to: int | None = None
        """The variable that steps must be about, if the search is confined to it."""
        self._known: Mapping[int, ScreenResult] = {}
        self._recorder = Recorder(len(test.variables), subject, self.log_alpha, enabled=evidence)
        self._members: dict[int, Members] = {}
        self._started = time.perf_counter()
        self._ticked = self._started

    # --- verdicts ------------------------------------------------------------------------------------------------

    def ask(self, x: int, target: int, given: Sequence[int] = ()) -> Outcome | None:
        """Return the outcome of one test, or None if it is skipped."""
        x, target, given = int(x), int(target), tuple(map(int, given))
        if x == target or x in given or target in given or not 0 <= x < len(self.variables):
            raise OptionError(
                f"a question must be about different variables of the table, not {x} and {target} | {given}"
            )
        if self._too_large(given):
            self.tally.add(len(given), 0, 1)
            self.record_decision(x, target, NO_OUTCOME, given)
            return None
        outcome = self.test.test(x, target, given)
        self.tally.add(len(given), outcome.reliable, not outcome.reliable)
        self.record_decision(x, target, outcome, given)
        self._tick()
        if not outcome.reliable:
            return None
        if outcome.log_p > self.log_alpha:
            self._separations.add(x, target, given)
        return outcome

    def repeat(self, x: int, target: int, given: Sequence[int] = ()) -> Outcome:
        """Return the outcome of a test that was performed before; it is not counted again."""
        return self.test.test(int(x), int(target), tuple(map(int, given)))

    def independent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a reliable test shows X ⊥ T | given; never of a member that is known."""
        if x in self._required(target) or (target == self.subject and x in self._known_members):
            return False
        outcome = self.ask(x, target, given)
        return outcome is not None and outcome.log_p > self.log_alpha

    def dependent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a reliable test shows that X ⊥ T | given does not hold."""
        outcome = self.ask(x, target, given)
        return outcome is not None and outcome.log_p <= self.log_alpha

    # --- many candidates -----------------------------------------------------------------------------------------

    def screen(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> ScreenResult:
        """Test all candidates against the target given one set."""
        target, given = int(target), tuple(map(int, given))
        if self._too_large(given):
            return self._all_skipped(target, candidates, given)
        if not given and target in self._known:
            screen = self._known[target].part(as_positions(candidates))
            self._recorder.note_screen(target, screen)
            return screen
        return self._counted(target, self._screen(target, candidates, given, threads=self._threads, poll=self._tick))

    @contextmanager
    def working_set(self, among: Positions) -> Iterator[None]:
        """Expect many screens of these variables, or of most of them; they must be in the table's order.

        The answers are the same; the test may keep together what it needs for them.
        """
        outside, self._screen = self._screen, self.test.working_set(among)
        try:
            yield
        finally:
            self._screen = outside

    def use_marginals(self, marginals: Mapping[int, ScreenResult]) -> None:
        """Take tests given nothing, by target, as known: they are not performed again, nor counted."""
        self._known = marginals

    def strongest(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> int | None:
        """Return the dependent candidate most strongly associated with the target, or None if none is dependent."""
        screen = self.screen(target, candidates, given)
        indices, log_p = screen.strongest()
        if not indices or log_p > self.log_alpha:
            self._separations.add_batch(screen.ranked_split(self.log_alpha)[1], target, None, (screen.given,))
            return None
        return int(screen.xs[self.one_of(indices)])

    def one_of(self, ties: Sequence[int]) -> int:
        """Return the first of what ties exactly, or one at random if a `random_state` was given."""
        return ties[0] if self._random is None or len(ties) == 1 else int(self._random.choice(ties))

    def dependents_given_groups(self, target: int, groups: CandidateGroups, also: int) -> list[int]:
        """Return those that depend on the target given their group's set and one more, most strongly associated first.

        Groups with that one in their set are left out. Ties go by position. The tests lead on but settle nobody: they
        are counted, and not kept as evidence.
        """
        if self.max_conditioning is not None:
            most = self.max_conditioning - 1
            for candidates, given in groups.all:
                if also not in given and len(given) > most:
                    self.tally.add(len(given) + 1, 0, len(candidates))
            groups = groups.up_to(most)
        screen, tally = self.test.screens(target, groups, also, threads=self._threads, poll=self._tick)
        self.tally.merge(tally)
        self._tick()
        return screen.dependents(self.log_alpha)

    def by_strength(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Positions:
        """Return the candidates that could be tested, most strongly associated first."""
        screen = self.screen(target, candidates, given)
        return screen.xs[self._ranked(screen, np.flatnonzero(screen.reliable))]

    def partition(
        self, target: int, candidates: Candidates, given: Sequence[int] = ()
    ) -> tuple[ScreenResult, Positions]:
        """Return the answers for the dependent candidates, and the independent ones, both in the candidates' order."""
        screen = self.screen(target, candidates, given)
        dependent, independent = self._partitioned(target, screen)
        return screen.at(dependent), screen.xs[independent]

    def ranked_split(
        self, target: int, candidates: Candidates, given: Sequence[int] = ()
    ) -> tuple[list[int], Positions]:
        """Return the dependent candidates, most strongly associated first, and the independent ones in their order.

        Exact ties go by position, or at random if asked.
        """
        screen = self.screen(target, candidates, given)
        if self._random is None and not self._required(target):
            found, separated = screen.ranked_split(self.log_alpha)
            self._separations.add_batch(separated, target, None, (screen.given,))
            return found, separated
        dependent, independent = self._partitioned(target, screen)
        ranked = self._ranked(screen, screen.by_position(dependent))
        return list(map(int, screen.xs[ranked])), screen.xs[independent]

    def dependents(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> list[int]:
        """Return the dependent candidates, most strongly associated first."""
        return self.ranked_split(target, candidates, given)[0]

    def _partitioned(self, target: int, screen: ScreenResult) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places of dependent candidates, and of independent ones, which are remembered."""
        dependent, independent = screen.partition(self.log_alpha)
        if required := self._required(target):
            dependents_given_groups = np.isin(screen.xs[independent], list(required))
            dependent = np.sort(np.concatenate([dependent, independent[dependents_given_groups]]))
            independent = independent[~dependents_given_groups]
        self._separations.add_batch(screen.xs[independent], target, None, (screen.given,))
        return dependent, independent

    def _ranked(self, screen: ScreenResult, indices: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return some places from the strongest to the weakest; exact ties by place, or at random if asked."""
        return screen.ranked(indices, None if self._random is None else self._random.permutation(len(indices)))

    def first_dependent(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> int | None:
        """Test the candidates in order and return the place of the first that is dependent, or None."""
        target, given = int(target), tuple(map(int, given))
        if self._too_large(given):
            self._all_skipped(target, candidates, given)
            return None
        screen = self._counted(
            target, self.test.first_dependent(target, candidates, given, self.log_alpha, poll=self._tick)
        )
        last = len(screen) - 1
        if last < 0:
            return None
        outcome = screen.outcome(last)
        return last if outcome.reliable and outcome.log_p <= self.log_alpha else None

    # --- many conditioning sets ----------------------------------------------------------------------------------

    def weakest(self, xs: Candidates, target: int, pool: Candidates) -> SubsetResult:
        """Return, for each x, its least association with the target over all subsets of the pool."""
        return self._subsets(SubsetQuery(xs, target, pool, range(len(pool) + 1), max_size=self.max_conditioning))

    def separate(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        sizes: range | None = None,
        *,
        fixed: Sequence[int] = (),
        n_exhausted: int | Sequence[int] = -1,
        shrinking: bool = False,
        until_survivor: bool = False,
    ) -> SubsetResult:
        """Return, for each x, the first subset of the pool that separates it from the target.

        Where none does, the answer is x's weakest association. Smaller subsets come first, those of one size in the
        pool's order. The options are those of `SubsetQuery`.
        """
        if sizes is None:
            sizes = range(len(pool) + 1)
        query = SubsetQuery(
            xs,
            target,
            pool,
            sizes,
            fixed,
            self.max_conditioning,
            n_exhausted,
            self.log_alpha,
            shrinking,
            until_survivor,
        )
        return self._subsets(query)

    def _subsets(self, query: SubsetQuery) -> SubsetResult:
        required = self._required(query.target)
        if required and any(int(x) in required for x in query.xs):
            ask = functools.partial(self.test.search_subsets, threads=self._threads, poll=self._tick)
            return self._found(query.target, *search_all_but(required, query, ask))
        return self._found(query.target, *self.test.search_subsets(query, threads=self._threads, poll=self._tick))

    def test_each_given_rest(self, target: int, members: Collection[int], newest: int | None = None) -> list[int]:
        """Test each member in turn given the others, and return those that are put apart.

        Who is put apart is not conditioned on by those after it. Members that are known are not tested, nor is the
        `newest`, which depends on the target given all the others as it has just been found, while these are there.
        """
        kept = self._required(target)
        if target == self.subject and self._known_members:
            kept = kept.union(self._known_members)
        pool = list(members)
        separated = self._test_each_given_rest([x for x in pool if x != newest and x not in kept], target, pool)
        if separated and newest is not None and newest not in kept:
            separated += self._test_each_given_rest([newest], target, [x for x in pool if x not in separated])
        return separated

    def _test_each_given_rest(self, xs: list[int], target: int, pool: list[int]) -> list[int]:
        if not xs:
            return []
        found, tally = self.test.test_each_given_rest(
            xs, target, pool, self.log_alpha, max_size=self.max_conditioning, poll=self._tick
        )
        return self._found(target, found, tally).separated_variables

    def _found(self, target: int, found: SubsetResult, tally: Tally) -> SubsetResult:
        """Count and remember what a search through conditioning sets found."""
        self.tally.merge(tally)
        self._recorder.note_subsets(target, found)
        self._separations.add_found(found, target, self.log_alpha)
        self._tick()
        return found

    # --- what is remembered --------------------------------------------------------------------------------------

    def candidates(self, target: int, *excluded: int, among: Positions | None = None) -> Positions:
        """Return all variables that may be joined to the target, but the excluded ones, in the table's order.

        `among` are those to choose from, if not all; they must be in the table's order, and come from this search.
        """
        separated = () if self._knowledge is None else self._knowledge.forbidden_neighbours(target)
        return _core.without(self._all if among is None else among, (target, *excluded, *separated), ascending=True)

    def admissible(self, target: int, candidates: Sequence[int]) -> list[int]:
        """Return the candidates that are not the target and may be joined to it."""
        separated = (
            self._excluded
            if self._knowledge is None
            else self._excluded.union(self._knowledge.forbidden_neighbours(target))
        )
        return [x for x in candidates if x != target and x not in separated]

    def outside(self, candidates: Candidates, members: Collection[int]) -> Positions:
        """Return the candidates that are not members, in their order."""
        return _core.without(as_positions(candidates), tuple(members))

    def rows_per_cell(self, *variables: int) -> float:
        """Return the mean number of rows in a cell of the table of these variables."""
        return self.test.rows_per_cell(variables)

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return a set found to separate two variables, whichever of them was the target, or None.

        What a step about y came upon counts first, then what one about x did, then all else. Remembered are sets that
        `ask`, `divide`, `sort_out`, `dependents`, `separate`, `weakest` and `sweep` come upon, and `strongest` when it
        finds nobody.
        """
        x, y = int(x), int(y)
        steps = (step.separations for target in (y, x) for step in self._steps.get(target, {}).values())
        found = (store.get(x, y) for store in (*steps, self._separations))
        return next((given for given in found if given is not None), None)

    def step(self, key: Any, target: int, compute: Callable[[], Value]) -> Value:
        """Return what a step about a target gives, computed once; see `once`."""
        if self.restrict_to is not None and target != self.restrict_to:
            raise NeedsOtherTarget

        def run() -> CachedStep[Value]:
            outside = self._separations, self._recorder.step_of
            self._separations, self._recorder.step_of = Separations(), target
            try:
                return CachedStep(target, compute(), self._separations)
            finally:
                self._separations, self._recorder.step_of = outside

        if self._cache is None:
            self._cache = StepCache()
        found = self._cache.recall(key, run)
        self._steps.setdefault(target, {})[id(found)] = found
        return found.value

    def record_decision(self, x: int, target: int, outcome: Outcome, given: Sequence[int]) -> None:
        """Take a test for the one that decides on x, until there is a later one."""
        self._recorder.record(int(x), int(target), outcome, tuple(map(int, given)))

    def record_untested(self, x: int, target: int, given: Sequence[int]) -> None:
        """Record that the question that would decide on x was skipped."""
        self.record_decision(x, target, NO_OUTCOME, given)

    def record_separation(self, x: int, target: int) -> None:
        """Take the test that separates x from the target for the one that decides on x."""
        given = self.separating_set(x, target)
        if given is not None and self._recorder.keeps(target):
            self.record_decision(x, target, self.repeat(x, target, given), given)

    def decision(self, x: int, target: int) -> Decision | None:
        """Return the test that decides on x at present, where evidence is kept."""
        return self._recorder.log(target).latest(int(x)) if self._recorder.keeps(target) else None

    def reconcile_sides(self, members: Collection[int]) -> None:
        """Decide by tests seen from the other side where the latest test from the subject contradicts the answer."""
        self._recorder.reconcile(members)

    def log(self, target: int) -> EvidenceLog:
        """Return the evidence gathered about a target."""
        return self._recorder.log(int(target))

    def members(self, target: int) -> Members:
        """Return an empty set to build the answer about a target in; what enters and leaves it is remembered."""
        built = Members(self.log(target) if self._recorder.keeps(target) else None)
        if self._recorder.step_of in (None, target):
            self._members[target] = built
        return built

    def blanket(self, target: int) -> Members:
        """Return the set to build a blanket in; members that are known are there from the start."""
        built = self.members(target)
        for x in sorted({*self._required(target), *(self._known_members if target == self.subject else ())}):
            built.add(x)
        return built

    def may_join(self, x: int, y: int) -> bool:
        """Return whether an arc x → y may be, for all that is known."""
        return self._knowledge is None or self._knowledge.allows(x, y)

    def members_so_far(self, target: int) -> tuple[int, ...]:
        """Return what is in the set being built for a target."""
        return tuple(self._members.get(target, ()))

    # --- inside --------------------------------------------------------------------------------------------------

    def _required(self, target: int) -> frozenset[int]:
        """Return those that are known to be joined to the target."""
        return frozenset() if self._knowledge is None else self._knowledge.required_neighbours(target)

    def _too_large(self, given: Sequence[int]) -> bool:
        return self.max_conditioning is not None and len(given) > self.max_conditioning

    def _all_skipped(self, target: int, candidates: Candidates, given: tuple[int, ...]) -> ScreenResult:
        nothing = np.full(len(candidates), math.nan)
        reliable = np.zeros(len(candidates), bool)
        screen = ScreenResult(as_positions(candidates), given, nothing, nothing, reliable, nothing)
        return self._counted(target, screen)

    def _counted(self, target: int, screen: ScreenResult) -> ScreenResult:
        performed = screen.performed
        self.tally.add(len(screen.given), performed, len(screen) - performed)
        self._recorder.note_screen(target, screen)
        self._tick()
        return screen

    def _tick(self) -> None:
        if self._progress is None:
            return
        now = time.perf_counter()
        if now - self._ticked < _TICK:
            return
        self._ticked = now
        target = next(iter(self._members), None) if self.subject is None else self.subject
        names = self.test.variables
        self._progress(
            Progress(
                "" if target is None else names[target],
                () if target is None else tuple(names[v] for v in self.members_so_far(target)),
                self.tally.performed,
                self.tally.skipped,
                now - self._started,
            )
        )
