"""The scikit-learn selector: the contract, the same answers as `markov_blanket`, and nothing that leaks."""

from __future__ import annotations

import gc
import pickle
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.multiclass import type_of_target

import serape
from serape import MarkovBlanketSelector
from serape.data.example import clinic

ROOT = Path(__file__).parent.parent
FIXED = np.random.default_rng(0)  # for parameters only; tests have their own


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


# --- the contract ----------------------------------------------------------------------------------------------------


@estimator_checks.parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        MarkovBlanketSelector(),
        MarkovBlanketSelector(missing="pairwise"),
        MarkovBlanketSelector("mmpc", finds="parents-children", discretise="quantile", bins=2),
        MarkovBlanketSelector(target_kind="categorical", kinds="continuous", test="mixed", missing="drop"),
    ]
)  # none is expected to fail; the one for array API libraries is skipped unless SCIPY_ARRAY_API is set
def test_estimator_checks(estimator: MarkovBlanketSelector, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", serape.EmptyBlanketWarning)  # the data of some checks are noise
        check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_set_output_transform,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_set_output_transform_polars,
        estimator_checks.check_global_output_transform_pandas,
        estimator_checks.check_global_set_output_transform_polars,
        estimator_checks.check_transformer_get_feature_names_out,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
    ],
)
@pytest.mark.filterwarnings("ignore::serape.EmptyBlanketWarning", "ignore:X (has|does not have valid) feature names")
def test_checks_that_scikit_learn_keeps_for_its_own(check: Any) -> None:
    check("MarkovBlanketSelector", MarkovBlanketSelector())


def test_parameters_of_markov_blanket_are_all_there() -> None:
    own = set(MarkovBlanketSelector().get_params())
    knowledge = {"knowledge", "known_members", "forbidden_members"}
    asked = set(serape.markov_blanket.__annotations__) - {"data", "target", "progress", "return"} - knowledge
    assert asked <= own


def test_not_fitted() -> None:
    selector = MarkovBlanketSelector()
    for ask in (selector.get_support, lambda: selector.transform([[1]]), lambda: selector.evidence_):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(selector, "evidence_")


# --- the answers -----------------------------------------------------------------------------------------------------


def patients(rows: int = 1500) -> tuple[pd.DataFrame, pd.Series[Any]]:
    data = serape.Table(clinic(rows)).to_pandas()
    return data.drop(columns="HeartDisease"), data["HeartDisease"]


@pytest.mark.parametrize(
    ("settings", "question"),
    [
        ({}, serape.markov_blanket),
        ({"algorithm": "hiton-mb", "alpha": 0.01}, serape.markov_blanket),
        ({"test": "x2", "dof": "adjusted", "reliability": "cells", "max_conditioning": 2}, serape.markov_blanket),
        ({"algorithm": "pcmb", "n_jobs": 2, "random_state": 0}, serape.markov_blanket),
        ({"algorithm": "hiton-pc", "finds": "parents-children"}, serape.parents_children),
        ({"finds": "parents-children"}, serape.parents_children),
    ],
)
def test_the_same_as_without_scikit_learn(settings: dict[str, Any], question: Any) -> None:
    X, y = patients()
    selector = MarkovBlanketSelector(**settings).fit(X, y)
    found = question(X.assign(HeartDisease=y), "HeartDisease", **{k: v for k, v in settings.items() if k != "finds"})
    assert selector.blanket_ == found.members
    assert selector.result_.target == "HeartDisease"
    assert selector.result_.tests == found.tests
    assert str(selector.result_.explain("Weight")) == str(found.explain("Weight"))
    expected = found.evidence.to_pandas().sort_values("variable", ignore_index=True)
    pd.testing.assert_frame_equal(selector.evidence_.to_pandas().sort_values("variable", ignore_index=True), expected)


