"""Pictures of blankets: names that can be read, boxes apart, the target in the middle, spouses by their children."""

from __future__ import annotations

import math
import sys
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import serape
from drawn import arrows, boxes, extents, has_head, in_data, overlapping, points_along
from serape import MissingLibraryError, OptionError, Result
from serape.data.example import clinic
from serape.results.explanation import Evidence
from serape.results.pictures import MAX_NAMES, figure_of


def result(
    near: list[str],
    spouses: dict[str, tuple[str, ...]] | None = None,
    *,
    target: str = "T",
    told: bool = True,
    log_p: dict[str, float] | None = None,
    **changes: Any,
) -> Result:
    """Return a result as a search would; where roles are not told, all are members."""
    outside = spouses or {}
    names = [target, *near, *outside, "u", "v"]
    known = log_p or {}
    columns = {
        "statistic": [1.0] * len(names),
        "dof": [1.0] * len(names),
        "log_p": [known.get(name, -5.0 - 7 * k) for k, name in enumerate(names)],
        "reliable": [True] * len(names),
        "which": [0] * len(names),
    }
    return Result(
        **{
            "target": target,
            "finds": "blanket",
            "blanket": (*near, *outside),
            "parents_children": tuple(near) if told else None,
            "spouses": dict(outside) if told else None,
            "algorithm": "pcmb",
            "test": "g2",
            "alpha": 0.05,
            "tests": 100,
            "tests_by_size": {0: 100},
            "skipped": 0,
            "seconds": 0.1,
            "options": {},
            "notes": (),
            "complete": True,
            "trace": Evidence(names, lambda: (columns, [()], [], {}, {})),
            **changes,
        }
    )


def drawn(found: Result) -> Figure:
    figure = figure_of(found.plot())
    figure.canvas.draw()
    return figure


def check_readable(figure: Figure, names: list[str]) -> None:
    """No two boxes or names meet, every name is within its box, and no line runs through a box it does not join."""
    ax = figure.axes[0]
    placed = extents(figure)
    assert set(placed) == set(names)
    assert overlapping(figure) == []
    legend = ax.get_legend()
    words = [*ax.texts, *(legend.get_texts() if legend is not None else ())]
    assert not any(text.get_parse_math() for text in words)
    written = [text.get_window_extent() for text in words]
    assert [(a, b) for a, b in combinations(range(len(words)), 2) if written[a].overlaps(written[b])] == []
    for text, extent in zip(words, written, strict=True):
        assert figure.bbox.x0 <= extent.x0 < extent.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= extent.y0 < extent.y1 <= figure.bbox.y1, text
    labels = {text.get_text().replace("\n", ""): text.get_window_extent() for text in ax.texts}
    for name, box in placed.items():
        label = labels[name]
        assert box.x0 < label.x0 < label.x1 < box.x1
        assert box.y0 - 2 < label.y0 < label.y1 < box.y1 + 2
    inside = {node: in_data(box) for node, box in boxes(figure).items()}
    for (tail, head), arrow in lines_of(figure, names).items():
        line = points_along(arrow)
        for node, box in inside.items():
            if node not in (tail, head):
                within = (box.x0 < line[:, 0]) & (line[:, 0] < box.x1) & (box.y0 < line[:, 1]) & (line[:, 1] < box.y1)
                assert not within.any(), (tail, head, node)


def lines_of(figure: Figure, names: list[str]) -> dict[tuple[str, str], Any]:
    """Return the lines by the names they join, which may have blanks in them."""
    pairs = {f"{a} {b}": (a, b) for a in names for b in names}
    found = {}
    for patch in figure.axes[0].patches:
        word, _, rest = str(patch.get_gid()).partition(" ")
        if word != "node":
            found[pairs[rest]] = patch
    return found


LONG = "a_name_that_is_much_too_long_for_any_column_in_a_survey_{}"
NAMES = {"short": "x{}", "long": LONG, "math": "$x_{}^2$"}


@pytest.mark.parametrize("count", [1, 5, 20, 50])
@pytest.mark.parametrize("kind", NAMES)
def test_members_of_unknown_role(count: int, kind: str) -> None:
    names = [NAMES[kind].format(k) for k in range(count)]
    figure = drawn(result(names, told=False))
    check_readable(figure, [*names, "T"])
    assert all(isinstance(boxes(figure)[name].get_linestyle(), tuple | str) for name in names)
    assert len({str(boxes(figure)[name].get_linestyle()) for name in names}) == 1
    assert boxes(figure)[names[0]].get_linestyle() != boxes(figure)["T"].get_linestyle()
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == "parent, child or spouse (role unknown)"


