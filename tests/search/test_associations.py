"""The weakest associations of pairs: few answers are looked at one by one, many as arrays."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import serape
from serape.independence import G2, Outcome, SubsetQuery
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search import associations
from serape.search.associations import Associations, DecidingTest, weakest
from serape.search.pools import PoolAssociations


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


def test_a_store_that_was_looked_through_comes_after_one_that_was_not() -> None:
    one, xs, log_alpha = np.ones(1), np.array([1], np.uint32), math.log(0.01)
    which = np.zeros(1, np.int32)

    def stores() -> tuple[Associations, Associations]:
        dependent, separated = Associations(), Associations()
        dependent.note_screen(ScreenResult(xs, (), one, one, one > 0, -20.0 * one), 0, log_alpha)
        separated.note_subsets(SubsetResult(xs, one, one, -one, which + 2, which, [(2,)]), 0, log_alpha)
        return dependent, separated

    dependent, separated = stores()
    later_dependent, later_separated = pickle.loads(pickle.dumps(stores()))
    dependent.merge(later_separated)
    separated.merge(later_dependent)
    assert dependent.get(1, 0) == DecidingTest(-1.0, 1.0, 1.0, True, None, (2,), separated=True)
    assert separated.get(1, 0) == DecidingTest(-20.0, 1.0, 1.0, True, None, ())


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


class Noted:
    """Two stores: one as it is, the other a list of the tests that show something, in the order in which they came."""

    numbers = count()

    def __init__(self) -> None:
        self.store = Associations()
        self.tests: list[tuple[int, int, DecidingTest]] = []

    def note_some(self, random: np.random.Generator, log_alpha: float) -> None:
        """Note a test, a screen or a search through sets, of which each answer has a value of its own."""
        target, n = int(random.integers(6, 8)), int(random.integers(1, 4))
        xs = random.permutation(3)[:n] if (kind := random.integers(3)) == 1 else random.integers(0, 3, n)
        log_p = random.choice([log_alpha, log_alpha - 1.0, -20.0, -1.0], n)
        statistic, dof = np.array([float(next(self.numbers)) for _ in range(n)]), np.ones(n)
        if kind == 0:
            test = DecidingTest(-20.0, statistic[0], 1.0, True, None, (5,))
            self.store.note(int(xs[0]), target, test.outcome, test.given)
            self.tests.append((int(xs[0]), target, test))
            return
        reliable = random.random(n) < 0.8
        found = [DecidingTest(log_p[k], statistic[k], 1.0, bool(reliable[k]), None, (3,)) for k in range(n)]
        shown = [k for k in range(n) if reliable[k] and log_p[k] <= log_alpha]
        self.tests += [(int(xs[k]), target, found[k]) for k in shown]
        positions = xs.astype(np.uint32)
        if kind == 1:
            self.store.note_screen(ScreenResult(positions, (3,), statistic, dof, reliable, log_p), target, log_alpha)
            return
        separated = reliable & (log_p > log_alpha)
        last = {int(xs[k]): k for k in np.flatnonzero(separated).tolist()}
        self.tests += [(x, target, found[k]._replace(separated=True)) for x, k in last.items()]
        verdict = reliable.astype(np.int32) + separated
        answers = SubsetResult(positions, statistic, dof, log_p, verdict, np.zeros(n, np.int32), [(3,)])
        self.store.note_subsets(answers, target, log_alpha)

    def merge(self, other: Noted) -> None:
        self.store.merge(other.store)
        self.tests += other.tests

    def expected(self, x: int, target: int) -> DecidingTest | None:
        """Return the first test that shows dependence, or the first weaker one after it."""
        found: DecidingTest | None = None
        for candidate, about, test in self.tests:
            if (candidate, about) == (x, target):
                weaker = not test.separated if found is None else test.counted > found.counted
                found = test if weaker else found
        return found


@pytest.mark.parametrize("seed", range(40))
def test_however_tests_are_noted_merged_and_copied_the_first_weakest_counts(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the answers of many tests put by, of few, or of none."""
    monkeypatch.setattr(associations, "_MANY", seed % 3)
    monkeypatch.setattr(associations, "_FEW", seed % 4)
    random, log_alpha = np.random.default_rng(seed), math.log(0.01)
    noted = [Noted(), Noted()]
    for _ in range(14):
        a, b = noted[:: random.choice([1, -1])]
        match random.integers(8):
            case 0:
                a.merge(b)
            case 1:
                a.store = pickle.loads(pickle.dumps(a.store))
            case _:
                a.note_some(random, log_alpha)
    for one in noted:
        pairs = [(x, target) for x in range(4) for target in range(5, 9)]
        assert [one.store.get(*pair) for pair in pairs] == [one.expected(*pair) for pair in pairs]