def test_algorithm_options() -> None:
    X, y = patients()
    plain = MarkovBlanketSelector("mmmb").fit(X, y)
    published = MarkovBlanketSelector("mmmb", algorithm_options={"published": True}).fit(X, y)
    assert published.result_.options["published"] is True
    assert published.result_.tests != plain.result_.tests


def test_own_algorithm() -> None:
    X, y = patients(300)
    selector = MarkovBlanketSelector(lambda search, target: ["Age", "ECG"]).fit(X, y)
    assert selector.blanket_ == ("Age", "ECG")
    assert selector.get_feature_names_out().tolist() == ["Age", "ECG"]


def test_attributes() -> None:
    X, y = patients()
    selector = MarkovBlanketSelector(alpha=0.01).fit(X, y)
    assert selector.n_features_in_ == X.shape[1]
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert tuple(selector.get_feature_names_out()) == selector.blanket_
    assert tuple(X.columns[selector.get_support()]) == selector.blanket_
    assert tuple(X.columns[selector.get_support(indices=True)]) == selector.blanket_
    assert 0 < len(selector.blanket_) < X.shape[1]
    with pytest.raises(ValueError, match="input_features"):
        selector.get_feature_names_out(["a", "b"])


def test_every_container_gives_the_same() -> None:
    X, y = patients()
    codes = np.column_stack([X[c].cat.codes for c in X])
    whole = MarkovBlanketSelector().fit(codes, y.cat.codes.to_numpy())
    names = np.array(X.columns)
    for data, target in (
        (X, y),
        (X, y.tolist()),
        (pl.from_pandas(X), pl.Series("HeartDisease", y.tolist())),
        (pa.Table.from_pandas(X), y),
        (X.astype(object).to_numpy(), y.to_numpy()),
        (codes.astype(np.uint8), y.cat.codes.to_numpy().astype(float)),
        (scipy.sparse.csr_array(codes), y.cat.codes.to_numpy()),
        (X.to_numpy().tolist(), y.to_numpy()),
    ):
        selector = MarkovBlanketSelector().fit(data, target)
        assert names[selector.support_].tolist() == names[whole.support_].tolist()
    assert whole.blanket_ == tuple(f"x{k}" for k in np.flatnonzero(whole.support_))
    assert tuple(whole.get_feature_names_out()) == whole.blanket_


@pytest.mark.parametrize("wide", [False, True])
def test_wide_and_narrow_arrays(wide: bool, random: np.random.Generator) -> None:
    """A column is found among many, whatever y is: packed along with them, or of another kind."""
    X = random.integers(0, 2, (400, 3000 if wide else 30))
    label = X[:, 3] ^ (random.random(400) < 0.05)
    for y in (
        label,
        np.where(label, "yes", "no"),
        pd.Series(pd.Categorical(np.where(label, "b", "a"), categories=["a", "b", "c"])),
        X[:, 3] + random.normal(size=400),
    ):
        selector = MarkovBlanketSelector(alpha=1e-6).fit(X, y)
        assert selector.blanket_ == ("x3",)


# --- frames in, frames out -------------------------------------------------------------------------------------------


def mixed_frame() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    rows = 400
    label = random.integers(0, 2, rows)
    return (
        pd.DataFrame(
            {
                "noise": random.normal(size=rows),
                "number": label + random.normal(size=rows) / 3,
                "text": np.where(label ^ (random.random(rows) < 0.2), "up", "down"),
                "truth": random.random(rows) < 0.5,
            },
            index=np.arange(rows)[::-1] + 7,
        ),
        label,
    )


def test_pandas_stays_pandas() -> None:
    X, y = mixed_frame()
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, y)
    out = selector.transform(X)
    pd.testing.assert_frame_equal(out, X[["number", "text"]])
    assert selector.result_.test == "mixed"
    assert isinstance(selector.set_output(transform="polars").transform(X), pl.DataFrame)


