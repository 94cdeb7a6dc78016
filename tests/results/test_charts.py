"""Charts of alpha paths and stability: readable, complete, in the caller's axes."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drawn import bars_of, names_of
from serape import AlphaPath, MissingLibraryError, OptionError, Stability
from serape.questions.alpha_path import ALPHAS
from serape.results.charts import MAX_BARS, MAX_ROWS
from serape.results.pictures import figure_of

# --- the alpha path --------------------------------------------------------------------------------------------------


def check_readable(ax: Axes) -> None:
    """No two words meet, and all are in the picture."""
    figure = figure_of(ax)
    figure.canvas.draw()
    words = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts, ax.title, ax.xaxis.label]
    low, high = ax.get_xlim()
    ticks = dict(zip(ax.get_xticklabels(), ax.get_xticks(), strict=True))
    words = [w for w in words if w.get_text() and low <= ticks.get(w, low) <= high]
    placed = [word.get_window_extent() for word in words]
    for a, b in combinations(range(len(words)), 2):
        assert not placed[a].overlaps(placed[b]), (words[a].get_text(), words[b].get_text())
    for word, box in zip(words, placed, strict=True):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, word.get_text()
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, word.get_text()
    assert not any(label.get_parse_math() for label in (*ax.get_yticklabels(), ax.title))


# --- charts ----------------------------------------------------------------------------------------------------------


NAMES = {"short": "x{}", "long": "a_name_that_is_much_too_long_for_any_column_in_a_survey_{}", "math": "$x_{}^2$"}


def stable_result(names: list[str], target: str = "T") -> Stability:
    shares = {name: max(0.0, 1 - k / 40) for k, name in enumerate(names)}
    return Stability(
        target=target, finds="blanket", sampling="half", draws=100, pairs=50, rows=500, mean_size=3.0, mean_found=3.0,
        candidates=100, frequencies=shares, algorithm="iamb", test="g2", alpha=0.05, random_state=0, seconds=0.1,
        complete=True,
    )  # fmt: skip


def path_result(names: list[str], target: str = "T") -> AlphaPath:
    alphas = ALPHAS
    members = tuple(tuple(names[: 2 * k + 1]) for k in range(len(alphas)))
    return AlphaPath(target, "blanket", alphas, members, 100, "iamb", "g2", 9, 0.1, True)


@pytest.mark.parametrize("count", [1, 20, 50])
@pytest.mark.parametrize("kind", NAMES)
def test_charts_can_be_read(count: int, kind: str) -> None:
    names = [NAMES[kind].format(k) for k in range(count)]
    for target in ("T", NAMES["long"]):
        bars, path = stable_result(names, target).plot(), path_result(names, target).plot()
        for threshold in (0.51, 1.0):  # with a bound on false selections
            check_readable(stable_result(names, target).plot(threshold=threshold))
        check_readable(bars)
        check_readable(path)
    assert [name.replace("\n", "") for name in names_of(bars)] == names[:MAX_BARS]
    entered = len({name for members in path_result(names).members for name in members})
    assert len(names_of(path)) == min(MAX_ROWS, entered)


def test_stability_chart() -> None:
    names = [f"x{k}" for k in range(39)]
    ax = stable_result(names).plot(threshold=0.8)
    bars = bars_of(ax)
    assert [bar.get_width() for bar in bars] == [1 - k / 40 for k in range(MAX_BARS)]
    strong = {bar.get_facecolor() for bar in bars if bar.get_width() >= 0.8}
    weak = {bar.get_facecolor() for bar in bars if bar.get_width() < 0.8}
    assert len(strong) == len(weak) == 1 != len(strong | weak) == 2
    words = [text.get_text() for text in ax.texts]
    assert "threshold 80 %: at most 0.074 false" in words  # 4 (0.2 + 0.01) / 1.02 · 3² / 100
    assert "9 other variables found at least once, in at most 25 % of the draws." in words
    assert "No variable is found in any draw." in [t.get_text() for t in stable_result([]).plot().texts]
    nothing = AlphaPath("t", "blanket", (0.01,), ((),), 5, "gs", "g2", 9, 0.1, True)
    assert "No variable is found at any alpha up to 0.01." in [t.get_text() for t in nothing.plot().texts]


def test_ticks_have_one_notation() -> None:
    for names in ([], ["a"]):
        ax = stable_result(names).plot()
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    for alphas, form in ((ALPHAS, "1e-"), ((0.001, 0.01, 0.1), "0.")):
        ax = AlphaPath("t", "blanket", alphas, (("a",),) * len(alphas), 5, "gs", "g2", 9, 0.1, True).plot()
        figure_of(ax).canvas.draw()
        low, high = ax.get_xlim()
        ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        shown = [label.get_text() for at, label in ticks if low <= at <= high]
        assert len(shown) > 1
        assert all(text.startswith(form) for text in shown)


def test_files_and_axes_of_the_caller(tmp_path: Path) -> None:
    left, right = Figure(figsize=(12, 5)).subplots(1, 2)
    assert stable_result(["a"]).plot(ax=left) is left
    assert path_result(["a"]).plot(ax=right) is right
    results: list[Any] = [stable_result(["a", "b"]), path_result(["a", "b"])]
    for k, found in enumerate(results):
        ax: Any = found.plot(tmp_path / f"{k}.png")
        assert ax._repr_png_() == (tmp_path / f"{k}.png").read_bytes()
        with pytest.raises(OptionError, match="ends in"):
            found.plot(tmp_path / "a.jpg")


# --- refusals --------------------------------------------------------------------------------------------------------


def test_charts_need_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for found in (stable_result(["a"]), path_result(["a"])):
        with pytest.raises(MissingLibraryError, match=r"pip install 'serape\[plots\]'"):
            found.plot()
