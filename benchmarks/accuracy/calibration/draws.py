"""Columns x and y that are independent given Z, of many distributions, with many ways of depending on Z."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import serape

Floats = NDArray[np.float64]
Transform = Callable[[np.random.Generator, Floats], Floats]

ROWS = (50, 150, 500, 2000)
PER_DRAW = 10
"""Columns x for one y and one Z: a screen answers for all of them at once."""
STRENGTHS = {"strong linear": 3.0, "strong sin 2z": 3.0}
"""Standard deviation of what Z gives to x and y, if it is not 1 as that of their own noise."""

SHAPES: dict[str, Transform] = {
    "normal": lambda _, u: u,
    "lognormal": lambda _, u: np.exp(1.5 * u),
    "Cauchy": lambda _, u: np.sign(u) * (np.exp(u * u / 2) - 1),  # odd, with tails like those of Cauchy
    "60 % zeros": lambda _, u: np.maximum(u - 0.2533, 0),
    "counts": lambda random, u: random.poisson(np.exp(np.minimum(u, 5))).astype(float),
    "5 ordered values": lambda _, u: np.digitize(u, (-1, -0.3, 0.3, 1)).astype(float),
    "4 rows differ": lambda _, u: (u >= np.partition(u, -4)[-4]).astype(float),
}
"""How a number comes from a latent variable of mean 0 and variance 1."""
CLASSES = (-0.43, 0.43)
"""The cut points of a category of three levels."""

FORMS = {
    "nothing": (0, 0),
    "15 levels": (15, 0),
    "number": (0, 1),
    "15 levels + number": (15, 1),
    "3 numbers": (0, 3),
    "20 levels + 3 numbers": (20, 3),
}
"""The levels of the category in Z, if there is one, and the numbers in Z."""

CURVES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda z: z,
    "z²": lambda z: z * z,
    "sin 2z": lambda z: np.sin(2 * z),
    "e^z": np.exp,
    "strong linear": lambda z: z,
    "strong sin 2z": lambda z: np.sin(2 * z),
}
SOME_SHAPES = ("normal", "60 % zeros")
"""The distributions of numbers that are crossed with every dependence on Z; the others only with plain ones."""
PAIRS = {"number, number": "nn", "number, class": "nc", "class, class": "cc"}


@dataclass(frozen=True)
class Cell:
    """One cell of the grid."""

    rows: int
    z: str
    dependence: str
    shape: str
    pair: str

    @property
    def categorical(self) -> bool:
        """Whether all columns are categories."""
        return self.pair == "class, class" and FORMS[self.z][1] == 0

    @property
    def continuous(self) -> bool:
        """Whether all columns are numbers."""
        return self.pair == "number, number" and FORMS[self.z][0] == 0


def dependences(z: str) -> tuple[str, ...]:
    """Return the ways in which x and y can depend on a form of Z."""
    levels, numbers = FORMS[z]
    if not levels and not numbers:
        return ("not at all",)
    curves = tuple(CURVES) if numbers else ("linear", "strong linear")
    products = ("product",) if (numbers and levels) or numbers > 1 else ()
    return ("not at all", *curves, "spread", *products)


def shapes(dependence: str, kinds: str) -> tuple[str, ...]:
    """Return the distributions of numbers that are drawn; for two categories, they play no part."""
    if kinds == "cc":
        return ("–",)
    return tuple(SHAPES) if dependence in ("not at all", "linear", "strong linear", "spread") else SOME_SHAPES


def cells(quick: bool = False) -> Iterator[Cell]:
    """Yield the cells of the grid."""
    for rows in ROWS[1:2] if quick else ROWS:
        for z in FORMS:
            for dependence in dependences(z)[: 2 if quick else None]:
                for pair, kinds in PAIRS.items():
                    for shape in shapes(dependence, kinds)[-2 if quick else 0 :]:
                        yield Cell(rows, z, dependence, shape, pair)


def standardised(values: Floats) -> Floats:
    """Return values with mean 0 and variance 1, unless they are constant."""
    centred = values - values.mean()
    spread = centred.std()
    scaled: Floats = centred / spread if spread > 0 else centred
    return scaled


def draw(random: np.random.Generator, cell: Cell) -> tuple[serape.Table, int, list[int], list[int]]:
    """Return a table, and the positions in it of y, of the columns x, and of Z."""
    levels, count = FORMS[cell.z]
    numbers = random.standard_normal((count, cell.rows))
    shares = 1 / np.arange(1, levels + 1)  # a few frequent levels and many rare ones
    codes = random.choice(levels, cell.rows, p=shares / shares.sum()) if levels else np.zeros(cell.rows, np.int64)
    of_levels = random.standard_normal(max(levels, 1))[codes]
    strength = STRENGTHS.get(cell.dependence, 1.0)
    given = standardised(signal(cell.dependence, numbers, codes) + of_levels)

    def drawn() -> Floats:
        noise = random.standard_normal(cell.rows)
        if cell.dependence == "not at all":
            return noise
        if cell.dependence == "spread":
            return standardised(noise * np.exp(0.8 * given))
        latent: Floats = (strength * given + noise) / np.hypot(strength, 1)
        return latent

    columns: dict[str, NDArray[np.generic]] = {}
    kinds = PAIRS[cell.pair][::-1] + PAIRS[cell.pair][0] * (PER_DRAW - 1)  # y first
    for k, kind in enumerate(kinds):
        values = drawn()
        columns[f"v{k}"] = (
            SHAPES[cell.shape](random, values) if kind == "n" else np.digitize(values, CLASSES).astype(str)
        )
    if levels:
        columns["g"] = codes.astype(str)
    columns |= {f"z{k}": values for k, values in enumerate(numbers)}
    named = {n: "categorical" if c.dtype.kind == "U" else "continuous" for n, c in columns.items()}
    x = list(range(1, 1 + PER_DRAW))
    return serape.Table(columns, kinds=named), 0, x, list(range(1 + PER_DRAW, len(columns)))


def signal(dependence: str, numbers: Floats, codes: NDArray[np.int64]) -> Floats:
    """Return what the numbers of Z give to x and y."""
    if dependence == "product":
        signs = 2.0 * (codes % 2) - 1 if len(numbers) == 1 else numbers[1]
        product: Floats = numbers[0] * signs
        return product
    total: Floats = CURVES.get(dependence, CURVES["linear"])(numbers).sum(axis=0)
    return total
