"""Speed of a screen: one conditioning set, many candidates, through the Python call, on one thread.

Beside each figure: what NumPy's bincount does in the same run, and the share reached of the limit: what hand-tuned
prototypes of the counting loops alone did on a Zen 4 core at 3.6 GHz with AVX-512, or, where none was measured, a cost
model fitted to them. The model takes memory to be faster than it is for 20,000 rows. On another machine, read the
share as a comparison with that one.

    python benchmarks/screen.py [--quick] [--thrombin FILE]      (or: make bench-kernels)

--thrombin also screens a real table of 139,351 columns: an .npz with `X` (packed bits by row) and `y`.
Results go to the screen and, as JSON, to benchmarks/out/screen.json.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import serape
from serape import _core
from serape.independence import G2

Codes = NDArray[np.int64]


def median_seconds(work: Callable[[], object], at_least: float = 0.2, repeats: int = 5) -> float:
    """Return the median time of a piece of work, repeated until enough time has passed."""
    work()
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < repeats or time.perf_counter() - started < at_least:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
        if time.perf_counter() - started > 3.0 and len(times) >= 3:
            break
    return statistics.median(times)


MEASURED_LIMIT = {
    (2, 5000, 2, 37): 13e6,
    (2, 5000, 2, 10_000): 61e6,
    (2, 20_000, 3, 10_000): 4.1e6,
    (3, 5000, 2, 10_000): 11e6,
}
"""Tests a second of the best prototype, by levels, rows, size of the conditioning set and candidates."""


def limit_nanoseconds(levels: int, rows: int, given: int, candidates: int) -> float:
    """Return the least time of a test: measured, or by the cost model the best of scattering, planes and panels."""
    if (levels, rows, given, candidates) in MEASURED_LIMIT:
        return 1e9 / MEASURED_LIMIT[levels, rows, given, candidates]
    cells: int = levels ** (given + 1)
    lines = math.ceil(rows / 512)
    lookups = cells * levels + cells
    panels = math.ceil(candidates * (levels - 1) / 512)
    data = panels * rows * 64
    row = 1.0 if data <= 1e6 else 1.4 if data <= 32e6 else 2.55
    line = 0.42 if data <= 32e3 else 0.55 if data <= 1e6 else 0.66
    scatter = 0.375 * rows + 0.4 * cells * levels + lookups * 0.24 + 2.4 * rows / candidates
    planes = (levels - 1) * cells * (lines * line + 1.1) + lookups * 0.24 + 0.05 * rows * (given + 1) / candidates
    panel = (panels * (rows * row + 32 * cells) + 2.4 * rows) / candidates + lookups * 0.35
    return min(scatter, planes, panel)


def numpy_screen(target: Codes, given: list[Codes], candidates: Codes, levels: int) -> NDArray[np.float64]:
    """Return G² of every candidate by NumPy's bincount."""
    stratum = np.zeros(len(target), np.int64)
    for z in given:
        stratum = stratum * levels + z
    strata = levels ** len(given)
    cell = (stratum * levels + target) * levels
    found = np.empty(candidates.shape[1])
    for k in range(candidates.shape[1]):
        counts = np.bincount(cell + candidates[:, k], minlength=strata * levels * levels)
        n = counts.reshape(strata, levels, levels).astype(np.float64)
        expected = n.sum(axis=2, keepdims=True) * n.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = n * np.log(n * n.sum(axis=(1, 2), keepdims=True) / expected)
        found[k] = 2 * np.nansum(terms)
    return found


