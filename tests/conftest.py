"""What several test files share."""

from __future__ import annotations

import csv
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from serape import _core
from serape.data.example import clinic


@pytest.fixture
def listening() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.instruction_set()
    assert _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bif")


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("data") / "patients.csv"
    data = clinic(5000)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    return str(path)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)
