"""The test of residuals again, plainly: NumPy's least squares and SciPy's distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Matrix = NDArray[np.float64]


def standard(columns: Sequence[Matrix], rows: int) -> Matrix:
    """Return columns side by side, centred, of mean square 1."""
    if not columns:
        return np.empty((rows, 0))
    matrix = np.column_stack(columns).astype(float)
    matrix = matrix - matrix.mean(axis=0)
    return np.asarray(matrix / np.sqrt((matrix**2).mean(axis=0)))


def scores_of(values: Matrix) -> Matrix:
    """Return the normal scores of a number and, if a value is common, its indicator."""
    rows = len(values)
    columns = [stats.norm.ppf((stats.rankdata(values) - 0.375) / (rows + 0.25))]
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) > 2 and counts.max() > 0.1 * rows:
        columns.append(values == levels[counts.argmax()])
    return standard(columns, rows)


def indicators_of(codes: NDArray[Any], most: int = 64, least: int = 5) -> Matrix:
    """Return indicators of the frequent levels of a category but the first."""
    levels, counts = np.unique(codes, return_counts=True)
    order = [k for k in np.argsort(-counts, kind="stable") if counts[k] >= least][:most]
    if len(order) > 1 or (order and counts[order[0]] == len(codes)):
        order = order[1:]
    return standard([codes == levels[k] for k in order], len(codes))


def block_of(column: NDArray[Any]) -> Matrix:
    """Return the scores of a column: a number if its values are floats, otherwise a category."""
    return scores_of(column) if column.dtype.kind == "f" else indicators_of(column)


def hermite(z: Matrix, degree: int) -> Matrix:
    """Return the Hermite polynomial of a degree, normalised under the normal distribution."""
    coefficients = np.zeros(degree + 1)
    coefficients[degree] = 1
    return np.asarray(np.polynomial.hermite_e.hermeval(z, coefficients) / math.sqrt(math.factorial(degree)))


class Basis:
    """Orthonormal columns, the indicators of cells first; a column is added unless the others explain it."""

    def __init__(self, cells: NDArray[np.int64]) -> None:
        in_cell = np.eye(int(cells.max()) + 1)[cells]
        self.in_cell = in_cell
        self.columns = list((in_cell / np.sqrt(in_cell.sum(axis=0))).T)
        self.cells = in_cell.shape[1]

    def add(self, column: Matrix) -> None:
        column = column - column.mean()
        q = np.column_stack(self.columns)
        left = column - q @ (q.T @ column)
        left = left - q @ (q.T @ left)
        if left @ left > 1e-6 * (column @ column):
            self.columns.append(left / math.sqrt(left @ left))

    def add_by_cell(self, column: Matrix) -> None:
        largest = self.in_cell.sum(axis=0).argmax()
        for c in range(self.cells):
            if c != largest:
                self.add(column * self.in_cell[:, c])


def basis_of(given: Sequence[NDArray[Any]], rows: int) -> Matrix:
    """Return the orthonormal columns, the constant among their span, on which x and y are regressed."""
    numbers = [z for z in given if z.dtype.kind == "f"]
    codes = [np.unique(z, return_inverse=True)[1].ravel() for z in given if z.dtype.kind != "f"]
    budget = rows / 5 + (len(codes) > 0)
    basis = Basis(np.zeros(rows, np.int64))
    if codes:
        joint = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()
        widest = -1
        if len(codes) > 1 and joint.max() + 1 > rows / 5:
            widest = max(range(len(codes)), key=lambda k: int(codes[k].max()))
        basis = Basis(joint if widest < 0 else codes[widest])
        for k, one in enumerate(codes):
            if widest >= 0 and k != widest:
                for column in indicators_of(one, 10**6, 1).T:
                    basis.add(column)
    for z in numbers:
        for column in scores_of(z).T:
            basis.add(column)
    first = len(basis.columns)
    curved = [(scores_of(z)[:, 0], len(np.unique(z))) for z in numbers if len(np.unique(z)) > 2]

    def fits(more: int) -> bool:
        width = len(basis.columns) + more
        return width - (0 if codes else 1) <= budget and width - first <= 96

    degree = 1

    def raise_to(top: int) -> None:
        nonlocal degree
        while degree < top and curved and fits(len(curved)):
            degree += 1
            for z, values in curved:
                if values > degree:
                    basis.add(hermite(z, degree))

    raise_to(3)
    slopes = len(curved) * (basis.cells - 1)
    pairs = math.comb(len(curved), 2)
    if pairs and fits(pairs):
        for (a, _), (b, _) in combinations(curved, 2):
            basis.add(a * b)
    sloped = slopes > 0 and fits(slopes)
    if sloped:
        for z, _ in curved:
            basis.add_by_cell(z)
    raise_to(5)
    if sloped and degree >= 3 and fits(2 * slopes):
        for z, values in curved:
            for d in (2, 3):
                if values > d:
                    basis.add_by_cell(hermite(z, d))
    raise_to(12)
    return np.column_stack(basis.columns)


def orthonormal(matrix: Matrix, tolerance: float = 1e-4) -> Matrix:
    """Return an orthonormal basis; `tolerance` is relative to a column of mean square 1."""
    if matrix.shape[1] == 0:
        return matrix
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(u[:, s > tolerance * math.sqrt(len(matrix))])


def quadratic(products: Matrix, weights: Matrix) -> float:
    """Return T² that the products have mean zero."""
    total = products.sum(axis=0)
    return float(total @ np.linalg.pinv(products.T @ (weights[:, None] * products), rcond=1e-10) @ total)


def residuals_of(
    x: NDArray[Any], y: NDArray[Any], given: Sequence[NDArray[Any]]
) -> tuple[list[Matrix], Matrix, Matrix, bool]:
    """Return what is left of the two blocks, the basis of Z, 1 − leverage, and whether the blocks are wide."""
    q = basis_of(given, len(x))
    rest_of_row = 1 - (q**2).sum(axis=1)
    wide_blocks = block_of(x).shape[1] * block_of(y).shape[1] > 64
    (curves, _), (other, _) = sorted((curves_of(x, q), curves_of(y, q)), key=lambda found: -found[1])
    for curve in other:
        add_orthonormal(curves, curve, q)
    whole = np.column_stack([q, *curves])
    left = [block - whole @ (whole.T @ block) for block in (block_of(x), block_of(y))]
    return left, whole, rest_of_row, wide_blocks


def plain_lambda(left_x: Matrix, left_y: Matrix) -> float:
    """Return Wilks' Λ of two blocks of residuals."""
    c = orthonormal(left_x).T @ orthonormal(left_y)
    return float(np.prod(1 - np.linalg.svd(c, compute_uv=False) ** 2))


