"""Tests of all pairs of variables given nothing, without a matrix of all answers."""

from __future__ import annotations

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape._keywords import Keywords
from serape.errors import OptionError, is_integer, shown
from serape.independence import ContingencyTest, IndependenceTest
from serape.independence.dependent_pairs import have_few_levels, strongest_pairs
from serape.independence.outcomes import Floats, as_positions
from serape.independence.registry import searched
from serape.progress import ProgressCallback
from serape.questions.choice import ALPHA
from serape.questions.ci import make_source
from serape.questions.run import Run
from serape.results.pairs import Pairs
from serape.settings import Settings, check_options, question, refuse

_MAX_PARTNERS = 1000  # accepted for any number of variables
_NO_SEARCH = "every pair is tested given nothing, without a search"
_ALL_COUNTED = "the pairs dependent at alpha are counted"
_NOT_IN_PART = "the strongest of some pairs would be wrong"


@question(
    without={
        "algorithm": _NO_SEARCH,
        "min_effect": _NO_SEARCH,
        "max_conditioning": _NO_SEARCH,
        "knowledge": _NO_SEARCH,
        "known_members": _NO_SEARCH,
        "forbidden_members": _NO_SEARCH,
        "fdr": _ALL_COUNTED,
        "fdr_method": _ALL_COUNTED,
        "max_seconds": _NOT_IN_PART,
        "max_tests": _NOT_IN_PART,
    },
    command=(
        "serape all-pairs patients.csv --alpha 0.01 --strongest 3 --explain Age",
        "serape all-pairs patients.csv --picture dependents.png --json > pairs.json",
    ),
)
def all_pairs(data: Any, *, strongest: int = 10, **settings: Unpack[Keywords]) -> Pairs:
    """Test every pair of variables given nothing.

    Memory grows with the variables times `strongest`, not with the pairs: 139,352 variables have ten billion pairs.
    Columns of up to 8 levels (up to 65,528 rows, test "g2") take a fast path, and binary ones the fastest; all others
    are screened variable by variable. Of exact ties the earlier columns are kept.

    Parameters
    ----------
    data
        As for `markov_blanket`.
    strongest
        The number of partners kept for each variable.

    Returns
    -------
    Pairs
        For every variable, the number of dependent variables and the strongest of them.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C: a partial ranking would be wrong.

    Examples
    --------
    >>> pairs = serape.all_pairs(patients, strongest=2, alpha=0.01)
    >>> pairs.partners("ECG")
    variable       log_p
    HeartDisease   -312.7
    BloodPressure  -54.88
    """
    refuse(all_pairs, settings)
    asked = Settings.of(**settings)
    check_options("all_pairs", asked.options, ["strongest"])
    if not is_integer(strongest) or strongest < 0:
        raise OptionError(f"strongest must be a whole number, 0 or more, not {shown(strongest)}")
    source = make_source(data, asked)
    if strongest > max(_MAX_PARTNERS, len(source.variables)):
        raise OptionError(f"strongest={shown(strongest)} is more than the number of variables; pass a smaller number")
    source.check(searched(source))
    alpha, threads = ALPHA if asked.search.alpha == "auto" else float(asked.search.alpha), asked.run.threads
    if have_few_levels(source, searched(source)):
        return _of_few_levels(source, alpha, strongest, threads)
    return _by_screens(source, alpha, strongest, Run(asked.run, source))


def _of_few_levels(test: ContingencyTest, alpha: float, strongest: int, threads: int) -> Pairs:
    columns = as_positions(searched(test))
    found = strongest_pairs(test, columns, math.log(alpha), strongest, threads)
    return _result(test, alpha, strongest, _core.tested_pairs(test.native, columns), threads, *found)


def _result(
    test: ContingencyTest,
    alpha: float,
    strongest: int,
    tests: int,
    threads: int,
    dependents: NDArray[np.uint32],
    partners: NDArray[np.uint32],
    statistic: Floats,
    dof: Floats,
) -> Pairs:
    shape = (len(test.variables), strongest)
    indices = partners.view(np.int32).astype(np.int64).reshape(shape)  # −1 in place of no partner

    def log_p() -> Floats:
        values = np.full(len(statistic), math.nan)
        known = ~np.isnan(statistic)
        values[known] = _core.chi_square_log_sf(statistic[known], dof[known], threads)
        return values.reshape(shape)

    return Pairs(test.variables, alpha, test.name, tests, dependents.astype(np.int64), indices, log_p)


def _by_screens(test: IndependenceTest, alpha: float, strongest: int, run: Run) -> Pairs:
    size = len(test.variables)
    dependents = np.zeros(size, np.int64)
    indices, log_p = np.full((size, strongest), -1), np.full((size, strongest), math.nan)
    tests = np.zeros(size, np.int64)
    candidates = np.fromiter(searched(test), np.uint32)

    def one(target: int, watch: ProgressCallback) -> tuple[int, int, NDArray[np.uint32], Floats]:
        del watch
        screen = test.screen(target, candidates[candidates != target])
        dependent, _ = screen.partition(math.log(alpha))
        best = screen.ranked(dependent)[:strongest]
        return len(dependent), screen.performed, screen.xs[best], screen.log_p_of(best)

    def keep(target: int, answer: tuple[int, int, NDArray[np.uint32], Floats]) -> None:
        dependents[target], tests[target], partners, values = answer
        indices[target, : len(partners)] = partners
        log_p[target, : len(partners)] = values
        bar.advance(test.variables[target], (), int(tests[target]), 0)

    with run.bar("all pairs", size) as bar:
        run.each(one, searched(test), keep)
    return Pairs(test.variables, alpha, test.name, int(tests.sum()) // 2, dependents, indices, log_p)
