"""Questions with absurd settings: each has an answer, or is refused in one sentence."""

from __future__ import annotations

import inspect
import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import serape
from fuzzing.outcomes import outcome_of

QUESTIONS = (
    "markov_blanket", "parents_children", "blankets", "region", "skeleton", "network", "stability", "alpha_path",
    "all_blankets", "context_blankets", "joint_blanket", "all_pairs", "ci_test", "describe", "degenerate", "discretise",
)  # fmt: skip
TOLD = ("progress", "checkpoint")
"""Parameters that are not drawn: functions that are called, files that are written."""
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.5, 2**31, 2**63, 2**64, 2**70, -(2**70), 1e308, -1e308, 1e-320,
    math.nan, math.inf,
    "", "auto", "x0", "x1", "no such", "\x1b[31m", "\ud800", "\x00", b"x0", (), [], {}, [0], ["x0"], ["x0", "x0"],
    [["x0", "x1"]], {"x0": "x1"}, {"required": [["x0", "x1"]]}, {"required": 3}, {"tiers": [["x0"], ["x0"]]}, {1, 2},
    range(3), np.float64(0.01), np.int8(1), np.array([0.1, 0.2]), np.array("x0"), object(), complex(1, 1), 0.05,
    "iamb", "hiton-mb", "hiton-pc", "pc-stable", "tabu", "g2", "x2", "mixed", "bic", "adjusted", "cells", "or",
)  # fmt: skip


PLAUSIBLE: tuple[Any, ...] = (None, True, False, 1, 2, 0.05, "auto", "x0", ["x1"], ("x2", "x3"), {"x0": "categorical"})


@cache
def _data() -> pd.DataFrame:
    random = np.random.default_rng(2)
    frame = pd.DataFrame(random.integers(0, 3, (60, 5)), columns=[f"x{k}" for k in range(5)])
    frame["x5"] = random.normal(size=60).round(2)
    return frame


def _drawn(random: np.random.Generator, parameter: str) -> Any:
    values = PLAUSIBLE if random.random() < 0.6 else VALUES
    value = values[int(random.integers(len(values)))]
    if parameter in ("draws", "n_jobs", "strongest", "bins", "depth") and isinstance(value, int) and 3 < value < 2**62:
        return 2  # large and allowed would only take long
    return value


def attack(seed: int) -> str:
    """Ask a question with some settings drawn at random."""
    random = np.random.default_rng(seed)
    question = getattr(serape, QUESTIONS[seed % len(QUESTIONS)])
    parameters = inspect.signature(question).parameters
    names = [n for n, p in parameters.items() if n not in (*TOLD, "data") and p.kind != p.VAR_KEYWORD]
    settings: dict[str, Any] = {n: f"x{k}" for k, n in enumerate(("target", "x", "y", "context")) if n in names}
    if "targets" in names:
        settings["targets"] = ["x0", "x1"]
    if "max_seconds" in names:
        settings["max_seconds"] = 2.0
    for name in random.choice(names, min(len(names), int(random.choice([1, 1, 2, 3]))), replace=False).tolist():
        settings[name] = _drawn(random, name)
    if any(p.kind == p.VAR_KEYWORD for p in parameters.values()) and random.random() < 0.2:
        settings[str(random.choice(["symmetry", "k", "rank", "order", "tabu", "nonsense"]))] = _drawn(random, "")
    data = {"categorical": _data().drop(columns="x5"), "mixed": _data()}[str(random.choice(["categorical", "mixed"]))]
    try:
        return f"{question.__name__} {outcome_of(lambda: question(data, **settings))}"
    except Exception as error:
        raise AssertionError(f"{question.__name__}({settings})") from error
