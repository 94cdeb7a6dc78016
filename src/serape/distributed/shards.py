"""What workers do with their parts of the data: keep them packed, and answer questions about them.

A shard holds some rows of columns that follow each other. The target and the conditioning set of a question may be in
other shards: workers borrow these few columns from each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Floats, Positions
from serape.data.columns import Columns
from serape.data.origins import Extent, Origin
from serape.data.slicing import column_range
from serape.data.table import Table
from serape.distributed.encoding import ColumnEncoding, encoded_as
from serape.engines.base import Gram
from serape.engines.scored import Scored
from serape.independence.answering import at_once
from serape.independence.backends import Shape
from serape.independence.registry import Recipe

_ELSEWHERE = Shape("screen in another table")

# --- shards -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shard:
    """Some rows of columns that follow each other."""

    table: Table
    first: int
    """The position of the first column."""
    made_of: tuple[Any, ...] | None = None
    """How a part of a packed file is taken from it again, in another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (Shard, (self.table, self.first)) if self.made_of is None else (shard_of_table, self.made_of)

    def local(self, positions: Sequence[int] | NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the positions of columns in this shard."""
        return np.asarray(positions, np.uint32) - np.uint32(self.first)


def shard_of_columns(columns: Columns, described: Sequence[ColumnEncoding], first: int) -> Shard:
    """Encode and pack a part of the data."""
    encoded = [encoded_as(column, asked) for column, asked in zip(columns.encoded, described, strict=True)]
    return Shard(Table.of_columns(Columns(columns.names, columns.rows, encoded)), first)


def shard_of_table(source: Table | str, rows: tuple[int, int] | None, positions: tuple[int, int], first: int) -> Shard:
    """Take a part of a table that is encoded already, such as a packed file that all workers can read."""
    table = column_range(Table(source) if isinstance(source, str) else source, *positions)
    if rows is not None:
        return Shard(table.part(range(len(table.names)), np.arange(*rows)), first)
    return Shard(table, first, (source, rows, positions, first) if isinstance(source, str) else None)


class Borrowed(NamedTuple):
    """Columns of a shard, sent to where they are needed."""

    positions: tuple[int, ...]
    table: Table


def lend(shard: Shard, positions: tuple[int, ...]) -> Borrowed:
    """Return some columns of a shard."""
    return Borrowed(positions, shard.table.part(shard.local(positions).tolist()))


def joined_columns(borrowed: Sequence[Borrowed], order: Sequence[int]) -> Table:
    """Return the borrowed columns as one table, in this order."""
    at = {x: (one.table, k) for one in borrowed for k, x in enumerate(one.positions)}
    encoded = [at[x][0].encoded(at[x][1]) for x in order]
    names = [at[x][0].names[at[x][1]] for x in order]
    return Table.of_columns(Columns(names, len(encoded[0]), encoded))


def joined_rows(parts: Sequence[Table]) -> Table:
    """Return the rows of tables of the same columns, one below the other."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    encoded = []
    for k in range(len(first.names)):
        pieces = [part.encoded(k) for part in parts]
        one = pieces[0]
        codes = None if one.codes is None else np.concatenate([p.codes for p in pieces])
        values = None if one.values is None else np.concatenate([p.values for p in pieces])
        encoded.append(type(one)(one.kind, one.reason, one.levels, codes, values, declared=one.declared))
    return Table.of_columns(Columns(list(first.names), len(encoded[0]), encoded))


# --- questions --------------------------------------------------------------------------------------------------------


class SentPositions(NamedTuple):
    """Positions in ascending order: those from one up to another, but for some; or any, in any order."""

    begin: int
    end: int
    listed: NDArray[np.uint32]
    """The positions that are left out; all positions if `end` is 0."""

    @classmethod
    def of(cls, positions: NDArray[np.uint32]) -> SentPositions:
        """Return positions in the form that is smaller to send."""
        if len(positions) and bool((positions[1:] > positions[:-1]).all()):
            begin, end = int(positions[0]), int(positions[-1]) + 1
            if end - begin < 2 * len(positions):
                left_out = np.ones(end - begin, bool)
                left_out[positions - begin] = False
                return cls(begin, end, (np.flatnonzero(left_out) + begin).astype(np.uint32))
        return cls(0, 0, positions)

    def array(self) -> NDArray[np.uint32]:
        """Return the positions."""
        if self.end == 0:
            return self.listed
        kept = np.ones(self.end - self.begin, bool)
        kept[self.listed - self.begin] = False
        return (np.flatnonzero(kept) + self.begin).astype(np.uint32)

    @property
    def nbytes(self) -> int:
        """How many bytes are sent."""
        return 8 + self.listed.nbytes


class ShardQuestion(NamedTuple):
    """Candidates, columns of one shard, to be tested or counted with a target given a set."""

    target: int
    candidates: SentPositions
    given: tuple[int, ...]


class PartCounts(NamedTuple):
    """The counts in some rows: as `_core.Counts`, with the levels of each stratum, in the smallest types that fit."""

    rows: int
    begin: NDArray[Any]
    cells: NDArray[Any]
    strata: NDArray[Any]

    @classmethod
    def of(cls, counts: _core.Counts) -> PartCounts:
        """Return counts, made small."""
        return cls(counts.rows, _small(np.array(counts.begin, np.int64)), _small(counts.cells), _small(counts.strata))

    def only(self, candidates: Sequence[int]) -> PartCounts:
        """Return the counts of some candidates, at least one."""
        begin = self.begin.astype(np.int64)
        cells = np.concatenate([np.arange(begin[k], begin[k + 1]) for k in candidates])
        ends = np.concatenate([[0], np.cumsum(self.sizes[list(candidates)])])
        return self._replace(begin=ends, cells=self.cells[cells])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """By candidate, the number of its cells."""
        begin = self.begin.astype(np.int64)
        return begin[1:] - begin[:-1]

    @property
    def nbytes(self) -> int:
        """How many bytes are sent."""
        return self.begin.nbytes + self.cells.nbytes + self.strata.nbytes


def _small(numbers: NDArray[np.int64]) -> NDArray[Any]:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _near(shard: Shard, borrowed: Sequence[Borrowed], variables: Sequence[int]) -> tuple[Table, list[int]]:
    """Return a table that has some variables, and where: that of the shard, if nothing is borrowed."""
    if not borrowed:
        return shard.table, [x - shard.first for x in variables]
    return joined_columns(borrowed, variables), list(range(len(variables)))


def count(shard: Shard, questions: Sequence[ShardQuestion], *borrowed: Borrowed) -> list[PartCounts]:
    """Count candidates of a shard with targets and conditioning sets that are borrowed."""
    found = []
    for target, positions, given in questions:
        candidates = positions.array()
        near, (at, *places) = _near(shard, borrowed, [target, *given])
        source = None if len(candidates) == 0 else shard.table.packed
        counts = _core.counts(near.packed, at, shard.local(candidates), places, 1, None, "automatic", source)
        found.append(PartCounts.of(counts))
    return found


class ScreenArrays(NamedTuple):
    """The answers of a screen, as arrays; one value stands for equal ones."""

    statistic: NDArray[np.float64]
    dof: NDArray[np.float64]
    reliable: NDArray[np.bool_]
    log_p: NDArray[np.float64] | None
    """None if it is that of chi-square."""

    @classmethod
    def of(
        cls,
        statistic: NDArray[np.float64],
        dof: NDArray[np.float64],
        reliable: NDArray[np.bool_],
        log_p: NDArray[np.float64] | None = None,
    ) -> ScreenArrays:
        """Return answers in the form that is smaller to send."""
        return cls(statistic, _once(dof), _once(reliable), log_p)

    @property
    def nbytes(self) -> int:
        """How many bytes are sent."""
        return sum(array.nbytes for array in self if array is not None)


def _once(values: NDArray[Any]) -> NDArray[Any]:
    """Return one value if all are equal."""
    return values[:1] if len(values) and bool((values == values[0]).all()) else values


def screen(shard: Shard, questions: Sequence[ShardQuestion], recipe: Recipe, *borrowed: Borrowed) -> list[ScreenArrays]:
    """Test candidates of a shard, which has all rows, against targets given sets that are borrowed."""
    found = []
    for target, positions, given in questions:
        candidates = positions.array()
        local = shard.local(candidates)
        small, (at, *places) = _near(shard, borrowed, [target, *given])
        test = recipe.make(small)
        ask = at_once(test, _ELSEWHERE)
        if ask is not None:
            answers = ask(shard.table.packed, at, local, places)
            found.append(ScreenArrays.of(*answers.arrays()))
            continue
        if not borrowed:
            screened = test.screen(at, local, places)
            found.append(ScreenArrays.of(screened.statistic, screened.dof, screened.reliable, screened.log_p))
            continue
        columns = {x: (small, k) for k, x in enumerate([target, *given])}
        columns |= {int(x): (shard.table, int(k)) for x, k in zip(candidates, local, strict=True)}
        order = sorted(columns)  # as in the whole table, so that sums are rounded alike
        place = {x: k for k, x in enumerate(order)}
        encoded = [table.encoded(k) for table, k in map(columns.__getitem__, order)]
        names = [table.names[k] for table, k in map(columns.__getitem__, order)]
        every = recipe.make(Table.of_columns(Columns(names, small.rows, encoded)))
        xs = np.array([place[int(x)] for x in candidates], np.uint32)
        screened = every.screen(place[target], xs, [place[z] for z in given])
        found.append(ScreenArrays.of(screened.statistic, screened.dof, screened.reliable, screened.log_p))
    return found


def extents(shard: Shard, columns: tuple[int, ...]) -> list[Extent]:
    """Return what the origins of columns of numbers are made of, in the rows of this shard."""
    return [Extent.of(shard.table.numbers(int(k))) for k in shard.local(columns)]


def gram(
    shard: Shard,
    columns: tuple[int, ...],
    others: tuple[int, ...],
    origins: Mapping[int, Origin],
    *borrowed: Borrowed,
) -> Gram:
    """Return the sums of borrowed columns, of others of this shard, and of their products, all from their origins."""
    table, places = _near(shard, borrowed, columns)
    own = shard.local(others).tolist()
    x = np.column_stack([origins[c].measured(table.numbers(k)) for c, k in zip(columns, places, strict=True)])
    y = np.column_stack([origins[c].measured(shard.table.numbers(k)) for c, k in zip(others, own, strict=True)])
    return Gram(shard.table.rows, x.sum(axis=0), y.sum(axis=0), (y * y).sum(axis=0), x.T @ y)


class Indicators(NamedTuple):
    """The levels of a category that have indicators, and their shares of all rows."""

    levels: Positions
    shares: Floats


class ScoredNumber(NamedTuple):
    """The scores of a column of numbers in some rows, of mean square 1 in all rows."""

    scores: Floats
    common: Floats
    """The indicator of a common value; empty if there is none."""
    polynomials: Floats


class ScoredNumbers(NamedTuple):
    """Columns of numbers, scored in all rows."""

    listed: dict[int, Positions]
    """By column, its scores, as in a Gram matrix."""
    by_part: list[dict[int, ScoredNumber]]


def scored_numbers(columns: Sequence[int], degrees: Sequence[int], lent: Sequence[Sequence[Borrowed]]) -> ScoredNumbers:
    """Score columns of numbers whose parts are borrowed, each up to a degree."""
    parts = [joined_columns(own, columns) for own in lent]
    ends = np.cumsum([part.rows for part in parts])
    whole = joined_rows(parts)
    scored = Scored(whole, curved=True)
    scored.make(whole, range(len(columns)))
    found = ScoredNumbers({}, [{} for _ in parts])
    for k, (column, degree) in enumerate(zip(columns, degrees, strict=True)):
        listed = scored.native.scores_of(np.array([k], np.uint32), degree).reshape(-1, 3)
        listed[:, 1] = column
        found.listed[column] = listed
        polynomials = scored.native.polynomials(k, degree)
        by_part = [np.split(one * np.sqrt(whole.rows), ends[:-1] if len(one) else [0] * (len(parts) - 1))
                   for one in scored.native.scores(k)]  # fmt: skip
        for own, scores, common in zip(found.by_part, *by_part, strict=True):
            own[column] = ScoredNumber(scores, common, polynomials)
    return found


def listed_scores(scored: ScoredNumbers) -> dict[int, Positions]:
    """Return, by column, its scores."""
    return scored.listed


def scores_of_part(scored: ScoredNumbers, part: int) -> dict[int, ScoredNumber]:
    """Return the scores of the rows of a part."""
    return scored.by_part[part]


def score_products(
    shard: Shard,
    scores: Positions,
    known: int,
    categories: Mapping[int, Indicators],
    numbers: Sequence[Mapping[int, ScoredNumber]],
    *borrowed: Borrowed,
) -> Floats:
    """Return the sums, over the rows of the shard, of the products of all scores with those after the first `known`."""
    table, places = _near(shard, borrowed, list(categories))
    part = _core.ScoredPart(shard.table.rows)
    columns = dict.fromkeys(scores[:, 1].tolist())
    for own in numbers:
        for column, scored in own.items():
            if column in columns:
                part.add_number(*scored)
    for (levels, shares), k in zip(categories.values(), places, strict=True):
        part.add_category(table.codes(k), table.levels(k), levels.tolist(), shares.tolist())
    order = [*(k for own in numbers for k in own if k in columns), *categories]
    at = {column: k for k, column in enumerate(order)}
    local = scores.copy()
    local[:, 1] = [at[k] for k in scores[:, 1].tolist()]
    return part.score_products(local.ravel(), known).reshape(len(scores), len(scores) - known)


class DistinctRows(NamedTuple):
    """The rows of some columns that occur, each once, and how often; empty if there are too many."""

    rows: NDArray[np.uint16]
    times: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """How many bytes are sent."""
        return self.rows.nbytes + self.times.nbytes


def distinct_rows(
    shard: Shard, questions: Sequence[ShardQuestion], most: int, *borrowed: Borrowed
) -> list[DistinctRows]:
    """Return the rows that occur in the target and the set of each question, unless there are more than `most`."""
    return [_distinct(*_near(shard, borrowed, [q.target, *q.given]), most) for q in questions]


def _distinct(table: Table, columns: Sequence[int], most: int) -> DistinctRows:
    """Return the rows that occur in some columns, and how often; none if there are more than `most`."""
    found = _core.distinct_rows(table.packed, columns, most)
    if found is None:
        return DistinctRows(np.empty((0, len(columns)), np.uint16), np.empty(0, np.int64))
    codes, times = found
    return DistinctRows(np.ascontiguousarray(codes.reshape(len(columns), -1).T), times)


def native_hashes(shard: Shard) -> NDArray[np.uint64]:
    """Return a hash of each column of all rows: the same for columns of categories that divide the rows alike.

    The hash of a column of numbers is made of the numbers.
    """
    found = shard.table.packed.column_hashes()
    for k in shard.table.continuous:
        digest = hashlib.blake2b(shard.table.numbers(k).tobytes(), digest_size=8).digest()
        found[k] = int.from_bytes(digest, "little")
    return found


def first_levels(shard: Shard) -> list[tuple[int, ...]]:
    """Return, by column, its codes in the order in which they first occur; none for a column of numbers."""
    table = shard.table
    found = []
    for k in range(len(table.names)):
        codes, first = np.unique(table.codes(k) if table.levels(k) else (), return_index=True)
        found.append(tuple(codes[np.argsort(first)].astype(int).tolist()))
    return found


def column_hashes(shard: Shard, orders: Sequence[tuple[int, ...]]) -> list[bytes]:
    """Return a hash of each column: equal if the rows are divided alike, or the numbers are equal.

    `orders` are the codes in the order in which they first occur in the whole table.
    """
    table = shard.table
    found = []
    for k, order in enumerate(orders):
        column: NDArray[Any] = table.numbers(k) if not table.levels(k) else table.codes(k)
        if table.levels(k):
            rank = np.zeros(table.levels(k), np.uint16)
            rank[list(order)] = np.arange(len(order))
            column = rank[column]
        found.append(hashlib.blake2b(column.tobytes(), digest_size=16).digest())
    return found
