"""HITON's loop for many targets on a device, against the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import serape
from gpu.runs import differences
from gpu.tables import categorical
from serape.engines.gpu import pools
from serape.independence import device_pools
from serape.parallel import marginals


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many pools the device has answered, call by call."""
    counts: list[int] = []
    ask = pools.grow_pools

    def counted(*arguments: Any, **options: Any) -> Any:
        found = ask(*arguments, **options)
        counts.append(int((found.sizes >= 0).sum()))
        return found

    monkeypatch.setattr(device_pools, "grow_pools", counted)
    return counts


@pytest.mark.parametrize(
    ("levels", "settings"),
    [
        ((2, 3), {}),
        ((2,), {"max_conditioning": None, "dof": "full"}),
        ((2, 3, 4), {"reliability": "cells", "rule": "or"}),
        ((2, 2, 3), {"reliability": None, "symmetry": False, "max_conditioning": 2}),
    ],
)
@pytest.mark.parametrize("fdr", [None, 0.2])
@pytest.mark.usefixtures("on_device")
def test_hiton_finds_the_same(
    fdr: float | None,
    answered: list[int],
    monkeypatch: pytest.MonkeyPatch,
    levels: tuple[int, ...],
    settings: Any,
) -> None:
    monkeypatch.setattr(marginals, "MAX_SHARED", 0)  # as in large tables
    table = categorical(np.random.default_rng(3), 22, 200, levels)
    found = [
        serape.skeleton(table, algorithm="hiton-pc", engine=engine, **{"alpha": 0.05, "fdr": fdr, **settings})
        for engine in ("cpu", "gpu")
    ]
    assert differences(*found) == []
    assert answered == [22]
    assert fdr is None or any(found[0].evidence["adjusted_p"])


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("fdr", [None, 0.2])
def test_pools_that_are_too_large_are_left_to_the_core(fdr: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marginals, "MAX_SHARED", 0)
    random = np.random.default_rng(5)
    parents = random.integers(2, size=(4000, 20))
    child = (parents.sum(axis=1) + random.normal(size=4000) > 10).astype(int)  # it depends on each of 20
    table = serape.Table(np.column_stack([parents, child]))
    settings: dict[str, Any] = {"algorithm": "hiton-pc", "alpha": 0.01, "fdr": fdr, "max_conditioning": 1}
    found = [serape.skeleton(table, engine=engine, **settings) for engine in ("cpu", "gpu")]
    assert differences(*found) == []
    assert found[0].graph.degree("x20") > 16


@pytest.mark.usefixtures("on_device")
def test_long_lists_of_those_who_joined_are_left_to_the_core(
    answered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only for the weakest associations: the pools are known without them."""
    monkeypatch.setattr(marginals, "MAX_SHARED", 0)
    monkeypatch.setattr(pools, "_MAX_JOINED", 2)
    table = categorical(np.random.default_rng(3), 22, 200, (2, 3))
    for fdr in (None, 0.2):
        found = [serape.skeleton(table, "hiton-pc", alpha=0.05, fdr=fdr, engine=engine) for engine in ("cpu", "gpu")]
        assert differences(*found) == []
    assert answered[0] == 22
    assert 0 < answered[1] < 22
