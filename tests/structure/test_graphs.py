"""Partly directed graphs: equivalence classes by brute force, Meek's rules one by one, orientation with the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag
from serape.knowledge import BoundKnowledge, Knowledge
from serape.structure.graphs import (
    Arc,
    PartlyDirected,
    TopologicalOrder,
    cpdag,
    extension,
    meek,
    structural_hamming_distance,
)
from serape.structure.orientation import Oriented, orient

Parents = list[set[int]]


# --- plain twins -------------------------------------------------------------------------------------------------


def made(n: int, arcs: Iterable[Arc] = (), edges: Iterable[Arc] = ()) -> PartlyDirected:
    graph = PartlyDirected(n)
    for x, y in arcs:
        graph.add_arc(x, y)
    for x, y in edges:
        graph.add_edge(x, y)
    return graph


def is_acyclic(n: int, arcs: Iterable[Arc]) -> bool:
    graph: nx.DiGraph[int] = nx.DiGraph(arcs)
    graph.add_nodes_from(range(n))
    return nx.is_directed_acyclic_graph(graph)


def v_structures(graph: PartlyDirected) -> set[tuple[int, int, int]]:
    return {
        (x, z, y)
        for z in range(graph.n)
        for x, y in combinations(sorted(graph.parents[z]), 2)
        if not graph.joined(x, y)
    }


def members(graph: PartlyDirected) -> Iterator[PartlyDirected]:
    """All DAGs of the graph's skeleton and v-structures, whatever its other arcs; by trying every direction."""
    pairs = [(x, y) for x, y in combinations(range(graph.n), 2) if graph.joined(x, y)]
    wanted = v_structures(graph)
    for turned in product((False, True), repeat=len(pairs)):
        arcs = [(y, x) if turn else (x, y) for (x, y), turn in zip(pairs, turned, strict=True)]
        dag = made(graph.n, arcs)
        if is_acyclic(graph.n, arcs) and v_structures(dag) == wanted:
            yield dag


def in_common(dags: Sequence[PartlyDirected]) -> PartlyDirected:
    """The arcs that all DAGs of one skeleton share, its other edges undirected."""
    first = dags[0]
    graph = PartlyDirected(first.n)
    for x, y in first.arcs():
        if all(x in dag.parents[y] for dag in dags):
            graph.add_arc(x, y)
        else:
            graph.add_edge(x, y)
    return graph


def random_parents(random: np.random.Generator, n: int, density: float) -> Parents:
    """Parents in a random DAG whose order the positions do not tell."""
    node = [int(x) for x in random.permutation(n)]
    parents: Parents = [set() for _ in range(n)]
    for a, b in combinations(range(n), 2):
        if random.random() < density:
            parents[node[b]].add(node[a])
    return parents


def random_graph(random: np.random.Generator, n: int, weights: Sequence[float]) -> PartlyDirected:
    """Every pair not joined, an edge, or an arc one way or the other, with these probabilities."""
    graph = PartlyDirected(n)
    for x, y in combinations(range(n), 2):
        join = random.choice(4, p=weights)
        if join == 1:
            graph.add_edge(x, y)
        elif join > 1:
            graph.add_arc(*((x, y) if join == 2 else (y, x)))
    return graph


# --- the graph itself --------------------------------------------------------------------------------------------


