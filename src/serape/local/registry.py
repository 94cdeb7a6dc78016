"""The algorithms by name, and their properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from serape.errors import InputTypeError, OptionError, shown
from serape.local.boss_mb import boss_mb, boss_pc
from serape.local.dos import dos, dos_pc
from serape.local.fast_iamb import fast_iamb
from serape.local.fbed import fbed
from serape.local.gs import gs
from serape.local.hiton import hiton_mb, hiton_pc, hiton_pc_sets
from serape.local.hpc import hpc, hpc_mb
from serape.local.iamb import iamb
from serape.local.iamb_npc import iamb_npc, inter_iamb_npc
from serape.local.inter_iamb import inter_iamb
from serape.local.inter_iapc import inter_iapc
from serape.local.ipc_mb import ipc_mb, ipc_pc
from serape.local.max_min import mmmb, mmpc
from serape.local.pcmb import algorithm_mb, algorithm_pc, pcd
from serape.names import match, unknown
from serape.search import Pools
from serape.types import Finds, LocalAlgorithm

_TSAMARDINOS = "Tsamardinos, Aliferis & Statnikov 2003"
_TSAMARDINOS_KDD = "Tsamardinos, Aliferis & Statnikov 2003 (KDD)"
_ALIFERIS = "Aliferis, Tsamardinos & Statnikov 2003"
_PENA = "Peña, Björkegren & Tegnér 2005"
_MORAIS = "Rodrigues de Morais & Aussem 2010"
DIVIDE = "divide and conquer"
SetsAtOnce = Callable[..., Pools]
_HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A named algorithm."""

    name: str
    run: LocalAlgorithm
    finds: Finds | Literal["both", "skeleton"]
    """What it finds; a "skeleton" is learned pair by pair, not from neighbourhoods."""
    family: str
    sound: bool
    paper: str
    reliability: Literal["dof", "cells"] = "dof"
    """What `reliability="auto"` means for it."""
    dof: Literal["full", "adjusted"] = "full"
    """What `dof="auto"` means for it."""
    run_parents_children: LocalAlgorithm | None = None
    """The function for parents and children, if `run` finds the blanket and the name serves both questions."""
    one_sided: bool = False
    """Whether it keeps x though a search about x may not keep the target."""
    conditions_on_blanket: bool = False
    """Whether every test conditions on all members so far, so that a false discovery rate is bounded stepwise."""
    steps_are_sets: bool = False
    """Whether its only step about a variable is a set: neighbours that need not have it as a neighbour of theirs.

    It then asks for no separating sets to find parents and children.
    """
    sets_at_once: SetsAtOnce | None = None
    """The function that finds the sets of `steps_are_sets` for many targets in one question, as far as the test can."""
    hidden: Mapping[str, Any] | None = None
    """The options with which it finds the blanket where common causes are hidden too; None if it does not."""
    of_caller: bool = False
    """Whether it is code of the caller."""

    @property
    def shares(self) -> bool:
        """Whether it works in steps about single targets, which searches for several targets can share."""
        return self.family in (DIVIDE, _HYBRID)

    @property
    def separates_by_subsets(self) -> bool:
        """Whether it separates a variable from the target by subsets of the neighbourhood, not by the whole blanket."""
        return self.family == DIVIDE

    @property
    def either_side(self) -> bool:
        """Whether two variables are adjacent as soon as the tests of one of them show it."""
        return self.family == _HYBRID

    @property
    def by_pairs(self) -> bool:
        """Whether it learns a skeleton pair by pair, not from neighbourhoods."""
        return self.finds == "skeleton"

    def symmetric(self, options: Mapping[str, Any]) -> bool:
        """Whether x is in the parents and children of y exactly if y is in those of x, on any data."""
        symmetry = options.get("symmetry")
        if symmetry is None:  # as the functions read it: MMPC as published has none
            symmetry = not options.get("published", False)
        return self.family == DIVIDE and not self.one_sided and bool(symmetry)

    def answers(self, finds: Finds) -> bool:
        """Return whether it answers the question."""
        return self.finds in (finds, "both")

    def asked_for(self, finds: Finds) -> LocalAlgorithm:
        """Return the function that answers the question."""
        if finds == "parents-children" and self.run_parents_children is not None:
            return self.run_parents_children
        return self.run


