"""Knockoffs beside `fdr=`: the figures of docs/knockoffs.md."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.accuracy.calibration.real import Columns, with_shuffled
from benchmarks.accuracy.real_classes import available, drawn_rows
from benchmarks.common.output import markdown, save
from benchmarks.common.processes import add_jobs, in_processes

RATES = (0.05, 0.1, 0.2)
TILED = {"alarm": 3, "insurance": 4, "child": 5, "hailfinder": 2}
"""Networks, and the number of copies that makes about 100 variables."""
ROWS = (500, 2000)
MEMBERS = 20
LEAST = 5
"""Of the variables of a network, those with so large a blanket are targets."""
PROBES = 100
OF_REAL = 10
"""So many columns of real data have a drawn target as their effect."""
TRUE, FITTED, TESTED = "knockoffs, true network", "knockoffs, fitted", "markov_blanket, fdr="
PARTS = ("promise", "logistic", "own", "drawn", "probes")
METHODS = (TRUE, FITTED, TESTED)

Measured = dict[tuple[str, str, float], list[tuple[float, ...]]]
"""By data, method and rate: the share of false ones among the selected, the share of true ones found, the number
selected, tests and seconds of the processor."""
Job = Callable[[], Measured]


def promise(draw: int) -> Measured:
    """Draw a small table of many variables from a known network: there can be many of them, so errors are small."""
    return logistic("asia", 12, 300, draw, (TRUE,))


def logistic(name: str, copies: int, rows: int, draw: int, methods: Collection[str] = METHODS) -> Measured:
    """Draw columns from a tiled network, and a target that depends on 20 of them by a logistic model."""
    random = np.random.default_rng([rows, draw, *map(ord, name)])
    network = serape.load_network(name).tile(copies, 1)
    drawn = network.sample(rows, int(random.integers(2**31)))
    codes = [drawn.codes(k).astype(np.intp) for k in range(network.nodes)]
    varied = [k for k, column in enumerate(codes) if np.bincount(column).max() < 0.9 * rows]
    members = [int(k) for k in random.choice(varied, MEMBERS, replace=False)]
    target = effect([codes[k] for k in members], random)
    truth = {network.variables[k] for k in members}
    return compared(
        f"{name} × {copies}, {rows:,} rows", joined(drawn, network, target), "target", truth, network, methods
    )


def effect(causes: Sequence[NDArray[np.intp]], random: np.random.Generator) -> NDArray[np.bool_]:
    """Draw a target by a logistic model: every cause has a standard deviation of 1, on levels in random order."""
    signal = np.zeros(len(causes[0]))
    for codes in causes:
        values = random.permutation(codes.max() + 1)[codes].astype(float)
        signal += random.choice([-1.0, 1.0]) * (values - values.mean()) / values.std()
    target: NDArray[np.bool_] = signal + random.logistic(size=len(signal)) > np.median(signal)
    return target


def own_variables(name: str, rows: int, draw: int) -> Measured:
    """Draw rows from a network; every variable with a large blanket is a target."""
    network = serape.load_network(name)
    table = network.sample(rows, 1000 + draw)
    found: defaultdict[tuple[str, str, float], list[tuple[float, ...]]] = defaultdict(list)
    for target in network.variables:
        truth = set(network.markov_blanket(target))
        if len(truth) >= LEAST and not table.is_constant(table.position(target)):
            for key, one in compared(f"{name}, own variables, {rows:,} rows", table, target, truth, network).items():
                found[key] += one
    return dict(found)


def probes(folder: Path | None, name: str, seed: int) -> Measured:
    """Count the shuffled columns among those selected for the target of real data."""
    wide, shuffled, target = with_probes(folder, name, seed)
    table = serape.Table(wide, kinds="categorical")
    return compared(f"{name}, its own target", table, target, set(wide) - {*shuffled, target}, None)


def drawn_target(folder: Path | None, name: str, seed: int) -> Measured:
    """Draw a target that depends on ten columns of real data: all others, and the shuffled ones, are false."""
    random = np.random.default_rng([seed, *map(ord, name)])
    wide, shuffled, target = with_probes(folder, name, seed)
    codes = {column: np.unique(values, return_inverse=True)[1] for column, values in wide.items() if column != target}
    varied = [x for x, c in codes.items() if x not in set(shuffled) and np.bincount(c).max() < 0.9 * len(c)]
    members = [str(x) for x in random.choice(varied, min(OF_REAL, len(varied)), replace=False)]
    wide[target] = np.where(effect([codes[x] for x in members], random), "yes", "no")
    return compared(f"{name}, drawn target", serape.Table(wide, kinds="categorical"), target, set(members), None)


def with_probes(folder: Path | None, name: str, seed: int) -> tuple[Columns, list[str], str]:
    """Return real data with shuffled columns, the names of these, and the target."""
    columns, target = drawn_rows(folder, name, seed)
    return *with_shuffled(columns, target, PROBES, seed, True), target


def joined(drawn: serape.Table, network: serape.Network, target: NDArray[Any]) -> serape.Table:
    """Return the rows with a target; levels that do not occur stay."""
    pandas = import_module("pandas")
    columns = {
        name: pandas.Categorical.from_codes(drawn.codes(k), list(network.levels(name)))
        for k, name in enumerate(drawn.names)
    }
    return serape.Table(pandas.DataFrame({**columns, "target": np.where(target, "yes", "no")}))


def compared(
    label: str,
    table: serape.Table,
    target: str,
    truth: set[str],
    network: serape.Network | None,
    methods: Collection[str] = METHODS,
) -> Measured:
    """Ask all methods about one target."""
    found: Measured = {}
    for method, law in ((TRUE, network), (FITTED, "ges")):
        if method not in methods or law is None:
            continue
        begin = time.process_time()
        drawn = serape.knockoff_filter(table, target, law, progress=False)
        seconds = time.process_time() - begin
        for rate in RATES:
            found[label, method, rate] = [counts(drawn.selected(rate), truth, drawn.tests, seconds)]
    for rate in RATES if TESTED in methods else ():
        begin = time.process_time()
        tested = serape.markov_blanket(table, target, fdr=rate, progress=False)
        found[label, TESTED, rate] = [counts(tested.blanket, truth, tested.tests, time.process_time() - begin)]
    return found


def counts(selected: Sequence[str], truth: set[str], tests: int, seconds: float) -> tuple[float, ...]:
    """Return what is measured of one answer."""
    right = len(truth.intersection(selected))
    return (1 - right / len(selected) if selected else 0.0, right / len(truth), len(selected), tests, seconds)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--draws", type=int, default=30, help="tables of each kind; half of it of own and real data")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--data", type=Path, help="a folder with more real data")
    add_jobs(parser)


def jobs(options: argparse.Namespace) -> list[Job]:
    """Return what is to be measured."""
    if options.quick:
        real = partial(drawn_target, None, "breast_cancer", 0)
        return [partial(logistic, "child", 2, 300, 0), partial(own_variables, "asia", 300, 0), real]
    some, real_sets = range(-(-options.draws // 2)), available(options.data)
    found: dict[str, list[Job]] = {
        "promise": [partial(promise, draw) for draw in range(10 * options.draws)],
        "logistic": [
            partial(logistic, name, copies, rows, draw)
            for draw in range(options.draws)
            for rows in ROWS
            for name, copies in TILED.items()
        ],
        "own": [partial(own_variables, name, 2000, draw) for draw in some for name in ("alarm", "insurance", "child")],
        "drawn": [partial(drawn_target, options.data, name, draw) for draw in some for name in real_sets],
        "probes": [partial(probes, options.data, name, draw) for draw in some for name in real_sets],
    }
    return [job for part in options.parts for job in found[part]]


def run(options: argparse.Namespace) -> None:
    """Measure the share of false variables and the power of knockoffs at rates of .05, .1 and .2, beside `fdr=`.

    Columns come from known networks; the target depends on 20 of them, or is one of their own variables. Or they come
    from real data with shuffled columns; the target is drawn and depends on ten of them, or is that of the data.
    Results go to benchmarks/out/knockoffs.json.
    """
    measured: defaultdict[tuple[str, str, float], list[tuple[float, ...]]] = defaultdict(list)
    for one in in_processes(jobs(options), options.jobs):
        for key, values in one.items():
            measured[key] += values
    save("knockoffs", {"measured": [[*key, values] for key, values in measured.items()]})
    words = ("its own target", "drawn target", "own variables")
    labels = sorted({label for label, _, _ in measured}, key=lambda label: ([word in label for word in words], label))
    lines = [
        [
            label,
            method,
            str(len(measured[label, method, RATES[0]])),
            *(entry(measured[label, method, rate]) for rate in RATES),
            *cost(measured, label, method),
        ]
        for label in labels
        for method in METHODS
        if (label, method, RATES[0]) in measured
    ]
    heads = ("data", "method", "answers", *(f"rate {rate:g}" for rate in RATES), "tests", "seconds")
    print("mean share of false columns ± standard error, power (selected columns); seconds of the processor\n")
    print(markdown(heads, lines))


def entry(answers: Sequence[tuple[float, ...]]) -> str:
    """Write the mean share of false ones, its standard error, the power and the number selected."""
    values = np.array(answers)
    error = values[:, 0].std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values[:, 0].mean():.3f} ± {error:.3f}, {values[:, 1].mean():.2f} ({values[:, 2].mean():.1f})"


def cost(measured: Measured, label: str, method: str) -> tuple[str, str]:
    """Write the mean tests and seconds of an answer at a rate of .1."""
    values = np.array(measured[label, method, 0.1])
    return f"{values[:, 3].mean():,.0f}", f"{values[:, 4].mean():.2f}"
