"""Tail probabilities, against SciPy where it reaches and mpmath where it does not."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from serape._core import chi_square_log_sf


def exact_log_sf(statistic: float, dof: float) -> float:
    with mpmath.workdps(50):
        a, y = mpmath.mpf(dof) / 2, mpmath.mpf(statistic) / 2
        if y < a / 2:
            return float(mpmath.log1p(-mpmath.gammainc(a, 0, y, regularized=True)))
        return float(mpmath.log(mpmath.gammainc(a, y, regularized=True)))


@pytest.mark.parametrize("dof", [1, 2, 3, 4, 5, 7, 10, 31, 100, 101, 144, 1000, 12345])
@pytest.mark.parametrize("ratio", [1e-3, 0.1, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 2, 5, 30, 500])
def test_against_mpmath(dof: int, ratio: float) -> None:
    statistic = dof * ratio
    assert chi_square_log_sf(statistic, dof) == pytest.approx(exact_log_sf(statistic, dof), rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("dof", [1, 2, 3, 8, 57, 100, 101, 500, 4000])
@pytest.mark.parametrize("statistic", [3000.0, 46_000.0, 1_400_000.0])
def test_far_tail(dof: int, statistic: float) -> None:
    """Down to p = 1e-300000, where SciPy has long given up."""
    if statistic < 2 * dof:
        return
    found = chi_square_log_sf(statistic, dof)
    assert found == pytest.approx(exact_log_sf(statistic, dof), rel=1e-12)


def test_beyond_scipy() -> None:
    assert stats.chi2.logsf(46_000.0, 1) == -math.inf
    assert chi_square_log_sf(46_000.0, 1) < -22_000  # p below 1e-9900


@given(st.floats(1e-6, 600), st.integers(1, 200))
def test_against_scipy(statistic: float, dof: int) -> None:
    expected = stats.chi2.logsf(statistic, dof)
    assert chi_square_log_sf(statistic, dof) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 300))
def test_monotone(a: float, b: float, dof: int) -> None:
    low, high = sorted((a, b))
    assert chi_square_log_sf(low, dof) >= chi_square_log_sf(high, dof) - 1e-12 * abs(chi_square_log_sf(low, dof))


def test_edges() -> None:
    assert chi_square_log_sf(0.0, 3) == 0.0
    assert chi_square_log_sf(-1.0, 3) == 0.0
    assert chi_square_log_sf(math.inf, 3) == -math.inf
    assert math.isnan(chi_square_log_sf(1.0, 0))
    assert math.isnan(chi_square_log_sf(math.nan, 3))


def test_published_critical_values() -> None:
    """Upper 5 % and 1 % points as printed in every statistics textbook."""
    for dof, five, one in [
        (1, 3.841, 6.635),
        (2, 5.991, 9.210),
        (5, 11.070, 15.086),
        (10, 18.307, 23.209),
        (30, 43.773, 50.892),
    ]:
        assert math.exp(chi_square_log_sf(five, dof)) == pytest.approx(0.05, abs=2e-5)
        assert math.exp(chi_square_log_sf(one, dof)) == pytest.approx(0.01, abs=5e-6)


def test_arrays() -> None:
    statistic, dof = np.array([1.0, 20.0, math.nan]), np.array([1.0, 3.0, 1.0])
    found = chi_square_log_sf(statistic, dof)
    assert found[:2].tolist() == [chi_square_log_sf(1.0, 1.0), chi_square_log_sf(20.0, 3.0)]
    assert math.isnan(found[2])


@pytest.mark.parametrize("power", [50, 53, 54, 60, 70, 200, 1000])
def test_at_the_mean_of_many_degrees_of_freedom(power: int) -> None:
    """Above 2⁵³ the next whole number is no other float, and sums that count by ones never end."""
    assert chi_square_log_sf(2.0**power, 2.0**power) == pytest.approx(math.log(0.5), abs=1e-6)
