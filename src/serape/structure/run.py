"""One call about many variables: what is asked, counted and noted on the way, and how the answer is made."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from serape.api import Task
from serape.data.table import Table
from serape.errors import DataError, Interrupted, OptionError, is_whole
from serape.independence import IndependenceTest
from serape.independence.base import Tally
from serape.local.registry import LocalAlgorithm
from serape.results.structure import Structure, undirected
from serape.search.progress import Progress, Watch, Watcher, watcher
from serape.structure.bones import Pair, Seen, Skeleton
from serape.structure.checkpoint import Checkpoint
from serape.structure.ges import ges
from serape.structure.graphs import PartlyDirected
from serape.structure.knowledge import BoundKnowledge, Knowledge
from serape.structure.lgl import Rule, as_skeleton, join, neighbourhoods, pairs_of
from serape.structure.orientation import orient
from serape.structure.pc import part_neighbours, pc_skeleton
from serape.structure.registry import NetworkAlgorithm
from serape.structure.scores import Score
from serape.structure.settings import table_notes
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import Stopped, allowed, everyone, tabu_search


class Run:
    """One call: its settings, and what is counted and noted on the way."""

    def __init__(
        self,
        task: Task | None,
        knowledge: Knowledge | None,
        threads: int,
        progress: bool | Watcher | None,
        checkpoint: str | os.PathLike[str] | None,
        score: Score | None = None,
    ) -> None:
        self.task = task
        self.score = score
        self.names = score.variables if task is None and score is not None else task.source.variables if task else ()
        self.knowledge = None if knowledge is None else knowledge.bind(self.names)
        self.threads = threads
        self.progress = progress
        self.checkpoint = None if checkpoint is None or task is None else Checkpoint(Path(checkpoint), task, knowledge)
        self.tally = Tally()
        self.notes: list[str] = [] if task is None else list(table_notes(task.source))
        self.complete = True
        self.started = time.perf_counter()

    @property
    def table(self) -> Table | None:
        """The data, if there are any."""
        source: Any = self.score if self.task is None else self.task.source
        table = getattr(source, "table", None)
        return table if isinstance(table, Table) else None

    def near(self, rule: Rule) -> dict[int, set[int]]:
        """Find the neighbourhoods of all variables and join them."""
        task = self.requiremake_task()
        targets = list(range(len(self.names))) if self.table is None else self.table.varying
        found = neighbourhoods(task, targets, self.threads, self.progress, self.checkpoint)
        self.tally.merge(found.tally)
        self.notes += found.notes
        self.complete = found.complete
        joined = join(found.of, rule, task)
        told = task.knowledge
        if self.complete and told is not None and told.parts and not task.algorithm.parts_by_subsets:
            # Learners that go by the whole blanket miss a spouse that they may not test, and so keep too many.
            search = task.search(None, self.threads)
            thinned = Skeleton(joined)
            part_neighbours(search, thinned)
            self.tally.merge(search.tally)
            for x, y in told.required:
                joined[x].add(y)
                joined[y].add(x)
        return joined

    def bones(self, algorithm: str | LocalAlgorithm, rule: Rule) -> Skeleton:
        """Find the skeleton, what separates pairs, and what speaks for the edges."""
        task = self.requiremake_task()
        if algorithm != "pc-stable":
            joined = self.near(rule)
            if not self.complete:
                return Skeleton(joined)
            search = task.search(None, self.threads)
            found = as_skeleton(search, joined)
            self.tally.merge(search.tally)
            return found
        watch = watcher(self.progress)
        search = task.search(None, self.threads, watch)
        targets = search.variables if self.table is None else self.table.varying
        found = Skeleton({x: set() for x in range(len(self.names))})
        try:
            learnt = pc_skeleton(search, targets)
            found.neighbours.update(learnt.neighbours)
            found.separations, found.weakest = learnt.separations, learnt.weakest
        except KeyboardInterrupt:
            self.complete = False
        finally:
            if isinstance(watch, Watch):
                watch.close()
        for x, y in () if self.knowledge is None else self.knowledge.required:
            found.neighbours[x].add(y)
            found.neighbours[y].add(x)
        self.tally.merge(search.tally)
        self.notes += search.notes
        return found

    def requiremake_task(self) -> Task:
        """Return the tests' settings."""
        if self.task is None:
            raise DataError("there are no tests to go by")
        return self.task

    def result(self, algorithm: str, graph: nx.Graph[str], **more: Any) -> Structure:
        """Return the answer."""
        task = self.task
        options: dict[str, Any] = {}
        if task is not None:
            options = {
                "max_conditioning": task.max_conditioning,
                "random_state": task.random_state if is_whole(task.random_state) else None,
                "reliability": getattr(task.source, "reliability", None),
                "dof": getattr(task.source, "dof", None),
                **task.options,
            }
        defaults: dict[str, Any] = {"score": None, "total": None, "separating_sets": {}, "options": {}}
        given = {**defaults, **more}
        return Structure(
            graph=graph,
            algorithm=algorithm,
            test=None if task is None else task.source.name,
            alpha=None if task is None else task.alpha,
            tests=self.tally.tests.total(),
            tests_by_size=dict(sorted(self.tally.tests.items())),
            skipped=self.tally.skipped.total(),
            seconds=time.perf_counter() - self.started,
            notes=tuple(self.notes),
            complete=self.complete,
            table=self.table,
            **{**given, "options": {**options, **given["options"]}},
        )

    @staticmethod
    def done(found: Structure) -> Structure:
        """Return what was found, or raise it if it is not complete."""
        if not found.complete:
            raise Interrupted(found)
        return found


