"""The questions a user asks about many variables at once: region, skeleton, network."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np

from serape.api import Reliability, Task, thread_count
from serape.data.table import Table
from serape.errors import DataError, InputTypeError, Interrupted, OptionError, is_whole, suggestion
from serape.independence import ContingencyTest, DofRule, IndependenceTest
from serape.independence.base import Tally
from serape.local.registry import ALGORITHMS, DIVIDE, LocalAlgorithm
from serape.results.structure import Structure, undirected
from serape.search.progress import Progress, Watch, Watcher, watcher
from serape.structure.bones import Pair, Seen, Skeleton
from serape.structure.checkpoint import Checkpoint
from serape.structure.ges import ges
from serape.structure.graphs import PartlyDirected
from serape.structure.knowledge import BoundKnowledge, Knowledge
from serape.structure.lgl import Region, Rule, as_skeleton, join, neighbourhoods, pairs_of
from serape.structure.orientation import orient
from serape.structure.pc import part_neighbours, pc_skeleton
from serape.structure.registry import NETWORK_ALGORITHMS, NetworkAlgorithm
from serape.structure.scores import Score, make_score
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import Stopped, allowed, everyone, tabu_search

LEARNER = "hiton-pc"
"""What `algorithm="auto"` means where neighbourhoods of many variables are asked for."""
MOST_CONDITIONING = 3
"""What `max_conditioning="auto"` means for learners that go through subsets of neighbourhoods, where there are data."""


def region(
    data: Any,
    target: str | int,
    depth: int = 2,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | Literal["auto"] | None = "auto",
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    random_state: int | None = None,
    n_jobs: int = 1,
    progress: bool | Watcher | None = None,
    **algorithm_options: Any,
) -> nx.Graph[str]:
    """Find the variables within some edges of a target and the edges that lead there, growing outward from it.

    Neighbourhoods are learnt by `algorithm`, which finds parents and children, of variables nearer than `depth` only;
    `max_conditioning="auto"` is that of `skeleton`.
    Two variables are joined if each is among the parents and children of the other; edges between two variables at
    the full depth are not part of the region.

    Returns
    -------
    networkx.Graph
        Nodes have a `distance` from the target; edges the `statistic`, `dof`, `log_p` and `given` of the weakest
        association of the two given nothing or one neighbour. The graph's own attributes (`graph.graph`) say how it
        was found: `target`, `depth`, `algorithm`, `tests`, `skipped`, `seconds`, `notes`, `complete`.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the region as far as it had grown.
    """
    if not is_whole(depth) or depth < 1:
        raise OptionError(f"depth must be a whole number from 1 up, not {depth!r}")
    task = _task(
        data, algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, algorithm_options
    )
    at = task.position(target)
    watch = watcher(progress)
    memory = task.memory(2)
    search = task.search(None, thread_count(n_jobs), watch, memory=memory)
    started = time.perf_counter()
    grown = Region(task, at, search)
    try:
        grown.grow(int(depth))
        complete = True
    except KeyboardInterrupt:
        complete = False
    finally:
        if isinstance(watch, Watch):
            watch.close()
    names = task.source.variables
    found = as_skeleton(task.search(None), grown.joined) if complete else Skeleton(grown.joined)
    joined = [tuple(sorted(pair)) for pair in pairs_of(grown.joined)]
    graph = undirected(
        (names[x] for x in grown.distance),
        ((names[x], names[y]) for x, y in joined),
        _edge_evidence(found.weakest, names),
    )
    nx.set_node_attributes(graph, {names[x]: steps for x, steps in grown.distance.items()}, "distance")
    graph.graph.update(
        target=names[at],
        depth=int(depth),
        algorithm=task.algorithm.name,
        test=task.source.name,
        alpha=task.alpha,
        tests=search.tally.tests.total(),
        skipped=search.tally.skipped.total(),
        seconds=time.perf_counter() - started,
        notes=(*_table_notes(task.source), *search.notes),
        complete=complete,
    )
    if not complete:
        raise Interrupted(graph)
    return graph


def skeleton(
    data: Any,
    algorithm: str | LocalAlgorithm = "auto",
    rule: Rule = "and",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | Literal["auto"] | None = "auto",
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    random_state: int | None = None,
    n_jobs: int = 1,
    progress: bool | Watcher | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **algorithm_options: Any,
) -> Structure:
    """Find which variables are joined by an arc in the network behind the data, without the arcs' directions.

    Parameters
    ----------
    algorithm
        Any algorithm that finds parents and children, by name or your own (they are found for every variable, and
        joined by the `rule`), or "pc-stable".
    rule
        "and": two variables are joined if each is among the parents and children of the other. "or": if one is.
    knowledge
        A `Knowledge`, or a dict with `required`, `forbidden`, `tiers`, `forbidden_pairs`. Pairs that cannot be joined
        either way are never tested.
    checkpoint
        A file that keeps the neighbourhoods as they are found; a run that was stopped goes on from it. Constant columns
        are joined to nothing.

    max_conditioning
        The largest conditioning set; "auto" is 3 for pc-stable and for divide and conquer, which go through the subsets
        of neighbourhoods, and none for learners that condition on whole blankets. Larger sets take much longer where
        somebody has many neighbours, and hardly change the answer (see the page on networks).

    The other arguments are those of `markov_blanket`. `n_jobs` threads work on different variables; the answer does
    not depend on it.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the skeleton of the neighbourhoods that were complete.
    """
    task = _task(
        data, algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, algorithm_options
    )
    run = _Run(task, _knowledge(knowledge), thread_count(n_jobs), progress, checkpoint)
    found = run.bones(algorithm, _rule(rule))
    return run.done(_skeleton_result(run, found))


def network(
    data: Any,
    algorithm: str | LocalAlgorithm = "mmhc",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | Literal["auto"] | None = "auto",
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    score: str | Score = "auto",
    equivalent_sample_size: float = 1.0,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    random_state: int | None = None,
    n_jobs: int = 1,
    progress: bool | Watcher | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **algorithm_options: Any,
) -> Structure:
    """Find the network behind the data: which variables are joined by an arc, and which way, as far as data tell.

    Parameters
    ----------
    data
        As for `markov_blanket`. For algorithms that go by a score alone it can be a `Score`.
    algorithm
        - "mmhc", "h2pc": a skeleton by MMPC or HPC, in which tabu search finds the graph of the highest score. Options:
          `rule` ("or"), `tabu` (100), `patience` (15), `max_parents`. The answer is directed.
        - "tabu", "sca": tabu search among all graphs, or among the `k` (10) most promising parents of each variable.
          Same options. The answer is directed.
        - "ges": greedy search through equivalence classes. Option: `max_parents`. The answer is a class: edges that
          have one direction in some of its graphs and the other in others are undirected.
        - "pc-stable", or any algorithm that finds parents and children (with `rule`, "and"): a skeleton, whose edges
          are directed as far as separating sets tell. The answer is a class, too.
    score
        "bdeu", "bic", "aic", "k2", a `Score`, or "auto": what came nearer to the truth, "bdeu" for mmhc and h2pc and
        "bic" for the others that go by a score.
    equivalent_sample_size
        That of BDeu.
    knowledge
        A `Knowledge`, or a dict with `required`, `forbidden`, `tiers`, `forbidden_pairs`.
    checkpoint
        As for `skeleton`, where there is one to find.

    The other arguments are those of `skeleton`.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is what had been found by then.
    """
    known = NETWORK_ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else None
    if known is None or known.family == "constraint":
        rule = _rule(algorithm_options.pop("rule", "and"))
        task = _task(
            data, algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, algorithm_options
        )
        run = _Run(task, _knowledge(knowledge), thread_count(n_jobs), progress, checkpoint)
        return run.done(_oriented_result(run, run.bones(algorithm, rule)))
    _check_own_options(known, algorithm_options)
    if isinstance(score, str) and score == "auto":
        score = known.score
    options = {name: value for name, value in algorithm_options.items() if name != "rule"}
    if known.family == "score":
        if checkpoint is not None:
            raise OptionError(f"algorithm {known.name!r} has nothing to keep in a checkpoint; leave it out")
        scores = data if isinstance(data, Score) else make_score(data, score, equivalent_sample_size)
        run = _Run(None, _knowledge(knowledge), thread_count(n_jobs), progress, None, scores)
        return run.done(_scored_result(run, known, None, options))
    rule = _rule(algorithm_options.get("rule", "or"))
    learner_options = {"symmetry": False} if known.learner == "mmpc" else {}
    task = _task(
        data, known.learner, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, learner_options
    )
    if not isinstance(task.source, ContingencyTest):
        raise DataError(f"algorithm {known.name!r} goes by a score, which needs data, not {task.source.name!r}")
    scores = make_score(task.source.table, score, equivalent_sample_size)
    run = _Run(task, _knowledge(knowledge), thread_count(n_jobs), progress, checkpoint, scores)
    return run.done(_scored_result(run, known, run.near(rule), options))


class _Run:
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
        self.notes: list[str] = [] if task is None else list(_table_notes(task.source))
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
        task = self.require_task()
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
        task = self.require_task()
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

    def require_task(self) -> Task:
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


def _skeleton_result(run: _Run, found: Skeleton) -> Structure:
    names = run.names
    edges = (sorted(pair) for pair in pairs_of(found.neighbours))
    graph = undirected(names, ((names[x], names[y]) for x, y in edges), _edge_evidence(found.weakest, names))
    return run.result(
        _name(run), graph, finds="skeleton", separating_sets=_named_sets(found, names), options=_told(run)
    )


def _oriented_result(run: _Run, found: Skeleton) -> Structure:
    names = run.names
    near = [found.neighbours[x] for x in range(len(names))]
    search = run.require_task().search(None)

    def sureness(x: int, z: int, y: int) -> float | None:
        """A collider shows twice: without it the ends are independent, with it dependent, the more so the surer."""
        outcome = search.ask(x, y, (*(found.separating_set(x, y) or ()), z))
        return None if outcome is None or outcome.log_p > search.log_alpha else -outcome.log_p

    oriented = orient(len(names), near, found.separating_set, sureness, names, run.knowledge)
    run.tally.merge(search.tally)
    graph = _with_evidence(oriented.graph, names, _edge_evidence(found.weakest, names))
    return run.result(
        _name(run), graph, finds="network", separating_sets=_named_sets(found, names), options=_told(run),
        conflicts=tuple(str(conflict) for conflict in oriented.conflicts),
    )  # fmt: skip


def _name(run: _Run) -> str:
    return "" if run.task is None else run.task.algorithm.name


def _told(run: _Run) -> dict[str, Any]:
    return {} if run.knowledge is None or run.knowledge.is_empty else {"knowledge": "as given"}


def _named_sets(found: Skeleton, names: Sequence[str]) -> dict[frozenset[str], tuple[str, ...]]:
    return {
        frozenset(names[x] for x in pair): tuple(names[z] for z in answers.given_of(place))
        for pair, (_, _, answers, place) in found.separations.items()
    }


def _edge_evidence(weakest: Mapping[Pair, Seen], names: Sequence[str]) -> dict[frozenset[str], dict[str, Any]]:
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


def _scored_result(
    run: _Run, algorithm: NetworkAlgorithm, near: dict[int, set[int]] | None, options: dict[str, Any]
) -> Structure:
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


def _score_evidence(run: _Run, score: Score, graph: PartlyDirected) -> dict[tuple[str, str], dict[str, Any]]:
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


# --- settings -------------------------------------------------------------------------------------------------------


def _task(
    data: Any,
    algorithm: str | LocalAlgorithm,
    test: str,
    alpha: float,
    max_conditioning: int | Literal["auto"] | None,
    reliability: Reliability,
    dof: DofRule,
    knowledge: Knowledge | Mapping[str, Any] | None,
    random_state: int | None,
    options: dict[str, Any],
) -> Task:
    if isinstance(data, Score):
        raise InputTypeError("a score answers no independence questions; pass the data, or take 'ges', 'tabu' or 'sca'")
    known = [name for name, a in ALGORITHMS.items() if a.answers("parents-children")]
    if isinstance(algorithm, str) and algorithm not in (*known, *NETWORK_ALGORITHMS, *ALGORITHMS, "auto"):
        every = [*known, *NETWORK_ALGORITHMS]
        raise OptionError(
            f"algorithm {algorithm!r} is not known.{suggestion(algorithm, every)} Known are 'auto', "
            f"{', '.join(map(repr, every))}."
        )
    limit = None if max_conditioning == "auto" else max_conditioning
    if algorithm == "pc-stable":
        if options:
            raise OptionError(f"algorithm 'pc-stable' has no option {next(iter(options))!r} (it takes none)")
        task = Task.make(
            data, "parents-children", _no_learner, test, alpha, limit, reliability,
            "adjusted" if dof == "auto" else dof, random_state, {},
        )  # fmt: skip
        task = replace(task, algorithm=replace(task.algorithm, name="pc-stable", family=DIVIDE))
    else:
        task = Task.make(
            data, "parents-children", LEARNER if algorithm == "auto" else algorithm, test, alpha, limit,
            reliability, dof, random_state, options,
        )  # fmt: skip
    if max_conditioning == "auto":
        bounded = isinstance(task.source, ContingencyTest) and task.algorithm.parts_by_subsets
        task = replace(task, max_conditioning=MOST_CONDITIONING if bounded else None)
    told = _knowledge(knowledge)
    return task if told is None else replace(task, knowledge=told.bind(task.source.variables))


def _no_learner(search: Any, target: int) -> tuple[int, ...]:
    raise NotImplementedError("pc-stable does not go by neighbourhoods")


def _knowledge(knowledge: Knowledge | Mapping[str, Any] | None) -> Knowledge | None:
    if knowledge is None or isinstance(knowledge, Knowledge):
        return knowledge
    if isinstance(knowledge, Mapping):
        return Knowledge.from_dict(knowledge)
    raise InputTypeError(f"knowledge must be a serape.Knowledge or a dict, not {knowledge!r:.60}")


def _rule(rule: Any) -> Rule:
    if rule not in ("and", "or"):
        raise OptionError(f"rule must be 'and' or 'or', not {rule!r}")
    chosen: Rule = rule
    return chosen


def _check_own_options(algorithm: NetworkAlgorithm, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name not in algorithm.takes:
            takes = ", ".join(map(repr, algorithm.takes))
            close = suggestion(name, algorithm.takes)
            raise OptionError(f"algorithm {algorithm.name!r} has no option {name!r} (it takes {takes}).{close}")
        if name == "rule" or (name == "max_parents" and value is None):
            continue
        least = 0 if name == "patience" else 1
        if not (is_whole(value) and value >= least):
            raise OptionError(f"{name} must be a whole number from {least} up, not {value!r}")


def _table_notes(source: IndependenceTest) -> tuple[str, ...]:
    return tuple(getattr(getattr(source, "table", None), "notes", ()))