def test_polars_stays_polars() -> None:
    X, y = mixed_frame()
    frame = pl.from_pandas(X)
    selector = MarkovBlanketSelector(alpha=0.001).fit(frame, pl.Series("y", y))
    out = selector.transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.equals(frame[["number", "text"]])
    as_pandas = selector.set_output(transform="pandas").transform(frame)
    assert isinstance(as_pandas, pd.DataFrame)
    assert as_pandas.columns.tolist() == ["number", "text"]


def test_arrow_stays_arrow() -> None:
    X, y = mixed_frame()
    table = pa.Table.from_pandas(X, preserve_index=False)
    assert MarkovBlanketSelector(alpha=0.001).fit(table, y).transform(table).equals(table.select(["number", "text"]))


def test_arrays_and_sparse_matrices_stay_what_they_are(random: np.random.Generator) -> None:
    X = random.integers(0, 2, (300, 6))
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, X[:, 4])
    assert selector.blanket_ == ("x4",)
    np.testing.assert_array_equal(selector.transform(X), X[:, [4]])
    out = selector.transform(scipy.sparse.csr_array(X))
    assert isinstance(out, scipy.sparse.csr_array)
    np.testing.assert_array_equal(out.toarray(), X[:, [4]])
    np.testing.assert_array_equal(selector.inverse_transform(X[:, [4]])[:, 4], X[:, 4])


def test_a_frame_with_other_columns_is_refused() -> None:
    X, y = mixed_frame()
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        selector.transform(X.rename(columns={"noise": "other"}))
    with pytest.raises(ValueError, match="order"):
        selector.transform(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="features"), pytest.warns(UserWarning, match="valid feature names"):
        selector.transform(np.zeros((3, 9)))


def test_columns_named_by_numbers(random: np.random.Generator) -> None:
    X = pd.DataFrame(random.integers(0, 2, (300, 4)))
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, X[2])
    assert selector.blanket_ == ("2",)
    pd.testing.assert_frame_equal(selector.transform(X), X[[2]])


def test_y_may_be_called_like_a_column() -> None:
    X, y = mixed_frame()
    target = pd.Series(y, name="text", index=X.index)
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, target)
    assert selector.result_.target == "text_"
    assert selector.blanket_ == ("number", "text")
    unnamed = MarkovBlanketSelector(alpha=0.001).fit(X.rename(columns={"text": "y"}), y)
    assert unnamed.result_.target == "y_"


# --- what y is -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "test"),
    [
        (FIXED.integers(0, 2, 100), "mixed"),
        (FIXED.integers(0, 2, 100).astype(float), "mixed"),
        (FIXED.integers(0, 4, 100) / 1.0, "mixed"),
        (FIXED.random(100) < 0.5, "mixed"),
        (FIXED.choice(["a", "b"], 100), "mixed"),
        (FIXED.choice(["a", "b"], 100).astype(object), "mixed"),
        (FIXED.normal(size=100), "partial-correlation"),
        (FIXED.integers(0, 2, 100) + 0.5, "partial-correlation"),
    ],
)
def test_kind_of_y_is_that_of_type_of_target(y: Any, test: str, random: np.random.Generator) -> None:
    X = np.column_stack([random.normal(size=100), np.unique(y, return_inverse=True)[1] + random.normal(size=100) / 9])
    assert type_of_target(y).startswith("continuous") == (test == "partial-correlation")
    for given in (y, y.tolist(), pd.Series(y), pl.Series(y.tolist())):
        selector = MarkovBlanketSelector().fit(X, given)
        assert selector.result_.test == test
        assert "x1" in selector.blanket_


