"""All blankets of a target that the data cannot tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.errors import Interrupted, OptionError, is_integer, shown, worded
from serape.independence import table_of
from serape.independence.outcomes import Tally
from serape.independence.registry import has_rows
from serape.local.registry import Algorithm
from serape.local.tie_star import VariableSet, tie_star
from serape.names import match
from serape.progress import Progress
from serape.questions.choice import TableOrTest, choose_local
from serape.questions.duplicates import describe_duplicates, not_candidates
from serape.questions.equivalence import Criterion
from serape.questions.query import Query
from serape.questions.run import INTERRUPTED, Run
from serape.results.all_blankets import AllBlankets
from serape.results.exchanges import Trial
from serape.results.result import Result
from serape.search import Search
from serape.search.budget import STOPPED
from serape.settings import Settings, question
from serape.types import Finds, LocalAlgorithm
from serape.wording import setting

MAX_BLANKETS = 1000
"""The default bound on the number of blankets."""
_MANY_COLUMNS = 500
_ENDED = (STOPPED, INTERRUPTED)
_UNFAITHFUL = (
    "algorithm {!r} assumes that no two sets of variables tell the same about the target: where some do, blankets can "
    "be missing, or hold more than is needed; use 'iamb' or 'fbed', which do not assume it"
)


@question(
    command=(
        "serape all-blankets patients.csv --target HeartDisease --alpha 0.01 --picture blankets.png",
        "serape all-blankets patients.csv --target HeartDisease --min-effect 0.002 --report report.html --json",
    ),
    about="Find every Markov blanket of a column that the data cannot tell apart.\n\n"
    "Prints the members with what may stand for each, then the blankets, how they were found, and notes.",
)
def all_blankets(
    data: Any,
    target: str | int,
    algorithm: str | LocalAlgorithm = "auto",
    *,
    max_blankets: int = MAX_BLANKETS,
    **settings: Unpack[Keywords],
) -> AllBlankets:
    """Find every Markov blanket of a variable: if several sets tell the same about it, a search returns any of them.

    The search is repeated without members of the blankets found so far (TIE*). What it finds is a blanket too if, given
    it, the removed variables and the members of the first blanket are independent of the target. Duplicate columns
    count as one variable.

    Parameters
    ----------
    data, target
        As for `markov_blanket`.
    algorithm
        What finds a blanket in the columns that are left; "auto" as for `markov_blanket`, but always one that does not
        assume faithfulness: "iamb", or "fbed" for more than 500 columns.
    max_blankets
        Stop when so many blankets are found. A note then says so.

    Returns
    -------
    AllBlankets
        The blankets, and which of their members are indispensable, replaceable or undecided.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the result so far.

    Examples
    --------
    >>> more = patients | {"Cigarettes": np.where(patients["Smoking"] == "yes", np.arange(2000) % 2 + 1, 0)}
    >>> found = serape.all_blankets(more, "HeartDisease", alpha=0.01)
    >>> len(found.blankets), found.replaceable
    (2, {'Smoking': (('Cigarettes',),), 'Cigarettes': (('Smoking',),)})
    """
    if not is_integer(max_blankets) or max_blankets < 1:
        raise OptionError(f"{setting('max_blankets')} must be a whole number, 1 or more, not {shown(max_blankets)}")
    asked = Settings.of(algorithm=algorithm, **settings)
    query = _Embedded.resolve(data, "blanket", asked, choose=_choose)
    at = query.position(target)
    constrained = query.constrained(asked.search, [at])
    assert isinstance(constrained, _Embedded)
    return _AllBlankets(constrained, at, asked, int(max_blankets)).found()


def _choose(asked: object, finds: Finds, data: Callable[[], TableOrTest]) -> Algorithm:
    """Return the algorithm: "auto" is one that is right also where several sets tell the same."""
    found = choose_local(asked, finds, data)
    if _is_right(found) or not match(asked, ["auto"]):
        return found
    return choose_local("iamb" if len(data().variables) <= _MANY_COLUMNS else "fbed", finds, data)


def _is_right(algorithm: Algorithm) -> bool:
    """Return whether an algorithm finds a blanket without the assumption of faithfulness."""
    return algorithm.conditions_on_blanket and algorithm.sound


def _without_larger(blankets: list[VariableSet]) -> list[VariableSet]:
    """Return the blankets without those that contain another, which only tests that err let pass; keep the first."""
    return [one for k, one in enumerate(blankets) if not k or not any(other < one for other in blankets)]


@dataclass(frozen=True)
class _Embedded(Query):
    """The question in the variables that are left when some are removed."""

    removed: VariableSet = frozenset()

    def excluded(self, target: int | None) -> frozenset[int]:
        """Return the columns that are no candidates: also the removed ones, and always all duplicates but one."""
        table = table_of(self.source)
        if table is None:
            return self.removed
        duplicates = frozenset() if target is None else not_candidates(table, target, self.kept(target))
        return table.identifiers | duplicates | self.removed


class _AllBlankets:
    """The searches for all blankets of a target, on one budget."""

    def __init__(self, query: _Embedded, target: int, asked: Settings, max_blankets: int) -> None:
        self._query, self._target, self._asked, self._max_blankets = query, target, asked, max_blankets
        self._names = query.source.variables
        self._position = {name: k for k, name in enumerate(self._names)}
        self._criterion = Criterion.of(query, target, asked)
        self._blankets: list[VariableSet] = []
        self._trials: list[Trial] = []
        self._first: Result | None = None
        self._tried: set[VariableSet] = set()
        self._searches = 0
        self._run = Run(asked.run, query.source)

    def found(self) -> AllBlankets:
        """Search, and return the result; on Ctrl-C, raise Interrupted with the result so far."""
        kept = self._query.kept(self._target)
        ended = ""
        with self._run.part():
            for blanket in tie_star(self._find, self._is_blanket, kept, self._poll):
                self._blankets.append(blanket)
                self._report(blanket)
                if len(self._blankets) == self._max_blankets:
                    ended = f"{STOPPED}{setting('max_blankets', self._max_blankets)}"
                    break
        if self._run.interrupted and self._first is None:
            raise KeyboardInterrupt  # nothing is found
        return self._run.hand_over(self._result(self._run.ended or ended))

    # --- the algorithm and the criterion ---------------------------------------------------------------------------

    def _find(self, removed: VariableSet) -> Iterator[VariableSet]:
        """Yield sets that may be blankets without some variables: what the algorithm 𝕏 of TIE* finds comes first.

        On data it may find other variables than those that stand for the removed ones, because it has fewer rows for
        those of more levels; so a set may follow that differs from a blanket in one variable.
        """
        if self._first is not None:  # the first search begins in any case
            self._poll()
        query = replace(self._query, removed=removed)
        try:
            result = query.run(
                self._target, self._asked.run.threads, self._watching, warn=not removed, budget=self._run.budget
            )
        except Interrupted as stop:
            self._keep(stop.found)
            raise
        self._keep(result)
        if not result.complete:
            self._poll()
        found = frozenset(self._position[name] for name in result.blanket)
        yield found
        near = next((one for one in self._blankets if len(one & removed) == 1), None)
        if near is not None and has_rows(self._query.source):
            (x,) = near & removed
            with self._judging() as search:
                other = self._criterion.swapped(search, near, x, self._blankets[0], removed)
            if other is not None:
                yield other

    def _keep(self, result: Result) -> None:
        self._searches += 1
        self._run.tally.merge(Tally(dict(result.tests_by_size), {0: result.skipped}))
        if self._first is None:
            self._first = result

    def _is_blanket(self, members: VariableSet, removed: VariableSet) -> bool:
        """Return whether no test tells a set from the first blanket: the criterion ℤ of TIE*."""
        with self._judging() as search:
            trial = self._criterion.trial(search, members, self._blankets[0], removed)
        if trial.verdict == "blanket" or removed not in self._tried:
            self._trials.append(trial)
        self._tried.add(removed)
        return trial.verdict == "blanket"

    @contextmanager
    def _judging(self) -> Iterator[Search]:
        """Return a search for the criterion, whose tests are counted."""
        self._poll()
        with self._run.searching(self._criterion.query, self._target, watch=self._watching) as search:
            yield search

    # --- the budget and progress -------------------------------------------------------------------------------------

    def _poll(self) -> None:
        """Raise BudgetSpent if nothing is left of the budget."""
        if self._run.budget is not None:
            self._run.budget.check()

    def _watching(self, now: Progress) -> None:
        """Report the progress of one of the searches as that of all."""
        run, count = self._run, len(self._blankets)
        if run.watch is not None:
            tests = run.tally.performed + now.tests
            doing = f"{count:,} blanket{'' if count == 1 else 's'} found, {tests:,} tests"
            run.watch(Progress(now.target, now.members, tests, run.tally.skipped, run.seconds, doing))

    def _report(self, blanket: VariableSet) -> None:
        self._watching(Progress(self._names[self._target], self._criterion.named(blanket), 0, 0, 0.0))

    # --- the result --------------------------------------------------------------------------------------------------

    def _result(self, ended: str) -> AllBlankets:
        query, first = self._query, self._first
        assert first is not None
        blankets = _without_larger(self._blankets) or [frozenset(self._position[name] for name in first.blanket)]
        members = frozenset().union(*blankets)
        duplicates, notes = describe_duplicates(table_of(query.source), self._names, self._target, members)
        own = [note for note in first.notes if not note.startswith(_ENDED)]
        return AllBlankets(
            target=first.target,
            blankets=tuple(map(self._criterion.named, blankets)),
            interchangeable=duplicates,
            known=self._criterion.named(frozenset(query.kept(self._target))),
            trials=tuple(self._trials),
            variables=len(self._names) - 1,
            max_blankets=self._max_blankets,
            algorithm=query.algorithm.name,
            test=query.source.name,
            alpha=float(query.alpha),
            fdr=None if query.fdr is None else query.fdr.rate,
            tests=self._run.tally.performed,
            tests_by_size=dict(sorted(self._run.tally.tests_by_size.items())),
            skipped=self._run.tally.skipped,
            searches=self._searches,
            seconds=self._run.seconds,
            complete=not ended,
            options={**first.options, **self._automatic()},
            notes=self._notes(ended, list(dict.fromkeys([*own, *map(worded, notes)]))),
            data=first.data,
            call=first.call,
        )

    def _automatic(self) -> dict[str, str]:
        """Return the settings whose "auto" means one thing for the searches and another for the criterion."""
        asked = self._asked.search
        given = {"max_conditioning": asked.max_conditioning, "dof": asked.dof}
        return {name: "auto" for name, value in given.items() if value == "auto" and name in self._query.reported}

    def _notes(self, ended: str, notes: list[str]) -> tuple[str, ...]:
        if not _is_right(self._query.algorithm) and not self._query.algorithm.of_caller:
            notes.append(_UNFAITHFUL.format(self._query.algorithm.name))
        undecided = sum(trial.verdict == "undecided" for trial in self._trials)
        if undecided:
            notes.append(
                f"{undecided:,} set{'' if undecided == 1 else 's'} in place of a blanket cannot be judged, because a "
                f"test given the set is not reliable (too few rows, or more than {setting('max_conditioning')}); these "
                f"do not count as blankets"
            )
        if ended:
            rest = "there may be more blankets, and members are undecided that it has not removed yet"
            notes.append(f"{ended}: {rest if self._blankets else 'the first blanket is as far as it was found'}")
        return tuple(notes)
