"""Yaramakala and Margaritis 2005: Fast-IAMB beside IAMB and Inter-IAMB (Figures 2 and 3)."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import serape
from serape.errors import DataError
from serape.files import open_text
from serape.networks import load_network
from serape.studies.cells import CellAnswers, StudyCell
from serape.studies.files import find
from serape.studies.measuring import asked
from serape.studies.pages import Row, Tables
from serape.studies.study import Study, StudySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: dict[str, dict[str, Any]] = {
    "fast-iamb": {"algorithm": "fast-iamb"},
    "iamb": {"algorithm": "iamb", "rank": "information"},
    "inter-iamb": {"algorithm": "inter-iamb", "rank": "information"},
    "iamb, by significance": {"algorithm": "iamb"},
    "inter-iamb, by significance": {"algorithm": "inter-iamb"},
    "gs": {"algorithm": "gs"},
}
"""The three of the paper, of which IAMB and Inter-IAMB rank by conditional mutual information, and serape's."""
THE_PAPERS = ("fast-iamb", "iamb", "inter-iamb")
ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
ADULT_FILES = ("adult.data", "adult.test")
CENSUS_FILES = ("census-income.csv", "census-income.train.csv", "census-income.train.clean.csv")
CENSUS_COLUMNS = 42
# Age, wage per hour, capital gains and losses, dividends, the weight of the record, number of employees, weeks worked.
CENSUS_NUMBERS = {0, 5, 16, 17, 18, 24, 30, 39}
PAPER_SIZES = {"hailfinder": (56, 20_000), "adult": (9, 45_222), "census-income": (34, 142_521)}
REPEATS = 3  # of which the fastest counts
PAPER_TIME = {"iamb": (0.68, 0.82), "inter-iamb": (0.52, 0.72)}


def cells(settings: StudySettings) -> list[StudyCell]:
    """Return one cell for each data set and algorithm; Adult and Census-Income if their folder is given."""
    sets: dict[str, list[Path]] = {"hailfinder": []}
    if settings.data is not None:
        sets |= {
            name: _files(settings.data / name) for name in list(PAPER_SIZES)[1:] if (settings.data / name).is_dir()
        }
        if len(sets) == 1:
            raise DataError(
                f"{settings.data} has no folder 'adult' or 'census-income'; pass their parent folder with --data"
            )
    max_rows = 5000 if settings.quick else None
    return [
        StudyCell(
            (name, label),
            _one,
            {"name": name, "max_rows": max_rows, "setting": {"alpha": 0.05, "reliability": "cells", **setting}},
            paths,
        )
        for name, paths in sets.items()
        for label, setting in SETTINGS.items()
    ]


def _files(folder: Path) -> list[Path]:
    """Return the files of Adult or of Census-Income in a folder."""
    if folder.name == "adult":
        found = [find(folder, file) for file in ADULT_FILES]
        for file, path in zip(ADULT_FILES, found, strict=True):
            if path is None:
                raise DataError(
                    f"{folder} has no {file}; the Adult data are adult.data and adult.test, as UCI ships them"
                )
        return [path for path in found if path is not None]
    path = find(folder, *CENSUS_FILES)
    if path is None:
        raise DataError(f"{folder} has no {CENSUS_FILES[0]}; it is the training set, with a line of column names")
    return [path]


def _one(*paths: Path, name: str, max_rows: int | None, setting: Mapping[str, Any]) -> dict[str, Any]:
    """Return tests, fitness and seconds of the blankets of all attributes."""
    table = _data(paths, name, max_rows)
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        found = {table.names[k]: asked(table, k, "blanket", setting) for k in table.varying}
        seconds.append(time.perf_counter() - begin)
    sizes: Counter[int] = Counter()
    for result in found.values():
        sizes.update(result.tests_by_size)
    return {
        "attributes": len(table.names),
        "records": table.rows,
        "seconds": round(min(seconds), 4),
        "tests": [result.tests for result in found.values()],
        "fitness": [round(serape.kl_fitness(table, x, result.blanket), 8) for x, result in found.items()],
        "members": round(float(np.mean([len(result.blanket) for result in found.values()])), 4),
        "sizes": {str(size): count for size, count in sorted(sizes.items())},
    }


@lru_cache(maxsize=1)
def _data(paths: Sequence[Path], name: str, max_rows: int | None) -> serape.Table:
    if name == "hailfinder":
        return load_network(name).sample(max_rows or 20_000, 0)
    return _adult(paths, max_rows) if name == "adult" else _census(paths[0], max_rows)


def _adult(paths: Sequence[Path], max_rows: int | None) -> serape.Table:
    """Return the nine categorical attributes of the complete records of both files: 45,222, as in the paper."""
    columns: dict[str, list[str]] = {name: [] for name in ADULT if name not in NUMBERS}
    for path in paths:
        with open_text(path) as text:
            lines = text.read().splitlines()
        for line in lines:
            fields = [field.strip().rstrip(".") for field in line.split(",")]
            if len(fields) == len(ADULT) and "?" not in fields:
                for name, field in zip(ADULT, fields, strict=True):
                    if name in columns:
                        columns[name].append(field)
    return serape.Table({name: values[:max_rows] for name, values in columns.items()}, kinds="categorical")


def _census(path: Path, max_rows: int | None) -> serape.Table:
    """Return the 33 nominal attributes and the class, for the complete records of the training file: 95,130."""
    with open_text(path) as text:
        records = [[field.strip() for field in row] for row in csv.reader(text) if row]
    if not records or any(len(row) != CENSUS_COLUMNS for row in records):
        raise DataError(f"{path} must have a line of column names, and {CENSUS_COLUMNS} fields in every line")
    nominal = [k for k in range(CENSUS_COLUMNS) if k not in CENSUS_NUMBERS]
    complete = [row for row in records[1:] if "?" not in row][:max_rows]
    return serape.Table({records[0][k]: [row[k] for row in complete] for k in nominal}, kinds="categorical")


