"""The block score, for columns of numbers, of categories, and mixtures of both.

A column is a block of scores (`serape.engines.gram_matrix`): a number has the normal scores of its ranks and some
*further* scores, an indicator of a frequent value and polynomials of the normal scores; a category has indicators of
the 15 levels that come after its most frequent one. A set of columns is worth the Gaussian likelihood of all its
scores, −½ N ln det of their correlations, less ½ ln(N) for each product of a score of one column and a score of
another, and less ln(p) for each pair of columns, with N rows and p columns. A family is worth what it adds to the set
of its parents. Therefore

- Markov-equivalent networks have the same score, whatever the scores of a column are, unless rows are too few for a
  family (see below);
- numbers may be skewed and have heavy tails, and relations may be curved;
- rows are read for the correlations alone: then the time of a search does not depend on their number.

**Further scores join where the data show a curve**, so that lines cost what lines cost. Of each number, the indicator
and the polynomials of degree 2 to 5 are looked at, one after another. One joins if the squared partial correlation r²
with a *first* score of another column (the normal scores of a number, an indicator of a category), given the scores of
its column that have joined, is so large that −½ N ln(1 − r²) > ½ ln(N) + 2 ln(s), with s first scores. Between columns
that are jointly normal, after any monotone transformations of each, no further score tells anything beside the first.

The likelihood is that of BIC for lines: with no further score, `block-ebic` is `gaussian-ebic` on normal scores. With
indicators it is the degenerate Gaussian score (Andrews, Ramsey and Cooper, *Learning high-dimensional directed acyclic
graphs with mixed data-types*, CausalDiscovery 2019) with joined rare levels; with all polynomials, the basis function
score of Tetrad.

Bounds: the determinant is that of the correlations plus a millionth of the unit matrix, so that copies and sums of
columns have finite scores. Parents explain nothing in a family of more scores than a fifth of the rows.

See docs/papers.md: Andrews et al. 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Floats, Positions
from serape.data.table import Table
from serape.engines.gram_matrix import KINDS, CoreRows, ScoredRows
from serape.errors import DataError, abbreviate
from serape.structure.scores import RoundedScore
from serape.wording import setting

DEGREE = 5
"""The highest degree of polynomials that are looked at."""
LEVELS = 15
"""The most indicators of a category: less frequent levels join the most frequent one. A bound of time and of costs."""
TOGETHER = 2048
"""Further scores whose products are made at once, about: a bound of memory."""
_FURTHER = (KINDS.index("common value"), KINDS.index("power"))


@dataclass(frozen=True)
class Blocks:
    """The scores that stand for the columns of a table, and their correlations."""

    scores: Positions
    """By score: its kind, its column in the table, and the degree of a power or the level."""
    begins: NDArray[np.uint32]
    """Where the scores of each column begin, and where those of the last one end."""
    correlations: Floats
    rows: float

    @classmethod
    def of(cls, table: Table, columns: Sequence[int], threads: int = 1) -> Blocks:
        """Return the blocks of some columns of a table, made once and kept with it."""
        among = tuple(columns)
        return table.memory.keep(
            (cls, among),
            lambda: cls.made_of(CoreRows(table), among, table, threads),
            lambda made: made.correlations.nbytes,
        )

    @classmethod
    def made_of(cls, rows: ScoredRows, columns: Sequence[int], table: Table, threads: int) -> Blocks:
        """Return the blocks of columns, of rows that give their products."""
        varying = set(table.searched) - table.identifiers
        every = _without_rare_levels(rows.scores_of([k for k in columns if k in varying], DEGREE, threads, None))
        is_further = np.isin(every[:, 0], _FURTHER)
        first = every[~is_further]
        of_first = rows.products(first, 0, threads, None) / rows.rows
        kept = [first]
        for some in _chunks(every[is_further]):
            products = rows.products(np.concatenate([first, some]), len(first), threads, None) / rows.rows
            kept.append(some[_joining(first, of_first, some, products, rows.rows)])
        joined = np.concatenate(kept)
        place = np.zeros(len(table.names), np.int64)
        place[list(columns)] = np.arange(len(columns))
        joined = joined[np.argsort(place[joined[:, 1]], kind="stable")]
        begins = np.searchsorted(place[joined[:, 1]], np.arange(len(columns) + 1)).astype(np.uint32)
        correlations = of_first  # `first` has the order of the columns
        if len(joined) > len(first):
            correlations = rows.products(joined, 0, threads, None) / rows.rows
        return cls(joined, begins, np.ascontiguousarray(correlations), rows.rows)

    def names_of(self, place: int) -> tuple[str, ...]:
        """Return what the scores of a column (by its place) are: "score", "common value", "power 2", "level 3"."""
        own = self.scores[self.begins[place] : self.begins[place + 1]]
        return tuple(KINDS[kind] + (f" {value}" if kind >= _FURTHER[1] else "") for kind, _, value in own.tolist())


def _check_complete(table: Table, columns: Sequence[int]) -> None:
    """Refuse columns with missing values, of numbers or of categories."""
    refused = [table.names[k] for k in columns if k in table.missing]
    if refused:
        raise DataError(
            f"score {BlockScore.name!r} needs complete columns, but values are missing in {abbreviate(refused)}; pass "
            f"{setting('missing', 'drop')}, or use tests alone, as by {setting('algorithm', 'iamb')} or 'hiton-pc'"
        )


def _without_rare_levels(scores: Positions) -> Positions:
    """Leave out the indicators of levels after the most frequent ones, of which a column's come first."""
    is_level = scores[:, 0] == KINDS.index("level")
    starts = np.flatnonzero(np.diff(scores[:, 1], prepend=-1.0))
    place = np.arange(len(scores)) - np.repeat(starts, np.diff(np.append(starts, len(scores))))
    kept: Positions = scores[~is_level | (place < LEVELS)]
    return kept


