"""Plain twins of the scores of numbers and mixtures: regressions, determinants, cells one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import multigammaln

from serape.structure.scores import Score

Floats = NDArray[np.float64]


def plain_gaussian_bic(data: Floats, child: int, parents: Sequence[int], gamma: float = 0.0) -> float:
    """By least squares."""
    rows, columns = data.shape
    design = np.column_stack([np.ones(rows), data[:, list(parents)]])
    y = data[:, child]
    residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    likelihood = -0.5 * rows * (math.log(2 * math.pi * float(residuals @ residuals) / rows) + 1)
    cost = 0.5 * math.log(rows) * (len(parents) + 2) + gamma * math.log(columns) * len(parents)
    return float(likelihood - cost)


def plain_bge(data: Floats, child: int, parents: Sequence[int]) -> float:
    """By equation (18) of Geiger and Heckerman, with the exponents of Kuipers, Moffa and Heckerman."""
    return _marginal(data, [*parents, child]) - _marginal(data, list(parents))


def _marginal(data: Floats, subset: Sequence[int]) -> float:
    """The marginal likelihood of a complete graph of a subset; mean weight 1, n + 2 degrees of freedom."""
    rows, n = data.shape
    size = len(subset)
    if not size:
        return 0.0
    weight, dof = 1.0, n + 2.0
    scale = weight * (dof - n - 1) / (weight + 1)
    part = data[:, list(subset)]
    deviations = part - part.mean(axis=0)
    posterior = scale * np.eye(size) + deviations.T @ deviations
    before, after = dof - n + size, rows + dof - n + size
    return float(
        0.5 * size * math.log(weight / (rows + weight))
        - 0.5 * size * rows * math.log(math.pi)
        + multigammaln(after / 2, size)
        - multigammaln(before / 2, size)
        + 0.5 * before * size * math.log(scale)
        - 0.5 * after * np.linalg.slogdet(posterior)[1]
    )


def plain_cg_bic(frame: pd.DataFrame, child: str, parents: Sequence[str], gamma: float = 0.0) -> float:
    """By the likelihoods of cells."""
    rows, columns = frame.shape
    levels = math.prod((_levels(frame, x) for x in parents), start=1)
    parameters = (_levels(frame, child) - 1) * levels
    fit = _set_score(frame, [*parents, child]) - _set_score(frame, list(parents))
    return fit - 0.5 * math.log(rows) * parameters - gamma * math.log(columns) * len(parents)


def _levels(frame: pd.DataFrame, name: str) -> int:
    return 1 if frame[name].dtype.kind == "f" else frame[name].nunique()


def _set_score(frame: pd.DataFrame, names: Sequence[str]) -> float:
    rows = len(frame)
    numbers = [x for x in names if frame[x].dtype.kind == "f"]
    categories = [x for x in names if x not in numbers]
    parts = [part for _, part in frame.groupby(categories, observed=True)] if categories else [frame]
    d = len(numbers)
    total = 0.0
    for part in parts:
        n = len(part)
        total += n * math.log(n / rows)
        if numbers:
            deviations = part[numbers].to_numpy() - part[numbers].to_numpy().mean(axis=0)
            products = deviations.T @ deviations
            spread = frame[numbers].to_numpy().var(axis=0)
            covariance = (products + np.diag(np.where(spread > 0, spread, 1.0))) / (n + 1)
            total -= 0.5 * n * (d * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1])
            total -= 0.5 * np.trace(np.linalg.solve(covariance, products))
            total -= 0.5 * math.log(rows) * d * (d + 3) / 2
    return float(total)


def plain_boss(
    local: Callable[[int, Sequence[int]], float],
    n: int,
    max_parents: int,
    *,
    order: Sequence[int] | None = None,
    allowed: Sequence[Collection[int]] | None = None,
    required: Sequence[Collection[int]] | None = None,
    earlier: Sequence[Collection[int]] | None = None,
) -> list[set[int]]:
    """The search for an order, with the parents of every variable found anew for every order that is tried.

    By variable: the parents that it may have, those that it has whatever the score, and those before it in every order.
    """

    def parents(child: int, before: Sequence[int]) -> tuple[float, list[int]]:
        found = sorted(required[child] if required else ())
        fixed = set(found)
        best = local(child, found)
        possible = [x for x in before if allowed is None or x in allowed[child]]
        while len(found) < max_parents:
            scored = [(local(child, sorted([*found, x])), -x) for x in possible if x not in found]
            if not scored or max(scored)[0] <= best:
                break
            best, x = max(scored)
            found.append(-x)
        found.sort()
        while set(found) > fixed:
            scored = [(local(child, [z for z in found if z != x]), -x) for x in found if x not in fixed]
            if max(scored)[0] <= best:
                break
            best, x = max(scored)
            found.remove(-x)
        return best, found

    def total(order: Sequence[int]) -> float:
        return math.fsum(parents(x, order[:k])[0] for k, x in enumerate(order))

    def is_allowed(order: Sequence[int]) -> bool:
        return earlier is None or all(set(earlier[x]) <= set(order[:k]) for k, x in enumerate(order))

    order = list(range(n)) if order is None else list(order)
    moving = True
    while moving:
        moving = False
        for x in list(order):
            rest = [y for y in order if y != x]
            now = total(order)
            at = order.index(x)
            places = [at, *range(at)[::-1], *range(at + 1, n)]  # of equals, the first one
            tried = [[*rest[:k], x, *rest[k:]] for k in places]
            best = max(filter(is_allowed, tried), key=lambda order: round(total(order), 7))
            if total(best) > now + 1e-9 * abs(now):
                order, moving = best, True
    found = [set[int]() for _ in range(n)]
    for k, x in enumerate(order):
        found[x] = set(parents(x, order[:k])[1])
    return found


class Population(Score):
    """The BIC of endless rows: a linear Gaussian network whose covariance is known exactly. A perfect score."""

    name = "population"

    def __init__(self, graph: nx.DiGraph[str], order: Sequence[str], random: np.random.Generator) -> None:
        self.variables = tuple(order)
        index = {name: k for k, name in enumerate(order)}
        weights = np.zeros((len(order), len(order)))
        for a, b in graph.edges:
            weights[index[b], index[a]] = random.uniform(0.4, 1.2) * random.choice([-1, 1])
        inverse = np.linalg.inv(np.eye(len(order)) - weights)
        self.covariance: NDArray[np.float64] = inverse @ inverse.T
        self.rows = 1e13  # a partial correlation of 2e-6 is seen

    def local(self, child: int, parents: Sequence[int]) -> float:
        above = list(parents)
        variance = self.covariance[child, child]
        if above:
            part = self.covariance[np.ix_(above, above)]
            cross = self.covariance[above, child]
            variance = variance - cross @ np.linalg.solve(part, cross)
        return float(-0.5 * self.rows * np.log(variance) - 0.5 * np.log(self.rows) * len(above))