def test_many_whole_numbers_are_a_quantity_unless_asked(random: np.random.Generator) -> None:
    X, y = load_diabetes(return_X_y=True)
    assert type_of_target(y) == "multiclass"
    assert MarkovBlanketSelector().fit(X, y).result_.test == "partial-correlation"
    ages = random.integers(20, 60, 500)
    X = np.column_stack([ages // 20, random.integers(0, 2, 500)])
    assert MarkovBlanketSelector().fit(X, ages).result_.test == "mixed"
    assert MarkovBlanketSelector(target_kind="categorical", reliability=None).fit(X, ages).result_.test == "g2"


def test_classes_taken_for_numbers() -> None:
    X, y = mixed_frame()
    X = X[["noise", "number"]]
    selector = MarkovBlanketSelector(target_kind="continuous", alpha=0.001).fit(X, y)
    assert selector.result_.test == "partial-correlation"
    assert selector.blanket_ == ("number",)
    with pytest.raises(serape.DataError, match="'yes'"):
        MarkovBlanketSelector(target_kind="continuous").fit(X, np.where(y, "yes", "no"))


def test_kinds_of_columns(random: np.random.Generator) -> None:
    X = random.integers(0, 3, (300, 3)).astype(float)
    y = (X[:, 1] == 2) ^ (random.random(300) < 0.1)
    assert MarkovBlanketSelector().fit(X, y).result_.test == "mixed"
    assert MarkovBlanketSelector(kinds="categorical").fit(X, y).result_.test == "g2"
    by_name = MarkovBlanketSelector(kinds={f"x{k}": "categorical" for k in range(3)}, alpha=0.001).fit(X, y)
    assert by_name.result_.test == "g2"
    assert by_name.blanket_ == ("x1",)
    with pytest.raises(serape.OptionError, match="'x9'"):
        MarkovBlanketSelector(kinds={"x9": "categorical"}).fit(X, y)


@pytest.mark.parametrize("method", ["quantile", "width", "mdl"])
def test_classes_of_numbers(method: Any, random: np.random.Generator) -> None:
    X = random.normal(size=(600, 4))
    y = (X[:, 2] ** 2 > 0.5).astype(int)  # correlations do not see it
    with pytest.warns(serape.EmptyBlanketWarning):
        MarkovBlanketSelector(target_kind="continuous", alpha=0.001).fit(X, y)
    selector = MarkovBlanketSelector(discretise=method, bins=4, alpha=0.001).fit(X, y)
    assert selector.blanket_ == ("x2",)
    assert selector.result_.test == "g2"
    np.testing.assert_array_equal(selector.transform(X), X[:, [2]])


def test_classes_of_a_quantity(random: np.random.Generator) -> None:
    X = random.normal(size=(600, 4))
    y = X[:, 2] ** 2 + random.normal(size=600) / 9
    selector = MarkovBlanketSelector(discretise="quantile", bins=4, alpha=0.001).fit(X, y)
    assert selector.blanket_ == ("x2",)
    assert selector.result_.test == "g2"
    with pytest.raises(serape.DataError, match="needs a categorical target"):
        MarkovBlanketSelector(discretise="mdl").fit(X, y)


def test_y_of_two_dimensions(random: np.random.Generator) -> None:
    X = random.integers(0, 2, (100, 3))
    with pytest.warns(DataConversionWarning):
        MarkovBlanketSelector().fit(X, X[:, [1]])
    with pytest.raises(ValueError, match="1d array"):
        MarkovBlanketSelector().fit(X, X[:, :2])


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"finds": "spouses"}, "finds='spouses'"),
        ({"target_kind": "ordinal"}, "target_kind='ordinal'"),
        ({"missing": "guess"}, "missing='guess'"),
        ({"discretise": "trees"}, "method='trees'"),
        ({"algorithm": "imab"}, "Did you mean 'iamb'"),
        ({"algorithm": "hiton-pc"}, "parents and children only"),
        ({"algorithm": "hiton-mb", "finds": "parents-children"}, "blanket only"),
        ({"alpha": 2}, "alpha"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"algorithm_options": {"speed": 11}}, "no option 'speed'"),
    ],
)
def test_settings_are_refused_when_fitted(settings: dict[str, Any], message: str, random: np.random.Generator) -> None:
    X = random.integers(0, 2, (50, 3))
    selector = MarkovBlanketSelector(**settings)
    with pytest.raises(serape.OptionError, match=re.escape(message)):
        selector.fit(X, X[:, 0])
    assert not hasattr(selector, "blanket_")


