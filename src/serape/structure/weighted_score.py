"""Scores of rows that have weights.

Frequencies give the same numbers, to the bit, as rows repeated. With survey weights, counts are sums of weights, scaled
so that they add up to the effective number of rows N; `bdeu` and `k2` are the same formulas of real counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from serape.data.table import Table
from serape.engines import WeightedEngine
from serape.engines.weighted import WeightedRows
from serape.structure.counted_score import CountedScore
from serape.structure.scores import SCORES, Score


def make_weighted_score(table: Table, name: str, equivalent_sample_size: float) -> Score:
    """Return the score of a name on a table whose rows have weights."""
    table.check_categorical(f"score {name!r}", range(len(table.names)))
    table.check_complete()
    size = SCORES[name].checked_size(equivalent_sample_size)
    assert table.weights is not None
    if table.weights.kind == "frequency":
        return CountedScore(WeightedEngine(table), name, size)
    return SurveyScore(table, name, size)


class SurveyScore(Score):
    """A score of weighted counts."""

    def __init__(self, table: Table, name: str, equivalent_sample_size: float = 1.0) -> None:
        assert table.weights is not None
        self.table = table
        self.name = name
        self.variables = table.names
        self._formula = formula = SCORES[name]
        self.equivalent, self.rises_with_arcs = formula.equivalent, formula.rises_with_arcs
        self.equivalent_sample_size = equivalent_sample_size if formula.uses_sample_size else None
        self._effective = table.weights.effective
        self._weighted = WeightedRows(table, table.weights.scaled)

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents."""
        levels = self.table.levels(child)
        strata = self._weighted.strata(parents)
        met, totals = self._weighted.sums(strata)
        cells, counts = self._weighted.sums(self._weighted.divided(strata, child))
        log_q = math.fsum(math.log(self.table.levels(z)) for z in parents)
        log_prior = self._formula.log_prior(self.equivalent_sample_size or 1.0, log_q, levels)
        if log_prior is not None:
            return math.fsum(
                [
                    *(_log_gamma_rise(log_prior, count) for count in counts.tolist()),
                    *(-_log_gamma_rise(log_prior + math.log(levels), total) for total in totals.tolist()),
                ]
            )
        of_stratum = totals[np.searchsorted(met, cells // levels)]
        likelihood = math.fsum((counts * np.log(counts / of_stratum)).tolist())
        parameters = (levels - 1) * math.prod((self.table.levels(z) for z in parents), start=1.0)
        penalty = self._formula.penalty(self._effective)
        return likelihood - (penalty * parameters if penalty else 0.0)


def _log_gamma_rise(log_prior: float, count: float) -> float:
    """Return lnΓ(a + count) − lnΓ(a), given ln a; a may be smaller than any float."""
    prior = math.exp(log_prior)
    if prior < 1e-290:  # Γ(a) is 1 / a, up to rounding
        return math.lgamma(count) + log_prior
    return math.lgamma(prior + count) - math.lgamma(prior)
