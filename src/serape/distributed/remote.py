"""Which tests and scores ask a cluster.

- All rows in one place (columns split): each shard tests its own candidates; subset searches use fetched columns.
- Rows split: counts, or sums of products, are added up.
- Any other test uses fetched columns.
"""

from __future__ import annotations

from serape.distributed.cluster import is_wide
from serape.distributed.engine import ClusterEngine
from serape.distributed.fetched_test import ColumnTest, FetchedTest
from serape.distributed.row_tests import RowCorrelation, RowTest
from serape.distributed.table import ClusterTable
from serape.independence.base import IndependenceTest
from serape.independence.registry import Recipe
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
        match recipe.adds_up:
            case "counts":
                return RowTest(self.table, recipe)
            case "products":
                return RowCorrelation(self.table)
            case None:
                return FetchedTest(self.table, recipe)

    def score(self, kind: str, ess: float) -> CountedScore:
        """Return a score on the counts of the cluster."""
        self.table.check_categorical(f"score {kind!r}", self.table.searched)
        return CountedScore(ClusterEngine(self.table), kind, ess)
