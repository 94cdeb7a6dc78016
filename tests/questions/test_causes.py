"""Causes and effects of one target: exact with perfect tests, explained, and honest about what is not decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, islice, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest

import causes_oracle
import serape
from plain import random_dag
from plain_pag import separated
from serape.data.example import clinic
from serape.questions.counterexamples import graphs_to_check
from serape.structure.adjustment import possible_parents
from serape.structure.graphs import PartlyDirected, cpdag

TABLE = serape.Table(clinic(3000))
CHILD = serape.load_network("child").sample(200, seed=200)
WITHOUT_HIDDEN = [variant for variant in causes_oracle.VARIANTS if not variant.hidden]
LEARNERS = {variant.learner_name: variant.learner for variant in WITHOUT_HIDDEN}
RULE_3 = nx.DiGraph([("A", "B"), ("A", "T"), ("C", "B"), ("C", "T"), ("D", "A"), ("D", "B"), ("D", "C"), ("B", "T")])
"""A DAG in which B → T follows by Meek's third rule elsewhere, and then by the first."""


@pytest.mark.parametrize("variant", WITHOUT_HIDDEN, ids=str)
def test_the_answer_is_that_of_the_whole_class(variant: causes_oracle.Variant) -> None:
    """Every algorithm on every learner; `python tests/causes_oracle.py` does so for 10,000 DAGs of up to 12 nodes."""
    ((wrong, tests, _),) = causes_oracle.hunt([variant], 1, range(25), max_nodes=8).values()
    assert wrong == 0
    assert tests > 0


def test_check_algorithm_finds_no_counterexample_of_any_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """On some graphs; `python tests/causes_oracle.py --check 200` tries all of four nodes, and larger ones."""
    graphs = [(case.graph, case.order) for case in causes_oracle.drawn(7, range(6), max_nodes=7)]
    monkeypatch.setattr("serape.questions.counterexamples.graphs_to_check", lambda *_, **__: iter(graphs))
    for algorithm, learner, hidden in causes_oracle.PAIRS:
        settings: dict[str, Any] = {"learner": learner, "hidden": hidden}
        wrong = serape.check_algorithm(algorithm, "causes", **settings)
        assert wrong is None, (learner, str(wrong))


def test_check_algorithm_finds_a_learner_that_is_wrong() -> None:
    def none(search: Any, target: int) -> list[int]:
        del search, target
        return []

    settings: dict[str, Any] = {"learner": none}
    wrong = serape.check_algorithm("mb-by-mb", "causes", cases=0, **settings)
    assert wrong is not None
    assert "it returned" in str(wrong)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("algorithm", ["mb-by-mb", "ldecc"])
def test_the_learner_and_the_order_of_columns_do_not_matter(algorithm: str, learner: str) -> None:
    """C is an effect of T in every equivalent DAG, because A and D are separated without T."""
    graph = nx.DiGraph([("A", "T"), ("D", "T"), ("T", "C")])
    for order in permutations("ATCD"):
        found = serape.causes(serape.DSeparation(graph, order), "T", algorithm, LEARNERS[learner])
        assert (set(found.causes), found.effects, found.undecided) == ({"A", "D"}, ("C",), ())
        assert re.search("(A and D|D and A) are independent given nothing, but not given T", found.explain("A"))


@pytest.mark.parametrize("variant", [v for v in WITHOUT_HIDDEN if v.learner in ("iamb", "gs")], ids=str)
def test_the_answer_is_right_for_all_dags_of_four_nodes(variant: causes_oracle.Variant) -> None:
    pairs = list(combinations("ABCD", 2))
    for which in range(2 ** len(pairs)):
        graph: nx.DiGraph[str] = nx.DiGraph([pair for k, pair in enumerate(pairs) if which >> k & 1])
        graph.add_nodes_from("ABCD")
        knowledge = serape.Knowledge(required=list(graph.edges)[:1])
        for target in "ABCD":
            case = causes_oracle.Case(graph, (), tuple("CADB"), target, knowledge)
            assert variant.answer(case).marks == causes_oracle.truth(case, variant.known(case))


