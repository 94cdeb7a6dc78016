"""Distinct rows and how often they occur, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_batches import mixed_table
from serape import _core


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([1, 63, 64, 500, 5000]), width=st.integers(1, 10))
@settings(max_examples=60, deadline=None)
def test_distinct_rows_against_numpy(seed: int, rows: int, width: int) -> None:
    table = mixed_table(seed, max(rows, 2), 10)
    columns = np.random.default_rng(seed).permutation(10)[:width].tolist()
    found = _core.distinct_rows(table.packed, columns, 1 << 20)
    expected, times = np.unique(np.column_stack([table.codes(k) for k in columns]), axis=0, return_counts=True)
    assert found is not None
    listed = found[0].reshape(width, -1).T
    order = np.lexsort(listed.T[::-1])
    assert np.array_equal(listed[order], expected)
    assert np.array_equal(found[1][order], times)


def test_too_many_distinct_rows() -> None:
    table = mixed_table(1, 5000, 10)
    assert _core.distinct_rows(table.packed, list(range(10)), 20) is None
    with pytest.raises(IndexError):
        _core.distinct_rows(table.packed, [0, 99], 20)
