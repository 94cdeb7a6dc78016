"""What the results about contexts and about several targets show, draw, report and save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
from html_reader import Reader
from serape.data.example import clinic

ODD = "<b>Site</b>"


def contexts(context: str = "Site") -> serape.ContextBlankets:
    other = dict(clinic(2000, seed=2))
    other["ChestPain"] = np.random.default_rng(0).permutation(other["ChestPain"])
    table = serape.join_tables({"a<i>": clinic(2000, seed=1), "b": other}, context=context)
    return serape.context_blankets(table, "HeartDisease", context)


@pytest.fixture(scope="module")
def found() -> serape.ContextBlankets:
    return contexts()


@pytest.fixture(scope="module")
def joint() -> serape.JointBlanket:
    return serape.joint_blanket(clinic(2000), ["ECG", "ChestPain", "Weight"])


def test_saved_and_loaded(found: serape.ContextBlankets, joint: serape.JointBlanket, tmp_path: Path) -> None:
    for one in (found, joint):
        one.save(tmp_path / "found.json")
        again = serape.load_result(tmp_path / "found.json")
        assert again == one
        assert str(again) == str(one)
        assert repr(again) == repr(one)
        assert again.explain("Anxiety") == one.explain("Anxiety")
        assert [list(row) for row in again.evidence] == [list(row) for row in one.evidence]
    assert found != joint
    assert found == contexts()


def test_an_explanation_names_the_contexts(found: serape.ContextBlankets) -> None:
    assert found.explain("Age").startswith("Age is in the blanket of HeartDisease in all 2 contexts. In all rows: ")
    assert found.explain("ChestPain").startswith("ChestPain is found in a<i>. In b, ")
    assert "Given the blanket, HeartDisease is dependent on Site (x2-moments = " in found.explain("Site")
    assert found.explain("Ward").startswith("Ward is not in the Markov blanket")
    with pytest.raises(serape.OptionError, match="there is no variable"):
        found.explain("Wardd")


def test_evidence_has_every_member_in_every_context(found: serape.ContextBlankets) -> None:
    rows = list(found.evidence)
    assert [(row["variable"], row["context"]) for row in rows] == [
        (name, context) for name in found.members for context in found.contexts
    ]
    for row in rows:
        assert row["included"] == (row["context"] in found.found_in(row["variable"]))
        assert (row["p of less"] == row["p of less"]) == (not row["included"])
    assert len(found.evidence.to_pandas()) == len(rows)


def test_records(found: serape.ContextBlankets, joint: serape.JointBlanket) -> None:
    assert found.records["status"] == [found.status[name] for name in found.members]
    assert joint.records["targets"] == [len(joint.serves[name]) for name in joint.blanket]
    assert {row["target"] for row in joint.evidence} == set(joint.targets)


def test_pictures(found: serape.ContextBlankets, joint: serape.JointBlanket, tmp_path: Path) -> None:
    ax = found.plot(tmp_path / "contexts.png")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["all rows", "a<i>", "b"]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(found.members)
    boxes = sum(len(one.blanket) for one in found.by_context.values()) + len(found.blanket)
    assert len([patch for patch in ax.patches if patch.get_zorder() == 2]) == boxes
    ax = joint.plot(tmp_path / "joint.svg")
    assert [label.get_text() for label in ax.get_xticklabels()] == list(joint.targets)
    with pytest.raises(serape.OptionError, match=r"\.png, \.svg or \.pdf"):
        joint.plot(tmp_path / "joint.txt")


def test_reports(found: serape.ContextBlankets, joint: serape.JointBlanket, tmp_path: Path) -> None:
    found.report(tmp_path / "contexts.html")
    text = Reader((tmp_path / "contexts.html").read_text(encoding="utf-8")).text
    for words in ("Members by context", "in some contexts", "Tests by context", "context_blankets", "context='Site'"):
        assert words in text
    joint.report(tmp_path / "joint.html")
    text = Reader((tmp_path / "joint.html").read_text(encoding="utf-8")).text
    for words in ("Joint Markov blanket", "Serves", "joint_blanket", "['ECG', 'ChestPain', 'Weight']"):
        assert words in text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    odd = contexts(ODD)
    odd.report(tmp_path / "odd.html")
    page = (tmp_path / "odd.html").read_text(encoding="utf-8")
    assert "<b>Site" not in page
    assert "<b>Site" not in odd._repr_html_()
    assert "a<i>" not in odd._repr_html_()


def test_the_calls_of_a_report_repeat_the_result(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    serape.Table(clinic(400)).to_pandas().to_csv(path, index=False)
    found = serape.context_blankets(path, "HeartDisease", "Ward")
    found.report(tmp_path / "report.html")
    text = Reader((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert f"serape contexts {path}" in text
    assert "--context Ward" in text
    serape.joint_blanket(path, ["ECG", "Age"]).report(tmp_path / "report.html")
    text = Reader((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert f"serape joint {path}" in text
    assert text.count("--target") == 2


OF_CONTEXTS: list[tuple[str, Any]] = [
    ("target", "x"), ("context", "x"), ("context", "HeartDisease"), ("changes", ["x"]), ("causes", "Age"),
    ("by_context", []), ("by_context", {"a": None}), ("differences", [{}]), ("invariance", {}), ("pooled", None),
    ("invariant_sets", [["x"]]), ("tests", "x"), ("not_searched", []),
]  # fmt: skip
OF_TARGETS: list[tuple[str, Any]] = [
    ("targets", ["x"]), ("by_target", {}), ("by_target", {"x": 1}), ("names", ["x"]), ("names", "x"), ("notes", 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "name", "value"),
    [*(("contexts", *one) for one in OF_CONTEXTS), *(("joint", *one) for one in OF_TARGETS)],
)
def test_damaged_files(
    found: serape.ContextBlankets, joint: serape.JointBlanket, tmp_path: Path, what: str, name: str, value: Any
) -> None:
    content = (found if what == "contexts" else joint).to_dict()
    assert name in content
    (tmp_path / "x.json").write_text(json.dumps({**content, name: value}), encoding="utf-8")
    with pytest.raises(serape.DataError, match="is damaged") as told:
        serape.load_result(tmp_path / "x.json")
    assert "\n" not in str(told.value)


def test_nothing_found() -> None:
    random = np.random.default_rng(0)
    data = {name: random.integers(0, 2, 300) for name in "xyz"} | {"site": np.repeat(["a", "b"], 150)}
    found = serape.context_blankets(data, "x", "site")
    assert (found.members, found.common, found.invariant) == ((), (), True)
    assert len(found.evidence) == 0
    assert "in all contexts: none" in str(found)
    found.plot()
    joint = serape.joint_blanket(data, ["x", "y"])
    assert joint.blanket == ()
    assert "no variables" in str(joint)
    joint.plot()
