"""Tests of continuous columns by partial correlation, answered by the native core.

The partial correlation r of X and Y given Z is the correlation of their residuals in linear regressions on Z. With N
rows,

- `fisher-z` compares √(N − |Z| − 3)·artanh |r| to the standard normal distribution (Fisher, "On the probable error of a
  coefficient of correlation deduced from a small sample", Metron 1, 1921; given Z: "The distribution of the partial
  correlation coefficient", Metron 3, 1924);
- `partial-correlation` compares |r|·√((N − |Z| − 2) / (1 − r²)) to Student's t, exact if the columns are normal;
- `spearman` does the same with ranks instead of values, tied values having their mean rank (Spearman, "The proof
  and measurement of association between two things", American Journal of Psychology 15, 1904);
- `normal-scores` does the same with the normal quantiles of the ranks, Φ⁻¹(rank / (N + 1)) (van der Waerden, "Order
  tests for the two-sample problem and their power", Indagationes Mathematicae 14, 1952).

Given Z, tests of ranks are approximate: the ranks of a linear relation are not quite linear, and regressions on ranks
do not remove a strong common cause completely. With 1,000 rows, two common causes of weight 0.4 each do no harm (5 % of
p-values are below 0.05); two of weight 1 raise this to 27 %. Normal scores avoid this where columns are monotone
functions of normal variables (the *nonparanormal* of Liu, Lafferty & Wasserman 2009).

p-values are two-sided. Their logarithms are finite as long as r is not ±1, which it is only if two columns, centred and
scaled, are the same to the last bit: 1 − |r| is computed from their difference, not by subtraction.

A test with less than one degree of freedom is not reliable, nor is one of a constant column. Collinear columns: a
member of Z is left out if the members before it explain all but 1e-10 of its variance. It still takes a degree of
freedom, so the degrees of freedom depend on |Z| alone. If Z explains as much of X or Y, the test is not reliable.

A test keeps a copy of all continuous columns, centred and scaled: 8 bytes per value, 800 MB for 100,000 columns of
1,000 rows. With up to 4,096 columns it keeps the correlations that were asked for, in 128 MiB at most. With more
columns it keeps only the matrix of a pool, while the subsets of the pool are searched. A copy of up to 256 MiB stays
with the table, for the next call.

Rows with weights: means and covariances are weighted, a row of weight w counts as w rows in ranks, and N is the
effective number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.origins import Origin
from serape.data.table import Table
from serape.data.weights import Weights
from serape.errors import DataError, abbreviate
from serape.independence.backends import Questions
from serape.independence.base import IndependenceTest
from serape.independence.effects import CORRELATION, RANK_CORRELATION, Effects, in_bits
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, Rows, Tally, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult, native_result
from serape.wording import setting

_BY_CORRELATION: Questions = frozenset({"screen", "subsets", "growing pool"})


class CorrelationTest(IndependenceTest):
    """A test of independence by the partial correlations of a Table's continuous columns."""

    distribution: ClassVar[Literal["fisher-z", "student-t"]]
    measure: ClassVar[int] = CORRELATION
    scored: ClassVar[bool] = False
    """Whether something stands for the values of a column."""
    has_effect = True
    core_answers = _BY_CORRELATION
    made_of = ()

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.names
        weights = table.weights
        self.rows = table.rows if weights is None else weights.rows
        continuous = table.continuous
        nbytes = 8 * table.rows * len(continuous)
        self._native, gaps = table.memory.keep(type(self), self._prepared, nbytes)
        # The core's index of each column, −1 for one that cannot be tested. None if all are as in the table.
        self._at: NDArray[np.int64] | None = None
        self._positions = np.array(continuous, np.uint32)
        self._gaps = frozenset(gaps)
        if gaps or len(continuous) < len(table.names):
            self._at = np.full(len(table.names), -1)
            self._at[self._positions] = np.arange(len(continuous))
            self._at[gaps] = -1

    def _prepared(self) -> tuple[_core.GaussianTest, list[int]]:
        """Return the columns as the core takes them, and the positions of those with missing values."""
        table, weights = self.table, self.table.weights
        effective = None if weights is None else weights.effective
        native = _core.GaussianTest(table.rows, len(table.continuous), self.distribution, effective)
        gaps = [k for k in table.continuous if native.append(self._appended(table.numbers(k))) == "missing"]
        return native, gaps

    def _appended(self, values: Floats) -> Floats:
        """Return a column as the core takes it; with weights, centred and multiplied by the roots of the weights."""
        weights = self.table.weights
        if (weights is not None or self.scored) and np.isfinite(values).all():
            values = self._column(values)
            if weights is not None:
                values = weighted_column(values, weights)
        return np.ascontiguousarray(values, np.float64)

    def _column(self, values: Floats) -> Floats:
        """Return what is correlated: the values of a column, or what stands for them."""
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table,), {"_noted": self._noted}

    @property
    def nbytes(self) -> int:
        """Size of the copy of the columns, in bytes."""
        return self._native.nbytes

    def check(self, variables: Container[int]) -> None:
        """Refuse categorical columns and columns with missing values."""
        names = self.table.names
        continuous = set(self.table.continuous)
        refused = [names[k] for k in range(len(names)) if k not in continuous and k in variables]
        if refused:
            are = "is" if len(refused) == 1 else "are"
            why = self.table.variables[refused[0]].reason
            raise DataError(
                f"test {self.name!r} needs continuous columns, but {abbreviate(refused)} {are} categorical ({why}); "
                f"use {setting('test', 'mixed')}, pass {setting('ignore', [refused[0]])}, or, if its values are "
                f"numbers, "
                f"pass {setting('kinds', {refused[0]: 'continuous'})}"
            )
        refused = [names[k] for k in sorted(self._gaps) if k in variables]
        if refused:
            raise DataError(
                f"test {self.name!r} needs a number in every row, but values are missing in {abbreviate(refused)}; "
                f"pass {setting('missing', 'drop')} or {setting('missing', 'pairwise')}, or leave out the column with "
                f"{setting('ignore', [refused[0]])}"
            )

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given. The statistic is an absolute value; it and log p are NaN if the test is not reliable."""
        (x, y), (given, _) = self._find([x, y]).tolist(), self._find_set(given)
        statistic, dof, log_p, reliable = self._native.test(x, y, given)
        return Outcome(statistic, dof, log_p, reliable, self.rows)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the partial correlations with their signs, and in bits."""
        r = self._native.correlations(self._find_one(target), self._find(candidates), self._find_set(given)[0])
        return Effects.of(in_bits(self.information(statistic, dof, None)), self.measure, r)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set, by |given| + 1 products with each column."""
        positions = as_positions(candidates)
        indices, named = self._find_set(given)
        statistic, dof, reliable = self._native.screen(
            self._find_one(target), self._find(positions), indices, threads, poll
        )
        return _CorrelationScreen(positions, named, statistic, dof, reliable, _Tail(self))

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; its answer, if there is one, is the last."""
        positions = as_positions(candidates)
        indices, named = self._find_set(given)
        asked, statistic, dof, reliable = self._native.first_dependent(
            self._find_one(target), self._find(positions), indices, log_alpha, poll
        )
        tested = slice(asked)
        return _CorrelationScreen(
            positions[tested], named, statistic[tested], dof[tested], reliable[tested], _Tail(self)
        )

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Search conditioning sets; a formula counts those that cannot be reliable as skipped."""
        found = self._native.search_subsets(self._query(query).native(), threads, poll)
        return native_result(found, self.rows, None if self._at is None else self._positions)

    @property
    def native(self) -> _core.GaussianTest:
        """The core's part of the test."""
        return self._native

    @property
    def has_all_columns(self) -> bool:
        """Whether all columns of the table can be tested."""
        return self._at is None

    def known_pairs(
        self, ys: NDArray[np.uint32], statistic: Floats, dof: Floats, reliable: NDArray[np.bool_]
    ) -> ScreenResult:
        """Return tests of pairs given nothing, whose p-values are computed when they are needed."""
        return _CorrelationScreen(ys, (), statistic, dof, reliable, _Tail(self))

    def grow_pool(
        self, query: SubsetQuery, *, examine: bool, enough: int, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally, list[tuple[int, bool]], int]:
        """Search the candidates `query.xs` in turn, as `ContingencyTest.grow_pool` does."""
        found, changes, asked = self._native.grow_pool(self._query(query).native(), examine, enough, poll)
        if self._at is None:
            return *native_result(found, self.rows), changes, asked
        changes = [(int(self._positions[x]), joined) for x, joined in changes]
        return *native_result(found, self.rows, self._positions), changes, asked

    def expect(self, targets: Collection[int], *, threads: int = 1, poll: Poll | None = None) -> None:
        """Compute the correlations of these targets with all columns together."""
        self._native.expect(self._find(list(targets)), threads, poll)

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return −½ ln(1 − r²), the conditional mutual information of normal variables in nats."""
        del rows
        if self.distribution == "student-t":
            return information_of_t(statistic, dof)
        z = statistic / np.sqrt(dof)
        return np.asarray(np.logaddexp(z, -z) - math.log(2.0))  # ln cosh z

    # --- inside --------------------------------------------------------------------------------------------------

    def _query(self, query: SubsetQuery) -> SubsetQuery:
        """Return a query with the core's indices of variables."""
        if self._at is None:
            return query
        return query._replace(
            xs=self._find(query.xs),
            target=self._find_one(query.target),
            pool=self._find(query.pool),
            fixed=self._find_set(query.fixed)[0],
        )

    def _find(self, variables: Candidates) -> NDArray[np.uint32]:
        """Return the core's indices of variables."""
        positions = as_positions(variables)
        if self._at is None:
            return positions
        if len(positions) and int(positions.max()) >= len(self._at):
            raise IndexError(f"there is no column {int(positions.max())} in a table of {len(self._at)} columns")
        indices = self._at[positions]
        if (indices < 0).any():
            self.check(set(positions.tolist()))
        return indices.astype(np.uint32)

    def _find_one(self, variable: int) -> int:
        return int(self._find([variable])[0])

    def _find_set(self, given: Collection[int]) -> tuple[list[int], tuple[int, ...]]:
        named = tuple(map(int, given))
        return (list(named) if self._at is None else self._find(named).tolist()), named


