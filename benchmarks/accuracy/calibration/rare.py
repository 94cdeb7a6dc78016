"""Size and power where values, levels and events are rare."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import serape
from benchmarks.accuracy.calibration.draws import PER_DRAW, standardised
from benchmarks.accuracy.calibration.page import put
from benchmarks.accuracy.calibration.rates import HEAD, LEVELS, Rates
from benchmarks.common.internals import make_test
from benchmarks.common.output import markdown, save
from benchmarks.common.processes import in_processes

Values = NDArray[Any]
Floats = NDArray[np.float64]
ROWS = (300, 1000, 3000, 10_000)
TESTS = ("residuals", "monotone-residuals")
WORST = 12


def zeros(share: float) -> Callable[[Floats], Values]:
    """Return a number of so many zeros that rises with a latent variable."""
    return lambda u: np.exp(np.maximum(u - stats.norm.ppf(share), 0)) - 1


def counts(distribution: Any) -> Callable[[Floats], Values]:
    """Return counts of a distribution that rise with a latent variable."""
    return lambda u: distribution.ppf(np.minimum(stats.norm.cdf(u), 1 - 1e-12)).astype(float)


def levels(shares: Iterable[float]) -> Callable[[Floats], Values]:
    """Return a category with levels of these shares."""
    cuts = stats.norm.ppf(np.cumsum(list(shares))[:-1])
    return lambda u: np.digitize(u, cuts).astype(str)


def uneven_shares(count: int) -> Floats:
    """Return shares in proportion to 1/k."""
    shares = 1 / np.arange(1, count + 1)
    return np.asarray(shares / shares.sum())


def uneven(count: int) -> Callable[[Floats], Values]:
    """Return a category whose level k has a share in proportion to 1/k."""
    return levels(uneven_shares(count))


SHAPES: dict[str, Callable[[Floats], Values]] = {
    "normal": lambda u: u,
    "Cauchy": lambda u: np.sign(u) * (np.exp(u * u / 2) - 1),
    "75 % zeros": zeros(0.75),
    "93 % zeros": zeros(0.93),
    "98 % zeros": zeros(0.98),
    "Poisson .05": counts(stats.poisson(0.05)),
    "Poisson .3": counts(stats.poisson(0.3)),
    "Poisson 3": counts(stats.poisson(3)),
    "negative binomial .2": counts(stats.nbinom(0.3, 0.6)),
    "7 codes, rare ends": lambda u: np.digitize(u, stats.norm.ppf([0.005, 0.02, 0.1, 0.9, 0.98, 0.995])).astype(float),
    "class of 30 %": levels([0.7, 0.3]),
    "class of 5 %": levels([0.95, 0.05]),
    "class of 1 %": levels([0.99, 0.01]),
    "12 levels": uneven(12),
    "30 levels": uneven(30),
    "50 levels": uneven(50),
}
"""How a column comes from a latent variable of mean 0 and variance 1."""
PAIRS = (
    ("93 % zeros", "93 % zeros"),
    ("98 % zeros", "75 % zeros"),
    ("93 % zeros", "normal"),
    ("93 % zeros", "class of 30 %"),
    ("93 % zeros", "class of 5 %"),
    ("Poisson .05", "Poisson .05"),
    ("Poisson .3", "Poisson 3"),
    ("negative binomial .2", "negative binomial .2"),
    ("7 codes, rare ends", "7 codes, rare ends"),
    ("class of 5 %", "Cauchy"),
    ("class of 1 %", "Poisson .3"),
    ("12 levels", "class of 1 %"),
    ("30 levels", "class of 5 %"),
    ("50 levels", "class of 5 %"),
    ("12 levels", "12 levels"),
    ("30 levels", "93 % zeros"),
)
FORMS = ("nothing", "15 levels", "a number", "15 levels + number", "90 % zeros")
"""What is given. Level k of 15 has a share in proportion to 1/k."""
SIGNALS = (False, True)
"""Whether x and y depend on Z: half of the variance of their latent variables."""


@dataclass(frozen=True)
class RareCell:
    """One cell of the grid."""

    rows: int
    z: str
    depends: bool
    x: str
    y: str


def categorical(shape: str) -> bool:
    """Return whether a shape is that of a category."""
    return "class" in shape or shape.endswith(" levels")


def cells(quick: bool = False) -> Iterator[RareCell]:
    """Yield the cells: all but those of categories alone, which are left to G²."""
    for rows in ROWS[:1] if quick else ROWS:
        for z in FORMS:
            for depends in SIGNALS if z != "nothing" else (False,):
                for x, y in PAIRS[::5] if quick else PAIRS:
                    if not (categorical(x) and categorical(y) and z in ("nothing", "15 levels")):
                        yield RareCell(rows, z, depends, x, y)


def draw(random: np.random.Generator, cell: RareCell) -> tuple[serape.Table, int, list[int], list[int]]:
    """Return a table, and the positions in it of y, of the columns x, and of Z."""
    given: dict[str, Values] = {}
    signal = np.zeros(cell.rows)
    if "levels" in cell.z:
        codes = random.choice(15, cell.rows, p=uneven_shares(15))
        given["g"] = codes.astype(str)
        signal = random.standard_normal(15)[codes]
    if "number" in cell.z:
        given["z"] = random.standard_normal(cell.rows)
        signal = signal + given["z"]
    if "zeros" in cell.z:
        signal = np.maximum(random.standard_normal(cell.rows) - stats.norm.ppf(0.9), 0)
        given["z"] = np.exp(signal) - 1
    signal = standardised(signal)
    columns: dict[str, Values] = {}
    for k, shape in enumerate((cell.y, *(cell.x for _ in range(PER_DRAW)))):
        noise = random.standard_normal(cell.rows)
        columns[f"v{k}"] = SHAPES[shape]((signal + noise) / np.sqrt(2) if cell.depends else noise)
    drawn = len(columns)
    return table_of(columns | given), 0, list(range(1, drawn)), list(range(drawn, drawn + len(given)))


def table_of(columns: Mapping[str, Values]) -> serape.Table:
    """Return a table whose texts are categories and whose numbers are continuous."""
    kinds = {name: "categorical" if c.dtype.kind == "U" else "continuous" for name, c in columns.items()}
    return serape.Table(dict(columns), kinds=kinds)


def measured(cell: RareCell, number: int, tests: tuple[str, ...], draws: int) -> tuple[RareCell, dict[str, Rates]]:
    """Return the rates of tests in one cell."""
    found = {test: Rates() for test in tests}
    for k in range(draws):
        table, y, xs, given = draw(np.random.default_rng([1, number, k]), cell)
        for test in tests:
            answers = make_test(table, test).screen(y, xs, given)
            found[test].add(np.asarray(answers.log_p), np.asarray(answers.reliable))
    return cell, found


# --- power --------------------------------------------------------------------------------------------------------


def event(random: np.random.Generator, rate: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether an event of this rate occurs, by row."""
    return random.random(len(rate)) < rate


