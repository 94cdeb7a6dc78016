"""The block score again, plainly: scores of columns written down, determinants by NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plain_gram_matrix import Matrix, of_category, of_number

DEGREE, LEVELS = 5, 15


def plain_blocks(columns: Sequence[NDArray[Any]]) -> list[list[Matrix]]:
    """Return the scores of each column: the first ones, and further ones where another column shows a curve."""
    rows = len(columns[0])
    weights = np.ones(rows)
    first, further = [], []
    for values in columns:
        if values.dtype.kind == "f":
            own = of_number(values, DEGREE, weights)
            first.append(own[:1])
            further.append(own[1:])
        else:
            first.append(of_category(values, weights)[:LEVELS])
            further.append([])
    least = 0.5 * math.log(rows) + 2 * math.log(max(sum(map(len, first)), 1))
    return [
        _with_curves(first[k], further[k], [x for j, other in enumerate(first) if j != k for x in other], least)
        for k in range(len(columns))
    ]


def _with_curves(own: list[Matrix], further: list[Matrix], others: list[Matrix], least: float) -> list[Matrix]:
    """Add to a column's scores the further ones that have a large partial correlation with one of other columns."""
    joined = list(own)
    for score in further:
        left = _residual(score, joined)
        if not others or left @ left < 1e-6 * len(left):
            continue
        against = [_residual(x, joined) for x in others]
        shares = [float((left @ x) ** 2 / (left @ left) / (x @ x)) for x in against if x @ x > 1e-9 * len(x)]
        if -0.5 * len(left) * math.log1p(-min(max([0.0, *shares]), 1 - 1e-12)) > least:
            joined.append(score)
    return joined


def _residual(y: Matrix, given: list[Matrix]) -> Matrix:
    if not given:
        return y
    design = np.stack(given, 1)
    return np.asarray(y - design @ np.linalg.lstsq(design, y, rcond=None)[0])


def plain_block_score(blocks: Sequence[list[Matrix]], child: int, parents: Sequence[int]) -> float:
    """Return the score of a family: what the likelihood gains over no parents, less the costs."""
    rows = next(len(block[0]) for block in blocks if block)

    def log_det(chosen: Sequence[int]) -> float:
        scores = np.array([x for k in chosen for x in blocks[k]]).reshape(-1, rows)
        return float(np.linalg.slogdet(scores @ scores.T / rows + 2.0**-20 * np.eye(len(scores)))[1])

    size = [len(block) for block in blocks]
    explained = log_det(parents) + log_det([child]) - log_det([*parents, child])
    if 5 * (size[child] + sum(size[x] for x in parents)) > rows:
        explained = 0.0
    cost = 0.5 * math.log(rows) * size[child] * sum(size[x] for x in parents) + math.log(len(blocks)) * len(parents)
    return 0.5 * rows * explained - cost
