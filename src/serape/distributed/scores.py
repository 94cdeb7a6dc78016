"""Gram matrices of scores on a cluster: a worker ranks a whole column, and each part of the rows adds up its products.

Ranks need all rows, and products only need the scores of each row. So the numbers of a column travel to one worker,
which scores them as one process would, and the scores travel back to the parts. No column comes to this process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from serape import _core
from serape.arrays import Floats, Positions
from serape.distributed import shards
from serape.distributed.engine import ClusterEngine
from serape.distributed.shards import Indicators
from serape.engines.gram_matrix import KINDS
from serape.types import Poll

if TYPE_CHECKING:
    from serape.distributed.table import ClusterTable

_TOGETHER = 1 << 26  # bytes of numbers that a worker scores at a time, if they are of several columns
_POWER = KINDS.index("power")


class ClusterRows:
    """The rows of a table on a cluster, whose products its workers add up."""

    where = "cluster"

    def __init__(self, table: ClusterTable) -> None:
        self.table = table
        self._numbers = frozenset(table.continuous)
        self._indicators: dict[int, Indicators] = {}
        self._scored: dict[int, Any] = {}  # by column of numbers, the future of its scores, for one call

    @property
    def rows(self) -> float:
        """The number of rows."""
        return float(self.table.rows)

    def scores_of(self, columns: Sequence[int], degree: int, threads: int, poll: Poll | None) -> Positions:
        """Return the scores of columns, one after another."""
        del threads
        self._count_levels(columns)
        numbers = [k for k in columns if k in self._numbers]
        asked = self._score(dict.fromkeys(numbers, degree))
        cluster = self.table.cluster
        found = cluster.gather([cluster.submit(shards.listed_scores, one) for one in asked], poll)
        of = {k: one for own in found for k, one in own.items()}
        cluster.traffic.received += sum(one.nbytes for one in of.values())
        level = KINDS.index("level")
        for k in set(columns) - self._numbers:
            levels = self._indicators[k].levels
            of[k] = np.column_stack([np.full(len(levels), level), np.full(len(levels), k), levels])
        return np.concatenate([np.empty((0, 3), np.uint32), *(of[k] for k in columns)]).astype(np.uint32)

    def products(self, scores: Positions, known: int, threads: int, poll: Poll | None) -> Floats:
        """Return the sums over the rows of the products of all scores with those after the first `known`."""
        del threads
        columns = list(dict.fromkeys(scores[:, 1].tolist()))
        self._count_levels(columns)
        missing = [k for k in columns if k in self._numbers and k not in self._scored]
        powers = scores[scores[:, 0] == _POWER]
        self._score({k: int(powers[powers[:, 1] == k, 2].max(initial=1)) for k in missing})
        cluster = self.table.cluster
        categories = [k for k in columns if k not in self._numbers]
        indicators = {k: self._indicators[k] for k in categories}
        scored = list(dict.fromkeys(self._scored[k] for k in columns if k in self._numbers))
        tasks = []
        for part in range(len(cluster.grid)):
            lent = cluster.lend(part, categories) if cluster.blocks > 1 and categories else []
            own = [cluster.submit(shards.scores_of_part, one, part) for one in scored]
            cluster.traffic.lent += 8 * cluster.rows[part] * (len(columns) - len(categories))
            asked = scores, known, indicators, own
            tasks.append(cluster.submit(shards.score_products, cluster.grid[part][0], *asked, *lent))
        total = np.zeros((len(scores), len(scores) - known))
        for found in cluster.gather(tasks, poll):
            total += found
            cluster.traffic.received += found.nbytes
        return total

    def _score(self, degree: dict[int, int]) -> list[Any]:
        """Let workers score columns of numbers up to a degree; return their futures."""
        cluster, table = self.table.cluster, self.table
        at_once = max(_TOGETHER // (8 * max(table.rows, 1)), 1)
        columns = list(degree)
        made = []
        for begin in range(0, len(columns), at_once):
            own = columns[begin : begin + at_once]
            lent = [cluster.lend(part, own) for part in range(len(cluster.grid))]
            cluster.traffic.lent += 8 * table.rows * len(own)
            made.append(cluster.submit(shards.scored_numbers, own, [degree[k] for k in own], lent))
            self._scored.update(dict.fromkeys(own, made[-1]))
        return made

    def _count_levels(self, columns: Iterable[int]) -> None:
        """Find, in one round, which levels of categories have indicators."""
        unknown = [k for k in columns if k not in self._numbers and k not in self._indicators]
        engine = ClusterEngine(self.table)
        engine.expect([(k, (), ()) for k in unknown])
        for k in unknown:
            cells = engine.counts(k, ()).cells
            rows = np.asarray(np.bincount(cells[:, 1], cells[:, 3], self.table.levels(k)), np.float64)
            levels = _core.indicated_levels(rows)
            self._indicators[k] = Indicators(levels, rows[levels] / self.table.rows)