# --- what is made of a skeleton -------------------------------------------------------------------------------------


def skeleton_result(run: Run, found: Skeleton) -> Structure:
    """Return a skeleton with its evidence."""
    names = run.names
    edges = (sorted(pair) for pair in pairs_of(found.neighbours))
    graph = undirected(names, ((names[x], names[y]) for x, y in edges), edge_evidence(found.weakest, names))
    return run.result(
        _name(run), graph, finds="skeleton", separating_sets=_named_sets(found, names), options=_told(run)
    )


def oriented_result(run: Run, found: Skeleton) -> Structure:
    """Direct a skeleton and return the network."""
    names = run.names
    near = [found.neighbours[x] for x in range(len(names))]
    search = run.requiremake_task().search(None)

    def sureness(x: int, z: int, y: int) -> float | None:
        """A collider shows twice: without it the ends are independent, with it dependent, the more so the surer."""
        outcome = search.ask(x, y, (*(found.separating_set(x, y) or ()), z))
        return None if outcome is None or outcome.log_p > search.log_alpha else -outcome.log_p

    oriented = orient(len(names), near, found.separating_set, sureness, names, run.knowledge)
    run.tally.merge(search.tally)
    graph = _with_evidence(oriented.graph, names, edge_evidence(found.weakest, names))
    return run.result(
        _name(run), graph, finds="network", separating_sets=_named_sets(found, names), options=_told(run),
        conflicts=tuple(str(conflict) for conflict in oriented.conflicts),
    )  # fmt: skip


def _name(run: Run) -> str:
    return "" if run.task is None else run.task.algorithm.name


def _told(run: Run) -> dict[str, Any]:
    return {} if run.knowledge is None or run.knowledge.is_empty else {"knowledge": "as given"}


def _named_sets(found: Skeleton, names: Sequence[str]) -> dict[frozenset[str], tuple[str, ...]]:
    return {
        frozenset(names[x] for x in pair): tuple(names[z] for z in answers.given_of(place))
        for pair, (_, _, answers, place) in found.separations.items()
    }


def edge_evidence(weakest: Mapping[Pair, Seen], names: Sequence[str]) -> dict[frozenset[str], dict[str, Any]]:
    """Return, by name, the tests behind edges."""
    found = {}
    for pair, (_, _, answers, place) in weakest.items():
        outcome = answers.outcome(place)
        found[frozenset(names[x] for x in pair)] = {
            "statistic": outcome.statistic,
            "dof": outcome.dof,
            "log_p": outcome.log_p,
            "reliable": outcome.reliable,
            "given": tuple(names[z] for z in answers.given_of(place)),
        }
    return found


def _with_evidence(
    found: PartlyDirected, names: Sequence[str], evidence: Mapping[frozenset[str], Mapping[str, Any]]
) -> nx.DiGraph[str]:
    graph = found.to_networkx(names)
    for a, b, attributes in graph.edges(data=True):
        attributes.update(evidence.get(frozenset((a, b)), {}))
    return graph