def test_data_are_refused(random: np.random.Generator) -> None:
    X = random.integers(0, 2, (50, 3))
    with pytest.raises(serape.DataError, match="constant"):
        MarkovBlanketSelector().fit(X, np.ones(50))
    with pytest.raises(ValueError, match="inconsistent"):
        MarkovBlanketSelector().fit(X, X[:20, 0])
    with pytest.raises(ValueError, match="inconsistent"):
        MarkovBlanketSelector().fit(pd.DataFrame(X, columns=list("abc")), X[:20, 0])
    with pytest.raises(serape.DataError, match="requires y"):
        MarkovBlanketSelector().fit(pd.DataFrame(X))
    with pytest.raises(serape.InputTypeError, match="collect"):
        MarkovBlanketSelector().fit(pl.LazyFrame(X), X[:, 0])
    labels = np.empty(50, object)
    labels[:] = [[1]] * 50
    with pytest.raises(serape.DataError, match="a list"):
        MarkovBlanketSelector().fit(X, labels)


def test_weights_are_refused(random: np.random.Generator) -> None:
    X = random.integers(0, 2, (50, 3))
    with pytest.raises(serape.InputTypeError, match="does not take 'sample_weight'"):
        MarkovBlanketSelector().fit(X, X[:, 0], sample_weight=np.ones(50))
    with pytest.raises(serape.InputTypeError, match="does not take 'sample_weight'"):
        MarkovBlanketSelector().fit_transform(X, X[:, 0], sample_weight=np.ones(50))


# --- missing values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["drop", "pairwise"])
def test_missing_numbers(rule: Any) -> None:
    X, y = mixed_frame()
    X = X[["noise", "number"]].copy()
    X.iloc[5:40, 0] = np.nan
    for data in (X, X.to_numpy()):
        with pytest.raises(ValueError, match="missing|NaN"):
            MarkovBlanketSelector(alpha=0.001).fit(data, y)
        selector = MarkovBlanketSelector(missing=rule, alpha=0.001).fit(data, y)
        assert selector.support_.tolist() == [False, True]
        assert selector.transform(data).shape == (400, 1)
    assert not get_tags(MarkovBlanketSelector()).input_tags.allow_nan
    assert get_tags(MarkovBlanketSelector(missing=rule)).input_tags.allow_nan


def test_missing_is_a_level() -> None:
    X, y = mixed_frame()
    X["text"] = X["text"].where(X["text"] == "up", None)
    selector = MarkovBlanketSelector(missing="level", alpha=0.001).fit(X[["text", "truth"]], y)
    assert selector.blanket_ == ("text",)
    assert selector.transform(X[["text", "truth"]])["text"].isna().any()


@pytest.mark.parametrize("missing", ["error", "drop", "level", "pairwise"])
def test_y_is_complete(missing: Any, random: np.random.Generator) -> None:
    X = random.integers(0, 2, (50, 3))
    number, label = X[:, 0] / 3, np.where(X[:, 0], "a", "b").astype(object)
    number[4], label[4] = np.nan, None
    selector = MarkovBlanketSelector(missing=missing)
    with pytest.raises(ValueError, match="y contains NaN"):
        selector.fit(X, number)
    for y in (label, pd.Series(label), pl.Series(label.tolist())):
        with pytest.raises(ValueError, match="y has no value in row 4"):
            selector.fit(X, y)


# --- an empty blanket ------------------------------------------------------------------------------------------------