def tables(answers: CellAnswers) -> Tables:
    """Return tests, time and fitness, and those of Fast-IAMB as shares of the others, beside the paper's."""
    rows: list[Row] = []
    shares: list[Row] = []
    for name in dict.fromkeys(str(key[0]) for key in answers):
        own = {label: answers[name, label] for label in SETTINGS}
        for label, answer in own.items():
            tests = sum(answer["tests"])
            mean_size = sum(int(size) * count for size, count in answer["sizes"].items()) / tests
            rows.append({
                "data": name, "algorithm": label,
                "tests": tests, "tests, an attribute": round(tests / len(answer["tests"])),
                "seconds": f"{answer['seconds']:.3f}", "KL fitness": f"{np.mean(answer['fitness']):.5f}",
                "members": f"{answer['members']:.2f}", "mean conditioning set": f"{mean_size:.2f}",
            })  # fmt: skip
        shares += [
            {"data": name, "fast-iamb as a share of": other, **_share(own["fast-iamb"], own[other], other)}
            for other in (*THE_PAPERS[1:], "iamb, by significance", "inter-iamb, by significance")
        ]
    sizes: list[Row] = [
        {
            "data": name, "attributes": answers[name, "fast-iamb"]["attributes"], "paper's attributes": published[0],
            "records": answers[name, "fast-iamb"]["records"], "paper's records": published[1],
        }
        for name, published in PAPER_SIZES.items() if (name, "fast-iamb") in answers
    ]  # fmt: skip
    return {"data": sizes, "measures": rows, "shares": shares}


def _share(fast: Mapping[str, Any], other: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return tests, attributes with fewer tests, time, and the distance of the time to the paper's range."""
    low, high = PAPER_TIME[name.split(",")[0]]
    time_share = fast["seconds"] / other["seconds"]
    outside = max(low - time_share, time_share - high, 0.0)
    fewer = sum(a <= b for a, b in zip(fast["tests"], other["tests"], strict=True))
    return {
        "tests": f"{sum(fast['tests']) / sum(other['tests']):.0%}",
        "conditional tests": f"{_conditional(fast) / _conditional(other):.0%}",
        "attributes without more tests": f"{fewer} of {len(fast['tests'])}",
        "KL fitness, difference": f"{np.mean(fast['fitness']) - np.mean(other['fitness']):+.5f}".replace("-", "−"),
        "time": f"{time_share:.0%}", "paper's time": f"{low:.0%} to {high:.0%}",
        "deviation": "within" if not outside else f"{'−' if time_share < low else '+'}{outside:.0%}",
    }  # fmt: skip


def _conditional(answer: Mapping[str, Any]) -> int:
    """Return the number of tests given at least one attribute."""
    return sum(count for size, count in answer["sizes"].items() if size != "0")


def facts(tables: Tables) -> Mapping[str, object]:
    """Return the shares of the paper's comparators, and the number of records."""
    shares = [row for row in tables["shares"] if "," not in row["fast-iamb as a share of"]]
    told: dict[str, object] = {}
    for other in THE_PAPERS[1:]:
        own = [row for row in shares if row["fast-iamb as a share of"] == other]
        short = other.replace("-", "_")
        told[f"tests_{short}"] = ", ".join(row["tests"] for row in own)
        told[f"conditional_{short}"] = ", ".join(row["conditional tests"] for row in own)
        told[f"time_{short}"] = ", ".join(row["time"] for row in own)
        told[f"attributes_{short}"] = ", ".join(row["attributes without more tests"] for row in own)
    told["within"] = sum(row["deviation"] == "within" for row in shares)
    told["faster"] = sum(float(row["time"].rstrip("%")) < 100 for row in shares)
    told["compared"] = len(shares)
    for row in tables["data"]:
        told[f"records_{row['data'].replace('-', '_')}"] = f"{row['records']:,}"
    return told


def draw(answers: CellAnswers) -> Figure:
    """Plot, for each data set, the three rows of Figure 2, and below them Figure 3."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    names = list(dict.fromkeys(str(key[0]) for key in answers))
    figure = Figure(figsize=(4.2 * len(names), 10), layout="constrained")
    for k, name in enumerate(names):
        tests, fitness, sizes, seconds = (
            figure.add_subplot(4, len(names), row * len(names) + k + 1) for row in range(4)
        )
        for index, label in enumerate(THE_PAPERS):
            answer = answers[name, label]
            at = np.arange(1, len(answer["tests"]) + 1)
            tests.plot(at, answer["tests"], "osv"[index], markersize=3, label=label)
            fitness.plot(at, answer["fitness"], "osv"[index], markersize=3, label=label)
            counts = {int(size): count for size, count in answer["sizes"].items()}
            sizes.bar([s + 0.27 * (index - 1) for s in counts], list(counts.values()), 0.27, label=label)
            seconds.barh([label], [answer["seconds"]])
        tests.set(title=name, xlabel="attribute", ylabel="tests")
        fitness.set(xlabel="attribute", ylabel="KL fitness")
        sizes.set(xlabel="size of the conditioning set", ylabel="tests")
        sizes.xaxis.set_major_locator(MaxNLocator(integer=True))
        seconds.set(xlabel="seconds")
        seconds.invert_yaxis()
        tests.legend(fontsize=7)
    return figure


STUDIES = (
    Study(
        "fastiamb2005", "Yaramakala & Margaritis 2005",
        "tests, time, fitness and conditioning sets of fast-iamb; Adult and Census-Income too, with --data FOLDER",
        cells, tables, draw, facts,
    ),
)  # fmt: skip
