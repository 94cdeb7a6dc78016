"""Divide and conquer, GLL and HPC: against their papers, and against plain twins that enumerate everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from plain import random_table
from serape.data.example import clinic, clinic_graph
from serape.independence import G2
from serape.local.gll import GLL, Neighbourhood, at_the_end, by_association, gll_pc_nonsym, max_min
from serape.local.hiton import INTERLEAVED, SEMI_INTERLEAVED
from serape.local.hpc import de_pcs, de_sps, hpc
from serape.local.max_min import MMPC
from serape.local.pcmb import algorithm_pcd
from serape.search import StepCache
from serape.search.separations import Separations

# Peña, Björkegren and Tegnér 2005, Table 2.
DAG_A = nx.DiGraph([("T", "Q"), ("P", "Q"), ("P", "R"), ("R", "S"), ("Q", "S")])
DAG_B = nx.DiGraph([("P", "Q"), ("Q", "T"), ("T", "S"), ("P", "R"), ("R", "S")])


class TestThePapersTwoGraphs:
    def test_mmpc_without_symmetry_returns_a_descendant(self) -> None:
        oracle = serape.DSeparation(DAG_A)
        as_published: tuple[dict[str, Any], ...] = ({"symmetry": False}, {"published": True})
        for options in as_published:
            found = serape.parents_children(oracle, "T", algorithm="mmpc", **options)
            assert set(found.members) == {"Q", "S"}
        assert serape.parents_children(oracle, "T", algorithm="mmpc").members == ("Q",)

    @pytest.mark.parametrize("algorithm", ["hiton-pc", "pcmb", "ipc-mb", "dos", "hpc"])
    def test_others_do_not(self, algorithm: str) -> None:
        assert serape.parents_children(serape.DSeparation(DAG_A), "T", algorithm=algorithm).members == ("Q",)

    def test_mmmb_as_published_returns_a_grandparent_even_with_a_right_mmpc(self) -> None:
        """P ⊥ T | Q, but P ⊥̸ T | Q, S: tried with S, which P is not next to, P looks like a spouse."""
        oracle = serape.DSeparation(DAG_B)
        assert set(serape.parents_children(oracle, "T", algorithm="mmpc").members) == {"Q", "S"}
        as_published = serape.markov_blanket(oracle, "T", algorithm="mmmb", published=True, symmetry=True)
        assert set(as_published.blanket) == {"P", "Q", "R", "S"}
        assert set(serape.markov_blanket(oracle, "T", algorithm="mmmb").blanket) == {"Q", "R", "S"}

    def test_the_checker_finds_such_graphs_by_itself(self) -> None:
        without_symmetry = serape.check_algorithm("mmpc", symmetry=False)
        assert without_symmetry is not None
        assert len(without_symmetry.graph) == 4
        published = serape.check_algorithm("mmmb", published=True, symmetry=True, cases=400)
        assert published is not None
        assert len(published.graph) == 5


# --- plain twins: the papers' pseudocode, every subset gone through every time ---------------------------------------


class Plain:
    """Answers about one target, by single tests; remembers the first separating set of every variable dropped."""

    def __init__(self, test: G2, target: int, alpha: float) -> None:
        self.search = serape.Search(test, alpha=alpha)
        self.target = target
        self.sets: dict[int, tuple[int, ...]] = {}

    def subsets(self, pool: Sequence[int], x: int) -> list[tuple[int, ...]]:
        rest = [z for z in pool if z != x]
        return [s for size in range(len(rest) + 1) for s in combinations(rest, size)]

    def separated(self, x: int, pool: Sequence[int]) -> bool:
        for given in self.subsets(pool, x):
            if self.search.independent(x, self.target, given):
                self.sets[x] = given
                return True
        return False

    def weakest(self, x: int, pool: Sequence[int]) -> tuple[float, float]:
        """How weak the weakest association is: the larger, the weaker."""
        found = [self.search.ask(x, self.target, given) for given in self.subsets(pool, x)]
        return max((o.log_p, -o.statistic) for o in found if o is not None)

    def dependents(self) -> list[int]:
        return self.search.dependents(self.target, self.search.candidates(self.target))


def plain_hiton(plain: Plain, semi: bool = False) -> list[int]:
    tpc: list[int] = []
    for x in plain.dependents():
        tpc.append(x)
        for y in [x] if semi else [x, *tpc[:-1]]:  # the newcomer first
            if y in tpc and plain.separated(y, tpc):
                tpc.remove(y)
    for y in list(tpc):
        if plain.separated(y, tpc):
            tpc.remove(y)
    return tpc


def plain_mmpc(plain: Plain) -> list[int]:
    tpc: list[int] = []
    open_ = sorted(plain.dependents())
    while open_ := [x for x in open_ if not plain.separated(x, tpc)]:
        best = min(open_, key=lambda x: (plain.weakest(x, tpc), x))
        open_.remove(best)
        tpc.append(best)
    for y in list(tpc):
        if plain.separated(y, tpc):
            tpc.remove(y)
    return tpc


def plain_pcd(plain: Plain) -> list[int]:
    pcd: list[int] = []
    can_pcd = sorted(plain.dependents())
    while can_pcd := [x for x in can_pcd if not plain.separated(x, pcd)]:
        best = min(can_pcd, key=lambda x: (plain.weakest(x, pcd), x))
        can_pcd.remove(best)
        pcd.append(best)
        dropped = [x for x in pcd if plain.separated(x, pcd)]
        pcd = [x for x in pcd if x not in dropped]
    return pcd


Twin = tuple[Callable[[serape.Search, int], tuple[int, ...]], Callable[[Plain], list[int]]]
TWINS: dict[str, Twin] = {
    "hiton": (lambda s, t: gll_pc_nonsym(s, t, INTERLEAVED), plain_hiton),
    "semi-interleaved hiton": (lambda s, t: gll_pc_nonsym(s, t, SEMI_INTERLEAVED), lambda p: plain_hiton(p, True)),
    "mmpc": (lambda s, t: gll_pc_nonsym(s, t, MMPC), plain_mmpc),
    "pcd": (algorithm_pcd, plain_pcd),
}


def same_as_plain(name: str, test: G2, target: int, alpha: float) -> None:
    """The same members in the same order, and the same separating sets, as without any sharing or remembering."""
    fast, slow = TWINS[name]
    plain = Plain(test, target, alpha)
    search = serape.Search(test, alpha=alpha)
    assert list(fast(search, target)) == slow(plain)
    for x, given in plain.sets.items():
        assert search.separating_set(x, target) == given
    assert search.tally.performed <= plain.search.tally.performed


@pytest.mark.parametrize("dof", ["full", "adjusted"])
@pytest.mark.parametrize("name", TWINS)
def test_nothing_is_lost_by_remembering(name: str, dof: Any) -> None:
    random = np.random.default_rng(11)
    for _ in range(12):
        rows = int(random.choice([150, 600, 2500]))
        table = random_table(random, rows, random.choice([2, 2, 3, 4, 9], 11).tolist(), 0.7)
        for target in range(0, 11, 3):
            same_as_plain(name, G2(table, dof), target, 0.05)


@pytest.mark.parametrize("name", TWINS)
def test_nothing_is_lost_by_remembering_on_alarm(name: str) -> None:
    alarm = serape.load_network("alarm")
    test = G2(alarm.sample(1500, 3), "adjusted")
    for target in range(0, 37, 4):
        same_as_plain(name, test, target, 0.01)


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc", "hpc-mb"])
class TestResults:
    def test_spouses_come_with_the_common_children(self, algorithm: str) -> None:
        graph = clinic_graph()
        for target in graph:
            found = serape.markov_blanket(serape.DSeparation(graph), target, algorithm=algorithm)
            assert found.parents_children is not None
            assert found.spouses is not None
            assert set(found.parents_children) == set(graph.predecessors(target)) | set(graph.successors(target))
            assert set(found.blanket) == set(found.parents_children) | set(found.spouses)
            for spouse, children in found.spouses.items():
                common = set(graph.successors(spouse)) & set(graph.successors(target))
                assert set(children) >= common  # a child's descendant that is a neighbour of both would show as well
                assert common

    def test_everything_is_explained(self, algorithm: str) -> None:
        data = clinic(5000, seed=4)
        found = serape.markov_blanket(data, "HeartDisease", algorithm=algorithm)
        for variable in data:
            if variable == "HeartDisease":
                continue
            why = found.explain(variable)
            assert why.included == (variable in found.blanket)
            assert why.given is not None
            if why.included:
                assert (why.separating_set is not None) == (variable in (found.spouses or {})), str(why)
                assert why.log_p <= np.log(0.05)
            else:
                assert why.separating_set is not None, str(why)

    def test_memory_is_kept_for_the_target_alone(self, algorithm: str) -> None:
        kept: list[serape.Search] = []
        run = serape.local.registry.ALGORITHMS[algorithm].run  # type: ignore[attr-defined]

        def spied(search: serape.Search, target: int) -> Any:
            kept.append(search)
            return run(search, target)

        serape.markov_blanket(clinic(1000), "HeartDisease", algorithm=spied)
        assert len(kept[0]._recorder._logs) == 1


def test_who_is_put_out_by_symmetry_is_explained_from_the_other_side() -> None:
    found = serape.parents_children(serape.DSeparation(DAG_A), "T", algorithm="hiton-pc")
    why = found.explain("S")
    assert not why.included
    assert why.separating_set is not None
    assert set(why.separating_set) in ({"Q", "R"}, {"Q", "P"})


def test_who_was_dropped_is_not_considered_again() -> None:
    """An inclusion that insists, with positions as NumPy has them."""

    def insistent(near: Neighbourhood) -> Any:
        for _ in range(3):
            yield from near.dependents()

    chain = nx.DiGraph([("A", "B"), ("B", "C")])
    rules = GLL(insistent)
    assert serape.markov_blanket(serape.DSeparation(chain), "A", algorithm=rules.markov_blanket).blanket == ("B",)
    assert serape.check_algorithm(rules.markov_blanket, cases=30, max_nodes=6) is None


def test_the_first_separation_counts_however_it_was_found() -> None:
    for many in (3, 500):
        store = Separations()
        store.add_batch(np.arange(1, many, dtype=np.uint32), 0, None, [()])
        store.add(2, 0, (7, 8))
        store.add_batch(np.arange(2, many, dtype=np.uint32), 0, None, [(9,)])
        assert store.get(0, 2) == store.get(2, 0) == ()
        store.add(0, 600, (1,))
        store.add_batch(np.arange(0, many, dtype=np.uint32), 600, None, [()])
        assert store.get(600, 0) == (1,)
        assert store.get(600, 601) is None


@pytest.mark.parametrize("algorithm", ["pcmb", "hpc"])
def test_a_skipped_test_does_not_undo_a_separation(algorithm: str) -> None:
    data = clinic(3000)
    found = serape.markov_blanket(data, "HeartDisease", algorithm=algorithm, max_conditioning=0)
    apart = [v for v in data if v != "HeartDisease" and serape.ci_test(data, v, "HeartDisease").p > 0.05]
    assert apart
    for variable in apart:
        assert found.explain(variable).separating_set == ()


def test_an_interrupted_search_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.search.state._TICK", 0.0)

    def stop(now: serape.Progress) -> None:
        if now.members:
            raise KeyboardInterrupt

    table = serape.Table(pedigree(np.random.default_rng(1), 500, 60, 441), kinds="categorical")
    with pytest.raises(serape.Interrupted) as interrupted:
        serape.parents_children(table, "T", algorithm="pcmb", progress=stop)
    assert interrupted.value.found.members
    assert not interrupted.value.found.complete


def test_supersets_of_hpc() -> None:
    """DE-PCS holds all neighbours, DE-SPS all spouses that DE-PCS does not."""
    graph = clinic_graph()
    oracle = serape.DSeparation(graph)
    for target, name in enumerate(oracle.variables):
        search = serape.Search(oracle)
        pcs, d_sep = de_pcs(search, target)
        sps = de_sps(search, target, pcs, d_sep)
        near = {oracle.variables.index(v) for v in (*graph.predecessors(name), *graph.successors(name))}
        spouses = {
            oracle.variables.index(p) for c in graph.successors(name) for p in graph.predecessors(c) if p != name
        }
        assert near <= set(pcs)
        assert spouses <= {*pcs, *sps}
        assert set(hpc(search, target)) == near


def test_an_instance_of_ones_own() -> None:
    """Any order of inclusion will do, checked or not: the framework eliminates at the end."""

    def backwards(near: Neighbourhood) -> Any:
        yield from (int(x) for x in near.dependents()[::-1])

    for rules in (GLL(backwards), GLL(backwards, interleaving=at_the_end), GLL(max_min), GLL(by_association)):
        assert serape.check_algorithm(rules.markov_blanket, cases=40, max_nodes=7) is None


def test_options_are_checked() -> None:
    with pytest.raises(serape.OptionError, match="order must be 'strength' or 'table'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="ipc-mb", order="size")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="finds must be"):
        serape.check_algorithm("hpc", finds="PC")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="no option 'semi'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="hiton-mb", semi=True)  # type: ignore[call-arg]
    with pytest.raises(serape.OptionError, match="'mmpc' finds parents and children only; for the blanket use one of"):
        serape.markov_blanket(clinic(100), "Age", algorithm="mmpc")


def test_order_of_ipc_mb_changes_the_number_of_tests_only() -> None:
    data = clinic(4000)
    answers = [
        serape.parents_children(data, "HeartDisease", algorithm="ipc-mb", order=o) for o in ("strength", "table")
    ]
    assert answers[0].members == answers[1].members


def pedigree(random: np.random.Generator, rows: int, children: int, nodes: int) -> dict[str, NDArray[np.int64]]:
    """Genotypes of a herd: the target has many children by eight mates; others have two parents of the herd."""

    def gamete(parent: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(parent == 1, random.integers(2, size=rows), parent // 2)

    herd = {"T": random.binomial(2, 0.5, rows), **{f"mate{k}": random.binomial(2, 0.5, rows) for k in range(8)}}
    for k in range(children):
        herd[f"child{k}"] = gamete(herd["T"]) + gamete(herd[f"mate{k % 8}"])
    founders = [f"founder{k}" for k in range(40)]
    herd |= {name: random.binomial(2, 0.5, rows) for name in founders}
    while len(herd) < nodes:
        one, other = random.choice(founders, 2, replace=False)
        herd[f"other{len(herd)}"] = gamete(herd[str(one)]) + gamete(herd[str(other)])
    return {name: herd[name] for name in random.permutation(list(herd)).tolist()}


@pytest.mark.parametrize("algorithm", ["pcmb", "hpc"])
def test_sixty_children_at_five_hundred_rows(algorithm: str) -> None:
    """Like node 435 of Pigs: no test needs more than reliability allows, however large the neighbourhood."""
    table = serape.Table(pedigree(np.random.default_rng(1), 500, 60, 441), kinds="categorical")
    found = serape.parents_children(table, "T", algorithm=algorithm, alpha=0.01)
    truth = {f"child{k}" for k in range(60)}
    assert len(truth & set(found.members)) >= 58
    assert len(set(found.members) - truth) <= 3
    assert max(found.tests_by_size) <= 3  # 500 rows >= 5 · (3−1)(3−1)·3^|Z|


# --- the wrapper -----------------------------------------------------------------------------------------------------


class TestWrapper:
    def test_leaves_out_what_is_not_missed(self) -> None:
        from sklearn.naive_bayes import BernoulliNB

        random = np.random.default_rng(3)
        t = random.integers(2, size=1500)
        data = {
            "t": t,
            "good": np.where(random.random(1500) < 0.05, 1 - t, t),
            "weak": np.where(random.random(1500) < 0.42, 1 - t, t),
            "weaker": np.where(random.random(1500) < 0.44, 1 - t, t),
        }
        found = serape.markov_blanket(data, "t", algorithm="pcmb")
        assert set(found.blanket) == {"good", "weak", "weaker"}
        smaller = serape.wrapper(data, found, BernoulliNB())
        assert smaller.blanket == ("good",)
        assert smaller.parents_children == ("good",)
        assert any("left out" in note and "'weak'" in note for note in smaller.notes)
        assert set(smaller.dropped) == {"weak", "weaker"}
        assert str(smaller.explain("weak")).startswith("weak was left out by the wrapper")
        assert found.blanket == ("good", "weak", "weaker")

    def test_keeps_what_is_missed(self) -> None:
        from sklearn.tree import DecisionTreeClassifier

        random = np.random.default_rng(4)
        a, b = random.integers(2, size=(2, 2000))
        t = np.where(random.random(2000) < 0.05, random.integers(2, size=2000), a & b)
        found = serape.markov_blanket({"a": a, "b": b, "t": t}, "t", algorithm="hiton-mb")
        kept = serape.wrapper(
            {"a": a, "b": b, "t": t}, found, DecisionTreeClassifier(random_state=0), scoring="accuracy"
        )
        assert kept.blanket == ("a", "b")
        assert any("each member is missed" in note for note in kept.notes)

    def test_bad_input(self) -> None:
        from sklearn.linear_model import LinearRegression
        from sklearn.naive_bayes import BernoulliNB

        found = serape.markov_blanket(clinic(500), "HeartDisease")
        with pytest.raises(serape.InputTypeError, match="needs a scikit-learn classifier"):
            serape.wrapper(clinic(500), found, LinearRegression())
        with pytest.raises(serape.InputTypeError, match="takes a Result"):
            serape.wrapper(clinic(500), "HeartDisease", BernoulliNB())  # type: ignore[arg-type]
        with pytest.raises(serape.DataError, match="no column 'HeartDisease'"):
            serape.wrapper({"x": [0, 1] * 50, "y": [0, 1] * 50}, found, BernoulliNB())
        with pytest.raises(serape.OptionError, match="rarest level"):
            serape.wrapper(clinic(500), found, BernoulliNB(), cv=400)
        with pytest.raises(serape.OptionError, match="tolerance"):
            serape.wrapper(clinic(500), found, BernoulliNB(), tolerance=-1)


# --- many targets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc"])
def test_shared_neighbourhoods_change_no_answer(algorithm: str) -> None:
    table = random_table(np.random.default_rng(21), 900, [2, 3, 2, 4] * 4, 0.6)
    alone = {name: serape.markov_blanket(table, name, algorithm=algorithm) for name in table.names}
    tests = []
    for n_jobs in (1, 3):
        together = serape.blankets(table, algorithm=algorithm, n_jobs=n_jobs)
        for name, result in together.items():
            assert result.blanket == alone[name].blanket
            assert result.parents_children == alone[name].parents_children
            assert result.spouses == alone[name].spouses
            assert str(result.explain(table.names[-1 if name != table.names[-1] else 0])) == str(
                alone[name].explain(table.names[-1 if name != table.names[-1] else 0])
            )
            assert result.evidence.to_pandas().equals(alone[name].evidence.to_pandas())
        tests.append(sum(result.tests for result in together.values()))
    assert tests[0] < sum(result.tests for result in alone.values()) / 2
    assert tests[0] == tests[1]  # no neighbourhood is found twice
    backwards = serape.blankets(table, targets=table.names[::-1], algorithm=algorithm)
    assert {name: result.blanket for name, result in backwards.items()} == {n: r.blanket for n, r in alone.items()}


def test_a_step_that_fails_is_tried_again_by_whoever_waits() -> None:
    memory = StepCache()

    def fail() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.recall("key", fail)
    search = serape.Search(serape.DSeparation(DAG_A), cache=memory)
    assert search.step("key", 0, lambda: 7) == 7
    assert search.step("key", 0, lambda: 8) == 7
