"""How often every test rejects independence where it holds, over a grid of generated data."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.accuracy.calibration.draws import FORMS, ROWS, Cell, cells, dependences, draw
from benchmarks.accuracy.calibration.page import put
from benchmarks.accuracy.calibration.rates import HEAD, LEVELS, Rates
from benchmarks.common.internals import make_test
from benchmarks.common.output import markdown, save, short
from benchmarks.common.processes import in_processes

CATEGORICAL = ("g2", "x2", "g2-shrinkage", "x2-moments", "g2-semiparametric", "g2-permutation", "trend")
CONTINUOUS = ("partial-correlation", "fisher-z", "spearman", "normal-scores", "correlation-permutation")
ANY = ("residuals", "monotone-residuals", "mixed", "regression")
TESTS = (*ANY, *CATEGORICAL, *CONTINUOUS)
ELSEWHERE = ("gcm", "pcm")
"""Tests with a benchmark of their own."""
SLOW = ("regression", "g2-permutation", "g2-semiparametric", "correlation-permutation")
"""Tests that get a tenth of the draws, and no more rows than `SLOW_ROWS`."""
SLOW_ROWS = 500
SHOWN = ("residuals", "monotone-residuals")
"""Tests whose rates are shown in detail."""
WORST = 12

Found = dict[tuple[str, Cell], Rates]


def applicable(test: str, cell: Cell) -> bool:
    """Return whether a test can take the columns of a cell."""
    return (
        test in ANY or (test in CATEGORICAL and cell.categorical) or (test in CONTINUOUS and cell.continuous)
    ) and not (test in SLOW and cell.rows > SLOW_ROWS)


def measured(
    cell: Cell, number: int, tests: Iterable[str], draws: int, seed: int = 0
) -> tuple[Cell, dict[str, tuple[Rates, float]]]:
    """Return the rates of each test in one cell, and the seconds that it took."""
    found = {test: (Rates(), 0.0) for test in tests if applicable(test, cell)}
    for k in range(draws if found else 0):
        table, y, xs, given = draw(np.random.default_rng([seed, number, k]), cell)
        for test, (rates, spent) in found.items():
            if test in SLOW and k >= max(draws // 10, 1):
                continue
            begin = time.perf_counter()
            answers = make_test(table, test).screen(y, xs, given)
            log_p, reliable = np.asarray(answers.log_p), np.asarray(answers.reliable)
            rates.add(log_p, reliable)
            found[test] = rates, spent + time.perf_counter() - begin
    return cell, found


def measure(tests: Sequence[str], grid: Sequence[Cell], draws: int, processes: int) -> tuple[Found, dict[str, float]]:
    """Return the rates of each test in each cell, and the mean milliseconds of a test of each kind."""
    jobs = [partial(measured, cell, number, tests, draws) for number, cell in enumerate(grid)]
    by_cell = dict(in_processes(jobs, processes))
    found: Found = {}
    spent: dict[str, list[float]] = {test: [0.0, 0.0] for test in tests}
    for cell in grid:
        for test, (rates, seconds) in by_cell.get(cell, {}).items():
            found[test, cell] = rates
            spent[test][0] += seconds
            spent[test][1] += rates.asked
    return found, {test: 1e3 * seconds / max(count, 1) for test, (seconds, count) in spent.items()}


def pooled(found: Mapping[tuple[str, Cell], Rates], test: str, keep: Callable[[Cell], bool]) -> Rates:
    """Return the counts of a test in some cells together."""
    total = Rates()
    for (name, cell), rates in found.items():
        if name == test and keep(cell):
            total.join(rates)
    return total


def summary(found: Found, milliseconds: Mapping[str, float]) -> str:
    """Return the table of all tests."""
    lines = []
    for test, each in milliseconds.items():
        own = [rates for (name, _), rates in found.items() if name == test and rates.reliable]
        if not own:
            continue
        high = [sum(rates.too_high[k] for rates in own) for k in range(len(LEVELS))]
        worst = [f"{max(rates.rejected[k] / rates.reliable for rates in own):.3f}".lstrip("0") for k in (0, 1)]
        total = pooled(found, test, lambda _: True)
        lines.append(
            [
                f"`{test}`",
                str(len(own)),
                *total.shown(),
                " / ".join(map(str, high)),
                " / ".join(worst),
                short(each, 2),
            ]
        )
    head = ("test", "cells", *HEAD, "cells too high at .05 / .01 / .001", "worst cell at .05 / .01", "ms per test")
    return markdown(head, lines)


def by(found: Found, tests: Iterable[str], title: str, values: Iterable[Any], of: Callable[[Cell], Any]) -> str:
    """Return the rates of some tests by one side of the grid."""
    lines = []
    for test in tests:
        for value in values:
            rates = pooled(found, test, lambda cell, value=value: of(cell) == value)  # type: ignore[misc]
            if rates.asked:
                lines.append([f"`{test}`", f"{value:,}" if isinstance(value, int) else str(value), *rates.shown()])
    return markdown(("test", title, *HEAD), lines, words=(0, 1))


def in_detail(found: Found, test: str) -> str:
    """Return a table of Z and the dependence on it by rows: the rates at .05 and .01, and the unreliable tests."""
    lines = []
    for z in FORMS:
        for dependence in dependences(z):
            line = []
            for rows in ROWS:
                here = (rows, z, dependence)
                rates = pooled(found, test, lambda c, here=here: (c.rows, c.z, c.dependence) == here)  # type: ignore[misc]
                at_05, at_01, _, unreliable = rates.shown()
                share = "" if unreliable in ("0%", "–") else f" ({unreliable})"
                line.append("–" if not rates.reliable else f"{at_05} {at_01}{share}")
            lines.append([z, dependence, *line])
    return markdown(("Z", "x and y depend on Z", *(f"{rows:,} rows" for rows in ROWS)), lines, words=range(6))


def worst(found: Found, test: str) -> str:
    """Return the cells of a test whose rate is too high, the worst first."""
    high = sorted(
        (
            (rates.worst_ratio, cell, rates)
            for (name, cell), rates in found.items()
            if name == test and any(rates.too_high)
        ),
        key=lambda entry: -entry[0],
    )
    if not high:
        return f"No cell of `{test}` is too high."
    lines = [
        [cell.z, cell.dependence, cell.pair, cell.shape, f"{cell.rows:,}", *rates.shown()]
        for _, cell, rates in high[:WORST]
    ]
    head = ("Z", "x and y depend on Z", "x, y", "numbers", "rows", *HEAD)
    more = f"\n\nand {len(high) - WORST} more cells." if len(high) > WORST else ""
    return markdown(head, lines, words=range(4)) + more


def run(options: argparse.Namespace) -> None:
    """Measure, print tables, and write them into the page."""
    tests = [test for test in TESTS if test in (options.tests or TESTS)]
    grid = list(cells(options.quick))
    found, milliseconds = measure(tests, grid, 1 if options.quick else options.draws, options.jobs)
    shown = [test for test in SHOWN if test in tests]
    tables = {"all tests": summary(found, milliseconds)}
    for test in shown:
        tables[f"in detail, {test}"] = in_detail(found, test)
    some = [test for test in (*SHOWN, "mixed") if test in tests]
    sides: dict[str, Callable[[Cell], str]] = {
        "x, y": lambda cell: cell.pair,
        "numbers": lambda cell: cell.shape,
    }
    for title, of in sides.items():
        values = list(dict.fromkeys(map(of, grid)))
        tables[f"by {title}"] = by(found, some, title, [value for value in values if value != "–"], of)
    for test in shown:
        tables[f"worst cells, {test}"] = worst(found, test)
    put(tables, options.page)
    content = [{"test": test, **vars(cell), **vars(rates)} for (test, cell), rates in found.items()]
    save("calibration-size", {"cells": content, "milliseconds": milliseconds})
