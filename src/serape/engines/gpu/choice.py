"""Which engine answers, and the columns of tables that are on a device."""

from __future__ import annotations

import importlib.util
from weakref import WeakKeyDictionary

from serape.data.table import Table
from serape.engines.gpu.device import Device, cuda_device
from serape.engines.gpu.planes import MAX_ROWS, DevicePlanes
from serape.errors import MissingLibraryError, SerapeError

MIN_PAIRS = 2e8
"""Pairs of columns from which on "auto" uses a GPU (docs/gpu.md)."""
_sent: WeakKeyDictionary[Table, DevicePlanes] = WeakKeyDictionary()


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


def planes_of(table: Table, engine: str) -> DevicePlanes | None:
    """Return the categorical columns of a table on the device; None if the core answers.

    With "auto", a table of few columns stays here, and so does one where no GPU is found.
    """
    if engine == "cpu" or table.rows > MAX_ROWS:
        return None
    if engine == "auto" and (len(table.names) ** 2 / 2 < MIN_PAIRS or not has_device()):
        return None
    found = _sent.get(table)
    if found is None:
        device = find_device()
        if not device.here:
            return None
        found = _sent[table] = DevicePlanes(device, table.packed)
    return found
