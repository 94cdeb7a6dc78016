"""The conditional Gaussian score, for mixtures of categories and numbers.

Andrews, Ramsey and Cooper, *Scoring Bayesian networks of mixed variables*, International Journal of Data Science and
Analytics 2018. In a set of variables, the joint values of the categories divide the rows into cells, and in each cell
the numbers are jointly normal. The score of the set is the logarithm of its likelihood less ½ ln(N) for each parameter:
cells less one, and the means and covariances of the numbers in every cell that occurs. `cg-bic` of a family is the
score of the child with its parents less that of the parents. So

- of a number with categories as parents, it is a mean and a variance in every cell; with numbers as parents, too, a
  regression in every cell;
- of a category with numbers as parents, it is a ratio of likelihoods: the numbers given the category and the other
  parents against the numbers given the other parents;
- of categories alone, it is `bic`; of numbers alone, `gaussian-bic` up to O(1 / N).

`cg-ebic` takes off ln(p) for every parent besides, as `gaussian-ebic` does.

Markov-equivalent networks have the same score. Nothing forbids numbers as parents of categories.

Deviation from the paper: the covariance matrix of n rows of a cell is (S + V) / (n + 1), where S are the sums of
products and V the variances of all rows. This adds O(1 / n) to the score in large cells, and keeps it finite in cells
of few rows or in which a number does not vary.

See docs/papers.md: Andrews et al. 2018.
"""

from __future__ import annotations

import math
from typing import ClassVar

from serape import _core
from serape.data.table import Table
from serape.errors import DataError
from serape.independence.mixed import check_complete
from serape.structure.gaussian_score import append_column
from serape.structure.scores import RoundedScore
from serape.wording import setting


class ConditionalGaussianBIC(RoundedScore):
    """BIC of conditional Gaussian families: categories, and numbers that are normal given categories."""

    name = "cg-bic"
    gamma: ClassVar[float] = 0.0
    """How much of ln(p) a parent costs beside BIC's penalty."""
    _native: _core.MixedScore

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.names
        check_complete(table, f"score {self.name!r}", table.searched)
        if table.weights is not None:
            raise DataError(f"score {self.name!r} cannot use weights of rows; leave out {setting('sample_weight')}")
        packed = table.codes_alone
        numbers = [k for k in table.continuous if k not in table.identifiers]
        columns = _core.GaussianTest(table.rows, len(numbers), "student-t")
        logs = [append_column(columns, table, k) for k in numbers]
        self._native = _core.MixedScore(columns, logs, self.gamma * math.log(max(len(table.names), 1)))
        known = set(numbers)
        for k in range(len(table.names)):
            if k in known:
                self._native.add_number()
            elif k in table.identifiers:  # like a constant
                self._native.add_category(packed.codes(k) * 0, 1)
            else:
                self._native.add_category(packed.codes(k), table.levels(k))

    @classmethod
    def of(cls, table: Table, equivalent_sample_size: float) -> ConditionalGaussianBIC:
        """Return the score on a table; it has no equivalent sample size."""
        del equivalent_sample_size
        return cls(table)


class ConditionalGaussianEBIC(ConditionalGaussianBIC):
    """Extended BIC of conditional Gaussian families, with γ = 1."""

    name = "cg-ebic"
    gamma = 1.0
