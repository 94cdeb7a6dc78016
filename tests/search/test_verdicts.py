"""What a search makes of answers: verdicts, ranks, levels and counts, question by question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
import pytest

import serape
from scripted import DEPENDENT, NO_DOF, TOO_FEW_ROWS, Scripted
from serape.independence.outcomes import Candidates, Poll, Tally
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.knowledge import BoundKnowledge
from serape.search import Search
from serape.search.budget import Budget, BudgetSpent
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.unreliable import READ_NOTES

RATE = FalseDiscoveryRate(0.05, log_alpha=math.log(0.05))
A, B, C, D, E, F = range(6)


def given_of(search: Search, x: int, target: int) -> tuple[int, ...] | None:
    """Return the conditioning set of the test that decides on x."""
    decision = search.log(target).latest(x)
    return None if decision is None else decision.given


class Levels:
    """A rate whose level is written down; it notes of which p-values and how many hypotheses it is asked."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.asked: list[tuple[list[float], int]] = []

    def log_threshold(self, log_p: Iterable[float], hypotheses: int) -> float:
        """Return the level, whatever the p-values."""
        self.asked.append((sorted(round(math.exp(one), 9) for one in log_p), hypotheses))
        return math.log(self.level)


class Rates(Levels):
    """A false discovery rate that notes of which p-values and how many hypotheses it is asked."""

    def log_threshold(self, log_p: Iterable[float], hypotheses: int) -> float:
        """Return the level."""
        known = list(log_p)
        super().log_threshold(known, hypotheses)
        return FalseDiscoveryRate(self.level).log_threshold(known, hypotheses)


class WithPart(Scripted):
    """A test with a part of the rows: of it, p-values are written down too, by candidate."""

    has_part = True

    def __init__(self, part: Mapping[int, float]) -> None:
        super().__init__()
        self._part = part
        self.part_asked: list[tuple[int, list[int], tuple[int, ...], float]] = []
        """Target, candidates, conditioning set and largest p-value of each question."""

    def clearly_dependent(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int],
        log_p: float,
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult | None:
        """Note the question, and answer it."""
        self._note("clearly_dependent", threads, poll)
        self.part_asked.append((target, [int(x) for x in candidates], tuple(given), round(math.exp(log_p), 12)))
        shown = [x for x in candidates if x in self._part and math.log(self._part[x]) <= log_p]
        if not shown:
            return None
        found = np.log([self._part[x] for x in shown])
        one = np.ones(len(shown))
        return ScreenResult(np.array(shown, np.uint32), tuple(given), -2 * found, one, one > 0, found)


def by_steps(test: Scripted, levels: Levels, **settings: Any) -> Search:
    """Return a search with a false discovery rate that is bounded step by step."""
    return Search(test, fdr=cast("FalseDiscoveryRate", levels), stepwise=True, **settings)


