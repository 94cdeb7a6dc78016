"""How each tool answers a default question, for `suite questions`; bnlearn's answers are in `bnlearn.R`.

Everything is a tool's default, but that it has one thread and no limit of its own. What is found is a number: of
variables, edges or blankets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.codes import Job
from benchmarks.peers.frames import Frame

ENOUGH_SECONDS = 1.0
MAX_REPEATS = 5
"""A question is repeated until it has taken so many seconds, or so many times."""

read = Frame.read

# --- serape -----------------------------------------------------------------------------------------------------------

ALONE: dict[str, Any] = {"n_jobs": 1, "progress": False, "max_seconds": None}
ASKED: dict[str, tuple[str, str | None, Callable[[Any], int]]] = {
    "blanket": ("markov_blanket", "one", lambda found: len(found.blanket)),
    "five blankets": ("blankets", "five", lambda found: sum(len(one.blanket) for one in found.values())),
    "blankets": ("blankets", None, lambda found: sum(len(one.blanket) for one in found.values())),
    "stability": ("stability", "one", lambda found: len(found.stable())),
    "network": ("network", None, lambda found: len(found.edges)),
    "causes": ("causes", "one", lambda found: len(found.causes)),
    "all blankets": ("all_blankets", "one", lambda found: len(found.blankets)),
}
"""The function for each question, what it is asked about, and how what was found is counted."""


def serape(data: Frame, method: str, alpha: float) -> Job:
    """Prepare serape: from a frame to the answer, and which part of this is making the table."""
    del alpha
    package, frame = import_module("serape"), data.pandas()
    if method == "selector":
        columns, target = features(data, frame)
        return (
            lambda _: package.MarkovBlanketSelector(**ALONE).fit(columns, target),
            lambda found: {"found": int(found.support_.sum())},
        )
    function, which, count = ASKED[method]
    ask = getattr(package, function)
    targets = data.asked(which) if which else ()
    about = targets if which in (None, "one") else [targets]

    def search(_: Callable[[], None]) -> tuple[float, Any]:
        begin = time.process_time()
        table = package.Table(frame)
        made = time.process_time() - begin
        return made, ask(table, *about, **ALONE)

    return search, lambda found: {"table": found[0], "found": count(found[1])}


# --- selection of columns ---------------------------------------------------------------------------------------------


def features(data: Frame, frame: Any) -> tuple[Any, Any]:
    """Return all columns but the first target, and the values of that: numbers, or classes from 0."""
    (name,) = data.asked("one")
    target = frame[name]
    return frame.drop(columns=name), target.cat.codes.to_numpy() if target.dtype == "category" else target.to_numpy()


def has_classes(data: Frame) -> bool:
    """Whether the first target is of categories, or of two numbers, so that it is classified."""
    first = data.targets[0]
    return data.levels[first] > 0 or len(np.unique(data.columns[first])) == 2


def lightgbm(data: Frame, method: str, alpha: float) -> Job:
    """Prepare LightGBM: columns whose importance is above the mean, as scikit-learn selects them."""
    del method, alpha
    package, select = map(import_module, ("lightgbm", "sklearn.feature_selection"))
    columns, target = features(data, data.pandas())
    kind = package.LGBMClassifier if has_classes(data) else package.LGBMRegressor
    return (
        lambda _: select.SelectFromModel(kind(n_jobs=1, verbosity=-1)).fit(columns, target),
        lambda found: {"found": int(found.get_support().sum())},
    )


def scikit_learn(data: Frame, method: str, alpha: float) -> Job:
    """Prepare scikit-learn: an L1 penalty by cross-validation selects columns that have a coefficient."""
    del method, alpha
    compose, linear, pipeline, preprocessing, many = (
        import_module(f"sklearn.{name}")
        for name in ("compose", "linear_model", "pipeline", "preprocessing", "multiclass")
    )
    columns, target = features(data, data.pandas())
    numbers = [name for name in columns.columns if columns[name].dtype != "category"]
    words = [name for name in columns.columns if columns[name].dtype == "category"]
    encoded = compose.ColumnTransformer(
        [
            ("numbers", preprocessing.StandardScaler(), numbers),
            ("categories", preprocessing.OneHotEncoder(handle_unknown="ignore"), words),
        ]
    )
    model: Any = linear.LassoCV()
    if has_classes(data):
        one = linear.LogisticRegressionCV(l1_ratios=(1,), solver="liblinear")
        model = many.OneVsRestClassifier(one)  # liblinear, the quickest, has two classes alone

    def read_columns(found: Any) -> dict[str, int]:
        fitted = found[-1].estimators_ if has_classes(data) else [found[-1]]
        used = np.any([np.ravel(each.coef_) != 0 for each in fitted], axis=0)
        whose = [str(name).split("_")[2] for name in found[0].get_feature_names_out()]  # "numbers__x0"
        return {"found": len({name for name, is_used in zip(whose, used, strict=True) if is_used})}

    return lambda _: pipeline.make_pipeline(encoded, model).fit(columns, target), read_columns


def boruta(data: Frame, method: str, alpha: float) -> Job:
    """Prepare Boruta with the forest of its page; categories are codes, as a forest of scikit-learn needs."""
    del method, alpha
    package, ensemble = map(import_module, ("boruta", "sklearn.ensemble"))
    first = data.targets[0]
    columns = np.column_stack([values for k, values in enumerate(data.columns) if k != first])
    if has_classes(data):
        forest = ensemble.RandomForestClassifier(n_jobs=1, class_weight="balanced", max_depth=5)
    else:
        forest = ensemble.RandomForestRegressor(n_jobs=1, max_depth=5)
    return (
        lambda _: package.BorutaPy(forest, n_estimators="auto", random_state=1).fit(columns, data.columns[first]),
        lambda found: {"found": int(found.support_.sum())},
    )


# --- networks ---------------------------------------------------------------------------------------------------------


def pybnesian(data: Frame, method: str, alpha: float) -> Job:
    """Prepare PyBNesian: hill climbing by BIC with the kind of network that the columns need."""
    del method, alpha
    package, frame = import_module("pybnesian"), data.pandas()
    kinds = {
        "numbers": package.GaussianNetworkType,
        "categories": package.DiscreteBNType,
        "mixed": package.CLGNetworkType,
    }
    for name, count in zip(data.names, data.levels, strict=True):
        if count < 0:
            frame[name] = frame[name].astype(float)  # it has no whole numbers
    return (
        lambda _: package.hc(frame, bn_type=kinds[data.kinds](), score="bic", operators=["arcs"]),
        lambda found: {"found": found.num_arcs()},
    )


TOOLS: dict[str, Callable[[Frame, str, float], Job]] = {
    "serape": serape,
    "lightgbm": lightgbm,
    "scikit-learn": scikit_learn,
    "Boruta": boruta,
    "PyBNesian": pybnesian,
}
