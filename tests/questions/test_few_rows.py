"""The test that "auto" takes where rows are few and columns many."""

from typing import Any

import numpy as np
import pytest

import serape
from serape.independence.registry import small_table
from serape.questions.query import Query
from serape.settings import Settings


def wide(rows: int = 60, columns: int = 501) -> serape.Table:
    return serape.Table(np.random.default_rng(1).integers(0, 2, (rows, columns)), kinds="categorical")


@pytest.mark.parametrize(
    ("rows", "columns", "settings", "test"),
    [
        (60, 501, {}, "g2"),
        (100, 501, {"algorithm": "hpc"}, "x2-moments"),
        (101, 501, {}, "g2"),
        (60, 500, {"algorithm": "hiton-mb"}, "g2"),
        (60, 501, {"algorithm": "iamb"}, "g2"),
        (60, 501, {"dof": "adjusted"}, "g2"),
        (60, 501, {"reliability": "cells"}, "g2"),
        (60, 501, {"test": "g2"}, "g2"),
    ],
)
def test_choice(rows: int, columns: int, settings: dict[str, Any], test: str) -> None:
    query = Query.resolve(wide(rows, columns), "blanket", Settings.of(**settings))
    assert query.source.name == test
    notes = [note for note in query.source.notes if "was chosen because" in note]
    assert notes == ([f"test 'x2-moments' was chosen because 501 columns have {rows} rows"] if test != "g2" else [])


def test_single_tests_are_as_before() -> None:
    assert serape.ci_test(wide(), 0, 1) == serape.ci_test(wide(), 0, 1, test="g2")


def test_a_sample_of_the_rows_takes_the_same_test() -> None:
    query = Query.resolve(wide(150), "blanket", Settings.of())
    assert small_table(wide(75))
    assert query.on(wide(75)).source.name == query.source.name == "g2"


def test_the_result_tells() -> None:
    found = serape.markov_blanket(wide(40), 0, "hiton-mb", alpha=0.001)
    assert found.test == "x2-moments"
    assert "test 'x2-moments' was chosen because 501 columns have 40 rows" in found.notes


def test_fewer_false_members() -> None:
    """Child beside 29 others like it: 50 rows of 600 columns."""
    network = serape.load_network("child").tile(30, seed=1)
    table = network.sample(50, seed=5)
    false = {}
    for test in ("auto", "g2"):
        found = serape.blankets(table, table.names[40:43], test=test, algorithm="hiton-mb", alpha=0.05, progress=False)
        false[test] = sum(len(set(one.members) - set(network.markov_blanket(name))) for name, one in found.items())
    assert false["auto"] < false["g2"] / 3
