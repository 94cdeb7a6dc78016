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
    ("columns", "rows", "continuous", "finds", "algorithm"),
    [
        (40, 30, False, "blanket", "hpc"),
        (40, 30, False, "parents-children", "hpc"),
        (200, 100, False, "blanket", "hpc"),
        (201, 100, False, "blanket", "iamb"),
        (201, 100, False, "parents-children", "hiton-pc"),
        (201, 101, False, "blanket", "hpc"),
        (4, 100_001, False, "blanket", "iamb"),
        (4, 100_001, False, "parents-children", "hiton-pc"),
        (10, 200, True, "blanket", "boss-mb"),
        (150, 201, True, "blanket", "boss-mb"),
        (2, 50_001, True, "blanket", "iamb"),
        (151, 200, True, "blanket", "iamb"),
        (10, 201, True, "parents-children", "boss-mb"),
        (151, 201, True, "parents-children", "hiton-pc"),
        (501, 30, True, "blanket", "fbed"),
        (501, 30, True, "parents-children", "hiton-pc"),
    ],
)
def test_algorithm_that_auto_picks(columns: int, rows: int, continuous: bool, finds: str, algorithm: str) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(rows, columns)) if continuous else random.integers(2, size=(rows, columns))
    ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
    assert ask(data, 0).algorithm == algorithm


def test_level_and_rate_that_auto_picks() -> None:
    random = np.random.default_rng(0)
    data = random.integers(2, size=(200, 20))
    for algorithm in ("auto", "iamb", "hiton-mb"):
        found = serape.markov_blanket(data, 0, algorithm)
        assert (found.alpha, found.fdr) == (0.01, 0.2)
    assert serape.markov_blanket(data, 0, alpha=0.01).fdr is None
    assert serape.markov_blanket(data, 0, fdr=None).fdr is None


@pytest.mark.parametrize(
    ("rows", "continuous", "algorithm"), [(300, False, "hpc"), (50_001, False, "ges"), (300, True, "boss")]
)
def test_network_that_auto_picks(rows: int, continuous: bool, algorithm: str) -> None:
    random = np.random.default_rng(0)
    data = random.normal(size=(rows, 4)) if continuous else random.integers(2, size=(rows, 4))
    assert serape.network(data).algorithm == algorithm
    if not continuous:
        assert serape.network(data, score="bdeu").algorithm == "mmhc"


def test_auto_picks_few_tests_for_a_test_of_ones_own() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    assert serape.markov_blanket(serape.DSeparation(graph), "a").algorithm == "iamb"
    assert serape.parents_children(serape.DSeparation(graph), "a").algorithm == "inter-iapc"


def test_options_are_checked() -> None:
    with pytest.raises(serape.OptionError, match="order must be 'strength' or 'table'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="ipc-mb", order="size")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="symmetry must be True or False, not 'no'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="pcmb", symmetry="no")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="zero_dof must be 'skipped' or 'independent', not 0"):
        serape.markov_blanket(clinic(100), "Age", algorithm="pcmb", zero_dof=0)  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="order must be 'strength' or 'as-written', not 'table'"):
        serape.markov_blanket(clinic(100), "Age", algorithm="hpc", order="table")
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
