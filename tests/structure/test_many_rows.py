"""Searches by score in up to two thousand million rows: gains are told from rounding by families, not by totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import serape
from plain import random_dag
from plain_correlations import correlated, table_of
from score_oracle import hunt
from serape.structure.gaussian_score import GaussianBIC
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.perfect_score import PerfectScore
from serape.structure.scores import MIN_ROUNDING, PermutedScore, Score, make_score


@pytest.mark.parametrize("informed", [False, True])
@pytest.mark.parametrize("rows", [1e6, 2e9])
def test_exact_counts_of_many_rows_show_the_class(rows: float, informed: bool) -> None:
    errors, _, _ = hunt(rows, 4, informed=informed)
    assert not errors


@pytest.mark.parametrize("rows", [1e6, 1e8, 2e9])
@pytest.mark.parametrize("algorithm", ["ges", "xges", "boss", "tabu", "sca"])
def test_no_arc_that_costs_more_than_it_gains_is_left(algorithm: str, rows: float) -> None:
    """The score of a whole network is ten thousand million; an arc costs ten."""
    random = np.random.default_rng(3)
    for _ in range(2):
        graph = random_dag(random, 14, 0.15)
        order = list(graph)
        score = GaussianBIC.of_covariance(order, PerfectScore(graph, order).covariance, rows)
        found = serape.network(score, algorithm)
        assert found.dag is not None
        parents = [[order.index(x) for x in found.dag.predecessors(y)] for y in order]
        for y, own in enumerate(parents):
            for x in own:
                assert score.family(y, own) > score.family(y, [z for z in own if z != x])
        if algorithm in ("ges", "xges", "boss"):
            truth = cpdag(PartlyDirected.of_networkx(graph, order).parents).to_networkx(order)
            assert set(found.graph.edges) == set(truth.edges)


def test_rounding_is_that_of_a_family() -> None:
    times = np.full(4, 500_000_000)
    table = serape.Table({"a": list("kkll"), "b": list("mnmn")}, sample_weight=times)
    of_counts = make_score(table, "bic")
    small = make_score(serape.load_network("asia").sample(200, 1), "bdeu")
    numbers = GaussianBIC(table_of(correlated(0, 200, 4)))
    moved = GaussianBIC(table_of(correlated(0, 200, 4) * 1e9))
    assert MIN_ROUNDING == small.rounding < of_counts.rounding < 1e-4
    assert numbers.rounding == moved.rounding < 1e-6
    assert PermutedScore(numbers, [3, 1, 0, 2]).rounding == numbers.rounding
    # Independent: an arc costs half the logarithm of the rows, to many digits.
    gain = of_counts.family(0, (1,)) - of_counts.family(0, ())
    assert gain == pytest.approx(-0.5 * np.log(2e9), abs=of_counts.rounding)


def test_gains_are_sums_over_the_families_that_change() -> None:
    class Large(Score):
        name, variables = "large", ("a", "b", "c")

        def local(self, child: int, parents: Sequence[int]) -> float:
            return -(10.0**15) * (child + 1) + 0.25 * len(parents)

    score: Any = Large()
    none: list[list[int]] = [[], [], []]
    one = [[], [0], []]
    assert score.gain(none, one) == 0.25
    assert score.gain(one, none) == -0.25
    assert score.gain(one, [[], [0], []]) == 0.0
