"""Origins: no digits are lost, nothing overflows, and parts of a column have one origin."""

from __future__ import annotations

import numpy as np
import pytest

from serape.data.origins import Extent, Origin, Standard

HOSTILE = {
    "the whole range": [1.7e308, -1.7e308, 0.0, 1.0],
    "one outlier": [1e300, 1.0, 2.0, 3.0, 2.0],
    "the smallest numbers": [5e-324, 0.0, 1e-323, 0.0],
    "near the largest": [1.7e308, 1.7e308 - 2e292, 1.7e308],
    "two values": [3.0, 3.0, 5.0],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_numbers_of_any_size_are_measured_from_minus_one_to_one(name: str) -> None:
    values = np.array(HOSTILE[name])
    measured = Origin.of(values).measured(values)
    assert np.isfinite(measured).all()
    assert 0.5 <= np.abs(measured).max() <= 1.0
    assert (np.argsort(values, kind="stable") == np.argsort(measured, kind="stable")).all()
    standard = Standard.of(values).standardised(values)
    assert np.square(standard).mean() == pytest.approx(1.0)


def test_distances_are_exact() -> None:
    near = np.random.default_rng(1).integers(-1000, 1000, 99) / 64
    origin = Origin.of(near + 2.0**40)
    assert (origin.measured(near + 2.0**40) == Origin.of(near).measured(near)).all()
    assert origin.at - 2.0**40 == np.median(near)
    assert 2.0**origin.exponent >= np.abs(near - np.median(near)).max() > 2.0 ** (origin.exponent - 1)


def test_a_constant_column_is_measured_as_nothing() -> None:
    for value in (0.0, 0.1, 1e300, -7.0):
        column = np.full(5, value)
        assert not Origin.of(column).measured(column).any()
        assert not Standard.of(column).standardised(column).any()


@pytest.mark.parametrize("seed", range(5))
def test_the_origin_of_parts_lies_in_the_middle(seed: int) -> None:
    """However the rows are divided, also in order, a quarter of them lie on either side, and none is far."""
    random = np.random.default_rng(seed)
    values = np.sort(random.standard_t(1, 1000)) if seed % 2 else random.standard_t(1, 1000)
    ends = np.sort(random.choice(np.arange(1, 1000), 7, replace=False))
    found = Origin.of_parts([Extent.of(part) for part in np.split(values, ends)])
    assert 0.24 < (values < found.at).mean() < 0.76
    assert np.abs(found.measured(values)).max() <= 1.0
    assert found.at in values
