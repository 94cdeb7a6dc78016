"""The boundary of the core: functions called with random arguments of the right types must answer or raise."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzzing.outcomes import outcome_of
from serape import _core

NUMBERS = (
    0,
    1,
    2,
    3,
    5,
    7,
    8,
    63,
    64,
    65,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**63 - 1,
    2**63,
    2**64 - 1,
    -1,
    -(2**63),
)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e308, -1e308, math.inf, -math.inf, math.nan, -3.0, 2.0**53, 1e6)
REFUSED = (ValueError, TypeError, IndexError, OverflowError, RuntimeError, MemoryError, KeyError)
SKIPPED = {"use_instruction_set", "borrow", "reserve_planes"}
"""Set for the whole process; memory that the caller promises to keep."""


def _objects(random: np.random.Generator) -> dict[str, Any]:
    """Make one object of every class of the core, about a random table."""
    rows, columns = int(random.choice([1, 2, 63, 64, 65, 300])), int(random.integers(2, 7))
    most = int(random.choice([2, 3, 300]))  # `all_pairs` takes binary columns alone
    table = _core.PackedTable(rows)
    numbers = [0] if random.random() < 0.5 else []
    for _ in range(columns):
        levels = int(random.integers(2, most + 1))
        table.append(random.integers(0, levels, rows).astype(np.uint16), levels)
    rules = _rules(random)
    test = _core.ContingencyTest(table, *rules)
    gaussian = _core.GaussianTest(rows, columns, str(random.choice(["fisher-z", "student-t"])), float(rows))
    for _ in range(columns):
        gaussian.append(random.normal(size=rows))
    score = _core.FamilyScore(table, str(random.choice(["bic", "bdeu", "k2", "aic"])), 1.0)
    query = _core.SubsetQuery([0], columns - 1, list(range(1, columns - 1)), [], 0, 3, None, [-1], None, False, False)
    counts = _core.counts(table, 0, [1], [], threads=1)
    made: dict[str, Any] = {
        "PackedTable": table,
        "ContingencyTest": test,
        "GaussianTest": gaussian,
        "MixedTest": _core.MixedTest(table, numbers, 5.0, 2**30),
        "ResidualTest": _core.ResidualTest(table, numbers, bool(random.integers(2)), np.empty(0), False),
        "FamilyScore": score,
        "NetworkScore": _core.PermutedScore(score, random.permutation(columns).tolist()),
        "OrderSearch": _core.OrderSearch(
            score, [[x for x in range(columns) if x != y] for y in range(columns)], 5, 1e-9
        ),
        "SubsetQuery": query,
        "FoundSubsets": test.search_subsets(query, 1, None),
        "ScreenAnswers": test.screen(0, [1], [], threads=1),
        "CandidateGroups": _core.CandidateGroups(table, [([1], [])]),
        "Counts": counts,
        "CountedTest": _core.CountedTest(rows, *_rules(random)),
        "CountedScore": _core.CountedScore(rows, "bic", 1.0),
    }
    if rules[0] == "g2" and most < 9:
        made["PairBlocks"] = _core.PairBlocks(test, list(range(columns)), -3.0)
    return made


def _rules(random: np.random.Generator) -> tuple[str, str, str, float]:
    statistic, dof = str(random.choice(["g2", "x2"])), str(random.choice(["full", "adjusted"]))
    return statistic, dof, str(random.choice(["dof", "cells", "none"])), float(random.choice([0.0, 1.0, 5.0]))


def _value(random: np.random.Generator, kind: str, made: dict[str, Any], length: int) -> Any:
    """Return a value of a type as it stands in a signature; mostly a plausible one."""

    def number() -> int:
        return int(random.integers(6)) if random.random() < 0.7 else NUMBERS[int(random.integers(len(NUMBERS)))]

    for name, thing in made.items():
        if f"_core.{name}" in kind and random.random() < 0.95:
            return thing
    if "ndarray" in kind or "NDArray" in kind:
        dtype = (re.findall(r"dtype=(\w+)|numpy\.(\w+)\]", kind) or [("float64", "")])[0]
        dtype_name = (dtype[0] or dtype[1]).rstrip("_")
        size = length if random.random() < 0.8 else int(random.choice([0, 1, 2, 3, 6, 64, 300]))
        shape = (size, 4) if "(*, " in kind and random.random() < 0.9 else (size,)
        if dtype_name.startswith("float"):
            return random.choice(FLOATS, shape) if random.random() < 0.3 else random.normal(size=shape)
        top = 6 if random.random() < 0.8 else 2**20
        return random.integers(0, top, shape).astype(np.dtype(dtype_name if dtype_name != "bool" else "bool"))
    if "Sequence[float" in kind:
        return [float(random.choice(FLOATS)) for _ in range(int(random.integers(5)))]
    if "Sequence" in kind:
        return [number() for _ in range(int(random.integers(5)))]
    if "poll" in kind or "object" in kind:
        return None
    if "bool" in kind:
        return bool(random.integers(2))
    if "float" in kind:
        return float(random.choice(FLOATS)) if random.random() < 0.6 else float(random.normal())
    if "str" in kind:
        return str(
            random.choice(["automatic", "g2", "x2", "bic", "bdeu", "full", "adjusted", "dof", "cells", "", "no"])
        )
    if "None" in kind and random.random() < 0.4:
        return None
    return number()


def _split(arguments: str) -> list[str]:
    """Split the arguments of a signature at commas outside brackets."""
    parts, depth, last = [], 0, 0
    for at, letter in enumerate(arguments):
        depth += letter in "[("
        depth -= letter in "])"
        if letter == "," and depth == 0:
            parts.append(arguments[last:at])
            last = at + 1
    return [part.strip() for part in [*parts, arguments[last:]] if part.strip()]


def _call(random: np.random.Generator, function: Callable[..., Any], made: dict[str, Any], own: tuple[Any, ...]) -> Any:
    signatures: Any = getattr(function, "__nb_signature__", ())
    if not signatures:
        return None
    text = signatures[int(random.integers(len(signatures)))][0]
    inner = text[text.index("(") + 1 : text.rindex(")", 0, text.rindex("->") if "->" in text else len(text))]
    length = int(random.choice([0, 1, 2, 3, made["PackedTable"].rows]))
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    after_star = False
    for part in _split(inner)[len(own) :]:
        if part in ("*", "/"):
            after_star = after_star or part == "*"
            continue
        name, _, kind = part.partition(":")
        optional = " = " in kind
        if optional and (random.random() < 0.6 or name.strip() in ("threads", "poll")):
            after_star = True
            continue
        value = _value(random, kind, made, length)
        if after_star:
            named[name.strip()] = value
        else:
            arguments.append(value)
    return function(*own, *arguments, **named)


def attack(seed: int) -> str:
    """Make objects of the core, make others like them, and call methods and functions, with random arguments."""
    random = np.random.default_rng(seed)
    made = _objects(random)
    outcomes = []
    for instance in made.values():
        kind: Any = type(instance)
        if random.random() < 0.3:
            outcomes.append(outcome_of(_call, random, kind.__init__, made, (kind.__new__(kind),), also=REFUSED))
        for method in dir(kind):
            function = getattr(kind, method)
            if not method.startswith("__") and method not in SKIPPED and callable(function) and random.random() < 0.5:
                outcomes.append(outcome_of(_call, random, function, made, (instance,), also=REFUSED))
    for name in dir(_core):
        function = getattr(_core, name)
        if callable(function) and not isinstance(function, type) and name not in SKIPPED and random.random() < 0.5:
            outcomes.append(outcome_of(_call, random, function, made, (), also=REFUSED))
    return "mostly answered" if outcomes.count("used") > len(outcomes) // 2 else "mostly refused"
