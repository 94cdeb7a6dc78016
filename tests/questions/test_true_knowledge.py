"""Knowledge that is true makes no answer wrong: it bars adjacency, and nothing else."""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pytest

import serape
from informed import CHECKS, Case
from oracles import shuffled, undirected_pairs
from plain import random_dag, true_blanket
from serape.local.registry import names_of
from true_knowledge import FORMS, random_knowledge

SPOUSE: nx.DiGraph[str] = nx.DiGraph([("P", "T"), ("T", "C"), ("S", "C"), ("C", "D")])
"""S is a spouse of T."""
JOINED: nx.DiGraph[str] = nx.DiGraph([("S", "T"), ("T", "C"), ("S", "C")])
"""No set separates S and T."""
DIVIDE = ("mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc")


def test_random_knowledge_is_true_and_has_every_form() -> None:
    random = np.random.default_rng(0)
    fields: set[str] = set()
    implied = 0
    for _ in range(400):
        graph = random_dag(random, int(random.integers(2, 8)), 0.3)
        given = random_knowledge(random, graph)
        names = list(graph)
        known = serape.Knowledge(**given).bind(names)
        assert all(known.allows(names.index(a), names.index(b)) for a, b in graph.edges), (given, list(graph.edges))
        assert all(graph.has_edge(names[x], names[y]) for x, y in known.required)
        fields.update(given)
        named = {frozenset(pair) for pair in given.get("forbidden_pairs", ())}
        both = {frozenset(arc) for arc in given.get("forbidden", ()) if arc[::-1] in given["forbidden"]}
        pairs = known.forbidden_pairs(range(len(names)))
        implied += any({names[x], names[y]} not in named | both for x, y in pairs)
    assert fields == {"required", "forbidden", "tiers", "forbidden_pairs"}
    assert implied > 20  # by tiers and an arc together
    assert len(FORMS) == 6


@pytest.mark.parametrize("name", CHECKS)
def test_right_with_true_knowledge(name: str) -> None:
    """A small share of `python tests/oracle.py --knowledge`."""
    for number in range(12):
        case = Case.draw(np.random.default_rng([1, number]), max_nodes=7)
        assert CHECKS[name](case), str(case)


@pytest.mark.parametrize("known", [{"forbidden_pairs": [("T", "S")]}, {"forbidden": [("T", "S"), ("S", "T")]}])
@pytest.mark.parametrize("algorithm", names_of("blanket"))
def test_a_spouse_that_is_not_adjacent_is_found(algorithm: str, known: dict[str, Any]) -> None:
    found = serape.markov_blanket(serape.DSeparation(SPOUSE), "T", algorithm, knowledge=known)
    assert set(found.blanket) == {"P", "C", "S"}
    assert found.notes == ()
    if found.spouses is not None:
        assert (found.parents_children, found.spouses) == (("P", "C"), {"S": ("C",)})
        assert "but not on its own" in str(found.explain("S"))
        assert "It is a spouse, through C." in str(found.explain("S"))


def test_the_same_tests_as_without_pairs() -> None:
    """Pairs that are known not to be adjacent are tested like all others, also where many targets share tests."""
    graph = random_dag(np.random.default_rng(3), 9, 0.4)
    names = list(graph)
    apart = [(a, b) for a in names for b in names if a < b and not {(a, b), (b, a)} & set(graph.edges)]
    oracle = serape.DSeparation(graph)
    for algorithm in names_of("blanket"):
        with_, without = (
            serape.blankets(oracle, algorithm=algorithm, knowledge=known)
            for known in ({"forbidden_pairs": apart}, None)
        )
        assert {t: one.blanket for t, one in with_.items()} == {t: one.blanket for t, one in without.items()}
        if algorithm not in DIVIDE:
            assert {t: one.tests for t, one in with_.items()} == {t: one.tests for t, one in without.items()}


@pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "mmpc", "hpc"])
def test_on_data_the_edges_without_those_of_the_pairs(algorithm: str) -> None:
    """Tests that are answered for many variables in one call are so with knowledge too."""
    network = serape.load_network("win95pts")
    table, true = network.sample(1000, 1), {frozenset(arc) for arc in network.graph.edges}
    free = serape.skeleton(table, algorithm, alpha=0.01)
    apart = [pair for pair in free.edges if frozenset(pair) not in true]
    assert apart
    found = serape.skeleton(table, algorithm, alpha=0.01, knowledge={"forbidden_pairs": apart})
    assert set(found.edges) == set(free.edges) - set(apart)
    assert f"{len(apart):,} pair" in found.notes[-1]
    order = list(nx.topological_sort(network.graph))
    tiered = serape.skeleton(table, algorithm, alpha=0.01, knowledge={"tiers": [order[:30], order[30:]]})
    assert (tiered.edges, tiered.tests_by_size) == (free.edges, free.tests_by_size)


class TestNeverSeparated:
    """Knowledge against the tests: no set separates two variables that knowledge forbids to be adjacent."""

    KNOWN: ClassVar[dict[str, Any]] = {"forbidden_pairs": [("T", "S")]}

    @pytest.mark.parametrize("algorithm", DIVIDE)
    def test_a_spouse_if_both_join_an_effect(self, algorithm: str) -> None:
        found = serape.markov_blanket(serape.DSeparation(JOINED), "T", algorithm, knowledge=self.KNOWN)
        assert set(found.blanket) == {"C", "S"}
        assert (found.parents_children, found.spouses) == (("C",), {"S": ("C",)})
        assert found.explain("S").separating_set is None
        assert "through C: knowledge forbids that the two are adjacent" in str(found.explain("S"))

    @pytest.mark.parametrize("algorithm", DIVIDE)
    def test_no_member_without_such_an_effect(self, algorithm: str) -> None:
        found = serape.markov_blanket(
            serape.DSeparation(SPOUSE), "T", algorithm, knowledge={"forbidden_pairs": [("T", "P")]}
        )
        assert set(found.blanket) == {"C", "S"}
        assert found.notes == (
            "by the tests alone, 'T' would be adjacent to 'P', which knowledge forbids: left out of its parents and "
            "children",
        )
        text = str(found.explain("P"))
        assert "Knowledge forbids that the two are adjacent, and no effect was found that they have in" in text

    @pytest.mark.parametrize("algorithm", names_of("parents-children"))
    def test_no_parent_or_child(self, algorithm: str) -> None:
        oracle = serape.DSeparation(SPOUSE)
        found = serape.parents_children(oracle, "T", algorithm, knowledge={"forbidden_pairs": [("T", "P")]})
        assert found.members == ("C",)
        assert "would be adjacent to 'P', which knowledge forbids" in found.notes[0]
        assert str(found.explain("P")).endswith("Knowledge forbids that the two are adjacent.")

    @pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "pcmb", "hpc"])
    def test_no_parent_or_child_of_a_search_that_ends_early(self, algorithm: str) -> None:
        seen = set()
        for max_tests in range(1, 12):
            found = serape.parents_children(
                serape.DSeparation(SPOUSE), "T", algorithm, knowledge={"forbidden_pairs": [("T", "P")]},
                max_tests=max_tests,
            )  # fmt: skip
            assert "P" not in found.members
            seen.add(found.complete)
        assert False in seen

    @pytest.mark.parametrize("algorithm", ["pc-stable", "hpc", "hiton-pc", "inter-iapc"])
    def test_no_edge_and_no_collider(self, algorithm: str) -> None:
        """Nothing separates the two, so nothing shows that C is their common effect."""
        found = serape.network(serape.DSeparation(JOINED), algorithm, knowledge=self.KNOWN)
        assert undirected_pairs(found.graph) == {frozenset("SC"), frozenset("TC")}
        assert found.separating_sets == {}
        assert all(found.graph.has_edge(b, a) for a, b in found.graph.edges)
        assert found.notes == ("by the tests alone, 1 pair would be adjacent that knowledge forbids to be: S – T",)
        assert serape.skeleton(serape.DSeparation(JOINED), algorithm, knowledge=self.KNOWN).notes == found.notes

    def test_it_is_conditioned_on(self) -> None:
        """S alone separates a from T, though knowledge takes S out of the neighbours of T."""
        graph: nx.DiGraph[str] = nx.DiGraph([("a", "S"), ("S", "T")])
        for algorithm in names_of("parents-children"):
            found = serape.parents_children(serape.DSeparation(graph), "T", algorithm, knowledge=self.KNOWN)
            assert found.members == (), algorithm


