"""Real data whose columns are all categorical: numbers are cut at their terciles, rare levels are merged."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.calibration.real import BUNDLED, STORED, Columns, stored

SETS = ("breast_cancer", "digits", "german", "mushrooms", "adult", "census-income")
ROWS = 2000
"""Larger tables are sampled."""
RARE = 0.02
"""Levels of a smaller share of the rows are merged into one."""
_ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip


def available(folder: Path | None) -> list[str]:
    """Return the names of the data sets that are there: those of scikit-learn, and those of a folder."""
    return [name for name in SETS if name in BUNDLED or (folder is not None and path_of(folder, name).exists())]


def drawn_rows(folder: Path | None, name: str, seed: int) -> tuple[Columns, str]:
    """Return a data set with at most 2,000 rows, drawn without replacement, and its target."""
    columns, target = read(folder, name)
    rows = len(columns[target])
    chosen = np.random.default_rng(seed).permutation(rows)[:ROWS]
    found: Columns = {column: classes(values[chosen], RARE) for column, values in columns.items() if column != target}
    varying = {column: values for column, values in found.items() if len(np.unique(values)) > 1}
    return {**varying, target: columns[target][chosen].astype(str)}, target


def classes(values: NDArray[Any], rare: float) -> NDArray[Any]:
    """Return a column as text: more than ten numbers are cut at their terciles, and rare levels are merged."""
    if values.dtype.kind in "iuf" and len(np.unique(values)) > 10:
        cut: NDArray[Any] = np.digitize(values, np.unique(np.quantile(values, [1 / 3, 2 / 3])), right=True).astype(str)
        return cut
    levels, codes, counts = np.unique(values.astype(str), return_inverse=True, return_counts=True)
    common = counts >= rare * len(values)
    if (~common).sum() < 2:
        common[:] = True
    merged: NDArray[Any] = np.where(common, levels, "(rare)")[codes].astype(str)
    return merged


@cache
def read(folder: Path | None, name: str) -> tuple[Columns, str]:
    """Return all columns of a data set as they are, and its target."""
    if name in BUNDLED:
        return BUNDLED[name]()
    assert folder is not None
    path = path_of(folder, name)
    if name not in ("adult", "census-income"):
        target, drop = next(known for file, known in STORED.items() if file.partition(".")[0] == name)
        return stored(path, target, drop)
    pandas = import_module("pandas")
    names = list(_ADULT) if name == "adult" else None
    frame = pandas.read_csv(path, names=names, header=None if names else 0, skipinitialspace=True)
    return {str(column): frame[column].to_numpy() for column in frame.columns}, str(frame.columns[-1])


def path_of(folder: Path, name: str) -> Path:
    """Return where a folder has a data set, or would have it."""
    inside = {"adult": "adult/adult.data.xz", "census-income": "census-income/census-income.train.clean.csv.xz"}
    files = [inside[name]] if name in inside else [f"{file}.xz" for file in STORED if file.partition(".")[0] == name]
    places = [folder / file for file in files] + [folder / "real" / file for file in files]
    return next((path for path in places if path.exists()), places[0])
