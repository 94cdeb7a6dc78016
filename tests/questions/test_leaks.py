"""Notes about copies of the target and likely leaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import serape
from serape.questions import leaks
from serape.questions.leaks import share_left, shares_left

ROWS = 600


def numbers(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return a target of numbers, two causes of it, and noise."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.normal(size=(3, rows))
    return pd.DataFrame({"a": a, "b": b, "noise": noise, "y": a + b + rng.normal(size=rows)})


def classes(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return a target of two levels, a cause of it, and noise."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    y = np.where(rng.random(rows) < np.array([0.1, 0.5, 0.9])[a], "yes", "no")
    return pd.DataFrame({"a": a, "noise": rng.integers(0, 2, rows), "y": y})


def about(data: Any, word: str, target: str = "y", **settings: Any) -> list[str]:
    """Return the notes about a target that contain a word."""
    return [note for note in serape.markov_blanket(data, target, **settings).notes if word in note]


COPIES: dict[str, Callable[[Any], Any]] = {
    "scaled": lambda y: 2 * y + 1,
    "falling": lambda y: -3 * y,
    "curved": np.exp,
    "cubed": lambda y: -(y**3),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("test", ["residuals", "partial-correlation"])
def test_a_monotone_copy_is_noted_once(name: str, test: str) -> None:
    data = numbers()
    data[name] = COPIES[name](data["y"])
    (note,) = about(data, "copy of the target", test=test)
    assert f"'{name}' is a copy" in note
    assert f"ignore=['{name}']" in note
    assert not about(data, "leak", test=test)


def test_copies_with_ties_and_gaps() -> None:
    data = numbers()
    data["y"] = (data["y"] * 20).round() / 20
    data["cubed"] = data["y"] ** 3
    data["twice"] = data["cubed"]
    (note,) = about(data, "of the target in other units")
    assert "'cubed', 'twice' are copies" in note
    data.loc[::7, "cubed"] = np.nan
    data.loc[::5, "y"] = np.nan
    (note,) = about(data.drop(columns="twice"), "of the target in other units", missing="pairwise")
    assert "'cubed' is a copy" in note


@pytest.mark.parametrize("rows", [5, 16, 40, 600])
def test_the_first_look_misses_no_copy(rows: int) -> None:
    rng = np.random.default_rng(rows)
    for _ in range(20):
        y = rng.normal(size=rows).round(int(rng.integers(0, 4)))
        columns = {"y": y, "noise": rng.normal(size=rows), **{name: copy(y) for name, copy in COPIES.items()}}
        columns["nearly"] = np.where(np.arange(rows) == rng.integers(rows), y.max() + 1, y)
        columns["coarse"] = y.round()
        table = serape.Table(pd.DataFrame(columns), kinds="continuous")
        others = [k for k in table.continuous if k]
        found = leaks._may_be_copies(table, 0, others)
        assert set(found) >= {x for x in others if leaks._is_monotone(table, 0, x, np.argsort(y, kind="stable"))}
        assert rows < 40 or len(np.unique(y)) < 10 or table.position("noise") not in found


def test_what_is_no_copy() -> None:
    """Not an exact duplicate, a step function or a function with a turn; and not in too few rows."""
    data = numbers()
    data["same"] = data["y"]
    data["steps"] = data["y"].round(1)
    data["turns"] = np.abs(data["y"])
    assert not about(data, "other units")
    assert about(data, "duplicates of the target: 'same'")
    few = numbers(rows=19)
    few["copied"] = 2 * few["y"]
    assert not about(few, "other units")


def test_forbidden_members_are_not_named() -> None:
    data = numbers()
    data["copied"] = 2 * data["y"]
    assert about(data, "other units")
    assert not about(data, "other units", forbidden_members=["copied"])


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc"])
def test_a_leak_of_levels_is_noted(algorithm: str) -> None:
    data = classes()
    billed = np.where(data["y"] == "yes", "paid", "open")
    billed[[3, 50]] = billed[[4, 51]][::-1]
    data["billed"] = np.where(np.arange(ROWS) % 9 == 0, np.char.add(billed.astype(str), " late"), billed)
    (note,) = about(data, "likely a leak", algorithm=algorithm)
    assert "'billed' alone tells 'y' nearly exactly" in note
    assert "ignore=['billed']" in note


def test_all_leaks_are_named_together() -> None:
    """The first separates the second from the target, which is named all the same."""
    data = classes(rows=2000)
    for name, at in (("one", 7), ("two", 11)):
        wrong = np.arange(2000) % 400 == at
        data[name] = np.where(wrong, "?", data["y"])
    (note,) = about(data, "likely a leak", algorithm="iamb")
    assert "'one', 'two' alone tell" in note


def test_leaks_of_numbers_and_levels() -> None:
    data = numbers()
    data["rounded"] = data["y"].round(1)
    assert "'rounded'" in about(data, "likely a leak")[0]
    data = numbers()
    data["bracket"] = "b" + pd.Series(pd.qcut(data["y"], 20, labels=False)).astype(str)
    assert "'bracket'" in about(data, "likely a leak")[0]
    data = numbers()
    data["high"] = np.where(data["y"] > 0.3, "high", "low")
    (note,) = about(data, "likely a leak", target="high")
    assert "'y' alone tells 'high'" in note


@pytest.mark.parametrize("seed", range(3))
def test_strong_causes_are_no_leaks(seed: int) -> None:
    assert not about(numbers(seed), "leak")
    assert not about(classes(seed), "leak")
    data = classes(seed)
    rng = np.random.default_rng(seed)
    data["child"] = np.where(rng.random(ROWS) < 0.1, "?", data["y"])
    assert "child" in serape.markov_blanket(data, "y").blanket
    assert not about(data, "leak")


def test_columns_of_nearly_one_level_for_each_row_are_no_leaks() -> None:
    """They determine any target in the rows at hand."""
    data = classes()
    data["ticket"] = [f"t{k // 2}" for k in np.random.default_rng(1).permutation(ROWS)]
    assert not about(data, "leak", kinds={"ticket": "categorical"}, known_members=["ticket"])
    data["person"] = [f"p{k % 500} {v}" for k, v in enumerate(data["y"])]
    assert not about(data, "leak", kinds={"person": "categorical"}, known_members=["person"])
    thrice = pd.concat([classes(rows=200).assign(person=[f"p{k}" for k in range(200)])] * 3)
    assert not about(thrice, "leak", kinds={"person": "categorical"}, known_members=["person"])


def test_rows_sorted_by_the_target_are_no_leak() -> None:
    """Equal numbers in the order of the rows would have the classes in order too."""
    data = classes().sort_values("y")
    data["count"] = np.random.default_rng(0).integers(0, 4, ROWS).astype(float)
    assert not about(data, "leak", kinds={"count": "continuous"}, known_members=["count"])


def test_calls_about_many_targets_have_no_such_notes() -> None:
    data = classes()
    data["leak"] = np.where(np.arange(ROWS) == 5, "?", data["y"])
    assert about(data, "likely a leak")
    assert not any("likely" in note for note in serape.blankets(data)["y"].notes)


# --- the share that a column leaves open --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_share_left_of_levels(seed: int) -> None:
    """A row is guessed from the others of its level; a tie, or no others, is an error."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, 200)
    y = np.where(rng.random(200) < 0.7, x % 3, rng.integers(0, 3, 200))
    wrong = 0
    for k in range(200):
        others = np.bincount(y[(x == x[k]) & (np.arange(200) != k)], minlength=3)
        wrong += not (others[y[k]] > np.delete(others, y[k]).max())
    table = serape.Table(pd.DataFrame({"x": x, "y": y}), kinds="categorical")
    assert share_left(table, 1, 0) == pytest.approx(wrong / (200 - np.bincount(y).max()))


