"""Networks by score: GES exact with a perfect score, tabu search against a plain twin, what confines them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import serape
from plain import random_dag
from serape.structure.ges import cliques, ges
from serape.structure.graphs import PartlyDirected, cpdag, extension
from serape.structure.scores import BDeu, Score, make_score
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import Dag, possible_parents, tabu_search


class Population(Score):
    """The BIC of endless rows: a linear Gaussian network whose covariance is known exactly. A perfect score."""

    name = "population"

    def __init__(self, graph: nx.DiGraph[str], order: Sequence[str], random: np.random.Generator) -> None:
        self.variables = tuple(order)
        index = {name: k for k, name in enumerate(order)}
        weights = np.zeros((len(order), len(order)))
        for a, b in graph.edges:
            weights[index[b], index[a]] = random.uniform(0.4, 1.2) * random.choice([-1, 1])
        inverse = np.linalg.inv(np.eye(len(order)) - weights)
        self.covariance: NDArray[np.float64] = inverse @ inverse.T
        self.rows = 1e13  # a partial correlation of 2e-6 is seen

    def local(self, child: int, parents: Sequence[int]) -> float:
        above = list(parents)
        variance = self.covariance[child, child]
        if above:
            part = self.covariance[np.ix_(above, above)]
            cross = self.covariance[above, child]
            variance = variance - cross @ np.linalg.solve(part, cross)
        return float(-0.5 * self.rows * np.log(variance) - 0.5 * np.log(self.rows) * len(above))


@pytest.mark.parametrize(("density", "most"), [(0.15, 11), (0.3, 9), (0.5, 7)])
def test_ges_is_exact_with_a_perfect_score(density: float, most: int) -> None:
    random = np.random.default_rng(int(100 * density))
    for _ in range(40):
        graph = random_dag(random, int(random.integers(2, most + 1)), density)
        order = [str(node) for node in random.permutation(list(graph))]
        found = serape.network(Population(graph, order, random), "ges")
        truth = cpdag(PartlyDirected.of_networkx(graph, order).parents).to_networkx(order)
        assert set(found.graph.edges) == set(truth.edges), list(graph.edges)


def test_ges_finds_small_networks_in_large_samples() -> None:
    for name in ("cancer", "earthquake", "survey"):
        network = serape.load_network(name)
        found = serape.network(network.sample(1_000_000, 1), "ges", score="bic")
        assert found.compare(network).shd == 0, name


def test_ges_keeps_count_of_its_score() -> None:
    """What the operators are said to gain is what the score of the graphs rises by."""
    table = serape.load_network("insurance").sample(500, 1)
    for score in (make_score(table, "bic"), BDeu(table, 5.0)):
        totals: list[float] = []
        graph = ges(score, watch=lambda arcs, total, totals=totals: totals.append(total))  # type: ignore[misc]
        parents = extension(graph)
        assert parents is not None
        assert totals == sorted(totals)
        assert totals[-1] == pytest.approx(score.total(parents), rel=1e-12)
        assert cpdag(parents) == graph


@pytest.mark.parametrize("algorithm", ["ges", "tabu", "sca", "mmhc", "h2pc"])
def test_order_of_columns_does_not_matter(algorithm: str) -> None:
    table = serape.load_network("alarm").sample(500, 3)
    random = np.random.default_rng(1)
    found = set()
    for _ in range(5):
        order = random.permutation(len(table.names))
        again = serape.Table({table.names[k]: table.column(int(k)) for k in order}, kinds="categorical")
        found.add(frozenset(serape.network(again, algorithm).graph.edges))
    assert len(found) == 1


@pytest.mark.parametrize("algorithm", ["tabu", "ges"])
def test_a_score_that_is_no_number_is_refused(algorithm: str) -> None:
    class Odd(Score):
        name = "odd"
        variables = ("a", "b", "c")

        def local(self, child: int, parents: Sequence[int]) -> float:
            del child
            return float("nan") if parents else 0.0

    with pytest.raises(serape.DataError, match=r"score 'odd' of '.' with '.' is nan"):
        serape.network(Odd(), algorithm)


def test_notes_of_the_table_are_told() -> None:
    data = {"a": ["x", "y", None] * 40, "b": ["x", "y", "x"] * 40, "same": ["k"] * 120}
    for algorithm in ("tabu", "ges", "mmhc"):
        notes = " ".join(serape.network(serape.Table(data, missing="drop"), algorithm).notes)
        assert "40 of 120 rows" in notes
        assert "constant" in notes


def test_cliques() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        graph = cpdag(PartlyDirected.of_networkx(random_dag(random, 8, 0.5), [f"n{k}" for k in range(8)]).parents)
        near = graph.adjacent(0)
        plain: nx.Graph[int] = nx.Graph([(x, y) for x in near for y in near if x < y and graph.joined(x, y)])
        plain.add_nodes_from(near)
        wanted = {frozenset[int](), *map(frozenset, nx.enumerate_all_cliques(plain))}
        found = list(cliques(graph, near))
        assert len(found) == len(set(found))
        assert set(found) == wanted


# --- tabu search ----------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_ancestors_stay_true(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    dag = Dag([set() for _ in range(n)])
    plain: nx.DiGraph[int] = nx.DiGraph()
    plain.add_nodes_from(range(n))
    for _ in range(60):
        x, y = (int(v) for v in random.choice(n, 2, replace=False))
        if plain.has_edge(x, y):
            plain.remove_edge(x, y)
            other_way = nx.has_path(plain, x, y)
            plain.add_edge(x, y)
            assert dag.turns(x, y) == (not other_way)
            dag.remove(x, y)
            plain.remove_edge(x, y)
        else:
            assert dag.admits(x, y) == (not nx.has_path(plain, y, x))
            if dag.admits(x, y):
                dag.add(x, y)
                plain.add_edge(x, y)
        assert dag.arcs == plain.number_of_edges()
        for v in range(n):
            assert dag.ancestors[v] == sum(1 << a for a in nx.ancestors(plain, v))


def climb(score: Score, n: int) -> nx.DiGraph[int]:
    """Hill climbing, plainly: score every neighbour of the graph, take the best."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(n))

    def total(g: nx.DiGraph[int]) -> float:
        return sum(score.family(v, list(g.predecessors(v))) for v in g)

    while True:
        best, now = graph, total(graph)
        least = 1e-9 * abs(now)
        for x, y in permutations(range(n), 2):
            changed = []
            for kind in ("toggle", "turn"):
                other = graph.copy()
                if graph.has_edge(x, y):
                    other.remove_edge(x, y)
                    if kind == "turn":
                        other.add_edge(y, x)
                elif kind == "toggle":
                    other.add_edge(x, y)
                changed.append(other)
            for other in changed:
                if nx.is_directed_acyclic_graph(other) and total(other) > now + least:
                    best, now, least = other, total(other), 0.0
        if best is graph:
            return graph
        graph = best


