"""Tests on the engine that a caller asks for."""

from __future__ import annotations

from serape.engines.gpu.choice import ProgressSetting, device_for, planes_of
from serape.engines.gpu.correlations import MAX_COLUMNS
from serape.engines.gpu.planes import MAX_ROWS
from serape.errors import OptionError, worded
from serape.independence.base import IndependenceTest
from serape.independence.g2 import G2
from serape.independence.partial_correlation import (
    CorrelationTest,
    FisherZ,
    NormalScores,
    PartialCorrelation,
    Spearman,
)
from serape.types import EngineName
from serape.wording import setting


def on_engine(test: IndependenceTest, engine: EngineName, progress: ProgressSetting = False) -> IndependenceTest:
    """Return a test whose large questions a GPU answers, if the engine says so; the answers are the same.

    With "gpu", refuse tests that it does not answer. `progress` tells whether to show how the table is sent.
    """
    if engine == "cpu":
        return test
    if type(test) in (FisherZ, PartialCorrelation, Spearman, NormalScores):
        assert isinstance(test, CorrelationTest)
        device = device_for(len(test.variables), engine)
        if device is not None and len(test.variables) <= MAX_COLUMNS:
            test.use_device(device)
            _tell(test, engine)
        return test
    if type(test) is not G2:
        if engine == "gpu":
            raise OptionError(
                f"{setting('engine', 'gpu')} answers tests 'g2', 'partial-correlation', 'fisher-z', 'spearman' and "
                f"'normal-scores' of tables in this process, not test {test.name!r}; "
                f"use {setting('engine', 'cpu')}"
            )
        return test
    if engine == "gpu" and test.table.rows > MAX_ROWS:
        raise OptionError(
            f"{setting('engine', 'gpu')} takes tables of up to {MAX_ROWS:,} rows, and this one has "
            f"{test.table.rows:,}; use {setting('engine', 'cpu')}"
        )
    planes = planes_of(test.table, engine, progress)
    if planes is not None:
        test.use_planes(planes)
        _tell(test, engine)
    return test


def _tell(test: IndependenceTest, engine: EngineName) -> None:
    if engine == "auto":
        cpu = setting("engine", "cpu")
        test.note(worded(f"a GPU answered the large questions; {cpu} gives the same answer without it"))