def test_a_hidden_cause_joins_variables_that_have_no_arc() -> None:
    """Knowledge of arcs says nothing of edges where common causes are hidden."""
    graph: nx.DiGraph[str] = nx.DiGraph([("H", "x"), ("H", "t"), ("a", "x"), ("b", "t")])
    oracle = serape.DSeparation(graph, hidden=["H"])
    known = {"forbidden_pairs": [("x", "t"), ("a", "t")]}
    found, free = (serape.causes(oracle, "t", hidden=True, knowledge=k) for k in (known, None))
    assert dict(found.marks) == dict(free.marks) == {"x": "↔", "b": "o→"}
    note = "knowledge of pairs bars no edge here, because two variables without an arc can share a hidden cause: "
    assert [one for one in found.notes if one not in free.notes] == [f"{note}x – t, t – a"]
    left = serape.causes(oracle, "t", hidden=True, forbidden_members=["x"])
    assert not any(one.startswith(note) for one in left.notes)
    assert set(serape.markov_blanket(oracle, "t", hidden=True, knowledge=known).blanket) == {"x", "a", "b"}


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc"])
def test_a_spouse_can_be_a_known_member(algorithm: str) -> None:
    oracle, known = serape.DSeparation(SPOUSE), {"forbidden_pairs": [("T", "S")]}
    found = serape.markov_blanket(oracle, "T", algorithm, known_members=["S"], knowledge=known)
    assert set(found.blanket) == {"P", "C", "S"}
    with pytest.raises(serape.OptionError, match="'S' is a known member, but knowledge forbids it to be adjacent"):
        serape.parents_children(oracle, "T", known_members=["S"], knowledge=known)


class TestForbiddenMembers:
    def test_a_note_names_them_in_every_question(self) -> None:
        table = serape.load_network("asia").sample(400, 1)
        one = "forbidden members are not tested, and not in the answer: 'bronc'"
        edge = "forbidden members are not tested, and no edge joins them: lung – bronc"
        left: dict[str, Any] = {"forbidden_members": {"lung": ["bronc"]}}
        joint = serape.joint_blanket(table, ["lung", "either"], **left)
        answers = {
            one: [
                serape.markov_blanket(table, "lung", **left),
                serape.parents_children(table, "lung", **left),
                serape.blankets(table, ["lung", "asia"], **left)["lung"],
                serape.causes(table, "lung", **left),
                serape.all_blankets(table, "lung", **left),
                serape.context_blankets(table, "lung", context="asia", **left),
                joint,
                serape.alpha_path(table, "lung", [0.01], **left),
                serape.stability(table, "lung", draws=2, **left),
            ],
            edge: [
                serape.skeleton(table, **left),
                serape.network(table, **left),
                serape.network(table, "mmhc", **left),
                serape.network(table, "pc-stable", **left),
                serape.stability(table, finds="skeleton", draws=2, **left),
            ],
        }
        for note, found in answers.items():
            for answer in found:
                assert note in answer.notes, (type(answer), answer.notes)
        assert edge in serape.region(table, "lung", **left).graph["notes"]
        assert one not in serape.blankets(table, ["asia"], **left)["asia"].notes

    @pytest.mark.parametrize("algorithm", names_of("parents-children"))
    def test_those_of_others_join_nobody_to_the_target(self, algorithm: str) -> None:
        """A separates X from T. T is not tested against it, and X not against P, through which it reaches T."""
        graph: nx.DiGraph[str] = nx.DiGraph([("P", "A"), ("A", "X"), ("P", "T"), ("Q", "T"), ("Q", "X")])
        left = {"T": ["A"], "X": ["P"]}
        found = serape.parents_children(serape.DSeparation(graph), "T", algorithm, forbidden_members=left)
        assert set(found.members) == {"P", "Q"}

    def test_explanations(self) -> None:
        found = serape.markov_blanket(serape.DSeparation(SPOUSE), "T", "hiton-mb", forbidden_members=["S"])
        assert found.blanket == ("P", "C")
        assert str(found.explain("S")) == (
            "S is not in the Markov blanket of T: it is a forbidden member, so it was not tested."
        )

    @pytest.mark.parametrize("algorithm", names_of("blanket"))
    def test_not_tested(self, algorithm: str) -> None:
        """In contrast to a pair that is known not to be adjacent."""
        found = serape.markov_blanket(serape.DSeparation(SPOUSE), "T", algorithm, forbidden_members=["S"])
        assert "S" not in found.blanket
        assert found.explain("S").given is None


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc"])
def test_explanations_of_what_is_known(algorithm: str) -> None:
    """D is independent of T given C, but a known member; an arc P → T is required."""
    oracle = serape.DSeparation(SPOUSE)
    known: dict[str, Any] = {"known_members": ["D"], "knowledge": {"required": [("P", "T")]}}
    found = serape.markov_blanket(oracle, "T", algorithm, **known)
    assert {"D", "P"} <= set(found.blanket)
    for name, words in (("D", "it is a known member"), ("P", "knowledge requires an arc between the two")):
        text = str(found.explain(name))
        assert words.lower() in text.lower(), text


