"""Tables whose numbers are moved, stretched or turned round without rounding, for tests of invariance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape

Floats = NDArray[np.float64]
Numbers = Mapping[str, Floats]

ROWS = 151
FAR = 2.0**30
"""About 10⁹ standard deviations."""

MOVES: dict[str, Callable[[str, Floats], Floats]] = {
    "far above 0": lambda _, x: x + FAR,
    "far below 0": lambda _, x: x - FAR,
    "very small": lambda _, x: x * 2.0**-700,
    "very large": lambda _, x: x * 2.0**700,
    "in other units, from far": lambda _, x: (x + FAR) * 2.0**-33,
    "the negatives": lambda _, x: -x,
    "the negatives from far": lambda _, x: FAR - x,
    "one negative": lambda name, x: -x if name == "a" else x,
}
"""What is done to each column of numbers, by its name. All of it is exact: the numbers have few binary places."""


def numbers(rows: int = ROWS) -> dict[str, Floats]:
    """Return numbers that depend on each other: normal, heavy-tailed, skewed and tied ones."""
    random = np.random.default_rng(4)
    a, b, c = random.normal(size=(3, rows))
    b = b + 0.4 * a
    c = c + b - a
    d = random.standard_t(2, rows) + 0.5 * c
    e = np.exp(random.normal(size=rows) + 0.3 * a)
    columns = {"a": a, "b": b, "c": c, "d": d, "e": e, "f": np.round(a + random.normal(size=rows))}
    return {name: np.round(x * 2.0**16) / 2.0**16 for name, x in columns.items()}


def categories(rows: int = ROWS) -> dict[str, NDArray[Any]]:
    """Return categories that depend on the numbers and on each other."""
    random = np.random.default_rng(5)
    given = numbers(rows)
    p = np.digitize(given["a"] + random.normal(size=rows), [-0.5, 0.5])
    q = (given["c"] + p + random.normal(size=rows) > 1).astype(int)
    r = (q + random.integers(0, 3, rows)) % 3
    s = (p + random.integers(0, 2, rows)) % 2
    return {name: np.array(list("klmn"))[codes] for name, codes in {"p": p, "q": q, "r": r, "s": s}.items()}


def moved(given: Numbers, how: str) -> dict[str, Floats]:
    """Return columns of numbers, each of them moved."""
    return {name: MOVES[how](name, x) for name, x in given.items()}


def table(
    given: Numbers, classes: Mapping[str, NDArray[Any]], order: NDArray[Any] | None = None, **options: Any
) -> serape.Table:
    """Return the table of columns of numbers and of categories, in an order of the columns."""
    columns = {**given, **classes}
    names = list(columns) if order is None else [list(columns)[k] for k in order]
    kinds = {name: "continuous" if name in given else "categorical" for name in names}
    return serape.Table({name: columns[name] for name in names}, kinds=kinds, **options)
