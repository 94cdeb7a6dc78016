"""The evidence of an answer: complete, and never against the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import serape
from serape.data.example import clinic


@pytest.mark.parametrize("algorithm", ["mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc", "hpc-mb"])
class TestResults:
    def test_everything_is_explained(self, algorithm: str) -> None:
        data = clinic(5000, seed=4)
        found = serape.markov_blanket(data, "HeartDisease", algorithm=algorithm)
        for variable in data:
            if variable == "HeartDisease":
                continue
            why = found.explain(variable)
            assert why.included == (variable in found.blanket)
            assert why.given is not None
            if why.included:
                assert (why.separating_set is not None) == (variable in (found.spouses or {})), str(why)
                assert why.log_p <= np.log(0.05)
            else:
                assert why.separating_set is not None, str(why)

    def test_memory_is_kept_for_the_target_alone(self, algorithm: str) -> None:
        kept: list[serape.Search] = []
        run = serape.local.registry.ALGORITHMS[algorithm].run  # type: ignore[attr-defined]

        def spied(search: serape.Search, target: int) -> Any:
            kept.append(search)
            return run(search, target)

        serape.markov_blanket(clinic(1000), "HeartDisease", algorithm=spied)
        assert len(kept[0]._recorder._logs) == 1