class TestSingleTests:
    @pytest.mark.parametrize(
        "question", [(A, A, ()), (A, B, (A,)), (A, B, (C, B)), (6, B, ()), (-1, B, ()), (6, A, (B,))]
    )
    def test_variables_must_differ_and_exist(self, question: tuple[int, int, tuple[int, ...]]) -> None:
        test = Scripted()
        with pytest.raises(serape.OptionError, match="different variables"):
            Search(test).ask(*question)
        assert test.asked == []

    def test_every_variable_can_be_asked_about(self) -> None:
        test = Scripted()
        search = Search(test)
        for x, target in ((A, B), (F, A), (B, A)):
            assert search.ask(x, target) is not None
        assert test.asked == [(A, B, ()), (F, A, ()), (B, A, ())]

    def test_the_verdict_on_a_p_of_alpha_is_dependence(self) -> None:
        search = Search(Scripted({"ab": 0.05, "ac": 0.06, "ad": TOO_FEW_ROWS}))
        assert [search.independent(x, A) for x in (B, C, D, E)] == [False, True, False, False]
        assert [search.dependent(x, A) for x in (B, C, D, E)] == [True, False, False, True]
        assert search.tally == Tally({0: 6}, {0: 2})

    def test_known_and_required_members_are_never_independent(self) -> None:
        test = Scripted(dict.fromkeys(["ab", "ac", "ad", "bc", "be"], 0.5))
        search = Search(test, subject=A, known=[C], knowledge=BoundKnowledge(required=[(A, B)]))
        assert [search.independent(x, A) for x in (B, C, D)] == [False, False, True]
        assert [search.independent(x, B) for x in (A, C, E)] == [False, True, True]
        assert test.asked == [(D, A, ()), (C, B, ()), (E, B, ())]

    def test_a_set_that_is_too_large_is_skipped(self) -> None:
        test = Scripted()
        search = Search(test, max_conditioning=1)
        assert search.ask(B, A, [C]) is not None
        assert search.ask(B, A, [C, D]) is None
        assert (test.asked, search.tally) == ([(B, A, (C,))], Tally({1: 1}, {2: 1}))
        assert search.ask(E, A, [C, D]) is None
        decision = search.log(A).latest(E)
        assert decision is not None
        assert (decision.given, decision.outcome.reliable) == ((C, D), False)

    def test_a_skipped_test_is_evidence(self) -> None:
        search = Search(Scripted({"ab|c": TOO_FEW_ROWS}))
        assert search.ask(B, A, [C]) is None
        assert given_of(search, B, A) == (C,)
        assert search.separating_set(B, A) is None

    def test_what_a_test_shows_is_kept(self) -> None:
        search = Search(Scripted({"ab|c": 0.5}), fdr=RATE)
        search.ask(B, A, [C])
        search.ask(D, A, [C])
        assert search.separating_set(B, A) == (C,)
        found = search.weakest_association(D, A)
        assert found is not None
        assert found.given == (C,)

    def test_a_budget_of_tests_ends_after_a_single_test(self) -> None:
        with pytest.raises(BudgetSpent):
            Search(Scripted(), budget=Budget(max_tests=1)).ask(B, A)


class TestReading:
    p: ClassVar = {"ab": NO_DOF, "ac": TOO_FEW_ROWS, "ad": 0.5}

    @pytest.mark.parametrize(("which", "read"), [(None, []), ("zero-dof", [B]), ("all", [B, C])])
    def test_single_tests(self, which: Literal["zero-dof", "all"] | None, read: list[int]) -> None:
        test = Scripted(self.p)
        search = Search(test)
        with search.read_as_independence(which):
            found = [x for x in (B, C, E) if search.independent(x, A)]
        assert found == read
        assert [x for x in (B, C, E) if search.separating_set(x, A) is not None] == read
        assert search.tally == Tally({0: 1}, {0: 2})
        assert search.has_read == (which is not None)
        assert search.notes == ([] if which is None else [READ_NOTES[which]])
        assert test.asked.count((E, A, ())) == 1  # a reliable answer is not asked for again
        assert not search.independent(B, A)

    def test_a_note_is_written_once_and_only_if_a_test_was_skipped(self) -> None:
        search = Search(Scripted(self.p))
        with search.read_as_independence("all"):
            assert search.independent(D, A)
        assert search.notes == []
        for which in ("all", "zero-dof", "all", None):
            with search.read_as_independence(which):
                search.ask(B, A)
        assert search.notes == [READ_NOTES["all"], READ_NOTES["zero-dof"]]
        assert search.has_read

    def test_readings_within_readings(self) -> None:
        search = Search(Scripted(self.p))
        with search.read_as_independence("all"):
            with search.read_as_independence(None):
                assert not search.independent(C, A)
            assert search.independent(C, A)

    def test_many_candidates(self) -> None:
        search = Search(Scripted(self.p))
        with search.read_as_independence("all"):
            dependent, independent = search.partition(A, [C, E, D, B])
            assert (dependent.xs.tolist(), independent.tolist()) == ([E], [C, D, B])
            ranked, independent = search.ranked_split(A, [C, E, D, B])
            assert (ranked, independent.tolist()) == ([E], [C, D, B])
        assert [search.separating_set(x, A) for x in (B, C, D, E)] == [(), (), (), None]
        dependent, independent = Search(Scripted(self.p)).partition(A, [C, E, D, B])
        assert (dependent.xs.tolist(), independent.tolist()) == ([E], [D])

    def test_sets_that_are_too_large_are_not_read(self) -> None:
        search = Search(Scripted(), max_conditioning=0)
        with search.read_as_independence("all"):
            dependent, independent = search.partition(A, [B, C], [D])
            assert (len(dependent), len(independent)) == (0, 0)
            assert search.separating_set(A, B) is None
        assert search.tally == Tally({}, {1: 2})

    def test_many_sets(self) -> None:
        search = Search(Scripted({"ab|c": NO_DOF, "ad|bc": NO_DOF}))
        with search.read_as_independence("all"):
            assert search.separate([B, D], A, [C])[0].separated
            assert search.test_each_given_rest(A, [B, C, D]) == [D]
        assert search.separate([B, D], A, [C]).separated_variables == []


