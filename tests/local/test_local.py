"""Algorithms: exact with the oracle, steady on data."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import random_dag, random_table, true_blanket
from serape.data.example import clinic, clinic_graph
from serape.local.registry import ALGORITHMS
from serape.types import Finds

FINDS: tuple[Finds, ...] = ("blanket", "parents-children")
BLANKET = [name for name, algorithm in ALGORITHMS.items() if algorithm.answers("blanket")]
SOUND = [
    (finds, name) for finds in FINDS for name, algorithm in ALGORITHMS.items()
    if algorithm.sound and algorithm.answers(finds) and name != "hpc-mb"  # which is hpc, asked for the blanket
]  # fmt: skip


def test_hpc_mb_is_hpc() -> None:
    assert ALGORITHMS["hpc-mb"].asked_for("blanket") is ALGORITHMS["hpc"].asked_for("blanket")


def ask(finds: Finds, data: Any, target: str | int, algorithm: str, **options: Any) -> serape.Result:
    """Ask an algorithm a question."""
    question = serape.markov_blanket if finds == "blanket" else serape.parents_children
    return question(data, target, algorithm=algorithm, **options)


def truth(finds: Finds, graph: nx.DiGraph[str], target: str) -> set[str]:
    if finds == "blanket":
        return true_blanket(graph, target)
    return set(graph.predecessors(target)) | set(graph.successors(target))


@cache
def dags(density: float, most_nodes: int) -> list[tuple[nx.DiGraph[str], serape.DSeparation]]:
    """Random DAGs, 1,700 targets in all, names and column orders shuffled; oracles remember what they were asked."""
    random = np.random.default_rng(int(1000 * density))
    drawn: list[tuple[nx.DiGraph[str], serape.DSeparation]] = []
    while sum(len(graph) for graph, _ in drawn) < 1700:
        graph = random_dag(random, int(random.integers(4, most_nodes + 1)), density)
        drawn.append((graph, serape.DSeparation(graph, [str(n) for n in random.permutation(list(graph))])))
    return drawn


@pytest.mark.parametrize(("density", "most_nodes"), [(0.1, 12), (0.25, 11), (0.5, 8)])
@pytest.mark.parametrize(("finds", "algorithm"), SOUND)
def test_exact_with_the_oracle(finds: Finds, algorithm: str, density: float, most_nodes: int) -> None:
    """Every node of many random DAGs: three densities, more than 5,000 targets in all."""
    for seed, (graph, oracle) in enumerate(dags(density, most_nodes)):
        for target in graph:
            found = ask(finds, oracle, target, algorithm, random_state=seed)
            assert set(found.members) == truth(finds, graph, target), (target, list(graph.edges))


@pytest.mark.parametrize(("finds", "algorithm"), SOUND)
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 7), density=st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_exact_on_any_dag(finds: Finds, algorithm: str, seed: int, nodes: int, density: float) -> None:
    random = np.random.default_rng(seed)
    graph = random_dag(random, nodes + 1, density)
    target = str(random.choice(list(graph)))
    found = ask(finds, serape.DSeparation(graph), target, algorithm)
    assert set(found.members) == truth(finds, graph, target)


@pytest.mark.parametrize("algorithm", BLANKET)
class TestOnData:
    def test_recovers_a_known_blanket(self, algorithm: str) -> None:
        found = serape.markov_blanket(clinic(20_000), "HeartDisease", algorithm=algorithm, alpha=0.01)
        assert set(found.blanket) == true_blanket(clinic_graph(), "HeartDisease")

    def test_column_order_does_not_matter(self, algorithm: str) -> None:
        data = clinic(3000, seed=1)
        random = np.random.default_rng(0)
        for target in ("HeartDisease", "Weight", "Ward"):
            answers = set()
            for _ in range(5):
                shuffled = {name: data[name] for name in random.permutation(list(data))}
                answers.add(frozenset(serape.markov_blanket(shuffled, target, algorithm=algorithm).blanket))
            assert len(answers) == 1

    def test_renamed_levels_do_not_matter(self, algorithm: str) -> None:
        data = clinic(3000, seed=2)
        renamed = {
            name: np.char.add(np.array(["z", "a", "m"])[np.char.str_len(column) % 3], column)
            for name, column in data.items()
        }
        one, other = (serape.markov_blanket(d, "HeartDisease", algorithm=algorithm) for d in (data, renamed))
        assert one.blanket == other.blanket
        assert one.tests == other.tests
        assert str(one.explain("Weight")) == str(other.explain("Weight"))

    def test_threads_do_not_matter(self, algorithm: str) -> None:
        table = random_table(np.random.default_rng(3), 1500, [2] * 900 + [3] * 100)
        answers = {serape.markov_blanket(table, 5, algorithm=algorithm, n_jobs=n).blanket for n in (1, 2, -1)}
        assert len(answers) == 1

    def test_constant_columns_never_enter(self, algorithm: str) -> None:
        data = {**clinic(500), "Same": np.full(500, "x")}
        found = serape.markov_blanket(data, "HeartDisease", algorithm=algorithm)
        assert "Same" not in found.blanket
        assert any("constant" in note and "'Same'" in note for note in found.notes)

    def test_few_rows_end_quickly_and_say_what_was_skipped(self, algorithm: str) -> None:
        table = random_table(np.random.default_rng(4), 9, [2, 3] * 25)
        found = serape.markov_blanket(table, 0, algorithm=algorithm)
        assert found.skipped > 0
        assert found.tests + found.skipped >= 49 - len(table.duplicates)  # by chance some are alike

    def test_two_columns(self, algorithm: str) -> None:
        x = np.arange(100) % 2
        assert serape.markov_blanket({"x": x, "t": x}, "t", algorithm=algorithm).blanket == ("x",)


def test_ties_break_by_order_or_at_random() -> None:
    """Three copies of one column: by default the first enters; with seeds, each does."""
    random = np.random.default_rng(5)
    t = random.integers(2, size=300)
    x = np.where(random.random(300) < 0.1, 1 - t, t)
    data = {"a": x, "b": x, "c": x, "t": t}
    assert serape.markov_blanket(data, "t", algorithm="iamb").blanket == ("a",)
    answers = {serape.markov_blanket(data, "t", algorithm="iamb", random_state=seed).blanket for seed in range(30)}
    assert answers == {("a",), ("b",), ("c",)}
    assert len({serape.markov_blanket(data, "t", algorithm="iamb", random_state=7).blanket for _ in range(5)}) == 1


def test_counts_of_iamb_by_hand() -> None:
    """T – A, and two unrelated: a screen of 3, a screen of 2 given A, one shrink test."""
    graph = nx.DiGraph([("T", "A")])
    graph.add_nodes_from("BC")
    found = serape.markov_blanket(serape.DSeparation(graph), "T", algorithm="iamb")
    assert found.blanket == ("A",)
    assert found.tests_by_size == {0: 3 + 1, 1: 2}
    assert found.tests == 6
    assert found.skipped == 0


def test_counts_of_gs_by_hand() -> None:
    """The order (3 tests), a sweep (A given nothing, B and C given A), another (B and C), one shrink test."""
    graph = nx.DiGraph([("T", "A")])
    graph.add_nodes_from("BC")
    found = serape.markov_blanket(serape.DSeparation(graph), "T", algorithm="gs")
    assert found.tests_by_size == {0: 3 + 1 + 1, 1: 2 + 2}


class TestOwnAlgorithm:
    def test_any_callable(self) -> None:
        def marginal(search: serape.Search, target: int) -> list[int]:
            return [int(x) for x in search.candidates(target) if search.dependent(int(x), target)]

        found = serape.markov_blanket(clinic(2000), "Ward", algorithm=marginal)
        assert found.algorithm == "marginal"
        assert found.tests == 13

    def test_names_will_do(self) -> None:
        found = serape.markov_blanket(clinic(100), "Ward", algorithm=lambda search, target: {"Age", "Smoking"})
        assert found.blanket == ("Age", "Smoking")

    @pytest.mark.parametrize("answer", [None, 3, "Age"])
    def test_nonsense_is_refused(self, answer: Any) -> None:
        with pytest.raises(serape.InputTypeError, match="must return the variables it found"):
            serape.markov_blanket(clinic(100), "Ward", algorithm=lambda search, target: answer)

    def test_the_target_is_no_member(self) -> None:
        with pytest.raises(serape.OptionError, match="returned the target"):
            serape.markov_blanket(clinic(100), "Ward", algorithm=lambda search, target: [target])

    def test_options_are_passed_on(self) -> None:
        def several(search: serape.Search, target: int, how_many: int) -> list[int]:
            del search, target
            return list(range(how_many))

        assert len(serape.markov_blanket(clinic(100), "Ward", algorithm=partial(several, how_many=3)).blanket) == 3
        named = serape.markov_blanket(clinic(100), "Ward", algorithm=several, how_many=3)  # type: ignore[call-arg]
        assert (len(named.blanket), named.algorithm) == (3, "several")


class TestBadUse:
    def test_unknown_algorithm(self) -> None:
        with pytest.raises(serape.OptionError, match="'imab' is not known. Did you mean 'iamb'"):
            serape.markov_blanket(clinic(100), "Ward", algorithm="imab")

    def test_unknown_target(self) -> None:
        with pytest.raises(serape.OptionError, match="no column 'Wards'. Did you mean 'Ward'"):
            serape.markov_blanket(clinic(100), "Wards")

    def test_constant_target(self) -> None:
        with pytest.raises(serape.DataError, match="target 't' is constant"):
            serape.markov_blanket({"t": [1, 1, 1], "x": [0, 1, 0]}, "t")

    def test_one_column(self) -> None:
        with pytest.raises(serape.DataError, match="one column"):
            serape.markov_blanket({"t": [1, 0, 1]}, "t")

    @pytest.mark.parametrize("alpha", [0, 1, -0.1, 5])
    def test_alpha(self, alpha: float) -> None:
        with pytest.raises(serape.OptionError, match="alpha must lie between 0 and 1"):
            serape.markov_blanket(clinic(100), "Ward", alpha=alpha)

    @pytest.mark.parametrize("n_jobs", [0, -2, 1.5, True])
    def test_n_jobs(self, n_jobs: Any) -> None:
        with pytest.raises(serape.OptionError, match="n_jobs"):
            serape.markov_blanket(clinic(100), "Ward", n_jobs=n_jobs)

    @pytest.mark.parametrize("bound", [-1, 2.5, True])
    def test_max_conditioning(self, bound: Any) -> None:
        with pytest.raises(serape.OptionError, match="max_conditioning"):
            serape.markov_blanket(clinic(100), "Ward", max_conditioning=bound)

    @pytest.mark.parametrize(
        "options",
        [{"alpha": "0.05"}, {"alpha": None}, {"random_state": -1}, {"random_state": "x"}, {"progress": "yes"},
         {"test": "bogus"}, {"dof": "bogus"}, {"reliability": "bogus"}],
    )  # fmt: skip
    def test_other_options(self, options: Any) -> None:
        for data in (clinic(100), serape.DSeparation(clinic_graph())):
            with pytest.raises(serape.OptionError):
                serape.markov_blanket(data, "Ward", **options)

    def test_a_misspelt_option(self) -> None:
        with pytest.raises(serape.OptionError, match="no option 'aplha' .it takes none.. Did you mean 'alpha'"):
            serape.markov_blanket(clinic(100), "Ward", algorithm="iamb", aplha=0.1)  # type: ignore[call-arg]
        with pytest.raises(serape.OptionError, match="it takes 'k'"):
            serape.markov_blanket(clinic(100), "Ward", algorithm="fast-iamb", kk=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_columns_called_by_numbers(algorithm: str) -> None:
    """An algorithm's positions are not taken for names, whatever columns are called."""
    data = clinic(2000)
    plain = serape.markov_blanket(data, "HeartDisease", algorithm)
    call = {name: str(len(data) - k) for k, name in enumerate(data)}
    found = serape.markov_blanket(
        {call[name]: values for name, values in data.items()}, call["HeartDisease"], algorithm
    )
    assert found.blanket == tuple(call[name] for name in plain.blanket)


@pytest.mark.parametrize(
    ("columns", "continuous", "finds", "algorithm"),
    [
        (40, False, "blanket", "hpc"),
        (40, False, "parents-children", "hpc"),
        (40, True, "blanket", "iamb"),
        (40, True, "parents-children", "hiton-pc"),
        (501, False, "blanket", "hiton-mb"),
        (501, True, "parents-children", "hiton-pc"),
    ],
)
def test_what_auto_is(columns: int, continuous: bool, finds: str, algorithm: str) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(30, columns)) if continuous else random.integers(2, size=(30, columns))
    ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
    assert ask(data, 0).algorithm == algorithm


def test_auto_asks_little_of_somebody_elses_test() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    assert serape.markov_blanket(serape.DSeparation(graph), "a").algorithm == "iamb"
    assert serape.parents_children(serape.DSeparation(graph), "a").algorithm == "inter-iapc"
