"""network: exact with the oracle, the same for any order of columns, faithful to what is known."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from oracles import completed, shuffled, undirected_pairs
from plain import random_dag
from serape.independence import G2
from serape.local.registry import ALGORITHMS
from serape.questions import neighbourhoods
from serape.search import BudgetSpent
from serape.structure.registry import NETWORK_ALGORITHMS
from serape.structure.scores import make_score

ODD: Any = "odd"
ODDS: Any = ["bic"]
LEARNERS = [name for name, a in ALGORITHMS.items() if a.sound and a.answers("parents-children")]


class TestOracle:
    @pytest.mark.parametrize("rule", ["and", "or"])
    @pytest.mark.parametrize("algorithm", [*LEARNERS, "pc-stable"])
    def test_skeleton_and_class_are_exact(self, algorithm: str, rule: Any) -> None:
        random = np.random.default_rng(11)
        for density, nodes in ((0.15, 10), (0.3, 8), (0.5, 7)):
            for _ in range(5):
                graph = random_dag(random, nodes, density)
                oracle = shuffled(graph, random)
                if algorithm == "pc-stable" and rule == "or":
                    continue
                found = serape.skeleton(oracle, algorithm, rule=rule)
                assert undirected_pairs(found.graph) == undirected_pairs(graph), list(graph.edges)
                options = {} if algorithm == "pc-stable" else {"rule": rule}
                network = serape.network(oracle, algorithm, **options)
                assert set(network.graph.edges) == set(completed(graph).edges), list(graph.edges)
                assert network.conflicts == ()
                for pair, given in network.separating_sets.items():
                    x, y = pair
                    assert nx.is_d_separator(graph, {x}, {y}, set(given))

    def test_own_learner(self) -> None:
        def lazy(search: serape.Search, target: int) -> list[int]:
            return [
                int(x)
                for x in search.candidates(target)
                if not search.separate([int(x)], target, search.candidates(target, int(x)).tolist())[0].separated
            ]

        graph = random_dag(np.random.default_rng(5), 7, 0.4)
        found = serape.network(serape.DSeparation(graph), lazy)
        assert found.algorithm == "lazy"
        assert set(found.graph.edges) == set(completed(graph).edges)


class TestOnData:
    @pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "hpc"])
    def test_order_of_columns_does_not_matter(self, algorithm: str) -> None:
        table = serape.load_network("insurance").sample(1000, 3)
        random = np.random.default_rng(1)
        edges, tests = set(), set()
        for _ in range(6):
            order = random.permutation(len(table.names))
            again = serape.Table({table.names[k]: table.column(int(k)) for k in order}, kinds="categorical")
            found = serape.network(again, algorithm, alpha=0.01)
            edges.add(frozenset(found.graph.edges))
            tests.add(found.tests)
        assert len(edges) == 1
        assert len(tests) == 1

    @pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "mmpc"])
    def test_threads_do_not_matter(self, algorithm: str) -> None:
        table = serape.load_network("child").sample(500, 1)
        one, two = (serape.network(table, algorithm, n_jobs=n) for n in (1, 2))
        assert list(one.graph.edges(data=True)) == list(two.graph.edges(data=True))

    def test_edges_carry_their_evidence(self) -> None:
        table = serape.load_network("asia").sample(2000, 1)
        found = serape.network(table, "pc-stable", alpha=0.01)
        for a, b, seen in found.graph.edges(data=True):
            again = serape.ci_test(table, a, b, seen["given"], dof="adjusted")
            assert (again.statistic, again.dof) == (seen["statistic"], seen["dof"])
            assert seen["log_p"] <= np.log(0.01)
        assert len(found.evidence) == len(found.edges)

    def test_constant_columns_are_joined_to_nothing(self) -> None:
        data = {"a": ["x", "y"] * 100, "b": ["x", "y"] * 100, "same": ["k"] * 200}
        for algorithm in ("pc-stable", "hiton-pc", "mmhc", "ges", "tabu", "sca", "h2pc"):
            found = serape.network(data, algorithm)
            assert found.graph.degree("same") == 0
            assert found.graph.has_edge("a", "b") or found.graph.has_edge("b", "a")


class TestKnowledge:
    def test_true_knowledge_directs_more(self) -> None:
        random = np.random.default_rng(2)
        more = 0
        for _ in range(20):
            graph = random_dag(random, 8, 0.3)
            order = list(nx.topological_sort(graph))
            known = serape.Knowledge(tiers=[order[:4], order[4:]])
            for algorithm in ("pc-stable", "hiton-pc"):
                plain = serape.network(shuffled(graph, random), algorithm)
                found = serape.network(shuffled(graph, random), algorithm, knowledge=known)
                assert undirected_pairs(found.graph) == undirected_pairs(graph)
                arcs = {(a, b) for a, b in found.graph.edges if not found.graph.has_edge(b, a)}
                assert arcs <= set(graph.edges)
                before = {(a, b) for a, b in plain.graph.edges if not plain.graph.has_edge(b, a)}
                assert before <= arcs
                more += len(arcs - before)
        assert more > 20

    @pytest.mark.parametrize("algorithm", ["hiton-pc", *NETWORK_ALGORITHMS])
    def test_is_respected_on_data(self, algorithm: str) -> None:
        table = serape.load_network("asia").sample(1000, 1)
        known = {"required": [["xray", "asia"]], "forbidden": [["smoke", "lung"]], "tiers": [["bronc"], ["smoke"]]}
        graph = serape.network(table, algorithm, knowledge=known).graph
        assert graph.has_edge("xray", "asia")
        assert not graph.has_edge("asia", "xray")
        assert not graph.has_edge("smoke", "lung")
        assert not graph.has_edge("smoke", "bronc")

    def test_of_ges(self) -> None:
        table = serape.load_network("asia").sample(1000, 1)
        plain = serape.network(table, "ges").graph
        a, b = next(iter(plain.edges))
        graph = serape.network(table, "ges", knowledge={"forbidden_pairs": [(a, b)]}).graph
        assert not graph.has_edge(a, b)
        assert not graph.has_edge(b, a)

    def test_colliders_are_not_lost_to_the_bound(self) -> None:
        oracle = serape.DSeparation(nx.DiGraph([("X", "Z"), ("Y", "Z")]))
        assert serape.network(oracle, "pc-stable", max_conditioning=0).directed

    def test_contradictions_are_refused(self) -> None:
        table = serape.load_network("asia").sample(100, 1)
        with pytest.raises(serape.OptionError, match="both required and forbidden"):
            serape.skeleton(table, knowledge={"required": [("asia", "tub")], "forbidden": [("asia", "tub")]})
        with pytest.raises(serape.OptionError, match=r"'asai'.*Did you mean 'asia'"):
            serape.network(table, knowledge={"required": [("asai", "tub")]})
        with pytest.raises(serape.SerapeError, match="knowledge must be"):
            serape.network(table, knowledge=3)  # type: ignore[arg-type]


class TestRefusals:
    @pytest.mark.parametrize(
        ("call", "match"),
        [
            (lambda t: serape.skeleton(t, "mmhc"), "finds a whole network"),
            (lambda t: serape.skeleton(t, "iamb"), "finds the blanket only"),
            (lambda t: serape.network(t, "mmpc", rule="xor"), "rule must be 'and' or 'or'"),  # type: ignore[arg-type]
            (lambda t: serape.network(t, "mmhcc"), "Did you mean 'mmhc'"),
            (lambda t: serape.network(t, "mmhc", k=3), "no option 'k'"),
            (lambda t: serape.network(t, "sca", k=0), "k must be a whole number, 1 or more"),
            (lambda t: serape.network(t, "pc-stable", depth=3), "no option 'depth'"),  # type: ignore[call-arg]
            (lambda t: serape.network(t, "ges", score="k2"), "K2 is not"),
            (lambda t: serape.network(t, score="bdeuu"), "Did you mean 'bdeu'"),
            (lambda t: serape.network(t, "ges", checkpoint="x"), "uses a score, not tests, so checkpoint"),
            (lambda t: serape.region(t, "asia", 0), "depth must be"),
            (lambda t: serape.region(t, "asai"), "Did you mean 'asia'"),
            (lambda t: serape.markov_blanket(t, "asia", "ges"), "use serape.network"),
            (lambda t: serape.skeleton(t).fit(), "no directions"),
            (lambda t: serape.network(t, "ges", alpha=0.01), "uses a score, not tests, so alpha=0.01"),
            (lambda t: serape.network(t, "pc-stable", score="bic"), "uses tests, not a score"),
            (lambda t: serape.network(t, "pc-stable", rule="or"), "tests pairs"),
            (lambda t: serape.skeleton(t, "pc-stable", checkpoint="x"), "tests pairs"),
            (lambda t: serape.region(t, "asia", algorithm="pc-stable"), "tests pairs"),
            (lambda t: serape.network(t, "tabu", score="loglik"), "rises with every arc"),
            (lambda t: serape.network(t, "tabu", score="bdeu", equivalent_sample_size=ODD), "positive number"),
            (lambda t: serape.network(t, "tabu", score=ODDS), "name or a serape.Score"),
            (lambda t: serape.skeleton(t, progress=ODD), "progress must be"),
            (
                lambda t: serape.network(
                    t, "tabu", max_parents=1, knowledge={"required": [("asia", "dysp"), ("tub", "dysp")]}
                ),
                "requires 2 parents of 'dysp'",
            ),
            (
                lambda t: serape.network(
                    t, "mmhc", score=make_score(serape.load_network("cancer").sample(50, 1), "bic")
                ),
                "both must have the same",
            ),
            (lambda t: serape.network(3, "mmhc"), "int"),
            (lambda t: serape.network(serape.DSeparation(serape.load_network("asia").graph), "mmhc"), "needs data"),
        ],
    )
    def test_in_one_sentence(self, call: Any, match: str) -> None:
        table = serape.load_network("asia").sample(200, 1)
        with pytest.raises(serape.SerapeError, match=match):
            call(table)


class TestCtrlC:
    def test_pc_keeps_the_neighbours_of_its_round(self) -> None:
        table = serape.load_network("pigs").sample(2000, 1)

        def stop(now: serape.Progress) -> None:
            if now.tests > 200_000:
                raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.network(table, "pc-stable", max_conditioning=None, progress=stop)
        assert not stopped.value.found.complete
        assert stopped.value.found.graph.number_of_edges() > 500

    @pytest.mark.parametrize("algorithm", ["mmhc", "hiton-pc"])
    def test_neighbourhoods_that_are_complete_are_kept(self, algorithm: str) -> None:
        table = serape.load_network("alarm").sample(500, 1)
        seen: list[str] = []

        def stop(now: serape.Progress) -> None:
            seen.append(now.target)
            if len(seen) == 30:
                raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.network(table, algorithm, progress=stop)
        assert len(seen) == 30  # nothing is searched after that
        found = stopped.value.found
        assert found.graph.number_of_edges() > 20
        assert not found.directed

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("end", [KeyboardInterrupt, BudgetSpent("2 seconds")])
    def test_targets_that_were_searched_together_are_kept(
        self, monkeypatch: pytest.MonkeyPatch, n_jobs: int, end: Any
    ) -> None:
        table = serape.load_network("alarm").tile(4, 1).sample(500, 1)
        asked: list[int] = []
        grow = G2.grow_pools

        def stop(self: G2, targets: Any, *rest: Any, **options: Any) -> Any:
            if len(asked) >= 100:
                raise end
            asked.extend(targets.tolist())
            return grow(self, targets, *rest, **options)

        monkeypatch.setattr(neighbourhoods, "_AT_ONCE", 50)
        monkeypatch.setattr(G2, "grow_pools", stop)
        options: dict[str, Any] = {"alpha": 0.01, "fdr": None, "n_jobs": n_jobs}
        if end is KeyboardInterrupt:
            with pytest.raises(serape.Interrupted) as stopped:
                serape.skeleton(table, "hiton-pc", **options)
            found = stopped.value.found
        else:
            found = serape.skeleton(table, "hiton-pc", **options)
        assert len(asked) == 100
        assert not found.complete
        edges = set(map(frozenset, found.edges))
        monkeypatch.undo()
        whole = set(map(frozenset, serape.skeleton(table, "hiton-pc", **options).edges))
        assert 30 < len(edges) < len(whole)
        assert edges <= whole
