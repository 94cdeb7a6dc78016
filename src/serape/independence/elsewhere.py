"""What devices and clusters answer: which questions, of which columns, and where this pays.

To add a kernel on a device, write it, and name it in `_ALL`: the kind of columns that it takes, the question that it
answers, and for which shapes of the question it is faster than the core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from serape.engines.gpu.pairs import MAX_STRONGEST
from serape.engines.gpu.subsets import MAX_SIZE
from serape.independence.backends import Backend, Offer, Pays, QuestionName, Shape
from serape.independence.device_correlations import pairs_by_correlation, search_each_by_correlation
from serape.independence.device_pairs import pairs_in_blocks, pairs_on_device
from serape.independence.device_pools import grow_pools_on_device
from serape.independence.device_separations import separate_on_device
from serape.independence.device_spouses import find_spouses_on_device
from serape.independence.device_subsets import search_each_on_device
from serape.independence.near import each_given_rest_near, search_near

LARGE_POOL = 2048
"""The least number of variables in a pool for which asking a device pays (docs/gpu.md)."""


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
class Elsewhere:
    """A question that a device or a cluster answers."""

    kind: str
    """The `kind` of the columns on the device, or of what fetches from the cluster."""
    question: QuestionName
    answer: Callable[..., Any]
    """Takes the test, these columns or what fetches, and what the test's own method takes.

    It returns None if the test itself must answer.
    """
    pays: Pays = _always
    together: int = 0
    """For a question about many variables that is asked in parts: the least number of them in one call."""


_ALL: Final[Mapping[Backend, tuple[Elsewhere, ...]]] = {
    "device": (
        Elsewhere("planes", "all pairs", pairs_on_device, _few_strongest),
        Elsewhere("blocks of planes", "all pairs", pairs_in_blocks, _few_strongest),
        Elsewhere("planes", "subsets", separate_on_device, _large_pool),
        Elsewhere("planes", "subsets of many", search_each_on_device, _small_sets),
        Elsewhere("planes", "growing pools", grow_pools_on_device, _usual),
        Elsewhere("planes", "spouses", find_spouses_on_device, _usual, together=1024),
        Elsewhere("correlations", "dependent pairs", pairs_by_correlation, _usual),
        Elsewhere("correlations", "subsets of many", search_each_by_correlation, _small_sets),
    ),
    "cluster": (
        Elsewhere("fetched", "subsets", search_near),
        Elsewhere("fetched", "each given the rest", each_given_rest_near),
    ),
}
ELSEWHERE: Final[Mapping[tuple[str, QuestionName], Elsewhere]] = {
    (one.kind, one.question): one for some in _ALL.values() for one in some
}
"""What answers, by the kind of the columns or of what fetches, and by the question."""
OFFERS: Final[Mapping[str, Offer]] = {
    kind: Offer(backend, {one.question: one.pays for one in some if one.kind == kind})
    for backend, some in _ALL.items()
    for kind in dict.fromkeys(one.kind for one in some)
}
"""The questions that are answered elsewhere, by the same kind."""
