"""What enters as alpha grows, and what is found again in rows drawn again."""

from __future__ import annotations

import math
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import serape
from serape import AlphaPath, DataError, InputTypeError, OptionError, Stability, Table
from serape.data import resampling
from serape.data.example import clinic
from serape.data.resampling import Resampler
from serape.questions.alpha_path import ALPHAS
from serape.questions.stability import rows_of_draw
from serape.results.charts import MAX_BARS, MAX_ROWS
from serape.results.pictures import figure_of

PATIENTS = Table(clinic(rows=1500))


def assorted(missing: Any = "error", rows: int = 400) -> Table:
    """Return a table with columns of every kind: two, three, ten and 300 levels, numbers, a constant, a copy, gaps."""
    random = np.random.default_rng(3)
    two = random.integers(0, 2, rows)
    number = random.normal(size=rows) + two
    text = [None if random.random() < 0.1 else "abc"[k] for k in random.integers(0, 3, rows)]
    data: dict[str, Any] = {
        "two": two,
        "three": (two + random.integers(0, 2, rows)).tolist(),
        "ten": random.integers(0, 10, rows),
        "many": [f"v{k}" for k in random.integers(0, 300, rows)],
        "number": number,
        "constant": np.zeros(rows, int),
        "copy": 1 - two,
        "other": number + random.normal(size=rows),
        "text": text,
    }
    if missing == "pairwise":
        data["other"] = np.where(random.random(rows) < 0.2, math.nan, data["other"])
    return Table(data, missing=missing)


# --- rows drawn again ------------------------------------------------------------------------------------------------


def check_same(drawn: Table, part: Table) -> None:
    """The two tables hold the same."""
    assert (drawn.names, drawn.rows) == (part.names, part.rows)
    assert dict(drawn.variables) == dict(part.variables)
    for k, name in enumerate(part.names):
        np.testing.assert_array_equal(drawn.column(name), part.column(name))
        assert drawn.is_constant(k) == part.is_constant(k), name
    assert drawn.missing.keys() == part.missing.keys()
    for k, mask in part.missing.items():
        np.testing.assert_array_equal(drawn.missing[k], mask)
    assert drawn.duplicates == part.duplicates
    assert drawn.varying == part.varying


