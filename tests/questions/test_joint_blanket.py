"""The blanket of several targets together."""

from __future__ import annotations

from typing import Any

import pytest

import serape
from serape.data.example import clinic, clinic_graph
from serape.errors import Interrupted
from serape.questions.blankets import ask_of_many

TABLE = serape.Table(clinic(3000))
TARGETS = ["ECG", "ChestPain", "HeartDisease"]


def test_it_is_the_union_of_the_blankets_without_the_targets() -> None:
    found = serape.joint_blanket(TABLE, TARGETS, alpha=0.01)
    single = serape.blankets(TABLE, TARGETS, alpha=0.01)
    union = {name for one in single.values() for name in one.blanket} - set(TARGETS)
    assert set(found.blanket) == union == {"Age", "Smoking", "BloodPressure", "Anxiety"}
    assert found.blanket == tuple(name for name in TABLE.names if name in union)
    assert found.by_target == single
    assert found.tests == sum(one.tests for one in single.values())
    assert found.serves["Anxiety"] == ("ChestPain", "HeartDisease")
    assert found.shared == ()
    assert found.links == (("ECG", "HeartDisease"), ("ChestPain", "HeartDisease"))


def test_with_a_perfect_test() -> None:
    oracle = serape.DSeparation(clinic_graph())
    found = serape.joint_blanket(oracle, ["ECG", "ChestPain"])
    assert (set(found.blanket), found.shared) == ({"HeartDisease", "Anxiety"}, ("HeartDisease",))
    assert found.links == ()


def test_by_position_and_with_several_processes() -> None:
    positions = [TABLE.position(name) for name in TARGETS]
    few, many = serape.joint_blanket(TABLE, TARGETS), serape.joint_blanket(TABLE, positions, n_jobs=2)
    assert (many.targets, many.serves, many.links) == (few.targets, few.serves, few.links)


def test_explanations() -> None:
    found = serape.joint_blanket(TABLE, ["ECG", "ChestPain"], alpha=0.01)
    assert found.explain("HeartDisease") == "HeartDisease is in the blanket of ECG, ChestPain: of every target."
    assert found.explain("Anxiety") == "Anxiety is in the blanket of ChestPain, and not of ECG."
    assert found.explain("Ward") == "Ward is in the blanket of no target."
    with pytest.raises(serape.OptionError, match="'ECG' is a target"):
        found.explain("ECG")
    with pytest.raises(serape.OptionError, match="Did you mean 'Age'"):
        found.explain("Aeg")


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        (["ECG"], "two or more targets; for one target use markov_blanket"),
        ("ECG", "must be a list of variables, not 'ECG'"),
        (None, "must be a list of variables"),
        (["ECG", "ECG"], "'ECG' is named twice"),
        (["ECG", 9], "'ECG' is named twice"),
        (["ECG", "HeartDiseas"], "Did you mean 'HeartDisease'"),
        ([], "two or more targets"),
    ],
)
def test_refusals(targets: Any, sentence: str) -> None:
    with pytest.raises(serape.SerapeError, match=sentence) as told:
        serape.joint_blanket(TABLE, targets)
    assert "\n" not in str(told.value)


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    first = "serape.questions.joint_blanket.ask_of_many"
    monkeypatch.setattr(first, lambda query, positions, run: ask_of_many(query, positions[:1], run))
    with pytest.raises(Interrupted) as stopped:
        serape.joint_blanket(TABLE, TARGETS)
    found = stopped.value.found
    assert list(found.by_target) == ["ECG"]
    assert not found.complete
    assert found.links == (("ECG", "HeartDisease"),)
