"""Scores of linear Gaussian families, for columns of numbers.

A child Y is a linear function of its parents plus normal noise. With N rows, k parents and s² the mean square of the
residuals of Y in a regression on its parents, a family's score, in natural logarithms, larger is better, is

- `gaussian-bic`: −½ N ln(2πe s²) − ½ ln(N) (k + 2) (Schwarz, *Estimating the dimension of a model*, Annals of
  Statistics 1978; `bic-g` in bnlearn);
- `gaussian-ebic`: the same less k ln(p), with p variables: the extended BIC with γ = 1, for many variables (Chen and
  Chen, Biometrika 2008). In the form of Foygel and Drton (*Extended Bayesian information criteria for Gaussian
  graphical models*, NeurIPS 2010), in which an edge counts twice, it is γ = ½;
- `bge`: the marginal likelihood under a normal-Wishart prior (Geiger and Heckerman, *Parameter priors for directed
  acyclic graphical models*, Annals of Statistics 2002) in the corrected form (Kuipers, Moffa and Heckerman, *Addendum
  on the scoring of Gaussian directed acyclic graphical models*, Annals of Statistics 2014). The prior has weight 1, the
  means of the data, p + 2 degrees of freedom, and the matrix ½ I, as in bnlearn and GOBNILP. So units matter a little:
  scale columns whose variance is far below 1.

All three give Markov-equivalent networks the same score. They use means and correlations alone: skewed columns and
curved relations are beyond them.

Bounds: a constant column explains nothing and nothing explains it. A parent that the other parents determine (all but
1e-10 of its variance) adds nothing, and no parents explain more than that of a child. If there are more parameters than
rows, parents explain nothing, by both forms of BIC. So a score is always a finite number.

Correlations are computed once and kept, for up to 4,096 columns; one call scores a family with each of many additional
parents. Scores are rounded to multiples of about 1e-10·N, so that equal scores are equal to the bit.

With weights, means and correlations are weighted, and N is the effective number of rows.

See docs/papers.md: Geiger and Heckerman 2002.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.origins import Origin
from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate
from serape.independence.mixed import check_complete
from serape.independence.outcomes import Floats
from serape.independence.partial_correlation import weighted_column
from serape.structure.scores import RoundedScore
from serape.wording import setting


class GaussianScore(RoundedScore):
    """A score of linear Gaussian families on the columns of a table."""

    kind: ClassVar[Literal["bic", "bge"]] = "bic"
    gamma: ClassVar[float] = 0.0
    """How much of ln(p) a parent costs beside BIC's penalty."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.names
        check_numbers(table, f"score {self.name!r}")
        rows: float = table.rows if table.weights is None else table.weights.effective
        native = _core.GaussianTest(table.rows, len(table.names), "student-t", None if table.weights is None else rows)
        logs = [append_column(native, table, k) for k in range(len(table.names))]
        self._finish(native, logs)

    def _finish(self, native: _core.GaussianTest, logs: Sequence[float]) -> None:
        """Make the native score from columns and the logarithms of their mean squares."""
        extra = self.gamma * math.log(max(len(self.variables), 1))
        self._native = _core.GaussianScore(native, self.kind, list(logs), extra)

    @classmethod
    def of(cls, table: Table, equivalent_sample_size: float) -> GaussianScore:
        """Return the score on a table; it has no equivalent sample size."""
        del equivalent_sample_size
        return cls(table)

    @classmethod
    def of_covariance(cls, variables: Sequence[str], covariance: NDArray[np.float64], rows: float) -> GaussianScore:
        """Return the score of so many rows that have this covariance matrix."""
        matrix = np.asarray(covariance, np.float64)
        if matrix.shape != (len(variables),) * 2 or not np.allclose(matrix, matrix.T):
            raise OptionError(
                f"the covariance matrix of {len(variables)} variables must be symmetric, with as many rows"
            )
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise DataError("the covariance matrix is not positive definite; leave out collinear variables") from None
        made = cls.__new__(cls)
        made.table = None
        made.variables = tuple(variables)
        native = _core.GaussianTest(len(variables), len(variables), "student-t", float(rows))
        for row in factor:  # the products of the rows are the covariances
            native.append(np.ascontiguousarray(row))
        made._finish(native, np.log(np.diag(matrix)).tolist())
        return made

    table: Table | None


class GaussianBIC(GaussianScore):
    """The Bayesian information criterion of linear Gaussian families, as a score: multiplied by −½."""

    name = "gaussian-bic"


class GaussianEBIC(GaussianScore):
    """The extended Bayesian information criterion of linear Gaussian families with γ = 1, as a score."""

    name = "gaussian-ebic"
    gamma = 1.0


class BGe(GaussianScore):
    """The Bayesian Gaussian equivalent score: the marginal likelihood under a normal-Wishart prior."""

    name = "bge"
    kind = "bge"


def append_column(native: _core.GaussianTest, table: Table, position: int) -> float:
    """Hand a column to the core; return the logarithm of its mean square. Identifiers are like constants."""
    if position in table.identifiers:
        native.append(np.zeros(table.rows))
        return 0.0
    values = np.ascontiguousarray(table.numbers(position), np.float64)
    weights = table.weights
    state = native.append(values if weights is None else weighted_column(values, weights))
    return 0.0 if state == "constant" else _log_variance(values, None if weights is None else weights.values)


def _log_variance(values: Floats, weights: Floats | None) -> float:
    """Return the logarithm of the variance of numbers of any size."""
    origin = Origin.of(values)
    parts = origin.measured(values)
    parts = parts - np.average(parts, weights=weights)
    return math.log(float(np.average(parts * parts, weights=weights))) + 2.0 * math.log(2.0) * origin.exponent


def check_numbers(table: Table, needed_by: str) -> None:
    """Refuse columns of categories, and missing values."""
    names, numbers = table.names, set(table.continuous)
    refused = [names[k] for k in table.searched if k not in numbers]
    if refused:
        are = "is" if len(refused) == 1 else "are"
        raise DataError(
            f"{needed_by} needs columns of numbers, but {abbreviate(refused)} {are} categorical "
            f"({table.variables[refused[0]].reason}); use {setting('score', 'auto')}, or leave out the column with "
            f"{setting('ignore', [refused[0]])}"
        )
    check_complete(table, needed_by, table.searched)
