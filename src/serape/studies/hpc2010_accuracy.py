"""Rodrigues de Morais and Aussem 2010: accuracy of HPC (Figure 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.studies.cells import CellAnswers, StudyCell, samples_of
from serape.studies.measuring import accuracy, mean
from serape.studies.pages import Row, Tables
from serape.studies.study import Study, StudySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "Rodrigues de Morais & Aussem 2010"
# Of the eleven in the paper, Genes and Insulin are not available, and the files of Carpo lack probabilities.
NETWORKS = ("asia", "alarm", "child", "insurance", "mildew", "barley", "pigs", "link")
SIZES = (200, 500, 1500)
BY_SCORE = {"score": "bdeu", "equivalent_sample_size": 10.0}
SETTINGS: dict[str, dict[str, Any]] = {
    "hpc, as written": {"algorithm": "hpc", "dof": "full", "order": "as-written"},
    "hpc, full dof": {"algorithm": "hpc", "dof": "full"},
    "hpc, adjusted dof": {"algorithm": "hpc", "dof": "adjusted"},
    "mmpc, full dof": {"algorithm": "mmpc", "dof": "full"},
    "mmpc, adjusted dof": {"algorithm": "mmpc", "dof": "adjusted"},
    "pcmb, full dof": {"algorithm": "pcmb", "dof": "full"},
    "pcmb, adjusted dof": {"algorithm": "pcmb", "dof": "adjusted"},
    "inter-iapc, full dof": {"algorithm": "inter-iapc", "dof": "full"},
    "ges": {"algorithm": "ges", **BY_SCORE},
    "sca": {"algorithm": "sca", **BY_SCORE},
}
THE_PAPERS = ("hpc, as written", "mmpc, full dof", "pcmb, full dof", "inter-iapc, full dof", "ges", "sca")
"""The six algorithms of Figure 3, in the setting of the paper."""
OURS = ("hpc, full dof", "hpc, adjusted dof", "mmpc, adjusted dof", "pcmb, adjusted dof")
"""The same with serape's order of tests and its default degrees of freedom."""
# On Link, searches through all subsets, and ges, do not end in reasonable time (docs/studies/hpc2010-accuracy.md).
LIMITS = {("link", "mmpc"): 3, ("link", "pcmb"): 3}
NOT_RUN = {("link", "ges"), ("link", "sca")}


def cells(settings: StudySettings) -> list[StudyCell]:
    """Return one cell for each network, number of rows, setting and sample."""
    networks = ("asia", "alarm", "child") if settings.quick else NETWORKS
    return [
        StudyCell(
            (name, rows, label, seed),
            accuracy,
            {
                "network": name, "rows": rows, "seed": seed,
                "finds": "network" if label in ("ges", "sca") else "parents-children",
                "setting": _limited(name, setting),
            },
        )
        for name in networks[::-1]  # the largest first
        for rows in SIZES[::-1]
        for seed in range(1 if settings.quick else 10)
        for label, setting in SETTINGS.items()
        if (name, label) not in NOT_RUN
    ]  # fmt: skip


def _limited(network: str, setting: Mapping[str, Any]) -> dict[str, Any]:
    limit = LIMITS.get((network, setting["algorithm"]))
    by_tests = {} if "score" in setting else {"alpha": 0.05}
    return {**setting, **by_tests, **({} if limit is None else {"max_conditioning": limit})}


def tables(answers: CellAnswers) -> Tables:
    """Return distances by network, and by size of the neighbourhood; the paper has no numbers, only Figure 3."""
    networks = [(name, rows) for name in NETWORKS for rows in SIZES if samples_of(answers, name, rows)]
    shown = {"the paper's setting": THE_PAPERS, "serape's settings": (THE_PAPERS[0], *OURS)}
    by_network: dict[str, list[Row]] = {
        f"distance, {title}": [
            {"network": name, "rows": rows, **{a: _distance(answers, name, rows, a) for a in labels}}
            for name, rows in networks
        ]
        for title, labels in shown.items()
    }
    by_size: list[Row] = []
    for rows in SIZES:
        sums = _by_size(answers, rows)
        for size in sorted({size for counts in sums.values() for size in counts}):
            row: dict[str, Any] = {"rows": rows, "neighbours": size, "targets": int(sums[THE_PAPERS[0]][size][0])}
            row |= {a: f"{sums[a][size][1] / sums[a][size][0]:.3f}" if size in sums[a] else "–" for a in SETTINGS}
            by_size.append(row)
    seconds = [
        {"network": name, "rows": rows, **{a: f"{mean(s, 'seconds'):.2f}" if s else "–" for a, s in own.items()}}
        for name, rows in networks
        for own in [{a: samples_of(answers, name, rows, a) for a in SETTINGS}]
    ]
    return {**by_network, "distance by neighbours": by_size, "seconds": seconds}


