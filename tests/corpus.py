"""A record of answers: thousands of random runs, kept as short hashes, so that a rebuilt house answers as before.

    python tests/corpus.py check tests/corpus.txt            (or: make corpus)
    python tests/corpus.py check tests/corpus.txt --jobs 4
    python tests/corpus.py check tests/corpus.txt --part 1/2 --against FULL.json.gz
    python tests/corpus.py check tests/corpus.txt --section causes network
    python tests/corpus.py check tests/corpus.txt --only 17 causes-3 --show
    python tests/corpus.py check tests/corpus.txt --only 17 18 --renew
    python tests/corpus.py check tests/corpus.txt --part 1/5 --n-jobs 3 --instruction-set plain
    python tests/corpus.py record tests/corpus.txt --full FULL.json.gz

The first 5,000 lines of the record are the number of a run and four hashes: of the call and its data, of the answer, of
the numbers of tests, of the evidence (`corpus_runs.py`). Below them stand sections by question
(`corpus_questions.py`). A line there has hashes of the call, the answer, the numbers of tests, the entries of the saved
JSON, the JSON, what is printed and what notebooks show, and one for each column of its tables of evidence, which the
head of the section names.

`check` prints each call whose hashes differ, and which; at the end it says by section what differs in how many runs, so
that a change of wording is told apart from a changed answer. The full record, which is too large to keep beside the
code, holds the texts behind the hashes, and `--against` prints how they differ. Where answers are meant to change,
`--renew` takes the new hashes into the record: the commit's difference then lists the runs, its message says why.

In the first 5,000 runs floats enter with all their bits. Those of tests on continuous columns may differ between
machines and versions of NumPy; those of categorical columns do not. Notes and other sentences are left out. Where work
is shared between processes or threads, numbers of tests depend on which variable came first: they are left out. In the
sections floats are rounded, and what is printed enters without times (`corpus_parts.py`).
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from corpus_data import content
from corpus_parts import LATER_PARTS, later_texts
from corpus_questions import SECTIONS, Question, make_question, missing_names
from corpus_runs import RUNS, Run, make_run
from serape import _core

FIXED_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell", "COLUMNS": "100", "NO_COLOR": "1",
}  # fmt: skip
"""Settings under which linear algebra gives the same bits on many machines, and commands print lines of one width."""
COLUMN = "numbers:"
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


def texts(run: Run | Question, jobs: int | None = None) -> dict[str, str]:
    """Make a run, and return a text for every part of its answer; of an error its class."""
    if isinstance(run, Question):
        return later_texts(run)
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


def hashed(text: str, part: str = "", *, later: bool = False) -> str:
    """Return a short hash; one of a column is shorter still."""
    found = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return found[:3] if part.startswith(COLUMN) else found[:8] if later else found


# --- the record ------------------------------------------------------------------------------------------------------

Hashes = dict[str, str]


def all_runs() -> list[str]:
    """Return the names of all runs: numbers, then sections with numbers."""
    return [*map(str, range(RUNS)), *(f"{section}-{k}" for section, count in SECTIONS.items() for k in range(count))]


def run_of(name: str) -> Run | Question:
    """Return the run of a name."""
    section, _, number = name.rpartition("-")
    return make_question(section, int(number)) if section else make_run(int(number))


def section_of(name: str) -> str:
    """Return the section of a run in words."""
    return name.rpartition("-")[0] or "the first 5,000"


def read_record(path: Path) -> dict[str, Hashes]:
    """Return the hashes by run and part."""
    found: dict[str, Hashes] = {}
    columns: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *hashes = line.split()
        if name == "#":
            columns = [COLUMN + column for column in hashes[1:]]
        elif "-" in name:
            parts = zip((*LATER_PARTS, *columns), hashes, strict=True)
            found[name] = {part: value for part, value in parts if value != "-"}
        else:
            found[name] = dict(zip(PARTS, hashes, strict=True))
    return found


def write_record(path: Path, record: dict[str, Hashes]) -> None:
    """Write the hashes, run by run."""
    first = [name for name in map(str, range(RUNS)) if name in record]
    lines = [" ".join([name, *(record[name][part] for part in PARTS)]) for name in first]
    for section, count in SECTIONS.items():
        names = [name for name in (f"{section}-{k}" for k in range(count)) if name in record]
        columns = list(dict.fromkeys(part for name in names for part in record[name] if part.startswith(COLUMN)))
        parts = [*LATER_PARTS, *columns]
        lines.append(" ".join(["#", section, *(column.removeprefix(COLUMN) for column in columns)]))
        lines += [" ".join([name, *(record[name].get(part, "-") for part in parts)]) for name in names]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


# --- commands ------------------------------------------------------------------------------------------------------

Made = tuple[str, dict[str, str], float]
"""A run, its texts and its seconds."""


def made(names: Sequence[str], jobs: int, n_jobs: int | None = None) -> Iterator[Made]:
    """Make runs, in so many processes."""
    if jobs == 1:
        for name in names:
            started = time.process_time()
            yield name, texts(run_of(name), n_jobs), time.process_time() - started
        return
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for k in range(jobs):
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    part = list(made(names[k::jobs], 1, n_jobs))
                    Path(folder, str(k)).write_text(json.dumps(part), encoding="utf-8", errors="surrogatepass")
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)
        for k, child in enumerate(children):
            if os.waitpid(child, 0)[1]:
                raise SystemExit("a process of the corpus ended with an error")
            for name, found, seconds in json.loads(
                Path(folder, str(k)).read_text(encoding="utf-8", errors="surrogatepass")
            ):
                yield name, found, seconds


def hashes_of(name: str, found: Mapping[str, str]) -> Hashes:
    """Return the hashes of a run."""
    return {part: hashed(text, part, later="-" in name) for part, text in found.items()}


def record(path: Path, full: Path | None, names: Sequence[str], jobs: int) -> int:
    """Write the record, and the full one if asked."""
    found: dict[str, dict[str, str]] = {}
    slow: list[tuple[float, str]] = []
    kinds: Counter[str] = Counter()
    for name, kept, seconds in made(names, jobs):
        found[name] = kept
        slow.append((seconds, name))
        answer = json.loads(kept["answer"])
        kinds[f"{section_of(name)}: {answer}" if isinstance(answer, str) else section_of(name)] += 1
    write_record(path, {name: hashes_of(name, kept) for name, kept in found.items()})
    if full is not None:
        with gzip.open(full, "wt", encoding="utf-8", errors="surrogatepass") as file:
            json.dump(found, file, ensure_ascii=False)
    for seconds, name in sorted(slow, reverse=True)[:10]:
        print(f"{seconds:6.2f} s  {name} {str(run_of(name))[:300]}")
    for what, count in sorted(kinds.items()):
        print(f"{count:6,} {what}")
    print(f"{len(found):,} runs in {sum(seconds for seconds, _ in slow):.0f} s of processor time")
    return 0


def words(differ: Iterable[str]) -> str:
    """Return in words which parts differ."""
    parts = [part for part in differ if not part.startswith(COLUMN)]
    columns = sorted(part.removeprefix(COLUMN) for part in differ if part.startswith(COLUMN))
    return ", ".join([*parts, *([f"numbers ({', '.join(columns)})"] if columns else [])])


def summary(differing: Mapping[str, Sequence[str]], counts: Mapping[str, int]) -> Iterator[str]:
    """Return what differs in how many runs, by section."""
    for section, count in counts.items():
        groups = Counter(words(differ) for name, differ in differing.items() if section_of(name) == section)
        for what, number in groups.most_common():
            yield f"{section}: {what} only, in {number:,} of {count:,} runs"


def check(
    path: Path,
    names: Sequence[str],
    against: Path | None,
    show: bool,
    renew: bool,
    n_jobs: int | None = None,
    jobs: int = 1,
) -> int:
    """Compare answers with the record; return how many runs differ, or none if they are taken into the record.

    With `n_jobs`, every run that may use so many cores does.
    """
    kept: dict[str, dict[str, str]] = {}
    if against is not None:
        with gzip.open(against, "rt", encoding="utf-8", errors="surrogatepass") as file:
            kept = json.load(file)
    known = read_record(path)
    new = dict(known)
    differing: dict[str, list[str]] = {}
    for name, found, _ in made(names, jobs, n_jobs):
        hashes = new[name] = hashes_of(name, found)
        before = known.get(name, {})
        differ = [part for part in dict.fromkeys([*before, *hashes]) if before.get(part) != hashes.get(part)]
        run = run_of(name)
        if n_jobs is not None and isinstance(run, Run) and run.question in SHARING and "counts" in differ:
            differ.remove("counts")
        if differ:
            differing[name] = differ
        if differ or show:
            print(f"{name} {'differs in ' + words(differ) if differ else 'is as recorded'}: {run}", flush=True)
        for part in found if show else ():
            print(f"  {part}: {' '.join(found[part].split())}")
        for part in differ if name in kept else ():
            old, now = (texts_.get(part, "").splitlines() for texts_ in (kept[name], found))
            difference = difflib.unified_diff(old, now, "recorded", "now", "", "", 2, "")
            print("\n".join(f"    {text}" for text in difference))
    counts = Counter(map(section_of, names))
    print(*summary(differing, counts), sep="\n", end="\n" if differing else "")
    if left := missing_names():
        print(f"not asked about, add them to tests/corpus_questions.py: {', '.join(left)}")
    print(f"{len(names):,} runs, {len(differing):,} of them differ from the record")
    if renew:
        write_record(path, new)
    return len(left) if renew else len(differing) + len(left)


def main() -> None:
    """Record or check."""
    parser = argparse.ArgumentParser(description="Record answers, or compare them with a record.")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write a record")
    recording.add_argument("file", type=Path)
    recording.add_argument("--full", type=Path, help="a .json.gz for the texts behind the hashes")
    recording.add_argument("--reverse", action="store_true", help="make the runs in the other order")
    checking = commands.add_parser("check", help="compare with a record")
    checking.add_argument("file", type=Path)
    checking.add_argument("--part", default="1/1", help="k/n: the k-th of n parts of the runs")
    checking.add_argument(
        "--section", nargs="+", choices=["first", *SECTIONS], help="these sections, or the first 5,000"
    )
    checking.add_argument("--only", nargs="+", help="names of runs")
    checking.add_argument("--against", type=Path, help="the full record: print differences")
    checking.add_argument("--show", action="store_true", help="print the texts")
    checking.add_argument("--n-jobs", type=int, help="use so many cores in every question that takes several")
    checking.add_argument("--instruction-set", choices=_core.instruction_sets(), help="use these kernels")
    checking.add_argument("--renew", action="store_true", help="take answers that differ into the record")
    for one in (recording, checking):
        one.add_argument("--jobs", type=int, default=1, help="make runs in so many processes")
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in FIXED_ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **FIXED_ENVIRONMENT})
    warnings.simplefilter("ignore")
    names = all_runs()
    if options.command == "record":
        sys.exit(record(options.file, options.full, names[::-1] if options.reverse else names, options.jobs))
    k, n = map(int, options.part.split("/"))
    if options.only:
        names = [name for name in names if name in options.only]
    elif options.section:
        wanted = {"the first 5,000" if name == "first" else name for name in options.section}
        names = [name for name in names if section_of(name) in wanted]
    names = names[k - 1 :: n]
    if options.instruction_set is not None:
        _core.use_instruction_set(options.instruction_set)
    wrong = check(options.file, names, options.against, options.show, options.renew, options.n_jobs, options.jobs)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