class Uneven(Score):
    """A score with a little something for every family, so that nothing ties."""

    def __init__(self, score: Score) -> None:
        self.variables = score.variables
        self._score = score

    def local(self, child: int, parents: Sequence[int]) -> float:
        return self._score.family(child, parents) + 1e-3 * (hash((child, *sorted(parents))) % 1009) / 1009


def test_hill_climbing_is_that_of_the_plain_twin() -> None:
    for seed in range(8):
        score = Uneven(BDeu(serape.load_network("asia").sample(300, seed), 1.0))
        found = tabu_search(score, possible_parents(8), patience=0)
        assert score.total(found) == pytest.approx(
            score.total([set(climb(score, 8).predecessors(v)) for v in range(8)]), rel=1e-12
        )


def test_tabu_goes_on_where_hill_climbing_stops() -> None:
    better = 0
    for seed in range(6):
        table = serape.load_network("insurance").sample(500, seed)
        score = make_score(table, "bic")
        climbed, searched = (score.total(tabu_search(score, possible_parents(27), patience=p)) for p in (0, 15))
        assert searched >= climbed - 1e-9 * abs(climbed)
        better += searched > climbed + 1e-6
    assert better > 0


def test_no_single_change_improves_what_tabu_finds() -> None:
    table = serape.load_network("asia").sample(500, 1)
    score = BDeu(table, 10.0)
    found: nx.DiGraph[int] = nx.DiGraph()
    found.add_nodes_from(range(8))
    for y, above in enumerate(tabu_search(score, possible_parents(8))):
        found.add_edges_from((x, y) for x in above)
    assert nx.is_directed_acyclic_graph(found)
    now = score.total([set(found.predecessors(v)) for v in range(8)])
    for x, y in permutations(range(8), 2):
        other = found.copy()
        if found.has_edge(x, y):
            other.remove_edge(x, y)
        else:
            other.add_edge(x, y)
        if nx.is_directed_acyclic_graph(other):
            assert score.total([set(other.predecessors(v)) for v in range(8)]) <= now + 1e-9 * abs(now)


