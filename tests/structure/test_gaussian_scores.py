"""Scores of numbers: regressions, published values, theory, hard columns, batches, bad use."""

from __future__ import annotations

import math
from itertools import permutations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import random_dag
from plain_correlations import correlated, table_of
from plain_number_scores import Floats, plain_bge, plain_gaussian_bic
from serape import _core
from serape.errors import DataError, OptionError
from serape.structure.gaussian_score import BGe, GaussianBIC, GaussianEBIC, GaussianScore
from serape.structure.scores import AdditionQuery, PermutedScore, Score, make_score

SCORES: dict[str, type[GaussianScore]] = {score.name: score for score in (GaussianBIC, GaussianEBIC, BGe)}


def plain(kind: str, data: Floats, child: int, parents: list[int]) -> float:
    if kind == "bge":
        return plain_bge(data, child, parents)
    return plain_gaussian_bic(data, child, parents, 1.0 if kind == "gaussian-ebic" else 0.0)


@pytest.mark.parametrize("kind", SCORES)
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([15, 40, 513, 5000]), size=st.integers(0, 6))
@settings(max_examples=25, deadline=None)
def test_against_regression(kind: str, seed: int, rows: int, size: int) -> None:
    random = np.random.default_rng(seed)
    data = correlated(seed, rows, 12) * 10.0 ** random.integers(-2, 4, 12) + random.normal(size=12) * 100
    score = make_score(table_of(data), kind)
    child, *others = random.permutation(12).tolist()
    parents, candidates = others[:size], others[size:]
    found = score.additions(child, candidates, parents)
    expected = [plain(kind, data, child, [*parents, x]) for x in candidates]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)
    assert score.family(child, parents) == pytest.approx(plain(kind, data, child, parents), rel=1e-8, abs=1e-6)
    np.testing.assert_allclose(found, score.families(child, [(*parents, x) for x in candidates]), rtol=1e-10)


def test_values_by_hand() -> None:
    data = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 6.0]])
    score = GaussianBIC(table_of(data))
    assert score.local(0, []) == pytest.approx(-2.5 * (math.log(2 * math.pi * 2.0) + 1) - math.log(5), abs=1e-8)
    slope = 8.0 / 10.0 * 1.25  # Sxy = 10, Sxx = 10
    rest = 17.2 - slope * 10.0
    expected = -2.5 * (math.log(2 * math.pi * rest / 5) + 1) - 1.5 * math.log(5)
    assert score.local(1, [0]) == pytest.approx(expected, abs=1e-8)


