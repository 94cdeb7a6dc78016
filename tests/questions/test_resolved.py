"""Resolved questions are remembered for a table: answers are those of questions that are resolved anew."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.questions.query import Query
from serape.questions.resolved import resolve
from serape.settings import Settings
from serape.types import Finds


def table(seed: int = 0, rows: int = 300) -> serape.Table:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, (2, rows))
    y = np.where(rng.random(rows) < 0.2, rng.integers(0, 2, rows), (a + b) % 2)
    return serape.Table(pd.DataFrame({"a": a, "b": b, "y": y, "noise": rng.integers(0, 2, rows)}))


def content(found: serape.Result) -> dict[str, Any]:
    return {**found.to_dict(), "seconds": None}


SETTINGS: list[dict[str, Any]] = [
    {"algorithm": "hiton-pc", "alpha": 0.01},
    {"algorithm": "hiton-pc", "alpha": 0.2},
    {"algorithm": "hiton-pc", "dof": "full", "test": "x2"},
    {"algorithm": "mmpc", "max_conditioning": 1},
    {"algorithm": "mmpc", "max_conditioning": 0, "random_state": 1},
    {"algorithm": "hpc", "known_members": ["noise"]},
    {"algorithm": "hiton-pc", "semi_interleaved": True},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_answers_are_those_of_questions_resolved_anew(settings: dict[str, Any]) -> None:
    data = table()
    for target in ("a", "b", "y"):
        query, at = Query.about(data, target, "parents-children", Settings.of(**settings))
        wanted = content(query.run(at, warn=True))
        for _ in range(2):
            assert content(serape.parents_children(data, target, **settings)) == wanted


def test_other_questions_do_not_take_over_the_steps() -> None:
    data = table()
    asked = Settings.of(algorithm="hiton-pc", forbidden_members=["noise"], max_conditioning=2)
    query = resolve(data, "parents-children", asked)
    assert query.earlier is not None
    assert resolve(data, "parents-children", asked).earlier is query.earlier
    others = [query.on(table(1)), query.constrained(asked.search, [0]), query.conditioning_on_one_more()]
    assert [other.earlier for other in others] == [None] * 3


def test_a_question_is_resolved_once_for_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[tuple[Any, Finds]] = []
    plainly = Query.resolve

    def counting(data: Any, finds: Finds, settings: Settings) -> Query:
        resolved.append((data, finds))
        return plainly(data, finds, settings)

    monkeypatch.setattr(Query, "resolve", counting)
    one, other = table(), table()
    for data in (one, other, one):
        for target in data.names:
            serape.markov_blanket(data, target, "hpc", alpha=0.01)
            serape.parents_children(data, target, "hpc", alpha=0.01)
    assert resolved == [(data, finds) for data in (one, other) for finds in ("blanket", "parents-children")]


def test_no_question_keeps_a_table() -> None:
    data = table()
    found = weakref.ref(data)
    serape.parents_children(data, "y", "hiton-pc", alpha=0.01)
    del data
    gc.collect()
    assert found() is None


def test_few_questions_are_remembered() -> None:
    data = table()
    for k in range(1, 60):
        alpha = k / 100
        assert serape.parents_children(data, "y", "hiton-pc", alpha=alpha).alpha == alpha


def test_each_question_has_a_test_of_its_own() -> None:
    data, settings = table(), Settings.of(algorithm="hiton-pc")
    first, second = (resolve(data, "parents-children", settings) for _ in range(2))
    first.source.note("only here")
    assert second.source.notes == ()
    assert second.source.table is data  # type: ignore[attr-defined]


def test_equal_values_of_different_types_are_different_settings() -> None:
    assert Settings.of(alpha=0.01) is Settings.of(alpha=0.01)
    assert Settings.of(max_conditioning=1) is not Settings.of(max_conditioning=1, n_jobs=1)
    with pytest.raises(serape.OptionError, match="max_conditioning"):
        Settings.of(max_conditioning=True)
    assert Settings.of(max_conditioning=1).search.max_conditioning == 1
    with pytest.raises(serape.OptionError, match="max_conditioning"):
        Settings.of(max_conditioning=True)


def test_settings_that_are_refused_are_refused_again() -> None:
    data = table()
    for _ in range(2):
        with pytest.raises(serape.OptionError, match="no option 'nonsense'"):
            serape.parents_children(data, "y", "hiton-pc", nonsense=1)  # type: ignore[call-arg]
        with pytest.raises(serape.OptionError, match="the data are a Table already"):
            serape.parents_children(data, "y", "hiton-pc", kinds="categorical")
