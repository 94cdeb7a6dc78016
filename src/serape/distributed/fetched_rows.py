"""What is fetched where rows are split: distinct rows of columns with their frequencies, or sums of products."""

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
from serape.engines.base import Gram
from serape.independence.near import Fetcher, Near
from serape.independence.outcomes import Candidates, as_positions
from serape.independence.registry import Recipe
from serape.independence.summed import SummedTest

_MOST_ROWS = 1 << 20  # distinct rows that are fetched
_MOST_EXPECTED = 1 << 12  # screens whose counts are asked for in one round
_MOST_KNOWN = 64  # sets of variables whose distinct rows are kept


class FetchedRows(Fetcher):
    """The distinct rows of the variables of a question, with their frequencies: the test counts these."""

    def __init__(self, engine: ClusterEngine, recipe: Recipe) -> None:
        self._engine, self._recipe = engine, recipe
        self._known: dict[frozenset[int], Near | None] = {}  # several threads use it

    def expect_screens(self, questions: Sequence[tuple[int, Candidates, Sequence[int]]]) -> None:
        """Ask for the counts of all in one round; the first thousands are enough."""
        self._engine.expect(questions[:_MOST_EXPECTED])

    def expect_subsets(self, questions: Sequence[Collection[int]]) -> None:
        """Fetch the distinct rows of the variables of each search in one round; the first 64 are enough."""
        wanted = sorted({frozenset(map(int, one)) for one in questions[:_MOST_KNOWN]}, key=len, reverse=True)
        largest: list[frozenset[int]] = []
        for one in wanted:
            if not any(one <= other for other in [*largest, *self._known]):
                largest.append(one)
        if largest:
            self._fetch(largest)

    def near(self, variables: Iterable[int]) -> Near | None:
        """Return the test on the distinct rows of some variables; None if these are too many."""
        needed = frozenset(map(int, variables))
        for known, near in list(self._known.items()):
            if needed <= known and near is not None:
                return near
        if needed in self._known:  # too many
            return None
        return self._fetch([needed])[needed]

    def _fetch(self, sets: Sequence[frozenset[int]]) -> Mapping[frozenset[int], Near | None]:
        """Fetch the distinct rows of some sets of variables in one round; return the tests on them."""
        if len(self._known) + len(sets) > _MOST_KNOWN:
            self._known = {}
        columns = [sorted(one) for one in sets]
        none, most = as_positions(()), (_MOST_ROWS,)
        asked = [Asked(shards.distinct_rows, first, none, tuple(rest), most) for first, *rest in columns]
        answers = self._engine.table.cluster.ask(asked)
        tests = {
            one: self._near(own, [part.answer for parts in found for part in parts])
            for one, own, found in zip(sets, columns, answers, strict=True)
        }
        self._known = self._known | tests
        return tests

    def _near(self, columns: Sequence[int], parts: Sequence[shards.DistinctRows]) -> Near | None:
        if any(len(part.times) == 0 for part in parts):
            return None
        table = self._engine.table
        found = added_rows(parts, [table.levels(x) for x in columns])
        encoded = [
            Encoded("categorical", "", table.column_levels(x), as_codes(found.rows[:, k], table.levels(x)))
            for k, x in enumerate(columns)
        ]
        weights = Weights(found.times.astype(np.float64), "frequency")
        rows = Columns([table.names[x] for x in columns], len(found.times), encoded, weights=weights)
        return Near(self._recipe.make(Table.of_columns(rows)), columns)


class FetchedSums(Fetcher):
    """The sums of the variables of a question and of their products: the test needs no more."""

    def __init__(self, engine: ClusterEngine) -> None:
        self._engine = engine

    def near(self, variables: Iterable[int]) -> Near:
        """Return the test on the sums of some variables."""
        columns = sorted(set(map(int, variables)))
        return Near(SummedTest(KeptSums(self._engine, columns)), columns)


class KeptSums:
    """The engine of some columns whose sums, and those of their products, are fetched at once."""

    def __init__(self, engine: ClusterEngine, columns: Sequence[int]) -> None:
        self.names = tuple(engine.names[x] for x in columns)
        self.rows = engine.rows
        self._sums = engine.gram(columns, columns)

    def levels(self, column: int) -> int:
        """Return 0: all columns are numbers."""
        del column
        return 0

    def gram(self, columns: Any, others: Any) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each."""
        at, of = ([int(x) for x in some] for some in (columns, others))
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
