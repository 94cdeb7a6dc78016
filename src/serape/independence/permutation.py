"""Permutation tests: p-values for samples too small for the chi-square or t distribution.

`"g2"`, for categorical columns: x is permuted within the strata of Z, and p is the part of the permutations whose G² is
at least that of the data. If X ⊥ Y | Z the rows of a stratum are exchangeable, so that p is exact whatever the size of
the sample; no rule of 5 rows is needed.

`"correlation"`, for continuous columns: |partial correlation|. Given nothing, x is permuted, which is exact too; given
Z, the residuals of x in its regression on Z are, and are regressed on Z once more (Freedman and Lane, *A nonstochastic
interpretation of reported significance levels*, JBES 1983), which is exact only as rows grow, but close to it early.

p = (1 + exceedances) / (1 + permutations): the data count as one of the permutations. A tie, up to 1e-12, counts as an
exceedance. `stop_early` ends a test at its tenth exceedance, with p = 10 / (permutations so far) (Besag and Clifford,
*Sequential Monte Carlo p-values*, Biometrika 1991): such p are as valid, coarse where nothing is at stake and
unchanged where p is small, and most tests of independent variables end after a few dozen permutations.

p is never less than 1 / (1 + permutations), so alpha must be larger. Where p tie there, the larger statistic counts as
the stronger.

The random numbers of a question come from the seed and the names of its variables. The answer is the same from either
side, in any order of columns, after any other questions, and on any number of threads.

Reliability: a test is reliable if permuting can change anything. For G² there must be a stratum in which both x and y
vary; for correlation n − 2 rows must be more than Z has independent columns, and Z must not determine x or y.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate, is_integer
from serape.independence.base import IndependenceTest
from serape.independence.g2 import G2
from serape.independence.outcomes import Floats, Outcome
from serape.independence.trend import strata

PermutationStatistic = Literal["g2", "correlation"]

ENOUGH = 10
"""The exceedances after which `stop_early` ends a test."""
_TIE = 1e-12
_DETERMINED = 1e-10  # what is left of a column, as a part of it, when others determine it up to rounding
_FIRST_BATCH = 32
_BATCH = 1 << 20  # rows times permutations looked at together
_MOST_ANSWERS = 1 << 17
_ROWS_A_NUMBER = 8  # a count takes as long to draw as so many rows to permute
_MOST_COUNTED = 10**9  # NumPy's limit

Codes = NDArray[np.int64]

Draw = Callable[[int], Floats]
"""Returns the statistics of so many further permutations."""


class Permutation(IndependenceTest):
    """G² or |partial correlation| against its distribution under permutation."""

    def __init__(
        self,
        table: Table,
        statistic: PermutationStatistic = "g2",
        permutations: int = 1000,
        seed: int = 0,
        stop_early: bool = True,
    ) -> None:
        if statistic not in ("g2", "correlation"):
            raise OptionError(f"statistic={statistic!r} cannot be permuted; use 'g2' or 'correlation'")
        if not (is_integer(permutations) and permutations >= 1):
            raise OptionError(f"permutations must be a whole number from 1 on, not {permutations!r}")
        if not (is_integer(seed) and seed >= 0):
            raise OptionError(f"seed must be a whole number from 0 on, not {seed!r}")
        self.name = f"{statistic}-permutation"
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self.statistic = statistic
        self.permutations = int(permutations)
        self.seed = int(seed)
        self.stop_early = bool(stop_early)
        self._asymptotic = G2(table, dof="adjusted", reliability=None) if statistic == "g2" else None
        self._answers: dict[tuple[frozenset[int], frozenset[int]], Outcome] = {}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns of the wrong kind: continuous ones for G², categorical ones for correlation."""
        if self.statistic == "g2":
            self.table.check_categorical(f"test {self.name!r}", variables)
            return
        continuous = set(self.table.continuous)
        stuck = [name for k, name in enumerate(self.variables) if k in variables and k not in continuous]
        if stuck:
            are, why = "is" if len(stuck) == 1 else "are", self.table.variables[stuck[0]].reason
            raise DataError(
                f"test {self.name!r} needs continuous columns, but {abbreviate(stuck)} {are} categorical ({why}); leave it "
                f"out, or, if its values are quantities, pass kinds={{{stuck[0]!r}: 'continuous'}} to Table"
            )

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of these variables; infinite for correlation."""
        if self.statistic == "correlation":
            return math.inf
        return self.table.rows / math.prod(self.table.levels(v) for v in variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""
        question = frozenset((int(x), int(y))), frozenset(map(int, given))
        answer = self._answers.get(question)
        if answer is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            # By name, so that neither side nor the order of the columns matters.
            first, second = sorted(question[0], key=self.variables.__getitem__)
            answer = self._asked(first, second, sorted(question[1], key=self.variables.__getitem__))
            self._answers[question] = answer
        return answer

    def _asked(self, x: int, y: int, given: list[int]) -> Outcome:
        random = self._random(x, y, given)
        if self._asymptotic is not None:
            asymptotic = self._asymptotic.test(x, y, given)
            statistic, dof = asymptotic.statistic, asymptotic.dof
            draw = self._tables(random, x, y, given) if dof else None
        else:
            basis = _basis([self.table.numbers(z) for z in given], self.table.rows)
            dof = float(max(self.table.rows - basis.shape[1] - 2, 0))
            draw = self._correlations(random, x, y, basis) if dof else None
            statistic = math.nan if draw is None else float(draw(0)[0])
        if draw is None:
            return Outcome(statistic, dof, math.nan, reliable=False, rows=self.rows)
        return Outcome(statistic, dof, math.log(self._p(draw)), reliable=True, rows=self.rows)

    def _p(self, draw: Draw) -> float:
        observed = float(draw(0)[0])
        least = observed - _TIE * max(observed, 1.0)
        exceedances, done, batch = 0, 0, _FIRST_BATCH
        while done < self.permutations:
            batch = min(batch, self.permutations - done, max(1, _BATCH // self.table.rows))
            exceeds = np.flatnonzero(draw(batch) >= least)
            if self.stop_early and exceedances + len(exceeds) >= ENOUGH:
                return ENOUGH / (done + int(exceeds[ENOUGH - exceedances - 1]) + 1)
            exceedances += len(exceeds)
            done += batch
            batch *= 2
        return (1 + exceedances) / (1 + self.permutations)

    def _random(self, x: int, y: int, given: list[int]) -> np.random.Generator:
        """Return the generator of a question."""
        question = [self.seed, *([self.variables[v] for v in variables] for variables in ((x, y), given))]
        digest = hashlib.blake2b(json.dumps(question).encode(), digest_size=16).digest()
        return np.random.default_rng(int.from_bytes(digest, "big"))

    def _tables(self, random: np.random.Generator, x: int, y: int, given: list[int]) -> Draw:
        """Draw Σ n_xyz ln n_xyz, the part of G² / 2 that permuting x within strata changes; `draw(0)` of the data."""
        label = strata(self.table, given)
        codes_x, codes_y = (self.table.packed.codes(v).astype(np.int64) for v in (x, y))
        tells = (_varies(label, codes_x) & _varies(label, codes_y))[label]
        # Numbered as they appear, so that names of levels do not matter.
        label, codes_x, codes_y = (_by_appearance(values[tells]) for values in (label, codes_x, codes_y))
        order = np.argsort(label, kind="stable")
        label, codes_x, codes_y = label[order], codes_x[order], codes_y[order]
        levels_x, levels_y = int(codes_x.max()) + 1, int(codes_y.max()) + 1
        counts = np.arange(int(np.bincount(label).max()) + 1, dtype=np.float64)
        n_log_n = counts * np.log(np.maximum(counts, 1.0))
        numbers = (int(label[-1]) + 1) * (levels_x - 1) * (levels_y - 1)
        if _ROWS_A_NUMBER * numbers <= len(label) <= _MOST_COUNTED:
            drawn = _counts_drawn(random, label, codes_x, codes_y, n_log_n)
        else:
            drawn = _rows_permuted(random, label, codes_x, codes_y, n_log_n)
        cells = (int(label[-1]) + 1) * levels_x * levels_y
        cell = (label * levels_x + codes_x) * levels_y + codes_y
        return lambda batch: drawn(batch) if batch else _sum_over_cells(cell[None, :], cells, n_log_n)

    def _correlations(self, random: np.random.Generator, x: int, y: int, basis: Floats) -> Draw | None:
        """Draw |partial correlations| under permutation of x's residuals; `draw(0)` of the data."""
        residuals = [_residual(self.table.numbers(v), basis) for v in (x, y)]
        if residuals[0] is None or residuals[1] is None:
            return None
        left_x, left_y = residuals[0], residuals[1]

        def draw(batch: int) -> Floats:
            permuted = left_x[None, :]
            if batch:
                permuted = random.permuted(np.broadcast_to(permuted, (batch, len(left_x))), axis=1)
            on_given = permuted @ basis
            length = np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", on_given, on_given), 0.0))
            product = np.abs(permuted @ left_y)
            found: Floats = np.divide(product, length, out=np.zeros(len(length)), where=length > _DETERMINED)
            return np.minimum(found, 1.0)

        return draw


