"""The note about members that many candidates make likely by chance."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import serape
from serape.results.result import Result


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    """Return two strong causes of a target among a hundred columns."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.integers(0, 2, (400, 100)), columns=[f"x{k}" for k in range(100)])
    data["y"] = np.where(rng.random(400) < 0.85, data["x0"] | data["x1"], rng.integers(0, 2, 400))
    return data


def by_chance(found: Result) -> list[str]:
    return [note for note in found.notes if "perhaps by chance" in note]


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_members_above_the_level_of_a_false_discovery_rate_are_named(wide: pd.DataFrame, algorithm: str) -> None:
    found = serape.markov_blanket(wide, "y", algorithm, alpha=0.05)
    p = {name: found.explain(name).p for name in found.blanket}
    adjusted = stats.false_discovery_control([*p.values(), *[1.0] * (100 - len(p))])[: len(p)]
    weak = [name for name, value in zip(p, adjusted, strict=True) if value > 0.05]
    assert 0 < len(weak) < len(p)
    (note,) = by_chance(found)
    assert note.startswith(f"{len(weak)} of {len(p)} members")
    assert re.findall(r"'(x\d+)'", note) == weak[:5]
    assert "of 100 candidates, about 5 without any dependence" in note
    assert "fdr=0.05" in note


def test_there_is_no_note_where_none_is_expected(wide: pd.DataFrame) -> None:
    assert not by_chance(serape.markov_blanket(wide, "y", "iamb", alpha=0.05, fdr=0.05))
    assert not by_chance(serape.markov_blanket(wide, "y", "iamb", alpha=0.005))
    loose = serape.markov_blanket(wide, "y", "iamb", alpha=0.05, fdr=0.9, fdr_method="bh")
    assert max(loose.explain(name).p for name in loose.blanket) > 0.01
    assert not by_chance(loose)
    few = serape.markov_blanket(wide[[*wide.columns[:5], *wide.columns[44:50], "y"]], "y", "iamb", alpha=0.05)
    assert max(few.explain(name).p for name in few.blanket) > 0.02
    assert not by_chance(few)
    strong = serape.markov_blanket(wide, "y", "iamb", alpha=0.05, min_effect=0.1)
    assert set(strong.blanket) == {"x0", "x1"}
    assert not by_chance(strong)


def test_required_members_are_not_named(wide: pd.DataFrame) -> None:
    knowledge = serape.Knowledge(required=[("x5", "y")])
    found = serape.markov_blanket(wide, "y", "hiton-mb", alpha=0.05, knowledge=knowledge)
    assert found.explain("x5").p > 0.05
    assert "x5" in found.blanket
    assert by_chance(found)
    assert not any("'x5'" in note for note in by_chance(found))
