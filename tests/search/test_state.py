"""The state of a search: what it keeps of answers, counts and reports, and how steps share it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import serape
from plain import random_table
from scripted import DEPENDENT, TOO_FEW_ROWS, Scripted
from serape.independence import G2
from serape.independence.dependent_pairs import find_dependent_pairs
from serape.independence.outcomes import Tally
from serape.knowledge import BoundKnowledge
from serape.progress import Progress, ProgressCallback
from serape.search import Search, Steps
from serape.search.budget import Budget, BudgetSpent
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.record import Step
from serape.search.separations import Separations
from serape.search.steps import Compute, EarlierSteps, memoised, preparable, step_label

RATE = FalseDiscoveryRate(0.05, log_alpha=math.log(0.05))
A, B, C, D, E, F = range(6)


def given_of(search: Search, x: int, target: int) -> tuple[int, ...] | None:
    """Return the conditioning set of the test that decides on x."""
    decision = search.log(target).latest(x)
    return None if decision is None else decision.given


def weakest_p(search: Search, x: int, target: int) -> float | None:
    """Return the p-value of the weakest association."""
    found = search.weakest_association(x, target)
    return None if found is None else round(found.outcome.p, 9)


def never() -> Any:
    """Fail: the step was computed before."""
    raise AssertionError("a step is computed again")


def in_processes(
    work: Compute,
    items: Sequence[int],
    done: Callable[[int, Step[Any] | None], None],
    watch: ProgressCallback = lambda _: None,
) -> None:
    """Compute steps as other processes do: what they return is pickled."""
    for x in items:
        done(x, pickle.loads(pickle.dumps(work(x, watch))))


class TestSettings:
    def test_what_a_search_does_without_settings(self) -> None:
        search = Search(Scripted({"ab|c": 0.5}))
        assert (search.alpha, search.log_alpha) == (0.05, math.log(0.05))
        assert (search.subject, search.max_conditioning, search.fdr, search.threads) == (None, None, None, 1)
        assert [search.stepwise, search.has_read, search.is_random, search.keeps_associations] == [False] * 4
        assert search.variables == range(6)
        assert search.independent(B, A, [C])
        assert search.separating_set(A, B) == (C,)
        assert given_of(search, B, A) == (C,)
        assert (search.record.steps, search.notes) == ([], [])

    @pytest.mark.parametrize("settings", [{"alpha": 1.5}, {"max_conditioning": -1}, {"random_state": "seed"}])
    def test_settings_that_make_no_sense_are_refused(self, settings: dict[str, Any]) -> None:
        (name,) = settings
        with pytest.raises(serape.OptionError, match=name):
            Search(Scripted(), **settings)

    @pytest.mark.parametrize("fdr", [None, RATE])
    @pytest.mark.parametrize("stepwise", [False, True])
    @pytest.mark.parametrize("keep", [False, True])
    def test_what_a_rate_needs_is_kept(self, fdr: FalseDiscoveryRate | None, stepwise: bool, keep: bool) -> None:
        """A rate that is bounded step by step needs no weakest associations; without a rate, they are evidence."""
        search = Search(Scripted(), fdr=fdr, stepwise=stepwise, keep_associations=keep)
        assert search.stepwise == (stepwise and fdr is not None)
        assert search.keeps_associations == (keep and not stepwise and fdr is not None)
        search.ask(B, A)
        assert (search.log(A).weakest(B) is not None) == (fdr is None and not stepwise)
        assert (search.weakest_association(B, A) is not None) == search.keeps_associations

    def test_associations_are_kept_for_a_rate(self) -> None:
        assert Search(Scripted(), fdr=RATE).keeps_associations

    def test_evidence_is_kept_if_it_is_asked_for(self) -> None:
        search = Search(Scripted(), evidence=False)
        search.ask(B, A)
        assert given_of(search, B, A) is None

    def test_separating_sets_are_kept_if_they_are_asked_for(self) -> None:
        search = Search(Scripted({"ab": 0.5}), keep_separations=False)
        assert search.independent(B, A)
        with pytest.raises(LookupError, match="keeps no separating sets"):
            search.separating_set(A, B)

    def test_the_table_asks_for_rows(self) -> None:
        assert Search(Scripted()).rows_per_cell(B, D) == 100 / 5

    def test_ties_are_broken_at_random_with_a_seed(self) -> None:
        ties = [3, 5, 7]
        assert [Search(Scripted()).one_of(ties) for _ in range(20)] == [3] * 20
        seeded, again = Search(Scripted(), random_state=1), Search(Scripted(), random_state=1)
        drawn = [seeded.one_of(ties) for _ in range(20)]
        assert set(drawn) == set(ties)
        assert [again.one_of(ties) for _ in range(20)] == drawn
        assert seeded.is_random
        assert seeded.one_of([4]) == 4


class TestTallies:
    def test_a_screen_counts_what_was_performed_and_what_was_skipped(self) -> None:
        search = Search(Scripted({"ab|e": TOO_FEW_ROWS, "ac|e": 0.5}), fdr=RATE)
        screen = search.screen(A, [B, C, D], [E])
        assert screen.reliable.tolist() == [False, True, True]
        assert (search.tally.tests_by_size, search.tally.skipped_by_size) == ({1: 2}, {1: 1})
        assert [search.separating_set(x, A) for x in (B, C, D)] == [None, (E,), None]
        assert [weakest_p(search, x, A) for x in (B, C, D)] == [None, None, DEPENDENT]
        assert [given_of(search, x, A) for x in (B, C, D)] == [(E,)] * 3

    def test_larger_sets_than_the_bound_are_skipped(self) -> None:
        test = Scripted()
        search = Search(test, max_conditioning=1)
        assert search.ask(B, A, [C]) is not None
        assert search.ask(B, A, [C, D]) is None
        assert not search.screen(A, [B, E], [C, D]).reliable.any()
        assert test.asked == [(B, A, (C,))]
        assert (search.tally.tests_by_size, search.tally.skipped_by_size) == ({1: 1}, {2: 3})

    def test_a_p_of_alpha_shows_dependence(self) -> None:
        search = Search(Scripted({"ab": 0.05}), fdr=RATE)
        assert search.dependent(B, A)
        assert search.separating_set(B, A) is None
        assert weakest_p(search, B, A) == 0.05

    def test_a_test_shows_an_association_or_a_separation(self) -> None:
        search = Search(Scripted({"ab": 0.04, "ab|c": 0.5}), fdr=RATE)
        search.ask(B, A)
        search.ask(B, A, [C])
        assert weakest_p(search, B, A) == 0.04
        assert search.separating_set(B, A) == (C,)

    def test_a_search_through_subsets_is_recorded(self) -> None:
        search = Search(Scripted({"ab|c": 0.5, "ad|c": 0.01}), fdr=RATE)
        found = search.separate([B, D], A, [C])
        assert found.separated_variables == [B]
        assert search.tally.tests_by_size == {0: 2, 1: 2}
        assert search.separating_set(A, B) == (C,)
        assert weakest_p(search, D, A) == 0.01
        assert [given_of(search, x, A) for x in (B, D)] == [(C,)] * 2

    def test_tests_of_one_call_are_counted(self) -> None:
        search = Search(Scripted(), budget=Budget(max_tests=5))
        search.count(Tally({0: 3}, {1: 2}))
        assert (search.tally.performed, search.tally.skipped) == (3, 2)
        with pytest.raises(BudgetSpent):
            search.count(Tally({0: 2}))


class TestEvidence:
    def test_a_separation_decides(self) -> None:
        """The test is performed again when its outcome is looked at, and not counted again."""
        test = Scripted({"ab|c": 0.5})
        search = Search(test)
        search.ask(B, A, [C])
        search.ask(B, A)
        search.record_separation(B, A)
        search.ask(D, A)
        search.record_separation(D, A)
        assert len(test.asked) == 3
        assert given_of(search, B, A) == (C,)
        assert given_of(search, D, A) == ()
        assert test.asked[3:] == [(B, A, (C,))]
        assert search.tally.performed == 3

    def test_tests_about_the_subject_alone_are_kept(self) -> None:
        search = Search(Scripted(), subject=A)
        for target in (A, B):
            search.record_repeated(C, target, ())
            search.record_repeated(C, target, (D,))
            members = search.members(target)
            members.add(E)
        assert [given_of(search, C, target) for target in (A, B)] == [(D,), None]
        assert [len(search.log(target).events) for target in (A, B)] == [1, 0]

    def test_a_decision_is_recorded(self) -> None:
        search = Search(Scripted())
        outcome = search.repeat(B, A, [C])
        search.record_decision(B, A, outcome, [C, D])
        decision = search.log(A).latest(B)
        assert decision is not None
        assert (decision.outcome, decision.given) == (outcome, (C, D))

    def test_a_set_separates_many(self) -> None:
        search = Search(Scripted())
        search.record_independence(np.array([B, D], np.uint32), A, [C])
        assert [search.separating_set(x, A) for x in (B, C, D)] == [(C,), None, (C,)]

    def test_the_other_side_decides_where_it_fits_the_answer(self) -> None:
        search = Search(Scripted({"ab|c": 0.5}), subject=A)
        search.ask(B, A, [C])
        search.ask(A, B, [D])
        assert given_of(search, B, A) == (C,)
        search.reconcile_sides([B])
        assert given_of(search, B, A) == (D,)

    def test_nothing_is_recorded_after_the_end(self) -> None:
        search = Search(Scripted())
        search.ask(B, A)
        search.close_evidence()
        search.ask(B, A, [C])
        assert given_of(search, B, A) == ()

    def test_tests_are_repeated_without_being_counted(self) -> None:
        test = Scripted({"ab|c": 0.04, "ac": 0.5})
        search = Search(test)
        assert round(search.repeat(B, A, [C]).p, 9) == 0.04
        assert search.repeat_screen(A, [B, C]).log_p.tolist() == [math.log(DEPENDENT), math.log(0.5)]
        assert search.tally == Tally()

    def test_a_rate_by_steps_remembers_tests_of_members(self) -> None:
        test = Scripted({"ab|c": 0.04})
        search = Search(test, fdr=RATE, stepwise=True)
        asked = search.ask(B, A, [C])
        assert search.repeat(B, A, [C]) == asked
        assert search.repeat(B, A, [D]).p != 0.04
        assert test.asked == [(B, A, (C,)), (B, A, (D,))]
        assert search.strongest(A, [D, E], [C]) == D


class TestMembers:
    def test_required_and_known_members_begin_a_blanket_in_the_order_of_the_table(self) -> None:
        knowledge = BoundKnowledge(required=[(0, 8), (1, 0)])
        search = Search(Scripted(variables=10), subject=0, knowledge=knowledge, known=[9, 3])
        assert list(search.blanket(0)) == [1, 3, 8, 9]
        assert list(search.blanket(8)) == [0]
        assert search.members_so_far(0) == (1, 3, 8, 9)
        assert search.members_so_far(5) == ()

    def test_the_members_of_another_target_do_not_show_within_a_step(self) -> None:
        search = Search(Scripted())

        def step() -> None:
            for target in (A, B):
                search.members(target).add(C)

        search.step(("step", A), A, step)
        assert [search.members_so_far(target) for target in (A, B)] == [(C,), ()]


class TestCandidates:
    def test_candidates(self) -> None:
        search = Search(Scripted(), excluded=[C])
        assert search.candidates(A).tolist() == [B, D, E, F]
        assert search.candidates(C).tolist() == [A, B, D, E, F]
        assert search.candidates(A, E).tolist() == [B, D, F]
        assert search.candidates(A, E, among=np.array([A, D, E], np.uint32)).tolist() == [D]
        assert search.candidates(A).dtype == np.uint32
        assert search.excludes([A, C])
        assert not search.excludes([A, B])
        assert not Search(Scripted()).excludes([A, C])
        assert Search(Scripted()).candidates(A).tolist() == [B, C, D, E, F]
        assert Search(Scripted()).admissible(A, [C, A, B]) == [C, B]
        assert search.outside([E, B, C, D], [B, D]).tolist() == [E, C]

    def test_forbidden_members_are_not_tested(self) -> None:
        knowledge = BoundKnowledge().with_forbidden_members([(A, D)])
        search = Search(Scripted(), knowledge=knowledge)
        assert search.candidates(A, C).tolist() == [B, E, F]
        assert search.admissible(A, [E, A, D, B]) == [E, B]
        assert search.admissible(B, [E, A, D]) == [E, A, D]

    @pytest.mark.parametrize("excluded", [(), (C,)])
    @pytest.mark.parametrize("forbidden", [(), [(A, D)]])
    def test_pairs_may_be_tested_that_are_neither_excluded_nor_forbidden(
        self, excluded: Sequence[int], forbidden: Sequence[tuple[int, int]]
    ) -> None:
        knowledge = BoundKnowledge().with_forbidden_members(forbidden)
        search = Search(Scripted(), excluded=excluded, knowledge=knowledge)
        xs, ys = np.array([A, A, B, D]), np.array([B, C, C, A])
        assert search.may_be_tested(xs, ys).tolist() == [True, not excluded, not excluded, not forbidden]
        rest = [x for x in (D, B, C) if x not in excluded and (x != D or not forbidden)]
        assert search.admissible(A, [D, A, B, C]) == rest
        assert search.admissible(A, [D, B, C]) == rest

    def test_forbidden_neighbours_are_left_out_with_a_note(self) -> None:
        search = Search(Scripted(), knowledge=BoundKnowledge(forbidden_pairs=[(A, C), (A, E)]))
        assert search.possible_neighbours(A, [F, E, B, C]) == [F, B]
        (note,) = search.notes
        assert "'a' would be adjacent to 'e', 'c', which knowledge forbids" in note
        assert search.possible_neighbours(A, [F, B]) == [F, B]
        assert search.possible_neighbours(B, [F, C]) == [F, C]
        assert len(search.notes) == 1
        free = Search(Scripted())
        assert free.possible_neighbours(A, [F, E]) == [F, E]
        assert free.notes == []

    def test_arcs_that_knowledge_allows(self) -> None:
        search = Search(Scripted(), knowledge=BoundKnowledge(required=[(A, B)]))
        assert search.may_join(A, B)
        assert not search.may_join(B, A)
        assert Search(Scripted()).may_join(B, A)


class TestKnownDependents:
    test = G2(random_table(np.random.default_rng(5), 400, [2] * 7))

    def search(self, **settings: Any) -> Search:
        """Return a search that knows which pairs are dependent at a level of 0.05."""
        made = Search(self.test, **{"evidence": False, "keep_separations": False, **settings})
        found = find_dependent_pairs(self.test, range(7), math.log(0.05))
        assert found is not None
        made.use_marginals(found)
        return made

    def test_they_are_those_that_tests_find(self) -> None:
        asked = Search(self.test)
        first, second, *rest = asked.dependents(0, asked.candidates(0))
        assert rest
        assert self.search().known_dependents(0) == [first, second, *rest]
        assert self.search().known_dependents(0, second) == [first, *rest]
        assert self.search(excluded=[first]).known_dependents(0) == [second, *rest]
        assert self.search(excluded=[first]).known_dependents(0, second) == rest

    def test_their_tests_are_associations(self) -> None:
        search = self.search(fdr=RATE)
        found = search.known_dependents(0)
        assert found
        for x in range(1, 7):
            known = search.weakest_association(x, 0)
            assert (None if known is None else known.log_p) == (self.test.test(x, 0).log_p if x in found else None)

    @pytest.mark.parametrize(
        "settings", [{"evidence": True}, {"keep_separations": True}, {"random_state": 1}, {"alpha": 0.01}]
    )
    def test_they_are_asked_for_where_more_is_kept(self, settings: dict[str, Any]) -> None:
        assert self.search(**settings).known_dependents(0) is None

    def test_they_are_asked_for_where_other_tests_are_known(self) -> None:
        search = self.search()
        search.use_marginals({0: self.test.screen(0, range(1, 7))})
        assert search.known_dependents(0) is None
        assert search.known_dependents(1) is None


class TestAnnouncements:
    def test_the_test_is_told_about_targets_and_screens(self) -> None:
        test = Scripted()
        search = Search(test, threads=3)
        search.expect([B, A])
        search.expect_marginals({A: [B, C], D: [], E: [A]})
        assert search.threads == 3
        assert test.expected == [[B, A], (A, [B, C], ()), (E, [A], ())]
        assert (test.called, test.polls) == ([("expect", 3)], [search.poll])

    def test_a_search_about_one_variable_announces_nothing(self) -> None:
        test = Scripted()
        search = Search(test)
        with search.only_steps_about(A):
            search.expect([A])
        assert test.expected == []
        search.expect([A])
        assert test.expected == [[A]]


class TestProgress:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
        """A clock that stands still."""
        made = SimpleNamespace(now=0.1)
        monkeypatch.setattr("serape.search.state.time", SimpleNamespace(perf_counter=lambda: made.now))
        return made

    def test_it_is_reported_every_tenth_of_a_second(self, clock: SimpleNamespace) -> None:
        seen: list[Progress] = []
        search = Search(Scripted({"ab": TOO_FEW_ROWS}), subject=A, progress=seen.append)
        search.members(B).add(D)
        search.members(A).add(C)
        search.ask(B, A)
        assert seen == []
        clock.now = 0.2
        search.ask(C, A)
        assert seen == [Progress("a", ("c",), 1, 1, 0.1)]
        clock.now = 0.25
        search.ask(D, A)
        assert len(seen) == 1
        clock.now = 0.5
        search.ask(E, A)
        assert seen[1:] == [Progress("a", ("c",), 3, 1, 0.4)]
        clock.now = 1.0
        search.poll()
        assert seen[2:] == [Progress("a", ("c",), 3, 1, 0.9)]

    def test_a_step_reports_what_was_tested_before_it_too(self, clock: SimpleNamespace) -> None:
        seen: list[Progress] = []
        search = Search(Scripted({"ab": TOO_FEW_ROWS}), subject=A, progress=seen.append)
        for x in (B, C, D):
            search.ask(x, A)
        clock.now = 1.0
        search.step(("step", A), A, lambda: search.ask(E, A))
        assert seen == [Progress("a", (), 3, 1, 0.9)]
        clock.now = 2.0
        search.poll()
        assert seen[1:] == [Progress("a", (), 3, 1, 1.9)]

    def test_nobody_needs_to_listen(self, clock: SimpleNamespace) -> None:
        search = Search(Scripted())
        clock.now = 1.0
        assert search.dependent(B, A)

    def test_without_a_subject_it_is_about_the_first_set(self, clock: SimpleNamespace) -> None:
        seen: list[Progress] = []
        search = Search(Scripted(), progress=seen.append)
        clock.now = 1.0
        search.ask(B, A)
        assert [(now.target, now.members) for now in seen] == [("", ())]
        search.members(C).add(D)
        search.members(A).add(B)
        clock.now = 2.0
        search.ask(B, A)
        assert [(now.target, now.members) for now in seen[1:]] == [("c", ("d",))]


class TestBudgets:
    @pytest.mark.parametrize(
        "ask",
        [
            lambda search: search.ask(B, A),
            lambda search: search.screen(A, [B]),
            lambda search: search.test_each_given_rest(A, [B]),
        ],
    )
    def test_a_number_of_tests_ends_a_search(self, ask: Callable[[Search], object]) -> None:
        search = Search(Scripted(), budget=Budget(max_tests=2))
        ask(search)
        with pytest.raises(BudgetSpent, match="max_tests"):
            ask(search)

    def test_a_step_spends_what_was_left(self) -> None:
        search = Search(Scripted({"af": TOO_FEW_ROWS}), budget=Budget(max_tests=4))
        for x in (F, B, C):
            search.ask(x, A)

        def step() -> None:
            search.ask(D, A)
            with pytest.raises(BudgetSpent, match="max_tests"):
                search.ask(E, A)

        search.step(("step", A), A, step)
        assert search.tally == Tally({0: 4}, {0: 1})

    def test_seconds_end_a_search(self) -> None:
        with pytest.raises(BudgetSpent, match="max_seconds"):
            Search(Scripted(), budget=Budget(max_seconds=0.0)).ask(B, A)


def named(search: Search, target: int) -> None:
    """A step that a checkpoint can recognise."""


@memoised
def asked_about_d(search: Search, target: int) -> bool:
    """Another one."""
    return search.dependent(D, target)


class TestSteps:
    def test_a_step_is_computed_once(self) -> None:
        search = Search(Scripted())
        assert search.step(("step", A), A, lambda: 7) == 7
        assert search.step(("step", A), A, never) == 7
        assert search.step(("step", B), B, lambda: 8) == 8

    def test_searches_share_steps_and_what_these_found_alone(self) -> None:
        p = {"bc|d": 0.5, "be": 0.01, "ef": 0.5, "bf": 0.02}
        cache = Steps()
        first, second = (Search(Scripted(p), steps=cache, fdr=RATE) for _ in range(2))
        first.ask(F, E)
        first.ask(F, B)

        def step() -> int:
            first.ask(C, B, [D])
            first.ask(E, B)
            return 7

        assert first.step(("step", B), B, step) == 7
        assert second.step(("step", B), B, never) == 7
        for search in (first, second):
            assert search.separating_set(B, C) == search.separating_set(C, B) == (D,)
            assert weakest_p(search, E, B) == 0.01
        assert [search.separating_set(E, F) for search in (first, second)] == [(), None]
        assert [weakest_p(search, F, B) for search in (first, second)] == [0.02, None]

    def test_screens_of_a_step_are_looked_through_when_it_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Several threads may ask for its separating sets at once."""
        cache = Steps()
        search = Search(Scripted({"ab": 0.5}), steps=cache)
        search.step(("step", A), A, lambda: search.screen(A, [B, C]))
        monkeypatch.setattr(Separations, "look_through_screens", never)
        found: Separations = cache.recall(("step", A), never).record.separations
        assert found.get(A, B) == ()

    def test_a_step_keeps_what_the_search_keeps(self) -> None:
        for settings in ({"keep_separations": False}, {"fdr": RATE}, {}):
            search = Search(Scripted(), **settings)

            def kept(search: Search = search) -> tuple[bool, bool]:
                return search.keeps_separations, search.keeps_associations

            assert kept() == search.step(("step", A), A, kept) == kept()

    def test_tests_within_a_step_about_another_variable_are_no_evidence(self) -> None:
        search = Search(Scripted(), subject=A)
        search.step(("step", B), B, lambda: search.ask(C, A))
        assert given_of(search, C, A) is None
        search.step(("step", A), A, lambda: search.ask(C, A))
        search.ask(D, A)
        assert [given_of(search, x, A) for x in (C, D)] == [(), ()]

    def test_sets_of_steps_about_either_variable_come_first(self) -> None:
        p = dict.fromkeys(["ab|c", "ab|d", "ab|e", "bf|e", "ac"], 0.5)
        search = Search(Scripted(p))
        search.ask(B, A, [C])
        assert search.separating_set(A, B) == (C,)
        search.step(("step", A), A, lambda: [search.ask(B, A, [D]), search.ask(F, B, [E])])
        assert search.separating_set(A, B) == search.separating_set(B, A) == (D,)
        search.step(("step", B), B, lambda: search.ask(A, B, [E]))
        assert search.separating_set(A, B) == (E,)
        assert search.separating_set(B, A) == (D,)
        assert search.separating_set(B, F) is None  # it was found in a step about neither
        search.ask(C, A)
        assert search.separating_set(A, C) == ()

    def test_required_neighbours_have_no_separating_set(self) -> None:
        search = Search(Scripted({"ab": 0.5, "ac": 0.5}), knowledge=BoundKnowledge(required=[(A, B)]))
        search.ask(B, A)
        search.ask(C, A)
        assert [search.separating_set(x, A) for x in (B, C)] == [None, ()]

    def test_the_weakest_association_is_looked_for_in_steps_about_either_variable(self) -> None:
        search = Search(Scripted({"ab|c": 0.01, "ab|d": 0.02, "ab|e": 0.04}), fdr=RATE)
        search.ask(B, A)
        assert weakest_p(search, B, A) == DEPENDENT
        search.step(("step", A), A, lambda: search.ask(B, A, [C]))
        assert weakest_p(search, B, A) == 0.01
        search.step(("step", B), B, lambda: search.ask(B, A, [D]))
        assert weakest_p(search, B, A) == 0.02
        search.ask(B, A, [E])
        assert weakest_p(search, B, A) == 0.04
        without = Search(Scripted())
        without.step(("step", A), A, lambda: without.ask(B, A))
        assert without.weakest_association(B, A) is None

    def test_the_weakest_associations_of_either_side(self) -> None:
        search = Search(Scripted({"ab|c": 0.01, "ab|d": 0.02}), fdr=RATE)
        assert search.weakest_of_sides(B, A) == []
        search.ask(B, A, [C])
        assert [test.given for test in search.weakest_of_sides(B, A)] == [(C,)]
        assert [test.given for test in search.weakest_of_sides(A, B)] == [(C,)]
        search.step(("step", B), B, lambda: search.ask(A, B, [D]))
        assert [test.given for test in search.weakest_of_sides(B, A)] == [(C,), (D,)]
        assert [test.given for test in search.weakest_of_sides(A, B)] == [(D,), (C,)]

    def test_a_search_about_one_variable_ends_at_steps_about_others(self) -> None:
        search, found = Search(Scripted()), []
        with search.only_steps_about(A):
            found.append(search.step(("step", A), A, lambda: 7))
            found.append(search.step(("step", B), B, never))
        with search.only_steps_about(None):
            found.append(search.step(("step", A), A, never))
        assert [*found, search.step(("step", B), B, lambda: 8)] == [7, 8]

    def test_later_searches_recall_steps_with_their_tests(self) -> None:
        earlier, test = EarlierSteps(), Scripted()

        def asked(step: str = "step", subject: int = A, **settings: Any) -> tuple[Any, int]:
            """Return the value of a step about B, and how many tests it took."""
            search = Search(test, subject=subject, steps=Steps(earlier), **settings)
            before = len(test.asked)
            value = search.step((step, B), B, lambda: search.dependent(C, B))
            assert search.tally.performed == 1
            return value, len(test.asked) - before

        assert [asked(), asked()] == [(True, 1), (True, 0)]
        assert asked("other") == (True, 1)
        assert asked(excluded=[F]) == (True, 1)
        assert asked(subject=B) == (True, 1)
        assert asked(subject=D) == (True, 0)

    def test_a_prepared_step_counts_when_it_is_asked_for(self) -> None:
        @preparable
        def step(search: Search, target: int) -> bool:
            return search.dependent(F, target)

        test = Scripted()
        search = Search(test, subject=A, compute_each=in_processes)
        search.prepare(step, [B, C])
        assert (len(test.asked), search.tally.performed) == (2, 0)
        assert step(search, C)
        assert (len(test.asked), search.tally.performed) == (2, 1)
        assert step(search, C)  # a part of a step is prepared for once
        assert (len(test.asked), search.tally.performed) == (3, 2)

    def test_arguments_of_parts_are_told_apart_as_objects(self) -> None:
        @preparable
        def step(search: Search, target: int, others: list[int]) -> bool:
            return search.dependent(F, target, others)

        test, given = Scripted(), [D]
        search = Search(test, subject=A, compute_each=in_processes)
        search.prepare(step, [B, C], given)
        assert step(search, B, [D])
        assert len(test.asked) == 3
        assert step(search, B, given)
        assert len(test.asked) == 3

    @pytest.mark.parametrize("evidence", [True, False])
    def test_a_prepared_step_is_one_of_the_call_and_of_later_ones(self, evidence: bool) -> None:
        """Its record has what searches about others need, if there are any that keep evidence."""
        test, earlier = Scripted(), EarlierSteps()

        @memoised
        def step(search: Search, target: int) -> bool:
            return search.dependent(D, target, [E])

        def asked(steps: Steps, subject: int, **settings: Any) -> tuple[int, int, int, bool]:
            """Return how many tests it took and how many count, and which set decides on B."""
            before = len(test.asked)
            search = Search(test, subject=subject, steps=steps, evidence=evidence, **settings)
            for _ in range(2):  # what is known is not prepared again
                search.prepare(step, [B, C, C, subject])
            prepared = len(test.asked) - before
            assert step(search, B)
            search.reconcile_sides([B])
            assert search.evidence_is_whole == evidence
            told = given_of(search, B, subject) == (E,)
            return prepared, len(test.asked) - before, search.tally.performed, told

        shared = Steps()
        assert asked(shared, A, compute_each=in_processes) == (2, 2, 1, False)
        assert asked(shared, D) == (0, 0, 0, evidence)
        assert asked(shared, F, compute_each=in_processes) == (0, 0, 0, False)  # one step is not worth a process
        assert asked(Steps(earlier), A, compute_each=in_processes) == (2, 2, 1, False)
        assert asked(Steps(earlier), D) == (0, 0, 1, evidence)
        assert asked(Steps(earlier), D, excluded=[F]) == (0, 1, 1, evidence)
        assert asked(Steps(earlier), F, compute_each=in_processes) == (0, 0, 1, False)

    def test_a_prepared_part_says_what_the_step_says_that_asks_for_it(self) -> None:
        """The tests of the target of that step with others are evidence for a search about it."""

        @preparable
        def part(search: Search, target: int) -> bool:
            return search.dependent(B, target, [E])

        found = []
        for compute_each in (None, in_processes):
            shared = Steps(evidence_of=frozenset([B]))
            first, second = (Search(Scripted(), subject=x, steps=shared, compute_each=compute_each) for x in (A, B))

            def step(search: Search = first) -> None:
                search.prepare(part, [C, D])
                assert part(search, C)

            first.step(("step", B), B, step)
            second.step(("step", B), B, never)
            second.reconcile_sides([C, D])
            assert second.evidence_is_whole
            found.append([given_of(second, x, B) for x in (C, D)])
        assert found == [[(E,), None]] * 2

    def test_a_prepared_step_works_in_its_own_way(self) -> None:
        """It has its part of the threads, and reports to whom prepares it."""
        told: list[Progress] = []

        compute_each = partial(in_processes, watch=told.append)

        @preparable
        def step(search: Search, target: int) -> int:
            search.ticked = -math.inf
            search.ask(F, target)
            return search.threads

        seen: list[Progress] = []
        search = Search(Scripted(), subject=A, threads=4, compute_each=compute_each, progress=seen.append)
        search.ask(B, A)
        search.ticked = math.inf
        search.prepare(step, [B, C, D])
        assert [one.tests for one in told] == [2, 2, 2]
        assert [step(search, x) for x in (B, C, D)] == [2, 2, 2]
        assert (search.threads, search.tally.performed) == (4, 4)