class TestScreens:
    def test_a_test_is_asked_with_all_threads(self) -> None:
        test = Scripted()
        search = Search(test, threads=3)
        screen = search.screen(A, [C, B], [D])
        assert (screen.xs.tolist(), screen.given) == ([C, B], (D,))
        assert (test.called, test.polls) == ([("screen", 3)], [search.poll])

    def test_known_answers_are_recorded_and_not_asked_for(self) -> None:
        test = Scripted({"ab": 0.5})
        marginals = {A: test.screen(A, [B, C, D, E])}
        asked = len(test.asked)
        search = Search(test)
        search.use_marginals(marginals)
        screen = search.screen(A, [C, B])
        assert screen.log_p.tolist() == [math.log(DEPENDENT), math.log(0.5)]
        assert (len(test.asked), search.tally) == (asked, Tally())
        assert search.separating_set(A, B) == ()
        assert given_of(search, C, A) == ()
        search.screen(A, [C], [D])
        search.screen(B, [C])
        assert test.asked[asked:] == [(C, A, (D,)), (C, B, ())]

    def test_a_working_set_serves_the_screens_within_it(self) -> None:
        test = Scripted()
        search = Search(test)
        with search.working_set(np.array([B, C], np.uint32)):
            search.screen(A, [B])
        search.screen(A, [D])
        assert test.expected == [[B, C]]
        assert test.asked == [(B, A, ()), (D, A, ())]

    def test_larger_sets_than_the_bound_are_skipped(self) -> None:
        test = Scripted()
        search = Search(test, max_conditioning=1)
        assert not search.screen(A, [B, C], [D, E]).reliable.any()
        assert search.first_dependent(A, [B, C], [D, E]) is None
        assert (test.asked, search.tally) == ([], Tally({}, {2: 4}))

    def test_by_strength(self) -> None:
        search = Search(Scripted({"ab": 0.5, "ac": TOO_FEW_ROWS, "ad": 0.01}))
        assert search.by_strength(A, [B, C, D, E]).tolist() == [E, D, B]

    def test_candidates_are_divided_in_their_order(self) -> None:
        p = {"ab": 0.5, "ac": 0.01, "ad": TOO_FEW_ROWS, "ae": 0.6, "af": 0.02}
        search = Search(Scripted(p))
        dependent, independent = search.partition(A, [F, E, D, C, B])
        assert (dependent.xs.tolist(), independent.tolist()) == ([F, C], [E, B])
        ranked, independent = search.ranked_split(A, [F, E, D, C, B])
        assert (ranked, independent.tolist()) == ([C, F], [E, B])
        assert search.dependents(A, [F, E, D, C, B]) == [C, F]

    def test_required_neighbours_count_as_dependent(self) -> None:
        p = {"ab": 0.5, "ac": 0.01, "ad": 0.7, "ae": 0.6, "af": 0.02}
        search = Search(Scripted(p), knowledge=BoundKnowledge(required=[(A, E)]))
        dependent, independent = search.partition(A, [F, E, D, C, B])
        assert (dependent.xs.tolist(), independent.tolist()) == ([F, E, C], [D, B])
        ranked, independent = search.ranked_split(A, [F, E, D, C, B])
        assert (ranked, independent.tolist()) == ([C, F, E], [D, B])

    def test_required_neighbours_do_not_make_skipped_tests_independence(self) -> None:
        p = {"ab": NO_DOF, "ac": 0.5, "ad": TOO_FEW_ROWS, "ae": 0.6}
        search = Search(Scripted(p), knowledge=BoundKnowledge(required=[(A, E)]))
        dependent, independent = search.partition(A, [B, C, D, E, F])
        assert (dependent.xs.tolist(), independent.tolist()) == ([E, F], [C])
        assert [search.separating_set(x, A) for x in (B, C, D)] == [None, (), None]

    def test_ties_are_broken_by_position_or_at_random(self) -> None:
        assert Search(Scripted()).dependents(A, [E, C, B, D]) == [B, C, D, E]
        search = Search(Scripted({"ab": 0.5, "af": 0.01}), random_state=2)
        orders = {tuple(search.dependents(A, [E, C, B, D, F])) for _ in range(50)}
        assert {order[-1] for order in orders} == {F}
        assert {frozenset(order[:-1]) for order in orders} == {frozenset((C, D, E))}
        assert len(orders) == 6


