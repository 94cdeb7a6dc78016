"""Bounds on the false discovery rate: adjusted p-values and thresholds, against SciPy and by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from serape.independence.outcomes import Outcome
from serape.search import FalseDiscoveryRate
from serape.search.associations import Associations


def test_by_hand() -> None:
    """Of ten hypotheses at a rate of 0.1, the k-th smallest p is compared with k / 100: here 3 / 100 is the last."""
    log_p = np.log([0.03, 0.004, 0.021, 0.5])
    rate = FalseDiscoveryRate(0.1)
    assert math.exp(rate.log_threshold(log_p, 10)) == pytest.approx(0.03)
    assert rate.adjusted(log_p, 10) == pytest.approx([0.1, 0.04, 0.1, 1])
    # 1 + 1/2 + … + 1/10 = 2.929, so the limits are k / 293: 0.00341 is below the smallest p, and none is rejected.
    careful = FalseDiscoveryRate(0.1, "by")
    assert math.exp(careful.log_threshold(log_p, 10)) == pytest.approx(0.1 / 29.28968254)
    assert careful.adjusted(log_p, 10) == pytest.approx([0.2928968254, 0.1171587302, 0.2928968254, 1])


def test_a_p_at_its_limit_is_rejected() -> None:
    assert FalseDiscoveryRate(0.1).log_threshold(np.log([0.01, 0.1]), 2) == math.log(0.1)


def test_the_adaptive_rule_by_hand() -> None:
    """Two members have p between alpha / 2 and alpha, so (1 + 2) / 0.025 = 120 of 1,000 candidates count as false."""
    p = np.array([0.03, 0.0001, 0.04, 0.001, 0.02])
    rate = FalseDiscoveryRate(0.1, "adaptive", math.log(0.05))
    assert rate.adjusted(np.log(p), 1000) == pytest.approx([0.9, 0.012, 0.96, 0.06, 0.8])
    assert math.exp(rate.log_threshold(np.log(p), 1000)) == pytest.approx(2 * 0.1 / 120)
    # Never more than all candidates count as false: then it is Benjamini and Hochberg's rule.
    few = FalseDiscoveryRate(0.1, "adaptive", math.log(0.05))
    assert few.adjusted(np.log(p), 50) == pytest.approx(FalseDiscoveryRate(0.1).adjusted(np.log(p), 50))


@pytest.mark.parametrize("method", ["bh", "by"])
@pytest.mark.parametrize("hypotheses", [7, 40, 999, 1000, 30_000])
def test_against_scipy(method: Any, hypotheses: int) -> None:
    """Hypotheses without a p-value count as p = 1."""
    random = np.random.default_rng(hypotheses)
    for _ in range(50):
        p = random.random(7) ** 4
        if random.random() < 0.3:
            p[3] = p[5]
        full = np.concatenate([p, np.ones(hypotheses - 7)])
        expected = false_discovery_control(full, method=method)[:7]
        for q in (0.05, 0.3):
            rate = FalseDiscoveryRate(q, method)
            assert rate.adjusted(np.log(p), hypotheses) == pytest.approx(expected)
            kept = np.log(p) <= rate.log_threshold(np.log(p), hypotheses)
            np.testing.assert_array_equal(kept, expected <= q)


@pytest.mark.parametrize("method", ["bh", "by", "adaptive"])
def test_what_is_kept_has_an_adjusted_p_up_to_the_rate(method: Any) -> None:
    random = np.random.default_rng(1)
    kept_some = 0
    for _ in range(200):
        log_p = np.log(0.05 * random.random(random.integers(1, 9)) ** 6)
        rate = FalseDiscoveryRate(0.2, method, math.log(0.05))
        hypotheses = int(random.integers(len(log_p), 300))
        kept = log_p <= rate.log_threshold(log_p, hypotheses)
        np.testing.assert_array_equal(kept, rate.adjusted(log_p, hypotheses) <= 0.2)
        kept_some += int(kept.any())
    assert kept_some > 50


def test_nothing_to_judge() -> None:
    methods: tuple[Any, ...] = ("bh", "by", "adaptive")
    for method in methods:
        rate = FalseDiscoveryRate(0.1, method, math.log(0.05))
        assert len(rate.adjusted([], 5)) == 0
        assert rate.log_threshold([], 5) <= math.log(0.05)
        assert rate.log_threshold([], 0) == rate.log_threshold([], 1) == math.log(0.05)


def test_tiny_p_do_not_underflow() -> None:
    log_p = np.array([-2000.0, -math.inf, -1e5])
    rate = FalseDiscoveryRate(0.05)
    assert (log_p <= rate.log_threshold(log_p, 10**6)).all()
    assert rate.adjusted(log_p, 10**6).tolist() == [0, 0, 0]


def test_the_threshold_is_at_most_alpha() -> None:
    assert FalseDiscoveryRate(0.9, "bh", math.log(0.01)).log_threshold(np.log([0.001, 0.005]), 2) == math.log(0.01)


def test_what_is_above_alpha_is_kept_at_no_rate() -> None:
    rate = FalseDiscoveryRate(0.9, "bh", math.log(0.01))
    assert rate.adjusted(np.log([0.001, 0.005, 0.02]), 3).tolist() == pytest.approx([0.003, 0.0075, 1.0])


@pytest.mark.parametrize("method", ["bh", "by", "adaptive"])
def test_an_adjusted_p_is_never_below_p(method: Any) -> None:
    """With many strong members, fewer hypotheses count as true than are rejected."""
    p = np.concatenate([np.geomspace(1e-30, 1e-4, 400), [0.004, 0.009]])
    rate = FalseDiscoveryRate(0.003, method, math.log(0.01))
    adjusted = rate.adjusted(np.log(p), 500)
    assert (adjusted >= p).all()
    kept = np.log(p) <= rate.log_threshold(np.log(p), 500)
    np.testing.assert_array_equal(kept, adjusted <= 0.003)
    assert kept.sum() == 400


def test_associations_keep_the_weakest() -> None:
    kept = Associations()
    assert kept.get(1, 0) is None
    kept.note(1, 0, Outcome(10.0, 1.0, -5.0, reliable=True), (2,))
    kept.note(1, 0, Outcome(18.0, 1.0, -9.0, reliable=True), (3, 4))
    weakest = kept.get(1, 0)
    assert weakest is not None
    assert (weakest.log_p, weakest.statistic, weakest.given) == (-5.0, 10.0, (2,))
    assert kept.get(0, 1) is None


def test_the_adaptive_rule_without_a_level() -> None:
    """No p is above 1, so those above 1/2 are weak: (1 + 1) / 0.5 = 4 of 100 candidates count as false."""
    adjusted = FalseDiscoveryRate(0.1, "adaptive").adjusted(np.log([0.01, 0.7]), 100)
    assert adjusted == pytest.approx([0.04, 1])


def test_a_p_of_half_the_level_is_not_weak() -> None:
    half = math.log(0.05) - math.log(2)
    adjusted = FalseDiscoveryRate(0.1, "adaptive", math.log(0.05)).adjusted([half], 1000)
    assert adjusted == pytest.approx([1 / 0.025 * 0.025])
    weaker = FalseDiscoveryRate(0.1, "adaptive", math.log(0.05)).adjusted([half, half - 1], 1000)
    assert weaker[1] == pytest.approx(40 * 0.025 / math.e)


@pytest.mark.parametrize("n", [1, 2, 999, 1000, 1001, 50_000])
def test_the_harmonic_sum_is_exact(n: int) -> None:
    expected = n * math.fsum(1 / k for k in range(1, n + 1)) * math.exp(-50)
    assert FalseDiscoveryRate(0.1, "by").adjusted([-50.0], n) == pytest.approx([expected], rel=1e-12, abs=0)
