"""The test of residuals again, plainly: NumPy's least squares and SciPy's distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Matrix = NDArray[np.float64]
Pair = tuple[int, int, Matrix | None]
"""A column of x, one of y, and perhaps a member of Z: their product is looked at."""


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


def polynomials(z: Matrix, values: int) -> list[tuple[Matrix, float]]:
    """Return what lower degrees leave of each Hermite polynomial, and its variance before, if this is 1 then.

    They end where next to nothing is left.
    """
    made = [np.ones(len(z))]
    found = []
    for degree in range(1, min(12, values - 1) + 1):
        column = hermite(z, degree)
        column = column - column.mean()
        q = np.column_stack(made) / math.sqrt(len(z))
        left = column
        for _ in range(3):
            left = left - q @ (q.T @ left)
        share = float((left @ left) / (column @ column))
        if not share > 1e-6:
            break
        made.append(left / math.sqrt(left @ left / len(z)))
        found.append((made[-1], 1 / share))
    return found


class Basis:
    """Orthonormal columns, the indicators of cells first; a column is added unless the others explain it."""

    def __init__(self, cells: NDArray[np.int64]) -> None:
        in_cell = np.eye(int(cells.max()) + 1)[cells]
        self.in_cell = in_cell
        self.columns = list((in_cell / np.sqrt(in_cell.sum(axis=0))).T)
        self.cells = in_cell.shape[1]

    def add(self, column: Matrix, before: float = 1.0) -> None:
        column = column - column.mean()
        q = np.column_stack(self.columns)
        left = column - q @ (q.T @ column)
        left = left - q @ (q.T @ left)
        if left @ left > 1e-6 * before * (column @ column):
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
    of_degree = [polynomials(z, values) for z, values in curved]

    def fits(more: int) -> bool:
        width = len(basis.columns) + more
        return width - (0 if codes else 1) <= budget and width - first <= 96

    degree = 1

    def raise_to(top: int) -> None:
        nonlocal degree
        while degree < top and curved and fits(len(curved)):
            degree += 1
            for made in of_degree:
                if len(made) >= degree:
                    basis.add(*made[degree - 1])

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
        for (z, _), made in zip(curved, of_degree, strict=True):
            for d in (2, 3):
                if len(made) >= d:
                    basis.add_by_cell(hermite(z, d))
    raise_to(12)
    return np.column_stack(basis.columns)


def orthonormal(matrix: Matrix, tolerance: float = 1e-4) -> Matrix:
    """Return an orthonormal basis; `tolerance` is relative to a column of mean square 1."""
    if matrix.shape[1] == 0:
        return matrix
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(u[:, s > tolerance * math.sqrt(len(matrix))])


def weights_of(q: Matrix) -> Matrix:
    """Return the inverse of the share of each row's variance that is left, 0 where none is."""
    left = 1 - (q**2).sum(axis=1)
    return np.asarray(np.divide(1, left, out=np.zeros(len(q)), where=left > 1e-9))


def explained(columns: Matrix, q: Matrix) -> Matrix:
    """Return what is explained of products of residuals, made as large as where nothing is taken out."""
    weights = np.sqrt(weights_of(q)).reshape(-1, *(1,) * (columns.ndim - 1))
    return np.asarray(np.tensordot(q, np.tensordot(q.T, columns * weights, 1), 1))


def inflation_of(ux: Matrix, uy: Matrix, q: Matrix) -> float:
    """Return how much more the covariances vary, in their own direction, than if spreads were constant."""
    c = ux.T @ uy
    spread_x, spread_y = (explained(u[:, :, None] * u[:, None, :], q) for u in (ux, uy))
    variance = np.einsum("ij,kl,rik,rjl->", c, c, spread_x, spread_y)
    return max(float((len(q) - q.shape[1]) * variance / (c**2).sum()), 1.0)


class Spread:
    """What is explained of the products of two columns of residuals, and fourth moments of their rows."""

    def __init__(self, block: Matrix, square: Matrix, q: Matrix) -> None:
        weights, left = weights_of(q), len(q) - q.shape[1]
        both = np.column_stack([block, square])
        width = block.shape[1]
        products = both[:, :, None] * both[:, None, :]
        if width > 4:  # one spread for all columns of the block
            products[:, :width, :] = 0
            products[:, :, :width] = 0
            for i in range(width):
                products[:, i, i] = (block**2).mean(axis=1)
        self.fitted = explained(products, q)
        lengths = [(part**2).sum(axis=1) for part in (block, both)]
        self.moment, self.excess = moments(lengths, [width, both.shape[1]], weights, left)
        self.width = width
        self.squares, self.fourths = explained(np.column_stack([lengths[0], lengths[0] ** 2 * np.sqrt(weights)]), q).T


