"""Tables, tests and results survive pickling, and answer as before."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import serape
from serape.data.example import clinic
from serape.independence import TESTS, make_test, table_of
from serape.independence.registry import Rules
from serape.results.saved import json_text


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def frame(rows: int = 600) -> pd.DataFrame:
    """Columns of every kind: one level, two, three with one that does not occur, 300, numbers, truth values."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "one": ["a"] * rows,
            "two": random.choice(["no", "yes"], rows),
            "declared": pd.Categorical(random.choice(["low", "high"], rows), categories=["low", "middle", "high"]),
            "many": random.integers(0, 300, rows).astype(str),
            "number": random.normal(size=rows),
            "truth": random.random(rows) < 0.5,
        }
    )


def with_gaps() -> pd.DataFrame:
    gappy = frame()
    gappy.loc[3:9, "two"] = None
    gappy.loc[5:20, "number"] = np.nan
    return gappy


@pytest.mark.parametrize(
    "make",
    [
        lambda _: serape.Table(frame()),
        lambda _: serape.Table(with_gaps(), missing="pairwise"),
        lambda _: serape.Table(with_gaps(), missing="drop"),
        lambda random: serape.Table(random.integers(0, 2, (101, 40))),
        lambda random: serape.Table(random.integers(0, 9, (64, 5)).astype(np.uint8)),
        lambda random: serape.Table(random.normal(size=(50, 3))),
        lambda _: serape.Table(clinic(200)),
    ],
)
def test_table(make: Callable[[np.random.Generator], serape.Table], random: np.random.Generator) -> None:
    table = make(random)
    other = again(table)
    assert repr(other) == repr(table)
    assert dict(other.variables) == dict(table.variables)
    assert other.duplicates == table.duplicates
    assert other.varying == table.varying
    for name in table.names:
        assert other.position(name) == table.position(name)
        np.testing.assert_array_equal(other.column(name), table.column(name))
    pd.testing.assert_frame_equal(other.to_pandas(), table.to_pandas())


def test_table_takes_a_bit_a_value(random: np.random.Generator) -> None:
    table = serape.Table(random.integers(0, 2, (4000, 200)))
    assert len(pickle.dumps(table)) < 4000 * 200 / 8 * 1.2


@pytest.mark.parametrize("name", sorted(TESTS))
@pytest.mark.parametrize("gaps", [False, True])
def test_independence_tests(name: str, gaps: bool, random: np.random.Generator) -> None:
    rows = 300
    if name in ("fisher-z", "partial-correlation", "spearman", "normal-scores", "correlation-permutation"):
        values = random.normal(size=(rows, 4))
    else:
        values = random.integers(0, 2, (rows, 4)).astype(float)
        if name in ("mixed", "regression", "gcm", "pcm"):
            values[:, 3] = random.normal(size=rows)
    data = pd.DataFrame(values, columns=list("abcd"))
    if gaps:
        data.loc[7:30, "b"] = np.nan
    kinds = {str(c): "categorical" if data[c].nunique() == 2 else "continuous" for c in data}
    test = make_test(serape.Table(data, kinds, missing="pairwise"), name, dof="adjusted", reliability=None)
    test.note("something to tell")
    other = again(test)
    assert type(other) is type(test)
    assert other.name == test.name
    assert other.notes == test.notes
    for x, y, given in ((0, 1, ()), (0, 1, (2,)), (2, 3, (0,))):
        assert other.test(x, y, given) == test.test(x, y, given)
    table = table_of(other)
    assert table is not None
    assert table.names == tuple("abcd")


def test_settings_of_a_test_survive(random: np.random.Generator) -> None:
    table = serape.Table(random.integers(0, 3, (60, 4)))
    strict = TESTS["g2"].make(table, Rules("adjusted", "cells", 20.0))
    assert again(strict).test(0, 1, (2,)) == strict.test(0, 1, (2,))
    assert again(strict).test(0, 1, (2,)).reliable is False
    assert TESTS["g2"].make(table, Rules("adjusted", "cells", 1.0)).test(0, 1, (2,)).reliable is True


def constant_p(x: Any, y: Any, z: Any) -> float:
    del x, y, z
    return 0.25


def test_function_and_oracle() -> None:
    own = serape.FunctionTest(frame(), constant_p)
    before = own.test(0, 1)
    assert again(own).test(0, 1) == before
    oracle = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c")]))
    assert again(oracle).test(0, 2, (1,)) == oracle.test(0, 2, (1,))


@pytest.mark.parametrize(("algorithm", "finds"), [("iamb", "blanket"), ("hiton-mb", "blanket"), ("pcmb", "neighbours")])
def test_result(algorithm: str, finds: str) -> None:
    question = serape.markov_blanket if finds == "blanket" else serape.parents_children
    found = question(clinic(2000), "HeartDisease", algorithm, alpha=0.01)
    other = again(found)
    assert other == found
    assert json_text(other) == json_text(found)
    pd.testing.assert_frame_equal(other.evidence.to_pandas(), found.evidence.to_pandas())
    for name in ("Anxiety", "Weight", "Age"):
        assert str(other.explain(name)) == str(found.explain(name))
    assert again(other) == found


def test_result_leaves_the_data_behind(random: np.random.Generator) -> None:
    found = serape.markov_blanket(random.integers(0, 2, (50_000, 8)), 0)
    assert len(pickle.dumps(found)) < 5000


def test_results_whose_evidence_is_gathered_later() -> None:
    found = serape.blankets(clinic(1000), ["HeartDisease", "Anxiety"], algorithm="hiton-mb")["Anxiety"]
    assert str(again(found).explain("ChestPain")) == str(found.explain("ChestPain"))
