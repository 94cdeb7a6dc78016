"""Bounds on the expected number of false selections: published values, and simple versions."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from serape import OptionError, Stability
from serape.results.false_selections import (
    ASSUMPTIONS,
    max_false_selections,
    r_concave,
    r_concave_tail,
    unimodal,
    worst_case,
)

# --- published values ------------------------------------------------------------------------------------------------
# Printed by the R package stabs (its tests/regtest-inference.Rout.save): p = 100, threshold 0.6, 50 pairs, q = 1 … 10.
NONE = [0.05, 0.2, 0.45, 0.8, 1.25, 1.8, 2.45, 3.2, 4.05, 5.0]
UNIMODAL = [0.02631579, 0.1052632, 0.2368421, 0.4210526, 0.6578947, 0.9473684, 1.289474, 1.684211, 2.131579, 2.631579]
R_CONCAVE = [0.006971364, 0.03342845, 0.08691176, 0.1637231, 0.2605329, 0.3820466, 0.5295188, 0.7042719, 0.9077127,
             1.141338]  # fmt: skip


@pytest.mark.parametrize("q", range(1, 11))
def test_bounds_of_stabs(q: int) -> None:
    assert worst_case(q, 100, 0.6) == pytest.approx(NONE[q - 1])
    assert unimodal(q, 100, 60, 50) == pytest.approx(UNIMODAL[q - 1], rel=1e-6)
    # It maximises numerically, and misses maxima at the end of an interval by up to 0.3 %; ours must not be below.
    assert r_concave(q, 100, 60, 50) == pytest.approx(R_CONCAVE[q - 1], rel=1e-5 if q > 3 else 4e-3)
    assert r_concave(q, 100, 60, 50) > R_CONCAVE[q - 1]


@pytest.mark.parametrize(("q", "count", "bound"), [(6, 60, 0.174), (7, 60, 0.248), (7, 61, 0.219), (7, 62, 0.196)])
def test_r_concave_bounds_for_200_candidates(q: int, count: int, bound: float) -> None:
    assert round(r_concave(q, 200, count, 50), 3) == bound


def test_unimodal_bounds_above_three_quarters() -> None:
    assert unimodal(3, 10, 96, 50) == pytest.approx(0.176, abs=5e-4)
    found = result(mean_found=7.0, candidates=200)
    assert found.threshold(0.2) == 0.81
    assert found.threshold(0.2, "r-concave") == 0.62


# --- the theorems ----------------------------------------------------------------------------------------------------


def test_unimodality_where_it_applies() -> None:
    """At thresholds 1/2 + 1/B and above, beyond a limit; q / p up to 1/√3."""
    assert unimodal(1, 100, 51, 50) == math.inf
    assert unimodal(1, 100, 52, 50) < math.inf
    assert unimodal(58, 100, 100, 50) == math.inf
    assert unimodal(57, 100, 100, 50) < math.inf
    assert unimodal(40, 100, 63, 50) == math.inf  # 0.5 + 0.01 + 0.75 · 0.16 = 0.63
    assert unimodal(40, 100, 64, 50) < math.inf


@pytest.mark.parametrize("steps", [6, 15])
@pytest.mark.parametrize("mean", [0.02, 0.1, 0.2])
def test_unimodal_tails_are_those_of_a_linear_program(steps: int, mean: float) -> None:
    """The mode is at one of the values; given the mode, the largest tail is a linear program."""
    from scipy.optimize import linprog

    theta = math.sqrt(mean)
    values = np.arange(steps + 1) / steps
    for count in range(steps + 2, 2 * steps + 1):
        bound = unimodal(theta * 100, 100, count, steps) / 100
        if bound == math.inf:
            continue
        best = 0.0
        for mode in range(steps + 1):
            falls = np.diff(np.eye(steps + 1), axis=0)
            falls[:mode] *= -1  # up to the mode, probabilities rise
            asked = linprog(
                -(values >= (count - steps) / steps - 1e-9).astype(float),
                np.vstack([falls, values]), [*np.zeros(steps), mean], np.ones((1, steps + 1)), [1.0],
            )  # fmt: skip
            best = max(best, -float(asked.fun or 0)) if asked.status == 0 else best
        assert best <= bound + 1e-9
        if bound < 1:
            assert best == pytest.approx(bound, rel=0.35)  # the theorem is close to what is possible


def r_concave_distribution(
    random: np.random.Generator, steps: int, r: float, mean: float
) -> NDArray[np.float64] | None:
    """Return a random r-concave distribution on 0, …, steps; None if its mean is above `mean` (as a share)."""
    bends = random.exponential(size=steps - 1) * (random.random(steps - 1) < random.choice([0.05, 0.3]))
    slope = random.normal() * random.choice([0.1, 1, 10])
    powers = np.cumsum([0, slope, *(slope + np.cumsum(bends))])  # convex: f^r for r < 0
    f = (powers - powers.min() + random.exponential() * random.choice([0.01, 0.1, 1, 10])) ** (1 / r)
    end = random.integers(1, steps + 1)
    f[end + 1 :] = 0
    f[end] *= random.random()
    f /= f.sum()
    return f if f @ np.arange(steps + 1) <= mean * steps else None


@pytest.mark.parametrize("r", [-1 / 2, -1 / 4])
@pytest.mark.parametrize("mean", [0.01, 0.1])
def test_no_r_concave_distribution_has_a_larger_tail(r: float, mean: float) -> None:
    steps, random = 12, np.random.default_rng(0)
    bounds = np.array([r_concave_tail(mean, count, steps, r) for count in range(steps + 1)])
    assert (np.diff(bounds) <= 0).all()
    largest = np.zeros(steps + 1)
    tried = 0
    for _ in range(4000):
        f = r_concave_distribution(random, steps, r, mean)
        if f is not None:
            tried += 1
            tails = np.cumsum(f[::-1])[::-1]
            largest = np.maximum(largest, tails)
            assert (tails <= bounds + 1e-9).all()
    assert tried > 200
    beyond = math.ceil(2 * mean * steps) + 1
    assert (largest[beyond:] > 0.5 * bounds[beyond:]).any()  # the bound is not far from what is possible


def test_bounds_fall_with_the_threshold_and_the_assumptions() -> None:
    for q, p, pairs in ((1.5, 20, 10), (8, 25, 50), (12, 13, 7), (40, 4000, 50)):
        for assume in ASSUMPTIONS:
            bounds = [max_false_selections(q, p, count, pairs, assume) for count in range(2 * pairs + 1)]
            assert all(a >= b - 1e-12 for a, b in pairwise(bounds))
            assert 0 < bounds[-1] <= bounds[0] == p
            assert all(b <= max_false_selections(q, p, c, pairs, "none") for c, b in enumerate(bounds))
    assert max_false_selections(0.0, 10, 20, 10, "unimodal") == 0


def test_many_draws() -> None:
    """With the number of pairs, bounds approach those of continuous distributions, and stay finite."""
    assert unimodal(5, 100, 12_000, 10_000) == pytest.approx(25 / 100 / (2 * 0.2), rel=1e-3)
    assert 0 < r_concave(5, 100, 1200, 1000) < unimodal(5, 100, 1200, 1000)


# --- results ---------------------------------------------------------------------------------------------------------


def result(**more: Any) -> Stability:
    fields: dict[str, Any] = {
        "target": "t", "finds": "blanket", "sampling": "half", "draws": 100, "pairs": 50, "rows": 500, "mean_size": 5.0,
        "mean_found": 5.0, "candidates": 100, "frequencies": {"a": 1.0, "b": 0.7, "c": 0.52, "d": 0.0}, "test": "g2",
        "algorithm": "iamb", "alpha": 0.05, "random_state": 0, "seconds": 0.1, "complete": True,
    }  # fmt: skip
    return Stability(**{**fields, **more})


def test_a_threshold_for_a_number_of_false_selections() -> None:
    found = result()
    assert found.false_selections(0.6, "none").bound == pytest.approx(1.25)
    assert found.false_selections(0.6).bound == pytest.approx(0.6578947)
    assert found.threshold(1) < 0.6 == found.threshold(0.66) < found.threshold(0.65)
    least = found.threshold(0.3)
    assert found.false_selections(least).bound <= 0.3 < found.false_selections(least - 0.01).bound
    assert found.stable(max_false=0.66) == found.stable(0.6) == ("a", "b")
    assert found.stable(max_false=0.3, assume="r-concave") == ("a", "b")
    assert found.stable(max_false=0.3, assume="none") == ("a",)
    assert (found.threshold(0.1, "none"), found.stable(max_false=0.1, assume="none")) == (math.inf, ())
    assert "threshold" not in " ".join(text.get_text() for text in found.plot(max_false=1e-9).texts)


def test_thresholds_between_two_numbers_of_draws() -> None:
    found = result(draws=10, pairs=5, frequencies={"a": 1.0})
    assert found.false_selections(0.71).bound == found.false_selections(0.8).bound < found.false_selections(0.7).bound


def test_a_draw_without_its_pair_counts_as_if_it_found_everything() -> None:
    odd = result(draws=101)
    assert odd.false_selections(61 / 101).bound == result().false_selections(0.6).bound
    alone = result(draws=4, pairs=1, complete=False)
    assert alone.false_selections(1.0).bound == max_false_selections(5.0, 100, 2, 1, "unimodal")


def test_assumptions_in_words() -> None:
    found = result()
    said = str(found.false_selections(0.9))
    assert said.startswith("At a threshold of 0.9, at most 0.108 false selections are expected.")
    assert "at most 5/100" in said
    assert "unimodal" in said
    assert "whatever" in found.false_selections(0.9, "none").assumptions
    assert "r-concave" in found.false_selections(0.9, "r-concave").assumptions
    assert "at most 0.66 at threshold 0.6, 0.26 at threshold 0.75, 0.11 at threshold 0.9" in str(found)
    content = found.to_dict()
    assert {"assume": "none", "threshold": 0.6, "expected_false": pytest.approx(1.25)} in content["bounds"]
    assert len(content["bounds"]) == 9


def test_refusals() -> None:
    bootstrap = replace(result(), sampling="bootstrap", pairs=0)
    assert "false selections" not in str(bootstrap)
    assert bootstrap.to_dict()["bounds"] == []
    bootstrap.plot(threshold=0.9)
    with pytest.raises(OptionError, match="no bound on false selections for bootstraps"):
        bootstrap.stable(max_false=1)
    with pytest.raises(OptionError, match="assume='normal' is not known"):
        result().false_selections(0.9, "normal")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="max_false must be above 0"):
        result().stable(max_false=0)
    with pytest.raises(OptionError, match="two ways"):
        result().stable(0.9, max_false=1)


# --- noise -----------------------------------------------------------------------------------------------------------


def marginally_dependent(search: serape.Search, target: int) -> list[int]:
    return search.dependents(target, search.candidates(target))


def test_false_selections_among_noise_respect_the_bounds() -> None:
    """All columns are independent of the target, so whatever is selected is false; the mean is over 30 tables."""
    random = np.random.default_rng(0)
    thresholds = (0.4, 0.55, 0.6, 0.75)
    selected = np.zeros(len(thresholds))
    bounds = {assume: np.zeros(len(thresholds)) for assume in ASSUMPTIONS}
    for _ in range(30):
        noise = random.integers(0, 2, (120, 80)).astype(np.uint8)
        found = serape.stability(noise, 0, draws=20, algorithm=marginally_dependent, alpha=0.2)
        assert (found.candidates, found.pairs) == (79, 10)
        selected += [len(found.stable(at)) / 30 for at in thresholds]
        for assume, sums in bounds.items():
            sums += [found.false_selections(at, assume).bound / 30 for at in thresholds]
    assert selected[0] > 1  # there is noise to select
    for sums in bounds.values():
        assert (selected <= sums).all()
