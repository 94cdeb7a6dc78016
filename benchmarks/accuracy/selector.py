"""Prediction from selected columns: `MarkovBlanketSelector` with all defaults beside L1 selection (docs/sklearn.md)."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.accuracy.calibration.real import STORED, Columns, data_sets
from benchmarks.common.output import markdown, report, save, short

Mask = NDArray[np.bool_]
Classes = NDArray[Any]
Select = Callable[[Any, Classes], Mask]
"""Takes a frame of columns and the classes of its rows, and returns which columns it selects."""

FOLDS = 5
CLOSE = 0.01
"""AUCs that differ by no more count as equal."""
STRENGTHS = np.logspace(-3, 1, 9)
"""The inverses of the strength of a penalty (C) that the inner cross-validation chooses from."""
AS_GOOD = "as good"
RARE = 10
"""Levels with fewer rows are encoded as one."""
NUMBERS = "numbers (scaled)"
FEW = 20
"""A target with more distinct numbers is cut at its median into two classes."""
LEFT_OUT = ("linnerud",)
"""20 rows are too few for two cross-validations."""
NOMINAL = {
    "german": (
        *("status", "credit_history", "purpose", "savings", "personal_status_sex"),
        *("other_debtors", "property", "other_installment_plans", "housing"),
    )
}
"""Columns whose numbers stand for categories, by the description of the data."""

# --- the same for all ways of selecting -------------------------------------------------------------------------------


def classes_of(target: NDArray[Any]) -> Classes:
    """Return the classes of a target, numbered from 0."""
    if target.dtype.kind in "iuf" and len(np.unique(target)) > FEW:
        target = target > np.median(target)
    found: Classes = np.unique(target, return_inverse=True)[1]
    return found


def frame_of(name: str, columns: Columns, target: str) -> Any:
    """Return the columns other than the target as a frame; categories are text."""
    import pandas

    nominal = NOMINAL.get(name, ())
    return pandas.DataFrame({n: c.astype(str) if n in nominal else c for n, c in columns.items() if n != target})


def encoder(frame: Any) -> Any:
    """Return a transformer that scales numbers, and encodes each column of text or truth values as indicators."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [n for n in frame.columns if frame[n].dtype.kind in "iuf"]
    levels = OneHotEncoder(min_frequency=RARE, handle_unknown="infrequent_if_exist")
    words = [(str(n), levels, [n]) for n in frame.columns if n not in numbers]
    return ColumnTransformer([(NUMBERS, StandardScaler(), numbers), *words])


def tuned(estimator: Any, strength: str) -> Any:
    """Return an estimator whose penalty is chosen by a cross-validation inside the rows that it is fit to."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    return GridSearchCV(estimator, {strength: STRENGTHS}, cv=folds, scoring="neg_log_loss")


def probabilities(train: Any, y: Classes, test: Any) -> NDArray[np.float64]:
    """Return probabilities of the classes of test rows by a logistic regression; the shares if no column is left."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    if not train.shape[1]:
        return np.tile(np.bincount(y) / len(y), (len(test), 1))
    model = make_pipeline(encoder(train), tuned(LogisticRegression(max_iter=2000), "C"))
    found: NDArray[np.float64] = model.fit(train, y).predict_proba(test)
    return found