class TestHypotheses:
    """A bound on the false discovery rate counts what can be found."""

    ASKED: ClassVar[dict[str, Any]] = {"alpha": 0.05, "fdr": 0.01, "fdr_method": "bh"}

    def test_of_neighbours_and_blankets(self) -> None:
        """Of seven candidates, two may be adjacent; all may be in the blanket."""
        table = serape.load_network("asia").sample(2000, 1)
        others = [name for name in table.names if name not in ("lung", "smoke", "either")]
        known = {"forbidden_pairs": [("lung", name) for name in others]}
        for question, count in ((serape.parents_children, 2), (serape.markov_blanket, 7)):
            found, free = (question(table, "lung", "hpc", knowledge=k, **self.ASKED) for k in (known, None))
            assert found.members == free.members
            assert found.threshold is not None
            assert free.threshold is not None
            assert found.threshold * count == pytest.approx(free.threshold * 7)

    @pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc"])
    def test_of_edges(self, algorithm: str) -> None:
        network = serape.load_network("asia")
        table = network.sample(2000, 1)
        true = {frozenset(arc) for arc in network.graph.edges}
        apart = [pair for pair in combinations(table.names, 2) if frozenset(pair) not in true]
        found, free = (
            serape.skeleton(table, algorithm, knowledge={"forbidden_pairs": pairs}, **self.ASKED)
            for pairs in (apart, [])
        )
        assert found.edges == free.edges
        assert found.threshold is not None
        assert free.threshold is not None
        assert found.threshold * len(true) == pytest.approx(free.threshold * 28)


def test_chains_of_learners_share_nothing_between_kinds_of_knowledge() -> None:
    """Knowledge of pairs leaves shared tests as they are; forbidden members do not."""
    graph = random_dag(np.random.default_rng(5), 8, 0.35)
    oracle = shuffled(graph, np.random.default_rng(6))
    names = list(oracle.variables)
    forbidden = {names[0]: [names[1]], names[2]: [names[3]]}
    for algorithm in ("iamb", "hiton-mb", "hpc"):
        found = serape.blankets(oracle, algorithm=algorithm, forbidden_members=forbidden)
        for x, (y,) in forbidden.items():
            assert y not in found[x].blanket
        free = serape.blankets(oracle, algorithm=algorithm)
        assert all(set(one.blanket) == true_blanket(graph, target) for target, one in free.items())
