"""A question about any target, resolved and checked: the algorithm, the test, the settings, what is known.

`Query.resolve` is the one place where settings meet the data.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from serape.data.table import Table
from serape.errors import DataError, InputTypeError, Interrupted, OptionError, abbreviate, is_integer, suggestion
from serape.independence import ContingencyTest, IndependenceTest, make_test, position, table_of
from serape.independence.registry import TESTS, refuse_beside_test
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge, Knowledge
from serape.local.answer import Answer
from serape.local.registry import Algorithm, DataKind, automatic, find_algorithm, names_of, unknown_algorithm
from serape.names import match
from serape.progress import ProgressCallback, StatusLine
from serape.results.call import Call
from serape.results.explanation import Evidence
from serape.results.result import Result
from serape.search import Search, StepCache
from serape.settings import FIELDS, DataSettings, SearchSettings, Settings
from serape.structure.registry import NETWORK_ALGORITHMS
from serape.types import Finds, Variables

Source = Table | IndependenceTest
Choice = Callable[[object, Finds, Callable[[], Source]], Algorithm]
"""Chooses an algorithm by what was asked for; the data are read only where the choice depends on them."""


def choose_local(asked: object, finds: Finds, data: Callable[[], Source]) -> Algorithm:
    """Return the algorithm for a single target."""
    if match(asked, ["auto"]):
        asked = _automatic(finds, data())
    found = find_algorithm(asked, finds)
    if found is not None:
        return found
    network = match(asked, NETWORK_ALGORITHMS)
    if network is not None:
        raise OptionError(
            f"algorithm {network!r} finds a whole network; ask serape.network (`serape network` on the command "
            f"line), or choose another name"
        )
    raise unknown_algorithm(asked, names_of(finds))


def _automatic(finds: Finds, data: Source) -> str:
    kind: DataKind
    if isinstance(data, Table):
        kind = "numbers" if data.continuous else "categorical"
        return automatic(finds, len(data.names), kind)
    kind = "categorical" if isinstance(data, ContingencyTest) else "unknown"
    return automatic(finds, len(data.variables), kind)


@dataclass(frozen=True)
class Query:
    """A question that can be asked of any target: everything but the target is resolved and checked."""

    finds: Finds
    algorithm: Algorithm
    source: IndependenceTest
    alpha: float
    max_conditioning: int | None
    random_state: int | np.random.Generator | None
    options: Mapping[str, Any]
    make_source: Callable[[Any], IndependenceTest] = make_test
    """Makes the same test on other data."""
    knowledge: BoundKnowledge | None = None
    known: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Known members of the answer, by target."""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    """What was known beforehand, in the words of the call."""

    @classmethod
    def resolve(
        cls,
        data: Any,
        finds: Finds,
        settings: Settings,
        *,
        choose: Choice = choose_local,
        max_conditioning: int | None = None,
    ) -> Query:
        """Resolve the settings and check that the data can answer.

        `max_conditioning` is what "auto" means for algorithms that go through subsets of neighbourhoods on a table.
        """
        if finds not in ("blanket", "parents-children"):
            raise OptionError(f"finds={finds!r} is not known; use 'blanket' or 'parents-children'")
        asked = settings.search
        if isinstance(data, IndependenceTest):
            refuse_beside_test(data, settings)
        read = _Reader(data, settings.data)
        algorithm = choose(asked.algorithm, finds, read)
        check_algorithm_options(algorithm, finds, settings.options)
        make_source = partial(
            make_test,
            test=asked.test,
            dof=algorithm.dof if asked.dof == "auto" else asked.dof,
            reliability=algorithm.reliability if asked.reliability == "auto" else asked.reliability,
        )
        source = make_source(read())
        if len(source.variables) < 2:
            raise DataError("the table has one column; a blanket needs others to choose from")
        source.check(range(len(source.variables)))
        bound = asked.max_conditioning
        if bound == "auto":
            bounded = algorithm.separates_by_subsets and table_of(source) is not None
            bound = max_conditioning if bounded else None
        return cls(finds, algorithm, source, asked.alpha, bound, asked.random_state, settings.options, make_source)

    @classmethod
    def about(cls, data: Any, target: object, finds: Finds, settings: Settings) -> tuple[Query, int]:
        """Resolve a question about one target; return the position of the target too."""
        query = cls.resolve(data, finds, settings)
        at = query.position(target)
        return query.constrained(settings.search, [at]), at

    def on(self, data: Any) -> Query:
        """Return the same question, asked of other data with the same columns."""
        return replace(self, source=self.make_source(data))

    def position(self, target: object) -> int:
        """Return the position of a variable that can be a target."""
        if not isinstance(target, str) and not is_integer(target):
            what = "None" if target is None else f"a {type(target).__name__}"
            raise InputTypeError(f"the target is given by its name or its position, not by {what}")
        at = position(self.source, target)
        table = table_of(self.source)
        if table is not None and table.is_constant(at):
            raise DataError(f"the target {self.source.variables[at]!r} is constant; there is nothing to explain")
        return at

    # --- what is known beforehand --------------------------------------------------------------------------------

    def constrained(self, asked: SearchSettings, targets: Sequence[int], *, symmetric: bool = False) -> Query:
        """Return the query with knowledge and members that are known or forbidden for these targets.

        If `symmetric`, a known member of x has x for a known member: members are neighbours.
        """
        names = self.source.variables
        inside, outside = (self._members(given, targets) for given in (asked.known_members, asked.forbidden_members))
        if symmetric:
            for target, members in list(inside.items()):
                for x in members:
                    inside[x] = inside.get(x, frozenset()) | {target}
        knowledge = None if asked.knowledge is None else Knowledge.of(asked.knowledge)
        bound = BoundKnowledge() if knowledge is None else knowledge.bind(names)
        for target, forbidden in outside.items():
            if both := sorted(forbidden & inside.get(target, frozenset())):
                raise OptionError(f"{names[both[0]]!r} is both known and forbidden; take it out of one of them")
            for x in sorted(bound.required_neighbours(target) & forbidden):
                raise OptionError(f"{names[x]!r} is forbidden, but knowledge joins it to {names[target]!r}")
        pairs = [(target, x) for target, forbidden in outside.items() for x in forbidden]
        if pairs:
            bound = bound.with_forbidden_pairs(pairs)
        for target, known in inside.items():
            for x in sorted(known):
                if bound.forbids_pair(target, x):
                    raise OptionError(
                        f"{names[x]!r} is a known member, but knowledge keeps it apart from {names[target]!r}"
                    )
        constraints = {
            "knowledge": None if knowledge is None else knowledge.to_dict(),
            "known_members": self._named(asked.known_members),
            "forbidden_members": self._named(asked.forbidden_members),
        }
        return replace(
            self,
            knowledge=None if bound.is_empty else bound,
            known=inside,
            constraints={name: value for name, value in constraints.items() if value},
        )

    def _members(self, given: Variables, targets: Sequence[int]) -> dict[int, frozenset[int]]:
        """Return members by target; those of a list belong to every target but themselves."""
        names = self.source.variables
        if isinstance(given, Mapping):
            by_target = {self._position(t): frozenset(map(self._position, group)) for t, group in given.items()}
        else:
            group = frozenset(map(self._position, given))
            several = len(targets) > 1
            by_target = {t: group - {t} if several else group for t in targets} if group else {}
        for target, members in by_target.items():
            if target in members:
                raise OptionError(
                    f"the target {names[target]!r} is no member of its own blanket; take it out of what is known"
                )
        return {target: members for target, members in by_target.items() if members}

    def _named(self, given: Variables) -> dict[str, list[str]] | list[str]:
        names = self.source.variables

        def listed(group: Iterable[str | int]) -> list[str]:
            return [names[x] for x in sorted(map(self._position, group))]

        if isinstance(given, Mapping):
            return {names[self._position(target)]: listed(group) for target, group in given.items()}
        return listed(given)

    # --- asking --------------------------------------------------------------------------------------------------

    def run(
        self,
        target: int,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        cache: StepCache | None = None,
        notes: Sequence[str] = (),
    ) -> Result:
        """Ask the question of a target.

        `marginals` are tests given nothing that are known already, by target, and `cache` holds steps that searches
        for other targets have made. With a cache evidence is not kept: a search of its own gathers it when it is first
        looked at. The result has the `notes` too.
        """
        search = self.search(target, threads, watch, marginals, cache)
        started = time.perf_counter()
        try:
            answer = self.answer(search, target)
        except KeyboardInterrupt:
            members = search.members_so_far(target)
            partial = Answer(members) if self.finds == "blanket" else Answer(parents_children=members)
            seconds = time.perf_counter() - started
            raise Interrupted(self._result(search, target, partial, seconds, cache, notes)) from None
        finally:
            if isinstance(watch, StatusLine):
                watch.close()
        if marginals is None and cache is None and search.tally.skipped and not search.tally.performed:
            search.notes.append("no test was reliable: there are too few rows to tell anything about the target")
        return self._result(search, target, answer, time.perf_counter() - started, cache, notes, complete=True)

    def search(
        self,
        target: int | None,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        cache: StepCache | None = None,
    ) -> Search:
        """Return a search with the query's settings; without a target, for many of them.

        Of columns that are duplicates of each other one takes part: a known one, or the first. With a `random_state`
        all do, so that it can break the ties between them.
        """
        search = Search(
            self.source,
            subject=target,
            cache=cache,
            evidence=cache is None and target is not None,
            alpha=self.alpha,
            max_conditioning=self.max_conditioning,
            random_state=self.random_state,
            threads=threads,
            progress=watch,
            knowledge=self.knowledge,
            known=() if target is None else self.known.get(target, ()),
            excluded=() if target is None else self.duplicates(target),
        )
        if marginals is not None:
            search.use_marginals(marginals)
        return search

    def answer(self, search: Search, target: int) -> Answer:
        """Return what the algorithm answers about a target, in positions."""
        return self._checked(self.algorithm.asked_for(self.finds)(search, target, **self.options), target)

    def duplicates(self, target: int) -> frozenset[int]:
        """Return the columns that others stand for: duplicates of columns before them, the target aside."""
        table = table_of(self.source)
        if table is None or self.random_state is not None or not table.duplicates:
            return frozenset()
        kept = {*self.known.get(target, ()), *self.required(target)}
        if target not in table.duplicates and not any(x in table.duplicates for x in kept):
            return table.later_duplicates
        found: set[int] = set()
        for first, group in table.duplicates.items():
            if first == group[0]:
                alike = [x for x in group if x != target]
                standing = [x for x in alike if x in kept] or alike[:1]
                found.update(x for x in alike if x not in standing)
        return frozenset(found)

    def conditioning_on_one_more(self) -> Query:
        """Return the same query, whose conditioning sets may have one more member."""
        bound = self.max_conditioning
        return self if bound is None else replace(self, max_conditioning=bound + 1)

    def cache(self, targets: int) -> StepCache | None:
        """Return a cache that searches for so many targets can share, if that is of use."""
        return StepCache() if self.algorithm.shares and self.random_state is None and targets > 1 else None

    @staticmethod
    def detached(result: Result) -> Result:
        """Return a result without its evidence and data, to be sent from one process to another."""
        return replace(result, trace=None, data=None)  # type: ignore[arg-type]

    def attached(self, target: int, result: Result) -> Result:
        """Return a result with its evidence and data: another search, made when it is first looked at."""
        if result.trace is not None:
            return result
        table = table_of(self.source)
        trace = Evidence.later(self.source, target, lambda: self.run(target).trace)
        return replace(result, trace=trace, data=None if table is None else table.provenance)

    # --- inside --------------------------------------------------------------------------------------------------

    def required(self, target: int) -> frozenset[int]:
        """Return the neighbours of a target that knowledge requires."""
        return frozenset() if self.knowledge is None else self.knowledge.required_neighbours(target)

    def _checked(self, answer: Any, target: int) -> Answer:
        """Return what an algorithm answered, in positions."""
        if isinstance(answer, Answer):
            spouses = answer.spouses
            neighbours = self._positions(answer.parents_children, target)
            return Answer(
                self._with_known(self._positions(answer.blanket, target), target),
                self._with_known(neighbours, target, neighbours=self.finds == "blanket"),
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
        """Return what was found and what is known; of `neighbours` within a blanket only the required ones."""
        if found is None:
            return None
        known = () if neighbours else self.known.get(target, ())
        return tuple(sorted({*found, *self.required(target), *known}))

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
        cache: StepCache | None,
        notes: Sequence[str] = (),
        *,
        complete: bool = False,
    ) -> Result:
        names = self.source.variables
        table = table_of(self.source)

        def named(positions: Collection[int | str] | None) -> tuple[str, ...] | None:
            return None if positions is None else tuple([names[v] for v in sorted(map(int, positions))])

        spouses = answer.spouses
        neighbours = named(answer.parents_children)
        members = answer.blanket if self.finds == "blanket" else answer.parents_children
        interchangeable, alike = self._duplicates_of(answer, target)
        search.reconcile_sides({int(v) for v in members or ()})
        return Result(
            target=names[target],
            finds=self.finds,
            blanket=named(answer.blanket) or neighbours or (),
            parents_children=neighbours,
            spouses=None if spouses is None else {names[int(s)]: named(via) or () for s, via in spouses.items()},
            algorithm=self.algorithm.name,
            test=self.source.name,
            alpha=search.alpha,
            tests=search.tally.performed,
            tests_by_size=dict(sorted(search.tally.tests_by_size.items())),
            skipped=search.tally.skipped,
            seconds=seconds,
            options=dict(self.told),
            interchangeable=interchangeable,
            data=None if table is None else table.provenance,
            notes=(*(table.notes if table is not None else ()), *self.source.notes, *search.notes, *alike, *notes),
            complete=complete,
            call=Call(self.own),
            trace=Evidence.of(
                search,
                target,
                {int(s): search.separating_set(int(s), target) or () for s in spouses or ()},
                None if cache is None else lambda: self.run(target).trace,
            ),
        )

    def _duplicates_of(self, answer: Answer, target: int) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Return the duplicates of the members by name, and the notes about them."""
        table = table_of(self.source)
        duplicates = {} if table is None else table.duplicates
        interchangeable: dict[str, tuple[str, ...]] = {}
        notes: list[str] = []
        if not duplicates:
            return interchangeable, notes
        names = self.source.variables
        inside = {int(v) for v in (*(answer.blanket or ()), *(answer.parents_children or ()))}
        for k in sorted(inside.intersection(duplicates)):
            if others := tuple(names[x] for x in sorted(duplicates[k]) if x not in (k, target)):
                interchangeable[names[k]] = others
                notes.append(f"duplicates of {names[k]!r} (any of them would do as well): {abbreviate(others)}")
        if target in duplicates:
            others = tuple(names[x] for x in sorted(duplicates[target]) if x != target)
            notes.insert(0, f"duplicates of the target: {abbreviate(others)}")
        return interchangeable, notes

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The settings that are objects of the caller's own, not names."""
        named = {"algorithm": self.algorithm.family != "custom", "test": self.source.name in TESTS}
        return tuple(name for name, known in named.items() if not known)

    @cached_property
    def told(self) -> dict[str, Any]:
        """The settings that a result tells, besides algorithm, test and alpha."""
        return {
            "max_conditioning": None if self.max_conditioning is None else int(self.max_conditioning),
            "random_state": self.random_state if is_integer(self.random_state) else None,
            "reliability": getattr(self.source, "reliability", None),
            "dof": getattr(self.source, "dof", None),
            **self.options,
            **self.constraints,
        }


class _Reader:
    """Reads the data when first asked for them, once."""

    def __init__(self, data: Any, settings: DataSettings) -> None:
        self._data, self._settings = data, settings
        self._read: Source | None = None

    def __call__(self) -> Source:
        if self._read is None:
            is_test = isinstance(self._data, IndependenceTest)
            self._read = self._data if is_test else Table.of(self._data, self._settings)
        return self._read


def check_algorithm_options(algorithm: Algorithm, finds: Finds, options: Mapping[str, Any]) -> None:
    """Refuse options that an algorithm does not have."""
    if not options:
        return
    try:
        signature = inspect.signature(algorithm.asked_for(finds))
    except (TypeError, ValueError):  # some callables do not tell
        return
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        return
    own = [] if algorithm.by_pairs else list(signature.parameters)[2:]
    for option in options:
        if option not in own:
            takes = f"it takes {', '.join(map(repr, own))}" if own else "it takes none"
            raise OptionError(
                f"algorithm {algorithm.name!r} has no option {option!r} ({takes}).{suggestion(option, [*own, *FIELDS])}"
            )