def _chunks(further: Positions) -> list[Positions]:
    """Divide the further scores between columns into parts of bounded size."""
    if not len(further):
        return []
    starts = np.flatnonzero(np.diff(further[:, 1], prepend=further[0, 1] - 1.0))
    cuts, last = [], 0
    for start in starts.tolist():
        if start - last >= TOGETHER:
            cuts.append(start)
            last = start
    return np.split(further, cuts)


def _joining(first: Positions, of_first: Floats, further: Positions, products: Floats, rows: float) -> list[int]:
    """Return which further scores join; `products` are those of the first scores and of these with these."""
    least = 0.5 * math.log(rows) + 2.0 * math.log(max(len(first), 1))
    joining: list[int] = []
    with_first, among = products[: len(first)], products[len(first) :]
    for column in np.unique(further[:, 1]).tolist():
        (own,) = np.flatnonzero(first[:, 1] == column)
        others = first[:, 1] != column
        # Of the scores that have joined: products with one another, and with the first scores of other columns.
        square, across = of_first[np.ix_([own], [own])], of_first[own, others][None, :]
        joined: list[int] = []
        for k in np.flatnonzero(further[:, 1] == column).tolist():
            with_own = np.append(with_first[own, k], among[joined, k])
            factors = np.linalg.solve(square, with_own)
            left = among[k, k] - with_own @ factors
            if not others.any() or left < 1e-6:  # what others of its column determine is not new
                continue
            of_others = np.diag(of_first)[others] - np.einsum("is,is->s", across, np.linalg.solve(square, across))
            covariance = with_first[others, k] - factors @ across
            share = covariance * covariance / (np.maximum(of_others, 1e-12) * left)
            if -0.5 * rows * math.log1p(-min(float(share.max()), 1.0 - 1e-12)) > least:
                square = np.block([[square, with_own[:, None]], [with_own[None, :], among[k, k]]])
                across = np.vstack([across, with_first[others, k]])
                joined.append(k)
        joining += joined
    return joining


class BlockScore(RoundedScore):
    """The extended Bayesian information criterion of blocks of scores, for columns of any kind."""

    name = "block-ebic"
    _native: _core.BlockScore

    def __init__(self, table: Table, columns: Sequence[int] | None = None, threads: int = 1) -> None:
        """Make the score of a table, or of some of its columns, in this order."""
        among = range(len(table.names)) if columns is None else columns
        _check_complete(table, table.searched if columns is None else columns)
        self.table = table
        self.variables = tuple(table.names[k] for k in among)
        self.blocks = blocks = Blocks.of(table, among, threads)
        """The scores of each column, and their correlations."""
        self._native = _core.BlockScore(
            blocks.correlations.ravel(),
            blocks.begins.tolist(),
            blocks.rows,
            0.5 * math.log(max(blocks.rows, 1.0)),
            math.log(max(len(table.searched), 1)),
        )

    @classmethod
    def of(cls, table: Table, equivalent_sample_size: float) -> BlockScore:
        """Return the score on a table; it has no equivalent sample size."""
        del equivalent_sample_size
        return cls(table)

    @property
    def size(self) -> int:
        """The number of scores that stand for the columns."""
        return len(self.blocks.scores)


def nearest(table: Table, target: int, candidates: Positions, few: int, most: int, threads: int = 1) -> set[int]:
    """Return the target, the `few` candidates nearest to it, and those nearest to these: at most so many columns.

    A candidate is near if a score of it, up to degree 3, and one of the other column have a correlation that the costs
    of an arc allow; the larger, the nearer. Of those nearest to each of the few, as many are taken as there is room
    for.
    """
    _check_complete(table, [target, *candidates.tolist()])
    rows = CoreRows(table)
    among = np.unique([target, *candidates.tolist()]).astype(np.uint32)
    among = among[~np.isin(among, list(table.identifiers))]
    scores = rows.scores_of(among.tolist(), 3, threads, None)

    def strength(centre: int) -> Floats:
        """Return by column of `among` the largest squared correlation of a score of it and one of a column."""
        own = scores[:, 1] == centre
        others = scores[~own]
        products = rows.products(np.concatenate([others, scores[own]]), len(others), threads, None)[: len(others)]
        shares = np.zeros(len(table.names))
        np.maximum.at(shares, others[:, 1], ((products / rows.rows) ** 2).max(1, initial=0.0))
        return shares[among]

    found = {target}
    least = (math.log(rows.rows) + 2.0 * math.log(len(among))) / rows.rows
    of_target = strength(target)
    order = np.argsort(-of_target, kind="stable")
    first = [int(among[k]) for k in order[:few] if of_target[k] > least]
    found.update(first)
    room = (most - len(found)) // max(len(first), 1)
    for centre in first:
        shares = strength(centre)
        near = [int(among[k]) for k in np.argsort(-shares, kind="stable")[: room + len(found)] if shares[k] > least]
        found.update([x for x in near if x not in found][:room])
    return found
