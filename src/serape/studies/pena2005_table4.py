"""Peña, Björkegren and Tegnér 2005: Table 4, and node 435 of Pigs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from serape.results.comparison import compare
from serape.studies.cells import CellAnswers, StudyCell, samples_of
from serape.studies.measuring import accuracy, asked, deviation, mean, mean_and_spread, sampled
from serape.studies.pages import Row, Tables
from serape.studies.study import Study, StudySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "Peña, Björkegren & Tegnér 2005"
ALGORITHMS = ("inter-iamb", "pcmb")
MEASURES = ("precision", "recall", "distance")
# precision, recall, distance, seconds per target; first inter-iamb, then pcmb
TABLE_4: dict[tuple[str, int], tuple[str, str]] = {
    ("alarm", 100): ("0.85±0.06 0.46±0.03 0.54±0.06 0", "0.79±0.04 0.49±0.05 0.51±0.04 0"),
    ("alarm", 200): ("0.87±0.04 0.59±0.04 0.42±0.04 0", "0.94±0.03 0.56±0.05 0.38±0.06 0"),
    ("alarm", 500): ("0.91±0.03 0.73±0.03 0.30±0.04 0", "0.94±0.01 0.72±0.04 0.25±0.04 0"),
    ("alarm", 1000): ("0.93±0.03 0.80±0.01 0.22±0.02 0", "0.99±0.01 0.79±0.01 0.17±0.02 0"),
    ("alarm", 2000): ("0.92±0.04 0.83±0.01 0.21±0.04 0", "1.00±0.00 0.83±0.02 0.14±0.02 0"),
    ("alarm", 5000): ("0.92±0.02 0.86±0.01 0.18±0.02 0", "1.00±0.00 0.86±0.02 0.11±0.02 1"),
    ("alarm", 10000): ("0.92±0.04 0.90±0.01 0.14±0.03 0", "1.00±0.00 0.91±0.02 0.07±0.02 1"),
    ("alarm", 20000): ("0.94±0.00 0.92±0.00 0.10±0.00 1", "1.00±0.00 0.92±0.00 0.05±0.00 3"),
    ("pigs", 100): ("0.82±0.01 0.59±0.01 0.48±0.02 0", "0.83±0.01 0.81±0.02 0.29±0.02 0"),
    ("pigs", 200): ("0.80±0.00 0.82±0.00 0.37±0.00 0", "0.97±0.01 0.96±0.01 0.07±0.01 1"),
    ("pigs", 500): ("0.82±0.00 0.84±0.00 0.34±0.00 0", "0.98±0.00 1.00±0.00 0.02±0.00 2"),
}
NODE, NODE_ROWS = 435, 500
"""The node of Pigs, counted from 1, with the largest blanket, and the rows that the paper has for it."""
# precision, recall, distance; "correctly identifies the MB" with 500 rows
NODE_435 = {"inter-iamb": (1.00, 0.04, 0.96), "pcmb": (1.00, 1.00, 0.00)}


def cells(settings: StudySettings) -> list[StudyCell]:
    """Return one cell for each network, number of rows, algorithm and sample, and for node 435 of Pigs."""
    samples = 2 if settings.quick else 10
    wanted = [(n, r) for n, r in TABLE_4 if not settings.quick or (n == "alarm" and r <= 5000)]
    blankets = [
        StudyCell(
            (name, rows, algorithm, seed),
            accuracy,
            {
                "network": name, "rows": rows, "seed": seed, "finds": "blanket", "setting": _setting(algorithm),
            },
        )
        for name, rows in wanted
        for seed in range(samples)
        for algorithm in ALGORITHMS
    ]  # fmt: skip
    return blankets + [
        StudyCell(("node", algorithm, seed), _node, {"seed": seed, "setting": _setting(algorithm)})
        for algorithm in ALGORITHMS
        for seed in range(samples)
    ]


def _setting(algorithm: str) -> dict[str, Any]:
    return {"algorithm": algorithm, "alpha": 0.01, "dof": "adjusted"}


def _node(seed: int, setting: Mapping[str, Any]) -> dict[str, float]:
    """Return the accuracy of the blanket of node 435 of Pigs."""
    network, table = sampled("pigs", NODE_ROWS, seed)
    found = asked(table, NODE - 1, "blanket", setting)
    measures = compare(found, network.markov_blanket(network.variables[NODE - 1]))
    return {"members": len(found.blanket), **{m: round(getattr(measures, m), 6) for m in MEASURES}}


def tables(answers: CellAnswers) -> Tables:
    """Return precision, recall and distance, ours and the paper's."""
    blankets: list[Row] = []
    times: list[Row] = []
    for (name, rows), published in TABLE_4.items():
        for algorithm, numbers in zip(ALGORITHMS, published, strict=True):
            if samples := samples_of(answers, name, rows, algorithm):
                what = {"network": name, "rows": rows, "algorithm": algorithm}
                blankets.append({**what, **_beside(samples, numbers.split()[:3])})
                times.append({
                    **what, "ms, all targets": round(1e3 * mean(samples, "seconds"), 1),
                    "paper's s, a target": numbers.split()[3],
                })  # fmt: skip
    node: list[Row] = []
    for algorithm, numbers_435 in NODE_435.items():
        samples = samples_of(answers, "node", algorithm)
        row = {"algorithm": algorithm, "members": round(mean(samples, "members"), 1), "true members": 68}
        node.append(row | _beside(samples, [f"{number:.2f}" for number in numbers_435]))
    return {"blankets": blankets, "node 435": node, "time": times}


