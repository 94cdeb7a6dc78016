"""Tests on the engine that a caller asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serape.engines.gpu.choice import ProgressSetting, correlations_of, device_for, may_pay, planes_of
from serape.errors import OptionError, worded
from serape.independence.backends import DeviceColumns
from serape.independence.base import IndependenceTest
from serape.types import EngineName
from serape.wording import setting


def on_engine(test: IndependenceTest, engine: EngineName, progress: ProgressSetting = False) -> IndependenceTest:
    """Return a test whose large questions a GPU answers, if the engine says so; the answers are the same.

    With "gpu", refuse tests that it does not answer. `progress` tells whether to show how the table is sent.
    """
    if not may_pay(len(test.variables), engine):
        return test
    if test.kept_on_device is None:
        if engine == "gpu":
            raise OptionError(
                f"{setting('engine', 'gpu')} answers tests 'g2', 'partial-correlation', 'fisher-z', 'spearman' and "
                f"'normal-scores' of tables in this process, not test {test.name!r}; "
                f"use {setting('engine', 'cpu')}"
            )
        return test
    columns = _KEPT[test.kept_on_device](test, engine, progress)
    if columns is not None:
        test.keep_on_device(columns)
        if engine == "auto":
            cpu = setting("engine", "cpu")
            test.note(worded(f"a GPU answered the large questions; {cpu} gives the same answer without it"))
    return test


def _planes(test: Any, engine: EngineName, progress: ProgressSetting) -> DeviceColumns | None:
    """Return the categorical columns of the table of a test, on a device."""
    from serape.engines.gpu.planes import MAX_ROWS

    if engine == "gpu" and test.table.rows > MAX_ROWS:
        raise OptionError(
            f"{setting('engine', 'gpu')} takes tables of up to {MAX_ROWS:,} rows, and this one has "
            f"{test.table.rows:,}; use {setting('engine', 'cpu')}"
        )
    return planes_of(test.table, engine, progress)


def _correlations(test: Any, engine: EngineName, progress: ProgressSetting) -> DeviceColumns | None:
    """Return the correlations of all columns of a test, on a device."""
    from serape.engines.gpu.correlations import MAX_COLUMNS

    del progress
    device = device_for(len(test.variables), engine)
    if device is None or len(test.variables) > MAX_COLUMNS or not test.has_all_columns:
        return None
    return correlations_of(test.table, test.name, test.native, device)


_KEPT: Mapping[str, Callable[[Any, EngineName, ProgressSetting], DeviceColumns | None]] = {
    "planes": _planes,
    "correlations": _correlations,
}
