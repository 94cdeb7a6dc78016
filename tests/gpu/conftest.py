"""The device of these tests: kernels on the CPU, or with SERAPE_GPU=1 a real GPU (`make test-gpu`)."""

from __future__ import annotations

import os

import pytest

from gpu.emulator import COMPILER, EmulatedDevice
from serape.engines.gpu import choice
from serape.engines.gpu.device import Device, cuda_device


@pytest.fixture(scope="session")
def device(tmp_path_factory: pytest.TempPathFactory) -> Device:
    if os.environ.get("SERAPE_GPU") == "1":
        return cuda_device()
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kernels"  # of all processes that test
    folder.mkdir(exist_ok=True)
    return EmulatedDevice(folder)


@pytest.fixture
def on_device(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make engine="gpu" use the device of these tests."""
    monkeypatch.setattr(choice, "find_device", lambda: device)
