"""Variables that others determine: given these, they tell nothing more, though no test can be performed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape.data.degenerate import functions_of
from serape.data.origins import Origin
from serape.data.table import Table

_ROUNDING = 1e-9  # of the largest distance to the mean


def determined(table: Table | None, variables: Sequence[int], given: Sequence[int]) -> set[int]:
    """Return the variables that are exact functions of the given ones, as far as the table at hand shows it.

    Categorical variables are functions of one of the given ones or of all; continuous ones are linear functions.
    """
    if table is None or table.remote is not None or not variables:
        return set()
    levels = [z for z in given if table.levels(z)]
    return set(functions_of(table, list(variables), levels)) | _linear(table, variables, given)


def _linear(table: Table, variables: Sequence[int], given: Sequence[int]) -> set[int]:
    """Return the continuous variables that are linear functions of the continuous ones among the given."""
    continuous = set(table.continuous)
    columns = [z for z in given if z in continuous and z not in table.missing]
    found: set[int] = set()
    if not columns or len(columns) + 1 >= table.rows:
        return found
    design = np.column_stack([np.ones(table.rows), *(_standardised(table, z) for z in columns)])
    for x in variables:
        if x in continuous and x not in table.missing:
            values = _standardised(table, x)
            rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
            if np.abs(rest).max() <= _ROUNDING:
                found.add(x)
    return found


def _standardised(table: Table, k: int) -> NDArray[np.float64]:
    column: NDArray[np.float64] = np.asarray(table.numbers(k), np.float64)
    values = Origin.of(column).measured(column)
    values = values - values.mean()
    return np.asarray(values / (float(np.abs(values).max()) or 1.0))
