"""The evidence of an answer: complete, and never against the answer."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import serape
from serape.data.example import clinic
from serape.local.registry import ALGORITHMS
from serape.results.explanation import Explanation
from serape.types import Finds

FINDS: tuple[Finds, ...] = ("blanket", "parents-children")
ALL = [(finds, name) for finds in FINDS for name, algorithm in ALGORITHMS.items() if algorithm.answers(finds)]


@cache
def alarm(rows: int) -> serape.Table:
    return serape.load_network("alarm").sample(rows, 3)


def verdict(why: Explanation, found: serape.Result) -> str:
    """Return what the deciding test of a variable shows."""
    if why.given is None or not why.reliable:
        return "nothing"
    return "dependence" if why.log_p <= math.log(found.alpha) else "independence"


@pytest.mark.parametrize("rows", [100, 300, 1000])
@pytest.mark.parametrize(("finds", "algorithm"), ALL)
def test_no_explanation_contradicts_the_answer(finds: Finds, algorithm: str, rows: int) -> None:
    """A dependent variable is out only where the search ended early: in a cycle, or by dropping what it had added."""
    table = alarm(rows)
    question = serape.markov_blanket if finds == "blanket" else serape.parents_children
    for target in table.names:
        found = question(table, target, algorithm, alpha=0.05)
        said = any(" stopped" in note or "the search ended because" in note for note in found.notes)
        ended = algorithm == "inter-iamb-npc" or said
        for variable in set(table.names) - {target}:
            why = found.explain(variable)
            assert why.included == (variable in found.members)
            if why.included:
                assert verdict(why, found) == "dependence", str(why)
            elif verdict(why, found) == "dependence":
                assert ended, str(why)
                assert "It did not enter: " in str(why)


@pytest.mark.parametrize(("finds", "algorithm"), ALL)
def test_known_members_alone_may_be_independent(finds: Finds, algorithm: str) -> None:
    table = alarm(300)
    question = serape.markov_blanket if finds == "blanket" else serape.parents_children
    independent = set()
    for target in table.names:
        known = [name for name in ("HISTORY", "PAP") if name != target]
        found = question(table, target, algorithm, known_members=known)
        assert set(known) <= set(found.members)
        independent |= {name for name in found.members if verdict(found.explain(name), found) == "independence"}
    assert independent <= {"HISTORY", "PAP"}


@pytest.mark.parametrize("algorithm", ["mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc", "hpc-mb"])
class TestResults:
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
