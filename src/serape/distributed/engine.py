"""The engine on a cluster: counts and sums of the parts of the rows, added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from serape._core import Counts
from serape.arrays import Candidates
from serape.distributed import shards
from serape.distributed.adding import added
from serape.distributed.cluster import Asked, ShardAnswer
from serape.engines.base import Gram
from serape.independence.outcomes import as_positions

if TYPE_CHECKING:
    from serape.distributed.table import ClusterTable


class ClusterEngine:
    """Counts by the workers of a cluster; a request is one round."""

    def __init__(self, table: ClusterTable) -> None:
        self.table = table
        self.names = table.names
        self.rows = table.rows
        self._expected: dict[tuple[int, bytes, tuple[int, ...]], Counts] = {}

    def expect(self, questions: Sequence[tuple[int, Candidates, Sequence[int]]]) -> None:
        """Ask in one round for counts that `counts` will be asked for; each is forgotten once it is used."""
        asked = [Asked(shards.count, x, as_positions(xs), tuple(map(int, given))) for x, xs, given in questions]
        found = self.table.cluster.ask(asked) if asked else []
        self._expected = {
            (one.target, one.candidates.tobytes(), one.given): self._added(one.target, one.candidates, one.given, parts)
            for one, parts in zip(asked, found, strict=True)
        }

    def levels(self, column: int) -> int:
        """Return how many levels a categorical column has; 0 if it is numeric."""
        return self.table.levels(column)

    def counts(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Counts:
        """Count each candidate with the target in the strata of the conditioning set."""
        expected = self._expected.pop((int(target), as_positions(candidates).tobytes(), tuple(map(int, given))), None)
        if expected is not None:
            return expected
        return self.counts_of_sets(target, candidates, [given])[0]

    def counts_of_sets(self, target: int, candidates: Candidates, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Do as `counts` does for each of several conditioning sets, in one round."""
        xs = as_positions(candidates)
        asked = [Asked(shards.count, target, xs, tuple(map(int, given))) for given in sets]
        return [
            self._added(target, xs, one.given, parts)
            for one, parts in zip(asked, self.table.cluster.ask(asked), strict=True)
        ]

    def _added(
        self, target: int, xs: np.ndarray, given: Sequence[int], parts: Sequence[Sequence[ShardAnswer]]
    ) -> Counts:
        pieces = [(one.places, one.answer) for part in parts for one in part]
        return added(
            pieces,
            rows=self.rows,
            target_levels=self.levels(target),
            given_levels=[self.levels(z) for z in given],
            candidate_levels=[self.levels(int(x)) for x in xs] or [1],
        )

    def gram(self, columns: Candidates, others: Candidates) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each, in one round.

        Columns that were not asked for before need another round, for an origin that is the same in all parts.
        """
        cluster = self.table.cluster
        fixed, every = tuple(map(int, columns)), np.asarray(others, np.int64)
        origins = self.table.origins([*fixed, *every.tolist()])
        tasks, places = [], []
        for part in range(len(cluster.grid)):
            lent = cluster.lend(part, sorted(set(fixed))) if cluster.blocks > 1 else []
            for block in range(cluster.blocks):
                at = np.flatnonzero((every >= cluster.starts[block]) & (every < cluster.starts[block + 1]))
                if len(at):
                    own = tuple(every[at].tolist())
                    needed = {x: origins[x] for x in (*fixed, *own)}
                    tasks.append(cluster.submit(shards.gram, cluster.grid[part][block], fixed, own, needed, *lent))
                    places.append((part, at))
        total = Gram(
            self.rows,
            np.zeros(len(fixed)),
            np.zeros(len(every)),
            np.zeros(len(every)),
            np.zeros((len(fixed), len(every))),
        )
        seen: set[int] = set()
        for (part, at), found in zip(places, cluster.gather(tasks), strict=True):
            if part not in seen:
                total.sums[:] += found.sums
                seen.add(part)
            total.other_sums[at] += found.other_sums
            total.other_squares[at] += found.other_squares
            total.products[:, at] += found.products
            cluster.traffic.received += found.products.nbytes
        return total
