"""The algorithms by name, and what each promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from serape.errors import InputTypeError, OptionError, suggestion
from serape.local.dos import dos, dos_pc
from serape.local.fast_iamb import fast_iamb
from serape.local.gs import gs
from serape.local.hiton import hiton_mb, hiton_pc
from serape.local.hpc import hpc, hpc_mb
from serape.local.iamb import iamb
from serape.local.iamb_npc import iamb_npc, inter_iamb_npc
from serape.local.inter_iamb import inter_iamb
from serape.local.inter_iapc import inter_iapc
from serape.local.ipc_mb import ipc_mb, ipc_pc
from serape.local.max_min import mmmb, mmpc
from serape.local.pcmb import algorithm_mb, algorithm_pc
from serape.results.result import Finds

LocalAlgorithm = Callable[..., Any]
"""`algorithm(search, target, **options)`: returns the variables found (positions or names), or an `Answer`."""


_TSAMARDINOS = "Tsamardinos, Aliferis & Statnikov 2003"
_TSAMARDINOS_KDD = "Tsamardinos, Aliferis & Statnikov 2003 (KDD)"
_ALIFERIS = "Aliferis, Tsamardinos & Statnikov 2003"
_MORAIS = "Rodrigues de Morais & Aussem 2010"
DIVIDE = "divide and conquer"
_HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A named algorithm."""

    name: str
    run: LocalAlgorithm
    finds: Finds | Literal["both"]
    family: str
    sound: bool
    paper: str
    reliability: Literal["dof", "cells"] = "dof"
    """What `reliability="auto"` means for it."""
    dof: Literal["full", "adjusted"] = "full"
    """What `dof="auto"` means for it."""
    run_parents_children: LocalAlgorithm | None = None
    """What answers for parents and children, where `run` finds the blanket and the name serves both questions."""

    @property
    def shares(self) -> bool:
        """Whether it goes in steps about single targets that searches for other targets can take from it."""
        return self.family in (DIVIDE, _HYBRID)

    @property
    def parts_by_subsets(self) -> bool:
        """Whether it parts a variable from the target by subsets of the neighbourhood, not given the whole blanket."""
        return self.family == DIVIDE

    def symmetric(self, options: Mapping[str, Any]) -> bool:
        """Whether x is among y's parents and children exactly if y is among x's, on any data."""
        return self.family == DIVIDE and options.get("symmetry", True) is not False

    def answers(self, finds: Finds) -> bool:
        """Return whether it finds what is asked."""
        return self.finds in (finds, "both")

    def asked_for(self, finds: Finds) -> LocalAlgorithm:
        """Return the function that finds what is asked."""
        if finds == "parents-children" and self.run_parents_children is not None:
            return self.run_parents_children
        return self.run


_ALL = (
    Algorithm("gs", gs, "blanket", "incremental", True, "Margaritis & Thrun 1999"),
    Algorithm("iamb", iamb, "blanket", "incremental", True, _TSAMARDINOS),
    Algorithm("inter-iamb", inter_iamb, "blanket", "incremental", True, _TSAMARDINOS),
    Algorithm("iamb-npc", iamb_npc, "blanket", "incremental", False, _TSAMARDINOS),
    Algorithm("inter-iamb-npc", inter_iamb_npc, "blanket", "incremental", False, _TSAMARDINOS),
    Algorithm("fast-iamb", fast_iamb, "blanket", "incremental", True, "Yaramakala & Margaritis 2005", "cells"),
    Algorithm("inter-iapc", inter_iapc, "parents-children", "incremental", True, _MORAIS),
    Algorithm("mmpc", mmpc, "parents-children", DIVIDE, True, _TSAMARDINOS_KDD, dof="adjusted"),
    Algorithm("mmmb", mmmb, "blanket", DIVIDE, True, _TSAMARDINOS_KDD, dof="adjusted"),
    Algorithm("hiton-pc", hiton_pc, "parents-children", DIVIDE, True, _ALIFERIS, dof="adjusted"),
    Algorithm("hiton-mb", hiton_mb, "blanket", DIVIDE, True, _ALIFERIS, dof="adjusted"),
    Algorithm("pcmb", algorithm_mb, "both", DIVIDE, True, "Peña, Björkegren & Tegnér 2005", dof="adjusted",
              run_parents_children=algorithm_pc),
    Algorithm("ipc-mb", ipc_mb, "both", DIVIDE, True, "Fu & Desmarais 2008", dof="adjusted",
              run_parents_children=ipc_pc),
    Algorithm("dos", dos, "both", DIVIDE, True, "Zeng, He, Xiang & Mao 2011", dof="adjusted",
              run_parents_children=dos_pc),
    Algorithm("hpc", hpc_mb, "both", _HYBRID, True, _MORAIS, dof="adjusted", run_parents_children=hpc),
    Algorithm("hpc-mb", hpc_mb, "blanket", _HYBRID, True, _MORAIS, dof="adjusted"),
)  # fmt: skip
ALGORITHMS = {algorithm.name: algorithm for algorithm in _ALL}
_NETWORKS = ("pc-stable", "mmhc", "h2pc", "ges", "sca", "tabu")
MANY_COLUMNS = 500


def automatic(finds: Finds, columns: int, kind: Literal["categorical", "numbers", "unknown"]) -> str:
    """Return the algorithm that is nearest to the truth for such data and ends soon (docs/choosing.md).

    `kind` is "unknown" where answers come from a test that somebody else has made: few questions are asked of it.
    """
    blanket = finds == "blanket"
    if kind == "unknown":
        return "iamb" if blanket else "inter-iapc"
    if columns > MANY_COLUMNS:
        return "hiton-mb" if blanket else "hiton-pc"
    if kind == "categorical":
        return "hpc"
    return "iamb" if blanket else "hiton-pc"


def find_algorithm(algorithm: str | LocalAlgorithm, finds: Finds) -> Algorithm:
    """Return the algorithm of a name that finds what is asked, or one made of a callable."""
    if callable(algorithm):
        name = getattr(algorithm, "__name__", type(algorithm).__name__)
        return Algorithm(name, algorithm, finds, "custom", False, "")
    if not isinstance(algorithm, str):
        raise InputTypeError(f"an algorithm is a name or a callable, not {algorithm!r}")
    known = [name for name, a in ALGORITHMS.items() if a.answers(finds)]
    if algorithm in ALGORITHMS and algorithm not in known:
        other = "parents and children" if finds == "blanket" else "the blanket"
        wanted = "the blanket" if finds == "blanket" else "parents and children"
        raise OptionError(
            f"algorithm {algorithm!r} finds {other} only; for {wanted} there are {', '.join(map(repr, known))}."
        )
    if algorithm in _NETWORKS:
        raise OptionError(
            f"algorithm {algorithm!r} finds a whole network; ask serape.network (`serape network` on the command "
            f"line), or choose another name"
        )
    if algorithm not in known:
        choices = ", ".join(map(repr, known))
        raise OptionError(
            f"algorithm {algorithm!r} is not known.{suggestion(algorithm, known)} Known are 'auto', {choices}."
        )
    return ALGORITHMS[algorithm]
