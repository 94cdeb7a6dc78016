"""Rodrigues de Morais and Aussem 2010: growth of HPC's number of tests (Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import serape
from serape.data.table import Table
from serape.networks import load_network
from serape.studies.cells import CellAnswers, StudyCell, samples_of
from serape.studies.hpc2010_accuracy import PAPER
from serape.studies.measuring import asked, deviation
from serape.studies.pages import Row, Tables
from serape.studies.study import Study, StudySettings
from serape.studies.thrombin import FEATURES, read_thrombin, thrombin_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TILED = ("alarm", "child", "insurance", "hailfinder", "pigs")
SIZES = (1000, 3000, 10_000, 30_000, 100_000)
ROWS, DATA_SETS, BLOCK = 100, 100, 10
"""Rows of a data set, data sets of a size, and how many of them a cell draws together."""
SETTINGS: dict[str, dict[str, Any]] = {
    "as written, unreliable independent": {"order": "as-written", "unreliable": "independent"},
    "unreliable independent": {"unreliable": "independent"},
    "unreliable skipped": {},
}
THE_PAPERS, OURS = "as written, unreliable independent", "unreliable skipped"
HPC = {"algorithm": "hpc", "alpha": 0.05, "dof": "full"}
# Parts of Thrombin, and how often each is drawn. On the whole, a search takes minutes.
PARTS = {14: 100, 139: 100, 1394: 100, 13_935: 20, FEATURES: 3}
THROMBIN: dict[str, dict[str, Any]] = {
    "as written, rows drawn again": {"setting": {"order": "as-written"}, "bootstrap": True},
    "rows drawn again": {"setting": {}, "bootstrap": True},
    "rows as they are": {"setting": {}, "bootstrap": False},
    "rows drawn again, alpha 0.001": {"setting": {"alpha": 0.001}, "bootstrap": True},
}
PAPER_EXPONENT = {"tiled": 1.09, "thrombin": 1.21}


def cells(settings: StudySettings) -> list[StudyCell]:
    """Return one cell for each network, number of variables and block of data sets; Thrombin if its data are given."""
    sizes, data_sets = (SIZES[:3], 5) if settings.quick else (SIZES, DATA_SETS)
    tiled = [
        StudyCell(
            (name, size, first),
            _tiled,
            {
                "network": name, "variables": size, "first": first, "data_sets": min(BLOCK, data_sets),
                "settings": {label: {**HPC, **setting} for label, setting in SETTINGS.items()},
            },
        )
        for size in sizes[::-1]  # the largest first
        for name in (TILED[:2] if settings.quick else TILED)
        for first in range(0, data_sets, BLOCK)
    ]  # fmt: skip
    if settings.data is None:
        return tiled
    path = thrombin_file(settings.data)
    parts = {size: (3 if settings.quick else n) for size, n in PARTS.items() if not settings.quick or size < 10_000}
    thrombin = [
        StudyCell(
            ("thrombin", size, label, first),
            _part,
            {
                "variables": size, "first": first, "repeats": min(block, repeats - first),
                "bootstrap": option["bootstrap"], "setting": {**HPC, **option["setting"]},
            },
            (path,),
        )
        for size, repeats in list(parts.items())[::-1]
        for label, option in THROMBIN.items()
        for block in [max(1, min(repeats, 30_000 // size))]
        for first in range(0, repeats, block)
    ]  # fmt: skip
    return [*thrombin, *tiled]


@lru_cache(maxsize=1)
def _tiled_network(network: str, variables: int) -> serape.Network:
    source = load_network(network)
    return source.tile(max(1, round(variables / source.nodes)), 0)


def _tiled(
    network: str, variables: int, first: int, data_sets: int, settings: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the tests for one target, drawn at random, in each of some data sets, which are parts of one sample."""
    tiled = _tiled_network(network, variables)
    sample = tiled.sample(ROWS * data_sets, first)
    answer: dict[str, Any] = {"variables": tiled.nodes, **{label: [] for label in settings}}
    for k in range(data_sets):
        table = sample.part(range(len(sample.names)), np.arange(k * ROWS, (k + 1) * ROWS))
        target = int(np.random.default_rng([first, k]).choice(table.varying))
        for label, setting in settings.items():
            answer[label].append(_counted(table, target, setting))
    return answer


