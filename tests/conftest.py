"""What several test files share."""

from __future__ import annotations

import csv
import gc
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import CHROMIUM, OPTIONS, Opened, write_reports
from serape import _core
from serape.data.example import clinic


def pytest_collection_finish() -> None:
    """Keep what the imports made out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, where there is one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as run:
        found = run.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def reports(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert browser.is_connected()
    return write_reports(tmp_path_factory.mktemp("reports"))


@pytest.fixture
def show(browser: Any, reports: Path) -> Iterator[Any]:
    """Open a report; when the test is over, nothing but the file itself may have been asked for."""
    opened: list[Opened] = []

    def one(name: str, scheme: str = "light", width: int = 1280) -> Any:
        seen = Opened(browser.new_page(color_scheme=scheme, reduced_motion="reduce"))
        opened.append(seen)
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.goto((reports / f"{name}.html").as_uri())
        return seen.page

    yield one
    for seen in opened:
        assert [url.startswith("file:") for url in seen.requests] == [True]
        assert seen.complaints == []
        seen.page.close()