def _rows_permuted(random: np.random.Generator, label: Codes, x: Codes, y: Codes, values: Floats) -> Draw:
    """Permute x within strata: sort (stratum, random bits, code of x)."""
    levels_x, levels_y = int(x.max()) + 1, int(y.max()) + 1
    cells = (int(label[-1]) + 1) * levels_x * levels_y
    index = label * (levels_x * levels_y) + y
    bits_x = (levels_x - 1).bit_length()
    bits_random = 64 - bits_x - int(label[-1]).bit_length()
    fixed = label.astype(np.uint64) << np.uint64(bits_x + bits_random) | x.astype(np.uint64)
    max_size = np.uint64((1 << bits_random) - 1)

    def draw(batch: int) -> Floats:
        keys = random.integers(0, max_size, (batch, len(label)), np.uint64, endpoint=True) << np.uint64(bits_x)
        keys |= fixed
        keys.sort(axis=1)
        permuted = (keys & np.uint64((1 << bits_x) - 1)).astype(np.int64)
        return _sum_over_cells(permuted * levels_y + index, cells, values)

    return draw


def _counts_drawn(random: np.random.Generator, label: Codes, x: Codes, y: Codes, values: Floats) -> Draw:
    """Draw the counts that permuting x within strata would give, cell by cell: cheaper where rows are many."""
    levels_x, levels_y, many = int(x.max()) + 1, int(y.max()) + 1, int(label[-1]) + 1
    margins_x = np.bincount(label * levels_x + x, minlength=many * levels_x).reshape(many, levels_x)
    margins_y = np.bincount(label * levels_y + y, minlength=many * levels_y).reshape(many, levels_y)
    cells = [(i, j) for i in range(levels_x - 1) for j in range(levels_y - 1)]
    # A generator for each cell, so that batches of any size give the same tables.
    generators = dict(zip(cells, random.spawn(len(cells)), strict=True))

    def draw(batch: int) -> Floats:
        total = np.zeros(batch)
        left = np.repeat(margins_y[None], batch, axis=0)  # of each y, for the x that are to come
        for i in range(levels_x - 1):
            need = np.repeat(margins_x[None, :, i], batch, axis=0)
            others = left.sum(axis=2)
            for j in range(levels_y - 1):
                others -= left[:, :, j]
                n = generators[i, j].hypergeometric(left[:, :, j], others, need)
                total += values[n].sum(axis=1)
                left[:, :, j] -= n
                need -= n
            total += values[need].sum(axis=1)
            left[:, :, -1] -= need
        total += values[left].sum(axis=(1, 2))
        return total

    return draw


