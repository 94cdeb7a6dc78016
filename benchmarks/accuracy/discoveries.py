"""The share of false members by rate and alpha: the figures of docs/false-discoveries.md."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.accuracy.automatic import Truth, generated
from benchmarks.accuracy.calibration.real import data_sets, with_shuffled
from benchmarks.common.output import markdown, save
from benchmarks.common.processes import add_jobs, in_processes

KINDS = ("binary", "gaussian", "class")
COLUMNS = (50, 500, 5000)
ROWS = (100, 500, 2000)
MANY = 1000
"""For more columns, fewer tables are drawn."""
SUBSETS = ("hiton-mb", "hpc")
LARGE = 500_000
"""Those are left out in tables of numbers with more values: a minute a target with 5,000 columns and 2,000 rows."""
HUGE = 2_000_000
"""In tables of numbers with more values, the automatic algorithm alone is measured."""
PROBES = 200
ALGORITHMS = ("iamb", "fbed", "hiton-mb", "hpc")
SETTINGS: Mapping[str, dict[str, Any]] = {
    "fdr=.05": {"fdr": 0.05},
    "fdr=.1": {"fdr": 0.1},
    "fdr=.2": {"fdr": 0.2},
    "alpha=.001": {"alpha": 0.001},
}
"""The default is fdr=.2."""

Counts = tuple[int, int, int]
"""Members of one blanket: found, false among them, and in the truth."""
Measured = dict[tuple[str, str, str], list[Counts]]
"""Counts by data, algorithm and setting."""
Job = Callable[[], Measured]


def class_target(columns: int, rows: int, random: np.random.Generator) -> tuple[serape.Table, Truth]:
    """Draw a class of three levels that depends on four of many numbers, which come in dependent groups of five."""
    common = np.repeat(random.standard_normal((rows, -(-columns // 5))), 5, axis=1)[:, :columns]
    numbers = 0.6 * common + 0.8 * random.standard_normal((rows, columns))
    members = random.choice(columns // 5, 4, replace=False) * 5  # two of a group can cancel each other
    signal = numbers[:, members] @ random.choice([-1.0, 1.0], 4) + random.logistic(size=rows) * 0.6
    named: dict[str, Any] = {f"v{k}": numbers[:, k] for k in range(columns)}
    named["class"] = np.array(["low", "middle", "high"])[np.digitize(signal, np.quantile(signal, [0.3, 0.7]))]
    return serape.Table(named), {"class": {f"v{k}" for k in members}}


def blankets(label: str, table: serape.Table, truth: Truth, limit: float, algorithms: Sequence[str]) -> Measured:
    """Count the members of the blankets of some targets, by every algorithm; searches that do not end are left out."""
    numbers = table.kinds[table.names[0]] != "categorical"
    values = table.rows * (len(table.names) - 1)
    if numbers and values > LARGE:
        algorithms = [one for one in algorithms if one not in SUBSETS and values <= HUGE]
    return {
        (label, algorithm, setting): [
            (len(one.members), len(set(one.members) - truth[name]), len(truth[name]))
            for name, one in serape.blankets(
                table, tuple(truth), algorithm=algorithm, max_seconds=limit, progress=False, **SETTINGS[setting]
            ).items()
            if one.complete
        ]
        for setting in SETTINGS
        for algorithm in ("auto", *algorithms)
    }


def fresh(kind: str, columns: int, rows: int, draw: int, limit: float, algorithms: Sequence[str]) -> Measured:
    """Draw a table and count the members of four blankets, or of that of its class."""
    random = np.random.default_rng([columns, rows, draw, *map(ord, kind)])
    draw_table = partial(class_target, columns) if kind == "class" else generated(columns, kind)
    table, truth = draw_table(rows, random)
    varying = [name for name in truth if table.position(name) in set(table.varying)]
    targets = random.permutation(varying)[:4].tolist()
    return blankets(f"{kind} {columns:,} × {rows:,}", table, {name: truth[name] for name in targets}, limit, algorithms)


def wide(path: Path, targets: Sequence[int], limit: float, algorithms: Sequence[str]) -> Measured:
    """Count the members of some blankets of a stored table of categories, whose truth is in a file beside it."""
    truth = json.loads(path.with_name(f"{path.stem}_truth.json").read_text())["mb"]
    with np.load(path) as stored:
        names = [str(name) for name in stored["names"]]
        table = serape.Table(dict(zip(names, stored["X"].T, strict=True)), kinds="categorical")
    return blankets(path.stem, table, {names[k]: set(truth[names[k]]) for k in targets}, limit, algorithms)


def probes(folder: Path | None, name: str, seed: int, setting: str, limit: float) -> Measured:
    """Count the shuffled columns in the blanket of the target of real data."""
    ((_, columns, target),) = data_sets(folder, [name])
    table, shuffled = with_shuffled(columns, target, PROBES, seed, True)
    found = serape.markov_blanket(table, target, max_seconds=limit, progress=False, **SETTINGS[setting]).members
    false = len(set(found) & set(shuffled))
    return {
        (f"probes {name}", "auto", setting): [(len(found), false, 0)],
        ("probes", "auto", setting): [(len(found), false, 0)],
    }


def share(counts: Sequence[Counts]) -> tuple[float, float]:
    """Return the pooled false discovery rate and its standard error, as that of a ratio of sums over blankets."""
    found, false, _ = np.array(counts, float).T
    total = max(found.sum(), 1.0)
    rate = false.sum() / total
    return float(rate), float(np.sqrt(((false - rate * found) ** 2).sum()) / total)


def recall(counts: Sequence[Counts]) -> float:
    """Return the share of true members that were found."""
    found, false, true = np.array(counts, float).T.sum(axis=1)
    return float((found - false) / max(true, 1.0))


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--draws",
        type=int,
        default=10,
        help="tables of each shape; four times as many with a class, a third of it for over 1,000 columns",
    )
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each target")
    add_jobs(parser)
    parser.add_argument("--wide", type=Path, help="also measure a stored .npz of names and X, with a _truth.json")
    parser.add_argument("--data", type=Path, help="a folder with more real data")
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS, help="of the tables that are drawn")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS, help="of the tables that are drawn")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS, help="of the tables that are drawn")
    parser.add_argument("--fdr-method", choices=["bh", "by", "adaptive"], help="how the rates are bounded")
    parser.add_argument("--algorithms", nargs="*", default=ALGORITHMS, help="beside the automatic one")
    parser.add_argument("--no-probes", action="store_true", help="leave out real data")


def jobs(options: argparse.Namespace) -> list[Job]:
    """Return what is to be measured."""
    limit = options.limit
    if options.quick:
        drawn = partial(fresh, "binary", 50, 100, 0, limit, options.algorithms)
        return [drawn, partial(probes, None, "iris", 0, "fdr=.2", limit)]
    if options.fdr_method is not None:
        for setting in SETTINGS.values():
            if "fdr" in setting:
                setting["fdr_method"] = options.fdr_method
    names = [] if options.no_probes else [name for name, _, _ in data_sets(options.data, None)]
    found: list[Job] = [
        partial(probes, options.data, name, seed, setting, limit)
        for name in reversed(names)
        for setting in SETTINGS
        for seed in range(3)
    ]
    if options.wide is not None:
        found += [partial(wide, options.wide, range(k, k + 5), limit, options.algorithms) for k in range(0, 100, 5)]
    found += [
        partial(fresh, kind, columns, rows, draw, limit, options.algorithms)
        for columns in options.columns
        for rows in sorted(options.rows, reverse=True)
        for kind in options.kinds
        for draw in range(-(-options.draws // (3 if columns > MANY else 1)) * (4 if kind == "class" else 1))
    ]
    return found


def run(options: argparse.Namespace) -> None:
    """Measure the share of false members with rates of .05, .1 and .2 (the default), and with alpha .001.

    Tables with known blankets of 50 to 5,000 columns and 100 to 2,000 rows, and shuffled columns in real data. Results
    go to benchmarks/out/discoveries.json.
    """
    measured: defaultdict[tuple[str, str, str], list[Counts]] = defaultdict(list)
    for one in in_processes(jobs(options), options.jobs):
        for key, counts in one.items():
            measured[key] += counts
    save("discoveries", {"measured": [[*key, counts] for key, counts in measured.items()]})
    labels = sorted({label for label, _, _ in measured}, key=lambda label: (label.split()[0], len(label), label))
    for title, entry in (("false members", shown_share), ("recall", shown_recall)):
        for algorithm in ("auto", *ALGORITHMS):
            lines = [
                [label, *(entry(measured.get((label, algorithm, setting))) for setting in SETTINGS)]
                for label in labels
                if (label, algorithm, "fdr=.1") in measured and not (entry is shown_recall and "probes" in label)
            ]
            print(f"\n{title}, {algorithm}\n\n{markdown(('data', *SETTINGS), lines)}")


def shown_share(counts: Sequence[Counts] | None) -> str:
    """Write a rate and its standard error."""
    return "–" if not counts else "{:.3f} ± {:.3f}".format(*share(counts))


def shown_recall(counts: Sequence[Counts] | None) -> str:
    """Write a recall."""
    return "–" if not counts else f"{recall(counts):.3f}"
