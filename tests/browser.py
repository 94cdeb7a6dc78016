"""Reports in a real browser, and what opens them there; chromium through playwright."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

import serape
from serape.data.example import clinic

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NASTY = "<script>alert(1)</script>"
ARABIC, HEBREW, JAPANESE = "ضغط الدم (mmHg)", "גיל", "心臓病"
WORLD = [ARABIC, JAPANESE, HEBREW, "고혈압", "😀🫀", "Unbreakable" * 15, "many words " * 15]
NAMES = ["clinic", "20", "50", "alarm", "hepar2", "nasty", "world", "worlds", "empty"]
WIDTHS = [360, 768, 1280]


def write_reports(folder: Path) -> Path:
    """Write reports of 6, 20, 50 and no members, of two networks, one too large to be drawn whole, and of odd names."""
    serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01).report(folder / "clinic.html")
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=3000)

    def noisy(least: float) -> Any:
        return np.where(rng.random(3000) < least + 0.1 * rng.random(), target, 1 - target)

    for count in (20, 50):
        data = {"Outcome": target, **{f"{'a_rather_long_name_' * (k % 3)}{k}": noisy(0.6) for k in range(count)}}
        found = serape.parents_children(data, "Outcome", algorithm="hiton-pc", max_conditioning=1)
        assert len(found.members) == count
        found.report(folder / f"{count}.html")
    serape.network(serape.load_network("alarm").sample(2000, 1)).report(folder / "alarm.html")
    serape.skeleton(serape.load_network("hepar2").sample(500, 1)).report(folder / "hepar2.html")
    names = [
        NASTY,
        "</script><script>alert(2)</script>",
        "<img src=x onerror=alert(3)>",
        "a\u2028b",
        '" onfocus="alert(4)',
    ]
    nasty = {name: noisy(0.8) for name in names}
    serape.markov_blanket(nasty, NASTY, algorithm="hiton-mb").report(folder / "nasty.html")
    world = {name: noisy(0.75) for name in WORLD}
    serape.markov_blanket(world, ARABIC, algorithm="hiton-mb").report(folder / "world.html")
    serape.network(world, "pc-stable", max_conditioning=1).report(folder / "worlds.html")
    noise = {"a": rng.integers(2, size=300), "b": rng.integers(2, size=300), "c": np.zeros(300)}
    serape.markov_blanket(noise, "a").report(folder / "empty.html")
    return folder


class Opened:
    """A page, and what it did that it should not have done."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


def panel(page: Any) -> str:
    text: str = page.locator("#panel").inner_text()
    return text
