"""The state of a search: its settings, counts, separating sets, steps, evidence and progress."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Positions
from serape.checks import check_alpha, check_max_conditioning, check_random_state
from serape.errors import OptionError, abbreviate
from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import KnownDependents
from serape.independence.outcomes import Candidates, Outcome, Tally, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.knowledge import BoundKnowledge
from serape.progress import Progress, ProgressCallback
from serape.search.associations import Associations, DecidingTest, weakest
from serape.search.budget import Budget
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.evidence import EvidenceLog
from serape.search.members import Members
from serape.search.record import Record, Step
from serape.search.recorder import Recorder
from serape.search.separations import NO_SEPARATIONS, Separations
from serape.search.steps import ComputeEach, Steps, step_label
from serape.search.unreliable import Unreliable
from serape.search.what_is_kept import WhatIsKept
from serape.wording import setting

Value = TypeVar("Value")

_TICK = 0.1  # seconds between two reports of progress
_NO_STEPS: Mapping[int, Step[Any]] = {}


FindNetwork = Callable[[int, Positions, Callable[[], None]], Mapping[int, frozenset[int]]]
"""Finds the network of the highest score around a target, among other variables; calls now and then."""


class NeedsOtherTarget(Exception):  # noqa: N818 (a signal, not an error)
    """A search asks for a step about another variable than the one it may ask for: see `only_steps_about`."""


@dataclass
class Work:
    """How a search works: its cores and its progress, and the sets that it builds meanwhile."""

    threads: int
    progress: ProgressCallback | None = None
    compute_each: ComputeEach | None = None
    """How steps are computed on several cores, if they can be."""
    members: dict[int, Members] = field(default_factory=dict)
    """By target, the set being built."""
    restricted: bool = False
    restrict_to: int | None = None
    """If it is restricted, the only variable that steps may be about; None if there are to be no steps."""


@dataclass(slots=True)
class MembersTested:
    """The tests of each member given the others, of the first so many members."""

    target: int
    members: tuple[int, ...]
    tests: int = 0
    log_p: list[float] = field(default_factory=list)
    """Of the tests that are reliable."""


@functools.lru_cache(maxsize=4)
def _all_variables(count: int, excluded: frozenset[int]) -> Positions:
    """Return all variables but the excluded ones; searches for many targets mostly exclude the same."""
    return np.delete(as_positions(range(count)), np.fromiter(excluded, np.intp, len(excluded)))


class SearchState(WhatIsKept):
    """The state of a search; `Search` asks the questions."""

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
        steps: Steps | None = None,
        evidence: bool = True,
        knowledge: BoundKnowledge | None = None,
        known: Collection[int] = (),
        excluded: Collection[int] = (),
        fdr: FalseDiscoveryRate | None = None,
        stepwise: bool = False,
        budget: Budget | None = None,
        compute_each: ComputeEach | None = None,
        keep_separations: bool = True,
        keep_associations: bool = True,
        decide_on_part: bool = True,
        find_network: FindNetwork | None = None,
    ) -> None:
        check_alpha(alpha, setting("alpha"))
        check_max_conditioning(max_conditioning)
        check_random_state(random_state)
        self.test = test
        self._screen = test.screen
        self.subject = subject
        self.alpha = float(alpha)
        self.log_alpha = math.log(alpha)
        self.max_conditioning = max_conditioning
        self.variables = range(len(test.variables))
        self._excluded = frozenset(excluded)
        self._all = _all_variables(len(test.variables), self._excluded)
        self._random = None if random_state is None else np.random.default_rng(random_state)
        self._work = Work(threads, progress, compute_each)
        self._knowledge = knowledge
        self._known_members = tuple(known)
        self._steps = steps or Steps()
        self._used: dict[int, dict[int, Step[Any]]] = {}  # steps used so far, by target and identity
        self._latest_step: Step[Any] | None = None  # that was computed here
        self._record = Record(
            separations=Separations() if keep_separations else NO_SEPARATIONS,
            associations=Associations() if fdr is not None and not stepwise and keep_associations else None,
        )
        self._outside = 0, 0  # performed and skipped tests in the records outside that of the step being computed
        self._read: Unreliable | None = None  # which unreliable tests are read as independence
        self.has_read = False
        """Whether there were such tests at some time: they are recorded as tests of p = 1."""
        self.fdr = fdr
        self._rate_by_step = fdr if stepwise else None
        self._member_outcomes: dict[tuple[int, int, tuple[int, ...]], Outcome] = {}  # of the latest steps
        self._members_tested = MembersTested(-1, ())  # of the latest step
        self._budget = budget
        self._decide_on_part = decide_on_part
        self._find_network = find_network
        self._marginals: Mapping[int, ScreenResult] = {}
        weighs = fdr is None and not stepwise  # otherwise the rate knows the weakest associations, or none is asked for
        self._recorder = Recorder(len(test.variables), subject, self.log_alpha, enabled=evidence, weighs=weighs)
        self._started = time.perf_counter()
        self.ticked = self._started

    def use_marginals(self, marginals: Mapping[int, ScreenResult]) -> None:
        """Use known tests given nothing, by target: they are neither performed again nor counted."""
        self._marginals = marginals

    @property
    def record(self) -> Record:
        """What is recorded: by the search, or by the step that it computes."""
        return self._record

    @property
    def tally(self) -> Tally:
        """The numbers of tests: of the search, or of the step that it computes."""
        return self._record.tally

    @property
    def notes(self) -> list[str]:
        """What a result reports: of the search, or of the step that it computes."""
        return self._record.notes

    @property
    def threads(self) -> int:
        """The number of threads of a question."""
        return self._work.threads

    @property
    def poll(self) -> Callable[[], None]:
        """What a test must call now and then: it reports progress, and ends the search if its budget is spent."""
        return self._tick

    def expect(self, targets: Collection[int]) -> None:
        """Announce questions about these targets, so that the test can prepare for them; the answers are the same."""
        if not self._work.restricted:
            self.test.expect(targets, threads=self.threads, poll=self._tick)

    def expect_marginals(self, questions: Mapping[int, Candidates]) -> None:
        """Announce screens given nothing, of candidates by target; the answers are the same."""
        self.test.expect_screens([(target, xs, ()) for target, xs in questions.items() if len(xs)])

    def count(self, tally: Tally) -> None:
        """Count tests that were performed in one call."""
        self.tally.merge(tally)
        self._tick()

    def excludes(self, variables: Collection[int]) -> bool:
        """Return whether some of the variables are candidates for no target."""
        return not self._excluded.isdisjoint(variables)

    def candidates(self, target: int, *excluded: int, among: Positions | None = None) -> Positions:
        """Return the variables that may be tested against the target, without the excluded ones, in the table's order.

        Among them are those that knowledge forbids to be adjacent to it; see `possible_neighbours`. `among` restricts
        them to some variables, which must be in the table's order and come from this search.
        """
        forbidden = () if self._knowledge is None else self._knowledge.forbidden_members(target)
        return _core.without(self._all if among is None else among, (target, *excluded, *forbidden), ascending=True)

    def known_dependents(self, target: int, *excluded: int) -> list[int] | None:
        """Return the candidates that depend on a target given nothing, the strongest first, without the excluded ones.

        None if they must be asked for, because they are not known or the search keeps something about the others.
        """
        target = int(target)
        known = self._marginals.get(target)
        keeps_others = self.keeps_separations or not self.keeps_no_more_than_associations
        if not isinstance(known, KnownDependents) or keeps_others or self._random is not None:
            return None
        found = known.known_dependents(self.log_alpha)
        if found is None:
            return None
        if refused := self._excluded.union(excluded):
            found = found.at(np.flatnonzero(~np.isin(found.xs, list(refused))))
        self._record.add_screen(found, target, self.log_alpha)
        return found.dependents(self.log_alpha)

    def admissible(self, target: int, candidates: Sequence[int]) -> list[int]:
        """Return the candidates that are not the target and may be tested against it."""
        refused = self._excluded
        if self._knowledge is not None:
            refused = refused.union(self._knowledge.forbidden_members(target))
        if not refused and target not in candidates:
            return list(candidates)
        return [x for x in candidates if x != target and x not in refused]

    def may_be_tested(self, xs: NDArray[np.int64], ys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return, for each x, whether `y` is admissible to it."""
        if self._leaves_tests_alone and not self._excluded:
            return np.ones(len(xs), bool)
        pairs = zip(xs.tolist(), ys.tolist(), strict=True)
        return np.fromiter((bool(self.admissible(x, [y])) for x, y in pairs), bool, len(xs))

    def possible_neighbours(self, target: int, found: Sequence[int]) -> list[int]:
        """Return the variables that knowledge allows to be adjacent to the target; a note names the others.

        Knowledge that two variables are not adjacent says this and no more. They may depend on each other, be spouses
        and be conditioned on, and the set that separates them directs edges. So an algorithm tests and keeps them like
        all others, and leaves them out at the end, if no test has separated them.
        """
        forbidden = frozenset() if self._knowledge is None else self._knowledge.forbidden_neighbours(target)
        if names := [self.test.variables[x] for x in found if x in forbidden]:
            self.notes.append(
                f"by the tests alone, {self.test.variables[target]!r} would be adjacent to {abbreviate(names)}, which "
                f"knowledge forbids: left out of its parents and children"
            )
        return [int(x) for x in found if x not in forbidden]

    def outside(self, candidates: Candidates, members: Collection[int]) -> Positions:
        """Return the candidates that are not members, in their order."""
        return _core.without(as_positions(candidates), tuple(members))

    def rows_per_cell(self, *variables: int) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self.test.rows_per_cell(variables)

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return a set that separates two variables, whichever of them was the target, or None if none was found.

        This is a guarantee: a reliable test with p > alpha, in whichever question of the search, shows that the pair is
        independent given its conditioning set, and one such set of each pair is kept. So any algorithm that learns
        blankets can serve an orientation of edges. Of several sets the first found is kept; sets from a step about y
        come first, then those from a step about x, then all others. Pairs that knowledge requires have none. A search
        that is made to keep no sets refuses the question.
        """
        x, y = int(x), int(y)
        if x in self._required(y):
            return None
        steps = (step.record.separations for target in (y, x) for step in self._used.get(target, {}).values())
        found = (store.get(x, y) for store in (*steps, self._record.separations))
        return next((given for given in found if given is not None), None)

    def weakest_association(self, x: int, target: int) -> DecidingTest | None:
        """Return the weakest test of a target that showed a candidate to be dependent, or one that separates the two.

        None if no test showed dependence. Only a search with a false discovery rate that is not bounded step by step
        knows it.
        """
        return weakest(self._associations_about(x, target), x, target)

    def weakest_of_sides(self, x: int, y: int) -> list[DecidingTest]:
        """Return the weakest associations of two variables with either as the target, y first, as far as known."""
        stores = self._associations_about(x, y)
        sides = weakest(stores, x, y), weakest(stores, y, x)
        return [test for test in sides if test is not None]

    def _associations_about(self, x: int, y: int) -> list[Associations]:
        """Return where the associations of two variables are."""
        steps = [step for about in dict.fromkeys((x, y)) for step in self._used.get(about, _NO_STEPS).values()]
        records = [*(step.record for step in steps), self._record]
        return [record.associations for record in records if record.associations is not None]

    def may_join(self, x: int, y: int) -> bool:
        """Return whether knowledge allows an arc x → y."""
        return self._knowledge is None or self._knowledge.allows(x, y)

    def step(self, key: Any, target: int, compute: Callable[[], Value]) -> Value:
        """Return the result of a step about a target, computed once; see `memoised`."""
        if self._work.restricted and target != self._work.restrict_to:
            raise NeedsOtherTarget
        self._recorder.stop_telling(self._record)  # what asks for steps does not tell all by itself
        found = self._steps.recall(key, lambda: self._first_asked(key, target, compute))
        used = self._used.setdefault(target, {})
        if id(found) not in used:
            used[id(found)] = found
            self._recorder.use(found, self._record, recorded=found is self._latest_step)
        return found.value

    @contextmanager
    def only_steps_about(self, target: int | None) -> Iterator[None]:
        """Do what needs steps about one variable alone; it ends where a step about another is asked for."""
        work = self._work
        outside, work.restricted, work.restrict_to = (work.restricted, work.restrict_to), True, target
        try:
            yield
        except NeedsOtherTarget:
            pass
        finally:
            work.restricted, work.restrict_to = outside

    def _first_asked(self, key: Any, target: int, compute: Callable[[], Value]) -> Step[Value]:
        """Return a step that no search of the call has asked for; what is counted for it counts now."""
        found = None if target == self.subject else self._steps.in_advance(key, self._excluded)
        if found is None:
            record = self._record_of_step(target, tells=self._steps.tell)
            try:
                found = self._latest_step = self._computed(key, target, compute, record)
            finally:
                self._record.count(record)
        else:
            self._record.count(found.record)
        self._steps.remember(key, self._excluded, found, len(self.variables))
        return found

    def _record_of_step(self, about: int | None, *, tells: bool) -> Record:
        """Return an empty record of a step; if it `tells`, with what searches about other variables need."""
        if not tells:
            return self._record.of_step(about)
        assert about is not None
        told, log = self._recorder.for_others(about, self._steps.evidence_of)
        return self._record.of_step(about, told=told, log=log)

    def _computed(
        self, key: Any, target: int, compute: Callable[[], Value], record: Record, work: Work | None = None
    ) -> Step[Value]:
        """Compute a step, with a record of its own; perhaps work in another way.

        If an earlier part of the run has counted its tests and notes, they do not count again.
        """
        budget, counted = self._budget, self._steps.counted
        label = None if counted is None else step_label(key)
        if label is not None:
            record.steps.append(label)
        counts = counted is None or label not in counted
        if budget is not None and not counts:
            self._budget = budget.of_time
        try:
            with self._recording(record, work):
                value = compute()
        finally:
            self._budget = budget
            if not counts:
                record.tally, record.notes = Tally(), []
        record.close()
        return Step(target, value, record)

    @contextmanager
    def _recording(self, record: Record, work: Work | None = None) -> Iterator[None]:
        """Record what happens inside in another record; perhaps work in another way."""
        outside = self._record, self._outside, self._work
        self._record, self._outside, self._work = record, (self._performed, self._skipped), work or self._work
        try:
            yield
        finally:
            self._record, self._outside, self._work = outside

    def members(self, target: int) -> Members:
        """Return an empty set for the answer about a target; it records which variables enter and leave."""
        keeps = self._recorder.keeps(target, self._record)
        built = Members(self._recorder.log_in(target, self._record) if keeps else None)
        if self._record.about in (None, target):
            self._work.members[target] = built
        return built

    def blanket(self, target: int) -> Members:
        """Return a set for the blanket of a target; it starts with the known members."""
        built = self.members(target)
        for x in sorted(self._kept(target)):
            built.add(x)
        return built

    def parents_by_score(self, target: int) -> Mapping[int, frozenset[int]]:
        """Return the parents of the target, and of the variables around it, in a network of the highest score."""
        if self._find_network is None:
            raise OptionError("this search has no score; ask it through serape.markov_blanket")
        others = _core.without(self._all, (int(target),), ascending=True)  # forbidden members, too: they separate
        return self._find_network(int(target), others, self._tick)

    def members_so_far(self, target: int) -> tuple[int, ...]:
        """Return the members of the set being built for a target."""
        return tuple(self._work.members.get(target, ()))

    def record_decision(self, x: int, target: int, outcome: Outcome, given: Sequence[int]) -> None:
        """Record a test as the one that decides on x, until a later one is recorded."""
        self._recorder.note(int(x), int(target), outcome, tuple(map(int, given)), self._record)

    def record_independence(self, xs: Positions, target: int, given: Sequence[int]) -> None:
        """Keep a set that separates many variables from a target."""
        self._record.separations.add_batch(xs, int(target), None, (tuple(map(int, given)),))

    def record_separation(self, x: int, target: int) -> None:
        """Record the test that separates x from the target as the one that decides on x."""
        given = self.separating_set(x, target)
        if given is not None:
            self.record_repeated(x, target, given)

    def record_repeated(self, x: int, target: int, given: tuple[int, ...]) -> None:
        """Record a test that was performed before as the one that decides on x; evidence repeats it when it is used."""
        if self._recorder.keeps(target, self._record):
            log = self._recorder.log_in(int(target), self._record)
            log.note_later(int(x), lambda: self.repeat(x, target, given), given)

    def reconcile_sides(self, members: Collection[int]) -> None:
        """Record tests with the subject as candidate where the latest test with it as target contradicts the answer."""
        self._recorder.reconcile(members, self._record)

    @property
    def evidence_is_whole(self) -> bool:
        """Whether the search knows the evidence about its subject; false if steps of other searches did not tell it."""
        return self._recorder.is_whole

    def release(self) -> None:
        """Let go of what the search shares with others: few questions follow, if any, but evidence is read."""
        self._steps, self._marginals = Steps(), {}

    def close_evidence(self) -> None:
        """Record no further tests: what follows does not decide on the members."""
        self._recorder.enabled = False

    def log(self, target: int) -> EvidenceLog:
        """Return the evidence gathered about a target."""
        return self._recorder.log(int(target))

    def repeat(self, x: int, target: int, given: Sequence[int] = ()) -> Outcome:
        """Return the outcome of a test that was performed before, without counting it again."""
        asked = int(x), int(target), tuple(map(int, given))
        return self._member_outcomes.get(asked) or self.test.test(*asked)

    def repeat_screen(self, target: int, candidates: Candidates) -> ScreenResult:
        """Return the answers of tests given nothing that were performed before, without counting them again."""
        return self.test.screen(int(target), as_positions(candidates))

    def one_of(self, ties: Sequence[int]) -> int:
        """Return the first of exact ties, or one at random if there is a `random_state`."""
        return ties[0] if self._random is None else int(self._random.choice(ties))

    def _too_large(self, given: Sequence[int]) -> bool:
        return self.max_conditioning is not None and len(given) > self.max_conditioning

    def _all_skipped(self, target: int, candidates: Candidates, given: tuple[int, ...]) -> ScreenResult:
        return self._record_screen(target, _skipped(candidates, given))

    def _record_screen(self, target: int, screen: ScreenResult) -> ScreenResult:
        performed = screen.performed
        self.tally.add(len(screen.given), performed, len(screen) - performed)
        self._note_screen(target, screen)
        self._tick()
        return screen

    def _note_screen(self, target: int, screen: ScreenResult) -> None:
        self._recorder.note_screen(target, screen, self._record)
        self._record.add_screen(screen, int(target), self.log_alpha)

    def record_subsets(self, target: int, found: SubsetResult, tally: Tally) -> SubsetResult:
        """Count and record the answers of a search through conditioning sets."""
        target = int(target)
        self.tally.merge(tally)
        self._recorder.note_subsets(target, found, self._record)
        self._record.add_found(found, target, self.log_alpha)
        self._tick()
        return found

    @property
    def _performed(self) -> int:
        return self._outside[0] + self.tally.performed

    @property
    def _skipped(self) -> int:
        return self._outside[1] + self.tally.skipped

    def _tick(self) -> None:
        if self._budget is not None:
            self._budget.check(self._performed)
        if self._work.progress is None:
            return
        now = time.perf_counter()
        if now - self.ticked < _TICK:
            return
        self.ticked = now
        target = next(iter(self._work.members), None) if self.subject is None else self.subject
        about: tuple[str, tuple[str, ...]] = "", ()
        if target is not None:
            names = self.test.variables
            about = names[target], tuple(names[v] for v in self.members_so_far(target))
        self._work.progress(Progress(*about, self._performed, self._skipped, now - self._started))


def _skipped(candidates: Candidates, given: tuple[int, ...]) -> ScreenResult:
    nothing = np.full(len(candidates), math.nan)
    return ScreenResult(as_positions(candidates), given, nothing, nothing, np.zeros(len(candidates), bool), nothing)