def rare_events(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw two numbers, 97 % of them zeros; where one is none, the other is ten times as likely to be none."""
    x = event(random, np.full(rows, 0.03))
    y = event(random, np.where(x, 0.3, 0.03))
    sizes = random.lognormal(size=(2, rows))
    return x * sizes[0], y * sizes[1]


def hurdles(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw two numbers of 90 % zeros that share a cause."""
    common, *own = random.standard_normal((3, rows))
    first, second = (np.maximum(0.5 * common + noise - 1.43, 0) for noise in own)
    return first, second


def rare_level(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw a category of 20 levels; at one of 2 % of the rows, a class of 5 % is five times as frequent."""
    codes = random.choice(20, rows, p=uneven_shares(20))
    return codes.astype(str), np.where(event(random, np.where(codes == 13, 0.25, 0.05)), "a", "b")


def shifted(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw a class of 3 % and a number that is higher there."""
    x = event(random, np.full(rows, 0.03))
    return np.where(x, "a", "b"), random.standard_normal(rows) + 0.5 * x


def heavy(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw a class of 3 % and a number with Cauchy tails that is higher there."""
    x = event(random, np.full(rows, 0.03))
    return np.where(x, "a", "b"), random.standard_cauchy(rows) + x


def log_linear(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw a number and counts of mean .1 that rise with it."""
    x = random.standard_normal(rows)
    return x, random.poisson(0.1 * np.exp(0.3 * x)).astype(float)


def two_counts(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw two counts of mean .1 that share a cause."""
    common, *own = random.poisson([[0.02], [0.08], [0.08]], (3, rows)).astype(float)
    return common + own[0], common + own[1]


def sizes(random: np.random.Generator, rows: int) -> tuple[Values, Values]:
    """Draw a number and one of 90 % zeros, of which what is not zero rises with the first."""
    x = random.standard_normal(rows)
    return x, event(random, np.full(rows, 0.1)) * np.exp(0.5 * x + random.standard_normal(rows))


ALTERNATIVES: dict[str, Callable[[np.random.Generator, int], tuple[Values, Values]]] = {
    "two rare events": rare_events,
    "90 % zeros, 90 % zeros": hurdles,
    "a rare level, a class of 5 %": rare_level,
    "a class of 3 %, normal": shifted,
    "a class of 3 %, Cauchy": heavy,
    "normal, counts of mean .1": log_linear,
    "counts of mean .1, counts": two_counts,
    "normal, sizes beside 90 % zeros": sizes,
}
POWER_FORMS = ("nothing", "a number")


def power_of(
    name: str, form: str, rows: int, tests: tuple[str, ...], samples: int
) -> tuple[tuple[str, str, int], dict[str, Rates]]:
    """Return the rates of tests where x and y depend on each other; Z has nothing to do with them."""
    found = {test: Rates() for test in tests}
    for k in range(samples):
        random = np.random.default_rng([2, list(ALTERNATIVES).index(name), rows, k])
        x, y = ALTERNATIVES[name](random, rows)
        columns = {"y": y, "x": x} | ({"z": random.standard_normal(rows)} if form != "nothing" else {})
        table = table_of(columns)
        for test in tests:
            answers = make_test(table, test).screen(0, [1], list(range(2, len(columns))))
            found[test].add(np.asarray(answers.log_p), np.asarray(answers.reliable))
    return (name, form, rows), found


# --- tables -------------------------------------------------------------------------------------------------------

Found = dict[tuple[str, RareCell], Rates]


def pooled(found: Found, test: str, keep: Callable[[RareCell], bool]) -> Rates:
    """Return the counts of a test in some cells together."""
    total = Rates()
    for (name, cell), rates in found.items():
        if name == test and keep(cell):
            total.join(rates)
    return total


def shown(rates: Rates) -> str:
    """Return the rates at all levels, and the share of unreliable tests."""
    *some, unreliable = rates.shown()
    return "–" if not rates.reliable else " ".join(some) + ("" if unreliable == "0%" else f" ({unreliable})")


def summary(found: Found, tests: Iterable[str]) -> str:
    """Return the rates of tests over all cells."""
    lines = []
    for test in tests:
        own = [rates for (name, _), rates in found.items() if name == test and rates.reliable]
        high = [sum(rates.too_high[k] for rates in own) for k in range(len(LEVELS))]
        total = pooled(found, test, lambda _: True)
        lines.append([f"`{test}`", str(len(own)), *total.shown(), " / ".join(map(str, high))])
    return markdown(("test", "cells", *HEAD, "cells too high at .05 / .01 / .001"), lines)


def by_pair(found: Found, test: str) -> str:
    """Return the rates at .05, .01 and .001 by the shapes of x and y, by what is given, and by rows."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for (name, cell), rates in found.items():
        if name == test:
            side = (cell.x, cell.y, cell.z, "yes" if cell.depends else "no")
            lines.setdefault(side, ["–"] * len(ROWS))[ROWS.index(cell.rows)] = shown(rates)
    head = ("x", "y", "Z", "they depend on Z", *(f"{rows:,} rows" for rows in ROWS))
    order = [pair for pair in PAIRS if any(side[:2] == pair for side in lines)]
    return markdown(
        head, [[*side, *line] for pair in order for side, line in lines.items() if side[:2] == pair], words=range(8)
    )


def worst(found: Found, test: str) -> str:
    """Return the cells of a test whose rate is too high, the worst first."""
    high = sorted(
        ((r.worst_ratio, cell, r) for (name, cell), r in found.items() if name == test and any(r.too_high)),
        key=lambda entry: -entry[0],
    )
    if not high:
        return f"No cell of `{test}` is too high."
    lines = [
        [cell.x, cell.y, cell.z, "yes" if cell.depends else "no", f"{cell.rows:,}", *rates.shown()]
        for _, cell, rates in high[:WORST]
    ]
    more = f"\n\nand {len(high) - WORST} more cells." if len(high) > WORST else ""
    return markdown(("x", "y", "Z", "depend on Z", "rows", *HEAD), lines, words=range(4)) + more


def power_table(found: Mapping[tuple[str, str, int], Mapping[str, Rates]], rows: tuple[int, ...], test: str) -> str:
    """Return the power at .01 by alternative."""
    lines = []
    for name in ALTERNATIVES:
        line = []
        for form in POWER_FORMS:
            rates = [found[name, form, n][test] for n in rows if (name, form, n) in found]
            line.append(" ".join(f"{r.rejected[1] / r.asked:.2f}".removeprefix("0") for r in rates if r.asked) or "–")
        lines.append([name, *line])
    return markdown(("x, y", "given nothing", "given a number"), lines, words=range(3))


def run(options: argparse.Namespace) -> None:
    """Measure, print tables, and write them into the page."""
    tests = tuple(test for test in TESTS if test in (options.tests or TESTS))
    grid = list(cells(options.quick))
    draws = 1 if options.quick else options.rare_draws
    found: Found = {}
    jobs = [partial(measured, cell, number, tests, draws) for number, cell in enumerate(grid)]
    for cell, rates in in_processes(jobs[::-1], options.jobs):  # the longest first
        found |= {(test, cell): rates[test] for test in tests}
    found = {(test, cell): found[test, cell] for cell in grid for test in tests if (test, cell) in found}
    rows = ROWS[:1] if options.quick else ROWS[:3]
    powers = dict(
        in_processes(
            [
                partial(power_of, name, form, n, tests, 10 if options.quick else 4 * options.samples)
                for name in ALTERNATIVES
                for form in POWER_FORMS
                for n in rows
                if form != "nothing" or name != "a rare level, a class of 5 %"
            ],
            options.jobs,
        )
    )
    tables = {"rare things": summary(found, tests)}
    for test in tests[:1]:
        tables[f"rare things, {test}"] = by_pair(found, test)
        tables[f"worst rare cells, {test}"] = worst(found, test)
        tables[f"power of rare things, {test}"] = power_table(powers, rows, test)
    put(tables, options.page)
    content = [{"test": test, **vars(cell), **vars(rates)} for (test, cell), rates in found.items()]
    power = [{"case": key, **{t: vars(r) for t, r in rates.items()}} for key, rates in powers.items()]
    save("calibration-rare", {"cells": content, "power": power})
