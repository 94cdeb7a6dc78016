"""How each tool learns a network of numbers, for `suite structures`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.codes import Job
from benchmarks.peers.gaussian import Values, frame_of, indices, read

__all__ = ["ENOUGH_SECONDS", "MAX_REPEATS", "TOOLS", "read"]

Arcs = list[tuple[int, int]]
"""An undirected edge is an arc both ways."""

ENOUGH_SECONDS = 0.0
MAX_REPEATS = 1
"""A process learns once."""


def serape(data: Values, method: str, alpha: float) -> Job:
    """Prepare serape: an algorithm, and a score or a test after a comma; making the table is timed."""
    package = import_module("serape")
    algorithm, _, setting = method.partition(", ")
    options: dict[str, Any] = {}
    if setting == "fisher-z":
        options = {"test": setting, "alpha": alpha}
    elif setting:
        options = {"score": setting}
    names = [f"v{k}" for k in range(data.shape[1])]

    def learn(_: Callable[[], None]) -> Any:
        table = package.Table(dict(zip(names, data.T, strict=True)), kinds="continuous")
        return package.network(table, algorithm, **options)

    return learn, lambda found: indices(found.graph.edges)


def causal_learn(data: Values, method: str, alpha: float) -> Job:
    """Prepare causal-learn; its scores are those of its defaults."""

    def arcs_of(graph: Any) -> Arcs:
        tail, head = -1, 1
        pairs = np.argwhere(graph).tolist()
        return [(i, j) for i, j in pairs if graph[i, j] == tail or graph[i, j] == graph[j, i] == head]

    if method == "PC":
        pc = import_module("causallearn.search.ConstraintBased.PC").pc
        return (
            lambda _: pc(data, alpha, "fisherz", stable=True, show_progress=False),
            lambda found: arcs_of(found.G.graph),
        )
    if method == "BOSS":
        search = import_module("causallearn.search.PermutationBased.BOSS").boss
        return lambda _: search(data, score_func="local_score_BIC_from_cov"), lambda found: arcs_of(found.graph)
    search = import_module("causallearn.search.ScoreBased.GES").ges
    return lambda _: search(data, score_func="local_score_BIC_from_cov"), lambda found: arcs_of(found["G"].graph)


def pybnesian(data: Values, method: str, alpha: float) -> Job:
    """Prepare PyBNesian: hill climbing with a score, or MMHC with BIC."""
    package, frame = import_module("pybnesian"), frame_of(data)
    algorithm, _, score = method.partition(", ")
    if algorithm == "MMHC":

        def learn(_: Callable[[], None]) -> Any:
            return package.MMHC().estimate(
                package.LinearCorrelation(frame),
                package.ArcOperatorSet(),
                package.BIC(frame),
                bn_type=package.GaussianNetworkType(),
                alpha=alpha,
            )

        return learn, lambda found: indices(found.arcs())
    return (
        lambda _: package.hc(frame, bn_type=package.GaussianNetworkType(), score=score),
        lambda found: indices(found.arcs()),
    )


TOOLS: dict[str, Callable[[Values, str, float], Job]] = {
    "serape": serape,
    "causal-learn": causal_learn,
    "PyBNesian": pybnesian,
}