def _part(
    path: Path, variables: int, first: int, repeats: int, bootstrap: bool, setting: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the tests for the label in parts of Thrombin."""
    features, label = read_thrombin(path)
    counts = []
    for repeat in range(first, first + repeats):
        random = np.random.default_rng([variables, repeat])
        columns = np.sort(random.choice(FEATURES, variables, replace=False))
        rows = random.integers(len(label), size=len(label)) if bootstrap else np.arange(len(label))
        data = np.concatenate([features[np.ix_(rows, columns)], label[rows][:, None]], axis=1)
        # With a random state, columns that copy others are candidates too, as in the paper.
        counts.append(_counted(serape.Table(data), variables, {**setting, "random_state": repeat}))
    return {"variables": variables + 1, "counts": counts}


def _counted(table: Table, target: int, setting: Mapping[str, Any]) -> list[float]:
    """Return the tests performed, those that were unreliable, and the seconds."""
    found = asked(table, target, "parents-children", setting)
    return [found.tests, found.skipped, round(found.seconds, 4)]


def tables(answers: CellAnswers) -> Tables:
    """Return the fitted exponents beside the paper's, and numbers of tests."""
    exponents: list[Row] = []
    tests: list[Row] = []
    for name in dict.fromkeys(key[0] for key in answers):
        for label in SETTINGS if name != "thrombin" else THROMBIN:
            points = _points(answers, str(name), label)
            if not points:
                continue
            published = PAPER_EXPONENT["thrombin" if name == "thrombin" else "tiled"]
            mean, low, high = _fit(points, 0)
            exponents.append({
                "data": name, "setting": label, "exponent of the mean": f"{mean:.2f}",
                "95 % interval": f"{low:.2f} to {high:.2f}", "of the median": f"{_exponent(points, np.median):.2f}",
                "with unreliable tests": f"{_exponent([(n, c[:, :2].sum(1, keepdims=True)) for n, c in points]):.2f}",
                "paper's": f"{published:.2f}", "deviation": deviation(mean, published),
            })  # fmt: skip
            for n, counts in points:
                tests.append({
                    "data": name, "setting": label, "variables": n, "data sets": len(counts),
                    "tests, mean": round(float(counts[:, 0].mean())),
                    "median": round(float(np.median(counts[:, 0]))),
                    "unreliable, mean": round(float(counts[:, 1].mean())),
                    "seconds, mean": f"{counts[:, 2].mean():.3f}",
                })  # fmt: skip
    tiled = [row for row in exponents if row["data"] != "thrombin"]
    return {
        "exponents, tiled networks": tiled,
        "mean exponents": [_mean_exponent(tiled, label) for label in SETTINGS],
        "exponents, thrombin": [row for row in exponents if row["data"] == "thrombin"],
        "tests": tests,
    }


def _mean_exponent(rows: Sequence[Row], label: str) -> Row:
    own = [float(row["exponent of the mean"]) for row in rows if row["setting"] == label]
    mean, published = float(np.mean(own)), PAPER_EXPONENT["tiled"]
    return {
        "setting": label, "mean exponent": f"{mean:.2f}", "least": f"{min(own):.2f}", "largest": f"{max(own):.2f}",
        "paper's": f"{published:.2f}", "deviation": deviation(mean, published),
    }  # fmt: skip


Counts = NDArray[np.float64]
"""Tests, unreliable tests and seconds, one row for each data set."""


def _points(answers: CellAnswers, name: str, label: str) -> list[tuple[int, Counts]]:
    """Return, by number of variables in ascending order, the counts of all data sets."""
    points: dict[int, list[list[float]]] = {}
    for key in answers:
        if key[0] == name and (name != "thrombin" or key[2] == label):
            (answer,) = samples_of(answers, *key)
            points.setdefault(answer["variables"], []).extend(answer["counts" if name == "thrombin" else label])
    return [(n, np.array(points[n])) for n in sorted(points)]


def _exponent(points: Sequence[tuple[int, Counts]], middle: Any = np.mean) -> float:
    """Return the slope of the logarithm of the tests against that of the variables."""
    tests = [float(middle(counts[:, 0])) for _, counts in points]
    return float(np.polyfit(np.log([n for n, _ in points]), np.log(tests), 1)[0])


def _fit(points: Sequence[tuple[int, Counts]], seed: int, draws: int = 2000) -> tuple[float, float, float]:
    """Return the exponent of the mean, and its 95 % interval: data sets of each size are drawn again."""
    random = np.random.default_rng(seed)
    drawn = [
        _exponent([(n, counts[random.integers(len(counts), size=len(counts))]) for n, counts in points])
        for _ in range(draws)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return _exponent(points), float(low), float(high)


def facts(tables: Tables) -> Mapping[str, object]:
    """Return the mean exponents, and the times of the largest searches."""
    names = {THE_PAPERS: "written", "unreliable independent": "independent", OURS: "skipped"}
    told: dict[str, object] = {}
    for row in tables["mean exponents"]:
        told[f"mean_{names[row['setting']]}"] = row["mean exponent"]
    thrombin = [row["exponent of the mean"] for row in tables["exponents, thrombin"]]
    told["thrombin_least"], told["thrombin_largest"] = min(thrombin), max(thrombin)
    last = {(row["data"], row["setting"]): row for row in tables["tests"]}
    whole = last["thrombin", "rows drawn again"]
    told["thrombin_tests"] = f"{whole['tests, mean'] / 1e6:.0f}"
    told["thrombin_seconds"] = f"{float(whole['seconds, mean']):.0f}"
    told["alarm_seconds"] = last["alarm", OURS]["seconds, mean"]
    return told


def draw(answers: CellAnswers) -> Figure:
    """Plot the number of tests against the number of variables, on logarithmic axes, as in Figure 4."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    for k, label in enumerate((THE_PAPERS, OURS)):
        axes = figure.add_subplot(1, 2, k + 1)
        for name in dict.fromkeys(key[0] for key in answers):
            thrombin = list(THROMBIN)[k]
            points = _points(answers, str(name), thrombin if name == "thrombin" else label)
            style = "k:" if name == "thrombin" else "-"
            heights = [counts[:, 0].mean() for _, counts in points]
            named = f"{name}: n^{_exponent(points):.2f}"
            axes.plot([n for n, _ in points], heights, f"o{style}", markersize=4, label=named)
        axes.set(title=label, xscale="log", yscale="log", xlabel="variables", ylabel="tests, mean of the data sets")
        axes.legend(fontsize=7)
    return figure


STUDIES = (
    Study(
        "hpc2010-scaling", PAPER, "number of tests of hpc against the number of variables; Thrombin too, with --data",
        cells, tables, draw, facts,
    ),
)  # fmt: skip
