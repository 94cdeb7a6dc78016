"""Tables that several test files share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import serape
from serape import Table
from serape.data.example import clinic

Frame = pd.DataFrame
OF_FILES = {
    *("ignore", "na_values", "header", "delimiter", "decimal", "encoding", "quote", "comment", "index", "table"),
}
"""Settings that concern files, not data in memory."""


def gappy(
    random: np.random.Generator, rows: int, levels: Sequence[int], gaps: Sequence[float], kinds: int = 99
) -> Frame:
    """Draw columns partly copied from each other, each missing a share of its values, in at most so many patterns."""
    masks = [random.random(rows) for _ in range(min(kinds, len(levels)))]
    codes: list[NDArray[np.int64]] = []
    frame = {}
    for k, (count, share) in enumerate(zip(levels, gaps, strict=True)):
        own = random.integers(count, size=rows)
        if k:
            own = np.where(random.random(rows) < 0.5, codes[int(random.integers(k))] % count, own)
        codes.append(own)
        column = pd.Categorical.from_codes(own.tolist(), categories=pd.Index([f"l{v}" for v in range(count)]))
        frame[f"c{k}"] = pd.Series(column).where(masks[k % len(masks)] >= share)
    return pd.DataFrame(frame)


PATIENTS = Table(clinic(rows=1500))


def assorted(missing: Any = "error", rows: int = 400) -> Table:
    """Return a table with columns of every kind: two, three, ten and 300 levels, numbers, a constant, a copy, gaps."""
    random = np.random.default_rng(3)
    two = random.integers(0, 2, rows)
    number = random.normal(size=rows) + two
    text = [None if random.random() < 0.1 else "abc"[k] for k in random.integers(0, 3, rows)]
    data: dict[str, Any] = {
        "two": two,
        "three": (two + random.integers(0, 2, rows)).tolist(),
        "ten": random.integers(0, 10, rows),
        "many": [f"v{k}" for k in random.integers(0, 300, rows)],
        "number": number,
        "constant": np.zeros(rows, int),
        "copy": 1 - two,
        "other": number + random.normal(size=rows),
        "text": text,
    }
    if missing == "pairwise":
        data["other"] = np.where(random.random(rows) < 0.2, math.nan, data["other"])
    return Table(data, missing=missing)


# --- the answers -----------------------------------------------------------------------------------------------------


def clinic_frame(rows: int = 1500) -> tuple[pd.DataFrame, pd.Series[Any]]:
    data = serape.Table(clinic(rows)).to_pandas()
    return data.drop(columns="HeartDisease"), data["HeartDisease"]


# --- frames in, frames out -------------------------------------------------------------------------------------------


def mixed_frame() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    rows = 400
    label = random.integers(0, 2, rows)
    return (
        pd.DataFrame(
            {
                "noise": random.normal(size=rows),
                "number": label + random.normal(size=rows) / 3,
                "text": np.where(label ^ (random.random(rows) < 0.2), "up", "down"),
                "truth": random.random(rows) < 0.5,
            },
            index=np.arange(rows)[::-1] + 7,
        ),
        label,
    )