def test_empty_blanket() -> None:
    random = np.random.default_rng(1)
    X, y = random.integers(0, 2, (200, 5)), random.integers(0, 2, 200)
    selector = MarkovBlanketSelector(alpha=1e-6)
    with pytest.warns(serape.EmptyBlanketWarning, match="nothing is selected.*'y' at alpha=1e-06.*5 tests"):
        selector.fit(X, y)
    assert selector.blanket_ == ()
    assert len(selector.evidence_) == 5
    assert selector.get_feature_names_out().tolist() == []
    assert selector.transform(X).shape == (200, 0)
    assert selector.transform(scipy.sparse.csr_array(X)).shape == (200, 0)
    names = list("abcde")
    with pytest.warns(serape.EmptyBlanketWarning):
        selector.fit(pd.DataFrame(X, columns=names), y)
    assert selector.transform(pd.DataFrame(X, columns=names)).shape == (200, 0)
    assert isinstance(selector.transform(pl.DataFrame(X, schema=names)), pl.DataFrame)
    with pytest.warns(serape.EmptyBlanketWarning):
        guess = make_pipeline(MarkovBlanketSelector(alpha=1e-6), DummyClassifier()).fit(X, y)
    assert guess.predict(X).shape == (200,)


# --- pipelines -------------------------------------------------------------------------------------------------------


def test_pipeline_of_categories() -> None:
    X, y = patients()
    pipeline = make_pipeline(MarkovBlanketSelector(alpha=0.01), OneHotEncoder(), LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.7
    assert pipeline[:-1].get_feature_names_out()[0].startswith(pipeline[0].blanket_[0])


def test_grid_search() -> None:
    X, y = patients(600)
    steps = Pipeline(
        [("select", MarkovBlanketSelector()), ("encode", OneHotEncoder()), ("classify", LogisticRegression())]
    )
    grid = {"select__alpha": [0.001, 0.05], "select__algorithm": ["iamb", "hiton-mb"]}
    search = GridSearchCV(steps, grid, cv=3, error_score="raise", n_jobs=1).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    selector = search.best_estimator_["select"]
    assert selector.result_.alpha == search.best_params_["select__alpha"]
    assert selector.result_.algorithm == search.best_params_["select__algorithm"]


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
    X, y = patients(600)
    folds = StratifiedKFold(3)
    found = cross_validate(
        make_pipeline(MarkovBlanketSelector(), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
        X, y, cv=folds, return_estimator=True,
    )  # fmt: skip
    for fitted, (train, _) in zip(found["estimator"], folds.split(X, y), strict=True):
        assert fitted[0].blanket_ == MarkovBlanketSelector().fit(X.iloc[train], y.iloc[train]).blanket_


def test_metadata_routing() -> None:
    X, y = patients(400)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = MarkovBlanketSelector()
        assert "sample_weight" not in str(selector.get_metadata_routing())
        classifier = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(selector, OneHotEncoder(), classifier)
        weights = np.linspace(0.1, 1, len(y))
        weighted = pipeline.fit(X, y, sample_weight=weights)[-1].coef_.copy()
        plain = pipeline.fit(X, y)[-1].coef_
        assert not np.allclose(weighted, plain)


# --- clones, pickles, memory -----------------------------------------------------------------------------------------


def test_clone_keeps_settings_and_forgets_answers() -> None:
    X, y = patients(400)
    selector = MarkovBlanketSelector("hiton-mb", alpha=0.01, kinds={"Age": "categorical"}, bins=3).fit(X, y)
    copy = clone(selector)
    assert copy.get_params() == selector.get_params()
    assert not hasattr(copy, "blanket_")
    assert copy.fit(X, y).blanket_ == selector.blanket_


def test_pickle() -> None:
    X, y = patients()
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

    X, y = patients(400)
    before = tables()
    selector = MarkovBlanketSelector().fit(X, y)
    assert tables() == before
    assert len(selector.evidence_) == X.shape[1]


def test_random_states() -> None:
    X, y = patients(400)
    for state in (0, np.random.RandomState(0), np.random.default_rng(0), None):
        assert MarkovBlanketSelector(random_state=state).fit(X, y).blanket_


def test_copies_are_told(random: np.random.Generator) -> None:
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
