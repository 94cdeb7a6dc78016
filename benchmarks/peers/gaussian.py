"""How each tool learns the skeleton of a linear-Gaussian network, for `suite gaussian`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.codes import Job

Values = NDArray[np.float64]
Edges = list[tuple[int, int]]

ENOUGH_SECONDS = 1.0
MAX_REPEATS = 5
"""A search is repeated until it has taken so many seconds, or so many times."""


def read(path: str) -> Values:
    """Read rows × columns."""
    values: Values = np.load(path)
    return values


def frame_of(data: Values) -> Any:
    """Return a pandas frame."""
    return import_module("pandas").DataFrame(data, columns=[f"v{k}" for k in range(data.shape[1])])


def indices(edges: Any) -> Edges:
    """Return edges between names as edges between indices."""
    return [(int(a[1:]), int(b[1:])) for a, b in edges]


def serape(data: Values, method: str, alpha: float) -> Job:
    """Prepare serape; making the table and the test are timed."""
    package = import_module("serape")

    def learn(_: Callable[[], None]) -> Any:
        return package.skeleton(package.Table(data, kinds="continuous"), method, test="fisher-z", alpha=alpha)

    return learn, lambda found: indices(found.graph.edges)


def pgmpy(data: Values, method: str, alpha: float) -> Job:
    """Prepare pgmpy."""
    del method
    frame = frame_of(data)
    searcher = import_module("pgmpy.causal_discovery").PC(
        variant="stable", ci_test="fisher_z", significance_level=alpha, n_jobs=1, show_progress=False
    )

    def edges(found: Any) -> Edges:
        return indices((*found.causal_graph_.directed_edges, *found.causal_graph_.undirected_edges))

    return lambda _: searcher.fit(frame), edges


def causal_learn(data: Values, method: str, alpha: float) -> Job:
    """Prepare causal-learn."""
    del method
    pc = import_module("causallearn.search.ConstraintBased.PC").pc

    return (
        lambda _: pc(data, alpha, "fisherz", stable=True, show_progress=False),
        lambda found: np.argwhere(found.G.graph).tolist(),
    )


def pybnesian(data: Values, method: str, alpha: float) -> Job:
    """Prepare PyBNesian; its test is exact t."""
    package, frame = import_module("pybnesian"), frame_of(data)
    learner = getattr(package, method)()
    return (
        lambda _: learner.estimate(package.LinearCorrelation(frame), alpha=alpha),
        lambda found: indices((*found.arcs(), *found.edges())),
    )


TOOLS: dict[str, Callable[[Values, str, float], Job]] = {
    "serape": serape,
    "pgmpy": pgmpy,
    "causal-learn": causal_learn,
    "PyBNesian": pybnesian,
}
