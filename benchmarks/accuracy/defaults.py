"""The figures by which `algorithm="auto"` was chosen."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import serape
from benchmarks.common.internals import Finds, find_many
from benchmarks.common.output import report

CANDIDATES = ("iamb", "iamb-npc", "hiton-mb", "mmmb", "ipc-mb", "hpc")
NETWORKS = ("child", "insurance", "hailfinder", "win95pts")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--variables", type=int, nargs="+", default=[40, 110, 370, 1100])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 5000])
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.01, 0.05])
    parser.add_argument("--targets", type=int, default=40)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for all targets of one network")
    parser.add_argument("--confirm", type=Path, metavar="FOLDER", help="instead: alarm_ROWS.npz, alarm_truth.json")


def run(options: argparse.Namespace) -> None:
    """Compare the candidates for the default algorithm as columns grow: distance to the truth and seconds.

    Networks are tiled to about 40, 110, 370 and 1,100 variables (`Network.tile`), sampled with 500, 1,000 and 5,000
    rows; 40 variables of each are targets. With --confirm: the default on samples of Alarm, which had no part in the
    choice.
    """
    if options.confirm is not None:
        confirm(options.confirm)
        return
    if options.quick:
        options.variables, options.rows, options.alphas, options.targets = [40], [500], [0.01], 5
    for alpha in options.alphas:
        print(f"\nalpha {alpha}: mean distance, seconds per target")
        print("| variables | rows | " + " | ".join(CANDIDATES) + " |")
        print("|---" * (2 + len(CANDIDATES)) + "|")
        for size in options.variables:
            networks = [tiled(name, size) for name in NETWORKS]
            for rows in options.rows:
                cells = [cell(networks, rows, name, alpha, options.targets, options.limit) for name in CANDIDATES]
                print(f"| {size:,} | {rows:,} | " + " | ".join(cells) + " |", flush=True)


def confirm(folder: Path) -> None:
    """Print the distance of the default to the truth on samples that it was not chosen on."""
    truth = json.loads((folder / "alarm_truth.json").read_text())
    questions: tuple[tuple[Finds, str], ...] = (("blanket", "mb"), ("parents-children", "pc"))
    for rows in (500, 5000, 20_000):
        with np.load(folder / f"alarm_{rows}.npz") as file:
            codes, names = file["X"], [str(name) for name in file["names"]]
        columns = {name: codes[:, k] for k, name in enumerate(names)}
        table = serape.Table(columns, kinds=dict.fromkeys(names, "categorical"))
        for finds, key in questions:
            found = find_many(table, finds, "auto", 0.01, table.varying)
            distance = np.mean([serape.compare(one.members, truth[key][name]).distance for name, one in found.items()])
            algorithm = next(iter(found.values())).algorithm
            print(f"{rows:,} rows, {finds} by {algorithm}: {distance:.3f}")


def tiled(name: str, size: int) -> serape.Network:
    """Return a network of about so many variables."""
    network = serape.load_network(name)
    copies = round(size / len(network.graph))
    return network.tile(copies, seed=1) if copies > 1 else network


def cell(networks: list[serape.Network], rows: int, algorithm: str, alpha: float, targets: int, limit: float) -> str:
    """Return a cell of the table; searches over the limit are ended and reported."""
    distances: list[float] = []
    seconds: list[float] = []
    ended = 0
    for network in networks:
        table = network.sample(rows, seed=11)
        indices = np.random.default_rng(2).permutation(table.varying)[:targets].tolist()
        started = time.perf_counter()

        def watch(now: serape.Progress, started: float = started) -> None:
            del now
            if time.perf_counter() - started > limit:
                raise KeyboardInterrupt

        found = find_many(table, "blanket", algorithm, alpha, indices, progress=watch)
        if len(found) < len(indices):
            ended += 1
            report(f"{algorithm}, {rows} rows: ended after {len(found)} of {len(indices)}")
        for name, one in found.items():
            distances.append(serape.compare(one.members, network.markov_blanket(name)).distance)
            seconds.append(one.seconds)
    remark = f" ({ended} ended)" if ended else ""
    return f"{np.mean(distances):.3f}, {np.mean(seconds):.3f}{remark}"
