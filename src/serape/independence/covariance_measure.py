"""What the generalised and the projected covariance measure share: columns, folds, regressions and residuals.

Columns: values of a continuous column farther than `tails` (3) standard deviations from the median are drawn in: of the
distance beyond, log(1 + distance) is left. The standard deviation is that of a normal variable with the same
interquartile range; if half of the values are equal, the median distance of the others takes its place. This is a
monotone transformation, so X ⊥ Y | Z means the same as before, and heavy tails do no harm. A categorical x or y is an
indicator of each of its levels but the most frequent one; levels with fewer than 10 rows count with that one. In Z, it
is an indicator of every level. A regressor of the user's sees the values of continuous columns in Z as they are.

Regressions are cross-fitted: the rows are divided at random into folds (5), and the predictions in a fold come from a
regression on the rows of the others. The folds depend on `random_state` and on the order of the rows, not on the
question. Residuals are kept, so the target's residuals serve all candidates of a screen.

Reliability: a test needs `minimum` (5) rows per column of Z and per product of columns of x and y, and twice as many
per fold as `minimum`. It is not reliable if x or y is constant, or if the regression on Z leaves less than 10⁻⁶ of
the variance of x or y.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Container, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from serape.data.origins import Origin
from serape.data.table import Table
from serape.errors import DataError, InputTypeError, MissingLibraryError, OptionError, is_integer, shown
from serape.independence.base import IndependenceTest
from serape.independence.mixed import check_complete
from serape.independence.outcomes import Floats, Outcome
from serape.independence.spline_ridge import SplineRidge
from serape.wording import setting

MAX_PRODUCTS = 400
"""More products of columns of x and y are not tested."""
_INTERQUARTILE_RANGE = 1.349  # of a normal variable, in standard deviations
DETERMINED = 1e-6
"""Z determines a column if the regression leaves a smaller part of its variance."""


class CovarianceMeasure(IndependenceTest):
    """A test by cross-fitted regressions on the conditioning set."""

    made_of: ClassVar[tuple[str, ...] | None] = ("regressor", "folds", "random_state", "tails", "minimum")

    def __init__(
        self,
        data: Any,
        regressor: Any = None,
        *,
        folds: int = 5,
        random_state: int = 0,
        tails: float | None = 3.0,
        minimum: float = 5.0,
    ) -> None:
        if not (is_integer(folds) and folds >= 2):
            raise OptionError(f"folds must be a whole number from 2 on, not {folds!r}")
        if not (is_integer(random_state) and random_state >= 0):
            raise OptionError(f"random_state must be a whole number from 0 on, not {random_state!r}")
        if not minimum > 0:
            raise OptionError(f"the minimum number of rows must be positive, not {minimum!r}")
        if tails is not None and not tails > 0:
            raise OptionError(f"tails must be a positive number of standard deviations, or None, not {tails!r}")
        self.table = Table.of(data)
        if self.table.weights is not None:
            raise DataError(f"test {self.name!r} takes no weights; leave out {setting('sample_weight')}")
        self.variables = self.table.names
        self.rows: int = self.table.rows
        self.regressor = None if regressor is None else _seeded(regressor, int(random_state))
        self.folds = int(folds)
        self.random_state = int(random_state)
        self.tails = None if tails is None else float(tails)
        self.minimum = float(minimum)
        self._continuous = frozenset(self.table.continuous)
        fold = np.random.default_rng(self.random_state).permutation(np.arange(self.rows) % self.folds)
        self._fold = fold
        own = regressor is not None or self.of_caller  # another test may then answer in another way
        self._key = object() if own else (type(self), self.folds, self.random_state, self.tails, self.minimum)
        self._splines = SplineRidge(self._predictors, self._continuous.__contains__, self.table.memory, self._key, fold)

    def __reduce__(self) -> tuple[Any, ...]:
        options = ("regressor", "folds", "random_state", "tails", "minimum")
        return _rebuilt, (type(self), self.table, {name: getattr(self, name) for name in options}, self._noted)

    def check(self, variables: Container[int]) -> None:
        """Refuse columns with missing values."""
        check_complete(self.table, f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables that are categorical."""
        return self.rows / math.prod(max(self.table.levels(v), 1) for v in variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; a test that is not reliable is not computed."""
        # By name, so that neither the order of x and y nor that of the columns matters.
        first, second = sorted((int(x), int(y)), key=self.variables.__getitem__)
        order = tuple(sorted(map(int, given), key=self.variables.__getitem__))
        if not self._enough_rows(first, second, order) or not all(self._varies(v, order) for v in (first, second)):
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=self.rows)
        statistic, dof, log_p = self._answer(first, second, order)
        return Outcome(statistic, dof, log_p, reliable=not math.isnan(log_p), rows=self.rows)

    @abstractmethod
    def _answer(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float, float]:
        """Return the statistic, the degrees of freedom and log p; NaN if there is nothing to test."""

    # --- columns -------------------------------------------------------------------------------------------------

    def responses(self, v: int) -> Floats:
        """Return a variable as centred columns: its values, or scaled indicators of levels."""
        return self.table.memory.keep((self._key, "responses", v), lambda: self._responses(v), _nbytes)

    def _responses(self, v: int) -> Floats:
        if v in self._continuous:
            columns = self._drawn_in(self.table.numbers(v))
        else:
            codes, counts = self._frequent(v)
            levels = np.flatnonzero(counts)
            columns = (codes[:, None] == levels) / np.sqrt(counts[levels] / self.rows)
        return np.asarray(columns - columns.mean(axis=0))

    def _drawn_in(self, values: Floats) -> Floats:
        """Return a continuous column in units of its spread, with its tails drawn in."""
        values = Origin.of(values).measured(values)
        low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
        spread = (high - low) / _INTERQUARTILE_RANGE
        values = values - middle
        if spread == 0 and values.any():  # half of the values are equal
            spread = np.median(np.abs(values[values != 0]))
        values = values / (spread or 1.0)
        if self.tails is not None:
            size = np.abs(values)
            values = np.sign(values) * (np.minimum(size, self.tails) + np.log1p(np.maximum(size - self.tails, 0.0)))
        return values[:, None]

    def shares(self, v: int) -> Floats:
        """Return the share of the rows in the level of each of a variable's columns; 1 if it is continuous."""
        if v in self._continuous:
            return np.ones(1)
        counts = self._frequent(v)[1]
        return np.asarray(counts[counts > 0] / self.rows)

    def _frequent(self, v: int) -> tuple[NDArray[np.uint16], NDArray[np.intp]]:
        """Return codes, and the number of rows of each level that has a column; 0 for the others."""
        codes = self.table.packed.codes(v)
        counts = np.bincount(codes)
        counts[np.argmax(counts)] = 0
        counts[counts < 2 * self.minimum] = 0
        return codes, counts

    def _indicators(self, v: int) -> Floats:
        """Return an indicator of each observed level."""
        codes = self.table.packed.codes(v)
        return np.asarray(codes[:, None] == np.flatnonzero(np.bincount(codes)), np.float64)

    def _predictors(self, v: int) -> Floats:
        """Return a variable as the default regression takes it."""
        return self.responses(v) if v in self._continuous else self._indicators(v)

    def _raw(self, v: int) -> Floats:
        """Return a variable as a regressor of the user takes it."""
        return self.table.numbers(v)[:, None] if v in self._continuous else self._indicators(v)

    def _size(self, v: int) -> int:
        return 1 if v in self._continuous else max(self.table.levels(v) - 1, 1)

    def _enough_rows(self, x: int, y: int, given: tuple[int, ...]) -> bool:
        products = self.responses(x).shape[1] * self.responses(y).shape[1]
        columns = products + sum(map(self._size, given))
        return bool(products <= MAX_PRODUCTS and self.rows >= self.minimum * max(2 * self.folds, columns))

    def _varies(self, v: int, given: tuple[int, ...]) -> bool:
        """Return whether a variable varies, also given the set."""
        columns = self.responses(v)
        whole = float(np.vdot(columns, columns))
        residual = self.residual(v, given)
        return whole > 0 and float(np.vdot(residual, residual)) > DETERMINED * whole

    # --- regressions ---------------------------------------------------------------------------------------------

    def residual(self, v: int, given: tuple[int, ...]) -> Floats:
        """Return the residuals of a variable's columns given a set, each row predicted from the other folds."""
        if not given:
            return self.responses(v)
        return self.table.memory.keep((self._key, "residual", v, given), lambda: self._residual(v, given), _nbytes)

    def _residual(self, v: int, given: tuple[int, ...]) -> Floats:
        columns = self.responses(v)
        return columns - self.held_out(given, columns)

    def held_out(self, predictors: tuple[int, ...], response: Floats) -> Floats:
        """Return the predictions of every row by the regression on the other folds.

        A response has a column or more; with a first axis, every fold's regression has a response of its own.
        """
        if self.regressor is None and predictors:
            return self._splines.held_out(predictors, response)
        predicted = np.empty(response.shape[-2:])
        for k in range(self.folds):
            rows = self._fold == k
            predicted[rows] = self._predictions(predictors, response, k, rows)
        return predicted

    def everywhere(self, predictors: tuple[int, ...], response: Floats) -> Floats:
        """Return the predictions of all rows by the regression of every fold, which is the first axis."""
        if self.regressor is None and predictors:
            return self._splines.everywhere(predictors, response)
        every = np.ones(self.rows, bool)
        return np.stack([self._predictions(predictors, response, k, every) for k in range(self.folds)])

    def _predictions(self, predictors: tuple[int, ...], response: Floats, k: int, rows: NDArray[np.bool_]) -> Floats:
        """Return what the user's regressor, or without predictors the mean, of all folds but one predicts for rows."""
        train = self._fold != k
        own = response[k] if response.ndim == 3 else response
        if not predictors:
            return np.broadcast_to(own[train].mean(axis=0), (int(rows.sum()), own.shape[1]))
        from sklearn.base import clone

        columns = np.concatenate([self._raw(v) for v in predictors], axis=1)
        found = [clone(self.regressor).fit(columns[train], one[train]).predict(columns[rows]) for one in own.T]
        return np.stack([np.asarray(one, np.float64).reshape(-1) for one in found], axis=1)


def _nbytes(columns: Floats) -> int:
    return columns.nbytes


def _seeded(regressor: Any, seed: int) -> Any:
    """Return a scikit-learn regressor, its random states set where they are not."""
    try:
        from sklearn.base import clone, is_classifier
    except ImportError:
        raise MissingLibraryError(
            "a regressor of your own needs scikit-learn, 1.6 or newer; install it with: pip install 'serape[sklearn]'"
        ) from None
    if isinstance(regressor, type) or not all(hasattr(regressor, name) for name in ("fit", "predict", "get_params")):
        raise InputTypeError(f"regressor must be a scikit-learn regressor, for example Ridge(), not {shown(regressor)}")
    if is_classifier(regressor):
        raise InputTypeError(f"regressor must be a regressor, but {shown(regressor)} is a classifier")
    unset = [name for name, value in regressor.get_params().items() if name.endswith("random_state") and value is None]
    return clone(regressor).set_params(**dict.fromkeys(unset, seed))


def _rebuilt(
    made: type[CovarianceMeasure], table: Table, options: dict[str, Any], noted: tuple[str, ...]
) -> CovarianceMeasure:
    test = made(table, **options)
    test._noted = noted
    return test
