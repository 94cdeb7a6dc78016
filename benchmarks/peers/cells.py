"""How each tool does the work of one cell, for `suite published`.

A method is words: what is found ("blanket", "neighbours", "skeleton" or "network"), an algorithm, and options.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import searches
from benchmarks.peers.codes import Codes, Job
from benchmarks.peers.networks import SAMPLE_SIZE, both_ways

ENOUGH_SECONDS = 3.0
MAX_REPEATS = 15
"""A search is repeated until it has taken so many seconds, or so many times."""


@dataclass(frozen=True)
class Numbers:
    """Columns of numbers, and the indices of the targets."""

    values: NDArray[np.float64]
    targets: list[int]

    def write(self, path: Path) -> Path:
        """Write a file that any environment with NumPy can read."""
        np.savez(path, values=self.values, targets=np.array(self.targets))
        return path


Data = Codes | Numbers


def read(path: str) -> Data:
    """Read codes or numbers."""
    with np.load(path) as file:
        if "values" in file.files:
            return Numbers(file["values"], file["targets"].tolist())
    return Codes.read(path)


# --- tools ------------------------------------------------------------------------------------------------------------


def serape(data: Data, method: str, alpha: float) -> Job:
    """Prepare serape, on a table made anew, as a table remembers counts."""
    package, internals = map(import_module, ("serape", "benchmarks.common.internals"))
    finds, algorithm, *options = method.split()
    settings: dict[str, Any] = {"alpha": alpha, "max_seconds": None}
    if isinstance(data, Numbers):
        table = package.Table(data.values, kinds="continuous")
        settings["test"] = "fisher-z"
    else:
        table = package.Table(data.codes)

    if "full-dof" in options or "adjusted-dof" in options:
        settings["dof"] = "full" if "full-dof" in options else "adjusted"

    def arcs(found: Any) -> list[tuple[int, int]]:
        return [(int(a[1:]), int(b[1:])) for a, b in found.graph.edges]

    if finds == "network":
        settings |= {"score": options[0], "equivalent_sample_size": SAMPLE_SIZE}
        if algorithm == "tabu":
            del settings["alpha"]  # it makes no tests
        return lambda _: package.network(table, algorithm, **settings), arcs
    if finds == "skeleton":
        settings["max_conditioning"] = None
        return lambda _: package.skeleton(table, algorithm, **settings), lambda f: by_target(arcs(f), data)
    if "one-side" in options:
        settings["symmetry"] = False
    if "one-by-one" in options:
        ask = package.parents_children if finds == "neighbours" else package.markov_blanket

        def search(_: Callable[[], None]) -> Any:
            return {f"x{target}": ask(table, target, algorithm, **settings) for target in data.targets}

    else:

        def search(_: Callable[[], None]) -> Any:
            what = "parents-children" if finds == "neighbours" else "blanket"
            return internals.find_many(table, what, algorithm, targets=data.targets, **settings)

    return search, lambda found: {int(t[1:]): sorted(int(x[1:]) for x in one.members) for t, one in found.items()}


def by_target(edges: Any, data: Data) -> searches.Found:
    """Return the neighbours of the targets."""
    return searches.from_edges(edges, data.targets)


def causal_learn(data: Data, method: str, alpha: float) -> Job:
    """Prepare causal-learn: IAMB target by target, or the skeleton by PC."""
    assert isinstance(data, Codes)
    return searches.causal_learn(data, method, alpha)


def pybnesian(data: Data, method: str, alpha: float) -> Job:
    """Prepare PyBNesian: MMPC and PC for all variables, and MMHC with BDeu."""
    package = import_module("pybnesian")
    if isinstance(data, Numbers):
        pandas = import_module("pandas")
        frame = pandas.DataFrame(data.values, columns=[str(k) for k in range(data.values.shape[1])])
        test: Any = package.LinearCorrelation(frame)
    else:
        frame = data.frame()
        test = package.MutualInformation(frame)  # of categories, that is G²
    if method == "MMHC":
        score = package.BDe(frame, float(SAMPLE_SIZE))
        kind = package.DiscreteBNType()
        learner = package.MMHC()
        return (
            lambda _: learner.estimate(test, package.ArcOperatorSet(), score, bn_type=kind, alpha=alpha),
            lambda found: [(int(a), int(b)) for a, b in found.arcs()],
        )
    one = getattr(package, method)()
    options = {"use_sepsets": True} if method == "PC" else {}
    return (
        lambda _: one.estimate(test, alpha=alpha, **options),
        lambda found: by_target((*found.arcs(), *found.edges()), data),
    )


def pyagrum(data: Data, method: str, alpha: float) -> Job:
    """Prepare pyAgrum: PC, or tabu search with BDeu."""
    assert isinstance(data, Codes)
    if method == "PC":
        return searches.pyagrum(data, method, alpha)
    learner = data.agrum_learner(method, alpha)
    learner.useLocalSearchWithTabuList()
    learner.useScoreBDeu()
    return lambda _: learner.learnDAG(), lambda found: [
        (int(a), int(b))
        for a, b in both_ways(((learner.nameFromId(a), learner.nameFromId(b)) for a, b in found.arcs()), ())
    ]


TOOLS: dict[str, Callable[[Data, str, float], Job]] = {
    "serape": serape,
    "causal-learn": causal_learn,
    "PyBNesian": pybnesian,
    "pyAgrum": pyagrum,
}
