"""Skeletons and networks: the call, and what is found by tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.checks import is_one_of
from serape.data.table import Table
from serape.errors import InputTypeError, OptionError, first_few, shown
from serape.files import as_path
from serape.independence import IndependenceTest
from serape.knowledge import BoundKnowledge, Knowledge
from serape.questions.choice import choose_learner
from serape.questions.constraints import left_out_notes
from serape.questions.deciding import of_sides
from serape.questions.discoveries import bound_edges
from serape.questions.edge_evidence import edge_evidence
from serape.questions.min_effect import remove_weak_edges
from serape.questions.neighbourhoods import Neighbourhoods, find_neighbourhoods, join, join_pairs
from serape.questions.query import Query
from serape.questions.run import Run
from serape.results.call import Call
from serape.results.deferred import NamedSets
from serape.results.structure import Structure, undirected
from serape.search import Search
from serape.search.associations import DecidingTest
from serape.settings import RunSettings, Settings
from serape.skeletons.edges import find_separations, pairs_of, weigh_edges
from serape.skeletons.pair_tests import Keys, keys_of, pair_of
from serape.skeletons.pc import separate_neighbours
from serape.skeletons.skeleton import Pair, Skeleton, without_collector
from serape.structure.graphs import PartlyDirected
from serape.structure.orientation import orient
from serape.structure.scores import Score
from serape.types import Rule
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx


# --- settings -------------------------------------------------------------------------------------------------------


def resolve_learner(data: Any, settings: Settings) -> Query:
    """Resolve the question about the neighbours of every variable, and check the data for it."""
    if isinstance(data, Score):
        raise InputTypeError(
            f"a score cannot test independence; pass the data, or use {setting('algorithm', 'boss')}, 'xges', 'ges', "
            f"'tabu' or 'sca'"
        )
    return Query.resolve(data, "parents-children", settings, choose=choose_learner)


def checked_rule(rule: Any) -> Rule:
    """Return the rule; refuse an unknown one."""
    if not is_one_of(rule, ("and", "or")):
        raise OptionError(f"{setting('rule')} must be 'and' or 'or', not {shown(rule)}")
    chosen: Rule = rule
    return chosen


def refuse_unused(algorithm: str, why: str, **given: tuple[Any, Any]) -> None:
    """Refuse settings that an algorithm does not use; each is given with its value and its default."""
    for name, (value, default) in given.items():
        if value is not default and value != default:
            raise OptionError(f"algorithm {algorithm!r} {why}, so {setting(name, value)} has no effect; leave it out")


def source_notes(source: Any) -> tuple[str, ...]:
    """Return the notes of the table and of the test."""
    own = source.notes if isinstance(source, IndependenceTest) else ()
    return (*getattr(getattr(source, "table", None), "notes", ()), *own)


@dataclass(frozen=True)
class StructureQuery:
    """A question about all variables together, resolved and checked."""

    ask: Callable[[Table | None, RunSettings], Structure]
    """Asks it about the data, or about a table with other rows of the same columns."""
    source: Any
    """A test or a score."""
    knowledge: BoundKnowledge | None
    known: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Known neighbours, by variable."""


# --- the call -------------------------------------------------------------------------------------------------------


