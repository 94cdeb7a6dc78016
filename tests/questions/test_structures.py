"""Regions, skeletons and networks: exact with the oracle, the same for any order of columns, resumable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag, random_table
from serape.independence.outcomes import Candidates, Outcome, Poll
from serape.independence.screens import ScreenResult
from serape.local.registry import ALGORITHMS
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.scores import make_score

ODD: Any = "odd"
ODDS: Any = ["bic"]
LEARNERS = [name for name, a in ALGORITHMS.items() if a.sound and a.answers("parents-children")]


def completed(graph: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """Return the completed graph of a DAG."""
    names = list(graph)
    return cpdag(PartlyDirected.of_networkx(graph, names).parents).to_networkx(names)


def shuffled(graph: nx.DiGraph[str], random: np.random.Generator) -> serape.DSeparation:
    return serape.DSeparation(graph, [str(node) for node in random.permutation(list(graph))])


def undirected_pairs(graph: nx.Graph[str]) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in graph.edges}


class Spy(serape.DSeparation):
    """An oracle that remembers which pairs it was asked about."""

    def __init__(self, graph: nx.DiGraph[Any], order: Sequence[Any] | None = None) -> None:
        super().__init__(graph, order)
        self.asked: set[frozenset[str]] = set()

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        self.asked.add(frozenset((self.variables[x], self.variables[y])))
        return super().test(x, y, given)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        self.asked.update(frozenset((self.variables[target], self.variables[int(x)])) for x in candidates)
        return super().screen(target, candidates, given, threads=threads, poll=poll)


class TestOracle:
    @pytest.mark.parametrize("rule", ["and", "or"])
    @pytest.mark.parametrize("algorithm", [*LEARNERS, "pc-stable"])
    def test_skeleton_and_class_are_exact(self, algorithm: str, rule: Any) -> None:
        random = np.random.default_rng(11)
        for density, nodes in ((0.15, 10), (0.3, 8), (0.5, 7)):
            for _ in range(12):
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

    def test_every_pair_at_distance_two_has_a_separating_set(self) -> None:
        random = np.random.default_rng(3)
        graph = random_dag(random, 12, 0.25)
        for algorithm in ("pc-stable", "hiton-pc"):
            found = serape.skeleton(shuffled(graph, random), algorithm)
            joined = undirected_pairs(graph)
            wanted = {
                frozenset((x, y))
                for z in graph
                for x in nx.all_neighbors(graph, z)
                for y in nx.all_neighbors(graph, z)
                if x != y and frozenset((x, y)) not in joined
            }
            assert wanted <= set(found.separating_sets)

    @pytest.mark.parametrize("algorithm", ["hiton-pc", "inter-iapc", "hpc"])
    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_region_is_what_lies_around_the_target(self, algorithm: str, depth: int) -> None:
        random = np.random.default_rng(depth)
        for _ in range(15):
            graph = random_dag(random, 12, 0.15)
            target = str(random.choice(list(graph)))
            found = serape.region(shuffled(graph, random), target, depth, algorithm=algorithm)
            distance = nx.single_source_shortest_path_length(graph.to_undirected(), target, cutoff=depth)
            assert {name: found.nodes[name]["distance"] for name in found} == distance
            wanted = {
                frozenset(arc) for arc in graph.edges if min(distance.get(arc[0], 99), distance.get(arc[1], 99)) < depth
            }
            assert undirected_pairs(found) == wanted

    def test_region_asks_only_what_it_needs(self) -> None:
        """A long chain: the far end is screened given nothing, and nobody asks for its neighbours."""
        graph = nx.DiGraph([(f"v{k}", f"v{k + 1}") for k in range(40)])
        spy = Spy(graph)
        found = serape.region(spy, "v0", 2, algorithm="hiton-pc")
        assert set(found) == {"v0", "v1", "v2"}
        assert frozenset(("v30", "v31")) not in spy.asked
        assert found.graph["tests"] < serape.skeleton(graph_oracle(graph), "hiton-pc").tests / 5

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


def graph_oracle(graph: nx.DiGraph[str]) -> serape.DSeparation:
    return serape.DSeparation(graph)


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

    def test_skeleton_is_made_of_the_neighbourhoods(self) -> None:
        table = serape.load_network("child").sample(400, 2)
        near = {
            name: set(serape.parents_children(table, name, "inter-iapc").parents_children or ()) for name in table.names
        }
        for rule in ("and", "or"):
            found = serape.skeleton(table, "inter-iapc", rule=rule)
            both = all if rule == "and" else any
            wanted = {frozenset((a, b)) for a in near for b in near if a < b and both((b in near[a], a in near[b]))}
            assert undirected_pairs(found.graph) == wanted

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

    def test_pairs_that_cannot_be_tested_are_not_joined(self) -> None:
        table = random_table(np.random.default_rng(4), 9, [2, 3] * 5)
        found = serape.skeleton(table, "pc-stable")
        assert found.skipped > 0
        assert found.graph.number_of_edges() < 10


class TestCheckpoint:
    def test_goes_on_where_it_was_stopped(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc")
        path = tmp_path / "kept.jsonl"
        seen: list[str] = []

        def stop(now: serape.Progress) -> None:
            seen.append(now.target)
            if len(seen) == 7:
                raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.skeleton(table, "hiton-pc", checkpoint=path, progress=stop)
        assert not stopped.value.found.complete
        lines = path.read_text().splitlines()
        assert len(lines) == 1 + 7
        path.write_text("\n".join(lines) + '\n{"target": "BirthA')  # cut off in the middle of a line
        seen.clear()
        found = serape.skeleton(table, "hiton-pc", checkpoint=path, progress=lambda now: seen.append(now.target))
        assert len(seen) == len(table.names) - 7
        assert undirected_pairs(found.graph) == undirected_pairs(whole.graph)
        assert any("7 neighbourhoods were taken" in note for note in found.notes)
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert undirected_pairs(again.graph) == undirected_pairs(whole.graph)

    def test_refuses_another_run(self, tmp_path: Path) -> None:
        path = tmp_path / "kept.jsonl"
        network = serape.load_network("asia")
        serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match="other data"):
            serape.skeleton(network.sample(300, 2), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match=r"alpha 0.05, not 0.01"):
            serape.skeleton(network.sample(300, 1), "mmpc", alpha=0.01, checkpoint=path)
        first, *others = path.read_text().splitlines()
        path.write_text("\n".join([first, "{", *others]))
        with pytest.raises(serape.DataError, match="line 2"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        path.write_text("hello\nworld\n")
        with pytest.raises(serape.OptionError, match="not a checkpoint"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        path.write_text("[]\n")
        with pytest.raises(serape.OptionError, match="not a checkpoint"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match="cannot be written"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=tmp_path / "no" / "such" / "folder")

    def test_of_own_learners_and_tests(self, tmp_path: Path) -> None:
        table = serape.load_network("asia").sample(300, 1)
        path = tmp_path / "kept.jsonl"

        def make(size: int) -> Any:
            if size == 0:

                def mine(search: serape.Search, target: int) -> list[int]:
                    del search, target
                    return []
            else:

                def mine(search: serape.Search, target: int) -> list[int]:
                    return search.dependents(target, search.candidates(target))

            return mine

        serape.skeleton(table, make(1), checkpoint=path)
        assert serape.skeleton(table, make(1), checkpoint=path).graph.number_of_edges() > 0
        with pytest.raises(serape.OptionError, match="is of a run with algorithm"):
            serape.skeleton(table, make(0), checkpoint=path)
        with pytest.raises(serape.OptionError, match="needs data"):
            serape.skeleton(serape.DSeparation(nx.DiGraph([("a", "b")])), "mmpc", checkpoint=tmp_path / "other")


class TestKnowledge:
    @pytest.mark.parametrize("algorithm", [*LEARNERS, "pc-stable"])
    def test_forbidden_pairs_are_never_tested(self, algorithm: str) -> None:
        random = np.random.default_rng(8)
        for _ in range(12):
            graph = random_dag(random, 8, 0.25)
            apart = [
                (a, b) for a in graph for b in graph
                if a < b and not graph.has_edge(a, b) and not graph.has_edge(b, a) and random.random() < 0.5
            ]  # fmt: skip
            order = [str(node) for node in random.permutation(list(graph))]
            spy, plain = Spy(graph, order), Spy(graph, order)
            found = serape.network(spy, algorithm, knowledge=serape.Knowledge(forbidden_pairs=apart))
            assert not spy.asked & {frozenset(pair) for pair in apart}
            assert undirected_pairs(found.graph) == undirected_pairs(graph)
            assert found.tests <= serape.network(plain, algorithm).tests

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

    @pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "mmhc", "h2pc", "tabu", "sca"])
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
        with pytest.raises(serape.OptionError, match="forbidden pairs alone"):
            serape.network(table, "ges", knowledge={"tiers": [["asia"], ["smoke"]]})

    @pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "hpc"])
    def test_true_knowledge_gives_true_arrows(self, algorithm: str) -> None:
        """Whatever is not tested for being known leaves arrows open, never wrong."""
        random = np.random.default_rng(7)
        for _ in range(40):
            graph = random_dag(random, int(random.integers(3, 8)), 0.35)
            pairs = [(a, b) for a in graph for b in graph if a < b]
            apart = [
                p for p in pairs if not graph.has_edge(*p) and not graph.has_edge(*p[::-1]) and random.random() < 0.3
            ]
            arcs = [arc for arc in graph.edges if random.random() < 0.2]
            wrong = [(b, a) for a, b in graph.edges if random.random() < 0.2]
            known = serape.Knowledge(required=arcs, forbidden=wrong, forbidden_pairs=apart)
            found = serape.network(shuffled(graph, random), algorithm, knowledge=known).graph
            assert undirected_pairs(found) == undirected_pairs(graph)
            for a, b in found.edges:
                assert found.has_edge(b, a) or graph.has_edge(a, b), (list(graph.edges), known)

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
            (lambda t: serape.network(t, "sca", k=0), "k must be a whole number from 1"),
            (lambda t: serape.network(t, "pc-stable", depth=3), "no option 'depth'"),  # type: ignore[call-arg]
            (lambda t: serape.network(t, "ges", score="k2"), "K2 is not"),
            (lambda t: serape.network(t, score="bdeuu"), "Did you mean 'bdeu'"),
            (lambda t: serape.network(t, "ges", checkpoint="x"), "goes by a score, not by tests: checkpoint"),
            (lambda t: serape.region(t, "asia", 0), "depth must be"),
            (lambda t: serape.region(t, "asai"), "Did you mean 'asia'"),
            (lambda t: serape.markov_blanket(t, "asia", "ges"), "ask serape.network"),
            (lambda t: serape.skeleton(t).fit(), "no directions"),
            (lambda t: serape.network(t, "ges", alpha=0.01), "goes by a score, not by tests: alpha=0.01"),
            (lambda t: serape.network(t, "pc-stable", score="bic"), "goes by tests, not by a score"),
            (lambda t: serape.network(t, "pc-stable", rule="or"), "goes by pairs"),
            (lambda t: serape.skeleton(t, "pc-stable", checkpoint="x"), "goes by pairs"),
            (lambda t: serape.region(t, "asia", algorithm="pc-stable"), "does not go by neighbourhoods"),
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
                "they must be the same",
            ),
            (lambda t: serape.network(3, "mmhc"), "int"),
            (lambda t: serape.network(serape.DSeparation(serape.load_network("asia").graph), "mmhc"), "needs data"),
        ],
    )
    def test_in_one_sentence(self, call: Any, match: str) -> None:
        table = serape.load_network("asia").sample(200, 1)
        with pytest.raises(serape.SerapeError, match=match):
            call(table)


class TestResult:
    def test_saved_as_json(self, tmp_path: Path) -> None:
        table = serape.load_network("asia").sample(2000, 1)
        for algorithm in ("pc-stable", "mmhc", "ges"):
            found = serape.network(table, algorithm)
            found.save(tmp_path / "found.json")
            kept = json.loads((tmp_path / "found.json").read_text())
            assert kept["format"] == "serape-structure-1"
            assert len(kept["edges"]) == len(found.edges)
            assert kept["variables"] == list(table.names)
            assert "Network of 8 variables" in str(found)
            again = serape.load_structure(tmp_path / "found.json")
            assert list(again.graph) == list(found.graph)
            assert {frozenset(e) for e in again.graph.edges} == {frozenset(e) for e in found.graph.edges}
            assert set(again.graph.edges) == set(found.graph.edges)
            for a, b in found.graph.edges:
                one, other = again.graph.edges[a, b], found.graph.edges[a, b]
                assert one.keys() == other.keys()
                assert one.get("given") == other.get("given")
                for number in set(one) - {"given"}:
                    assert one[number] == pytest.approx(other[number], rel=1e-12, nan_ok=True)
            assert again.separating_sets == found.separating_sets
            assert again.edges == found.edges
            assert str(again) == str(found)
        skeleton = serape.skeleton(table)
        skeleton.save(tmp_path / "bones.json")
        assert undirected_pairs(serape.load_structure(tmp_path / "bones.json").graph) == undirected_pairs(
            skeleton.graph
        )
        with pytest.raises(serape.DataError, match="not a result"):
            serape.load_result(tmp_path / "bones.json")
        (tmp_path / "bones.json").write_text('{"format": "serape-structure-1", "finds": "network"}')
        with pytest.raises(serape.DataError, match="damaged"):
            serape.load_structure(tmp_path / "bones.json")

    def test_fitted_network_goes_to_bif_and_back(self, tmp_path: Path) -> None:
        truth = serape.load_network("asia")
        table = truth.sample(20_000, 1)
        for algorithm in ("hiton-pc", "mmhc", "ges"):
            found = serape.network(table, algorithm)
            fitted = found.fit()
            serape.write_bif(fitted, tmp_path / "net.bif")
            again = serape.read_bif(tmp_path / "net.bif")
            assert set(again.graph.edges) == set(found.dag.edges)
            assert nx.is_directed_acyclic_graph(found.dag)
            smokers = np.mean(np.asarray(again.sample(20_000, 2).column("smoke")) == "yes")
            assert abs(smokers - np.mean(np.asarray(table.column("smoke")) == "yes")) < 0.02

    def test_no_graph_agrees(self) -> None:
        """Open edges in a cycle of four have no direction without a new v-structure; some DAG is given all the same."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        for a, b in ("ab", "bc", "cd", "da"):
            graph.add_edges_from([(a, b), (b, a)])
        found = serape.network(serape.load_network("asia").sample(100, 1), "pc-stable")
        from dataclasses import replace

        assert nx.is_directed_acyclic_graph(replace(found, graph=graph).dag)


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

    def test_region_keeps_what_has_grown(self) -> None:
        table = serape.load_network("pigs").sample(5000, 1)
        ticks = 0

        def stop(now: serape.Progress) -> None:
            nonlocal ticks
            del now
            ticks += 1
            raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.region(table, "p630400490", 6, progress=stop)
        assert ticks == 1
        assert "p630400490" in stopped.value.found