def moments(
    lengths: Sequence[Matrix], widths: Sequence[int], weights: Matrix, left: int
) -> tuple[float, list[list[float]]]:
    """Return the fourth moment of a block, and the excess of those of a block and of it with its square."""
    found = [[left * float((a * b * weights).sum()) for b in lengths] for a in lengths]
    excess = [
        [found[a][b] - widths[a] * widths[b] - 2 * min(widths[a], widths[b]) for b in range(len(lengths))]
        for a in range(len(lengths))
    ]
    return found[0][0], excess


def concentration(x: Spread, y: Spread, left: int, given: bool) -> float:
    """Return how much more fourth moments meet in the same rows than if Z had no part in it."""
    if not given:
        return 1.0
    variances: float = left * float(x.squares @ y.squares) / x.width / y.width
    fourths: float = left**3 * float(x.fourths @ y.fourths) / x.moment / y.moment
    return float(max(fourths, 0.0) / max(variances, 1.0) ** 2)


def quadratic(total: Matrix, pairs: Sequence[Pair], x: Spread, y: Spread, q: Matrix) -> float:
    """Return T² that products of residuals, of which `total` are the sums, have mean zero."""
    left_of_row = np.maximum(1 - (q**2).sum(axis=1), 0)
    by_z, constant = np.zeros((len(pairs), len(pairs))), np.zeros((len(pairs), len(pairs)))
    for k, (i, j, a) in enumerate(pairs):
        for m, (i2, j2, b) in enumerate(pairs):
            factor = (1.0 if a is None else a) * (1.0 if b is None else b) * np.ones(len(q))
            by_z[k, m] = (x.fitted[:, i, i2] * y.fitted[:, j, j2] * factor).sum()
            constant[k, m] = (i == i2) * (j == j2) * (left_of_row * factor).sum() / left_of_row.sum() ** 2
    direction = np.linalg.pinv(constant, rcond=1e-10) @ total
    most = float(total @ direction)
    return most**2 / max(float(direction @ by_z @ direction), most) if q.shape[1] > 1 else most


def residuals_of(x: NDArray[Any], y: NDArray[Any], given: Sequence[NDArray[Any]]) -> tuple[list[Matrix], Matrix, bool]:
    """Return what is left of the two blocks, all that is taken out of them, and whether the blocks are wide."""
    q = basis_of(given, len(x))
    wide_blocks = block_of(x).shape[1] * block_of(y).shape[1] > 64
    (curves, _), (other, _) = sorted((curves_of(x, q), curves_of(y, q)), key=lambda found: -found[1])
    for curve in other:
        add_orthonormal(curves, curve, q)
    whole = np.column_stack([q, *curves])
    left = [block - whole @ (whole.T @ block) for block in (block_of(x), block_of(y))]
    return left, whole, wide_blocks


def plain_lambda(left_x: Matrix, left_y: Matrix) -> float:
    """Return Wilks' Λ of two blocks of residuals."""
    c = orthonormal(left_x).T @ orthonormal(left_y)
    return float(np.prod(np.maximum(1 - np.linalg.svd(c, compute_uv=False) ** 2, 1e-10)))


def plain_test(
    x: NDArray[Any], y: NDArray[Any], given: Sequence[NDArray[Any]], curved: bool = True
) -> tuple[float, int]:
    """Return log p and degrees of freedom of the test of residuals; x, y and given are not all categories."""
    rows = len(x)
    (left_x, left_y), q, wide_blocks = residuals_of(x, y, given)
    ux, uy = orthonormal(left_x), orthonormal(left_y)
    left = rows - q.shape[1]
    c = ux.T @ uy
    wide, narrow = max(c.shape), min(c.shape)
    lam = plain_lambda(left_x, left_y)
    both, pq = wide**2 + narrow**2, wide * narrow
    t = math.sqrt((pq**2 - 4) / (both - 5)) if both > 5 else 1.0
    rest = (left - (wide + narrow + 1) / 2) * t - pq / 2 + 1
    f = (lam ** (-1 / t) - 1) * rest / pq
    d = float(pq)
    if wide_blocks:
        inflation, more = plain_wide(x, y, ux, uy, q, bool(given))
    else:
        squares = [square_of(v, u, q, curved) for v, u in ((x, ux), (y, uy))]
        spread_x, spread_y = Spread(ux, squares[0], q), Spread(uy, squares[1], q)
        together = concentration(spread_x, spread_y, left, bool(given))
        more = spread_x.excess[0][0] * spread_y.excess[0][0] * together
        inflation = inflation_of(ux, uy, q) if given else 1.0
    dof = 1 / (1 + max(more, 0) / (2 * left * d))
    log_p = log_tail(f / inflation, pq * dof, rest * dof)
    if not curved or wide_blocks:
        return log_p, pq
    blocks = [np.column_stack([u, square]) for u, square in zip((ux, uy), squares, strict=True)]
    pairs, more = second_products(
        blocks, (ux.shape[1], uy.shape[1]), given, min(32, int(left / 20)), spread_x, spread_y
    )
    if not pairs:
        return log_p, pq
    d = float(len(pairs))
    total = np.array([(blocks[0][:, i] * blocks[1][:, j] * (1 if m is None else m)).sum() for i, j, m in pairs])
    t_squared = quadratic(total, pairs, spread_x, spread_y, q)
    share = min(t_squared / left, 1 - 1e-10)
    dof = 1 / (1 + max(more * together, 0) / (2 * left * d))
    second = log_tail(share / (1 - share) * (left - d) / d, d * dof, (left - d) * dof)
    return min((of_share(log_p, 0.8), pq), (of_share(second, 0.2), len(pairs)))


