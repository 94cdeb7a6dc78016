"""A record of answers: thousands of random runs, each kept as short hashes, so that a rebuilt house answers as before.

    python tests/corpus.py check tests/corpus.txt            (or: make corpus)
    python tests/corpus.py check tests/corpus.txt --part 1/2 --against FULL.json.gz
    python tests/corpus.py check tests/corpus.txt --only 17 --show
    python tests/corpus.py check tests/corpus.txt --only 17 18 --renew
    python tests/corpus.py check tests/corpus.txt --part 1/5 --n-jobs 3 --instruction-set plain
    python tests/corpus.py record tests/corpus.txt --full FULL.json.gz

A line of the record is the number of a run and four hashes: of the call and its data, of the answer, of the numbers of
tests, of the evidence. `check` prints each call whose hashes differ, and which. The full record, which is too large to
keep beside the code, holds the texts behind the hashes, and `--against` prints how they differ. Where answers are meant
to change, `--renew` takes the new hashes into the record: the commit's difference then lists the runs, its message says
why.

Floats enter with all their bits. Those of tests on continuous columns may differ between machines and versions of
NumPy; those of categorical columns do not. Notes and other sentences are left out. Where work is shared between
processes or threads, numbers of tests depend on which variable came first: they are left out.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import hashlib
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from corpus_data import content
from corpus_runs import BLANKET, NEIGHBOURS, NETWORK, RUNS, Run, make_run
from serape import _core

SUMS = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"}
"""Settings under which linear algebra gives the same bits on many machines; read when NumPy is loaded."""
PARTS = ("call", "answer", "counts", "evidence")
SHARING = ("blankets", "skeleton", "network")
"""Questions in which numbers of tests depend on the order of the work, if it is shared."""
TIMED = (*SHARING, "markov_blanket", "parents_children", "region")
TAKE_CORES = (*SHARING, "markov_blanket", "parents_children", "region", "stability", "alpha_path", "all_pairs")

Parts = dict[str, Any]

# --- what is looked at in an answer: where the public surface changes, adapt this section -------------------------


def local_parts(found: serape.Result) -> Parts:
    """Return the parts of a blanket or neighbourhood."""
    names = [name for name in found.evidence["variable"] if name != found.target]
    return {
        "answer": {
            "target": found.target,
            "algorithm": found.algorithm,
            "test": found.test,
            "blanket": found.blanket,
            "parents_children": found.parents_children,
            "spouses": found.spouses,
            "interchangeable": found.interchangeable,
        },
        "counts": {"tests": found.tests, "by_size": found.tests_by_size, "skipped": found.skipped},
        "evidence": {name: explained(found, name) for name in names},
    }


def explained(found: serape.Result, name: str) -> list[Any]:
    """Return why a variable is in or out."""
    why = found.explain(name)
    return [
        why.included, why.given, why.separating_set, why.statistic, why.dof, why.log_p, why.reliable, len(why.history),
    ]  # fmt: skip


def many_parts(found: Mapping[str, serape.Result]) -> Parts:
    """Return the parts of the blankets of many targets."""
    each = {target: local_parts(result) for target, result in found.items()}
    return {part: {target: parts[part] for target, parts in each.items()} for part in PARTS[1:]}


def structure_parts(found: serape.Structure) -> Parts:
    """Return the parts of a skeleton or network."""
    separating = {" ".join(sorted(pair)): given for pair, given in found.separating_sets.items()}
    return {
        "answer": {
            "algorithm": found.algorithm,
            "test": found.test,
            "score": found.score,
            "total": found.total,
            "directed": found.directed,
            **graph_parts(found.graph)["answer"],
            "separating_sets": separating,
            "conflicts": len(found.conflicts),
        },
        "counts": {"tests": found.tests, "by_size": found.tests_by_size, "skipped": found.skipped},
        "evidence": graph_parts(found.graph)["evidence"],
    }


def region_parts(found: nx.Graph[str]) -> Parts:
    """Return the parts of a region."""
    parts = graph_parts(found)
    parts["answer"]["distance"] = {name: found.nodes[name]["distance"] for name in found}
    parts["counts"] = {name: found.graph[name] for name in ("tests", "skipped")}
    return parts


def graph_parts(graph: nx.Graph[str]) -> Parts:
    """Return nodes and edges, and what speaks for each edge."""
    edges = [(a, b) if graph.is_directed() else (min(a, b), max(a, b)) for a, b in graph.edges]
    kept = ("statistic", "dof", "log_p", "reliable", "given", "gain")
    evidence = {" ".join(edge): [graph.edges[edge].get(name) for name in kept] for edge in edges}
    return {"answer": {"nodes": list(graph), "edges": sorted(edges)}, "evidence": evidence}


def outcome_parts(found: serape.Outcome) -> list[Any]:
    """Return the numbers of one test."""
    return [found.statistic, found.dof, found.log_p, found.reliable, found.rows]


# --- asking --------------------------------------------------------------------------------------------------------


def ask(run: Run) -> Parts:
    """Make a run, and return the parts of its answer."""
    settings = dict(run.settings)
    if run.question in TIMED:  # the answer must not depend on how busy the machine is
        settings.setdefault("max_seconds", None)
    if run.data is None:
        wrong = serape.check_algorithm(**settings)
        found = (
            None if wrong is None else [sorted(wrong.graph.edges), wrong.order, wrong.target, wrong.found, wrong.truth]
        )
        return {"answer": found}
    data = run.data.make()
    match run.question:
        case "markov_blanket" | "parents_children":
            return local_parts(getattr(serape, run.question)(data, progress=False, **settings))
        case "blankets":
            return many_parts(serape.blankets(data, progress=False, **settings))
        case "region":
            return region_parts(serape.region(data, progress=False, **settings))
        case "skeleton" | "network":
            return structure_parts(getattr(serape, run.question)(data, progress=False, **settings))
        case "stability":
            stable = serape.stability(data, progress=False, **settings)
            return {"answer": [stable.frequencies, stable.mean_size, stable.rows, stable.draws]}
        case "alpha_path":
            path = serape.alpha_path(data, progress=False, **settings)
            return {"answer": [path.alphas, path.members], "counts": path.tests}
        case "all_pairs":
            pairs = serape.all_pairs(data, progress=False, **settings)
            partners = {name: [list(row.values()) for row in pairs.partners(name)] for name in pairs.variables}
            return {"answer": [pairs.dependents, partners], "counts": pairs.tests}
        case "ci_test":
            questions = settings.pop("asked")
            return {"answer": [_outcome(data, x, y, given, settings) for x, y, *given in questions]}
        case "table":
            return {"answer": content(data if isinstance(data, serape.Table) else serape.Table(data))}
        case _:
            if "method" in settings:
                divided = serape.discretise(data, **settings)
                return {"answer": {name: [divided.cuts[name], divided.levels[name]] for name in divided.cuts}}
            seen = serape.degenerate(data, **settings)
            determined = [[d.target, d.columns, d.violations, d.rows] for d in seen.determined]
            return {"answer": [seen.constant, seen.duplicates, seen.rescaled, determined]}


def _outcome(data: Any, x: str, y: str, given: list[str], settings: dict[str, Any]) -> Any:
    try:
        return outcome_parts(serape.ci_test(data, x, y, given, **settings))
    except serape.SerapeError as error:
        return type(error).__name__


def texts(run: Run, jobs: int | None = None) -> dict[str, str]:
    """Make a run, and return a text for every part of its answer; of an error its class."""
    asked = run
    if jobs is not None and run.question in TAKE_CORES and run.settings.get("n_jobs", 1) != 0:
        asked = replace(run, settings={**run.settings, "n_jobs": jobs})
    try:
        parts = ask(asked)
    except Exception as error:  # an error that is not serape's own is an answer too
        parts = {"answer": f"error {type(error).__name__}"}
    if run.question in SHARING and run.settings.get("n_jobs", 1) != 1:
        parts.pop("counts", None)
    parts["call"] = [str(run), "" if run.data is None else run.data.digest]
    return {part: json.dumps(plain(parts.get(part)), indent=0, ensure_ascii=False) for part in PARTS}


def plain(value: Any) -> Any:
    """Return lists, dicts, text and whole numbers, with floats written out to the last bit."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(v) for v in value]
    return value


