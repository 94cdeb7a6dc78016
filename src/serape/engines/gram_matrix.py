"""The Gram matrix of the scores of a table's columns: what scores of networks and searches need of the rows.

A column is a *block* of scores. A number has the normal scores of its ranks (Blom's; equal values have their mean
rank), an indicator of a value that more than a tenth of the rows share, and polynomials of its scores that are
orthonormal over the rows. A category has indicators of its levels but the most frequent one; levels of fewer than 5
rows, and those after the 64 most frequent ones, join that one. Every score is centred and has mean square 1, so the
matrix is one of correlations. Weights multiply what is summed over rows, as in the test of residuals, whose scores
these are.

A constant column, an identifier, and a number of which fewer than 5 rows differ from its most frequent value, have no
scores.

The core makes the matrix in one pass over blocks of rows. It has the same bits for any number of threads, and whatever
was asked before; another order of the rows changes its last digits, as the sums are rounded in another order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Floats, Positions
from serape.data.table import Table
from serape.engines.scored import Scored
from serape.errors import OptionError
from serape.types import EngineName, Poll
from serape.wording import setting

KINDS = ("score", "common value", "power", "level")
"""The kinds of scores, by number."""
_POWER = KINDS.index("power")


@dataclass(frozen=True)
class GramMatrix:
    """The correlations of the scores of columns."""

    columns: tuple[int, ...]
    """The columns, by position, in the order that was asked for."""
    matrix: Floats
    """By score and score, the mean of the products; it cannot be written to."""
    blocks: NDArray[np.int64]
    """Where the scores of each column begin, and where those of the last one end."""
    scores: Positions
    """By score: its kind (a place in `KINDS`), its column, and the degree of a power or the level."""
    rows: float
    """The number of rows; the sum of frequencies, or the effective number of rows of survey weights."""

    def block(self, place: int) -> slice:
        """Return where the scores of a column are, by its place among the columns."""
        return slice(int(self.blocks[place]), int(self.blocks[place + 1]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """By score, what it is: "score", "common value", "power 2", "level 3"."""
        return tuple(KINDS[kind] + (f" {value}" if kind >= _POWER else "") for kind, _, value in self.scores.tolist())


class ScoredRows(Protocol):
    """What holds rows with the scores of their columns, and adds up products: the core, a device, a cluster."""

    where: str
    """The same for what gives the same bits."""

    @property
    def rows(self) -> float:
        """The effective number of rows."""

    def scores_of(self, columns: Sequence[int], degree: int, threads: int, poll: Poll | None) -> Positions:
        """Return the scores of columns, one after another, as `GramMatrix.scores`."""

    def products(self, scores: Positions, known: int, threads: int, poll: Poll | None) -> Floats:
        """Return the sums over the rows of the products of all scores with those after the first `known`."""


class CoreRows:
    """The rows of a table in this process, whose products the core adds up."""

    where = "core"

    def __init__(self, table: Table) -> None:
        self.table = table

    @cached_property
    def scored(self) -> Scored:
        """The scores of the columns."""
        return Scored.of(self.table)

    @property
    def rows(self) -> float:
        """The effective number of rows."""
        return self.scored.native.effective_rows

    def scores_of(self, columns: Sequence[int], degree: int, threads: int, poll: Poll | None) -> Positions:
        """Return the scores of columns, one after another."""
        self.scored.make(self.table, columns)
        found = self.scored.native.scores_of(np.array(columns, np.uint32), degree, threads, poll)
        return found.reshape(-1, 3)

    def products(self, scores: Positions, known: int, threads: int, poll: Poll | None) -> Floats:
        """Return the sums over the rows of the products of all scores with those after the first `known`."""
        self.scored.make(self.table, np.unique(scores[:, 1]).tolist())
        found = self.scored.native.score_products(scores.ravel(), known, threads, poll)
        return found.reshape(len(scores), len(scores) - known)


def gram_matrix(
    table: Table,
    columns: Sequence[int] | None = None,
    degree: int = 1,
    *,
    engine: EngineName = "cpu",
    threads: int = 1,
    poll: Poll | None = None,
) -> GramMatrix:
    """Return the Gram matrix of the scores of columns (by position; all that are searched by default).

    `degree` is that of polynomials of numbers, at most 12. What is made is kept with the table; other columns or a
    higher degree later cost their own products. `threads` change nothing but the time. With `engine` "gpu" a GPU adds
    up the products; "auto" means the core. The workers of a cluster add up those of a table there.
    """
    if not 1 <= degree <= _core.MAX_DEGREE:
        raise OptionError(f"degree must be a whole number from 1 to {_core.MAX_DEGREE}, not {degree!r}")
    asked = tuple(map(int, table.searched if columns is None else columns))
    rows = _rows_of(table, engine)
    known = table.memory.get(_Known.key(rows))
    found = (known or _Known.nothing()).with_columns(rows, asked, degree, table.identifiers, threads, poll)
    if found is not known:
        table.memory.put(_Known.key(rows), found, found.matrix.nbytes)
    return found.gram(asked, degree)


def _rows_of(table: Table, engine: EngineName) -> ScoredRows:
    """Return what adds up the products of a table."""
    if table.remote is not None:
        if engine == "gpu":
            raise OptionError(f"{setting('engine', 'gpu')} cannot be used for a table on a cluster; leave it out")
        return cast(ScoredRows, table.remote.scored_rows())
    if engine == "gpu":
        from serape.engines.gpu import choice
        from serape.engines.gpu.scores import DeviceRows

        device = choice.find_device()
        if device.here:
            return DeviceRows(device, table)
    return CoreRows(table)


class _Known(NamedTuple):
    """The correlations of all scores that were asked for so far."""

    of_column: dict[int, tuple[int, Positions]]
    """The degree up to which a column's scores are known, and these."""
    place: dict[tuple[int, int, int], int]
    """By score, its row in the matrix."""
    matrix: Floats
    rows: float

    @classmethod
    def nothing(cls) -> _Known:
        return cls({}, {}, np.empty((0, 0)), math.nan)

    @staticmethod
    def key(rows: ScoredRows) -> tuple[str, str]:
        """Return the key under which they are kept with a table."""
        return "correlations of scores", rows.where

    def with_columns(
        self,
        rows: ScoredRows,
        columns: Sequence[int],
        degree: int,
        without: frozenset[int],
        threads: int,
        poll: Poll | None,
    ) -> _Known:
        """Return what is known once some columns, but for those without scores, have been scored up to a degree.

        Columns that are asked for stand first then, in their order.
        """
        some = list(dict.fromkeys(columns))
        new = [k for k in some if k not in self.of_column or self.of_column[k][0] < degree]
        if not new:
            return self
        scored = [k for k in new if k not in without]
        found = rows.scores_of(scored, degree, threads, poll) if scored else np.empty((0, 3), np.uint32)
        of_column = self.of_column | {k: (degree, found[found[:, 1] == k]) for k in new}
        wanted = np.concatenate([of_column[k][1] for k in [*some, *(k for k in of_column if k not in set(some))]])
        listed: list[tuple[int, int, int]] = [(a, b, c) for a, b, c in wanted.tolist()]
        fresh = [one for one in listed if one not in self.place]
        known = len(self.place)
        every = np.array([*self.place, *fresh], np.uint32).reshape(-1, 3)
        matrix = np.empty((len(every), len(every)))
        matrix[:known, :known] = self.matrix
        if fresh:
            matrix[:, known:] = rows.products(every, known, threads, poll) / rows.rows
        matrix[known:, :known] = matrix[:known, known:].T
        at = {one: k for k, one in enumerate([*self.place, *fresh])}
        matrix = _at(matrix, [at[one] for one in listed])
        matrix.flags.writeable = False
        return _Known(of_column, {one: k for k, one in enumerate(listed)}, matrix, rows.rows)

    def gram(self, columns: tuple[int, ...], degree: int) -> GramMatrix:
        """Return the matrix of columns whose scores are known."""
        own = [
            found[(found[:, 0] != _POWER) | (found[:, 2] <= degree)]
            for _, found in (self.of_column[k] for k in columns)
        ]
        scores = np.concatenate([np.empty((0, 3), np.uint32), *own])
        matrix = _at(self.matrix, [self.place[a, b, c] for a, b, c in scores.tolist()])
        for array in (matrix, scores):
            array.flags.writeable = False
        return GramMatrix(columns, matrix, np.cumsum([0, *map(len, own)]), scores, self.rows)


def _at(matrix: Floats, places: list[int]) -> Floats:
    """Return some rows and columns of a matrix: a view, if they are the first ones."""
    if places == list(range(len(places))):
        return matrix[: len(places), : len(places)]
    return matrix[np.ix_(places, places)]
