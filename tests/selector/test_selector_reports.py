"""How the report of a selector's result shows the call again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
from serape import MarkovBlanketSelector
from serape.results.report.calls import blanket_calls
from serape.results.saved import json_text
from tables import mixed_frame


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"discretise": "quantile", "bins": 3, "alpha": np.float64(0.001)},
        {
            "missing": "pairwise",
            "kinds": {"noise": "categorical"},
            "max_tests": 1000,
            "known_members": np.array(["truth"]),
        },
        {"finds": "parents-children", "algorithm": "mmpc", "algorithm_options": {"symmetry": False}},
        {"knowledge": {"forbidden_pairs": [("noise", "y")]}, "target_kind": "categorical"},
        {"knowledge": serape.Knowledge(forbidden_pairs=[("noise", "y")]), "max_seconds": None},
    ],
)
def test_the_call_of_a_report_gives_the_same_result(settings: dict[str, Any]) -> None:
    X, y = mixed_frame()
    X["noise"] = X["noise"].round()
    weights = np.arange(len(y)) % 3
    given = MarkovBlanketSelector(**settings, n_jobs=2).fit(X, y, sample_weight=weights).result_
    calls = blanket_calls(given)
    assert list(calls) == ["In Python"]
    inside: dict[str, Any] = {"X": X, "y": y, "sample_weight": weights}
    exec(calls["In Python"], inside)
    assert json_text(replace(inside["found"], seconds=0)) == json_text(replace(given, seconds=0))


def test_objects_are_shown_by_name(tmp_path: Path) -> None:
    def everything(search: Any, target: int) -> Any:
        return search.dependents(target, search.candidates(target))

    X, y = mixed_frame()
    selector = MarkovBlanketSelector(everything, random_state=np.random.RandomState(0)).fit(X, y)
    call = blanket_calls(selector.result_)["In Python"]
    assert "    algorithm=everything,\n    random_state=…,\n).fit(X, y)" in call
    selector.result_.save(tmp_path / "found.json")
    assert blanket_calls(serape.load_result(tmp_path / "found.json"))["In Python"] == call
    selector.result_.report(tmp_path / "p.html")
    assert "MarkovBlanketSelector" in (tmp_path / "p.html").read_text()