class TestStrongest:
    def test_it_has_the_smallest_p(self) -> None:
        search = Search(Scripted({"ab": 0.02, "ac": 0.01, "ad": 0.04, "ae": TOO_FEW_ROWS}))
        assert search.strongest(A, [B, C, D, E]) == C
        assert search.strongest(A, [D, B]) == B
        assert search.notes == []

    @pytest.mark.parametrize("rank", ["significance", "information"])
    def test_it_must_be_dependent(self, rank: Literal["significance", "information"]) -> None:
        p = {"ab": 0.5, "ac": 0.06, "ad": TOO_FEW_ROWS, "ae": 0.05}
        search = Search(Scripted(p))
        assert search.strongest(A, [B, C, D], rank=rank) is None
        assert search.strongest(A, [D], rank=rank) is None
        assert search.strongest(A, [], rank=rank) is None
        assert search.strongest(A, [B, E], rank=rank) == E
        assert search.strongest(A, [F], rank=rank) == F
        assert search.notes == []

    def test_it_has_most_information(self) -> None:
        p = {"ab": 0.01, "ac": 0.001, "ad": 0.0001, "ae": 0.5}
        statistic = {"ab": 10.0, "ac": 10.0, "ad": 5.0, "ae": 10.0}
        search = Search(Scripted(p, statistic=statistic))
        assert search.strongest(A, [B, C, D], rank="information") == C
        assert search.strongest(A, [B, C, D]) == D
        assert search.strongest(A, [D, E, B], rank="information") == B

    def test_information_is_by_the_rows_of_each_test(self) -> None:
        test = Scripted(statistic={"ab": 10.0, "ac": 9.0}, rows_each=np.array([1, 100, 50, 1, 100, 100]))
        assert Search(test).strongest(A, [B, C], rank="information") == C
        assert Search(Scripted(statistic={"ab": 10.0, "ac": 9.0})).strongest(A, [B, C], rank="information") == B

    def test_a_note_tells_of_dependent_candidates_with_less_information(self) -> None:
        p = {"ab": 0.5, "ac": 0.01}
        search = Search(Scripted(p, statistic={"ab": 10.0, "ac": 5.0, "ad": 4.0}))
        assert search.strongest(A, [C, B, D], rank="information") is None
        (note,) = search.notes
        assert "the most informative candidate, 'b', is independent" in note
        assert "2 less informative ones are dependent" in note


class TestPart:
    """What a part of the rows shows clearly is not asked of all rows."""

    def test_the_strongest_of_those_that_it_shows(self) -> None:
        test = WithPart({B: 1e-8, C: 1e-9, D: 1e-9})
        search = Search(test, threads=3, fdr=RATE)
        assert search.strongest(A, [F, B, D, C], [E]) == D
        assert test.part_asked == [(A, [F, B, D, C], (E,), 0.05 / 1000)]
        assert (test.called, test.polls, test.asked) == ([("clearly_dependent", 3)], [search.poll], [])
        assert search.tally == Tally({1: 3})
        assert [given_of(search, x, A) for x in (B, C, D, F)] == [(E,), (E,), (E,), None]
        assert search.weakest_association(B, A) is not None
        random = Search(test, random_state=1)
        assert {random.strongest(A, [F, B, D, C], [E]) for _ in range(40)} == {C, D}

    def test_it_must_show_a_p_far_below_the_level(self) -> None:
        test = WithPart({B: 0.051 / 1000, C: 1e-9})
        search = Search(test)
        assert search.strongest(A, [B], [E]) == B
        assert test.asked == [(B, A, (E,))]
        assert search.strongest(A, [B, C]) == C
        assert search.tally == Tally({1: 1, 0: 1})
        steps = WithPart({B: 0.011 / 1000, C: 0.009 / 1000})
        levels = Levels(0.01)
        assert by_steps(steps, levels).strongest(A, [B, C]) == C
        assert (steps.part_asked, levels.asked) == ([(A, [B, C], (), 0.01 / 1000)], [([], 5)])
        assert steps.asked == []

    def test_it_is_not_asked_where_all_rows_must_decide(self) -> None:
        test = WithPart({B: 1e-9, C: 1e-9})
        assert Search(test, decide_on_part=False).strongest(A, [C, B], [E]) == C
        assert Search(test).strongest(A, [C, B], [E], rank="information") == C
        search = Search(test, max_conditioning=1)
        assert search.strongest(A, [C, B], [D, E]) is None
        assert search.tally == Tally({}, {2: 2})
        assert test.part_asked == []
        without = WithPart({B: 1e-9})
        without.has_part = False
        assert Search(without).strongest(A, [C, B]) == C
        assert without.part_asked == []

    def test_it_shows_members_of_a_search_with_a_rate_by_steps(self) -> None:
        test = WithPart({B: 1e-9})
        search = by_steps(test, Levels(0.01))
        found = [search.ask(B, A, [C]), search.ask(C, A, [B])]
        assert [one and round(one.p, 12) for one in found] == [1e-9, DEPENDENT]
        assert test.asked == [(C, A, (B,))]
        assert test.part_asked == [(A, [B], (C,), 0.01 / 1000), (A, [C], (B,), 0.01 / 1000)]


