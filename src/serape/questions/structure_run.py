"""One call about many variables: what is asked, counted and noted on the way, and how the answer is made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from serape.data.table import Table
from serape.errors import Interrupted, OptionError, is_integer
from serape.independence import IndependenceTest
from serape.independence.base import Tally
from serape.knowledge import Knowledge
from serape.progress import Progress, ProgressCallback, StatusLine, progress_callback
from serape.questions.checkpoint import Checkpoint
from serape.questions.neighbourhoods import Rule, find_separations, join, neighbourhoods, pairs_of, weigh_edges
from serape.questions.query import Query
from serape.questions.structure_query import table_notes
from serape.results.structure import Structure, undirected
from serape.skeletons.pc import pc_skeleton, separate_neighbours
from serape.skeletons.skeleton import Pair, PairTest, Skeleton
from serape.structure.ges import ges
from serape.structure.graphs import PartlyDirected, some_dag
from serape.structure.orientation import orient
from serape.structure.registry import NetworkAlgorithm
from serape.structure.scores import PermutedScore, Score
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import Stopped, all_variables, allowed, tabu_search


@dataclass
class Run:
    """One call: its settings, and what is counted and noted on the way.

    Interrupted, every step leaves what there is and says that it is not complete; the steps after it are left out.
    """

    names: Sequence[str]
    source: Any
    """What answers: a test or a score."""
    knowledge: Knowledge | None
    threads: int
    progress: bool | ProgressCallback | None
    tally: Tally = field(default_factory=Tally)
    notes: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    """Settings of single steps, for the answer to tell."""
    complete: bool = True
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        progress_callback(self.progress)  # refuses what is none
        self.notes += table_notes(self.source)

    @property
    def table(self) -> Table | None:
        """The data, if there are any."""
        table = getattr(self.source, "table", None)
        return table if isinstance(table, Table) else None

    def result(self, algorithm: str, graph: nx.Graph[str], query: Query | None, **more: Any) -> Structure:
        """Return the answer, or raise it if it is not complete."""
        options: dict[str, Any] = {**self.options, **more.pop("options", {})}
        if query is not None:
            options = {
                "max_conditioning": query.max_conditioning,
                "random_state": query.random_state if is_integer(query.random_state) else None,
                "reliability": getattr(query.source, "reliability", None),
                "dof": getattr(query.source, "dof", None),
                **query.options,
                **options,
            }
        if self.knowledge is not None:
            options["knowledge"] = self.knowledge.to_dict()
        found = Structure(
            graph=graph,
            algorithm=algorithm,
            test=None if query is None else query.source.name,
            alpha=None if query is None else query.alpha,
            tests=self.tally.performed,
            tests_by_size=dict(sorted(self.tally.tests_by_size.items())),
            skipped=self.tally.skipped,
            seconds=time.perf_counter() - self.started,
            options=options,
            notes=tuple(self.notes),
            complete=self.complete,
            table=self.table,
            data=None if self.table is None else self.table.provenance,
            **{"score": None, "total": None, "separating_sets": {}, **more},
        )
        if not self.complete:
            raise Interrupted(found)
        return found


# --- by tests -------------------------------------------------------------------------------------------------------


def find_neighbours(
    run: Run, query: Query, rule: Rule, checkpoint: str | os.PathLike[str] | None
) -> dict[int, set[int]]:
    """Find the neighbourhoods of all variables and join them."""
    run.options["rule"] = rule
    kept = None if checkpoint is None else Checkpoint(Path(checkpoint), query, run.knowledge)
    targets = list(range(len(run.names))) if run.table is None else run.table.varying
    found = neighbourhoods(query, targets, run.threads, run.progress, kept)
    run.tally.merge(found.tally)
    run.notes += found.notes
    run.complete = found.complete
    joined = join(found.of, rule, query)
    told = query.knowledge
    if run.complete and told is not None and told.has_forbidden_pairs and not query.algorithm.parts_by_subsets:
        # Learners that go by the whole blanket miss a spouse that they may not test, and so keep too many.
        with _Phase(run, query) as search:
            separate_neighbours(search, Skeleton(joined))
        join_required(joined, told.required)
    return joined


def join_required(joined: dict[int, set[int]], required: Any) -> None:
    """Join what must be."""
    for x, y in required:
        joined[x].add(y)
        joined[y].add(x)


def find_skeleton(run: Run, query: Query, rule: Rule, checkpoint: str | os.PathLike[str] | None) -> Skeleton:
    """Find the skeleton, what separates pairs, and what speaks for the edges."""
    found = Skeleton({x: set() for x in range(len(run.names))})
    if query.algorithm.name == "pc-stable":
        with _Phase(run, query) as search:
            pc_skeleton(search, search.variables if run.table is None else run.table.varying, found)
        join_required(found.neighbours, () if query.knowledge is None else query.knowledge.required)
        return found
    found.neighbours = find_neighbours(run, query, rule, checkpoint)
    if run.complete:
        with _Phase(run, query) as search:
            find_separations(search, found, weigh_edges(search, found))
    return found


class _Phase:
    """A step of a run with a search of its own: its tests are counted, and Ctrl-C ends it."""

    def __init__(self, run: Run, query: Query) -> None:
        self._run = run
        self._watch = progress_callback(run.progress)
        self._search = query.search(None, run.threads, self._watch)

    def __enter__(self) -> Any:
        return self._search

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        if isinstance(self._watch, StatusLine):
            self._watch.close()
        self._run.tally.merge(self._search.tally)
        self._run.notes += self._search.notes
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._run.complete = False
            return True
        return False


def skeleton_result(run: Run, query: Query, found: Skeleton) -> Structure:
    """Return a skeleton with its evidence."""
    graph = undirected(run.names, edges_of(found.neighbours, run.names), edge_evidence(found.weakest, run.names))
    return run.result(
        query.algorithm.name, graph, query, finds="skeleton", separating_sets=_named_sets(found, run.names)
    )


def oriented_result(run: Run, query: Query, found: Skeleton) -> Structure:
    """Direct a skeleton and return the network."""
    names = run.names
    near = [found.neighbours[x] for x in range(len(names))]
    graph = PartlyDirected(len(names))
    conflicts: tuple[str, ...] = ()
    for x, others in enumerate(near):
        for y in others:
            graph.add_edge(x, y)
    if run.complete:
        with _Phase(run, query.conditioning_on_one_more()) as search:

            def sureness(x: int, z: int, y: int) -> float | None:
                """A collider shows twice: without it the ends are independent, with it dependent."""
                outcome = search.ask(x, y, (*(found.separating_set(x, y) or ()), z))
                return None if outcome is None or outcome.log_p > search.log_alpha else -outcome.log_p

            oriented = orient(len(names), near, found.separating_set, sureness, names, query.knowledge)
            graph, conflicts = oriented.graph, tuple(str(conflict) for conflict in oriented.conflicts)
    evidence = edge_evidence(found.weakest, names)
    named = graph.to_networkx(names)
    for a, b, attributes in named.edges(data=True):
        attributes.update(evidence.get(frozenset((a, b)), {}))
    return run.result(
        query.algorithm.name, named, query,
        finds="network", separating_sets=_named_sets(found, names), conflicts=conflicts,
    )  # fmt: skip


def edges_of(neighbours: Mapping[int, set[int]], names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that are joined, by name."""
    return [(names[x], names[y]) for x, y in (sorted(pair) for pair in pairs_of(neighbours))]


