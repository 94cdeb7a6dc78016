"""Exact marginal distributions, where they cost little."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape.networks.network import Network, normalised

MOST_ANCESTORS = 100
MOST_CELLS = 1 << 16
_MOST_AXES = 30  # NumPy arrays have 32 at least


@dataclass(frozen=True, slots=True)
class _Factor:
    over: tuple[str, ...]
    values: NDArray[np.float64]


def ancestry(network: Network, variable: str, most: int | None = None) -> frozenset[str] | None:
    """Return a variable and all its ancestors; None if there are more than so many."""
    found, fresh = {variable}, [variable]
    while fresh:
        for parent in network.parents(fresh.pop()):
            if parent not in found:
                found.add(parent)
                fresh.append(parent)
        if most is not None and len(found) > most:
            return None
    return frozenset(found)


def marginal(network: Network, variable: str) -> NDArray[np.float64] | None:
    """Return P(variable) by variable elimination, or None where that would take long.

    Long is: more than 100 ancestors, or a table of more than 65,536 cells along the way.
    """
    above = ancestry(network, variable, MOST_ANCESTORS)
    order = None if above is None else _elimination_order(network, above, variable)
    if above is None or order is None:
        return None
    factors = [_factor(network, name) for name in sorted(above)]
    for gone in order:
        touched = [f for f in factors if gone in f.over]
        factors = [f for f in factors if gone not in f.over]
        factors.append(_summed_out(_product(touched), gone))
    values = _product(factors).values.ravel()
    exact: NDArray[np.float64] = values / values.sum()
    return exact


def _elimination_order(network: Network, above: frozenset[str], kept: str) -> list[str] | None:
    """Return an order in which to sum out all but one, the smallest table first; None if a table is too large."""
    near: dict[str, set[str]] = {name: set() for name in above}
    for name in above:
        family = (name, *network.parents(name))
        for member in family:
            near[member].update(family)
    size = {name: math.log2(len(network.levels(name))) for name in above}
    cost = {name: sum(size[n] for n in near[name]) for name in above}
    order = []
    left = sorted(above - {kept})
    while left:
        cheapest = min(left, key=cost.__getitem__)
        around = near[cheapest]
        if cost[cheapest] > math.log2(MOST_CELLS) + 1e-9 or len(around) > _MOST_AXES:
            return None
        left.remove(cheapest)
        order.append(cheapest)
        for name in around - {cheapest}:
            near[name] |= around
            near[name].discard(cheapest)
            cost[name] = sum(size[n] for n in near[name])
    return order


def _factor(network: Network, name: str) -> _Factor:
    over = (*network.parents(name), name)
    return _Factor(over, normalised(network.cpt(name)).reshape([len(network.levels(n)) for n in over]))


def _product(factors: list[_Factor]) -> _Factor:
    over = tuple(dict.fromkeys(name for f in factors for name in f.over))
    index = {name: k for k, name in enumerate(over)}
    values: NDArray[np.float64] = np.ones(())
    for f in factors:
        axes = [index[name] for name in f.over]
        ordered = np.transpose(f.values, np.argsort(axes))
        shape = [1] * len(over)
        for name, length in zip(f.over, f.values.shape, strict=True):
            shape[index[name]] = length
        values = values * ordered.reshape(shape)
    return _Factor(over, values)


def _summed_out(factor: _Factor, gone: str) -> _Factor:
    at = factor.over.index(gone)
    return _Factor(factor.over[:at] + factor.over[at + 1 :], factor.values.sum(axis=at))
