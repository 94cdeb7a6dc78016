"""One question asked in several ways: the same answer.

Threads, processes, instruction sets, the plain engine, and the order of rows and columns must not matter. Data are
drawn so that exact ties, where the order of columns decides, do not occur.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import serape
from serape import _core
from serape.engines import PlainEngine
from serape.independence import G2
from serape.independence.counted import CountedTest
from serape.parallel import map as parallel

BLANKETS = ("gs", "iamb", "inter-iamb", "iamb-npc", "fast-iamb", "fbed", "mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos",
            "hpc", "auto")  # fmt: skip
Answer = dict[str, Any]


def draw(random: np.random.Generator) -> pd.DataFrame:
    """Draw columns that depend on columns before them: levels, numbers, or both."""
    rows, width = int(random.choice([150, 400, 1100, 3000])), int(random.integers(4, 9))
    numbers = float(random.choice([0.0, 0.0, 1.0, 0.4]))
    values = np.zeros((rows, width))
    columns: dict[str, Any] = {}
    for k in range(width):
        parents = random.permutation(k)[: random.integers(4)]
        values[:, k] = values[:, parents] @ random.normal(size=len(parents)) + random.normal(size=rows)
        name = f"v{int(random.integers(10**6))}_{k}"
        if random.random() < numbers:
            columns[name] = values[:, k]
        else:
            cuts = np.quantile(values[:, k], np.sort(random.random(int(random.integers(1, 4))) * 0.8 + 0.1))
            columns[name] = np.searchsorted(cuts, values[:, k])
            values[:, k] = columns[name]
    kinds = {n: c if c.dtype.kind == "f" else pd.Categorical(c) for n, c in columns.items()}
    return pd.DataFrame(kinds)


def answer(data: Any, settings: dict[str, Any], target: str) -> Answer:
    """Return what must be the same, whatever the way."""
    found = serape.markov_blanket(data, target, progress=False, **settings)
    return {"blanket": sorted(found.blanket), "tests": found.tests, "skipped": found.skipped}


def attack(seed: int) -> str:
    """Ask for one blanket, and for all, in several ways."""
    random = np.random.default_rng(seed)
    frame = draw(random)
    algorithm = BLANKETS[seed % len(BLANKETS)]
    target = str(random.choice(frame.columns))
    settings: dict[str, Any] = {"algorithm": algorithm, "alpha": float(random.choice([0.001, 0.01, 0.05]))}
    if random.random() < 0.4:
        settings["max_conditioning"] = int(random.integers(4))
    expected = answer(frame, settings, target)
    shuffled = frame.iloc[random.permutation(len(frame))]
    reordered = frame[random.permutation(frame.columns.to_numpy())]
    ways: dict[str, Callable[[], Answer]] = {
        "rows": lambda: answer(shuffled, settings, target),
        "columns": lambda: answer(reordered, settings, target),
        "jobs": lambda: answer(frame, settings | {"n_jobs": int(random.integers(2, 5))}, target),
    }
    for way, ask in ways.items():
        found = ask()
        fair = found["blanket"] if way == "columns" else found  # numbers of tests may depend on the order of columns
        assert fair == (expected["blanket"] if way == "columns" else expected), (way, algorithm, settings, target)
    if all(frame.dtypes != "float64"):
        table = serape.Table(frame)
        tests = G2(table, "adjusted", "dof"), CountedTest(PlainEngine(table), "g2", "adjusted", "dof")
        native, plain = (answer(test, settings, target) for test in tests)
        assert native == plain, (algorithm, settings, target)
    if seed % 4 == 0:
        _sharing(frame, settings)
    if seed % 4 == 1:
        _instruction_sets(frame, settings, target, expected)
    return algorithm


def _sharing(frame: pd.DataFrame, settings: dict[str, Any]) -> None:
    """Compare all blankets found by one process with those found by two, which begin at once."""
    one = serape.blankets(frame, progress=False, **settings)
    large, parallel.LARGE = parallel.LARGE, 0
    try:
        two = serape.blankets(frame, progress=False, n_jobs=2, **settings)
    finally:
        parallel.LARGE = large
    assert {n: r.blanket for n, r in one.items()} == {n: r.blanket for n, r in two.items()}, settings


def _instruction_sets(frame: pd.DataFrame, settings: dict[str, Any], target: str, expected: Answer) -> None:
    best = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            assert _core.use_instruction_set(name)
            assert answer(frame, settings, target) == expected, (name, settings, target)
    finally:
        _core.use_instruction_set(best)
