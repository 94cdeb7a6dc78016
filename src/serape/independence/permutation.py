"""Permutation tests: p-values for samples too small for the chi-square or t distribution.

`"g2"`, for categorical columns: x is permuted within the strata of Z, and p is the share of permutations whose G² is at
least that of the data. If X ⊥ Y | Z the rows of a stratum are exchangeable, so p is exact for every sample size,
and no rule of 5 rows is needed.

`"correlation"`, for continuous columns: |partial correlation|. Given nothing, x is permuted, which is exact too. Given
Z, the residuals of x in its regression on Z are permuted, and regressed on Z once more (Freedman and Lane, *A
nonstochastic interpretation of reported significance levels*, JBES 1983). This is exact for many rows, and close to it
for few.

p = (1 + exceedances) / (1 + permutations): the data count as one of the permutations. A tie, up to 1e-12, counts as an
exceedance. `stop_early` ends a test at its tenth exceedance, with p = 10 / (permutations so far) (Besag and Clifford,
*Sequential Monte Carlo p-values*, Biometrika 1991). Such a p is valid too: coarse where it is large, unchanged where it
is small. Most tests of independent variables end after a few dozen permutations.

p is never less than 1 / (1 + permutations), so alpha must be larger. Where p-values tie there, the larger statistic
counts as the stronger association.

Groups of rows (`groups=`): rows are permuted within groups only, and the group counts as a member of Z. So what the
rows of a group have in common is no dependence, and only variables that vary within groups can be tested.

The random numbers of a question depend on the seed and the names of its variables. The answer is the same if x and y
change places, in any order of columns, after any other questions, and on any number of threads.

Reliability: a test is reliable if permuting can change the statistic. For G², x and y must both vary in some stratum;
for correlation, n − 2 must exceed the number of independent columns of Z, and Z must not determine x or y.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from serape.data.origins import Origin
from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate, is_integer
from serape.independence.base import IndependenceTest
from serape.independence.effects import CORRELATION, Effects, in_bits
from serape.independence.g2 import G2
from serape.independence.outcomes import Candidates, Floats, Outcome, Rows
from serape.independence.trend import strata
from serape.wording import setting

PermutationStatistic = Literal["g2", "correlation"]

ENOUGH_EXCEEDANCES = 10
"""`stop_early` ends a test after so many."""
TIE = 1e-12
"""Statistics that differ by less, relative to the larger of them and 1, tie."""
_DETERMINED = 1e-10  # relative size of the residual of a column that others determine up to rounding
_FIRST_BATCH = 32
_BATCH = 1 << 20  # rows times permutations in one batch
_MAX_ANSWERS = 1 << 17
_ROWS_PER_DRAW = 8  # drawing one count takes as long as permuting so many rows
_MAX_COUNTED = 10**9  # NumPy's limit

WideCodes = NDArray[np.int64]

DrawStatistics = Callable[[int], Floats]
"""Returns the statistics of as many further permutations as asked for; with 0, that of the data."""


class Permutation(IndependenceTest):
    """G² or |partial correlation| against its distribution under permutation."""

    has_effect = True
    made_of: ClassVar[tuple[str, ...] | None] = ("statistic", "permutations", "seed", "stop_early")

    def __init__(
        self,
        table: Table,
        statistic: PermutationStatistic = "g2",
        permutations: int = 1000,
        seed: int = 0,
        stop_early: bool = True,
    ) -> None:
        if statistic not in ("g2", "correlation"):
            raise OptionError(f"statistic={statistic!r} is not known; use 'g2' or 'correlation'")
        if not (is_integer(permutations) and permutations >= 1):
            raise OptionError(f"permutations must be a whole number from 1 on, not {permutations!r}")
        if not (is_integer(seed) and seed >= 0):
            raise OptionError(f"seed must be a whole number from 0 on, not {seed!r}")
        self.name = f"{statistic}-permutation"
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self.statistic = statistic
        self.likelihood_ratio = statistic == "g2"
        self.permutations = int(permutations)
        self.seed = int(seed)
        self.stop_early = bool(stop_early)
        self._asymptotic = G2(table, dof="adjusted", reliability=None) if self.likelihood_ratio else None
        self._groups = table.groups
        self._n_groups = 1 if table.groups is None else int(table.groups.max()) + 1
        self._by_group = np.argsort(np.zeros(table.rows) if table.groups is None else table.groups, kind="stable")
        self._answers: dict[tuple[frozenset[int], frozenset[int]], Outcome] = {}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns of the wrong kind: continuous ones for G², categorical ones for correlation."""
        if self.likelihood_ratio:
            self.table.check_categorical(f"test {self.name!r}", variables)
            return
        continuous = set(self.table.continuous)
        refused = [name for k, name in enumerate(self.variables) if k in variables and k not in continuous]
        if refused:
            are, why = "is" if len(refused) == 1 else "are", self.table.variables[refused[0]].reason
            raise DataError(
                f"test {self.name!r} needs continuous columns, but {abbreviate(refused)} {are} categorical ({why}); "
                f"pass {setting('ignore', [refused[0]])}, or, if its values are quantities, "
                f"{setting('kinds', {refused[0]: 'continuous'})}"
            )

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables; infinite for correlation."""
        if not self.likelihood_ratio:
            return math.inf
        return self.table.rows / math.prod(self.table.levels(v) for v in variables)

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return the conditional mutual information in nats: G² / 2N, or −½ ln(1 − r²)."""
        if self.likelihood_ratio:
            return super().information(statistic, dof, rows)
        with np.errstate(divide="ignore"):  # infinite if r is ±1
            return np.asarray(-0.5 * np.log1p(-np.square(statistic)))

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""
        question = frozenset((int(x), int(y))), frozenset(map(int, given))
        answer = self._answers.get(question)
        if answer is None:
            if len(self._answers) >= _MAX_ANSWERS:
                self._answers.clear()
            # By name, so that neither the order of x and y nor that of the columns matters.
            first, second = sorted(question[0], key=self.variables.__getitem__)
            answer = self._compute(first, second, sorted(question[1], key=self.variables.__getitem__))
            self._answers[question] = answer
        return answer

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return G² in bits and Cramér's V, or the partial correlations with their signs, and in bits."""
        if self._asymptotic is not None:
            return self._asymptotic.effects(target, candidates, given, statistic, dof)
        basis = _basis([self._numbers(z) for z in given], self.table.rows)
        of_target, *of_candidates = (_residual(self._numbers(int(v)), basis) for v in (target, *candidates))
        r = np.array([math.nan if of_target is None or x is None else float(x @ of_target) for x in of_candidates])
        return Effects.of(in_bits(self.information(statistic, dof, None)), CORRELATION, r)

    def _compute(self, x: int, y: int, given: list[int]) -> Outcome:
        random = self._random(x, y, given)
        if self._asymptotic is not None:
            asymptotic = self._asymptotic.test(x, y, given)
            statistic, dof = asymptotic.statistic, asymptotic.dof
            draw = self._tables(random, x, y, given) if dof and self._vary_within_groups(x, y, given) else None
        else:
            basis = _basis([self._numbers(z) for z in given], self.table.rows)
            dof = float(max(self.table.rows - self._n_groups - basis.shape[1] - 1, 0))
            draw = self._correlations(random, x, y, basis) if dof else None
            statistic = math.nan if draw is None else float(draw(0)[0])
        if draw is None:
            return Outcome(statistic, dof, math.nan, reliable=False, rows=self.rows)
        return Outcome(statistic, dof, self._log_p(draw, statistic), reliable=True, rows=self.rows)

    def _log_p(self, draw: DrawStatistics, statistic: float) -> float:
        """Return the logarithm of the p-value; `statistic` is that of the data."""
        del statistic
        observed = float(draw(0)[0])
        threshold = observed - TIE * max(observed, 1.0)
        exceedances, done = 0, 0
        for drawn in self._batches(draw):
            exceeds = np.flatnonzero(drawn >= threshold)
            if self.stop_early and exceedances + len(exceeds) >= ENOUGH_EXCEEDANCES:
                last = done + int(exceeds[ENOUGH_EXCEEDANCES - exceedances - 1]) + 1
                return math.log(ENOUGH_EXCEEDANCES / last)
            exceedances += len(exceeds)
            done += len(drawn)
        return math.log((1 + exceedances) / (1 + self.permutations))

    def _batches(self, draw: DrawStatistics) -> Iterator[Floats]:
        """Yield the statistics of all permutations, each batch twice as large as the last."""
        done, batch = 0, _FIRST_BATCH
        while done < self.permutations:
            batch = min(batch, self.permutations - done, max(1, _BATCH // self.table.rows))
            yield draw(batch)
            done += batch
            batch *= 2

    def _strata(self, given: list[int]) -> WideCodes:
        """Return the number of the stratum of every row; groups divide strata."""
        label = strata(self.table, given)
        if self._groups is None:
            return label
        divided: WideCodes = np.unique(label * self._n_groups + self._groups, return_inverse=True)[1]
        return divided

    def _vary_within_groups(self, x: int, y: int, given: list[int]) -> bool:
        """Return whether x and y both vary in some stratum of some group."""
        if self._groups is None:
            return True
        label = self._strata(given)
        return bool(
            np.logical_and(*(_varies(label, self.table.packed.codes(v).astype(np.int64)) for v in (x, y))).any()
        )

    def _numbers(self, v: int) -> Floats:
        """Return the values of a column; with groups, less the mean of the group, in the order of the groups."""
        column = self.table.numbers(v)
        values = Origin.of(column).measured(column)
        if self._groups is None:
            return values
        means = np.bincount(self._groups, values) / np.bincount(self._groups)
        deviations = values - means[self._groups]
        deviations[np.abs(deviations) <= TIE * np.abs(values).max()] = 0.0  # constant within groups, but for rounding
        return np.asarray(deviations[self._by_group], np.float64)

    def _random(self, x: int, y: int, given: list[int]) -> np.random.Generator:
        """Return the random generator of a question."""
        question = [self.seed, *([self.variables[v] for v in variables] for variables in ((x, y), given))]
        import hashlib

        digest = hashlib.blake2b(json.dumps(question).encode(), digest_size=16).digest()
        return np.random.default_rng(int.from_bytes(digest, "big"))

    def _tables(self, random: np.random.Generator, x: int, y: int, given: list[int]) -> DrawStatistics:
        """Draw Σ n_xyz ln n_xyz, the part of G² / 2 that permuting x within strata changes."""
        label = self._strata(given)
        codes_x, codes_y = (self.table.packed.codes(v).astype(np.int64) for v in (x, y))
        informative = (_varies(label, codes_x) & _varies(label, codes_y))[label]
        # Numbered in order of appearance, so that the names of levels do not matter.
        label, codes_x, codes_y = (_by_appearance(values[informative]) for values in (label, codes_x, codes_y))
        order = np.argsort(label, kind="stable")
        label, codes_x, codes_y = label[order], codes_x[order], codes_y[order]
        levels_x, levels_y = int(codes_x.max()) + 1, int(codes_y.max()) + 1
        counts = np.arange(int(np.bincount(label).max()) + 1, dtype=np.float64)
        n_log_n = counts * np.log(np.maximum(counts, 1.0))
        numbers = (int(label[-1]) + 1) * (levels_x - 1) * (levels_y - 1)
        if _ROWS_PER_DRAW * numbers <= len(label) <= _MAX_COUNTED:
            drawn = _counts_drawn(random, label, codes_x, codes_y, n_log_n)
        else:
            drawn = _rows_permuted(random, label, codes_x, codes_y, n_log_n)
        cells = (int(label[-1]) + 1) * levels_x * levels_y
        cell = (label * levels_x + codes_x) * levels_y + codes_y
        return lambda batch: drawn(batch) if batch else _sum_over_cells(cell[None, :], cells, n_log_n)

    def _correlations(self, random: np.random.Generator, x: int, y: int, basis: Floats) -> DrawStatistics | None:
        """Draw |partial correlations| under permutation of the residuals of x."""
        residuals = [_residual(self._numbers(v), basis) for v in (x, y)]
        if residuals[0] is None or residuals[1] is None:
            return None
        residual_x, residual_y = residuals[0], residuals[1]

        def draw(batch: int) -> Floats:
            permuted = residual_x[None, :]
            if batch and self._groups is None:
                permuted = random.permuted(np.broadcast_to(permuted, (batch, len(residual_x))), axis=1)
            elif batch and self._groups is not None:  # rows are in the order of their groups
                keys = random.random((batch, len(residual_x))) + self._groups[self._by_group]
                permuted = residual_x[np.argsort(keys, axis=1)]
            on_given = permuted @ basis
            length = np.sqrt(np.maximum(1.0 - np.einsum("ij,ij->i", on_given, on_given), 0.0))
            product = np.abs(permuted @ residual_y)
            found: Floats = np.divide(product, length, out=np.zeros(len(length)), where=length > _DETERMINED)
            return np.minimum(found, 1.0)

        return draw


def _rows_permuted(
    random: np.random.Generator, label: WideCodes, x: WideCodes, y: WideCodes, values: Floats
) -> DrawStatistics:
    """Permute x within strata: sort (stratum, random bits, code of x)."""
    levels_x, levels_y = int(x.max()) + 1, int(y.max()) + 1
    cells = (int(label[-1]) + 1) * levels_x * levels_y
    index = label * (levels_x * levels_y) + y
    bits_x = (levels_x - 1).bit_length()
    bits_random = 64 - bits_x - int(label[-1]).bit_length()
    fixed = label.astype(np.uint64) << np.uint64(bits_x + bits_random) | x.astype(np.uint64)
    largest = np.uint64((1 << bits_random) - 1)

    def draw(batch: int) -> Floats:
        keys = random.integers(0, largest, (batch, len(label)), np.uint64, endpoint=True) << np.uint64(bits_x)
        keys |= fixed
        keys.sort(axis=1)
        permuted = (keys & np.uint64((1 << bits_x) - 1)).astype(np.int64)
        return _sum_over_cells(permuted * levels_y + index, cells, values)

    return draw


def _counts_drawn(
    random: np.random.Generator, label: WideCodes, x: WideCodes, y: WideCodes, values: Floats
) -> DrawStatistics:
    """Draw, cell by cell, the counts that result from permuting x within strata: faster where rows are many."""
    levels_x, levels_y, n_strata = int(x.max()) + 1, int(y.max()) + 1, int(label[-1]) + 1
    margins_x = np.bincount(label * levels_x + x, minlength=n_strata * levels_x).reshape(n_strata, levels_x)
    margins_y = np.bincount(label * levels_y + y, minlength=n_strata * levels_y).reshape(n_strata, levels_y)
    cells = [(i, j) for i in range(levels_x - 1) for j in range(levels_y - 1)]
    # A generator for each cell, so that batches of any size give the same tables.
    generators = dict(zip(cells, random.spawn(len(cells)), strict=True))

    def draw(batch: int) -> Floats:
        total = np.zeros(batch)
        left = np.repeat(margins_y[None], batch, axis=0)  # rows of each y that remain for later x
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


def _varies(label: WideCodes, codes: WideCodes) -> NDArray[np.bool_]:
    """Return for each stratum whether a column varies in it."""
    first = np.empty(int(label.max()) + 1, np.int64)
    first[label] = codes
    return np.bincount(label, weights=codes != first[label]) > 0


def _by_appearance(values: WideCodes) -> WideCodes:
    """Number values in order of appearance."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _sum_over_cells(cell: WideCodes, cells: int, values: Floats) -> Floats:
    """Return, for each line of cells (one cell per row of data), the sum of `values` at the counts of its cells."""
    batch, rows = cell.shape
    if cells <= 4 * rows:
        cell = cell + np.arange(batch)[:, None] * cells
        counts = np.bincount(cell.ravel(), minlength=batch * cells)
        sums: Floats = values[counts].reshape(batch, cells).sum(axis=1)
        return sums
    cell = np.sort(cell, axis=1)
    starts = np.ones((batch, rows), bool)
    starts[:, 1:] = cell[:, 1:] != cell[:, :-1]
    first = np.flatnonzero(starts)
    counts = np.diff(first, append=batch * rows)
    weighted: Floats = np.bincount(first // rows, weights=values[counts], minlength=batch).astype(np.float64)
    return weighted


def _scaled(column: Floats) -> Floats | None:
    """Return a column centred and of length 1; None if it is constant."""
    if np.ptp(column) == 0:
        return None
    column = column - column.mean()
    column = column / np.abs(column).max()
    return column / np.linalg.norm(column)


def _basis(columns: list[Floats], rows: int) -> Floats:
    """Return an orthonormal basis of the span of the centred columns."""
    scaled = [column for column in map(_scaled, columns) if column is not None]
    if not scaled:
        return np.zeros((rows, 0))
    basis, lengths, _ = np.linalg.svd(np.stack(scaled, axis=1), full_matrices=False)
    return np.ascontiguousarray(basis[:, lengths > _DETERMINED * lengths[0]])


def _residual(column: Floats, basis: Floats) -> Floats | None:
    """Return the residual of a column given a basis, of length 1; None if it is zero."""
    left = _scaled(column)
    if left is None:
        return None
    left = left - basis @ (basis.T @ left)
    left = left - basis @ (basis.T @ left)
    length = float(np.linalg.norm(left))
    return None if length <= _DETERMINED else left / length
