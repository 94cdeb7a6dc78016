"""Hidden common causes: blankets and marks of the ancestral graph, exact with perfect tests."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import causes_oracle
import serape
from causes_oracle import SIGNS
from plain_pag import Marks, all_mags, canonical_dag, mag_of, pag_of, separated
from serape.data.example import clinic
from serape.local.registry import ALGORITHMS
from serape.questions.counterexamples import ancestral_edges, fits

M = nx.DiGraph([("U", "B"), ("U", "C"), ("A", "B"), ("D", "C"), ("C", "E"), ("B", "F")])
"""B and C share the hidden cause U."""
FOUR = list("ABCD")
HIDDEN = [variant for variant in causes_oracle.VARIANTS if variant.hidden]


def plain_blanket(case: causes_oracle.Case) -> set[str]:
    """Return the smallest set that separates the target from all others, by trying all sets, the smallest first."""
    others = [name for name in case.order if name != case.target]
    for size in range(len(others) + 1):
        found = [
            given
            for given in combinations(others, size)
            if all(x in given or separated(case.graph, x, case.target, given) for x in others)
        ]
        if found:
            assert len(found) == 1
            return set(found[0])
    raise AssertionError("the set of all others separates the target from nothing")


@pytest.mark.parametrize("algorithm", ["auto", *(a.name for a in ALGORITHMS.values() if a.hidden is not None)])
def test_blankets_are_those_of_the_ancestral_graph(algorithm: str) -> None:
    for case in causes_oracle.drawn(1, range(100), hidden=True, max_nodes=8):
        blanket = plain_blanket(case)
        for knowledge in (None, case.knowledge):
            found = serape.markov_blanket(case.oracle, case.target, algorithm, hidden=True, knowledge=knowledge)
            assert set(found.blanket) == blanket


def test_other_algorithms_miss_members() -> None:
    wrong = dict.fromkeys(["hiton-mb", "hpc", "fbed"], 0)
    for case in causes_oracle.drawn(2, range(400), hidden=True, max_nodes=10):
        truth = set(serape.markov_blanket(case.oracle, case.target, hidden=True).blanket)
        for name in wrong:
            wrong[name] += set(serape.markov_blanket(case.oracle, case.target, name).blanket) != truth
        if all(wrong.values()):
            break
    assert all(wrong.values())


def test_algorithms_that_miss_members_are_refused() -> None:
    oracle = serape.DSeparation(M, hidden=["U"])
    for name in ("hpc", "hiton-mb", "iamb-npc", "pcmb"):
        with pytest.raises(serape.OptionError, match=f"'{name}' does not find the blanket where common causes are hid"):
            serape.markov_blanket(oracle, "B", name, hidden=True)
    with pytest.raises(serape.OptionError, match="k=1 does not find the blanket where common causes are hidden"):
        serape.markov_blanket(oracle, "B", "fbed", hidden=True, k=1)
    with pytest.raises(serape.OptionError, match="'intr-iamb' is not known. Did you mean 'inter-iamb'"):
        serape.markov_blanket(oracle, "B", "intr-iamb", hidden=True)
    with pytest.raises(serape.OptionError, match="hidden must be True or False, not 'yes'"):
        serape.markov_blanket(oracle, "B", hidden="yes")  # type: ignore[arg-type]
    found = serape.markov_blanket(oracle, "B", hidden=np.True_)  # type: ignore[arg-type]
    assert found.options["k"] == "inf"
    assert any("common causes may be hidden" in note for note in found.notes)
    assert set(serape.markov_blanket(oracle, "B", "fbed", hidden=True, k=None).blanket) == set("ACDF")


def test_an_own_algorithm_is_not_refused() -> None:
    def nothing(search: serape.Search, target: int) -> list[int]:
        del search, target
        return []

    assert serape.markov_blanket(serape.DSeparation(M, hidden=["U"]), "B", nothing, hidden=True).blanket == ()


@pytest.mark.parametrize("variant", HIDDEN, ids=str)
def test_the_marks_are_those_of_the_whole_graph(variant: causes_oracle.Variant) -> None:
    """`python tests/causes_oracle.py --only mmb` does so for 10,000 DAGs of up to 12 nodes."""
    ((wrong, _, blankets),) = causes_oracle.hunt([variant], 3, range(50), max_nodes=10).values()
    assert wrong == 0
    assert blankets > 1


@cache
def classes_of_four() -> list[tuple[list[Marks], Marks]]:
    """Return all 2,492 ancestral graphs of four nodes by class, each with the marks that its members have in common."""
    classes: dict[tuple[bool, ...], list[Marks]] = {}
    for mag in all_mags(FOUR):
        dag = canonical_dag(mag, FOUR)
        key = tuple(
            separated(dag, x, y, given)
            for x, y in combinations(FOUR, 2)
            for size in range(3)
            for given in combinations([z for z in FOUR if z not in (x, y)], size)
        )
        classes.setdefault(key, []).append(mag)
    return [
        (mags, {end: mark if all(m[end] == mark for m in mags) else "o" for end, mark in mags[0].items()})
        for mags in classes.values()
    ]


def test_the_plain_graph_is_right_for_all_ancestral_graphs_of_four_nodes() -> None:
    """What equivalent ancestral graphs have in common is what FCI's rules find."""
    assert len(classes_of_four()) == 248
    for mags, common in classes_of_four():
        for mag in mags:
            assert pag_of(mag) == common


