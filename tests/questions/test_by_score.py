"""Networks found by a score: order of columns, threads, bounds, interruption, scores of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from serape.structure.perfect_score import PerfectScore
from serape.structure.scores import Score, make_score


@pytest.mark.parametrize("algorithm", ["ges", "xges", "boss", "tabu", "sca", "mmhc", "h2pc"])
def test_order_of_columns_does_not_matter(algorithm: str) -> None:
    table = serape.load_network("alarm").sample(500, 3)
    random = np.random.default_rng(1)
    found = set()
    for _ in range(5):
        order = random.permutation(len(table.names))
        again = serape.Table({table.names[k]: table.column(int(k)) for k in order}, kinds="categorical")
        found.add(frozenset(serape.network(again, algorithm).graph.edges))
    assert len(found) == 1


@pytest.mark.parametrize("names", ["abcd", "dbca", "cdab"])
@pytest.mark.parametrize("algorithm", ["ges", "xges", "boss"])
def test_an_arc_that_is_forbidden_can_be_a_step(algorithm: str, names: str) -> None:
    """On its way to this graph, ges inserts an arc between b and d, or a and b, and removes it."""
    a, b, c, d = tuple(names)
    graph: nx.DiGraph[str] = nx.DiGraph([(a, c), (a, d), (b, c), (c, d)])
    score = PerfectScore(graph, sorted(graph))
    known = {"forbidden_pairs": [(b, d), (a, b)]}
    with_, without = (serape.network(score, algorithm, knowledge=k) for k in (known, None))
    assert with_.graph.edges == without.graph.edges
    assert with_.dag is not None
    assert serape.compare_graphs(with_.dag, graph).shd == 0


@pytest.mark.parametrize("algorithm", ["tabu", "sca", "h2pc"])
def test_knowledge_is_obeyed_if_the_search_without_it_is_interrupted(algorithm: str) -> None:
    table = serape.load_network("asia").sample(500, 1)
    calls = 0
    last = -1

    def count(progress: Any) -> None:
        nonlocal calls
        calls += "arcs" in progress.doing
        if calls == last:
            raise KeyboardInterrupt

    known = {"required": [("xray", "asia")]}
    free = []
    for knowledge in (None, known):
        calls = 0
        serape.network(table, algorithm, knowledge=knowledge, progress=count)
        free.append(calls)
    calls, last = 0, free[1] - free[0] + 1  # the first step of the second search
    assert 1 < last < free[1]
    with pytest.raises(serape.Interrupted) as stopped:
        serape.network(table, algorithm, knowledge=known, progress=count)
    assert stopped.value.found.graph.has_edge("xray", "asia")
    assert not stopped.value.found.complete


@pytest.mark.parametrize("algorithm", ["tabu", "ges", "xges", "boss"])
def test_a_score_that_is_no_number_is_refused(algorithm: str) -> None:
    class Odd(Score):
        name = "odd"
        variables = ("a", "b", "c")

        def local(self, child: int, parents: Sequence[int]) -> float:
            del child
            return float("nan") if parents else 0.0

    with pytest.raises(serape.DataError, match=r"score 'odd' of '.' with '.' is nan"):
        serape.network(Odd(), algorithm)


def test_notes_of_the_table_are_reported() -> None:
    data = {"a": ["x", "y", None] * 40, "b": ["x", "y", "x"] * 40, "same": ["k"] * 120}
    for algorithm in ("tabu", "ges", "mmhc"):
        notes = " ".join(serape.network(serape.Table(data, missing="drop"), algorithm).notes)
        assert "40 of 120 rows" in notes
        assert "constant" in notes


@pytest.mark.parametrize("algorithm", ["tabu", "sca", "ges", "xges", "boss", "mmhc", "h2pc"])
class TestNetwork:
    def test_max_parents(self, algorithm: str) -> None:
        found = serape.network(serape.load_network("insurance").sample(500, 1), algorithm, max_parents=1)
        assert found.dag is not None
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
        assert found.dag is not None
        parents = [{index[x] for x in found.dag.predecessors(name)} for name in table.names]
        assert found.total == pytest.approx(score.total(parents), rel=1e-12)

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
    with pytest.raises(serape.InputTypeError, match="cannot test independence"):
        serape.network(Fond(), "pc-stable")


# --- numbers and mixtures -------------------------------------------------------------------------------------------


def farm(rows: int, seed: int) -> dict[str, Any]:
    """Draw numbers with a collider and a chain, and a category that changes one of them."""
    random = np.random.default_rng(seed)
    rain, heat = random.normal(size=rows), random.normal(20, 5, size=rows)
    growth = 3 * rain + 0.5 * heat + random.normal(0, 2, size=rows)
    harvest = 2 * growth + random.normal(0, 4, size=rows)
    return {"rain": rain, "heat": heat, "growth": growth, "harvest": harvest}


@pytest.mark.parametrize("algorithm", ["tabu", "sca", "ges", "xges", "boss", "mmhc", "h2pc"])
@pytest.mark.parametrize("score", ["auto", "gaussian-bic", "gaussian-ebic", "bge", "cg-bic"])
def test_numbers(algorithm: str, score: str) -> None:
    table = serape.Table(farm(1500, 1))
    found = serape.network(table, algorithm, score=score)
    assert set(found.graph.edges) == {("rain", "growth"), ("heat", "growth"), ("growth", "harvest")}
    assert found.score == ("block-ebic" if score == "auto" else score)
    assert found.dag is not None
    index = {name: k for k, name in enumerate(table.names)}
    parents = [{index[x] for x in found.dag.predecessors(name)} for name in table.names]
    assert found.total == pytest.approx(make_score(table, found.score).total(parents), rel=1e-12)
    assert all(gain > 0 for gain in found.evidence["gain"])


@pytest.mark.parametrize("algorithm", ["tabu", "ges", "xges", "boss"])
def test_order_of_columns_of_numbers_and_threads(algorithm: str) -> None:
    random = np.random.default_rng(3)
    weights = np.triu(random.normal(size=(15, 15)) * (random.random((15, 15)) < 0.3), 1)
    data = random.normal(size=(300, 15)) @ np.linalg.inv(np.eye(15) - weights)
    found = set()
    for k in range(4):
        order = random.permutation(15)
        table = serape.Table({f"v{x}": data[:, x] for x in order}, kinds="continuous")
        found.add(frozenset(serape.network(table, algorithm, n_jobs=1 + k % 2).graph.edges))
    assert len(found) == 1


@pytest.mark.parametrize("kind", ["numbers", "mixed"])
def test_edges_in_bootstraps(kind: str) -> None:
    data = farm(400, 2)
    if kind == "mixed":
        data["soil"] = np.where(data["rain"] > 0, "wet", "dry")
    for algorithm in ("boss", "ges"):
        found = serape.stability(
            data, finds="network", algorithm=algorithm, draws=10, sampling="bootstrap", random_state=1
        )
        assert found.score == "block-ebic"
        share = {frozenset(edge[:2]): edge for edge in found.stable(0.9)}
        assert frozenset(("growth", "harvest")) in share


def test_scores_that_do_not_suit_the_columns() -> None:
    data = farm(100, 1)
    with pytest.raises(serape.DataError, match="score 'bic' needs categorical columns.*or use score='auto'"):
        serape.network(data, "ges", score="bic")
    with pytest.raises(serape.DataError, match="score 'bge' needs columns of numbers, but 'soil' is categorical"):
        serape.network({**data, "soil": ["a", "b"] * 50}, "ges", score="bge")
    with pytest.raises(serape.OptionError, match="score 'gaussian' is not known"):
        serape.network(data, "ges", score="gaussian")
    found = serape.network(data)
    assert (found.algorithm, found.score) == ("boss", "block-ebic")
    assert serape.network(data, score="gaussian-bic").score == "gaussian-bic"
    for settings in ({"alpha": 0.01}, {"fdr": 0.1}, {"test": "partial-correlation"}, {"rule": "or"}):
        assert serape.network(data, **settings).algorithm == "hiton-pc"
    assert serape.network(data, score="bge", alpha=0.01).algorithm == "mmhc"