class TestFirstDependent:
    def test_candidates_are_tested_in_order_until_one_is_dependent(self) -> None:
        test = Scripted({"ab": 0.5, "ac": TOO_FEW_ROWS, "ad": 0.05})
        search = Search(test)
        assert search.first_dependent(A, [B, C, D, E]) == 2
        assert test.asked == [(B, A, ()), (C, A, ()), (D, A, ())]
        assert (test.called, test.polls) == ([("first_dependent", 1)], [search.poll])
        assert search.tally == Tally({0: 2}, {0: 1})
        assert search.separating_set(A, B) == ()
        assert search.first_dependent(A, [E]) == 0
        assert search.first_dependent(A, [B]) is None
        assert search.first_dependent(A, [B, C]) is None
        assert search.first_dependent(A, []) is None
        assert search.first_dependent(A, [C, B, E], [F]) == 0

    def test_a_rate_by_steps_needs_the_tests_of_all(self) -> None:
        test = Scripted({"ab": 0.02})
        search = by_steps(test, Levels(0.01))
        assert search.first_dependent(A, [B, C, D]) == 1
        assert test.asked == [(B, A, ()), (C, A, ()), (D, A, ())]
        assert search.first_dependent(A, [B]) is None


class TestGroups:
    groups = CandidateGroups([([B, C], [E]), ([D, E, F], []), ([E], [B])])

    def test_candidates_depend_given_the_set_of_their_group(self) -> None:
        test = Scripted({"ab|de": 0.01, "ac|de": 0.5, "af|d": 0.002}, variables=7)
        search = Search(test, threads=3)
        groups = CandidateGroups([([B, C], [E]), ([E, F], []), ([B], [D])])
        assert search.dependents_given_groups(A, groups, D) == [E, F, B]
        assert search.tally == Tally({2: 2, 1: 2})
        assert search.separating_set(A, C) == (E, D)
        assert test.called[0] == ("screens", 3)
        assert test.polls[0] == search.poll

    def test_they_need_no_separating_sets(self) -> None:
        search = Search(Scripted({"ab|cd": 0.5}), keep_separations=False)
        assert search.dependents_given_groups(A, CandidateGroups([([B, E], [C])]), D) == [E]

    def test_they_spend_the_budget(self) -> None:
        with pytest.raises(BudgetSpent):
            Search(Scripted(), budget=Budget(max_tests=1)).dependents_given_groups(A, self.groups, D)

    def test_groups_with_larger_sets_than_the_bound_count_as_skipped(self) -> None:
        groups = CandidateGroups([([B, C], [E]), ([D, E, F], []), ([C, D], [B, E]), ([B], [D, F])])
        search = Search(Scripted(), max_conditioning=2)
        kept = search.up_to_max_conditioning(groups, [B, A])
        assert kept.all == groups.all[:2]
        assert search.tally == Tally({}, {3: 2 + 2})
        search = Search(Scripted(), max_conditioning=1)
        assert search.up_to_max_conditioning(groups, [A]).all == groups.all[1:2]
        assert search.tally == Tally({}, {2: 2, 3: 3})
        assert Search(Scripted()).up_to_max_conditioning(groups, [A]) is groups

    def test_they_are_not_tested(self) -> None:
        test = Scripted()
        search = Search(test, max_conditioning=1)
        assert search.dependents_given_groups(A, CandidateGroups([([B], [C]), ([E], [])]), D) == [E]
        assert search.tally == Tally({1: 1}, {2: 1})


