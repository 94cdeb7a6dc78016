"""The dependent pairs of columns of few levels, against a screen for each target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from serape import _core
from serape.independence import G2, X2
from serape.independence import dependent_pairs as module
from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import DependentBlocks, find_dependent_pairs
from serape.parallel import marginals as parallel
from serape.parallel.marginals import marginal_tests, shared_tests
from serape.search.separations import Separations

RULES: dict[str, Any] = {
    "dof": st.sampled_from(["full", "adjusted"]),
    "reliability": st.sampled_from(["dof", "cells", None]),
}


def drawn(seed: int, rows: int, columns: int) -> serape.Table:
    random = np.random.default_rng(seed)
    causes = random.random((2 * rows, 2))
    codes = np.empty((2 * rows, columns), np.uint8)
    for k in range(columns):
        cuts = np.sort(random.random(int(random.integers(8))) ** random.integers(1, 4))
        codes[:, k] = np.searchsorted(cuts, 0.6 * random.random(2 * rows) + 0.4 * causes[:, k % 2])
    table = serape.Table(codes, kinds={f"x{k}": "categorical" for k in range(columns)})
    return table.part(range(columns), np.arange(rows))  # some levels have lost their rows


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([9, 60, 400]), alpha=st.sampled_from([0.3, 0.01]), **RULES)
@settings(max_examples=40, deadline=None)
def test_screens_against_their_twin(seed: int, rows: int, alpha: float, dof: Any, reliability: Any) -> None:
    test = G2(drawn(seed, rows, 40), dof, reliability)
    random = np.random.default_rng(seed)
    targets = test.table.varying
    found = find_dependent_pairs(test, targets, math.log(alpha), threads=1 + seed % 2)
    if 2 * len(targets) < 40:
        assert found is None
        return
    assert found is not None
    expected = IndependenceTest.marginals(test, targets)
    assert list(found) == targets
    assert found.tests == shared_tests(expected)
    some = np.flatnonzero(random.random(40) < 0.8).astype(np.uint32)
    for target in targets:
        assert found[target].performed == expected[target].performed
        for candidates in (some[some != target], random.permutation(some[some != target])):
            for log_alpha in (math.log(alpha), math.log(0.1)):
                one, other = found[target].part(candidates), expected[target].part(candidates)
                assert one.performed == other.performed
                assert [part.tolist() for part in one.partition(log_alpha)] == [
                    part.tolist() for part in other.partition(log_alpha)
                ]
                assert one.at(one.partition(log_alpha)[0]).each() == other.at(other.partition(log_alpha)[0]).each()
                assert one.dependents(log_alpha) == other.dependents(log_alpha)
                ranked, independent = one.ranked_split(log_alpha)
                assert (ranked, independent.tolist()) == (
                    other.ranked_split(log_alpha)[0],
                    other.ranked_split(log_alpha)[1].tolist(),
                )
            assert found[target].part(candidates).strongest() == expected[target].part(candidates).strongest()
            assert found[target].part(candidates).each() == expected[target].part(candidates).each()


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([9, 60, 400]), most=st.sampled_from([1, 30, 300]), **RULES)
@settings(max_examples=40, deadline=None)
def test_blocks_are_the_same(seed: int, rows: int, most: int, dof: Any, reliability: Any) -> None:
    test = G2(drawn(seed, rows, 40), dof, reliability)
    targets = np.random.default_rng(seed).permutation(40).tolist()
    level = math.log(0.2)
    whole = find_dependent_pairs(test, targets, level)
    assert whole is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MAX_PAIRS", most)
        blocks = DependentBlocks(test, targets, level, threads=1 + seed % 2)
        found = list(blocks)
    assert blocks.tests == whole.tests
    assert [target for block in found for target in block] == targets
    assert len(found) > 1
    for block in found:
        for target in block:
            for part in ("xs", "statistic", "dof"):
                assert getattr(block.known(target), part).tolist() == getattr(whole.known(target), part).tolist()


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_with_too_many_pairs_are_divided(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    many = G2(serape.Table((np.arange(3000)[:, None] % 2).repeat(200, axis=1).astype(np.uint8)))
    monkeypatch.setattr(module, "_MAX_PAIRS", 1000)
    found = list(DependentBlocks(many, range(200), math.log(0.01), threads))
    assert [target for block in found for target in block] == list(range(200))
    assert all(len(block) * 199 <= 1000 for block in found)
    assert all(
        block.known(target).xs.tolist() == [x for x in range(200) if x != target] for block in found for target in block
    )


@pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "hpc", "pc-stable"])
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("most", [0, 500])
def test_skeletons_in_blocks_are_the_same(
    algorithm: str, jobs: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = serape.load_network("alarm").tile(2, 1).sample(400, seed=1)
    expected = serape.skeleton(table, algorithm, alpha=0.01)
    monkeypatch.setattr(parallel, "MAX_SHARED", 1)
    monkeypatch.setattr(module, "_MAX_PAIRS", most)
    found = serape.skeleton(table, algorithm, alpha=0.01, n_jobs=jobs)
    assert list(found.evidence) == list(expected.evidence)
    assert list(found.separating_sets.items()) == list(expected.separating_sets.items())
    if algorithm != "hpc":
        assert (found.tests, found.tests_by_size, found.skipped) == (
            expected.tests,
            expected.tests_by_size,
            expected.skipped,
        )


@pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "hpc", "pc-stable"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_skeletons_are_the_same(algorithm: str, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = serape.load_network("alarm").sample(400, seed=1)
    expected = serape.skeleton(table, algorithm, alpha=0.01)
    monkeypatch.setattr(parallel, "MAX_SHARED", 1)
    found = serape.skeleton(table, algorithm, alpha=0.01, n_jobs=jobs)
    assert found.edges == expected.edges
    assert list(found.separating_sets.items()) == list(expected.separating_sets.items())
    if jobs == 1:
        assert (found.tests, found.skipped) == (expected.tests, expected.skipped)


def test_what_is_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn(1, 300, 20)
    targets, level = table.varying, math.log(0.05)
    assert find_dependent_pairs(X2(table), targets, level) is None
    assert find_dependent_pairs(G2(table), targets[:3], level) is None
    assert find_dependent_pairs(G2(table), targets, level) is not None
    wide = serape.Table({"a": np.arange(300) % 9, "b": np.arange(300) % 2}, kinds={"a": "categorical"})
    assert find_dependent_pairs(G2(wide), [0, 1], level) is None
    monkeypatch.setattr(module, "_MAX_PAIRS", 0)
    many = serape.Table((np.arange(3000)[:, None] % 2).repeat(60, axis=1).astype(np.uint8))
    assert find_dependent_pairs(G2(many), range(60), level) is None
    monkeypatch.setattr(parallel, "MAX_SHARED", 1)
    assert marginal_tests(G2(many), range(60), log_alpha=level) == {}


@given(seed=st.integers(0, 10**6), size=st.sampled_from([1, 40, 64, 65, 300]), share=st.sampled_from([0.5, 0.97, 1.0]))
@settings(max_examples=60, deadline=None)
def test_separated_batches(seed: int, size: int, share: float) -> None:
    random = np.random.default_rng(seed)
    xs = np.flatnonzero(random.random(size) < share).astype(np.uint32)
    found = Separations()
    found.add_batch(xs, size, None, ((7,),))
    assert [x for x in range(size) if found.get(x, size) == (7,)] == xs.tolist()
    assert found.get(size + 1, size) is None


def test_blocks_of_a_table_that_has_grown_know_their_own_columns_alone() -> None:
    random = np.random.default_rng(0)
    table = _core.PackedTable(65)
    for _ in range(4):
        table.append(random.integers(0, 2, 65).astype(np.uint16), 2)
    test = _core.ContingencyTest(table, "g2", "full", "dof", 5.0)
    blocks = _core.PairBlocks(test, [0, 1, 2, 3], -3.0)
    table.append(random.integers(0, 2, 65).astype(np.uint16), 2)
    with pytest.raises(IndexError):
        blocks.of([3, 4], 5)
