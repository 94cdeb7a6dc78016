"""A question about any target, resolved and checked: the algorithm, the test, the settings and the constraints.

`Query.resolve` is the only place that resolves settings for data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from serape.checks import check_finds, is_auto
from serape.errors import DataError, InputTypeError, OptionError, is_integer
from serape.independence import IndependenceTest, make_test, position, table_of
from serape.independence.registry import TESTS, has_rows, refuse_beside_test, searched, seed_of
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge
from serape.local.answer import Answer
from serape.local.registry import Algorithm
from serape.parallel.map import compute_each
from serape.progress import ProgressCallback
from serape.questions.answers import checked_answer
from serape.questions.chance import chance_note, nothing_note
from serape.questions.choice import ALPHA, RATE, Choice, SourceReader, check_algorithm_options, choose_local
from serape.questions.constraints import left_out_notes, refuse_identifiers, resolve_constraints
from serape.questions.deciding import Deciding, Discoveries
from serape.questions.discoveries import bound
from serape.questions.duplicates import describe_duplicates, not_candidates
from serape.questions.leaks import find_leaks
from serape.questions.min_effect import check_has_effect, without_weak
from serape.questions.run import TARGET_SECONDS, Run
from serape.questions.untested import untested_note
from serape.results.call import Call
from serape.results.explanation import Evidence
from serape.results.result import Result
from serape.search import Budget, FalseDiscoveryRate, Positions, Search, Steps
from serape.search.budget import stopped_note
from serape.search.record import Record
from serape.search.steps import EarlierSteps
from serape.settings import RunSettings, SearchSettings, Settings
from serape.types import Finds
from serape.wording import setting

MAX_CONDITIONING = 3
"""The meaning of `max_conditioning="auto"` for algorithms that search subsets of neighbourhoods, on data."""


@dataclass(frozen=True)
class Query:
    """A question about any target: all settings are resolved and checked, only the target is open."""

    finds: Finds
    algorithm: Algorithm
    source: IndependenceTest
    alpha: float
    max_conditioning: int | None
    random_state: int | np.random.Generator | None
    options: Mapping[str, Any]
    fdr: FalseDiscoveryRate | None = None
    run_settings: RunSettings = field(default_factory=RunSettings)
    make_source: Callable[[Any], IndependenceTest] = make_test
    """Makes the same test on other data."""
    knowledge: BoundKnowledge | None = None
    known: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Known members of the answer, by target."""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    """Knowledge, known and forbidden members, as settings with names of variables."""
    min_effect: float | None = None
    asked: SearchSettings = field(default_factory=SearchSettings)
    """The settings as the caller gave them."""
    earlier: EarlierSteps | None = field(default=None, repr=False, compare=False)
    """The steps of earlier questions that differ in the target alone; no other question takes them over."""

    @classmethod
    def resolve(
        cls,
        data: Any,
        finds: Finds,
        settings: Settings,
        *,
        choose: Choice = choose_local,
    ) -> Query:
        """Resolve the settings and check that the data can answer."""
        check_finds(finds)
        asked = settings.search
        if isinstance(data, IndependenceTest):
            refuse_beside_test(data, settings)
        read = SourceReader(data, settings.data)
        algorithm = choose(asked.algorithm, finds, read)
        check_algorithm_options(algorithm, finds, settings.options)
        make_source = partial(
            make_test,
            test=asked.test,
            dof=algorithm.dof if asked.dof == "auto" else asked.dof,
            reliability=algorithm.reliability if asked.reliability == "auto" else asked.reliability,
            seed=0 if isinstance(data, IndependenceTest) else seed_of(asked.test, asked.random_state),
            few_rows=asked.dof == asked.reliability == "auto" and algorithm.dof == "adjusted",
            engine="cpu" if is_auto(settings.run.engine) and not algorithm.by_pairs else settings.run.engine,
            progress=settings.run.progress,
        )
        source = make_source(read())
        if asked.test == "auto" and source.name in TESTS:  # the same test on other rows, however many
            make_source = partial(make_source, test=source.name)
        if len(source.variables) < 2:
            raise DataError("the table has one column; a blanket needs at least one other")
        source.check(searched(source))
        check_has_effect(source, asked.min_effect)
        bound = asked.max_conditioning
        if bound == "auto":
            bounded = algorithm.separates_by_subsets and has_rows(source)
            bound = MAX_CONDITIONING if bounded else None
        alpha = ALPHA if asked.alpha == "auto" else asked.alpha
        stepwise = algorithm.conditions_on_blanket and finds == "blanket"
        rate = asked.fdr
        if rate == "auto":
            judged = asked.alpha == "auto" and not algorithm.of_caller and has_rows(source)
            rate = RATE if judged else None
        if stepwise and asked.fdr_method == "adaptive":
            raise OptionError(
                f"{setting('fdr_method', 'adaptive')} needs the p-values of all members at once, but algorithm "
                f"{algorithm.name!r} bounds the rate at each step; use 'bh' or 'by'"
            )
        method = asked.fdr_method if asked.fdr_method != "auto" else "by" if stepwise else "adaptive"
        fdr = None if rate is None else FalseDiscoveryRate(float(rate), method, math.log(alpha))
        return cls(
            finds, algorithm, source, alpha, bound, asked.random_state, settings.options, fdr, settings.run,
            make_source, min_effect=asked.min_effect, asked=asked,
        )  # fmt: skip

    @classmethod
    def about(cls, data: Any, target: object, finds: Finds, settings: Settings) -> tuple[Query, int]:
        """Resolve a question about one target; return the position of the target too."""
        query = cls.resolve(data, finds, settings)
        at = query.position(target)
        return query.constrained(settings.search, [at]), at

    def on(self, data: Any) -> Query:
        """Return the same question about other data with the same columns."""
        return replace(self, source=self.make_source(data), earlier=None)

    def remembering_steps(self) -> Query:
        """Return the same question with a memory of the steps that its targets share, if their order is no matter."""
        ordered = self.random_state is not None or self.run_settings.max_tests is not None
        return replace(self, earlier=None if ordered else EarlierSteps())

    def position(self, target: object) -> int:
        """Return the position of a variable that can be a target."""
        if not isinstance(target, str) and not is_integer(target):
            what = "None" if target is None else f"a {type(target).__name__}"
            raise InputTypeError(f"target must be the name or the position of a column, not {what}")
        at = position(self.source, target)
        table = table_of(self.source)
        if table is not None and table.is_constant(at):
            raise DataError(
                f"the target {self.source.variables[at]!r} is constant, so no column depends on it; choose "
                f"another target"
            )
        refuse_identifiers(table, "the target", [at])
        return at

    def constrained(self, asked: SearchSettings, targets: Sequence[int], *, symmetric: bool = False) -> Query:
        """Return the query with knowledge, known members and forbidden members for these targets.

        If `symmetric`, x is a known member of y wherever y is one of x.
        """
        if asked.knowledge is None and not len(asked.known_members) and not len(asked.forbidden_members):
            return self
        knowledge, known, named = resolve_constraints(
            self.source, asked, targets, adjacent=self.finds != "blanket", symmetric=symmetric
        )
        return replace(self, knowledge=knowledge, known=known, constraints=named, earlier=None)

    # --- asking --------------------------------------------------------------------------------------------------

    def run(
        self,
        target: int,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        steps: Steps | None = None,
        notes: Sequence[str] = (),
        *,
        warn: bool = False,
        budget: Budget | None = None,
        counted: Record | None = None,
        evidence: bool = True,
    ) -> Result:
        """Ask the question about a target.

        `marginals` are known tests given nothing, by target, and `steps` those that searches for other targets share.
        Without `evidence`, or where shared steps do not tell it, a search of its own gathers the evidence when it is
        first used. `notes` are added to those of the result. If `warn`, more notes name what to doubt:
        candidates that cannot be tested reliably given the answer (one more screen finds them, if tests were skipped),
        likely leaks, and members by chance. A `budget` is that of a larger call, and `counted` what it has counted for
        the target in advance.
        """
        run = Run(replace(self.run_settings, progress=watch or False), self.source, TARGET_SECONDS, budget=budget)
        search = self.search(target, threads, watch, marginals, steps, run.budget, evidence=evidence)
        with run.part():
            answer, discoveries = self.discovered(search, target)
        if run.budget is not None:
            run.budget.spent += search.tally.performed
        if counted is not None:
            search.record.count(counted)
        if not run.complete:
            search.notes.append(stopped_note(run.ended))
            members: Sequence[int] = search.members_so_far(target)
            if self.finds != "blanket":
                members = search.possible_neighbours(target, members)
            search.reconcile_sides(members)
            so_far = Answer(members) if self.finds == "blanket" else Answer(parents_children=members)
            return run.hand_over(self.result_of(search, target, so_far, Discoveries(), run.seconds, notes))
        found = self._members(answer)
        deciding = Deciding(search, target, answer, discoveries, by_subsets=self.by_subsets, reconciled=found)
        answer = without_weak(self, search, target, answer, deciding)
        if marginals is None and steps is None and search.tally.skipped and not search.tally.performed:
            search.notes.append("no test is reliable: there are too few rows for any answer about the target")
        elif warn:
            search.notes.extend(self.warnings(search, target, self._members(answer), deciding))
        result = self.result_of(
            search, target, answer, discoveries, run.seconds, notes, deciding=deciding, complete=True
        )
        if steps is not None:
            search.release()
        return result

    def search(
        self,
        target: int | None,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        steps: Steps | None = None,
        budget: Budget | None = None,
        keep_separations: bool = True,
        keep_associations: bool = True,
        evidence: bool = True,
    ) -> Search:
        """Return a search with the query's settings; without a target, a search for many targets.

        Identifiers are no candidates. Of duplicate columns only one is: a known member, or the first. With a
        `random_state` all are candidates, so that it can break the ties between them.
        """
        search = Search(
            self.source,
            subject=target,
            steps=steps or Steps(self.earlier),
            evidence=evidence and target is not None,
            alpha=self.alpha,
            max_conditioning=self.max_conditioning,
            random_state=self.random_state,
            threads=threads,
            progress=watch,
            knowledge=self.knowledge,
            known=() if target is None else self.known.get(target, ()),
            excluded=self.excluded(target),
            fdr=self.fdr,
            stepwise=self.algorithm.conditions_on_blanket and self.finds == "blanket",
            budget=budget,
            compute_each=compute_each(self.source, threads) if self.algorithm.shares else None,
            keep_separations=keep_separations,
            keep_associations=keep_associations,
            decide_on_part=self.asked.decide_on_part,
            find_network=partial(self._network_around, threads=threads),
        )
        search.use_marginals(marginals or {})
        return search

    def _network_around(
        self, target: int, others: Positions, tick: Callable[[], None], *, threads: int
    ) -> Mapping[int, frozenset[int]]:
        """Return the network of the highest score around a target."""
        from serape.structure.around import parents_around  # few algorithms ask for it

        def watch(arcs: int, total: float) -> None:
            del arcs, total
            tick()

        return parents_around(self.source, target, others, threads=threads, watch=watch)

    def answer(self, search: Search, target: int) -> Answer:
        """Return the algorithm's answer about a target, in positions."""
        return checked_answer(self, self.algorithm.asked_for(self.finds)(search, target, **self.options), target)

    def discovered(self, search: Search, target: int) -> tuple[Answer, Discoveries]:
        """Return the answer about a target, without what knowledge or a bound on the false discovery rate forbids."""
        answer = self.answer(search, target)
        if answer.parents_children is not None:
            near = search.possible_neighbours(target, sorted(map(int, answer.parents_children)))
            answer = replace(answer, parents_children=near)
        possible = self.possible_members(search, target)
        return bound(search, target, answer, self.kept(target), len(possible), either=self.algorithm.either_side)

    def possible_members(self, search: Search, target: int, *excluded: int) -> Positions:
        """Return the candidates that can be members of the answer, without the excluded ones.

        A variable that knowledge forbids to be adjacent to the target can be in its blanket, as a spouse.
        """
        if self.knowledge is not None and self.finds != "blanket":
            excluded = (*excluded, *self.knowledge.forbidden_neighbours(target))
        return search.candidates(target, *excluded)

    def excluded(self, target: int | None) -> frozenset[int]:
        """Return the columns that are no candidates: identifiers and, for a target, duplicates of a candidate."""
        table = table_of(self.source)
        if table is None:
            return frozenset()
        if target is None or self.random_state is not None:
            return table.identifiers
        duplicates = not_candidates(table, target, self.kept(target))
        return table.identifiers | duplicates if table.identifiers else duplicates

    def conditioning_on_one_more(self) -> Query:
        """Return the same query with conditioning sets of up to one more member."""
        bound = self.max_conditioning
        return self if bound is None else replace(self, max_conditioning=bound + 1, earlier=None)

    def shared_steps(self, targets: int) -> Steps | None:
        """Return what searches for many targets can share, or None if it has no use."""
        shares = self.algorithm.shares and self.random_state is None and self.min_effect is None  # this needs evidence
        return Steps() if shares and targets > 1 else None

    @staticmethod
    def detached(result: Result) -> Result:
        """Return a result to be sent to another process: without its data, and with the evidence at hand alone."""
        trace = result.trace
        return replace(result, trace=trace.alone, data=None) if trace.at_hand else Query.bare(result)

    @staticmethod
    def bare(result: Result) -> Result:
        """Return a result without its evidence and data."""
        return replace(result, trace=None, data=None)  # type: ignore[arg-type]

    def attached(self, target: int, result: Result) -> Result:
        """Return a result of another process with its data, and evidence that a search gathers if it was not sent."""
        table = table_of(self.source)
        trace = self.evidence_later(target) if result.trace is None else result.trace.about(self.source, target)
        return replace(result, trace=trace, data=None if table is None else table.provenance)

    def evidence_later(self, target: int) -> Evidence:
        """Return evidence that a search of its own gathers when it is first used."""
        return Evidence.later(self.source, target, lambda: self.run(target).trace)

    def required(self, target: int) -> frozenset[int]:
        """Return the neighbours of a target that knowledge requires."""
        return frozenset() if self.knowledge is None else self.knowledge.required_neighbours(target)

    def kept(self, target: int) -> set[int]:
        """Return the members that are known or required."""
        return {*self.known.get(target, ()), *self.required(target)}

    def result_of(
        self,
        search: Search,
        target: int,
        answer: Answer,
        discoveries: Discoveries,
        seconds: float,
        notes: Sequence[str] = (),
        *,
        deciding: Deciding | None = None,
        complete: bool = False,
    ) -> Result:
        """Return the result of a search."""
        names = self.source.variables
        table = table_of(self.source)
        of_table = () if table is None else table.notes
        left_out = left_out_notes(self.knowledge, names, target)

        def named(positions: Collection[int | str] | None) -> tuple[str, ...] | None:
            return None if positions is None else tuple([names[v] for v in sorted(map(int, positions))])

        spouses = answer.spouses
        neighbours = named(answer.parents_children)
        inside = {int(v) for v in (*(answer.blanket or ()), *(answer.parents_children or ()))}
        interchangeable, duplicate_notes = describe_duplicates(table, names, target, inside)
        return Result(
            target=names[target],
            finds=self.finds,
            blanket=named(answer.blanket) or neighbours or (),
            parents_children=neighbours,
            spouses=None if spouses is None else {names[int(s)]: named(via) or () for s, via in spouses.items()},
            algorithm=self.algorithm.name,
            test=self.source.name,
            alpha=search.alpha,
            fdr=None if self.fdr is None else self.fdr.rate,
            threshold=discoveries.threshold,
            adjusted_p={names[x]: p for x, p in discoveries.adjusted.items()},
            tests=search.tally.performed,
            tests_by_size=dict(sorted(search.tally.tests_by_size.items())),
            skipped=search.tally.skipped,
            seconds=seconds,
            options=dict(self.reported),
            interchangeable=interchangeable,
            data=None if table is None else table.provenance,
            notes=(*of_table, *self.source.notes, *left_out, *search.notes, *duplicate_notes, *notes),
            complete=complete,
            call=self._call,
            trace=Evidence.of(
                search,
                target,
                {s: given for s in map(int, spouses or ()) if (given := search.separating_set(s, target)) is not None},
                discoveries.links,
                deciding,
            )
            if search.evidence_is_whole
            else self.evidence_later(target),
        )

    @property
    def by_subsets(self) -> bool:
        """Whether independence given a subset of the members shows that a variable is none."""
        return not self.algorithm.conditions_on_blanket and not self.algorithm.of_caller

    def warnings(self, search: Search, target: int, members: set[int], deciding: Deciding) -> list[str]:
        """Return notes on what to doubt about the members."""
        stepwise = self.algorithm.conditions_on_blanket
        possible, untold = (self.possible_members(search, target, *known) for known in ((), members))
        return [
            *(
                untested_note(search, target, members, untold, by_subsets=self.by_subsets, stepwise=stepwise)
                if search.tally.skipped
                else ()
            ),
            *find_leaks(search, target, members).notes,
            *chance_note(search, target, members, self.kept(target), len(possible), deciding),
            *nothing_note(search, target, members, possible, deciding),
        ]

    def _members(self, answer: Answer) -> set[int]:
        return {int(v) for v in (answer.blanket if self.finds == "blanket" else answer.parents_children) or ()}

    @cached_property
    def _call(self) -> Call:
        return Call(self.own)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The settings that are the caller's own objects, not names."""
        named = {"algorithm": not self.algorithm.of_caller, "test": self.source.name in TESTS}
        return tuple(name for name, known in named.items() if not known)

    @cached_property
    def reported(self) -> dict[str, Any]:
        """The settings that a result reports, besides algorithm, test and alpha."""
        return {
            "max_conditioning": None if self.max_conditioning is None else int(self.max_conditioning),
            "random_state": self.random_state if is_integer(self.random_state) else None,
            "reliability": getattr(self.source, "reliability", None),
            "dof": getattr(self.source, "dof", None),
            **({} if self.fdr is None else {"fdr": self.fdr.rate, "fdr_method": self.fdr.method}),
            **({} if self.min_effect is None else {"min_effect": float(self.min_effect)}),
            **self.asked.more(),
            **self.options,
            **self.constraints,
        }
