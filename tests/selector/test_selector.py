"""The selector: scikit-learn's contract, and the answers of markov_blanket."""

from __future__ import annotations

import inspect
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

import serape
from serape import MarkovBlanketSelector
from serape.data.example import clinic
from tables import OF_FILES, clinic_frame

# --- the contract ----------------------------------------------------------------------------------------------------


OLD_CHECKS = tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 8)


@estimator_checks.parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        MarkovBlanketSelector(),
        MarkovBlanketSelector(missing="pairwise"),
        MarkovBlanketSelector("mmpc", finds="parents-children", discretise="quantile", bins=2),
        MarkovBlanketSelector(target_kind="categorical", kinds="continuous", test="mixed", missing="drop"),
    ]
)  # none is expected to fail; the one for array API libraries is skipped unless SCIPY_ARRAY_API is set
def test_estimator_checks(estimator: MarkovBlanketSelector, check: Any) -> None:
    if check.func.__name__ == "check_positive_only_tag_during_fit" and OLD_CHECKS:
        pytest.skip("before scikit-learn 1.8, this check subtracts a fraction from whole numbers and fails itself")
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
    of_rows = {"sample_weight", "groups"}  # an argument of `fit`; for `stability`
    asked = set(inspect.signature(serape.markov_blanket).parameters) - {"data", "target"} - OF_FILES - of_rows
    assert asked <= own


def test_hidden_causes_are_allowed_for_as_in_markov_blanket() -> None:
    data = clinic(800)
    y = data.pop("HeartDisease")
    frame = pd.DataFrame(data)
    found = serape.markov_blanket(frame.assign(y=y), "y", hidden=True)
    selector = MarkovBlanketSelector(hidden=True).fit(frame, pd.Series(y, name="y"))
    assert selector.blanket_ == found.blanket
    assert set(found.notes) <= set(selector.result_.notes)
    with pytest.raises(serape.OptionError, match=r"^hidden=True is about blankets; use finds='blanket', or leave"):
        MarkovBlanketSelector(hidden=True, finds="parents-children").fit(frame, y)


def test_not_fitted() -> None:
    selector = MarkovBlanketSelector()
    for ask in (selector.get_support, lambda: selector.transform([[1]]), lambda: selector.evidence_):
        with pytest.raises(NotFittedError):
            ask()
    assert not hasattr(selector, "evidence_")


# --- the answers -----------------------------------------------------------------------------------------------------


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
    X, y = clinic_frame()
    selector = MarkovBlanketSelector(**settings).fit(X, y)
    found = question(X.assign(HeartDisease=y), "HeartDisease", **{k: v for k, v in settings.items() if k != "finds"})
    assert selector.blanket_ == found.members
    assert selector.result_.target == "HeartDisease"
    assert selector.result_.tests == found.tests
    assert str(selector.result_.explain("Weight")) == str(found.explain("Weight"))
    expected = found.evidence.to_pandas().sort_values("variable", ignore_index=True)
    pd.testing.assert_frame_equal(selector.evidence_.to_pandas().sort_values("variable", ignore_index=True), expected)


def test_algorithm_options() -> None:
    X, y = clinic_frame()
    plain = MarkovBlanketSelector("mmmb").fit(X, y)
    published = MarkovBlanketSelector("mmmb", algorithm_options={"published": True}).fit(X, y)
    assert published.result_.options["published"] is True
    assert published.result_.tests != plain.result_.tests


def test_own_algorithm() -> None:
    X, y = clinic_frame(300)
    selector = MarkovBlanketSelector(lambda search, target: ["Age", "ECG"]).fit(X, y)
    assert selector.blanket_ == ("Age", "ECG")
    assert selector.get_feature_names_out().tolist() == ["Age", "ECG"]


def test_attributes() -> None:
    X, y = clinic_frame()
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
    X, y = clinic_frame()
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