def test_a_pickle_holds_single_tests() -> None:
    """The answers that they come from may be many more."""
    n = 1000
    log_p = np.where(np.arange(n) == 7, -20.0, -1.0)
    screen = ScreenResult(np.arange(n, dtype=np.uint32), (), log_p, np.ones(n), np.ones(n, bool), log_p)
    searched = SubsetResult(screen.xs, log_p, np.ones(n), log_p, np.ones(n, np.int32), np.zeros(n, np.int32), [()])
    kept = Associations()
    kept.note_screen(screen, 0, math.log(0.01))
    kept.note_subsets(searched, 0, math.log(0.01))
    copied = pickle.dumps(kept)
    assert len(copied) < n
    assert pickle.loads(copied).get(7, 0) == DecidingTest(-20.0, -20.0, 1.0, True, None, ())


def test_an_unreliable_test_shows_nothing() -> None:
    test = DecidingTest.of(Outcome(math.nan, 3.0, math.nan, reliable=False, rows=40), (2,))
    assert test.counted == 0.0
    shown = [DecidingTest(log_p, 1.0, 1.0, True, None, ()) for log_p in (-9.0, -7.0, -8.0)]
    separating = shown[0]._replace(separated=True)

    def weakest_of(tests: Sequence[DecidingTest | None]) -> DecidingTest | None:
        """Return the weakest test of stores, each of which has one, or none."""
        stores = [SimpleNamespace(get=lambda x, target, test=test: test) for test in tests]
        return weakest(cast("list[Associations]", stores), 0, 1)

    assert weakest_of([None, *shown]) == shown[1]
    assert weakest_of([*shown, separating]) == separating
    assert weakest_of([*shown, test]) == test
    assert weakest_of([shown[1], shown[1]._replace(given=(3,))]) == shown[1]  # of equal ones the first
    assert weakest_of([None]) is None
    assert (test.rows, test.dof, test.given, test.separated) == (40, 3.0, (2,), False)


def test_the_weakest_associations_of_pools_are_found_by_member_and_target() -> None:
    targets, pools = np.array([4, 2, 9], np.uint32), VariableSets.of([(1, 7), (), (3, 4)])
    given = VariableSets.of([(), (7,), (5, 6), ()])
    tests = GivenTests(np.arange(4.0), np.arange(1.0, 5.0), -np.arange(5.0, 9.0), given)
    kept = PoolAssociations(targets, pools, tests, 100)
    unread = pickle.dumps(kept)
    expected = {
        (1, 4): DecidingTest(-5.0, 0.0, 1.0, True, None, ()),  # given nothing: of the table, not of the test
        (7, 4): DecidingTest(-6.0, 1.0, 2.0, True, 100, (7,)),
        (3, 9): DecidingTest(-7.0, 2.0, 3.0, True, 100, (5, 6)),
        (4, 9): DecidingTest(-8.0, 3.0, 4.0, True, None, ()),
    }
    copied: Any = pickle.loads(pickle.dumps(kept))
    for one in (kept, copied, pickle.loads(pickle.dumps(copied))):
        pairs = [(x, target) for x in range(10) for target in range(10)]
        assert {pair: test for pair in pairs if (test := one.get(*pair)) is not None} == expected
        for target in (4, 2, 9):
            its = one.of(target)
            assert [its.get(x, target) for x in range(10)] == [expected.get((x, target)) for x in range(10)]
    assert pickle.dumps(kept) == unread  # what was found is not carried along


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


def test_nothing_else_is_left_of_other_targets() -> None:
    one, xs, log_alpha = np.ones(1), np.array([1], np.uint32), math.log(0.01)
    which = np.zeros(1, np.int32)
    separated, dependent, noted = Associations(), Associations(), Associations()
    separated.note_subsets(SubsetResult(xs, one, one, -one, which + 2, which, [(2,)]), 3, log_alpha)
    separated = pickle.loads(pickle.dumps(separated))  # it was looked through
    dependent.note(1, 3, Outcome(1.0, 1.0, -20.0, reliable=True), ())
    noted.note(1, 3, Outcome(1.0, 1.0, -10.0, reliable=True), ())
    for store in (separated, noted):
        store.keep_pairs_of(0)
        assert store.get(1, 3) is None
        before = dependent.get(1, 3)
        dependent.merge(store)
        assert dependent.get(1, 3) == before


def test_a_store_of_known_tests() -> None:
    dependent = DecidingTest(-7.0, 1.0, 1.0, True, None, (4,))
    separated = dependent._replace(log_p=-1.0, separated=True)
    store = Associations.of(3, {1: dependent, 2: separated})
    assert [store.get(x, 3) for x in range(4)] == [None, dependent, separated, None]
    assert [store.get(x, 1) for x in range(4)] == [None] * 4
    for x in (1, 2):
        store.note(x, 3, Outcome(1.0, 1.0, -5.0, reliable=True), ())
    weaker = store.get(1, 3)
    assert weaker is not None
    assert (weaker.log_p, store.get(2, 3)) == (-5.0, separated)


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


def test_the_deciding_tests_of_all_candidates_of_a_target() -> None:
    screen, found, log_alpha = answered()
    kept, one_by_one = Associations(), Associations()
    for store in (kept, one_by_one):
        store.note_screen(screen, 0, log_alpha)
        store.note_subsets(found, 0, log_alpha)
    assert kept.about(0) == {x: test for x in range(33) if (test := one_by_one.get(x, 0)) is not None} != {}
    assert kept.about(1) == {}
