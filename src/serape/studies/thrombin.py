"""Reading the Thrombin data of the KDD Cup 2001."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from serape.errors import DataError
from serape.files import open_text
from serape.studies.files import find
from serape.studies.naive_bayes import Bits

FEATURES = 139_351


def thrombin_file(data: Path) -> Path:
    """Return the file of the Thrombin data: `data` itself, or one in this folder or in its folder `thrombin`."""
    if not data.is_dir():
        return data
    names = ("thrombin.data", "thrombin_train.sparse.txt")
    path = find(data, *names) or find(data / "thrombin", *names)
    if path is None:
        raise DataError(f"{data} has no file {names[0]} or {names[1]}; pass the file itself with --data")
    return path


@lru_cache(maxsize=1)
def read_thrombin(path: Path) -> tuple[Bits, Bits]:
    """Return the features (rows × 139,351) and the label, 1 for a compound that binds.

    The file has one of two forms: that of the Cup, with lines `A,0,1,0,…` (A active, I inactive), or a sparse one, with
    the letter and then the positions of the ones, counted from 1.
    """
    rows: list[Bits] = []
    labels: list[int] = []
    with open_text(path) as file:
        lines = (line.strip().encode() for line in file)
        for number, line in enumerate((line for line in lines if line), 1):
            labels.append(_label(line, path, number))
            rows.append(_dense(line, path, number) if line[1:2] == b"," else _sparse(line, path, number))
    if not rows:
        raise DataError(f"{path} is empty; it must have a line for every compound")
    return np.stack(rows), np.array(labels, np.uint8)


def _label(line: bytes, path: Path, number: int) -> int:
    if line[:1] not in (b"A", b"I"):
        raise DataError(f"{path}, line {number} begins with {line[:1].decode(errors='replace')!r}, not with A or I")
    return int(line[:1] == b"A")


def _dense(line: bytes, path: Path, number: int) -> Bits:
    values = np.frombuffer(line, np.uint8)[2::2] - ord("0")
    if len(values) != FEATURES or len(line) != 2 * FEATURES + 1 or (values > 1).any():
        raise DataError(f"{path}, line {number} must have {FEATURES:,} zeros and ones")
    return values


def _sparse(line: bytes, path: Path, number: int) -> Bits:
    values = np.zeros(FEATURES, np.uint8)
    try:
        ones = np.array(line[1:].split(), np.int64)
    except ValueError:
        raise DataError(f"{path}, line {number} has an entry that is not a whole number") from None
    if len(ones) and not 1 <= ones.min() <= ones.max() <= FEATURES:
        raise DataError(f"{path}, line {number} has a position outside 1 to {FEATURES:,}")
    values[ones - 1] = 1
    return values