class StructureRun(Run):
    """One call about all variables."""

    def __init__(
        self, names: Sequence[str], source: object, knowledge: Knowledge | None, settings: RunSettings
    ) -> None:
        """Begin a call about a test or a score."""
        super().__init__(settings, source)
        self.names, self.knowledge = names, knowledge
        self.notes += source_notes(source)
        self.options: dict[str, Any] = {}
        """Settings of single steps, for the result to report."""
        self.threshold: float | None = None
        """With a false discovery rate, the p-value up to which edges were kept."""
        self.adjusted: dict[Pair, float] = {}
        """With a false discovery rate, the adjusted p-values of the edges."""
        self.deciding: dict[Pair, DecidingTest] = {}
        """With a false discovery rate, the tests that these belong to, as far as the searches know them."""

    @classmethod
    def of(cls, query: Query, settings: Settings, run: RunSettings | None = None) -> StructureRun:
        """Return a run of a query."""
        knowledge = settings.search.knowledge
        found = cls(
            query.source.variables,
            query.source,
            None if knowledge is None else Knowledge.of(knowledge),
            run or settings.run,
        )
        found.notes += left_out_notes(query.knowledge, query.source.variables)
        return found

    @property
    def table(self) -> Table | None:
        """The table, if there is one."""
        table = getattr(self.source, "table", None)
        return table if isinstance(table, Table) else None

    @contextmanager
    def part(self) -> Iterator[None]:
        """Do a part of the call; a note says which budget ended it."""
        before = self.ended
        with super().part():
            yield
        if self.ended != before and not self.interrupted:
            self.notes.append(f"{self.ended}: this is what was found so far")

    @contextmanager
    def phase(self, query: Query) -> Iterator[Search]:
        """Do a part with a search of its own.

        What separates pairs, and how weak their associations are, is in its answers; the search is not asked for it.
        """
        with self.part(), self.searching(query, keep_separations=False, keep_associations=False) as search:
            yield search

    def result(
        self,
        algorithm: str,
        graph: nx.Graph[str] | Callable[[], nx.Graph[str]],
        query: Query | None,
        call: Call | None = None,
        **more: Any,
    ) -> Structure:
        """Return the result; after Ctrl-C, raise Interrupted with it."""
        options: dict[str, Any] = {**self.options, **more.pop("options", {})}
        if query is not None:
            options = {**query.reported, **options}
        if self.knowledge is not None:
            options["knowledge"] = self.knowledge.to_dict()
        found = Structure(
            graph=lambda: self._with_adjusted_p(graph() if callable(graph) else graph),
            algorithm=algorithm,
            test=None if query is None else query.source.name,
            alpha=None if query is None else query.alpha,
            fdr=None if query is None or query.fdr is None else query.fdr.rate,
            threshold=self.threshold,
            tests=self.tally.performed,
            tests_by_size=dict(sorted(self.tally.tests_by_size.items())),
            skipped=self.tally.skipped,
            seconds=self.seconds,
            options=options,
            notes=tuple(self.notes),
            complete=self.complete,
            table=self.table,
            data=None if self.table is None else self.table.provenance,
            call=call or Call(() if query is None else query.own),
            **{"score": None, "total": None, "separating_sets": {}, **more},
        )
        return self.hand_over(found)

    def _with_adjusted_p(self, graph: nx.Graph[str]) -> nx.Graph[str]:
        """Add adjusted p-values to the attributes of edges."""
        index = {name: k for k, name in enumerate(self.names)} if self.adjusted else {}
        for a, b, attributes in graph.edges(data=True) if self.adjusted else ():
            pair = frozenset((index[a], index[b]))
            if pair in self.adjusted:
                attributes["adjusted_p"] = self.adjusted[pair]
        return graph


# --- by tests -------------------------------------------------------------------------------------------------------


def find_neighbours(
    run: StructureRun, query: Query, rule: Rule, checkpoint: str | os.PathLike[str] | None
) -> dict[int, set[int]]:
    """Find the neighbourhoods of all variables and combine them."""
    run.options["rule"] = rule
    targets = list(range(len(run.names))) if run.table is None else run.table.varying
    kept = None
    if checkpoint is not None:
        from serape.questions.checkpoint import Checkpoint

        kept = Checkpoint(as_path(checkpoint, "checkpoint"), query)
    found = Neighbourhoods()
    try:
        with run.part():
            find_neighbourhoods(found, query, targets, run, kept)
    finally:
        if kept is not None:
            run.notes += kept.close()
    knowledge = query.knowledge
    adjacent = join(found.of, rule, len(run.names), knowledge)
    part_forbidden_pairs(run, query, adjacent)
    if query.fdr is not None:
        either = rule == "or" and not query.algorithm.symmetric(query.options)
        weighed = {
            pair: of_sides([found.weighed.get(x, {}).get(y) for x, y in permutations(pair)], either=either)
            for pair in pairs_of(adjacent)
        }
        run.deciding = {pair: one.test for pair, one in weighed.items() if one.test is not None and one.test.reliable}
        drop_edges(run, query, adjacent, {pair: one.log_p for pair, one in weighed.items()})
    forbids = knowledge is not None and knowledge.has_forbidden_members
    if run.complete and knowledge is not None and forbids and not query.algorithm.separates_by_subsets:
        # Algorithms that condition on the whole blanket miss a spouse that is not tested, and keep too many.
        with run.phase(query) as search:
            separate_neighbours(search, Skeleton(adjacent))
        join_pairs(adjacent, knowledge.required)
        join_pairs(adjacent, _known_pairs(query))
    return adjacent


def part_forbidden_pairs(run: StructureRun, query: Query, adjacent: Mapping[int, set[int]]) -> None:
    """Take out the pairs that knowledge forbids to be adjacent, though no test separates them; a note names them."""
    if query.knowledge is None:
        return
    pairs = [(x, y) for x, y in query.knowledge.forbidden_pairs(adjacent) if y in adjacent[x]]
    for x, y in pairs:
        adjacent[x].discard(y)
        adjacent[y].discard(x)
    if pairs:
        named = first_few([f"{run.names[x]} – {run.names[y]}" for x, y in pairs], str, 5)
        run.notes.append(
            f"by the tests alone, {len(pairs):,} pair{'s' * (len(pairs) > 1)} would be adjacent that knowledge forbids "
            f"to be: {named}"
        )


def _known_pairs(query: Query) -> list[tuple[int, int]]:
    return [(x, y) for x, members in query.known.items() for y in members]


