"""Exact marginal distributions, if they take little time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape.networks.network import Network, normalised

MAX_ANCESTORS = 100
MAX_CELLS = 1 << 16
_MAX_AXES = 30  # NumPy arrays can have at least 32


@dataclass(frozen=True, slots=True)
class _Factor:
    over: tuple[str, ...]
    values: NDArray[np.float64]


def ancestry(network: Network, variable: str, max_size: int | None = None) -> frozenset[str] | None:
    """Return a variable and all its ancestors; None if there are more than `max_size`."""
    found, pending = {variable}, [variable]
    while pending:
        for parent in network.parents(pending.pop()):
            if parent not in found:
                found.add(parent)
                pending.append(parent)
        if max_size is not None and len(found) > max_size:
            return None
    return frozenset(found)


def marginal(network: Network, variable: str) -> NDArray[np.float64] | None:
    """Return P(variable) by variable elimination, or None if that would take long.

    That is: if there are more than 100 ancestors, or if elimination needs a table of more than 65,536 cells.
    """
    above = ancestry(network, variable, MAX_ANCESTORS)
    order = None if above is None else _elimination_order(network, above, variable)
    if above is None or order is None:
        return None
    factors = [_factor(network, name) for name in sorted(above)]
    for eliminated in order:
        involved = [f for f in factors if eliminated in f.over]
        factors = [f for f in factors if eliminated not in f.over]
        factors.append(_summed_out(_product(involved), eliminated))
    values = _product(factors).values.ravel()
    exact: NDArray[np.float64] = values / values.sum()
    return exact


def _elimination_order(network: Network, above: frozenset[str], kept: str) -> list[str] | None:
    """Return an order in which to eliminate all but one, the smallest table first; None if a table is too large."""
    neighbours: dict[str, set[str]] = {name: set() for name in above}
    for name in above:
        family = (name, *network.parents(name))
        for member in family:
            neighbours[member].update(family)
    size = {name: math.log2(len(network.levels(name))) for name in above}
    cost = {name: sum(size[n] for n in neighbours[name]) for name in above}
    order = []
    remaining = sorted(above - {kept})
    while remaining:
        cheapest = min(remaining, key=cost.__getitem__)
        clique = neighbours[cheapest]
        if cost[cheapest] > math.log2(MAX_CELLS) + 1e-9 or len(clique) > _MAX_AXES:
            return None
        remaining.remove(cheapest)
        order.append(cheapest)
        for name in clique - {cheapest}:
            neighbours[name] |= clique
            neighbours[name].discard(cheapest)
            cost[name] = sum(size[n] for n in neighbours[name])
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


def _summed_out(factor: _Factor, eliminated: str) -> _Factor:
    at = factor.over.index(eliminated)
    return _Factor(factor.over[:at] + factor.over[at + 1 :], factor.values.sum(axis=at))