def auc(y: Classes, given: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve: of the second class, or the mean over all classes against the rest."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, given[:, 1] if given.shape[1] == 2 else given, multi_class="ovr"))


# --- ways of selecting ------------------------------------------------------------------------------------------------


def everything(frame: Any, y: Classes) -> Mask:
    """Select all columns."""
    del y
    return np.ones(frame.shape[1], bool)


def blanket(frame: Any, y: Classes) -> Mask:
    """Select the Markov blanket of the class, with all defaults."""
    found: Mask = serape.MarkovBlanketSelector().fit(frame, y).support_
    return found


def lasso(frame: Any, y: Classes) -> Mask:
    """Select columns with a coefficient in a logistic regression with an L1 penalty, chosen by cross-validation.

    For more than two classes, one regression for each; all with the same strength. A column of categories is selected
    if any of its levels has a coefficient. A looser tolerance than this leaves columns in that should be out.
    """
    from sklearn import __version__
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    kind = {"l1_ratio": 1} if tuple(map(int, __version__.split(".")[:2])) >= (1, 8) else {"penalty": "l1"}
    one = LogisticRegression(solver="liblinear", tol=1e-6, max_iter=5000, random_state=0, **kind)
    encoded = encoder(frame)
    search = tuned(OneVsRestClassifier(one), "estimator__C").fit(encoded.fit_transform(frame), y)
    used = np.any([each.coef_[0] != 0 for each in search.best_estimator_.estimators_], axis=0)
    where = encoded.output_indices_
    numbers = iter(used[where[NUMBERS]])
    return np.array([used[where[n]].any() if n in where else next(numbers) for n in map(str, frame.columns)])


WAYS: Mapping[str, Select] = {"all columns": everything, "L1": lasso, "blanket": blanket}

# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """What a way of selecting gives on one data set: a figure for each fold."""

    data: str
    rows: int
    columns: int
    classes: int
    way: str
    auc: list[float]
    kept: list[int]
    seconds: list[float]


def measure(name: str, frame: Any, y: Classes, folds: int) -> list[Measured]:
    """Select columns in the training rows of each fold, fit the classifier to them, and judge it by the test rows."""
    from sklearn.model_selection import StratifiedKFold

    rows, columns = frame.shape
    found = {way: Measured(name, rows, columns, int(y.max()) + 1, way, [], [], []) for way in WAYS}
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=7).split(frame, y))[:folds]
    for train, test in splits:
        for way, select in WAYS.items():
            begin = time.perf_counter()
            mask = select(frame.iloc[train], y[train])
            found[way].seconds.append(time.perf_counter() - begin)
            found[way].kept.append(int(mask.sum()))
            chosen = frame.loc[:, mask]
            found[way].auc.append(auc(y[test], probabilities(chosen.iloc[train], y[train], chosen.iloc[test])))
        report(f"{name}: " + ", ".join(f"{m.way} {m.auc[-1]:.3f} / {m.kept[-1]}" for m in found.values()))
    return list(found.values())


def table_of(measured: Sequence[Measured]) -> str:
    """Return a table: a line for each data set, and how the blanket compares with L1 selection."""
    lines = []
    for name in dict.fromkeys(m.data for m in measured):
        these = {m.way: m for m in measured if m.data == name}
        one = next(iter(these.values()))
        line = [name, f"{one.rows:,}", f"{one.columns:,}", str(one.classes)]
        for m in these.values():
            line.append(f"{np.mean(m.auc):.3f}".removeprefix("0"))
            line += [] if m.way == "all columns" else [f"{np.mean(m.kept):.1f}", short(float(np.mean(m.seconds)), 2)]
        differences = np.subtract(these["blanket"].auc, these["L1"].auc)
        error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
        lines.append([*line, f"{differences.mean():+.3f} ± {error:.3f}", verdict(these["blanket"], these["L1"])])
    head = ["data", "rows", "columns", "classes", "AUC, all", "AUC, L1", "columns", "s", "AUC, blanket", "columns", "s"]
    return markdown([*head, "blanket − L1", ""], lines, words=(0, 12))


def verdict(ours: Measured, other: Measured) -> str:
    """Say in which respects the blanket is behind."""
    lower = np.mean(ours.auc) < np.mean(other.auc) - CLOSE
    more = np.mean(ours.kept) > np.mean(other.kept)
    return " and ".join(["less accurate"] * bool(lower) + ["more columns"] * bool(more)) or AS_GOOD


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="of compressed files with further data sets")
    parser.add_argument("--sets", nargs="+", help="names of data sets; all by default")


def run(options: argparse.Namespace) -> None:
    """Compare columns selected by `MarkovBlanketSelector` with those of L1 selection, by prediction.

    Five folds: in the training rows, columns are selected, and a logistic regression is fit to them; the test rows give
    the area under the ROC curve (for more than two classes, the mean over classes against the rest). The selector has
    all defaults. L1 selection keeps the columns with a coefficient in a logistic regression with an L1 penalty. The
    strength of this penalty, and that of the final regression's, is chosen by five folds inside the training rows.
    Columns are encoded in the same way for all. Targets of many numbers are cut at their median. The last columns are
    the difference of AUC, its standard error over folds, and whether the blanket is within .01 of L1 with no more
    columns. Results go to benchmarks/out/selector.json.
    """
    if options.real is None:
        report(f"without --real FOLDER, these are left out: {', '.join(name.partition('.')[0] for name in STORED)}")
    measured: list[Measured] = []
    for name, columns, target in data_sets(options.real, ["iris"] if options.quick else options.sets):
        if name not in LEFT_OUT:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", serape.EmptyBlanketWarning)
                frame = frame_of(name, columns, target)
                measured += measure(name, frame, classes_of(columns[target]), 1 if options.quick else FOLDS)
    print(table_of(measured))
    ours, others = ([m for m in measured if m.way == way] for way in ("blanket", "L1"))
    good = sum(verdict(*both) == AS_GOOD for both in zip(ours, others, strict=True))
    print(f"\nwithin {CLOSE:g} of the AUC of L1 with no more columns: {good} of {len(ours)} data sets")
    save("selector", {"settings": vars(options), "measured": [asdict(one) for one in measured]})