@pytest.mark.parametrize("missing", ["drop", "level", "pairwise"])
@pytest.mark.parametrize("large", [False, True])
def test_drawn_rows_are_those_rows(missing: str, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(resampling, "MAX_VALUES", 0)
    table = assorted(missing)
    everything = range(len(table.names))
    resampler = Resampler(table)
    for rows in (
        np.sort(np.random.default_rng(1).integers(0, table.rows, table.rows)),
        np.arange(7),
        np.flatnonzero(table.codes(0) == 1),  # in which a column is constant
        np.array([3, 3, 3]),
    ):
        check_same(resampler.draw(rows.astype(np.int64)), table.part(everything, rows))
    assert table.rows == assorted(missing).rows  # the table itself is as before
    assert not table.is_constant(0)


def test_a_wide_array_is_drawn_block_by_block() -> None:
    array = np.random.default_rng(0).integers(0, 3, (50, 5000)).astype(np.uint8)
    array[:, 17] = array[:, 4000]
    table = Table(array)
    rows = np.arange(0, 50, 2)
    drawn = Resampler(table).draw(rows)
    assert drawn.duplicates == {17: (17, 4000), 4000: (17, 4000)}
    for k in (0, 2047, 2048, 4999):
        np.testing.assert_array_equal(drawn.column(k), array[rows, k])


@pytest.mark.parametrize("rows", [10, 11])
def test_halves_come_in_pairs_without_a_common_row(rows: int) -> None:
    seen = set()
    for draw in range(0, 20, 2):
        first, second = (rows_of_draw(rows, k, "half", 5) for k in (draw, draw + 1))
        assert len(first) == len(second) == len({*first.tolist(), *second.tolist()}) / 2 == rows // 2
        seen.add(tuple(first.tolist()))
    assert len(seen) > 5
    again = rows_of_draw(rows, 0, "bootstrap", 5)
    assert len(again) == rows > len(set(again.tolist()))


# --- stability -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", ["half", "bootstrap"])
@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_frequencies_are_those_of_searches_by_hand(sampling: Any, algorithm: str) -> None:
    found = serape.stability(
        PATIENTS, "HeartDisease", draws=6, sampling=sampling, algorithm=algorithm, alpha=0.01, random_state=4
    )
    by_hand: Counter[str] = Counter()
    for draw in range(6):
        part = PATIENTS.part(range(len(PATIENTS.names)), rows_of_draw(1500, draw, sampling, 4))
        by_hand.update(serape.markov_blanket(part, "HeartDisease", algorithm, alpha=0.01).blanket)
    assert {name: share for name, share in found.frequencies.items() if share} == {
        name: count / 6 for name, count in by_hand.items()
    }
    assert set(found.frequencies) == set(PATIENTS.names) - {"HeartDisease"}
    assert found.mean_size == pytest.approx(by_hand.total() / 6)
    assert (found.draws, found.rows, found.complete) == (6, 750 if sampling == "half" else 1500, True)
    assert (found.algorithm, found.test, found.alpha) == (algorithm, "g2", 0.01)


def test_the_same_on_any_number_of_threads_and_for_a_seed() -> None:
    one, three, other = (
        serape.stability(PATIENTS, "HeartDisease", draws=30, n_jobs=jobs, random_state=seed)
        for jobs, seed in ((1, 0), (3, 0), (1, 1))
    )
    assert list(one.frequencies.items()) == list(three.frequencies.items())
    assert one.frequencies != other.frequencies


def test_stable_and_records() -> None:
    found = serape.stability(PATIENTS, "HeartDisease", draws=20)
    shares = list(found.frequencies.values())
    assert shares == sorted(shares, reverse=True)
    assert found.stable() == tuple(name for name, share in found.frequencies.items() if share >= 0.5)
    assert found.stable(1.0) == tuple(name for name, share in found.frequencies.items() if share == 1)
    assert {"ECG", "ChestPain"} <= set(found.stable(0.9))
    assert found.records.columns == ("variable", "draws", "share")
    assert [row["draws"] for row in found.records] == [round(20 * share) for share in shares]
    assert f"{found.stable()[0]} ({shares[0]:.0%})" in str(found)
    for threshold in (0, 1.1, "half"):
        with pytest.raises(OptionError, match="threshold must be"):
            found.stable(threshold)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["drop", "level", "pairwise"])
@pytest.mark.parametrize("sampling", ["half", "bootstrap"])
def test_any_data(missing: str, sampling: Any) -> None:
    found = serape.stability(assorted(missing, 200), "two", draws=4, sampling=sampling)
    assert found.test == "mixed"
    assert found.frequencies["constant"] == 0
    assert any("missing" in note for note in found.notes)
    assert "note: constant, so never part of a blanket" in str(found)
    assert serape.alpha_path(assorted(missing, 200), "two", [0.01]).notes == found.notes
    near = serape.stability(assorted(missing, 200), "number", draws=4, sampling=sampling, finds="parents-children")
    assert near.frequencies["other"] == 1
    assert near.title.startswith("Parents and children of number in 4 ")


def test_a_target_that_is_constant_in_a_draw() -> None:
    rare = np.zeros((40, 4), np.uint8)
    rare[:, 1:] = np.random.default_rng(0).integers(0, 2, (40, 3))
    rare[0, 0] = 1
    assert serape.stability(rare, 0, draws=10).mean_size == 0
    assert serape.stability(rare.astype(float), 0, draws=10).draws == 10


def test_bootstraps_find_more_of_what_is_not_there() -> None:
    """Rows that come twice make p-values too small: why halves are the default."""
    noise = np.random.default_rng(1).integers(0, 2, (400, 40)).astype(np.uint8)
    half, bootstrap = (serape.stability(noise, 0, draws=40, sampling=s, alpha=0.01) for s in ("half", "bootstrap"))
    assert half.mean_size < bootstrap.mean_size / 2
    assert half.stable() == ()
    assert serape.stability(noise, 0, draws=2).sampling == "half"


