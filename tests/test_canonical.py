"""What a value is made of is the same in every process, and without addresses."""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, spearmanr

from serape.canonical import Unidentified, canonical, digest

SCRIPT = """
import numpy as np
from serape.canonical import digest
class Kind:
    words = frozenset(("u", "v", "w", "x", "y"))
    def __init__(self, content): self.content = content
    def __call__(self, x): return x in {"k", "l", "m", "n", "o"} or helper(x)
def helper(x): return Kind(x)
values = [{"a", "b", "c", "d", "e"}, Kind({1: {"p", "q", "r"}}), Kind(helper), helper, [np.arange(3), 0.1, None]]
print([digest(value) for value in values])
"""


def test_processes_agree() -> None:
    told = set()
    for hash_seed in "123":
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=True
        )
        told.add(done.stdout)
    assert len(told) == 1


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("made")
    exec(source, vars(made))
    return made


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def plain(x: float) -> float:
    return x + 1


def twice(x: float) -> float:
    return plain(x) * 2


DIFFERENT: list[Any] = [
    0, False, 0.0, -0.0, "0", b"0", None, (), [], {}, frozenset(), set(), 1, True, 1.0, 2**5000, 10**5000, float("nan"),
    float("inf"), 1j, (1, 2), (2, 1), [1, 2], {1: 2}, {2: 1}, {1, 2}, range(3), range(4), ..., len, max, dict.get,
    dict.pop, np.add, np.log, norm, spearmanr, np.arange(3), np.arange(3.0), np.arange(4), np.zeros(4),
    np.zeros((2, 2)), np.array(["a", None], object), np.array(["b", None], object), pd.DataFrame({"a": [1]}),
    pd.DataFrame({"a": [2]}), pd.Series([1]), plain, twice, functools.partial(plain, 1), functools.partial(plain, 2),
    functools.lru_cache(plain),
    np.vectorize(plain), np.vectorize(twice), lambda x: x, lambda x, y: x, lambda x, y=1: x, lambda *, x=1: x,
    int, float, pd.DataFrame, np.dtype("i4"), np.dtype("i8"), np,
]  # fmt: skip


def test_different_values_differ() -> None:
    digests = [digest(value) for value in DIFFERENT]
    assert len(set(digests)) == len(DIFFERENT)
    assert all(digest(value) == before for value, before in zip(DIFFERENT, digests, strict=True))
    assert not re.search("0x[0-9a-f]{8}", json.dumps([canonical(value) for value in DIFFERENT]))


def test_numbers_of_numpy_are_numbers() -> None:
    assert digest(np.float64(0.05)) == digest(0.05)
    assert digest(np.int32(3)) == digest(3)
    assert digest(np.bool_(True)) == digest(True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("def f(x): return x", "def f(x): return -x"),
        ("def f(x): return x + 1", "def f(x): return x + 2"),
        ("def g(x): return x\ndef f(x): return g(x)", "def g(x): return -x\ndef f(x): return g(x)"),
        ("k = 1\ndef f(x): return [x + k for _ in x]", "k = 2\ndef f(x): return [x + k for _ in x]"),
        ("class f:\n  def g(self): return 1", "class f:\n  def g(self): return 2"),
        ("class g:\n  k = 1\nclass f(g): pass", "class g:\n  k = 2\nclass f(g): pass"),
        ("def f(x): return f(x - 1) if x else 0", "def f(x): return f(x - 1) if x else 1"),
        (
            "def f(x):\n  try: a(x); b(x)\n  except KeyError: pass",
            "def f(x):\n  try: a(x)\n  except KeyError: pass\n  else: b(x)",
        ),
        ("def f(x): return x.a", "def f(x): return x.b"),
        ("def f(x):\n  def g(y): return y\n  return g", "def f(x):\n  def g(y): return -y\n  return g"),
        ("def f(x):\n  try: return x\n  except KeyError: pass", "def f(x):\n  try: return x\n  except OSError: pass"),
    ],
)  # fmt: skip
def test_code_counts_and_where_it_stands_does_not(first: str, second: str) -> None:
    assert digest(module(first).f) != digest(module(second).f)
    assert digest(module(first).f) == digest(module(f"\n\n{first}").f)


def test_what_python_notes_in_a_class_does_not_count() -> None:
    """It adds `__slotnames__` with the first copy of an object."""
    made = module("class f:\n  __slots__ = ('k',)\n  def g(self): return self.k").f
    before = digest(made)
    copy.copy(made())
    assert "__slotnames__" in vars(made)
    assert digest(made) == before


def test_what_is_not_used_does_not_count() -> None:
    assert digest(module("k = 1\ndef f(x): return x").f) == digest(module("k = 2\ndef f(x): return x").f)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.random.default_rng(1), r"'it' \(Generator\) answers differently each time"),
        (iter([1]), "answers differently each time"),
        ([].append, "'it' is a built-in method of a list, whose state may change"),
        (
            module("import threading\nk = threading.Lock()\ndef f(x): return k").f,
            "'k' of f is a lock, whose state is not",
        ),
        (types.ModuleType("made"), "'it' is a module without a file"),
        (nested(100_000), "'it' is nested too deep"),
    ],
)
def test_what_cannot_be_told_is_refused(value: Any, why: str) -> None:
    with pytest.raises(Unidentified, match=why):
        canonical(value)
