"""The questions a user asks about one target."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from serape.data.table import Table, as_table
from serape.errors import DataError, InputTypeError, Interrupted, OptionError, abbreviate, is_integer, suggestion
from serape.independence import (
    ContingencyTest,
    DofRule,
    IndependenceTest,
    ReliabilityRule,
    make_test,
    position,
    table_of,
)
from serape.independence.base import ScreenResult
from serape.knowledge import BoundKnowledge, Knowledge
from serape.local.answer import Answer
from serape.local.registry import Algorithm, LocalAlgorithm, automatic, find_algorithm
from serape.progress import ProgressCallback, StatusLine, progress_callback
from serape.results.explanation import Evidence
from serape.results.result import Finds, Result
from serape.search import Search, StepCache

Reliability = ReliabilityRule | Literal["auto"]


def markov_blanket(
    data: Any,
    target: str | int,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | None = None,
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    progress: bool | ProgressCallback | None = None,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    known_members: Collection[str | int] = (),
    forbidden_members: Collection[str | int] = (),
    **algorithm_options: Any,
) -> Result:
    """Find the Markov blanket of a variable: the smallest set of others that tells all there is to know about it.

    Parameters
    ----------
    data
        Anything a `Table` can be made of, a `Table`, a path, or an independence test such as `DSeparation`.
    target
        The variable, by name or position.
    algorithm
        A name from `serape.algorithms()`, a callable `algorithm(search, target, **options)`, or "auto": "hpc" for
        categorical columns, "iamb" if some are continuous, "hiton-mb" if there are more than 500.
    test
        A name of an independence test, or "auto".
    alpha
        Significance level: a reliable test with p <= alpha shows dependence, one with p > alpha independence.
    max_conditioning
        The largest conditioning set to ask with; questions with larger ones are skipped.
    reliability
        Which tests are trusted: "dof" (5 rows for each degree of freedom), "cells" (5 rows in the mean cell), None for
        all, or "auto": "cells" for fast-iamb, as its paper has it, and "dof" for all others.
    dof
        Degrees of freedom: "full", "adjusted" for empty margins, or "auto": "full" for the incremental family, which
        conditions on whole blankets, "adjusted" for all others.
    random_state
        With a seed, exact ties between candidates break at random; without, by the table's order.
    n_jobs
        Threads; -1 for all. The answer does not depend on it.
    progress
        None shows progress on a terminal once a search takes two seconds, True always, False never; a callable is
        given a `Progress` now and then.
    knowledge
        What is known beforehand of the network: a `Knowledge`, or a dict with `required`, `forbidden`, `tiers`,
        `forbidden_pairs`. Those that must be joined to the target are never put out. A pair that cannot be joined
        either way is never tested, and so is not found to be spouses either; spouses are looked for only through
        variables that can be children.
    known_members, forbidden_members
        Variables that belong to the answer whatever tests say, and such that do not and are never tested against the
        target.
    algorithm_options
        Passed on to the algorithm.

    Returns
    -------
    Result
        The blanket, how it was found, and why each variable is in or out.

    Raises
    ------
    Interrupted
        On Ctrl-C; a KeyboardInterrupt that carries what was found.
    """
    query = Query.make(
        data, "blanket", algorithm, test, alpha, max_conditioning, reliability, dof, random_state, algorithm_options
    )
    query, at = query.with_knowledge(knowledge, target, known_members, forbidden_members)
    return query.run(at, thread_count(n_jobs), progress_callback(progress))


def parents_children(
    data: Any,
    target: str | int,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | None = None,
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    progress: bool | ProgressCallback | None = None,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    known_members: Collection[str | int] = (),
    forbidden_members: Collection[str | int] = (),
    **algorithm_options: Any,
) -> Result:
    """Find the parents and children of a variable: those joined to it by an arc in the network behind the data.

    All arguments are those of `markov_blanket`.
    """
    query = Query.make(
        data, "parents-children", algorithm, test, alpha, max_conditioning, reliability, dof, random_state,
        algorithm_options,
    )  # fmt: skip
    query, at = query.with_knowledge(knowledge, target, known_members, forbidden_members)
    return query.run(at, thread_count(n_jobs), progress_callback(progress))


@dataclass(frozen=True)
class Query:
    """A question that can be asked of any target: everything but the target is settled and checked."""

    finds: Finds
    algorithm: Algorithm
    source: IndependenceTest
    alpha: float
    max_conditioning: int | None
    random_state: int | np.random.Generator | None
    options: dict[str, Any]
    knowledge: BoundKnowledge | None = None
    known: frozenset[int] = frozenset()
    """Members of the answer that are known; only where there is one target."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What was told beforehand, in the words of the call."""
    make_source: Callable[[Any], IndependenceTest] = make_test
    """Makes the same test on other data."""

    @classmethod
    def make(
        cls,
        data: Any,
        finds: Finds,
        algorithm: str | LocalAlgorithm,
        test: str,
        alpha: float,
        max_conditioning: int | None,
        reliability: Reliability,
        dof: DofRule,
        random_state: int | np.random.Generator | None,
        options: dict[str, Any],
    ) -> Query:
        """Settle the question and check that the data can answer it."""
        if finds not in ("blanket", "parents-children"):
            raise OptionError(f"finds={finds!r} is not known; use 'blanket' or 'parents-children'")
        if algorithm == "auto":
            data = data if isinstance(data, IndependenceTest) else as_table(data)
            algorithm = _automatic(finds, data)
        chosen = find_algorithm(algorithm, finds)
        _check_options(chosen, finds, options)
        chosen_dof = chosen.dof if dof == "auto" else dof
        chosen_reliability = chosen.reliability if reliability == "auto" else reliability
        make_source = partial(make_test, test=test, dof=chosen_dof, reliability=chosen_reliability)
        source = make_source(data)
        if len(source.variables) < 2:
            raise DataError("the table has one column; a blanket needs others to choose from")
        source.check(range(len(source.variables)))
        return cls(finds, chosen, source, alpha, max_conditioning, random_state, options, make_source=make_source)

    def on(self, data: Any) -> Query:
        """Return the same question, asked of other data with the same columns."""
        return replace(self, source=self.make_source(data))

    def position(self, target: str | int) -> int:
        """Return where a target stands, if it can be one."""
        at = position(self.source, target)
        table = table_of(self.source)
        if table is not None and table.is_constant(at):
            raise DataError(f"the target {self.source.variables[at]!r} is constant; there is nothing to explain")
        return at

    def with_knowledge(
        self,
        knowledge: Knowledge | Mapping[str, Any] | None,
        target: str | int | None = None,
        known: Collection[str | int] = (),
        forbidden: Collection[str | int] = (),
    ) -> tuple[Query, int]:
        """Return the query with what is known beforehand, and where the target stands."""
        at = -1 if target is None else self.position(target)
        names = self.source.variables
        for what, group in (("known_members", known), ("forbidden_members", forbidden)):
            if isinstance(group, str) or not isinstance(group, Collection):
                raise InputTypeError(f"{what} must be a list of variables, not {group!r:.60}")
        inside, outside = (frozenset(self._position(x) for x in group) for group in (known, forbidden))
        if at in inside | outside:
            raise OptionError(f"the target {names[at]!r} is no member of its own blanket; take it out of what is known")
        if both := sorted(inside & outside):
            raise OptionError(f"{names[both[0]]!r} is both known and forbidden; take it out of one of them")
        bound = BoundKnowledge() if knowledge is None else Knowledge.of(knowledge).bind(names)
        if outside:
            bound = bound.with_forbidden_pairs((at, x) for x in outside)
        for x in sorted(inside):
            if bound.forbids_pair(at, x):
                raise OptionError(f"{names[x]!r} is a known member, but knowledge keeps it apart from {names[at]!r}")
        for x in sorted(bound.required_neighbours(at)):
            if x in outside:
                raise OptionError(f"{names[x]!r} is forbidden, but knowledge joins it to {names[at]!r}")
        said = {
            "knowledge": None if knowledge is None else Knowledge.of(knowledge).to_dict(),
            "known_members": [names[x] for x in sorted(inside)],
            "forbidden_members": [names[x] for x in sorted(outside)],
        }
        told = {name: value for name, value in said.items() if value}
        return replace(self, knowledge=None if bound.is_empty else bound, known=inside, said=told), at

    def run(
        self,
        target: int,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        memory: StepCache | None = None,
        notes: Sequence[str] = (),
    ) -> Result:
        """Ask the question of a target.

        `marginals` are tests given nothing that are known already, by target, and `memory` holds steps that searches
        for other targets have made. With it evidence is not kept: it is gathered by a search of its own when asked for.
        `notes` are told by the result.
        """
        search = self.search(target, threads, watch, marginals, memory)
        started = time.perf_counter()
        try:
            answer = self.answer(search, target)
        except KeyboardInterrupt:
            members = search.members_so_far(target)
            partial = Answer(members) if self.finds == "blanket" else Answer(parents_children=members)
            seconds = time.perf_counter() - started
            raise Interrupted(self._result(search, target, partial, seconds, memory, notes)) from None
        finally:
            if isinstance(watch, StatusLine):
                watch.close()
        if marginals is None and memory is None and search.tally.skipped and not search.tally.performed:
            search.notes.append("no test was reliable: there are too few rows to tell anything about the target")
        return self._result(search, target, answer, time.perf_counter() - started, memory, notes, complete=True)

    def search(
        self,
        target: int | None,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        memory: StepCache | None = None,
    ) -> Search:
        """Return a search with the query's settings; without a target, for many of them.

        Of columns that are copies of each other one takes part: one that is known, or the first. With a `random_state`
        all do, so that it can break the ties between them.
        """
        search = Search(
            self.source,
            subject=target,
            memory=memory,
            evidence=memory is None and target is not None,
            alpha=self.alpha,
            max_conditioning=self.max_conditioning,
            random_state=self.random_state,
            threads=threads,
            progress=watch,
            knowledge=self.knowledge,
            known=self.known,
            excluded=() if target is None else self.duplicates(target),
        )
        if marginals is not None:
            search.use_marginals(marginals)
        return search

    def answer(self, search: Search, target: int) -> Answer:
        """Return what the algorithm answers about a target, in positions."""
        return self._checked(self.algorithm.asked_for(self.finds)(search, target, **self.options), target)

    def duplicates(self, target: int) -> frozenset[int]:
        """Return the columns that others stand for: copies of columns before them, the target aside."""
        table = table_of(self.source)
        if table is None or self.random_state is not None or not table.copies:
            return frozenset()
        kept = {*self.known, *(() if self.knowledge is None else self.knowledge.required_neighbours(target))}
        if target not in table.copies and not any(x in table.copies for x in kept):
            return table.later_copies
        found: set[int] = set()
        for first, group in table.copies.items():
            if first == group[0]:
                alike = [x for x in group if x != target]
                standing = [x for x in alike if x in kept] or alike[:1]
                found.update(x for x in alike if x not in standing)
        return frozenset(found)

    def conditioning_on_one_more(self) -> Query:
        """Return the same query, whose conditioning sets may have one more member."""
        most = self.max_conditioning
        return self if most is None else replace(self, max_conditioning=most + 1)

    def memory(self, targets: int) -> StepCache | None:
        """Return a memory that searches for so many targets can share, if that is of use."""
        return StepCache() if self.algorithm.shares and self.random_state is None and targets > 1 else None

    @staticmethod
    def detached(result: Result) -> Result:
        """Return a result without what is behind it, to be sent from one process to another."""
        return replace(result, trace=None, data=None)  # type: ignore[arg-type]

    def attached(self, target: int, result: Result) -> Result:
        """Return a result with what is behind it: another search, made when it is first looked at."""
        if result.trace is not None:
            return result
        table = getattr(self.source, "table", None)
        trace = Evidence.later(self.source, target, lambda: self.run(target).trace)
        return replace(result, trace=trace, data=None if table is None else table.provenance)

    def _checked(self, answer: Any, target: int) -> Answer:
        """Return what an algorithm answered, in positions."""
        if isinstance(answer, Answer):
            spouses = answer.spouses
            near = self._positions(answer.parents_children, target)
            return Answer(
                self._with_known(self._positions(answer.blanket, target), target),
                self._with_known(near, target, neighbours=self.finds == "blanket"),
                None
                if spouses is None
                else {self._answered(s): self._positions(via, target) or () for s, via in spouses.items()},
            )
        if not isinstance(answer, Collection) or isinstance(answer, str):
            raise InputTypeError(
                f"algorithm {self.algorithm.name!r} must return the variables it found, not {answer!r}"
            )
        found = self._with_known(self._positions(answer, target), target)
        return Answer(blanket=found) if self.finds == "blanket" else Answer(parents_children=found)

    def _with_known(
        self, found: tuple[int, ...] | None, target: int, *, neighbours: bool = False
    ) -> tuple[int, ...] | None:
        """Return what was found and what is known; of `neighbours` within a blanket only those that must be joined."""
        if found is None:
            return None
        must = frozenset() if self.knowledge is None else self.knowledge.required_neighbours(target)
        return tuple(sorted({*found, *must, *(() if neighbours else self.known)}))

    def _position(self, variable: int | str) -> int:
        return position(self.source, variable)

    def _answered(self, variable: int | str) -> int:
        """Return the position of a variable that an algorithm names: to it a number is a position, not a name."""
        if is_integer(variable) and 0 <= int(variable) < len(self.source.variables):
            return int(variable)
        return self._position(variable)

    def _positions(self, variables: Collection[int | str] | None, target: int) -> tuple[int, ...] | None:
        if variables is None:
            return None
        found = {self._answered(v) for v in variables}
        if target in found:
            raise OptionError(f"algorithm {self.algorithm.name!r} returned the target as a member of its own blanket")
        return tuple(sorted(found))

    def _result(
        self,
        search: Search,
        target: int,
        answer: Answer,
        seconds: float,
        memory: StepCache | None,
        notes: Sequence[str] = (),
        *,
        complete: bool = False,
    ) -> Result:
        names = self.source.variables
        table = getattr(self.source, "table", None)

        def named(positions: Collection[int | str] | None) -> tuple[str, ...] | None:
            return None if positions is None else tuple([names[v] for v in sorted(map(int, positions))])

        spouses = answer.spouses
        near = named(answer.parents_children)
        asked_for = answer.blanket if self.finds == "blanket" else answer.parents_children
        copies = {} if table is None else table.copies
        interchangeable: dict[str, tuple[str, ...]] = {}
        alike: list[str] = []
        if copies:
            inside = {int(v) for v in (*(answer.blanket or ()), *(answer.parents_children or ()))}
            for k in sorted(inside.intersection(copies)):
                if others := named([x for x in copies[k] if x not in (k, target)]):
                    interchangeable[names[k]] = others
                    alike.append(f"{abbreviate(others)} can stand for {names[k]!r}: the same rows in each level")
            if target in copies:
                others = named([x for x in copies[target] if x != target]) or ()
                alike.insert(0, f"a copy of the target: {abbreviate(others)}")
        search.reconcile_sides({int(v) for v in asked_for or ()})
        return Result(
            target=names[target],
            finds=self.finds,
            blanket=named(answer.blanket) or near or (),
            parents_children=near,
            spouses=None if spouses is None else {names[int(s)]: named(via) or () for s, via in spouses.items()},
            algorithm=self.algorithm.name,
            test=self.source.name,
            alpha=search.alpha,
            tests=search.tally.performed,
            tests_by_size=dict(sorted(search.tally.tests_by_size.items())),
            skipped=search.tally.skipped,
            seconds=seconds,
            options=dict(self._settings),
            interchangeable=interchangeable,
            data=None if table is None else table.provenance,
            notes=(*(table.notes if table is not None else ()), *self.source.notes, *search.notes, *alike, *notes),
            complete=complete,
            trace=Evidence.of(
                search,
                target,
                {int(s): search.separating_set(int(s), target) or () for s in spouses or ()},
                None if memory is None else lambda: self.run(target).trace,
            ),
        )

    @cached_property
    def _settings(self) -> dict[str, Any]:
        return {
            "max_conditioning": None if self.max_conditioning is None else int(self.max_conditioning),
            "random_state": self.random_state if is_integer(self.random_state) else None,
            "reliability": getattr(self.source, "reliability", None),
            "dof": getattr(self.source, "dof", None),
            **self.options,
            **self.said,
        }


