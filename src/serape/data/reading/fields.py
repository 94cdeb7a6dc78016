"""Columns of text fields: numbers, dates or labels.

A column holds whole numbers or real numbers if all its values are such numbers. Numbers with leading zeros, such as
007, are codes, and their column is text. If nearly all values of a column of many numbers are numbers, the others are
missing values, and a note names them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.dates import is_ambiguous
from serape.data.encoding import Encoded, encode_floats, encode_integers
from serape.data.kinds import AS_CODES, FEW_LEVELS, Kinds
from serape.data.labels import encode_distinct
from serape.data.reading.options import ReadOptions
from serape.errors import abbreviate, row_text
from serape.wording import setting

NUMERIC_SHARE = 0.9
"""In a column of many numbers, at least this share of the rows must hold numbers; other values are then missing."""
PLACEHOLDERS = frozenset(
    {".", "-", "--", "n.d.", "N.D.", "nd", "ND", "n.a.", "N.A.", "none", "None", "#DIV/0!", "#VALUE!", "#REF!"}
    | {"#NUM!", "#NAME?", "#NULL!"}
)
"""Among many numbers, these mean a missing value however often they occur."""
_NOT_PLAIN = re.compile(r"_|^[+-]*0\d", re.MULTILINE)  # Python reads 1_000 and 007 as numbers
MIN_NUMBERS = 10
"""Fewer rows of numbers than this do not make a column numeric if other values occur."""


@dataclass
class FieldReader:
    """Encodes columns of text; what a user should know about them is added to the notes."""

    kinds: Kinds
    options: ReadOptions
    decimal: str = "."
    notes: list[str] = field(default_factory=list)

    def encode(self, name: str, texts: Sequence[str], codes: NDArray[np.integer[Any]]) -> Encoded:
        """Encode a column given as distinct texts, each of which occurs, and the code of every row's text."""
        kind = self.kinds.of(name)
        index_of: dict[str, int] = {}  # stripping can make two texts equal
        indices = [index_of.setdefault(text.strip(), len(index_of)) for text in texts]
        labels = list(index_of)
        if len(labels) < len(texts):
            codes = np.asarray(indices, np.int64)[codes]
        is_gap = np.array([label in self.options.missing for label in labels], bool)
        numbers: list[str | None] = [*labels]
        if self.decimal == "," and kind not in AS_CODES:
            numbers = [None if "." in label else label.replace(",", ".") for label in labels]
        if kind is None and not is_gap.all():
            column = self._encode_numbers(name, labels, numbers, is_gap, codes)
            if column is not None:
                return column
        elif kind in ("continuous", "count", "proportion", "ordinal"):
            labels = [label if number is None else number for number, label in zip(numbers, labels, strict=True)]
        present = [None if gap else label for label, gap in zip(labels, is_gap, strict=True)]
        if kind is None and is_ambiguous([label for label in present if label is not None]):
            self.notes.append(
                f"column {name!r} is text: {next(filter(None, present))!r} can be read in two ways, with the day or "
                f"the month first; write dates as 2024-05-17"
            )
        return encode_distinct(name, present, codes, kind=kind)

    def _encode_numbers(
        self,
        name: str,
        labels: list[str],
        numbers: Sequence[str | None],
        is_gap: NDArray[np.bool_],
        codes: NDArray[np.integer[Any]],
    ) -> Encoded | None:
        """Encode a column of numbers, or return None if it is text."""
        present = [None if gap else number for number, gap in zip(numbers, is_gap, strict=True)]
        values, unread = _read_numbers(present, is_gap)
        if values is None or (unread | is_gap).all():
            return None
        if unread.any():
            known = all(labels[k] in PLACEHOLDERS for k in np.flatnonzero(unread).tolist())
            if not _fits(values, unread, is_gap, codes, 0.0 if known else NUMERIC_SHARE):
                self._note_odd(name, labels, unread, is_gap, codes)
                return None
            self._note_unread(name, labels, unread, codes)
            is_gap = is_gap | unread
        if values.dtype.kind == "f":
            return encode_floats(name, values[codes], is_gap[codes])
        return encode_integers(name, values, is_gap, rows=codes)

    def _note_unread(
        self, name: str, labels: list[str], unread: NDArray[np.bool_], codes: NDArray[np.integer[Any]]
    ) -> None:
        words, where = _found(labels, unread, codes)
        self.notes.append(
            f"{holds_numbers(name)} except {words} ({where}), which is read as missing; pass "
            f"{setting('kinds', {name: 'categorical'})} if the column is text"
        )

    def _note_odd(
        self,
        name: str,
        labels: list[str],
        unread: NDArray[np.bool_],
        is_gap: NDArray[np.bool_],
        codes: NDArray[np.integer[Any]],
    ) -> None:
        """Note a column that is text because of a few values."""
        if unread.sum() > 2 or (~unread & ~is_gap).sum() < 2 or any(map(is_code, labels)):
            return
        words, where = _found(labels, unread, codes)
        self.notes.append(
            f"column {name!r} is text because of {words} ({where}) among numbers; pass "
            f"{setting('na_values', [labels[k] for k in np.flatnonzero(unread)])} if this means a missing value"
        )


