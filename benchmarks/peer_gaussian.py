"""Learn one linear-Gaussian skeleton by one tool, in that tool's own environment; `gaussian.py` starts this.

    PYTHON benchmarks/peer_gaussian.py DATA.npy RESULT.json TOOL METHOD ALPHA

The data are rows × columns. The first 100 rows are learnt from before the clock runs, so that everything is imported.
The result holds the tool's version, the seconds and the edges, as pairs of positions.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Edges = list[tuple[int, int]]
Job = tuple[Callable[[], Any], Callable[[Any], Edges]]
"""What learns a graph, and what reads its edges."""


def names(data: NDArray[np.float64]) -> list[str]:
    """Return a name for every column."""
    return [f"v{k}" for k in range(data.shape[1])]


def serape(data: NDArray[np.float64], method: str, alpha: float) -> Job:
    """Prepare serape; making the table and the test are timed."""
    package, tests = map(import_module, ("serape", "serape.independence.partial_correlation"))

    def learn() -> Any:
        return package.skeleton(tests.FisherZ(package.Table(data, kinds="continuous")), method, alpha=alpha)

    return learn, lambda found: [(int(a[1:]), int(b[1:])) for a, b in found.graph.edges]


def pgmpy(data: NDArray[np.float64], method: str, alpha: float) -> Job:
    """Prepare pgmpy."""
    del method
    pandas, discovery = map(import_module, ("pandas", "pgmpy.causal_discovery"))
    frame = pandas.DataFrame(data, columns=names(data))
    searcher = discovery.PC(
        variant="stable", ci_test="fisher_z", significance_level=alpha, n_jobs=1, show_progress=False
    )

    def read(found: Any) -> Edges:
        graph = found.causal_graph_
        return [(int(a[1:]), int(b[1:])) for a, b in (*graph.directed_edges, *graph.undirected_edges)]

    return lambda: searcher.fit(frame), read


def causal_learn(data: NDArray[np.float64], method: str, alpha: float) -> Job:
    """Prepare causal-learn."""
    del method
    pc = import_module("causallearn.search.ConstraintBased.PC").pc

    def read(found: Any) -> Edges:
        return [(int(a), int(b)) for a, b in np.argwhere(found.G.graph)]

    return lambda: pc(data, alpha, "fisherz", stable=True, show_progress=False), read


def pybnesian(data: NDArray[np.float64], method: str, alpha: float) -> Job:
    """Prepare PyBNesian; its test is exact t."""
    pandas, package = map(import_module, ("pandas", "pybnesian"))
    frame = pandas.DataFrame(data, columns=names(data))
    learner = {"PC": package.PC, "MMPC": package.MMPC}[method]()

    def read(found: Any) -> Edges:
        return [(int(a[1:]), int(b[1:])) for a, b in (*found.arcs(), *found.edges())]

    return lambda: learner.estimate(package.LinearCorrelation(frame), alpha=alpha), read


TOOLS: dict[str, Callable[[NDArray[np.float64], str, float], Job]] = {
    "serape": serape,
    "pgmpy": pgmpy,
    "causal-learn": causal_learn,
    "PyBNesian": pybnesian,
}


def main() -> None:
    """Learn, and write what was found."""
    path, result, tool, method, alpha = sys.argv[1:]
    answer: dict[str, Any]
    try:
        data = np.load(path)
        with contextlib.suppress(Exception):
            TOOLS[tool](data[:100, :5], method, float(alpha))[0]()
        learn, read = TOOLS[tool](data, method, float(alpha))
        times: list[float] = []
        while not times or (len(times) < 5 and sum(times) < 1.0):
            begin = time.perf_counter()
            found = learn()
            times.append(time.perf_counter() - begin)
        answer = {"version": version(tool), "seconds": sorted(times)[len(times) // 2], "edges": read(found)}
    except Exception as error:  # whatever a tool raises is its result
        answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    Path(result).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