def plain_test(
    x: NDArray[Any], y: NDArray[Any], given: Sequence[NDArray[Any]], curved: bool = True
) -> tuple[float, int]:
    """Return log p and degrees of freedom of the test of residuals; x, y and given are not all categories."""
    rows = len(x)
    (left_x, left_y), q, rest_of_row, wide_blocks = residuals_of(x, y, given)
    left_by_z = rows - basis_of(given, rows).shape[1]
    ux, uy = orthonormal(left_x), orthonormal(left_y)
    left = rows - q.shape[1]
    c = ux.T @ uy
    wide, narrow = max(c.shape), min(c.shape)
    lam = plain_lambda(left_x, left_y)
    both, pq = wide**2 + narrow**2, wide * narrow
    t = math.sqrt((pq**2 - 4) / (both - 5)) if both > 5 else 1.0
    rest = (left - (wide + narrow + 1) / 2) * t - pq / 2 + 1
    f = (lam ** (-1 / t) - 1) * rest / pq
    weights = np.divide(1, rest_of_row, out=np.zeros(rows), where=rest_of_row > 1e-9)
    if not wide_blocks:
        products = (ux[:, :, None] * uy[:, None, :]).reshape(rows, -1)
        f *= quadratic(products, weights) / (left * (c**2).sum())
    log_p = float(stats.f.logsf(f, pq, rest))
    if not curved or wide_blocks:
        return log_p, pq
    products = second_products(ux, uy, q, x, y, given, min(32, int(left / 20)))
    if products.shape[1] == 0:
        return log_p, pq
    d = products.shape[1]
    share = quadratic(products, weights) / left_by_z
    second = float(stats.f.logsf(share / (1 - share) * (left - d) / d, d, left - d))
    return min((of_share(log_p, 0.8), pq), (of_share(second, 0.2), d))


