"""Peña, Björkegren and Tegnér 2005: Table 5, Thrombin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import serape
from serape.studies.cells import CellAnswers, StudyCell, samples_of
from serape.studies.measuring import asked, deviation, mean_and_spread
from serape.studies.naive_bayes import Bits, predict, split, tree
from serape.studies.pages import Row, Tables
from serape.studies.pena2005_table4 import PAPER
from serape.studies.study import Study, StudySettings
from serape.studies.thrombin import read_thrombin, thrombin_file
from serape.types import Finds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINNER = (10695, 16794, 79651, 91839)  # features of the KDD Cup's winner, counted from 1
WINNERS_ARC = {1: 0}  # 16794 depends on 10695
BEST_RUNS = (12810, 28852, 79651, 91839, 106279, 109171)  # of the paper's AlgorithmMB, one of the last two
SELECTORS: dict[str, dict[str, Any]] = {
    "pcd, adjusted dof, 0 dof independent": {"algorithm": "pcd", "dof": "adjusted", "zero_dof": "independent"},
    "pcmb, adjusted dof, 0 dof independent": {"algorithm": "pcmb", "dof": "adjusted", "zero_dof": "independent"},
    "pcd, full dof": {"algorithm": "pcd", "dof": "full"},
    "pcmb, full dof": {"algorithm": "pcmb", "dof": "full"},
    "inter-iamb, adjusted dof": {"algorithm": "inter-iamb", "dof": "adjusted"},
    "inter-iamb, full dof": {"algorithm": "inter-iamb", "dof": "full"},
}
"""The searches that end in reasonable time: pcmb with adjusted dof and tests of 0 dof skipped does not."""
# features, accuracy, seconds; the row of AlgorithmMB beside PCD(T), which is what it can be
TABLE_5 = {
    "winner": ("4", "0.67", "0.68", ""),
    "inter-iamb, adjusted dof": ("8.00±0.00", "0.52±0.02", "", "3102±69"),
    "pcd, adjusted dof, 0 dof independent": ("4.00±1.00", "0.60±0.02", "", "8631±915"),
}
CLASSIFIERS = ("naive Bayes", "tree")


def cells(settings: StudySettings) -> list[StudyCell]:
    """Return, for all compounds and for each fold, one cell for each selection of features."""
    assert settings.data is not None
    files = (thrombin_file(settings.data),)
    folds, runs = (2, 1) if settings.quick else (10, 10)
    parts: list[int | None] = [None, *range(folds)]
    selected = [
        StudyCell(
            ("all" if fold is None else fold, label),
            _selected,
            {"fold": fold, "folds": folds, "runs": runs, "setting": {"alpha": 0.01, **setting}},
            files,
        )
        for label, setting in SELECTORS.items()
        if not settings.quick or label in TABLE_5
        for fold in parts
    ]
    winners = [StudyCell((fold, "winner"), _winner, {"fold": fold, "folds": folds}, files) for fold in range(folds)]
    return [*selected, *winners, StudyCell(("copies",), _copies, {}, files)]


def _selected(path: Path, fold: int | None, folds: int, runs: int, setting: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Select features as often as in the paper, ties broken at random; return them, and their accuracy in a fold."""
    features, label = read_thrombin(path)
    learn, test = (np.arange(len(label)), None) if fold is None else split(label, fold, folds)
    table = serape.Table(np.concatenate([features[learn], label[learn][:, None]], axis=1))
    target = features.shape[1]
    finds: Finds = "parents-children" if setting["algorithm"] == "pcd" else "blanket"
    answers = []
    for seed in range(runs):
        found = asked(table, target, finds, {**setting, "random_state": seed})
        chosen = [int(x[1:]) + 1 for x in found.members]
        answer = {"features": chosen, "tests": found.tests, "seconds": round(found.seconds, 3)}
        if test is not None:
            own = np.array(chosen, np.intp) - 1
            learnt, tested = features[np.ix_(learn, own)], features[np.ix_(test, own)]
            trees: dict[str, dict[int, int]] = {"naive Bayes": {}, "tree": tree(learnt, label[learn])}
            for name, parents in trees.items():
                answer[name] = _right(predict(learnt, label[learn], tested, parents), label[test])
        answers.append(answer)
    return answers


def _winner(path: Path, fold: int, folds: int) -> list[dict[str, Any]]:
    """Return the accuracy of the winner's features in a fold; they were selected on all compounds."""
    features, label = read_thrombin(path)
    learn, test = split(label, fold, folds)
    own = np.array(WINNER, np.intp) - 1
    learnt, tested = features[np.ix_(learn, own)], features[np.ix_(test, own)]
    trees: dict[str, dict[int, int]] = {"naive Bayes": {}, "tree": WINNERS_ARC}
    return [{n: _right(predict(learnt, label[learn], tested, p), label[test]) for n, p in trees.items()}]


def _right(predicted: Any, label: Bits) -> list[int]:
    """Return the right predictions and the rows of either class."""
    right = [int((predicted == label)[label == value].sum()) for value in (0, 1)]
    return [*right, *(int((label == value).sum()) for value in (0, 1))]


def _copies(path: Path) -> dict[str, Any]:
    """Return the number of features that copy others, and those equal to the features of the paper's best runs."""
    features, _ = read_thrombin(path)
    contents = [column.tobytes() for column in np.packbits(features, axis=0).T]
    counts = Counter(contents)
    places: dict[str, list[int]] = {}
    for feature in (*BEST_RUNS, *WINNER):
        places[str(feature)] = [k + 1 for k, content in enumerate(contents) if content == contents[feature - 1]]
    return {"copies": len(contents) - len(counts), "equal to": places}


