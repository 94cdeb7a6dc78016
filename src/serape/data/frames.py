"""A table as a frame of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        codes = table.indices(k)
        if k in table.missing:
            codes[table.missing[k]] = -1
        if None in levels:  # the level of missing values comes last
            levels.remove(None)
            codes[codes == len(levels)] = -1
        frame[name] = pd.Series(pd.Categorical.from_codes(codes, pd.Index(levels), kind == "ordinal"))
    return pd.DataFrame(frame)
