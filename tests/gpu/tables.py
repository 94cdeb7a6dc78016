"""Random tables for the tests of devices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import serape


def categorical(random: np.random.Generator, columns: int, rows: int, levels: Sequence[int]) -> serape.Table:
    """Return columns of some numbers of levels, some of which depend on each other."""
    hidden = random.normal(size=(rows, 4))
    data = {}
    for k in range(columns):
        n = int(random.choice(levels))
        values = hidden[:, random.integers(4)] * random.integers(2) + random.normal(size=rows)
        data[f"x{k}"] = np.digitize(values, np.linspace(-1.0, 1.0, n + 1)[1:-1]).astype(str)
    return serape.Table(data)


def numeric(random: np.random.Generator, columns: int, rows: int) -> NDArray[np.float64]:
    """Return columns of a linear model with few arcs."""
    arcs = np.tril(random.normal(size=(columns, columns)) * (random.random((columns, columns)) < 3 / columns), -1)
    return np.asarray(random.normal(size=(rows, columns)) @ np.linalg.inv(np.eye(columns) - arcs).T)
