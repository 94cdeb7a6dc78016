"""Search: the interface between algorithms and independence tests.

It turns outcomes into verdicts (significance and reliability), counts every test, keeps separating sets and
evidence, reports progress, and stops on Ctrl-C. To algorithms, variables are positions; they never see data.

A verdict has three values. A reliable test with p > alpha shows *independence*, one with p <= alpha *dependence*; an
unreliable test shows neither: it is skipped, and counted as skipped. A question whose conditioning set is larger than
`max_conditioning` is skipped in the same way. An algorithm may follow a paper that reads unreliable tests as
independence: see `read_as_independence`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from serape.arrays import Positions
from serape.errors import OptionError
from serape.independence import answering
from serape.independence.outcomes import NO_OUTCOME, Candidates, Outcome, TestsSpent, as_positions, p_text
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.preparing import PreparingSearch
from serape.search.required import search_all_but
from serape.search.state import MembersTested
from serape.search.unreliable import READ_NOTES, Unreliable, each_given_rest, read_indices, read_outcome, search_subsets
from serape.types import Rank

Value = TypeVar("Value")

_FAR = math.log(1000)  # below the level
_MAX_OUTCOMES = 1024  # that a search with a false discovery rate remembers


class Search(PreparingSearch):
    """One search: a test, a significance level, and all that the search has found.

    `subject` is the variable that the whole search is about: evidence is kept for it alone, and not for the other
    variables that an algorithm treats as targets; with `evidence=False`, for none. Searches that share `steps` share
    what is `memoised`. Pairs that `knowledge` requires are never separated; those that it forbids are tested like
    others, and left out of the answer (`possible_neighbours`). `known` are members of the subject's blanket.
    `excluded` variables are candidates for no target. Variables may be given as integers of any type.

    Examples
    --------
    >>> def neighbours(search, target):
    ...     found = search.dependents(target, search.candidates(target))
    ...     return [x for x in found if not any(search.independent(x, target, (z,)) for z in found if z != x)]
    >>> serape.parents_children(patients, "ECG", neighbours, alpha=0.01).members
    ('HeartDisease',)
    """

    # --- verdicts ------------------------------------------------------------------------------------------------

    def ask(self, x: int, target: int, given: Sequence[int] = ()) -> Outcome | None:
        """Return the outcome of one test, or None if it is skipped."""
        x, target, given = int(x), int(target), tuple(map(int, given))
        if x == target or x in given or target in given or not 0 <= x < len(self.variables):
            raise OptionError(f"a test needs different variables of the table, not {x} ⊥ {target} | {given}")
        if self._too_large(given):
            self.tally.add(len(given), 0, 1)
            self.record_decision(x, target, NO_OUTCOME, given)
            return None
        outcome = self._member_outcome(x, target, given) if self.stepwise else self.test.test(x, target, given)
        self.tally.add(len(given), outcome.reliable, not outcome.reliable)
        self.record_decision(x, target, outcome, given)
        self._tick()
        if self._read is not None and not outcome.reliable:
            outcome = read_outcome(self._read, self.test.answer(x, target, given))
        if not outcome.reliable:
            return None
        self._record.add_test(x, target, given, outcome, self.log_alpha)
        return outcome

    def independent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a reliable test shows X ⊥ T | given; False for a known member."""
        if x in self._kept(target):
            return False
        outcome = self.ask(x, target, given)
        return outcome is not None and outcome.log_p > self.log_alpha

    def dependent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a reliable test shows that X ⊥ T | given does not hold."""
        outcome = self.ask(x, target, given)
        return outcome is not None and outcome.log_p <= self.log_alpha

    def clearly_dependent(self, x: int, target: int, given: Sequence[int] = ()) -> bool:
        """Return whether a part of the rows shows clear dependence; if not, nothing is known."""
        return self._clearly_dependent(int(target), as_positions([int(x)]), given) is not None

    @contextmanager
    def read_as_independence(self, which: Unreliable | None) -> Iterator[None]:
        """Read some unreliable tests as independence in place of skipping them; None reads none.

        They are those with enough rows but no degrees of freedom ("zero-dof"), or "all". They are counted as skipped
        all the same.
        """
        outside, self._read = self._read, which
        self.has_read = self.has_read or which is not None
        before = self.tally.skipped
        try:
            yield
        finally:
            self._read = outside
            if which is not None and self.tally.skipped > before and READ_NOTES[which] not in self.notes:
                self.notes.append(READ_NOTES[which])

    # --- many candidates -----------------------------------------------------------------------------------------

    def screen(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> ScreenResult:
        """Test all candidates against the target given one set."""
        target, given = int(target), tuple(map(int, given))
        if self._too_large(given):
            return self._all_skipped(target, candidates, given)
        if not given and target in self._marginals:
            screen = self._marginals[target].part(as_positions(candidates))
            self._note_screen(target, screen)
            return screen
        return self._record_screen(
            target, self._screen(target, candidates, given, threads=self.threads, poll=self._tick)
        )

    @contextmanager
    def working_set(self, among: Positions) -> Iterator[None]:
        """Announce many screens of these variables, or of most of them; they must be in the table's order.

        The answers are the same, but the test may keep the columns of these variables together.
        """
        outside, self._screen = self._screen, self.test.working_set(among)
        try:
            yield
        finally:
            self._screen = outside

    def strongest(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        rank: Rank = "significance",
        *,
        up_to: float = 0.0,
    ) -> int | None:
        """Return the candidate most strongly associated with the target, or None if it is not dependent.

        Nor if its log p is above `up_to`; a note then tells that candidates are dependent.

        It has the smallest p-value, or, ranked by "information", the largest conditional mutual information. In that
        case others can be dependent where it is not; a note reports them.
        """
        target = int(target)
        if rank == "significance" and (clear := self._clearly_dependent(target, candidates, given)) is not None:
            return self._joined(target, clear, clear.strongest()[0])
        screen = self.screen(target, candidates, given)
        indices, log_p = screen.strongest() if rank == "significance" else self._most_informative(screen)
        level = self._level(target, screen)
        if up_to < log_p <= level:
            many = len(screen.dependents(level))
            self.notes.append(
                f"the search ended because no candidate depends on the target given the members beyond doubt: {many:,} "
                f"{'has' if many == 1 else 'have'} p up to alpha, but above {p_text(up_to)}, alpha divided by the "
                f"number of candidates"
            )
            return None
        if log_p > level:  # or no test is reliable
            dependent = screen.dependents(level) if rank == "information" else []
            if dependent:
                self.notes.append(
                    f"the search ended because the most informative candidate, "
                    f"{self.test.variables[screen.xs[indices[0]]]!r}, is independent given the members so far; "
                    f"{len(dependent):,} less informative ones are dependent"
                )
            return None
        return self._joined(target, screen, indices)

    def _joined(self, target: int, screen: ScreenResult, indices: list[int]) -> int:
        """Return one of the candidates at some indices; it may be asked about again, as a member given the others."""
        index = self.one_of(indices)
        x = int(screen.xs[index])
        if self.stepwise:
            outcome = screen.outcome(index)
            self._remember(x, target, tuple(screen.given), replace(outcome, rows=outcome.rows or self.test.rows))
        return x

    def _clearly_dependent(self, target: int, candidates: Candidates, given: Sequence[int]) -> ScreenResult | None:
        """Return the answers of the candidates that a part of the rows clearly shows to be dependent, if there are any.

        Their p is far below the level, whatever the other tests say. The other candidates count as not tested.
        """
        given = tuple(map(int, given))
        found = None if self._too_large(given) else self._shown_by_part(target, candidates, given)
        return None if found is None else self._record_screen(target, found)

    def _shown_by_part(self, target: int, candidates: Candidates, given: tuple[int, ...]) -> ScreenResult | None:
        if not (self._decide_on_part and self.test.has_part):
            return None
        level = self.log_alpha
        if self._rate_by_step is not None:
            level = self._rate_by_step.log_threshold([], len(self.candidates(target)))
        return self.test.clearly_dependent(
            target, candidates, given, level - _FAR, threads=self.threads, poll=self._tick
        )

    def _most_informative(self, screen: ScreenResult) -> tuple[list[int], float]:
        """Return the indices of the most informative reliable answers (several if they tie exactly) and their log p."""
        indices = np.flatnonzero(screen.reliable)
        rows = self.test.rows if screen.rows is None else screen.rows[indices]
        information = self.test.information(screen.statistic[indices], screen.dof[indices], rows)
        if len(indices) == 0:
            return [], 0.0
        best = indices[information == information.max()]
        log_p = screen.log_p_of(best)
        return best[log_p == log_p.min()].tolist(), float(log_p.min())

    def by_strength(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Positions:
        """Return the candidates whose test is reliable, most strongly associated first."""
        screen = self.screen(target, candidates, given)
        return screen.xs[self._ranked(screen, np.flatnonzero(screen.reliable))]

    def partition(
        self, target: int, candidates: Candidates, given: Sequence[int] = ()
    ) -> tuple[ScreenResult, Positions]:
        """Return the answers for the dependent candidates, and the independent ones, both in the candidates' order."""
        target = int(target)
        screen = self.screen(target, candidates, given)
        if self._read is None and not self._required(target):
            level = self._level(target, screen)
            return screen.that_depend(level), screen.xs[screen.partition(level)[1]]
        dependent, independent = self._partitioned(target, screen)
        return screen.at(dependent), screen.xs[independent]

    def ranked_split(
        self, target: int, candidates: Candidates, given: Sequence[int] = ()
    ) -> tuple[list[int], Positions]:
        """Return the dependent candidates, most strongly associated first, and the independent ones in their order.

        Exact ties are broken by position, or at random if there is a `random_state`.
        """
        target = int(target)
        screen = self.screen(target, candidates, given)
        if self._random is None and self._read is None and not self._required(target):
            return screen.ranked_split(self._level(target, screen))
        dependent, independent = self._partitioned(target, screen)
        ranked = self._ranked(screen, screen.by_position(dependent))
        return list(map(int, screen.xs[ranked])), screen.xs[independent]

    def dependents(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> list[int]:
        """Return the dependent candidates, most strongly associated first."""
        return self.ranked_split(target, candidates, given)[0]

    def first_dependent(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> int | None:
        """Test the candidates in order and return the index of the first that is dependent, or None."""
        target, given = int(target), tuple(map(int, given))
        if self._too_large(given):
            self._all_skipped(target, candidates, given)
            return None
        if self.stepwise:
            screen = self.screen(target, candidates, given)
        else:
            found = self.test.first_dependent(target, candidates, given, self.log_alpha, poll=self._tick)
            screen = self._record_screen(target, found)
        dependent = np.flatnonzero(screen.dependent(self._level(target, screen)))
        return int(dependent[0]) if len(dependent) else None

    def dependents_given_groups(self, target: int, groups: CandidateGroups, also: int) -> list[int]:
        """Return the candidates that depend on the target given their group's set and `also`, the strongest first.

        Groups whose set contains `also` are left out. Exact ties are broken by position. The tests are counted; they
        decide on no variable and are not kept as evidence.
        """
        target = int(target)
        groups = self.up_to_max_conditioning(groups, (also,))
        screen, tally = self.test.screens(target, groups, also, threads=self.threads, poll=self._tick)
        self.tally.merge(tally)
        if self.keeps_separations:
            for part in screen.by_group(groups, also):
                self._record.separations.add_screen(part, target, self.log_alpha)
        self._tick()
        return screen.dependents(self.log_alpha)

    def up_to_max_conditioning(self, groups: CandidateGroups, each: Sequence[int]) -> CandidateGroups:
        """Return the groups whose sets may have one more member; count the others as skipped, given each of these."""
        if self.max_conditioning is None:
            return groups
        max_size = self.max_conditioning - 1
        for candidates, given in groups.all:
            if len(given) > max_size:
                self.tally.add(len(given) + 1, 0, len(candidates) * sum(also not in given for also in each))
        return groups.up_to(max_size)

    def _partitioned(self, target: int, screen: ScreenResult) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of dependent candidates, and of independent ones."""
        dependent, independent = screen.partition(self._level(target, screen))
        if self._read is not None and not self._too_large(screen.given):
            read = read_indices(self._read, screen)
            self.record_independence(screen.xs[read], target, screen.given)
            independent = np.sort(np.concatenate([independent, read]))
        if required := self._required(target):
            kept = np.isin(screen.xs[independent], list(required))
            dependent = np.sort(np.concatenate([dependent, independent[kept]]))
            independent = independent[~kept]
        return dependent, independent

    def _level(self, target: int, screen: ScreenResult) -> float:
        """Return the log p up to which a candidate is dependent.

        With a false discovery rate, it follows from the tests of all candidates given the members, and of each member
        given the others (Peña, *Learning Gaussian graphical models of gene networks with false discovery rate control*,
        EvoBIO 2008).
        """
        rate = self._rate_by_step
        if rate is None:
            return self.log_alpha
        members, of_candidates = screen.given, screen.log_p[screen.reliable]
        hypotheses = len(self.candidates(target))

        def level(of_members: Sequence[float]) -> float:
            return rate.log_threshold(np.concatenate([of_members, of_candidates]), hypotheses)

        # The more members are certain, the higher the level: they are tested one by one, the first that joined first,
        # as long as that may decide on a candidate.
        known = self._members_tested
        if (known.target, known.members) != (target, members):
            known = self._members_tested = MembersTested(target, members)
        while True:
            untested = len(members) - known.tests
            found = level([*known.log_p, *[0.0] * untested])
            most = level([*known.log_p, *[-math.inf] * untested]) if untested > 0 else found
            if not ((of_candidates > found) & (of_candidates <= most)).any():
                break
            self._test_next_member(known)
        self._record.separations.add_screen(screen, target, found)
        return found

    def _test_next_member(self, known: MembersTested) -> None:
        """Test the next member given the others."""
        x, rest = known.members[known.tests], known.members[: known.tests] + known.members[known.tests + 1 :]
        outcome = self._member_outcome(x, known.target, rest)
        known.tests += 1
        self.tally.add(len(rest), outcome.reliable, not outcome.reliable)
        if outcome.reliable:
            known.log_p.append(outcome.log_p)
            self._record.add_test(x, known.target, rest, outcome, self.log_alpha)

    def _member_outcome(self, x: int, target: int, rest: tuple[int, ...]) -> Outcome:
        """Return the outcome of a test of a member given the others: computed once, however often it is asked for."""
        key = x, target, rest
        if key not in self._member_outcomes:
            clear = self._shown_by_part(target, [x], rest)
            self._remember(*key, self.test.test(x, target, rest) if clear is None else clear.outcome(0))
        return self._member_outcomes[key]

    def _remember(self, x: int, target: int, rest: tuple[int, ...], outcome: Outcome) -> None:
        if len(self._member_outcomes) >= _MAX_OUTCOMES:
            self._member_outcomes.clear()
        self._member_outcomes[x, target, rest] = outcome

    def _ranked(self, screen: ScreenResult, indices: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return indices from the strongest to the weakest; exact ties by index, or at random with a seed."""
        return screen.ranked(indices, None if self._random is None else self._random.permutation(len(indices)))

    # --- many conditioning sets ----------------------------------------------------------------------------------

    def weakest(self, xs: Candidates, target: int, pool: Candidates) -> SubsetResult:
        """Return, for each x, its weakest association with the target over all subsets of the pool."""
        return self._subsets(SubsetQuery(xs, int(target), pool, range(len(pool) + 1), max_size=self.max_conditioning))

    def separate(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        sizes: range | None = None,
        *,
        fixed: Sequence[int] = (),
        n_exhausted: int | Sequence[int] = -1,
        shrinking: bool = False,
        until_survivor: bool = False,
        by_weakest: bool = False,
    ) -> SubsetResult:
        """Return, for each x, the first subset of the pool that separates it from the target.

        If there is none, the answer is the weakest association of x. Smaller subsets come first, subsets of one size in
        the pool's order. The options are those of `SubsetQuery`. A part of the rows may show that a subset does not
        separate x; not if the search goes on `by_weakest` associations, for which all rows answer all tests.
        """
        if sizes is None:
            sizes = range(len(pool) + 1)
        query = SubsetQuery(
            xs,
            int(target),
            pool,
            sizes,
            fixed,
            self.max_conditioning,
            n_exhausted,
            self.log_alpha,
            shrinking,
            until_survivor,
            clear=None if by_weakest else self._clear,
        )
        return self._subsets(query)

    @functools.cached_property
    def _clear(self) -> float | None:
        """The log p up to which a part of the rows may show that a set does not separate two variables.

        A rate counts with all pairs, so that searches for one target and for many share what they find.
        """
        if not (self._decide_on_part and self.test.has_part):
            return None
        level = self.log_alpha
        if self.fdr is not None:
            level = min(level, self.fdr.strictest(math.comb(len(self.variables), 2)))
        return level - _FAR

    def _subsets(self, query: SubsetQuery) -> SubsetResult:
        required, threads = self._required(query.target), self.threads
        if self._budget is not None and self._budget.max_tests is not None:
            query = query._replace(max_tests=self._budget.tests_left(self._performed))
            threads = 1  # so that the search ends after the same tests
        answer = functools.partial(answering.search_subsets, self.test)
        if self._read is not None:
            answer = functools.partial(search_subsets, self.test, self._read)
        try:
            if required and any(int(x) in required for x in query.xs):
                ask = functools.partial(answer, threads=threads, poll=self._tick)
                found, tally = search_all_but(required, query, ask)
            else:
                found, tally = answer(query, threads=threads, poll=self._tick)
            return self.record_subsets(query.target, found, tally)
        except TestsSpent as spent:
            self.count(spent.tally)  # which ends the search
            raise

    def test_each_given_rest(self, target: int, members: Collection[int], newest: int | None = None) -> list[int]:
        """Test each member in turn given the others, and return those that are separated.

        A separated member is not conditioned on in the tests after it. Known members are not tested. The `newest`
        member is known to depend on the target given all others, and is tested only if one of these is separated.
        """
        target = int(target)
        kept, pool = self._kept(target), list(members)
        if self._rate_by_step is not None:
            return self._weakest_given_rest(target, pool, kept, self._rate_by_step)
        separated = self._test_each_given_rest([x for x in pool if x != newest and x not in kept], target, pool)
        if separated and newest is not None and newest not in kept:
            separated += self._test_each_given_rest([newest], target, [x for x in pool if x not in separated])
        return separated

    def _weakest_given_rest(
        self, target: int, pool: list[int], kept: frozenset[int], fdr: FalseDiscoveryRate
    ) -> list[int]:
        """Remove the member with the largest p given the others, as long as the false discovery rate requires it."""
        separated: list[int] = []
        while xs := [x for x in pool if x not in kept]:
            outcomes = {x: self.ask(x, target, [z for z in pool if z != x]) for x in xs}
            tested = {x: outcome.log_p for x, outcome in outcomes.items() if outcome is not None}
            if not tested:
                break
            level = fdr.log_threshold(tested.values(), len(self.candidates(target)))
            weakest = max(tested, key=lambda x: tested[x])
            if tested[weakest] <= level:
                break
            self._record.separations.add(weakest, target, tuple(z for z in pool if z != weakest))
            pool.remove(weakest)
            separated.append(weakest)
        return separated

    def _test_each_given_rest(self, xs: list[int], target: int, pool: list[int]) -> list[int]:
        if not xs:
            return []
        answer = functools.partial(answering.each_given_rest, self.test)
        if self._read is not None:
            answer = functools.partial(each_given_rest, self.test, self._read)
        found, tally = answer(xs, target, pool, self.log_alpha, max_size=self.max_conditioning, poll=self._tick)
        return self.record_subsets(target, found, tally).separated_variables
