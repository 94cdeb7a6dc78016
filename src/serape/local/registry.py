"""The algorithms by name, and what each promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from serape.errors import InputTypeError, OptionError, suggestion
from serape.local.fast_iamb import fast_iamb
from serape.local.gs import gs
from serape.local.iamb import iamb
from serape.local.iamb_npc import iamb_npc, inter_iamb_npc
from serape.local.inter_iamb import inter_iamb
from serape.local.inter_iapc import inter_iapc
from serape.results.records import Records
from serape.results.result import Finds

LocalAlgorithm = Callable[..., Any]
"""`algorithm(search, target, **options)`: returns the variables found (positions or names), or an `Answer`."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A named algorithm."""

    name: str
    run: LocalAlgorithm
    finds: Finds
    family: str
    sound: bool
    paper: str
    reliability: Literal["dof", "cells"] = "dof"
    """What `reliability="auto"` means for it."""


_TSAMARDINOS = "Tsamardinos, Aliferis & Statnikov 2003"
_ALL = (
    Algorithm("gs", gs, "blanket", "incremental", True, "Margaritis & Thrun 1999"),
    Algorithm("iamb", iamb, "blanket", "incremental", True, _TSAMARDINOS),
    Algorithm("inter-iamb", inter_iamb, "blanket", "incremental", True, _TSAMARDINOS),
    Algorithm("iamb-npc", iamb_npc, "blanket", "incremental", False, _TSAMARDINOS),
    Algorithm("inter-iamb-npc", inter_iamb_npc, "blanket", "incremental", False, _TSAMARDINOS),
    Algorithm("fast-iamb", fast_iamb, "blanket", "incremental", True, "Yaramakala & Margaritis 2005", "cells"),
    Algorithm("inter-iapc", inter_iapc, "parents-children", "incremental", True, "Rodrigues de Morais & Aussem 2010"),
)
ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}
AUTOMATIC: dict[Finds, str] = {"blanket": "iamb", "parents-children": "inter-iapc"}


def algorithms() -> Records:
    """Return the table of algorithms: name, what it finds, family, whether it is sound, and its paper."""
    columns = ("name", "finds", "family", "sound", "paper")
    return Records({column: [getattr(a, column) for a in _ALL] for column in columns})


def find_algorithm(algorithm: str | LocalAlgorithm, finds: Finds) -> Algorithm:
    """Return the algorithm of a name that finds what is asked, or one made of a callable."""
    if callable(algorithm):
        name = getattr(algorithm, "__name__", type(algorithm).__name__)
        return Algorithm(name, algorithm, finds, "custom", False, "")
    if not isinstance(algorithm, str):
        raise InputTypeError(f"an algorithm is a name or a callable, not {algorithm!r}")
    if algorithm == "auto":
        return ALGORITHMS[AUTOMATIC[finds]]
    known = [name for name, a in ALGORITHMS.items() if a.finds == finds]
    if algorithm not in known:
        choices = ", ".join(map(repr, known))
        raise OptionError(
            f"algorithm {algorithm!r} is not known.{suggestion(algorithm, known)} Known are 'auto', {choices}."
        )
    return ALGORITHMS[algorithm]
