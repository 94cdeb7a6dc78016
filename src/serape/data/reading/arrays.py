"""Two-dimensional arrays and sparse matrices, packed while they are read if their columns are narrow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.columns import Columns, WideColumns
from serape.data.encoding import encode_floats, encode_integers
from serape.data.kinds import FEW_LEVELS, Kind, Kinds
from serape.data.labels import encode_array
from serape.data.reading.header import default_names
from serape.errors import InputTypeError

_BLOCK = 2048  # columns of a wide array encoded together


def read_array(array: NDArray[Any], kinds: Kinds, names: list[str] | None = None) -> Columns:
    """Read a two-dimensional array."""
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim != 2:
        raise InputTypeError(f"an array must have two dimensions, rows and columns, but this one has {array.ndim}")
    rows, count = array.shape
    names = default_names(count) if names is None else names
    if masked is not None and masked.any():
        columns = [encode_array(n, array[:, k], masked[:, k], kinds.of(n)) for k, n in enumerate(names)]
        return Columns(names, rows, columns)
    if array.dtype.kind in "biu" and rows >= 2 and not kinds:
        wide = _read_narrow_integers(array, names)
        if wide is not None:
            return wide
    return Columns(names, rows, [encode_array(name, array[:, k], kind=kinds.of(name)) for k, name in enumerate(names)])


def _read_narrow_integers(array: NDArray[Any], names: list[str]) -> WideColumns | None:
    """Pack an array of whole numbers block by block; None if some column is continuous or its range exceeds 255."""
    rows, count = array.shape
    boolean = array.dtype.kind == "b"
    numbers = array.view(np.uint8) if boolean else array
    shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}  # equal levels are one object
    all_levels: list[tuple[Any, ...]] = []
    packed = _core.PackedTable(rows)
    packed.reserve_planes(count)
    for begin in range(0, count, _BLOCK):
        block = numbers[:, begin : begin + _BLOCK]
        low, high = block.min(axis=0), block.max(axis=0)
        spread = high.astype(np.int64) - low.astype(np.int64)
        if spread.max() > 255 or spread.min() < 0:
            return None
        codes = np.ascontiguousarray(block - low if low.any() else block).astype(np.uint8, copy=False)
        block_levels: list[tuple[Any, ...]] = [(lo, hi) for lo, hi in zip(low.tolist(), high.tolist(), strict=True)]
        if spread.max() > 1 or spread.min() < 1:  # not all binary: find which values occur
            occurs = _occurring(codes, int(spread.max()))
            n_levels = occurs.sum(axis=1)
            if n_levels.max() > FEW_LEVELS:
                return None
            if (n_levels <= spread).any():  # otherwise the codes are the ranks already
                rank = (np.cumsum(occurs, axis=1) - 1).astype(np.uint8)
                codes = rank[np.arange(codes.shape[1]), codes]
            block_levels = [
                tuple(lo + v for v in np.flatnonzero(row).tolist())
                for row, lo in zip(occurs, low.tolist(), strict=True)
            ]
        if boolean:
            block_levels = [tuple(bool(v) for v in levels) for levels in block_levels]
        all_levels += [shared.setdefault(levels, levels) for levels in block_levels]
        packed.append_block(codes, np.array([len(levels) for levels in block_levels], np.uint32))
    reason_of = {n: f"whole numbers, {n} distinct" for n in {len(levels) for levels in shared}}
    reasons = ["truth values" if boolean else reason_of[len(levels)] for levels in all_levels]
    kinds: list[Kind] = ["boolean" if boolean else "categorical"] * count
    return WideColumns(names, rows, [], packed, all_levels, reasons, kinds)


def _occurring(codes: NDArray[np.uint8], largest: int) -> NDArray[np.bool_]:
    """Return, for each column, which of the codes from 0 to the largest occur."""
    width = codes.shape[1]
    if largest < FEW_LEVELS:  # a look for each code is quicker than one for each value
        return np.array([(codes == code).any(axis=0) for code in range(largest + 1)]).T
    occurs = np.zeros((width, largest + 1), bool)
    occurs[np.broadcast_to(np.arange(width), codes.shape), codes] = True
    return occurs


def is_sparse(data: Any) -> bool:
    """Return whether data are a sparse matrix of SciPy."""
    return type(data).__module__.partition(".")[0] == "scipy" and hasattr(data, "tocsc")


def read_sparse(matrix: Any, kinds: Kinds) -> Columns:
    """Read a SciPy sparse matrix; if all its real numbers are whole, they are read as whole numbers."""
    columns = matrix.tocsc(copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    rows, count = columns.shape
    names = default_names(count)
    data = columns.data
    if data.dtype.kind == "f":
        if (np.abs(data) <= 2**53).all() and (np.floor(data) == data).all():
            data = data.astype(np.int64)
        else:
            dense = ((name, columns[:, [k]].toarray()[:, 0]) for k, name in enumerate(names))
            return Columns(names, rows, [encode_floats(name, values, kind=kinds.of(name)) for name, values in dense])
    indptr, indices = columns.indptr, columns.indices.astype(np.int64)
    if rows >= 2 and not kinds and (data == 1).all():
        packed = _core.PackedTable(rows)
        packed.reserve_planes(count)
        zeros = np.zeros(rows, np.uint8)
        levels: list[tuple[Any, ...]] = []
        both, zero, one = (0, 1), (0,), (1,)
        for k in range(count):
            ones = indices[indptr[k] : indptr[k + 1]]
            if len(ones) == 0 or len(ones) == rows:
                packed.append(zeros, 1)
                levels.append(one if len(ones) else zero)
            else:
                packed.append_ones(ones)
                levels.append(both)
        reasons = [f"whole numbers, {len(v)} distinct" for v in levels]
        return WideColumns(names, rows, [], packed, levels, reasons, ["categorical"] * count)
    encoded = []
    for k, name in enumerate(names):
        values = np.zeros(rows, np.int64)
        values[indices[indptr[k] : indptr[k + 1]]] = data[indptr[k] : indptr[k + 1]]
        encoded.append(encode_integers(name, values, kind=kinds.of(name)))
    return Columns(names, rows, encoded)
