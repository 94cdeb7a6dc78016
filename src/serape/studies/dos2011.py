"""Zeng, He, Xiang and Mao 2011: DOS against IPC-MB (Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.networks import load_network
from serape.studies.cells import CellAnswers, StudyCell, samples_of
from serape.studies.measuring import accuracy, deviation, mean, mean_and_spread
from serape.studies.pages import Row, Tables
from serape.studies.study import Study, StudySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"alarm": (500, 1000, 2000, 5000), "insurance": (300, 500, 1000, 2000), "hailfinder": (500, 1000, 2000, 5000)}
DOF = ("full", "adjusted")
"""The paper's setting, as far as its results tell, and serape's default."""
ALGORITHMS: dict[str, dict[str, Any]] = {"ipc-mb": {"order": "table"}, "dos": {}}
# Of Table 2, only the numbers that the text of the paper repeats: percent of fewer tests, and of shorter distance.
PAPER_FEWER = {("alarm", 5000): 49.94}
PAPER_NEARER = {("insurance", 300): 13.95, ("insurance", 2000): 7.41}
PAPER_MEAN = {"fewer tests": 40.0, "nearer": 8.0}


def cells(settings: StudySettings) -> list[StudyCell]:
    """Return one cell for each network, number of rows, setting, algorithm and sample."""
    return [
        StudyCell(
            (name, rows, dof, algorithm, seed),
            accuracy,
            {
                "network": name, "rows": rows, "seed": seed, "finds": "blanket", "shared": False,
                "setting": {"algorithm": algorithm, "alpha": 0.05, "dof": dof, **options},
            },
        )
        for name, sizes in SIZES.items()
        if not settings.quick or name != "hailfinder"
        for rows in (sizes[:2] if settings.quick else sizes)
        for seed in range(1 if settings.quick else 10)
        for dof in DOF
        for algorithm, options in ALGORITHMS.items()
    ]  # fmt: skip


def tables(answers: CellAnswers) -> Tables:
    """Return tests, time and accuracy of both algorithms, the savings of DOS beside the paper's, and the networks."""
    there = [
        (dof, name, rows) for dof in DOF for name, sizes in SIZES.items() for rows in sizes
        if samples_of(answers, name, rows, dof)
    ]  # fmt: skip
    savings = {dof: [_saving(answers, name, rows, dof) for own, name, rows in there if own == dof] for dof in DOF}
    measures: list[Row] = []
    for dof, name, rows in there:
        for algorithm in ALGORITHMS:
            samples = samples_of(answers, name, rows, dof, algorithm)
            spread = {m: mean_and_spread([s[m] for s in samples]) for m in ("precision", "recall", "distance")}
            measures.append({
                "dof": dof, "network": name, "rows": rows, "algorithm": algorithm,
                "tests": round(mean(samples, "tests")), "seconds": round(mean(samples, "seconds"), 3), **spread,
            })  # fmt: skip
    return {
        "networks": [_network(name) for name in SIZES],
        **{f"savings, {dof} dof": rows for dof, rows in savings.items()},
        "means": [_means(dof, rows) for dof, rows in savings.items()],
        "measures": measures,
    }


def _network(name: str) -> Row:
    """Return the numbers of Table 1."""
    network = load_network(name)
    sizes = [len(network.parents_children(x)) for x in network.variables]
    return {
        "network": name, "variables": network.nodes, "arcs": network.graph.number_of_edges(),
        "largest in-degree": max(d for _, d in network.graph.in_degree()),
        "largest out-degree": max(d for _, d in network.graph.out_degree()),
        "parents and children": f"{min(sizes)} to {max(sizes)}",
    }  # fmt: skip


