"""Which tests and scores ask a cluster.

- All rows in one place (columns split): each shard tests its own candidates.
- Rows split: a test on the engine that adds up counts, or sums of products, of all parts.
- Any other test uses fetched columns.

Each has what fetches for subset searches: columns, distinct rows, or sums (`serape.independence.near`).
"""

from __future__ import annotations

from serape.distributed.cluster import is_wide
from serape.distributed.engine import ClusterEngine
from serape.distributed.fetched_rows import FetchedRows, FetchedSums
from serape.distributed.fetched_test import ColumnTest, FetchedTest
from serape.distributed.scores import ClusterRows
from serape.distributed.table import ClusterTable
from serape.independence.base import IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.registry import Recipe
from serape.independence.summed import SummedTest
from serape.structure.counted_score import CountedScore


class RemoteAnswers:
    """Makes tests and scores on a table of a cluster."""

    def __init__(self, table: ClusterTable) -> None:
        self.table = table

    def test(self, recipe: Recipe) -> IndependenceTest:
        """Return the test of a recipe."""
        cluster = self.table.cluster
        whole = cluster.blocks == 1 and not is_wide(self.table.rows, len(self.table.names))
        by_rows = whole and recipe.adds_up is not None
        if len(cluster.grid) == 1 and not recipe.uses_seed and not by_rows:
            return ColumnTest(self.table, recipe)
        engine, rules = ClusterEngine(self.table), recipe.rules
        found: IndependenceTest
        match recipe.adds_up:
            case "counts":
                found = CountedTest(engine, recipe.name, rules.dof, rules.reliability, rules.minimum)  # type: ignore[arg-type]
                found.fetcher = FetchedRows(engine, recipe)
            case "products":
                found = SummedTest(engine)
                found.fetcher = FetchedSums(engine)
            case None:
                found = FetchedTest(self.table, recipe)
        return found

    def score(self, kind: str, ess: float) -> CountedScore:
        """Return a score on the counts of the cluster."""
        self.table.check_categorical(f"score {kind!r}", self.table.searched)
        return CountedScore(ClusterEngine(self.table), kind, ess)

    def scored_rows(self) -> ClusterRows:
        """Return the rows with the scores of their columns, for Gram matrices."""
        return ClusterRows(self.table)