def _varies(label: Codes, codes: Codes) -> NDArray[np.bool_]:
    """Return for every stratum whether a column has more than one value in it."""
    first = np.empty(int(label.max()) + 1, np.int64)
    first[label] = codes
    return np.bincount(label, weights=codes != first[label]) > 0


def _by_appearance(values: Codes) -> Codes:
    """Number values as they appear in the rows."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _sum_over_cells(cell: Codes, cells: int, values: Floats) -> Floats:
    """Return for every line of cells, one for each row of data, the sum of the values of the counts."""
    batch, rows = cell.shape
    if cells <= 4 * rows:
        cell = cell + np.arange(batch)[:, None] * cells
        counts = np.bincount(cell.ravel(), minlength=batch * cells)
        sums: Floats = values[counts].reshape(batch, cells).sum(axis=1)
        return sums
    cell = np.sort(cell, axis=1)
    starts = np.ones((batch, rows), bool)
    starts[:, 1:] = cell[:, 1:] != cell[:, :-1]
    at = np.flatnonzero(starts)
    counts = np.diff(at, append=batch * rows)
    weighted: Floats = np.bincount(at // rows, weights=values[counts], minlength=batch).astype(np.float64)
    return weighted


def _scaled(column: Floats) -> Floats | None:
    """Return a column less its mean, of length 1; None if it is constant."""
    if np.ptp(column) == 0:
        return None
    column = column / np.abs(column).max()
    column = column - column.mean()
    column = column / np.abs(column).max()
    return column / np.linalg.norm(column)


def _basis(columns: list[Floats], rows: int) -> Floats:
    """Return an orthonormal basis of what the columns, less their means, span."""
    scaled = [column for column in map(_scaled, columns) if column is not None]
    if not scaled:
        return np.zeros((rows, 0))
    basis, lengths, _ = np.linalg.svd(np.stack(scaled, axis=1), full_matrices=False)
    return np.ascontiguousarray(basis[:, lengths > _DETERMINED * lengths[0]])


def _residual(column: Floats, basis: Floats) -> Floats | None:
    """Return what the basis leaves of a column, of length 1; None if it leaves nothing."""
    left = _scaled(column)
    if left is None:
        return None
    left = left - basis @ (basis.T @ left)
    left = left - basis @ (basis.T @ left)
    length = float(np.linalg.norm(left))
    return None if length <= _DETERMINED else left / length
