"""Write your own independence test: are x and y still correlated after removing what z explains?

A nearest-neighbour regression removes what z explains, so the relation may be curved. The residuals are compared as in
Shah and Peters, *The hardness of conditional independence testing and the generalised covariance measure* (Annals of
Statistics 2020).

    python examples/own_test.py
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import serape

Column = NDArray[np.float64]


def residuals(column: Column, z: tuple[Column, ...], neighbours: int = 15) -> Column:
    """Return a column minus its mean over the rows that are nearest in z."""
    if not z:
        return column - np.mean(column)
    scaled = np.stack([values / values.std() for values in z])
    distance = ((scaled[:, :, None] - scaled[:, None, :]) ** 2).sum(axis=0)
    nearest = np.argpartition(distance, neighbours, axis=1)[:, :neighbours]
    rest: Column = column - column[nearest].mean(axis=1)
    return rest


def no_covariance(x: Column, y: Column, z: tuple[Column, ...]) -> float:
    """Return the p-value of x ⊥ y | z."""
    products = residuals(x, z) * residuals(y, z)
    return math.erfc(abs(products.mean()) / products.std() * math.sqrt(len(products) / 2))


def beach(days: int, seed: int = 0) -> dict[str, Column]:
    """Generate days at a beach: warmth raises ice sales and swimmers; swimmers and currents raise rescues."""
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
