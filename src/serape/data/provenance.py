"""Which data a result is about, so that other people can check whether they have the same data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.settings import DataSettings
from serape.types import MissingRules

if TYPE_CHECKING:
    from serape.data.table import Table


_MAX_BLOCK = 1 << 26  # bytes that are fetched from a cluster at once


@dataclass(frozen=True, eq=False)
class Provenance:
    """Rows, columns and fingerprint of a table, and how it was made."""

    rows: int
    columns: int
    made: Mapping[str, Any]
    """The path, if the table was read from a file, and the arguments of `Table` that were not at their defaults."""
    known: str | None = None
    """The fingerprint, if it is computed already."""
    table: Table | None = field(default=None, repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names, kinds, levels and values, in their order; computed on first use."""
        return self.known or ("" if self.table is None else fingerprint(self.table))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Provenance) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.rows, self.columns))

    def __reduce__(self) -> tuple[Any, ...]:
        return Provenance, (self.rows, self.columns, self.made, self.fingerprint)  # without the data

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, text and numbers."""
        return {
            "rows": self.rows,
            "columns": self.columns,
            "fingerprint": self.fingerprint,
            "made": dict(self.made),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Provenance:
        """Return the provenance that `to_dict` wrote."""
        made = content["made"]
        if not isinstance(made, Mapping):
            raise TypeError("'made' is not a mapping")
        return cls(int(content["rows"]), int(content["columns"]), dict(made), str(content["fingerprint"]))


ARRAY = "<array>"
"""How a table was made from an array of the caller."""


def fingerprint(table: Table) -> str:
    """Return 32 hexadecimal digits: the same for equal tables, different for others but for a chance of 1e-38.

    Tables are compared as encoded, whatever their origin: a frame and the file it was written to have the same
    fingerprint if the texts of their levels are the same.
    """
    import hashlib

    found = hashlib.blake2b(digest_size=16)
    levels_json: dict[int, bytes] = {}  # many columns share their levels
    kept: list[Any] = []  # so that no identity is used twice
    found.update(json.dumps([table.rows, table.names]).encode())
    for block in _blocks(table):
        continuous = set(block.continuous)
        for k in range(len(block.names)):
            levels = block.column_levels(k)
            if id(levels) not in levels_json:
                levels_json[id(levels)] = json.dumps([str(level) for level in levels]).encode()
                kept.append(levels)
            found.update(levels_json[id(levels)])
            column = block.numbers(k) if k in continuous else block.codes(k)
            if k in block.missing:  # codes and numbers have no meaning there
                column = np.where(block.missing[k], 0, column)
                found.update(np.packbits(block.missing[k]).data)
            kind = "<f8" if k in continuous else "u1" if len(levels) <= 256 else "<u2"
            found.update(np.ascontiguousarray(column).astype(kind, copy=False).data)
    if table.weights is not None:
        found.update(table.weights.kind.encode())
        found.update(table.weights.values.astype("<f8").data)
    if table.groups is not None:
        found.update(b"groups")
        found.update(table.groups.astype("<i8").data)
    return found.hexdigest()


def _blocks(table: Table) -> Iterator[Table]:
    """Yield the table; of one on a cluster some columns at a time, so that few rounds fetch them."""
    if table.remote is None:
        yield table
        return
    size = max(1, _MAX_BLOCK // (8 * table.rows))
    for first in range(0, len(table.names), size):
        yield table.part(range(first, min(first + size, len(table.names))))


def how_made(data: Any, settings: DataSettings) -> dict[str, Any]:
    """Return how a table is made: the path, if it is read from a file, and the settings that are not at defaults."""
    kinds, header = settings.kinds, settings.header
    own = settings.given()
    given = {f.name: getattr(settings, f.name) if f.name in own else None for f in fields(settings)}
    given |= {
        "kinds": {str(name): str(kind) for name, kind in kinds.items()} if isinstance(kinds, Mapping) else kinds,
        "missing": _missing(settings.missing),
        "ignore": [str(name) for name in settings.ignore],
        "header": header if header is None or isinstance(header, bool) else [str(name) for name in header],
        "na_values": [str(word) for word in settings.na_values],
        "sample_weight": _name_or_array(settings.sample_weight),
        "groups": _name_or_array(settings.groups),
    }
    path = {"path": str(data)} if isinstance(data, str | PathLike) else {}
    kept = ("quote", "comment", "table")  # an empty text and the first table are values, too
    return path | {name: v for name, v in given.items() if v is False or v or (name in kept and v is not None)}


def _missing(rules: MissingRules) -> Any:
    if isinstance(rules, Mapping):
        return {str(name): str(rule) for name, rule in rules.items()}
    return None if rules == "error" else rules


def _name_or_array(given: Any) -> str | None:
    return given if given is None or isinstance(given, str) else ARRAY