class TestPartlyDirected:
    def test_what_joins_a_pair(self) -> None:
        graph = made(4, arcs=[(2, 0)], edges=[(3, 2)])
        assert (graph.parents[0], graph.children[2], graph.neighbours[2]) == ({2}, {0}, {3})
        assert graph.adjacent(2) == {0, 3}
        assert graph.joined(0, 2)
        assert graph.joined(2, 0)
        assert not graph.joined(0, 3)
        assert (graph.arcs(), graph.edges()) == ([(2, 0)], [(2, 3)])
        graph.orient(3, 2)
        assert (graph.arcs(), graph.edges()) == ([(2, 0), (3, 2)], [])
        graph.remove(0, 2)
        assert (graph.arcs(), graph.edges()) == ([(3, 2)], [])

    def test_a_pair_is_joined_once(self) -> None:
        graph = made(2, arcs=[(0, 1), (1, 0)])
        assert graph.arcs() == [(1, 0)]
        graph.add_edge(0, 1)
        assert (graph.arcs(), graph.edges()) == ([], [(0, 1)])
        graph.add_arc(0, 1)
        assert (graph.arcs(), graph.edges()) == ([(0, 1)], [])

    def test_only_an_edge_is_oriented(self) -> None:
        with pytest.raises(KeyError):
            made(2, arcs=[(0, 1)]).orient(1, 0)

    def test_equality(self) -> None:
        graph = made(3, arcs=[(0, 1)], edges=[(1, 2)])
        assert graph == made(3, arcs=[(0, 1)], edges=[(2, 1)])
        for other in (made(3, [(1, 0)], [(1, 2)]), made(3, [(0, 1), (1, 2)]), made(4, [(0, 1)], [(1, 2)]), "graph"):
            assert graph != other

    def test_a_copy_changes_on_its_own(self) -> None:
        graph = made(3, arcs=[(0, 1)], edges=[(1, 2)])
        copy = graph.copy()
        assert copy == graph
        copy.orient(1, 2)
        copy.add_arc(0, 2)
        assert graph == made(3, arcs=[(0, 1)], edges=[(1, 2)])

    def test_reaches_is_a_directed_path(self) -> None:
        random = np.random.default_rng(0)
        for _ in range(50):
            graph = random_graph(random, 7, (0.6, 0.1, 0.15, 0.15))
            arcs: nx.DiGraph[int] = nx.DiGraph(graph.arcs())
            arcs.add_nodes_from(range(7))
            for x, y in product(range(7), repeat=2):
                assert graph.reaches(x, y) == nx.has_path(arcs, x, y)

    def test_renumbered(self) -> None:
        graph = made(3, arcs=[(0, 1)], edges=[(1, 2)])
        assert graph.renumbered([2, 0, 1]) == made(3, arcs=[(1, 2)], edges=[(2, 0)])

    def test_of_dag(self) -> None:
        assert PartlyDirected.of_dag([[1, 2], (), {1}]) == made(3, arcs=[(1, 0), (2, 0), (1, 2)])

    def test_networkx_there_and_back(self) -> None:
        random = np.random.default_rng(1)
        for _ in range(30):
            graph = random_graph(random, 6, (0.4, 0.2, 0.2, 0.2))
            names = [str(name) for name in random.permutation(list("abcdef"))]
            there = graph.to_networkx(names)
            assert list(there) == names
            assert there.graph["directed"] == (not graph.edges())
            assert len(there.edges) == len(graph.arcs()) + 2 * len(graph.edges())
            assert PartlyDirected.of_networkx(there, names) == graph
            order = [int(x) for x in random.permutation(6)]
            assert PartlyDirected.of_networkx(there, [names[x] for x in order]) == graph.renumbered(order)

    def test_networkx_says_whether_it_is_directed(self) -> None:
        assert made(2, arcs=[(0, 1)]).to_networkx("ab").graph["directed"] is True
        assert made(2, edges=[(0, 1)]).to_networkx("ab").graph["directed"] is False

    @pytest.mark.parametrize(
        ("graph", "names", "message"),
        [
            (nx.DiGraph([("a", "b")]), ["a"], "same nodes.*'b'"),
            (nx.DiGraph([("a", "b")]), ["a", "b", "c"], "same nodes.*'c'"),
            (nx.DiGraph([("a", "a")]), ["a"], "from 'a' to itself"),
            (nx.Graph([("a", "b")]), ["a", "b"], "networkx.DiGraph is needed, not a Graph"),
        ],
    )
    def test_networkx_that_does_not_fit(self, graph: Any, names: list[str], message: str) -> None:
        with pytest.raises(serape.SerapeError, match=message):
            PartlyDirected.of_networkx(graph, names)


def test_the_order_admits_what_closes_no_cycle() -> None:
    random = np.random.default_rng(2)
    for _ in range(30):
        graph = PartlyDirected(12)
        order = TopologicalOrder(graph)
        for _ in range(60):
            x, y = (int(v) for v in random.choice(12, 2, replace=False))
            if graph.joined(x, y):
                continue
            assert order.admits(x, y) == (not graph.reaches(y, x))
            if not graph.reaches(y, x):
                graph.add_arc(x, y)


