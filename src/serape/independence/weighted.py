"""Tests on tables whose rows have weights."""

from __future__ import annotations

from typing import Literal

from serape.data.table import Table
from serape.engines import WeightedEngine
from serape.errors import DataError
from serape.independence.base import IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.survey import SurveyTest
from serape.types import DofRule, ReliabilityRule


def weighted_contingency(
    table: Table, statistic: Literal["g2", "x2"], dof: DofRule, reliability: ReliabilityRule, minimum: float
) -> IndependenceTest:
    """Return the test of weighted counts: frequencies give whole ones, survey weights real ones."""
    if table.weights is not None and table.weights.kind == "frequency":
        return CountedTest(WeightedEngine(table), statistic, dof, reliability, minimum)
    return SurveyTest(table, statistic, dof, reliability, minimum)


def weights_refused(table: Table, name: str, others: list[str]) -> DataError:
    """Return the error that a test cannot take the weights; `others` can."""
    assert table.weights is not None
    if table.weights.kind == "survey":
        what = "cannot take survey weights"
    else:
        what = f"needs rows repeated by their frequencies, and {table.weights.rows:,} rows are too many for that"
    return DataError(f"test {name!r} {what}; use one of {', '.join(map(repr, others))}")
