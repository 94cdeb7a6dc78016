"""Conditional Gaussian scores: cells one by one, other scores, theory, hard columns, bad use."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import serape
from plain_number_scores import plain_cg_bic
from serape.errors import DataError
from serape.structure.mixed_score import ConditionalGaussianBIC
from serape.structure.scores import BIC, Score, make_score


def frame_of(seed: int, rows: int, hard: bool = False) -> pd.DataFrame:
    """Draw categories and numbers that depend on each other."""
    random = np.random.default_rng(seed)
    a, b = random.integers(2, size=rows), random.integers(3, size=rows)
    x = a + random.normal(size=rows) * (1 + b)
    y = x * (b - 1) + random.normal(size=rows)
    c = (y + random.normal(size=rows) > 0).astype(int)
    z = 100 + 10 * c * x + random.normal(size=rows)
    frame = pd.DataFrame({"a": a, "x": x, "b": b, "y": y, "c": c, "z": z})
    if hard:
        frame["many"] = random.integers(40, size=rows)
        frame["zero"] = np.where(a == 0, 0.0, frame["x"])
        frame["copy"] = frame["x"]
    for name in frame:
        if frame[name].dtype.kind != "f":
            frame[name] = frame[name].map(lambda v: f"l{v}")
    return frame


@pytest.mark.parametrize("kind", ["cg-bic", "cg-ebic"])
@pytest.mark.parametrize("seed", range(6))
def test_against_cells(kind: str, seed: int) -> None:
    frame = frame_of(seed, (30, 200, 1000)[seed % 3], hard=seed % 2 == 1)
    score = make_score(serape.Table(frame), kind)
    random = np.random.default_rng(seed)
    names = list(frame)
    for size in range(5):
        child, *others = random.permutation(len(names)).tolist()
        parents, candidates = others[:size], others[size:]
        expected = [
            plain_cg_bic(frame, names[child], [names[p] for p in (*parents, x)], float(kind == "cg-ebic"))
            for x in candidates
        ]
        np.testing.assert_allclose(score.additions(child, candidates, parents), expected, rtol=1e-8, atol=1e-6)
        assert np.isfinite(expected).all()


def test_categories_alone_have_bic_and_numbers_alone_nearly_the_gaussian() -> None:
    frame = frame_of(1, 2000)
    score = make_score(serape.Table(frame), "cg-bic")
    categories, numbers = frame[["a", "b", "c"]], frame[["x", "y", "z"]]
    bic, gaussian = BIC(serape.Table(categories)), make_score(serape.Table(numbers), "gaussian-bic")
    at = {name: k for k, name in enumerate(frame)}
    for child, parents in ((0, []), (0, [1]), (2, [0, 1])):
        expected = bic.local(child, parents)
        own = score.local(at[list(categories)[child]], [at[list(categories)[p]] for p in parents])
        assert own == pytest.approx(expected, rel=1e-9)
        expected = gaussian.local(child, parents)
        own = score.local(at[list(numbers)[child]], [at[list(numbers)[p]] for p in parents])
        assert own == pytest.approx(expected, abs=0.01)


def test_a_regression_in_every_cell() -> None:
    """Of a number with parents of both kinds: the likelihood of least squares in each cell, by the formula."""
    frame = frame_of(4, 5000)
    score = make_score(serape.Table(frame), "cg-bic")
    likelihood = 0.0
    for _, part in frame.groupby("b"):
        design = np.column_stack([np.ones(len(part)), part["x"]])
        rest = part["y"] - design @ np.linalg.lstsq(design, part["y"], rcond=None)[0]
        likelihood -= 0.5 * len(part) * (math.log(2 * math.pi * float(rest @ rest) / len(part)) + 1)
    expected = likelihood - 0.5 * math.log(5000) * 3 * 3
    at = {name: k for k, name in enumerate(frame)}
    assert score.local(at["y"], [at["b"], at["x"]]) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("kind", ["cg-bic", "cg-ebic"])
def test_complete_networks_score_alike(kind: str) -> None:
    score = make_score(serape.Table(frame_of(3, 300)[["a", "x", "b", "y"]]), kind)
    totals = []
    for order in permutations(range(4)):
        parents_of: list[list[int]] = [[], [], [], []]
        for k, v in enumerate(order):
            parents_of[v] = list(order[:k])
        totals.append(score.total(parents_of))
    np.testing.assert_allclose(totals, totals[0], rtol=1e-10)


def test_batches_threads_and_order_of_rows() -> None:
    frame = frame_of(5, 500, hard=True)
    one, other = make_score(serape.Table(frame), "cg-bic"), make_score(serape.Table(frame[::-1]), "cg-bic")
    queries = [(child, [x for x in range(9) if x not in (child, 3)], [3]) for child in (0, 1, 2, 4)]
    expected = [found.tobytes() for found in Score.additions_of_many(one, queries)]
    for threads in (1, 3):
        again = make_score(serape.Table(frame), "cg-bic")
        assert [found.tobytes() for found in again.additions_of_many(queries, threads=threads)] == expected
    for found, turned in zip(one.additions_of_many(queries), other.additions_of_many(queries), strict=True):
        np.testing.assert_allclose(found, turned, rtol=1e-9)


def test_many_cells_take_memory_by_rows() -> None:
    """Ten categories of 40 levels: 10^16 combinations; the penalty decides, and nothing is NaN."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame({f"c{k}": [f"l{v}" for v in random.integers(40, size=300)] for k in range(10)})
    frame["x"] = random.normal(size=300)
    score = make_score(serape.Table(frame), "cg-bic")
    assert math.isfinite(score.local(10, list(range(10))))
    assert score.local(10, list(range(10))) < score.local(10, [])
    assert score.local(0, list(range(1, 11))) < score.local(0, [])


def test_a_network_of_mixed_columns() -> None:
    """Categories that are causes of numbers: the score finds them, whatever the algorithm."""
    random = np.random.default_rng(7)
    a, b = random.integers(2, size=2000), random.integers(3, size=2000)
    x = 2.0 * a + random.normal(size=2000)
    y = x + b + random.normal(size=2000)
    frame = pd.DataFrame({"a": a, "b": b, "x": x, "y": y}).astype({"a": str, "b": str})
    for algorithm in ("ges", "boss", "tabu", "sca", "mmhc"):
        found = serape.network(frame, algorithm, score="cg-ebic")
        assert {frozenset(edge) for edge in found.edges} == {frozenset("ax"), frozenset("xy"), frozenset("by")}


def test_bad_use() -> None:
    frame = frame_of(1, 60)
    with pytest.raises(DataError, match="'cg-bic' cannot use weights of rows"):
        make_score(
            serape.Table({**frame, "w": 1.5 + np.arange(60) % 3}, sample_weight="w", weight_kind="survey"), "cg-bic"
        )
    gaps = frame.assign(x=frame["x"].where(frame["x"] < 1))
    with pytest.raises(DataError, match="missing"):
        make_score(serape.Table(gaps, missing="pairwise"), "cg-bic")
    score = ConditionalGaussianBIC(serape.Table(frame))
    with pytest.raises(ValueError, match="already"):
        score.additions(0, [1], [1])
    with pytest.raises(IndexError, match="column 9"):
        score.local(0, [9])
