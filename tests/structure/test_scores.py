"""Scores: the formulas, mpmath, published values, theory, bad use."""

import math
from collections.abc import Collection, Sequence
from itertools import permutations

import mpmath
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import serape
from plain import random_dag, random_table
from plain_scores import STRATEGIES, PlainScore, mixed_table, plain_score
from serape import _core
from serape.errors import DataError, OptionError
from serape.structure.scores import AIC, BIC, K2, SCORES, BDeu, LogLikelihood, Score, make_score


def declared_table(random: np.random.Generator, rows: int, levels: Sequence[int]) -> serape.Table:
    """Draw a table whose columns declare so many levels; some stay unseen, some columns are constant."""
    drawn = random_table(random, rows, [max(1, count - int(random.integers(3))) for count in levels])
    frame = {
        name: pd.Categorical.from_codes(
            drawn.packed.codes(k).astype(np.int64), categories=pd.Index([f"l{v:03}" for v in range(levels[k])])
        )
        for k, name in enumerate(drawn.names)
    }
    return serape.Table(pd.DataFrame(frame))


@pytest.mark.parametrize("kind", SCORES)
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([2, 3, 40, 511, 513, 2000, 20_000]),
    size=st.integers(0, 5),
    child_levels=st.sampled_from([1, 2, 2, 3, 8, 9, 12, 300]),
)
@settings(max_examples=25, deadline=None)
def test_against_the_formula(kind: str, seed: int, rows: int, size: int, child_levels: int) -> None:
    random = np.random.default_rng(seed)
    levels = [child_levels, *random.choice([1, 2, 2, 2, 3, 4, 8, 9, 12], 10).tolist(), 300]
    table = declared_table(random, rows, levels)
    native, plain = make_score(table, kind, 10.0), PlainScore(table, kind)
    assert plain.levels == levels
    chosen = (1 + random.permutation(len(levels) - 1)).tolist()
    parents, candidates = chosen[:size], chosen[size:]
    found = native.additions(0, candidates, parents)
    np.testing.assert_allclose(found, plain.additions(0, candidates, parents), rtol=1e-9, atol=1e-9)
    assert native.family(0, parents) == pytest.approx(plain.family(0, parents), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("codes", [[0], [1], [2]])
def test_one_row(kind: str, codes: list[int]) -> None:
    packed = _core.PackedTable(1)
    columns = [np.array(codes, np.uint8), np.zeros(1, np.uint8), np.zeros(1, np.uint8)]
    for column, levels in zip(columns, (3, 2, 9), strict=True):
        packed.append(column, levels)
    score = _core.FamilyScore(packed, kind, 10.0)
    for parents in ([], [1], [1, 2]):
        expected = plain_score(kind, [c.astype(np.int64) for c in columns], (3, 2, 9), 0, parents)
        assert score.families(0, [parents])[0] == pytest.approx(expected, rel=1e-12)
        if kind in ("bdeu", "k2"):
            assert score.families(0, [parents])[0] == pytest.approx(-math.log(3), rel=1e-12)


@pytest.mark.parametrize("ess", [1e-300, 1e-9, 0.1, 1.0, 37.5, 1e6, 1e15])
def test_equivalent_sample_sizes_against_mpmath(ess: float) -> None:
    """Far beyond what differences of floating-point lgamma can do."""
    table = random_table(np.random.default_rng(1), 3000, [3, 2, 4, 9])
    codes = [table.packed.codes(k).astype(np.int64) for k in range(4)]
    score = BDeu(table, ess)
    for parents in ((), (1,), (1, 2, 3)):
        strata = np.zeros(3000, np.int64)
        for p in parents:
            strata = strata * table.levels(p) + codes[p]
        q = math.prod(table.levels(p) for p in parents)
        with mpmath.workdps(60):
            a_j, a_jk = mpmath.mpf(ess) / q, mpmath.mpf(ess) / (3 * q)

            def rising(counts: NDArray[np.int64], a: mpmath.mpf) -> mpmath.mpf:
                return mpmath.fsum(mpmath.loggamma(int(n) + a) - mpmath.loggamma(a) for n in counts)

            n_j = np.unique(strata, return_counts=True)[1]
            n_jk = np.unique(strata * 3 + codes[0], return_counts=True)[1]
            expected = float(rising(n_jk, a_jk) - rising(n_j, a_j))
        assert score.local(0, parents) == pytest.approx(expected, rel=1e-12)


def test_counts_too_large_for_a_table() -> None:
    """More rows in a cell than logarithms are kept for; a child that never varies is the hardest to be exact on."""
    rows = 400_000
    random = np.random.default_rng(2)
    child, parent = (random.random(rows) < 0.001).astype(np.uint8), (random.random(rows) < 0.3).astype(np.uint8)
    packed = _core.PackedTable(rows)
    for column in (child, parent, np.zeros(rows, np.uint8)):
        packed.append(column, 2)
    codes = [column.astype(np.int64) for column in (child, parent, np.zeros(rows))]
    for kind in SCORES:
        score = _core.FamilyScore(packed, kind, 10.0)
        for parents in ([], [1], [1, 2]):
            expected = plain_score(kind, codes, (2, 2, 2), 0, parents)
            assert score.families(0, [parents])[0] == pytest.approx(expected, rel=1e-9)
    for ess in (0.5, 10.0, 1e5, 1e12):
        with mpmath.workdps(50):
            n, a = mpmath.mpf(rows), mpmath.mpf(ess)
            expected = float(
                mpmath.loggamma(n + a / 2) - mpmath.loggamma(a / 2) - mpmath.loggamma(n + a) + mpmath.loggamma(a)
            )
        assert _core.FamilyScore(packed, "bdeu", ess).families(2, [[]])[0] == pytest.approx(expected, rel=1e-9)


# --- many parents --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SCORES)
def test_thirty_parents(kind: str) -> None:
    table = random_table(np.random.default_rng(3), 1000, [2, *[3] * 40])
    native, plain = make_score(table, kind, 10.0), PlainScore(table, kind)
    parents = list(range(1, 31))
    expected = plain.families(0, [parents, [*parents, 31], parents[:-1]])
    found = [native.local(0, parents), *native.additions(0, [31], parents), *native.families(0, [parents[:-1]])]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for strategy in STRATEGIES:
        assert native.additions(0, list(range(31, 41)), parents, strategy=strategy).tolist() == [  # type: ignore[call-arg]
            native.local(0, (*parents, x)) for x in range(31, 41)
        ]


def test_more_combinations_than_a_float_holds() -> None:
    """As many parents as make a_jk smaller than any float: its logarithm is kept, so BDeu stays finite."""
    columns = 1000
    table = random_table(np.random.default_rng(4), 50, [2, *[4] * columns], dependence=0.0)
    parents = list(range(1, columns + 1))
    assert math.prod(4.0 for _ in parents) == math.inf
    rows = table.rows
    assert len(np.unique(np.stack([table.packed.codes(p) for p in parents]), axis=1).T) == rows  # a row a stratum
    assert BDeu(table).local(0, parents) == pytest.approx(-rows * math.log(2), rel=1e-12)
    assert LogLikelihood(table).local(0, parents) == 0.0
    assert BIC(table).local(0, parents) == AIC(table).local(0, parents) == -math.inf
    assert K2(table).local(0, parents) == pytest.approx(-rows * math.log(2), rel=1e-12)
    # One stratum in which the child takes both levels: ln Γ(n_1) Γ(n_2) / Γ(n) + ln a_jk − ln 2, with a_jk → 0.
    expected = math.lgamma(20) + math.lgamma(30) - math.lgamma(50)
    expected += math.log(10.0) - columns * math.log(4) - 2 * math.log(2)
    constant = declared_constants(columns, 20, 30)
    assert BDeu(constant, 10.0).local(0, list(range(1, columns + 1))) == pytest.approx(expected, rel=1e-12)


def declared_constants(columns: int, zeros: int, ones: int) -> serape.Table:
    """Make a binary column and many columns of four levels of which one is seen."""
    rows = zeros + ones
    first = {"c0": pd.Categorical(["a"] * zeros + ["b"] * ones)}
    others = {f"c{k}": pd.Categorical(["p"] * rows, categories=["p", "q", "r", "s"]) for k in range(1, columns + 1)}
    return serape.Table(pd.DataFrame({**first, **others}))


# --- theory --------------------------------------------------------------------------------------------------------


def total(score: Score, graph: "nx.DiGraph[str]") -> float:
    index = {name: k for k, name in enumerate(score.variables)}
    return score.total([[index[p] for p in graph.predecessors(v)] for v in score.variables])


@pytest.mark.parametrize("kind", ["bdeu", "bic", "aic", "loglik"])
def test_complete_networks_score_alike(kind: str) -> None:
    table = random_table(np.random.default_rng(5), 500, [2, 3, 4])
    score = make_score(table, kind)
    assert score.total([[1], [], []]) == pytest.approx(score.total([[], [0], []]), rel=1e-12)
    totals = []
    for order in permutations(range(3)):
        parents_of: list[list[int]] = [[], [], []]
        for k, v in enumerate(order):
            parents_of[v] = list(order[:k])
        totals.append(score.total(parents_of))
    np.testing.assert_allclose(totals, totals[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["bdeu", "bic", "aic", "loglik"])
@pytest.mark.parametrize("seed", range(10))
def test_reversing_a_covered_arc_changes_nothing(kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    graph = nx.relabel_nodes(dag := random_dag(random, 8, 0.5), {n: f"c{n[1:]}" for n in dag})
    table = random_table(random, 300, random.integers(2, 5, 8).tolist())
    score = make_score(table, kind)
    covered = [(a, b) for a, b in graph.edges if set(graph.predecessors(b)) == {a, *graph.predecessors(a)}]
    assert covered  # the first arc of a topological order is
    others = [edge for edge in graph.edges if edge not in covered]
    before = total(score, graph)
    for a, b in covered:
        graph.remove_edge(a, b)
        graph.add_edge(b, a)
        assert total(score, graph) == pytest.approx(before, rel=1e-12)
        graph.remove_edge(b, a)
        graph.add_edge(a, b)
    for a, b in others:
        turned = graph.copy()
        turned.remove_edge(a, b)
        turned.add_edge(b, a)
        if nx.is_directed_acyclic_graph(turned):
            assert total(score, turned) != pytest.approx(before, rel=1e-12)


def test_k2_is_not_score_equivalent() -> None:
    score = K2(random_table(np.random.default_rng(6), 500, [2, 3]))
    assert abs(score.total([[1], []]) - score.total([[], [0]])) > 0.1


def test_published_k2_scores() -> None:
    """Cooper and Herskovits (1992), section 2: P(B_S1, D) and P(B_S2, D) are P(B_S) · 2.23e−9 and · 2.23e−10."""
    database = [
        [1, 0, 0],
        [1, 1, 1],
        [0, 0, 1],
        [1, 1, 1],
        [0, 0, 0],
        [0, 1, 1],
        [1, 1, 1],
        [0, 0, 0],
        [1, 1, 1],
        [0, 0, 0],
    ]
    score = K2(serape.Table(np.array(database)))
    chain, fork = [[], [0], [1]], [[], [0], [0]]
    assert f"{math.exp(score.total(chain)):.2e}" == "2.23e-09"
    assert f"{math.exp(score.total(fork)):.2e}" == "2.23e-10"


def test_likelihood_only_grows_and_constant_parents_change_nothing_in_it() -> None:
    table = mixed_table(1909)
    score = LogLikelihood(table)
    alone = score.local(0, ())
    with_one = score.additions(0, list(range(1, 50)), ())
    assert (with_one >= alone).all()
    assert with_one[38] == alone  # column 39 is constant
    assert score.local(39, (1, 2)) == 0.0


def test_log_likelihood_ratio_is_half_of_g2() -> None:
    table = mixed_table(1909)
    score, test = LogLikelihood(table), serape.independence.G2(table, reliability=None)
    candidates = list(range(5, 38))
    gain = score.additions(0, candidates, (1, 2)) - score.local(0, (1, 2))
    np.testing.assert_allclose(2 * gain, test.screen(0, candidates, (1, 2)).statistic, rtol=1e-9, atol=1e-8)


# --- the Python face -----------------------------------------------------------------------------------------------


def test_own_score() -> None:
    table = mixed_table(65)
    own, native = PlainScore(table, "bic"), BIC(table)
    np.testing.assert_allclose(own.additions(0, [1, 2, 3], (4,)), native.additions(0, [1, 2, 3], (4,)), rtol=1e-9)
    assert own.asked == 3
    own.family(0, [4, 1])
    own.families(0, [(1, 4), (4, 2)])
    assert own.asked == 3  # known, whatever the order
    assert make_score(own) is own
    assert make_score(table, own) is own
    calls: list[int] = []
    own.additions(0, [1, 2, 3], (4,), poll=lambda: calls.append(1))
    assert len(calls) == 3
    parents_of: list[Collection[int]] = [()] * len(table.names)
    assert own.total(parents_of) == pytest.approx(native.total(parents_of), rel=1e-9)


def test_make_score() -> None:
    data = np.random.default_rng(8).integers(3, size=(50, 4))
    kinds = {"bdeu": BDeu, "bic": BIC, "aic": AIC, "k2": K2, "loglik": LogLikelihood}
    for name, kind in kinds.items():
        score = make_score(data, name)
        assert type(score) is kind
        assert score.name == name
        assert score.variables == ("x0", "x1", "x2", "x3")
    one, ten = make_score(data), make_score(data, equivalent_sample_size=10.0)
    assert isinstance(ten, BDeu)
    assert ten.equivalent_sample_size == 10.0
    assert one.local(0, (1,)) != ten.local(0, (1,)) == BDeu(serape.Table(data), 10.0).local(0, (1,))
    with pytest.raises(OptionError, match=r"score 'bdue' is not known.*Did you mean 'bdeu'"):
        make_score(data, "bdue")
    for ess in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(OptionError, match="equivalent sample size must be a positive"):
            make_score(data, "bdeu", ess)
    with pytest.raises(OptionError, match="4 variables, but parents of 2"):
        ten.total([[], []])


def test_continuous_columns_are_refused() -> None:
    data = {"a": ["x", "y"] * 20, "height": np.linspace(1.5, 2.0, 40)}
    with pytest.raises(DataError, match="score 'bic' needs categorical columns, but 'height' is continuous"):
        make_score(data, "bic")


def test_nonsense_is_refused() -> None:
    table = mixed_table(65)
    score = BIC(table)
    n = len(table.names)
    for child, candidates, parents in ((n, [1], []), (0, [n], []), (0, [1], [n])):
        with pytest.raises(IndexError, match=f"column {n} of a table of {n}"):
            score.additions(child, candidates, parents)
    for child, candidates, parents in ((0, [0], []), (0, [1, 2], [2])):
        with pytest.raises(ValueError, match="is in the family already"):
            score.additions(child, candidates, parents)
    with pytest.raises(ValueError, match="named twice"):
        score.local(0, (1, 2, 1))
    with pytest.raises(ValueError, match="cannot be its own parent"):
        score.local(0, (1, 0))
    with pytest.raises(ValueError, match="unknown option"):
        _core.FamilyScore(table.packed, "bge", 1.0)
    with pytest.raises(ValueError, match="ess must be positive"):
        _core.FamilyScore(table.packed, "bdeu", math.nan)
    assert score.additions(0, [], [1]).shape == (0,)
    assert score.families(0, []).shape == (0,)
    assert score.additions(0, [3, 3, 2], [1]).tolist() == [score.local(0, (1, x)) for x in (3, 3, 2)]
