"""The kernels on a device: of which columns, for which question, and for which shapes each is faster than the core.

To add one, write it, and name it in `_ALL`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from serape.engines.gpu.pairs import MAX_STRONGEST
from serape.engines.gpu.subsets import MAX_SIZE
from serape.independence.backends import Pays, QuestionName, Shape
from serape.independence.device_correlations import pairs_by_correlation, search_each_by_correlation
from serape.independence.device_pairs import pairs_in_blocks, pairs_on_device
from serape.independence.device_pools import grow_pools_on_device
from serape.independence.device_separations import separate_on_device
from serape.independence.device_spouses import find_spouses_on_device
from serape.independence.device_subsets import search_each_on_device

LARGE_POOL = 2048
"""Variables of a pool from which on the way to a device pays (docs/gpu.md)."""


def _always(shape: Shape) -> bool:
    del shape
    return True


def _usual(shape: Shape) -> bool:
    return shape.usual


def _few_strongest(shape: Shape) -> bool:
    return shape.strongest <= MAX_STRONGEST


def _small_sets(shape: Shape) -> bool:
    return len(shape.sizes) > 0 and shape.sizes.start >= 1 and shape.sizes.stop - 1 <= MAX_SIZE


def _large_pool(shape: Shape) -> bool:
    return shape.usual and shape.pool >= LARGE_POOL and shape.sizes == range(1, 2)


@dataclass(frozen=True)
class DeviceKernel:
    """A question that a device answers."""

    columns: str
    """The `kind` of the columns on the device."""
    question: QuestionName
    answer: Callable[..., Any]
    """Takes the test, the columns on the device, and what the test's own method takes; None if the core must answer."""
    pays: Pays = _always
    together: int = 0
    """Of questions that are asked some at a time: how many in one call, at least."""


_ALL = (
    DeviceKernel("planes", "all pairs", pairs_on_device, _few_strongest),
    DeviceKernel("blocks of planes", "all pairs", pairs_in_blocks, _few_strongest),
    DeviceKernel("planes", "subsets", separate_on_device, _large_pool),
    DeviceKernel("planes", "subsets of many", search_each_on_device, _small_sets),
    DeviceKernel("planes", "growing pools", grow_pools_on_device, _usual),
    DeviceKernel("planes", "spouses", find_spouses_on_device, _usual, together=1024),
    DeviceKernel("correlations", "dependent pairs", pairs_by_correlation, _usual),
    DeviceKernel("correlations", "subsets of many", search_each_by_correlation, _small_sets),
)
DEVICE: Final[Mapping[tuple[str, QuestionName], DeviceKernel]] = {(one.columns, one.question): one for one in _ALL}
"""By the kind of columns and the question."""
PAYS: Final[Mapping[str, Mapping[QuestionName, Pays]]] = {
    columns: {one.question: one.pays for one in _ALL if one.columns == columns}
    for columns in dict.fromkeys(one.columns for one in _ALL)
}
