"""The network of the highest score around a target: of all columns, or, if they are many, of those nearest to it.

Up to `MOST_COLUMNS` columns are searched together, so that the network serves every target: it is kept with the table.
Of more columns, a part is searched: the target, the columns that raise its score most as a single parent, and those that
raise the scores of these most, a few for each, until there are `MOST_COLUMNS`. The parents and children of the target
are among the former unless their effects cancel, and its spouses among the parents and children of its children.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from serape.arrays import Positions
from serape.data.table import Table
from serape.errors import DataError
from serape.independence import IndependenceTest, table_of
from serape.independence.d_separation import DSeparation
from serape.knowledge import BoundKnowledge
from serape.structure.block_score import BlockScore, nearest
from serape.structure.boss import boss
from serape.structure.equivalence import member
from serape.structure.graphs import PartlyDirected
from serape.structure.perfect_score import PerfectScore
from serape.structure.scores import PermutedScore, Score
from serape.structure.stopping import ScoreCallback, Stopped
from serape.wording import setting

MOST_COLUMNS = 300
NEAREST = 50
"""Of many columns, so many are taken that are nearest to the target."""

ParentsOf = Mapping[int, frozenset[int]]
"""The parents of each variable that was searched, by position."""


def parents_around(
    test: IndependenceTest,
    target: int,
    candidates: Positions,
    knowledge: BoundKnowledge | None = None,
    *,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> ParentsOf:
    """Return a network of the highest score of the target and its candidates; knowledge bars arcs.

    On Ctrl-C, it raises `Stopped` with the network so far; its positions are those of the variables in `Stopped.names`.
    """
    among = sorted({target, *candidates.tolist()})
    if isinstance(test, DSeparation):
        return _search(PerfectScore(test.graph, test.variables), among, knowledge, threads, watch)
    table = table_of(test)
    if table is None or table.remote is not None:
        raise DataError(
            f"algorithm 'boss-mb' needs a table in this process, for the score; use {setting('algorithm', 'iamb')}"
        )
    if len(among) > MOST_COLUMNS:
        among = sorted(nearest(table, target, candidates, NEAREST, MOST_COLUMNS, threads))
    if knowledge is not None:
        return _search(BlockScore.among(table, among, threads), among, knowledge, threads, watch)
    return table.memory.keep(
        ("network of the highest score", tuple(among)),
        lambda: _search(BlockScore.among(table, among, threads), among, None, threads, watch),
        64 * len(among),
    )


def _search(
    score: Score,
    among: Sequence[int],
    knowledge: BoundKnowledge | None,
    threads: int,
    watch: ScoreCallback | None,
) -> ParentsOf:
    """Search with the variables in the order of their names, so that ties do not depend on the order of columns."""
    ordered = sorted(among, key=score.variables.__getitem__)
    by_name = PermutedScore(score, ordered)
    graph: PartlyDirected = boss(by_name, threads=threads, watch=watch)
    parents = member(graph, by_name.variables) or [set() for _ in ordered]
    return {y: frozenset(ordered[x] for x in own) for y, own in zip(ordered, parents, strict=True)}
