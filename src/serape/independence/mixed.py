"""A likelihood-ratio test for any mix of categorical and continuous columns.

The *conditional Gaussian* model (Lauritzen & Wermuth 1989, "Graphical models for associations between variables, some
of which are qualitative and some quantitative") gives each cell, a joint level of the categorical variables, a
probability, and the continuous variables a mean and a covariance of their own in each cell. With L(S) the greatest
log-likelihood of the variables S, the statistic is 2 [L(x, y, z) − L(x, z) − L(y, z) + L(z)], as in Andrews, Ramsey &
Cooper 2018, "Scoring Bayesian networks of mixed variables". Let d be the number of continuous variables in z, a
*stratum* a joint level of the categorical ones, and k_x and k_y the levels of x and y that occur in it. Every stratum
adds to the degrees of freedom

- x and y continuous: 1. The statistic is −n ln(1 − r²), r the partial correlation in the stratum;
- x categorical, y continuous: (k_x − 1) (d + 2), an intercept, d slopes and a variance of y for each further level;
- x and y categorical: (k_x − 1) (k_y − 1) (1 + d (d + 3) / 2), a probability, d means and a covariance for each cell.
  Without continuous z this is G² with adjusted degrees of freedom.

Cells too small: a cell of fewer rows than the number of continuous variables in the question and 2, or with a
covariance that is singular, cannot be fitted. Such rows are left out of all four likelihoods: the stratum if x and y
are continuous, the level of x in the stratum if one is categorical; if both are, levels of x or y in the stratum that
have such a cell are left out, those with the fewest rows first (all that tie), until no such cell is left. A continuous
z that others determine is left out of z. If x and y are continuous and determine each other, 1 − r² counts as 10^−10.

Reliability: a test of 0 degrees of freedom is never reliable; otherwise there must be at least `minimum` (5) of the
rows left for each degree of freedom, and as many of all rows for each of the *full* ones, with all levels and strata.

The conditional Gaussian family is not closed under leaving out a categorical variable. If x and y are categorical and
some z is continuous, the four models are not nested: the statistic may come out below 0 (0 is given) where z has modes
far apart, and is only roughly chi-square where z depends on x or y. `RegressionTest` has no such trouble.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table
from serape.errors import DataError, OptionError, some
from serape.independence.base import (
    Candidates,
    Floats,
    IndependenceTest,
    Outcome,
    Poll,
    Screen,
    as_positions,
)

Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]

SINGULAR = 1e-10
"""A variable is determined by others if they leave a smaller part of its variance."""
_CONSTANT = 1e-12  # a standard deviation in a cell, by that of the column, that is nothing but rounding
_BLOCK = 1 << 16  # numbers in a block of candidates


class ConditionalGaussian(IndependenceTest):
    """The likelihood-ratio test of the conditional Gaussian model."""

    name = "mixed"

    def __init__(self, table: Table, minimum: float = 5.0) -> None:
        if not minimum > 0:
            raise OptionError(f"the minimum number of rows must be positive, not {minimum!r}")
        self.table = table
        self.variables = table.names
        self.rows: int = table.rows
        self.minimum = minimum
        self._continuous = frozenset(table.continuous)
        self._native = _core.ContingencyTest(table.packed, "g2", "adjusted", "dof", minimum)
        self._scales: dict[int, tuple[float, float]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table, self.minimum), {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns with missing values."""
        check_complete(self.table, f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of the categorical ones of these variables."""
        return self.rows / math.prod(self.table.levels(v) for v in variables if v not in self._continuous)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; performed even where it is not reliable."""
        numbers, categories = self._kinds(given)
        if x in self._continuous or y in self._continuous:
            if x not in self._continuous or (y in self._continuous and y > x):
                x, y = y, x  # the answer to the bit the same either way
            statistic, dof, used = self._gaussian([x], y, numbers, categories)
            return self._outcome(float(statistic[0]), float(dof[0]), int(used[0]), self._full(x, y, given))
        if not numbers:
            return Outcome(*self._native.test(x, y, list(given)), self.rows)
        found = self._two_categories(min(x, y), max(x, y), numbers, categories)
        return self._outcome(*found, self._full(x, y, given))

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> Screen:
        """Test every candidate against the target given one set, continuous candidates many at a time."""
        positions = as_positions(candidates)
        numbers, categories = self._kinds(given)
        nothing = np.full(len(positions), math.nan)
        statistic, dof, reliable = nothing.copy(), nothing.copy(), np.zeros(len(positions), bool)
        continuous = np.array([int(x) in self._continuous for x in positions], bool)
        if target not in self._continuous and not numbers and not continuous.all():
            places = np.flatnonzero(~continuous)
            answers = self._native.screen(target, positions[places], list(given), threads, poll, "automatic")
            statistic[places], dof[places], reliable[places] = answers
        else:
            for k in np.flatnonzero(~continuous).tolist():
                outcome = self.test(int(positions[k]), target, given)
                statistic[k], dof[k], reliable[k] = outcome.statistic, outcome.dof, outcome.reliable
                if poll is not None:
                    poll()
        places = np.flatnonzero(continuous)
        many = max(1, _BLOCK // self.rows)
        for begin in range(0, len(places), many):
            some_places = places[begin : begin + many]
            block = positions[some_places].tolist()
            found, freedom, used = self._gaussian(block, target, numbers, categories)
            full = self._full(block[0], target, given)
            statistic[some_places], dof[some_places] = found, freedom
            reliable[some_places] = (
                (freedom > 0) & (used >= self.minimum * freedom) & (self.rows >= self.minimum * full)
            )
            if poll is not None:
                poll()
        statistic[~reliable] = math.nan
        return Screen(positions, tuple(given), statistic, dof, reliable, _core.chi_square_log_sf)

    # --- the statistic -------------------------------------------------------------------------------------------

    def _gaussian(
        self, block: Sequence[int], other: int, numbers: Sequence[int], categories: Sequence[int]
    ) -> tuple[Floats, Floats, Floats]:
        """Return statistics, degrees of freedom and rows used of continuous variables against one of either kind."""
        strata = self._divided(categories)
        finest = strata
        fixed = list(numbers)
        if other in self._continuous:
            fixed.append(other)
        else:
            finest = self._divided((other,), strata)
        moments = self._moments(finest, fixed, block)
        d = len(numbers)
        moments, d = _without_determined(moments, d)
        enough = moments.rows >= len(moments.means) + 2
        if other in self._continuous:
            good, _, rest = moments.eliminated(d)
            first, both, last = rest[d][d], rest[d][d + 1], rest[d + 1][d + 1]
            good = good & enough & moments.varies(d, first) & moments.varies(d + 1, last)
            left = np.ones(good.shape)
            np.divide(both * both, first * last, out=left, where=good)
            np.minimum(left, 1.0 - SINGULAR, out=left)
            terms = np.where(good, -moments.rows * np.log1p(-left), 0.0)
            return terms.sum(axis=1), good.sum(axis=1).astype(float), (good * moments.rows).sum(axis=1)
        good, within, _ = moments.eliminated(d + 1)
        good = np.broadcast_to(good & enough, (len(block), finest.count))
        of = finest.onto(strata)
        merged = moments.merged(good, of, strata.count)
        levels = _gather(good.astype(float), of, strata.count)
        told = levels >= 2
        _, between, _ = merged.eliminated(d + 1, told)
        used = np.where(told, merged.rows, 0.0)
        terms = _log_share(merged.rows, between[d], told)
        terms -= _gather(_log_share(np.broadcast_to(moments.rows, good.shape), within[d], good), of, strata.count)
        dof = (d + 2) * np.where(told, levels - 1, 0.0).sum(axis=1)
        return np.maximum(np.where(told, terms, 0.0).sum(axis=1), 0.0), dof, used.sum(axis=1)

    def _two_categories(
        self, x: int, y: int, numbers: Sequence[int], categories: Sequence[int]
    ) -> tuple[float, float, int]:
        """Return statistic, degrees of freedom and rows used of two categorical variables, some z being continuous."""
        strata = self._divided(categories)
        with_x, with_y = self._divided((x,), strata), self._divided((y,), strata)
        cells = self._divided((y,), with_x)
        of_x, of_y, of = cells.onto(with_x), cells.onto(with_y), cells.onto(strata)
        moments = self._moments(cells, numbers, ())
        moments, d = _without_determined(moments, len(numbers))
        good, _, _ = moments.eliminated(d)
        fit = (good & (moments.rows >= d + 2))[0] if d else np.ones(cells.count, bool)
        keep = _peeled(fit, moments.rows[0], (of_x, with_x.count), (of_y, with_y.count), (of, strata.count))
        levels_x = np.bincount(of[_firsts(of_x, keep)], minlength=strata.count)
        levels_y = np.bincount(of[_firsts(of_y, keep)], minlength=strata.count)
        freedom = np.where(np.bincount(of[keep], minlength=strata.count) > 0, (levels_x - 1) * (levels_y - 1), 0)
        keep = keep & (freedom[of] > 0)
        kept = keep[None, :]
        statistic = _log_likelihood(moments, d, kept)
        for to, count, sign in ((of_x, with_x.count, -1), (of_y, with_y.count, -1), (of, strata.count, 1)):
            merged = moments.merged(kept, to, count)
            statistic += sign * _log_likelihood(merged, d, merged.rows > 0)
        dof = float(freedom.sum()) * (1 + d * (d + 3) // 2)
        return max(statistic, 0.0), dof, int(moments.rows[0][keep].sum())

    def _outcome(self, statistic: float, dof: float, used: int, full: float) -> Outcome:
        if not dof > 0:
            return Outcome(0.0, 0.0, math.nan, reliable=False, rows=used)
        enough = used >= self.minimum * dof and self.rows >= self.minimum * full
        return Outcome(statistic, dof, _core.chi_square_log_sf(statistic, dof), enough, used)

    def _full(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return the degrees of freedom there would be if all cells were there."""
        full, d = 1.0, 0
        for z in given:
            if z in self._continuous:
                d += 1
            else:
                full *= self.table.levels(z)
        kinds = [v in self._continuous for v in (x, y)]
        for v, continuous in zip((x, y), kinds, strict=True):
            full *= 1 if continuous else self.table.levels(v) - 1
        return full * (1 if all(kinds) else d + 2 if any(kinds) else 1 + d * (d + 3) // 2)

    # --- cells and moments ---------------------------------------------------------------------------------------

    def _kinds(self, given: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the continuous and the categorical variables of a set, in the table's order."""
        numbers: list[int] = []
        categories: list[int] = []
        for z in sorted(map(int, given)):
            (numbers if z in self._continuous else categories).append(z)
        return numbers, categories

    def _divided(self, categories: Iterable[int], cells: _Cells | None = None) -> _Cells:
        """Divide cells, or all rows, by the levels of categorical variables; only cells that occur are numbered."""
        if cells is None:
            cells = _Cells(None, 1)
        for v in categories:
            levels = self.table.levels(v)
            codes = self.table.packed.codes(v).astype(np.intp)
            if cells.of_row is not None:
                codes += cells.of_row * levels
            cells = _Cells(*numbered(codes, cells.count * levels))
        return cells

    def _moments(self, cells: _Cells, fixed: Sequence[int], block: Sequence[int]) -> _Moments:
        """Return rows, means and scatters of variables in cells: first the fixed ones, then one of the block."""
        order = starts = None
        if cells.of_row is None:
            rows = np.array([float(self.rows)])
        else:
            counts = np.bincount(cells.of_row, minlength=cells.count)
            rows = counts.astype(float)
            if cells.count > 1:
                narrow = cells.of_row.astype(np.uint16) if cells.count <= 1 << 16 else cells.of_row
                order = np.argsort(narrow, kind="stable")
                starts = np.concatenate(([0], np.cumsum(counts[:-1])))
        columns = [self._column(v, order)[None, :] for v in fixed]
        if block:
            columns.append(np.stack([self._column(v, order) for v in block]))
        add: Callable[[Floats], Floats]
        if order is None or starts is None:
            add = _total
            repeats = None
        else:
            repeats = counts
            firsts = starts

            def add(values: Floats) -> Floats:
                return np.add.reduceat(values, firsts, axis=1)

        means = [add(column) / rows for column in columns]
        centred = [
            column - (mean if repeats is None else np.repeat(mean, repeats, axis=1))
            for column, mean in zip(columns, means, strict=True)
        ]
        scatter = [[add(a * b) if j <= k else _NONE for k, b in enumerate(centred)] for j, a in enumerate(centred)]
        return _Moments(rows[None, :], means, scatter)

    def _column(self, v: int, order: Ints | None) -> Floats:
        """Return a continuous column about its median, in units of its spread; zeros if it is constant."""
        values = self.table.numbers(v)
        known = self._scales.get(v)
        if known is None:
            known = self._scales[v] = scale(values)
        middle, spread = known
        if order is not None:
            values = values[order]
        if spread == 0:
            return np.zeros(len(values))
        return (values - middle) / spread


@dataclass(frozen=True, slots=True)
class _Cells:
    """Rows divided into cells; None for all rows in one."""

    of_row: Ints | None
    count: int

    def onto(self, coarser: _Cells) -> Ints:
        """Return for each cell the coarser cell it lies in."""
        of = np.zeros(self.count, np.intp)
        if self.of_row is not None and coarser.of_row is not None:
            of[self.of_row] = coarser.of_row
        return of


_NONE: Floats = np.empty(0)


@dataclass(frozen=True, slots=True)
class _Moments:
    """Rows, means and scatters (sums of products about the mean; the upper half) in cells.

    All arrays are (questions, cells), with one row for what questions share.
    """

    rows: Floats
    means: list[Floats]
    scatter: list[list[Floats]]

    def rounding(self, j: int) -> Floats:
        """Return the scatter of a variable that may be rounding."""
        return self.rows * np.square(_CONSTANT * np.maximum(1.0, np.abs(self.means[j])))

    def varies(self, j: int, left: Floats) -> Mask:
        """Return whether enough is left of the scatter of a variable to tell it from one that others determine."""
        return left > np.maximum(SINGULAR * self.scatter[j][j], self.rounding(j))

    def eliminated(self, first: int, fit: Mask | None = None) -> tuple[Mask, list[Floats], list[list[Floats]]]:
        """Regress on the first variables one after another.

        Return where none of them is determined by those before (or `fit`, if that is known), what those leave of the
        scatter of each, and the scatters left of all others.
        """
        rest = [list(row) for row in self.scatter]
        good = np.ones((1, 1), bool) if fit is None else fit
        pivots = []
        for j in range(first):
            pivot = rest[j][j]
            varies = self.varies(j, pivot) if fit is None else fit
            if fit is None:
                good = good & varies
            pivot = np.where(varies, pivot, 1.0)
            pivots.append(pivot)
            for k in range(j + 1, len(rest)):
                slope = rest[j][k] / pivot
                for m in range(k, len(rest)):
                    rest[k][m] = rest[k][m] - slope * rest[j][m]
        return good, pivots, rest

    def merged(self, keep: Mask, to: Ints, count: int) -> _Moments:
        """Return the moments in coarser cells, of those cells only that are kept."""
        weight = np.where(keep, self.rows, 0.0)
        rows = _gather(weight, to, count)
        least = np.maximum(rows, 1.0)
        means = [_gather(weight * mean, to, count) / least for mean in self.means]
        apart = [mean - coarse[:, to] for mean, coarse in zip(self.means, means, strict=True)]
        size = len(means)
        scatter = [
            [
                _gather(keep * self.scatter[j][k] + weight * apart[j] * apart[k], to, count) if j <= k else _NONE
                for k in range(size)
            ]
            for j in range(size)
        ]
        return _Moments(rows, means, scatter)


def _without_determined(moments: _Moments, d: int) -> tuple[_Moments, int]:
    """Leave out those of the first d variables that others before determine in all cells."""
    good, _, _ = moments.eliminated(d)
    if good.all():
        return moments, d
    pooled = [[float(moments.scatter[j][k].sum()) if j <= k else 0.0 for k in range(d)] for j in range(d)]
    whole = [pooled[j][j] for j in range(d)]
    least = [float(moments.rounding(j).sum()) for j in range(d)]
    keep = []
    for j in range(d):
        pivot = pooled[j][j]
        if pivot <= max(SINGULAR * whole[j], least[j]):
            continue
        keep.append(j)
        for k in range(j + 1, d):
            slope = pooled[j][k] / pivot
            for m in range(k, d):
                pooled[k][m] -= slope * pooled[j][m]
    kept = [*keep, *range(d, len(moments.means))]
    return (
        _Moments(moments.rows, [moments.means[j] for j in kept], [[moments.scatter[j][k] for k in kept] for j in kept]),
        len(keep),
    )


def _peeled(fit: Mask, rows: Floats, x: tuple[Ints, int], y: tuple[Ints, int], strata: tuple[Ints, int]) -> Mask:
    """Leave out levels of x and y in strata, those with fewest rows first, until all cells left can be fitted."""
    keep = np.ones(len(fit), bool)
    of, count = strata
    while True:
        trouble = keep & ~fit
        if not trouble.any():
            return keep
        weight = np.where(keep, rows, 0.0)
        fewest = np.full(count, math.inf)
        margins = [np.bincount(to, weight, size)[to] for to, size in (x, y)]
        for margin in margins:
            np.minimum.at(fewest, of[trouble], margin[trouble])
        for (to, size), margin in zip((x, y), margins, strict=True):
            out = np.zeros(size, bool)
            out[to[trouble & (margin == fewest[of])]] = True
            keep &= ~out[to]


def _firsts(of: Ints, keep: Mask) -> Ints:
    """Return one of the kept cells for each coarser cell that has any."""
    places = np.flatnonzero(keep)
    return places[np.unique(of[places], return_index=True)[1]]


def _gather(values: Floats, to: Ints, count: int) -> Floats:
    """Add up the columns that go to the same place."""
    questions = len(values)
    if questions == 1:
        return np.asarray(np.bincount(to, values[0], count), np.float64)[None, :]
    places = to + count * np.arange(questions)[:, None]
    sums = np.bincount(places.ravel(), values.ravel(), count * questions)
    return np.asarray(sums, np.float64).reshape(questions, count)


def _log_share(rows: Floats, scatter: Floats, where: Mask) -> Floats:
    """Return n ln(scatter / n), and 0 elsewhere."""
    share = np.ones(rows.shape)
    np.divide(scatter, rows, out=share, where=where)
    return rows * np.log(share)


def _log_likelihood(moments: _Moments, d: int, there: Mask) -> float:
    """Return twice the log-likelihood of some cells, up to terms that are the same for all ways to divide the rows."""
    _, pivots, _ = moments.eliminated(d, there)
    rows = moments.rows[there]
    found = 2 * float((rows * np.log(rows)).sum())
    for pivot in pivots:
        found -= float((rows * np.log(pivot[there] / rows)).sum())
    return found


def _total(values: Floats) -> Floats:
    return np.asarray(values.sum(axis=1, keepdims=True))


def numbered(keys: Ints, bound: int) -> tuple[Ints, int]:
    """Number the keys that occur; keys are below the bound."""
    if bound > 4 * len(keys) + 1024:
        distinct, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(distinct)
    seen = np.bincount(keys, minlength=bound) > 0
    count = int(np.count_nonzero(seen))
    if count == bound:
        return keys, count
    return (np.cumsum(seen) - 1)[keys], count


def scale(values: Floats) -> tuple[float, float]:
    """Return the median and the spread about it; a spread of 0 where there is none that can be reckoned with."""
    with np.errstate(over="ignore", invalid="ignore"):
        middle = float(np.median(values))
        apart = values - middle
        reach = float(np.abs(apart).max())
        if not (0 < reach < math.inf):
            return 0.0, 0.0
        spread = reach * math.sqrt(float(np.square(apart / reach).mean()))
    return (middle, spread) if 0 < spread < math.inf else (0.0, 0.0)


def check_complete(table: Table, needed_by: str, variables: Container[int]) -> None:
    """Refuse continuous columns in which values are missing, on behalf of what needs them all."""
    stuck = [table.names[k] for k in table.continuous if k in variables and not np.isfinite(table.numbers(k)).all()]
    if stuck:
        raise DataError(f"{needed_by} needs complete columns, but values are missing in {some(stuck)}; drop such rows")
