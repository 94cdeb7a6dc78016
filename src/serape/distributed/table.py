"""A table whose columns are on a cluster; what cannot be answered there is answered from columns that are fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.duplicates import Duplicates
from serape.data.encoding import Encoded
from serape.data.kinds import Kind
from serape.data.notes import column_notes
from serape.data.origins import Origin
from serape.data.provenance import Provenance, fingerprint
from serape.data.table import Table
from serape.distributed import shards
from serape.distributed.cluster import Cluster, Traffic
from serape.distributed.encoding import ColumnEncoding
from serape.distributed.shards import joined_columns, joined_rows
from serape.errors import DataError

MAX_FETCHED = 1 << 30
"""Bytes of columns that are fetched at once, as codes of one byte and numbers of eight."""


class ColumnEncodings(NamedTuple):
    """How the columns of a table are encoded."""

    kinds: Sequence[Kind]
    reasons: Sequence[str]
    levels: Sequence[tuple[Any, ...]]
    declared: Set[int]
    numbers: Sequence[int]
    notes: tuple[str, ...] | None = None
    """What to say about the columns, if it is known."""

    @classmethod
    def of(cls, described: Sequence[ColumnEncoding]) -> ColumnEncodings:
        """Return the descriptions of single columns together."""
        return cls(
            [d.kind for d in described],
            [d.reason for d in described],
            [d.levels for d in described],
            {k for k, d in enumerate(described) if d.declared},
            [k for k, d in enumerate(described) if d.as_numbers],
        )


class ClusterTable(Table):
    """A table on a cluster, to be passed to any question; `serape.dask.table` makes it.

    Its columns stay with the workers. `traffic` says what was sent so far.
    """

    cluster: Cluster

    @classmethod
    def of_cluster(
        cls, cluster: Cluster, names: Sequence[str], described: ColumnEncodings, made: Mapping[str, Any],
        reading_notes: Sequence[str], constant: Mapping[int, bool],
    ) -> ClusterTable:  # fmt: skip
        """Return the table of shards whose columns are encoded as described."""
        table = object.__new__(cls)
        table.cluster = cluster
        table.names, table.rows = tuple(names), sum(cluster.rows)
        table._kinds, table._reasons, table._levels = described.kinds, described.reasons, described.levels
        table._declared = described.declared
        table._values = _Numbers(table, described.numbers)
        table._constant = dict(constant)
        table.missing = {}
        table._made, table._reading_notes = made, tuple(reading_notes)
        table.notes = table._reading_notes if described.notes is None else described.notes
        table._origins = {}
        if described.notes is None:
            table.notes += tuple(column_notes(table))
        return table

    _origins: dict[int, Origin]

    @property
    def traffic(self) -> Traffic:
        """What was sent to the workers, from them and between them since the table was made."""
        return self.cluster.traffic

    @property
    def remote(self) -> Any:
        """Makes tests and scores that ask the cluster."""
        from serape.distributed.remote import RemoteAnswers  # they ask this table

        return RemoteAnswers(self)

    def origins(self, positions: Iterable[int]) -> Mapping[int, Origin]:
        """Return where columns of numbers are measured from: the same in all parts, found when first asked for."""
        unknown = np.array(sorted(set(positions) - self._origins.keys()), np.int64)
        if len(unknown):
            cluster = self.cluster
            blocks = np.searchsorted(cluster.starts, unknown, side="right") - 1
            own = {int(block): tuple(unknown[blocks == block].tolist()) for block in np.unique(blocks)}
            tasks = [
                cluster.submit(shards.extents, part[block], columns)
                for part in cluster.grid
                for block, columns in own.items()
            ]
            found = cluster.gather(tasks)
            for k, columns in enumerate(own.values()):
                of_parts = zip(*found[k :: len(own)], strict=True)
                self._origins.update(zip(columns, map(Origin.of_parts, of_parts), strict=True))
        return self._origins

    # --- columns that are fetched ----------------------------------------------------------------------------------

    def bytes_of(self, positions: Sequence[int]) -> int:
        """Return the bytes that columns take when they are fetched."""
        return self.rows * sum(8 if k in self._values else 1 + (len(self._levels[k]) > 256) for k in positions)

    def fetch(self, positions: Sequence[int]) -> Table:
        """Return columns as a table in this process; refuse more than it should hold."""
        needed = self.bytes_of(positions)
        if needed > MAX_FETCHED:
            raise DataError(
                f"this needs {len(positions):,} columns in one place, {needed / 2**30:,.1f} GiB, and at most "
                f"{MAX_FETCHED / 2**30:g} GiB are fetched from a cluster; ask about fewer columns, or use a test or "
                f"an algorithm that leaves them where they are (docs/cluster.md)"
            )
        parts = [joined_columns(own, positions) for own in self.cluster.columns(sorted(set(positions)))]
        return joined_rows(parts)

    def part(self, positions: Sequence[int], rows: NDArray[Any] | None = None) -> Table:
        """Return a table of some columns and rows, in this process."""
        found = self.fetch([int(k) for k in positions])
        return found if rows is None else found.part(range(len(positions)), rows)

    @cached_property
    def whole(self) -> Table:
        """The whole table in this process, if it is small enough."""
        found = self.fetch(range(len(self.names)))
        found._reading_notes, found.notes = self._reading_notes, self.notes
        return found

    def _column(self, position: int) -> Table:
        """Return a table of one column, kept for the next question about it."""
        return self.memory.keep(
            ("a fetched column", position), lambda: self.fetch([position]), self.bytes_of([position])
        )

    @property
    def _packed(self) -> _core.PackedTable:  # type: ignore[override]
        return self.whole._packed

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return the values of a column of numbers."""
        return self._column(position).numbers(0)

    def codes(self, position: int) -> NDArray[np.uint16]:
        """Return the codes of a column of categories."""
        return self._column(position).codes(0)

    def is_constant(self, position: int) -> bool:
        """Return whether a column has only one value, whatever levels are declared."""
        if position not in self._constant and (position in self._values or position in self._declared):
            self._constant[position] = self._column(position).is_constant(0)
        return super().is_constant(position)

    def encoded(self, position: int, rows: NDArray[Any] | None = None) -> Encoded:
        """Return a column, or some of its rows, as it was before packing."""
        return self._column(position).encoded(0, rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the columns as codes and numbers, wherever they are."""
        return self.bytes_of(range(len(self.names)))

    def check_complete(self) -> None:
        """Do nothing: a table on a cluster has no missing values."""

    # --- derived ----------------------------------------------------------------------------------------------------

    @cached_property
    def duplicates(self) -> Duplicates:
        """By position, the group of columns, itself included, with the same rows in each level, or equal numbers."""
        hashes = self._hashes_of_all_rows() if len(self.cluster.grid) == 1 else self._hashes_of_parts()
        groups: dict[Any, list[int]] = {}
        for k, own in hashes.items():
            groups.setdefault((k in self._values, own), []).append(k)
        firsts = np.arange(len(self.names))
        for group in groups.values():
            varying = [k for k in group if not self.is_constant(k)] if len(group) > 1 else []
            firsts[varying] = min(varying, default=0)
        return Duplicates(firsts)

    def _hashes_of_all_rows(self) -> dict[int, Any]:
        """Return the hashes of columns that occur more than once."""
        cluster = self.cluster
        found = cluster.gather([cluster.submit(shards.native_hashes, shard) for shard in cluster.grid[0]])
        cluster.traffic.received += sum(own.nbytes for own in found)
        hashes = np.concatenate(found)
        _, which, times = np.unique(hashes, return_inverse=True, return_counts=True)
        return {k: hashes[k] for k in np.flatnonzero(times[which] > 1).tolist()}

    def _hashes_of_parts(self) -> dict[int, Any]:
        """Return hashes of columns whose rows are split: their levels are numbered in the order of all rows."""
        cluster = self.cluster
        blocks, parts = cluster.blocks, len(cluster.grid)
        every = [shard for part in cluster.grid for shard in part]
        firsts = cluster.gather([cluster.submit(shards.first_levels, shard) for shard in every])
        orders = []
        for block in range(blocks):
            of_parts = [firsts[part * blocks + block] for part in range(parts)]
            orders.append([tuple(dict.fromkeys(c for one in own for c in one)) for own in zip(*of_parts, strict=True)])
        hashes = cluster.gather(
            [cluster.submit(shards.column_hashes, shard, orders[k % blocks]) for k, shard in enumerate(every)]
        )
        columns = (
            own
            for block in range(blocks)
            for own in zip(*(hashes[part * blocks + block] for part in range(parts)), strict=True)
        )
        return dict(enumerate(columns))

    @cached_property
    def provenance(self) -> Provenance:
        """What identifies this table: rows, columns, and how it was made; the fingerprint of a small one."""
        return _Provenance(self.rows, len(self.names), self._made, table=self)

    def __getstate__(self) -> dict[str, Any]:
        raise DataError("a table on a cluster cannot be copied to another process; make it there, with serape.dask")


class _Provenance(Provenance):
    """Its fingerprint needs all rows in their order, so only that of a small table is known."""

    @cached_property
    def fingerprint(self) -> str:
        """The hash of a table that is small enough to be fetched; otherwise none."""
        table = self.table
        if not isinstance(table, ClusterTable) or table.nbytes > MAX_FETCHED:
            return ""
        return fingerprint(table.whole)


class _Numbers(Mapping[int, NDArray[np.float64]]):
    """The columns of numbers, each fetched when it is used."""

    def __init__(self, table: ClusterTable, positions: Sequence[int]) -> None:
        self._table, self._positions = table, dict.fromkeys(positions)

    def __getitem__(self, position: int) -> NDArray[np.float64]:
        if position not in self._positions:
            raise KeyError(position)
        return self._table.numbers(position)

    def __contains__(self, position: object) -> bool:
        return position in self._positions

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)