@pytest.mark.parametrize("count", [5, 20, 50])
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_spouses_outside(count: int, kind: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    outside = int(random.integers(1, count // 2))
    near = [NAMES[kind].format(k) for k in range(count - outside)]
    spouses = {
        f"spouse{k}": tuple(near[c] for c in sorted(random.choice(len(near), min(len(near), 1 + k % 3), replace=False)))
        for k in range(outside)
    }
    figure = drawn(result(near, spouses))
    check_readable(figure, [*near, *spouses, "T"])
    placed = {node: in_data(box) for node, box in boxes(figure).items()}
    lines = lines_of(figure, [*near, *spouses, "T"])
    common = {child for children in spouses.values() for child in children}
    assert {pair for pair in lines if pair[0] == "T"} == {("T", name) for name in near}
    assert {pair for pair in lines if pair[0] != "T"} == {(s, c) for s, children in spouses.items() for c in children}
    assert {pair for pair, line in lines.items() if has_head(line)} == {pair for pair in lines if pair[1] in common}
    for spouse, children in spouses.items():
        beside = [c for c in children if placed[c].x0 * placed[spouse].x0 > 0]
        assert len(beside) >= len(children) / 2
        for child in beside:  # farther out than all on its side
            assert max(abs(placed[child].x0), abs(placed[child].x1)) < min(
                abs(placed[spouse].x0), abs(placed[spouse].x1)
            )


def test_the_target_is_in_the_middle() -> None:
    for count in (2, 5, 9, 30):
        placed = {n: in_data(b) for n, b in boxes(drawn(result([f"x{k}" for k in range(count)]))).items()}
        target = placed.pop("T")
        assert target.x0 + target.x1 == pytest.approx(0)
        assert target.y0 + target.y1 == pytest.approx(0)
        left = sum(box.x1 < target.x0 or box.x1 < 0 for box in placed.values())
        assert abs(2 * left - count) <= 1
        heights = [(box.y0 + box.y1) / 2 for box in placed.values()]
        assert min(heights) + max(heights) == pytest.approx(0)


def test_children_that_share_spouses_stand_on_both_sides_if_they_are_most() -> None:
    children = [f"c{k}" for k in range(20)]
    figure = drawn(result(["p", *children], {"s": tuple(children), "t": ("c3", "c4")}))
    check_readable(figure, ["p", *children, "s", "t", "T"])
    left = sum(in_data(boxes(figure)[child]).x1 < 0 for child in children)
    assert 8 <= left <= 12
    low = max(in_data(box).y1 for box in boxes(figure).values())
    across = [points_along(line) for line in arrows(figure).values() if points_along(line)[:, 1].max() > low]
    assert len(across) >= 8  # beneath everything, to the other side


def test_a_spouse_without_a_named_child_stands_near() -> None:
    figure = drawn(result(["a", "b"], {"s": (), "t": ("a",)}))
    lines = arrows(figure)
    assert set(lines) == {("T", "a"), ("T", "b"), ("T", "s"), ("t", "a")}
    assert lines["T", "s"].get_linestyle() != lines["T", "b"].get_linestyle()
    assert {pair for pair, line in lines.items() if has_head(line)} == {("T", "a"), ("t", "a")}


def test_known_members_may_have_no_role() -> None:
    found = result(["a"], {"s": ("a",)}, blanket=("a", "u", "s"))
    lines = arrows(drawn(found))
    assert set(lines) == {("T", "a"), ("s", "a"), ("T", "u")}


def test_stronger_is_thicker_and_darker() -> None:
    log_p = {"a": -3.0, "b": -30.0, "c": -3000.0, "d": math.nan}
    figure = drawn(result(list(log_p), log_p=log_p))
    lines = {head: line for (_, head), line in arrows(figure).items()}
    widths = {name: line.get_linewidth() for name, line in lines.items()}
    light = {name: sum(to_rgb(line.get_edgecolor())) for name, line in lines.items()}
    assert widths["a"] < widths["b"] < widths["c"]
    assert light["a"] > light["b"] > light["c"]
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == ["parent or child", "p = 0.0498", "p = 1.3e-1303"]
    assert [line.get_linewidth() for line in legend.get_lines()] == [widths["a"], widths["c"]]


def test_an_oracle_has_no_strengths() -> None:
    found = serape.markov_blanket(serape.DSeparation(serape.load_network("asia").graph), "dysp", algorithm="pcmb")
    legend = figure_of(found.plot()).axes[0].get_legend()
    assert legend is not None
    assert not any(text.get_text().startswith("p") and "=" in text.get_text() for text in legend.get_texts())


def test_a_real_blanket(tmp_path: Path) -> None:
    table = serape.Table(clinic(rows=3000))
    found = serape.markov_blanket(table, "HeartDisease", alpha=0.01, algorithm="pcmb")
    ax = found.plot(tmp_path / "a.png")
    assert isinstance(ax, Axes)
    check_readable(figure_of(ax), [*found.blanket, "HeartDisease"])
    assert found.spouses is not None
    assert {pair for pair in arrows(figure_of(ax)) if pair[0] != "HeartDisease"} == {
        (spouse, child) for spouse, children in found.spouses.items() for child in children
    }
    assert ax.texts[-1].get_text() == f"Markov blanket of HeartDisease: {len(found.blanket)} of 13 variables"
    found.plot(tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    found.plot(str(tmp_path / "c.svg"))
    assert "ChestPain" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    near = serape.parents_children(table, "HeartDisease", alpha=0.01)
    assert near.plot().texts[-1].get_text().startswith("Parents and children of HeartDisease: ")


@pytest.mark.parametrize("finds", ["blanket", "parents-children"])
def test_nothing_found_is_said(finds: Any) -> None:
    figure = drawn(result([], target="$a_b$", finds=finds))
    check_readable(figure, ["$a_b$"])
    words = [text.get_text() for text in figure.axes[0].texts]
    said = words[-2].replace("\n", "")
    assert said.startswith("No variable was shown to be")
    assert said.endswith("of $a_b$, by pcmb with g2 at alpha 0.05.")
    assert figure.axes[0].get_legend() is None


def test_the_caption_says_the_rate() -> None:
    for near in ([], ["a", "b"]):
        figure = drawn(result(near, fdr=0.2, threshold=4.4e-6))
        check_readable(figure, ["T", *near])
        caption = figure.axes[0].texts[-2].get_text().replace("\n", "")
        assert caption.endswith("y pcmb with g2 at alpha 0.05, false discovery rate 0.2 (p up to 4.4e-6).")


def test_lines_of_the_legend_are_dashed_where_lines_are() -> None:
    for told, style in ((False, "--"), (True, "-")):
        legend = drawn(result(["a", "b"], told=told)).axes[0].get_legend()
        assert legend is not None
        assert [line.get_linestyle() for line in legend.get_lines()] == [style] * 2


def test_the_strongest_of_very_many() -> None:
    names = [f"x{k}" for k in range(MAX_NAMES + 30)]
    figure = drawn(result(names, told=False))
    check_readable(figure, ["T", *names[30:]])  # later ones are stronger here
    assert figure.axes[0].texts[-1].get_text().endswith(f"180 of 182 variables, the {MAX_NAMES} strongest drawn")


def test_a_part_of_a_result_is_said_to_be_one() -> None:
    assert "not complete" in drawn(result(["a"], complete=False)).axes[0].texts[-1].get_text()


def test_into_axes_of_the_caller() -> None:
    figure = Figure(figsize=(9, 4))
    left, right = figure.subplots(1, 2)
    names = [f"x{k}" for k in range(20)]
    assert result(names, {"s": ("x3",)}).plot(ax=left) is left
    assert result([]).plot(ax=right) is right
    figure.canvas.draw()
    frame = left.get_window_extent()
    for text in left.texts:
        extent = text.get_window_extent()
        assert frame.x0 - 1 <= extent.x0 < extent.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= extent.y0 < extent.y1 <= frame.y1 + 1
    assert overlapping(figure) == []


def test_a_notebook_shows_the_picture() -> None:
    ax: Any = result(["a"]).plot()
    assert ax._repr_png_().startswith(b"\x89PNG")


def test_nothing_global_is_touched() -> None:
    before, pyplot = dict(mpl.rcParams), "matplotlib.pyplot" in sys.modules
    figure_of(result(["a"]).plot()).savefig(BytesIO())
    assert dict(mpl.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == pyplot


def test_what_cannot_be_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OptionError, match="ends in .png, .svg or .pdf, not 'a.txt'"):
        result(["a"]).plot(tmp_path / "a.txt")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'serape\[plots\]'"):
        result(["a"]).plot()


def test_lines_show_effects() -> None:
    draw = np.random.default_rng(0)
    strong, weak = draw.normal(size=(2, 1000))
    y = strong + 0.3 * weak + draw.normal(size=1000)
    found = serape.markov_blanket({"strong": strong, "weak": weak, "y": y}, "y", "hiton-mb", test="partial-correlation")
    ax = found.plot()
    widths = {patch.get_gid(): patch.get_linewidth() for patch in ax.patches if str(patch.get_gid()).startswith("edge")}
    effects = [found.explain(name).effect for name in ("weak", "strong")]
    r = [abs(effect.value) for effect in effects if effect is not None]
    assert widths["edge y weak"] == pytest.approx(0.6 + 4.4 * r[0])
    assert widths["edge y strong"] == pytest.approx(0.6 + 4.4 * r[1])
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][1:] == [
        f"{str(effect).split(',')[0]}" for effect in effects
    ]
