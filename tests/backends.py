"""Every backend × question × test on random questions, against the plain twin.

    python tests/backends.py --runs 2000                 (the kernels of a device run on the CPU)
    python tests/backends.py --runs 2000 --gpu           (on a machine with a GPU)
    python tests/backends.py --runs 50 --only cluster    (one backend; `--only g2`: one test)

The plain twin asks the same, one test after another, and knows no kernels, so that kernels are asked by pattern. What
is in contingency tables is sometimes counted by NumPy. Answers and numbers of tests must be the same: to the bit in
tables, up to rounding elsewhere. By cell it says how many questions that backend answered, and how many differ.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import math
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast
from unittest import mock

import numpy as np

import serape
from backend_questions import ASKED, Plain, categories, numbers, separations_of_a_pool, table_for
from gpu.emulator import EmulatedDevice
from serape.distributed.reading import table_on_cluster
from serape.engines import PlainEngine
from serape.engines.gpu.correlations import DeviceCorrelations
from serape.engines.gpu.device import Device, cuda_device
from serape.engines.gpu.planes import DevicePlanes, bytes_by_column
from serape.engines.gpu.tiled import TiledPlanes
from serape.independence import answering, elsewhere
from serape.independence.backends import PATTERNS, QUESTIONS, Backend, QuestionName, Shape, choose
from serape.independence.base import IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.elsewhere import OFFERS, Elsewhere
from serape.independence.partial_correlation import CorrelationTest
from serape.independence.registry import TESTS, make_test
from serape.progress import Sayer
from serape.settings import DataSettings

BLOCKS = "blocks"
"""A device whose memory is too small for the table."""
_NEAR = OFFERS["fetched"].questions


class Cell(NamedTuple):
    """Who is asked what, with which test."""

    backend: str
    question: QuestionName
    test: str


# --- who is asked -----------------------------------------------------------------------------------------------------


class ClusterHere:
    """What a Dask client does, in this thread: work is done when it is submitted."""

    status = "running"

    def __init__(self) -> None:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        self.loop = SimpleNamespace(asyncio_loop=loop)

    def submit(self, function: Callable[..., Any], *arguments: Any, pure: bool) -> Any:
        del pure
        value = function(*(one.value if isinstance(one, SimpleNamespace) else one for one in arguments))
        return SimpleNamespace(value=value, done=lambda: True)

    async def gather(self, tasks: Sequence[Any], *, asynchronous: bool) -> list[Any]:
        del asynchronous
        return [task.value for task in tasks]

    async def cancel(self, tasks: Sequence[Any], **options: Any) -> None:
        del tasks, options


@cache
def cluster() -> ClusterHere:
    return ClusterHere()


def made(cell: Cell, table: serape.Table, random: np.random.Generator, device: Device) -> IndependenceTest:
    """Return the test of a cell on a table; what is drawn is the same for the same state of `random`."""
    rules: dict[str, Any] = {}
    if TESTS[cell.test].has_rules:
        rules = {
            "dof": str(random.choice(["full", "adjusted"])),
            "reliability": [None, "dof", "cells"][int(random.integers(3))],
        }
    if cell.backend == "cluster":
        split = str(random.choice(["rows", "columns", "both"]))
        say = Sayer(None, "reading")
        table = table_on_cluster(cluster(), table, split, 3, DataSettings(), say, None)
        return make_test(table, cell.test, **rules)
    test = make_test(table, cell.test, **rules)
    if cell.backend == BLOCKS:
        room = int(bytes_by_column(table.packed).sum()) // 2
        test.keep_on_device(TiledPlanes.of(device, table.packed, room))
    elif cell.backend == "device" and test.kept_on_device == "planes":
        test.keep_on_device(DevicePlanes(device, table.packed))
    elif cell.backend == "device":
        test.keep_on_device(DeviceCorrelations(device, cast("CorrelationTest", test).native, table.rows))
    return test


def cells() -> list[Cell]:
    """Return who answers what, as the tags of the tests say."""
    found = []
    for name in TESTS:
        test = make_test(table_for(name)(np.random.default_rng(0)), name)
        found += [Cell("core", question, name) for question in QUESTIONS if question in test.core_answers]
        if test.kept_on_device is not None:
            found += [Cell("device", question, name) for question in OFFERS[test.kept_on_device].questions]
        found += [Cell("cluster", question, name) for question in QUESTIONS if question in PATTERNS]
    return [*found, Cell(BLOCKS, "all pairs", "g2")]


# --- comparing --------------------------------------------------------------------------------------------------------


def same(a: Any, b: Any, rounding: float) -> bool:
    """Return whether two answers are the same, numbers up to rounding."""
    if isinstance(a, float) or isinstance(b, float):
        return (a != a and b != b) or a == b or math.isclose(a, b, rel_tol=rounding, abs_tol=rounding)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], rounding) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y, rounding) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def one_run(cell: Cell, seed: int, device: Device) -> tuple[bool, bool]:
    """Ask one random question of a backend and of the plain twin; return whether it answered, and as the twin does."""
    random = np.random.default_rng([seed, *map(ord, "".join(cell))])
    table = _table(cell, random)
    state = random.bit_generator.state
    test = made(cell, table, random, device)
    random.bit_generator.state = state
    own: Any = made(Cell("core", *cell[1:]), table, random, device)
    if TESTS[cell.test].adds_up == "counts" and seed % 8 == 0:
        own = CountedTest(PlainEngine(table), own.statistic, own.dof, own.reliability)
        own.table = table
    ask = separations_of_a_pool if cell[:2] == ("device", "subsets") else ASKED[cell.question]
    state = np.random.default_rng(seed).bit_generator.state
    found = []
    chosen: Counter[tuple[Backend | None, QuestionName]] = Counter()
    from_there: Counter[QuestionName] = Counter()

    def watched(shape: Shape, *about: Any, **options: Any) -> Backend | None:
        backend = choose(shape, *about, **options)
        chosen[backend, shape.question] += 1
        return backend

    def counted(kernel: Elsewhere) -> Elsewhere:
        def answer(*asked: Any, **options: Any) -> Any:
            answers = kernel.answer(*asked, **options)
            from_there[kernel.question] += answers is not None
            return answers

        return replace(kernel, answer=answer)

    with (
        mock.patch.object(answering, "choose", watched),
        mock.patch.object(elsewhere, "LARGE_POOL", 2),
        mock.patch.object(elsewhere, "ELSEWHERE", {key: counted(one) for key, one in elsewhere.ELSEWHERE.items()}),
    ):
        for one in (test, Plain(own)):
            random = np.random.default_rng(0)
            random.bit_generator.state = state
            found.append(ask(one, random))
    exact = TESTS[cell.test].adds_up == "counts"
    if cell.backend in ("device", BLOCKS) or (cell.backend == "cluster" and cell.question in _NEAR):
        answered = from_there[cell.question] > 0
    else:  # nobody chooses who answers a pattern here
        answered = cell.question in PATTERNS or chosen["core", cell.question] > 0
    return answered, same(found[0], found[1], 0.0 if exact else 1e-9)


def _table(cell: Cell, random: np.random.Generator) -> serape.Table:
    if cell.backend in ("device", BLOCKS) and TESTS[cell.test].adds_up == "counts":
        binary = cell.question in ("spouses", "subsets") or random.random() < 0.2
        return categories(random, (2,) if binary else (2, 2, 3, 4, 8))
    if cell.question == "all pairs":
        return categories(random, [(2,), (1, 2, 3, 8)][int(random.integers(2))])
    if cell.backend == "device":
        return numbers(random, troubled=False, rows=(40, 300))
    if cell.backend == "cluster" and TESTS[cell.test].adds_up == "products":
        return numbers(random, troubled=False)  # what is nearly collinear is more than rounding apart
    return table_for(cell.test)(random)


def check(asked: Sequence[Cell], runs: int, device: Device, seed: int = 0, say: bool = False) -> list[str]:
    """Ask random questions of each cell; return what is wrong."""
    wrong = []
    for cell in asked:
        begun, answered = time.perf_counter(), 0
        differing = []
        for k in range(seed, seed + runs):
            try:
                own, is_same = one_run(cell, k, device)
            except Exception as error:
                wrong.append(f"{' × '.join(cell)}: seed {k}: {type(error).__name__}: {error}")
                traceback.print_exc()
                break
            answered += own
            if not is_same:
                differing.append(k)
        if differing:
            wrong.append(f"{' × '.join(cell)}: seeds {differing[:5]} of {len(differing)} differ")
        if answered == 0:
            wrong.append(f"{' × '.join(cell)}: never answered")
        if say:
            seconds = time.perf_counter() - begun
            print(
                f"{' × '.join(cell):60}{answered:7,} of {runs:,}{len(differing):6} differ{seconds:8.1f} s", flush=True
            )
    return wrong


@contextlib.contextmanager
def a_device(*, gpu: bool, kernels: Path | None = None) -> Iterator[Device]:
    """Yield a GPU, or what runs its kernels on the CPU; they are compiled once for a folder."""
    if gpu:
        yield cuda_device()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield EmulatedDevice(kernels or Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gpu", action="store_true", help="ask a GPU, not the CPU in its place")
    parser.add_argument("--only", action="append", help="a backend, a question or a test", default=[])
    parser.add_argument("--without", action="append", help="backends, questions and tests to leave out", default=[])
    parser.add_argument("--kernels", type=Path, help="keep compiled kernels in this folder")
    parser.add_argument("--part", default="1/1", help="1/4: the first of four parts of the table")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    wanted = [cell for cell in cells() if set(asked.only) <= set(cell) and not set(asked.without) & set(cell)]
    chosen = wanted[part - 1 :: parts]
    with a_device(gpu=asked.gpu, kernels=asked.kernels) as device:
        wrong = check(chosen, asked.runs, device, asked.seed, say=True)
    print(*wrong, sep="\n")
    print(f"{len(chosen)} × {asked.runs:,} questions; {len(wrong)} of {len(chosen)} kinds differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
