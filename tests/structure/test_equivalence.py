"""Equivalence classes by brute force, their members, Meek's rules one by one."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

import serape
from plain_graphs import in_common, is_acyclic, made, members, random_graph, random_parents, v_structures
from serape.structure.graphs import (
    Arc,
    PartlyDirected,
    cpdag,
    extension,
    meek,
)

# --- completed graphs and their members --------------------------------------------------------------------------


class TestCpdag:
    def test_every_dag_of_four_nodes(self) -> None:
        pairs = list(combinations(range(4), 2))
        seen = 0
        for joins in product(range(3), repeat=len(pairs)):
            chosen = zip(pairs, joins, strict=True)
            arcs = [(x, y) if join == 1 else (y, x) for (x, y), join in chosen if join]
            if is_acyclic(4, arcs):
                dag = made(4, arcs)
                seen += 1
                assert cpdag(dag.parents) == in_common(list(members(dag))), arcs
        assert seen == 543

    @pytest.mark.parametrize(("n", "density"), [(5, 0.4), (5, 0.8), (6, 0.3), (6, 0.6)])
    def test_random_dags(self, n: int, density: float) -> None:
        random = np.random.default_rng(n)
        for _ in range(25):
            dag = PartlyDirected.of_dag(random_parents(random, n, density))
            while len(dag.arcs()) > 10:
                dag.remove(*dag.arcs()[int(random.integers(len(dag.arcs())))])
            assert cpdag(dag.parents) == in_common(list(members(dag))), dag

    def test_is_what_meek_makes_of_the_v_structures(self) -> None:
        """On graphs too large for brute force."""
        random = np.random.default_rng(4)
        for _ in range(40):
            dag = PartlyDirected.of_dag(random_parents(random, int(random.integers(10, 40)), 0.15))
            graph = made(dag.n, edges=dag.arcs())
            for arc in {(end, z) for x, z, y in v_structures(dag) for end in (x, y)}:
                graph.orient(*arc)
            assert meek(graph) == []
            assert cpdag(dag.parents) == graph

    def test_a_cycle_is_refused(self) -> None:
        with pytest.raises(serape.DataError, match="directed cycle"):
            cpdag([{2}, {0}, {1}, set()])


class TestExtension:
    def test_is_a_member_of_the_class(self) -> None:
        random = np.random.default_rng(5)
        for _ in range(150):
            n = int(random.integers(1, 31))
            graph = cpdag(random_parents(random, n, float(random.uniform(0.05, 0.5))))
            for _ in range(3):
                graph = graph.renumbered([int(x) for x in random.permutation(n)])
                before = graph.copy()
                parents = extension(graph)
                assert parents is not None
                assert cpdag(parents) == graph == before

    def test_none_exactly_where_there_is_none(self) -> None:
        """Random graphs of five nodes, most of them completed graphs of nothing."""
        random = np.random.default_rng(6)
        found = {True: 0, False: 0}
        for _ in range(400):
            graph = random_graph(random, 5, (0.4, 0.4, 0.1, 0.1))
            agree = [dag for dag in members(graph) if all(x in dag.parents[y] for x, y in graph.arcs())]
            parents = extension(graph)
            found[parents is not None] += 1
            if parents is None:
                assert agree == []
            else:
                assert PartlyDirected.of_dag(parents) in agree
        assert min(found.values()) > 50

    def test_a_cycle_of_four_without_chord(self) -> None:
        assert extension(made(4, edges=[(0, 1), (1, 2), (2, 3), (3, 0)])) is None
        assert extension(made(4, edges=[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])) is not None

    def test_a_directed_cycle(self) -> None:
        assert extension(made(3, arcs=[(0, 1), (1, 2), (2, 0)])) is None


# --- Meek's rules ------------------------------------------------------------------------------------------------


RULES: dict[str, tuple[PartlyDirected, list[Arc], PartlyDirected]] = {  # a graph, the arcs that follow, one that lacks
    "1": (made(3, [(0, 1)], [(1, 2)]), [(1, 2)], made(3, [(0, 1)], [(1, 2), (0, 2)])),
    "2": (made(3, [(0, 1), (1, 2)], [(0, 2)]), [(0, 2)], made(3, [(0, 1), (2, 1)], [(0, 2)])),
    "3": (
        made(4, [(1, 3), (2, 3)], [(0, 1), (0, 2), (0, 3)]),
        [(0, 3)],
        made(4, [(1, 3), (2, 3)], [(0, 1), (0, 2), (0, 3), (1, 2)]),
    ),
    # Only knowledge directs 1 → 2 → 3 here: without it the four would be undirected.
    "4": (
        made(4, [(1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]),
        [(0, 3)],
        made(4, [(1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3), (1, 3)]),
    ),
}


@pytest.mark.parametrize("rule", RULES)
class TestMeek:
    def test_rule(self, rule: str) -> None:
        """In every numbering of the nodes, from all arcs or from any of them."""
        graph, follows, _ = RULES[rule]
        random = np.random.default_rng(7)
        for _ in range(20):
            order = [int(x) for x in random.permutation(graph.n)]
            for start in (None, *([arc] for arc in graph.renumbered(order).arcs())):
                here, wanted = graph.renumbered(order), graph.copy()
                for arc in follows:
                    wanted.orient(*arc)
                assert meek(here, start) == []
                assert here == wanted.renumbered(order)

    def test_not_without_its_premise(self, rule: str) -> None:
        graph, follows, lacking = RULES[rule]
        del graph
        meek(lacking := lacking.copy())
        assert all(x not in lacking.parents[y] for x, y in follows)

    def test_not_against_what_is_allowed(self, rule: str) -> None:
        graph, follows, _ = RULES[rule]
        here = graph.copy()
        assert meek(here, allows=lambda x, y: (x, y) not in follows) == follows
        assert here == graph


def test_meek_closes_no_cycle() -> None:
    """0 → 1 – 2 and 2 → 3 → 0 with 1 – 2 alone undirected: rule 1 asks for 1 → 2, which closes the cycle."""
    graph = made(4, [(0, 1), (2, 3), (3, 0)], [(1, 2)])
    assert meek(graph) == [(1, 2)]
    assert graph.edges() == [(1, 2)]
    random = np.random.default_rng(8)
    refused = 0
    for _ in range(300):
        graph = random_graph(random, 8, (0.5, 0.35, 0.15, 0.0))  # arcs go up: no cycle to begin with
        refused += len(meek(graph))
        assert is_acyclic(8, graph.arcs())
    assert refused > 10


def test_meek_refuses_a_cyclic_graph() -> None:
    with pytest.raises(serape.DataError, match="directed cycle"):
        meek(made(3, [(0, 1), (1, 2), (2, 0)]))
