"""The registry: which algorithm a name stands for, which questions it answers, which options it takes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import serape
from serape.data.example import clinic
from serape.local.registry import ALGORITHMS


def test_hpc_mb_is_hpc() -> None:
    assert ALGORITHMS["hpc-mb"].asked_for("blanket") is ALGORITHMS["hpc"].asked_for("blanket")


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
def test_algorithm_that_auto_picks(columns: int, continuous: bool, finds: str, algorithm: str) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(30, columns)) if continuous else random.integers(2, size=(30, columns))
    ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
    assert ask(data, 0).algorithm == algorithm


def test_auto_picks_few_tests_for_a_test_of_ones_own() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    assert serape.markov_blanket(serape.DSeparation(graph), "a").algorithm == "iamb"
    assert serape.parents_children(serape.DSeparation(graph), "a").algorithm == "inter-iapc"


def test_options_are_checked() -> None:
    with pytest.raises(serape.OptionError, match="order must be 'strength' or 'table'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="ipc-mb", order="size")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="finds must be"):
        serape.check_algorithm("hpc", finds="PC")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="no option 'semi'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="hiton-mb", semi=True)  # type: ignore[call-arg]
    with pytest.raises(serape.OptionError, match="'mmpc' finds parents and children only; for the blanket use one of"):
        serape.markov_blanket(clinic(100), "Age", algorithm="mmpc")


def test_an_algorithm_answers_its_own_question_only() -> None:
    with pytest.raises(serape.OptionError, match="'inter-iapc' finds parents and children only"):
        serape.markov_blanket(clinic(100), "Age", algorithm="inter-iapc")
    with pytest.raises(serape.OptionError, match="'iamb' finds the blanket only"):
        serape.parents_children(clinic(100), "Age", algorithm="iamb")
