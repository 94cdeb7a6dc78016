"""Which engine answers, and the columns of tables that are on a device."""

from __future__ import annotations

import importlib.util
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from serape import _core
from serape.data.table import Table
from serape.errors import MissingLibraryError, SerapeError
from serape.progress import ProgressCallback, Sayer, StatusLine, progress_callback
from serape.wording import setting

if TYPE_CHECKING:
    from serape.engines.gpu.correlations import DeviceCorrelations
    from serape.engines.gpu.device import Device
    from serape.engines.gpu.planes import DevicePlanes, Watch
    from serape.engines.gpu.tiled import TiledPlanes

ProgressSetting = bool | ProgressCallback | None
MIN_PAIRS = 2e8
"""Pairs of columns from which on "auto" uses a GPU (docs/gpu.md)."""
_SHARE = 0.8  # of the memory, that columns may take


def find_device() -> Device:
    """Return the GPU."""
    from serape.engines.gpu.device import cuda_device

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


def may_pay(columns: int, engine: str) -> bool:
    """Return whether a device is to be looked for: it is asked for, or there are enough columns."""
    return engine == "gpu" or (engine == "auto" and columns**2 / 2 >= MIN_PAIRS)


def device_for(columns: int, engine: str) -> Device | None:
    """Return the device that answers questions about so many columns; None if the core does.

    With "auto", a table of few columns stays here, and so does one where no GPU is found.
    """
    if not may_pay(columns, engine) or (engine == "auto" and not has_device()):
        return None
    device = find_device()
    return device if device.here else None


def planes_of(table: Table, engine: str, progress: ProgressSetting = False) -> DevicePlanes | TiledPlanes | None:
    """Return the categorical columns of a table on the device, or in blocks for it; None if the core answers."""
    from serape.engines.gpu.planes import MAX_ROWS, DevicePlanes, bytes_by_column
    from serape.engines.gpu.tiled import TiledPlanes

    device = None if table.rows > MAX_ROWS else device_for(len(table.names), engine)
    if device is None:
        return None
    found: DevicePlanes | TiledPlanes | None = table.memory.get("columns on the device")
    if found is None:
        needed = int(bytes_by_column(table.packed).sum())
        room = _SHARE * device.memory
        if needed <= room:
            with _watched(progress) as watch:
                found = DevicePlanes(device, table.packed, watch=watch)
        else:
            found = TiledPlanes.of(device, table.packed, room)
        if found is not None:
            table.memory.put("columns on the device", found)
        elif engine == "gpu":
            raise SerapeError(
                f"the table needs {needed / 2**30:,.1f} GiB on the GPU, which has {device.memory / 2**30:,.1f} GiB, "
                f"too few for two of its columns; use {setting('engine', 'cpu')}"
            )
    return found


@contextmanager
def _watched(progress: ProgressSetting) -> Iterator[Watch]:
    """Yield what shows how much of a table has been sent."""
    callback = progress_callback(progress, "Ctrl-C ends the call")
    say = Sayer(callback, "the table to the GPU")
    try:
        yield lambda sent, total: say(f"{sent / 2**20:,.0f} of {total / 2**20:,.0f} MiB")
    finally:
        if isinstance(callback, StatusLine):
            callback.close()


def correlations_of(table: Table, kind: Hashable, native: _core.GaussianTest, device: Device) -> DeviceCorrelations:
    """Return the correlations of a kind between all columns of a table, on the device."""
    from serape.engines.gpu.correlations import DeviceCorrelations

    key = "correlations on the device", kind
    return table.memory.keep(key, lambda: DeviceCorrelations(device, native, table.rows))
