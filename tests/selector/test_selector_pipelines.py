"""The selector in pipelines and searches; clones, pickles, imports, the example."""

from __future__ import annotations

import gc
import pickle
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

import serape
from serape import MarkovBlanketSelector
from tables import clinic_frame, mixed_frame

ROOT = Path(__file__).parents[2]


# --- pipelines -------------------------------------------------------------------------------------------------------


def test_pipeline_of_categories() -> None:
    X, y = clinic_frame()
    pipeline = make_pipeline(MarkovBlanketSelector(alpha=0.01), OneHotEncoder(), LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.7
    assert pipeline[:-1].get_feature_names_out()[0].startswith(pipeline[0].blanket_[0])


def test_grid_search() -> None:
    X, y = clinic_frame(600)
    steps = Pipeline(
        [("select", MarkovBlanketSelector()), ("encode", OneHotEncoder()), ("classify", LogisticRegression())]
    )
    grid = {"select__alpha": [0.001, 0.05], "select__algorithm": ["iamb", "hiton-mb"]}
    search = GridSearchCV(steps, grid, cv=3, error_score="raise", n_jobs=1).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    selector = search.best_estimator_["select"]
    assert selector.result_.alpha == search.best_params_["select__alpha"]
    assert selector.result_.algorithm == search.best_params_["select__algorithm"]


def test_kinds_are_those_of_a_table() -> None:
    """The kinds that a table detects in all rows can be pinned, so that folds cannot differ in them."""
    X, y = mixed_frame()
    X["whole"] = np.arange(len(X)) % 25  # a fold of few rows has few distinct values, and takes them for categories
    X.loc[X.index[:9], "number"] = np.nan
    kinds = serape.Table(X, missing="pairwise").kinds
    pinned = MarkovBlanketSelector(kinds=kinds, missing="pairwise")
    few = X.iloc[:15]
    assert serape.Table(few, missing="pairwise").kinds["whole"] == "categorical"
    found = clone(pinned).fit(X, y)
    assert found.blanket_ == MarkovBlanketSelector(missing="pairwise").fit(X, y).blanket_
    table, _ = clone(pinned)._table(few, y[:15], {"sample_weight": None, "groups": None})
    assert table.kinds["whole"] == kinds["whole"] == "count"


def test_knowledge_names_y() -> None:
    X, y = mixed_frame()
    for target, name in ((y, "y"), (pd.Series(y, X.index, name="ill"), "ill")):
        selector = MarkovBlanketSelector("hiton-mb", knowledge={"forbidden_pairs": [("number", name)]}).fit(X, target)
        assert selector.result_.target == name
        assert "number" not in selector.blanket_


def test_nothing_leaks() -> None:
    """Labels of pure noise: a selector within the folds reaches chance, one before them far more."""
    random = np.random.default_rng(5)
    X = random.integers(0, 2, (120, 400))
    y = np.repeat([0, 1], 60)
    random.shuffle(y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    steps = Pipeline([("select", MarkovBlanketSelector()), ("classify", GaussianNB())])
    search = GridSearchCV(steps, {"select__alpha": [0.02, 0.05], "select__algorithm": ["iamb", "fast-iamb"]}, cv=3)
    inside = cross_val_score(search, X, y, cv=folds).mean()
    before = cross_val_score(GaussianNB(), MarkovBlanketSelector().fit_transform(X, y), y, cv=folds).mean()
    assert abs(inside - 0.5) < 2.5 * 0.5 / np.sqrt(len(y))
    assert before > 0.65


def test_a_fold_sees_its_own_rows_only() -> None:
    X, y = clinic_frame(600)
    folds = StratifiedKFold(3)
    found = cross_validate(
        make_pipeline(MarkovBlanketSelector(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
        X, y, cv=folds, return_estimator=True,
    )  # fmt: skip
    for fitted, (train, _) in zip(found["estimator"], folds.split(X, y), strict=True):
        assert fitted[0].blanket_ == MarkovBlanketSelector().fit(X.iloc[train], y.iloc[train]).blanket_


def test_metadata_routing() -> None:
    X, y = clinic_frame(400)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = MarkovBlanketSelector().set_fit_request(sample_weight=False)
        classifier = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(selector, OneHotEncoder(), classifier)
        weights = np.linspace(0.1, 1, len(y))
        weighted = pipeline.fit(X, y, sample_weight=weights)[-1].coef_.copy()
        plain = pipeline.fit(X, y)[-1].coef_
        assert not np.allclose(weighted, plain)


@pytest.mark.parametrize("kind", ["frequency", "survey"])
def test_weights_are_routed_to_the_selector(kind: Literal["frequency", "survey"]) -> None:
    X, y = clinic_frame(400)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    alone = clone(MarkovBlanketSelector(weight_kind=kind)).fit(X, y, sample_weight=weights)
    plain = MarkovBlanketSelector().fit(X, y)
    assert not alone.evidence_.to_pandas().equals(plain.evidence_.to_pandas())
    with sklearn.config_context(enable_metadata_routing=True):
        selector = MarkovBlanketSelector(weight_kind=kind)
        pipeline = make_pipeline(selector, OneHotEncoder(), LogisticRegression().set_fit_request(sample_weight=False))
        with pytest.raises(UnsetMetadataPassedError):  # nothing says whether the selector wants them
            pipeline.fit(X, y, sample_weight=weights)
        selector.set_fit_request(sample_weight=True)
        found = clone(pipeline).fit(X, y, sample_weight=weights)[0]
    assert found.blanket_ == alone.blanket_
    assert found.evidence_.to_pandas().equals(alone.evidence_.to_pandas())
    if kind == "frequency":
        at = np.repeat(np.arange(len(y)), weights)
        repeated = MarkovBlanketSelector().fit(X.iloc[at], y.iloc[at])
        assert repeated.evidence_.to_pandas().equals(alone.evidence_.to_pandas())


def test_groups_are_routed_to_the_selector_and_to_the_folds() -> None:
    """What patients have in common is no dependence, and no patient is in two folds."""
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 12)
    level = random.normal(size=(2, 12))[:, groups]
    X = pd.DataFrame({"level": level[0] + random.normal(size=144) * 0.3, "cause": random.normal(size=144)})
    y = level[0] + X["cause"] + random.normal(size=144)
    selector = MarkovBlanketSelector(test="correlation-permutation", alpha=0.01)
    assert selector.fit(X, y).blanket_ == ("level", "cause")
    alone = clone(selector).fit(X, y, groups=groups)
    assert alone.blanket_ == ("cause",)
    asked = serape.markov_blanket(X.assign(y=y), "y", test="correlation-permutation", alpha=0.01, groups=groups)
    assert asked.blanket == alone.blanket_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(selector).set_fit_request(groups=True, sample_weight=False)
        found = cross_validate(
            make_pipeline(routed, LinearRegression()), X, y, cv=GroupKFold(3), params={"groups": groups},
            return_estimator=True,
        )  # fmt: skip
    assert [one[0].blanket_ for one in found["estimator"]] == [("cause",)] * 3


# --- clones, pickles, memory -----------------------------------------------------------------------------------------


def test_clone_keeps_settings_and_forgets_answers() -> None:
    X, y = clinic_frame(400)
    selector = MarkovBlanketSelector("hiton-mb", alpha=0.01, kinds={"Age": "categorical"}, bins=3).fit(X, y)
    copy = clone(selector)
    assert copy.get_params() == selector.get_params()
    assert not hasattr(copy, "blanket_")
    assert copy.fit(X, y).blanket_ == selector.blanket_


def test_pickle() -> None:
    X, y = clinic_frame()
    selector = MarkovBlanketSelector("hiton-mb").fit(X, y)
    other = pickle.loads(pickle.dumps(selector))
    assert other.blanket_ == selector.blanket_
    pd.testing.assert_frame_equal(other.transform(X), selector.transform(X))
    pd.testing.assert_frame_equal(other.evidence_.to_pandas(), selector.evidence_.to_pandas())
    assert str(other.result_.explain("Weight")) == str(selector.result_.explain("Weight"))


def test_a_fitted_selector_does_not_keep_the_data() -> None:
    def tables() -> int:
        gc.collect()
        return sum(isinstance(thing, serape.Table) for thing in gc.get_objects())

    X, y = clinic_frame(400)
    before = tables()
    selector = MarkovBlanketSelector().fit(X, y)
    assert tables() == before
    assert len(selector.evidence_) == X.shape[1]


def test_random_states() -> None:
    X, y = clinic_frame(400)
    for state in (0, np.random.RandomState(0), np.random.default_rng(0), None):
        assert MarkovBlanketSelector(random_state=state).fit(X, y).blanket_


def test_copies_are_reported(random: np.random.Generator) -> None:
    X = random.integers(0, 2, (300, 4))
    X[:, 3] = X[:, 1]
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, X[:, 1] ^ (random.random(300) < 0.1))
    assert selector.blanket_ == ("x1",)
    assert selector.result_.interchangeable == {"x1": ("x3",)}


# --- imports ---------------------------------------------------------------------------------------------------------


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scikit_learn_is_imported_when_it_is_needed() -> None:
    run(
        "import sys, serape\n"
        "assert 'sklearn' not in sys.modules\n"
        "assert 'MarkovBlanketSelector' in dir(serape) and 'MarkovBlanketSelector' in serape.__all__\n"
        "assert 'sklearn' not in sys.modules\n"
        "from serape import *\n"
        "assert MarkovBlanketSelector is serape.MarkovBlanketSelector\n"
        "assert not hasattr(serape, 'MarkovBlanketSelectr')\n"
    )


def test_without_scikit_learn() -> None:
    told = run(
        "import sys; sys.modules['sklearn'] = None\n"
        "import serape\n"
        "from serape import *\n"
        "assert 'MarkovBlanketSelector' not in dir(serape)\n"
        "try: from serape import MarkovBlanketSelector\n"
        "except ImportError as error: print(error); assert isinstance(error, serape.SerapeError)\n"
    )
    assert told.strip().endswith("pip install 'serape[sklearn]'")


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_example() -> None:
    """Naive Bayes does better with a fraction of the columns, everything chosen within the folds."""
    example = runpy.run_path(str(ROOT / "examples" / "sklearn_pipeline.py"))
    X, y = example["load_breast_cancer"](return_X_y=True)
    row = example["compare"](X, y, GaussianNB(), [example["CORRELATIONS"], example["CLASSES"]])
    everything, blanket, size, better, worse = map(float, row.split())
    assert blanket > everything
    assert size < 10
    assert better > worse
