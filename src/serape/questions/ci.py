"""One independence test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.checks import is_several
from serape.errors import InputTypeError, OptionError, shown
from serape.independence import IndependenceTest, Outcome, make_test, position, table_of
from serape.independence.registry import refuse_beside_test, seed_of
from serape.questions.constraints import refuse_identifiers
from serape.settings import Settings, check_options, question, refuse

_ONE_TEST = "there is one test and no search"


@question(
    without=dict.fromkeys(
        (
            "algorithm", "alpha", "fdr", "fdr_method", "min_effect", "max_conditioning", "knowledge", "known_members",
            "forbidden_members", "n_jobs", "progress", "max_seconds", "max_tests", "engine",
        ),
        _ONE_TEST,
    )
)  # fmt: skip
def ci_test(
    data: Any,
    x: str | int,
    y: str | int,
    given: str | int | Sequence[str | int] | None = (),
    **settings: Unpack[Keywords],
) -> Outcome:
    """Test X ⊥ Y | given on data.

    The test is performed even if it is not reliable. `dof="auto"` is "full".

    Parameters
    ----------
    data
        As for `markov_blanket`.
    x, y
        The variables, by name or position.
    given
        The conditioning set: one variable or several.

    Returns
    -------
    Outcome
        Statistic, degrees of freedom, p, and whether the test is reliable. With 0 degrees of freedom p is NaN and the
        outcome is not reliable. The `effect` of a reliable outcome is the effect size, if the test has one.

    Examples
    --------
    >>> outcome = serape.ci_test(patients, "Weight", "HeartDisease", given=["BloodPressure", "Age"])
    >>> outcome.p > 0.05, outcome.reliable
    (True, True)
    """
    refuse(ci_test, settings)
    asked = Settings.of(**settings)
    check_options("ci_test", asked.options, ["given"])
    if given is None:
        given = ()
    elif isinstance(given, str | int | np.integer):
        given = (given if isinstance(given, str) else int(given),)
    elif not is_several(given):
        raise InputTypeError(f"given must be a list of variables, not {shown(given)}")
    source = make_source(data, asked)
    positions = [position(source, v) for v in (x, y, *given)]
    twice = [source.variables[k] for k in positions if positions.count(k) > 1]
    if twice:
        raise OptionError(f"{twice[0]!r} occurs twice in the question; x, y and the given variables must all differ")
    refuse_identifiers(table_of(source), "the variable", positions)
    source.check(positions)
    x_at, y_at, *rest = positions
    outcome = source.test(x_at, y_at, rest)
    return replace(outcome, effect=source.effect_of(x_at, y_at, rest, outcome)) if outcome.reliable else outcome


def make_source(data: Any, settings: Settings) -> IndependenceTest:
    """Return the test for settings without an algorithm: "auto" is `dof="full"` and `reliability="dof"`."""
    asked = settings.search
    if isinstance(data, IndependenceTest):
        refuse_beside_test(data, settings)
    reliability = "dof" if asked.reliability == "auto" else asked.reliability
    seed = seed_of(asked.test, asked.random_state)
    return make_test(
        data,
        asked.test,
        asked.dof,
        reliability,
        settings=settings.data,
        seed=seed,
        engine=settings.run.engine,
        progress=settings.run.progress,
    )
