"""The network of the highest score around a target: of all columns, or, if they are many, of those nearest to it.

Up to `MOST_COLUMNS` columns are searched together, so that the network serves every target: it is kept with the
table. Of more columns, a part is searched: the target, the columns nearest to it by the correlations of their scores,
and those nearest to these, a few for each, until there are `MOST_COLUMNS`. The parents and children of the target
are among the former unless their effects cancel, and its spouses among the parents and children of its children.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from serape.arrays import Positions
from serape.errors import DataError
from serape.independence import IndependenceTest, table_of
from serape.independence.d_separation import DSeparation
from serape.structure.block_score import BlockScore, nearest
from serape.structure.boss import boss
from serape.structure.equivalence import member
from serape.structure.perfect_score import PerfectScore
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback
from serape.wording import setting

MOST_COLUMNS = 300
NEAREST = 50
"""Of many columns, so many are taken that are nearest to the target."""

ParentsOf = Mapping[int, frozenset[int]]
"""The parents of each variable that was searched, by position."""
_OF_ORACLES: WeakKeyDictionary[DSeparation, dict[object, ParentsOf]] = WeakKeyDictionary()


def parents_around(
    test: IndependenceTest,
    target: int,
    others: Positions,
    *,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> ParentsOf:
    """Return a network of the highest score of the target and others.

    Knowledge has no part in it: what it forbids is left out of the answer, as where tests find it, and what is true
    about directions changes no blanket.
    """
    names = test.variables
    among = sorted({target, *others.tolist()}, key=names.__getitem__)  # ties do not depend on the order of columns
    key = "network of the highest score", tuple(among)
    if isinstance(test, DSeparation):
        kept = _OF_ORACLES.setdefault(test, {})
        if key not in kept:
            score = PerfectScore(test.graph, names).among(among)
            kept[key] = _search(score, among, threads, watch)
        return kept[key]
    table = table_of(test)
    if table is None or table.remote is not None:
        raise DataError(
            f"algorithm 'boss-mb' needs a table in this process, for the score; use {setting('algorithm', 'iamb')}"
        )
    if len(among) > MOST_COLUMNS:
        near = nearest(table, target, others, NEAREST, MOST_COLUMNS, threads)
        among = [k for k in among if k in near]
        key = key[0], tuple(among)

    def found() -> ParentsOf:
        return _search(BlockScore(table, among, threads), among, threads, watch)

    return table.memory.keep(key, found, 64 * len(among))


def _search(score: Score, among: Sequence[int], threads: int, watch: ScoreCallback | None) -> ParentsOf:
    parents = member(boss(score, threads=threads, watch=watch), score.variables)
    assert parents is not None
    return {y: frozenset(among[x] for x in own) for y, own in zip(among, parents, strict=True)}