def test_ldecc_as_published_is_wrong_on_a_dag_of_five_nodes() -> None:
    oracle = serape.DSeparation(RULE_3, ["C", "A", "D", "T", "B"])
    assert serape.causes(oracle, "T", "ldecc").causes == ("C", "A", "B")
    for equal in (None, False, True):
        found = serape.causes(oracle, "T", "ldecc", published=True, equal_separators=equal)
        assert (found.causes, found.undecided) == (("C", "A"), ("B",))
    assert serape.causes(oracle, "T", "ldecc", equal_separators=False).causes == ("C", "A", "B")
    case = causes_oracle.Case(RULE_3, (), ("C", "A", "D", "T", "B"), "T", serape.Knowledge())
    assert causes_oracle.truth(case) == dict.fromkeys("ABC", "→")


class Mistaken(serape.IndependenceTest):
    """A perfect test but for some answers: "A B | C" is answered the other way round, and is more certain."""

    name = "mistaken"

    def __init__(self, arcs: str, *mistakes: str) -> None:
        self.oracle = serape.DSeparation(nx.DiGraph([(arc[0], arc[1]) for arc in arcs.split()]))
        self.variables = self.oracle.variables
        self.mistakes = {tuple(frozenset(side.split()) for side in mistake.split("|")) for mistake in mistakes}

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> serape.Outcome:
        """Test as the oracle, unless the answer is a mistake."""
        pair, names = frozenset((self.variables[x], self.variables[y])), {self.variables[z] for z in given}
        mistaken = (pair, frozenset(names)) in self.mistakes
        dependent = (self.oracle.test(x, y, given).log_p < 0.0) != mistaken
        return serape.Outcome(float(dependent), 1.0, (-1000.0 if mistaken else -10.0) * dependent, reliable=True)


def test_ldecc_believes_a_neighbour_and_another_only_if_its_separator_has_the_neighbour() -> None:
    """If A and B, wrongly separated, depend on each other given T, which A → T ← … ← B alone would not show."""
    chain = Mistaken("BA AT", "A B |")
    assert serape.causes(chain, "T", "ldecc").undecided == ("A",)  # its separator is A alone
    assert serape.causes(chain, "T", "ldecc", published=True).undecided == ("A",)
    elsewhere = Mistaken("BC BD CT DT TA", "A B |", "A B | T")
    found = serape.causes(elsewhere, "T", "ldecc")  # its separator is C and D
    assert (set(found.causes), found.effects) == ({"C", "D"}, ("A",))
    assert not found.conflicts


def test_ldecc_believes_two_others_only_if_their_separators_are_equal() -> None:
    chain = Mistaken("TA AB TC CD", "B D |", "B D | T")
    assert set(serape.causes(chain, "T", "ldecc").undecided) == {"A", "C"}
    for published in (False, True):
        found = serape.causes(chain, "T", "ldecc", published=published, equal_separators=False)
        assert set(found.causes) == {"A", "C"}
    assert set(serape.causes(chain, "T", "ldecc", published=True).causes) == {"A", "C"}
    assert set(serape.causes(chain, "T", "ldecc", published=True, equal_separators=True).undecided) == {"A", "C"}


def test_of_contradictions_in_ldecc_the_most_certain_or_as_published_the_effect_stays() -> None:
    mistaken = Mistaken("TC SC AT", "A C |", "A C | T")  # S shows that C is an effect, A that it is a cause
    assert set(serape.causes(mistaken, "T", "ldecc").causes) == {"A", "C"}
    found = serape.causes(mistaken, "T", "ldecc", published=True)
    assert (found.causes, found.effects) == (("A",), ("C",))


