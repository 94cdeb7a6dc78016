"""A plain twin of the scores, and a table with columns of many sizes."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

import serape
from plain import random_table
from serape.structure.scores import Score

STRATEGIES = ("automatic", "planes", "scatter", "sparse", "ones")
Columns = Sequence[NDArray[np.int64]]


def plain_score(
    kind: str, codes: Columns, levels: Sequence[int], child: int, parents: Sequence[int], ess: float = 10.0
) -> float:
    """Score a family by the formula."""
    rows = len(codes[child])
    strata = np.zeros(rows, np.int64)
    for p in parents:
        strata = np.unique(strata * levels[p] + codes[p], return_inverse=True)[1].ravel()
    n_j = np.unique(strata, return_counts=True)[1].astype(float)
    n_jk = np.unique(strata * levels[child] + codes[child], return_counts=True)[1].astype(float)
    r, q = levels[child], float(math.prod(levels[p] for p in parents))
    if kind in ("bdeu", "k2"):
        a_jk, a_j = (1.0, float(r)) if kind == "k2" else (ess / (r * q), ess / q)
        return float((gammaln(n_jk + a_jk) - gammaln(a_jk)).sum() - (gammaln(n_j + a_j) - gammaln(a_j)).sum())
    likelihood = float((n_jk * np.log(n_jk)).sum() - (n_j * np.log(n_j)).sum())
    return likelihood - {"loglik": 0.0, "bic": 0.5 * math.log(rows), "aic": 1.0}[kind] * (r - 1) * q


class PlainScore(Score):
    """A user's own score, of which only `local` is written."""

    def __init__(self, table: serape.Table, kind: str) -> None:
        self.variables = table.names
        self.kind = kind
        self.codes = [table.packed.codes(k).astype(np.int64) for k in range(len(table.names))]
        self.levels = [table.levels(k) for k in range(len(table.names))]
        self.asked = 0

    def local(self, child: int, parents: Sequence[int]) -> float:
        self.asked += 1
        return plain_score(self.kind, self.codes, self.levels, child, parents)


@cache
def mixed_table(rows: int) -> serape.Table:
    levels = [2] * 20 + [3] * 10 + [4, 5, 6, 7, 8, 9, 12, 20, 300, 1] + [2] * 10
    return random_table(np.random.default_rng(rows), rows, levels, 0.4)