def drop_edges(run: StructureRun, query: Query, adjacent: Mapping[int, set[int]], log_p: Mapping[Pair, float]) -> None:
    """Take out the edges that the false discovery rate does not allow; those that knowledge requires stay."""
    assert query.fdr is not None
    variables = range(len(run.names)) if run.table is None else run.table.varying
    forbidden = [] if query.knowledge is None else query.knowledge.forbidden_pairs(variables)
    judged = {pair: value for pair, value in log_p.items() if not any(pair <= {x, *query.kept(x)} for x in pair)}
    run.threshold, run.adjusted, dropped = bound_edges(query.fdr, judged, comb(len(variables), 2) - len(forbidden))
    for x, y in map(tuple, dropped):
        adjacent[x].discard(y)
        adjacent[y].discard(x)


def find_skeleton(run: StructureRun, query: Query, rule: Rule, checkpoint: str | os.PathLike[str] | None) -> Skeleton:
    """Find the skeleton, the separating sets of pairs, and the evidence for the edges."""
    with without_collector():
        found = Skeleton({x: set() for x in range(len(run.names))})
    if query.algorithm.by_pairs:
        with run.phase(query) as search:
            query.algorithm.run(search, search.variables if run.table is None else run.table.varying, found)
        part_forbidden_pairs(run, query, found.neighbours)
        if run.complete and query.fdr is not None:
            weakest = found.weakest.of(found.pairs())
            log_p = weakest.tests.log_p.tolist()
            drop_edges(run, query, found.neighbours, dict(zip(map(pair_of, weakest.keys.tolist()), log_p, strict=True)))
        if query.knowledge is not None:
            join_pairs(found.neighbours, query.knowledge.required)
        if known := _known_pairs(query):
            join_pairs(found.neighbours, known)
            x, y = np.array(known, np.uint32).T
            found.separations = found.separations.without(keys_of(x, y))
        run.notes += remove_weak_edges(query, found)
        return found
    found.neighbours = find_neighbours(run, query, rule, checkpoint)
    if run.complete:
        with run.phase(query) as search, without_collector():
            pools = weigh_edges(search, found)
            found.weakest = found.weakest.replaced_by(run.deciding)
            run.notes += remove_weak_edges(query, found)
            strong = {x: [y for y in pool if y in found.neighbours[x]] for x, pool in pools.items()}
            find_separations(search, found, strong)
    return found


def strong_neighbours(
    run: StructureRun, query: Query, rule: Rule, checkpoint: str | os.PathLike[str] | None
) -> dict[int, set[int]]:
    """Find the neighbourhoods of all variables and combine them, without edges of weak effect."""
    found = Skeleton(find_neighbours(run, query, rule, checkpoint))
    if run.complete and query.min_effect is not None:
        with run.phase(query) as search:
            weigh_edges(search, found)
            found.weakest = found.weakest.replaced_by(run.deciding)
            run.notes += remove_weak_edges(query, found)
    return found.neighbours


def skeleton_result(run: StructureRun, query: Query, found: Skeleton) -> Structure:
    """Return a skeleton with its evidence."""
    names, edges = run.names, found.pairs()
    evidence = edge_evidence(query.source, found, run.settings.threads)

    def graph() -> nx.Graph[str]:
        with without_collector():
            return undirected(names, named_edges(edges, names), evidence.by_name(names))

    return run.result(query.algorithm.name, graph, query, finds="skeleton", separating_sets=_named_sets(found, names))


def oriented_result(run: StructureRun, query: Query, found: Skeleton) -> Structure:
    """Orient a skeleton and return the network."""
    names = run.names
    neighbours = [found.neighbours[x] for x in range(len(names))]
    graph = PartlyDirected(len(names))
    conflicts: tuple[str, ...] = ()
    for x, others in enumerate(neighbours):
        for y in others:
            graph.add_edge(x, y)
    if run.complete:
        with run.phase(query.conditioning_on_one_more()) as search:

            def collider_strength(x: int, z: int, y: int) -> float | None:
                """Return −log p of the dependence given a collider; None if x and y are not dependent given it."""
                outcome = search.ask(x, y, (*(found.separating_set(x, y) or ()), z))
                return None if outcome is None or outcome.log_p > search.log_alpha else -outcome.log_p

            oriented = orient(len(names), neighbours, found.separating_set, collider_strength, names, query.knowledge)
            graph, conflicts = oriented.graph, tuple(str(conflict) for conflict in oriented.conflicts)
    evidence = edge_evidence(query.source, found, run.settings.threads).by_name(names)
    named = graph.to_networkx(names)
    for a, b, attributes in named.edges(data=True):
        attributes.update(evidence.get(frozenset((a, b)), {}))
    return run.result(
        query.algorithm.name, named, query, Call(query.own, {"rule": "and"}),
        finds="network", separating_sets=_named_sets(found, names), conflicts=conflicts,
    )  # fmt: skip


def edges_of(neighbours: Mapping[int, set[int]], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the adjacent pairs, by name."""
    return [(names[x], names[y]) for x, y in (sorted(pair) for pair in pairs_of(neighbours))]


def named_edges(keys: Keys, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of variables, by name."""
    return [(names[key >> 32], names[key & 0xFFFFFFFF]) for key in keys.tolist()]


def _named_sets(found: Skeleton, names: Sequence[str]) -> NamedSets:
    return NamedSets(names, found.separations.keys, found.separations.sets)
