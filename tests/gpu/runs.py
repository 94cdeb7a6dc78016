"""Random questions answered by the core and on a device.

    python -m gpu.runs --runs 2000              (in tests/; on a machine with a GPU)
    python -m gpu.runs --runs 2000 --emulated   (anywhere: the kernels run on the CPU)

Every field of both results must be the same, but for times and the engine.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import serape
from gpu.emulator import EmulatedDevice
from gpu.tables import categorical, numeric
from serape.engines.gpu import choice
from serape.independence import elsewhere
from serape.parallel import marginals

QUESTIONS = (
    "all_pairs", "pc-stable", "hiton-pc", "mmpc", "hpc", "iamb", "hiton-mb", "dos", "pcmb", "fbed",
    "network-pc-stable", "network-mmhc",
)  # fmt: skip
_LEFT_OUT = ("seconds", "call", "engine", "settings", "version", "versions")


def one_run(seed: int) -> list[str]:
    """Ask one random question of both; return what differs."""
    random = np.random.default_rng(seed)
    question = QUESTIONS[seed % len(QUESTIONS)]
    rows = int(random.choice([60, 200, 1000]))
    columns = int(random.choice([8, 20, 70]))
    settings: dict[str, Any] = {"alpha": float(random.choice([0.01, 0.05])), "fdr": None}
    if question == "pc-stable" and random.random() < 0.4:
        table = serape.Table(numeric(random, max(columns, 66), rows))
        settings["test"] = str(random.choice(["partial-correlation", "fisher-z", "spearman"]))
    else:
        levels = [(2,), (2, 3), (2, 3, 3, 5)][int(random.integers(3))]
        table = categorical(random, columns, rows, levels)
    target = int(random.integers(len(table.names)))
    if table.is_constant(target):
        return []
    with contextlib.ExitStack() as stack:
        if random.random() < 0.5:  # as in large tables
            stack.enter_context(mock.patch.object(marginals, "MAX_SHARED", 0))
            stack.enter_context(mock.patch.object(elsewhere, "LARGE_POOL", 2))
        return differences(*(_ask(question, table, target, engine, settings) for engine in ("cpu", "gpu")))


def _ask(question: str, table: serape.Table, target: int, engine: Any, settings: dict[str, Any]) -> Any:
    if question == "all_pairs":
        return serape.all_pairs(table, strongest=4, alpha=settings["alpha"], engine=engine)
    if question in ("pc-stable", "hiton-pc", "mmpc"):
        return serape.skeleton(table, algorithm=question, engine=engine, **settings)
    if question.startswith("network-"):
        return serape.network(table, algorithm=question.removeprefix("network-"), engine=engine, **settings)
    return serape.markov_blanket(table, target, algorithm=question, engine=engine, **settings)


def differences(one: Any, other: Any) -> list[str]:
    """Return the fields in which two results differ."""
    if isinstance(one, serape.Pairs):
        pairs = [
            (name, getattr(one, name), getattr(other, name)) for name in ("tests", "dependents", "indices", "log_p")
        ]
        return [name for name, a, b in pairs if not np.array_equal(a, b, equal_nan=name == "log_p")]
    a, b = one.to_dict(), other.to_dict()
    assert a.keys() == b.keys()
    return [name for name in a if name not in _LEFT_OUT and repr(a[name]) != repr(b[name])]


def main() -> int:
    parser = argparse.ArgumentParser(description="Random questions answered by the core and on a device.")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--emulated", action="store_true", help="run the kernels on the CPU")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        emulated = mock.patch.object(choice, "find_device", return_value=EmulatedDevice(Path(folder)))
        with emulated if asked.emulated else contextlib.nullcontext():
            return _run(asked)


def _run(asked: argparse.Namespace) -> int:
    wrong = 0
    for seed in range(asked.seed, asked.seed + asked.runs):
        if found := one_run(seed):
            wrong += 1
            print(f"seed {seed}, {QUESTIONS[seed % len(QUESTIONS)]}: {', '.join(found)}", flush=True)
    print(f"{asked.runs:,} runs, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
