"""What a checkpoint writes is read again, and of what anybody else writes only what can be."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.independence.outcomes import Tally
from serape.locking import LockedFile
from serape.questions import checkpoint
from serape.questions.checkpoint import Checkpoint
from serape.questions.deciding import Weighed
from serape.questions.neighbourhoods import KeptNeighbourhood
from serape.questions.query import Query
from serape.search.associations import Associations, DecidingTest
from serape.search.record import Record, Step
from serape.settings import RunSettings, Settings

NAMES = ["a", "b", "c", "d", "e", "f"]
A, B, C, D = range(4)
TABLE = serape.Table(pd.DataFrame(np.random.default_rng(1).normal(size=(40, 6)), columns=NAMES))
SHOWN = DecidingTest(-7.0, 9.0, 1.0, True, 40, (D,))
STEP: dict[str, Any] = {"step": "a", "neighbours": ["b"], "tests": {"0": 5}, "skipped": {}, "weakest": {}}


def query(**settings: Any) -> Query:
    return Query.resolve(TABLE, "parents-children", Settings.of(algorithm="hiton-pc", **{"fdr": 0.1, **settings}))


def opened(folder: Path, **settings: Any) -> Checkpoint:
    return Checkpoint(folder / "kept", query(**settings))


FoundSet = Step[tuple[int, ...]]


def found_set(target: int, *members: int, tally: Tally, weakest: Mapping[int, DecidingTest] | None) -> FoundSet:
    """Return a step that has found a set; without `weakest`, of a run without a rate."""
    associations = None if weakest is None else Associations.of(target, weakest)
    return Step(target, members, Record(target, tally, associations=associations))


def nobody(target: int) -> FoundSet:
    """Return a step that has found nobody."""
    return found_set(target, tally=Tally({0: 5}), weakest={})


def said(step: FoundSet) -> tuple[Any, ...]:
    """Return all that a step says."""
    target, members, record = step
    associations = record.associations
    weakest = None if associations is None else associations.about(target)
    return target, members, weakest, replace(record, associations=None)


def read_again(folder: Path, **settings: Any) -> tuple[Checkpoint, list[str]]:
    """Return a checkpoint that was opened and closed, and its notes."""
    found = opened(folder, **settings)
    return found, found.close()


def written_by_somebody(folder: Path, *entries: Mapping[str, Any], **settings: Any) -> None:
    """Write lines with a right checksum."""
    opened(folder, **settings).close()
    path = folder / "kept"
    header = json.loads(path.read_text())
    del header["checksum"]
    key = checkpoint.key_of(header)
    path.write_bytes(path.read_bytes() + b"".join(checkpoint.written_line(entry, key) for entry in entries))


# --- what was found ---------------------------------------------------------------------------------------------------


def test_all_that_was_added_is_there_again(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.add_common(Tally({0: 15}))
    apart = SHOWN._replace(log_p=-0.25, given=(), rows=None, separated=True)
    steps = {
        B: found_set(B, A, C, tally=Tally({1: 4}, {2: 1}), weakest={C: SHOWN, D: apart}),
        C: found_set(C, tally=Tally({1: 2}), weakest={}),
    }
    for step in steps.values():
        first.add_step(step)
    by_few_rows = DecidingTest(math.nan, 9.0, 1.0, False, 40, ())
    weighed = {B: Weighed(-6.0, SHOWN), C: Weighed(-5.0, None), D: Weighed(0.0, by_few_rows)}
    counted = Record(A, Tally({0: 5, 2: 3}), ["a note"], steps=["a step"])
    first.add(A, KeptNeighbourhood((B, C, D), counted, weighed))
    assert first.close() == []
    again, notes = read_again(tmp_path)
    assert notes == []
    assert again.common == Tally({0: 15})
    assert {x: said(step) for x, step in again.steps.items()} == {x: said(step) for x, step in steps.items()}
    read = weighed | {D: Weighed(0.0, None)}
    assert again.kept == {A: KeptNeighbourhood((B, C, D), counted, read)}
    assert again.counted == {"a step"}
    assert again.tests == 15 + 4 + 2 + 8


def test_without_a_rate_nothing_is_weighed(tmp_path: Path) -> None:
    first = opened(tmp_path, fdr=None)
    found = KeptNeighbourhood((B,), Record(A, Tally({0: 5})), {})
    first.add(A, found)
    first.close()
    again, notes = read_again(tmp_path, fdr=None)
    assert (again.kept, notes) == ({A: found}, [])
    assert again.tests == 5


def test_without_a_rate_steps_are_not_weighed(tmp_path: Path) -> None:
    first, step = opened(tmp_path, fdr=None), found_set(A, B, tally=Tally({0: 5}), weakest=None)
    first.add_step(step)
    first.close()
    assert b"weakest" not in (tmp_path / "kept").read_bytes()
    again, notes = read_again(tmp_path, fdr=None)
    assert (again.steps, notes) == ({A: step}, [])


def test_one_file_serves_every_rate(tmp_path: Path) -> None:
    """Which edges a rate leaves is judged afterwards; without one, what judges them is not written."""
    opened(tmp_path, fdr=0.1).close()
    opened(tmp_path, fdr=0.2, fdr_method="by").close()
    with pytest.raises(serape.OptionError, match="belongs to a run with fdr 'bounded', not None;"):
        opened(tmp_path, fdr=None)


def test_a_line_ends_with_a_checksum_of_64_bits() -> None:
    """As files of this format have it, whichever release has written them."""
    assert checkpoint.written_line({"a": 1}, b"question") == b'{"a": 1, "checksum": "a8410f015a745f9b"}\n'


def test_what_the_file_has_counts_in_the_budget(tmp_path: Path) -> None:
    written_by_somebody(tmp_path, STEP | {"tests": {"0": 7}, "skipped": {"0": 5}})
    found, _ = read_again(tmp_path)
    found.check_budget(RunSettings())
    found.check_budget(RunSettings(max_tests=8))
    for too_few in (7, 6):
        with pytest.raises(serape.OptionError, match=f"answers of 7 tests, which count, so max_tests={too_few} leaves"):
            found.check_budget(RunSettings(max_tests=too_few))


def test_lines_are_written_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(checkpoint, "time", SimpleNamespace(monotonic=lambda: clock.now))
    found, lines = opened(tmp_path), []
    for target, clock.now in enumerate((100.0, 100.0, 100.9, 101.0, 101.9, 102.0)):
        found.add_step(nobody(target))
        lines.append((tmp_path / "kept").read_bytes().count(b"\n") - 1)
    found.close()
    assert lines == [1, 1, 1, 4, 4, 6]


def test_lines_wait_until_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk ends no search; what was written in part is not written twice."""
    room, append = [3], LockedFile.append

    def limited(file: LockedFile, content: bytes) -> int:
        if room == [0]:
            raise OSError(28, "No space left on device")
        return append(file, content[: room.pop()])

    monkeypatch.setattr(checkpoint, "_WRITE_EVERY", 0.0)
    found = opened(tmp_path)
    first = (tmp_path / "kept").read_bytes()
    with monkeypatch.context() as patch:
        room.insert(0, 0)
        patch.setattr(LockedFile, "append", limited)
        for target in (A, B):
            found.add_step(nobody(target))
        assert (tmp_path / "kept").read_bytes() == first + b'{"s'
    found.add_step(nobody(C))
    assert found.close() == []
    assert list(read_again(tmp_path)[0].steps) == [A, B, C]


