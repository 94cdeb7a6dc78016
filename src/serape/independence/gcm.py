"""The generalised covariance measure: are the residuals of x and y, each regressed on Z, correlated?

Shah & Peters, *The hardness of conditional independence testing and the generalised covariance measure*, Annals of
Statistics 48, 2020. With residuals r and s of x and y given Z and products R = r·s, T = √n·mean(R) / sd(R) is normal
if X ⊥ Y | Z, for any distribution, if the product of the errors of the two regressions vanishes faster than 1/√n.
One regression may be poor where the other is good. Given nothing, residuals are centred columns.

A categorical x or y has several columns, and every pair of columns a product. Then T² is Hotelling's quadratic form
n·mean(R)ᵀ S⁻¹ mean(R) with S the covariance matrix of the products, and F = T²·(n − d) / (d·n) follows the F
distribution with d and n − d degrees of freedom. Shah & Peters take the largest product and a bootstrap; the quadratic
form has no smallest p-value, so searches can rank strong dependences, and hardly depends on the level left out.
Products of levels that expect fewer than 5 rows together are left out: they are far from normal. If none is left, the
test is not reliable. Combinations of products without variance are left out of d.

The test sees what changes the conditional covariance of x and y, on average over Z: y = x and any monotone trend.
It is blind where the covariance is 0 or averages out: y = x² for symmetric x, y = x·z for symmetric z, and changes of
spread. `pcm` sees the first two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from serape import _core
from serape.independence.covariance_measure import CovarianceMeasure
from serape.independence.effects import Effects, residual_effects
from serape.independence.outcomes import Candidates, Floats

_SINGULAR = 1e-9  # a smaller eigenvalue of the correlations of the products is rounding error


class GCM(CovarianceMeasure):
    """The generalised covariance measure. It can be passed as `data`.

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
    >>> wave = np.random.default_rng(0).normal(size=(300, 3))
    >>> wave[:, 2] += np.sin(2 * wave[:, 0])
    >>> serape.ci_test(serape.GCM(wave), "x0", "x2", "x1").p < 0.001
    True
    """

    name = "gcm"
    has_effect = True

    def _answer(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float, float]:
        r, s = self.residual(x, given), self.residual(y, given)
        expected = self.rows * np.outer(self.shares(x), self.shares(y)).reshape(-1)
        products = (r[:, :, None] * s[:, None, :]).reshape(self.rows, -1)[:, expected >= self.minimum]
        if products.shape[1] == 0:
            return math.nan, math.nan, math.nan
        mean = products.mean(axis=0)
        covariance = np.atleast_2d(np.cov(products, rowvar=False, bias=True))
        spread = np.sqrt(np.diag(covariance))
        varies = spread > 0
        if not varies.any():
            return math.nan, math.nan, math.nan
        spread, mean = spread[varies], mean[varies]
        eigenvalues, vectors = np.linalg.eigh(covariance[np.ix_(varies, varies)] / np.outer(spread, spread))
        keep = eigenvalues > _SINGULAR * len(eigenvalues)
        along = vectors[:, keep].T @ (mean / spread)
        ratio = float((along**2 / eigenvalues[keep]).sum())
        dof = int(keep.sum())
        return self.rows * ratio, float(dof), _core.f_log_sf(ratio, 1.0, dof, self.rows - dof)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return Wilks' Λ of the residuals in bits, and the correlation of two single columns of residuals."""
        del statistic, dof
        order = tuple(sorted(map(int, given), key=self.variables.__getitem__))
        return residual_effects(self.residual(target, order), (self.residual(int(x), order) for x in candidates))
