"""GLL and PCD: against plain twins that enumerate every subset, and instances of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import PENA_2005_A, random_table
from serape.independence import G2
from serape.local.gll import GLL, Neighbourhood, at_the_end, by_association, gll_pc_nonsym, max_min
from serape.local.hiton import INTERLEAVED, SEMI_INTERLEAVED
from serape.local.max_min import MMPC
from serape.local.pcmb import pcd

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


def plain_pcd_zero_dof(plain: Plain) -> list[int]:
    with plain.search.read_as_independence("zero-dof"):
        return plain_pcd(plain)


Twin = tuple[Callable[[serape.Search, int], tuple[int, ...]], Callable[[Plain], list[int]]]
TWINS: dict[str, Twin] = {
    "hiton": (lambda s, t: gll_pc_nonsym(s, t, INTERLEAVED), plain_hiton),
    "semi-interleaved hiton": (lambda s, t: gll_pc_nonsym(s, t, SEMI_INTERLEAVED), lambda p: plain_hiton(p, True)),
    "mmpc": (lambda s, t: gll_pc_nonsym(s, t, MMPC), plain_mmpc),
    "pcd": (pcd, plain_pcd),
    "pcd, zero dof": (lambda s, t: pcd(s, t, "independent"), plain_pcd_zero_dof),
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
def test_shared_tests_change_no_answer(name: str, dof: Any) -> None:
    random = np.random.default_rng(11)
    for _ in range(12):
        rows = int(random.choice([150, 600, 2500]))
        table = random_table(random, rows, random.choice([2, 2, 3, 4, 9], 11).tolist(), 0.7)
        for target in range(0, 11, 3):
            same_as_plain(name, G2(table, dof), target, 0.05)


@pytest.mark.parametrize("name", ["pcd", "pcd, zero dof"])
def test_shared_tests_change_no_answer_where_columns_have_copies(name: str) -> None:
    """Copies, and columns that differ from them in a few rows: many tests have no degrees of freedom."""
    random = np.random.default_rng(3)
    for _ in range(6):
        drawn = random_table(random, 400, [2] * 7, 0.8)
        columns = np.column_stack([drawn.codes(k) for k in range(7)]).astype(int)
        changed = columns[:, 1:3] ^ (random.random((400, 2)) < 0.02)
        table = serape.Table(np.hstack([columns, columns[:, 1:3], changed]), kinds="categorical")
        for target in (0, 3, 5):
            same_as_plain(name, G2(table, "adjusted"), target, 0.05)


@pytest.mark.parametrize("name", TWINS)
def test_shared_tests_change_no_answer_on_alarm(name: str) -> None:
    alarm = serape.load_network("alarm")
    test = G2(alarm.sample(1500, 3), "adjusted")
    for target in range(0, 37, 4):
        same_as_plain(name, test, target, 0.01)


# --- results ---------------------------------------------------------------------------------------------------------


def test_a_variable_removed_by_symmetry_is_explained_from_the_other_side() -> None:
    found = serape.parents_children(serape.DSeparation(PENA_2005_A), "T", algorithm="hiton-pc")
    why = found.explain("S")
    assert not why.included
    assert why.separating_set is not None
    assert set(why.separating_set) in ({"Q", "R"}, {"Q", "P"})


def test_a_dropped_variable_is_not_considered_again() -> None:
    """An inclusion that insists, with positions as NumPy has them."""

    def insistent(near: Neighbourhood) -> Any:
        for _ in range(3):
            yield from near.dependents()

    chain = nx.DiGraph([("A", "B"), ("B", "C")])
    rules = GLL(insistent)
    assert serape.markov_blanket(serape.DSeparation(chain), "A", algorithm=rules.markov_blanket).blanket == ("B",)
    assert serape.check_algorithm(rules.markov_blanket, cases=30, max_nodes=6) is None


def test_an_instance_of_ones_own() -> None:
    """Any order of inclusion will do, checked or not: the framework eliminates at the end."""

    def backwards(near: Neighbourhood) -> Any:
        yield from (int(x) for x in near.dependents()[::-1])

    for rules in (GLL(backwards), GLL(backwards, interleaving=at_the_end), GLL(max_min), GLL(by_association)):
        assert serape.check_algorithm(rules.markov_blanket, cases=40, max_nodes=7) is None
