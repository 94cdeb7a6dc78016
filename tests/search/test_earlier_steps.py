"""Calls for one target after another share steps; their results are those of calls on tables of their own."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.local.registry import ALGORITHMS
from serape.search.steps import EarlierSteps

SHARING = [name for name, algorithm in ALGORITHMS.items() if algorithm.shares]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return data with few rows, so that tests are skipped, and with a copy of a column."""
    sample = serape.load_network("insurance").sample(300, 5)
    frame = pd.DataFrame({name: sample.codes(k).astype(str) for k, name in enumerate(sample.names)})
    frame["copy"] = frame["Age"]
    return frame[["copy", *frame.columns[:13]]]


def facts(result: serape.Result) -> dict[str, Any]:
    """Return all that a result says, but the time."""
    content = result.to_dict()
    del content["seconds"]
    return content


@pytest.mark.parametrize("settings", [{}, {"fdr": None}, {"max_conditioning": 1, "alpha": 0.1}, {"test": "x2"}])
@pytest.mark.parametrize("algorithm", SHARING)
def test_results_do_not_depend_on_earlier_calls(
    frame: pd.DataFrame, algorithm: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = serape.Table(frame)
    recalled = 0
    recall = EarlierSteps.recall

    def counting(self: EarlierSteps, key: Any) -> Any:
        nonlocal recalled
        found = recall(self, key)
        recalled += found is not None
        return found

    monkeypatch.setattr(EarlierSteps, "recall", counting)
    answers = ALGORITHMS[algorithm].answers
    asked = [serape.markov_blanket] * answers("blanket") + [serape.parents_children] * answers("parents-children")
    for ask in asked:
        for name in np.random.default_rng(3).permutation(shared.names):
            found = facts(ask(shared, name, algorithm, **settings))
            alone = facts(ask(serape.Table(frame), name, algorithm, **settings))
            assert found == alone, (ask.__name__, name)
    assert recalled > 0 or algorithm == "pcd"  # which asks for the steps of its targets alone


def test_a_table_is_forgotten_with_its_steps(frame: pd.DataFrame) -> None:
    table = serape.Table(frame)
    for name in table.names:
        serape.parents_children(table, name, "hiton-pc")
    seen = weakref.ref(table)
    del table
    gc.collect()
    assert seen() is None


def test_steps_are_bounded(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.search.steps._MOST", 40)
    table = serape.Table(frame)
    for name in table.names:
        found = serape.parents_children(table, name, "hiton-pc")
        assert found == serape.parents_children(serape.Table(frame), name, "hiton-pc")
