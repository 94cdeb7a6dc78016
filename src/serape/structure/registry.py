"""The algorithms that find networks, each with the function that runs it, and the table of all algorithms."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from serape.knowledge import BoundKnowledge
from serape.local.registry import ALGORITHMS, DIVIDE, Algorithm
from serape.records import Records
from serape.skeletons.pc import pc_skeleton
from serape.structure.boss import boss
from serape.structure.constraints import possible_parents
from serape.structure.ges import ges
from serape.structure.graphs import PartlyDirected
from serape.structure.ldecc import ldecc
from serape.structure.mb_by_mb import mb_by_mb
from serape.structure.mmb_by_mmb import mmb_by_mmb
from serape.structure.pag import PartialAncestralGraph
from serape.structure.scores import Score
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import tabu_search
from serape.structure.xges import xges

AlgorithmFamily = Literal["constraint", "hybrid", "score"]
SkeletonNeighbours = Mapping[int, set[int]]
"""The neighbours of every variable, to which a search is restricted."""
ScoreSearch = Callable[..., PartlyDirected]
"""`search(score, skeleton, knowledge=…, threads=…, watch=…, **options)`: returns the best graph it finds."""


@dataclass(frozen=True, slots=True)
class NetworkAlgorithm:
    """A named algorithm that finds a network."""

    name: str
    family: AlgorithmFamily
    sound: bool
    """Whether it is exact with perfect tests, or as the number of rows tends to infinity."""
    paper: str
    search: ScoreSearch | None = None
    """The search by score; None if the algorithm uses tests alone."""
    learner: str = ""
    """The algorithm that finds the parents and children to which the search is restricted."""
    learner_options: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Its options."""
    score: Literal["bdeu", "bic"] = "bic"
    """The score for `score="auto"`."""
    finds_class: bool = False
    """Whether it searches equivalence classes: then it needs a score that is equal within a class."""
    obeys: bool = True
    """Whether its steps obey all knowledge, and not only that of forbidden pairs."""
    finds: str = "network"

    @property
    def uses_score_alone(self) -> bool:
        """Whether it asks a score and no tests."""
        return self.search is not None and not self.learner


def _ges(score: Score, skeleton: SkeletonNeighbours | None, **options: Any) -> PartlyDirected:
    del skeleton
    return ges(score, **options)


def _xges(score: Score, skeleton: SkeletonNeighbours | None, **options: Any) -> PartlyDirected:
    del skeleton
    return xges(score, **options)


def _boss(score: Score, skeleton: SkeletonNeighbours | None, **options: Any) -> PartlyDirected:
    del skeleton
    return boss(score, **options)


def _sca(score: Score, skeleton: SkeletonNeighbours | None, **options: Any) -> PartlyDirected:
    del skeleton
    return PartlyDirected.of_dag(sparse_candidate(score, **options))


def _tabu(
    score: Score, skeleton: SkeletonNeighbours | None, knowledge: BoundKnowledge | None = None, **options: Any
) -> PartlyDirected:
    candidates = possible_parents(len(score.variables), knowledge)
    if skeleton is not None:
        candidates = [xs[np.isin(xs, list(skeleton[y]))] for y, xs in enumerate(candidates)]
    return PartlyDirected.of_dag(tabu_search(score, candidates, knowledge=knowledge, **options))


_TABU = {"tabu": 100, "patience": 15, "max_parents": None}
_HYBRID = {"rule": "or", **_TABU}
_ALL = (
    NetworkAlgorithm("pc-stable", "constraint", True, "Colombo & Maathuis 2014"),
    NetworkAlgorithm("mmhc", "hybrid", False, "Tsamardinos, Brown & Aliferis 2006", _tabu, "mmpc",
                     {"symmetry": False}, _HYBRID, "bdeu"),
    NetworkAlgorithm("h2pc", "hybrid", False, "Gasse, Aussem & Elghazel 2014", _tabu, "hpc", {}, _HYBRID, "bdeu"),
    NetworkAlgorithm("ges", "score", True, "Chickering 2002", _ges, defaults={"max_parents": None}, finds_class=True,
                     obeys=False),
    NetworkAlgorithm("xges", "score", True, "Nazaret & Blei 2024", _xges, defaults={"max_parents": None},
                     finds_class=True, obeys=False),
    NetworkAlgorithm("boss", "score", True, "Andrews et al. 2023", _boss,
                     defaults={"starts": None, "max_parents": None}, finds_class=True),
    NetworkAlgorithm("sca", "score", False, "Friedman, Nachman & Pe'er 1999", _sca, defaults={"k": 10, **_TABU}),
    NetworkAlgorithm("tabu", "score", False, "Glover & Laguna 1997", _tabu, defaults=_TABU),
)  # fmt: skip
NETWORK_ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}
"""The algorithm for `algorithm="auto"`."""

SKELETON_ALGORITHMS = {
    "pc-stable": Algorithm(
        "pc-stable", pc_skeleton, "skeleton", DIVIDE, True, NETWORK_ALGORITHMS["pc-stable"].paper, dof="adjusted"
    )
}
"""The algorithms that learn a skeleton pair by pair."""


@dataclass(frozen=True, slots=True)
class CausalAlgorithm:
    """A named algorithm that finds the causes and effects of a target."""

    name: str
    run: Callable[..., PartialAncestralGraph | None]
    """`run(local, target, **options)` learns blankets around a target; returns a graph of its own if common causes may
    be hidden."""
    sound: bool
    paper: str
    uses_directions: bool = True
    """Whether it uses directions that knowledge gives."""
    hidden: bool = False
    """Whether it allows for hidden common causes."""
    family: str = "local"
    finds: str = "causes"

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its options."""
        return tuple(inspect.signature(self.run).parameters)[2:]


_CAUSAL = (
    CausalAlgorithm("mb-by-mb", mb_by_mb, True, "Wang, Zhou, Zhao & Geng 2014"),
    CausalAlgorithm("ldecc", ldecc, True, "Gupta, Childers & Lipton 2023", uses_directions=False),
    CausalAlgorithm("mmb-by-mmb", mmb_by_mmb, True, "Xie, Li, Wu, Zeng, Liu & Geng 2024", uses_directions=False,
                    hidden=True),
)  # fmt: skip

CAUSAL_ALGORITHMS = {algorithm.name: algorithm for algorithm in _CAUSAL}


def algorithms() -> Records:
    """Return the table of algorithms.

    `serape.network` and `serape.skeleton` also take every algorithm that finds parents and children.

    Returns
    -------
    Records
        A row per algorithm: name, what it finds, family, whether it is sound, and its paper. `to_pandas()` makes a
        frame.

    Examples
    --------
    >>> sound = [row["name"] for row in serape.algorithms() if row["sound"] and row["finds"] == "blanket"]
    >>> "iamb" in sound
    True
    """
    columns = ("name", "finds", "family", "sound", "paper")
    every = (*ALGORITHMS.values(), *_ALL, *_CAUSAL)
    return Records({column: [getattr(a, column) for a in every] for column in columns})