def test_options_of_ldecc_are_reported_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = serape.causes(TABLE, "Age", "ldecc", "hpc", equal_separators=False, order="as-written")
    assert found.blanket_result.options["equal_separators"] is False
    assert found.blanket_result.options["order"] == "as-written"
    assert "equal_separators" not in serape.causes(TABLE, "Age", "ldecc").blanket_result.options
    with pytest.raises(serape.OptionError, match="equal_separators must be True or False, not 'no'"):
        serape.causes(TABLE, "Age", "ldecc", equal_separators="no")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="algorithm 'hpc' has no option 'equal_separators'"):
        serape.causes(TABLE, "Age", "mb-by-mb", "hpc", equal_separators=True)
    some = list(islice(graphs_to_check(np.random.default_rng(0), 0, 5), 0, None, 13))
    monkeypatch.setattr("serape.questions.counterexamples.graphs_to_check", lambda *_, **__: iter(some))
    wrong = serape.check_algorithm("ldecc", cases=0, published=True)
    assert wrong is None  # graphs of four nodes are right


def test_a_counterexample_names_the_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from serape.structure.registry import CAUSAL_ALGORITHMS

    blind = replace(CAUSAL_ALGORITHMS["mb-by-mb"], run=lambda local, target: local.expand(target))
    monkeypatch.setitem(CAUSAL_ALGORITHMS, "mb-by-mb", blind)
    wrong = serape.check_algorithm("mb-by-mb", cases=0)
    assert wrong is not None
    assert wrong.finds == "causes"
    assert set(wrong.truth) != set(wrong.found)
    assert f"the edges of {wrong.target} are" in str(wrong)


def test_blankets_are_learned_no_further_than_needed() -> None:
    """A long chain below a collider: its end is not looked at."""
    chain = [(f"n{k}", f"n{k + 1}") for k in range(30)]
    graph = nx.DiGraph([("A", "T"), ("B", "T"), ("T", "n0"), *chain])
    found = serape.causes(serape.DSeparation(graph), "T")
    assert (set(found.causes), found.effects) == ({"A", "B"}, ("n0",))
    assert set(found.expanded) <= {"T", "A", "B"}
    undirected = serape.causes(serape.DSeparation(nx.DiGraph(chain)), "n0")
    assert undirected.undecided == ("n1",)
    assert len(undirected.expanded) == 31  # every variable may decide the first edge


def test_the_order_of_columns_has_no_effect() -> None:
    columns = clinic(1500)
    random = np.random.default_rng(4)
    for target in ("HeartDisease", "Exercise", "BloodPressure"):
        answers = set()
        for _ in range(3):
            names = [str(name) for name in random.permutation(list(columns))]
            shuffled = {name: columns[name] for name in names}
            found = [serape.causes(shuffled, target, hidden=hidden) for hidden in (False, True)]
            answers.add(tuple(frozenset(one.marks.items()) for one in found))
        assert len(answers) == 1


def test_threads_have_no_effect() -> None:
    one, two = (serape.causes(TABLE, "HeartDisease", n_jobs=jobs) for jobs in (1, 2))
    assert one == two


# --- spouses ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["iamb", "hiton-mb"])
@pytest.mark.parametrize("algorithm", ["mb-by-mb", "ldecc"])
def test_spouses_have_the_effects_in_common(algorithm: str, learner: str) -> None:
    """Not also effects of a common effect, given which the target and the spouse depend on each other, too."""
    graph = nx.DiGraph([("T", "C"), ("S", "C"), ("C", "E"), ("T", "E")])
    found = serape.causes(serape.DSeparation(graph), "T", algorithm, learner)
    assert found.spouses == {"S": ("C",)}
    assert not found.picture_graph.has_edge("S", "E")
    checked = 0
    for case in causes_oracle.drawn(9, range(60), max_nodes=9):
        spouses = serape.causes(case.oracle, case.target, algorithm, learner).spouses
        for spouse, effects in spouses.items():
            common = {c for c in case.graph.successors(case.target) if case.graph.has_edge(spouse, c)}
            assert set(effects) == common
            checked += 1
    assert checked > 20


# --- explanations -----------------------------------------------------------------------------------------------------


