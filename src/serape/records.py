"""A small table of named columns that can be converted to a frame of any dataframe library."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from serape import markup
from serape.errors import n_shown

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


_MAX_ROWS = 60


class Records:
    """Columns of one length, by name. Iterate for rows (as dicts), index by column name or row number."""

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = dict(columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            return self._columns[key]
        return {name: values[key] for name, values in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[k] for k in range(len(self)))

    def to_frame(self, library: Literal["pandas", "polars", "pyarrow", "modin", "cudf"]) -> Any:
        """Return a frame of the named library: "pandas", "polars", "pyarrow", …."""
        import narwhals.stable.v2 as nw

        return nw.from_dict(self._columns, backend=library).to_native()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame."""
        frame: pd.DataFrame = self.to_frame("pandas")
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame."""
        frame: pl.DataFrame = self.to_frame("polars")
        return frame

    def _first(self, max_rows: int) -> list[dict[str, Any]]:
        return [self[k] for k in range(n_shown(len(self), max_rows))]

    def _repr_html_(self) -> str:
        rows = [list(map(cell_text, row.values())) for row in self._first(markup.MAX_ROWS)]
        return markup.page("", markup.table(self.columns, rows, len(self)))

    def __repr__(self) -> str:
        shown = [
            self.columns,
            *([_text(v) for v in row.values()] for row in self._first(_MAX_ROWS)),
        ]
        widths = [max(len(str(row[k])) for row in shown) for k in range(len(self.columns))]
        lines = [
            "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown
        ]
        if (left := len(self) + 1 - len(shown)) > 0:
            lines.append(f"… and {left:,} more rows")
        return "\n".join(lines)


def cell_text(value: Any) -> str:
    """Return a value as text in a table."""
    return "–" if _is_absent(value) else _text(value)


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:z.4g}" if isinstance(value, float) else markup.plain(str(value))
