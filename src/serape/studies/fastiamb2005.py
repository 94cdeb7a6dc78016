"""Yaramakala and Margaritis 2005: Fast-IAMB beside IAMB and Inter-IAMB (Figures 2 and 3)."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import serape
from serape.errors import DataError
from serape.files import open_text
from serape.networks import load_network
from serape.studies.files import find
from serape.studies.study import Answers, Cell, Row, Settings, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALGORITHMS = ("fast-iamb", "iamb", "inter-iamb", "gs")
ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


def cells(settings: Settings) -> list[Cell]:
    """Return one cell for each data set and algorithm; Adult and Census-Income if their folder is given."""
    sets = ["hailfinder"]
    if settings.data is not None:
        sets += [name for name in ("adult", "census-income") if (settings.data / name).is_dir()]
        if len(sets) == 1:
            raise DataError(
                f"{settings.data} has no folder 'adult' or 'census-income'; pass their parent folder with --data"
            )
    return [
        Cell(f"{name} {algorithm}", lambda n=name, a=algorithm: _one(settings, n, a))  # type: ignore[misc]
        for name in sets
        for algorithm in ALGORITHMS
    ]


def _one(settings: Settings, name: str, algorithm: str) -> dict[str, Any]:
    table = _data(settings, name)
    begin = time.perf_counter()
    found = {
        table.names[k]: serape.markov_blanket(
            table, k, algorithm=algorithm, alpha=0.05, reliability="cells", n_jobs=settings.threads
        )
        for k in table.varying
    }
    seconds = time.perf_counter() - begin
    sizes: Counter[int] = Counter()
    for result in found.values():
        sizes.update(result.tests_by_size)
    return {
        "attributes": len(table.names),
        "records": table.rows,
        "tests": sizes.total(),
        "seconds": seconds,
        "fitness": float(np.mean([serape.kl_fitness(table, name, result.blanket) for name, result in found.items()])),
        "members": float(np.mean([len(result.blanket) for result in found.values()])),
        "sizes": {str(size): count for size, count in sorted(sizes.items())},
    }


def _data(settings: Settings, name: str) -> serape.Table:
    if name == "hailfinder":
        return load_network("hailfinder").sample(2000 if settings.quick else 20_000, 0)
    assert settings.data is not None
    folder = settings.data / name
    if name == "adult":
        return _adult(folder, 5000 if settings.quick else None)
    return _census(folder, 5000 if settings.quick else None)


def _adult(folder: Path, max_rows: int | None) -> serape.Table:
    """Return the nine categorical attributes of the complete records of both files: 45,222, as in the paper."""
    columns: dict[str, list[str]] = {name: [] for name in ADULT if name not in NUMBERS}
    for file in ("adult.data", "adult.test"):
        path = find(folder, file)
        if path is None:
            raise DataError(f"{folder} has no {file}; the Adult data are adult.data and adult.test, as UCI ships them")
        with open_text(path) as text:
            lines = text.read().splitlines()
        for line in lines:
            fields = [field.strip().rstrip(".") for field in line.split(",")]
            if len(fields) == len(ADULT) and "?" not in fields:
                for name, field in zip(ADULT, fields, strict=True):
                    if name in columns:
                        columns[name].append(field)
    return serape.Table({name: values[:max_rows] for name, values in columns.items()}, kinds="categorical")


def _census(folder: Path, max_rows: int | None) -> serape.Table:
    """Return the attributes of at max_rows 60 values, for all records of the training file."""
    path = find(folder, "census-income.csv", "census-income.train.csv", "census-income.train.clean.csv")
    if path is None:
        raise DataError(f"{folder} has no census-income.csv; it is the training set, with a line of column names")
    with open_text(path) as text:
        records = [[field.strip() for field in row] for row in csv.reader(text) if row]
    header, body = records[0], records[1 : None if max_rows is None else max_rows + 1]
    columns = {name: [row[k] for row in body] for k, name in enumerate(header)}
    few = {name: values for name, values in columns.items() if 1 < len(set(values)) <= 60}
    return serape.Table(few, kinds="categorical")


def tables(answers: Answers, settings: Settings) -> Mapping[str, Sequence[Row]]:
    """Return tests, time and fitness, and those of Fast-IAMB as shares of the others, beside the paper's."""
    del settings
    rows: list[Row] = []
    shares: list[Row] = []
    for name in dict.fromkeys(key.split(" ")[0] for key in answers):
        own = {a: answers[f"{name} {a}"] for a in ALGORITHMS}
        for algorithm, answer in own.items():
            mean_size = sum(int(size) * count for size, count in answer["sizes"].items()) / answer["tests"]
            rows.append({
                "data": name, "attributes": answer["attributes"], "records": answer["records"], "algorithm": algorithm,
                "tests": answer["tests"], "seconds": round(answer["seconds"], 3),
                "KL fitness": round(answer["fitness"], 5), "members": round(answer["members"], 2),
                "mean conditioning set": round(mean_size, 2),
            })  # fmt: skip
        fast = own["fast-iamb"]
        for other, paper in (("iamb", "68 % to 82 %"), ("inter-iamb", "52 % to 72 %")):
            shares.append({
                "data": name, "fast-iamb as a share of": other, "tests": f"{fast['tests'] / own[other]['tests']:.0%}",
                "time": f"{fast['seconds'] / own[other]['seconds']:.0%}", "paper's time": paper,
            })  # fmt: skip
    return {"measures": rows, "shares": shares}


def draw(answers: Answers, settings: Settings) -> Figure:
    """Plot the number of tests by size of the conditioning set, as in the bottom row of Figure 2."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    del settings
    names = list(dict.fromkeys(key.split(" ")[0] for key in answers))
    figure = Figure(figsize=(4.2 * len(names), 3.4), layout="constrained")
    for k, name in enumerate(names):
        axes = figure.add_subplot(1, len(names), k + 1)
        for index, algorithm in enumerate(ALGORITHMS):
            sizes = {int(s): c for s, c in answers[f"{name} {algorithm}"]["sizes"].items()}
            axes.bar([s + 0.2 * (index - 1.5) for s in sizes], list(sizes.values()), 0.2, label=algorithm)
        axes.set(title=name, xlabel="size of the conditioning set", ylabel="tests")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend()
    return figure


STUDIES = (
    Study(
        "fastiamb2005", "Yaramakala & Margaritis 2005",
        "tests, time, fitness and conditioning sets of fast-iamb; Adult and Census-Income too, with --data FOLDER",
        cells, tables, draw,
    ),
)  # fmt: skip
