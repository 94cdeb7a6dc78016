"""A bounded run of every part of `make fuzz`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fuzz import PARTS
from serape import _core

SEEDS = {"boundary": 300, "counting": 8, "files": 400, "options": 300, "packed": 150, "searches": 26}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_wrong(part: str) -> None:
    attack: Callable[[int], str] = PARTS[part]
    outcomes = {attack(seed) for seed in range(10_000, 10_000 + SEEDS[part])}
    assert outcomes
    if part == "packed":
        assert outcomes == {"used", "refused"}
    if part == "files":
        assert {"csv used", "csv refused", "json used", "json refused", "bif refused"} <= outcomes


def test_what_was_found_at_the_boundary() -> None:
    table = _core.PackedTable(70)
    for _ in range(3):
        table.append(np.arange(70, dtype=np.uint16) % 2, 2)
    with pytest.raises(ValueError, match="strongest partners"):
        _core.all_pairs(table, -3.0, 2**63, 5)
    with pytest.raises(ValueError, match="strongest partners"):
        _core.strongest_pairs(_core.ContingencyTest(table, "g2", "full", "dof", 5.0), [0, 1, 2], -3.0, 2**63)
    residuals = _core.ResidualTest(table, [0], False, np.empty(0), False)
    with pytest.raises(ValueError, match="no category"):
        residuals.set_category(0)
    cells = np.array([[0, 9, 0, 5]])
    with pytest.raises(IndexError):
        _core.Counts(5, 2, [], [2], [0, 1], cells).guesses()
