"""Tables for tests of correlations, and the tests by regression."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import serape
from serape.independence.partial_correlation import (
    CorrelationTest,
    FisherZ,
    NormalScores,
    PartialCorrelation,
    Spearman,
)

TESTS: dict[str, type[CorrelationTest]] = {c.name: c for c in (FisherZ, PartialCorrelation, Spearman, NormalScores)}
RANKS = ("spearman", "normal-scores")
Floats = NDArray[np.float64]


def table_of(columns: Floats) -> serape.Table:
    return serape.Table(columns, kinds="continuous")


def correlated(seed: int, rows: int, columns: int, troubled: bool = False) -> Floats:
    """Draw columns that depend on each other; troubled ones include copies, sums, near-copies and constants."""
    random = np.random.default_rng(seed)
    weights = np.triu(random.normal(size=(columns, columns)) * (random.random((columns, columns)) < 0.4), 1)
    data: Floats = random.normal(size=(rows, columns)) @ np.linalg.inv(np.eye(columns) - weights)
    for k in range(columns if troubled else 0):
        a, b = random.integers(columns, size=2)
        kind = random.choice(
            ["as it is", "copy", "image", "sum", "near", "constant"], p=[0.7, 0.1, 0.05, 0.06, 0.06, 0.03]
        )
        if kind == "copy":
            data[:, k] = data[:, a]
        elif kind == "image":
            data[:, k] = 2 - 3 * data[:, a]
        elif kind == "sum":
            data[:, k] = data[:, a] + data[:, b]
        elif kind == "near":
            data[:, k] = data[:, a] + 10.0 ** random.integers(-9, -2) * random.normal(size=rows)
        elif kind == "constant":
            data[:, k] = 7.25
    return data


def reference(data: Floats, x: int, y: int, z: list[int], name: str) -> tuple[float, float, float]:
    """Statistic, dof and log p by regression, residuals and SciPy."""
    if name in RANKS:
        data = np.apply_along_axis(stats.rankdata, 0, data)
    if name == "normal-scores":
        data = stats.norm.ppf(data / (len(data) + 1))
    design = np.column_stack([np.ones(len(data)), data[:, z]])
    residuals = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (data[:, x], data[:, y])]
    r = abs(float(residuals[0] @ residuals[1] / math.sqrt((residuals[0] ** 2).sum() * (residuals[1] ** 2).sum())))
    if name == "fisher-z":
        dof = len(data) - len(z) - 3
        statistic = math.sqrt(dof) * math.atanh(r)
        return statistic, dof, math.log(2) + float(stats.norm.logsf(statistic))
    dof = len(data) - len(z) - 2
    statistic = r * math.sqrt(dof / (1 - r * r))
    return statistic, dof, math.log(2) + float(stats.t.logsf(statistic, dof))