class TestRatesByStep:
    @pytest.mark.parametrize(("of_member", "dependents"), [(0.03, [E, C]), (0.08, [E]), (TOO_FEW_ROWS, [E])])
    def test_the_level_follows_from_candidates_and_members(self, of_member: Any, dependents: list[int]) -> None:
        """C is dependent if the member is: of four hypotheses, .04 may be the third smallest p, but not the second."""
        p = {"ac|b": 0.04, "ad|b": TOO_FEW_ROWS, "ab": of_member, "ae|b": 0.01}
        test, levels = Scripted(p), Rates(0.06)
        search = by_steps(test, levels, excluded=[F])
        assert search.dependents(A, [C, D, E], [B]) == dependents
        known = [] if of_member is TOO_FEW_ROWS else [of_member]
        assert levels.asked == [([0.01, 0.04, 1.0], 4), ([0.0, 0.01, 0.04], 4), (sorted([*known, 0.01, 0.04]), 4)]
        assert test.asked == [(C, A, (B,)), (D, A, (B,)), (E, A, (B,)), (B, A, ())]
        assert search.tally == (Tally({1: 2, 0: 1}, {1: 1}) if known else Tally({1: 2}, {1: 1, 0: 1}))
        assert (search.separating_set(A, C) == (B,)) == (C not in dependents)
        search.dependents(A, [C, E], [B])  # the member is tested once given the same others
        assert test.asked[4:] == [(C, A, (B,)), (E, A, (B,))]

    def test_members_are_tested_given_the_others_only_if_that_may_decide(self) -> None:
        p = {"ab|c": 0.002, "ac|b": TOO_FEW_ROWS, "ad|bc": 0.03, "ae|bc": 0.002, "af|bc": 0.9}
        test, levels = Scripted(p), Rates(0.05)
        search = by_steps(test, levels)
        assert search.strongest(A, [E, F], [B, C]) == E
        assert search.strongest(A, [F], [B, C]) is None
        assert test.asked == [(E, A, (B, C)), (F, A, (B, C)), (F, A, (B, C))]
        assert (search.tally, search.separating_set(A, F)) == (Tally({2: 3}, {}), (B, C))
        assert search.strongest(A, [D], [B, C]) is None  # .03 is too large for one of five, and not for the third
        assert test.asked[4:] == [(B, A, (C,)), (C, A, (B,))]
        assert levels.asked[-1] == ([0.002, 0.03], 5)
        assert search.tally == Tally({2: 4, 1: 1}, {1: 1})
        assert (search.separating_set(A, B), search.separating_set(A, C)) == (None, None)

    @pytest.mark.parametrize(("first", "asked", "found"), [(0.001, [B], D), (0.9, [B, C], None), (0.03, [B, C], D)])
    def test_members_are_tested_as_long_as_that_may_decide(self, first: float, asked: list[int], found: Any) -> None:
        """Of five hypotheses, .015 may be the second smallest p, and not the smallest."""
        test = Scripted({"ab|c": first, "ac|b": 0.9 if first > 0.5 else 0.002, "ad|bc": 0.015})
        search = by_steps(test, Rates(0.05))
        assert search.strongest(A, [D], [B, C]) == found
        assert [x for x, _, given in test.asked if len(given) == 1] == asked
        assert search.separating_set(A, B) == ((C,) if first > 0.05 else None)
        search.strongest(A, [D], [B, C])  # nothing is tested or counted again
        assert [x for x, _, given in test.asked if len(given) == 1] == asked
        assert search.tally == Tally({2: 2, 1: len(asked)})

    def test_members_are_not_tested_for_a_candidate_that_depends_anyway(self) -> None:
        test = Scripted({"ad|bc": 0.01})
        assert by_steps(test, Levels(0.01)).strongest(A, [D], [B, C]) == D
        assert test.asked == [(D, A, (B, C))]

    def test_members_are_tested_for_a_candidate_at_the_highest_level(self) -> None:
        class Two(Levels):
            def log_threshold(self, log_p: Iterable[float], hypotheses: int) -> float:
                known = list(log_p)
                super().log_threshold(known, hypotheses)
                return math.log(0.02 if min(known) < math.log(0.005) else self.level)

        test = Scripted({"ad|bc": 0.02})
        assert by_steps(test, Two(0.01)).strongest(A, [D], [B, C]) == D
        assert test.asked == [(D, A, (B, C)), (B, A, (C,))]

    def test_an_unreliable_test_of_a_member_separates_nothing(self) -> None:
        """Though it may have a p."""

        class Doubtful(Scripted):
            def test(self, x: int, y: int, given: Sequence[int] = ()) -> serape.Outcome:
                outcome = super().test(x, y, given)
                return replace(outcome, reliable=outcome.p < 0.4)

        search = by_steps(Doubtful({"ab|c": 0.5}), Levels(0.05))
        assert search.dependents(A, [D], [B, C]) == [D]
        assert search.separating_set(A, B) is None

    def test_other_rates_do_not_change_the_level(self) -> None:
        test = Scripted({"ab|c": 0.04})
        assert Search(test, fdr=FalseDiscoveryRate(1e-9)).dependents(A, [B], [C]) == [B]
        assert test.asked == [(B, A, (C,))]

    def test_a_bounded_number_of_outcomes_is_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("serape.search.search._MAX_OUTCOMES", 2)
        test = Scripted()
        search = by_steps(test, Levels(0.05))
        for x in (B, C):
            search.ask(x, A)
        for x in (B, C):
            search.ask(x, A)
        assert (len(test.asked), search.tally.performed) == (2, 4)
        for x in (D, B, D):
            search.ask(x, A)
        assert test.asked[2:] == [(D, A, ()), (B, A, ())]

    def test_the_weakest_member_leaves_until_the_rest_depends(self) -> None:
        p = {"ab|cd": 0.04, "ac|bd": 0.03, "ad|bc": TOO_FEW_ROWS, "ac|d": 0.02, "ad|c": 0.01}
        test, levels = Scripted(p), Levels(0.02)
        search = by_steps(test, levels)
        assert search.test_each_given_rest(A, [B, C, D]) == [B]
        assert levels.asked == [([0.03, 0.04], 5), ([0.01, 0.02], 5)]
        assert search.separating_set(A, B) == (C, D)
        assert search.separating_set(A, C) is None

    def test_it_does_not_leave_if_it_is_required_or_known(self) -> None:
        test = Scripted(dict.fromkeys(["ab|cd", "ac|bd", "ad|bc"], 0.5))
        settings = {"knowledge": BoundKnowledge(required=[(A, B)]), "subject": A, "known": [C]}
        assert by_steps(test, Levels(0.05), **settings).test_each_given_rest(A, [B, C, D]) == [D]
        assert test.asked == [(D, A, (B, C))]

    def test_all_may_leave_or_be_skipped(self) -> None:
        p = {"ab|c": 0.4, "ac|b": 0.5, "ab": 0.3}
        assert by_steps(Scripted(p), Levels(0.05)).test_each_given_rest(A, [B, C]) == [C, B]
        levels = Levels(0.05)
        assert by_steps(Scripted({"ab": TOO_FEW_ROWS}), levels).test_each_given_rest(A, [B]) == []
        assert levels.asked == []


