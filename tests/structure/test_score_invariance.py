"""Every score gives the same gains for numbers that are moved, stretched or turned round, and in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from moved import MOVES, ROWS, categories, moved, numbers, table
from serape.structure.score_choice import NUMBER_SCORES
from serape.structure.scores import SCORES, make_score

ALL = [*SCORES, *NUMBER_SCORES]
HAS_A_UNIT = {"bge"}
"""Scores whose prior is in the units of the columns: these may not be changed."""
SCALES = ("very small", "very large", "in other units, from far")
WEIGHTS: dict[str, dict[str, Any]] = {
    "rows": {},
    "frequencies": {"sample_weight": np.random.default_rng(6).integers(1, 9, ROWS)},
    "survey": {"sample_weight": np.random.default_rng(7).uniform(0.2, 4.0, ROWS), "weight_kind": "survey"},
}
Columns = tuple[Mapping[str, NDArray[Any]], Mapping[str, NDArray[Any]]]


def taken(name: str, rows: str) -> Columns | None:
    """Return the numbers and categories that a score takes: all, or one kind; None if it takes no such weights."""
    for given, classes in ((numbers(), categories()), (numbers(), {}), ({}, categories())):
        try:
            make_score(table(given, classes, **WEIGHTS[rows]), name)
        except serape.DataError:
            continue
        return given, classes
    return None


ASKED = [(name, rows) for name in ALL for rows in WEIGHTS if rows == "rows" or taken(name, rows)]


def gains(made: serape.Table, name: str) -> NDArray[np.float64]:
    """Return what each parent adds to the score of each child that has none, or one or two others."""
    score = make_score(made, name)
    at = {own: k for k, own in enumerate(made.names)}
    ordered = sorted(made.names)
    found = []
    for k, (x, y) in enumerate(permutations(ordered, 2)):
        others: Sequence[int] = [at[z] for z in ordered if z not in (x, y)][: k % 3]
        alone = score.family(at[y], others)
        after = [score.family(at[y], [*others, at[x]]), score.additions(at[y], [at[x]], others)[0]]
        found.append([one - alone for one in after])
    return np.array(found)


def test_every_score_is_asked() -> None:
    assert {name for name, rows in ASKED if rows == "rows" and taken(name, rows)} == set(ALL)


@pytest.mark.parametrize(("name", "rows"), [asked for asked in ASKED if (taken(*asked) or ({},))[0]])
def test_moved_numbers_change_no_gain(name: str, rows: str) -> None:
    columns = taken(name, rows)
    assert columns is not None
    expected = gains(table(*columns, **WEIGHTS[rows]), name)
    assert np.ptp(expected) > 10
    for how in MOVES:
        if name in HAS_A_UNIT and how in SCALES:
            continue
        found = gains(table(moved(columns[0], how), columns[1], **WEIGHTS[rows]), name)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7, err_msg=how)


@pytest.mark.parametrize(("name", "rows"), ASKED)
def test_no_order_changes_a_gain(name: str, rows: str) -> None:
    columns = taken(name, rows)
    assert columns is not None
    expected = gains(table(*columns, **WEIGHTS[rows]), name)
    random = np.random.default_rng(8)
    order = random.permutation(len(columns[0]) + len(columns[1]))
    np.testing.assert_allclose(gains(table(*columns, order, **WEIGHTS[rows]), name), expected, rtol=0, atol=2e-7)
    by = random.permutation(ROWS)
    options = {key: value[by] if key == "sample_weight" else value for key, value in WEIGHTS[rows].items()}
    given, classes = ({key: column[by] for key, column in some.items()} for some in columns)
    found = gains(table(given, classes, **options), name)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7)


@pytest.mark.parametrize("algorithm", ["ges", "xges", "boss", "tabu", "sca"])
def test_moved_numbers_change_no_network(algorithm: str) -> None:
    """Also where the whole score is near 0, or far from it: units add to it, and to no gain."""
    edges = set(serape.network(table(numbers(), {}), algorithm, score="gaussian-bic").edges)
    assert edges
    for how in ("far above 0", "very small", "very large", "the negatives from far"):
        assert set(serape.network(table(moved(numbers(), how), {}), algorithm, score="gaussian-bic").edges) == edges
