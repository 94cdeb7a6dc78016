"""Kills processes at random moments: workers, those whose workers they are, and those that write files.

    make kills
    python tests/kills.py [--workers] [--parents] [--files] [--times 100] [--seconds 3600] [--seed 0]

Kills so often of each kind, or of those named, at most for so long. A killed worker changes no answer, nothing hangs,
a killed process leaves no worker and no file behind (`killing/processes.py`), and nothing that is half is believed
(`killing/files.py`). Prints what was killed; ends with 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from killing.files import MAX_WAIT, WRITERS, kill_keepers, kill_once
from killing.processes import MAX_SECONDS, Killer

Kill = Callable[[], str]
"""Kills once; says what was killed and what was left, or nothing if that was over before."""


def of_files(drawn: random.Random) -> Kill:
    """Return a kill of what writes one kind of file after another; every fourth keeps a checkpoint."""
    done = 0

    def kill() -> str:
        nonlocal done
        done += 1
        with tempfile.TemporaryDirectory() as folder:
            if done % 4 == 0:
                return f"checkpoint.jsonl {kill_keepers(Path(folder), drawn)}"
            writer = WRITERS[(done - done // 4 - 1) % len(WRITERS)]
            return f"{writer.name} {kill_once(writer, Path(folder), drawn.uniform(0, MAX_WAIT))}"

    return kill


def kill_on(kind: str, kill: Kill, times: int, until: float) -> Counter[str]:
    """Kill so often, and print what was killed."""
    killed: Counter[str] = Counter()
    while killed.total() < times and time.monotonic() < until:
        faulthandler.dump_traceback_later(2 * MAX_SECONDS, exit=True)  # if it hangs
        what = kill()
        faulthandler.cancel_dump_traceback_later()
        if what:
            killed[what] += 1
    print(f"{kind}: {killed.total()} kills")
    for what, number in sorted(killed.items()):
        print(f"  {number:4} {what}")
    sys.stdout.flush()
    return killed


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, and say what was left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", action="store_true", help="kill workers of n_jobs=2")
    parser.add_argument("--parents", action="store_true", help="kill processes that have such workers")
    parser.add_argument("--files", action="store_true", help="kill processes that write files")
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    every = not (options.workers or options.parents or options.files)
    drawn = random.Random(options.seed)
    until = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        killer = Killer(drawn, folder) if every or options.workers or options.parents else None
        if killer is not None and (every or options.workers):
            kill_on("workers", killer.kill_worker, options.times, until)
        if killer is not None and (every or options.parents):
            kill_on("parents", killer.kill_parent, options.times, until)
            print(f"  the last worker ended at most {killer.longest:.3f} s after its parent")
    if every or options.files:
        killed = kill_on("files", of_files(drawn), options.times, until)
        assert killed.total() < 40 or killed["checkpoint.jsonl in the middle"], "no checkpoint was hit in the middle"
    return 0


if __name__ == "__main__":
    sys.exit(main())