def test_sparse_candidate_takes_few_parents() -> None:
    score = BDeu(serape.load_network("insurance").sample(500, 1), 10.0)
    for k in (1, 2, 5):
        found = sparse_candidate(score, k=k)
        assert max(map(len, found)) <= k
    assert score.total(sparse_candidate(score, k=5)) > score.total(sparse_candidate(score, k=1))


# --- the question ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["tabu", "sca", "ges", "mmhc", "h2pc"])
class TestNetwork:
    def test_max_parents(self, algorithm: str) -> None:
        found = serape.network(serape.load_network("insurance").sample(500, 1), algorithm, max_parents=1)
        assert max(degree for _, degree in found.dag.in_degree()) == 1

    def test_threads_do_not_matter(self, algorithm: str) -> None:
        table = serape.load_network("child").sample(500, 1)
        one, two = (serape.network(table, algorithm, n_jobs=n) for n in (1, 2))
        assert list(one.graph.edges(data=True)) == list(two.graph.edges(data=True))
        assert one.total == two.total

    def test_total_is_the_score_of_the_graph(self, algorithm: str) -> None:
        table = serape.load_network("child").sample(500, 2)
        found = serape.network(table, algorithm, score="bic")
        score = make_score(table, "bic")
        index = {name: k for k, name in enumerate(table.names)}
        parents = [{index[x] for x in found.dag.predecessors(name)} for name in table.names]
        assert found.total == pytest.approx(score.total(parents), rel=1e-12)
        assert found.directed == (algorithm != "ges")

    def test_ctrl_c_keeps_the_best_so_far(self, algorithm: str) -> None:
        table = serape.load_network("alarm").sample(500, 1)
        whole = serape.network(table, algorithm)
        count = 0

        def stop(now: serape.Progress) -> None:
            nonlocal count
            count += "score" in now.doing
            if count == 20:
                raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.network(table, algorithm, progress=stop)
        found = stopped.value.found
        assert not found.complete
        assert 10 <= found.graph.number_of_edges() < whole.graph.number_of_edges() + 20
        assert found.total < whole.total

    def test_recovers_most_of_a_network(self, algorithm: str) -> None:
        network = serape.load_network("child")
        found = serape.network(network.sample(20_000, 1), algorithm, equivalent_sample_size=1.0)
        comparison = found.compare(network)
        assert comparison.skeleton_recall >= 0.9
        assert comparison.skeleton_precision >= 0.8


@pytest.mark.parametrize(
    ("algorithm", "learner", "options"), [("mmhc", "mmpc", {"symmetry": False}), ("h2pc", "hpc", {})]
)
def test_hybrids_stay_within_their_skeleton(algorithm: str, learner: str, options: dict[str, Any]) -> None:
    table = serape.load_network("insurance").sample(1000, 1)
    bones = serape.skeleton(table, learner, rule="or", **options).graph
    found = serape.network(table, algorithm)
    assert all(bones.has_edge(a, b) for a, b in found.graph.edges)
    narrow = serape.network(table, algorithm, rule="and")
    thin = serape.skeleton(table, learner, rule="and", **options).graph
    assert all(thin.has_edge(a, b) for a, b in narrow.graph.edges)


def test_own_score() -> None:
    """A score that likes one arc only."""

    class Fond(Score):
        name = "fond"
        variables = ("a", "b", "c")

        def local(self, child: int, parents: Sequence[int]) -> float:
            return 1.0 if (child, list(parents)) == (2, [0]) else -len(parents)

    found = serape.network(Fond(), "tabu")
    assert set(found.graph.edges) == {("a", "c")}
    assert found.score == "fond"
    assert found.total == 1.0
    with pytest.raises(serape.InputTypeError, match="answers no independence questions"):
        serape.network(Fond(), "pc-stable")