def test_distance_is_a_count_of_pairs() -> None:
    def join(graph: PartlyDirected, x: int, y: int) -> tuple[bool, bool, bool]:
        return y in graph.children[x], y in graph.parents[x], y in graph.neighbours[x]

    random = np.random.default_rng(3)
    for _ in range(100):
        a, b = (random_graph(random, 7, (0.4, 0.2, 0.2, 0.2)) for _ in range(2))
        counted = sum(join(a, x, y) != join(b, x, y) for x, y in combinations(range(7), 2))
        assert structural_hamming_distance(a, b) == structural_hamming_distance(b, a) == counted
        assert structural_hamming_distance(a, a.copy()) == 0


def test_distance_by_hand() -> None:
    truth = made(5, arcs=[(0, 1), (1, 2)], edges=[(2, 3)])
    missing_turned_extra_directed = made(5, arcs=[(1, 0), (2, 3)], edges=[(0, 4)])
    assert structural_hamming_distance(truth, missing_turned_extra_directed) == 4
    with pytest.raises(serape.OptionError, match="graphs of 5 and 2 nodes"):
        structural_hamming_distance(truth, PartlyDirected(2))


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


# --- orientation -------------------------------------------------------------------------------------------------


def separating_sets(
    random: np.random.Generator, graph: nx.DiGraph[str], names: Sequence[str]
) -> dict[frozenset[int], tuple[int, ...]]:
    """For every pair that is not joined, one of the sets that d-separate it, drawn at random."""
    oracle = serape.DSeparation(graph, names)
    found = {}
    for x, y in combinations(range(len(names)), 2):
        rest = [z for z in range(len(names)) if z not in (x, y)]
        subsets = [given for size in range(len(rest) + 1) for given in combinations(rest, size)]
        separate = [given for given in subsets if oracle.test(x, y, given).log_p == 0]
        if separate:
            found[frozenset((x, y))] = separate[int(random.integers(len(separate)))]
    return found


def with_the_oracle(
    random: np.random.Generator, graph: nx.DiGraph[str], names: Sequence[str], knowledge: BoundKnowledge | None = None
) -> Oriented:
    """Orient the skeleton that the oracle knows."""
    separating = separating_sets(random, graph, names)
    nodes = range(len(names))
    return orient(
        len(names),
        [{y for y in nodes if y != x and frozenset((x, y)) not in separating} for x in nodes],
        lambda x, y: separating[frozenset((x, y))],
        lambda x, z, y: 0.0,
        names,
        knowledge,
    )


@pytest.mark.parametrize("density", [0.15, 0.3, 0.6])
def test_orientation_is_exact_with_the_oracle(density: float) -> None:
    random = np.random.default_rng(int(100 * density))
    for _ in range(60):
        graph = random_dag(random, int(random.integers(3, 9)), density)
        names = [str(name) for name in random.permutation(list(graph))]
        truth = cpdag(PartlyDirected.of_networkx(graph, names).parents)
        assert with_the_oracle(random, graph, names) == Oriented(truth, [])


class Contradictory:
    """A random skeleton with random separating sets of random strength, by name: nothing needs to fit."""

    def __init__(self, seed: int, names: Sequence[str], ties: bool = True) -> None:
        random = np.random.default_rng(seed)
        pairs = [frozenset(pair) for pair in combinations(names, 2)]
        self.names = names
        self.joined = {pair for pair in pairs if random.random() < 0.35}
        self.separating = {
            pair: None if random.random() < 0.1 else {name for name in names if random.random() < 0.5} - pair
            for pair in pairs
        }
        self.strength = {pair: -float(random.integers(3)) if ties else -float(random.random()) for pair in pairs}

    def orient(self, names: Sequence[str], knowledge: Knowledge | None = None) -> Oriented:
        """Orient, with the columns in the order of these names."""

        def separating_set(x: int, y: int) -> tuple[int, ...] | None:
            found = self.separating[frozenset((names[x], names[y]))]
            return None if found is None else tuple(names.index(name) for name in found)

        return orient(
            len(names),
            [{y for y, b in enumerate(names) if frozenset((a, b)) in self.joined} for a in names],
            separating_set,
            lambda x, z, y: self.strength[frozenset((names[x], names[y]))],
            names,
            None if knowledge is None else knowledge.bind(names),
        )


