"""Tests where rows are split: the counts, or sums of products, of all parts are added up.

Subset searches use the distinct rows of the few variables concerned, fetched with their frequencies, or their sums.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from serape import _core
from serape.data.columns import Columns
from serape.data.encoding import Encoded, as_codes
from serape.data.table import Table
from serape.data.weights import Weights
from serape.distributed import shards
from serape.distributed.adding import added_rows
from serape.distributed.cluster import Asked
from serape.distributed.engine import ClusterEngine
from serape.distributed.fetched_test import TOGETHER
from serape.distributed.table import ClusterTable
from serape.engines.base import Gram
from serape.engines.weighted import WeightedEngine
from serape.independence.base import IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.effects import EffectGroup, Effects
from serape.independence.outcomes import Candidates, Poll, Tally, as_positions
from serape.independence.registry import Recipe
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult
from serape.independence.summed import SummedTest

_MOST_ROWS = 1 << 20  # distinct rows that are fetched
_MOST_EXPECTED = 1 << 12  # screens whose counts are asked for in one round
_MOST_KNOWN = 64  # sets of variables whose distinct rows are kept


class SearchedNear(IndependenceTest):
    """A test whose subset searches use what `near` has fetched of the variables concerned."""

    on_cluster = True
    together = TOGETHER

    def near(self, variables: Iterable[int]) -> IndependenceTest:
        """Return the test on what is fetched of some variables; or this one, if that is too much."""
        raise NotImplementedError

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Search conditioning sets."""
        near = self.near([*query.xs, query.target, *query.pool, *query.fixed])
        return IndependenceTest.search_subsets(near, query, threads=threads, poll=poll)

    def test_each_given_rest(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        stop_above: float,
        *,
        max_size: int | None = None,
        poll: Poll | None = None,
    ) -> tuple[SubsetResult, Tally]:
        """Test each x in turn given the rest of the pool."""
        near = self.near([*xs, target, *pool])
        return IndependenceTest.test_each_given_rest(near, xs, target, pool, stop_above, max_size=max_size, poll=poll)


class RowTest(SearchedNear, CountedTest):
    """G² or X² where rows are split; subset searches use the distinct rows of the variables concerned."""

    def __init__(self, table: ClusterTable, recipe: Recipe) -> None:
        rules = recipe.rules
        super().__init__(ClusterEngine(table), recipe.name, rules.dof, rules.reliability, rules.minimum)  # type: ignore[arg-type]
        self._known: dict[frozenset[int], CountedTest | None] = {}  # several threads use it

    def expect_screens(self, questions: Sequence[tuple[int, Candidates, Sequence[int]]]) -> None:
        """Ask for the counts of all in one round; the first thousands are enough."""
        self.engine.expect(questions[:_MOST_EXPECTED])  # type: ignore[attr-defined]

    def effects_each(self, groups: Sequence[EffectGroup]) -> Effects:
        """Return the effects of groups of tests, from counts of one round."""
        self.expect_screens([(target, xs, given) for target, xs, given, _, _ in groups])
        return super().effects_each(groups)

    def expect_subsets(self, questions: Sequence[Collection[int]]) -> None:
        """Fetch the distinct rows of the variables of each search in one round; the first 64 are enough."""
        wanted = sorted({frozenset(map(int, one)) for one in questions[:_MOST_KNOWN]}, key=len, reverse=True)
        largest: list[frozenset[int]] = []
        for one in wanted:
            if not any(one <= other for other in [*largest, *self._known]):
                largest.append(one)
        if largest:
            self._fetch(largest)

    def near(self, variables: Iterable[int]) -> CountedTest:
        """Return the test on the distinct rows of some variables; or this one, if these are too many."""
        needed = frozenset(map(int, variables))
        for known, test in list(self._known.items()):
            if needed <= known and test is not None:
                return test
        if needed in self._known:  # too many
            return self
        return self._fetch([needed])[needed] or self

    def _fetch(self, sets: Sequence[frozenset[int]]) -> Mapping[frozenset[int], CountedTest | None]:
        """Fetch the distinct rows of some sets of variables in one round; return the tests on them."""
        if len(self._known) + len(sets) > _MOST_KNOWN:
            self._known = {}
        columns = [sorted(one) for one in sets]
        none, most = as_positions(()), (_MOST_ROWS,)
        asked = [Asked(shards.distinct_rows, first, none, tuple(rest), most) for first, *rest in columns]
        answers = self.engine.table.cluster.ask(asked)  # type: ignore[attr-defined]
        tests = {
            one: self._test_on(own, [part.answer for parts in found for part in parts])
            for one, own, found in zip(sets, columns, answers, strict=True)
        }
        self._known = self._known | tests
        return tests

    def _test_on(self, columns: Sequence[int], parts: Sequence[shards.DistinctRows]) -> CountedTest | None:
        if any(len(part.times) == 0 for part in parts):
            return None
        found = added_rows(parts, [self.engine.levels(x) for x in columns])
        local = FrequencyEngine(self.engine.table, columns, found)  # type: ignore[attr-defined]
        return CountedTest(local, self.statistic, self.dof, self.reliability, self.minimum)


