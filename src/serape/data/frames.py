"""A table as a frame of pandas, and its columns as they were before encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from serape.data.table import Table


def to_pandas(table: Table) -> pd.DataFrame:
    """Return a table as a pandas frame; columns of categories become pandas categories."""
    import pandas as pd  # optional

    frame = {}
    numbers = set(table.continuous)
    for k, (name, kind) in enumerate(table.kinds.items()):
        levels = list(table.column_levels(k))
        if k in numbers and (kind == "identifier" or not levels):
            frame[name] = pd.Series(table.column(k))
            continue
        codes = _indices(table, k)
        if k in table.missing:
            codes[table.missing[k]] = -1
        if None in levels:  # the level of missing values comes last
            levels.remove(None)
            codes[codes == len(levels)] = -1
        frame[name] = pd.Series(pd.Categorical.from_codes(codes, pd.Index(levels), kind == "ordinal"))
    return pd.DataFrame(frame)


def values_before_encoding(table: Table, k: int) -> NDArray[Any]:
    """Return the values of the column at a position, dates in days; None or NaN where they are missing."""
    of_column = table.column_levels(k)
    if k in table._values and not of_column:
        return table.numbers(k)
    levels = np.empty(len(of_column), object)
    levels[:] = of_column
    if k in table.missing:
        values: NDArray[Any] = levels[_indices(table, k)]
        values[table.missing[k]] = None
        return values
    if all(type(v) is type(levels[0]) for v in levels) and isinstance(levels[0], bool | int | float | str):
        levels = np.array(of_column)
    return levels[_indices(table, k)]


def _indices(table: Table, k: int) -> NDArray[np.int64]:
    """Return, for every row, the index of its level; 0 where it is missing in a column of numbers."""
    column: NDArray[Any] = table.codes(k) if k not in table.continuous else np.nan_to_num(table.numbers(k))
    return column.astype(np.int64)
