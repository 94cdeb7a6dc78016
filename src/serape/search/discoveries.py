"""The false discovery rate: how many of the variables found are expected to be false.

Benjamini and Hochberg, *Controlling the false discovery rate*, JRSS B 1995; Benjamini and Yekutieli, *The control of
the false discovery rate in multiple testing under dependency*, Annals of Statistics 2001.

Of m hypotheses with the p-values p(1) ≤ … ≤ p(m), those up to the largest k with p(k) ≤ k q / m are rejected. The rate
of false ones among them is then at most q, on average, if the p-values are independent or positively dependent. With
q / (1 + 1/2 + … + 1/m) in place of q ("by") it is so for any dependence.

No p-value above q or above alpha is rejected, however few hypotheses count as true. So an adjusted p-value is never
below the p-value, and that of a p-value above alpha is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from serape.arrays import Floats


@dataclass(frozen=True, slots=True)
class FalseDiscoveryRate:
    """A bound on the false discovery rate. p-values are given as logarithms; hypotheses without one count as p = 1."""

    rate: float
    method: Literal["bh", "by", "adaptive"] = "bh"
    log_alpha: float = 0.0
    """The significance level of single tests: no p-value is larger."""

    def log_threshold(self, log_p: Iterable[float] | Floats, hypotheses: int) -> float:
        """Return the log p up to which hypotheses are rejected.

        If none is, it is the p that a single one would need.
        """
        ordered = np.sort(_values(log_p))
        factors = self._log_factors(ordered, hypotheses)
        rejected = np.flatnonzero(ordered + factors <= math.log(self.rate))
        factor = float(factors[rejected[-1]]) if len(rejected) else self._log_hypotheses(ordered, hypotheses)
        return min(math.log(self.rate) - factor, self.log_alpha)

    def strictest(self, hypotheses: int) -> float:
        """Return the log p that the only one of several hypotheses that is not true needs."""
        return self.log_threshold(np.zeros(hypotheses), hypotheses)

    def adjusted(self, log_p: Iterable[float] | Floats, hypotheses: int) -> Floats:
        """Return the adjusted p-values: the smallest rate at which each hypothesis is rejected, 1 if at none."""
        values = _values(log_p)
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        scaled = ordered + self._log_factors(ordered, hypotheses)
        found = np.empty(len(values))
        found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 0.0)
        found[values > self.log_alpha] = 0.0
        return np.array([math.exp(value) for value in found.tolist()], np.float64)  # as p is made of log p elsewhere

    def _log_factors(self, ordered: Floats, hypotheses: int) -> Floats:
        """Return, for k = 1, 2, … rejected hypotheses, the log of the factor of the largest of their p-values."""
        return np.maximum(self._log_hypotheses(ordered, hypotheses) - np.log(np.arange(1, len(ordered) + 1)), 0.0)

    def _log_hypotheses(self, ordered: Floats, hypotheses: int) -> float:
        """Return the log of the number of true null hypotheses that is reckoned with."""
        hypotheses = max(hypotheses, 1)
        if self.method == "by":
            return math.log(hypotheses * _harmonic(hypotheses))
        if self.method == "adaptive":
            half = self.log_alpha - math.log(2)
            weak = len(ordered) - int(np.searchsorted(ordered, half, side="right"))
            return min(math.log(1 + weak) - half, math.log(hypotheses))
        return math.log(hypotheses)


def _values(log_p: Iterable[float] | Floats) -> Floats:
    return log_p if isinstance(log_p, np.ndarray) else np.fromiter(log_p, np.float64)


@cache  # a search asks it at every step
def _harmonic(n: int) -> float:
    """Return 1 + 1/2 + … + 1/n."""
    if n < 1000:
        return math.fsum(1 / k for k in range(1, n + 1))
    return math.log(n) + float(np.euler_gamma) + 1 / (2 * n) - 1 / (12 * n**2)  # the rest is below 1e-14
