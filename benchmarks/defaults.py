"""What `algorithm="auto"` was chosen by: distances to the truth and seconds as columns grow.

python benchmarks/defaults.py
python benchmarks/defaults.py --confirm FOLDER    "auto" on samples of Alarm: alarm_ROWS.npz, alarm_truth.json

Networks are tiled to about 40, 110, 370 and 1,100 variables (`Network.tile`), sampled with 500, 1,000 and 5,000 rows;
40 variables of each are asked about. Bundled networks of their own size are in `benchmarks/choosing.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

import serape
from serape.api import Task
from serape.blankets import ask_of_many

ALGORITHMS = ("iamb", "iamb-npc", "hiton-mb", "mmmb", "ipc-mb", "hpc")
NETWORKS = ("child", "insurance", "hailfinder", "win95pts")


def main() -> None:
    """Print a table for each alpha."""
    parser = argparse.ArgumentParser(description="Distances to the truth and seconds as columns grow.")
    parser.add_argument("--variables", type=int, nargs="+", default=[40, 110, 370, 1100])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 5000])
    parser.add_argument("--alphas", type=float, nargs="+", default=[0.01, 0.05])
    parser.add_argument("--targets", type=int, default=40)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for all targets of one network")
    parser.add_argument("--confirm", type=Path, help="folder with samples of Alarm and the truth")
    asked = parser.parse_args()
    if asked.confirm is not None:
        confirm(asked.confirm)
        return
    for alpha in asked.alphas:
        print(f"\nalpha {alpha}: mean distance, seconds a target")
        print("| variables | rows | " + " | ".join(ALGORITHMS) + " |")
        print("|---" * (2 + len(ALGORITHMS)) + "|")
        for size in asked.variables:
            networks = [tiled(name, size) for name in NETWORKS]
            for rows in asked.rows:
                cells = [cell(networks, rows, name, alpha, asked.targets, asked.limit) for name in ALGORITHMS]
                print(f"| {size:,} | {rows:,} | " + " | ".join(cells) + " |", flush=True)


def confirm(folder: Path) -> None:
    """Print how near the default comes on samples that it was not chosen on."""
    truth = json.loads((folder / "alarm_truth.json").read_text())
    for rows in (500, 5000, 20_000):
        with np.load(folder / f"alarm_{rows}.npz") as file:
            codes, names = file["X"], [str(name) for name in file["names"]]
        columns = {name: codes[:, k] for k, name in enumerate(names)}
        table = serape.Table(columns, kinds=dict.fromkeys(names, "categorical"))
        for finds, key in (("blanket", "mb"), ("parents-children", "pc")):
            task = Task.make(table, finds, "auto", "auto", 0.01, None, "auto", "auto", None, {})  # type: ignore[arg-type]
            found = ask_of_many(task, table.varying, 1, False)
            distance = np.mean([serape.compare(one.members, truth[key][name]).distance for name, one in found.items()])
            print(f"{rows:,} rows, {finds} by {task.algorithm.name}: {distance:.3f}")


def tiled(name: str, size: int) -> serape.Network:
    """Return a network of about so many variables."""
    network = serape.load_network(name)
    copies = round(size / len(network.graph))
    return network.tile(copies, seed=1) if copies > 1 else network


def cell(networks: list[serape.Network], rows: int, algorithm: str, alpha: float, targets: int, limit: float) -> str:
    """Return a cell of the table; networks whose targets take too long are left out and told."""
    distances: list[float] = []
    seconds: list[float] = []
    ended = 0
    for network in networks:
        table = network.sample(rows, seed=11)
        positions = np.random.default_rng(2).permutation(table.varying)[:targets].tolist()
        started = time.perf_counter()

        def watch(now: serape.Progress, started: float = started) -> None:
            del now
            if time.perf_counter() - started > limit:
                raise KeyboardInterrupt

        task = Task.make(table, "blanket", algorithm, "auto", alpha, None, "auto", "auto", None, {})
        found = ask_of_many(task, positions, 1, watch)
        if len(found) < len(positions):
            ended += 1
            print(f"{algorithm}, {rows} rows: ended after {len(found)} of {len(positions)}", file=sys.stderr)
        for name, one in found.items():
            distances.append(serape.compare(one.members, network.markov_blanket(name)).distance)
            seconds.append(one.seconds)
    told = f" ({ended} ended)" if ended else ""
    return f"{np.mean(distances):.3f}, {np.mean(seconds):.3f}{told}"


if __name__ == "__main__":
    main()