def test_the_marks_are_right_for_all_ancestral_graphs_of_four_nodes() -> None:
    """The truth is what the members of a class have in common, which needs no rules."""
    for k, (mags, common) in enumerate(classes_of_four()):
        dag = nx.relabel_nodes(canonical_dag(mags[k % len(mags)], FOUR), str)
        hidden = [node for node in dag if node not in FOUR]
        oracle = serape.DSeparation(dag, [FOUR[(k + j) % 4] for j in range(4)], hidden=hidden)
        for target in FOUR:
            found = serape.causes(oracle, target, hidden=True)
            true = {x: SIGNS[common[target, x] + common[x, target]] for x in FOUR if (x, target) in common}
            assert dict(found.marks) == true
            assert set(found.confounded) == {x for x, mark in true.items() if mark == "↔"}
            assert set(found.causes) == {x for x, mark in true.items() if mark == "→"}
            assert set(found.effects) == {x for x, mark in true.items() if mark == "←"}


def test_a_hidden_common_cause_is_found() -> None:
    oracle = serape.DSeparation(M, hidden=["U"])
    found = serape.causes(oracle, "B", hidden=True)
    assert found.hidden
    assert found.marks == {"C": "↔", "A": "o→", "F": "←"}
    assert (found.causes, found.effects, found.confounded, found.undecided) == ((), ("F",), ("C",), ("A",))
    assert "share a hidden common cause, and neither causes the other" in found.explain("C")
    assert "A is no effect of B: a cause, or the two share a hidden cause" in found.explain("A")
    assert "undecided: A (o→)" in str(found)
    assert "also in the blanket: D" in str(found)
    wrong = serape.causes(oracle, "B")  # that no cause is hidden is not true of this graph
    assert {"A", "C"} <= {*wrong.causes, *wrong.effects, *wrong.undecided}
    assert wrong.confounded == ()


def test_spouses_have_the_effects_in_common() -> None:
    """A spouse is adjacent to the effects that it is named with: here D to C, which is no effect of B, but not to G."""
    graph: nx.DiGraph[str] = nx.DiGraph([*M.edges, ("B", "G"), ("C", "G")])
    assert serape.causes(serape.DSeparation(graph, hidden=["U"]), "B", hidden=True).spouses == {"D": ()}
    checked = 0
    for case in causes_oracle.drawn(6, range(100), hidden=True, max_nodes=9):
        mag = mag_of(case.graph, case.hidden)
        found = serape.causes(case.oracle, case.target, hidden=True)
        for spouse, effects in found.spouses.items():
            assert set(effects) == {c for c in found.effects if mag.get((spouse, c)) == ">"}
            checked += 1
    assert checked > 20