def _automatic(finds: Finds, data: Table | IndependenceTest) -> str:
    """Return the algorithm that suits data."""
    if isinstance(data, Table):
        return automatic(finds, len(data.names), "numbers" if data.continuous else "categorical")
    kind: Literal["categorical", "unknown"] = "categorical" if isinstance(data, ContingencyTest) else "unknown"
    return automatic(finds, len(data.variables), kind)


def _check_options(algorithm: Algorithm, finds: Finds, options: dict[str, Any]) -> None:
    try:
        signature = inspect.signature(algorithm.asked_for(finds))
    except (TypeError, ValueError):  # some callables do not tell
        return
    names = list(signature.parameters)
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        return
    own = names[2:]
    settings = [name for name in inspect.signature(markov_blanket).parameters if name != "algorithm_options"]
    for option in options:
        if option not in own:
            takes = f"it takes {', '.join(map(repr, own))}" if own else "it takes none"
            raise OptionError(
                f"algorithm {algorithm.name!r} has no option {option!r} ({takes}).{suggestion(option, own + settings)}"
            )


def thread_count(n_jobs: int) -> int:
    """Return the number of threads that n_jobs asks for."""
    if not is_integer(n_jobs) or (n_jobs < 1 and n_jobs != -1):
        raise OptionError(f"n_jobs must be a positive number of threads, or -1 for all, not {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