# --- theory --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SCORES)
def test_complete_networks_score_alike(kind: str) -> None:
    score = make_score(table_of(correlated(5, 300, 4)), kind)
    totals = []
    for order in permutations(range(4)):
        parents_of: list[list[int]] = [[], [], [], []]
        for k, v in enumerate(order):
            parents_of[v] = list(order[:k])
        totals.append(score.total(parents_of))
    np.testing.assert_allclose(totals, totals[0], rtol=1e-10)


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("seed", range(6))
def test_reversing_a_covered_arc_changes_nothing(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    named = random_dag(random, 8, 0.5)
    graph: nx.DiGraph[int] = nx.DiGraph([(int(a[1:]), int(b[1:])) for a, b in named.edges])
    graph.add_nodes_from(range(8))
    score = make_score(table_of(correlated(seed, 300, 8)), kind)

    def total(arcs: nx.DiGraph[int]) -> float:
        return score.total([sorted(arcs.predecessors(v)) for v in range(8)])

    covered = [(a, b) for a, b in graph.edges if set(graph.predecessors(b)) == {a, *graph.predecessors(a)}]
    assert covered
    before = total(graph)
    for a, b in covered:
        turned = graph.copy()
        turned.remove_edge(a, b)
        turned.add_edge(b, a)
        assert total(turned) == pytest.approx(before, rel=1e-10)
    for a, b in set(graph.edges) - set(covered):
        turned = graph.copy()
        turned.remove_edge(a, b)
        turned.add_edge(b, a)
        if nx.is_directed_acyclic_graph(turned):
            assert total(turned) != pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("kind", ["gaussian-bic", "gaussian-ebic"])
def test_gain_is_the_same_in_both_directions_to_the_bit(kind: str) -> None:
    """So that ties do not depend on rounding."""
    score = make_score(table_of(correlated(9, 700, 6) * np.logspace(-1, 2, 6)), kind)
    for a in range(6):
        for b in range(a):
            forward = score.local(a, [b]) - score.local(a, [])
            assert forward == score.local(b, [a]) - score.local(b, [])


def test_order_of_rows_and_columns() -> None:
    data = correlated(3, 400, 8)
    random = np.random.default_rng(1)
    rows, columns = random.permutation(400), random.permutation(8)
    for kind in SCORES:
        one, other = make_score(table_of(data), kind), make_score(table_of(data[rows][:, columns]), kind)
        turned = PermutedScore(other, np.argsort(columns).tolist())
        parents_of = [[x for x in range(8) if x < y and (x + y) % 3] for y in range(8)]
        assert turned.total(parents_of) == pytest.approx(one.total(parents_of), rel=1e-10)


def test_units_do_not_matter_to_bic() -> None:
    data = correlated(3, 400, 6)
    one, other = GaussianBIC(table_of(data)), GaussianBIC(table_of(data * 10.0 ** np.arange(-150, 150, 50)))
    for child, parents in ((0, [1, 2]), (4, [5]), (5, [0, 1, 2, 3])):
        gains = [score.local(child, parents) - score.local(child, []) for score in (one, other)]
        assert gains[0] == pytest.approx(gains[1], rel=1e-9)


# --- hard columns --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("seed", range(10))
def test_any_columns_have_finite_scores(kind: str, seed: int) -> None:
    """Copies, sums, constants, fewer rows than parents."""
    rows = (2, 3, 8, 60)[seed % 4]
    data = correlated(seed, rows, 12, troubled=True)
    score = make_score(table_of(data), kind)
    for size in range(12):
        found = score.additions(0, list(range(size + 1, 12)), list(range(1, size + 1)))
        assert np.isfinite(found).all()
        assert math.isfinite(score.local(0, list(range(1, size + 1))))


def test_constant_columns_and_copies() -> None:
    random = np.random.default_rng(2)
    a = random.normal(size=200)
    data = np.column_stack([a, a, np.full(200, 3.0), a + random.normal(size=200)])
    for kind in SCORES:
        score = make_score(table_of(data), kind)
        assert score.local(3, [0, 1]) < score.local(3, [0])  # a copy costs and adds nothing
        assert score.local(3, [0, 2]) < score.local(3, [0])
        assert score.local(2, [0]) < score.local(2, [])
        assert score.local(0, [1]) > score.local(0, [])
    found = serape.network(pd.DataFrame(data, columns=list("abcd")), "ges")
    assert any("constant" in note for note in found.notes)


def test_more_parameters_than_rows_explain_nothing() -> None:
    data = np.random.default_rng(3).normal(size=(10, 30))
    for kind in ("gaussian-bic", "gaussian-ebic"):
        score = make_score(table_of(data), kind)
        assert score.local(0, list(range(1, 20))) < score.local(0, [])
    found = serape.network(data, "ges")
    assert found.dag is not None
    assert max(degree for _, degree in found.dag.in_degree()) < 9


# --- batches --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SCORES)
def test_many_queries_give_the_same_bits(kind: str) -> None:
    score = make_score(table_of(correlated(4, 500, 40)), kind)
    random = np.random.default_rng(3)
    queries: list[AdditionQuery] = []
    for size in (0, 0, 1, 2, 3, 5) * 3:
        child, *parents = random.permutation(40)[: size + 1].tolist()
        others = np.setdiff1d(np.arange(40), [child, *parents])
        queries.append((child, others[random.random(len(others)) < random.random()].tolist(), parents))
    queries.append((0, [], [1]))
    expected = [found.tobytes() for found in Score.additions_of_many(score, queries)]
    for few in (len(queries), 2, 1, 0):
        for threads in (1, 2, 5):
            found = score.additions_of_many(queries[:few], threads=threads)
            assert [scores.tobytes() for scores in found] == expected[:few]


def test_instruction_sets_agree() -> None:
    table = table_of(correlated(7, 300, 30))
    found = set()
    before = _core.instruction_set()
    for name in _core.instruction_sets():
        assert _core.use_instruction_set(name)
        found.add(b"".join(SCORES[kind](table).additions(0, list(range(3, 30)), (1, 2)).tobytes() for kind in SCORES))
    _core.use_instruction_set(before)
    assert len(found) == 1


def test_columns_beyond_those_whose_correlations_are_kept() -> None:
    data = correlated(8, 12, 20)
    wide = np.column_stack([data, np.random.default_rng(1).normal(size=(12, 4100))])
    few, many = GaussianBIC(table_of(data)), GaussianBIC(table_of(wide))
    candidates = list(range(3, 20))
    np.testing.assert_allclose(few.additions(0, candidates, [1, 2]), many.additions(0, candidates, [1, 2]), rtol=1e-10)


# --- covariances, weights, bad use ----------------------------------------------------------------------------------


def test_of_a_covariance_matrix() -> None:
    data = correlated(6, 500, 7)
    for score in SCORES.values():
        names = table_of(data).names
        made = score.of_covariance(names, np.cov(data.T, bias=True), 500)
        on_rows = score(table_of(data))
        for child, parents in ((0, []), (1, [0, 2]), (6, [1, 2, 3, 4])):
            assert made.local(child, parents) == pytest.approx(on_rows.local(child, parents), rel=1e-9)
    with pytest.raises(OptionError, match="must be symmetric"):
        GaussianBIC.of_covariance(["a", "b"], np.array([[1.0, 0.2], [0.3, 1.0]]), 10)
    with pytest.raises(DataError, match="not positive definite"):
        GaussianBIC.of_covariance(["a", "b"], np.array([[1.0, 2.0], [2.0, 1.0]]), 10)


@pytest.mark.parametrize("kind", SCORES)
def test_frequencies_are_rows_repeated(kind: str) -> None:
    data = correlated(2, 60, 4)
    counts = np.random.default_rng(1).integers(1, 5, 60)
    columns = {f"c{k}": data[:, k] for k in range(4)}
    weighted = serape.Table({**columns, "w": counts}, sample_weight="w", weight_kind="frequency")
    repeated = serape.Table({name: np.repeat(values, counts) for name, values in columns.items()})
    one, other = make_score(weighted, kind), make_score(repeated, kind)
    for child, parents in ((0, []), (1, [0]), (3, [0, 1, 2])):
        assert one.local(child, parents) == pytest.approx(other.local(child, parents), rel=1e-9)


@pytest.mark.parametrize("kind", SCORES)
def test_weights_of_a_survey(kind: str) -> None:
    """Weighted moments stand for moments, and the effective number of rows for rows."""
    data = correlated(2, 80, 4)
    weights = np.random.default_rng(1).uniform(0.5, 3.0, 80)
    columns = {f"c{k}": data[:, k] for k in range(4)}
    score = make_score(serape.Table({**columns, "w": weights}, sample_weight="w", weight_kind="survey"), kind)
    effective = weights.sum() ** 2 / (weights**2).sum()
    covariance = np.cov(data.T, aweights=weights, bias=True)
    expected = SCORES[kind].of_covariance(list(columns), covariance, effective)
    for child, parents in ((0, []), (1, [0]), (3, [0, 1, 2])):
        assert score.local(child, parents) == pytest.approx(expected.local(child, parents), rel=1e-9)


def test_bad_use() -> None:
    random = np.random.default_rng(1)
    a = random.normal(size=50)
    with pytest.raises(DataError, match="score 'bge' needs columns of numbers, but 'g' is categorical"):
        make_score({"a": a, "g": np.where(a > 0, "x", "y")}, "bge")
    gaps = np.where(a > 1, np.nan, a)
    with pytest.raises(DataError, match="missing"):
        make_score(serape.Table({"a": a, "b": gaps}, missing="pairwise"), "gaussian-bic")
    score = GaussianBIC(table_of(correlated(1, 50, 4)))
    with pytest.raises(IndexError, match="column 9"):
        score.additions(0, [9], [])
    with pytest.raises(ValueError, match="already"):
        score.additions(0, [1], [1])
    with pytest.raises(ValueError, match="its own parent"):
        score.local(0, [0])
    assert make_score({"a": a, "b": a**2}, "BIC-G").name == "gaussian-bic"
    assert make_score({"a": a, "b": a**2}, "ebic").name == "gaussian-ebic"