def test_share_left_of_numbers_is_that_of_spearman() -> None:
    data = numbers(1)
    data["y"] = data["y"].round(1)
    table = serape.Table(data)
    expected = 1 - stats.spearmanr(data["a"], data["y"]).statistic ** 2
    assert share_left(table, 3, 0) == pytest.approx(expected)


def test_share_left_within_levels_is_that_of_ranks() -> None:
    data = numbers(2)
    data["level"] = np.digitize(data["y"] + np.random.default_rng(0).normal(size=ROWS), [-1, 0, 1])
    ranks = pd.Series(stats.rankdata(data["y"]))
    within = ranks.groupby(data["level"]).transform(lambda r: r - r.mean())
    expected = (within**2).sum() / (ROWS - 4) / ranks.var()
    assert share_left(serape.Table(data), 3, 4) == pytest.approx(expected)


@pytest.mark.parametrize("rows", [15, 30, 400])
@pytest.mark.parametrize("noise", [0.0, 0.005, 0.3])
def test_shares_of_many_columns_are_those_of_each(rows: int, noise: float) -> None:
    rng = np.random.default_rng(rows)
    y = rng.choice(3, rows, p=[0.8, 0.15, 0.05])
    data = pd.DataFrame(
        {"y": pd.Categorical.from_codes(y.tolist(), pd.Index(list("abcd")))}
    )  # one level does not occur
    for name, levels in (("two", 2), ("three", 3), ("many", 80), ("most", 200)):
        codes = np.where(rng.random(rows) < noise, rng.integers(0, levels, rows), y % levels)
        data[name] = pd.Categorical.from_codes(codes.tolist(), pd.Index(range(levels)))
    data["constant"] = "c"
    data["number"] = y + 0.1 * rng.normal(size=rows)
    tables = [
        serape.Table(data),
        serape.Table(data.assign(two=data["two"].where(rng.random(rows) < 0.9)), missing="pairwise"),
    ]
    for table in tables:
        for target in range(len(table.names)):
            others = [x for x in range(len(table.names)) if x != target]
            assert shares_left(table, target, others) == [share_left(table, target, x) for x in others]
