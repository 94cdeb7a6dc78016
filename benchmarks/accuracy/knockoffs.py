"""Knockoffs beside `fdr=`: the figures of docs/knockoffs.md."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.accuracy.calibration.real import Columns, data_sets, with_shuffled
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
REAL = ("breast_cancer", "mushrooms", "german")
TRUE, FITTED, TESTED = "knockoffs, true network", "knockoffs, fitted", "markov_blanket, fdr="
PARTS = ("logistic", "own", "probes")
METHODS = (TRUE, FITTED, TESTED)

Measured = dict[tuple[str, str, float], list[tuple[float, ...]]]
"""By data, method and rate: the share of false ones among the selected, the share of true ones found, the number
selected, tests and seconds."""
Job = Callable[[], Measured]


def logistic(name: str, copies: int, rows: int, draw: int) -> Measured:
    """Draw columns from a tiled network, and a target that depends on 20 of them by a logistic model."""
    random = np.random.default_rng([rows, draw, *map(ord, name)])
    network = serape.load_network(name).tile(copies, 1)
    drawn = network.sample(rows, int(random.integers(2**31)))
    codes = [drawn.codes(k).astype(np.intp) for k in range(network.nodes)]
    varied = [k for k, column in enumerate(codes) if np.bincount(column).max() < 0.9 * rows]
    members = random.choice(varied, MEMBERS, replace=False)
    signal = np.zeros(rows)
    for k in members:
        values = random.permutation(len(network.levels(int(k))))[codes[k]].astype(float)
        signal += random.choice([-1.0, 1.0]) * (values - values.mean()) / values.std()
    target = signal + random.logistic(size=rows) > np.median(signal)
    truth = {network.variables[k] for k in members}
    return compared(f"{name} × {copies}, {rows:,} rows", joined(drawn, network, target), "target", truth, network)


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
    """Count the shuffled columns among those selected in real data, whose numbers are cut into three classes."""
    ((_, columns, target),) = data_sets(folder, [name])
    wide, shuffled = with_shuffled(classes(columns, target), target, PROBES, seed, True)
    table = serape.Table(wide, kinds="categorical")
    return compared(f"{name} with {PROBES} shuffled columns", table, target, set(wide) - {*shuffled, target}, None)


def classes(columns: Columns, target: str) -> Columns:
    """Return the columns as text, with numbers of more than ten values cut at their terciles."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in columns.items():
        if name != target and values.dtype.kind in "iuf" and len(np.unique(values)) > 10:
            found[name] = np.digitize(values, np.quantile(values, [1 / 3, 2 / 3])).astype(str)
        else:
            found[name] = values.astype(str)
    return found


def joined(drawn: serape.Table, network: serape.Network, target: NDArray[Any]) -> serape.Table:
    """Return the rows with a target; levels that do not occur stay."""
    pandas = import_module("pandas")
    columns = {
        name: pandas.Categorical.from_codes(drawn.codes(k), list(network.levels(name)))
        for k, name in enumerate(drawn.names)
    }
    return serape.Table(pandas.DataFrame({**columns, "target": np.where(target, "yes", "no")}))


def compared(label: str, table: serape.Table, target: str, truth: set[str], network: serape.Network | None) -> Measured:
    """Ask all methods about one target."""
    found: Measured = {}
    laws: Mapping[str, Any] = {TRUE: network, FITTED: "ges"} if network is not None else {FITTED: "ges"}
    for method, law in laws.items():
        drawn = serape.knockoff_filter(table, target, law, progress=False)
        for rate in RATES:
            found[label, method, rate] = [counts(drawn.selected(rate), truth, drawn.tests, drawn.seconds)]
    for rate in RATES:
        begin = time.perf_counter()
        tested = serape.markov_blanket(table, target, fdr=rate, progress=False)
        found[label, TESTED, rate] = [counts(tested.blanket, truth, tested.tests, time.perf_counter() - begin)]
    return found


def counts(selected: Sequence[str], truth: set[str], tests: int, seconds: float) -> tuple[float, ...]:
    """Return what is measured of one answer."""
    right = len(truth.intersection(selected))
    return (1 - right / len(selected) if selected else 0.0, right / len(truth), len(selected), tests, seconds)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--draws", type=int, default=20, help="tables of each kind; a quarter of it with own variables")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--data", type=Path, help="a folder with more real data")
    add_jobs(parser)


def jobs(options: argparse.Namespace) -> list[Job]:
    """Return what is to be measured."""
    if options.quick:
        return [partial(logistic, "child", 2, 300, 0), partial(own_variables, "asia", 300, 0)]
    there = {name for name, _, _ in data_sets(options.data, REAL)} if "probes" in options.parts else ()
    found: dict[str, list[Job]] = {
        "logistic": [
            partial(logistic, name, copies, rows, draw)
            for draw in range(options.draws)
            for rows in ROWS
            for name, copies in TILED.items()
        ],
        "own": [
            partial(own_variables, name, 2000, draw)
            for draw in range(-(-options.draws // 4))
            for name in ("alarm", "insurance", "child")
        ],
        "probes": [
            partial(probes, options.data, name, seed) for seed in range(options.draws) for name in REAL if name in there
        ],
    }
    return [job for part in options.parts for job in found[part]]


def run(options: argparse.Namespace) -> None:
    """Measure the share of false variables and the power of knockoffs at rates of .05, .1 and .2, beside `fdr=`.

    Columns come from known networks; the target depends on 20 of them, or is one of their own variables. In real data,
    shuffled columns are false. Results go to benchmarks/out/knockoffs.json.
    """
    measured: defaultdict[tuple[str, str, float], list[tuple[float, ...]]] = defaultdict(list)
    for one in in_processes(jobs(options), options.jobs):
        for key, values in one.items():
            measured[key] += values
    save("knockoffs", {"measured": [[*key, values] for key, values in measured.items()]})
    labels = sorted({label for label, _, _ in measured}, key=lambda label: ("shuffled" in label, "own" in label, label))
    lines = [
        [label, method, *(entry(measured[label, method, rate]) for rate in RATES), *cost(measured, label, method)]
        for label in labels
        for method in METHODS
        if (label, method, RATES[0]) in measured
    ]
    heads = ("data", "method", *(f"rate {rate:g}" for rate in RATES), "tests", "seconds")
    print("false share ± standard error, power (selected columns in real data)\n")
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