def tables(answers: CellAnswers) -> Tables:
    """Return features, balanced accuracy and time, ours and the paper's, and how often the paper's were found."""
    folds = [key[0] for key in answers if key[-1] == "winner"]
    rows: list[Row] = []
    for name in ["winner", *(name for name in SELECTORS if ("all", name) in answers)]:
        runs = answers.get(("all", name), [{"features": WINNER}])
        published = TABLE_5.get(name, ("", "", "", ""))
        row: dict[str, Any] = {"features by": name, "features": mean_and_spread([len(r["features"]) for r in runs])}
        row["paper's features"] = published[0]
        for classifier, number in zip(CLASSIFIERS, published[1:3], strict=True):
            accuracy = _accuracies([answers[fold, name] for fold in folds], classifier)
            row[f"accuracy, {classifier}"] = mean_and_spread(accuracy)
            row[f"paper's, {classifier}"] = number
            paper = number and float(number.split("±")[0])
            row[f"deviation, {classifier}"] = deviation(float(np.mean(accuracy)), float(paper)) if paper else ""
        row["seconds"] = mean_and_spread([r["seconds"] for r in runs]) if "seconds" in runs[0] else ""
        row["paper's seconds"] = published[3]
        rows.append(row)
    found: list[Row] = []
    for name in [name for name in SELECTORS if ("all", name) in answers]:
        sets = Counter(" ".join(map(str, run["features"])) for run in answers["all", name])
        found += [{"features by": name, "features": s or "none", "runs": n} for s, n in sets.most_common(4)]
    return {"accuracy": rows, "features found": found, "paper's features": _papers(answers), "copies": [
        {"features that copy others": answers["copies",]["copies"]}
    ]}  # fmt: skip


def _accuracies(folds: Sequence[Sequence[Mapping[str, Any]]], classifier: str) -> list[float]:
    """Return, by run, the mean of the accuracies in either class."""
    counts = np.sum([[run[classifier] for run in fold] for fold in folds], axis=0)
    accuracies: list[float] = ((counts[:, 0] / counts[:, 2] + counts[:, 1] / counts[:, 3]) / 2).tolist()
    return accuracies


def _papers(answers: CellAnswers) -> list[Row]:
    """Return in how many runs each feature of the paper's best runs was found, or an exact copy of it."""
    equal = answers["copies",]["equal to"]
    rows: list[Row] = []
    for feature in BEST_RUNS:
        row: dict[str, Any] = {"feature": str(feature), "exact copies": len(equal[str(feature)]) - 1}
        for name in ("pcd, adjusted dof, 0 dof independent", "inter-iamb, adjusted dof"):
            (runs,) = samples_of(answers, "all", name)
            count = sum(bool({*run["features"]} & {*equal[str(feature)]}) for run in runs)
            row[f"runs of {name.split(',')[0]}"] = f"{count} of {len(runs)}"
        rows.append(row)
    return rows


def facts(tables: Tables) -> Mapping[str, object]:
    """Return what the page says of PCD(T) and of pcmb."""
    rows = {row["features by"]: row for row in tables["accuracy"]}
    pcd, pcmb, inter = (
        rows[name]
        for name in (
            "pcd, adjusted dof, 0 dof independent", "pcmb, adjusted dof, 0 dof independent", "inter-iamb, adjusted dof",
        )
    )  # fmt: skip
    short = {"naive Bayes": "nb", "tree": "tan"}
    told = {f"pcd_{short[c]}": pcd[f"accuracy, {c}"] for c in CLASSIFIERS}
    told |= {f"inter_{short[c]}": inter[f"accuracy, {c}"] for c in CLASSIFIERS}
    return told | {
        "pcd_features": pcd["features"], "pcmb_features": pcmb["features"], "inter_features": inter["features"],
        "pcd_seconds": pcd["seconds"], "pcmb_seconds": pcmb["seconds"],
        "copied": f"{tables['copies'][0]['features that copy others']:,}",
    }  # fmt: skip


def draw(answers: CellAnswers) -> Figure:
    """Plot balanced accuracy, ours and the paper's."""
    from matplotlib.figure import Figure

    rows = tables(answers)["accuracy"]
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.add_subplot()
    indices = np.arange(len(rows))
    for shift, colour, column, label in (
        (-0.26, "tab:blue", "accuracy, naive Bayes", "naive Bayes, cross-validated on the training compounds"),
        (0.0, "tab:cyan", "accuracy, tree", "tree-augmented, likewise"),
        (0.26, "tab:gray", "paper's, naive Bayes", "paper, naive Bayes (634 test compounds)"),
    ):
        widths = [float(row[column].split("±")[0]) if row[column] else 0.0 for row in rows]
        axes.barh(indices + shift, widths, 0.24, label=label, color=colour)
    axes.set(yticks=indices, yticklabels=[row["features by"] for row in rows])
    axes.set(xlabel="balanced accuracy", xlim=(0.4, 1))
    axes.invert_yaxis()
    axes.legend(loc="lower right", fontsize=7)
    return figure


STUDIES = (
    Study(
        "pena2005-table5", PAPER, "Thrombin: features, time, and accuracy of naive and tree-augmented naive Bayes",
        cells, tables, draw, facts,
        needs_data="the KDD Cup 2001 training file (thrombin.data, or label and positions of ones, also .gz or .xz)",
    ),
)  # fmt: skip
