"""How each tool learns a network, for `suite networks`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.codes import Codes, Job

Arcs = list[tuple[str, str]]
"""An undirected edge is an arc both ways."""

SAMPLE_SIZE = 1
"""BDeu's equivalent sample size; that of pyAgrum and causal-learn cannot be set."""

ENOUGH_SECONDS = 0.0
MAX_REPEATS = 1
"""A process learns once."""

read = Codes.read


def both_ways(arcs: Any, edges: Any) -> Arcs:
    """Return arcs, and undirected edges as arcs both ways."""
    undirected = list(edges)
    return [*arcs, *undirected, *((b, a) for a, b in undirected)]


def serape(data: Codes, method: str, alpha: float) -> Job:
    """Prepare serape, on the same rows drawn again."""
    package = import_module("serape")
    table = package.load_network(data.network).sample(len(data.codes), data.seed)
    algorithm, _, score = method.partition(", ")
    options: dict[str, Any] = {} if algorithm in ("ges", "boss", "tabu") else {"alpha": alpha}
    if score:
        options |= {"score": score, "equivalent_sample_size": SAMPLE_SIZE}
    return lambda _: package.network(table, algorithm, **options), lambda found: list(found.graph.edges)


def pgmpy(data: Codes, method: str, alpha: float) -> Job:
    """Prepare pgmpy."""
    discovery, scores = map(import_module, ("pgmpy.causal_discovery", "pgmpy.structure_score"))
    states, frame = data.states, data.frame()
    algorithm, _, score_name = method.partition(", ")
    if algorithm == "MMHC":
        older = import_module("pgmpy.estimators")
        learner = older.MmhcEstimator(frame, state_names=states)
        prior = older.BDeu(frame, equivalent_sample_size=SAMPLE_SIZE, state_names=states)
        return lambda _: learner.estimate(prior, significance_level=alpha), lambda found: list(found.edges)
    if algorithm == "PC":
        searcher = discovery.PC(
            variant="stable", ci_test="g_sq", significance_level=alpha, n_jobs=1, show_progress=False
        )
    else:
        if score_name == "bdeu":
            score = scores.BDeu(frame, equivalent_sample_size=SAMPLE_SIZE, state_names=states)
        else:
            score = scores.BIC(frame, state_names=states)
        if algorithm == "GES":
            searcher = discovery.GES(scoring_method=score)
        else:
            searcher = discovery.HillClimbSearch(scoring_method=score, show_progress=False)

    def read_graph(found: Any) -> Arcs:
        return both_ways(found.causal_graph_.directed_edges, found.causal_graph_.undirected_edges)

    return lambda _: searcher.fit(frame), read_graph


def pyagrum(data: Codes, method: str, alpha: float) -> Job:
    """Prepare pyAgrum."""
    algorithm, _, score = method.partition(", ")
    learner = data.agrum_learner(algorithm, alpha)

    def named(pairs: Any) -> Arcs:
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in pairs]

    if algorithm in ("PC", "MIIC"):
        return lambda _: learner.learnPDAG(), lambda found: both_ways(named(found.arcs()), named(found.edges()))
    if algorithm == "tabu":
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    if score == "bdeu":
        learner.useScoreBDeu()
    else:
        learner.useScoreBIC()
    return lambda _: learner.learnDAG(), lambda found: named(found.arcs())


def causal_learn(data: Codes, method: str, alpha: float) -> Job:
    """Prepare causal-learn."""

    def arcs_of(graph: NDArray[np.int64]) -> Arcs:
        tail, head = -1, 1
        return [
            (data.names[i], data.names[j])
            for i, j in np.argwhere(graph)
            if graph[i, j] == tail or graph[i, j] == graph[j, i] == head
        ]

    codes = data.integers
    if method == "PC":
        pc = import_module("causallearn.search.ConstraintBased.PC").pc
        return (
            lambda _: pc(codes, alpha, "gsq", stable=True, show_progress=False),
            lambda found: arcs_of(found.G.graph),
        )
    ges = import_module("causallearn.search.ScoreBased.GES").ges
    return lambda _: ges(codes, score_func="local_score_BDeu"), lambda found: arcs_of(found["G"].graph)


TOOLS: dict[str, Callable[[Codes, str, float], Job]] = {
    "serape": serape,
    "pgmpy": pgmpy,
    "pyAgrum": pyagrum,
    "causal-learn": causal_learn,
}