def information_of_t(statistic: Floats, dof: Floats) -> Floats:
    """Return −½ ln(1 − r²) of the partial correlations r behind Student's t."""
    return np.asarray(0.5 * np.log1p(np.square(statistic) / dof))


class FisherZ(CorrelationTest):
    """Fisher's z: the statistic is √dof·artanh |r| with dof = N − |Z| − 3, against the normal distribution."""

    name = "fisher-z"
    core_answers = _BY_CORRELATION
    kept_on_device = "correlations"
    distribution = "fisher-z"


class PartialCorrelation(CorrelationTest):
    """Exact t: the statistic is |r|·√(dof / (1 − r²)) with dof = N − |Z| − 2, against Student's distribution."""

    name = "partial-correlation"
    core_answers = _BY_CORRELATION
    kept_on_device = "correlations"
    distribution = "student-t"


class Spearman(PartialCorrelation):
    """Partial rank correlation: `PartialCorrelation` of ranks, so it detects any monotone dependence."""

    name = "spearman"
    core_answers = _BY_CORRELATION
    kept_on_device = "correlations"
    measure = RANK_CORRELATION
    scored = True

    def _column(self, values: Floats) -> Floats:
        return _ranks(values, self.table.weights)


class NormalScores(PartialCorrelation):
    """Partial correlation of normal scores: exact for many rows of monotone functions of normal variables."""

    name = "normal-scores"
    core_answers = _BY_CORRELATION
    kept_on_device = "correlations"
    scored = True

    @cached_property
    def _scores(self) -> Floats:
        """The scores of ranks 1, 1.5, 2 … N: tied values have their mean rank."""
        scores = _quantiles(np.arange(2, 2 * self.table.rows + 1) / 2, self.table.rows)
        return np.asarray((scores - scores[::-1]) / 2)  # bit for bit the same for a column and its negative

    def _column(self, values: Floats) -> Floats:
        ranks = _ranks(values, self.table.weights)
        if self.table.weights is not None:
            distinct, inverse = np.unique(ranks, return_inverse=True)
            return _quantiles(distinct, self.table.weights.effective)[inverse]
        return np.asarray(self._scores[np.rint(2 * ranks).astype(np.intp) - 2])


