"""Calibration of the independence tests: size on generated and real data, power beside other packages."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.accuracy.calibration import power, rare, real, size
from benchmarks.common.processes import add_jobs
from benchmarks.peers.runner import add_options

PARTS = {
    "size": size.run,
    "rare": rare.run,
    "real": real.run_sizes,
    "probes": real.run_probes,
    "blankets": real.run_blankets,
    "power": power.run,
}


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("what", nargs="*", choices=[[], *PARTS], help=f"some of {', '.join(PARTS)}; all if not given")
    parser.add_argument("--tests", nargs="+", help="only these tests of serape")
    parser.add_argument("--draws", type=int, default=30, help="tables for each cell of the grid, ten tests on each")
    parser.add_argument(
        "--rare-draws", type=int, default=100, help="tables for each cell of rare things, ten tests each"
    )
    add_jobs(parser)
    parser.add_argument("--data", type=Path, help="a folder with more real data")
    parser.add_argument("--sets", nargs="+", help="only these real data")
    parser.add_argument("--shuffles", type=int, default=10, help="how often 200 columns of real data are shuffled")
    parser.add_argument("--samples", type=int, default=100, help="samples for each point of a power curve")
    parser.add_argument("--seconds", type=float, default=6.0, help="time that a test may take for one such point")
    parser.add_argument("--page", type=Path, help="write the tables into this page, too")
    add_options(parser, limit=900.0, peers=power.PEERS)


def run(options: argparse.Namespace) -> None:
    """Measure how often tests reject independence where it holds, and where it does not.

    `size`: every test over a grid of generated data: distribution, rows, Z, and how x and y depend on Z. `rare`: the
    default test where values, levels and events are rare, and what it finds there. `real`: tests of the target of real
    data with shuffled columns. `probes`: shuffled columns in the blankets of all-default calls. `blankets`: the
    blankets of all-default calls, and what their notes say. `power`: beside the tests of other packages (--peers), with
    the size of each, and the time of a test. Rates that are more than 1.3 times their level, and not by chance, are in
    bold type. Tables are in Markdown; --page docs/calibration.md writes them into the page. `size` and `rare` use
    --jobs processes. Results go to benchmarks/out/calibration-*.json.
    """
    for name in options.what or PARTS:
        PARTS[name](options)
