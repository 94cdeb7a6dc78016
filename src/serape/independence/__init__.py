"""Independence tests: one file a test, one base class, and the d-separation oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from serape.data.table import Table, as_table, position_of
from serape.errors import OptionError
from serape.independence.base import Association, IndependenceTest, Outcome, Screen, Tally
from serape.independence.contingency import ContingencyTest, DofRule, ReliabilityRule, check_rules
from serape.independence.d_separation import DSeparation
from serape.independence.g2 import G2
from serape.independence.x2 import X2

TESTS: dict[str, type[ContingencyTest]] = {"g2": G2, "x2": X2}


def make_test(
    data: Any, test: str = "auto", dof: DofRule = "auto", reliability: ReliabilityRule = "dof", minimum: float = 5.0
) -> IndependenceTest:
    """Return the independence test of a name on data; data that are a test already are returned as they are."""
    check_rules(dof, reliability)
    if test != "auto" and test not in TESTS:
        raise OptionError(f"test={test!r} is not known; tests are 'auto', {', '.join(map(repr, TESTS))}")
    if isinstance(data, IndependenceTest):
        return data
    return TESTS["g2" if test == "auto" else test](as_table(data), dof, reliability, minimum)


def ci_test(
    data: Any,
    x: str | int,
    y: str | int,
    given: str | int | Sequence[str | int] | None = (),
    test: str = "g2",
    dof: DofRule = "full",
    reliability: ReliabilityRule = "dof",
) -> Outcome:
    """Test X ⊥ Y | given on data.

    Performed even where it is not reliable; the outcome says so. With 0 degrees of freedom there is nothing to test:
    p is NaN and the outcome unreliable.
    """
    if given is None:
        given = ()
    elif isinstance(given, str | int | np.integer):
        given = (given if isinstance(given, str) else int(given),)
    source = make_test(data, test, dof, reliability)
    positions = [position(source, v) for v in (x, y, *given)]
    twice = [source.variables[k] for k in positions if positions.count(k) > 1]
    if twice:
        raise OptionError(f"{twice[0]!r} occurs twice in the question; x, y and the given variables must all differ")
    if isinstance(source, ContingencyTest):
        source.check(positions)
    return source.test(positions[0], positions[1], tuple(positions[2:]))


def position(test: IndependenceTest, variable: str | int) -> int:
    """Return where a variable, given by name or position, stands among a test's variables."""
    if isinstance(test, ContingencyTest):
        return test.table.position(variable)
    return position_of(variable, test.variables, {name: k for k, name in enumerate(test.variables)})


__all__ = [
    "G2",
    "TESTS",
    "X2",
    "Association",
    "ContingencyTest",
    "DSeparation",
    "DofRule",
    "IndependenceTest",
    "Outcome",
    "ReliabilityRule",
    "Screen",
    "Table",
    "Tally",
    "ci_test",
    "make_test",
    "position",
]
