"""The cache of steps that several searches share."""

from __future__ import annotations

from typing import Any

import pytest

import serape
from plain import PENA_2005_A
from serape.search import Steps


def test_a_failed_step_is_run_again() -> None:
    memory = Steps()

    def fail() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.recall("key", fail)
    search = serape.Search(serape.DSeparation(PENA_2005_A), steps=memory)
    assert search.step("key", 0, lambda: 7) == 7
    assert search.step("key", 0, lambda: 8) == 7