def test_explanations_give_the_reason() -> None:
    found = serape.causes(TABLE, "HeartDisease", alpha=0.01)
    assert "Smoking" in found.causes
    assert "ECG" in found.effects
    smoking = found.explain("Smoking")
    assert smoking.startswith("Smoking is a cause of HeartDisease, because ")
    assert "but not given" in smoking
    assert "is an effect of HeartDisease, because" in found.explain("ECG")
    assert "not in the Markov blanket" in found.explain("Ward")
    with pytest.raises(serape.OptionError, match="the target itself"):
        found.explain("HeartDisease")
    with pytest.raises(serape.OptionError, match="Did you mean 'Smoking'"):
        found.explain("Smokin")


def test_every_cause_and_effect_has_a_reason_with_perfect_tests() -> None:
    random = np.random.default_rng(5)
    reasons = 0
    for _ in range(60):
        graph = random_dag(random, 9, 0.35)
        found = serape.causes(serape.DSeparation(graph), str(random.choice(list(graph))))
        assert set(found.reasons) == {*found.causes, *found.effects}
        reasons += len(found.reasons)
    assert reasons > 100


@pytest.mark.parametrize(
    ("arcs", "neighbour", "words"),
    [
        ("AC BC CT", "C", "A → C, and C is not a common effect of A and T"),
        ("AB SB BT AT", "A", "A and S are independent given nothing, but not given T"),
        ("TA TB AC BC TC", "C", "A → C and B → C, and T is adjacent to both but not their common effect"),
        ("AB AT CB CT DA DB DC BT", "B", "D → B, and B is not a common effect of D and T"),
        ("BE ET EC EF DB DE DT DH AD AE AT", "D", "D → E and E → T, and there is no directed cycle"),
    ],
)
def test_reasons_are_those_of_the_rules(arcs: str, neighbour: str, words: str) -> None:
    graph = nx.DiGraph([(arc[0], arc[1]) for arc in arcs.split()])
    assert serape.causes(serape.DSeparation(graph), "T").reasons[neighbour] == words


def test_no_reason_says_that_a_common_effect_is_none() -> None:
    random = np.random.default_rng(9)
    checked = 0
    for _ in range(150):
        graph = random_dag(random, 8, 0.45)
        for reason in serape.causes(serape.DSeparation(graph), str(random.choice(list(graph)))).reasons.values():
            for z, x, y in re.findall(r"(\w+) is not a common effect of (\w+) and (\w+)", reason):
                assert not (graph.has_edge(x, z) and graph.has_edge(y, z)), reason
                checked += 1
            for x, y, z in re.findall(r"(\w+) → \w+ and (\w+) → \w+, and (\w+) is adjacent to both", reason):
                assert not (graph.has_edge(x, z) and graph.has_edge(y, z)), reason
                checked += 1
    assert checked > 20


def test_knowledge_is_a_reason() -> None:
    oracle = serape.DSeparation(nx.DiGraph([("A", "B"), ("B", "C")]))
    assert serape.causes(oracle, "B").undecided == ("A", "C")
    found = serape.causes(oracle, "B", knowledge={"forbidden": [("B", "A")]})
    assert (found.causes, found.effects) == (("A",), ("C",))
    assert found.reasons["A"] == "knowledge allows no arc from B to A"
    assert found.reasons["C"] == "A → B, and B is not a common effect of A and C"


# --- knowledge and members --------------------------------------------------------------------------------------------


def test_true_knowledge_never_makes_an_arc_wrong() -> None:
    """With forbidden pairs, which are not tested, fewer edges may have a direction, but none a wrong one."""
    random = np.random.default_rng(6)
    for _ in range(150):
        graph = random_dag(random, 8, 0.35)
        apart = [pair for pair in combinations(graph, 2) if not (graph.has_edge(*pair) or graph.has_edge(*pair[::-1]))]
        forbidden = [pair for pair in apart if random.random() < 0.3]
        target = str(random.choice(list(graph)))
        found = serape.causes(
            serape.DSeparation(graph), target, learner="hiton-mb", knowledge={"forbidden_pairs": forbidden}
        )
        assert set(found.causes) <= set(graph.predecessors(target))
        assert set(found.effects) <= set(graph.successors(target))
        assert set(found.marks) == {*graph.predecessors(target), *graph.successors(target)}


