"""The block score: its plain twin, equivalent networks, which scores join, hard columns, any order."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import serape
from plain_block_score import plain_block_score, plain_blocks
from plain_graphs import Parents, random_parents
from serape.structure.block_score import LEVELS, BlockScore
from serape.structure.gaussian_score import GaussianEBIC
from serape.structure.scores import Score


def mixture(seed: int, rows: int) -> pd.DataFrame:
    """Draw numbers and categories: lines, curves, copies, sums, constants, ties, zeros, many and rare levels."""
    random = np.random.default_rng(seed)
    line, other, flat = random.normal(size=(3, rows))
    bent = line**2 + 0.5 * random.normal(size=rows)
    level = np.digitize(line + 0.5 * random.normal(size=rows), [-1, 0, 1])
    many = random.integers(40, size=rows) + 3 * (other > 0)
    columns = {
        "line": line,
        "bent": bent,
        "sum": line + other,
        "other": other,
        "flat": flat,
        "copy": other.copy(),
        "tied": np.round(other + 0.3 * bent) + 0.25,
        "zeros": np.where(line + random.normal(size=rows) < 0, 0.0, np.exp(flat)),
        "skewed": np.exp(other + random.normal(size=rows)),
        "constant": np.full(rows, 2.5),
        "level": np.array(list("abcd"))[level],
        "again": np.array(list("wxyz"))[level],
        "sign": np.where(other > 0, "yes", "no"),
        "many": np.array([f"m{k}" for k in many]),
        "rare": np.where(np.arange(rows) % 50 == 0, "x", np.where(flat > 0, "y", "n")),
        "one": np.full(rows, "a"),
    }
    frame = pd.DataFrame(columns)
    return frame[[frame.columns[k] for k in random.permutation(len(columns))]]


def table_of(frame: pd.DataFrame) -> serape.Table:
    kinds = {str(name): "continuous" if frame[name].dtype.kind == "f" else "categorical" for name in frame}
    return serape.Table(frame, kinds=kinds)


def covered_reversals(random: np.random.Generator, parents: Parents, steps: int) -> Iterator[tuple[int, int]]:
    """Turn covered arcs, one after another, which gives equivalent networks (Chickering 1995): tail and head before."""
    for _ in range(steps):
        covered = [(x, y) for y, own in enumerate(parents) for x in sorted(own) if own - {x} == parents[x]]
        if not covered:
            return
        x, y = covered[int(random.integers(len(covered)))]
        parents[y].remove(x)
        parents[x].add(y)
        yield x, y


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [20, 60, 200, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_the_plain_twin_says(seed: int, rows: int) -> None:
    frame = mixture(seed, rows)
    score = BlockScore(table_of(frame))
    blocks = plain_blocks([frame[name].to_numpy() for name in frame])
    assert np.diff(score.blocks.begins).tolist() == [len(block) for block in blocks]
    random = np.random.default_rng(seed)
    gained = 0
    for _ in range(150):
        child, *parents = random.permutation(len(blocks))[: random.integers(1, 7)].tolist()
        expected = plain_block_score(blocks, child, parents)
        assert score.local(child, parents) == pytest.approx(expected, abs=1e-6 * rows)
        gained += expected > 0
    assert gained > 5 or rows == 20


@pytest.mark.parametrize("rows", [60, 1000])
def test_candidates_have_the_scores_of_families(rows: int) -> None:
    """One more parent, and those that raise the score by so much: near copies too."""
    random = np.random.default_rng(rows)
    score = BlockScore(table_of(mixture(5, rows)))
    raised = 0
    for _ in range(60):
        child, *others = random.permutation(len(score.variables)).tolist()
        few = int(random.integers(6))
        parents, candidates = others[:few], np.array(others[few:], np.uint32)
        own = score.local(child, parents)
        expected = Score.additions(score, child, candidates, parents)
        for threads in (1, 3):
            found = score.additions(child, candidates, parents, threads=threads)
            np.testing.assert_allclose(found, expected, rtol=0, atol=score.rounding)
            assert found.tobytes() == score.additions(child, candidates, parents).tobytes()
        for least in (score.rounding, *np.quantile(found - own, [0.5, 0.9]).tolist()):
            raising = score._native.raising(child, candidates, parents, least)
            assert raising[0] == own
            assert raising[1].tolist() == candidates[found > own + least].tolist()
            assert raising[2].tolist() == found[found > own + least].tolist()
            raised += len(raising[1])
    assert raised > 100


def test_lines_have_the_gains_of_the_gaussian_score_on_normal_scores() -> None:
    random = np.random.default_rng(2)
    weights = np.triu(random.normal(size=(6, 6)) * (random.random((6, 6)) < 0.6), 1)
    frame = pd.DataFrame(random.normal(size=(800, 6)) @ np.linalg.inv(np.eye(6) - weights), columns=list("abcdef"))
    score = BlockScore(table_of(frame))
    assert score.size == 6
    scores = np.array([block[0] for block in plain_blocks([frame[name].to_numpy() for name in frame])])
    normal = GaussianEBIC(table_of(pd.DataFrame(scores.T, columns=list("abcdef"))))
    for child, parents in ((0, [1]), (2, [0, 1]), (5, [0, 2, 3, 4]), (3, [5])):
        gain = normal.local(child, parents) - normal.local(child, [])
        assert score.local(child, parents) == pytest.approx(gain, abs=0.05)


# --- equivalent networks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [300, 2000])
def test_equivalent_networks_have_the_same_score(rows: int) -> None:
    """Every reversal of a covered arc: four families, whose sums agree as far as rounding goes."""
    random = np.random.default_rng(rows)
    reversals = 0
    for seed in range(4):
        score = BlockScore(table_of(mixture(seed, rows).drop(columns="many")))
        n = len(score.variables)
        for _ in range(10):
            parents = random_parents(random, n, 0.15)
            begin = score.total(parents)
            before = [frozenset(own) for own in parents]
            for x, y in covered_reversals(random, parents, 15):
                assert abs(score.gain(before, parents)) <= score.rounding, (x, y)
                before = [frozenset(own) for own in parents]
                reversals += 1
            assert score.total(parents) == pytest.approx(begin, rel=1e-12, abs=15 * score.rounding)
    assert reversals > 300


# --- which scores join ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_a_square_joins_and_lines_keep_one_score(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, w = random.normal(size=(2, 500))
    y = x**2 + 0.5 * random.normal(size=500)
    z = w + random.normal(size=500)
    frame = pd.DataFrame({"w": np.exp(w), "x": x, "y": y, "z": z**3})
    score = BlockScore(table_of(frame))
    assert score.blocks.names_of(1)[:2] == ("score", "power 2")
    assert score.blocks.names_of(0) == score.blocks.names_of(3) == ("score",)
    assert score.local(2, [1]) > score.local(2, []) + 50
    assert score.local(1, [2]) > score.local(1, []) + 50
    lines = BlockScore(table_of(frame.drop(columns="y")))
    assert lines.size == 3
    assert frozenset(("x", "y")) in map(frozenset, serape.network(frame, "boss", score="block-ebic").edges)


def test_a_frequent_value_joins_where_it_tells_something() -> None:
    random = np.random.default_rng(3)
    hurdle, size = random.random(600) < 0.4, np.exp(random.normal(size=600))
    frame = pd.DataFrame({"amount": np.where(hurdle, 0.5 * np.median(size), size), "why": np.where(hurdle, "y", "n")})
    assert "common value" in BlockScore(table_of(frame)).blocks.names_of(0)
    frame["why"] = random.permutation(frame["why"])
    assert BlockScore(table_of(frame)).blocks.names_of(0) == ("score",)


# --- hard columns -----------------------------------------------------------------------------------------------------


def test_many_levels_have_a_bounded_number_of_scores() -> None:
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"many": [f"l{k}" for k in random.integers(60, size=3000)], "x": random.normal(size=3000)})
    score = BlockScore(table_of(frame))
    assert np.diff(score.blocks.begins).tolist() == [LEVELS, 1]
    assert score.local(1, [0]) < score.local(1, [])


def test_too_many_scores_for_the_rows_explain_nothing() -> None:
    random = np.random.default_rng(4)
    frame = pd.DataFrame(random.normal(size=(40, 12)), columns=[f"v{k}" for k in range(12)])
    frame["v11"] = frame[[f"v{k}" for k in range(8)]].sum(axis=1)
    score = BlockScore(table_of(frame))
    assert score.size == 12
    cost = 0.5 * math.log(40) + math.log(12)
    assert score.local(11, range(7)) > -7 * cost
    assert score.local(11, range(8)) == pytest.approx(-8 * cost)


@pytest.mark.parametrize("rows", [2, 5, 12])
def test_few_rows_have_finite_scores_and_a_network(rows: int) -> None:
    frame = mixture(1, rows)
    score = BlockScore(table_of(frame))
    for child in range(len(score.variables)):
        others = [x for x in range(len(score.variables)) if x != child]
        assert math.isfinite(score.local(child, others))
        assert np.isfinite(score.additions(child, others, [])).all()
    assert serape.network(table_of(frame), "boss", score="block-ebic").total is not None


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_columns_gives_the_same_answer(seed: int) -> None:
    frame = mixture(seed, 400)
    random = np.random.default_rng(seed)
    turned = frame[[frame.columns[k] for k in random.permutation(len(frame.columns))]]
    one, other = BlockScore(table_of(frame)), BlockScore(table_of(turned))
    at = [other.variables.index(name) for name in one.variables]
    for _ in range(50):
        child, *parents = random.permutation(len(at))[:4].tolist()
        expected = one.local(child, parents)
        assert other.local(at[child], [at[x] for x in parents]) == pytest.approx(expected, abs=one.rounding, rel=0)
    found = [serape.network(table_of(each), "boss", score="block-ebic").cpdag for each in (frame, turned)]
    assert set(found[0].edges) == set(found[1].edges)
    without_copies = [table_of(each.drop(columns=["copy", "again"])) for each in (frame, turned)]
    for target in ("bent", "tied", "level"):  # of copies, the first one in the table stands for all
        answers = [serape.markov_blanket(table, target, "boss-mb").blanket for table in without_copies]
        assert set(answers[0]) == set(answers[1])


def test_gaps_are_refused_with_what_helps() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=100), "b": random.normal(size=100), "c": ["u", "v"] * 50})
    frame.loc[3, "a"] = np.nan
    frame.loc[5, "c"] = None
    for ask in (
        lambda table: serape.network(table, "boss"),
        lambda table: serape.markov_blanket(table, "b", "boss-mb"),
    ):
        with pytest.raises(serape.DataError, match="missing in 'a', 'c'; pass missing='drop', or use tests alone"):
            ask(serape.Table(frame, missing="pairwise"))
    table = serape.Table(frame, missing="pairwise")
    assert serape.network(table).algorithm == "hiton-pc"
    assert serape.markov_blanket(table, "b").algorithm == "hpc"


def test_of_many_columns_the_nearest_are_searched() -> None:
    """Spouses too, which tell nothing of the target by themselves; and a target without scores finds nothing."""
    random = np.random.default_rng(3)
    columns = {f"n{k}": random.normal(size=600) for k in range(320)}
    columns["t"], columns["spouse"] = random.normal(size=(2, 600))
    columns["child"] = columns["t"] + columns["spouse"] + random.normal(size=600)
    columns["rare"] = np.where(np.arange(600) < 3, 1.5, 0.0) + np.where(np.arange(600) == 5, 2.5, 0.0)
    table = serape.Table(columns, kinds="continuous")
    found = serape.markov_blanket(table, "t", "boss-mb")
    assert found.parents_children == ("child",)
    assert found.spouses == {"spouse": ("child",)}
    assert serape.markov_blanket(table, "rare", "boss-mb").blanket == ()