def synthetic(quick: bool) -> list[dict[str, float]]:
    """Measure tables of independent columns."""
    print("levels   rows |Z| candidates  M tests/s     NumPy   ratio of limit")
    results = []
    for levels in (2, 3):
        for rows in (500, 5000) if quick else (500, 5000, 20_000):
            random = np.random.default_rng([levels, rows])
            for count in (37, 10_000) if quick else (37, 10_000, 139_351):
                data = random.integers(levels, size=(rows, count + 4), dtype=np.uint8)
                table = serape.Table(data)
                test = G2(table, dof="full", reliability=None)
                target = count + 3
                candidates = np.arange(count, dtype=np.uint32)
                for size in range(4):
                    given = list(range(count, count + size))
                    seconds = median_seconds(lambda: test.screen(target, candidates, given))  # noqa: B023
                    few = data[:, : min(count, 20)].astype(np.int64)
                    others = [data[:, z].astype(np.int64) for z in given]
                    plain = median_seconds(
                        lambda: numpy_screen(data[:, target].astype(np.int64), others, few, levels),  # noqa: B023
                        at_least=0.05,
                        repeats=3,
                    )
                    expected = numpy_screen(data[:, target].astype(np.int64), others, few, levels)
                    np.testing.assert_allclose(
                        test.screen(target, candidates[: few.shape[1]], given).statistic, expected, rtol=1e-8, atol=1e-8
                    )
                    rate, numpy_rate = count / seconds, few.shape[1] / plain
                    share = limit_nanoseconds(levels, rows, size, count) * 1e-9 * count / seconds
                    results.append(
                        {
                            "levels": levels,
                            "rows": rows,
                            "given": size,
                            "candidates": count,
                            "tests_per_second": rate,
                            "numpy_tests_per_second": numpy_rate,
                            "ratio": rate / numpy_rate,
                            "share_of_limit": share,
                        }
                    )
                    print(
                        f"{levels:6} {rows:6} {size:3} {count:10,}  {rate / 1e6:9.3f} {numpy_rate / 1e6:9.4f} "
                        f"{rate / numpy_rate:7.0f} {share:8.0%}",
                        flush=True,
                    )
    return results


def thrombin(path: Path) -> dict[str, float]:
    """Measure the real wide table: packing, screens, and IAMB."""
    content = np.load(path)
    target = 139_351
    features = np.unpackbits(content["X"], axis=1)[:, :target]
    data = np.concatenate([features, content["y"][:, None].astype(np.uint8)], axis=1)
    begin = time.perf_counter()
    table = serape.Table(data)
    found = {"pack_seconds": time.perf_counter() - begin, "packed_megabytes": table.nbytes / 1e6}
    test = G2(table)
    given: list[int] = []
    for size in range(6):
        candidates = np.setdiff1d(np.arange(target), given).astype(np.uint32)
        found[f"screen_{size}_ms"] = 1e3 * median_seconds(lambda: test.screen(target, candidates, given))  # noqa: B023
        given.append(int(candidates[test.screen(target, candidates, given).strongest()[0][0]]))
    found["both_layouts_megabytes"] = table.nbytes / 1e6
    for algorithm in ("iamb", "gs"):
        found[f"{algorithm}_ms"] = 1e3 * median_seconds(
            lambda: serape.markov_blanket(table, target, algorithm=algorithm, alpha=0.01)  # noqa: B023
        )
        blanket = serape.markov_blanket(table, target, algorithm=algorithm, alpha=0.01)
        found[f"{algorithm}_tests"] = blanket.tests
        print(f"{algorithm}: columns {', '.join(str(int(x[1:]) + 1) for x in blanket.blanket)} (counted from 1)")
    for name, value in found.items():
        print(f"  {name}: {value:,.3f}")
    return found


def main() -> None:
    """Run, print and save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="leave out the largest tables")
    parser.add_argument("--thrombin", type=Path, help="also measure the real wide table in this file")
    options = parser.parse_args()
    machine = platform.processor() or platform.machine()
    print(f"{machine}, kernels {_core.instruction_set()}, one thread; NumPy in M tests/s")
    results: dict[str, object] = {"kernels": _core.instruction_set(), "screens": synthetic(options.quick)}
    if options.thrombin is not None:
        results["thrombin"] = thrombin(options.thrombin)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "screen.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
