"""The corpus of answers: it asks about everything, names what differs, and leaves out what varies."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import serape
from corpus import all_runs, hashes_of, read_record, summary, write_record
from corpus_parts import later_texts, parts_of, rounded
from corpus_questions import SECTIONS, make_question, missing_names
from serape.data.example import clinic

RECORD = Path(__file__).with_name("corpus.txt")


def test_every_algorithm_test_and_score_is_asked_about() -> None:
    assert missing_names() == []
    drawn = [
        make_question(section, k) for section in ("blanket", "neighbours", "network", "causes") for k in range(170)
    ]
    words = {str(value) for run in drawn for value in run.settings.values() if isinstance(value, str)}
    algorithms = set(serape.algorithms()["name"])
    assert algorithms <= words
    given = {name for run in drawn for name in run.settings}
    assert given >= {
        "fdr", "fdr_method", "min_effect", "sample_weight", "groups", "known_members", "forbidden_members", "knowledge",
        "missing", "hidden", "learner", "random_state", "max_conditioning",
    }  # fmt: skip
    forms = {form for run in drawn for form in run.settings.get("knowledge", ())}
    assert forms == {"required", "forbidden", "forbidden_pairs", "tiers"}


def test_every_way_of_asking_is_asked_about() -> None:
    """Rows with weights and in groups, a part of the rows, several processes, and budgets, for several questions."""
    sections = {section: SECTIONS[section] for section in ("hidden", "rows", "part", "cores", "budget")}
    drawn = [make_question(section, k).settings for section, count in sections.items() for k in range(count)]
    asked = {(setting, run["question"]) for run in drawn for setting in run}
    for setting, questions in (
        ("hidden", ("markov_blanket", "causes")),
        ("sample_weight", ("causes", "joint_blanket", "context_blankets", "skeleton", "network")),
        ("groups", ("causes", "joint_blanket", "context_blankets", "skeleton", "network")),
        ("decide_on_part", ("markov_blanket", "skeleton")),
        ("n_jobs", ("blankets", "skeleton", "network", "joint_blanket")),
        ("max_tests", ("markov_blanket", "blankets", "causes", "context_blankets", "skeleton", "network")),
    ):
        assert {(setting, question) for question in questions} <= asked, setting


def test_a_part_of_the_rows_is_asked_about_beside_all() -> None:
    for k in range(0, SECTIONS["part"], 2):
        one, other = (make_question("part", k + i).settings for i in range(2))
        assert {**one, "decide_on_part": True} == other
        assert one["decide_on_part"] is False


def test_the_record_has_every_run() -> None:
    assert list(read_record(RECORD)) == all_runs()


def test_a_run_is_the_same_when_it_is_made_again() -> None:
    for section in SECTIONS:
        first, again = make_question(section, 1), make_question(section, 1)
        assert str(first) == str(again)
    assert later_texts(make_question("joint_blanket", 2)) == later_texts(make_question("joint_blanket", 2))


def test_what_varies_is_left_out() -> None:
    assert rounded({"seconds": 0.5, "p": 0.123456789, "n": np.int64(3)}) == {"p": 0.1234568, "n": 3}
    assert rounded([1e-17, -1e-17, 0.0, math.inf, True]) == [0.0, 0.0, 0.0, math.inf, True]


def test_a_changed_answer_is_told_apart_from_changed_words(tmp_path: Path) -> None:
    found = serape.markov_blanket(clinic(200), "HeartDisease", "iamb", alpha=0.05)
    parts = parts_of(found)
    assert parts["answer"]["blanket"] == found.blanket
    assert list(parts["numbers"]) == list(found.evidence.columns)
    assert str(found) in parts["text"]
    before = later_texts(make_question("neighbours", 1))
    assert "numbers:p" in before
    after = {**before, "text": "other words", "numbers:p": "other numbers"}
    one, other = hashes_of("neighbours-1", before), hashes_of("neighbours-1", after)
    assert {part for part in one if one[part] != other[part]} == {"text", "numbers:p"}
    differing = {"neighbours-1": ["text", "numbers:p", "numbers:adjusted_p"], "3": ["counts"], "4": ["counts"]}
    assert list(summary(differing, {"the first 5,000": 10, "neighbours": 2, "causes": 1})) == [
        "the first 5,000: counts only, in 2 of 10 runs",
        "neighbours: text, numbers (adjusted_p, p) only, in 1 of 2 runs",
    ]
    kept = {"neighbours-1": one, "neighbours-2": {part: one[part] for part in one if part != "numbers:p"}}
    write_record(tmp_path / "record", kept)
    assert read_record(tmp_path / "record") == kept


@pytest.mark.parametrize("seconds", ["0.5 s", "12 s", "4.09e-05 s", "1,200 ms", "3 min"])
def test_times_are_left_out(seconds: str) -> None:
    from corpus_parts import TIME

    assert TIME.sub("·", f"10 tests, {seconds}\n") == "10 tests, ·\n"