class FrequencyEngine:
    """Counts of some columns of a table, from their distinct rows and how often these occur."""

    def __init__(self, table: Table, columns: Sequence[int], found: shards.DistinctRows) -> None:
        encoded = [
            Encoded("categorical", "", table.column_levels(x), as_codes(found.rows[:, k], table.levels(x)))
            for k, x in enumerate(columns)
        ]
        weights = Weights(found.times.astype(np.float64), "frequency")
        rows = Columns([table.names[x] for x in columns], len(found.times), encoded, weights=weights)
        self.names, self.rows = table.names, table.rows
        self._inner = WeightedEngine(Table.of_columns(rows))
        self._place = {x: k for k, x in enumerate(columns)}
        self._whole = table

    def levels(self, column: int) -> int:
        """Return how many levels a column has."""
        return self._whole.levels(column)

    def counts(self, target: int, candidates: Any, given: Sequence[int] = ()) -> _core.Counts:
        """Count each candidate with the target in the strata of the conditioning set."""
        return self.counts_of_sets(target, candidates, [given])[0]

    def counts_of_sets(self, target: int, candidates: Any, sets: Sequence[Sequence[int]]) -> list[_core.Counts]:
        """Do as `counts` does for each of several conditioning sets."""
        xs = [self._place[int(x)] for x in candidates]
        return [self._inner.counts(self._place[target], xs, [self._place[z] for z in given]) for given in sets]

    def gram(self, columns: Any, others: Any) -> Any:
        """Refuse: there are no numbers."""
        raise NotImplementedError


class RowCorrelation(SearchedNear, SummedTest):
    """Partial correlation where rows are split; a subset search asks once for the sums of all variables concerned."""

    def __init__(self, table: ClusterTable) -> None:
        super().__init__(ClusterEngine(table))

    def near(self, variables: Iterable[int]) -> SummedTest:
        """Return the test on the sums of some variables."""
        return SummedTest(KeptSums(self.engine, sorted(set(map(int, variables)))))


class KeptSums:
    """The sums of some columns and of their products, fetched at once."""

    def __init__(self, engine: Any, columns: Sequence[int]) -> None:
        self.names, self.rows, self.levels = engine.names, engine.rows, engine.levels
        self._place = {x: k for k, x in enumerate(columns)}
        self._sums = engine.gram(columns, columns)

    def gram(self, columns: Any, others: Any) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each."""
        at, of = ([self._place[int(x)] for x in some] for some in (columns, others))
        sums = self._sums
        return Gram(
            self.rows, sums.sums[at], sums.other_sums[of], sums.other_squares[of], sums.products[np.ix_(at, of)]
        )

    def counts(self, target: int, candidates: Any, given: Sequence[int] = ()) -> _core.Counts:
        """Refuse: there are no categories."""
        raise NotImplementedError

    def counts_of_sets(self, target: int, candidates: Any, sets: Sequence[Sequence[int]]) -> list[_core.Counts]:
        """Refuse: there are no categories."""
        raise NotImplementedError