class TestSubsets:
    def test_the_weakest_over_all_subsets(self) -> None:
        test = Scripted({"ab": 0.01, "ab|cd": 0.5, "ab|c": 0.6})
        search = Search(test, threads=3)
        (found,) = search.weakest([B], A, [C, D])
        assert found.given == (C,)
        assert (search.tally, test.called) == (Tally({0: 1, 1: 2, 2: 1}), [("search_subsets", 3)])
        assert test.polls == [search.poll]
        search = Search(Scripted(), max_conditioning=1)
        search.weakest([B], A, [C, D])
        assert search.tally == Tally({0: 1, 1: 2}, {2: 1})

    def test_the_first_subset_that_separates(self) -> None:
        test = Scripted({"ab|d": 0.5, "ab|cd": 0.6, "ae|cd": 0.5})
        search = Search(test)
        found = search.separate([B, E], A, [C, D])
        assert [one.given for one in found] == [(D,), (C, D)]
        assert found.separated_variables == [B, E]
        assert search.separating_set(A, B) == (D,)
        assert [asked for asked in test.asked if asked[0] == E] == [
            (E, A, ()), (E, A, (C,)), (E, A, (D,)), (E, A, (C, D)),
        ]  # fmt: skip

    def test_sizes_are_those_asked_for(self) -> None:
        search = Search(Scripted())
        search.separate([B], A, [C, D, E], range(1, 3))
        assert search.tally == Tally({1: 3, 2: 3})

    def test_separated_variables_stay_and_all_are_searched_if_nothing_else_is_asked_for(self) -> None:
        search = Search(Scripted({"ab": 0.5}))
        assert len(search.separate([C, B, D], A, [B])) == 3
        assert search.tally == Tally({0: 3, 1: 2})

    def test_required_neighbours_are_not_tested(self) -> None:
        test = Scripted({"ab": 0.5, "ac": 0.5})
        search = Search(test, threads=3, knowledge=BoundKnowledge(required=[(A, B)]))
        assert search.separate([B, C], A, []).separated_variables == [C]
        assert (test.asked, test.called, test.polls) == ([(C, A, ())], [("search_subsets", 3)], [search.poll])
        assert search.separate([D, C], A, [], until_survivor=True).separated_variables == []
        assert search.separate([C, D], A, [], until_survivor=True).separated_variables == [C]

    def test_a_number_of_tests_ends_a_search_on_one_thread(self) -> None:
        test = Scripted()
        search = Search(test, threads=3, budget=Budget(max_tests=3))
        search.ask(B, A)
        with pytest.raises(BudgetSpent):
            search.weakest([C, D, E], A, [F])
        assert search.tally == Tally({0: 2, 1: 1})
        assert test.called == [("search_subsets", 1)]

    def test_a_budget_of_seconds_leaves_all_threads(self) -> None:
        test = Scripted()
        Search(test, threads=3, budget=Budget(max_seconds=1e6)).weakest([B], A, [])
        assert test.called == [("search_subsets", 3)]


