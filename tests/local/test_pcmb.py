"""PCMB, and HPC beside it: many children and few rows, skipped tests, interruption."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from serape.data.example import clinic


@pytest.mark.parametrize("algorithm", ["pcmb", "hpc"])
def test_a_skipped_test_does_not_undo_a_separation(algorithm: str) -> None:
    data = clinic(3000)
    found = serape.markov_blanket(data, "HeartDisease", algorithm=algorithm, max_conditioning=0)
    apart = [v for v in data if v != "HeartDisease" and serape.ci_test(data, v, "HeartDisease").p > 0.05]
    assert apart
    for variable in apart:
        assert found.explain(variable).separating_set == ()


def test_an_interrupted_search_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.search.state._TICK", 0.0)

    def stop(now: serape.Progress) -> None:
        if now.members:
            raise KeyboardInterrupt

    table = serape.Table(pedigree(np.random.default_rng(1), 500, 60, 441), kinds="categorical")
    with pytest.raises(serape.Interrupted) as interrupted:
        serape.parents_children(table, "T", algorithm="pcmb", progress=stop)
    assert interrupted.value.found.members
    assert not interrupted.value.found.complete


def pedigree(random: np.random.Generator, rows: int, children: int, nodes: int) -> dict[str, NDArray[np.int64]]:
    """Genotypes of a herd: the target has many children by eight mates; others have two parents of the herd."""

    def gamete(parent: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(parent == 1, random.integers(2, size=rows), parent // 2)

    herd = {"T": random.binomial(2, 0.5, rows), **{f"mate{k}": random.binomial(2, 0.5, rows) for k in range(8)}}
    for k in range(children):
        herd[f"child{k}"] = gamete(herd["T"]) + gamete(herd[f"mate{k % 8}"])
    founders = [f"founder{k}" for k in range(40)]
    herd |= {name: random.binomial(2, 0.5, rows) for name in founders}
    while len(herd) < nodes:
        one, other = random.choice(founders, 2, replace=False)
        herd[f"other{len(herd)}"] = gamete(herd[str(one)]) + gamete(herd[str(other)])
    return {name: herd[name] for name in random.permutation(list(herd)).tolist()}


@pytest.mark.parametrize("algorithm", ["pcmb", "hpc"])
def test_sixty_children_at_five_hundred_rows(algorithm: str) -> None:
    """Like node 435 of Pigs: no test needs more than reliability allows, however large the neighbourhood."""
    table = serape.Table(pedigree(np.random.default_rng(1), 500, 60, 441), kinds="categorical")
    found = serape.parents_children(table, "T", algorithm=algorithm, alpha=0.01)
    truth = {f"child{k}" for k in range(60)}
    assert len(truth & set(found.members)) >= 58
    assert len(set(found.members) - truth) <= 3
    assert max(found.tests_by_size) <= 3  # 500 rows >= 5 · (3−1)(3−1)·3^|Z|
