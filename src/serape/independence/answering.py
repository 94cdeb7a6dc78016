"""Asks whom `choose` names: the kernels on a device, and how a test finds the one that answers its question.

To add a kernel on a device, write it, and name it in `_ALL`: of which columns on a device, for which question, and for
which shapes it is faster than the core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from serape.engines.gpu.pairs import MAX_STRONGEST
from serape.engines.gpu.subsets import MAX_SIZE
from serape.independence.backends import PATTERNS, QUESTIONS, Backend, Pays, QuestionName, Shape, choose
from serape.independence.device_correlations import pairs_by_correlation, search_each_by_correlation
from serape.independence.device_pairs import pairs_in_blocks, pairs_on_device
from serape.independence.device_pools import grow_pools_on_device
from serape.independence.device_separations import separate_on_device
from serape.independence.device_spouses import find_spouses_on_device
from serape.independence.device_subsets import search_each_on_device
from serape.independence.outcomes import Poll, Tally
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.base import IndependenceTest

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
_PAYS: Final[Mapping[str, Mapping[QuestionName, Pays]]] = {
    columns: {one.question: one.pays for one in _ALL if one.columns == columns}
    for columns in dict.fromkeys(one.columns for one in _ALL)
}
_NO_DEVICE: Final[Mapping[QuestionName, Pays]] = MappingProxyType({})


def device_questions(columns: str | None) -> Mapping[QuestionName, Pays]:
    """Return the questions that a device which keeps columns of this kind answers, and where this pays."""
    return _NO_DEVICE if columns is None else _PAYS[columns]


def who_answers(test: IndependenceTest, shape: Shape) -> Backend | None:
    """Return who answers a question for a test; None if it must be asked by pattern."""
    columns = test.device_columns
    device = _NO_DEVICE if columns is None else _PAYS[columns.kind]
    return choose(shape, test.core_answers, device, on_cluster=test.on_cluster)


class AtOnce:
    """A kernel of a test: calling it is asking the question."""

    def __init__(self, test: IndependenceTest, backend: Backend, question: QuestionName) -> None:
        answers_itself = question in PATTERNS or question in test.core_answers
        self._own = getattr(test, QUESTIONS[question].method) if answers_itself else None
        self._test = test
        self._columns = test.device_columns if backend == "device" else None
        self._kernel = None if self._columns is None else DEVICE[self._columns.kind, question]

    @property
    def together(self) -> int:
        """Of questions that are asked some at a time: how many in one call, at least."""
        return 0 if self._kernel is None else self._kernel.together

    def __call__(self, *asked: Any, **options: Any) -> Any:
        """Return the answer; None if it must be asked by pattern after all."""
        if self._kernel is not None:
            found = self._kernel.answer(self._test, self._columns, *asked, **options)
            if found is not None:
                return found
        return None if self._own is None else self._own(*asked, **options)


def at_once(test: IndependenceTest, shape: Shape) -> AtOnce | None:
    """Return what answers a kernel's question; None if it must be asked by pattern."""
    backend = who_answers(test, shape)
    return None if backend is None else AtOnce(test, backend, shape.question)


def search_subsets(
    test: IndependenceTest, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
) -> tuple[SubsetResult, Tally]:
    """Search the conditioning sets of a query."""
    if test.device_columns is None:  # there is no choice, and searches ask a great many of these
        return test.search_subsets(query, threads=threads, poll=poll)
    one_by_one = query.shrinking and not query.until_survivor and query.max_tests is None and query.n_exhausted == -1
    plain = len(query.fixed) == 0 and query.max_size != 0 and query.stop_above is not None
    ask = at_once(test, Shape("subsets", len(query.pool), query.sizes, usual=one_by_one and plain))
    assert ask is not None
    found: tuple[SubsetResult, Tally] = ask(query, threads=threads, poll=poll)
    return found
