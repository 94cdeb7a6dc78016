"""Zeng, He, Xiang and Mao 2011: DOS against IPC-MB (Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.networks import load_network
from serape.studies.measuring import accuracy_of_all, mean_and_spread
from serape.studies.study import Answers, Cell, Row, Settings, Study, samples_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"alarm": (500, 1000, 2000, 5000), "insurance": (300, 500, 1000, 2000), "hailfinder": (500, 1000, 2000)}
# Of the table, only the numbers that the text of the paper repeats.
PAPER_FEWER = {("alarm", 5000): "49.94 %"}
PAPER_NEARER = {("insurance", 300): "13.95 %", ("insurance", 2000): "7.41 %"}


def cells(settings: Settings) -> list[Cell]:
    """Return one cell for each network, number of rows and sample."""
    samples = 1 if settings.quick else 10
    return [
        Cell(f"{name} {rows} {seed}", lambda n=name, r=rows, s=seed: _one(n, r, s, settings.threads))  # type: ignore[misc]
        for name, sizes in SIZES.items()
        for rows in (sizes[:2] if settings.quick else sizes)
        for seed in range(samples)
        if not settings.quick or name != "hailfinder"
    ]


def _one(name: str, rows: int, seed: int, threads: int) -> dict[str, Any]:
    network = load_network(name)
    table = network.sample(rows, seed)
    truth = {x: network.markov_blanket(x) for x in network.variables}
    answer = {}
    asked: dict[str, dict[str, Any]] = {"ipc-mb": {"order": "table"}, "dos": {}}
    for algorithm, options in asked.items():
        found = accuracy_of_all(
            table, truth, "blanket", algorithm, 0.05, threads=threads, shared=False, **options
        )  # each target is searched for separately
        del found["by_size"]
        answer[algorithm] = found
    return answer


def tables(answers: Answers, settings: Settings) -> Mapping[str, Sequence[Row]]:
    """Return tests, time and accuracy of both algorithms, and the savings of DOS beside those in the paper."""
    del settings
    measures: list[Row] = []
    savings: list[Row] = []
    for name, sizes in SIZES.items():
        for rows in sizes:
            samples = samples_of(answers, name, rows)
            if not samples:
                continue
            mean = {
                (a, m): float(np.mean([s[a][m] for s in samples]))
                for a in ("ipc-mb", "dos")
                for m in ("tests", "seconds", "distance")
            }
            for algorithm in ("ipc-mb", "dos"):
                accuracy = {
                    m: mean_and_spread([s[algorithm][m] for s in samples]) for m in ("precision", "recall", "distance")
                }
                measures.append({
                    "network": name, "rows": rows, "algorithm": algorithm, "tests": round(mean[algorithm, "tests"]),
                    "seconds": round(mean[algorithm, "seconds"], 3), **accuracy,
                })  # fmt: skip
            fewer, nearer = (f"{1 - mean['dos', m] / mean['ipc-mb', m]:.1%}" for m in ("tests", "distance"))
            times = f"{mean['dos', 'seconds'] / mean['ipc-mb', 'seconds']:.2f}"
            savings.append({
                "network": name, "rows": rows, "fewer tests": fewer,
                "paper's": PAPER_FEWER.get((name, rows), "about 40 % on average"), "time, times ipc-mb's": times,
                "nearer to the truth": nearer, "paper's nearer": PAPER_NEARER.get((name, rows), "about 8 %"),
            })  # fmt: skip
    return {"savings": savings, "measures": measures}


def draw(answers: Answers, settings: Settings) -> Figure:
    """Plot numbers of tests against rows."""
    from matplotlib.figure import Figure

    rows = tables(answers, settings)["measures"]
    names = list(dict.fromkeys(row["network"] for row in rows))
    figure = Figure(figsize=(4 * len(names), 3.2), layout="constrained")
    for k, name in enumerate(names):
        axes = figure.add_subplot(1, len(names), k + 1)
        for algorithm, marker in (("ipc-mb", "s"), ("dos", "o")):
            own = [row for row in rows if row["network"] == name and row["algorithm"] == algorithm]
            axes.plot([r["rows"] for r in own], [r["tests"] for r in own], f"{marker}-", label=algorithm)
        axes.set(title=name, xlabel="rows", ylabel="tests, all targets", ylim=(0, None))
        axes.legend()
    return figure


STUDIES = (
    Study(
        "dos2011", "Zeng, He, Xiang & Mao 2011", "dos against ipc-mb: tests, time, precision, recall, distance",
        cells, tables, draw,
    ),
)  # fmt: skip
