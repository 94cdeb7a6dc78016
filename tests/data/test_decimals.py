"""Decimal numbers of Python are numbers."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd

import serape


def test_decimals_are_numbers() -> None:
    values = [Decimal(k) / 10 for k in range(40)]
    frame = pd.DataFrame({"price": values, "gap": [None, Decimal("NaN"), *values[2:]], "class": ["a", "b"] * 20})
    table = serape.Table(frame, missing="pairwise")
    assert table.kinds == {"price": "continuous", "gap": "continuous", "class": "categorical"}
    assert np.array_equal(table.numbers(0), np.arange(40) / 10)
    assert {k: int(mask.sum()) for k, mask in table.missing.items()} == {1: 2}
