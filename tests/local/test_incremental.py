"""The incremental family: what each algorithm does that the others do not."""

import itertools
import math

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import serape
from plain import random_dag, random_table, true_blanket
from serape.data.example import clinic
from serape.independence import G2
from serape.search import Members
from serape.skeletons.pc import pc_skeleton


class Scripted(serape.IndependenceTest):
    """Dependence as a rule of one's own: (x, y, given) -> dependent?"""

    def __init__(self, count: int, rule: object) -> None:
        self.variables = tuple("tabcdefgh"[:count])
        self.rule = rule

    def test(self, x: int, y: int, given: object = ()) -> serape.Outcome:
        names = frozenset(self.variables[z] for z in given)  # type: ignore[attr-defined]
        dependent = self.rule(self.variables[x], self.variables[y], names)  # type: ignore[operator]
        return serape.Outcome(float(dependent), 1, -50.0 if dependent else -0.1, reliable=True)


class TestCycles:
    """A test no data could obey for ever: what is let in by one set is put out by the next."""

    @staticmethod
    def rule(x: str, y: str, given: frozenset[str]) -> bool:
        """A enters an empty set, b enters beside a, a leaves beside b, b leaves an empty set."""
        del y
        return {"a": not given & {"b"}, "b": bool(given & {"a"})}.get(x, False)

    def test_inter_iamb_stops_and_says_so(self) -> None:
        found = serape.markov_blanket(Scripted(4, self.rule), "t", algorithm="inter-iamb")
        assert any("a set of members repeated" in note for note in found.notes)

    def test_fast_iamb_stops_and_says_so(self) -> None:
        def rule(x: str, y: str, given: frozenset[str]) -> bool:
            del y
            return x in "ab" and not given & ({"a", "b"} - {x})

        found = serape.markov_blanket(Scripted(4, rule), "t", algorithm="fast-iamb")
        assert found.complete
        found = serape.markov_blanket(Scripted(4, self.rule), "t", algorithm="fast-iamb")
        assert any("a set of members repeated" in note for note in found.notes)

    def test_no_note_without_a_cycle(self) -> None:
        for algorithm in ("inter-iamb", "fast-iamb", "inter-iamb-npc"):
            found = serape.markov_blanket(serape.DSeparation(nx.DiGraph([("a", "t")])), "t", algorithm=algorithm)
            assert found.notes == ()


class TestFastIamb:
    def test_adds_several_at_once(self) -> None:
        """Three independent parents enter on one screen: 2 screens and 3 shrink tests."""
        graph = nx.DiGraph([("a", "t"), ("b", "t"), ("c", "t"), ("t", "d")])
        found = serape.markov_blanket(serape.DSeparation(graph), "t", algorithm="fast-iamb")
        assert set(found.blanket) == set("abcd")
        assert found.tests_by_size == {0: 4, 3: 4}

    def test_halts_when_rows_run_out(self) -> None:
        """150 rows and binary columns: 5 rows a cell allow a table of four variables and not of six."""
        random = np.random.default_rng(0)
        parents = random.integers(2, size=(8, 150))
        t = (parents.sum(axis=0) + random.integers(2, size=150) > 4).astype(int)
        data = {f"p{k}": column for k, column in enumerate(parents)} | {"t": t}
        found = serape.markov_blanket(data, "t", algorithm="fast-iamb", alpha=0.4)
        assert 150 / 2 ** (len(found.blanket) + 1) >= 5 / 2
        assert any("fast-iamb stopped" in note for note in found.notes)
        assert found.options["reliability"] == "cells"

    def test_k(self) -> None:
        data = clinic(3000)
        few, many = (serape.markov_blanket(data, "HeartDisease", algorithm="fast-iamb", k=k) for k in (200.0, 5.0))
        assert len(few.blanket) < len(many.blanket)

    def test_no_test_in_the_add_loop(self) -> None:
        """Additions cost nothing: tests are screens and shrinks only."""
        found = serape.markov_blanket(clinic(3000), "HeartDisease", algorithm="fast-iamb", alpha=0.01)
        screens = [13] + [13 - size for size in found.tests_by_size if size]
        assert found.tests <= sum(screens) + 30