def _distance(answers: CellAnswers, name: str, rows: int, label: str) -> str:
    samples = samples_of(answers, name, rows, label)
    return f"{mean(samples, 'distance'):.3f}" if samples else "–"


def _by_size(answers: CellAnswers, rows: int) -> dict[str, dict[int, tuple[float, float]]]:
    """Return, by setting and number of neighbours, the number of targets and the sum of their distances."""
    sums: dict[str, dict[int, tuple[float, float]]] = {a: {} for a in SETTINGS}
    for (_, size, label, _), answer in answers.items():
        if size == rows:
            for neighbours, (count, total) in answer["by_size"].items():
                before = sums[str(label)].get(int(neighbours), (0.0, 0.0))
                sums[str(label)][int(neighbours)] = (before[0] + count, before[1] + total)
    return sums


def facts(tables: Tables) -> Mapping[str, object]:
    """Return in how many rows each algorithm is nearest, and the distances on Pigs."""
    by_paper, by_ours = tables["distance, the paper's setting"], tables["distance, serape's settings"]
    by_tests = THE_PAPERS[:4]
    told: dict[str, object] = {
        "rows": len(by_paper),
        "best_tests": _best(by_paper, by_tests),
        "best_all": _best(by_paper, THE_PAPERS),
        "hpc_best": _nearest(by_paper, by_tests).get("hpc, as written", 0),
        "hpc_best_adjusted": _nearest(
            [{**a, **b} for a, b in zip(by_paper, by_ours, strict=True)],
            ("hpc, adjusted dof", "mmpc, adjusted dof", "pcmb, adjusted dof", "inter-iapc, full dof"),
        ).get("hpc, adjusted dof", 0),
    }
    pigs = {row["rows"]: row for row in by_ours if row["network"] == "pigs"}
    for label, name in (("hpc, as written", "written"), ("hpc, full dof", "full"), ("hpc, adjusted dof", "adjusted")):
        told[f"pigs_{name}"] = ", ".join(pigs[rows][label] for rows in SIZES)
    told["pigs_mmpc"] = ", ".join(row["mmpc, full dof"] for row in by_paper if row["network"] == "pigs")
    for rows in SIZES:
        own = [row for row in tables["distance by neighbours"] if row["rows"] == rows and row["neighbours"] > 0]
        told[f"sizes_{rows}"] = len(own)
        told[f"hpc_sizes_{rows}"] = _nearest(own, by_tests).get("hpc, as written", 0)
    return told


def _nearest(rows: Sequence[Row], labels: Sequence[str]) -> dict[str, int]:
    """Return in how many rows each setting has the least distance; ties count for all."""
    counts: dict[str, int] = {}
    for row in rows:
        values = {label: float(row[label]) for label in labels if row[label] != "–"}
        for label in [label for label, value in values.items() if value == min(values.values())]:
            counts[label] = counts.get(label, 0) + 1
    return counts


def _best(rows: Sequence[Row], labels: Sequence[str]) -> str:
    counts = _nearest(rows, labels)
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"`{label.split(',')[0]}` in {count}" for label, count in ordered)


def draw(answers: CellAnswers) -> Figure:
    """Plot distance against the number of neighbours, one panel for each number of rows, as in Figure 3."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.4), layout="constrained")
    for line, (title, labels) in enumerate((("the paper's setting", THE_PAPERS), ("settings of hpc", SETTINGS))):
        chosen = [label for label in labels if line == 0 or label.startswith("hpc")]
        for k, rows in enumerate(SIZES):
            axes = figure.add_subplot(2, 3, 3 * line + k + 1)
            sums = _by_size(answers, rows)
            for marker, label in zip("osv^DP", chosen, strict=False):
                sizes = sorted(size for size in sums[label] if size > 0)
                heights = [sums[label][size][1] / sums[label][size][0] for size in sizes]
                axes.plot(sizes, heights, f"{marker}-", label=label, markersize=4)
            axes.set(title=f"{rows} rows, {title}", xlabel="parents and children", ylabel="distance", xscale="log")
            axes.set_ylim(0, 1.45)
            ticks = [n for n in (1, 2, 3, 5, 10, 20, 50) if n <= int(np.max([*sums[THE_PAPERS[0]], 1]))]
            axes.set_xticks(ticks, [str(n) for n in ticks])
            axes.minorticks_off()
            axes.legend(fontsize=7)
    return figure


STUDIES = (
    Study(
        "hpc2010-accuracy", PAPER, "distance against the number of neighbours: hpc, mmpc, GetPC (pcmb), inter-iapc",
        cells, tables, draw, facts,
    ),
)  # fmt: skip
