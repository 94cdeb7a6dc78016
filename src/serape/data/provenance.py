"""Which data an answer is about, so that somebody else can tell whether theirs are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from serape.data.table import Table


@dataclass(frozen=True, eq=False)
class Provenance:
    """Rows, columns and fingerprint of a table, and how it was made."""

    rows: int
    columns: int
    made: Mapping[str, Any]
    """The path, if the table was read from a file, and the arguments of `Table` that were not left at defaults."""
    known: str | None = None
    """The fingerprint, if it has been computed already."""
    table: Table | None = field(default=None, repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names, kinds, levels and values, in their order: computed when it is first looked at."""
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
        """Return what `to_dict` wrote."""
        made = content["made"]
        if not isinstance(made, Mapping):
            raise TypeError("'made' is no mapping")
        return cls(int(content["rows"]), int(content["columns"]), dict(made), str(content["fingerprint"]))


def fingerprint(table: Table) -> str:
    """Return 32 hexadecimal digits that tables share if, and (but for a chance of 1e-38) only if, they are the same.

    What counts is the table as it is encoded, not where it came from: a frame and the file it was written to have the
    same fingerprint, if their levels read alike.
    """
    found = hashlib.blake2b(digest_size=16)
    continuous = set(table.continuous)
    told: dict[int, bytes] = {}  # many columns share their levels
    found.update(json.dumps([table.rows, table.names]).encode())
    for k in range(len(table.names)):
        levels = table.column_levels(k)
        if id(levels) not in told:
            told[id(levels)] = json.dumps([str(level) for level in levels]).encode()
        found.update(told[id(levels)])
        column = table.numbers(k) if k in continuous else table.codes(k)
        if k in table.missing:  # what stands there means nothing
            column = np.where(table.missing[k], 0, column)
            found.update(np.packbits(table.missing[k]).data)
        found.update(column.astype("<f8" if k in continuous else "u1" if len(levels) <= 256 else "<u2").data)
    return found.hexdigest()