class TestEachGivenRest:
    def test_a_separated_member_leaves(self) -> None:
        p = {"ab|cd": 0.5, "ac|d": 0.5, "ad|bc": 0.5}
        test = Scripted(p)
        search = Search(test)
        assert search.test_each_given_rest(A, [B, C, D]) == [B, C]
        assert test.asked == [(B, A, (C, D)), (C, A, (D,)), (D, A, ())]
        assert (test.called, test.polls) == ([("test_each_given_rest", 1)], [search.poll])
        assert (search.separating_set(A, B), search.separating_set(A, D)) == ((C, D), None)

    def test_nothing_is_asked_about_no_members(self) -> None:
        test = Scripted()
        assert Search(test).test_each_given_rest(A, []) == []
        assert test.called == []

    def test_larger_sets_than_the_bound_are_skipped(self) -> None:
        search = Search(Scripted({"ab|cd": 0.5}), max_conditioning=1)
        assert search.test_each_given_rest(A, [B, C, D]) == []
        assert search.tally == Tally({}, {2: 3})

    def test_the_newest_is_tested_only_if_another_is_separated(self) -> None:
        test = Scripted({"ab|cd": 0.5, "ad|bc": 0.5, "ad|c": 0.5})
        assert Search(test).test_each_given_rest(A, [C, D], newest=D) == []
        assert test.asked == [(C, A, (D,))]
        assert Search(test).test_each_given_rest(A, [B, C, D], newest=D) == [B, D]
        assert test.asked[1:] == [(B, A, (C, D)), (C, A, (D,)), (D, A, (C,))]

    def test_known_and_required_members_are_not_tested(self) -> None:
        p = dict.fromkeys(["ab|cde", "ac|bde", "ad|bce", "ae|bcd", "ae|bc", "ab|c", "ac|b"], 0.5)
        test = Scripted(p)
        knowledge = BoundKnowledge(required=[(A, B)])
        search = Search(test, subject=A, known=[C], knowledge=knowledge)
        assert search.test_each_given_rest(A, [B, C, D, E]) == [D, E]
        assert test.asked == [(D, A, (B, C, E)), (E, A, (B, C))]
        assert search.test_each_given_rest(A, [B, C, D, E], newest=B) == [D, E]
        assert search.test_each_given_rest(A, [B, C, D, E], newest=C) == [D, E]
        del test.asked[:]
        search.test_each_given_rest(D, [C])
        assert test.asked == [(C, D, ())]