def test_contradictions_do_not_depend_on_the_order_of_columns() -> None:
    random = np.random.default_rng(9)
    conflicts = 0
    for seed in range(60):
        case = Contradictory(seed, [f"n{k}" for k in range(9)])
        first = case.orient(case.names)
        conflicts += len(first.conflicts)
        graph = first.graph.to_networkx(case.names)
        for _ in range(6):
            names = [str(name) for name in random.permutation(case.names)]
            again = case.orient(names)
            assert set(again.graph.to_networkx(names).edges) == set(graph.edges)
            assert again.conflicts == first.conflicts
    assert conflicts > 100


def test_contradictions_never_make_a_cycle() -> None:
    reasons = set()
    for seed in range(400):
        case = Contradictory(seed, [f"n{k}" for k in range(8 + seed % 5)], ties=bool(seed % 2))
        found = case.orient(case.names)
        assert is_acyclic(found.graph.n, found.graph.arcs())
        skeleton = {frozenset(case.names[v] for v in pair) for pair in found.graph.arcs() + found.graph.edges()}
        assert skeleton == case.joined
        reasons |= {"surer" in conflict.because for conflict in found.conflicts}
    assert reasons == {True, False}


def path(strengths: dict[frozenset[int], float], names: Sequence[str] = "ABCD") -> Oriented:
    """A – B – C – D where B and C should both be colliders: one of them cannot be."""
    return orient(4, [{1}, {0, 2}, {1, 3}, {2}], lambda x, y: (), lambda x, z, y: strengths[frozenset((x, y))], names)


class TestConflicts:
    def test_the_surer_collider_wins(self) -> None:
        left, right = frozenset((0, 2)), frozenset((1, 3))
        found = path({left: -1.0, right: -2.0})
        assert found.graph == made(4, [(0, 1), (2, 1)], [(2, 3)])
        assert [str(conflict) for conflict in found.conflicts] == ["B → C ← D is left out: a surer collider has C → B"]
        found = path({left: -2.0, right: -1.0})
        assert found.graph == made(4, [(1, 2), (3, 2)], [(0, 1)])
        assert [str(conflict) for conflict in found.conflicts] == ["A → B ← C is left out: a surer collider has B → C"]

    def test_a_collider_that_would_close_a_cycle_is_left_out_whole(self) -> None:
        """C → B ← E and B → A ← F are surer than A → C ← D, which would close A → C → B → A."""
        a, b, c, d, e, f = range(6)
        near = [{b, c, f}, {a, c, e}, {a, b, d}, {c}, {b}, {a}]
        sure = {frozenset((c, e)): -1.0, frozenset((b, f)): -2.0, frozenset((a, d)): -3.0}
        found = orient(
            6,
            near,
            lambda x, y: () if frozenset((x, y)) in sure else None,
            lambda x, z, y: sure[frozenset((x, y))],
            "ABCDEF",
        )
        assert found.graph == made(6, [(c, b), (e, b), (b, a), (f, a), (c, a)], [(c, d)])
        assert [str(conflict) for conflict in found.conflicts] == [
            "A → C ← D is left out: A → C would close a directed cycle"
        ]

    @pytest.mark.parametrize("unsure", [-5.0, float("nan")])
    def test_ties_go_by_name(self, unsure: float) -> None:
        tie = {frozenset((0, 2)): unsure, frozenset((1, 3)): unsure}
        assert path(tie).graph.arcs() == [(0, 1), (2, 1)]
        assert path(tie, "DCBA").graph.arcs() == [(1, 2), (3, 2)]

    def test_a_strength_that_is_not_known_is_the_least(self) -> None:
        assert path({frozenset((0, 2)): float("nan"), frozenset((1, 3)): -5.0}).graph.arcs() == [(1, 2), (3, 2)]

    def test_an_unknown_separating_set_tells_nothing(self) -> None:
        neighbours = [{1}, {0, 2}, {1}]
        for known, arcs in ((None, []), ((1,), []), ((), [(0, 1), (2, 1)])):
            found = orient(3, neighbours, lambda x, y, known=known: known, lambda x, z, y: 0.0, "ABC")  # type: ignore[misc]
            assert found.graph.arcs() == arcs
            assert found.conflicts == []
