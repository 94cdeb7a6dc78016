"""The figures by which the automatic settings were chosen: algorithm, significance level, false discovery rate."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import serape
from benchmarks.common.output import markdown, report, save

CONFIRM = ("child", "alarm", "insurance", "hailfinder")
"""Networks that had no part in the choice."""
NETWORKS = ("sachs", "water", "win95pts", "hepar2", "mildew", "barley", "andes")
TILED = {"win95pts": 13, "hepar2": 30}
LEVELS: tuple[tuple[float, float | None], ...] = ((0.05, None), (0.01, None), (0.001, None), (0.01, 0.1), (0.01, 0.2))
ALGORITHMS = ("hpc", "hiton-mb", "iamb", "fbed")

Truth = Mapping[str, set[str]]
Draw = Callable[[int, np.random.Generator], tuple[serape.Table, Truth]]


def network(name: str, copies: int = 1) -> Draw:
    """Return a function that samples a bundled network, or several copies of it."""

    def draw(rows: int, random: np.random.Generator) -> tuple[serape.Table, Truth]:
        net = serape.load_network(name)
        net = net.tile(copies, seed=1) if copies > 1 else net
        table = net.sample(rows, int(random.integers(1, 1_000_000)))
        return table, {x: set(net.markov_blanket(x)) for x in net.graph}

    return draw


def generated(columns: int, kind: str) -> Draw:
    """Return a function that draws a random network and a sample of it: discrete, Gaussian or mixed."""

    def draw(rows: int, random: np.random.Generator) -> tuple[serape.Table, Truth]:
        parents: list[list[int]] = []
        values: list[Any] = []
        named: dict[str, Any] = {}
        levels: list[int] = []
        for node in range(columns):
            near = np.arange(max(0, node - 200), node)
            parents.append(random.choice(near, min(int(random.poisson(1.5)), 4, len(near)), replace=False).tolist())
            if kind == "discrete":
                levels.append(int(random.integers(2, 4)))
                code, cells = np.zeros(rows, np.int64), 1
                for x in parents[node]:
                    code, cells = code * levels[x] + values[x], cells * levels[x]
                shares = random.dirichlet(np.full(levels[node], 0.7), cells).cumsum(axis=1)
                drawn = (random.random(rows)[:, None] > shares[code]).sum(axis=1)
                values.append(np.minimum(drawn, levels[node] - 1))
                named[f"v{node}"] = values[node]
                continue
            value = random.standard_normal(rows)
            for x in parents[node]:
                value = value + random.choice([-1, 1]) * random.uniform(0.3, 1.0) * values[x]
            if kind == "mixed" and random.random() < 0.4:
                cuts = np.quantile(value, np.arange(1, 3) / 3)
                value = np.digitize(value, cuts).astype(float)
                named[f"v{node}"] = value.astype(int).astype(str)
            values.append((value - value.mean()) / (value.std() or 1.0))
            named.setdefault(f"v{node}", values[node])
        table = serape.Table(named, kinds="categorical" if kind == "discrete" else None)
        return table, {f"v{x}": {f"v{y}" for y in found} for x, found in blankets(parents).items()}

    return draw


def blankets(parents: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """Return the blanket of each node."""
    found: dict[int, set[int]] = {x: set(own) for x, own in enumerate(parents)}
    for child, own in enumerate(parents):
        for x in own:
            found[x] |= {child, *own} - {x}
    return found


def measure(table: serape.Table, truth: Truth, targets: Sequence[str], limit: float, **settings: Any) -> dict[str, Any]:
    """Return the mean distance, the pooled false discovery rate and recall, and seconds for each target."""
    begin = time.process_time()
    found = serape.blankets(table, targets, max_seconds=limit, progress=False, **settings)
    seconds = (time.process_time() - begin) / len(targets)
    distances = [serape.compare(one.members, tuple(truth[name])).distance for name, one in found.items()]
    true = sum(len(truth[name].intersection(one.members)) for name, one in found.items())
    all_found = sum(len(one.members) for one in found.values())
    return {
        "distance": float(np.mean(distances)),
        "false": (all_found - true) / max(all_found, 1),
        "recall": true / max(sum(len(truth[name]) for name in found), 1),
        "ms": 1e3 * seconds,
        "ended": sum(not one.complete for one in found.values()),
    }


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 500, 2000, 10_000])
    parser.add_argument("--targets", type=int, default=20)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds for each target")
    parser.add_argument("--data", nargs="+", help="only these data, such as sachs or mixed-500")
    parser.add_argument("--confirm", action="store_true", help="instead: the defaults on networks that were left out")


def run(options: argparse.Namespace) -> None:
    """Compare algorithms, levels and false discovery rates, by rows and columns: distance, false share, recall, time.

    With --confirm: the defaults on Child, Alarm, Insurance and Hailfinder, which had no part in the choice.
    Results go to benchmarks/out/automatic.json.
    """
    if options.confirm:
        confirm([500] if options.quick else [500, 5000, 20_000])
        return
    draws: dict[str, Draw] = {name: network(name) for name in NETWORKS}
    draws |= {f"{name}-{copies}": network(name, copies) for name, copies in TILED.items()}
    draws |= {f"{kind}-{m}": generated(m, kind) for kind in ("discrete", "gaussian", "mixed") for m in (50, 500, 2000)}
    if options.quick:
        options.rows, options.targets, options.data = [500], 3, ["sachs"]
    measured = []
    for name, draw in draws.items():
        if options.data and name not in options.data:
            continue
        for rows in options.rows:
            random = np.random.default_rng([rows, *map(ord, name)])
            table, truth = draw(rows, random)
            targets = random.permutation([table.names[k] for k in table.varying])[: options.targets].tolist()
            for algorithm in ALGORITHMS:
                for alpha, fdr in LEVELS:
                    settings: dict[str, Any] = {"algorithm": algorithm, "alpha": alpha, "fdr": fdr}
                    got = measure(table, truth, targets, options.limit, **settings)
                    measured.append({"data": name, "rows": rows, **settings, **got})
            report(f"{name}, {rows:,} rows")
    keys = ("distance", "false", "recall", "ms", "ended")
    for rows in options.rows:
        print(f"\n{rows:,} rows: means over the data\n")
        lines = []
        for algorithm in ALGORITHMS:
            for alpha, fdr in LEVELS:
                here = [
                    m
                    for m in measured
                    if (m["rows"], m["algorithm"], m["alpha"], m["fdr"]) == (rows, algorithm, alpha, fdr)
                ]
                means = [f"{np.mean([m[key] for m in here]):.3f}" for key in keys]
                lines.append([f"`{algorithm}`", f"{alpha:g}", "–" if fdr is None else f"{fdr:g}", *means])
        print(markdown(("algorithm", "alpha", "fdr", *keys), lines))
    save("automatic", {"measured": measured})


def confirm(sizes: Sequence[int]) -> None:
    """Print the accuracy of all-default calls on networks that had no part in the choice."""
    lines = []
    for name in CONFIRM:
        net = serape.load_network(name)
        for rows in sizes:
            table = net.sample(rows, 3)
            varying = [table.names[k] for k in table.varying]
            got = measure(table, {x: set(net.markov_blanket(x)) for x in varying}, varying, 60.0)
            around = {x: serape.parents_children(table, x, progress=False).members for x in varying}
            near = np.mean([serape.compare(own, net.parents_children(x)).distance for x, own in around.items()])
            shd = serape.network(table, progress=False).compare(net).shd
            lines.append(
                [f"{name}, {rows:,}", f"{got['distance']:.3f}", f"{got['false']:.2f}", f"{near:.3f}", str(shd)]
            )
            report(f"{name}, {rows:,} rows")
    head = (
        "network, rows",
        "blankets: distance",
        "false",
        "parents and children: distance",
        "structural Hamming distance",
    )
    print(markdown(head, lines))
