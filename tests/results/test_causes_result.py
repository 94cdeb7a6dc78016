"""Causes and effects as a result: saved, drawn, reported, shown."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

import serape
from html_reader import Reader
from serape.data.example import clinic
from serape.results.causes import MARKS

TABLE = serape.Table(clinic(3000))
FOUND = serape.causes(TABLE, "HeartDisease", alpha=0.01)
M = nx.DiGraph([("U", "B"), ("U", "C"), ("A", "B"), ("D", "C"), ("C", "E"), ("B", "F")])
HIDDEN = serape.causes(serape.DSeparation(M, hidden=["U"]), "B", hidden=True)
BOTH = pytest.mark.parametrize("found", [FOUND, HIDDEN], ids=["directed", "hidden"])


@BOTH
def test_a_saved_result_is_the_same(found: serape.Causes, tmp_path: Path) -> None:
    found.save(tmp_path / "found.json")
    loaded = serape.load_result(tmp_path / "found.json")
    assert loaded == found
    assert isinstance(loaded, serape.Causes)
    assert [loaded.explain(name) for name in loaded.marks] == [found.explain(name) for name in found.marks]
    assert loaded.blanket_result == found.blanket_result
    assert str(loaded) == str(found)
    loaded.plot()
    loaded.report(tmp_path / "loaded.html")
    assert loaded != FOUND if found is HIDDEN else loaded != HIDDEN


def test_a_blanket_is_still_loaded_as_one(tmp_path: Path) -> None:
    serape.markov_blanket(TABLE, "Age").save(tmp_path / "found.json")
    assert isinstance(serape.load_result(tmp_path / "found.json"), serape.Result)


@pytest.mark.parametrize(
    "change",
    [
        {"marks": {"Smoking": "=>"}},
        {"marks": {"Nobody": "→"}},
        {"nodes": ["Age"]},
        {"edges": [{"from": "Age", "to": "Nobody", "marks": None}]},
        {"edges": [{"from": "Age", "to": "Age", "marks": None}]},
        {"edges": [{"from": "Age", "to": "Smoking", "marks": "<script>"}]},
        {"expanded": ["Nobody"]},
        {"notes": "none"},
        {"blanket": {}},
        {"tests_by_size": 3},
    ],
)
def test_damaged_files_get_one_sentence(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    path.write_text(json.dumps({**FOUND.to_dict(), **change}))
    with pytest.raises(serape.DataError, match="is damaged"):
        serape.load_result(path)


@BOTH
def test_roles_agree_everywhere(found: serape.Causes) -> None:
    roles = {row["variable"]: row["role"] for row in found.evidence}
    for name, mark in found.marks.items():
        assert roles[name] == MARKS[mark]
    assert {name for name, role in roles.items() if role == "cause"} == set(found.causes)
    heads, rows = found.table()
    assert heads[:3] == ["variable", "", "role"]
    assert {row[0] for row in rows} == set(found.blanket)
    groups = [*found.causes, *found.effects, *found.confounded, *found.undecided]
    assert sorted(groups) == sorted(found.marks)


def test_spouses_have_their_common_effects() -> None:
    assert FOUND.spouses == {"Anxiety": ("ChestPain",)}
    assert FOUND.role("Anxiety") == "spouse"
    assert FOUND.role("Ward") == "excluded"


def test_the_graph_has_the_edges() -> None:
    for name in FOUND.causes:
        assert FOUND.graph.has_edge(name, "HeartDisease")
        assert not FOUND.graph.has_edge("HeartDisease", name)
    assert HIDDEN.graph.edges["B", "C"]["marks"] == HIDDEN.graph.edges["C", "B"]["marks"] == "↔"
    assert HIDDEN.graph.edges["A", "B"]["marks"] == "o→"
    assert not HIDDEN.graph.has_edge("B", "A")


@BOTH
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_pictures(found: serape.Causes, ending: str, tmp_path: Path) -> None:
    figure = found.plot(tmp_path / f"picture{ending}")
    assert (tmp_path / f"picture{ending}").stat().st_size > 1000
    drawn = {patch.get_gid() for patch in figure.axes[0].patches if patch.get_gid()}
    for name in found.causes:
        assert f"arc {name} {found.target}" in drawn
    for name in found.effects:
        assert f"arc {found.target} {name}" in drawn


def test_pictures_show_spouses() -> None:
    assert "Anxiety" not in FOUND.graph  # its blanket was not learned
    assert FOUND.picture_graph.has_edge("Anxiety", "ChestPain")
    assert '"Anxiety" -> "ChestPain"' in FOUND.to_dot()


def test_pictures_show_circles_and_hidden_causes() -> None:
    ax = HIDDEN.plot().axes[0]
    ends = {patch.get_gid(): str(patch.get_arrowstyle()) for patch in ax.patches if hasattr(patch, "get_arrowstyle")}
    assert "CurveFilledAB" in next(style for edge, style in ends.items() if edge in ("edge B C", "edge C B"))
    circles = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(circles) == 1  # A o→ B
    legend = ax.get_legend()
    assert legend is not None
    assert "↔ a hidden common cause" in {text.get_text() for text in legend.get_texts()}


def test_dot() -> None:
    assert '"Smoking" -> "HeartDisease"' in FOUND.to_dot()
    assert '"A" -> "B" [dir=both, arrowtail=odot, arrowhead=normal' in HIDDEN.to_dot()
    assert '"B" -> "C" [dir=both, arrowtail=normal, arrowhead=normal' in HIDDEN.to_dot()


@BOTH
def test_reports(found: serape.Causes, tmp_path: Path) -> None:
    found.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Causes and effects" in text
    content = Reader(text).content
    variables = {one["name"]: one for one in content["variables"] if "role" in one}
    for name in found.marks:
        assert variables[name]["role"] == found.role(name)
        assert variables[name]["text"] == found.explain(name)
    position = {one["name"]: k for k, one in enumerate(content["variables"])}
    arrows = {(edge["a"], edge["b"]) for edge in content["edges"] if edge["arrow"]}
    for name in found.causes:
        assert (position[name], position[found.target]) in arrows
    for name in found.effects:
        assert (position[found.target], position[name]) in arrows
    assert ("arrowhead: not decided" in text) == (not found.hidden)
    assert ("arrowhead: a hidden common cause, or not decided" in text) == found.hidden
    with pytest.raises(serape.OptionError):
        found.report(tmp_path / "report.txt")


def test_a_report_shows_the_call(tmp_path: Path) -> None:
    HIDDEN.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "serape.causes(" in text
    assert "hidden=True" in text
    path = tmp_path / "patients.csv"
    TABLE.to_pandas().to_csv(path, index=False)
    serape.causes(path, "HeartDisease").report(tmp_path / "report.html")
    assert "serape causes" in (tmp_path / "report.html").read_text(encoding="utf-8")


@BOTH
def test_results_show_themselves(found: serape.Causes) -> None:
    assert repr(found).startswith(f"<Causes: Causes and effects of {found.target}")
    page = found._repr_html_()
    assert "role" in page
    assert all(name in page for name in found.marks)
