"""Searches in data on a cluster that are answered here: an ordinary test asks what was fetched of the columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from serape.independence.outcomes import Candidates, Poll, Tally
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.base import IndependenceTest


class Near:
    """A test on what was fetched of some columns of a table; these are its variables."""

    def __init__(self, test: IndependenceTest, columns: Sequence[int]) -> None:
        self.test = test
        self.columns = np.array(columns, np.uint32)
        self.place = {x: k for k, x in enumerate(columns)}

    def places(self, columns: Iterable[int]) -> list[int]:
        """Return the positions that columns of the table have among those that were fetched."""
        return [self.place[int(x)] for x in columns]

    def renamed(self, found: SubsetResult, rows: int | None) -> SubsetResult:
        """Return answers with columns at their positions in the table, which has so many rows."""
        verdict = np.where(found.separated, 2, found.reliable).astype(np.int32)
        sets = [self.columns[list(given)].tolist() for given in found.sets]
        return SubsetResult(
            self.columns[found.xs], found.statistic, found.dof, found.log_p, verdict, found.which, sets, rows
        )


class Fetcher(ABC):
    """Fetches from a cluster what questions concern: columns, distinct rows, or sums of products."""

    kind: ClassVar[str] = "fetched"
    together: ClassVar[int] = 64
    """Targets whose searches advance together, so that their questions travel together."""

    @abstractmethod
    def near(self, variables: Iterable[int]) -> Near | None:
        """Return the test on what is fetched of some variables; None if that is too much."""

    def expect_screens(self, questions: Sequence[tuple[int, Candidates, Sequence[int]]]) -> None:
        """Fetch at once what several screens will need: each has a target, candidates and a conditioning set."""
        del questions

    def expect_subsets(self, questions: Sequence[Collection[int]]) -> None:
        """Fetch at once what several searches through subsets will need: each is among some variables."""
        del questions


def search_near(
    test: IndependenceTest, fetcher: Fetcher, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
) -> tuple[SubsetResult, Tally] | None:
    """Search conditioning sets; None if too much would be fetched, and the test itself must answer."""
    near = fetcher.near([*query.xs, query.target, *query.pool, *query.fixed])
    if near is None:
        return None
    local = query._replace(
        xs=near.places(query.xs),
        target=near.place[query.target],
        pool=near.places(query.pool),
        fixed=near.places(query.fixed),
        clear=None,  # the part follows from all columns
    )
    found, tally = near.test.search_subsets(local, threads=threads, poll=poll)
    return near.renamed(found, test.rows), tally


def each_given_rest_near(
    test: IndependenceTest,
    fetcher: Fetcher,
    xs: Candidates,
    target: int,
    pool: Candidates,
    stop_above: float,
    *,
    max_size: int | None = None,
    poll: Poll | None = None,
) -> tuple[SubsetResult, Tally] | None:
    """Test each x in turn given the rest of the pool; None if too much would be fetched, and the test must answer."""
    near = fetcher.near([*xs, target, *pool])
    if near is None:
        return None
    found, tally = near.test.test_each_given_rest(
        near.places(xs), near.place[target], near.places(pool), stop_above, max_size=max_size, poll=poll
    )
    return near.renamed(found, test.rows), tally
