"""The tails that the test by regressions needs: against mpmath and SciPy."""

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from serape._core import f_log_sf
from serape.independence.regression import combined


class TestTails:
    @pytest.mark.parametrize("ratio", [1e-9, 0.01, 0.9, 1.1, 4.0, 300.0, 1e5])
    @pytest.mark.parametrize("more", [1, 2, 7, 40, 400])
    @pytest.mark.parametrize("rest", [1, 2, 5, 29, 400])
    def test_against_mpmath(self, ratio: float, more: int, rest: int) -> None:
        explained = ratio * more / rest  # F = ratio
        found = f_log_sf(explained, 1.0, more, rest)
        assert found == pytest.approx(self.exact(explained, more, rest), rel=1e-11, abs=1e-14)

    @given(st.floats(1e-6, 20), st.sampled_from([1, 2, 3, 40]), st.sampled_from([3, 400, 9000, 10**6, 10**7]))
    @settings(max_examples=60, deadline=None)
    def test_against_scipy(self, ratio: float, more: int, rest: int) -> None:
        expected = stats.f.logsf(ratio, more, rest)
        assert f_log_sf(ratio * more / rest, 1.0, more, rest) == pytest.approx(expected, rel=1e-8, abs=1e-12)

    @pytest.mark.parametrize("explained", [0.5, 20.0, 1e5])
    @pytest.mark.parametrize(("more", "rest"), [(1, 20_000), (12, 30_000), (1, 998)])
    def test_far(self, explained: float, more: int, rest: int) -> None:
        """Down to p below 1e-10000."""
        assert f_log_sf(explained, 1.0, more, rest) == pytest.approx(self.exact(explained, more, rest), rel=1e-12)
        assert f_log_sf(1e5, 1.0, 1, 20_000) < -23_026

    @staticmethod
    def exact(explained: float, more: int, rest: int) -> float:
        """Sum the tail's hypergeometric series, or the other tail's where that one is short."""
        with mpmath.workdps(40):
            a, b = mpmath.mpf(rest) / 2, mpmath.mpf(more) / 2
            y = mpmath.mpf(explained) / (1 + mpmath.mpf(explained))
            x = 1 - y

            def log_part(a: mpmath.mpf, b: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
                front = a * mpmath.log(x) + b * mpmath.log(1 - x) - mpmath.log(a)
                front += mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)
                term = total = mpmath.mpf(1)
                k = 0
                while term > total * mpmath.mpf(10) ** -30:
                    term *= (a + b + k) / (a + 1 + k) * x
                    total += term
                    k += 1
                return front + mpmath.log(total)

            if x < (a + 1) / (a + b + 2):
                return float(log_part(a, b, x))
            return float(mpmath.log1p(-mpmath.exp(log_part(b, a, y))))

    def test_edges(self) -> None:
        assert f_log_sf(0.0, 1.0, 2, 10) == 0.0
        assert f_log_sf(1e-300, 1.0, 2, 10) == pytest.approx(0.0, abs=1e-12)

    def test_combination(self) -> None:
        for one, other, p in [(0.01, 0.5, 0.02), (0.3, 0.4, 0.4), (0.2, 0.2, 0.2), (0.9, 1.0, 1.0)]:
            assert math.exp(combined(math.log(one), math.log(other))) == pytest.approx(p)
            assert combined(math.log(one), math.log(other)) == combined(math.log(other), math.log(one))
        assert combined(-9000.0, -2.0) == math.log(2) - 9000
