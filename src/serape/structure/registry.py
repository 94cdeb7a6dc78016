"""The algorithms that find whole networks, and the table of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from serape.local.registry import ALGORITHMS
from serape.records import Records

Family = Literal["constraint", "hybrid", "score"]


@dataclass(frozen=True, slots=True)
class NetworkAlgorithm:
    """A named algorithm that finds a network."""

    name: str
    family: Family
    sound: bool
    """Whether it is exact given perfect tests, or as rows grow without end."""
    paper: str
    learner: str = ""
    """The learner of parents and children behind it."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Its options."""

    score: Literal["bdeu", "bic"] = "bic"
    """What `score="auto"` means for it."""
    finds: str = "network"


_TABU = {"tabu": 100, "patience": 15, "max_parents": None}
_HYBRID = {"rule": "or", **_TABU}
_ALL = (
    NetworkAlgorithm("pc-stable", "constraint", True, "Colombo & Maathuis 2014"),
    NetworkAlgorithm("mmhc", "hybrid", False, "Tsamardinos, Brown & Aliferis 2006", "mmpc", _HYBRID, "bdeu"),
    NetworkAlgorithm("h2pc", "hybrid", False, "Gasse, Aussem & Elghazel 2014", "hpc", _HYBRID, "bdeu"),
    NetworkAlgorithm("ges", "score", True, "Chickering 2002", defaults={"max_parents": None}),
    NetworkAlgorithm("sca", "score", False, "Friedman, Nachman & Pe'er 1999", defaults={"k": 10, **_TABU}),
    NetworkAlgorithm("tabu", "score", False, "Glover & Laguna 1997", defaults=_TABU),
)
NETWORK_ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}


def algorithms() -> Records:
    """Return the table of algorithms: name, what it finds, family, whether it is sound, and its paper.

    `serape.network` and `serape.skeleton` take also every algorithm that finds parents and children.
    """
    columns = ("name", "finds", "family", "sound", "paper")
    every = (*ALGORITHMS.values(), *_ALL)
    return Records({column: [getattr(a, column) for a in every] for column in columns})
