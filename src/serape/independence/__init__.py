"""Independence tests: one file a test, one base class, and the d-separation oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from serape.data.table import Table, as_table, position_of
from serape.errors import OptionError, abbreviate, suggestion
from serape.independence.base import Association, IndependenceTest, Outcome, ScreenResult, Tally
from serape.independence.contingency import ContingencyTest, DofRule, ReliabilityRule, check_rules
from serape.independence.d_separation import DSeparation
from serape.independence.function import FunctionTest
from serape.independence.g2 import G2
from serape.independence.mixed import ConditionalGaussian
from serape.independence.pairwise import Pairwise
from serape.independence.partial_correlation import FisherZ, NormalScores, PartialCorrelation, Spearman
from serape.independence.permutation import Permutation
from serape.independence.regression import RegressionTest
from serape.independence.trend import Trend
from serape.independence.x2 import X2


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings that tests in contingency tables have."""

    dof: DofRule = "auto"
    reliability: ReliabilityRule = "dof"
    minimum: float = 5.0


TESTS: dict[str, Callable[[Table, Rules], IndependenceTest]] = {
    "g2": lambda table, rules: G2(table, rules.dof, rules.reliability, rules.minimum),
    "x2": lambda table, rules: X2(table, rules.dof, rules.reliability, rules.minimum),
    "fisher-z": lambda table, _: FisherZ(table),
    "partial-correlation": lambda table, _: PartialCorrelation(table),
    "spearman": lambda table, _: Spearman(table),
    "normal-scores": lambda table, _: NormalScores(table),
    "mixed": lambda table, _: ConditionalGaussian(table),
    "regression": lambda table, _: RegressionTest(table),
    "trend": lambda table, _: Trend(table),
    "g2-permutation": lambda table, _: Permutation(table, "g2"),
    "correlation-permutation": lambda table, _: Permutation(table, "correlation"),
}


def make_test(
    data: Any, test: str = "auto", dof: DofRule = "auto", reliability: ReliabilityRule = "dof", minimum: float = 5.0
) -> IndependenceTest:
    """Return the independence test of a name on data; data that are a test already are returned as they are.

    "auto" is "g2" where all columns are categorical, "partial-correlation" where all are continuous, and "mixed" where
    there are both.
    """
    check_rules(dof, reliability)
    if test != "auto" and test not in TESTS:
        raise OptionError(
            f"test={test!r} is not known.{suggestion(str(test), TESTS)} "
            f"Tests are 'auto', {', '.join(map(repr, TESTS))}."
        )
    if isinstance(data, IndependenceTest):
        return data
    table = as_table(data)
    name, why = chosen_test(table) if test == "auto" else (test, "")
    rules = Rules(dof, reliability, minimum)
    found = Pairwise(table, partial(_named, name=name, rules=rules)) if table.missing else TESTS[name](table, rules)
    if why:
        found.note(f"test {name!r} was chosen because {why}")
    return found


def _named(table: Table, name: str, rules: Rules) -> IndependenceTest:
    return TESTS[name](table, rules)


def chosen_test(table: Table) -> tuple[str, str]:
    """Return the name of the test that suits the kinds of a table's columns, and why; no reason where it is "g2"."""
    continuous = [table.names[k] for k in table.continuous]
    if not continuous:
        return "g2", ""
    if len(continuous) == len(table.names):
        return "partial-correlation", "all columns are continuous"
    return "mixed", f"{len(continuous)} of {len(table.names)} columns are continuous: {abbreviate(continuous)}"


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
    source.check(positions)
    return source.test(positions[0], positions[1], tuple(positions[2:]))


def table_of(test: IndependenceTest) -> Table | None:
    """Return the table behind a test, if there is one."""
    table = getattr(test, "table", None)
    return table if isinstance(table, Table) else None


def position(test: IndependenceTest, variable: str | int) -> int:
    """Return where a variable, given by name or position, stands among a test's variables."""
    table = table_of(test)
    if table is not None:
        return table.position(variable)
    return position_of(variable, test.variables, {name: k for k, name in enumerate(test.variables)})


__all__ = [
    "G2",
    "TESTS",
    "X2",
    "Association",
    "ContingencyTest",
    "DSeparation",
    "DofRule",
    "FunctionTest",
    "IndependenceTest",
    "Outcome",
    "ReliabilityRule",
    "ScreenResult",
    "Table",
    "Tally",
    "ci_test",
    "make_test",
    "position",
    "table_of",
]
