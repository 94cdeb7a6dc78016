"""IAMB: its tests counted by hand, ties, candidates ranked by information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from plain import random_dag, true_blanket
from serape.data.example import clinic
from serape.independence import G2
from serape.independence.base import IndependenceTest
from serape.independence.partial_correlation import PartialCorrelation
from serape.independence.registry import make_test


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


# --- candidates ranked by information --------------------------------------------------------------------------------


def counted_information(columns: NDArray[np.int64], x: int, y: int, given: Sequence[int]) -> float:
    """Return Σ p(x, y, z) ln [p(x, y, z) p(z) / (p(x, z) p(y, z))] of the shares of rows, in nats."""

    def entropy(*variables: int) -> float:
        cells = columns[:, list(variables)] @ 20 ** np.arange(len(variables))  # a number for each, of up to 20 levels
        shares = np.unique(cells, return_counts=True)[1] / len(columns)
        return -float((shares * np.log(shares)).sum())

    return entropy(x, *given) + entropy(y, *given) - entropy(x, y, *given) - (entropy(*given) if given else 0.0)


def residual_information(columns: NDArray[np.float64], x: int, y: int, given: Sequence[int]) -> float:
    """Return −½ ln(1 − r²), r being the correlation of the residuals of two regressions."""
    design = np.column_stack([np.ones(len(columns)), columns[:, list(given)]])
    left = [columns[:, v] - design @ np.linalg.lstsq(design, columns[:, v], rcond=None)[0] for v in (x, y)]
    return -0.5 * float(np.log1p(-(np.corrcoef(*left)[0, 1] ** 2)))


def plain_iamb(test: IndependenceTest, target: int, information: Any, interleaved: bool = False) -> set[int]:
    """IAMB or Inter-IAMB in the words of their paper, one test at a time."""
    blanket: list[int] = []
    seen: list[set[int]] = []

    def dependent(x: int, given: list[int]) -> bool | None:
        outcome = test.test(x, target, given)
        return outcome.p <= 0.05 if outcome.reliable else None

    def shrink() -> None:
        removed = True
        while removed:
            removed = False
            for x in list(blanket):
                if dependent(x, [z for z in blanket if z != x]) is False:
                    blanket.remove(x)
                    removed = True

    while True:
        outside = [x for x in range(len(test.variables)) if x != target and x not in blanket]
        reliable = [x for x in outside if dependent(x, blanket) is not None]
        best = max(reliable, key=lambda x: information(x, target, blanket), default=None)
        if best is None or not dependent(best, blanket):
            break
        blanket.append(best)
        if interleaved:
            shrink()
            if set(blanket) in seen:
                break
            seen.append(set(blanket))
    shrink()
    return set(blanket)


def check_note(found: serape.Result) -> bool:
    """Return whether dependent variables are left out; exactly then a note counts them."""
    left_out = [why for why in map(found.explain, found.evidence["variable"]) if why.p <= 0.05 and not why.included]
    notes = [note for note in found.notes if "most informative candidate" in note]
    assert bool(left_out) == bool(notes)
    for why in left_out:
        assert "It did not enter: the search ended because the most informative candidate" in str(why)
        assert f"{len(left_out)} less informative ones are dependent" in notes[0]
    return bool(left_out)


def test_ranked_by_information_against_a_plain_twin() -> None:
    """Columns of 2 to 11 levels, where the two ways to rank differ, and numbers, where they do not."""
    table = serape.load_network("hailfinder").sample(1500, seed=3)
    columns = np.stack([table.packed.codes(k) for k in range(len(table.names))], axis=1).astype(np.int64)
    test = G2(table)
    differ = noted = 0
    for target in range(0, len(table.names), 8):
        found = serape.markov_blanket(test, target, "iamb", alpha=0.05, rank="information")
        expected = [
            plain_iamb(test, target, lambda x, y, given: round(counted_information(columns, x, y, given), 12), how)
            for how in (False, True)
        ]
        assert set(found.blanket) == {table.names[x] for x in expected[0]}
        interleaved = serape.markov_blanket(test, target, "inter-iamb", alpha=0.05, rank="information", fdr=None)
        assert set(interleaved.blanket) == {table.names[x] for x in expected[1]}
        differ += set(found.blanket) != set(serape.markov_blanket(test, target, "iamb", alpha=0.05).blanket)
        noted += check_note(found)
    assert differ
    assert noted
    numbers = np.random.default_rng(4).normal(size=(150, 12))
    numbers[:, 1:] += numbers[:, :-1]
    for name in ("partial-correlation", "fisher-z"):
        for target in range(12):
            found = serape.markov_blanket(numbers, target, "iamb", test=name, alpha=0.05, rank="information")
            assert found.blanket == serape.markov_blanket(numbers, target, "iamb", test=name, alpha=0.05).blanket
            if name == "partial-correlation":
                exact = PartialCorrelation(serape.Table(numbers))
                members = plain_iamb(exact, target, lambda x, y, given: residual_information(numbers, x, y, given))
                assert set(found.blanket) == {f"x{x}" for x in members}


def test_information_of_every_test_that_has_it() -> None:
    random = np.random.default_rng(9)
    codes = random.integers(3, size=(400, 4))
    codes[:, 1] = np.where(random.random(400) < 0.4, codes[:, 0], codes[:, 1])
    numbers = random.normal(size=(200, 4))
    numbers[:, 1] += 0.7 * numbers[:, 0] - numbers[:, 2]
    for given in ((), (2,), (2, 3)):
        for data, names, expected in (
            (codes, ("g2", "g2-permutation", "g2-semiparametric"), counted_information(codes, 0, 1, given)),
            (
                numbers,
                ("partial-correlation", "fisher-z", "correlation-permutation"),
                residual_information(numbers, 0, 1, given),
            ),
        ):
            for name in names:
                test = make_test(serape.Table(data, kinds="categorical" if data is codes else "continuous"), name)
                screen = test.screen(1, [0], given)
                assert test.information(screen.statistic, screen.dof, test.rows) == pytest.approx([expected], rel=1e-9)


def test_information_with_weights_and_gaps() -> None:
    """Frequencies and equal survey weights give what rows give; gaps give each test its own number of rows."""
    data = clinic(600, seed=4)
    plain = serape.markov_blanket(data, "HeartDisease", "iamb", rank="information").blanket
    for kind in ("frequency", "survey"):
        equal: dict[str, Any] = {"sample_weight": np.full(600, 2.0 if kind == "survey" else 1.0), "weight_kind": kind}
        found = serape.markov_blanket(data, "HeartDisease", "iamb", rank="information", **equal)
        assert found.blanket == plain
    random = np.random.default_rng(2)
    t = random.integers(2, size=900)
    few = np.where(random.random(900) < 0.05, 1 - t, t).astype(object)  # more informative, on fewer rows
    few[random.random(900) < 0.6] = None
    gaps = {"few": few, "full": np.where(random.random(900) < 0.12, 1 - t, t), "t": t}
    for rank, member in (("information", "few"), ("significance", "full")):
        options: dict[str, Any] = {"rank": rank, "missing": "pairwise", "max_conditioning": 0, "kinds": "categorical"}
        assert serape.markov_blanket(gaps, "t", "iamb", **options).blanket == (member,)


def test_sound_if_ranked_by_information() -> None:
    random = np.random.default_rng(4)
    for _ in range(100):
        graph = random_dag(random, int(random.integers(3, 12)), random.random())
        oracle = serape.DSeparation(graph, [str(n) for n in random.permutation(list(graph))])
        for target in graph:
            for name in ("iamb", "inter-iamb"):
                found = serape.markov_blanket(oracle, target, name, rank="information")
                assert set(found.blanket) == true_blanket(graph, target)


def test_ties_of_information_break_by_order_or_at_random() -> None:
    random = np.random.default_rng(5)
    t = random.integers(2, size=300)
    x = np.where(random.random(300) < 0.1, 1 - t, t)
    data = {"a": x, "b": x, "t": t}
    assert serape.markov_blanket(data, "t", "iamb", rank="information").blanket == ("a",)
    seen = {serape.markov_blanket(data, "t", "iamb", rank="information", random_state=s).blanket for s in range(20)}
    assert seen == {("a",), ("b",)}


@pytest.mark.parametrize("test", ["x2", "trend", "x2-moments"])
def test_tests_without_information_are_refused(test: str) -> None:
    with pytest.raises(serape.OptionError, match=f"test '{test}' does not estimate mutual information; use rank="):
        serape.markov_blanket(clinic(300), "HeartDisease", "iamb", test=test, rank="information")


def test_rank_is_checked() -> None:
    with pytest.raises(serape.OptionError, match="rank must be 'significance' or 'information', not 'p'"):
        serape.markov_blanket(clinic(300), "HeartDisease", "iamb", rank="p")  # type: ignore[arg-type]
