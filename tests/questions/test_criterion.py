"""Whether a set tells the same as a blanket: the criterion, sets that differ in one variable, what a set determines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.data.example import clinic
from serape.questions.equivalence import MAX_SWAPS, Criterion, determined
from serape.questions.query import Query
from serape.settings import Settings


def criterion(data: Any, target: str, **settings: Any) -> Criterion:
    asked = Settings.of(algorithm="iamb", **settings)
    query, at = Query.about(data, target, "blanket", asked)
    return Criterion.of(query, at, asked)


def positions(names: tuple[str, ...], *some: str) -> frozenset[int]:
    return frozenset(names.index(name) for name in some)


def refined(rows: int) -> pd.DataFrame:
    """Return a target with two causes, and one of the causes refined by a coin of eight sides."""
    random = np.random.default_rng(0)
    cause, other = random.integers(0, 2, (2, rows))
    target = (cause + other + (random.random(rows) < 0.1)) % 3
    fine = 8 * cause + random.integers(0, 8, rows)
    noise = random.integers(0, 2, (rows, 40))
    named = {f"noise{k}": noise[:, k] for k in range(40)}
    return pd.DataFrame({"cause": cause, "other": other, "target": target, "fine": fine, **named}).astype(str)


# --- the criterion ---------------------------------------------------------------------------------------------------


def test_what_auto_means() -> None:
    table = serape.Table(clinic(500))
    own = criterion(table, "HeartDisease").query
    assert (own.source.dof, own.max_conditioning, own.fdr) == ("adjusted", None, None)  # type: ignore[attr-defined]
    given = criterion(table, "HeartDisease", dof="full", max_conditioning=2).query
    assert (given.source.dof, given.max_conditioning) == ("full", 2)  # type: ignore[attr-defined]
    test = serape.DSeparation(serape.load_network("asia").graph)
    assert criterion(test, "dysp").query.source is test


def test_verdicts() -> None:
    frame = refined(2000)
    names = tuple(frame.columns)
    judge = criterion(frame, "target")
    first = positions(names, "cause", "other")

    def verdict(removed: str, *members: str) -> str:
        search = judge.query.search(judge.target)
        trial = judge.trial(search, positions(names, *members), first, positions(names, removed))
        assert trial.removed == (removed,)
        assert search.tally.performed + search.tally.skipped == len({"cause", "other", removed} - set(members))
        return trial.verdict

    assert verdict("cause", "fine", "other") == "blanket"
    assert verdict("cause", "other") == "told apart"
    assert verdict("cause", "fine") == "told apart"  # the other cause is missing
    many = [f"noise{k}" for k in range(12)]
    assert verdict("cause", *many) == "undecided"  # in 4,096 strata


# --- sets that differ in one variable --------------------------------------------------------------------------------


def test_a_variable_of_many_levels_is_found_in_place_of_one_of_few() -> None:
    """With full degrees of freedom the search does not take the refined cause, but it stands for the cause."""
    frame = refined(400)
    judge = criterion(frame, "target")
    names = tuple(frame.columns)
    first = positions(names, "cause", "other")
    search = judge.query.search(judge.target)
    x = names.index("cause")
    assert judge.swapped(search, first, x, first, frozenset({x})) == positions(names, "fine", "other")
    without = frame.drop(columns="fine")
    judge = criterion(without, "target")
    names = tuple(without.columns)
    first = positions(names, "cause", "other")
    x = names.index("cause")
    search = judge.query.search(judge.target)
    assert judge.swapped(search, first, x, first, frozenset({x})) is None
    assert search.tally.performed + search.tally.skipped < 50 + 2 * MAX_SWAPS


def test_a_superfluous_member_is_left_out() -> None:
    """Both causes in one column stand for one of them; then the other is not needed."""
    frame = refined(2000)
    frame["both"] = frame["cause"] + frame["other"]
    names = tuple(frame.columns)
    judge = criterion(frame, "target")
    first = positions(names, "cause", "other")
    x, fine = names.index("cause"), names.index("fine")
    found = judge.swapped(judge.query.search(judge.target), first, x, first, frozenset({x, fine}))
    assert found == positions(names, "both")


def test_min_effect_counts_for_swaps() -> None:
    frame = refined(2000)
    judge = criterion(frame, "target", min_effect=10.0)
    names = tuple(frame.columns)
    first = positions(names, "cause", "other")
    x = names.index("cause")
    assert judge.swapped(judge.query.search(judge.target), first, x, first, frozenset({x})) is None


# --- what a set determines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_linear_functions(scale: float) -> None:
    random = np.random.default_rng(0)
    a, b = scale * random.normal(size=(2, 100)) + 3 * scale
    table = serape.Table({"a": a, "b": b, "sum": a - 2 * b + scale, "near": a + 1e-4 * b, "square": a**2})
    assert determined(table, [2, 3, 4], [0, 1]) == {2, 3}
    assert determined(table, [2, 3, 4], [0]) == set()
    assert determined(table, [2], []) == set()
    assert determined(None, [2], [0, 1]) == set()


def test_functions_of_levels() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(0, 3, (2, 100)).astype(str)
    table = serape.Table({"a": a, "b": b, "pair": np.char.add(a, b), "first": np.where(a == "0", "x", "y")})
    assert determined(table, [0, 1, 3], [2]) == {0, 1, 3}
    assert determined(table, [2, 3], [0, 1]) == {2, 3}
    assert determined(table, [2, 0], [3]) == set()
