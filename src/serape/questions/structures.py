"""The questions a user asks about many variables at once: region, skeleton, network."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Literal

import networkx as nx

from serape.data.table import Table
from serape.errors import DataError, Interrupted, OptionError, is_integer
from serape.independence import DofRule
from serape.knowledge import Knowledge
from serape.local.registry import LocalAlgorithm
from serape.progress import ProgressCallback, StatusLine, progress_callback
from serape.questions.neighbourhoods import Region, Rule, weigh_edges
from serape.questions.query import Reliability, thread_count
from serape.questions.structure_query import (
    as_knowledge,
    check_options,
    checked_rule,
    make_task,
    refuse,
    score_of,
    table_notes,
)
from serape.questions.structure_run import (
    Run,
    check_score,
    edge_evidence,
    edges_of,
    find_neighbours,
    find_skeleton,
    oriented_result,
    scored_result,
    skeleton_result,
)
from serape.results.structure import Structure, undirected
from serape.skeletons.skeleton import Skeleton
from serape.structure.registry import NETWORK_ALGORITHMS
from serape.structure.scores import Score


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
    progress: bool | ProgressCallback | None = None,
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
    if not is_integer(depth) or depth < 1:
        raise OptionError(f"depth must be a whole number from 1 up, not {depth!r}")
    query = make_task(
        data, algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, algorithm_options
    )
    if query.algorithm.name == "pc-stable":
        raise OptionError("algorithm 'pc-stable' does not go by neighbourhoods; for a region take one that finds them")
    at = query.position(target)
    names = query.source.variables
    watch = progress_callback(progress)
    search = query.search(None, thread_count(n_jobs), watch, memory=query.memory(2))
    started = time.perf_counter()
    grown = Region(query, at, search)
    found = Skeleton(grown.joined)
    complete = False
    try:
        grown.grow(int(depth))
        weigh_edges(search, found)
        complete = True
    except KeyboardInterrupt:
        pass
    finally:
        if isinstance(watch, StatusLine):
            watch.close()
    graph = undirected(
        (names[x] for x in grown.distance),
        edges_of(grown.joined, names),
        edge_evidence(found.weakest, names),
    )
    nx.set_node_attributes(graph, {names[x]: steps for x, steps in grown.distance.items()}, "distance")
    graph.graph.update(
        target=names[at],
        depth=int(depth),
        algorithm=query.algorithm.name,
        test=query.source.name,
        alpha=query.alpha,
        tests=search.tally.performed,
        skipped=search.tally.skipped,
        seconds=time.perf_counter() - started,
        notes=(*table_notes(query.source), *search.notes),
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
    progress: bool | ProgressCallback | None = None,
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
        A file that keeps the neighbourhoods as they are found; a run that was stopped goes on from it.

    max_conditioning
        The largest conditioning set; "auto" is 3 for pc-stable and for divide and conquer, which go through the subsets
        of neighbourhoods, and none for learners that condition on whole blankets. Larger sets take much longer where
        somebody has many neighbours, and hardly change the answer (see the page on networks).

    The other arguments are those of `markov_blanket`. `n_jobs` threads work on different variables; the answer does
    not depend on it. Constant columns are joined to nothing.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the skeleton of the neighbourhoods that were complete.
    """
    query = make_task(
        data, algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, algorithm_options
    )
    if query.algorithm.name == "pc-stable":
        refuse("pc-stable", "goes by pairs, not by neighbourhoods", rule=(rule, "and"), checkpoint=(checkpoint, None))
    run = Run(query.source.variables, query.source, as_knowledge(knowledge), thread_count(n_jobs), progress)
    return skeleton_result(run, query, find_skeleton(run, query, checked_rule(rule), checkpoint))


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
    progress: bool | ProgressCallback | None = None,
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
        "bdeu", "bic", "aic", "k2", a `Score`, or "auto": "bdeu" for mmhc and h2pc, as their papers have it, and "bic"
        for the others that go by a score.
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
    told = as_knowledge(knowledge)
    if known is None or known.family == "constraint":
        name = str(algorithm if isinstance(algorithm, str) else getattr(algorithm, "__name__", algorithm))
        refuse(name, "goes by tests, not by a score", score=(score, "auto"))
        rule = checked_rule(algorithm_options.pop("rule", "and"))
        if known is not None:
            refuse(name, "goes by pairs, not by neighbourhoods", rule=(rule, "and"), checkpoint=(checkpoint, None))
        query = make_task(
            data, algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, random_state, algorithm_options
        )
        run = Run(query.source.variables, query.source, told, thread_count(n_jobs), progress)
        return oriented_result(run, query, find_skeleton(run, query, rule, checkpoint))
    check_options(known, algorithm_options)
    options = {**known.defaults, **algorithm_options}
    rule = checked_rule(options.pop("rule", "or"))
    wanted = known.score if isinstance(score, str) and score == "auto" else score
    if known.family == "score":
        refuse(
            known.name, "goes by a score, not by tests", checkpoint=(checkpoint, None), alpha=(alpha, 0.05),
            test=(test, "auto"), max_conditioning=(max_conditioning, "auto"), reliability=(reliability, "auto"),
            dof=(dof, "auto"), random_state=(random_state, None),
        )  # fmt: skip
        scores = score_of(data, wanted, equivalent_sample_size)
        check_score(known, scores, told, options["max_parents"])
        run = Run(scores.variables, scores, told, thread_count(n_jobs), progress)
        return scored_result(run, None, known, scores, None, options)
    query = make_task(
        data, known.learner, test, alpha, max_conditioning, reliability, dof, knowledge, random_state,
        {"symmetry": False} if known.learner == "mmpc" else {},
    )  # fmt: skip
    table = getattr(query.source, "table", None)
    if not isinstance(table, Table):
        raise DataError(f"algorithm {known.name!r} goes by a score, which needs data, not {query.source.name!r}")
    scores = score_of(table, wanted, equivalent_sample_size)
    check_score(known, scores, told, options["max_parents"])
    run = Run(query.source.variables, query.source, told, thread_count(n_jobs), progress)
    return scored_result(run, query, known, scores, find_neighbours(run, query, rule, checkpoint), options)
