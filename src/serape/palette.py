"""The colours of pictures, reports and DOT files.

They are built on the palette of Okabe and Ito (2008), in which readers with any kind of colour vision can tell colours
apart: blue for the target and its parents and children, orange for spouses, vermilion for mistakes. Pictures are light;
a report is light or dark. The tests check contrasts (WCAG AA) and the distances of colours for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["target", "neighbour", "child", "spouse", "member", "excluded"]
"""What a box stands for; a `neighbour` is a parent or child, a `child` is one that a spouse shares with the target."""


@dataclass(frozen=True)
class Box:
    """The colours of a box: its inside, its outline and its text."""

    face: str
    line: str
    ink: str


@dataclass(frozen=True)
class Palette:
    """The colours of one theme."""

    ground: str
    """Behind everything."""
    surface: str
    """Behind graphs and tables."""
    faint: str
    """Behind every second row, or a chosen one."""
    ink: str
    soft: str
    """Less important text."""
    line: str
    """Lines that divide."""
    edge: str
    """Lines of graphs."""
    accent: str
    """Links and bars."""
    pale: str
    """Bars that count less."""
    focus: str
    warn: str
    warn_line: str
    wrong: str
    """An edge that is not in the truth, or is reversed there."""
    boxes: Mapping[Role, Box]

    def css(self) -> str:
        """Return the colours as custom properties of CSS."""
        plain = {name.replace("_", "-"): value for name, value in vars(self).items() if name != "boxes"}
        for role, box in self.boxes.items():
            plain |= {role: box.face, f"{role}-line": box.line, f"{role}-ink": box.ink}
        return "".join(f"--{name}:{value};" for name, value in plain.items())


def _palette(boxes: Mapping[Role, tuple[str, str]], target_ink: str, **colours: str) -> Palette:
    inks = {"target": target_ink}
    own = {role: Box(*pair, inks.get(role, colours["ink"])) for role, pair in boxes.items()}
    return Palette(**colours, boxes=own)


LIGHT = _palette(
    {
        "target": ("#0072b2", "#004c78"),
        "neighbour": ("#e3f0f9", "#0072b2"),
        "child": ("#bcdcf1", "#00598c"),
        "spouse": ("#fce6d2", "#c05500"),
        "member": ("#eff2f5", "#5b6b7a"),
        "excluded": ("#fbfbf9", "#767f88"),
    },
    target_ink="#ffffff",
    ground="#fbfbf9",
    surface="#ffffff",
    faint="#f0f2f0",
    ink="#1c2530",
    soft="#56616d",
    line="#dfe2de",
    edge="#767f88",
    accent="#0072b2",
    pale="#a9cde6",
    focus="#d55e00",
    warn="#fdf4e3",
    warn_line="#e69f00",
    wrong="#d55e00",
)
DARK = _palette(
    {
        "target": ("#56b4e9", "#a5d8f5"),
        "neighbour": ("#17344a", "#56b4e9"),
        "child": ("#1f4f74", "#8fd0f5"),
        "spouse": ("#46300c", "#e69f00"),
        "member": ("#272e36", "#97a4b1"),
        "excluded": ("#14181d", "#8a96a3"),
    },
    target_ink="#0d1a24",
    ground="#14181d",
    surface="#1b2027",
    faint="#242b33",
    ink="#e6e9ec",
    soft="#a3adb8",
    line="#323a44",
    edge="#8a96a3",
    accent="#6cbfed",
    pale="#2c5874",
    focus="#e69f00",
    warn="#352a14",
    warn_line="#b98a35",
    wrong="#ef8a3c",
)


def themes_css() -> str:
    """Return CSS for both themes: that of the system, unless the attribute data-theme of the page names one."""
    light, dark = (f"{{color-scheme:{name};{palette.css()}}}" for name, palette in (("light", LIGHT), ("dark", DARK)))
    return (
        f":root{light}\n@media (prefers-color-scheme: dark) {{:root:not([data-theme=light]){dark}}}\n"
        f":root[data-theme=dark]{dark}\n"
    )
