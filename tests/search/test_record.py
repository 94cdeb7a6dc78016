"""The record of a step: what it keeps, what it hands over, and what counts once."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from serape.independence.outcomes import Outcome, Tally
from serape.search.associations import Associations
from serape.search.record import Record
from serape.search.separations import NO_SEPARATIONS, Separations
from serape.search.told import Told
from serape.search.unreliable import READ_NOTES

A, B, C, D = range(4)
LOG_ALPHA = -3.0
DEPENDENT, WEAKER, INDEPENDENT = (Outcome(1.0, 1.0, log_p, reliable=True) for log_p in (-9.0, -5.0, -1.0))
ONCE = READ_NOTES["all"]


def kept(**more: Any) -> Record:
    return Record(separations=Separations(), associations=Associations(), **more)


def filled() -> Record:
    """Return a record with some of everything."""
    found = kept(about=B, notes=["a note", ONCE], steps=["a step"])
    found.tally.add(1, 3, 2)
    found.add_test(A, B, (C,), INDEPENDENT, LOG_ALPHA)
    found.add_test(A, C, (D,), WEAKER, LOG_ALPHA)
    found.other_side[B, True] = WEAKER, (C,)
    return found


@pytest.mark.parametrize("whole", [kept(), Record()], ids=["everything", "counts"])
def test_a_step_keeps_what_its_search_keeps(whole: Record) -> None:
    step = whole.of_step(A)
    assert (step.about, step.tally, step.notes, step.told) == (A, Tally(), [], None)
    assert step.keeps_separations == whole.keeps_separations
    assert step.separations is not whole.separations or step.separations is NO_SEPARATIONS
    assert (step.associations is None) == (whole.associations is None)
    told = Told(LOG_ALPHA, 4)
    assert whole.of_step(A, told=told).told is told


def test_all_is_taken_over() -> None:
    whole = kept(notes=["a note", ONCE])
    whole.tally.add(1, 1, 0)
    whole.add_test(A, C, (), DEPENDENT, LOG_ALPHA)
    whole.other_side[B, True] = DEPENDENT, ()
    whole.merge(pickle.loads(pickle.dumps(filled())))
    assert whole.tally == Tally({1: 4}, {1: 2})
    assert whole.notes == ["a note", ONCE, "a note"]  # what a result reports once is reported once
    assert whole.steps == ["a step"]
    assert whole.separations.get(B, A) == (C,)
    assert whole.associations is not None
    weakest = whole.associations.get(A, C)
    assert weakest is not None
    assert (weakest.outcome, weakest.given) == (WEAKER, (D,))
    assert whole.other_side == {(B, True): (WEAKER, (C,))}


def test_what_counts_is_taken_over_alone() -> None:
    whole = kept()
    whole.count(filled())
    assert (whole.tally, whole.notes, whole.steps) == (Tally({1: 3}, {1: 2}), ["a note", ONCE], ["a step"])
    assert whole.other_side == {(B, True): (WEAKER, (C,))}
    assert whole.separations.get(B, A) is None
    assert whole.associations is not None
    assert whole.associations.get(A, C) is None


def test_tests_with_another_subject_are_not_taken_over() -> None:
    """That of a step that tells others is its target."""
    telling = filled()
    telling.told = Told(LOG_ALPHA, 4)
    whole = kept()
    whole.merge(telling)
    assert (whole.tally, whole.other_side) == (Tally({1: 3}, {1: 2}), {})
    whole.told = Told(LOG_ALPHA, 4)
    whole.count(filled())
    assert whole.other_side == {}
    whole.count(telling)
    assert whole.other_side == {(B, True): (WEAKER, (C,))}


def test_where_nothing_is_kept_nothing_is_taken_over() -> None:
    whole = Record()
    whole.merge(filled())
    assert whole.tally == Tally({1: 3}, {1: 2})
    assert whole.associations is None
    assert not whole.keeps_separations


def test_what_was_counted_goes_alone_to_other_processes() -> None:
    counts = filled().of_counts()
    assert counts == Record(B, Tally({1: 3}, {1: 2}), ["a note", ONCE], steps=["a step"])