def _ranks(values: Floats, weights: Weights | None) -> Floats:
    """Return ranks from 1 on; tied values have their mean rank. A row of weight w counts as w rows."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    if weights is not None:
        counts = np.bincount(inverse.ravel(), weights.scaled)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[inverse.ravel()], np.float64)


def _quantiles(ranks: Floats, rows: float) -> Floats:
    """Return the normal quantiles of ranks among a number of rows."""
    from statistics import NormalDist

    quantile = NormalDist().inv_cdf
    return np.array([quantile(rank / (rows + 1)) for rank in ranks.tolist()])


def weighted_column(values: Floats, weights: Weights) -> Floats:
    """Return deviations from the weighted mean times the roots of the weights: products are weighted covariances."""
    deviations = Origin.of(values).measured(values)
    if not deviations.any():
        return deviations
    deviations -= np.average(deviations, weights=weights.values)
    deviations /= np.abs(deviations).max()
    return np.asarray(np.sqrt(weights.values / weights.values.max()) * deviations)


class _Tail:
    """Turns statistics into p-values. A pickle holds the test, which the core's part of it is made from."""

    def __init__(self, test: CorrelationTest) -> None:
        self._test = test

    @property
    def native(self) -> _core.GaussianTest:
        return self._test._native

    def __call__(self, statistic: Floats, dof: Floats) -> Floats:
        return self.native.log_p(np.ascontiguousarray(statistic), np.ascontiguousarray(dof))


class _CorrelationScreen(ScreenResult):
    """A screen whose degrees of freedom are all equal: ranking needs no p-values, and verdicts need few."""

    _log_p: Floats | Callable[[Floats, Floats], Floats]

    def dependent(self, log_alpha: float) -> NDArray[np.bool_]:
        """Return which answers are reliable and show dependence."""
        assert isinstance(self._log_p, _Tail)
        return self._log_p.native.dependent(self.statistic, self.dof, self.reliable, log_alpha)

    def ranked(self, indices: NDArray[np.intp], ties: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Return the indices of some reliable answers from the strongest to the weakest, as in any screen."""
        ties = np.arange(len(indices)) if ties is None else ties
        return indices[np.lexsort((ties, -self.statistic[indices]))]

    def strongest(self) -> tuple[list[int], float]:
        """Return the indices of the strongest reliable answers (several if they tie exactly) and their log p."""
        indices = np.flatnonzero(self.reliable)
        if len(indices) == 0:
            return [], 0.0
        statistic = self.statistic[indices]
        best = indices[statistic == statistic.max()]
        return best.tolist(), float(self.log_p_of(best[:1])[0])
