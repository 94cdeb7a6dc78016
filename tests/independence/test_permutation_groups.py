"""Permutation tests of rows in groups: their size where groups differ, their power, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import serape

GROUPS = np.repeat(np.arange(20), 6)


def p_of(x: NDArray[Any], y: NDArray[Any], test: str, grouped: bool = True) -> float:
    if test != "correlation-permutation":
        x, y = (np.where(v > 0, "high", "low") for v in (x, y))
    return serape.ci_test({"x": x, "y": y}, "x", "y", test=test, groups=GROUPS if grouped else None).p


@pytest.mark.parametrize("test", ["g2-permutation", "g2-semiparametric", "correlation-permutation"])
def test_what_groups_have_in_common_is_no_dependence(test: str) -> None:
    random = np.random.default_rng(1)
    grouped, plain = [], []
    for _ in range(80):
        level_x, level_y = random.normal(size=(2, 20))[:, GROUPS] * 1.5  # by chance alike, for 20 groups
        x, y = level_x + random.normal(size=120), level_y + random.normal(size=120)
        grouped.append(p_of(x, y, test))
        plain.append(p_of(x, y, test, grouped=False))
    assert np.mean(np.array(grouped) <= 0.05) <= 0.125
    assert np.mean(np.array(plain) <= 0.05) > 0.2


@pytest.mark.parametrize("test", ["g2-permutation", "g2-semiparametric", "correlation-permutation"])
def test_dependence_within_groups_is_seen(test: str) -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=120)
    assert p_of(x, x + 0.3 * random.normal(size=120), test) < 0.01


def test_a_variable_of_the_group_cannot_be_tested() -> None:
    random = np.random.default_rng(3)
    of_group = random.normal(size=20)[GROUPS] * 0.1
    found = serape.ci_test(
        {"x": of_group, "y": random.normal(size=120)}, "x", "y", test="correlation-permutation", groups=GROUPS
    )
    assert not found.reliable
    data = {"x": np.where(of_group > 0, "a", "b"), "y": np.where(random.normal(size=120) > 0, "a", "b")}
    assert not serape.ci_test(data, "x", "y", test="g2-permutation", groups=GROUPS).reliable


def test_no_note_where_groups_are_used() -> None:
    random = np.random.default_rng(4)
    data = {"x": random.normal(size=120), "y": random.normal(size=120), "group": GROUPS}
    said = serape.markov_blanket(data, "x", test="residuals", groups="group").notes
    assert any("treats the rows of a group as independent" in note for note in said)
    said = serape.markov_blanket(data, "x", test="correlation-permutation", groups="group").notes
    assert not any("treats the rows of a group" in note for note in said)
