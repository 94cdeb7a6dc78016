"""What is kept with a table."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.data.memory import ENTRY_BYTES, Memory


def mixed(rows: int = 200) -> serape.Table:
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, rows))
    return serape.Table(
        pd.DataFrame(
            {"x": x, "y": x + z, "z": z, "kind": rng.choice(list("abc"), rows), "noise": rng.normal(size=rows)}
        )
    )


def answer(table: serape.Table, target: str, test: str) -> dict[str, Any]:
    return {**serape.markov_blanket(table, target, test=test, alpha=0.01).to_dict(), "seconds": None}


def test_a_thing_is_made_once() -> None:
    memory, made = Memory(), []
    for _ in range(3):
        assert memory.keep("key", lambda: made.append(1) or "thing", 5000) == "thing"  # type: ignore[func-returns-value]
    assert made == [1]
    assert memory.nbytes == 5000
    assert memory.get("key") == "thing"
    assert memory.get("other") is None


def test_what_was_used_longest_ago_goes_first() -> None:
    memory = Memory(3 * ENTRY_BYTES)
    for key in "abc":
        memory.put(key, key)
    memory.get("a")
    memory.keep("b", lambda: "made again")
    memory.put("d", "d")
    assert [key for key in "abcd" if memory.get(key) is not None] == ["a", "b", "d"]
    memory.put("a", "larger", 2 * ENTRY_BYTES)
    assert [memory.get(key) for key in "abd"] == ["larger", None, "d"]
    assert memory.nbytes == 3 * ENTRY_BYTES


def test_what_is_larger_than_the_memory_is_made_and_not_kept() -> None:
    memory = Memory(3 * ENTRY_BYTES)
    memory.put("small", "small")
    assert memory.keep("large", lambda: "large", 3 * ENTRY_BYTES + 1) == "large"
    assert memory.get("large") is None
    assert memory.get("small") == "small"
    assert memory.keep("as large as it", lambda: "kept", 3 * ENTRY_BYTES) == "kept"
    assert memory.get("as large as it") == "kept"


@pytest.mark.parametrize("test", ["residuals", "monotone-residuals", "partial-correlation", "spearman"])
def test_questions_about_a_table_share_what_is_kept(test: str) -> None:
    table = mixed()
    if not test.endswith("residuals"):
        table = table.part([k for k, name in enumerate(table.names) if name != "kind"])
    found = answer(table, "y", test)
    size = table.memory.nbytes
    assert answer(table, "y", test) == found
    assert table.memory.nbytes == size > 8 * table.rows * len(table.continuous)


def test_copies_pickles_and_rows_begin_with_an_empty_memory() -> None:
    table = mixed()
    serape.markov_blanket(table, "y")
    assert table.memory.nbytes
    assert pickle.loads(pickle.dumps(table)).memory.nbytes == 0
    assert table.part(range(3), np.arange(50)).memory.nbytes == 0
    assert copy.deepcopy(table).memory.nbytes == 0


def test_a_memory_keeps_no_table() -> None:
    table = mixed()
    found = weakref.ref(table)
    for test in ("residuals", "monotone-residuals"):
        serape.markov_blanket(table, "y", test=test)
    del table
    gc.collect()
    assert found() is None


def test_threads_share_the_scores_of_a_table() -> None:
    table, names = mixed(), ["x", "y", "z", "kind", "noise"] * 4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda target: answer(table, target, "residuals"), names))
    assert found == [answer(mixed(), target, "residuals") for target in names]
