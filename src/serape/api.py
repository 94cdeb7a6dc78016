"""The questions a user asks."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from typing import Any

import numpy as np

from serape.errors import DataError, InputTypeError, Interrupted, OptionError
from serape.independence import ContingencyTest, DofRule, IndependenceTest, ReliabilityRule, make_test, position
from serape.local.registry import Algorithm, LocalAlgorithm, find_algorithm
from serape.results.explanation import Evidence
from serape.results.result import Result
from serape.search import Progress, Search
from serape.search.progress import Watch, Watcher, watcher


def markov_blanket(
    data: Any,
    target: str | int,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | None = None,
    reliability: ReliabilityRule = "dof",
    dof: DofRule = "auto",
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 1,
    progress: bool | Watcher | None = None,
    **algorithm_options: Any,
) -> Result:
    """Find the Markov blanket of a variable: the smallest set of others that tells all there is to know about it.

    Parameters
    ----------
    data
        Anything a `Table` can be made of, a `Table`, a path, or an independence test such as `DSeparation`.
    target
        The variable, by name or position.
    algorithm
        A name from `serape.algorithms()`, "auto", or a callable `algorithm(search, target, **options)`.
    test
        A name of an independence test, or "auto".
    alpha
        Significance level: a reliable test with p <= alpha shows dependence, one with p > alpha independence.
    max_conditioning
        The largest conditioning set to ask with; questions with larger ones are skipped.
    reliability
        Which tests are trusted: "dof" (5 rows for each degree of freedom), "cells" (5 rows in the mean cell), or None.
    dof
        Degrees of freedom: "full", "adjusted" for empty margins, or "auto".
    random_state
        With a seed, exact ties between candidates break at random; without, by the table's order.
    n_jobs
        Threads; -1 for all. The answer does not depend on it.
    progress
        None shows progress on a terminal once a search takes two seconds, True always, False never; a callable is
        given a `Progress` now and then.

    Returns
    -------
    Result
        The blanket, how it was found, and why each variable is in or out.

    Raises
    ------
    Interrupted
        On Ctrl-C; a KeyboardInterrupt that carries what was found.
    """
    chosen = find_algorithm(algorithm, finds=("blanket",))
    source = make_test(data, test, dof, reliability)
    at = position(source, target)
    _check_data(source, at)
    watch = watcher(progress)
    search = Search(
        source,
        alpha=alpha,
        max_conditioning=max_conditioning,
        random_state=random_state,
        threads=_threads(n_jobs),
        progress=watch,
    )
    settings = {
        "max_conditioning": max_conditioning,
        "reliability": getattr(source, "reliability", None),
        "dof": getattr(source, "dof", None),
        **algorithm_options,
    }
    started = time.perf_counter()
    try:
        found = _checked(chosen, chosen.run(search, at, **algorithm_options), search, at)
    except KeyboardInterrupt:
        partial = _result(
            search, at, chosen, search.so_far(at), time.perf_counter() - started, settings, complete=False
        )
        raise Interrupted(partial) from None
    finally:
        if isinstance(watch, Watch):
            watch.close()
    return _result(search, at, chosen, found, time.perf_counter() - started, settings)


def _threads(n_jobs: int) -> int:
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
        raise OptionError(f"n_jobs must be a positive number of threads, or -1 for all, not {n_jobs!r}")
    return (
        n_jobs
        if n_jobs > 0
        else len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def _check_data(test: IndependenceTest, target: int) -> None:
    if len(test.variables) < 2:
        raise DataError("the table has one column; a blanket needs others to choose from")
    if isinstance(test, ContingencyTest):
        test.check(range(len(test.variables)))
        if test.table.levels(target) < 2:
            raise DataError(f"the target {test.variables[target]!r} is constant; there is nothing to explain")


def _checked(algorithm: Algorithm, answer: Any, search: Search, target: int) -> tuple[int, ...]:
    """Return the positions an algorithm answered with."""
    if not isinstance(answer, Collection) or isinstance(answer, str):
        raise InputTypeError(f"algorithm {algorithm.name!r} must return the variables it found, not {answer!r}")
    found = {position(search.test, v) for v in answer}
    if target in found:
        raise OptionError(f"algorithm {algorithm.name!r} returned the target as a member of its own blanket")
    return tuple(found)


def _result(
    search: Search,
    target: int,
    algorithm: Algorithm,
    found: Collection[int],
    seconds: float,
    settings: dict[str, Any],
    complete: bool = True,
) -> Result:
    names = search.test.variables
    table = getattr(search.test, "table", None)
    return Result(
        target=names[target],
        blanket=tuple(names[v] for v in sorted(found)),
        parents_children=None,
        spouses=None,
        algorithm=algorithm.name,
        test=search.test.name,
        alpha=search.alpha,
        tests=search.tally.tests.total(),
        tests_by_size=dict(sorted(search.tally.tests.items())),
        skipped=search.tally.skipped.total(),
        seconds=seconds,
        options=settings,
        notes=(*(table.notes if table is not None else ()), *search.notes),
        complete=complete,
        trace=Evidence.of(search, target),
    )


__all__ = ["Progress", "markov_blanket"]
