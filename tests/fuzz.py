"""Attacks serape with random input, until the time is up or something is wrong.

    make fuzz TIME=300          all parts in turn, for so many seconds
    python tests/fuzz.py [--seconds 300] [--seed 0] [--parts files options …]

Prints the part and the seed of what it fails on; run it again with that part and seed to see it fail at once.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count

from fuzzing import boundary, counting, files, options, packed, searches

PARTS: Mapping[str, Callable[[int], str]] = {
    "boundary": boundary.attack,
    "counting": counting.attack,
    "files": files.attack,
    "options": options.attack,
    "packed": packed.attack,
    "searches": searches.attack,
}


def main() -> int:
    """Attack with one seed after another, each part for a second at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--go-on", action="store_true", help="report what is wrong, and go on")
    chosen = parser.parse_args()
    faulthandler.enable()
    outcomes = {part: Counter[str]() for part in chosen.parts}
    seeds = {part: count(chosen.seed) for part in chosen.parts}
    wrong = 0
    end = time.monotonic() + chosen.seconds
    while time.monotonic() < end:
        for part in chosen.parts:
            turn = min(end, time.monotonic() + 1.0)
            while time.monotonic() < turn:
                seed = next(seeds[part])
                try:
                    outcomes[part][PARTS[part](seed)] += 1
                except Exception:
                    traceback.print_exc()
                    print(f"wrong: python tests/fuzz.py --parts {part} --seed {seed}", file=sys.stderr)
                    wrong += 1
                    if not chosen.go_on:
                        return 1
    for part, counted in outcomes.items():
        said = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(counted.items()))
        print(f"{part}: {sum(counted.values()):,} inputs ({said})")
    print(f"{wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
