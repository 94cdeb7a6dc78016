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


def test_a_step_keeps_the_pairs_of_its_target_alone() -> None:
    screen, found, log_alpha = answered()
    kept, whole = Associations(), Associations()
    for store in (kept, whole):
        for target in (0, 31, 32):
            store.note_screen(screen, target, log_alpha)
            store.note_subsets(found, target, log_alpha)
        store.note(32, 31, screen.outcome(0), ())
    kept.keep_pairs_of(0)
    assert all(kept.get(x, 0) == whole.get(x, 0) for x in range(1, 30))
    assert {kept.get(x, target) for x in range(1, 33) for target in (31, 32)} == {None}
    x, y = [x for x in range(1, 30) if kept.get(x, 0) is not None][:2]
    kept, others = Associations(), [31, 32]
    for target in others:
        kept.note_screen(screen, target, log_alpha)
        kept.note_subsets(found, target, log_alpha)
    before = [kept.get(x, target) for target in others]
    assert None not in before
    kept.keep_pairs_of(x)
    assert [kept.get(x, target) for target in others] == before
    assert [kept.get(y, target) for target in others] == [None, None]


def test_what_a_screen_shows_in_the_core_is_what_its_answers_show() -> None:
    screen, _, log_alpha = answered()
    plain = ScreenResult(screen.xs, (), screen.statistic, screen.dof, screen.reliable, screen.log_p)
    shown = [screen.shown(x, log_alpha) for x in range(32)]
    assert shown == [plain.shown(x, log_alpha) for x in range(32)]
    assert [len(some) for some in shown].count(1) == len(screen.that_depend(log_alpha)) > 0
    for level in (log_alpha, -1.0, log_alpha):  # also when another was asked for before
        wanted = [plain.xs[k] for k in range(len(plain)) if plain.log_p[k] <= level]
        assert screen.that_depend(level).xs.tolist() == wanted
        assert screen.partition(level)[0].tolist() == [k for k in range(len(plain)) if plain.log_p[k] <= level]