def hashed(text: str) -> str:
    """Return a short hash."""
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


# --- commands ------------------------------------------------------------------------------------------------------


def record(path: Path, full: Path | None, numbers: Iterable[int]) -> int:
    """Write the record, and the full one if asked."""
    names = set(serape.algorithms()["name"])
    if left := names - {*BLANKET, *NEIGHBOURS, *NETWORK}:
        print(f"not asked about: {', '.join(sorted(left))}", file=sys.stderr)
    found: dict[int, dict[str, str]] = {}
    slow: list[tuple[float, str]] = []
    kinds: Counter[str] = Counter()
    for number in numbers:
        run = make_run(number)
        started = time.perf_counter()
        found[number] = texts(run)
        slow.append((time.perf_counter() - started, f"{number} {run}"))
        answer = json.loads(found[number]["answer"])
        kinds[f"{run.question} {answer}" if isinstance(answer, str) else run.question] += 1
    lines = (f"{n} {' '.join(hashed(found[n][part]) for part in PARTS)}\n" for n in sorted(found))
    path.write_text("".join(lines), encoding="utf-8")
    if full is not None:
        with gzip.open(full, "wt", encoding="utf-8") as file:
            json.dump({str(n): found[n] for n in sorted(found)}, file, ensure_ascii=False)
    for seconds, words in sorted(slow, reverse=True)[:10]:
        print(f"{seconds:6.2f} s  {words[:300]}")
    for what, count in sorted(kinds.items()):
        print(f"{count:6,} {what}")
    print(f"{len(found):,} runs in {sum(seconds for seconds, _ in slow):.0f} s")
    return 0