class TestEvidenceOfSteps:
    def test_a_step_of_another_search_tells_nothing_if_nobody_asked(self) -> None:
        cache = Steps()
        first, second = (Search(Scripted(), subject=subject, steps=cache) for subject in (A, D))
        for target in (B, C, B):
            first.step(("step", target), target, partial(first.ask, E, target))
        assert first.evidence_is_whole
        assert second.evidence_is_whole
        second.step(("step", B), B, never)
        assert not second.evidence_is_whole

    def test_tests_of_the_subject_in_steps_of_the_search_are_its_evidence(self) -> None:
        search = Search(Scripted(), subject=A)
        search.step(("step", B), B, lambda: search.ask(A, B, [D]))
        search.reconcile_sides([B])
        assert given_of(search, B, A) == (D,)

    def test_a_step_has_the_evidence_about_its_target_for_the_search_about_it(self) -> None:
        cache = Steps(evidence_of=frozenset([B]))
        first, second = (Search(Scripted(), subject=subject, steps=cache) for subject in (A, B))

        def step() -> None:
            first.ask(D, B, [E])
            first.ask(B, C, [F])

        first.step(("step", B), B, step)
        first.reconcile_sides([C, D])
        assert [given_of(first, x, A) for x in (C, D)] == [None, None]
        second.step(("step", B), B, never)
        second.reconcile_sides([C, D])
        assert [given_of(second, x, B) for x in (C, D)] == [(F,), (E,)]
        assert first.evidence_is_whole
        assert second.evidence_is_whole

    def test_a_step_that_asks_for_others_does_not_tell_all(self) -> None:
        cache = Steps(evidence_of=frozenset([B]))
        first, second = (Search(Scripted(), subject=subject, steps=cache) for subject in (A, B))
        first.step(("step", B), B, lambda: first.step(("step", C), C, lambda: first.ask(D, C)))
        assert first.evidence_is_whole
        second.step(("step", B), B, never)
        assert not second.evidence_is_whole


