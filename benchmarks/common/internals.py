"""The parts of serape below its public interface that benchmarks need; no other benchmark imports them.

The exception is `serape.studies`, which is loaded only where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from serape._core import PackedTable, instruction_set
from serape.data.columns import WideColumns
from serape.data.resampling import Resampler
from serape.files import atomic_write
from serape.independence import G2, TESTS, X2, ContingencyTest
from serape.independence.partial_correlation import FisherZ
from serape.independence.registry import Rules, make_test
from serape.local.hpc import de_pcs, de_sps, hpc
from serape.local.inter_iapc import inter_iapc_among
from serape.local.registry import ALGORITHMS
from serape.questions.blankets import ask_of_many
from serape.questions.draws import rows_of_draw
from serape.questions.query import Query
from serape.results.comparison import true_members
from serape.results.stability import SAMPLINGS
from serape.settings import Settings
from serape.skeletons.pc import pc_skeleton
from serape.structure.orientation import orient
from serape.structure.scores import make_score
from serape.types import DofRule, Finds

__all__ = [
    "ALGORITHMS",
    "G2",
    "SAMPLINGS",
    "TESTS",
    "X2",
    "ContingencyTest",
    "DofRule",
    "Finds",
    "FisherZ",
    "Resampler",
    "Rules",
    "atomic_write",
    "find_many",
    "hpc",
    "hpc_superset",
    "instruction_set",
    "inter_iapc_among",
    "make_score",
    "make_test",
    "orient",
    "pack_blocks",
    "pc_skeleton",
    "rows_of_draw",
    "true_members",
]


def find_many(
    data: Any,
    finds: Finds,
    algorithm: str,
    alpha: float,
    targets: Iterable[int],
    dof: DofRule = "auto",
    progress: Callable[[serape.Progress], None] | bool = False,
    **others: Any,
) -> dict[str, serape.Result]:
    """Find the blankets, or the parents and children, of many targets in one call, as `serape.blankets` does."""
    settings = Settings.of(algorithm=algorithm, alpha=alpha, dof=dof, progress=progress, **others)
    return ask_of_many(Query.resolve(data, finds, settings), list(targets), settings.run)


def pack_blocks(variables: int, rows: int, blocks: Iterable[NDArray[np.uint8]]) -> serape.Table:
    """Pack binary columns that arrive in blocks, as `serape.Table` packs an array, without the whole array."""
    packed = PackedTable(rows)
    packed.reserve_planes(variables)
    for block in blocks:
        packed.append_block(block, np.full(block.shape[1], 2, np.uint32))
    names = [f"x{k}" for k in range(variables)]
    levels, reasons = [(0, 1)] * variables, ["whole numbers, 2 distinct"] * variables
    return serape.Table(WideColumns(names, rows, [], packed, levels, reasons, ["categorical"] * variables))


def hpc_superset(search: serape.Search, target: int) -> Sequence[int]:
    """Return the superset of parents, children and spouses within which HPC searches."""
    superset, separating = de_pcs(search, target)
    return sorted({*superset, *de_sps(search, target, superset, separating)})
