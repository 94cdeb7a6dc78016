"""Background knowledge: what it says about pairs, what it makes of a graph, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag
from plain_graphs import Contradictory, in_common, is_acyclic, made, members, with_the_oracle
from serape.knowledge import BoundKnowledge, Knowledge
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.orientation import Oriented, orient

NAMES = list("ABCDEFGH")


class TestBound:
    def test_every_pair_by_the_definition(self) -> None:
        random = np.random.default_rng(0)
        seen = set()
        for _ in range(60):
            known = random_knowledge(random)
            names = [str(name) for name in random.permutation(NAMES)]
            bound = known.bind(names)
            tier = {name: k for k, tier in enumerate(known.tiers) for name in tier}
            apart = {frozenset(pair) for pair in known.forbidden_pairs}

            def allowed(
                a: str, b: str, known: Knowledge = known, tier: dict[str, int] = tier, apart: Any = apart
            ) -> bool:
                late = a in tier and b in tier and tier[a] > tier[b]
                return (
                    not late and (a, b) not in known.forbidden and (b, a) not in known.required and {a, b} not in apart
                )

            for x, y in product(range(len(names)), repeat=2):
                if x == y:
                    continue
                a, b = names[x], names[y]
                ways = allowed(a, b), allowed(b, a)
                seen.add(ways)
                assert bound.allows(x, y) == ways[0]
                assert bound.requires(x, y) == ((a, b) in known.required)
                assert (y in bound.required_neighbours(x)) == ((a, b) in known.required or (b, a) in known.required)
                assert bound.forbids_pair(x, y) == (y in bound.forbidden_neighbours(x)) == (ways == (False, False))
                assert bound.direction(x, y) == {(True, False): (x, y), (False, True): (y, x)}.get(ways)
        assert len(seen) == 4

    def test_what_is_not_mentioned_is_free(self) -> None:
        bound = Knowledge(required=[("A", "B")], tiers=[["A"], ["C"]]).bind(NAMES)
        assert bound.allows(3, 0)
        assert bound.allows(0, 3)
        assert bound.direction(0, 3) is None
        assert bound.required_neighbours(3) == bound.forbidden_neighbours(3) == frozenset()

    def test_apart_by_an_arc_and_a_tier(self) -> None:
        """A → B is forbidden, and B, of a later tier, is no parent of A."""
        bound = Knowledge(forbidden=[("A", "B")], tiers=[["A"], ["B"]]).bind("AB")
        assert bound.forbids_pair(0, 1)
        assert bound.forbidden_neighbours(1) == {0}
        assert bound.direction(0, 1) is None

    def test_emptiness(self) -> None:
        assert Knowledge().bind(NAMES).is_empty
        assert BoundKnowledge().is_empty
        assert Knowledge(tiers=[["A", "B"]]).bind(NAMES).is_empty
        for known in (
            Knowledge(required=[("A", "B")]),
            Knowledge(forbidden=[("A", "B")]),
            Knowledge(forbidden_pairs=[("A", "B")]),
            Knowledge(tiers=[["A"], ["B"]]),
        ):
            assert not known.bind(NAMES).is_empty

    def test_a_hundred_thousand_variables(self) -> None:
        """Little is said, so little is kept; no pairs are gone through."""
        names = [f"x{k}" for k in range(100_000)]
        bound = Knowledge(required=[("x7", "x99999")], forbidden_pairs=[("x7", "x8")], tiers=[names[:500]]).bind(names)
        assert bound.required_neighbours(99_999) == {7}
        assert bound.forbidden_neighbours(7) == {8}
        assert bound.forbidden_neighbours(9) == set()


def random_knowledge(random: np.random.Generator, graph: nx.DiGraph[str] | None = None) -> Knowledge:
    """Draw knowledge about NAMES, or that is true of a graph."""
    order = [str(name) for name in (random.permutation(NAMES) if graph is None else nx.topological_sort(graph))]
    index = {name: k for k, name in enumerate(order)}
    pairs = [(a, b) for a, b in product(order, repeat=2) if a != b]
    joined = {(a, b) for a, b in pairs if index[a] < index[b]} if graph is None else set(graph.edges)

    def draw(pool: Sequence[tuple[str, str]], share: float) -> list[tuple[str, str]]:
        return [pair for pair in pool if random.random() < share]

    required = draw([pair for pair in pairs if pair in joined], 0.1)
    tiers: list[list[str]] = []
    if random.random() < 0.5:
        cuts = sorted(int(cut) for cut in random.integers(len(order) + 1, size=2))
        tiers = [order[: cuts[0]], order[cuts[0] : cuts[1]], order[cuts[1] :]]
        tiers = [[name for name in tier if random.random() < 0.7] for tier in tiers]
    return Knowledge(
        required=required,
        forbidden=draw([pair for pair in pairs if pair not in (required if graph is None else joined)], 0.15),
        tiers=tiers,
        forbidden_pairs=draw([(a, b) for a, b in pairs if not {(a, b), (b, a)} & set(required)], 0.05)
        if graph is None
        else (),
    )


def test_what_is_known_among_some_variables() -> None:
    """Every pair of them has the same arcs as among all variables."""
    names = list("abcdefgh")
    known = Knowledge(
        required=[("a", "b"), ("c", "h")],
        forbidden=[("d", "a"), ("b", "e"), ("e", "b")],
        tiers=[["a", "c"], ["d"], ["f", "h"]],
        forbidden_pairs=[("c", "f"), ("g", "a")],
    ).bind(names)
    for some in ([0, 1, 3, 6], [7, 2, 5, 4, 1], [3], list(range(8))):
        among = known.among(some)
        for (a, x), (b, y) in product(enumerate(some), repeat=2):
            if a != b:
                assert among.allows(a, b) == known.allows(x, y), (x, y)
                assert among.requires(a, b) == known.requires(x, y)
                assert among.forbids_pair(a, b) == known.forbids_pair(x, y)
                assert among.direction(a, b) in (None, (a, b), (b, a))


class TestOrientation:
    def test_exact_with_the_oracle(self) -> None:
        """What is common to all equivalent DAGs that agree with the knowledge: no arc more, none less."""
        random = np.random.default_rng(1)
        more = 0
        for trial in range(250):
            graph = random_dag(random, int(random.integers(3, 6)), (0.4, 0.7, 0.95)[trial % 3])
            names = [str(name) for name in random.permutation(list(graph))]
            known = random_knowledge(random, graph)
            bound = known.bind(names)
            truth = PartlyDirected.of_networkx(graph, names)
            agree = [dag for dag in members(truth) if all(bound.allows(x, y) for x, y in dag.arcs())]
            found = with_the_oracle(random, graph, names, bound)
            assert found == Oriented(in_common(agree), []), (known, graph.edges)
            more += len(found.graph.arcs()) - len(cpdag(truth.parents).arcs())
        assert more > 100

    def test_rule_four_needs_knowledge(self) -> None:
        """All are joined but B and D: nothing is directed until B → C is known, which gives C → D and then A → D."""
        edges = [{1, 2, 3}, {0, 2}, {0, 1, 3}, {0, 2}]

        def directed(known: Knowledge) -> PartlyDirected:
            return orient(4, edges, lambda x, y: (0, 2), lambda x, z, y: 0.0, "ABCD", known.bind("ABCD")).graph

        assert directed(Knowledge()).arcs() == []
        assert directed(Knowledge(required=[("B", "C")])).arcs() == [(0, 3), (1, 2), (2, 3)]

    def test_one_arc_directs_a_chain(self) -> None:
        chain = [{1}, {0, 2}, {1, 3}, {2}]
        for known, arcs in (
            (Knowledge(), []),
            (Knowledge(required=[("A", "B")]), [(0, 1), (1, 2), (2, 3)]),
            (Knowledge(forbidden=[("B", "A")]), [(0, 1), (1, 2), (2, 3)]),
            (Knowledge(tiers=[["D"], ["A", "C"]]), [(1, 0), (2, 1), (3, 2)]),
        ):
            found = orient(4, chain, lambda x, y: (1, 2), lambda x, z, y: 0.0, "ABCD", known.bind("ABCD"))
            assert found.graph.arcs() == arcs
            assert found.conflicts == []

    def test_knowledge_goes_before_the_skeleton(self) -> None:
        known = Knowledge(required=[("A", "B")], forbidden_pairs=[("B", "C")])
        found = orient(3, [{2}, {2}, {0, 1}], lambda x, y: (0, 1, 2), lambda x, z, y: 0.0, "ABC", known.bind("ABC"))
        assert found.graph == made(3, arcs=[(0, 1)], edges=[(0, 2)])

    def test_a_collider_against_knowledge_is_left_out(self) -> None:
        known = Knowledge(required=[("B", "A")])
        found = orient(3, [{1}, {0, 2}, {1}], lambda x, y: (), lambda x, z, y: 0.0, "ABC", known.bind("ABC"))
        assert found.graph == made(3, arcs=[(1, 0)], edges=[(1, 2)])
        assert [str(one) for one in found.conflicts] == ["A → B ← C is dropped: knowledge does not allow A → B"]

    def test_knowledge_that_would_close_a_cycle(self) -> None:
        """Each pair may be joined one way only, and the three that the skeleton joins make a cycle."""
        known = Knowledge(forbidden=[("B", "A"), ("C", "B"), ("A", "C")])
        found = orient(3, [{1, 2}, {0, 2}, {0, 1}], lambda x, y: None, lambda x, z, y: 0.0, "ABC", known.bind("ABC"))
        assert found.graph == made(3, arcs=[(0, 1), (1, 2)], edges=[(0, 2)])
        assert [str(one) for one in found.conflicts] == [
            "C → A is dropped: it would close a directed cycle of arcs that knowledge directs",
            "A → C is dropped: knowledge does not allow it",
        ]

    def test_respected_whatever_the_separating_sets_say(self) -> None:
        random = np.random.default_rng(2)
        for seed in range(200):
            case = Contradictory(seed, NAMES)
            names = [str(name) for name in random.permutation(NAMES)]
            known = random_knowledge(random)
            found = case.orient(names, known)
            bound = known.bind(names)
            assert all(bound.allows(x, y) for x, y in found.graph.arcs())
            assert bound.required <= set(found.graph.arcs())
            assert not any(bound.forbids_pair(x, y) for x, y in found.graph.edges())
            assert is_acyclic(8, found.graph.arcs())
            shuffled = [str(name) for name in random.permutation(NAMES)]
            again = case.orient(shuffled, known)
            assert set(again.graph.to_networkx(shuffled).edges) == set(found.graph.to_networkx(names).edges)
            assert again.conflicts == found.conflicts


class TestKnowledge:
    def test_lists_become_tuples(self) -> None:
        known = Knowledge(required=[["A", "B"]], tiers=[{"A"}, ["B"]])  # type: ignore[list-item]
        assert known == Knowledge(required=(("A", "B"),), tiers=(("A",), ("B",)))
        assert hash(known) == hash(Knowledge(required=[("A", "B")], tiers=[["A"], ["B"]]))

    def test_arrays_of_names(self) -> None:
        assert Knowledge(required=np.array([["A", "B"]])) == Knowledge(required=[("A", "B")])  # type: ignore[arg-type]

    def test_there_and_back(self) -> None:
        random = np.random.default_rng(3)
        for _ in range(20):
            known = random_knowledge(random)
            assert Knowledge.from_dict(json.loads(json.dumps(known.to_dict()))) == known
        assert Knowledge.from_dict({}) == Knowledge()

    def test_what_does_not_contradict(self) -> None:
        Knowledge(
            required=[("A", "B"), ("A", "C"), ("B", "C"), ("A", "B")],
            forbidden=[("B", "A")],
            tiers=[["A", "A"], ["B", "C"]],
        )

    @pytest.mark.parametrize(
        ("stored", "message"),
        [
            ({"required": [("A", "B")], "forbidden": [("A", "B")]}, "arc 'A' → 'B' is both required and forbidden; "),
            ({"required": [("A", "B")], "forbidden_pairs": [("B", "A")]}, "'A' → 'B' is required, but its pair is"),
            ({"required": [("A", "B"), ("B", "A")]}, "'A' → 'B' and 'B' → 'A' are both required; remove one of them"),
            ({"required": [("B", "A")], "tiers": [["A"], ["B"]]}, "'B' → 'A' goes back from tier 2 to tier 1; remove"),
            ({"required": [("D", "A"), ("B", "C"), ("A", "B"), ("C", "A")]}, "a cycle, 'A' → 'B' → 'C' → 'A'; remove"),
            ({"required": [("A", "A")]}, "required joins 'A' to itself; remove the pair"),
            ({"forbidden": [("A", "A")]}, "forbidden joins 'A' to itself"),
            ({"forbidden_pairs": [("A", "A")]}, "forbidden_pairs joins 'A' to itself"),
            ({"tiers": [["A"], ["B", "A"]]}, "'A' is in tier 1 and in tier 2; keep it in one of them"),
            ({"required": ("A", "B")}, "required must be a list of pairs of names such as .*, not \\('A', 'B'\\)"),
            ({"required": ["AB"]}, "required must be a list of pairs"),
            ({"required": "AB"}, "required must be a list of pairs"),
            ({"required": [{"A", "B"}]}, "required must be a list of pairs"),
            ({"forbidden": [("A", "B", "C")]}, "forbidden must be a list of pairs"),
            ({"forbidden": [("A", 1)]}, "forbidden must be a list of pairs"),
            ({"forbidden_pairs": 3}, "forbidden_pairs must be a list of pairs"),
            ({"forbidden_pairs": None}, "forbidden_pairs must be a list of pairs"),
            ({"tiers": ["A", "B"]}, "tiers must be a list of lists of names such as .*, not \\['A', 'B'\\]"),
            ({"tiers": [[1]]}, "tiers must be a list of lists"),
            ({"tires": []}, "knowledge has no 'tires'. Did you mean 'tiers'\\? It has required, forbidden, tiers"),
            ([("A", "B")], "knowledge must be a dict with any of required, forbidden"),
        ],
    )  # fmt: skip
    def test_refused(self, stored: Any, message: str) -> None:
        with pytest.raises(serape.OptionError, match=message):
            Knowledge.from_dict(stored)

    @pytest.mark.parametrize(
        "known",
        [
            Knowledge(required=[("Smoking", "Cancr")]),
            Knowledge(forbidden=[("Cancr", "Smoking")]),
            Knowledge(forbidden_pairs=[("Cancr", "Smoking")]),
            Knowledge(tiers=[["Smoking"], ["Cancr"]]),
        ],
    )
    def test_unknown_names(self, known: Knowledge) -> None:
        field = next(field for field, groups in known.to_dict().items() if groups)
        wanted = f"^{field} names a variable 'Cancr' that the data do not have; .*Did you mean 'Cancer'"
        with pytest.raises(serape.OptionError, match=wanted):
            known.bind(["Smoking", "Cancer"])
