"""The weakest associations of pairs: few answers are looked at one by one, many as arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

import serape
from serape.independence import G2, SubsetQuery
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search import associations
from serape.search.associations import Associations, DecidingTest


@pytest.mark.parametrize("many", [0, 1, 10])
@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("columns", [4, 30])
def test_associations_are_the_largest_p_of_dependent_pairs(
    few: int, columns: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many answers are put by, and looked through together."""
    monkeypatch.setattr(associations, "_FEW", few)
    monkeypatch.setattr(associations, "_MANY", many)
    rng = np.random.default_rng(columns)
    common = rng.integers(0, 2, 200)
    values = np.where(rng.random((columns, 200)) < 0.6, common, rng.integers(0, 2, (columns, 200)))
    test, xs, log_alpha = G2(serape.Table(values.T)), list(range(1, columns)), math.log(0.01)
    screen = test.screen(0, xs, ())
    found, _ = test.search_subsets(SubsetQuery(xs, 0, xs[:2], range(1, 2), stop_above=log_alpha))
    kept = Associations()
    kept.note_screen(screen, 0, log_alpha)
    kept.note_subsets(found, 0, log_alpha)
    n_separated = 0
    for k, x in enumerate(xs):
        tests = [(screen.outcome(k), ()), (found.outcome(k), found.given_of(k))]
        shown = [(o.log_p, given) for o, given in tests if o.reliable and o.log_p <= log_alpha]
        weakest = kept.get(x, 0)
        if found[k].separated and shown:
            n_separated += 1
            assert weakest == DecidingTest.of(found.outcome(k), found.given_of(k), separated=True)
            assert weakest.counted == 0.0
            continue
        assert (None if weakest is None else (weakest.counted, weakest.given)) == max(shown, default=None)
    assert columns == 4 or n_separated > 0


def answered() -> tuple[ScreenResult, SubsetResult, float]:
    """Return the tests of a target given nothing, and given one of two columns.

    The first column separates the target from all others; every second of these is noise.
    """
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 400)
    values = [
        np.where(rng.random(400) < (0.0 if k == 1 else k % 2 or 0.3), rng.integers(0, 2, 400), first) for k in range(30)
    ]
    test, xs, log_alpha = G2(serape.Table(np.array(values).T)), list(range(1, 30)), math.log(0.01)
    found, _ = test.search_subsets(SubsetQuery(xs, 0, xs[:2], range(1, 2), stop_above=log_alpha))
    return test.screen(0, xs, ()), found, log_alpha


def test_what_is_separated_after_it_was_dependent_counts_as_separated_in_two_stores_too() -> None:
    screen, found, log_alpha = answered()
    together, first, second = Associations(), Associations(), Associations()
    together.note_screen(screen, 0, log_alpha)
    together.note_subsets(found, 0, log_alpha)
    first.note_screen(screen, 0, log_alpha)
    second.note_subsets(found, 0, log_alpha)
    first.merge(second)
    separated = set(found.separated_variables)
    dependent = {x for x in range(1, 30) if together.get(x, 0) is not None}
    assert separated & dependent
    assert separated - dependent
    for x in range(1, 30):
        assert first.get(x, 0) == together.get(x, 0)


def test_what_was_never_dependent_has_no_association() -> None:
    _, found, log_alpha = answered()
    kept = Associations()
    kept.note_subsets(found, 0, log_alpha)
    assert found.separated_variables
    assert all(kept.get(x, 0) is None for x in found.separated_variables)


@pytest.mark.parametrize("few", [0, 10**6])
def test_only_reliable_tests_up_to_alpha_show_dependence(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(associations, "_FEW", few)
    log_alpha, nothing = math.log(0.01), np.zeros(4)
    log_p = np.array([math.log(0.001), log_alpha, math.log(0.5), -50.0])
    reliable = np.array([True, True, True, False])
    screen = ScreenResult(np.arange(1, 5, dtype=np.uint32), (), nothing, nothing, reliable, log_p)
    kept = Associations()
    kept.note_screen(screen, 0, log_alpha)
    assert [x for x in range(6) if kept.get(x, 0) is not None] == [1, 2]
    other = Associations()
    other.merge(kept)
    assert [other.get(x, 0) for x in range(6)] == [kept.get(x, 0) for x in range(6)]


def test_the_core_shows_of_one_candidate_what_arrays_show() -> None:
    _, found, log_alpha = answered()
    plain = SubsetResult(
        found.xs,
        found.statistic,
        found.dof,
        found.log_p,
        found.reliable.astype(np.int32) + found.separated,
        found.which,
        found.sets,
    )
    assert type(found) is not SubsetResult
    shown = [found.shown(x, log_alpha) for x in range(31)]
    assert shown == [plain.shown(x, log_alpha) for x in range(31)]
    assert any(one and one[-1][0] == 0.0 for one in shown)
    assert any(one and one[0][0] < 0.0 for one in shown)
