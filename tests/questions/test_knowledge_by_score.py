"""Searches by score with knowledge: exact if it is true, obeyed if it is not, and what the result says of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag
from plain_correlations import correlated
from plain_graphs import in_common, members
from plain_knowledge import obeys
from serape.knowledge import BoundKnowledge
from serape.structure.boss import boss
from serape.structure.constraints import ArcConstraints
from serape.structure.equivalence import agreeing_member
from serape.structure.gaussian_score import GaussianBIC
from serape.structure.graphs import PartlyDirected, cpdag, topological
from serape.structure.perfect_score import PerfectScore
from serape.structure.registry import NETWORK_ALGORITHMS
from serape.structure.scores import Score
from test_knowledge import NAMES, random_knowledge

SOUND = ("boss", "ges", "xges")
BY_SCORE = [name for name, algorithm in NETWORK_ALGORITHMS.items() if algorithm.search is not None]


def restricted(graph: PartlyDirected, knowledge: BoundKnowledge) -> PartlyDirected:
    """What all graphs of a class that obey have in common; by trying every direction."""
    return in_common([dag for dag in members(graph) if obeys(knowledge, dag.parents)])


def graph_of(found: serape.Structure, names: Any) -> PartlyDirected:
    graph: Any = found.graph
    return PartlyDirected.of_networkx(graph, list(names))


def known_on_data(seed: int, n: int, rows: int) -> tuple[serape.Table, serape.Knowledge]:
    """Draw columns of numbers, and knowledge that has nothing to do with them."""
    data = correlated(seed, rows, n)
    table = serape.Table({name: data[:, k] for k, name in enumerate(NAMES[:n])}, kinds="continuous")
    random = np.random.default_rng([seed, n])
    while True:
        try:
            known = random_knowledge(random)
        except serape.OptionError:  # it contradicts itself
            continue
        return table, among(known, NAMES[:n])


def among(known: serape.Knowledge, names: list[str]) -> serape.Knowledge:
    """The part of knowledge that is about some variables."""
    return serape.Knowledge(
        required=[arc for arc in known.required if set(arc) <= set(names)],
        forbidden=[arc for arc in known.forbidden if set(arc) <= set(names)],
        tiers=[[name for name in tier if name in names] for tier in known.tiers],
        forbidden_pairs=[pair for pair in known.forbidden_pairs if set(pair) <= set(names)],
    )


@pytest.mark.parametrize("algorithm", SOUND)
def test_exact_with_true_knowledge(algorithm: str) -> None:
    """The true class, restricted as trying every direction restricts it: no pair more or less, no arc either."""
    random = np.random.default_rng(5)
    more = 0
    for trial in range(60):
        graph = random_dag(random, int(random.integers(3, 6)), (0.3, 0.6, 0.9)[trial % 3])
        names = [str(name) for name in random.permutation(list(graph))]
        known = random_knowledge(random, graph)
        truth = cpdag(PartlyDirected.of_networkx(graph, names).parents)
        found = serape.network(PerfectScore(graph, names), algorithm, knowledge=known)
        assert graph_of(found, names) == restricted(truth, known.bind(names)), (known, list(graph.edges))
        assert found.notes == ()
        more += len(graph_of(found, names).arcs()) - len(truth.arcs())
    assert more > 40


@pytest.mark.parametrize("algorithm", BY_SCORE)
def test_any_knowledge_is_obeyed_and_restricts_the_class(algorithm: str) -> None:
    undirected = told = 0
    for seed in range(12):
        table, known = known_on_data(seed, 6, 200)
        bound = known.bind(table.names)
        found = serape.network(table, algorithm, knowledge=known)
        assert found.dag is not None
        dag = PartlyDirected.of_networkx(found.dag, list(table.names))
        assert obeys(bound, dag.parents)
        assert graph_of(found, table.names) == restricted(cpdag(dag.parents), bound)
        undirected += len(found.reversible)
        told += any(note.startswith("the data disagree with the knowledge") for note in found.notes)
    assert undirected
    assert told


def dags(n: int) -> Iterator[list[set[int]]]:
    """All DAGs, some of them several times."""
    pairs = list(combinations(range(n), 2))
    for order in permutations(range(n)):
        for chosen in range(1 << len(pairs)):
            parents: list[set[int]] = [set() for _ in range(n)]
            for k, (a, b) in enumerate(pairs):
                if chosen >> k & 1:
                    parents[order[b]].add(order[a])
            yield parents


def best_that_obeys(score: Score, knowledge: BoundKnowledge) -> float:
    """The highest score of a graph that obeys: of all DAGs."""
    n = len(score.variables)
    return max(score.total(p) for p in dags(n) if obeys(knowledge, p))


def test_boss_finds_the_best_graph_that_obeys_false_knowledge() -> None:
    """No search promises it, but among four variables the best one is found."""
    for seed in range(25):
        table, known = known_on_data(seed, 4, 300)
        found = serape.network(table, "boss", score="gaussian-bic", knowledge=known)
        assert found.total == pytest.approx(best_that_obeys(GaussianBIC(table), known.bind(table.names)), abs=1e-6)


@pytest.mark.parametrize("algorithm", ["ges", "xges"])
def test_the_search_goes_on_from_the_nearest_graph(algorithm: str) -> None:
    """Where no graph of the class obeys, the nearest one that does is where orders are searched from."""
    higher = []
    for seed in range(12):
        table, _ = known_on_data(seed, 6, 300)
        order = [table.names[k] for k in np.random.default_rng(seed).permutation(6)]
        known = serape.Knowledge(tiers=[order[:2], order[2:4], order[4:]])
        bound = known.bind(table.names)
        score = GaussianBIC(table)
        free = graph_of(serape.network(table, algorithm, score="gaussian-bic"), table.names)
        if any(obeys(bound, dag.parents) for dag in members(free)):
            continue
        nearest = ArcConstraints(6, bound).nearest(free, 6)
        found = serape.network(table, algorithm, score="gaussian-bic", knowledge=known)
        assert found.total is not None
        higher.append(found.total - score.total(nearest))
    assert min(higher) > -score.rounding
    assert max(higher) > 1.0


def test_boss_goes_on_from_the_nearest_graph_too() -> None:
    """From one order, the search that obeys can end before it finds what is near the class without knowledge."""
    lower = 0
    for seed in range(8):
        data = correlated(seed, 300, 14)
        table = serape.Table({f"v{k:02}": data[:, k] for k in range(14)}, kinds="continuous")
        score = GaussianBIC(table)
        order = [int(x) for x in np.random.default_rng(seed).permutation(14)]
        known = serape.Knowledge(tiers=[[table.names[x] for x in order[:7]], [table.names[x] for x in order[7:]]])
        bound = known.bind(table.names)
        free, direct = boss(score, starts=1), agreeing_member(boss(score, knowledge=bound, starts=1), bound)
        start = ArcConstraints(14, bound).nearest(free, 14)
        onward = agreeing_member(boss(score, knowledge=bound, first=topological(start), starts=1), bound)
        assert direct is not None
        assert onward is not None
        found = serape.network(table, "boss", score="gaussian-bic", knowledge=known, starts=1)
        if agreeing_member(free, bound) is None:
            assert found.total == pytest.approx(max(score.total(direct), score.total(onward)), abs=1e-6)
            lower += score.total(direct) < score.total(onward) - 1e-6
    assert lower


class Disagreeing:
    """a → c ← b, where it is said that c is a cause of a."""

    graph: nx.DiGraph[str] = nx.DiGraph([("a", "c"), ("b", "c")])
    score = PerfectScore(graph, "abc")


@pytest.mark.parametrize("algorithm", [*SOUND, "tabu", "sca"])
@pytest.mark.parametrize(
    ("known", "where"),
    [
        ({"required": [("c", "a")]}, "a – c"),
        ({"forbidden": [("a", "c")]}, "a – c"),
        ({"tiers": [["c"], ["a"]]}, "a – c"),
        ({"forbidden_pairs": [("b", "c")]}, "b – c"),
        ({"required": [("a", "b")]}, "a – b"),
    ],
)
def test_a_note_says_where_data_disagree(algorithm: str, known: dict[str, Any], where: str) -> None:
    found = serape.network(Disagreeing.score, algorithm, knowledge=known)
    (note,) = found.notes
    start = f"the data disagree with the knowledge: without it, the search of {algorithm} finds a graph whose score is "
    assert note.startswith(start)
    assert note.endswith(f", which contradicts it at {where}")
    free = serape.network(Disagreeing.score, algorithm)
    assert free.total is not None
    assert found.total is not None
    assert f" {free.total - found.total:,.1f}," in note


def test_a_note_where_no_single_pair_disagrees() -> None:
    """Each arc of the chain may be turned, but not both."""
    score = PerfectScore(nx.DiGraph([("a", "b"), ("b", "c")]), "abc")
    known = {"required": [("a", "b"), ("c", "b")]}
    found = serape.network(score, "boss", knowledge=known)
    assert found.notes[0].endswith(", and none that is equivalent to it agrees with the knowledge")
    for name in ("required", "forbidden"):
        assert serape.network(score, "boss", knowledge={name: [("a", "b")]}).notes == ()


@pytest.mark.parametrize("algorithm", BY_SCORE)
def test_order_of_columns_and_threads_with_knowledge(algorithm: str) -> None:
    table, _ = known_on_data(4, 8, 200)
    known = {"tiers": [["A", "B", "E"], ["C", "D"], ["G", "H"]], "required": [("F", "A")], "forbidden": [("B", "C")]}
    found = set()
    for k in range(4):
        order = np.random.default_rng(k).permutation(8)
        turned = serape.Table({table.names[x]: table.column(int(x)) for x in order}, kinds="continuous")
        network = serape.network(turned, algorithm, knowledge=known, n_jobs=1 + k % 2)
        found.add((frozenset(network.graph.edges), network.notes, network.total))
    assert len(found) == 1


@pytest.mark.parametrize("algorithm", BY_SCORE)
def test_max_parents_with_knowledge(algorithm: str) -> None:
    for seed in range(6):
        table, known = known_on_data(seed, 8, 500)
        above: dict[str, int] = {}
        for _, name in set(known.required):
            above[name] = above.get(name, 0) + 1
        most = max([1, *above.values()])
        found = serape.network(table, algorithm, knowledge=known, max_parents=most)
        assert found.dag is not None
        assert max(degree for _, degree in found.dag.in_degree()) <= most
        assert obeys(known.bind(table.names), PartlyDirected.of_networkx(found.dag, list(table.names)).parents)


@pytest.mark.parametrize("algorithm", BY_SCORE)
def test_what_is_left_of_an_interrupted_search_obeys(algorithm: str) -> None:
    """Stopped at any step: of the search that obeys, of the one that does not, of the last one."""
    table, _ = known_on_data(3, 7, 300)
    known = serape.Knowledge(
        required=[("G", "A"), ("F", "B")], forbidden=[("C", "D"), ("D", "E")], tiers=[["G", "C"], ["A", "E"]],
        forbidden_pairs=[("A", "B")],
    )  # fmt: skip
    count = last = 0

    def stop(now: serape.Progress) -> None:
        nonlocal count
        count += "score" in now.doing
        if 0 < count == last:
            raise KeyboardInterrupt

    serape.network(table, algorithm, knowledge=known, progress=stop)
    every = count
    assert every > 5
    for step in range(1, every + 1, max(1, every // 12)):
        last = step
        count = 0
        with pytest.raises(serape.Interrupted) as stopped:
            serape.network(table, algorithm, knowledge=known, progress=stop)
        found = stopped.value.found
        assert not found.complete
        assert found.dag is not None
        assert obeys(known.bind(table.names), PartlyDirected.of_networkx(found.dag, list(table.names)).parents)


@pytest.mark.parametrize(("algorithm", "searches"), [("ges", 1), ("xges", 1), ("boss", 2), ("tabu", 2)])
def test_one_search_where_the_second_would_be_the_same(algorithm: str, searches: int) -> None:
    """ges and xges use pairs alone on their way: without any, the search with the knowledge is that without it."""
    score = PerfectScore(nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c")]), "abcd")
    steps: dict[str, int] = {}
    for known in ({}, {"required": [("a", "b")]}, {"forbidden_pairs": [("a", "d")]}):
        count = 0

        def step(now: serape.Progress) -> None:
            nonlocal count
            count += "score" in now.doing

        serape.network(score, algorithm, knowledge=known, progress=step)
        steps[next(iter(known), "")] = count
    assert (steps["required"] > steps[""]) == (searches == 2)
    assert steps["forbidden_pairs"] > steps[""]