class TestPc:
    @pytest.mark.parametrize("density", [0.2, 0.5])
    def test_skeleton_is_exact_on_all_variables(self, density: float) -> None:
        random = np.random.default_rng(1)
        for _ in range(60):
            graph = random_dag(random, 7, density)
            search = serape.Search(serape.DSeparation(graph))
            skeleton = pc_skeleton(search, range(7))
            names = search.test.variables
            found = {frozenset((names[x], names[y])) for x, near in skeleton.neighbours.items() for y in near}
            assert found == {frozenset(arc) for arc in graph.edges}
            for x, middle, y in itertools.permutations(range(7), 3):
                if skeleton.is_collider(x, middle, y):
                    assert graph.has_edge(names[x], names[middle])
                    assert graph.has_edge(names[y], names[middle])

    def test_order_of_columns_does_not_matter(self) -> None:
        table = random_table(np.random.default_rng(2), 400, [2, 3, 2, 2, 3, 2])
        skeletons = set()
        for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4], [2, 0, 5, 4, 3, 1]):
            shuffled = serape.Table({table.names[k]: table.column(k) for k in order})
            skeleton = pc_skeleton(serape.Search(G2(shuffled)), range(6))
            joined = {
                frozenset((shuffled.names[x], shuffled.names[y]))
                for x, near in skeleton.neighbours.items()
                for y in near
            }
            skeletons.add(frozenset(joined))
        assert len(skeletons) == 1

    def test_npc_conditions_on_small_sets(self) -> None:
        """IAMB shrinks given the whole blanket; nPC never needs sets that large to shrink."""
        graph = nx.DiGraph([(f"p{k}", "t") for k in range(5)])
        oracle = serape.DSeparation(graph)
        assert set(serape.markov_blanket(oracle, "t", algorithm="iamb-npc").blanket) == {f"p{k}" for k in range(5)}


class TestInterIapc:
    def test_parents_and_children_within_the_blanket(self) -> None:
        graph = nx.DiGraph([("p", "t"), ("t", "c"), ("s", "c"), ("g", "p")])
        found = serape.parents_children(serape.DSeparation(graph), "t")
        assert found.algorithm == "inter-iapc"
        assert set(found.parents_children or ()) == {"p", "c"} == set(found.members)
        assert set(found.blanket) == {"p", "c", "s"}
        assert str(found).startswith("Parents and children of t: ")
        assert str(found.explain("s")).startswith("s is not a parent or child of t")
        assert found.graph.edges["t", "p"]["relation"] == "adjacent"

    def test_neither_order_nor_threads_matter(self) -> None:
        data = clinic(3000, seed=1)
        random = np.random.default_rng(0)
        for target in ("HeartDisease", "BloodPressure"):
            answers = set()
            for jobs in (1, 2, 3):
                shuffled = {name: data[name] for name in random.permutation(list(data))}
                answers.add(frozenset(serape.parents_children(shuffled, target, n_jobs=jobs).members))
            assert len(answers) == 1

    def test_a_blanket_is_not_its_question(self) -> None:
        with pytest.raises(serape.OptionError, match="'inter-iapc' finds parents and children only"):
            serape.markov_blanket(clinic(100), "Age", algorithm="inter-iapc")
        with pytest.raises(serape.OptionError, match="'iamb' finds the blanket only"):
            serape.parents_children(clinic(100), "Age", algorithm="iamb")