def _saving(answers: CellAnswers, name: str, rows: int, dof: str) -> Row:
    old, new = (samples_of(answers, name, rows, dof, algorithm) for algorithm in ALGORITHMS)
    change = {m: 100 * (1 - mean(new, m) / mean(old, m)) for m in ("tests", "distance")}
    fewer, nearer = PAPER_FEWER.get((name, rows)), PAPER_NEARER.get((name, rows))
    return {
        "network": name, "rows": rows,
        "tests, ipc-mb": round(mean(old, "tests")), "tests, dos": round(mean(new, "tests")),
        "fewer tests, %": f"{change['tests']:.1f}",
        "paper's fewer tests": "" if fewer is None else f"{fewer:.2f}",
        "deviation of tests": deviation(change["tests"], PAPER_MEAN["fewer tests"] if fewer is None else fewer, 1),
        "distance, ipc-mb": f"{mean(old, 'distance'):.3f}", "distance, dos": f"{mean(new, 'distance'):.3f}",
        "nearer, %": f"{change['distance']:.1f}", "paper's nearer": "" if nearer is None else f"{nearer:.2f}",
        "deviation of nearer": deviation(change["distance"], PAPER_MEAN["nearer"] if nearer is None else nearer, 1),
        "time, times ipc-mb's": f"{mean(new, 'seconds') / mean(old, 'seconds'):.2f}",
    }  # fmt: skip


def _means(dof: str, rows: list[Row]) -> Row:
    row: dict[str, Any] = {"dof": dof}
    for column, published in PAPER_MEAN.items():
        ours = float(np.mean([float(r[f"{column}, %"]) for r in rows]))
        row |= {f"{column}, %": f"{ours:.1f}", f"paper's {column}": f"about {published:.0f}"}
        row[f"deviation of {column}"] = deviation(ours, published, 1)
    return row


def facts(tables: Tables) -> Mapping[str, object]:
    """Return what the page says of the savings."""
    told: dict[str, object] = {}
    for row in tables["means"]:
        told |= {f"fewer_{row['dof']}": row["fewer tests, %"], f"nearer_{row['dof']}": row["nearer, %"]}
    for dof in DOF:
        rows = tables[f"savings, {dof} dof"]
        times = [float(row["time, times ipc-mb's"]) for row in rows]
        fewer = [float(row["fewer tests, %"]) for row in rows]
        told |= {f"times_{dof}": f"{min(times):.1f} to {max(times):.1f}"}
        told |= {f"range_{dof}": f"{min(fewer):.0f} to {max(fewer):.0f}", "rows": len(rows)}
        for name in SIZES:
            nearer = [float(row["nearer, %"]) for row in rows if row["network"] == name]
            told[f"nearer_{name}_{dof}"] = f"{np.mean(nearer):.1f}".replace("-", "−")
        told[f"nearer_rows_{dof}"] = sum(float(row["nearer, %"]) > 0 for row in rows)
    old, new = (
        [float(row["recall"].split("±")[0]) for row in tables["measures"]
         if row["dof"] == "full" and row["algorithm"] == algorithm] for algorithm in ALGORITHMS
    )  # fmt: skip
    told["recall"] = f"{np.mean(new) - np.mean(old):.3f}"
    return told


def draw(answers: CellAnswers) -> Figure:
    """Plot numbers of tests and distances against rows."""
    from matplotlib.figure import Figure

    rows = tables(answers)["measures"]
    names = list(dict.fromkeys(row["network"] for row in rows))
    figure = Figure(figsize=(3.7 * len(names), 5.6), layout="constrained")
    for line, (measure, label) in enumerate((("tests", "tests, all targets"), ("distance", "distance"))):
        for k, name in enumerate(names):
            axes = figure.add_subplot(2, len(names), line * len(names) + k + 1)
            for dof, style in (("full", "-"), ("adjusted", ":")):
                for algorithm, marker in (("ipc-mb", "s"), ("dos", "o")):
                    own = [r for r in rows if (r["network"], r["dof"], r["algorithm"]) == (name, dof, algorithm)]
                    heights = [float(str(r[measure]).split("±")[0]) for r in own]
                    colour = "tab:orange" if algorithm == "ipc-mb" else "tab:blue"
                    name_of = f"{algorithm}, {dof} dof"
                    axes.plot([r["rows"] for r in own], heights, marker + style, color=colour, label=name_of)
            axes.set(title=name, xlabel="rows", ylabel=label, ylim=(0, None))
            if not line:
                axes.legend(fontsize=7)
    return figure


STUDIES = (
    Study(
        "dos2011", "Zeng, He, Xiang & Mao 2011", "dos against ipc-mb: tests, time, precision, recall, distance",
        cells, tables, draw, facts,
    ),
)  # fmt: skip
