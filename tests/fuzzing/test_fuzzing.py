"""A bounded run of every part of `make fuzz`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fuzz import PARTS

SEEDS = {"boundary": 12, "counting": 8, "files": 400, "options": 300, "packed": 150, "searches": 26}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_wrong(part: str) -> None:
    attack: Callable[[int], str] = PARTS[part]
    outcomes = {attack(seed) for seed in range(10_000, 10_000 + SEEDS[part])}
    assert outcomes
    if part == "packed":
        assert outcomes == {"used", "refused"}
    if part == "files":
        assert {"csv used", "csv refused", "json used", "json refused", "bif refused"} <= outcomes
