"""Asks whom `choose` names: how a test finds the kernel that answers its question.

Those on a device are in `device_kernels`, which is imported only where a device is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from serape.independence.backends import PATTERNS, QUESTIONS, Backend, Pays, QuestionName, Shape, choose
from serape.independence.outcomes import Poll, Tally
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.base import IndependenceTest

_NO_DEVICE: Final[Mapping[QuestionName, Pays]] = MappingProxyType({})


def device_questions(columns: str | None) -> Mapping[QuestionName, Pays]:
    """Return the questions that a device which keeps columns of this kind answers, and where this pays."""
    if columns is None:
        return _NO_DEVICE
    from serape.independence import device_kernels

    return device_kernels.PAYS[columns]


def who_answers(test: IndependenceTest, shape: Shape) -> Backend | None:
    """Return who answers a question for a test; None if it must be asked by pattern."""
    columns = test.device_columns
    device = device_questions(None if columns is None else columns.kind)
    return choose(shape, test.core_answers, device, on_cluster=test.on_cluster)


class AtOnce:
    """A kernel of a test: calling it is asking the question."""

    def __init__(self, test: IndependenceTest, backend: Backend, question: QuestionName) -> None:
        answers_itself = question in PATTERNS or question in test.core_answers
        self._own = getattr(test, QUESTIONS[question].method) if answers_itself else None
        self._test = test
        self._columns = test.device_columns if backend == "device" else None
        self._kernel = None
        if self._columns is not None:
            from serape.independence import device_kernels

            self._kernel = device_kernels.DEVICE[self._columns.kind, question]

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
