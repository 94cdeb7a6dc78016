"""Asks random questions in one process, for an hour or as long as you like: memory must stay flat, and every answer
must agree with its own evidence.

    make soak MINUTES=60
    python tests/soak.py [--minutes 60] [--seed 0]

Questions are those of the corpus (`corpus_runs.py`), drawn on and on, so data of all kinds, all algorithms, options,
knowledge and errors occur. Prints a line every minute; ends with 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import math
import os
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
from matplotlib import pyplot

import serape
from corpus_runs import Run, make_run

FIRST = 1_000_000
"""The first number of a run; those of the corpus are smaller."""
MAX_GROWTH = 64.0
"""MiB that memory may grow after the first tenth of the time: what is kept on purpose has been made by then."""


def resident() -> float:
    """Return the memory that this process has, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def check(found: serape.Result, settings: dict[str, object]) -> None:
    """Check that the deciding test of each variable says what the answer says."""
    assert found.parents_children is None or set(found.parents_children) <= set(found.members), found
    assert found.target not in found.members, found
    told = {*settings.get("known_members", ()), *settings.get("forbidden_members", ())}  # type: ignore[misc]
    if "knowledge" in settings or "symmetry" in settings or "published" in settings or not found.complete:
        return
    level = math.log(found.level) if found.level > 0 else -math.inf
    for name in found.evidence["variable"]:
        why = found.explain(name)
        assert why.included == (name in found.members), (name, found)
        if why.reliable and name not in told:
            by_the_other_side = why.log_p <= math.log(found.alpha) and found.adjusted_p.get(name, 1.0) <= (
                found.fdr or 0
            )
            dependent = why.log_p <= level or by_the_other_side
            assert dependent or not why.included, f"{name} is a member by a test that shows nothing: {why}"


def ask(run: Run) -> str:
    """Ask one question; return what happened."""
    if run.data is None:
        return "passed over"
    settings = dict(run.settings)
    if run.question in ("table", "columns", "ci_test"):
        return "passed over"
    try:
        found = getattr(serape, run.question)(run.data.make(), progress=False, **settings)
    except serape.SerapeError:
        return "refused"
    for result in found.values() if isinstance(found, dict) else [found]:
        if isinstance(result, serape.Result):
            check(result, settings)
        _ = repr(result), str(result)
        if run.number % 20 == 0:
            write_out(result, run.number % 100 == 0)
    return run.question


def write_out(found: object, draw: bool) -> None:
    """Use the ways in which an answer leaves the program: it is saved and read again, reported, exported, drawn."""
    with TemporaryDirectory() as folder:
        saved, page, picture = (Path(folder, name) for name in ("x.json", "x.html", "x.svg"))
        if isinstance(found, serape.Result | serape.AllBlankets | serape.Structure):
            found.save(saved)
            read = serape.load_structure(saved) if isinstance(found, serape.Structure) else serape.load_result(saved)
            assert read == found, f"saved and read again, it differs: {read}"
            found.report(page)
            assert page.read_text(encoding="utf-8").endswith("</html>\n")
        if isinstance(found, serape.Result | serape.Structure):
            _ = found.to_dot(), found.evidence
        if isinstance(found, serape.Structure):
            _ = found.to_graphml(), found.to_dagitty(), found.finds == "skeleton" or found.cpdag
        if draw and hasattr(found, "plot"):
            found.plot(picture)
            pyplot.close("all")


def main() -> int:
    """Ask until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    faulthandler.enable()
    mpl.use("svg")
    warnings.simplefilter("ignore")
    happened, wrong, number = Counter[str](), 0, FIRST + options.seed
    begin = told = time.monotonic()
    settled: float | None = None
    while (passed := time.monotonic() - begin) < 60 * options.minutes:
        run = make_run(number)
        number += 1
        try:
            happened[ask(run)] += 1
        except Exception:
            traceback.print_exc()
            print(f"wrong: run {run.number}: {run}", file=sys.stderr)
            wrong += 1
        if settled is None and passed > 6 * options.minutes:
            gc.collect()
            settled = resident()
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{passed / 60:.0f} min: {sum(happened.values()):,} questions, {resident():.0f} MiB, {wrong} wrong")
    gc.collect()
    growth = resident() - (settled or resident())
    print(dict(sorted(happened.items())))
    print(f"{sum(happened.values()):,} questions, memory grew by {growth:.1f} MiB, {wrong} wrong")
    return int(wrong > 0 or growth > MAX_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
