"""The algorithms by name, and what each promises."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

from serape.errors import InputTypeError, OptionError, suggestion
from serape.local.gs import gs
from serape.local.iamb import iamb
from serape.results.records import Records

LocalAlgorithm = Callable[..., Any]
"""`algorithm(search, target, **options)`: returns the variables found (positions or names)."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A named algorithm."""

    name: str
    run: LocalAlgorithm
    finds: Literal["blanket"]
    family: str
    sound: bool
    paper: str


_ALL = (
    Algorithm("gs", gs, "blanket", "incremental", True, "Margaritis & Thrun 1999"),
    Algorithm("iamb", iamb, "blanket", "incremental", True, "Tsamardinos, Aliferis & Statnikov 2003"),
)
ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}
AUTOMATIC = "iamb"


def algorithms() -> Records:
    """Return the table of algorithms: name, what it finds, family, whether it is sound, and its paper."""
    columns = ("name", "finds", "family", "sound", "paper")
    return Records({column: [getattr(a, column) for a in _ALL] for column in columns})


def find_algorithm(algorithm: str | LocalAlgorithm, finds: Collection[str]) -> Algorithm:
    """Return the algorithm of a name that finds what is asked, or one made of a callable."""
    if callable(algorithm):
        name = getattr(algorithm, "__name__", type(algorithm).__name__)
        return Algorithm(name, algorithm, "blanket", "custom", False, "")
    if not isinstance(algorithm, str):
        raise InputTypeError(f"an algorithm is a name or a callable, not {algorithm!r}")
    if algorithm == "auto":
        return ALGORITHMS[AUTOMATIC]
    known = [name for name, a in ALGORITHMS.items() if a.finds in finds]
    if algorithm not in known:
        choices = ", ".join(map(repr, known))
        raise OptionError(
            f"algorithm {algorithm!r} is not known.{suggestion(algorithm, known)} Known are 'auto', {choices}."
        )
    return ALGORITHMS[algorithm]