def log_tail(f: float, more: float, rest: float) -> float:
    """Return the logarithm of the upper tail of F, by a power series where SciPy has none."""
    found = float(stats.f.logsf(f, more, rest))
    if found > -600:
        return found
    a, b, x = rest / 2, more / 2, rest / (rest + more * f)
    return float(a * math.log(x) - math.log(a) - special.betaln(a, b) + math.log(special.hyp2f1(a, 1 - b, a + 1, x)))


def of_share(log_p: float, share: float) -> float:
    """Return log p of one of two questions that has a share of the level, by Šidák's formula."""
    return math.log(-math.expm1(math.log1p(-math.exp(log_p)) / share)) if log_p > -30 else log_p - math.log(share)


def plain_wide(x: NDArray[Any], y: NDArray[Any], ux: Matrix, uy: Matrix, q: Matrix, given: bool) -> tuple[float, float]:
    """Return the inflation where the blocks have many products, and the excess variance of their squares."""
    by_x = x.dtype.kind != "f" and (y.dtype.kind == "f" or block_of(x).shape[1] >= block_of(y).shape[1])
    levels, block = (x, uy) if by_x else (y, ux)
    indicated = indicators_of(levels) > 0
    own = np.where(indicated.any(axis=1), indicated.argmax(axis=1), indicated.shape[1])
    lengths = 1 / np.bincount(own)[own] - 1 / len(own)
    weights, left = weights_of(q), len(q) - q.shape[1]
    of_block, of_levels = Spread(block, block[:, :0], q), Spread(block, block[:, :0], q)
    of_levels.moment, of_levels.excess = moments([lengths], [indicated.shape[1]], weights, left)
    of_levels.squares, of_levels.fourths = explained(np.column_stack([lengths, lengths**2 * np.sqrt(weights)]), q).T
    of_levels.width = indicated.shape[1]
    inflation = left * float(of_levels.squares @ of_block.squares) / of_levels.width / of_block.width
    more = of_levels.excess[0][0] * of_block.excess[0][0] * concentration(of_levels, of_block, left, given)
    return max(inflation, 1) if given else 1.0, more


def square_of(column: NDArray[Any], block: Matrix, q: Matrix, curved: bool) -> Matrix:
    """Return what is left of the squared scores of a number, of length 1; none of a category."""
    if not curved or column.dtype.kind != "f" or len(np.unique(column)) < 3:
        return np.empty((len(column), 0))
    s = standard([scores_of(column)[:, 0] ** 2], len(column))
    s = s - q @ (q.T @ s)
    s = s - block @ (block.T @ s)
    return np.asarray(s / np.sqrt((s**2).sum()))


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
    blocks: Sequence[Matrix], widths: tuple[int, int], given: Sequence[NDArray[Any]], most: int, x: Spread, y: Spread
) -> tuple[list[Pair], float]:
    """Return the products of the question about curved dependence, and the excess variance of their squares."""
    p, q = widths
    made: list[Pair] = []
    more = 0.0
    both = [(i, j, None) for i in range(blocks[0].shape[1]) for j in range(blocks[1].shape[1]) if i >= p or j >= q]
    if both and len(both) <= most:
        made += both
        more += x.excess[1][1] * y.excess[1][1] - 2 * x.excess[1][0] * y.excess[1][0] + x.excess[0][0] * y.excess[0][0]
    moderators = [scores_of(z)[:, 0] for z in given if z.dtype.kind == "f"]
    for z in given:
        if z.dtype.kind != "f":
            moderators += list(indicators_of(z, 8, 20).T)
    moderated = [(i, j, m) for i in range(p) for j in range(q) for m in moderators]
    if moderated and len(made) + len(moderated) <= most:
        made += moderated
        d = len(moderated)
        fourth = float(np.mean(sum(m**2 for m in moderators) ** 2))
        more += (x.excess[0][0] + p * p + 2 * p) * (y.excess[0][0] + q * q + 2 * q) * fourth - d * d - 2 * d
    return made, more
