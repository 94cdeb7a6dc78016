"""Columns of CSV files: kinds, levels, codes and reasons, against a plain reading of every field."""

from __future__ import annotations

import io
import math
import random
from typing import Any

import numpy as np
import pytest

from serape.data.encoding import Encoded
from serape.data.kinds import Kinds
from serape.data.reading import read as read_data
from serape.data.reading.options import MISSING, ReadOptions
from serape.errors import DataError

INT64 = range(-(2**63), 2**63)


def integers(rng: random.Random) -> str:
    return str(rng.randint(-5, rng.choice([3, 40])))


def counts(rng: random.Random) -> str:
    return str(rng.randint(0, 40))


def shares(rng: random.Random) -> str:
    return f"{rng.random():.2f}"


def spaced_integers(rng: random.Random) -> str:
    return f"{' ' * rng.randint(0, 2)}{rng.choice(['', '+'])}{rng.randint(1, 9)}{' ' * rng.randint(0, 1)}"


def floats(rng: random.Random) -> str:
    return rng.choice(
        [f"{rng.uniform(-3, 3):.1f}", f"{rng.randint(0, 9)}e{rng.randint(-3, 3)}", ".5", "7.", "-0.0", "4"]
    )


def words(rng: random.Random) -> str:
    return rng.choice(["yes", "no", "No", " yes", "b b", "é"])


def mixed(rng: random.Random) -> str:
    return rng.choice([integers, floats, words])(rng)


def codes(rng: random.Random) -> str:
    return rng.choice(["007", "07", "7", "0", "-01", "10"])


def huge(rng: random.Random) -> str:
    return rng.choice([str(2**63 - 1), str(-(2**63)), str(2**63), "1" * 30, "3", "-4"])


def large(rng: random.Random) -> str:
    return str(rng.choice([2**62, 2**53 + 1, -(2**63), 2**63 - 1]))


def odd_numbers(rng: random.Random) -> str:
    return rng.choice(["1_000", "1000", "٣", "NAN", "3"])


MAKERS = (integers, counts, shares, spaced_integers, floats, words, mixed, codes, huge, large, odd_numbers)


def plain(fields: list[str]) -> tuple[str, str, tuple[Any, ...], list[Any]]:
    """Return kind, reason, levels, and a value for every row; None where it is missing."""
    labels = [field.strip() for field in fields]
    present = [label for label in labels if label not in MISSING]
    numbers: list[Any] = []
    for number in (int, float) if present else ():
        try:
            numbers = [number(label) for label in present]
        except ValueError:
            continue
        if number is float or all(value in INT64 for value in numbers):
            break
    is_code = any(len(d := label.lstrip("+-")) > 1 and d.isdigit() and d[0] == "0" for label in present)
    if not numbers or len(numbers) < len(present) or is_code or any("_" in label for label in present):
        texts = tuple(sorted(set(present)))
        kind = "boolean" if {v.lower() for v in texts} == {"yes", "no"} and len(texts) == 2 else "categorical"
        return kind, "text", texts, [None if v in MISSING else v for v in labels]
    known = dict(zip(present, numbers, strict=True))
    values = [known.get(label) for label in labels]
    if isinstance(numbers[0], float):
        finite = [v for v in numbers if not math.isnan(v)]
        within = all(0 <= v <= 1 for v in finite) and any(0 < v < 1 for v in finite) and min(finite) < max(finite)
        return (
            "proportion" if within else "continuous",
            "real numbers",
            (),
            [None if v is None or math.isnan(v) else v for v in values],
        )
    distinct = sorted(set(numbers))
    if len(distinct) <= 20:
        return "categorical", f"whole numbers, {len(distinct)} distinct", tuple(distinct), values
    kind = "count" if 0 <= distinct[0] < distinct[1] <= 3 else "continuous"
    return kind, f"whole numbers, {len(distinct)} distinct (more than 20)", (), [
        None if v is None else float(v) for v in values
    ]  # fmt: skip


def decoded(column: Encoded) -> list[Any]:
    missing = np.zeros(len(column), bool) if column.missing is None else column.missing
    if column.codes is not None:
        values: list[Any] = [column.levels[code] if column.levels else None for code in column.codes.tolist()]
    else:
        assert column.values is not None
        assert column.values.dtype == np.float64
        values = column.values.tolist()
    return [None if gap else value for value, gap in zip(values, missing, strict=True)]


def read(columns: list[list[str]], header: bool | None = True) -> list[Encoded]:
    names = [] if header is False else [",".join(f"name{k}" for k in range(len(columns)))]
    text = "\n".join([*names, *(",".join(row) for row in zip(*columns, strict=True))]) + "\n"
    return list(read_data(io.StringIO(text), Kinds(), ReadOptions(header, index=False)).encoded)


@pytest.mark.parametrize("seed", range(60))
def test_against_a_plain_reading(seed: int) -> None:
    rng = random.Random(seed)
    rows = rng.choice([2, 5, 30, 200])
    gaps = rng.choice([0.0, 0.0, 0.2, 0.95])
    columns = [
        [rng.choice(sorted(MISSING)) if rng.random() < gaps else make(rng) for _ in range(rows)] for make in MAKERS
    ]
    for header in (True, False):
        for fields, column in zip(columns, read(columns, header), strict=True):
            kind, reason, levels, values = plain(fields)
            assert (column.kind, column.reason, column.levels) == (kind, reason, levels), fields
            assert list(map(type, column.levels)) == list(map(type, levels))
            assert decoded(column) == values, fields
            assert (column.missing is not None) == (None in values)
            if column.codes is not None:
                assert column.codes.dtype == (np.uint8 if len(levels) <= 256 else np.uint16)


def test_infinite_values_are_named_with_their_row() -> None:
    with pytest.raises(DataError, match=r"'name0' has an infinite value \(-inf\) in row 4"):
        read([["1.5", "2", "1.5", "-inf", "1e999", "2"]])


def test_digits_before_a_letter_are_read_in_linear_time() -> None:
    (column,) = read([["9" * 100_000 + "x", "1"]], header=None)
    assert column.kind == "categorical"
    assert len(column.levels) == 2


@pytest.mark.parametrize("text", ["", '"Smith, J."', "a"])
def test_a_few_fractions_among_whole_numbers_have_a_decimal_point(text: str) -> None:
    """Whole numbers are numbers with either mark, so only those with a comma speak for the comma."""
    lines = "".join(f"{k},{text}\n" for k in range(40))
    columns = read_data(io.StringIO(f"x,who\n{lines}3.5,b\n"), Kinds())
    assert columns.encoded[0].kind == "continuous"
    assert columns.encoded[0].missing is None
    assert columns.notes == ()
