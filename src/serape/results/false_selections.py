"""Upper bounds on the expected number of false selections of a search that is repeated in halves of the rows.

A candidate counts as false if a search in half of the rows finds it no more often than it finds candidates on average:
with probability at most θ = q / p, where q is the expected number of candidates found in a half, and p their number.
The draws are B pairs of halves that have no row in common, and a candidate is selected if it is found in at least a
share π of the 2B draws. Published bounds on the expected number of false selections:

- "none": q² / ((2π − 1) p), for π > 1/2. Shah and Samworth 2013, Theorem 1, without any assumption. Meinshausen and
  Bühlmann 2010, Theorem 1, have the same number for all variables that do not belong to the answer, if those are
  exchangeable and the search is no worse than guessing.
- "unimodal": Shah and Samworth 2013, Theorem 2.
- "r-concave": Shah and Samworth 2013, equation 8, with r = −1/2 and −1/4.

Papers: Meinshausen and Bühlmann, *Stability selection*, JRSS B 72 (2010). Shah and Samworth, *Variable selection with
error control: another look at stability selection*, JRSS B 75 (2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError, shown

Assumption = Literal["none", "unimodal", "r-concave"]
ASSUMPTIONS: tuple[Assumption, ...] = get_args(Assumption)
_WORDS: dict[Assumption, str] = {
    "none": "whatever the distribution of the shares",
    "unimodal": "if the share of the pairs in which both halves find a false candidate has a unimodal distribution",
    "r-concave": (
        "if, for a false candidate, the share of the draws that find it has an r-concave distribution with r = −1/4, "
        "and the share of the pairs in which both halves find it one with r = −1/2"
    ),
}


@dataclass(frozen=True)
class FalseSelections:
    """An upper bound on the expected number of false selections at a threshold. Printed, it states its assumptions.

    Examples
    --------
    >>> found = serape.stability(patients, "HeartDisease", draws=20, algorithm="hiton-mb", alpha=0.01)
    >>> bound = found.false_selections(0.9)
    >>> round(bound.bound, 2), bound.candidates
    (1.49, 13)
    """

    threshold: float
    """The least share of the draws in which a selected candidate is found."""
    bound: float
    assume: Assumption
    mean_found: float
    """The mean number of candidates found in a draw, with which the bound estimates the expected number."""
    candidates: int
    pairs: int
    """The number of pairs of halves."""

    @property
    def assumptions(self) -> str:
        """What is counted and what is assumed, in words."""
        return (
            "A false selection is a candidate that a search in half of the rows finds with a probability of at most "
            f"{self.mean_found:.3g}/{self.candidates:,}, the mean number found in a draw divided by the number of "
            f"candidates. The bound holds {_WORDS[self.assume]}. Rows (or groups of rows) are independent and have the "
            "same distribution."
        )

    def __str__(self) -> str:
        return (
            f"At a threshold of {self.threshold:.3g}, at most {self.bound:.3g} false selections are expected. "
            f"{self.assumptions}"
        )


def check_assumption(assume: str) -> None:
    """Refuse an unknown assumption."""
    if assume not in ASSUMPTIONS:
        raise OptionError(f"assume={shown(assume)} is not known; use one of {', '.join(map(repr, ASSUMPTIONS))}")


def max_false_selections(q: float, p: int, count: int, pairs: int, assume: Assumption) -> float:
    """Return the least of the bounds that hold for candidates found in at least `count` of the 2 · `pairs` draws.

    By Markov's inequality the expected number is at most q / π. The bound without assumptions holds under any.
    """
    if p == 0 or q == 0:
        return 0.0
    if pairs == 0 or count <= 0:
        return float(p)
    bounds = [float(p), 2 * pairs * q / count]
    if count > pairs:
        bounds.append(worst_case(q, p, count / (2 * pairs)))
    if assume == "unimodal":
        bounds.append(unimodal(q, p, count, pairs))
    elif assume == "r-concave":
        bounds.append(r_concave(q, p, count, pairs))
    return min(bounds)


def worst_case(q: float, p: int, threshold: float) -> float:
    """Return the bound without assumptions."""
    return q**2 / ((2 * threshold - 1) * p)


def unimodal(q: float, p: int, count: int, pairs: int) -> float:
    """Return the bound under unimodality, or infinity where the theorem does not apply.

    It applies for q / p up to 1/√3, at thresholds 1/2 + 1/B, 1/2 + 3/(2B), …, 1 above a limit that depends on q / p.
    """
    threshold, theta = count / (2 * pairs), q / p
    limit = min(0.5 + theta**2, 0.5 + 1 / (2 * pairs) + 0.75 * theta**2)
    if theta > 1 / math.sqrt(3) or count < pairs + 2 or threshold <= limit:
        return math.inf
    if 2 * count <= 3 * pairs:
        factor = 1 / (2 * (2 * threshold - 1 - 1 / (2 * pairs)))
    else:
        factor = 4 * (1 - threshold + 1 / (2 * pairs)) / (1 + 1 / pairs)
    return factor * q**2 / p


def r_concave(q: float, p: int, count: int, pairs: int) -> float:
    """Return the bound under r-concavity.

    The share of the pairs in which both halves find a false candidate has a mean of at most θ², and is at least
    2π − 1 if the candidate is selected; the share of the draws has a mean of at most θ, and is at least π.
    """
    theta = q / p
    both = r_concave_tail(theta**2, count - pairs, pairs, -1 / 2)
    return p * min(both, r_concave_tail(theta, count, 2 * pairs, -1 / 4))


def r_concave_tail(mean: float, count: int, steps: int, r: float) -> float:
    """Return the largest P(X ≥ count / steps) of r-concave X on 0, 1 / steps, …, 1 with at most this mean; r < 0.

    Where `count` is at most 2 · `mean` · `steps`, rounded up, it is 1. Otherwise a maximiser has probabilities
    proportional to (a + i)^(1/r) for i = 0, …, k, a smaller one for k + 1, and this mean (Shah and Samworth 2013,
    Theorem 3). The position a decides about k and the last probability, so the maximum is one over a: the best point
    of a grid on a log scale, and of ever finer grids around it.
    """
    if count <= math.ceil(2 * mean * steps):
        return 1.0
    grid = np.linspace(math.log(1e-9), math.log(1e7), 500)
    best = 0.0
    while True:
        tails = _tails(np.exp(grid), mean * steps, count, steps, r)
        at = int(tails.argmax())
        best = max(best, float(tails[at]))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        if high - low < 1e-12:
            return best
        grid = np.linspace(low, high, 33)


def _tails(a: NDArray[np.float64], mean: float, count: int, steps: int, r: float) -> NDArray[np.float64]:
    """Return, for each a, the probability of `count` or more, where the mean is given on the scale 0, 1, …, steps."""
    at = np.arange(steps + 1)
    weights = (1 + at / a[:, None]) ** (1 / r)
    total, moment = np.cumsum(weights, axis=1), np.cumsum(at * weights, axis=1)
    k = (moment <= mean * total).sum(axis=1) - 1  # the mean of 0, …, k grows with k
    row = np.arange(len(a))
    inside, below = total[row, k], total[row, np.minimum(k, count - 1)]
    last = np.where(k < steps, (mean * inside - moment[row, k]) / (k + 1 - mean), 0.0)
    return np.asarray((inside - below + np.where(k + 1 >= count, last, 0.0)) / (inside + last))
