"""IPC-MB and DOS: against plain twins, one test at a time; the order in which candidates are tested."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import serape
from plain import random_table
from serape.data.example import clinic
from serape.independence import G2
from serape.local.dos import gen_cpc
from serape.local.ipc_mb import candidates


def test_order_of_ipc_mb_changes_the_number_of_tests_only() -> None:
    data = clinic(4000)
    answers = [
        serape.parents_children(data, "HeartDisease", algorithm="ipc-mb", order=o) for o in ("strength", "table")
    ]
    assert answers[0].members == answers[1].members


class Plain:
    """The candidates for parents and children of one target, by single tests, which are counted."""

    def __init__(self, test: G2, target: int, alpha: float) -> None:
        self.test, self.target, self.alpha = test, target, alpha
        self.tests = 0
        marginal = {x: test.answer(x, target) for x in range(len(test.variables)) if x != target}
        self.tests += sum(outcome.reliable for outcome in marginal.values())
        self.adjacent = sorted(
            (x for x, outcome in marginal.items() if outcome.reliable and outcome.p <= alpha),
            key=lambda x: (marginal[x].log_p, -marginal[x].statistic, x),
        )

    def separating(self, x: int, pool: Sequence[int], size: int) -> tuple[tuple[int, ...] | None, float]:
        """Return the first set of a size that separates x from the target, and the largest log p so far."""
        largest = -math.inf
        for given in combinations(pool, size):
            outcome = self.test.answer(x, self.target, given)
            if outcome.reliable:
                self.tests += 1
                largest = max(largest, outcome.log_p)
                if outcome.p > self.alpha:
                    return given, largest
        return None, largest

    def ipc_mb(self, order: str) -> list[int]:
        """Remove separated variables at the end of the pass through each size."""
        adjacent = self.adjacent if order == "strength" else sorted(self.adjacent)
        size = 1
        while size < len(adjacent):
            pools = {x: [z for z in adjacent if z != x] for x in adjacent}
            adjacent = [x for x in adjacent if self.separating(x, pools[x], size)[0] is None]
            size += 1
        return adjacent

    def dos(self) -> list[int]:
        """GenCPC: the largest p first, sets by Freq, and removal at once."""
        adjacent, freq = list(self.adjacent), Counter[int]()
        waiting = adjacent[::-1]
        size = 1
        while size < len(adjacent):
            p: dict[int, float] = {}
            for x in waiting:
                given, p[x] = self.separating(x, sorted((z for z in adjacent if z != x), key=lambda z: -freq[z]), size)
                if given is not None:
                    adjacent.remove(x)
                    freq.update(given)
            waiting = sorted((x for x in waiting if x in adjacent), key=lambda x: -p[x])
            size += 1
        return adjacent


Fast = Callable[[serape.Search, int], tuple[int, ...]]
TWINS: dict[str, tuple[Fast, Callable[[Plain], list[int]]]] = {
    "ipc-mb": (lambda search, target: candidates(search, target, "strength"), lambda plain: plain.ipc_mb("strength")),
    "ipc-mb, table": (lambda search, target: candidates(search, target, "table"), lambda plain: plain.ipc_mb("table")),
    "dos": (gen_cpc, Plain.dos),
}


@pytest.mark.parametrize("dof", ["full", "adjusted"])
@pytest.mark.parametrize("name", TWINS)
def test_against_a_plain_twin(name: str, dof: Any) -> None:
    """The same variables in the same order, by as many tests."""
    fast, slow = TWINS[name]
    random = np.random.default_rng(7)
    tables = [random_table(random, rows, random.choice([2, 2, 3, 4, 9], 10).tolist(), 0.7) for rows in (150, 600) * 3]
    sample = serape.load_network("alarm").sample(500, 3)
    for table, targets in [(table, range(0, 10, 3)) for table in tables] + [(sample, range(0, 37, 9))]:
        for target in targets:
            plain = Plain(G2(table, dof), target, 0.05)
            search = serape.Search(G2(table, dof), alpha=0.05)
            assert list(fast(search, target)) == slow(plain)
            assert search.tally.performed == plain.tests
