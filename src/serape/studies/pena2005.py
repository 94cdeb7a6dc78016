"""Peña, Björkegren and Tegnér 2005: Tables 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

import serape
from serape.networks import load_network
from serape.studies.measuring import accuracy_of_all, mean_and_spread
from serape.studies.naive_bayes import Model, predict, split
from serape.studies.study import Answers, Cell, Row, Settings, Study, samples_of
from serape.studies.thrombin import read_thrombin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "Peña, Björkegren & Tegnér 2005"

# --- Table 4 ------------------------------------------------------------------------------------------------------

ALGORITHMS = ("inter-iamb", "pcmb")
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


def table4_cells(settings: Settings) -> list[Cell]:
    """Return one cell for each network, number of rows and sample."""
    samples = 2 if settings.quick else 10
    wanted = [(n, r) for n, r in TABLE_4 if not settings.quick or (n == "alarm" and r <= 5000)]
    return [
        Cell(f"{name} {rows} {seed}", lambda n=name, r=rows, s=seed: _one_sample(n, r, s, settings.threads))  # type: ignore[misc]
        for name, rows in wanted
        for seed in range(samples)
    ]


def _one_sample(name: str, rows: int, seed: int, threads: int) -> dict[str, Any]:
    network = load_network(name)
    table = network.sample(rows, seed)
    truth = {x: network.markov_blanket(x) for x in network.variables}
    answer = {}
    for algorithm in ALGORITHMS:
        found = accuracy_of_all(table, truth, "blanket", algorithm, 0.01, threads=threads, dof="adjusted")
        del found["by_size"]
        answer[algorithm] = found
    return answer


def table4_tables(answers: Answers, settings: Settings) -> Mapping[str, Sequence[Row]]:
    """Return precision, recall and distance, ours and the paper's."""
    del settings
    rows = []
    for (name, count), published in TABLE_4.items():
        samples = samples_of(answers, name, count)
        if not samples:
            continue
        for algorithm, numbers in zip(ALGORITHMS, published, strict=True):
            row: dict[str, Any] = {"network": name, "rows": count, "algorithm": algorithm}
            for measure, number in zip(("precision", "recall", "distance"), numbers.split(), strict=False):
                row[measure] = mean_and_spread([s[algorithm][measure] for s in samples])
                row[f"paper's {measure}"] = number
            row["ms, all targets"] = round(1e3 * float(np.mean([s[algorithm]["seconds"] for s in samples])), 1)
            row["paper's s, a target"] = numbers.split()[3]
            rows.append(row)
    return {"blankets": rows}


def table4_draw(answers: Answers, settings: Settings) -> Figure:
    """Plot distance against rows, ours and the paper's."""
    from matplotlib.figure import Figure

    rows = table4_tables(answers, settings)["blankets"]
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
        axes.set(
            title=name, xlabel="rows", ylabel="distance to perfect precision and recall", xscale="log", ylim=(0, None)
        )
        axes.legend()
    return figure


# --- Table 5 ------------------------------------------------------------------------------------------------------

WINNER = (10695, 16794, 79651, 91839)  # features of the KDD Cup's winner, counted from 1
TABLE_5 = {
    "winner, tree-augmented naive Bayes": ("4", "0.68", "not available"),
    "winner, naive Bayes": ("4", "0.67", "not available"),
    "inter-iamb": ("8.00±0.00", "0.52±0.02", "3102±69"),
    "pcmb": ("4.00±1.00", "0.60±0.02", "8631±915"),
}
# The searches that end in reasonable time: with adjusted degrees of freedom pcmb and hiton-mb do not (docs/studies.md).
SELECTORS: tuple[tuple[str, Literal["full", "adjusted"]], ...] = (
    ("inter-iamb", "adjusted"),
    ("inter-iamb", "full"),
    ("pcmb", "full"),
    ("hiton-mb", "full"),
)


def table5_cells(settings: Settings) -> list[Cell]:
    """Return one cell for all compounds and one for each fold; each packs its table once for all runs."""
    folds = 3 if settings.quick else 10
    cells = [Cell("all", lambda: _selections(settings, None))]
    cells += [Cell(f"fold {k}", lambda k=k: _fold(settings, k, folds)) for k in range(folds)]  # type: ignore[misc]
    return cells


