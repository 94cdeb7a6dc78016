"""The figures by which the automatic settings were chosen: algorithm, significance level, false discovery rate."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.output import markdown, save, short
from benchmarks.common.processes import add_jobs, in_processes

CONFIRM = ("child", "alarm", "insurance", "hailfinder")
"""Networks that had no part in the choice."""
NETWORKS = ("sachs", "water", "win95pts", "hepar2", "mildew", "barley", "andes")
TILED = {"win95pts": 13, "hepar2": 30}
LEVELS: tuple[tuple[float, float | None], ...] = ((0.05, None), (0.01, None), (0.001, None), (0.01, 0.1), (0.01, 0.2))
KEYS = ("group", "rows", "algorithm", "alpha", "fdr")
FEW = 100
"""Up to so many columns is one group of data, more another."""
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
    """Return a function that draws a random network and a sample of it: discrete, binary, Gaussian or mixed."""
    categorical = kind in ("discrete", "binary")

    def draw(rows: int, random: np.random.Generator) -> tuple[serape.Table, Truth]:
        parents: list[list[int]] = []
        values: list[Any] = []
        named: dict[str, Any] = {}
        levels: list[int] = []
        for node in range(columns):
            near = np.arange(max(0, node - 200), node)
            parents.append(random.choice(near, min(int(random.poisson(1.5)), 4, len(near)), replace=False).tolist())
            if categorical:
                levels.append(2 if kind == "binary" else int(random.integers(2, 4)))
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
        table = serape.Table(named, kinds="categorical" if categorical else None)
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
    parser.add_argument("--alarm", type=Path, metavar="FOLDER", help="with --confirm: also alarm_ROWS.npz of a folder")
    add_jobs(parser)


def draws() -> dict[str, Draw]:
    """Return the data by name."""
    found = {name: network(name) for name in NETWORKS}
    found |= {f"{name}-{copies}": network(name, copies) for name, copies in TILED.items()}
    return found | {
        f"{kind}-{m}": generated(m, kind) for kind in ("discrete", "gaussian", "mixed") for m in (50, 500, 2000)
    }


def cells(name: str, rows: int, targets: int, limit: float) -> list[dict[str, Any]]:
    """Measure every algorithm and level on one sample."""
    random = np.random.default_rng([rows, *map(ord, name)])
    table, truth = draws()[name](rows, random)
    group = ("numbers" if name.startswith(("gaussian", "mixed")) else "categories", len(table.names) > FEW)
    chosen = random.permutation([table.names[k] for k in table.varying])[:targets].tolist()
    return [
        {"data": name, "group": group, "rows": rows, "algorithm": algorithm, "alpha": alpha, "fdr": fdr}
        | measure(table, truth, chosen, limit, algorithm=algorithm, alpha=alpha, fdr=fdr)
        for algorithm in ALGORITHMS
        for alpha, fdr in LEVELS
    ]


def run(options: argparse.Namespace) -> None:
    """Compare algorithms, levels and false discovery rates, by rows and columns: distance, false share, recall, time.

    With --confirm: the defaults on Child, Alarm, Insurance and Hailfinder, which had no part in the choice.
    Results go to benchmarks/out/automatic.json.
    """
    if options.confirm:
        confirm([500] if options.quick else [500, 5000, 20_000], options.alarm, options.jobs)
        return
    if options.quick:
        options.rows, options.targets, options.data = [500], 3, ["sachs"]
    todo = [
        partial(cells, name, rows, options.targets, options.limit)
        for rows in sorted(options.rows, reverse=True)
        for name in options.data or draws()
    ]
    measured = [one for some in in_processes(todo, options.jobs) for one in some]
    for group in sorted({one["group"] for one in measured}):
        kind, many = group
        print(f"\n{kind}, {'more than' if many else 'up to'} {FEW} columns: distance (false share), milliseconds\n")
        lines = []
        for algorithm in ALGORITHMS:
            for alpha, fdr in LEVELS:
                line = [f"`{algorithm}`", f"{alpha:g}", "–" if fdr is None else f"{fdr:g}"]
                for rows in options.rows:
                    asked = (group, rows, algorithm, alpha, fdr)
                    here = [m for m in measured if (*(m[k] for k in KEYS),) == asked]
                    if not here:  # the measurement was stopped
                        line.append("–")
                        continue
                    distance, false, ms = (np.mean([m[key] for m in here]) for key in ("distance", "false", "ms"))
                    line.append(f"{distance:.3f} ({false:.2f}), {short(ms, 2)}")
                lines.append(line)
        print(markdown(("algorithm", "alpha", "fdr", *(f"{rows:,} rows" for rows in options.rows)), lines))
    save("automatic", {"measured": measured})


# --- networks that had no part in the choice --------------------------------------------------------------------------


def near(table: serape.Table, truth: Truth, ask: Callable[..., serape.Result], **settings: Any) -> float:
    """Return the mean distance of the answers for all variables."""
    found = {name: ask(table, name, progress=False, **settings).members for name in truth}
    return float(np.mean([serape.compare(own, truth[name]).distance for name, own in found.items()]))


def nearest(table: serape.Table, truth: Truth, ask: Callable[..., serape.Result], algorithms: Sequence[str]) -> str:
    """Return the smallest distance that an algorithm and an alpha give, and which."""
    tried = {
        f"{algorithm}, {alpha:g}": near(table, truth, ask, algorithm=algorithm, alpha=alpha)
        for algorithm in algorithms
        for alpha in (0.05, 0.01, 0.001)
    }
    best = min(tried, key=lambda way: tried[way])
    return f"{tried[best]:.3f} ({best})"


def confirmed(name: str, rows: int, folder: Path | None) -> list[str]:
    """Return a line about one sample: a fresh one, or a stored one of Alarm."""
    net = serape.load_network(name)
    if folder is None:
        table = net.sample(rows, 3)
    else:
        with np.load(folder / f"{name}_{rows}.npz") as file:
            columns = dict(zip(map(str, file["names"]), file["X"].T, strict=True))
        table = serape.Table(columns, kinds="categorical")
    varying = [table.names[k] for k in table.varying]
    around: Truth = {x: set(net.markov_blanket(x)) for x in varying}
    beside: Truth = {x: set(net.parents_children(x)) for x in varying}
    got = measure(table, around, varying, 60.0)
    return [
        f"{name}, {rows:,}" + ("" if folder is None else " (stored)"),
        f"{got['distance']:.3f}",
        f"{got['false']:.2f}",
        nearest(table, around, serape.markov_blanket, ALGORITHMS),
        f"{near(table, beside, serape.parents_children):.3f}",
        nearest(table, beside, serape.parents_children, ("hpc", "hiton-pc", "inter-iapc")),
        str(serape.network(table, progress=False).compare(net).shd),
    ]


def confirm(sizes: Sequence[int], folder: Path | None, processes: int) -> None:
    """Print the accuracy of all-default calls beside the nearest of several settings."""
    samples: list[tuple[str, int, Path | None]] = [(name, rows, None) for rows in reversed(sizes) for name in CONFIRM]
    samples += [("alarm", rows, folder) for rows in reversed(sizes) if folder is not None]
    lines = list(in_processes([partial(confirmed, *sample) for sample in samples], processes))
    head = ("network, rows", "blankets", "false", "nearest", "parents and children", "nearest", "structural distance")
    order = [f"{name}, {rows:,}" for name in CONFIRM for rows in sizes]
    print(
        markdown(head, sorted(lines, key=lambda line: (order.index(line[0].split(" (")[0]), line[0])), words=(0, 3, 5))
    )
