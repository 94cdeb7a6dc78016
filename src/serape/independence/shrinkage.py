"""G² of shrunken probabilities (Hausser and Strimmer, *Entropy inference and the James-Stein estimator*, JMLR 2009).

The share p of the rows in each cell of the table of x, y and Z moves towards 1 / cells: q = λ / cells + (1 − λ) p with
λ = (1 − Σ p²) / ((n − 1) Σ (p − 1 / cells)²), at most 1. The statistic is 2n times the conditional mutual information
of q. It is compared with the chi-square distribution of `g2`; degrees of freedom and reliability are the same.

Shrinkage makes the estimate of mutual information better. It does not make a test: λ is large where rows are few, so
the statistic is then much smaller than chi-square, and the test hardly ever rejects (docs/few-rows.md). Use it where a
cautious ranking is wanted; for p-values in small samples use `x2-moments` or `g2-permutation`.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

import numpy as np

from serape import _core
from serape.data.table import Table
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects
from serape.independence.g2 import G2
from serape.independence.outcomes import Candidates, Floats, Outcome
from serape.independence.trend import strata
from serape.types import DofRule, ReliabilityRule


class ShrunkenG2(IndependenceTest):
    """2n times the conditional mutual information of shrunken probabilities, against chi-square."""

    name = "g2-shrinkage"
    likelihood_ratio = True
    has_effect = True
    made_of = ("dof", "reliability", "minimum")

    def __init__(
        self, table: Table, dof: DofRule = "auto", reliability: ReliabilityRule = "dof", minimum: float = 5.0
    ) -> None:
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self._plain = G2(table, dof, reliability, minimum)
        self.dof, self.reliability, self.minimum = self._plain.dof, self._plain.reliability, self._plain.minimum

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns."""
        self.table.check_categorical(f"test {self.name!r}", variables)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the statistic in bits and Cramér's V."""
        return self._plain.effects(target, candidates, given, statistic, dof)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self._plain.rows_per_cell(variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        plain = self._plain.test(x, y, given)
        shares = self._shares([x, y, *given])
        cells = self._cells([x, y, *given])
        squares = float(shares @ shares)
        distance = (self.table.rows - 1) * (squares - 1.0 / cells)
        weight = min(1.0, (1.0 - squares) / distance) if distance > 0 else 1.0
        information = sum(
            sign * self._negative_entropy([*some, *given], weight)
            for sign, some in ((1, (x, y)), (-1, (x,)), (-1, (y,)), (1, ()))
        )
        statistic = max(2.0 * self.table.rows * information, 0.0)
        log_p = _core.chi_square_log_sf(statistic, plain.dof) if plain.dof else math.nan
        return Outcome(statistic, plain.dof, log_p, plain.reliable, self.rows)

    def _cells(self, variables: Sequence[int]) -> float:
        return float(math.prod(self.table.levels(v) for v in variables))

    def _shares(self, variables: Sequence[int]) -> Floats:
        """Return the share of the rows in each cell that occurs."""
        return np.bincount(strata(self.table, variables)) / self.table.rows

    def _negative_entropy(self, variables: Sequence[int], weight: float) -> float:
        """Return Σ q ln q over all cells of the variables."""
        shares, cells = self._shares(variables), self._cells(variables)
        shrunken = weight / cells + (1.0 - weight) * shares
        empty = (cells - len(shares)) * weight / cells
        return float(shrunken @ np.log(shrunken)) + (empty * math.log(weight / cells) if empty > 0 else 0.0)
