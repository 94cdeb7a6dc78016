"""What every independence test offers.

A test answers "is X ⊥ Y | Z?". Algorithms ask in batches, of which there are four patterns, as `backends` names them:

- *screen*: many candidates given one set: `screen`, `first_dependent`, which stops at a dependent one, and `screens`,
  for several sets;
- *subsets*: many candidates, each given sets drawn from a pool: `search_subsets` (`weakest` and `separate` are its two
  usual forms);
- *each given the rest*: each of some variables given the others: `test_each_given_rest`;
- *pairs*: targets with all variables given nothing, each pair once: `marginals`.

A new test supplies `test` alone: the base class builds the batches on it. A faster test overrides them and must give
the same answers. Variables are positions in `variables` throughout.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError
from serape.independence import answering
from serape.independence.backends import NO_QUESTIONS, DeviceColumns, Questions
from serape.independence.effects import Effect, EffectGroup, Effects
from serape.independence.given_tests import GivenTests
from serape.independence.outcomes import (
    NO_OUTCOME,
    Candidates,
    Floats,
    Outcome,
    Poll,
    Rows,
    Tally,
    TestsSpent,
    check_distinct,
)
from serape.independence.screens import NO_VARIABLES, CandidateGroups, ScreenResult, as_screen_result
from serape.independence.subset_query import SubsetQuery, n_subsets
from serape.independence.subsets import Association, SubsetResult, as_subset_result, weaker
from serape.wording import algorithm_option

if TYPE_CHECKING:
    from serape.independence.near import Fetcher


class IndependenceTest(ABC):
    """A source of answers about conditional independence. A new test supplies `test`, `name` and `variables`.

    The base class builds the other questions on `test`; a faster test overrides them and gives the same answers.
    Variables are positions in `variables`. docs/extending.md has more.

    Examples
    --------
    >>> class Never(serape.IndependenceTest):
    ...     name, variables = "never", ("a", "b", "c")
    ...     def test(self, x, y, given=()):
    ...         return serape.Outcome(statistic=0.0, dof=1.0, log_p=0.0, reliable=True)
    >>> serape.markov_blanket(Never(), "a", "iamb").blanket
    ()
    """

    name: str = "custom"
    variables: tuple[str, ...]
    rows: int | None = None
    likelihood_ratio: bool = False
    """Whether the statistic estimates 2N times the conditional mutual information, as G² does."""
    has_effect: bool = False
    """Whether `effects` returns any."""
    has_part: bool = False
    """Whether a part of the rows may show clear dependence: see `clearly_dependent`."""
    on_rows: bool = False
    """Whether it is a test on rows of data that are no Table here."""
    made_of: ClassVar[tuple[str, ...] | None] = None
    """The names of the attributes that the answers depend on, besides the table; None: all attributes."""
    counts_cells: ClassVar[bool] = False
    """Whether it counts cells of contingency tables: its variables are categories."""
    core_answers: ClassVar[Questions] = NO_QUESTIONS
    """The patterns and kernels that the core, or arrays, answer in one call; the others are asked test by test."""
    kept_on_device: ClassVar[str | None] = None
    """What of its table a device keeps for it, by its name in `on_engine`; None if no device answers for it."""
    made_again_from: ClassVar[tuple[str, ...] | None] = None
    """The attributes that make the same test of another table; None if they do not."""
    of_caller: ClassVar[bool] = False
    """Whether code of the caller answers."""
    _noted: tuple[str, ...] = ()
    _device: DeviceColumns | None = None
    fetcher: Fetcher | None = None
    """Of a table on a cluster: what fetches from there what a question concerns, so that it is answered here."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Forget what holds for the base class alone: a class derived from it may answer in its own way."""
        super().__init_subclass__(**options)
        own = vars(cls)
        if "core_answers" not in own:
            cls.core_answers = NO_QUESTIONS
        if "kept_on_device" not in own:
            cls.kept_on_device = None
        if "made_again_from" not in own:
            cls.made_again_from = None
        if "of_caller" not in own:
            cls.of_caller = not cls.__module__.startswith("serape.")

    @property
    def device_columns(self) -> DeviceColumns | None:
        """What of the table is on a device, if this process can use that."""
        return self._device if self._device is not None and self._device.here else None

    def keep_on_device(self, columns: DeviceColumns | None) -> None:
        """Let the device that has columns of the table answer questions."""
        self._device = columns

    @property
    def notes(self) -> tuple[str, ...]:
        """What a result reports about the test."""
        return self._noted

    def note(self, text: str) -> None:
        """Add a note for results to report."""
        self._noted = (*self._noted, text)

    def check(self, variables: Container[int]) -> None:
        """Refuse variables that the test cannot take."""
        del variables

    @abstractmethod
    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""

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
        """Return the answers of candidates that a part of the rows shows to be dependent, with a p of at most this.

        None if there is no candidate of which it does; then all rows decide.
        """
        del target, candidates, given, log_p, threads, poll
        return None

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable; an unreliable test need not be computed."""
        return self.test(x, y, given)

    def effect(self, x: int, y: int, given: Sequence[int] = ()) -> Effect | None:
        """Return the effect size of a test; None if it is not reliable or the test has no effect size."""
        outcome = self.test(x, y, given)
        return self.effect_of(x, y, given, outcome) if outcome.reliable else None

    def effect_of(self, x: int, y: int, given: Sequence[int], outcome: Outcome) -> Effect | None:
        """Return the effect size of a reliable test whose outcome is known."""
        return self.effects(y, [x], given, np.array([outcome.statistic]), np.array([outcome.dof]))[0]

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the effect sizes of reliable tests of candidates against the target, whose outcomes are known."""
        del target, given, statistic, dof
        return Effects.unknown(len(candidates))

    def effects_each(self, groups: Sequence[EffectGroup]) -> Effects:
        """Return the same for groups of tests, one group after another."""
        parts = [self.effects(x, ys, given, np.array(own), np.array(dof)) for x, ys, given, own, dof in groups]
        return Effects(*map(np.concatenate, zip(*((p.bits, p.value, p.measure) for p in parts), strict=True)))

    def effect_dof(self, x: int, y: int, given: Sequence[int], outcome: Outcome) -> float:
        """Return the degrees of freedom of the effect: 2 N ln 2 times its bits are so many where X ⊥ Y | given."""
        del x, y, given
        return outcome.dof

    def effects_of(
        self, xs: NDArray[np.uint32], ys: NDArray[np.uint32], tests: GivenTests, *, threads: int = 1
    ) -> Effects | None:
        """Return the effects of tests, each of its own x and y; None if they must be asked in groups."""
        del xs, ys, tests, threads
        return None

    def answers(
        self, x: int, target: int, sets: Iterator[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], Outcome]]:
        """Yield each of several sets with its `answer`, in order; a test may compute several at a time."""
        for given in sets:
            yield given, self.answer(x, target, given)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables; infinite where there are no data."""
        del variables
        return math.inf

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return the conditional mutual information, in nats, that tests with these statistics estimate."""
        del dof
        if not self.likelihood_ratio or rows is None:
            raise OptionError(
                f"test {self.name!r} does not estimate mutual information; use "
                f"{algorithm_option('rank', 'significance')}, or a test that does, such as 'g2' or "
                f"'partial-correlation'"
            )
        return np.asarray(statistic / (2.0 * np.asarray(rows)))

    # --- ahead of many questions ----------------------------------------------------------------------------------

    def expect(self, targets: Collection[int], *, threads: int = 1, poll: Poll | None = None) -> None:
        """Prepare for questions about these targets, if that is quicker for many than for one after another."""
        del targets, threads, poll

    def expect_screens(self, questions: Sequence[tuple[int, Candidates, Sequence[int]]]) -> None:
        """Prepare for screens of a target, candidates and a set each: a cluster is asked for all at once."""
        if self.fetcher is not None:
            self.fetcher.expect_screens(questions)

    def expect_subsets(self, questions: Sequence[Collection[int]]) -> None:
        """Prepare for subset searches, each among some variables: a cluster is asked for all at once."""
        if self.fetcher is not None:
            self.fetcher.expect_subsets(questions)

    # --- the four patterns ----------------------------------------------------------------------------------------

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set."""
        del threads
        outcomes = []
        for x in candidates:
            outcomes.append(self.test(int(x), target, given))
            if poll is not None:
                poll()
        return as_screen_result(candidates, given, outcomes)

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; its answer, if there is one, is the last."""
        outcomes: list[Outcome] = []
        for x in candidates:
            outcomes.append(self.test(int(x), target, given))
            if poll is not None:
                poll()
            if outcomes[-1].reliable and outcomes[-1].log_p <= log_alpha:
                break
        return as_screen_result(candidates[: len(outcomes)], given, outcomes)

    def working_set(self, among: NDArray[np.uint32]) -> Callable[..., ScreenResult]:
        """Return a function that screens some of these candidates, as `screen` does; they are in the table's order.

        It serves many screens of most of the candidates: a test may keep their columns together.
        """
        del among
        return self.screen

    def screens(
        self, target: int, groups: CandidateGroups, also: int, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[ScreenResult, Tally]:
        """Test the candidates of each group against the target, given the group's set and the variable `also`.

        Groups whose set contains `also` are left out.
        """
        parts = [
            self.screen(target, xs, (*given, also), threads=threads, poll=poll)
            for xs, given in groups.all
            if also not in given
        ]
        tally = Tally()
        for part in parts:
            tally.add(len(part.given), part.performed, len(part) - part.performed)
        if not parts:
            return ScreenResult(NO_VARIABLES, (), np.empty(0), np.empty(0), np.empty(0, bool), np.empty(0)), tally
        xs, statistic, dof, reliable, log_p = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("xs", "statistic", "dof", "reliable", "log_p")
        )
        return ScreenResult(xs, (), statistic, dof, reliable, log_p), tally

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Return, for each x of the query, the first separation, or otherwise the weakest association."""
        del threads
        tally = Tally()
        check_distinct(query.pool)
        live = {int(z): index for index, z in enumerate(query.pool)}
        found: list[Association] = []
        for k, x in enumerate(int(x) for x in query.xs):
            found.append(self._search_one(x, query, live, query.sizes, query.n_exhausted_of(k), tally, poll))
            if found[-1].separated and query.shrinking:
                live.pop(x, None)
            if not found[-1].separated and query.until_survivor:
                break
        return as_subset_result(query.xs, found, self.rows), tally

    def test_each_given_rest(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        stop_above: float,
        *,
        max_size: int | None = None,
        poll: Poll | None = None,
    ) -> tuple[SubsetResult, Tally]:
        """Test each x in turn given the rest of the pool; a separated x leaves the pool before the next test.

        A reliable test whose log p is above `stop_above` separates. Sets of more than `max_size` members are skipped.
        """
        tally = Tally()
        check_distinct(pool)
        query = SubsetQuery(xs, target, pool, range(len(pool) + 1), max_size=max_size, stop_above=stop_above)
        live = {int(z): index for index, z in enumerate(pool)}
        found: list[Association] = []
        for x in map(int, xs):
            rest = len(live.keys() - {x, target})
            found.append(self._search_one(x, query, live, range(rest, rest + 1), -1, tally, poll))
            if found[-1].separated:
                live.pop(x, None)
        return as_subset_result(xs, found, self.rows), tally

    def marginals(
        self, targets: Sequence[int], forbidden: Callable[[int], Collection[int]] | None = None, *, threads: int = 1
    ) -> dict[int, ScreenResult]:
        """Test each target against all variables given nothing, each pair once.

        `forbidden` returns the forbidden members of a target: they are not tested. Each screen covers
        all variables; those that were not tested are not reliable.
        """
        count = len(self.variables)
        all_variables = np.arange(count, dtype=np.uint32)
        statistic, dof, log_p = (np.full((len(targets), count), np.nan) for _ in range(3))
        reliable = np.zeros((len(targets), count), bool)
        asked = np.ones(count, bool)
        done: list[int] = []
        found: dict[int, ScreenResult] = {}
        for row, target in enumerate(targets):
            asked[target] = False
            candidates = all_variables[asked]
            if forbidden is not None:
                candidates = candidates[~np.isin(candidates, list(forbidden(target)))]
            fresh = self.screen(target, candidates, (), threads=threads)
            answers = [(statistic, fresh.statistic), (dof, fresh.dof), (reliable, fresh.reliable)]
            if fresh.tail is None:
                answers.append((log_p, fresh.log_p))
            for matrix, values in answers:
                matrix[row, candidates] = values
                matrix[row, done] = matrix[:row, target]  # the same tests, seen from the other side
            done.append(target)
            found[target] = fresh.like(
                all_variables, statistic[row], dof[row], reliable[row], log_p[row] if fresh.tail is None else fresh.tail
            )
        return found

    def _search_one(
        self,
        x: int,
        query: SubsetQuery,
        live: Mapping[int, int],
        sizes: range,
        n_exhausted: int,
        tally: Tally,
        poll: Poll | None,
    ) -> Association:
        """Search for one x. `live` holds the members that are still in the pool, with their indices."""
        target, fixed, stop_above = query.target, query.fixed, query.stop_above
        weakest = Association(NO_OUTCOME, (), separated=False)
        if x == target or x in fixed:
            return weakest
        others = list(live)
        for z in live.keys() & {x, target, *fixed}:
            others.remove(z)
        for size in range(sizes.start, min(sizes.stop, len(others) + 1)):
            if query.is_too_large(size):
                exhausted = sum(live[z] < n_exhausted for z in others) if n_exhausted >= 0 else None
                tally.add(len(fixed) + size, 0, n_subsets(len(others), exhausted, size))
                continue
            sets = (
                (*fixed, *subset)
                for subset in combinations(others, size)
                if n_exhausted < 0 or any(live[z] >= n_exhausted for z in subset)
            )
            for given, outcome in self.answers(x, target, sets):
                if poll is not None:
                    poll()
                if not outcome.reliable:
                    tally.add(len(given), 0, 1)
                    continue
                tally.add(len(given), 1, 0)
                if query.max_tests is not None and tally.performed >= query.max_tests:
                    raise TestsSpent(tally)
                if stop_above is not None and outcome.log_p > stop_above:
                    return Association(outcome, given, separated=True)
                if weaker(outcome, weakest.outcome):
                    weakest = Association(outcome, given, separated=False)
        return weakest

    # --- the two usual forms of subsets ---------------------------------------------------------------------------

    @overload
    def weakest(
        self, x: int, target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> Association: ...
    @overload
    def weakest(
        self, x: Sequence[int], target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> list[Association]: ...
    def weakest(
        self, x: int | Sequence[int], target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> Association | list[Association]:
        """Return the weakest association of x (one or many) with the target over subsets of the pool."""
        xs = [x] if isinstance(x, int) else x
        n_exhausted = -1
        if must_include is not None:
            pool = [*(z for z in pool if z != must_include), must_include]
            n_exhausted = len(pool) - 1
        found, _ = answering.search_subsets(
            self, SubsetQuery(xs, target, pool, range(max_size + 1), n_exhausted=n_exhausted)
        )
        return found[0] if isinstance(x, int) else list(found)

    @overload
    def separate(self, x: int, target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05) -> Association: ...
    @overload
    def separate(
        self, x: Sequence[int], target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05
    ) -> list[Association]: ...
    def separate(
        self, x: int | Sequence[int], target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05
    ) -> Association | list[Association]:
        """Return the first subset of the pool that separates x (one or many) from the target."""
        xs = [x] if isinstance(x, int) else x
        found, _ = answering.search_subsets(self, SubsetQuery(xs, target, pool, sizes, stop_above=math.log(alpha)))
        return found[0] if isinstance(x, int) else list(found)