def test_lines_for_which_there_is_no_room_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: LockedFile, content: bytes) -> int:
        del file, content
        raise OSError(28, "No space left on device")

    found = opened(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(LockedFile, "append", full)
        for target in (A, B):
            found.add_step(nobody(target))
        notes = found.close()
    assert notes == [
        f"2 lines could not be written to the checkpoint {tmp_path / 'kept'} (No space left on device); make room on "
        f"the disk"
    ]
    assert read_again(tmp_path)[1] == []


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_released_when_it_is_closed_or_refused(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(serape.OptionError, match="is in use by another run"):
        opened(tmp_path)
    first.close()
    with pytest.raises(serape.OptionError, match="belongs to a run with alpha 0.01, not 0.05") as refused:
        opened(tmp_path, alpha=0.05)
    assert refused.tb is not None  # and with it all that the failed attempt knew
    assert read_again(tmp_path)[1] == []


def test_a_first_line_that_was_not_ended_is_written_again(tmp_path: Path) -> None:
    opened(tmp_path).close()
    first = (tmp_path / "kept").read_bytes()
    for begun in (b"", first[:1], first[:-1]):
        (tmp_path / "kept").write_bytes(begun)
        assert read_again(tmp_path)[1] == []
        assert (tmp_path / "kept").read_bytes() == first


def test_a_last_line_that_was_not_ended_is_left_out(tmp_path: Path) -> None:
    written_by_somebody(tmp_path, STEP, STEP | {"step": "c"})
    content = (tmp_path / "kept").read_bytes()
    (tmp_path / "kept").write_bytes(content[:-1])
    for _ in range(2):
        found, notes = read_again(tmp_path)
        assert (list(found.steps), notes) == ([A], [])
        assert (tmp_path / "kept").read_bytes() == b"".join(content.splitlines(keepends=True)[:2])


def test_where_files_have_no_locks_a_note_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.locking._lock", lambda handle: False)
    assert read_again(tmp_path)[1] == [
        f"the file system of the checkpoint {tmp_path / 'kept'} has no locks; do not start a second run with it"
    ]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(file: LockedFile) -> bytes:
        del file
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(LockedFile, "read", broken)
    with pytest.raises(serape.OptionError, match="cannot be read and written: Input"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (b"", "not a checkpoint"), (b"\xff", "not a checkpoint"), (b"[" * 10**5, "not a checkpoint"),
        (b"[]", "not a checkpoint"), (b"{}", "not a checkpoint"),
        (b'{"format": ["serape-neighbourhoods-1"]}', "not a checkpoint"),
        (b'{"format": "serape-neighbourhoods-2", "question": []}', "not a checkpoint"),
        (b'{"format": "serape-neighbourhoods-3", "question": {}}', "not a checkpoint"),
        (b'{"format": "serape-neighbourhoods-1", "question": {}}', "written by an older version"),
        (b'{"format": "serape-neighbourhoods-2", "question": {}}', "belongs to a run with .* None, not "),
    ],
    ids=range(10),
)  # fmt: skip
def test_other_files_are_refused(first: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(first + b"\nmore")
    with pytest.raises(serape.OptionError, match=why):
        opened(tmp_path)
    assert (tmp_path / "kept").read_bytes() == first + b"\nmore"


# --- what can be ------------------------------------------------------------------------------------------------------

LINE: dict[str, Any] = {
    "target": "a", "neighbours": ["b", "c"], "tests": {"0": 5, "1": 2}, "skipped": {"1": 1}, "notes": ["a note"],
    "steps": ["a step"], "log_p": [-6.5, -5], "deciding": [[-7.0, 9.0, 1.0, 40, ["d"]], None],
}  # fmt: skip


def deciding(**changed: Any) -> dict[str, Any]:
    """Return a change of the first deciding test."""
    test = {"log_p": -7.0, "statistic": 9.0, "dof": 1.0, "rows": 40, "given": ["d"]}
    return {"deciding": [list((test | changed).values()), None]}


@pytest.mark.parametrize(
    "change",
    [
        {}, {"tests": {"0": 0}}, {"tests": {"0": (1 << 53) - 1}}, {"tests": {"3": 1}}, {"skipped": {"4": 1}},
        {"log_p": [0, -math.inf]}, {"neighbours": [], "log_p": [], "deciding": []}, {"notes": [], "steps": []},
        deciding(rows=None), deciding(given=[]), deciding(log_p=0, statistic=-9, dof=1.5),
    ],
    ids=str,
)  # fmt: skip
def test_what_can_be_is_believed(change: dict[str, Any], tmp_path: Path) -> None:
    written_by_somebody(tmp_path, LINE | change)
    found, notes = read_again(tmp_path)
    assert notes == []
    assert list(found.kept) == [A]


@pytest.mark.parametrize(
    "change",
    [
        {"tests": {"0": 1 << 53}}, {"tests": {"0": -1}}, {"tests": {"0": 5.0}}, {"tests": {"0": True}},
        {"tests": {"-1": 5}}, {"tests": {"00": 5}}, {"tests": {"4": 5}}, {"tests": []}, {"skipped": {"5": 5}},
        {"target": "z"}, {"target": 0}, {"neighbours": ["b", "z"]}, {"neighbours": ["b", "a"]},
        {"neighbours": ["b", "b"]}, {"neighbours": ["b"]}, {"neighbours": ["b", "c", "d"]},
        {"notes": "a note"}, {"notes": [3]}, {"steps": "a step"}, {"steps": [3]},
        {"log_p": [-6.5, 0.5]}, {"log_p": [-6.5, math.nan]}, {"log_p": [-6.5, "-5"]}, {"log_p": [-6.5, False]},
        {"log_p": [-6.5, -(10**400)]}, {"log_p": [-6.5]}, {"log_p": [-6.5, -5, -4]},
        {"deciding": [None]}, {"deciding": [None] * 3}, {"deciding": [[-7.0, 9.0, 1.0, 40], None]},
        deciding(log_p=0.5), deciding(log_p=None), deciding(statistic="9"), deciding(dof=True), deciding(dof=None),
        deciding(rows=-1), deciding(rows=1.5), deciding(rows=1 << 53), deciding(given=["z"]), deciding(given=["a"]),
        deciding(given=["b"]), deciding(given=["d", "d"]), deciding(given=None),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_is_not_believed(change: dict[str, Any], tmp_path: Path) -> None:
    written_by_somebody(tmp_path, LINE | change)
    found, notes = read_again(tmp_path)
    path = tmp_path / "kept"
    assert notes == [f"line 2 of the checkpoint {path} is damaged; it was left out and found again"]
    assert (found.kept, found.counted) == ({}, set())
    assert read_again(tmp_path)[1] == []


def test_any_size_may_be_tested_if_the_question_says_so(tmp_path: Path) -> None:
    written_by_somebody(tmp_path, LINE | {"tests": {"4": 5}}, max_conditioning=None)
    assert read_again(tmp_path, max_conditioning=None)[1] == []


IN_STEP: list[Any] = [[-7.0, 9.0, 1.0, 40, ["d"]], False]
"""The weakest association of a step, and whether it is a test that separates the two."""
COMMON: dict[str, Any] = {"common": True, "tests": {"0": 15}, "skipped": {}}


@pytest.mark.parametrize(
    ("entries", "believed"),
    [
        ((COMMON, STEP, LINE), 3), ((LINE, STEP, COMMON), 3), ((COMMON, COMMON), 1), ((STEP, STEP), 1),
        ((LINE, LINE), 1), ((STEP, STEP | {"step": "c"}, COMMON), 3), ((COMMON | {"common": False},), 0),
        ((STEP | {"neighbours": ["a"]},), 0), ((STEP | {"step": "z"}, COMMON), 0),
        *(((STEP | {"weakest": {x: test}},), 1) for x, test in (("b", IN_STEP), ("c", [IN_STEP[0], True]))),
        *(
            ((STEP | {"weakest": {x: test}},), 0)
            for x, test in (
                ("a", IN_STEP), ("z", IN_STEP), ("b", IN_STEP[:1]), ("b", [*IN_STEP, 1]), ("b", [None, False]),
                ("b", [IN_STEP[0], 1]), ("b", [[0.5, 9.0, 1.0, 40, ["d"]], False]),
                ("b", [[-7.0, 9.0, 1.0, 40, ["b"]], False]),
            )
        ),
        ((STEP | {"weakest": None},), 0), ((STEP | {"weakest": [IN_STEP]},), 0),
        (({name: value for name, value in STEP.items() if name != "weakest"},), 0),
    ],
    ids=map(str, itertools.count()),
)  # fmt: skip
def test_lines_that_are_believed_stay(entries: tuple[dict[str, Any], ...], believed: int, tmp_path: Path) -> None:
    written_by_somebody(tmp_path, *entries)
    lines = (tmp_path / "kept").read_bytes().splitlines(keepends=True)
    found, notes = read_again(tmp_path)
    assert (tmp_path / "kept").read_bytes() == b"".join(lines[: 1 + believed])
    assert (found.common is not None) + len(found.steps) + len(found.kept) == believed
    assert len(notes) == (believed < len(entries))