_ALL = (
    Algorithm("gs", gs, "blanket", "incremental", True, "Margaritis & Thrun 1999", conditions_on_blanket=True,
              hidden={}),
    Algorithm("iamb", iamb, "blanket", "incremental", True, _TSAMARDINOS, conditions_on_blanket=True, hidden={}),
    Algorithm("inter-iamb", inter_iamb, "blanket", "incremental", True, _TSAMARDINOS, conditions_on_blanket=True,
              hidden={}),
    Algorithm("iamb-npc", iamb_npc, "blanket", "incremental", False, _TSAMARDINOS, conditions_on_blanket=True),
    Algorithm("inter-iamb-npc", inter_iamb_npc, "blanket", "incremental", False, _TSAMARDINOS,
              conditions_on_blanket=True),
    Algorithm("fast-iamb", fast_iamb, "blanket", "incremental", True, "Yaramakala & Margaritis 2005", "cells",
              conditions_on_blanket=True, hidden={}),
    Algorithm("fbed", fbed, "blanket", "incremental", True, "Borboudakis & Tsamardinos 2019",
              conditions_on_blanket=True, hidden={"k": "inf"}),
    Algorithm("inter-iapc", inter_iapc, "parents-children", "incremental", True, _MORAIS),
    Algorithm("mmpc", mmpc, "parents-children", DIVIDE, True, _TSAMARDINOS_KDD, dof="adjusted", steps_are_sets=True),
    Algorithm("mmmb", mmmb, "blanket", DIVIDE, True, _TSAMARDINOS_KDD, dof="adjusted"),
    Algorithm("hiton-pc", hiton_pc, "parents-children", DIVIDE, True, _ALIFERIS, dof="adjusted",
              steps_are_sets=True, sets_at_once=hiton_pc_sets),
    Algorithm("hiton-mb", hiton_mb, "blanket", DIVIDE, True, _ALIFERIS, dof="adjusted"),
    Algorithm("pcd", pcd, "parents-children", DIVIDE, False, _PENA, dof="adjusted", one_sided=True),
    Algorithm("pcmb", algorithm_mb, "both", DIVIDE, True, _PENA, dof="adjusted", run_parents_children=algorithm_pc),
    Algorithm("ipc-mb", ipc_mb, "both", DIVIDE, True, "Fu & Desmarais 2008", dof="adjusted",
              run_parents_children=ipc_pc),
    Algorithm("dos", dos, "both", DIVIDE, True, "Zeng, He, Xiang & Mao 2011", dof="adjusted",
              run_parents_children=dos_pc),
    Algorithm("hpc", hpc_mb, "both", _HYBRID, True, _MORAIS, dof="adjusted", run_parents_children=hpc),
    Algorithm("boss-mb", boss_mb, "both", "score", True, "Andrews et al. 2023", run_parents_children=boss_pc),
    Algorithm("hpc-mb", hpc_mb, "blanket", _HYBRID, True, _MORAIS, dof="adjusted"),
)  # fmt: skip
ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}
MANY_COLUMNS, MANY_ROWS = 500, 100_000
SPARSE_ROWS, SPARSE_COLUMNS = 100, 200
"""With at most so many rows and more columns of categories, hpc finds too many false members."""
VERY_MANY_COLUMNS = 200_000
"""With more columns of categories, thousands depend on the target by chance, and hpc takes minutes to compare them."""
FEW_ROWS, FEW_COLUMNS = 200, 100
"""With at most so many rows and columns that a score cannot use, hpc is the nearest to the truth."""
SCORED_COLUMNS, SCORED_ROWS = 150, 50_000
"""Up to so many columns, some of them numbers, and rows, boss-mb is as fast as the algorithms that use tests alone."""


DataKind = Literal["categorical", "numbers", "gaps", "unknown"]
"""Of columns: categories alone, numbers or both, either of these with missing values, or a test of the caller's own."""


def automatic(finds: Finds, columns: int, rows: int, kind: DataKind) -> str:
    """Return the most accurate algorithm for such data among the fast ones (docs/choosing.md).

    If the data are a test of the caller's own, the algorithm asks few questions.
    """
    blanket = finds == "blanket"
    if kind == "unknown":
        return "iamb" if blanket else "inter-iapc"
    if kind == "numbers" and columns <= SCORED_COLUMNS and rows <= SCORED_ROWS:
        return "boss-mb"
    sparse = rows <= SPARSE_ROWS and columns > SPARSE_COLUMNS
    if kind == "categorical" and (sparse or columns > VERY_MANY_COLUMNS):
        return "iamb" if blanket else "hiton-pc"
    if (kind == "categorical" and rows <= MANY_ROWS) or (rows <= FEW_ROWS and columns <= FEW_COLUMNS):
        return "hpc"
    if not blanket:
        return "hiton-pc"
    return "iamb" if columns <= MANY_COLUMNS else "fbed"


def find_algorithm(algorithm: object, finds: Finds) -> Algorithm | None:
    """Return the algorithm of a name, or one made of a callable; None if the name is not known.

    An algorithm that does not answer the question is refused.
    """
    if callable(algorithm):
        return own_algorithm(algorithm, finds)
    if not isinstance(algorithm, str):
        raise InputTypeError(f"algorithm must be a name or a callable, not {shown(algorithm)}")
    name = match(algorithm, ALGORITHMS)
    if name is None:
        return None
    found = ALGORITHMS[name]
    if not found.answers(finds):
        other, wanted = _WORDS["parents-children" if finds == "blanket" else "blanket"], _WORDS[finds]
        known = ", ".join(map(repr, names_of(finds)))
        raise OptionError(f"algorithm {name!r} finds {other} only; for {wanted} use one of {known}")
    return found


def own_algorithm(algorithm: LocalAlgorithm, finds: Finds) -> Algorithm:
    """Return the algorithm made of a caller's own function."""
    function = getattr(algorithm, "func", algorithm)  # of a functools.partial
    name = getattr(function, "__name__", type(function).__name__)
    return Algorithm(name, algorithm, finds, "custom", False, "", of_caller=True)


def names_of(finds: Finds) -> list[str]:
    """Return the names of the algorithms that answer the question."""
    return [name for name, algorithm in ALGORITHMS.items() if algorithm.answers(finds)]


def unknown_algorithm(algorithm: object, known: list[str]) -> OptionError:
    """Return the error for an unknown algorithm."""
    return OptionError(unknown("algorithm", algorithm, ["auto", *known]))


_WORDS: Mapping[Finds, str] = {"blanket": "the blanket", "parents-children": "parents and children"}