def _named_sets(found: Skeleton, names: Sequence[str]) -> dict[frozenset[str], tuple[str, ...]]:
    return {
        frozenset(names[x] for x in pair): tuple(names[z] for z in answers.given_of(index))
        for pair, (_, _, answers, index) in found.separations.items()
    }


def edge_evidence(weakest: Mapping[Pair, PairTest], names: Sequence[str]) -> dict[frozenset[str], dict[str, Any]]:
    """Return, by name, the tests behind edges."""
    found = {}
    for pair, (_, _, answers, index) in weakest.items():
        outcome = answers.outcome(index)
        found[frozenset(names[x] for x in pair)] = {
            "statistic": outcome.statistic,
            "dof": outcome.dof,
            "log_p": outcome.log_p,
            "reliable": outcome.reliable,
            "given": tuple(names[z] for z in answers.given_of(index)),
        }
    return found


# --- by score -------------------------------------------------------------------------------------------------------


def scored_result(
    run: Run,
    query: Query | None,
    algorithm: NetworkAlgorithm,
    score: Score,
    near: dict[int, set[int]] | None,
    options: dict[str, Any],
) -> Structure:
    """Search for the best graph by score and return it; `near` confines it to a skeleton."""
    if run.complete:
        graph = _search_by_score(run, algorithm, score, near, options)
    else:  # interrupted before: the skeleton, as far as it is
        graph = PartlyDirected(len(run.names))
        for x, y in (sorted(pair) for pair in pairs_of(near or {})):
            graph.add_edge(x, y)
    parents = some_dag(graph)
    evidence = _score_evidence(run.names, None if query is None else query.source, score, parents)
    named = graph.to_networkx(run.names)
    for a, b, attributes in named.edges(data=True):
        attributes.update(evidence[frozenset((a, b))])
    told = {**options, "equivalent_sample_size": getattr(score, "equivalent_sample_size", None)}
    return run.result(
        algorithm.name, named, query, finds="network", score=score.name, total=score.total(parents), options=told
    )


