"""The algorithms that find whole networks, and the table of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serape.local.registry import ALGORITHMS
from serape.results.records import Records

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
    takes: tuple[str, ...] = ()
    """Its options."""

    score: Literal["bdeu", "bic"] = "bic"
    """What `score="auto"` means for it."""
    finds: str = "network"


_TABU = ("tabu", "patience", "max_parents")
_ALL = (
    NetworkAlgorithm("pc-stable", "constraint", True, "Colombo & Maathuis 2014"),
    NetworkAlgorithm("mmhc", "hybrid", False, "Tsamardinos, Brown & Aliferis 2006", "mmpc", ("rule", *_TABU), "bdeu"),
    NetworkAlgorithm("h2pc", "hybrid", False, "Gasse, Aussem & Elghazel 2014", "hpc", ("rule", *_TABU), "bdeu"),
    NetworkAlgorithm("ges", "score", True, "Chickering 2002", takes=("max_parents",)),
    NetworkAlgorithm("sca", "score", False, "Friedman, Nachman & Pe'er 1999", takes=("k", *_TABU)),
    NetworkAlgorithm("tabu", "score", False, "Glover & Laguna 1997", takes=_TABU),
)
NETWORK_ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}


def algorithms() -> Records:
    """Return the table of algorithms: name, what it finds, family, whether it is sound, and its paper.

    `serape.network` and `serape.skeleton` take also every algorithm that finds parents and children.
    """
    columns = ("name", "finds", "family", "sound", "paper")
    every = (*ALGORITHMS.values(), *_ALL)
    return Records({column: [getattr(a, column) for a in every] for column in columns})