class TestBlankets:
    data = clinic(2000, seed=3)

    @pytest.mark.parametrize("algorithm", ["gs", "iamb", "fast-iamb"])
    def test_the_same_as_one_by_one(self, algorithm: str) -> None:
        many = serape.blankets(self.data, algorithm=algorithm, n_jobs=2)
        assert list(many) == list(self.data)
        for name, found in many.items():
            alone = serape.markov_blanket(self.data, name, algorithm=algorithm)
            assert found.blanket == alone.blanket
            assert found.tests <= alone.tests
            assert str(found.explain("Age" if name != "Age" else "Ward")) == str(
                alone.explain("Age" if name != "Age" else "Ward")
            )

    def test_threads_do_not_matter(self) -> None:
        one, three = (serape.blankets(self.data, algorithm="iamb", n_jobs=n) for n in (1, 3))
        assert {k: (v.blanket, v.tests, v.skipped) for k, v in one.items()} == {
            k: (v.blanket, v.tests, v.skipped) for k, v in three.items()
        }

    def test_some_targets(self) -> None:
        assert list(serape.blankets(self.data, ["ECG", 0, "ECG"])) == ["ECG", "Age"]

    def test_constant_columns_are_left_out(self) -> None:
        many = serape.blankets({**self.data, "Same": np.zeros(2000, int)})
        assert "Same" not in many
        declared = pd.DataFrame(self.data).assign(Same=pd.Categorical(["u"] * 2000, categories=["u", "v"]))
        assert list(serape.blankets(declared)) == list(self.data)
        with pytest.raises(serape.DataError, match="'Same' is constant"):
            serape.blankets({**self.data, "Same": np.zeros(2000, int)}, ["Same"])

    def test_shared_tests_are_told(self) -> None:
        note = serape.blankets(self.data, algorithm="iamb")["Age"].notes[-1]
        assert "91 tests given nothing were shared" in note  # 14 · 13 / 2

    def test_interrupted_it_returns_what_is_done(self) -> None:
        done: list[str] = []

        def watch(now: serape.Progress) -> None:
            done.append(now.target)
            if len(done) == 4:
                raise KeyboardInterrupt

        for jobs in (1, 2):
            done.clear()
            many = serape.blankets(self.data, progress=watch, n_jobs=jobs)
            assert 4 <= len(many) < 14
            assert set(done[:4]) <= set(many)

    def test_oracle(self) -> None:
        graph = random_dag(np.random.default_rng(4), 9, 0.3)
        many = serape.blankets(serape.DSeparation(graph), algorithm="inter-iamb")
        assert {k: set(v.blanket) for k, v in many.items()} == {t: true_blanket(graph, t) for t in graph}
        assert serape.compare(many, graph).distance == 0


class TestCompare:
    def test_measures(self) -> None:
        found = serape.compare(["a", "b", "x", "y"], ["a", "b", "c"])
        assert found.precision == 0.5
        assert found.recall == pytest.approx(2 / 3)
        assert found.distance == pytest.approx(math.hypot(0.5, 1 / 3))
        assert found.missed == ("c",)
        assert found.extra == ("x", "y")

    def test_conventions_for_nothing(self) -> None:
        assert serape.compare([], ["a"]).precision == 1
        assert serape.compare(["a"], []).recall == 1
        assert serape.compare([], []).distance == 0

    def test_a_graph_as_truth(self) -> None:
        graph = nx.DiGraph([("p", "t"), ("t", "c"), ("s", "c")])
        oracle = serape.DSeparation(graph)
        assert serape.compare(serape.markov_blanket(oracle, "t"), graph).distance == 0
        assert serape.compare(serape.parents_children(oracle, "t"), graph).distance == 0

    def test_mean_over_targets(self) -> None:
        results = serape.blankets(clinic(500), ["Age", "Ward"])
        truths = {name: result.blanket for name, result in results.items()}
        truths["Ward"] = (*truths["Ward"], "Age")
        assert 0 < serape.compare(results, truths).distance <= 0.5

    @pytest.mark.parametrize(("found", "truth"), [("abc", ["a"]), (["a"], 3), (["a"], nx.DiGraph([("a", "b")]))])
    def test_nonsense(self, found: object, truth: object) -> None:
        with pytest.raises(serape.SerapeError):
            serape.compare(found, truth)