def test_without_hidden_causes_no_arrow_is_wrong() -> None:
    """A DAG without hidden nodes is an ancestral graph: causes and effects found with `hidden` are true of it."""
    decided = 0
    for case in causes_oracle.drawn(4, range(100), max_nodes=8):
        found = serape.causes(case.oracle, case.target, hidden=True)
        assert set(found.causes) <= set(case.graph.predecessors(case.target))
        assert set(found.effects) <= set(case.graph.successors(case.target))
        assert found.confounded == ()
        decided += len(found.causes) + len(found.effects)
    assert decided > 20


def test_check_algorithm_hides_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [(case.graph, case.order) for case in causes_oracle.drawn(5, range(20), max_nodes=9)]
    monkeypatch.setattr("serape.questions.counterexamples.graphs_to_check", lambda *_, **__: iter(graphs))
    assert serape.check_algorithm("mmb-by-mmb", hidden=True) is None
    assert serape.check_algorithm("fbed", hidden=True, k="inf") is None
    monkeypatch.undo()
    wrong = serape.check_algorithm("hiton-mb", cases=300, hidden=True)
    assert wrong is not None
    assert len(wrong.order) < len(wrong.graph)
    assert "hidden, with the columns in the order" in str(wrong)
    with pytest.raises(serape.OptionError, match="leave hidden out"):
        serape.check_algorithm("hiton-pc", hidden=True)


def test_ancestral_edges() -> None:
    assert ancestral_edges(M, ("A", "B", "C", "D", "E", "F"), "B") == {"A": "→", "C": "↔", "F": "←"}
    through = nx.DiGraph([("X", "M"), ("M", "T"), ("U", "M"), ("U", "T")])  # no set separates X and T without U
    assert ancestral_edges(through, ("X", "M", "T"), "T") == {"X": "→", "M": "→"}
    assert fits("o→", "→")
    assert fits("o→", "↔")
    assert not fits("o→", "←")
    assert not fits("→", "↔")


def test_algorithms_go_with_hidden_or_not() -> None:
    oracle = serape.DSeparation(M, hidden=["U"])
    with pytest.raises(serape.OptionError, match="'mb-by-mb' does not allow for hidden common causes"):
        serape.causes(oracle, "B", "mb-by-mb", hidden=True)
    with pytest.raises(serape.OptionError, match="pass hidden=True with it"):
        serape.causes(oracle, "B", "mmb-by-mmb")
    with pytest.raises(serape.OptionError, match="'hpc' does not find the blanket where common causes are hidden"):
        serape.causes(oracle, "B", learner="hpc", hidden=True)
    with pytest.raises(serape.OptionError, match="does not use directions"):
        serape.causes(oracle, "B", hidden=True, knowledge={"required": [("A", "B")]})


def test_on_data() -> None:
    random = np.random.default_rng(0)
    hidden, a, d = (random.normal(size=3000) for _ in range(3))
    b, c = hidden + a + 0.5 * random.normal(size=3000), hidden + d + 0.5 * random.normal(size=3000)
    columns = {"a": a, "b": b, "c": c, "d": d, "e": c + random.normal(size=3000), "f": b + random.normal(size=3000)}
    found = serape.causes(columns, "b", hidden=True)
    assert found.marks == {"a": "o→", "c": "↔", "f": "←"}
    assert set(serape.causes(columns, "b").marks) >= {"a", "c", "f"}


def test_a_budget_returns_the_marks_so_far() -> None:
    found = serape.causes(clinic(2000), "HeartDisease", hidden=True, max_tests=150)
    assert not found.complete
    assert found.hidden
