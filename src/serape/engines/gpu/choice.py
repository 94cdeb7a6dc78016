"""Which engine answers, and the columns of tables that are on a device."""

from __future__ import annotations

import importlib.util
from collections.abc import Hashable
from weakref import WeakKeyDictionary

from serape import _core
from serape.data.table import Table
from serape.engines.gpu.correlations import DeviceCorrelations
from serape.engines.gpu.device import Device, cuda_device
from serape.engines.gpu.planes import MAX_ROWS, DevicePlanes, bytes_of
from serape.errors import MissingLibraryError, SerapeError
from serape.wording import setting

MIN_PAIRS = 2e8
"""Pairs of columns from which on "auto" uses a GPU (docs/gpu.md)."""
_SHARE = 0.8  # of the memory, that columns may take
_sent: WeakKeyDictionary[Table, DevicePlanes] = WeakKeyDictionary()
_correlations: WeakKeyDictionary[Table, dict[Hashable, DeviceCorrelations]] = WeakKeyDictionary()


def find_device() -> Device:
    """Return the GPU."""
    return cuda_device()


def has_device() -> bool:
    """Return whether there is a GPU that can be used."""
    if importlib.util.find_spec("cupy") is None:
        return False
    try:
        find_device()
    except (SerapeError, MissingLibraryError):
        return False
    return True


def device_for(columns: int, engine: str) -> Device | None:
    """Return the device that answers questions about so many columns; None if the core does.

    With "auto", a table of few columns stays here, and so does one where no GPU is found.
    """
    if engine == "cpu" or (engine == "auto" and (columns**2 / 2 < MIN_PAIRS or not has_device())):
        return None
    device = find_device()
    return device if device.here else None


def planes_of(table: Table, engine: str) -> DevicePlanes | None:
    """Return the categorical columns of a table on the device; None if the core answers."""
    device = None if table.rows > MAX_ROWS else device_for(len(table.names), engine)
    if device is None:
        return None
    found = _sent.get(table)
    if found is None:
        needed = bytes_of(table.packed)
        if needed > _SHARE * device.memory:
            if engine == "auto":
                return None
            raise SerapeError(
                f"the table needs {needed / 2**30:,.1f} GiB on the GPU, which has {device.memory / 2**30:,.1f} GiB; "
                f"use {setting('engine', 'cpu')}"
            )
        found = _sent[table] = DevicePlanes(device, table.packed)
    return found


def correlations_of(table: Table, kind: Hashable, native: _core.GaussianTest, device: Device) -> DeviceCorrelations:
    """Return the correlations of a kind between all columns of a table, on the device."""
    kept = _correlations.setdefault(table, {})
    if kind not in kept:
        kept[kind] = DeviceCorrelations(device, native, table.rows)
    return kept[kind]
