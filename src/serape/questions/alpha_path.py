"""Which variables enter as alpha grows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.checks import check_alpha, is_several
from serape.errors import InputTypeError, OptionError, either, shown
from serape.independence import table_of
from serape.progress import ProgressCallback
from serape.questions.constraints import left_out_notes
from serape.questions.query import Query
from serape.questions.run import Run
from serape.results.alpha_path import AlphaPath
from serape.results.result import Result
from serape.settings import Settings, question, refuse
from serape.types import Finds, LocalAlgorithm
from serape.wording import setting

ALPHAS: tuple[float, ...] = tuple(float(f"{alpha:.3g}") for alpha in np.geomspace(1e-10, 0.2, 25))
"""The default significance levels."""


@question(
    without=dict.fromkeys(("alpha", "fdr", "fdr_method"), "the significance levels are `alphas`"),
    command=(
        "serape path patients.csv --target HeartDisease --picture path.png",
        "serape path patients.csv --target HeartDisease --algorithm hiton-mb --alpha 0.001 --alpha 0.05 --json",
    ),
    about="Find which columns enter the blanket of a column as alpha grows.\n\n"
    "Prints the smallest alpha at which each column enters.",
    words={"finds": "What to find."},
)
def alpha_path(
    data: Any,
    target: str | int,
    alphas: Iterable[float] | None = None,
    algorithm: str | LocalAlgorithm = "auto",
    *,
    finds: Finds = "blanket",
    **settings: Unpack[Keywords],
) -> AlphaPath:
    """Search at one significance level after another, and report which variables enter as alpha grows.

    The data are encoded once. `n_jobs` processes or threads work on different levels; a callable `progress` is called
    after each level.

    Parameters
    ----------
    data, target, algorithm
        As for `markov_blanket`.
    alphas
        The levels, by default 25 from 1e-10 to 0.2.
    finds
        The question: "blanket" or "parents-children".

    Returns
    -------
    AlphaPath
        The members at each level. On Ctrl-C, the levels that are complete.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, if no level is complete.

    Examples
    --------
    >>> path = serape.alpha_path(patients, "HeartDisease", [1e-30, 0.01], "hiton-mb")
    >>> path.members[0]
    ('ECG', 'ChestPain')
    >>> path.members[1]
    ('Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain')
    """
    refuse(alpha_path, settings)
    levels = _checked(ALPHAS if alphas is None else alphas)
    asked = Settings.of(**{**settings, "algorithm": algorithm, "alpha": levels[0]})
    query, at = Query.about(data, target, finds, asked)
    found: dict[int, Result] = {}
    run = Run(asked.run, query.source)

    def one(index: int, watch: ProgressCallback) -> Result:
        return replace(query, alpha=levels[index]).run(at, watch=watch)

    def keep(index: int, result: Result) -> None:
        found[index] = result
        bar.advance(result.target, result.members, result.tests, result.skipped)

    with run.part(), run.bar("alphas", len(levels)) as bar:
        run.each(one, range(len(levels)), keep, detach=query.bare)
    if run.interrupted and not found:
        raise KeyboardInterrupt  # no level is complete
    done = sorted(found)
    table = table_of(query.source)
    stopped = sum(not result.complete for result in found.values())
    spent = (
        f"the budget ({setting('max_seconds')}, {setting('max_tests')}) ended the search at {stopped:,} of "
        f"{len(done):,} levels"
    )
    return AlphaPath(
        target=query.source.variables[at],
        finds=finds,
        alphas=tuple(levels[index] for index in done),
        members=tuple(found[index].members for index in done),
        variables=len(query.source.variables) - 1,
        algorithm=query.algorithm.name,
        test=query.source.name,
        tests=sum(result.tests for result in found.values()),
        seconds=run.seconds,
        complete=len(done) == len(levels) and not stopped,
        notes=(
            *(() if table is None else table.notes),
            *query.source.notes,
            *left_out_notes(query.knowledge, query.source.variables, at),
            *[spent] * bool(stopped),
        ),
    )


def _checked(alphas: Iterable[float]) -> tuple[float, ...]:
    if not is_several(alphas):
        raise InputTypeError(f"alphas must be a list of numbers between 0 and 1, not {shown(alphas)}")
    levels = list(alphas)
    if not levels:
        raise OptionError("alphas is empty; pass at least one significance level")
    for alpha in levels:
        check_alpha(alpha, either("every alpha", "--alpha"))
    return tuple(sorted({float(alpha) for alpha in levels}))
