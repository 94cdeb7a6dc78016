"""Ways of counting, and the plain engine: the same answers to random questions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from plain import PlainContingency, random_table
from serape import _core
from serape.independence import G2, X2, DofRule, IndependenceTest, ReliabilityRule
from serape.independence.screens import CandidateGroups
from serape.independence.subset_query import SubsetQuery

STRATEGIES = ("automatic", "panels", "planes", "scatter", "ones")


def attack(seed: int) -> str:
    """Ask random questions about one random table."""
    random = np.random.default_rng(seed)
    rows = int(random.choice([2, 3, 31, 64, 65, 200, 512, 513, 1500, 5000]))
    columns = int(random.choice([3, 8, 40, 150, 700]))
    levels = random.choice([1, 2, 2, 2, 2, 3, 4, 5, 8, 9, 30, 260], columns).tolist()
    if random.random() < 0.3:
        levels = [2] * columns
    table = random_table(random, rows, levels, float(random.random()))
    dofs: tuple[DofRule, ...] = ("full", "adjusted")
    reliabilities: tuple[ReliabilityRule, ...] = ("dof", "cells", None)
    dof, reliability = dofs[random.integers(2)], reliabilities[random.integers(3)]
    name, native = ("g2", G2) if random.random() < 0.7 else ("x2", X2)
    test = native(table, dof, reliability)
    plain = PlainContingency(table, name, dof, reliability)
    _core.use_instruction_set(str(random.choice(_core.instruction_sets())))
    for _ in range(6):
        order = random.permutation(columns)
        size = int(random.integers(min(columns - 1, 7)))
        target, given = int(order[0]), tuple(int(z) for z in order[1 : 1 + size])
        candidates = np.sort(order[1 + size :]).astype(np.uint32)
        reference = test.screen(target, candidates, given, strategy="sparse")
        threads = int(random.integers(1, 4))
        for strategy in STRATEGIES:
            found = test.screen(target, candidates, given, strategy=strategy, threads=threads)
            assert found.statistic.tobytes() == reference.statistic.tobytes(), (seed, strategy)
            assert found.dof.tobytes() == reference.dof.tobytes(), (seed, strategy)
            assert found.reliable.tobytes() == reference.reliable.tobytes(), (seed, strategy)
        for index in random.choice(len(candidates), min(5, len(candidates)), replace=False):
            expected = plain.test(int(candidates[index]), target, given)
            assert expected.reliable == reference.reliable[index], seed
            if expected.reliable:
                assert math.isclose(expected.statistic, reference.statistic[index], rel_tol=1e-9, abs_tol=1e-7), seed
                assert expected.dof == reference.dof[index], seed
        pool = [int(z) for z in order[1:6]]
        xs = [int(x) for x in order[4:8]]
        stop = math.log(0.05) if random.random() < 0.5 else None
        per_x = random.random() < 0.5
        options: dict[str, Any] = {
            "stop_above": stop,
            "fixed": [int(z) for z in order[8 : 8 + random.integers(2)]],
            "n_exhausted": random.integers(-1, len(pool) + 1, len(xs)).tolist()
            if per_x
            else int(random.integers(-1, 3)),
            "shrinking": random.random() < 0.3,
            "until_survivor": random.random() < 0.3,
        }
        if random.random() < 0.3:
            pool = [int(z) for z in order[1 : int(random.choice([40, 140]))]]
            xs, options["shrinking"], options["n_exhausted"] = pool[::-1], True, -1
        query = SubsetQuery(xs, target, pool, range(2 if len(pool) > 5 else 4), **options)
        subsets = [test.search_subsets(query, threads=n) for n in (1, threads)]
        subsets.append(IndependenceTest.search_subsets(test, query))
        assert len({repr(list(found)) for found, _ in subsets}) == 1, seed
        assert all(tally == subsets[0][1] for _, tally in subsets), seed
        sweeps = [
            ask(xs, target, pool[:6], math.log(0.05))
            for ask in (test.test_each_given_rest, partial(IndependenceTest.test_each_given_rest, test))
        ]
        assert repr(list(sweeps[0][0])) == repr(list(sweeps[1][0])), seed
        assert sweeps[0][1] == sweeps[1][1], seed
        if columns >= 40:
            groups = CandidateGroups(
                [(xs, ()), (pool[:3], order[8:9].tolist()), (order[10:40].tolist(), order[8:10].tolist())]
            )
            also = int(order[9])
            screens = [test.screens(target, groups, also, threads=n) for n in (1, threads)]
            screens.append(IndependenceTest.screens(test, target, groups, also))
            assert len({(s.statistic.tobytes(), s.dof.tobytes(), s.reliable.tobytes()) for s, _ in screens}) == 1, seed
            assert all(tally == screens[0][1] for _, tally in screens), seed
    return "equal"
