"""Options that run an algorithm as its paper has it: exact with the oracle, and as literal versions have it on data."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import serape
from oracle import VARIANTS, Variant, hunt
from plain import PENA_2005_A, random_table
from serape.independence import G2
from serape.local.hpc import de_pcs, de_sps
from serape.types import Unclear


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_right_with_the_oracle(variant: Variant) -> None:
    """A small share of `make oracle`."""
    assert not any(hunt([variant], seed=1, numbers=range(40)).values())


def test_without_symmetry_pcmb_is_pcd_and_not_sound() -> None:
    oracle = serape.DSeparation(PENA_2005_A)
    assert set(serape.parents_children(oracle, "T", "pcmb").members) == {"Q"}
    one, other = (
        serape.parents_children(oracle, "T", "pcmb", symmetry=False),
        serape.parents_children(oracle, "T", "PCD"),
    )
    assert set(one.members) == set(other.members) == {"Q", "S"}
    wrong = serape.check_algorithm("pcd", cases=0)
    assert wrong is not None
    assert wrong.finds == "parents-children"
    assert set(wrong.found) > set(wrong.truth)
    with pytest.raises(serape.OptionError, match="'pcd' finds parents and children only"):
        serape.markov_blanket(oracle, "T", "pcd")


def test_one_side_of_pcd_is_enough_under_or() -> None:
    oracle = serape.DSeparation(PENA_2005_A)
    assert serape.skeleton(oracle, "pcd", rule="and").graph.number_of_edges() == PENA_2005_A.number_of_edges()
    assert serape.skeleton(oracle, "pcd", rule="or").graph.has_edge("T", "S")


def test_a_copy_separates_if_zero_dof_means_independence() -> None:
    """Given its copy a column does not vary: no degrees of freedom, and by the letter no dependence."""
    random = np.random.default_rng(0)
    x = random.integers(2, size=500)
    y = x ^ (random.random(500) < 0.1)
    data = serape.Table({"x": x, "copy": x, "y": y, "z": random.integers(2, size=500)}, kinds="categorical")
    asked: dict[str, Any] = {
        "algorithm": "pcd",
        "random_state": 0,
        "alpha": 0.01,
    }  # with a random state both copies are candidates
    assert set(serape.parents_children(data, "y", **asked).members) == {"x", "copy"}
    found = serape.parents_children(data, "y", zero_dof="independent", **asked)
    assert len(found.members) == 1
    assert any("without degrees of freedom were read as independence" in note for note in found.notes)
    assert found.skipped > 0


# --- hpc, as Algorithms 3 and 4 are written ---------------------------------------------------------------------------


class Plain:
    """Algorithms 3 and 4 of Rodrigues de Morais and Aussem, line by line."""

    def __init__(self, test: G2, target: int, alpha: float, unreliable: Unclear) -> None:
        self.test, self.target, self.alpha, self.unreliable = test, target, alpha, unreliable

    def independent(self, x: int, *given: int) -> bool:
        outcome = self.test.answer(x, self.target, given)
        return outcome.p > self.alpha if outcome.reliable else self.unreliable == "independent"

    def dependent(self, x: int, *given: int) -> bool:
        outcome = self.test.answer(x, self.target, given)
        return outcome.reliable and outcome.p <= self.alpha

    def de_pcs(self) -> tuple[list[int], dict[int, tuple[int, ...]]]:
        others = [x for x in range(len(self.test.variables)) if x != self.target]
        d_sep: dict[int, tuple[int, ...]] = {x: () for x in others if self.independent(x)}
        pcs = [x for x in others if self.dependent(x)]
        for x in list(pcs):
            for y in [y for y in pcs if y != x]:
                if self.independent(x, y):
                    pcs.remove(x)
                    d_sep[x] = (y,)
                    break
        return pcs, d_sep

    def de_sps(self, pcs: list[int], d_sep: dict[int, tuple[int, ...]]) -> set[int]:
        sps: set[int] = set()
        for x in pcs:
            of_x = [y for y in sorted(d_sep) if x not in d_sep[y] and self.dependent(y, *d_sep[y], x)]
            for y in list(of_x):
                if any(self.independent(y, x, z) for z in of_x if z != y):
                    of_x.remove(y)
            sps.update(of_x)
        return sps


@pytest.mark.parametrize("unreliable", ["skipped", "independent"])
def test_hpc_as_written(unreliable: Unclear) -> None:
    random = np.random.default_rng(5)
    read = 0
    for rows in (60, 150, 400) * 4:
        table = random_table(random, rows, random.choice([2, 2, 3, 4], 25).tolist(), 0.7)
        test = G2(table, "full")
        plain = Plain(test, 0, 0.05, unreliable)
        expected, d_sep = plain.de_pcs()
        search = serape.Search(test, alpha=0.05)
        with search.read_as_independence("all" if unreliable == "independent" else None):
            pcs, separated = de_pcs(search, 0, "as-written")
            sps = de_sps(search, 0, pcs, separated, "as-written")
        assert pcs == expected
        assert {x: given for given, xs in separated.items() for x in map(int, xs)} == d_sep
        assert set(sps) == plain.de_sps(expected, d_sep)
        read += search.tally.skipped
    assert read > 0


def test_options_of_hpc_change_answers_on_few_rows() -> None:
    rows = serape.load_network("insurance").sample(200, 0)
    asked: tuple[dict[str, Any], ...] = ({}, {"order": "as-written"}, {"unreliable": "independent"})
    answers = [
        {x: found.members for x, found in serape.blankets(rows, algorithm="hpc", dof="full", **options).items()}
        for options in asked
    ]
    assert all(one != other for one, other in combinations(answers, 2))