def of_share(log_p: float, share: float) -> float:
    """Return log p of one of two questions that has a share of the level, by Šidák's formula."""
    return math.log(-math.expm1(math.log1p(-math.exp(log_p)) / share)) if log_p > -30 else log_p - math.log(share)


def bent_columns(column: NDArray[Any], q: Matrix) -> Matrix:
    """Return the columns whose fitted values are bent: of a number its scores, of a category two combinations."""
    block = block_of(column)
    if column.dtype.kind == "f" or block.shape[1] == 0:
        return block
    explained = block.T @ q @ (q.T @ block)
    made: list[Matrix] = []
    for _ in range(min(2, block.shape[1])):
        vector = np.diag(explained).copy()
        for _ in range(50):
            vector = explained @ vector
            length = math.sqrt(vector @ vector)
            if length == 0:
                return standard(made, len(column))
            vector /= length
        explained = explained - length * np.outer(vector, vector)
        made.append(block @ vector)
    return standard(made, len(column))


def curves_of(column: NDArray[Any], q: Matrix) -> tuple[list[Matrix], float]:
    """Return polynomials of what Z explains of a column, orthonormal, less what Z explains, and the explained share."""
    made: list[Matrix] = []
    share = 0.0
    for scores in bent_columns(column, q).T:
        fitted = q @ (q.T @ (scores - scores.mean()))
        explained = fitted @ fitted / len(scores)
        if explained < 0.05:
            continue
        share += explained
        fitted = np.clip(fitted / math.sqrt(explained), -4, 4)
        few_rows = 4 + int((len(scores) - q.shape[1]) / 75)
        for degree in range(2, min(11, few_rows) + 1):
            curve = hermite(fitted, degree)
            curve -= curve.mean()
            add_orthonormal(made, curve, q)
    return made, share


def add_orthonormal(columns: list[Matrix], column: Matrix, q: Matrix) -> None:
    """Add what is left of a column, unless next to nothing is."""
    basis = np.column_stack([q, *columns])
    left = column - basis @ (basis.T @ column)
    left = left - basis @ (basis.T @ left)
    if left @ left > 1e-4 * (column @ column):
        columns.append(left / math.sqrt(left @ left))


def second_products(
    ux: Matrix, uy: Matrix, q: Matrix, x: NDArray[Any], y: NDArray[Any], given: Sequence[NDArray[Any]], most: int
) -> Matrix:
    """Return the products of residuals that the question about curved dependence looks at."""

    def square(column: NDArray[Any], block: Matrix) -> list[Matrix]:
        if column.dtype.kind != "f" or len(np.unique(column)) < 3:
            return []
        s = standard([scores_of(column)[:, 0] ** 2], len(column))
        s = s - q @ (q.T @ s)
        s = s - block @ (block.T @ s)
        return [s[:, 0]]

    made: list[Matrix] = []
    sx, sy = square(x, ux), square(y, uy)
    squares = [a * b for a in sx for b in uy.T] + [a * b for a in sy for b in ux.T] + [a * b for a in sx for b in sy]
    if len(squares) <= most:
        made += squares
    moderators = [scores_of(z)[:, 0] for z in given if z.dtype.kind == "f"]
    for z in given:
        if z.dtype.kind != "f":
            moderators += list(indicators_of(z, 8, 1).T)
    moderated = [a * b * m for a in ux.T for b in uy.T for m in moderators]
    if len(made) + len(moderated) <= most:
        made += moderated
    return np.column_stack(made) if made else np.empty((len(x), 0))
