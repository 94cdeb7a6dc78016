"""Speed of counting: screens, subset searches, scores and all pairs, on one thread."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

import serape
from benchmarks.common.data import THROMBIN_CLASS, Codes, add_thrombin, thrombin
from benchmarks.common.internals import G2, instruction_set, make_score
from benchmarks.common.output import machine, save
from benchmarks.common.timing import median_seconds

ESS = 10.0
"""BDeu's equivalent sample size."""
LEAST = {False: 0.2, True: 0.01}
"""Seconds for which a job is repeated at least, by whether the run is quick."""


def tables(quick: bool, counts: tuple[int, ...], more: int) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yield levels, a number of candidates, and independent columns: the candidates and some more."""
    for levels in (2, 3):
        for rows in (500,) if quick else (500, 5000, 20_000):
            random = np.random.default_rng([levels, rows])
            for count in counts:
                yield levels, count, random.integers(levels, size=(rows, count + more), dtype=np.uint8)


# --- screens ----------------------------------------------------------------------------------------------------------

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


def measure_screens(quick: bool) -> list[dict[str, float]]:
    """Measure tables of independent columns."""
    print("levels   rows |Z| candidates  M tests/s     NumPy   ratio of limit")
    results = []
    for levels, count, data in tables(quick, (37, 1000) if quick else (37, 10_000, 139_351), 4):
        rows, target = len(data), count + 3
        test = G2(serape.Table(data), dof="full", reliability=None)
        candidates = np.arange(count, dtype=np.uint32)
        few = data[:, : min(count, 20)].astype(np.int64)
        for size in range(4):
            given = list(range(count, count + size))
            columns = [data[:, k].astype(np.int64) for k in (target, *given)]
            question = columns[0], columns[1:], few, levels
            found = test.screen(target, candidates[: few.shape[1]], given).statistic
            np.testing.assert_allclose(found, numpy_screen(*question), rtol=1e-8, atol=1e-8)
            seconds = median_seconds(partial(test.screen, target, candidates, given), LEAST[quick])
            plain = median_seconds(partial(numpy_screen, *question), LEAST[quick] / 4, repeats=3)
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


def screen_thrombin(path: Path) -> dict[str, float]:
    """Measure the real wide table: packing, screens, and two searches."""
    data, target = thrombin(path), THROMBIN_CLASS
    begin = time.perf_counter()
    table = serape.Table(data)
    found = {"pack_seconds": time.perf_counter() - begin, "packed_megabytes": table.nbytes / 1e6}
    test = G2(table)
    given: list[int] = []
    for size in range(6):
        candidates = np.setdiff1d(np.arange(target), given).astype(np.uint32)
        found[f"screen_{size}_ms"] = 1e3 * median_seconds(partial(test.screen, target, candidates, tuple(given)))
        given.append(int(candidates[test.screen(target, candidates, given).strongest()[0][0]]))
    found["both_layouts_megabytes"] = table.nbytes / 1e6
    for algorithm in ("iamb", "gs"):
        search = partial(serape.markov_blanket, table, target, algorithm=algorithm, alpha=0.01)
        found[f"{algorithm}_ms"] = 1e3 * median_seconds(search)
        blanket = search()
        found[f"{algorithm}_tests"] = blanket.tests
        print(f"{algorithm}: columns {', '.join(str(int(x[1:]) + 1) for x in blanket.blanket)} (counted from 1)")
    for name, value in found.items():
        print(f"  {name}: {value:,.3f}")
    return found


def screens(options: argparse.Namespace) -> None:
    """Measure screens: one conditioning set, many candidates, through the Python call.

    Beside each figure: what NumPy's bincount does in the same run, and the share reached of the limit: what hand-tuned
    prototypes of the counting loops alone did on a Zen 4 core at 3.6 GHz with AVX-512, or, where none was measured, a
    cost model fitted to them. The model takes memory to be faster than it is for 20,000 rows. On another machine, read
    the share as a comparison with that one. With --thrombin, also a real table of 139,351 columns. Results go to
    benchmarks/out/screens.json.
    """
    print(f"{machine()}, one thread; NumPy in M tests/s")
    results: dict[str, object] = {"kernels": instruction_set(), "screens": measure_screens(options.quick)}
    if options.thrombin is not None:
        results["thrombin"] = screen_thrombin(options.thrombin)
    save("screens", results)


# --- subset searches --------------------------------------------------------------------------------------------------


def subsets(options: argparse.Namespace) -> None:
    """Measure subset searches: the weakest association of candidates over all subsets of a pool.

    The columns are noisy copies of a target, so that no subset separates a candidate from it and every subset has to
    be considered. The figure counts all of them, whether or not a test was needed. Tests are G² with full degrees of
    freedom.
    """
    print(f"{machine()}, one thread")
    print("levels   rows pool sizes candidates     tests  M tests/s")
    for levels in (2, 3):
        for rows in (500,) if options.quick else (500, 5000, 20_000):
            random = np.random.default_rng([levels, rows])
            for pool, largest, count in ((8, 3, 1), (8, 3, 20), (16, 2, 20)):
                target = random.integers(levels, size=(rows, 1), dtype=np.uint8)
                noise = random.integers(levels, size=(rows, pool + count), dtype=np.uint8)
                copies = np.where(random.random(noise.shape) < 0.5, target, noise)
                test = G2(serape.Table(np.hstack([target, copies])), dof="full", reliability=None)
                candidates, members = range(1, 1 + count), range(1 + count, 1 + count + pool)
                tests = count * sum(math.comb(pool, size) for size in range(largest + 1))
                search = partial(serape.Search(test, alpha=0.99).separate, candidates, 0, members, range(largest + 1))
                seconds = median_seconds(search, LEAST[options.quick])
                print(
                    f"{levels:6} {rows:6} {pool:4} 0 to {largest} {count:9} {tests:9,} {tests / seconds / 1e6:10.3f}",
                    flush=True,
                )


# --- scores -----------------------------------------------------------------------------------------------------------


def numpy_additions(
    kind: str, child: Codes, parents: list[Codes], candidates: Codes, levels: int
) -> NDArray[np.float64]:
    """Return the score of every candidate as one more parent, by NumPy's bincount; all columns have as many levels."""
    stratum = np.zeros(len(child), np.int64)
    for p in parents:
        stratum = stratum * levels + p
    strata = levels ** (len(parents) + 1)
    found = np.empty(candidates.shape[1])
    for k in range(candidates.shape[1]):
        cell = (stratum * levels + candidates[:, k]) * levels + child
        n = np.bincount(cell, minlength=strata * levels).reshape(strata, levels).astype(np.float64)
        total = n.sum(axis=1)
        if kind == "bdeu":
            a, b = ESS / (strata * levels), ESS / strata
            found[k] = (gammaln(n + a) - gammaln(a)).sum() - (gammaln(total + b) - gammaln(b)).sum()
        else:
            terms = (n * np.log(np.maximum(n, 1))).sum() - (total * np.log(np.maximum(total, 1))).sum()
            found[k] = terms - 0.5 * np.log(len(child)) * (levels - 1) * strata
    return found


