"""Learn one network by one tool, in that tool's own environment; `networks.py` starts this.

    PYTHON benchmarks/peer_networks.py WARM.npz DATA.npz RESULT.json TOOL METHOD ALPHA

The files of data hold `codes` (rows × columns, from 0), `levels` (how many each column has), `names`, and the `network`
and `seed` the rows were drawn by. Learning from the first file is not timed. "ready" is printed when all is read; then
the second is learnt from, and the result holds the tool's version, the seconds and the arcs, an undirected edge both
ways.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arcs = list[tuple[str, str]]
Job = tuple[Callable[[], Any], Callable[[Any], Arcs]]
"""What learns a graph, and what reads its arcs."""

SAMPLE_SIZE = 1
"""BDeu's equivalent sample size; that of pyAgrum and causal-learn cannot be set."""


@dataclass(frozen=True)
class Data:
    """Integer codes, and what is known of their columns."""

    network: str
    seed: int
    names: list[str]
    levels: list[int]
    codes: NDArray[np.int64]

    @classmethod
    def read(cls, path: str) -> Data:
        """Read what `networks.py` wrote."""
        content = np.load(path)
        return cls(
            str(content["network"]),
            int(content["seed"]),
            content["names"].tolist(),
            content["levels"].tolist(),
            content["codes"].astype(np.int64),
        )


def serape(data: Data, method: str, alpha: float) -> Job:
    """Prepare serape, on the same rows drawn again."""
    package = import_module("serape")
    table = package.load_network(data.network).sample(len(data.codes), data.seed)
    algorithm, _, score = method.partition(", ")
    options: dict[str, Any] = {"alpha": alpha}
    if score:
        options |= {"score": score, "equivalent_sample_size": SAMPLE_SIZE}
    return lambda: package.network(table, algorithm, **options), lambda found: list(found.graph.edges)


def pgmpy(data: Data, method: str, alpha: float) -> Job:
    """Prepare pgmpy."""
    pandas, discovery, scores = map(import_module, ("pandas", "pgmpy.causal_discovery", "pgmpy.structure_score"))
    states = {name: list(map(str, range(n))) for name, n in zip(data.names, data.levels, strict=True)}
    frame = pandas.DataFrame(
        {name: pandas.Categorical.from_codes(data.codes[:, k], states[name]) for k, name in enumerate(data.names)}
    )
    algorithm, _, score_name = method.partition(", ")
    if algorithm == "MMHC":
        older = import_module("pgmpy.estimators")
        learner = older.MmhcEstimator(frame, state_names=states)
        prior = older.BDeu(frame, equivalent_sample_size=SAMPLE_SIZE, state_names=states)
        return lambda: learner.estimate(prior, significance_level=alpha), lambda found: list(found.edges)
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

    def read(found: Any) -> Arcs:
        graph = found.causal_graph_
        open_edges = list(graph.undirected_edges)
        return [*graph.directed_edges, *open_edges, *((b, a) for a, b in open_edges)]

    return lambda: searcher.fit(frame), read


def pyagrum(data: Data, method: str, alpha: float) -> Job:
    """Prepare pyAgrum."""
    pandas, gum = map(import_module, ("pandas", "pyagrum"))
    columns = gum.BayesNet()
    for name, levels in zip(data.names, data.levels, strict=True):
        columns.add(gum.RangeVariable(name, name, 0, levels - 1))
    learner = gum.BNLearner(pandas.DataFrame(data.codes, columns=data.names), columns)
    learner.setNumberOfThreads(1)
    algorithm, _, score = method.partition(", ")

    def named(pairs: Any) -> Arcs:
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in pairs]

    if algorithm in ("PC", "MIIC"):
        if algorithm == "PC":
            learner.usePC()
            learner.useG2Test()
            learner.setPCAlpha(alpha)
        else:
            learner.useMIIC()

        def read(found: Any) -> Arcs:
            open_edges = named(found.edges())
            return [*named(found.arcs()), *open_edges, *((b, a) for a, b in open_edges)]

        return learner.learnPDAG, read
    if algorithm == "tabu":
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    if score == "bdeu":
        learner.useScoreBDeu()
    else:
        learner.useScoreBIC()
    return learner.learnDAG, lambda found: named(found.arcs())


def causal_learn(data: Data, method: str, alpha: float) -> Job:
    """Prepare causal-learn."""

    def read(graph: NDArray[np.int64]) -> Arcs:
        tail, head = -1, 1
        return [
            (data.names[i], data.names[j])
            for i, j in np.argwhere(graph)
            if graph[i, j] == tail or graph[i, j] == graph[j, i] == head
        ]

    if method == "PC":
        pc = import_module("causallearn.search.ConstraintBased.PC").pc
        return lambda: pc(data.codes, alpha, "gsq", stable=True, show_progress=False), lambda found: read(found.G.graph)
    ges = import_module("causallearn.search.ScoreBased.GES").ges
    return lambda: ges(data.codes, score_func="local_score_BDeu"), lambda found: read(found["G"].graph)


TOOLS: dict[str, Callable[[Data, str, float], Job]] = {
    "serape": serape,
    "pgmpy": pgmpy,
    "pyAgrum": pyagrum,
    "causal-learn": causal_learn,
}


def main() -> None:
    """Learn, and write what was found."""
    warm, data, result, tool, method, alpha = sys.argv[1:]
    answer: dict[str, Any]
    try:
        prepare = TOOLS[tool]
        with contextlib.suppress(Exception):  # all that matters is that everything is imported
            prepare(Data.read(warm), method, float(alpha))[0]()
        learn, read = prepare(Data.read(data), method, float(alpha))
        print("ready", flush=True)
        begin = time.perf_counter()
        with contextlib.redirect_stdout(sys.stderr):  # nobody reads on
            found = learn()
        seconds = time.perf_counter() - begin
        answer = {"version": version(tool), "seconds": seconds, "arcs": read(found)}
    except Exception as error:  # whatever a tool raises is its result
        answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    Path(result).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