# --- what is found by a score ---------------------------------------------------------------------------------------


def scored_result(
    run: Run, algorithm: NetworkAlgorithm, near: dict[int, set[int]] | None, options: dict[str, Any]
) -> Structure:
    """Search for the best graph by score and return it; `near` confines it to a skeleton."""
    score, knowledge = run.score, run.knowledge
    if score is None:
        raise DataError(f"algorithm {algorithm.name!r} needs a score")
    n = len(run.names)
    watch, close = _score_watch(run.progress, run.started, algorithm.name)
    shared: dict[str, Any] = {"knowledge": knowledge, "threads": run.threads, "watch": watch}
    graph: PartlyDirected
    try:
        if algorithm.name == "ges":
            _check_ges(knowledge, score)
            graph = ges(score, **shared, **options)
        elif algorithm.name == "sca":
            graph = PartlyDirected.of_dag(sparse_candidate(score, **shared, **options))
        else:
            if near is None:
                candidates = everyone(n, knowledge)
            else:
                candidates = [allowed(y, np.array(sorted(near[y]), np.uint32), knowledge) for y in range(n)]
            graph = PartlyDirected.of_dag(tabu_search(score, candidates, **shared, **options))
    except Stopped as stop:
        run.complete = False
        graph = stop.graph
    finally:
        close()
    evidence = _score_evidence(run, score, graph)
    named = graph.to_networkx(run.names)
    for a, b, attributes in named.edges(data=True):
        attributes.update(evidence[a, b])
    parents = graph.parents if not graph.edges() else None
    found = run.result(
        algorithm.name,
        named,
        finds="network",
        score=score.name,
        total=None if parents is None else score.total(parents),
        options={**options, "equivalent_sample_size": getattr(score, "equivalent_sample_size", None), **_told(run)},
    )
    if parents is None:  # the score of any graph of the class
        place = {name: k for k, name in enumerate(run.names)}
        dag = found.dag
        total = score.total([{place[x] for x in dag.predecessors(name)} for name in run.names])
        found = replace(found, total=total)
    return found


def _score_evidence(run: Run, score: Score, graph: PartlyDirected) -> dict[tuple[str, str], dict[str, Any]]:
    """For every arc x → y, the test of x and y given the other parents of y, and what the score loses without it.

    An undirected edge is looked at as an arc each way, beside the parents that are known.
    """
    names = run.names
    test = None if run.task is None else run.task.source
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for y in range(graph.n):
        for x in sorted(graph.parents[y] | graph.neighbours[y]):
            rest = sorted(graph.parents[y] - {x})
            seen: dict[str, Any] = {"gain": score.family(y, [*rest, x]) - score.family(y, rest)}
            if isinstance(test, IndependenceTest):
                outcome = test.test(x, y, rest)
                seen.update(
                    statistic=outcome.statistic,
                    dof=outcome.dof,
                    log_p=outcome.log_p,
                    reliable=outcome.reliable,
                    given=tuple(names[z] for z in rest),
                )
            found[names[x], names[y]] = seen
    return found


def _score_watch(
    progress: bool | Watcher | None, started: float, name: str
) -> tuple[Callable[[int, float], None] | None, Callable[[], None]]:
    told = watcher(progress)
    if told is None:
        return None, lambda: None

    def watch(arcs: int, total: float) -> None:
        doing = f"{arcs:,} arcs, score {total:,.1f}"
        told(Progress(name, (), 0, 0, time.perf_counter() - started, doing))

    return watch, told.close if isinstance(told, Watch) else lambda: None


def _check_ges(knowledge: BoundKnowledge | None, score: Score) -> None:
    if score.name == "k2":
        raise OptionError("ges needs a score that is the same for equivalent graphs; K2 is not, take 'bdeu' or 'bic'")
    if knowledge is not None and knowledge.directs:
        raise OptionError(
            "ges goes through classes of graphs without directions, so it can heed forbidden pairs alone; "
            "for required arcs, forbidden directions or tiers take 'tabu', 'mmhc', 'h2pc', 'sca' or 'pc-stable'"
        )
