"""The selector: frames stay frames, and the kind of y."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import type_of_target

import serape
from serape import MarkovBlanketSelector
from tables import mixed_frame

FIXED = np.random.default_rng(0)  # for parameters only; tests have their own


# --- frames in, frames out -------------------------------------------------------------------------------------------


def test_pandas_stays_pandas() -> None:
    X, y = mixed_frame()
    selector = MarkovBlanketSelector(alpha=0.001).fit(X, y)
    out = selector.transform(X)
    pd.testing.assert_frame_equal(out, X[["number", "text"]])
    assert selector.result_.test == "residuals"
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
    ("y", "kind"),
    [
        (FIXED.integers(0, 2, 100), "categorical"),
        (FIXED.integers(0, 2, 100).astype(float), "categorical"),
        (FIXED.integers(0, 4, 100) / 1.0, "categorical"),
        (FIXED.random(100) < 0.5, "categorical"),
        (FIXED.choice(["a", "b"], 100), "categorical"),
        (FIXED.choice(["a", "b"], 100).astype(object), "categorical"),
        (FIXED.normal(size=100), "continuous"),
        (FIXED.integers(0, 2, 100) + 0.5, "continuous"),
    ],
)
def test_kind_of_y_is_that_of_type_of_target(y: Any, kind: str, random: np.random.Generator) -> None:
    X = np.column_stack([random.normal(size=100), np.unique(y, return_inverse=True)[1] + random.normal(size=100) / 9])
    assert type_of_target(y).startswith("continuous") == (kind == "continuous")
    for given in (y, y.tolist(), pd.Series(y), pl.Series(y.tolist())):
        selector = MarkovBlanketSelector().fit(X, given)
        note = "all columns" if kind == "continuous" else "2 of 3 columns"
        assert any(f"because {note} are continuous" in said for said in selector.result_.notes)
        assert "x1" in selector.blanket_


def test_many_whole_numbers_are_a_quantity_unless_asked(random: np.random.Generator) -> None:
    X, y = load_diabetes(return_X_y=True)
    assert type_of_target(y) == "multiclass"
    assert MarkovBlanketSelector().fit(X, y).result_.test == "residuals"
    ages = random.integers(20, 60, 500)
    X = np.column_stack([ages // 20, random.integers(0, 2, 500)])
    assert MarkovBlanketSelector().fit(X, ages).result_.test == "residuals"
    assert MarkovBlanketSelector(target_kind="categorical", reliability=None).fit(X, ages).result_.test == "g2"


def test_classes_taken_for_numbers() -> None:
    X, y = mixed_frame()
    X = X[["noise", "number"]]
    selector = MarkovBlanketSelector(target_kind="continuous", alpha=0.001).fit(X, y)
    assert selector.result_.test == "residuals"
    assert selector.blanket_ == ("number",)
    with pytest.raises(serape.DataError, match="'yes'"):
        MarkovBlanketSelector(target_kind="continuous").fit(X, np.where(y, "yes", "no"))


def test_kinds_of_columns(random: np.random.Generator) -> None:
    X = random.integers(0, 3, (300, 3)).astype(float)
    y = (X[:, 1] == 2) ^ (random.random(300) < 0.1)
    assert MarkovBlanketSelector().fit(X, y).result_.test == "residuals"
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
        MarkovBlanketSelector(target_kind="continuous", test="partial-correlation", alpha=0.001).fit(X, y)
    assert MarkovBlanketSelector(alpha=0.001).fit(X, y).blanket_ == ("x2",)
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
