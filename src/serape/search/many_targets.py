"""Questions about many targets in one call of the test, where nothing but the answers is kept.

A search that records evidence, must not separate required pairs, reads unreliable tests as independence, keeps the
weakest associations or ends after a number of tests asks target by target. So does one that keeps separating sets,
where a call would not return the answers that show independence, and one with a test for which nobody has such a
kernel. The answers and the numbers of tests are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from serape.arrays import Positions
from serape.independence.answering import AtOnce, at_once
from serape.independence.backends import Shape
from serape.independence.contingency import InterIapcRun
from serape.independence.dependent_pairs import find_dependent_pairs
from serape.independence.outcomes import Tally
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import TargetLists
from serape.independence.subsets import SubsetResult
from serape.search.search import Search

EXPECTED = 64  # targets whose questions a test is told of in advance
_MANY = 64  # variables
_TOGETHER = 64  # questions of one call for each thread: their answers are kept until the last is there

Separated = tuple[NDArray[np.uint32], SubsetResult, NDArray[np.bool_]]
"""By answer, its target; the answers; by answer, whether a set separates the two variables."""


def separate_each(search: Search, asked: TargetLists, pools: TargetLists, size: int) -> Iterator[Separated]:
    """Search the pool of each target for sets of one size that separate it from the variables in `asked`.

    The targets of both must be the same. There is an answer for each variable in `asked`, in their order. A search that
    keeps separating sets asks target by target.
    """
    test = search.test
    largest = size if search.max_conditioning is None else min(size, search.max_conditioning)
    ask = at_once(test, Shape("subsets of many", sizes=range(size, largest + 1)))
    if search.keeps_answers_alone and not search.keeps_separations and ask is not None:
        found, tally = ask(
            asked, pools, size,
            max_size=search.max_conditioning, stop_above=search.log_alpha, threads=search.threads, poll=search.poll,
        )  # fmt: skip
        search.count(tally)
        yield asked.each_target(), found, found.separated_each()
        return
    questions = zip(asked.items(), pools.items(), strict=True)
    while some := list(islice(questions, EXPECTED)):
        test.expect_subsets([{x, *others, *pool} for (x, others), (_, pool) in some])
        for (x, others), (_, pool) in some:
            found = search.separate(others, x, pool, range(size, size + 1))
            yield np.full(len(found), x, np.uint32), found, found.separated_each()


def dependent_pairs(search: Search, variables: Sequence[int]) -> tuple[NDArray[np.uint32], ScreenResult] | None:
    """Test all pairs of the variables given nothing in one call; return, by dependent pair, a variable and the answers.

    None if they must be asked variable by variable. That is so for a few variables too, if a test is not reliable, and
    if the search keeps separating sets.
    """
    if not search.keeps_answers_alone or search.keeps_separations:
        return None
    if len(variables) < _MANY or search.excludes(variables):
        return None
    test = search.test
    ask = at_once(test, Shape("dependent pairs", usual=len(variables) == len(test.variables)))
    if ask is not None and (found := ask(search.log_alpha, threads=search.threads)) is not None:
        pairs_of, answers, tests = found
        search.count(Tally({0: tests}, {}))
        return pairs_of, answers
    pairs = find_dependent_pairs(test, variables, search.log_alpha, search.threads, among_targets=True)
    if pairs is None or not pairs.all_reliable:
        return None
    search.count(Tally({0: pairs.among_targets}, {}))
    xs, known = pairs.all_known()
    once = np.flatnonzero(known.xs > xs)
    return xs[once], known.at(once).with_log_p(search.threads)


def dependents_given_each(
    search: Search, target: int, groups: CandidateGroups, each: Sequence[int], *, as_written: bool
) -> Iterator[list[int]]:
    """Yield, for each x, the candidates of groups that depend on the target given their group's set and x.

    Of several, each is then tested given x and one of the others, and leaves them if that separates it; `in_order`
    tells the order.
    """
    largest = search.max_conditioning
    ask = at_once(search.test, Shape("spouses", usual=not as_written and (largest is None or largest >= 2)))
    if ask is None or not search.asks_plainly(target):
        for x in each:
            found = search.dependents_given_groups(target, groups, x)
            if len(found) > 1:
                tested, conditioned_on = in_order(found, as_written=as_written)
                found = search.separate(
                    tested, target, conditioned_on, range(1, 2), fixed=(x,), shrinking=True
                ).survivors
            yield found
        return
    together = max(_TOGETHER * search.threads, ask.together)
    for begin in range(0, len(each), together):
        some = each[begin : begin + together]
        small = search.up_to_max_conditioning(groups, some)
        for dependents, screened, answers, tally in ask(
            target, small, some, search.log_alpha,
            as_written=as_written, max_size=largest, threads=search.threads, poll=search.poll,
        ):  # fmt: skip
            search.count(screened)
            if len(dependents) > 1:
                yield search.record_subsets(target, answers, tally).survivors
            else:
                yield list(map(int, dependents))


def inter_iapc_runs(search: Search, targets: Sequence[int], among: Positions) -> Iterator[InterIapcRun] | None:
    """Return, for each target, a run of Inter-IAPC among some variables, in one call for many targets.

    What belongs to a run is recorded when it is asked for. None if the algorithm must ask, because more than the
    numbers of tests, separating sets and weakest associations is kept.
    """
    ask = at_once(search.test, Shape("inter-iapc"))
    if ask is None or not all(search.keeps_no_tests(x) for x in targets):
        return None
    return _recorded_runs(search, ask, targets, among)


def _recorded_runs(search: Search, ask: AtOnce, targets: Sequence[int], among: Positions) -> Iterator[InterIapcRun]:
    together = _TOGETHER * search.threads
    groups, record = CandidateGroups([(among, ())]), search.record
    weigh = record.to_weigh(targets, among)
    for begin in range(0, len(targets), together):
        some = targets[begin : begin + together]
        found = ask(some, groups, search.log_alpha, weigh=weigh, threads=search.threads, poll=search.poll)
        for target, run in zip(some, found, strict=True):
            tally = Tally()
            for x, outcome, given in run.weakest:  # of candidates: they come before all tests of members
                record.add_test(x, target, given, outcome, search.log_alpha)
            for given, performed, skipped, independent, tested in run.rounds:
                tally.add(len(given), performed, skipped)
                search.record_independence(independent, target, given)
                for answers, its in tested:
                    search.record_subsets(target, answers, its)
            search.count(tally)
            search.record_subsets(target, *run.separated)
            yield run


def in_order(strongest_first: list[int], *, as_written: bool) -> tuple[list[int], list[int]]:
    """Return variables in the order in which they are tested, and in that in which they are conditioned on."""
    if as_written:
        return sorted(strongest_first), sorted(strongest_first)
    return strongest_first[::-1], strongest_first
