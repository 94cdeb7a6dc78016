"""Comparison of graphs: cases by hand, counts pair by pair on random graphs, every refusal."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag
from serape import InputTypeError, OptionError, load_network
from serape.results.graph_comparison import GraphComparison, compare_graphs


def arcs(text: str, nodes: str = "") -> Any:
    """Make a graph of words like ab (an arc) and a-b (an undirected edge)."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    for word in text.split():
        graph.add_edge(word[0], word[-1])
        if "-" in word:
            graph.add_edge(word[-1], word[0])
    return graph


def test_a_graph_is_like_itself() -> None:
    network = load_network("alarm")
    assert compare_graphs(network.graph, network) == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 1.0, 0, 0)


def test_equivalent_graphs_differ_only_as_they_stand() -> None:
    same = compare_graphs(arcs("ba cb"), arcs("ab bc"))
    assert same == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 1.0, 0, 2)


def test_collider_against_chain() -> None:
    # The chain's completed graph is a – b – c, without arcs; the collider has two.
    told = compare_graphs(arcs("ab cb"), arcs("ab bc"))
    assert told == GraphComparison(1.0, 1.0, 0, 0, 0, 0.0, 1.0, 2, 1)
    back = compare_graphs(arcs("ab bc"), arcs("ab cb"))
    assert back == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 0.0, 2, 1)


def test_missing_extra_and_reversed() -> None:
    # True: a → c ← b, c → d (compelled). Found: a → c ← d, b → d: colliders at c (a, d not joined), d → c reversed.
    told = compare_graphs(arcs("ac dc bd", "abcd"), arcs("ac bc cd"))
    assert (told.missing, told.extra, told.reversed) == (1, 1, 1)  # b – c; b – d; c – d
    assert (told.skeleton_precision, told.skeleton_recall) == (2 / 3, 2 / 3)
    assert (told.arrow_precision, told.arrow_recall) == (1 / 2, 1 / 3)  # found: a → c, d → c, b – d
    assert (told.shd, told.shd_dag) == (3, 3)


def test_partly_directed_is_taken_as_it_stands() -> None:
    told = compare_graphs(arcs("ac b-c c-d"), arcs("ac bc cd"))
    assert told == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 1 / 3, 2, None)
    told = compare_graphs(arcs("ca b-c cd"), arcs("ac bc cd"))
    assert told == GraphComparison(1.0, 1.0, 0, 0, 1, 1 / 2, 1 / 3, 2, None)
    assert compare_graphs(arcs("ab bc"), arcs("a-b b-c")) == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 1.0, 0, None)


def test_skeleton() -> None:
    skeleton = nx.Graph([("a", "c"), ("b", "c"), ("a", "d")])
    assert compare_graphs(skeleton, arcs("ac bc cd")) == GraphComparison(
        2 / 3, 2 / 3, 1, 1, 0, 1.0, 0.0, shd=None, shd_dag=None
    )


def test_nothing_found_and_nothing_to_find() -> None:
    empty, full = arcs("", "abc"), arcs("ab cb")
    assert compare_graphs(empty, full) == GraphComparison(1.0, 0.0, 2, 0, 0, 1.0, 0.0, 2, 2)
    assert compare_graphs(full, empty) == GraphComparison(0.0, 1.0, 0, 2, 0, 0.0, 1.0, 2, 2)
    assert compare_graphs(empty, empty) == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 1.0, 0, 0)
    assert compare_graphs(arcs(""), arcs("")) == GraphComparison(1.0, 1.0, 0, 0, 0, 1.0, 1.0, 0, 0)


def test_found_cycle_is_taken_as_it_stands() -> None:
    told = compare_graphs(arcs("ab bc ca"), arcs("ab cb", "abc"))
    assert told == GraphComparison(2 / 3, 1.0, 0, 1, 1, 1 / 3, 1 / 2, 2, 2)


def test_nodes_are_compared_by_their_text() -> None:
    numbers: nx.DiGraph[int] = nx.DiGraph([(1, 2)])
    assert compare_graphs(numbers, nx.DiGraph([("1", "2")])).shd_dag == 0


def v_structures(graph: nx.DiGraph[str]) -> set[tuple[str, str, str]]:
    return {
        (x, z, y)
        for z in graph
        for x, y in combinations(sorted(graph.predecessors(z)), 2)
        if not graph.has_edge(x, y) and not graph.has_edge(y, x)
    }


def completed(graph: nx.DiGraph[str]) -> set[tuple[str, str]]:
    """Return the arcs, both ways where undirected, that occur in a DAG of the same skeleton and v-structures."""
    pairs, colliders = list(graph.edges()), v_structures(graph)
    kept: set[tuple[str, str]] = set()
    for turns in product([False, True], repeat=len(pairs)):
        other: nx.DiGraph[str] = nx.DiGraph()
        other.add_nodes_from(graph)
        other.add_edges_from((y, x) if turn else (x, y) for turn, (x, y) in zip(turns, pairs, strict=True))
        if nx.is_directed_acyclic_graph(other) and v_structures(other) == colliders:
            kept.update(other.edges())
    return kept


def mark(edges: set[tuple[str, str]], x: str, y: str) -> str:
    return {(0, 0): "none", (1, 0): "to", (0, 1): "fro", (1, 1): "line"}[(x, y) in edges, (y, x) in edges]


