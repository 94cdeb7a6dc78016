"""Quick ways of reading give the same columns as plain ones: codes of pandas categories, arrays of whole numbers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import serape
from serape import Table
from serape.data.encoding import Encoded, numbered
from serape.data.kinds import Kind
from serape.data.labels import encode_labels
from serape.data.reading.frames import read_series

CATEGORIES: list[list[Any]] = [
    ["z", "y", "x"],
    [3, 1, 2],
    [2.5, 0.5],
    ["2024-05-17", "2023-01-02"],
    [True, False],
    list(range(300)),
]


def content(read: Callable[[], Encoded]) -> tuple[Any, ...]:
    """Return what a column consists of, or the error; codes and values only where they have a meaning."""
    try:
        column = read()
    except serape.SerapeError as error:
        return type(error), str(error)
    kept = np.ones(len(column), bool) if column.missing is None else ~column.missing
    numbers = column.values if column.codes is None else column.codes
    assert numbers is not None
    return column.kind, column.reason, column.levels, column.declared, kept.tolist(), numbers[kept].tolist()


@pytest.mark.parametrize("kind", [None, "categorical", "boolean", "ordinal", "identifier", "continuous", "date"])
@pytest.mark.parametrize("categories", CATEGORIES)
@pytest.mark.parametrize("lowest", [0, -1])
def test_codes_of_pandas_categories_are_read_as_values(kind: Kind | None, categories: list[Any], lowest: int) -> None:
    codes = np.random.default_rng(0).integers(lowest, len(categories), 500)
    values = pd.Categorical.from_codes(codes, pd.Index(categories))
    series = nw.from_native(pd.Series(values), series_only=True)
    declared = values.categories.tolist()
    wanted = content(lambda: encode_labels("a", values.tolist(), declared=declared, kind=kind))
    assert content(lambda: read_series("a", series, kind)) == wanted


def test_categories_without_rows_or_values() -> None:
    for values in (pd.Categorical([], categories=["a", "b"]), pd.Categorical([None, None], categories=["a"])):
        series = nw.from_native(pd.Series(values), series_only=True)
        declared = values.categories.tolist()
        wanted = content(partial(encode_labels, "a", values.tolist(), declared=declared))
        assert content(partial(read_series, "a", series, None)) == wanted


def test_labels_of_any_type_keep_the_order_of_their_first_rows() -> None:
    nan = float("nan")
    values = ["b", nan, 1, True, "a", None, 1.0, float("nan"), "b", (1, 2)]
    codes: dict[Any, int] = {}
    plain = [codes.setdefault(v, len(codes)) for v in values]
    column = encode_labels("a", values, kind="categorical")
    assert column.codes is not None
    assert column.missing is not None
    labels = list(codes)
    assert column.missing.tolist() == [v is None or v != v for v in values]
    present = [k for k, gap in enumerate(column.missing) if not gap]
    assert [column.levels[column.codes[k]] for k in present] == [labels[plain[k]] for k in present]


@pytest.mark.parametrize(
    "values",
    [
        [[0, 1, 2], [0, 0, 1], [5, 5, 5]],  # neighbours
        [[0, 2, 4], [0, 1, 2], [7, 9, 9]],  # with numbers in between that do not occur
        [[0, 200, 255], [0, 1, 0], [-3, -1, -3]],  # far apart
        [[0, 19, 3], [0, 20, 3], [1, 1, 1]],  # about as far apart as there may be levels
    ],
)
@pytest.mark.parametrize("dtype", [np.int64, np.int16])
def test_arrays_of_whole_numbers_are_read_as_single_columns(values: list[list[int]], dtype: type) -> None:
    rng = np.random.default_rng(1)
    array: NDArray[Any] = np.column_stack([rng.choice(column, 50) for column in values]).astype(dtype)
    table = Table(array)
    single = Table({f"x{k}": array[:, k] for k in range(array.shape[1])})
    assert table.kinds == single.kinds
    for name in table.names:
        assert table.variables[name] == single.variables[name]
        assert table.column(name).tolist() == single.column(name).tolist()


@pytest.mark.parametrize("high", [1, 3, 1000, 10**9])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64, np.float64])
@pytest.mark.parametrize("low", [0, -2])
def test_numbers_of_values_are_ranks(high: int, dtype: type, low: int) -> None:
    for rows in (0, 1, 200):
        values: NDArray[Any] = np.random.default_rng(high).integers(low, high, rows).astype(dtype)
        distinct, ranks = np.unique(values, return_inverse=True)
        found, count = numbered(values)
        assert found.tolist() == ranks.tolist()
        assert (count, found.dtype) == (len(distinct), np.dtype(np.int64))