def scores(options: argparse.Namespace) -> None:
    """Measure scores: one child, one set of parents, many candidates to add to it.

    Beside each figure: what NumPy's bincount with SciPy's gammaln, or NumPy's log, does in the same run.
    """
    print(f"{machine()}, one thread; millions of families a second")
    print("score levels   rows parents candidates     serape     NumPy   ratio")
    for kind in ("bdeu", "bic"):
        for levels, count, data in tables(options.quick, (37, 1000), 3):
            score, child = make_score(serape.Table(data), kind, ESS), count + 2
            candidates = np.arange(count, dtype=np.uint32)
            few = data[:, : min(count, 20)].astype(np.int64)
            for size in (0, 2):
                parents = list(range(count, count + size))
                columns = [data[:, p].astype(np.int64) for p in (child, *parents)]
                question = kind, columns[0], columns[1:], few, levels
                found = score.additions(child, candidates[: few.shape[1]], parents)
                np.testing.assert_allclose(found, numpy_additions(*question), rtol=1e-9)
                seconds = median_seconds(partial(score.additions, child, candidates, parents), LEAST[options.quick])
                plain = median_seconds(partial(numpy_additions, *question), LEAST[options.quick] / 4, repeats=3)
                rate, numpy_rate = count / seconds, few.shape[1] / plain
                print(
                    f"{kind:5} {levels:6} {len(data):6} {size:7} {count:10,} {rate / 1e6:10.3f} "
                    f"{numpy_rate / 1e6:9.4f} {rate / numpy_rate:7.0f}",
                    flush=True,
                )


# --- all pairs --------------------------------------------------------------------------------------------------------


def pairs_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `pairs`."""
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=1000)
    add_thrombin(parser)


def pairs(options: argparse.Namespace) -> None:
    """Measure `serape.all_pairs` on random bits, or on Thrombin, with one thread and with two."""
    if options.thrombin is None:
        shape = (options.rows, 2000 if options.quick else options.columns)
        data = np.random.default_rng(0).integers(2, size=shape, dtype=np.uint8)
    else:
        data = thrombin(options.thrombin)
    table = serape.Table(data)
    for threads in (1, 2):
        started = time.perf_counter()
        found = serape.all_pairs(table, alpha=0.01, n_jobs=threads)
        seconds = time.perf_counter() - started
        print(
            f"{len(table.names):,} columns × {table.rows:,} rows, {threads} thread(s): {seconds:.2f} s, "
            f"{found.tests / seconds:.2e} pairs a second, {int(found.dependents.sum()) // 2:,} dependent"
        )
