"""Size and power of the tests for categorical columns in small and sparse tables: the figures of docs/few-rows.md."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np

import serape
from benchmarks.common.internals import TESTS, DofRule, Rules
from benchmarks.common.output import markdown, report, save, short

ROWS = (20, 50, 100, 200)
LEVELS = (2, 3, 5, 10)
CONDITIONING = (0, 1, 2, 3)
ALPHAS = (0.05, 0.01)
COPIED = 0.35
"""Share of the rows in which y is a copy of x, where they depend."""


def named(name: str, dof: DofRule = "auto") -> Callable[[serape.Table], serape.IndependenceTest]:
    """Return how a test is made that calls every table of some degrees of freedom reliable."""
    return lambda table: TESTS[name].make(table, Rules(dof, None))


CANDIDATES: Mapping[str, Callable[[serape.Table], serape.IndependenceTest]] = {
    "g2, full": named("g2", "full"),
    "g2, adjusted": named("g2", "adjusted"),
    "x2, full": named("x2", "full"),
    "x2, adjusted": named("x2", "adjusted"),
    "g2-shrinkage": named("g2-shrinkage", "full"),
    "g2-permutation": named("g2-permutation"),
    "g2-semiparametric": named("g2-semiparametric"),
    "x2-moments": named("x2-moments"),
}


@dataclass(frozen=True)
class Rates:
    """How often a test rejects at each alpha in tables of one shape."""

    rows: int
    levels: int
    conditioning: int
    dependent: bool
    test: str
    rates: tuple[float, ...]
    seconds: float
    """For all tables."""


def draw(random: np.random.Generator, rows: int, levels: int, conditioning: int, dependent: bool) -> serape.Table:
    """Draw x and y, whose probabilities of levels differ from stratum to stratum, and Z of two or three levels."""
    levels_z = min(levels, 3)
    columns = [random.choice(levels_z, rows, p=random.dirichlet(np.full(levels_z, 2.0))) for _ in range(conditioning)]
    stratum = np.zeros(rows, np.int64)
    for column in columns:
        stratum = stratum * levels_z + column
    x, y = (
        (random.random(rows)[:, None] > random.dirichlet(np.ones(levels), levels_z**conditioning).cumsum(1)[stratum])
        .sum(axis=1)
        .clip(max=levels - 1)
        for _ in range(2)
    )
    if dependent:
        y = np.where(random.random(rows) < COPIED, x, y)
    return serape.Table(np.stack([x, y, *columns], axis=1), kinds="categorical")


def measure(tables: int) -> Iterator[Rates]:
    """Yield the rates of every test in tables of every shape."""
    for dependent, rows, levels, conditioning in product((False, True), ROWS, LEVELS, CONDITIONING):
        random = np.random.default_rng([rows, levels, conditioning, dependent])
        drawn = [draw(random, rows, levels, conditioning, dependent) for _ in range(tables)]
        given = tuple(range(2, 2 + conditioning))
        for name, make in CANDIDATES.items():
            tests = [make(table) for table in drawn]
            begin = time.perf_counter()
            p = np.array([test.test(0, 1, given).p for test in tests])  # NaN where there is nothing to test
            taken = time.perf_counter() - begin
            yield Rates(
                rows, levels, conditioning, dependent, name, tuple(float(np.mean(p <= a)) for a in ALPHAS), taken
            )
        report(f"{rows} rows, {levels} levels, {conditioning} given, {'dependent' if dependent else 'independent'}")


def size_table(rates: list[Rates], index: int) -> str:
    """Return the lowest and the highest rate over the numbers of levels, for independent x and y at one alpha."""
    lines = []
    for rows, conditioning in product(ROWS, CONDITIONING):
        line = [str(rows), str(conditioning)]
        for test in CANDIDATES:
            found = [
                r.rates[index]
                for r in rates
                if (r.rows, r.conditioning, r.test, r.dependent) == (rows, conditioning, test, False)
            ]
            line.append("–".join(f"{rate:.3f}".lstrip("0") for rate in (min(found), max(found))))
        lines.append(line)
    return markdown(["rows", "given", *CANDIDATES], lines, words=())


def power_table(rates: list[Rates]) -> str:
    """Return the mean rate over all numbers of levels and sizes of Z, for dependent x and y, at the first alpha."""
    lines = []
    for rows, levels in product(ROWS, LEVELS):
        line = [str(rows), str(levels)]
        for test in CANDIDATES:
            found = [r.rates[0] for r in rates if (r.rows, r.levels, r.test, r.dependent) == (rows, levels, test, True)]
            line.append(f"{np.mean(found):.2f}".lstrip("0"))
        lines.append(line)
    return markdown(["rows", "levels", *CANDIDATES], lines, words=())


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--tables", type=int, default=400, help="tables of each shape")


def run(options: argparse.Namespace) -> None:
    """Compare the tests for categorical columns in tables of 20 to 200 rows: size, power and tests per second.

    x and y have 2, 3, 5 or 10 levels, the 0 to 3 variables of Z two or three. The probabilities of x and y are drawn
    anew in every stratum. Where they depend, y is a copy of x in 35 % of the rows. Every test of some degrees of
    freedom counts, reliable or not. Results go to benchmarks/out/small_tables.json.
    """
    tables = 2 if options.quick else options.tables
    rates = list(measure(tables))
    for index, alpha in enumerate(ALPHAS):
        print(f"\nsize at alpha {alpha}: lowest–highest rate over 2, 3, 5 and 10 levels, {tables} tables each\n")
        print(size_table(rates, index))
    print(f"\npower at alpha {ALPHAS[0]}: mean rate over 0 to 3 variables in Z\n")
    print(power_table(rates))
    print("\ntests per second\n")
    cells = [tables * len(found) / sum(r.seconds for r in found) for found in by_test(rates)]
    print(markdown(list(CANDIDATES), [[short(cell, 2) for cell in cells]], words=()))
    save("small_tables", {"settings": vars(options), "rates": [asdict(one) for one in rates]})


def by_test(rates: list[Rates]) -> list[list[Rates]]:
    """Return the rates of each test."""
    return [[one for one in rates if one.test == test] for test in CANDIDATES]