def check(
    path: Path,
    wanted: Callable[[int], bool],
    against: Path | None,
    show: bool,
    renew: bool,
    jobs: int | None = None,
) -> int:
    """Compare answers with the record; return how many runs differ, or none if they are taken into the record.

    With `jobs`, every run that may use so many cores does.
    """
    kept: dict[str, dict[str, str]] = {}
    if against is not None:
        with gzip.open(against, "rt", encoding="utf-8") as file:
            kept = json.load(file)
    made = wrong = 0
    lines = path.read_text(encoding="utf-8").splitlines()
    for k, line in enumerate(lines):
        number, *hashes = line.split()
        if not wanted(int(number)):
            continue
        run = make_run(int(number))
        found = texts(run, jobs)
        differ = [part for part, known in zip(PARTS, hashes, strict=True) if hashed(found[part]) != known]
        if jobs is not None and run.question in SHARING and "counts" in differ:
            differ.remove("counts")
        made += 1
        wrong += bool(differ)
        lines[k] = " ".join([number, *(hashed(found[part]) for part in PARTS)])
        if differ or show:
            print(f"{number} {'differs in ' + ', '.join(differ) if differ else 'is as recorded'}: {run}", flush=True)
        for part in PARTS if show else ():
            print(f"  {part}: {' '.join(found[part].split())}")
        for part in differ if number in kept else ():
            before, after = kept[number][part].splitlines(), found[part].splitlines()
            print(
                "\n".join(
                    f"    {text}" for text in difflib.unified_diff(before, after, "recorded", "now", "", "", 2, "")
                )
            )
    print(f"{made:,} runs, {wrong:,} of them differ from the record")
    if renew:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0 if renew else wrong


def main() -> None:
    """Record or check."""
    parser = argparse.ArgumentParser(description="Record answers, or compare them with a record.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write a record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--full", type=Path, help="a .json.gz for the texts behind the hashes")
    recording.add_argument("--reverse", action="store_true", help="make the runs in the other order")
    recording.add_argument("--runs", type=int, default=RUNS)
    checking = commands.add_parser("check", help="compare with a record")
    checking.add_argument("file", type=Path)
    checking.add_argument("--part", default="1/1", help="k/n: the k-th of n parts of the runs")
    checking.add_argument("--only", type=int, nargs="+", help="numbers of runs")
    checking.add_argument("--against", type=Path, help="the full record: print differences")
    checking.add_argument("--show", action="store_true", help="print the texts")
    checking.add_argument("--n-jobs", type=int, help="use so many cores in every question that takes several")
    checking.add_argument("--instruction-set", choices=_core.instruction_sets(), help="use these kernels")
    checking.add_argument("--renew", action="store_true", help="take answers that differ into the record")
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in SUMS.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **SUMS})
    warnings.simplefilter("ignore")
    if options.command == "record":
        numbers = range(options.runs)
        sys.exit(record(options.file, options.full, reversed(numbers) if options.reverse else numbers))
    k, n = map(int, options.part.split("/"))
    only = options.only
    wanted = (lambda i: i in only) if only else (lambda i: i % n == k - 1)
    if options.instruction_set is not None:
        _core.use_instruction_set(options.instruction_set)
    sys.exit(bool(check(options.file, wanted, options.against, options.show, options.renew, options.n_jobs)))


if __name__ == "__main__":
    main()
