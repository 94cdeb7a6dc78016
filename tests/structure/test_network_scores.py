"""What the scores of the core answer searches: the bits of families scored one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import serape
from plain_correlations import table_of
from plain_scores import mixed_table
from serape.structure.gaussian_score import BGe, GaussianBIC, GaussianEBIC
from serape.structure.mixed_score import ConditionalGaussianBIC, ConditionalGaussianEBIC
from serape.structure.scores import SCORES, NativeScore


def number_tables(seed: int) -> list[serape.Table]:
    """Return tables of numbers: far from singular, and with copies, sums and constants."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(12, 400))
    weights = np.triu(random.normal(size=(10, 10)) * (random.random((10, 10)) < 0.4), 1)
    data = random.normal(size=(rows, 10)) @ np.linalg.inv(np.eye(10) - weights)
    singular = data.copy()
    singular[:, 3], singular[:, 5] = singular[:, 2], 1.0
    singular[:, 7] = singular[:, 8] + singular[:, 9] + 1e-4 * random.normal(size=rows)
    return [table_of(data), table_of(singular)]


def mixture(seed: int) -> serape.Table:
    """Return a table of categories and numbers."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(90, 11)), columns=[f"v{k}" for k in range(11)])
    for k in range(0, 10, 2):
        frame[f"v{k}"] = [f"l{code}" for code in random.integers(3, size=90) + (frame[f"v{k + 1}"] > 0)]
    return serape.Table(frame)


def every_score(seed: int) -> list[NativeScore]:
    """Return the scores of the core on small tables."""
    numbers = [kind(table) for table in number_tables(seed) for kind in (GaussianBIC, GaussianEBIC, BGe)]
    counted = [SCORES[kind](mixed_table(65)) for kind in SCORES]
    mixtures = [kind(mixture(seed)) for kind in (ConditionalGaussianBIC, ConditionalGaussianEBIC)]
    return [*numbers, *counted, *mixtures]


@pytest.mark.parametrize("seed", range(8))
def test_removals_and_raising_candidates_have_the_bits_of_families(seed: int) -> None:
    random = np.random.default_rng(seed)
    for score in every_score(seed):
        native, least = score._native, score.rounding
        for _ in range(12):
            child, *others = random.permutation(len(score.variables))[:10].tolist()
            parents, candidates = np.split(np.array(others, np.uint32), [int(random.integers(8))])
            removed = [[x for x in parents.tolist() if x != y] for y in parents.tolist()]
            given = parents.tolist()
            assert native.removals(child, given).tolist() == native.families(child, removed).tolist()
            own = native.families(child, [given])[0]
            after = native.additions_of_many([child], [candidates], [given])
            raising = after > own + least
            for threads in (1, 3):
                found = native.raising(child, candidates, given, least, threads)
                assert found[0] == own
                assert found[1].tolist() == candidates[raising].tolist()
                assert found[2].tolist() == after[raising].tolist()


@pytest.mark.parametrize("columns", [31, 32, 33, 64, 90])
def test_candidates_picked_from_whole_rows_are_all_that_raise(columns: int, instruction_set: str) -> None:
    """Where there are many candidates, one pass picks those that can raise the score, which are then scored."""
    del instruction_set
    random = np.random.default_rng(columns)
    raised = 0
    for rows, kind in ((40, GaussianBIC), (300, GaussianEBIC), (5000, GaussianBIC), (300, BGe)):
        weights = np.triu(random.normal(size=(columns, columns)) * (random.random((columns, columns)) < 0.1), 1)
        data = random.normal(size=(rows, columns)) @ np.linalg.inv(np.eye(columns) - weights)
        data[:, 3], data[:, 5] = data[:, 2], 1.0
        data[:, 7] = data[:, 8] + data[:, 9] + 1e-5 * random.normal(size=rows)
        score = kind(table_of(data))
        for k in range(60):
            child, *others = random.permutation(columns).tolist()
            parents, candidates = others[: k % 12], np.array(others[k % 12 :], np.uint32)
            own = score.family(child, parents)
            after = score.additions(child, candidates, parents)
            for least in (score.rounding, float(np.sort(after)[-2] - own)):
                found = score._native.raising(child, candidates, parents, least)
                assert found[0] == own
                assert found[1].tolist() == candidates[after > own + least].tolist()
                assert found[2].tolist() == after[after > own + least].tolist()
                raised += len(found[1])
    assert raised > 100