class TestFitness:
    def test_against_the_definition(self) -> None:
        """The expected divergence of P(T|B) from P(T|B,X), by frequencies, written out."""
        random = np.random.default_rng(5)
        b, x, y = random.integers(2, size=(3, 400))
        t = np.where(random.random(400) < 0.3, x ^ b, random.integers(2, size=400))
        expected = []
        for other in (x, y):
            total = 0.0
            for vb, vx in itertools.product((0, 1), repeat=2):
                here = (b == vb) & (other == vx)
                for vt in (0, 1):
                    p = (t[here] == vt).mean()
                    q = (t[b == vb] == vt).mean()
                    total += here.mean() * p * math.log(p / q)
            expected.append(total)
        found = serape.kl_fitness({"b": b, "x": x, "y": y, "t": t}, "t", ["b"])
        assert found == pytest.approx(sum(expected) / 2, rel=1e-9)

    def test_a_blanket_is_fitter_than_none(self) -> None:
        data = serape.Table(clinic(5000))
        blanket = serape.markov_blanket(data, "HeartDisease", max_conditioning=3).blanket
        assert serape.kl_fitness(data, "Age", []) > 0
        assert serape.kl_fitness(data, "HeartDisease", [n for n in data.names if n != "HeartDisease"]) == 0
        with pytest.raises(serape.OptionError, match="own blanket"):
            serape.kl_fitness(data, "HeartDisease", [*blanket, "HeartDisease"])


class TestCheckAlgorithm:
    @pytest.mark.parametrize("algorithm", ["gs", "iamb", "inter-iamb", "fast-iamb", "inter-iapc"])
    def test_sound_algorithms_pass(self, algorithm: str) -> None:
        assert serape.check_algorithm(algorithm, cases=40) is None

    def test_a_wrong_one_is_caught_and_shrunk(self) -> None:
        def no_spouses(search: serape.Search, target: int) -> list[int]:
            """Grows by single tests given nothing: spouses never enter, grandparents do."""
            return [int(x) for x in search.candidates(target) if search.dependent(int(x), target)]

        wrong = serape.check_algorithm(no_spouses)
        assert wrong is not None
        assert wrong.graph.number_of_nodes() == 3  # a chain, a fork or a collider
        assert wrong.graph.number_of_edges() == 2
        assert "no_spouses errs on" in str(wrong)
        assert "does not belong there" in str(wrong) or "is missing: it is a spouse" in str(wrong)

    def test_forgetting_to_shrink_is_caught(self) -> None:
        from serape.local.iamb import grow

        def grow_only(search: serape.Search, target: int) -> Members:
            blanket = search.members(target)
            grow(search, target, blanket)
            return blanket

        wrong = serape.check_algorithm(grow_only)
        assert wrong is not None
        assert set(wrong.found) > set(wrong.truth)
        assert " ⊥ " in str(wrong)

    def test_inter_iamb_npc_has_a_counterexample(self) -> None:
        wrong = serape.check_algorithm("inter-iamb-npc", cases=500)
        assert wrong is not None
        assert wrong.graph.number_of_nodes() == 5

    def test_nonsense(self) -> None:
        with pytest.raises(serape.OptionError):
            serape.check_algorithm("magic")
        with pytest.raises(serape.OptionError):
            serape.check_algorithm("iamb", max_nodes=3)


@pytest.mark.parametrize(
    "algorithm", ["gs", "iamb", "inter-iamb", "iamb-npc", "inter-iamb-npc", "fast-iamb", "inter-iapc"]
)
def test_small_data_honesty(algorithm: str) -> None:
    """20 rows and 50 columns: an answer at once, and a count of what could not be asked."""
    table = random_table(np.random.default_rng(6), 20, [2, 3] * 25, 0.8)
    question = serape.parents_children if algorithm == "inter-iapc" else serape.markov_blanket
    found = question(table, 1, algorithm=algorithm)
    assert found.skipped > 0
    assert "skipped as unreliable" in str(found)