def test_tiers_decide() -> None:
    found = serape.causes(TABLE, "Age", knowledge={"tiers": [["Age"], [n for n in TABLE.names if n != "Age"]]})
    assert found.causes == ()
    assert found.effects


def test_ldecc_refuses_directions() -> None:
    with pytest.raises(serape.OptionError, match="does not use directions that knowledge gives; use 'mb-by-mb'"):
        serape.causes(TABLE, "Age", "ldecc", knowledge={"required": [("Age", "HeartDisease")]})
    serape.causes(TABLE, "Age", "ldecc", forbidden_members=["Ward"])


def test_known_and_forbidden_members() -> None:
    found = serape.causes(TABLE, "HeartDisease", known_members=["Ward"], forbidden_members=["Smoking"])
    assert "Ward" in found.blanket
    assert "Smoking" not in found.blanket


def test_min_effect_leaves_out_weak_neighbours() -> None:
    everything = serape.causes(TABLE, "HeartDisease", alpha=0.01)
    strong = serape.causes(TABLE, "HeartDisease", alpha=0.01, min_effect=0.1)
    assert set(strong.marks) < set(everything.marks)
    assert any("left out because of an effect" in note for note in strong.notes)


# --- adjustment sets --------------------------------------------------------------------------------------------------


def members_of(graph: PartlyDirected) -> list[list[set[int]]]:
    """Return the parents in every DAG of a class, plainly: every direction of the undirected edges."""
    edges, found = graph.edges(), []
    for flips in range(2 ** len(edges)):
        parents = [set(own) for own in graph.parents]
        for k, (x, y) in enumerate(edges):
            parents[y if flips >> k & 1 else x].add(x if flips >> k & 1 else y)
        arcs: nx.DiGraph[int] = nx.DiGraph([(p, child) for child, own in enumerate(parents) for p in own])
        if nx.is_directed_acyclic_graph(arcs) and _colliders(parents, graph) == _colliders(graph.parents, graph):
            found.append(parents)
    return found


def _colliders(parents: list[set[int]], graph: PartlyDirected) -> set[tuple[int, int, int]]:
    return {
        (x, z, y)
        for z, own in enumerate(parents)
        for x, y in combinations(sorted(own), 2)
        if not graph.are_adjacent(x, y)
    }


@pytest.mark.parametrize("with_knowledge", [False, True])
@pytest.mark.parametrize("algorithm", ["mb-by-mb", "ldecc"])
def test_adjustment_sets_are_the_possible_parents(algorithm: str, with_knowledge: bool) -> None:
    variant = causes_oracle.Variant(algorithm, "gs", knowledge=with_knowledge)
    several = 0
    for case in causes_oracle.drawn(7, range(150), max_nodes=7):
        index = {name: k for k, name in enumerate(case.order)}
        parents = [{index[parent] for parent in case.graph.predecessors(name)} for name in case.order]
        dags = members_of(cpdag(parents))
        if (given := variant.known(case)) is not None:
            knowledge = given.bind(case.order)
            dags = [dag for dag in dags if all(knowledge.allows(x, y) for y, own in enumerate(dag) for x in own)]
        t = index[case.target]
        possible = {frozenset(case.order[x] for x in dag[t]) for dag in dags}
        found = variant.answer(case).adjustment_sets()
        assert len(found) == len(set(found))
        assert {frozenset(one) for one in found} == possible
        several += len(found) > 1
    assert several > 30


def test_the_true_parents_satisfy_the_back_door_criterion() -> None:
    checked = 0
    for case in causes_oracle.drawn(8, range(60), max_nodes=8):
        found = serape.causes(case.oracle, case.target)
        if found.undecided:
            continue
        graph: nx.DiGraph[Any] = nx.DiGraph(case.graph)
        without: nx.DiGraph[Any] = nx.DiGraph(case.graph)
        without.remove_edges_from(list(case.graph.out_edges(case.target)))
        for outcome in set(case.order) - {case.target, *found.causes}:
            (given,) = found.adjustment_sets(outcome)
            assert not set(given) & nx.descendants(graph, case.target)
            assert separated(without, case.target, outcome, given)
            checked += 1
        assert all(found.adjustment_sets(cause) == () for cause in found.causes)
    assert checked > 50


