"""Saved results, structures and checkpoints with any content are read, or refused with one sentence."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import serape
from serape.data.example import clinic

DIGITS = "1" * 5000
HOSTILE: list[Any] = [
    None, True, -1, 1.5, "x", "", [], {}, [[]], {"a": 1}, [None], 1e308, float("inf"), float("nan"), 2**70, -(2**70),
    10**400, "1e999", "\ud800", "\x1b[31m", ["a", "a"], [{"x": 1}], "inf", "@digits@",
]  # fmt: skip
PER_FILE = 150


def use_result(path: Path) -> None:
    found = serape.load_result(path)
    assert "\x1b" not in str(found)
    repr(found)
    list(found.evidence)
    found._repr_html_()
    for name in found.blanket[:2]:
        found.explain(name)
    found.report(path.with_suffix(".html"))
    found.save(path.with_suffix(".again"))


def use_blankets(path: Path) -> None:
    found = serape.load_result(path)
    assert "\x1b" not in str(found)
    repr(found)
    list(found.records)
    found._repr_html_()
    for name in found.members[:2]:
        found.explain(name)
    found.report(path.with_suffix(".html"))
    found.save(path.with_suffix(".again"))


def use_contexts(path: Path) -> None:
    found = serape.load_result(path)
    assert "\x1b" not in str(found)
    repr(found)
    list(found.records)
    list(found.evidence)
    found._repr_html_()
    for name in found.blanket[:2]:
        found.explain(name)
    found.report(path.with_suffix(".html"))
    found.save(path.with_suffix(".again"))


def use_knockoffs(path: Path) -> None:
    found = serape.load_result(path)
    assert "\x1b" not in str(found)
    repr(found)
    list(found.records)
    found._repr_html_()
    found.selected(0.2)
    found.save(path.with_suffix(".again"))


def use_structure(path: Path) -> None:
    found = serape.load_structure(path)
    assert "\x1b" not in str(found)
    repr(found)
    found.edges_with_evidence()
    found._repr_html_()
    found.report(path.with_suffix(".html"))
    found.save(path.with_suffix(".again"))
    found.save(path.with_suffix(".dot"))


def places(content: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    keys = content if isinstance(content, dict) else range(min(len(content), 3)) if isinstance(content, list) else ()
    for key in keys:
        yield from places(content[key], (*at, key))


def changed(content: Any, at: tuple[Any, ...], value: Any) -> str:
    if not at:
        return json.dumps(value)
    content = copy.deepcopy(content)
    inside = content
    for key in at[:-1]:
        inside = inside[key]
    inside[at[-1]] = value
    return json.dumps(content).replace('"@digits@"', DIGITS)


def assert_read_or_refused(use: Callable[[Path], object], path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    try:
        use(path)
    except serape.SerapeError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 600


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    data = serape.Table(clinic(300))
    serape.markov_blanket(data, "HeartDisease", "hiton-mb", alpha=0.05, fdr=0.2).save(folder / "result.json")
    serape.all_blankets(data, "HeartDisease", alpha=0.05).save(folder / "blankets.json")
    serape.context_blankets(data, "HeartDisease", "Parking", alpha=0.05).save(folder / "contexts.json")
    serape.joint_blanket(data, ["ECG", "ChestPain"], alpha=0.05).save(folder / "joint.json")
    serape.knockoff_filter(data, "HeartDisease").save(folder / "knockoffs.json")
    serape.causes(data, "HeartDisease", alpha=0.05).save(folder / "causes.json")
    serape.skeleton(data, "hiton-pc", alpha=0.05).save(folder / "skeleton.json")
    serape.network(data, "mmhc").save(folder / "network.json")
    return folder


@pytest.mark.parametrize("name", ["result", "blankets", "contexts", "joint", "knockoffs", "skeleton", "network"])
def test_any_content(files: Path, tmp_path: Path, name: str) -> None:
    use = {
        "result": use_result,
        "blankets": use_blankets,
        "contexts": use_contexts,
        "joint": use_contexts,
        "knockoffs": use_knockoffs,
    }.get(name, use_structure)
    content = json.loads((files / f"{name}.json").read_text())
    chance = random.Random(0)
    where = list(places(content))
    for _ in range(PER_FILE):
        text = changed(content, chance.choice(where), chance.choice(HOSTILE))
        assert_read_or_refused(use, tmp_path / "changed.json", text)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("tests",), "@digits@"), (("alpha",), -1), (("threshold",), -1), (("blanket",), "x"), (("blanket",), ["x"]),
        (("evidence", "log_p", 0), 1e308), (("evidence", "effect", 0), -1), (("evidence", "effect", 0), 1e308),
        (("evidence", "reliable", 0), []), (("evidence", "rows"), ""), (("evidence", "rows"), 10**400),
        (("parents_children",), []), (("tests",), float("inf")), (("target",), "\ud800"),
        (("options", "max_conditioning"), "x"),
    ],
)  # fmt: skip
def test_of_results(files: Path, tmp_path: Path, at: tuple[Any, ...], value: Any) -> None:
    content = json.loads((files / "result.json").read_text())
    assert_read_or_refused(use_result, tmp_path / "changed.json", changed(content, at, value))


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("blankets",), []), (("blankets", 0), "x"), (("blankets", 0), ["x"]), (("blankets", 0), ["Age", "Age"]),
        (("trials", 0, "verdict"), "x"), (("trials", 0, "removed"), []), (("trials", 0, "log_p"), 1e308),
        (("interchangeable",), {"x": ["y"]}), (("interchangeable",), []), (("known",), ["x"]), (("target",), "\ud800"),
        (("max_blankets",), "@digits@"), (("tests_by_size",), {"x": 1}), (("trials", 0, "effect"), -1),
    ],
)  # fmt: skip
def test_of_all_blankets(files: Path, tmp_path: Path, at: tuple[Any, ...], value: Any) -> None:
    content = json.loads((files / "blankets.json").read_text())
    assert_read_or_refused(use_blankets, tmp_path / "changed.json", changed(content, at, value))


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("members",), ["x"]), (("members",), "Age"), (("statistics",), []), (("statistics", "Age"), "x"),
        (("statistics", "Age"), None), (("threshold",), -1), (("threshold",), None), (("fdr",), 7), (("offset",), 2),
        (("offset",), float("inf")), (("random_state",), "@digits@"), (("same",), ["x"]), (("target",), "\ud800"),
    ],
)  # fmt: skip
def test_of_knockoffs(files: Path, tmp_path: Path, at: tuple[Any, ...], value: Any) -> None:
    content = json.loads((files / "knockoffs.json").read_text())
    assert_read_or_refused(use_knockoffs, tmp_path / "changed.json", changed(content, at, value))


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("total",), "x"), (("total",), 10**400), (("total",), "@digits@"), (("alpha",), []), (("test",), True),
        (("notes",), [[]]), (("edges", 0, "gain"), None), (("edges", 0, "log_p"), 1e308), (("edges", 0, "effect"), -1),
        (("variables", 1), "\ud800"), (("separating_sets", 0), {"pair": ["Age"], "given": []}),
        (("separating_sets", 0), {"pair": [None, "Age"], "given": []}),
        (("separating_sets", 0), {"pair": ["Age", "Smoking"], "given": [[]]}),
    ],
)  # fmt: skip
def test_of_networks(files: Path, tmp_path: Path, at: tuple[Any, ...], value: Any) -> None:
    content = json.loads((files / "network.json").read_text())
    content["separating_sets"] = content["separating_sets"] or [{"pair": ["Age", "Smoking"], "given": []}]
    assert_read_or_refused(use_structure, tmp_path / "changed.json", changed(content, at, value))


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("result", ("blanket",), ["nobody"]), ("blankets", ("interchangeable",), {"nobody": []}),
        ("knockoffs", ("members",), ["nobody"]), ("knockoffs", ("same",), ["nobody"]),
        ("causes", ("edges", 0, "from"), "nobody"), ("causes", ("edges", 0, "to"), "nobody"),
        ("causes", ("marks",), {"nobody": "x"}), ("causes", ("expanded",), ["nobody"]),
        ("contexts", ("context",), "nobody"), ("contexts", ("changes",), ["nobody"]),
        ("contexts", ("causes",), ["nobody"]),
        ("contexts", ("invariant_sets",), [["nobody"]]),
        ("joint", ("targets",), ["nobody"]),
        ("skeleton", ("separating_sets", 0, "given"), ["nobody"]),
        ("skeleton", ("separating_sets", 0, "pair", 0), "nobody"),
    ],
)  # fmt: skip
def test_names_of_no_variable_are_refused(
    files: Path, tmp_path: Path, name: str, at: tuple[Any, ...], value: Any
) -> None:
    content = json.loads((files / f"{name}.json").read_text())
    load = serape.load_structure if name == "skeleton" else serape.load_result
    load(files / f"{name}.json")
    path = tmp_path / "changed.json"
    path.write_text(changed(content, at, value), encoding="utf-8")
    with pytest.raises(serape.DataError, match="is damaged"):
        load(path)


@pytest.mark.parametrize("load", [serape.load_result, serape.load_structure])
@pytest.mark.parametrize("text", ["[" * 100_000, '{"x":' * 100_000, DIGITS, f'{{"format": {DIGITS}}}', "\x00", ""])
def test_texts_that_are_no_content(tmp_path: Path, load: Callable[[Path], object], text: str) -> None:
    (tmp_path / "text.json").write_text(text)
    with pytest.raises(serape.DataError, match="cannot be read as JSON|saved by serape"):
        load(tmp_path / "text.json")


@pytest.mark.parametrize("line", [1, 2])
def test_checkpoints(tmp_path: Path, line: int) -> None:
    data = {name: values for name, values in clinic(200).items() if name in ("Age", "Smoking", "ECG", "HeartDisease")}

    def use(path: Path) -> object:
        return serape.skeleton(data, "hiton-pc", checkpoint=path)

    use(tmp_path / "checkpoint")
    lines = (tmp_path / "checkpoint").read_text().splitlines()
    content = json.loads(lines[line])
    for at in places(content):
        for value in HOSTILE:
            lines[line] = changed(content, at, value)
            assert_read_or_refused(use, tmp_path / "changed", "\n".join(lines) + "\n")
    lines[1] = "[" * 100_000
    assert_read_or_refused(use, tmp_path / "changed", "\n".join(lines) + "\n")