def test_what_is_known_beforehand() -> None:
    found = serape.stability(
        PATIENTS, "HeartDisease", draws=5, known_members=["Weight"], forbidden_members=["ECG"], max_conditioning=2
    )
    assert found.frequencies["Weight"] == 1
    assert found.frequencies["ECG"] == 0


def interrupting(after: int) -> Any:
    told: list[Any] = []

    def progress(now: Any) -> None:
        told.append(now)
        if len(told) == after:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_was_found(jobs: int) -> None:
    found = serape.stability(PATIENTS, "HeartDisease", draws=50, n_jobs=jobs, progress=interrupting(7))
    assert not found.complete
    assert 7 <= found.draws <= 8
    assert found.frequencies["ECG"] == 1
    assert "interrupted" in str(found)
    path = serape.alpha_path(PATIENTS, "HeartDisease", n_jobs=jobs, progress=interrupting(5))
    assert not path.complete
    assert path.alphas == ALPHAS[: len(path.alphas)]
    assert 5 <= len(path.alphas) == len(path.members) <= 6
    assert "interrupted" in str(path)


def test_ctrl_c_before_anything_was_found() -> None:
    def interrupt(search: Any, target: int) -> Any:
        del search, target
        raise KeyboardInterrupt

    for ask in (serape.stability, serape.alpha_path):
        with pytest.raises(KeyboardInterrupt) as raised:
            ask(PATIENTS, "HeartDisease", algorithm=interrupt)
        assert raised.type is KeyboardInterrupt  # not with the result of one draw


