"""Kernels on a device, against the plain twin; `python tests/backends.py` asks more."""

from __future__ import annotations

import backends
from serape.engines.gpu.device import Device


def test_answers_are_those_of_the_plain_twin(device: Device) -> None:
    cells = [cell for cell in backends.cells() if cell.backend == "device" and cell.question != "all pairs"]
    assert {cell.question for cell in cells if cell.test == "g2"} == {
        "subsets", "subsets of many", "growing pools", "spouses"
    }  # fmt: skip
    assert backends.check(cells, 8, device) == []