def holds_numbers(name: str) -> str:
    """Return how a note begins about a column of numbers with values that are none."""
    return f"column {name!r} holds numbers"


def _found(labels: list[str], which: NDArray[np.bool_], codes: NDArray[np.integer[Any]]) -> tuple[str, str]:
    """Return some of the labels, quoted, and where they occur."""
    rows = np.flatnonzero(which[codes])
    first = row_text(int(rows[0]))
    where = first if len(rows) == 1 else f"{len(rows):,} rows, first in {first}"
    return abbreviate([f"{labels[k]:.60}" for k in dict.fromkeys(codes[rows].tolist())], 3), where


def _read_numbers(
    labels: Sequence[str | None], is_gap: NDArray[np.bool_]
) -> tuple[NDArray[Any] | None, NDArray[np.bool_]]:
    """Return the labels as numbers, whole if all are, and which labels are none; no numbers if some label is a code."""
    unread = np.zeros(len(labels), bool)
    plain = _read_plain_numbers(labels, is_gap)
    if plain is not None:
        return plain, unread
    try:
        whole = [0 if gap else _integer(label) for label, gap in zip(labels, is_gap.tolist(), strict=True)]
        return np.array(whole, np.int64), unread
    except (ValueError, OverflowError):
        pass
    present = np.flatnonzero(~is_gap)
    real = np.zeros(len(labels), np.float64)
    all_whole = True
    for k in present.tolist():
        label = labels[k]
        try:
            real[k] = _real(label)
            all_whole = all_whole and label is not None and label.lstrip("+-").isdecimal()
        except ValueError:
            if label is not None and is_code(label):
                return None, unread
            unread[k] = True
    if all_whole and unread.any() and (np.abs(real) < 2**53).all():
        return real.astype(np.int64), unread
    return real, unread


def _read_plain_numbers(labels: Sequence[str | None], is_gap: NDArray[np.bool_]) -> NDArray[Any] | None:
    """Return labels that all are numbers without leading zeros, the common case, as numbers; whole ones if all are."""
    texts = [label for label in labels if label is not None]
    if len(texts) < len(labels):
        return None
    if is_gap.any():
        texts = ["0" if gap else text for text, gap in zip(texts, is_gap.tolist(), strict=True)]
    if _NOT_PLAIN.search("\n".join(texts)):
        return None
    for read, kind in ((int, np.int64), (float, np.float64)):
        with suppress(ValueError, OverflowError):
            return np.array(list(map(read, texts)), kind)
    return None


def _fits(
    values: NDArray[Any],
    unread: NDArray[np.bool_],
    is_gap: NDArray[np.bool_],
    codes: NDArray[np.integer[Any]],
    share: float,
) -> bool:
    """Return whether a column with some values that are no numbers is one of numbers all the same."""
    read = ~unread & ~is_gap
    rows = int(read[codes].sum())
    if rows < MIN_NUMBERS or rows < share * (len(codes) - int(is_gap[codes].sum())):
        return False
    distinct = len(np.unique(values[read]))
    return distinct > (FEW_LEVELS if values.dtype.kind == "i" else MIN_NUMBERS // 2)


def _integer(label: str | None) -> int:
    if label is None or "_" in label or is_code(label):
        raise ValueError
    return int(label)


def _real(label: str | None) -> float:
    if label is None or "_" in label or is_code(label):
        raise ValueError
    return float(label)


def is_code(label: str) -> bool:
    """Return whether a number has leading zeros, like 007: then it is a code and stays text."""
    digits = label.lstrip("+-")
    return digits[:1] == "0" and len(digits) > 1 and digits.isdigit()
