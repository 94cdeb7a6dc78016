"""Measure serape.

commands:
  suite      searches and networks beside other packages
  scaling    time, tests and memory as variables, rows and threads grow
  kernels    counting, scores and single searches
  accuracy   distance to the truth by algorithm, rows and settings
  studies    where the studies differ from their papers
  memory     peak memory as rows and columns grow

`python -m benchmarks COMMAND --help` lists the parts of a command; every part has --quick.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks.common.command import Run
from benchmarks.common.timing import ONE_THREAD

COMMANDS = ("suite", "scaling", "kernels", "accuracy", "studies", "memory")


def parse(arguments: Sequence[str]) -> tuple[Run, argparse.Namespace]:
    """Return what a command line runs, and its options."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those above")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="…", help="a part and options")
    asked = parser.parse_args(arguments)
    module = import_module(f"benchmarks.{asked.command}")
    found: tuple[Run, argparse.Namespace] = module.COMMAND.parse(asked.command, module.__doc__, asked.rest)
    return found


def main() -> None:
    """Run a command."""
    os.environ |= ONE_THREAD  # before a command imports NumPy
    run, options = parse(sys.argv[1:])
    run(options)


if __name__ == "__main__":
    main()
