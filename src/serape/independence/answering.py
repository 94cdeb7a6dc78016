"""Asks whom `choose` names: how a test finds who answers its question.

What devices and clusters answer is in `elsewhere`, which is imported only for a test that has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serape.independence.backends import (
    NO_OFFER,
    PATTERNS,
    QUESTIONS,
    Backend,
    DeviceColumns,
    Offer,
    QuestionName,
    Shape,
    choose,
)
from serape.independence.outcomes import Candidates, Poll, Tally
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.base import IndependenceTest
    from serape.independence.near import Fetcher


def _elsewhere(test: IndependenceTest) -> DeviceColumns | Fetcher | None:
    """Return what is on a device, or fetches from a cluster: a test has one at most."""
    return test.device_columns if test.fetcher is None else test.fetcher


def _offer(test: IndependenceTest) -> Offer:
    """Return what is answered elsewhere for a test."""
    there = _elsewhere(test)
    if there is None:
        return NO_OFFER
    from serape.independence.elsewhere import OFFERS

    return OFFERS[there.kind]


def who_answers(test: IndependenceTest, shape: Shape) -> Backend | None:
    """Return who answers a question for a test; None if it must be asked by pattern."""
    return choose(shape, test.core_answers, _offer(test))


class AtOnce:
    """A question of a test: calling it is asking."""

    def __init__(self, test: IndependenceTest, backend: Backend, question: QuestionName) -> None:
        answers_itself = question in PATTERNS or question in test.core_answers
        self._own = getattr(test, QUESTIONS[question].method) if answers_itself else None
        self._test = test
        self._there = None if backend in ("core", "plain") else _elsewhere(test)
        self._kernel = None
        if self._there is not None:
            from serape.independence.elsewhere import ELSEWHERE

            self._kernel = ELSEWHERE[self._there.kind, question]

    @property
    def together(self) -> int:
        """For a question about many variables that is asked in parts: the least number of them in one call."""
        return 0 if self._kernel is None else self._kernel.together

    def __call__(self, *asked: Any, **options: Any) -> Any:
        """Return the answer; None if it must be asked by pattern after all."""
        if self._kernel is not None:
            found = self._kernel.answer(self._test, self._there, *asked, **options)
            if found is not None:
                return found
        return None if self._own is None else self._own(*asked, **options)


def at_once(test: IndependenceTest, shape: Shape) -> AtOnce | None:
    """Return what answers a question; None if it must be asked by pattern."""
    backend = who_answers(test, shape)
    return None if backend is None else AtOnce(test, backend, shape.question)


def search_subsets(
    test: IndependenceTest, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
) -> tuple[SubsetResult, Tally]:
    """Search the conditioning sets of a query."""
    if _elsewhere(test) is None:  # there is no choice, and searches ask a great many of these
        return test.search_subsets(query, threads=threads, poll=poll)
    one_by_one = query.shrinking and not query.until_survivor and query.max_tests is None and query.n_exhausted == -1
    plain = len(query.fixed) == 0 and query.max_size != 0 and query.stop_above is not None
    ask = at_once(test, Shape("subsets", len(query.pool), query.sizes, usual=one_by_one and plain))
    assert ask is not None
    found: tuple[SubsetResult, Tally] = ask(query, threads=threads, poll=poll)
    return found


def each_given_rest(
    test: IndependenceTest,
    xs: Candidates,
    target: int,
    pool: Candidates,
    stop_above: float,
    *,
    max_size: int | None = None,
    poll: Poll | None = None,
) -> tuple[SubsetResult, Tally]:
    """Test each x in turn given the rest of the pool."""
    if _elsewhere(test) is None:
        return test.test_each_given_rest(xs, target, pool, stop_above, max_size=max_size, poll=poll)
    ask = at_once(test, Shape("each given the rest"))
    assert ask is not None
    found: tuple[SubsetResult, Tally] = ask(xs, target, pool, stop_above, max_size=max_size, poll=poll)
    return found
