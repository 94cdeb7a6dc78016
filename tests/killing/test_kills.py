"""A few kills of `make kills`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).parents[1] / "kills.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
@pytest.mark.parametrize("kind", ["workers", "parents"])
def test_nothing_hangs_and_nothing_is_left(kind: str) -> None:
    command = [sys.executable, "-W", "error", str(KILLS), f"--{kind}", "--times", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{kind}: 4 kills" in done.stdout