def test_progress_is_told_and_silent(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[Any] = []
    serape.stability(PATIENTS, "HeartDisease", draws=3, progress=told.append)
    serape.alpha_path(PATIENTS, "HeartDisease", [0.01, 0.05], progress=told.append)
    assert [now.target for now in told] == ["HeartDisease"] * 5
    assert all("ECG" in now.members for now in told)
    assert capfd.readouterr() == ("", "")
    serape.stability(PATIENTS, "HeartDisease", draws=3, progress=True)
    assert "3/3" in capfd.readouterr().err


# --- the alpha path --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["iamb", "pcmb"])
def test_each_alpha_is_a_search_of_its_own(algorithm: str) -> None:
    path = serape.alpha_path(PATIENTS, "HeartDisease", [0.2, 1e-6, 0.05, 0.05], algorithm, n_jobs=2)
    assert path.alphas == (1e-6, 0.05, 0.2)
    searches = [serape.markov_blanket(PATIENTS, "HeartDisease", algorithm, alpha=alpha) for alpha in path.alphas]
    assert path.members == tuple(found.blanket for found in searches)
    assert path.tests == sum(found.tests for found in searches)
    assert path.complete
    near = serape.alpha_path(PATIENTS, "HeartDisease", [0.01], "mmpc", finds="parents-children")
    assert near.members == (serape.parents_children(PATIENTS, "HeartDisease", "mmpc", alpha=0.01).parents_children,)


def test_data_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    original = Table.__init__

    def counted(table: Table, *arguments: Any) -> None:
        read.append(1)
        original(table, *arguments)

    monkeypatch.setattr(Table, "__init__", counted)
    serape.alpha_path(PATIENTS.to_pandas(), "HeartDisease", [0.01, 0.05])
    serape.stability(PATIENTS.to_pandas(), "HeartDisease", draws=3)
    assert len(read) == 2


def test_records_tell_when_a_variable_enters() -> None:
    path = AlphaPath("t", "blanket", (0.01, 0.05, 0.1, 0.2), (("b",), ("a", "b"), ("b",), ("a", "b", "c")), 5, "gs",
                     "g2", 9, 0.1, True)  # fmt: skip
    assert list(path.records) == [
        {"variable": "b", "enters": 0.01, "share": 1.0},
        {"variable": "a", "enters": 0.05, "share": 0.5},
        {"variable": "c", "enters": 0.2, "share": 0.25},
    ]
    assert "from 0.05: a" in str(path)
    ax = path.plot()
    assert names_of(ax) == ["b", "a", "c"]
    bars = rows_of(ax)
    assert {name: len(runs) for name, runs in bars.items()} == {"b": 1, "a": 2, "c": 1}  # a has a gap
    for name, runs in bars.items():
        for alpha, members in zip(path.alphas, path.members, strict=True):
            assert any(left < alpha < right for left, right in runs) == (name in members)


def names_of(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def rows_of(ax: Axes) -> dict[str, list[tuple[float, float]]]:
    """Return by name where its bars begin and end."""
    names = names_of(ax)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for bar in bars_of(ax):
        found[names[round(bar.get_y() + bar.get_height() / 2)]].append((bar.get_x(), bar.get_x() + bar.get_width()))
    return found


def bars_of(ax: Axes) -> list[Rectangle]:
    return [bar for container in ax.containers for bar in container.patches]  # type: ignore[attr-defined]


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
    return Stability(target, "blanket", "half", 100, 500, 3.0, shares, "iamb", "g2", 0.05, 0, 0.1, True)


def path_result(names: list[str], target: str = "T") -> AlphaPath:
    alphas = ALPHAS
    members = tuple(tuple(names[: 2 * k + 1]) for k in range(len(alphas)))
    return AlphaPath(target, "blanket", alphas, members, 100, "iamb", "g2", 9, 0.1, True)


@pytest.mark.parametrize("count", [1, 5, 20, 50])
@pytest.mark.parametrize("kind", NAMES)
def test_charts_can_be_read(count: int, kind: str) -> None:
    names = [NAMES[kind].format(k) for k in range(count)]
    for target in ("T", NAMES["long"]):
        bars, path = stable_result(names, target).plot(), path_result(names, target).plot()
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
    assert "threshold 80 %" in words
    assert "9 other variables found at least once, in at most 25 % of the draws." in words
    assert "No variable is found in any draw." in [t.get_text() for t in stable_result([]).plot().texts]
    nothing = AlphaPath("t", "blanket", (0.01,), ((),), 5, "gs", "g2", 9, 0.1, True)
    assert "No variable is found at any alpha up to 0.01." in [t.get_text() for t in nothing.plot().texts]


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


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"sampling": "third"}, OptionError, "sampling='third' is not known; use one of 'half', 'bootstrap'"),
        ({"draws": 0}, OptionError, "draws must be a whole number from 1 on, not 0"),
        ({"random_state": None}, OptionError, "random_state must be"),
        ({"alpha": 2}, OptionError, "alpha must lie between 0 and 1"),
        ({"finds": "children"}, OptionError, "finds='children' is not known"),
        ({"algorithm": "iamm"}, OptionError, "Did you mean 'iamb'"),
        ({"whatever": 1}, OptionError, "has no option 'whatever'"),
        ({"n_jobs": 0}, OptionError, "n_jobs must be"),
    ],
)
def test_stability_refuses(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        serape.stability(PATIENTS, "HeartDisease", **options)


def test_other_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = serape.DSeparation(serape.load_network("asia").graph)
    with pytest.raises(InputTypeError, match="DSeparation.*pass the table"):
        serape.stability(oracle, "dysp")
    with pytest.raises(OptionError, match="a half of 3 rows"):
        serape.stability([{"a": k % 2, "b": k} for k in range(3)], "a")
    with pytest.raises(OptionError, match="no column 'Heart'"):
        serape.stability(PATIENTS, "Heart")
    with pytest.raises(DataError, match="constant"):
        serape.stability(assorted("drop"), "constant")
    for alphas, words in (([], "empty"), ([0.05, 1.5], "not be 1.5"), (["a"], "not be 'a'")):
        with pytest.raises(OptionError, match=words):
            serape.alpha_path(PATIENTS, "HeartDisease", alphas)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="list of numbers"):
        serape.alpha_path(PATIENTS, "HeartDisease", 0.05)  # type: ignore[arg-type]
    assert set(serape.alpha_path(oracle, "dysp", [0.05]).members[0]) == {"bronc", "either"}
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for found in (stable_result(["a"]), path_result(["a"])):
        with pytest.raises(OptionError, match=r"pip install 'serape\[plots\]'"):
            found.plot()
