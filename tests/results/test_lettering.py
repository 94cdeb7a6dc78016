"""How names are written in pictures: fonts that have the characters, lines, right-to-left names."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import matplotlib as mpl
import networkx as nx
import pytest

from drawn import boxes, extents, overlapping
from serape.results import lettering
from serape.results.lettering import Lettering, in_visual_order, letters, wrapped
from serape.results.pictures import draw_graph

CHINESE, JAPANESE, KOREAN, ARABIC, HEBREW = "血压", "心臓病", "고혈압", "التدخين", "גיל"
NOBODY = "\U000e0b0b"  # not assigned: no font has it


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    lettering._fallbacks.cache_clear()
    yield
    lettering._fallbacks.cache_clear()


def texts(names: list[str]) -> list[str]:
    graph = nx.DiGraph((names[0], name) for name in names[1:])
    figure = draw_graph(graph)
    figure.savefig(BytesIO())  # a character that is missing would be a warning, and so an error
    assert overlapping(figure) == []
    assert set(boxes(figure)) == set(names)  # in an SVG file, the true names
    figure.canvas.draw()
    for text, box in zip(figure.axes[0].texts, extents(figure).values(), strict=False):
        assert box.x0 < text.get_window_extent().x0 < text.get_window_extent().x1 < box.x1
    return [text.get_text() for text in figure.axes[0].texts]


def test_names_of_all_the_world_can_be_drawn() -> None:
    texts(["a", CHINESE, JAPANESE, KOREAN, ARABIC, HEBREW, "emoji 😀🫀", "शर्करा", "tab\tand\x00", NOBODY])


def test_without_a_font_that_has_them_the_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lettering, "_entries", list)
    drawn = texts(["a", CHINESE, "b" + CHINESE])
    assert drawn == ["a", "��", "b��", "� stands for characters that no installed font has."]
    assert texts(["a", "Größe", ARABIC, HEBREW])[0] == "a"


def test_marks_that_only_join_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lettering, "_covered", lambda families, characters: set("ab"))
    monkeypatch.setattr(lettering, "_entries", list)
    made = Lettering(["a\ufe0fb"])
    assert made.name("a\ufe0fb") == "ab"
    assert made.note == ""


class Entry:
    style, weight = "normal", 400

    def __init__(self, name: str) -> None:
        self.name, self.fname = name, name


def test_few_fonts_that_have_the_characters_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    fonts = {"One": "αβ", "Two": "αβγδ", "Three": "ε", "Four": "ε"}

    def has(path: str, characters: frozenset[str]) -> frozenset[str]:
        return characters & frozenset(fonts.get(path, ""))

    monkeypatch.setattr(lettering, "_entries", lambda: [Entry(name) for name in fonts])
    monkeypatch.setattr(lettering, "_has", has)
    made = Lettering(["αβγδεζ"])
    assert made.font(9).get_family() == [*mpl.rcParams["font.family"], "Two", "Three"]
    assert made.line("αβγδεζ") == "αβγδε�"


def test_plain_names_need_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lettering, "_entries", lambda: pytest.fail("fonts were searched"))
    assert Lettering(["Age", "$x_1$", "Größe"]).font(9).get_family() == mpl.rcParams["font.family"]


def test_wide_letters_count_as_two() -> None:
    assert letters("ab") == 2
    assert letters("心臓") == 4
    assert [letters(line) for line in wrapped("心" * 40).split("\n")] == [32, 32, 16]
    assert wrapped("a" * 31 + "e\u0301" + "b").split("\n") == ["a" * 31, "e\u0301b"]


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("plain", "plain"),
        ("אבג", "גבא"),
        ("אב גד", "דג בא"),
        ("אב (12)", "(12) בא"),
        ("אב (cm)", "(cm) בא"),
        ("of אב: 13 of 14", "of בא: 13 of 14"),
        ("x אב", "x בא"),
        ("אב x", "x בא"),
        ("א\u05b0ב", "בא\u05b0"),
    ],
)
def test_right_to_left_names_in_the_order_in_which_they_are_drawn(name: str, drawn: str) -> None:
    assert in_visual_order(name) == drawn


def test_older_versions_of_matplotlib_get_letters_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lettering, "_shapes", lambda: False)
    made = Lettering([HEBREW])
    assert made.name(HEBREW) == HEBREW[::-1]
    assert made.title(f"blanket of {HEBREW}: 3 of 4") == f"blanket of {HEBREW[::-1]}\u200e: 3 of 4"
    monkeypatch.setattr(lettering, "_shapes", lambda: True)
    assert made.name(HEBREW) == HEBREW


@pytest.mark.parametrize("number", ["0.01", "4.4e-6", "1,995"])
def test_no_number_is_broken(number: str) -> None:
    text = f"No variable was found at {number}, or above it."
    for width in range(20, 40):
        lines = wrapped(text, width).split("\n")
        assert "".join(lines) == text
        assert any(number in line for line in lines)