class TestStepsOfACheckpoint:
    LABEL = step_label((named, A))

    def searched(self, counted: set[str] | None, **settings: Any) -> Search:
        """Return a search whose step about A performs a test, skips one, and writes a note."""
        test = Scripted({"ac": TOO_FEW_ROWS})
        search = Search(test, steps=Steps(counted=counted), **settings)

        def step() -> None:
            search.screen(A, [B, C])
            search.notes.append("noted")

        search.step((named, A), A, step)
        assert len(test.asked) == 2
        return search

    def test_steps_are_named_if_somebody_asks(self) -> None:
        search = self.searched(None)
        assert search.record.steps == []
        assert search.tally == Tally({0: 1}, {0: 1})
        search = self.searched(set())
        assert search.record.steps == [self.LABEL]
        assert search.tally == Tally({0: 1}, {0: 1})
        assert search.notes == ["noted"]

    def test_what_was_counted_before_does_not_count_again(self) -> None:
        search = self.searched({self.LABEL})
        assert search.record.steps == [self.LABEL]
        assert search.tally == Tally()
        assert search.notes == []

    def test_what_was_counted_before_does_not_count_where_it_is_prepared(self) -> None:
        shared = Steps(counted={step_label((asked_about_d.__wrapped__, B))})  # type: ignore[attr-defined]
        search = Search(Scripted(), steps=shared, subject=A, compute_each=in_processes)
        search.prepare(asked_about_d, [B, C])
        assert [asked_about_d(search, x) for x in (B, C)] == [True, True]
        assert (search.tally.performed, len(search.record.steps)) == (1, 2)

    def test_what_was_counted_before_takes_no_tests_from_the_budget(self) -> None:
        search = self.searched({self.LABEL}, budget=Budget(max_tests=1))
        with pytest.raises(BudgetSpent, match="max_tests"):
            search.ask(B, A)

    def test_what_was_counted_before_takes_time_from_the_budget(self) -> None:
        with pytest.raises(BudgetSpent, match="max_seconds"):
            self.searched({self.LABEL}, budget=Budget(max_seconds=0.0, max_tests=1))
