"""How the core compares residuals: each of its ways, against the plain twin or plain arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import serape
from plain_residuals import (
    Spread,
    basis_of,
    concentration,
    explained,
    moments,
    of_share,
    orthonormal,
    plain_lambda,
    plain_test,
    residuals_of,
    weights_of,
)
from serape.independence.outcomes import Outcome
from serape.independence.residuals import MonotoneResiduals, Residuals

Column = NDArray[Any]
Random = np.random.Generator


def data_of(*columns: Column) -> tuple[dict[str, Column], dict[str, str]]:
    """Return numbers (floats) and categories (integers) by name, and their kinds."""
    names = [f"v{k}" for k in range(len(columns))]
    kinds = ["continuous" if c.dtype.kind == "f" else "categorical" for c in columns]
    return dict(zip(names, columns, strict=True)), dict(zip(names, kinds, strict=True))


def residual_test(*columns: Column, curved: bool = True, **weights: Any) -> Residuals:
    """Return the test of a table of these columns."""
    data, kinds = data_of(*columns)
    return (Residuals if curved else MonotoneResiduals)(serape.Table(data, kinds=kinds, **weights))


def answer(x: Column, y: Column, *given: Column, curved: bool = True, **weights: Any) -> Outcome:
    """Return what the core says of x and y given others."""
    return residual_test(x, y, *given, curved=curved, **weights).test(0, 1, range(2, 2 + len(given)))


def agrees(x: Column, y: Column, *given: Column, curved: bool = True, rel: float = 1e-6) -> int:
    """Compare the core with the plain twin, with x and y in both orders, and return the degrees of freedom."""
    log_p, dof = plain_test(x, y, given, curved)
    for found in (answer(x, y, *given, curved=curved), answer(y, x, *given, curved=curved)):
        assert found.reliable
        assert found.dof == dof
        assert found.log_p == pytest.approx(log_p, rel=rel, abs=1e-9)
    return dof


def levels_by(random: Random, z: Column, count: int, noise: float = 1.0) -> Column:
    """Return a category of so many levels, on which z has an influence."""
    values = z + noise * random.normal(size=len(z))
    return np.searchsorted(np.quantile(values, np.arange(1, count) / count), values)


def uneven(random: Random, rows: int, count: int) -> Column:
    """Return a category whose later levels are rare."""
    shares = 1 / np.arange(1, count + 1)
    return random.choice(count, rows, p=shares / shares.sum())


def with_zeros(random: Random, z: Column, rate: float = 0.3) -> Column:
    """Return a number that is often zero, whose spread and mean depend on z."""
    return np.where(random.random(len(z)) < rate, 0.0, np.exp(0.7 * z + random.normal(size=len(z))))


# --- blocks of some columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize("p", [2, 3, 5, 6, 7])
def test_a_category_and_a_number(p: int, curved: bool) -> None:
    """From five columns a block has one spread."""
    random = np.random.default_rng(p)
    z = random.normal(size=331)
    x, y = levels_by(random, z, p), with_zeros(random, z)
    agrees(x, y, z, curved=curved)
    agrees(x, np.exp(z) * random.normal(size=331), z, curved=curved)
    agrees(x, x * 0.3 + random.normal(size=331), curved=curved)


@pytest.mark.parametrize(("p", "q"), [(2, 2), (3, 2), (5, 3), (6, 3), (6, 5), (6, 6), (7, 6)])
def test_two_categories(p: int, q: int) -> None:
    random = np.random.default_rng(10 * p + q)
    z = random.normal(size=330)
    x, y = levels_by(random, z, p), levels_by(random, z, q)
    agrees(x, y, z)
    agrees(x, (y + (random.random(330) < 0.4) * x) % q, z, curved=False)


def test_curved_dependence_that_decides() -> None:
    random = np.random.default_rng(3)
    z, e = random.normal(size=(2, 700))
    x = random.normal(size=700)
    g = random.integers(0, 3, 700)
    wide = levels_by(random, np.zeros(700), 7)
    assert agrees(x, 0.3 * x**2 + e) == 3
    assert agrees(with_zeros(random, z), 0.3 * x**2 + e, z) == 2
    assert agrees(x, 0.3 * x**2 + np.exp(z) * e, z) > 1
    assert agrees(wide, np.where(wide < 3, 1.4, 0.8) * e * np.exp(z / 3), z) == 12
    agrees(np.exp(z) * x, 0.3 * x * z + np.exp(z) * e, z)
    assert agrees(x, 0.25 * x * (g - 1) + (1 + g) * e, g) > 1
    assert agrees(x, 0.3 * x * z + e, z, g) > 1
    assert agrees((x > 0.2).astype(int), 0.4 * x * z + e, z) == 1 + 1
    assert agrees(wide, 0.1 * (wide - 3) * z + e, z) == 12


def test_effects_by_members_of_z_decide_alone() -> None:
    """Of blocks of several columns, with one spread and with more."""
    random = np.random.default_rng(4)
    z, e = random.normal(size=(2, 900))
    few, many = random.integers(0, 3, 900), random.integers(0, 6, 900)
    pair = (random.random(900) < np.where(few == 1, 0.5 + 0.15 * np.tanh(z), 0.5)).astype(int)
    assert agrees(few, pair, z) == 2
    other = (few + random.integers(0, 2, 900) + (random.random(900) < 0.15 * (z > 0.5))) % 3
    assert agrees(few, other, z) == 4
    assert agrees(many, (0.1 * (many - 2.5) * z + np.exp(z) * e > 0).astype(int), z) == 5
    assert agrees(few, np.where(random.random(900) < 0.3, 0.0, np.exp(z * (few - 1) * 0.2 + e)), z) > 2


# --- curves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_curves_of_both_sides(seed: int) -> None:
    """Those of the side of which Z explains more are first; the other's may be nearly the same."""
    random = np.random.default_rng(seed)
    z = random.normal(size=(2, 300))
    sums = z.sum(axis=0)
    x, y = sums + 0.4 * random.normal(size=300), sums + 0.6 * random.normal(size=300)
    agrees(x, np.digitize(y, (-1, 0, 1)), *z)
    agrees(np.digitize(x, (-1.5, -0.5, 0.5)).astype(float), y, *z)
    agrees(levels_by(random, sums, 4), random.normal(size=300), *z)


