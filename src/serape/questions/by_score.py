"""Networks found by a score: the search, its checks and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate, embedded, first_few, is_integer, shown, suggestion
from serape.independence import IndependenceTest
from serape.knowledge import BoundKnowledge, Knowledge
from serape.names import match
from serape.progress import Progress
from serape.questions.edge_evidence import test_attributes
from serape.questions.query import Query
from serape.questions.structures import StructureRun
from serape.results.call import Call
from serape.results.structure import Structure
from serape.search import BudgetSpent
from serape.skeletons.edges import pairs_of
from serape.structure.boss import boss
from serape.structure.constraints import ArcConstraints
from serape.structure.equivalence import agreeing_member, equivalence_class, is_equivalent, member
from serape.structure.graphs import PartlyDirected, cpdag, topological
from serape.structure.registry import NetworkAlgorithm
from serape.structure.score_choice import automatic_score
from serape.structure.scores import SCORES, PermutedScore, Score, make_score
from serape.structure.stopping import ScoreCallback, Stopped
from serape.wording import algorithm_option, setting


def scored_result(
    run: StructureRun,
    query: Query | None,
    algorithm: NetworkAlgorithm,
    score: Score,
    neighbours: dict[int, set[int]] | None,
    options: dict[str, Any],
) -> Structure:
    """Search for the graph with the highest score and return its class; `neighbours` restrict it to a skeleton."""
    if run.complete:
        graph = _search_by_score(run, algorithm, score, neighbours, options)
        if not algorithm.finds_class:
            graph = _decided(run, graph, score)
    else:  # interrupted before: the skeleton as far as it was found
        graph = PartlyDirected(len(run.names))
        for x, y in (sorted(pair) for pair in pairs_of(neighbours or {})):
            graph.add_edge(x, y)
    parents = member(graph, run.names) or []
    evidence = _score_evidence(run, None if query is None else query.source, score, parents)
    named = graph.to_networkx(run.names)
    for a, b, attributes in named.edges(data=True):
        attributes.update(evidence[frozenset((a, b))])
    reported = {**options, "equivalent_sample_size": getattr(score, "equivalent_sample_size", None)}
    call = Call(() if query is None else query.own, algorithm.defaults, tuple(algorithm.learner_options))
    return run.result(
        algorithm.name,
        named,
        query,
        call,
        finds="network",
        score=score.name,
        total=score.total(parents),
        options=reported,
    )


def _search_by_score(
    run: StructureRun,
    algorithm: NetworkAlgorithm,
    score: Score,
    neighbours: dict[int, set[int]] | None,
    options: dict[str, Any],
) -> PartlyDirected:
    """Search with the variables in the order of their names, so that ties do not depend on the order of columns."""
    n = len(run.names)
    order = sorted(range(n), key=run.names.__getitem__)
    index = {x: k for k, x in enumerate(order)}
    allowed = None
    if neighbours is not None:
        allowed = {index[x]: {index[y] for y in others} for x, others in neighbours.items()}
    search = _Search(run, algorithm, PermutedScore(score, order), allowed, options)
    knowledge = BoundKnowledge() if run.knowledge is None else run.knowledge.bind(search.score.variables)
    graph = search.free() if knowledge.is_empty else search.obeying(knowledge)
    return graph.renumbered([index[x] for x in range(n)])


class _Search:
    """A search by score within a call: it can be stopped, and can be asked to obey knowledge."""

    def __init__(
        self,
        run: StructureRun,
        algorithm: NetworkAlgorithm,
        score: Score,
        neighbours: dict[int, set[int]] | None,
        options: Mapping[str, Any],
    ) -> None:
        assert algorithm.search is not None
        self.score = score
        self._run, self._algorithm = run, algorithm
        self._watch = _Watch(run, algorithm.name)
        self._common: dict[str, Any] = {"threads": run.settings.threads, "watch": self._watch.or_none}
        self._search = partial(algorithm.search, score, neighbours, **self._common, **options)
        self._most = options["max_parents"]

    def free(self) -> PartlyDirected:
        """Return the graph that is found without knowledge, a class or a DAG, or as far as it is found."""
        return self._found(self._search)

    def obeying(self, knowledge: BoundKnowledge) -> PartlyDirected:
        """Return the best graph found that obeys knowledge, a DAG, or its class as far as that obeys.

        Arcs that knowledge forbids can be steps on the way to the best graph, so a search that obeys at each step may
        end before it. So two searches run, one with the knowledge and one without. Of those that find a graph that
        obeys, or one that is equivalent to such a graph, the one with the higher score counts: what is true takes
        nothing from the answer. If no graph of the class that is found without it obeys, a search through orders that
        obey goes on from the nearest graph that does, and the better answer counts.
        """
        n = len(self.score.variables)
        constraints = ArcConstraints(n, knowledge)
        most = n if self._most is None else self._most
        first = self._found(partial(self._search, knowledge=knowledge))
        best = agreeing_member(first, knowledge)
        agrees = best is not None
        if best is None:
            best = constraints.nearest(first, most)
        if self._run.complete:
            same = not (self._algorithm.obeys or knowledge.forbidden_pairs(range(n)))
            free = first if same else self.free()
            if self._run.complete:
                free = self._whole(free)
                other = agreeing_member(free, knowledge)
                disagrees = other is None
                if disagrees and self._algorithm.finds_class:
                    other = self._climb(constraints.nearest(free, most), constraints)
                    if not (agrees or same):
                        best, agrees = self._climb(best, constraints), True
                if other is not None and not (agrees and self.score.gain(best, other) <= self.score.rounding):
                    best = other
                if disagrees and self._run.complete:
                    self._tell(best, free, knowledge)
        return equivalence_class(best, knowledge) if self._algorithm.finds_class else PartlyDirected.of_dag(best)

    def _found(self, search: Callable[[], PartlyDirected]) -> PartlyDirected:
        """Return what a search finds, or has found when it is stopped."""
        graph = PartlyDirected(len(self.score.variables))
        with self._run.part():
            try:
                graph = search()
            except Stopped as stop:
                graph = stop.graph
                raise self._watch.spent or stop from None
        return graph

    def _climb(self, start: list[set[int]], constraints: ArcConstraints) -> list[set[int]]:
        """Return the parents in the best graph that a search through orders finds from that of a DAG that obeys."""
        search = partial(
            boss, self.score, knowledge=constraints.knowledge, max_parents=self._most, first=topological(start),
            starts=1, **self._common,
        )  # fmt: skip
        return agreeing_member(self._found(search), constraints.knowledge) or start

    def _whole(self, graph: PartlyDirected) -> PartlyDirected:
        """Return the class of a DAG, if the score is the same for all of it, and any other graph as it is."""
        is_dag = not graph.edges() and is_equivalent(self.score, graph.parents)
        return cpdag(graph.parents) if is_dag else graph

    def _tell(self, best: list[set[int]], free: PartlyDirected, knowledge: BoundKnowledge) -> None:
        """Say where a graph with a higher score is that knowledge rules out."""
        names = self.score.variables
        more = self.score.gain(best, member(free, names) or best)
        if more <= self.score.rounding:
            return
        against = [(x, y) for x, y in free.arcs() if not knowledge.allows(x, y)]
        against += [(x, y) for x, y in free.edges() if knowledge.forbids_pair(x, y)]
        against += [(x, y) for x, y in sorted(knowledge.required) if not free.are_adjacent(x, y)]
        where = first_few([f"{names[x]} – {names[y]}" for x, y in against])
        none = "and none that is equivalent to it agrees with the knowledge"
        why = f"which contradicts it at {where}" if where else none
        self._run.notes.append(
            f"the data disagree with the knowledge: without it, the search of {self._algorithm.name} finds a graph "
            f"whose score is higher by {more:,.1f}, {why}"
        )


def _decided(run: StructureRun, graph: PartlyDirected, score: Score) -> PartlyDirected:
    """Return the class of a DAG, or the DAG if the score itself prefers some members of the class to others."""
    knowledge = None if run.knowledge is None else run.knowledge.bind(run.names)
    found = equivalence_class(graph.parents, knowledge)
    undecided = len(found.edges())
    if not undecided or is_equivalent(score, graph.parents):
        return found
    run.notes.append(
        f"graphs that imply the same independences differ in score {score.name!r}: it directs {undecided:,} of "
        f"{len(graph.arcs()):,} edges whose directions the data do not decide (see reversible)"
    )
    return graph


def _score_evidence(
    run: StructureRun, test: IndependenceTest | None, score: Score, parents: Sequence[set[int]]
) -> dict[frozenset[str], dict[str, Any]]:
    """Return, for every arc x → y, the gain in score, and the test of x and y given the other parents of y.

    An edge that a false discovery rate judged has the test that its adjusted p belongs to.
    """
    names = run.names
    found: dict[frozenset[str], dict[str, Any]] = {}
    for y, own in enumerate(parents):
        for x in sorted(own):
            rest = sorted(own - {x})
            evidence: dict[str, Any] = {"gain": score.family(y, [*rest, x]) - score.family(y, rest)}
            if test is not None:
                judged = run.deciding.get(frozenset((x, y)))
                given = tuple(rest) if judged is None else judged.given
                outcome = test.test(x, y, given) if judged is None else judged.outcome
                effect = test.effect_of(x, y, given, outcome) if outcome.reliable else None
                evidence |= test_attributes(outcome, tuple(names[z] for z in given), effect)
            found[frozenset((names[x], names[y]))] = evidence
    return found


class _Watch:
    """Shows the progress of a search by score, and ends it when the budget is spent."""

    def __init__(self, run: StructureRun, name: str) -> None:
        self._run, self._name = run, name
        self.spent: BudgetSpent | None = None

    @property
    def or_none(self) -> ScoreCallback | None:
        """The watch, or None if there is nothing to do."""
        return None if self._run.watch is None and self._run.budget is None else self

    def __call__(self, arcs: int, total: float) -> None:
        if self._run.budget is not None:
            try:
                self._run.budget.check()
            except BudgetSpent as spent:
                self.spent = spent
                raise KeyboardInterrupt from None  # the search ends with what it has found
        if self._run.watch is not None:
            doing = f"{arcs:,} arcs, score {total:,.1f}"
            self._run.watch(Progress(self._name, (), 0, 0, self._run.seconds, doing))


# --- checks ---------------------------------------------------------------------------------------------------------


def check_network_options(algorithm: NetworkAlgorithm, options: Mapping[str, Any]) -> None:
    """Refuse options that an algorithm does not have, and values that they cannot have."""
    for name, value in options.items():
        if name not in algorithm.defaults:
            takes = ", ".join(map(repr, algorithm.defaults))
            close = suggestion(name, algorithm.defaults)
            raise OptionError(f"algorithm {algorithm.name!r} has no option {name!r} (it takes {takes}).{close}")
        if name == "rule" or (name in ("max_parents", "starts") and value is None):
            continue
        smallest = 0 if name == "patience" else 1
        if not (is_integer(value) and value >= smallest):
            raise OptionError(
                f"{algorithm_option(name)} must be a whole number, {smallest} or more, not {shown(value)}"
            )


def score_of(data: Any, score: str | Score, by_default: str, equivalent_sample_size: float) -> Score:
    """Return the score; refuse one that cannot use the data's columns, or whose variables are not those of the data.

    `by_default` is the score of an algorithm for columns of categories, if the caller names none.
    """
    if match(score, ["auto"]):
        score = automatic_score(data, by_default) if isinstance(data, Table) else by_default
    if isinstance(data, Table) and match(score, SCORES):
        try:
            data.check_categorical(f"score {score!r}", data.searched)
        except DataError as error:
            raise DataError(
                f"{embedded(error)}; or use {setting('score', 'auto')}, which takes columns of any kind, or use "
                f"{setting('algorithm', 'hiton-pc')} or 'pc-stable', which use tests"
            ) from None
    made = make_score(data, score, equivalent_sample_size)
    if isinstance(score, Score) and data is not score:
        names = data.variables if isinstance(data, Score) else Table(data).names
        if tuple(names) != tuple(score.variables):
            raise OptionError(
                f"the score is about {abbreviate(score.variables)}, the data have {abbreviate(names)}; both must have "
                f"the same variables in the same order"
            )
    return made


def check_score(
    algorithm: NetworkAlgorithm, score: Score, knowledge: Knowledge | None, max_parents: int | None
) -> None:
    """Refuse scores and knowledge that an algorithm cannot use."""
    if score.rises_with_arcs:
        raise OptionError(
            f"the likelihood alone rises with every arc; use {setting('score', 'bdeu')}, 'bic', 'aic' or 'k2'"
        )
    if knowledge is None and not algorithm.finds_class:
        return
    bound = (knowledge or Knowledge()).bind(score.variables)
    if max_parents is not None:
        for y, name in enumerate(score.variables):
            needed = sum(bound.requires(x, y) for x in bound.required_neighbours(y))
            if needed > max_parents:
                raise OptionError(
                    f"{algorithm_option('max_parents', max_parents)}, but knowledge requires {needed} parents of "
                    f"{name!r}"
                )
    if not algorithm.finds_class:
        return
    if not score.equivalent:
        raise OptionError(
            f"{algorithm.name} needs a score that is equal for equivalent graphs, and {score.name.upper()} is not; "
            f"use {setting('score', 'bdeu')} or 'bic'"
        )
