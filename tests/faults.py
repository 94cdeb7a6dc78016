"""Kill workers of a cluster at random moments during searches, and compare the answers with those of one process.

    python tests/faults.py [--kills 10] [--seed 0]

Each time, in a new cluster, one of two worker processes gets SIGKILL while a skeleton, or searches for one target, are
under way. Dask starts another, which reads the lost parts again. Prints what happened; exit code 1 if an answer
differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from threading import Timer
from typing import Any

import serape
from serape.dask import connect, table


def skeleton(data: Any) -> object:
    """Return edges, separating sets and the number of tests."""
    found = serape.skeleton(data, algorithm="hiton-pc", alpha=0.01)
    return found.edges, found.tests


def searches(data: Any) -> object:
    """Return the answers of several algorithms about one target."""
    found = {}
    for algorithm in ("iamb", "fbed", "hiton-mb"):
        content = serape.markov_blanket(data, "Disease", algorithm=algorithm, alpha=0.01).to_dict()
        content.pop("seconds")
        found[algorithm] = content
    return found


def main() -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10, help="per question and split")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    child = serape.load_network("child").sample(500, 1)
    expected = {question: question(child) for question in (skeleton, searches)}
    wrong = 0
    for split in ("rows", "columns"):
        for question in (skeleton, searches):
            wrong += _kill_during(question, expected[question], child, split, options.kills, chance)
    sys.exit(1 if wrong else 0)


def _kill_during(
    question: Callable[[Any], object],
    expected: object,
    data: serape.Table,
    split: Any,
    kills: int,
    chance: random.Random,
) -> int:
    length = 0.0
    same = killed = 0
    for k in range(kills + 1):  # the first time without a fault
        with connect(workers=2) as client:
            spread = table(client, data, split=split)
            victim = chance.choice([worker.pid for worker in client.cluster.workers.values()])

            def kill(pid: int = victim) -> None:
                nonlocal killed
                os.kill(pid, signal.SIGKILL)
                killed += 1

            timer = Timer(chance.uniform(0, length), kill)
            begin = time.perf_counter()
            if k:
                timer.start()
            is_same = question(spread) == expected
            length = length or time.perf_counter() - begin
            timer.cancel()
            same += is_same and k > 0
            client.shutdown()
    of = f"{question.__name__}, {split} split ({length:.1f} s without faults)"
    print(f"{of}: a worker was killed in {killed} of {kills} runs, {same} same answers", flush=True)
    return kills - same


if __name__ == "__main__":
    main()
