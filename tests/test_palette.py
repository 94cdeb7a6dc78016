"""The palette: text that can be read, and colours that colour-blind readers can tell apart."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
from serape.palette import DARK, LIGHT, Palette, themes_css

# How colours look in linear RGB if one kind of cone is missing (Machado, Oliveira and Fernandes 2009, severity 1).
VISION = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = np.array([0.95047, 1.0, 1.08883])
THEMES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


def linear(colour: str) -> Any:
    values = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    dim, bright = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (bright + 0.05) / (dim + 0.05)


def distance(one: str, other: str, vision: Any) -> float:
    """Return the distance of two colours in CIELAB, as seen."""

    def lab(colour: str) -> Any:
        seen = np.clip(np.array(vision) @ linear(colour), 0, 1)
        xyz = np.array(TO_XYZ) @ seen / WHITE
        f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
        return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    return float(np.linalg.norm(lab(one) - lab(other)))


def test_the_measures_know_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert distance("#000000", "#ffffff", VISION["all cones"]) == pytest.approx(100, abs=0.01)
    assert distance("#ff0000", "#00a000", VISION["all cones"]) > 2 * distance(
        "#d00000", "#806000", VISION["deuteranopia"]
    )


@THEMES
def test_text_can_be_read(palette: Palette) -> None:
    for behind in (palette.ground, palette.surface, palette.faint, palette.warn):
        assert contrast(palette.ink, behind) >= 7
        assert contrast(palette.soft, behind) >= 4.5
    for behind in (palette.ground, palette.surface, palette.faint):
        assert contrast(palette.accent, behind) >= 4.5
    for box in palette.boxes.values():
        assert contrast(box.ink, box.face) >= 4.5


@THEMES
def test_lines_can_be_seen(palette: Palette) -> None:
    lines = [palette.edge, palette.focus, palette.wrong, *(box.line for box in palette.boxes.values())]
    assert min(contrast(line, palette.surface) for line in lines) >= 3


@THEMES
@pytest.mark.parametrize("vision", VISION)
def test_roles_and_mistakes_can_be_told_apart(palette: Palette, vision: str) -> None:
    boxes = palette.boxes
    roles = [boxes["neighbour"].line, boxes["spouse"].line, boxes["member"].line]
    edges = [palette.ink, palette.accent, palette.wrong, palette.edge]
    bars = [palette.accent, palette.pale]
    faces = [boxes["target"].face, boxes["neighbour"].face, boxes["spouse"].face]
    for colours, least in ((roles, 18), (edges, 18), (bars, 18), (faces, 9)):
        assert min(distance(a, b, VISION[vision]) for a, b in combinations(colours, 2)) >= least


def test_colours_are_defined_in_one_place() -> None:
    package = Path(serape.__file__).parent
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".css", ".js", ".html")]
    having = {p.relative_to(package).as_posix() for p in files if re.search(r"#[0-9a-fA-F]{6}\b", p.read_text("utf-8"))}
    assert having == {"palette.py"}


def test_every_colour_of_the_page_is_defined() -> None:
    page = (Path(serape.__file__).parent / "results/report/page.css").read_text("utf-8")
    defined = set(re.findall(r"(--[\w-]+):", themes_css() + page)) | {"--label"}
    assert set(re.findall(r"var\((--[\w-]+)\)", page)) <= defined
    light, dark = (set(re.findall(r"(--[\w-]+):", palette.css())) for palette in (LIGHT, DARK))
    assert light == dark
