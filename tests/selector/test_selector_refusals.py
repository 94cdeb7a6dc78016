"""The selector: bad settings, bad data, missing values, an empty blanket."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import serape
from serape import MarkovBlanketSelector
from tables import mixed_frame

# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"finds": "spouses"}, "finds='spouses'"),
        ({"target_kind": "identifier"}, "target_kind='identifier'"),
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


def test_weights_that_are_none(random: np.random.Generator) -> None:
    X = random.integers(0, 2, (50, 3))
    with pytest.raises(serape.InputTypeError, match="does not take 'weights'"):
        MarkovBlanketSelector().fit(X, X[:, 0], weights=np.ones(50))
    for name in ("sample_weight", "groups"):
        with pytest.raises(serape.InputTypeError, match=f"{name} must hold one value per row, not 'x0'"):
            MarkovBlanketSelector().fit(X, X[:, 0], **{name: "x0"})
    with pytest.raises(serape.OptionError, match="groups has 3 values, but the data have 50 rows"):
        MarkovBlanketSelector().fit(X, X[:, 0], groups=[1, 2, 3])
    with pytest.raises(serape.DataError, match="the weight of row 1 is 0.5; a frequency is a whole number"):
        MarkovBlanketSelector().fit(X, X[:, 0], sample_weight=np.full(50, 0.5))


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


def test_new_rows_of_a_frame_need_not_be_complete() -> None:
    X, y = mixed_frame()
    numbers = X[["noise", "number"]]
    gaps = numbers.assign(number=np.nan)
    assert MarkovBlanketSelector().fit(numbers, y).transform(gaps).isna().all(axis=None)
    with pytest.raises(ValueError, match="NaN"):
        MarkovBlanketSelector().fit(numbers.to_numpy(), y).transform(gaps.to_numpy())


@pytest.mark.parametrize("missing", ["error", "drop", "level", "pairwise"])
def test_y_is_complete(missing: Any, random: np.random.Generator) -> None:
    X = random.integers(0, 2, (50, 3))
    number, label = X[:, 0] / 3, np.where(X[:, 0], "a", "b").astype(object)
    number[4], label[4] = np.nan, None
    selector = MarkovBlanketSelector(missing=missing)
    with pytest.raises(ValueError, match="y contains NaN"):
        selector.fit(X, number)
    for y in (label, pd.Series(label), pl.Series(label.tolist())):
        with pytest.raises(ValueError, match="a value of y is missing in row 5"):
            selector.fit(X, y)


# --- an empty blanket ------------------------------------------------------------------------------------------------


def test_empty_blanket() -> None:
    random = np.random.default_rng(1)
    X, y = random.integers(0, 2, (200, 5)), random.integers(0, 2, 200)
    selector = MarkovBlanketSelector(alpha=1e-6)
    with pytest.warns(serape.EmptyBlanketWarning, match="no column is selected.*'y' at alpha=1e-06.*5 tests"):
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


# --- a search that a limit ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"max_tests": 4}, "the search stopped at max_tests=4, so .* pass a larger max_tests, or max_tests=None"),
        ({"max_seconds": 1e-9}, "the search stopped at max_seconds=1e-09, so .* pass max_seconds=None for no limit"),
    ],
)
@pytest.mark.filterwarnings("ignore::serape.EmptyBlanketWarning")
def test_a_limit_that_ends_the_search_is_told(limit: dict[str, Any], message: str) -> None:
    X, y = mixed_frame()
    with pytest.warns(serape.IncompleteSearchWarning, match=message):
        selector = MarkovBlanketSelector(**limit).fit(X, y)
    assert not selector.result_.complete
    remedied = selector.set_params(max_tests=None, max_seconds=None).fit(X, y)  # without a warning
    assert remedied.result_.complete
