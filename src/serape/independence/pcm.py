"""The projected covariance measure: does x help to predict the mean of y given Z, in any way?

Lundborg, Kim, Shah & Samworth, *The projected covariance measure for assumption-lean model-free variable significance
testing*, Annals of Statistics 52, 2024. In a training set, y is regressed on x and Z, and the predictions on Z; the
difference f is the part of the prediction that only x gives. In other rows, r are the residuals of y given Z and s
those of f, and T = √n·mean(r·s) / sd(r·s) is normal if X ⊥ Y | Z. Dependence makes it positive, so the test is
one-sided. For a categorical y the products of its columns are added up. The variance of y given x and Z, by which the
paper may divide f, is taken as constant: this changes power only.

Cross-fitted: each of K folds is the test set once, and the other rows the training set. The K values of T are not
independent, because a pair of folds i, j counts twice, with f from i and r from j and the other way round. Their
correlation is at most 1 / (K − 1) for regressions that are linear in the response, so that the sum has a variance of
at most 2 K. p is that of the sum divided by √(2 K). (Divided by √K, as if they were independent, about 15 % of the
p-values of independent variables are below 0.05.)

The measure is not symmetric. It is computed for y given x and for x given y, and Simes' method combines the p-values:
p = min(2 min(p1, p2), max(p1, p2)). So x and y may change places. The statistic is −2 ln p with 2 degrees of freedom.

The test sees any change of the mean of y with x, or of x with y, given Z: y = x², y = x·z. It is blind to changes of
spread alone, such as y = x·noise for x and noise symmetric around 0. Where `gcm` sees a dependence, it needs fewer
rows for it.
"""

from __future__ import annotations

import math

from serape import _core
from serape.independence.covariance_measure import CovarianceMeasure
from serape.independence.regression import combined


class PCM(CovarianceMeasure):
    """The projected covariance measure, in both directions. It can be passed as `data`.

    Parameters
    ----------
    data
        Anything a `Table` can be made of.
    regressor
        Any scikit-learn regressor, for example `RandomForestRegressor()`; by default a ridge regression on splines,
        which needs no scikit-learn.
    folds
        The number of folds for cross-fitting.
    random_state
        The seed that divides the rows; a regressor without a random state gets it, too.
    tails
        Values farther than this many standard deviations from the median are drawn in; None leaves them.
    minimum
        The number of rows per column that a reliable test needs.

    Examples
    --------
    >>> bowl = np.random.default_rng(0).normal(size=(300, 2))
    >>> bowl[:, 1] += bowl[:, 0] ** 2
    >>> serape.ci_test(serape.PCM(bowl), "x0", "x1").p < 0.001
    True
    """

    name = "pcm"

    def _answer(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float, float]:
        one, other = (_log_upper_tail(self.measure(*pair, given)) for pair in ((x, y), (y, x)))
        log_p = combined(one, other)
        return -2.0 * log_p, 2.0, log_p

    def measure(self, x: int, y: int, given: tuple[int, ...]) -> float:
        """Return the sum of T over the folds, divided by √(2 K), for the mean of y given x and the set."""
        responses, residual = self.responses(y), self.residual(y, given)
        predicted = self.everywhere(self._ordered(x, given), responses)
        expected = self.held_out(given, predicted)
        total = 0.0
        for k, own in enumerate(predicted):
            rows = self._fold == k
            products = (residual[rows] * (own[rows] - expected[rows])).sum(axis=1)
            spread = float(products.std())
            if spread > 0:
                total += math.sqrt(len(products)) * float(products.mean()) / spread
        return total / math.sqrt(2 * self.folds)

    def _ordered(self, x: int, given: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted((x, *given), key=self.variables.__getitem__))


def _log_upper_tail(t: float) -> float:
    """Return the logarithm of the probability that a normal variable exceeds t."""
    two_sided = _core.chi_square_log_sf(t * t, 1.0)
    return two_sided - math.log(2.0) if t > 0 else math.log1p(-0.5 * math.exp(two_sided))