def _search_by_score(
    run: Run, algorithm: NetworkAlgorithm, score: Score, near: dict[int, set[int]] | None, options: dict[str, Any]
) -> PartlyDirected:
    """Search with the variables in the order of their names: where gains tie, the order of columns must not matter."""
    n = len(run.names)
    order = sorted(range(n), key=run.names.__getitem__)
    index = {x: k for k, x in enumerate(order)}
    by_name = PermutedScore(score, order)
    knowledge = None if run.knowledge is None else run.knowledge.bind(by_name.variables)
    watch, close = _score_watch(run.progress, run.started, algorithm.name)
    shared: dict[str, Any] = {"knowledge": knowledge, "threads": run.threads, "watch": watch}
    try:
        if algorithm.name == "ges":
            graph = ges(by_name, **shared, **options)
        elif algorithm.name == "sca":
            graph = PartlyDirected.of_dag(sparse_candidate(by_name, **shared, **options))
        else:
            candidates = all_variables(n, knowledge)
            if near is not None:
                confined = [np.array(sorted(index[y] for y in near[x]), np.uint32) for x in order]
                candidates = [allowed(y, xs, knowledge) for y, xs in enumerate(confined)]
            graph = PartlyDirected.of_dag(tabu_search(by_name, candidates, **shared, **options))
    except Stopped as stop:
        run.complete = False
        graph = stop.graph
    finally:
        close()
    return graph.renumbered([index[x] for x in range(n)])


def _score_evidence(
    names: Sequence[str], test: IndependenceTest | None, score: Score, parents: Sequence[set[int]]
) -> dict[frozenset[str], dict[str, Any]]:
    """For every arc x → y, the test of x and y given the other parents of y, and what the score loses without it."""
    found: dict[frozenset[str], dict[str, Any]] = {}
    for y, above in enumerate(parents):
        for x in sorted(above):
            rest = sorted(above - {x})
            seen: dict[str, Any] = {"gain": score.family(y, [*rest, x]) - score.family(y, rest)}
            if test is not None:
                outcome = test.test(x, y, rest)
                seen.update(
                    statistic=outcome.statistic,
                    dof=outcome.dof,
                    log_p=outcome.log_p,
                    reliable=outcome.reliable,
                    given=tuple(names[z] for z in rest),
                )
            found[frozenset((names[x], names[y]))] = seen
    return found


def _score_watch(
    progress: bool | ProgressCallback | None, started: float, name: str
) -> tuple[Callable[[int, float], None] | None, Callable[[], None]]:
    told = progress_callback(progress)
    if told is None:
        return None, lambda: None

    def watch(arcs: int, total: float) -> None:
        doing = f"{arcs:,} arcs, score {total:,.1f}"
        told(Progress(name, (), 0, 0, time.perf_counter() - started, doing))

    return watch, told.close if isinstance(told, StatusLine) else lambda: None


def check_score(algorithm: NetworkAlgorithm, score: Score, knowledge: Knowledge | None, most: int | None) -> None:
    """Refuse scores and knowledge that an algorithm cannot go by."""
    if score.name == "loglik":
        raise OptionError("the likelihood alone rises with every arc; take 'bdeu', 'bic', 'aic' or 'k2'")
    if knowledge is None and algorithm.name != "ges":
        return
    told = (knowledge or Knowledge()).bind(score.variables)
    if most is not None:
        for y, name in enumerate(score.variables):
            needed = sum(told.requires(x, y) for x in told.required_neighbours(y))
            if needed > most:
                raise OptionError(f"max_parents={most}, but knowledge requires {needed} parents of {name!r}")
    if algorithm.name != "ges":
        return
    if score.name == "k2":
        raise OptionError("ges needs a score that is the same for equivalent graphs; K2 is not, take 'bdeu' or 'bic'")
    if told.has_orientations:
        raise OptionError(
            "ges goes through classes of graphs without directions, so it can heed forbidden pairs alone; "
            "for required arcs, forbidden directions or tiers take 'tabu', 'mmhc', 'h2pc', 'sca' or 'pc-stable'"
        )