@pytest.mark.parametrize("seed", range(30))
def test_counted_pair_by_pair(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = int(random.integers(2, 6))
    found, truth = (random_dag(random, nodes, float(random.uniform(0.2, 0.8))) for _ in range(2))
    assert set(found) == set(truth)
    have, want = completed(found), completed(truth)
    marks = [(mark(have, x, y), mark(want, x, y)) for x, y in combinations(sorted(truth), 2)]
    told = compare_graphs(found, truth)
    assert told.missing == sum(h == "none" != w for h, w in marks)
    assert told.extra == sum(w == "none" != h for h, w in marks)
    assert told.reversed == sum({h, w} == {"to", "fro"} for h, w in marks)
    assert told.shd == sum(h != w for h, w in marks)
    plain = [(mark(set(found.edges()), *p), mark(set(truth.edges()), *p)) for p in combinations(sorted(truth), 2)]
    assert told.shd_dag == sum(h != w for h, w in plain)

    def share(hits: int, of: int) -> float:
        return hits / of if of else 1.0

    joined = sum(h != "none" != w for h, w in marks)
    assert told.skeleton_precision == share(joined, sum(h != "none" for h, _ in marks))
    assert told.skeleton_recall == share(joined, sum(w != "none" for _, w in marks))
    agreed = sum(h == w and h in ("to", "fro") for h, w in marks)
    assert told.arrow_precision == share(agreed, sum(h in ("to", "fro") for h, _ in marks))
    assert told.arrow_recall == share(agreed, sum(w in ("to", "fro") for _, w in marks))


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_nodes_and_members_of_the_class_do_not_matter(seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    found, truth = (random_dag(random, 5, 0.5) for _ in range(2))
    class_of = nx.DiGraph(list(completed(found)))
    class_of.add_nodes_from(found)
    told, as_class = compare_graphs(found, truth), compare_graphs(class_of, truth)
    assert as_class.shd == told.shd
    assert as_class.arrow_recall == told.arrow_recall
    shuffled: nx.DiGraph[str] = nx.DiGraph()
    shuffled.add_nodes_from(reversed(list(found)))
    shuffled.add_edges_from(reversed(list(found.edges())))
    assert compare_graphs(shuffled, truth) == told


@pytest.mark.parametrize(
    ("found", "truth", "error", "words"),
    [
        (arcs("ab"), arcs("ac"), OptionError, "only the found one has 'b'"),
        (arcs("ab"), arcs("ab", "abc"), OptionError, "only the true one has 'c'"),
        (arcs("ab"), arcs("ab bc ca"), OptionError, "only the true one has 'c'"),
        (arcs("ab", "abc"), arcs("ab bc ca"), OptionError, "the true graph has a cycle"),
        (arcs("aa"), arcs("", "a"), OptionError, "the found graph has an arc from 'a' to itself"),
        (arcs("", "a"), nx.Graph([("a", "b")]), InputTypeError, "skeleton"),
        (["ab"], arcs("ab"), InputTypeError, "not a list"),
        (arcs("ab"), {"a": "b"}, InputTypeError, "or a Network, not a dict"),
        (nx.MultiDiGraph([("a", "b")]), arcs("ab"), InputTypeError, "MultiDiGraph"),
        (nx.DiGraph([(1, "1")]), arcs("ab"), OptionError, "called '1' as text"),
    ],
)
def test_graphs_that_cannot_be_compared(found: Any, truth: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        compare_graphs(found, truth)


# --- edges -----------------------------------------------------------------------------------------------------------


def test_every_edge_says_how_it_differs() -> None:
    told = compare_graphs(arcs("ac dc bd", "abcd"), arcs("ac bc cd"))
    assert {f"{one.a}{one.b}": (one.found, one.true, one.difference) for one in told.edges} == {
        "ac": ("→", "→", ""),
        "bc": ("", "→", "missing"),
        "bd": ("–", "", "extra"),
        "cd": ("←", "→", "reversed"),
    }
    counts = Counter(one.difference for one in told.edges)
    assert (told.missing, told.extra, told.reversed, told.half_directed) == (
        counts["missing"], counts["extra"], counts["reversed"], counts["directed in one graph only"],
    )  # fmt: skip
    assert told.explain("c", "a") == "a → c in both graphs."
    assert told.explain("c", "d") == "Reversed: c ← d in the found graph, c → d in the true one."
    assert told.explain("b", "c") == "Missing: not adjacent in the found graph, b → c in the true one."
    assert told.explain("a", "b") == "a and b are adjacent in neither graph."
    assert list(told._how()) == ["missing: b → c", "extra: b – d", "reversed: c ← d"]


def test_a_skeleton_has_no_directions_to_compare() -> None:
    told = compare_graphs(nx.Graph([("a", "c"), ("c", "b")]), arcs("ac bc"))
    assert {(one.found, one.true) for one in told.edges} == {("–", "–")}
    assert not told._how()


def test_a_file_without_edges_is_read(tmp_path: Path) -> None:
    told = compare_graphs(arcs("ac dc bd", "abcd"), arcs("ac bc cd"))
    content = {name: value for name, value in told.to_dict().items() if name not in ("edges", "variables")}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(content))
    read = serape.load_result(path)
    assert read == told
    assert read.edges == ()
    path.write_text(json.dumps(told.to_dict()).replace(json.dumps("→"), '"x"'))
    with pytest.raises(serape.DataError):
        serape.load_result(path)
