"""Permutation p-values of G² without a smallest value: below it, a fitted chi-square distribution continues them.

x is permuted within the strata of Z, as in `g2-permutation`, up to 200 times. At the tenth permutation whose G² is at
least that of the data the test stops with p = 10 / (permutations so far); with one to nine of them
p = (1 + exceedances) / 201. With none, the mean m and the variance v of the permuted G² give a chi-square distribution
with 2m²/v degrees of freedom, scaled by v/2m, and p is its tail above the G² of the data, at most 1 / 201.

So p is valid at any alpha from 0.005 on, like that of `g2-permutation`, takes at most a fifth of its permutations, and
still ranks strong associations: `g2-permutation` gives all of them the same p. Below 0.005 it is approximate.

Knijnenburg, Wessels, Reinders and Shmulevich (*Fewer permutations, more accurate P-values*, Bioinformatics 2009)
continue a permutation test by a fitted tail. Tsamardinos and Borboudakis (*Permutation testing improves Bayesian
network learning*, ECML PKDD 2010) fit a chi-square distribution to the mean of the permuted statistics and use it for
all p-values. In sparse tables G² varies less than a chi-square variable of the same mean, so the variance is fitted
too.

The random numbers of a question depend on the seed and the names of its variables. Reliability is that of
`g2-permutation`.
"""

from __future__ import annotations

import math

import numpy as np

from serape import _core
from serape.data.table import Table
from serape.independence.outcomes import Floats
from serape.independence.permutation import TIE, DrawStatistics, Permutation


class SemiParametric(Permutation):
    """Permutation p-values of G², continued by the scaled chi-square distribution with the moments of permuted G²."""

    def __init__(self, table: Table, permutations: int = 200, seed: int = 0) -> None:
        super().__init__(table, "g2", permutations, seed, stop_early=True)
        self.name = "g2-semiparametric"

    def _log_p(self, draw: DrawStatistics, statistic: float) -> float:
        drawn: list[Floats] = []

        def keep(batch: int) -> Floats:
            drawn.append(draw(batch))
            return drawn[-1]

        counted = super()._log_p(keep, statistic)
        if counted > -math.log(1 + self.permutations):
            return counted
        observed, permuted = drawn[0], np.concatenate(drawn[1:])
        # Half of G² but for a constant, which permuting does not change.
        values = statistic + 2.0 * (permuted - observed)
        if np.ptp(values) <= TIE * max(statistic, 1.0):  # all permutations are alike
            return counted
        fitted = scaled_chi_square_log_sf(np.array([statistic]), values.mean(keepdims=True), values.var(keepdims=True))
        return min(counted, float(fitted[0]))


def scaled_chi_square_log_sf(statistic: Floats, mean: Floats, variance: Floats) -> Floats:
    """Return the logarithms of the tail probabilities of scaled chi-square distributions with these moments."""
    scale = 2.0 * mean / variance
    return _core.chi_square_log_sf(scale * statistic, scale * mean)
