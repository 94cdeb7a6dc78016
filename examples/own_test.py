"""An independence test of one's own: are two columns still correlated once all that z tells has been taken away?

What z tells is found by nearest neighbours, so it may be curved; the rest is compared as Shah and Peters do (*The
hardness of conditional independence testing and the generalised covariance measure*, Annals of Statistics 2020).

    python examples/own_test.py
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import serape

Column = NDArray[np.float64]


def left_over(column: Column, z: tuple[Column, ...], neighbours: int = 15) -> Column:
    """Return what is left of a column after the mean of the rows that are nearest in z."""
    if not z:
        return column - np.mean(column)
    indices = np.stack([values / values.std() for values in z])
    distance = ((indices[:, :, None] - indices[:, None, :]) ** 2).sum(axis=0)
    nearest = np.argpartition(distance, neighbours, axis=1)[:, :neighbours]
    rest: Column = column - column[nearest].mean(axis=1)
    return rest


def no_covariance(x: Column, y: Column, z: tuple[Column, ...]) -> float:
    """Return p of x ⊥ y | z."""
    products = left_over(x, z) * left_over(y, z)
    return math.erfc(abs(products.mean()) / products.std() * math.sqrt(len(products) / 2))


def beach(days: int, seed: int = 0) -> dict[str, Column]:
    """Draw days at the sea: warm ones bring swimmers and sell ice, swimmers and currents call for rescues."""
    random = np.random.default_rng(seed)
    warmth, currents, wages = random.uniform(0, 3, days), random.normal(size=days), random.normal(size=days)
    ice = warmth**2 + random.normal(size=days)
    swimmers = warmth**2 + random.normal(size=days)
    rescues = swimmers + 2 * currents + random.normal(size=days)
    return {
        "warmth": warmth,
        "currents": currents,
        "wages": wages,
        "ice": ice,
        "swimmers": swimmers,
        "rescues": rescues,
    }


if __name__ == "__main__":
    found = serape.markov_blanket(serape.FunctionTest(beach(1000), no_covariance), "swimmers", "hiton-mb", alpha=0.01)
    print(found)
