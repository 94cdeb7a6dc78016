"""How results show themselves in notebooks and consoles."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import serape
from serape import progress
from serape.data.example import clinic
from serape.independence.outcomes import p_value_text
from serape.markup import MAX_ROWS
from serape.parallel.progress_bar import ProgressBar
from serape.progress import NotebookLine, Progress, StatusLine, progress_callback
from serape.records import Records
from serape.results.displayed import edge_table, rate_text

NASTY = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(2)>'
ALLOWED = {
    *("div", "style", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "bdi"),
    *("details", "summary", "ul", "li"),
}


class Reader(HTMLParser):
    """The elements and the texts of HTML; elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[list[str]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert {name for name, _ in attrs} <= {"class", "scope"}
        self.tags.append(tag)
        self._open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
        if {"td", "th"} & set(self._open):
            self.cells[-1][-1] += data


def nasty() -> dict[str, Any]:
    """Return columns of nasty names that depend on each other, with a note about a constant of a nasty name."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 400)
    names = [NASTY, IMAGE, "a&b\u202e", "</style>"]
    noisy = {name: np.where(rng.random(400) < 0.8, first, 1 - first) for name in names}
    return {**noisy, "<b>constant</b>": np.zeros(400, int)}


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """Results of every kind about columns of nasty names."""
    data = serape.Table(nasty())
    found = serape.markov_blanket(data, NASTY)
    return {
        "result": found,
        "neighbours": serape.parents_children(data, NASTY),
        "evidence": found.evidence,
        "skeleton": serape.skeleton(data),
        "network": serape.network(data),
        "by score": serape.network(data, "tabu"),
        "stability": serape.stability(data, NASTY, draws=4),
        "edges": serape.stability(data, finds="network", draws=4),
        "blankets": serape.all_blankets(data, NASTY),
        "contexts": serape.context_blankets(data, NASTY, IMAGE),
        "joint": serape.joint_blanket(data, [NASTY, "</style>"]),
        "knockoffs": serape.knockoff_filter(data, NASTY),
        "path": serape.alpha_path(data, NASTY),
        "description": serape.describe(data, NASTY),
        "pairs": serape.all_pairs(data),
    }


NAMES = [
    "result",
    "neighbours",
    "evidence",
    "skeleton",
    "network",
    "by score",
    "stability",
    "edges",
    "blankets",
    "contexts",
    "joint",
    "knockoffs",
    "path",
    "pairs",
    "description",
]


@pytest.mark.parametrize("name", NAMES)
def test_html_is_small_and_safe(shown: dict[str, Any], name: str) -> None:
    text = shown[name]._repr_html_()
    read = Reader(text)
    assert set(read.tags) <= ALLOWED
    assert read.tags.count("style") == 1
    assert IMAGE in read.text  # as text, not as an element
    assert "\u202e" not in text
    assert len(text) < 20_000


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"evidence", "description"}))  # these are tables
def test_repr_is_short(shown: dict[str, Any], name: str) -> None:
    text = repr(shown[name])
    assert "\n" not in text
    assert len(text) < 400
    assert text.startswith(f"<{type(shown[name]).__name__}: ")


def test_a_result_shows_its_members_and_their_tests() -> None:
    found = serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01)
    head, *rows = Reader(found._repr_html_()).cells
    assert head == ["variable", "role", "statistic", "dof", "p", "effect", "given"]
    assert [row[0] for row in rows] == list(found.members)
    assert {row[0]: row[1] for row in rows}["Anxiety"] == "spouse"
    assert all(row[2] == f"{found.explain(row[0]).statistic:.5g}" for row in rows)
    assert "by hiton-mb with g2" in Reader(found._repr_html_()).text


def test_no_search_for_the_sake_of_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = serape.blankets(clinic(500), ["HeartDisease", "Age"], algorithm="hpc")["HeartDisease"]
    assert "statistic" in Reader(kept._repr_html_()).cells[0]
    monkeypatch.setattr("serape.questions.kept_evidence.MAX_BYTES", 0)  # no room
    found = serape.blankets(clinic(500), ["HeartDisease", "Age"], algorithm="hpc")["HeartDisease"]
    assert not found.trace.at_hand
    assert Reader(found._repr_html_()).cells[0] == ["variable", "role"]
    assert not found.trace.at_hand
    found.explain("Smoking")
    assert found.trace.at_hand
    assert "statistic" in Reader(found._repr_html_()).cells[0]


def test_edges_of_a_structure(shown: dict[str, Any]) -> None:
    for name in ("skeleton", "network", "by score"):
        structure = shown[name]
        head, *rows = Reader(structure._repr_html_()).cells
        assert head[:3] == ["from", "", "to"]
        assert len(rows) == len(structure.edges)
        both_ways = [structure.graph.has_edge(b, a) for a, b in structure.edges]
        assert [row[1] for row in rows] == ["–" if both else "→" for both in both_ways]
    assert "gain" in Reader(shown["by score"]._repr_html_()).cells[0]


def test_long_tables_are_cut_and_counted() -> None:
    read = Reader(Records({"a": list(range(MAX_ROWS + 7))})._repr_html_())
    assert len(read.cells) == MAX_ROWS + 1
    assert "… and 7 more rows" in read.text
    assert "more" not in Reader(Records({"a": list(range(MAX_ROWS))})._repr_html_()).text


def test_pictures_show_themselves() -> None:
    network = serape.network(clinic(300))
    for picture in (network.plot(), serape.stability(clinic(300), finds="skeleton", draws=2).plot()):
        assert picture._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


# --- progress --------------------------------------------------------------------------------------------------------


class Notebook:
    """Stands for IPython: keeps what is displayed, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[str] = []
        monkeypatch.setattr(progress, "in_notebook", lambda: True)
        monkeypatch.setattr("serape.parallel.progress_bar.in_notebook", lambda: True)
        monkeypatch.setattr(progress, "INTERVAL", 0.0)
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace())
        monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=self.display))

    def display(self, bundle: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        self.shown.append(bundle["text/html"])
        return SimpleNamespace(update=lambda bundle, *, raw: self.shown.append(bundle["text/html"]))


class TestProgressInNotebooks:
    def test_a_search_shows_a_line_and_removes_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook = Notebook(monkeypatch)
        assert isinstance(progress_callback(None), StatusLine)
        assert progress_callback(False) is None
        line = StatusLine(0.0)
        line(Progress(NASTY, ("a",), 12, 0, 1.0))
        line.close()
        assert "&lt;script&gt;" in notebook.shown[0]
        assert "12 tests" in notebook.shown[0]
        assert notebook.shown[-1] == ""

    def test_work_on_many_targets_shows_a_bar(self, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook = Notebook(monkeypatch)
        bar = ProgressBar("blankets", 2, True)
        bar.advance("a", (), 1, 0)
        bar.advance("b", (), 1, 0)
        bar.close()
        assert notebook.shown == [
            '<div><progress value="1" max="2"></progress> blankets 1/2</div>',
            '<div><progress value="2" max="2"></progress> blankets 2/2</div>',
            "",
        ]

    def test_it_is_patient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook = Notebook(monkeypatch)
        line = StatusLine()
        line(Progress("a", (), 1, 0, 0.5))
        line.close()
        ProgressBar("blankets", 2, None).advance("a", (), 1, 0)
        assert notebook.shown == []

    def test_texts_that_come_too_fast_are_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook = Notebook(monkeypatch)
        monkeypatch.setattr(progress, "INTERVAL", 1000.0)
        line = NotebookLine()
        for k in range(9):
            line.update(f"step {k}")
        assert notebook.shown == ["<div>step 0</div>"]

    def test_elsewhere_nothing_is_shown(self) -> None:
        assert not progress.in_notebook()
        assert progress_callback(None) is None


def test_a_negative_zero_is_zero() -> None:
    assert repr(Records({"statistic": [-0.0, -0.5]})).split() == ["statistic", "0", "-0.5"]


@pytest.mark.parametrize(("p", "text"), [(0.0, "0"), (4.4e-6, "4.4e-6"), (0.01234, "0.0123"), (1.0, "1")])
def test_p_has_one_form(p: float, text: str) -> None:
    assert p_value_text(p) == text
    assert rate_text(0.2, p) == f", false discovery rate 0.2 (p up to {text})"
    assert rate_text(None) == ""


def test_edges_have_their_adjusted_p() -> None:
    found = serape.skeleton(clinic(500), "hpc", fdr=0.2)
    heads, rows = edge_table(found.edges_with_evidence())
    assert heads == ["from", "", "to", "statistic", "dof", "p", "adjusted p", "effect", "given"]
    assert [row[6] for row in rows] == [p_value_text(p) for p in found.evidence["adjusted_p"]]
    plain, _ = edge_table(serape.skeleton(clinic(500), "hpc", alpha=0.01, fdr=None).edges_with_evidence())
    assert "adjusted p" not in plain
