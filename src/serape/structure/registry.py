"""The algorithms that find whole networks, each with the function that runs it, and the table of all algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from serape.knowledge import BoundKnowledge
from serape.local.registry import ALGORITHMS, DIVIDE, Algorithm
from serape.records import Records
from serape.skeletons.pc import pc_skeleton
from serape.structure.ges import ges
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import allowed, possible_parents, tabu_search

Family = Literal["constraint", "hybrid", "score"]
Skeleton = Mapping[int, set[int]]
"""The neighbours of every variable, to which a search is confined."""
ScoreSearch = Callable[..., PartlyDirected]
"""`search(score, skeleton, knowledge=…, threads=…, watch=…, **options)`: returns the best graph it finds."""


@dataclass(frozen=True, slots=True)
class NetworkAlgorithm:
    """A named algorithm that finds a network."""

    name: str
    family: Family
    sound: bool
    """Whether it is exact given perfect tests, or as rows grow without end."""
    paper: str
    search: ScoreSearch | None = None
    """The search by score; None where tests alone decide."""
    learner: str = ""
    """The learner of parents and children that confines the search."""
    learner_options: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Its options."""
    score: Literal["bdeu", "bic"] = "bic"
    """What `score="auto"` means for it."""
    finds_class: bool = False
    """Whether it searches equivalence classes: it needs equal scores within a class, and heeds forbidden pairs alone."""
    finds: str = "network"


def _ges(score: Score, skeleton: Skeleton | None, **how: Any) -> PartlyDirected:
    del skeleton
    return ges(score, **how)


def _sca(score: Score, skeleton: Skeleton | None, **how: Any) -> PartlyDirected:
    del skeleton
    return PartlyDirected.of_dag(sparse_candidate(score, **how))


def _tabu(
    score: Score, skeleton: Skeleton | None, knowledge: BoundKnowledge | None = None, **how: Any
) -> PartlyDirected:
    candidates = possible_parents(len(score.variables), knowledge)
    if skeleton is not None:
        confined = [np.array(sorted(skeleton[y]), np.uint32) for y in range(len(score.variables))]
        candidates = [allowed(y, xs, knowledge) for y, xs in enumerate(confined)]
    return PartlyDirected.of_dag(tabu_search(score, candidates, knowledge=knowledge, **how))


_TABU = {"tabu": 100, "patience": 15, "max_parents": None}
_HYBRID = {"rule": "or", **_TABU}
_ALL = (
    NetworkAlgorithm("pc-stable", "constraint", True, "Colombo & Maathuis 2014"),
    NetworkAlgorithm("mmhc", "hybrid", False, "Tsamardinos, Brown & Aliferis 2006", _tabu, "mmpc",
                     {"symmetry": False}, _HYBRID, "bdeu"),
    NetworkAlgorithm("h2pc", "hybrid", False, "Gasse, Aussem & Elghazel 2014", _tabu, "hpc", {}, _HYBRID, "bdeu"),
    NetworkAlgorithm("ges", "score", True, "Chickering 2002", _ges, defaults={"max_parents": None}, finds_class=True),
    NetworkAlgorithm("sca", "score", False, "Friedman, Nachman & Pe'er 1999", _sca, defaults={"k": 10, **_TABU}),
    NetworkAlgorithm("tabu", "score", False, "Glover & Laguna 1997", _tabu, defaults=_TABU),
)  # fmt: skip
NETWORK_ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}
DEFAULT_NETWORK = "mmhc"
"""What `algorithm="auto"` means for a network."""

SKELETON_ALGORITHMS = {
    "pc-stable": Algorithm(
        "pc-stable", pc_skeleton, "skeleton", DIVIDE, True, NETWORK_ALGORITHMS["pc-stable"].paper, dof="adjusted"
    )
}
"""The algorithms that learn a skeleton pair by pair."""


def algorithms() -> Records:
    """Return the table of algorithms: name, what it finds, family, whether it is sound, and its paper.

    `serape.network` and `serape.skeleton` also take every algorithm that finds parents and children.
    """
    columns = ("name", "finds", "family", "sound", "paper")
    every = (*ALGORITHMS.values(), *_ALL)
    return Records({column: [getattr(a, column) for a in every] for column in columns})
