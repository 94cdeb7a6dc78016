"""Positions of names."""

from __future__ import annotations

import pytest

from serape.names import NamePositions


@pytest.mark.parametrize("misses", [0, 30])
def test_positions_are_found_whether_few_or_many(misses: int) -> None:
    names = [f"x{k}" for k in range(50)]
    positions = NamePositions(names)
    for k in range(misses):
        assert f"y{k}" not in positions
    assert {name: positions[name] for name in names} == {name: k for k, name in enumerate(names)}
    assert dict(positions) == {name: k for k, name in enumerate(names)}
    assert len(positions) == 50
    with pytest.raises(KeyError, match="y"):
        _ = positions["y"]
