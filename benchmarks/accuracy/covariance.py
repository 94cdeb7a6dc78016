"""Rejection rates of the covariance measures, where x and y are independent given Z and where they are not."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape

Columns = dict[str, NDArray[Any]]
TESTS = ("gcm", "pcm", "normal-scores", "mixed")
ALPHAS = (0.05, 0.01, 0.001)


class Draw:
    """One sample: normal noise, and categories by thresholds."""

    def __init__(self, seed: list[int], rows: int) -> None:
        self.random = np.random.default_rng(seed)
        self.rows = rows

    @property
    def noise(self) -> NDArray[np.float64]:
        """New normal noise."""
        return self.random.normal(size=self.rows)

    def levels(self, score: NDArray[np.float64], shares: tuple[float, ...]) -> NDArray[Any]:
        """Return a score as levels "a", "b", … with these shares of the rows."""
        cuts = np.quantile(score, np.cumsum(shares)[:-1])
        return np.array(list("abcdefghij"))[np.searchsorted(cuts, score)]


def _independent() -> dict[str, Callable[[Draw], Columns]]:
    """Return samples of X ⊥ Y | Z; the other columns are Z."""

    def nothing(d: Draw) -> Columns:
        return {"x": d.noise, "y": d.noise}

    def linear(d: Draw) -> Columns:
        z = d.noise
        return {"x": z + d.noise, "y": z + d.noise, "z": z}

    def square(d: Draw) -> Columns:
        z = d.noise
        return {"x": z**2 + d.noise, "y": z**2 + d.noise, "z": z}

    def sine(d: Draw) -> Columns:
        z = d.noise
        return {"x": np.sin(2 * z) + 0.5 * d.noise, "y": np.sin(2 * z) + 0.5 * d.noise, "z": z}

    def product(d: Draw) -> Columns:
        z, w = d.noise, d.noise
        return {"x": z * w + d.noise, "y": z * w + d.noise, "z": z, "w": w}

    def five(d: Draw) -> Columns:
        z = {f"z{k}": d.noise for k in range(5)}
        common = sum(np.sin(v) for v in z.values())
        return {"x": common + d.noise, "y": common**2 / 2 + d.noise, **z}

    def cauchy(d: Draw) -> Columns:
        z = d.noise
        return {"x": z + d.random.standard_cauchy(d.rows), "y": z + d.random.standard_cauchy(d.rows), "z": z}

    def cauchy_cause(d: Draw) -> Columns:
        z = d.random.standard_cauchy(d.rows)
        return {"x": z + d.noise, "y": z + d.noise, "z": z}

    def spread(d: Draw) -> Columns:
        z = d.noise
        return {"x": z + np.exp(z / 2) * d.noise, "y": z + np.exp(z / 2) * d.noise, "z": z}

    def zeros(d: Draw) -> Columns:
        z = d.noise
        return {"x": np.maximum(z + d.noise, 0), "y": np.floor(np.exp(z / 2 + d.noise)), "z": z}

    def zero_cause(d: Draw) -> Columns:
        z = np.maximum(d.noise - 0.8, 0) * np.exp(d.noise)
        return {"x": z + d.noise, "y": z + d.noise, "z": z}

    def levels(d: Draw) -> Columns:
        z = d.noise
        return {"x": d.levels(z**2 + d.noise, (0.5, 0.3, 0.2)), "y": z**2 + d.noise, "z": z}

    def rare(d: Draw) -> Columns:
        z = d.noise
        x, y = (d.levels(z + d.noise, (0.8, 0.1, 0.06, 0.04)) for _ in "xy")
        return {"x": x, "y": y, "z": z}

    def mixed(d: Draw) -> Columns:
        z, w = d.noise, d.levels(d.noise, (0.3,) * 3 + (0.1,))
        common = np.where(w == "a", z, np.where(w == "b", z**2, -z))
        return {"x": common + d.noise, "y": d.levels(common + d.noise, (0.5, 0.3, 0.2)), "z": z, "w": w}

    return {
        "nothing": nothing,
        "linear z": linear,
        "z²": square,
        "sin 2z": sine,
        "z·w": product,
        "five z": five,
        "Cauchy noise": cauchy,
        "Cauchy z": cauchy_cause,
        "spread of z": spread,
        "zeros, counts": zeros,
        "zeros in z": zero_cause,
        "levels × number": levels,
        "rare levels": rare,
        "mixed Z": mixed,
    }


def _dependent() -> dict[str, Callable[[Draw], Columns]]:
    """Return samples in which y depends on x given Z."""

    def linear(d: Draw) -> Columns:
        z = d.noise
        x = z + d.noise
        return {"x": x, "y": 0.15 * x + z**2 + d.noise, "z": z}

    def square(d: Draw) -> Columns:
        z = d.noise
        x = np.sin(z) + d.noise
        return {"x": x, "y": 0.15 * x**2 + z + d.noise, "z": z}

    def wave(d: Draw) -> Columns:
        z = d.noise
        x = z + d.noise
        return {"x": x, "y": 0.3 * np.sin(3 * x) + z + d.noise, "z": z}

    def interaction(d: Draw) -> Columns:
        z, w = d.noise, d.noise
        x = z + d.noise
        return {"x": x, "y": 0.2 * x * w + z + d.noise, "z": z, "w": w}

    def spread(d: Draw) -> Columns:
        z = d.noise
        x = z + d.noise
        return {"x": x, "y": z + np.abs(x) * d.noise, "z": z}

    def levels(d: Draw) -> Columns:
        z = d.noise
        x = d.levels(z + d.noise, (0.5, 0.3, 0.2))
        return {"x": x, "y": z + 0.3 * (x == "b") + d.noise, "z": z}

    def both_levels(d: Draw) -> Columns:
        z, common = d.noise, d.noise
        x, y = (d.levels(z**2 + 0.5 * common + d.noise, (0.4, 0.3, 0.3)) for _ in "xy")
        return {"x": x, "y": y, "z": z}

    return {
        "y = x": linear,
        "y = x²": square,
        "y = sin 3x": wave,
        "y = x·w": interaction,
        "y = |x|·noise": spread,
        "levels → number": levels,
        "levels, levels": both_levels,
    }


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--tests", nargs="+", default=list(TESTS))
    parser.add_argument("--only", nargs="+", help="names of samples")
    parser.add_argument("--forest", action="store_true", help="gcm and pcm with random forests instead")


def run(options: argparse.Namespace) -> None:
    """Print the shares of p-values up to 0.05, 0.01 and 0.001, and milliseconds per test."""
    samples, sizes = (3, [200]) if options.quick else (options.samples, options.rows)
    tests = ["gcm", "pcm"] if options.forest else options.tests
    for title, makers in (("independent given Z", _independent()), ("dependent given Z", _dependent())):
        print(f"{title}: share of {samples:,} samples with p ≤ {', '.join(map(str, ALPHAS))}")
        for name, make in makers.items():
            if options.only and name not in options.only:
                continue
            for rows in sizes:
                found: dict[str, list[float]] = {test: [] for test in tests}
                for seed in range(samples):
                    table = serape.Table(make(Draw([seed, rows], rows)))
                    for test in tests:
                        found[test].append(_p(table, test, options.forest))
                rates = (f"{test} {_rates(p)}" for test, p in found.items() if not np.isnan(p).all())
                print(f"  {name:16} {rows:5}  " + "  ".join(rates), flush=True)


def _p(table: serape.Table, test: str, forest: bool) -> float:
    source: Any = table
    continuous = len(table.continuous) == len(table.names)
    if test == "normal-scores" and not continuous:
        return float("nan")
    if forest:
        from sklearn.ensemble import RandomForestRegressor

        kind = serape.GCM if test == "gcm" else serape.PCM
        source, test = kind(table, RandomForestRegressor(50, min_samples_leaf=5)), "auto"
    given = [name for name in table.names if name not in "xy"]
    found = serape.ci_test(source, "x", "y", given, test=test)
    return found.p if found.reliable else float("nan")


def _rates(p: list[float]) -> str:
    known = np.array(p)[~np.isnan(p)]
    return "/".join(f"{np.mean(known <= alpha):.3f}".lstrip("0") for alpha in ALPHAS)