def test_one_curve() -> None:
    random = np.random.default_rng(7)
    z = random.integers(0, 2, (2, 400)).astype(float)
    x, y = z.sum(axis=0) + random.normal(size=(2, 400))
    assert residuals_of(x, y, list(z))[1].shape[1] == basis_of(list(z), 400).shape[1] + 1
    agrees(x, y, *z)
    agrees(np.exp(z[0] * z[1]) * x, with_zeros(random, z[0] - z[1]), *z)


def test_polynomials_that_are_constant_are_no_curves() -> None:
    """What two cells of as many rows explain of x is ±1: its square is rounding, in whichever order rows are."""
    random = np.random.default_rng(6)
    x, z = random.normal(size=90), np.arange(90) % 2
    y = x + random.normal(size=90)
    agrees(x, y, z)
    for _ in range(6):
        rows = random.permutation(90)
        agrees(x[rows], y[rows], z[rows])


def balanced(times: int = 40) -> tuple[Column, list[Column]]:
    """Return the sum of four balanced numbers of two values, and these."""
    z = np.array([(np.arange(16 * times) // times >> k) % 2 for k in range(4)], float)
    return z.sum(axis=0), list(z)


def test_curves_that_explain_a_column_of_a_block() -> None:
    """What Z explains of y tells where x is zero."""
    random = np.random.default_rng(8)
    sums, z = balanced()
    y = sums + np.tile(np.linspace(-1, 1, 40), 16)
    x = np.where((sums == 1) | (sums == 3), 0.0, random.normal(size=640))
    assert agrees(x, y + 0.0, *z) > 0
    found = answer((sums - 2) ** 2, y, *z)
    assert not found.reliable
    assert found.dof == 0


def test_a_column_of_which_curves_leave_less_than_1e_4() -> None:
    """The rank of one row of 2,560 differs a little from what the curves of y tell."""
    sums, z = balanced(160)
    y = sums + np.tile(np.linspace(-1, 1, 160), 16)
    x = (sums - 2) ** 2
    x[np.flatnonzero(x == 4)[0]] = 3
    assert answer(x, y, *z).dof == 0
    x[np.flatnonzero(x == 1)[0]] = 3
    assert answer(x, y, *z).dof > 0


# --- blocks of very many levels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [45, 90])
def test_very_many_levels_and_a_number(count: int) -> None:
    """More than 64 products; levels beyond the 64 most frequent ones, and rare ones, join the first."""
    random = np.random.default_rng(count)
    z = random.normal(size=1300)
    x, y = uneven(random, 1300, count), with_zeros(random, z)
    agrees(x, y)
    agrees(x, y, z)
    by_z = np.where(z > 0.3, x + 1, 0)
    agrees(by_z, np.where(random.random(1300) < np.where(z > 0.3, 0.9, 0.2), random.normal(size=1300), 0.0), z)
    agrees(by_z, y + 0.02 * x, random.integers(0, 3, 1300), z)


def test_levels_that_z_determines() -> None:
    random = np.random.default_rng(12)
    z = random.normal(size=900)
    x, y = random.integers(0, 45, 900), with_zeros(random, z)
    assert agrees(x, y, np.where(x < 2, x, 2), curved=False) == 42 * 2


@pytest.mark.parametrize(("p", "q"), [(13, 9), (9, 13), (10, 10)])
def test_two_categories_of_many_levels(p: int, q: int) -> None:
    random = np.random.default_rng(p)
    z = random.normal(size=1100)
    x, y = levels_by(random, z, p, 2), levels_by(random, z, q, 2)
    log_p, dof = plain_test(x, y, [z])
    found = answer(x, y, z)
    assert found.dof == dof == (p - 1) * (q - 1)
    assert found.log_p == pytest.approx(log_p, rel=1e-6)


# --- limits ---------------------------------------------------------------------------------------------------------


def test_rows_that_a_reliable_test_needs() -> None:
    random = np.random.default_rng(5)
    x, y = random.normal(size=(2, 11))
    assert answer(x, y).reliable
    assert not answer(x[1:], y[1:]).reliable
    level, number = np.arange(21) % 3, np.where(np.arange(21) < 8, 0.0, random.normal(size=21))
    found = answer(level, number)
    assert found.reliable
    assert found.dof == 4
    found = answer(level[:-1], number[:-1])
    assert not found.reliable
    assert found.dof == 4
    assert math.isnan(found.log_p)


def test_perfect_dependence() -> None:
    """Of 1 − r², at least 1e-10 is left."""
    x = np.random.default_rng(6).normal(size=90)
    agrees(x, np.exp(x), curved=False)
    agrees(x, -x)
    agrees(x, x, np.arange(90) % 3)


@pytest.mark.parametrize("size", [0.1, 0.35, 0.6, 1.0, 3.0])
def test_strong_dependence(size: float) -> None:
    random = np.random.default_rng(15)
    x, z, e = random.normal(size=(3, 400))
    agrees(x, size * x + e, z)
    agrees(x, size * x**2 + e, z)
    agrees(x, size * x * z + e, z)


def test_no_dependence_at_all() -> None:
    """All sums of products are exactly zero."""
    k = np.arange(256)
    x, y, z = (k % 2).astype(float), (k // 2 % 2).astype(float), k // 4 % 4
    for given in ([], [z], [(z > 1).astype(float)]):
        found = answer(x, y, *given)
        assert found.reliable
        assert found.log_p == 0
        assert found.dof == 1
    x, y = (np.array([1.0, 2.0, 0.0, 3.0])[part % 4] for part in (k // 4, k))  # the first question, where p is 1
    assert (answer(x, y).log_p, answer(x, y).dof) == (0, 1)


def test_weak_dependence() -> None:
    """Either question may have the smaller p-value where none has a small one."""
    decided = set()
    for seed in range(25):
        random = np.random.default_rng(seed)
        z = random.normal(size=60)
        x = (random.random(60) < 0.5).astype(float)
        y = (random.random(60) < 0.5 + 0.2 * np.tanh(z)).astype(float)
        x[z > 1], g = random.integers(0, 2, int((z > 1).sum())), (z > 0).astype(int)
        agrees(x, y, z)
        decided.add(agrees(x, random.normal(size=60), g))
    assert len(decided) > 1


@pytest.mark.parametrize("seed", [28, 34, 93, 157, 271, 292])
def test_products_with_members_of_z_alone(seed: int) -> None:
    """In few rows there is room for them, but not for squares; here T² is below 1, and yet they decide."""
    random = np.random.default_rng(seed)
    z, e = random.normal(size=(2, 55))
    x = random.normal(size=55)
    agrees(np.exp(z) * x, np.exp(z) * e, z)
    agrees(np.exp(z) * x, z * np.abs(e) ** 3 + 0.5 * x * z * np.exp(z), z)
    agrees(np.round(x) ** 3, 0.7 * x * z + np.round(e) ** 5, z)


def test_members_of_z_that_are_nearly_or_quite_the_same() -> None:
    random = np.random.default_rng(9)
    z = random.permutation(stats.norm.ppf((np.arange(1000) + 0.5) / 1000))
    x, e = random.normal(size=(2, 1000))
    y = (0.2 * x * z + e > 0).astype(float)
    x = (x > 0).astype(float)
    agrees(x, y, z, -z)
    agrees(x, y, z, 2 * z, np.exp(z))
    a, b = np.argsort(z)[[495, 496]]
    swapped = z.copy()
    swapped[[a, b]] = z[[b, a]]
    x[[a, b]], y[[a, b]] = 1, (1, 0)
    agrees(x, y, z, swapped, rel=1e-5)


@pytest.mark.parametrize("rows", [2000, 6000])
def test_members_of_z_that_differ_in_two_ranks(rows: int) -> None:
    """Of 6,000 rows, the second member tells less than a billionth that is new; of 2,000 rows, more."""
    random = np.random.default_rng(9)
    z = random.permutation(np.arange(rows, dtype=float))
    x, y = random.integers(0, 2, (2, rows)).astype(float)
    a, b = np.argsort(z)[[rows // 2, rows // 2 + 1]]
    swapped = z.copy()
    swapped[[a, b]] = z[[b, a]]
    y = np.where(random.random(rows) < 0.1, np.where(z > rows / 2, x, 1 - x), y)
    x[[a, b]], y[[a, b]] = 1, (1, 0)
    assert agrees(x, y, z, swapped, rel=1e-5) == 2


# --- how strong -----------------------------------------------------------------------------------------------------


def test_effects() -> None:
    random = np.random.default_rng(16)
    z = random.normal(size=700)
    x, y = z + random.normal(size=700), with_zeros(random, z)
    columns = [z, x, y, levels_by(random, x, 4), levels_by(random, y, 3), uneven(random, 700, 60), np.exp(z)]
    data, kinds = data_of(*columns)
    native = Residuals(serape.Table(data, kinds=kinds))
    native.test(1, 2, [0])
    for v in range(len(columns)):
        native._hand_over([v])
    for target in range(1, 6):
        candidates = [v for v in range(1, 6) if v != target]
        found = native._native.effects(target, np.array(candidates, np.uint32), [0])
        for k, v in enumerate(candidates):
            left, _, _ = residuals_of(columns[v], columns[target], [z])
            u, w = map(orthonormal, left)
            log_lambda, r, products = (values[k] for values in found)
            assert log_lambda == pytest.approx(math.log(plain_lambda(*left)), rel=1e-6)
            assert products == u.shape[1] * w.shape[1]
            if {v, target} <= {1, 2}:
                first, second = left[0][:, 0], left[1][:, 0]
                expected = first @ second / math.sqrt((first @ first) * (second @ second))
                assert r == pytest.approx(expected, rel=1e-6)
            else:
                assert math.isnan(r)
    # What Z determines has no effect. Blocks of very many products have no number of products in common with G².
    found = native._native.effects(6, np.array([1, 3], np.uint32), [0])
    assert np.isnan(found).all()
    zeros = native._native.effects(2, np.array([5], np.uint32), [2])
    assert np.isnan(zeros[:2]).all()
    assert zeros[2][0] == 0


# --- weights --------------------------------------------------------------------------------------------------------


def test_frequencies_are_rows_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.data.rows.MAX_BYTES", 0)  # so that rows are not repeated
    random = np.random.default_rng(17)
    z = random.normal(size=600)
    columns = [z, uneven(random, 600, 50), with_zeros(random, z), levels_by(random, z, 7), random.integers(0, 3, 600)]
    times = random.integers(1, 4, 600)
    weighted = residual_test(*columns, sample_weight=times)
    repeated = residual_test(*(np.repeat(c, times) for c in columns))
    for x, y, given in ((1, 2, [0]), (2, 1, []), (2, 3, [0]), (3, 2, [4]), (2, 0, [4]), (4, 2, [0])):
        assert weighted.test(x, y, given).log_p == pytest.approx(repeated.test(x, y, given).log_p, rel=1e-6)


def surveyed_block(column: Column, root: Column) -> tuple[Column, Column]:
    """Return the weighted scores of a column side by side, and their squares if it is a number."""
    w = root**2
    rows = w.sum()

    def standard(values: Column) -> Column:
        made = values * root - (values * w).sum() / rows * root
        return np.asarray(made / math.sqrt(made @ made))

    levels, codes = np.unique(column, return_inverse=True)
    own = np.bincount(codes, w)
    if column.dtype.kind == "f":
        scores = stats.norm.ppf((np.cumsum(own) - own / 2 + 0.125) / (rows + 0.25))[codes]
        block = [standard(scores)]
        square = standard((block[0] / root) ** 2)[:, None] if len(levels) > 2 else np.empty((len(w), 0))
        if len(levels) > 2 and own.max() > 0.1 * rows:
            block.append(standard(codes == own.argmax()))
        return np.column_stack(block), square
    return np.column_stack([standard(codes == k) for k in np.argsort(-own)[1:]]), np.empty((len(w), 0))


def surveyed(x: Column, y: Column, z: Column, weights: Column) -> tuple[float, int]:
    """Return log p and degrees of freedom with survey weights, given a category that explains little."""
    root = np.sqrt(weights * weights.sum() / (weights @ weights))
    w = root**2
    rows = float(w.sum())
    cells = np.eye(int(z.max()) + 1)[z] * root[:, None]
    q = cells / np.sqrt((cells**2).sum(axis=0))
    left = rows - q.shape[1]
    spread_of_rows = weights_of(q)
    spreads, blocks = [], []
    for column in (x, y):
        block, square = (part - q @ (q.T @ part) for part in surveyed_block(column, root))
        block = np.linalg.qr(block)[0]
        square = square - block @ (block.T @ square)
        square = square / np.sqrt((square**2).sum(axis=0))
        both = np.column_stack([block, square])
        made = Spread(block, square, q)
        lengths = [(part**2).sum(axis=1) for part in (block, both)]
        made.moment, made.excess = moments(lengths, [block.shape[1], both.shape[1]], spread_of_rows, left)

        def by_row(values: Column) -> Column:
            shape = (-1, *(1,) * (values.ndim - 1))
            return np.asarray(explained(values / root.reshape(shape), q) * root.reshape(shape))

        products = both[:, :, None] * both[:, None, :]
        if block.shape[1] > 4:
            width = block.shape[1]
            products[:, :width, :] = products[:, :, :width] = 0
            for i in range(width):
                products[:, i, i] = lengths[0] / width
        made.fitted = by_row(products)
        made.squares, made.fourths = by_row(np.column_stack([lengths[0], lengths[0] ** 2 * np.sqrt(spread_of_rows)])).T
        spreads.append(made)
        blocks.append(both)
    first, second = spreads
    together = concentration(first, second, left, True)
    p, k = first.width, second.width
    c = blocks[0][:, :p].T @ blocks[1][:, :k]
    lam = float(np.linalg.det(np.eye(k) - c.T @ c))
    ux, uy = blocks[0][:, :p], blocks[1][:, :k]
    spread = [explained(u[:, :, None] * u[:, None, :] / root[:, None, None], q) * root[:, None, None] for u in (ux, uy)]
    variance = np.einsum("ij,kl,rik,rjl->", c, c, *spread)
    inflation = max(left * float(variance) / float((c**2).sum()), 1.0)
    both_widths, pk = p**2 + k**2, p * k
    t = math.sqrt((pk**2 - 4) / (both_widths - 5)) if both_widths > 5 else 1.0
    rest = (left - (p + k + 1) / 2) * t - pk / 2 + 1
    dof = 1 / (1 + max(first.excess[0][0] * second.excess[0][0] * together, 0) / (2 * left * pk))
    f = (lam ** (-1 / t) - 1) * rest / pk / inflation
    log_p = of_share(float(stats.f.logsf(f, pk * dof, rest * dof)), 0.8)
    # The second question, by members of Z and by squares.
    shares = np.bincount(z, w) / rows
    moderators = [((z == v) - shares[v]) / math.sqrt(shares[v] * (1 - shares[v])) for v in np.argsort(-shares)[1:]]
    wide_p, wide_k = blocks[0].shape[1], blocks[1].shape[1]
    squares = [(i, j, None) for i in range(wide_p) for j in range(wide_k) if i >= p or j >= k]
    moderated = [(i, j, m) for i in range(p) for j in range(k) for m in moderators]
    pairs = squares + moderated
    assert len(pairs) <= min(32, int(left / 20))
    total = np.array([(blocks[0][:, i] * blocks[1][:, j] * (1 if m is None else m)).sum() for i, j, m in pairs])
    size = len(pairs)
    by_z, constant = np.zeros((size, size)), np.zeros((size, size))
    own = np.maximum(1 - (q**2).sum(axis=1), 0)
    for a, (i, j, m) in enumerate(pairs):
        for b, (i2, j2, m2) in enumerate(pairs):
            factor = (1 if m is None else m) * (1 if m2 is None else m2) * np.ones(len(w))
            by_z[a, b] = (first.fitted[:, i, i2] * second.fitted[:, j, j2] * factor).sum()
            if (i, j) == (i2, j2):
                if (m is None) != (m2 is None):
                    continue
                constant[a, b] = 1 / left if m is None else (w**2 * own * factor).sum() / left**2
    direction = np.linalg.solve(constant, total)
    most = float(total @ direction)
    share = min(most**2 / max(float(direction @ by_z @ direction), most) / left, 1 - 1e-10)
    x_excess, y_excess = first.excess, second.excess
    more = 0.0
    if squares:
        more += x_excess[1][1] * y_excess[1][1] - 2 * x_excess[1][0] * y_excess[1][0]
        more += x_excess[0][0] * y_excess[0][0]
    fourth = float((sum(m**2 for m in moderators) ** 2 * w).sum() / rows)
    d = len(moderated)
    more += first.moment * second.moment * fourth - d * d - 2 * d
    dof = 1 / (1 + max(more * together, 0) / (2 * left * size))
    f = share / (1 - share) * (left - size) / size
    curved = of_share(float(stats.f.logsf(f, size * dof, (left - size) * dof)), 0.2)
    return min((log_p, pk), (curved, size))


@pytest.mark.parametrize("seed", range(3))
def test_survey_weights(seed: int) -> None:
    """Spreads are compared row by row, in proportion to weights."""
    random = np.random.default_rng(seed)
    z = random.integers(0, 3, 600)
    weights = np.exp(0.5 * random.normal(size=600) + 0.2 * z)
    x = random.normal(size=600) * (1 + z)
    pairs = [
        (x, 0.2 * x + (1 + z) * random.normal(size=600)),
        (x, 0.4 * x * (z - 1) / (1 + z) + (1 + z) * random.normal(size=600)),
        (x, 0.4 * (x / (1 + z)) ** 2 + random.normal(size=600)),
        (np.where(random.random(600) < 0.3, -5.0, x), random.integers(0, 3, 600)),
        (random.integers(0, 7, 600), x),
        (random.integers(0, 3, 600), random.integers(0, 2, 600)),
    ]
    for a, b in pairs:
        log_p, dof = surveyed(a, b, z, weights)
        for first, second in ((a, b), (b, a)):
            found = answer(first, second, z, sample_weight=weights, weight_kind="survey")
            assert found.reliable
            assert found.dof == dof
            assert found.log_p == pytest.approx(log_p, rel=1e-6, abs=1e-9)