def _beside(samples: list[Any], published: list[str]) -> dict[str, str]:
    row: dict[str, str] = {}
    for measure, number in zip(MEASURES, published, strict=True):
        row[measure] = mean_and_spread([s[measure] for s in samples])
        row[f"paper's {measure}"] = number
        row[f"deviation of {measure}"] = deviation(mean(samples, measure), float(number.split("±")[0]))
    return row


def facts(tables: Tables) -> Mapping[str, object]:
    """Return the largest deviations, and how many of the means of precision and recall are near."""

    def largest(network: str, measure: str, least_rows: int = 0, most_rows: int = 10**9) -> str:
        rows = [r for r in tables["blankets"] if r["network"] == network and least_rows <= r["rows"] <= most_rows]
        return f"{max(abs(_number(row[f'deviation of {measure}'])) for row in rows):.2f}"

    pairs = [(m, row) for row in tables["blankets"] for m in ("precision", "recall")]
    near = [abs(_number(row[f"deviation of {m}"])) <= 0.03 for m, row in pairs]
    times = {(r["network"], r["rows"], r["algorithm"]): r["ms, all targets"] for r in tables["time"]}
    return {
        "pigs": max(largest("pigs", measure) for measure in MEASURES),
        "alarm_precision": largest("alarm", "precision"),
        "alarm_recall_few": largest("alarm", "recall", most_rows=1000),
        "alarm_recall_many": largest("alarm", "recall", least_rows=2000),
        "alarm_distance": largest("alarm", "distance"),
        "near": sum(near),
        "compared": len(near),
        "ms_alarm_inter_iamb": times["alarm", 20000, "inter-iamb"],
        "ms_alarm_pcmb": times["alarm", 20000, "pcmb"],
        "s_pigs_inter_iamb": f"{times['pigs', 500, 'inter-iamb'] / 1e3:.2f}",
        "s_pigs_pcmb": f"{times['pigs', 500, 'pcmb'] / 1e3:.2f}",
        "spread": sum(
            not row[m].endswith("0.00") for row in tables["blankets"] if row["rows"] == 20000 for m in MEASURES
        ),
    }


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def draw(answers: CellAnswers) -> Figure:
    """Plot distance against rows, ours and the paper's."""
    from matplotlib.figure import Figure

    rows = tables(answers)["blankets"]
    networks = list(dict.fromkeys(row["network"] for row in rows))
    figure = Figure(figsize=(4.6 * len(networks), 3.6), layout="constrained")
    for k, name in enumerate(networks):
        axes = figure.add_subplot(1, len(networks), k + 1)
        for colour, algorithm in zip(("tab:orange", "tab:blue"), ALGORITHMS, strict=True):
            ours = [row for row in rows if row["network"] == name and row["algorithm"] == algorithm]
            at = [row["rows"] for row in ours]
            for label, column, style in (("serape", "distance", "o-"), ("paper", "paper's distance", "x--")):
                height = [float(row[column].split("±")[0]) for row in ours]
                axes.plot(at, height, style, color=colour, label=f"{algorithm}, {label}")
        axes.set(title=name, xlabel="rows", ylabel="distance", xscale="log", ylim=(0, None))
        axes.legend()
    return figure


STUDIES = (
    Study(
        "pena2005-table4", PAPER, "Alarm and Pigs: blankets of all variables by inter-iamb and pcmb; node 435 of Pigs",
        cells, tables, draw, facts,
    ),
)  # fmt: skip