def _selections(settings: Settings, rows: NDArray[np.intp] | None) -> dict[str, list[dict[str, Any]]]:
    """Select features with every algorithm, as often as in the paper; ties are broken at random."""
    features, label = read_thrombin(settings.data)
    target = features.shape[1]
    data = np.concatenate([features, label[:, None]], axis=1)
    table = serape.Table(data if rows is None else data[rows])
    runs: dict[str, list[dict[str, Any]]] = {}
    for algorithm, dof in SELECTORS:
        for seed in range(2 if settings.quick else 10):
            found = serape.markov_blanket(
                table,
                target,
                algorithm=algorithm,
                alpha=0.01,
                dof=dof,
                random_state=seed,
                n_jobs=settings.threads,
            )
            run = {"features": [int(x[1:]) + 1 for x in found.blanket], "tests": found.tests, "seconds": found.seconds}
            runs.setdefault(f"{algorithm}, {dof} dof", []).append(run)
    return runs


def _fold(settings: Settings, k: int, folds: int) -> dict[str, list[list[int]]]:
    """Return, for each selection of features and each run, the right predictions and the rows in either class."""
    features, label = read_thrombin(settings.data)
    learn, test = split(label, k, folds)
    models: dict[str, list[Model]] = {"winner, naive Bayes": [(WINNER, {})]}
    models["winner, tree-augmented naive Bayes"] = [(WINNER, {1: 0})]  # 16794 depends on 10695
    for name, runs in _selections(settings, learn).items():
        models[name] = [(run["features"], {}) for run in runs]
    answer: dict[str, list[list[int]]] = {}
    for name, chosen in models.items():
        for columns, parents in chosen:
            own = np.array(columns, np.intp) - 1
            predicted = predict(features[learn][:, own], label[learn], features[test][:, own], parents)
            right = predicted == label[test]
            counts = [int(right[label[test] == value].sum()) for value in (0, 1)]
            counts += [int((label[test] == value).sum()) for value in (0, 1)]
            answer.setdefault(name, []).append(counts)
    return answer


def table5_tables(answers: Answers, settings: Settings) -> Mapping[str, Sequence[Row]]:
    """Return features, balanced accuracy and time, ours and the paper's."""
    del settings
    folds = [answer for key, answer in answers.items() if key != "all"]
    rows: list[Row] = []
    for name in folds[0]:
        counts = np.sum([fold[name] for fold in folds], axis=0)  # by run
        accuracy = (counts[:, 0] / counts[:, 2] + counts[:, 1] / counts[:, 3]) / 2
        runs = answers["all"].get(name, [{"features": WINNER}])
        features, paper_accuracy, seconds = TABLE_5.get(name.split(", full")[0].split(", adjusted")[0], ("", "", ""))
        rows.append({
            "features by": name,
            "features": mean_and_spread([len(r["features"]) for r in runs]),
            "paper's features": features,
            "balanced accuracy": mean_and_spread(accuracy.tolist()),
            "paper's accuracy": paper_accuracy,
            "seconds": mean_and_spread([r["seconds"] for r in runs]) if name in answers["all"] else "",
            "paper's seconds": seconds,
            "first run": " ".join(map(str, runs[0]["features"])),
        })  # fmt: skip
    return {"thrombin": rows}


def table5_draw(answers: Answers, settings: Settings) -> Figure:
    """Plot balanced accuracy, ours and the paper's."""
    from matplotlib.figure import Figure

    rows = table5_tables(answers, settings)["thrombin"]
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.add_subplot()
    indices = np.arange(len(rows))
    ours = [float(row["balanced accuracy"].split("±")[0]) for row in rows]
    paper = [float(row["paper's accuracy"].split("±")[0]) if row["paper's accuracy"] else 0.0 for row in rows]
    axes.barh(indices - 0.2, ours, 0.38, label="serape (cross-validated on the training compounds)", color="tab:blue")
    axes.barh(indices + 0.2, paper, 0.38, label="paper (634 test compounds)", color="tab:gray")
    axes.set(
        yticks=indices, yticklabels=[row["features by"] for row in rows], xlabel="balanced accuracy", xlim=(0.4, 1)
    )
    axes.invert_yaxis()
    axes.legend(loc="lower right", fontsize=7)
    return figure


STUDIES = (
    Study(
        "pena2005-table4", PAPER, "Alarm and Pigs: blankets of all variables by inter-iamb and pcmb",
        table4_cells, table4_tables, table4_draw,
    ),
    Study(
        "pena2005-table5", PAPER, "Thrombin: features, time, and accuracy of a naive Bayes classifier",
        table5_cells, table5_tables, table5_draw,
        needs_data="the KDD Cup 2001 training file (thrombin.data, or label and positions of ones, also .gz or .xz)",
    ),
)  # fmt: skip
