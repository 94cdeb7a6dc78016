"""LGL, local to global learning: neighbourhoods of all variables, joined to a skeleton.

Aliferis, *Introduction to IAMB, GLL & LGL*, 2008; Aliferis, Statnikov, Tsamardinos, Mani and Koutsoukos, *Local causal
and Markov blanket induction for causal discovery and feature selection for classification, part II*, JMLR 2010.

Any algorithm for parents and children can be used, also a caller's own. Targets share the tests given nothing, and the
steps about single variables, where that changes no answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, NamedTuple

from serape.errors import embedded
from serape.independence.outcomes import Tally
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge
from serape.parallel.map import parallel_map
from serape.parallel.marginals import marginal_blocks, marginal_tests, shared_tests
from serape.parallel.precompute import precompute_sets, precompute_steps
from serape.parallel.progress_bar import ProgressBar
from serape.progress import ProgressCallback
from serape.questions.deciding import Weighed, of_sides, of_tests
from serape.questions.query import Query
from serape.questions.run import Run
from serape.search import BudgetSpent, Search
from serape.search.associations import DecidingTest
from serape.search.record import Record, Step
from serape.skeletons.skeleton import without_collector
from serape.types import Rule

if TYPE_CHECKING:
    from serape.questions.checkpoint import Checkpoint

_AT_ONCE = 8192
"""Targets that are asked about in one question: after it, progress is shown and the budget looked at."""


class KeptNeighbourhood(NamedTuple):
    """The neighbourhood of a target, as a search finds it and a file keeps it."""

    neighbours: tuple[int, ...]
    record: Record
    """What was counted for it."""
    weighed: dict[int, Weighed]
    """With a false discovery rate, what counts for each neighbour."""


@dataclass
class Neighbourhoods:
    """Parents and children by variable."""

    of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    weighed: dict[int, dict[int, Weighed]] = field(default_factory=dict)
    """With a false discovery rate, by variable and neighbour, what counts for the edge."""


class _Targets:
    """The searches for targets, which share tests and steps."""

    def __init__(self, query: Query, run: Run, count: int) -> None:
        self.query = query
        self.run = run.settings
        self.jobs = self.run.threads if self.run.max_tests is None else 1  # one count for all
        self.budget = run.budget
        self.steps = query.shared_steps(count)
        self.steps_are_sets = query.algorithm.steps_are_sets
        self.known: Mapping[int, ScreenResult] = {}
        self.precomputed: dict[int, Record] = {}
        self._sides: dict[tuple[int, int], list[DecidingTest]] = {}
        self.tally = Tally()
        """The tests that belong to no single target."""

    def shares(self, every: list[int], checkpoint: Checkpoint | None) -> bool:
        """Return whether the targets share the tests given nothing, which look at no budget while they are performed.

        Where the caller bounds the time, they do so in runs with a checkpoint: a later part, in which the bound may be
        another, must count the same. Where the caller bounds the number of tests, they do so if it suffices.
        """
        if self.run.max_tests is None:
            return checkpoint is not None or not self.run.bounded
        done = checkpoint is not None and checkpoint.common is not None
        return done or comb(len(every), 2) < self.run.max_tests

    def prepare(self, every: list[int], targets: list[int], checkpoint: Checkpoint | None) -> None:
        """Perform the tests given nothing, of every target, and the steps that the targets left share."""
        query = self.query
        if not targets:
            self.tally = (checkpoint and checkpoint.common) or self.tally
            return
        if self.steps_are_sets and self.steps is not None and checkpoint is not None:
            kept = checkpoint.steps
            for step in kept.values():
                self.steps.pools.put(step)
            self.precomputed.update((x, kept[x].record) for x in targets if x in kept)
            targets = [x for x in targets if x not in kept]
        level = math.log(query.alpha)
        self.known = marginal_tests(query.source, every, query.knowledge, self.jobs, level)
        if self.known:
            self._count_common(shared_tests(self.known), checkpoint)
        if self.run.max_tests is not None:
            return
        if self.steps is not None and self.steps_are_sets:
            self._prepare_sets(targets, checkpoint, level)
            return
        found = precompute_steps(
            query, targets, self.jobs, self.known, self.steps, self.run.progress, self.budget, duplicates=True
        )
        self.precomputed.update(found)

    def _prepare_sets(self, targets: list[int], checkpoint: Checkpoint | None, level: float) -> None:
        """Find the sets of targets."""
        query = self.query
        blocks = None
        if not self.known:
            blocks = marginal_blocks(query.source, targets, query.knowledge, self.jobs, level)
        progress = self.run.progress
        bar = ProgressBar("steps", len(targets), None if callable(progress) else progress)
        try:
            if blocks is None:
                left = self._find_at_once(targets, bar) if checkpoint is None else targets
                if self.jobs > 1:
                    self._find_sets(left, checkpoint, bar)
                return
            for number, block in enumerate(blocks):
                self.known = block
                left = self._find_at_once(list(block), bar) if checkpoint is None else list(block)
                if number == 0:
                    self._count_common(blocks.tests, checkpoint)
                self._find_sets(left, checkpoint, bar)
            self.known = {}
        finally:
            bar.close()

    def _count_common(self, tests: int, checkpoint: Checkpoint | None) -> None:
        """Count the tests given nothing; a run that goes on has counted those of all targets already."""
        if checkpoint is not None and checkpoint.common is not None:
            self.tally = checkpoint.common
            return
        self.tally.add(0, tests, 0)
        if self.budget is not None:
            self.budget.spent += tests
        if checkpoint is not None:
            checkpoint.add_common(self.tally)

    def _find_at_once(self, targets: list[int], bar: ProgressBar) -> list[int]:
        """Find the sets of targets that the algorithm asks for many at a time; return the targets that are left."""
        query, ask = self.query, self.query.algorithm.sets_at_once
        if ask is None:
            return targets
        assert self.steps is not None
        left: list[int] = []
        for begin in range(0, len(targets), _AT_ONCE):
            some = targets[begin : begin + _AT_ONCE]
            search = query.search(None, self.jobs, marginals=self.known, steps=self.steps, keep_separations=False)
            found = ask(search, some, self.known, **query.options)
            self.steps.pools.add(found)
            self.tally.merge(search.tally)
            bar.advance_by(len(found.of), search.tally.performed)
            left += [x for x in some if x not in found.of]
            if self.budget is not None:
                self.budget.check()
        return left

    def _find_sets(self, targets: Sequence[int], checkpoint: Checkpoint | None, bar: ProgressBar) -> None:
        names = self.query.source.variables

        def done(step: Step[tuple[int, ...]]) -> None:
            self.precomputed[step.target] = step.record
            if checkpoint is not None:
                checkpoint.add_step(step)
            bar.advance(names[step.target], (), step.record.tally.performed, 0)
            if self.budget is not None:
                self.budget.check()

        assert self.steps is not None
        precompute_sets(self.query, targets, self.jobs, self.known, self.steps, self.budget, done)

    def known_neighbours(self, targets: list[int]) -> dict[int, tuple[int, ...]]:
        """Return the parents and children of targets that follow from known sets: those of all their members too."""
        sets = {} if self.steps is None or self.steps.counted is not None else self.steps.pools.of
        query = self.query
        symmetric = query.algorithm.symmetric(query.options)
        all_are_known = len(sets) == len(query.source.variables)
        keeps_some = query.knowledge is not None or bool(query.known)
        found = {}
        for x in targets:
            own = sets.get(x)
            if own is not None and (all_are_known or all(y in sets for y in own)):
                neighbours = [y for y in own if x in sets[y]] if symmetric else own
                found[x] = tuple(sorted({*neighbours, *query.kept(x)} if keeps_some else neighbours))
        return found

    def weigh(self, known: Mapping[int, tuple[int, ...]]) -> dict[int, dict[int, Weighed]]:
        """Return what counts for the edges to neighbours that follow from known sets, with a false discovery rate."""
        if self.query.fdr is None or self.steps is None:
            return {}
        pools, either = self.steps.pools, self.query.algorithm.either_side
        both = self.query.algorithm.symmetric(self.query.options)

        def side(x: int, y: int) -> Weighed | None:
            """Return the weakest association of a member of the set of x."""
            test = pools.weakest_of(y, x)
            return None if test is None else Weighed(test.counted, test)

        def edge(x: int, y: int) -> Weighed:
            return of_sides([side(x, y), side(y, x) if both and y in pools.of[x] else None], either=either)

        return {x: {y: edge(x, y) for y in neighbours} for x, neighbours in known.items()}

    def find(self, target: int, watch: ProgressCallback) -> KeptNeighbourhood:
        """Find the parents and children of one target."""
        query = self.query
        search = query.search(
            None,
            watch=watch,
            marginals=self.known,
            steps=self.steps,
            budget=self.budget,
            keep_separations=not self.steps_are_sets,
        )
        try:
            neighbours = tuple(int(x) for x in query.answer(search, target).parents_children or ())
        except BudgetSpent:
            self.tally.merge(search.tally)
            raise
        weighed = {}
        if query.fdr is not None:
            either = query.algorithm.either_side
            weighed = {x: of_tests(self._sides_of(search, x, target), either=either) for x in neighbours}
        if self.budget is not None:
            self.budget.spent += search.tally.performed
        if target in self.precomputed:
            search.record.count(self.precomputed[target])
        return KeptNeighbourhood(neighbours, search.record.of_counts(), weighed)

    def _sides_of(self, search: Search, x: int, target: int) -> list[DecidingTest]:
        """Return the weakest associations of an edge; the search for its other end is told them, if it has the same."""
        known = self._sides.pop((target, x), None)
        if known is not None:
            return known[::-1]
        found = search.weakest_of_sides(x, target)
        symmetric = self.steps_are_sets and self.query.algorithm.symmetric(self.query.options)
        if symmetric and x not in self.query.kept(target):  # one that is kept may be in the set of one alone
            self._sides[x, target] = found
        return found


def find_neighbourhoods(
    found: Neighbourhoods, query: Query, targets: list[int], run: Run, checkpoint: Checkpoint | None = None
) -> None:
    """Find the parents and children of many targets; those in the checkpoint are read from there.

    Where Ctrl-C or the end of the budget ends it, those that are known by then are found.
    """
    done: dict[int, tuple[tuple[int, ...], list[str], dict[int, Weighed]]] = {}
    searches = _Targets(query, run, len(targets))
    shares = searches.shares(targets, checkpoint)
    if checkpoint is not None:
        checkpoint.check_budget(run.settings)
        for target, (neighbours, record, weighed) in checkpoint.kept.items():
            done[target] = neighbours, record.notes, weighed
            run.tally.merge(record.tally)
        if run.budget is not None:
            run.budget.spent += checkpoint.tests
        if not shares:  # it keeps the answers of runs that do
            checkpoint = None
    rest = [target for target in targets if target not in done]
    names = query.source.variables
    if checkpoint is not None and searches.steps is not None:
        searches.steps.counted = checkpoint.counted

    def keep(target: int, answer: KeptNeighbourhood) -> None:
        neighbours, record, weighed = answer
        tally = record.tally
        done[target] = neighbours, record.notes, weighed
        run.tally.merge(tally)
        if checkpoint is not None:
            checkpoint.add(target, answer)
        bar.advance(names[target], tuple(names[x] for x in neighbours), tally.performed, tally.skipped)

    def keep_known() -> None:
        with without_collector():
            known = searches.known_neighbours(rest)
            weighed = searches.weigh(known)
            simple = checkpoint is None and not callable(run.settings.progress)
            done.update(
                (target, (neighbours, [], weighed.get(target, {}))) for target, neighbours in known.items() if simple
            )
        if simple:
            counted = [searches.precomputed[target].tally for target in known if target in searches.precomputed]
            for tally in counted:
                run.tally.merge(tally)
            bar.advance_by(len(known), sum(tally.performed for tally in counted))
        else:
            for target, neighbours in known.items():
                counts = searches.precomputed.get(target, Record(target))
                keep(target, KeptNeighbourhood(neighbours, counts, weighed.get(target, {})))

    with run.bar("neighbourhoods", len(rest)) as bar:
        try:
            try:
                if shares:
                    searches.prepare(targets, rest, checkpoint)
            finally:
                keep_known()
            left = [target for target in rest if target not in done]
            parallel_map(searches.find, left, searches.jobs, keep, test=query.source, budget=run.budget)
        finally:
            run.tally.merge(searches.tally)
            noted: dict[str, int] = {}
            with without_collector():
                for target in (target for target in targets if target in done):
                    found.of[target], notes, found.weighed[target] = done.pop(target)
                    for note in notes:
                        noted[note] = noted.get(note, 0) + 1
            run.notes += [
                note if count == 1 else f"{embedded(note)} ({count:,} targets)" for note, count in noted.items()
            ]


def join(
    neighbourhoods: Mapping[int, Iterable[int]], rule: Rule, variables: int, knowledge: BoundKnowledge | None
) -> dict[int, set[int]]:
    """Make two variables adjacent if both neighbourhoods (and), or one of them (or), contain the other variable.

    A variable without a neighbourhood (constant, or not searched yet) has no neighbours under "and".
    """
    adjacent: dict[int, set[int]] = {x: set() for x in range(variables)}
    for x, others in neighbourhoods.items():
        for y in others:
            if rule == "or" or x in neighbourhoods.get(y, ()):
                adjacent[x].add(y)
                adjacent[y].add(x)
    if knowledge is not None:
        join_pairs(adjacent, knowledge.required)
    return adjacent


def join_pairs(adjacent: Mapping[int, set[int]], pairs: Iterable[tuple[int, int]]) -> None:
    """Make pairs adjacent."""
    for x, y in pairs:
        adjacent[x].add(y)
        adjacent[y].add(x)