def test_some_set_is_returned_where_no_dag_fits() -> None:
    """Tests that err can leave a cycle of four undirected edges, of which every direction has a new collider."""
    square = PartlyDirected(4)
    for x in range(4):
        square.add_edge(x, (x + 1) % 4)
    assert possible_parents(square, 0, range(4)) == [set(), {1}, {3}]
    found = serape.causes(CHILD, "HypoxiaInO2", alpha=0.05)
    assert found.undecided
    assert set(found.adjustment_sets()) >= {(), *((name,) for name in found.undecided)}


def test_adjustment_sets_are_refused_where_they_are_not_known() -> None:
    oracle = serape.DSeparation(RULE_3)
    with pytest.raises(serape.DataError, match="no cause is hidden"):
        serape.causes(oracle, "T", hidden=True).adjustment_sets()
    with pytest.raises(serape.OptionError, match="there is no variable 'T' besides the target"):
        serape.causes(oracle, "T").adjustment_sets("T")
    with pytest.raises(serape.DataError, match="not complete"):
        serape.causes(TABLE, "HeartDisease", max_tests=5).adjustment_sets()


# --- budgets and errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_tests", [1, 20, 200, 500])
def test_a_budget_returns_what_was_found(max_tests: int) -> None:
    found = serape.causes(TABLE, "HeartDisease", max_tests=max_tests)
    assert not found.complete
    assert found.tests <= max_tests + 60
    assert any("the search stopped at max_tests" in note for note in found.notes)
    assert "not complete" in str(found)
    assert set(found.marks) <= set(found.blanket)
    assert found.marks or not found.expanded  # without neighbours, the blanket was not learned
    if found.undecided:
        assert "the search ended before it could be decided" in found.explain(found.undecided[0])


def test_an_interrupted_search_has_what_was_found() -> None:
    calls = 0

    def stop(_: serape.Progress) -> None:
        nonlocal calls
        calls += 1
        raise KeyboardInterrupt

    slow = serape.FunctionTest(TABLE, lambda x, y, z: _slow(x, y))
    with pytest.raises(serape.Interrupted) as stopped:
        serape.causes(slow, "HeartDisease", progress=stop)
    assert calls == 1
    assert isinstance(stopped.value.found, serape.Causes)
    assert not stopped.value.found.complete


def _slow(x: Any, y: Any) -> float:
    total = 0.0
    for _ in range(200):
        total += float(np.corrcoef(np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1])[0, 1])
    return float(abs(total) < 0.1)


def test_names_of_algorithms() -> None:
    assert serape.causes(TABLE, "Age", "MB_by_MB") == serape.causes(TABLE, "Age")
    with pytest.raises(serape.OptionError, match=r"algorithm 'mb-by-m' is not known. Did you mean 'mb-by-mb'"):
        serape.causes(TABLE, "Age", "mb-by-m")
    with pytest.raises(serape.OptionError, match="algorithm 'hiton-pc' finds parents and children only"):
        serape.causes(TABLE, "Age", learner="hiton-pc")
    with pytest.raises(serape.OptionError, match="has no option 'kk'"):
        serape.causes(TABLE, "Age", learner="fbed", kk=2)  # type: ignore[call-arg]
    assert serape.causes(TABLE, "Age", learner="fbed", k=2).learner == "fbed"


def test_an_own_learner_serves() -> None:
    def blanket(search: serape.Search, target: int) -> list[int]:
        """The whole truth, for the oracle."""
        everything = [int(x) for x in search.candidates(target)]
        return [x for x in everything if search.dependent(x, target, [z for z in everything if z != x])]

    graph = nx.DiGraph([("A", "T"), ("B", "T"), ("T", "C")])
    found = serape.causes(serape.DSeparation(graph), "T", learner=blanket)
    assert (found.causes, found.effects, found.learner) == (("A", "B"), ("C",), "blanket")
