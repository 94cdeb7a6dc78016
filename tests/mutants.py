"""Small changes of the code, one at a time: the tests that should notice each are run, and what none notices is shown.

    python tests/mutants.py                                    (or: make mutants)
    python tests/mutants.py --module files.py --jobs 4
    python tests/mutants.py --module search/search.py --sample 50 --seed 1
    python tests/mutants.py --module knowledge.py --tests tests/test_knowledge.py
    python tests/mutants.py --jobs 16 --seconds 540 --results FILE.jsonl
    python tests/mutants.py --again FILE.jsonl                 (after tests were added)

A mutant is the code with one change (`mutation/python_code.py` and `mutation/core_code.py` say which there are). A test
that fails kills it. One that survives shows that a test is missing, that the line is needless, or that the change makes
no difference. The last are listed in `equivalent_mutants.txt`, each with its reason; any other survivor is printed, and
the exit status is 1. A listed mutant that can no longer be made, or that a test kills, is an error too.

First, each file of tests runs once, and it is noted which lines each test reaches. A mutant is tried with the tests
that reach its line, the fast ones first, up to --patience seconds. It lives in the memory of one process. The mutants
of a file of the core are in one build, and a process chooses one of them (`mutation/schemata.py`; the few that cannot
be chosen so are built one by one). The working tree stays as it is. Tests that start a new interpreter see no mutant.
An endless loop is ended, and counts as noticed.

After --seconds, or where it is interrupted or terminated, the run stops and prints what it has; the next one with the
same --results goes on there, unless code or tests have changed. The exit status is then 3.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / name) for name in ("docs", "tests", "tools"))]

from mutation import core_code, python_code, schemata, trial  # noqa: E402
from mutation.core_code import Together  # noqa: E402
from mutation.mutant import Mutant  # noqa: E402

MODULES: dict[str, tuple[str, ...]] = {
    "questions/discoveries.py": ("tests/questions/test_false_discoveries.py", "tests/questions/test_fdr.py"),
    "questions/deciding.py": (
        "tests/questions/test_what_decides.py", "tests/questions/test_false_discoveries.py",
        "tests/questions/test_deciding.py", "tests/questions/test_fdr.py", "tests/questions/test_kept_evidence.py",
    ),
    "search/discoveries.py": ("tests/search/test_discoveries.py", "tests/questions/test_fdr.py"),
    "questions/checkpoint.py": (
        "tests/questions/test_checkpoint_lines.py", "tests/questions/test_checkpoint.py",
        "tests/questions/test_identity.py", "tests/questions/test_fdr.py",
    ),
    "questions/identity.py": (
        "tests/questions/test_parts_of_questions.py", "tests/questions/test_identity.py",
        "tests/questions/test_checkpoint.py",
    ),
    "files.py": ("tests/test_files.py", "tests/results/test_hostile_files.py"),
    "canonical.py": (
        "tests/test_canonical.py", "tests/questions/test_parts_of_questions.py", "tests/questions/test_identity.py",
    ),
    "locking.py": ("tests/test_locking.py", "tests/questions/test_checkpoint.py"),
    "search/separations.py": ("tests/search/test_separations.py", "tests/search"),
    "search/associations.py": ("tests/search/test_associations.py", "tests/search"),
    "search/state.py": ("tests/search/test_state.py", "tests/search"),
    "search/search.py": (
        "tests/search/test_verdicts.py", "tests/search", "tests/independence/test_clear_cases.py",
    ),
    "core/src/residual_comparison.cpp": (
        "tests/independence/test_residual_comparison.py", "tests/independence/test_residuals.py",
    ),
}  # fmt: skip
"""The modules that are looked at, and the tests that must notice every mutant of them."""
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.txt"
FOLDER = ROOT / "build" / "mutants"
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(FOLDER / "bytecode"),
}


def path_of(module: str) -> Path:
    """Return the file of a module."""
    return ROOT / module if module.endswith(".cpp") else ROOT / "src" / "serape" / module


def mutants_of(module: str) -> list[Mutant]:
    """Return the mutants of a module."""
    drawn = core_code.mutants if module.endswith(".cpp") else python_code.mutants
    return drawn(path_of(module), module)


def files_of_tests(places: Iterable[str]) -> list[str]:
    """Return the files of tests at these places."""
    found: list[str] = []
    for place in places:
        path = ROOT / place
        files = sorted(path.glob("test_*.py")) if path.is_dir() else [path]
        found += [str(file.relative_to(ROOT)) for file in files]
    return list(dict.fromkeys(found))


# --- equivalent mutants ------------------------------------------------------------------------------------------


def equivalents(path: Path = EQUIVALENT) -> dict[str, dict[str, str]]:
    """Return the reasons by module and mutant: a module, below it reasons, below each its mutants, each further in."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    module = reason = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if not text or text.startswith("#"):
            continue
        if depth == 0:
            module, reason = text, ""
        elif depth == 2:
            reason = text
        elif depth == 4 and module and reason:
            found[module][text] = reason
        else:
            raise ValueError(f"line {number} of {path.name} is neither a module, nor a reason, nor a mutant")
    return found


# --- processes -----------------------------------------------------------------------------------------------------


@dataclass
class Job:
    """What a process does, for how long it may, and what follows."""

    work: Callable[[Path], int]
    seconds: float
    done: Callable[[int | None, Path], None]
    """Takes the exit status, or None if the time was up, and the folder."""


def in_processes(jobs: Iterable[Job], count: int, until: float) -> bool:
    """Do jobs in so many processes at once; return whether all were done before the time was up, or Ctrl-C came."""
    running: dict[int, tuple[Job, float, Path]] = {}
    waiting = iter(jobs)
    number = 0
    all_started = False
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while True:
            while not all_started and len(running) < count:
                job = next(waiting, None) if time.monotonic() < until else None
                all_started = job is None
                if job is not None:
                    folder = work_folder() / str(number)
                    number += 1
                    folder.mkdir(parents=True)
                    process = trial.started(lambda job=job, folder=folder: job.work(folder), folder / "log")  # type: ignore[misc]
                    running[process] = job, time.monotonic() + job.seconds, folder
            if not running:
                return next(waiting, None) is None
            for process, (job, end, folder) in list(running.items()):
                ended, status = os.waitpid(process, os.WNOHANG)
                over = not ended and time.monotonic() > end
                if over:
                    end_group(process)
                    ended, status = os.waitpid(process, 0)
                if ended:
                    end_group(process)
                    del running[process]
                    job.done(None if over else os.waitstatus_to_exitcode(status), folder)
                    shutil.rmtree(folder, ignore_errors=True)
            time.sleep(0.01)
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGTERM, before)
        for process in running:
            end_group(process)


def work_folder() -> Path:
    """Return the folder of what this run leaves behind while it lasts."""
    return FOLDER / "work" / str(os.getpid())


def end_group(process: int) -> None:
    """End a process that this one has started, and those that it has started itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


# --- which tests reach which lines ---------------------------------------------------------------------------------


@dataclass
class Reached:
    """Which tests reach a line, and how long tests take."""

    tests: dict[tuple[str, int], list[str]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def take(self, content: dict[str, Any]) -> None:
        """Take what one file of tests reaches."""
        self.seconds |= content["seconds"]
        self.failed += content["failed"]
        for name, lines in content["reached"].items():
            shared = "::" not in name  # reached by a fixture, or while loading
            names = list(content["seconds"]) if shared else [name]
            for file, line in lines:
                self.tests[file, line] += names

    def by(self, mutant: Mutant, files: Sequence[str], patience: float) -> list[str]:
        """Return the tests that reach a mutant, the fast ones of each file first, up to so many seconds."""
        path = str(path_of(mutant.module))
        if mutant.module.endswith(".cpp"):
            found = set(self.seconds)
        else:
            found = {name for line in mutant.lines for name in self.tests.get((path, line), ())}
        at = {file: k for k, file in enumerate(files)}
        chosen = [name for name in found if name.split("::")[0] in at and name not in self.failed]
        chosen.sort(key=lambda name: (at[name.split("::")[0]], self.seconds[name], name))
        fast: list[str] = []
        left = patience
        for name in sorted(chosen, key=lambda name: self.seconds[name]):
            left -= self.seconds[name]
            if left >= 0 or not fast:
                fast.append(name)
        kept = set(fast)
        return [name for name in chosen if name in kept]


def reached(files: Sequence[str], modules: Sequence[str], digest: str, count: int, until: float) -> Reached | None:
    """Run the files of tests once, or read what an earlier run noted; None if time was up before."""
    targets = [str(path_of(module)) for module in modules if not module.endswith(".cpp")]
    folder = FOLDER / "reached" / f"{digest}-{hashed(targets)}"
    folder.mkdir(parents=True, exist_ok=True)
    found = Reached()
    kept = {file: folder / f"{file.replace('/', '.')}.json" for file in files}
    missing = [file for file in files if not kept[file].exists()]
    if missing:
        print(f"noting which lines {len(missing)} files of tests reach …", flush=True)

    def job(file: str) -> Job:
        def done(status: int | None, work: Path) -> None:
            made = work / "reached.json"
            if status != 0 or not made.exists():
                print((work / "log").read_text(errors="replace")[-2000:])
                raise SystemExit(f"the tests of {file} cannot be run (exit status {status})")
            shutil.copyfile(made, kept[file])

        return Job(lambda work: trial.note_reached(file, targets, work), 1800, done)

    if not in_processes(map(job, missing), count, until):
        return None
    for file in files:
        found.take(json.loads(kept[file].read_text()))
    return found


def hashed(texts: Iterable[str | bytes]) -> str:
    """Return a short hash."""
    made = hashlib.blake2b(digest_size=8)
    for text in texts:
        made.update(text.encode() if isinstance(text, str) else text)
    return made.hexdigest()


def tree_digest() -> str:
    """Return a hash of the code and of these tests, so that what was found for others is not believed."""
    files = [p for folder in ("src/serape", "core") for p in sorted((ROOT / folder).rglob("*")) if p.suffix != ".pyc"]
    files += sorted((ROOT / "tests").rglob("*.py"))
    return hashed(part for path in files if path.is_file() for part in (str(path.relative_to(ROOT)), path.read_bytes()))


# --- trying -------------------------------------------------------------------------------------------------------


def together(mutants: Sequence[Mutant], lines: Reached, files: Sequence[str], options: argparse.Namespace) -> Together:
    """Build mutants of a file of the core together, and see that the build passes the tests if none is chosen."""
    path = path_of(mutants[0].module)
    folder = work_folder() / path.stem
    folder.mkdir(parents=True)
    built = core_code.built_together(path, mutants, folder)
    names = lines.by(mutants[0], files, options.patience)
    print(f"{mutants[0].module}: {len(built.numbers):,} of {len(mutants):,} mutants are in one build")

    def done(status: int | None, work: Path) -> None:
        if status != 0:
            print((work / "log").read_text(errors="replace")[-2000:])
            raise SystemExit(f"the build of all mutants of {path.name} fails without any")

    def job(work: Path) -> int:
        return with_core(built.library, 0, names, lines.seconds.keys(), work)

    in_processes([Job(job, 3600, done)], 1, float("inf"))
    return built


def with_core(library: Path, number: int, names: Sequence[str], known: Collection[str], work: Path) -> int:
    """Run tests with another build of the core, and return whether one noticed it."""
    os.environ[schemata.VARIABLE] = str(number)
    return trial.notice(trial.Replaced("serape._core", library, None), names, known, work)


def tried(
    mutant: Mutant, names: Sequence[str], known: Collection[str], work: Path, build: Together | None = None
) -> int:
    """Run tests with a mutant, and return whether one noticed it; 2 if it is no code. A build may have it already."""
    path = path_of(mutant.module)
    if build is not None and mutant.key in build.numbers:
        return with_core(build.library, build.numbers[mutant.key], names, known, work)
    if not mutant.module.endswith(".cpp"):
        name = "serape." + mutant.module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        try:
            code = python_code.compiled(path, mutant)
        except SyntaxError:
            return 2
        return trial.notice(trial.Replaced(name, path, code), names, known, work)
    built = core_code.built(path, mutant, work)
    return 2 if built is None else with_core(built, 0, names, known, work)


OUTCOMES = {
    0: "survived",
    1: "killed",
    2: "refused by the compiler",
    trial.FAILED: "survived: it could not be tried",
    None: "killed: it did not end",
}


def main() -> None:
    """Try mutants, and print those that survive."""
    parser = argparse.ArgumentParser(description="Change the code in small ways, and see whether the tests notice.")
    parser.add_argument("--module", nargs="+", default=list(MODULES), help="modules below src/serape, or files of core")
    parser.add_argument("--tests", nargs="+", help="files or folders of tests, in place of those listed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--sample", type=int, help="so many random mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--match", default="", help="mutants whose text contains this")
    parser.add_argument("--again", type=Path, help="those alone that survive in these results, of whatever code")
    parser.add_argument("--patience", type=float, default=10, help="seconds of tests for a mutant")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument(
        "--results", type=Path, default=FOLDER / "results.jsonl", help="what was found, for the next run"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants, and run nothing")
    parser.add_argument("--verbose", action="store_true", help="print every mutant as it is tried")
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ENVIRONMENT})
    os.chdir(ROOT)
    until = time.monotonic() + options.seconds
    left_over = [module for module in options.module if module not in MODULES and not options.tests]
    if left_over:
        parser.error(f"name the tests of {', '.join(left_over)} with --tests")
    tests = {module: files_of_tests(options.tests or MODULES[module]) for module in options.module}
    listed = equivalents()
    found = {module: mutants_of(module) for module in options.module}
    stale = [f"{m}: {key}" for m in options.module for key in listed[m] if key not in {x.key for x in found[m]}]
    alive = None if options.again is None else survivors(options.again)
    for module in options.module:
        found[module] = [mutant for mutant in found[module] if options.match in mutant.key]
        if alive is not None:
            found[module] = [mutant for mutant in found[module] if (module, mutant.key) in alive]
        if options.sample is not None and options.sample < len(found[module]):
            chosen = set(random.Random(options.seed).sample(range(len(found[module])), options.sample))
            found[module] = [mutant for k, mutant in enumerate(found[module]) if k in chosen]
    if options.list:
        print("\n".join(f"{module}  {mutant.key}" for module in options.module for mutant in found[module]))
        return
    try:
        status = judge(found, tests, listed, stale, options, until)
    finally:
        shutil.rmtree(work_folder(), ignore_errors=True)
    sys.exit(status)


def judge(
    found: dict[str, list[Mutant]],
    tests: dict[str, list[str]],
    listed: dict[str, dict[str, str]],
    stale: list[str],
    options: argparse.Namespace,
    until: float,
) -> int:
    """Try the mutants, print what survives, and return the exit status."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    trial.prepare()
    digest = tree_digest()
    files = list(dict.fromkeys(file for module in found for file in tests[module]))
    lines = reached(files, list(found), digest, options.jobs, until)
    if lines is None:
        print("time was up while the tests ran for the first time; run again to go on")
        return 3
    if lines.failed:
        print("these tests fail without any change, and are left out:", *sorted(set(lines.failed)), sep="\n  ")
    outcomes = kept_outcomes(options.results, digest)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    with options.results.open("a", encoding="utf-8") as file:

        def note(mutant: Mutant, outcome: str) -> None:
            outcomes[mutant.module, mutant.key] = outcome
            entry = {"digest": digest, "module": mutant.module, "mutant": mutant.key, "outcome": outcome}
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            file.flush()
            if options.verbose:
                print(f"{outcome}: {mutant.module} {mutant.key}", flush=True)

        def job(mutant: Mutant) -> Job | None:
            names = lines.by(mutant, tests[mutant.module], options.patience)

            def done(status: int | None, _: Path) -> None:
                note(mutant, OUTCOMES.get(status, "killed"))  # also where the interpreter was ended by the change

            if not names:
                note(mutant, "survived: no test reaches it")
                return None
            seconds = 60 + 5 * sum(lines.seconds[name] for name in names)
            build = builds.get(mutant.module)
            return Job(lambda work: tried(mutant, names, lines.seconds.keys(), work, build), seconds, done)

        new = [m for of_module in found.values() for m in of_module if (m.module, m.key) not in outcomes]
        core = {module: [m for m in new if m.module == module] for module in found if module.endswith(".cpp")}
        builds = {module: together(its, lines, tests[module], options) for module, its in core.items() if its}
        jobs = (made for mutant in new if (made := job(mutant)) is not None)
        finished = in_processes(jobs, options.jobs, until)
    wrong = 0
    for module, mutants in found.items():
        wrong += report(module, mutants, outcomes, listed[module])
    for key in stale:
        print(f"listed, but no mutant of the code: {key}")
    if not finished:
        print("time was up; run again with the same --results to go on")
        return 3
    return int(bool(wrong or stale))


def kept_outcomes(path: Path, digest: str) -> dict[tuple[str, str], str]:
    """Return what an earlier run found for the same code and tests."""
    found = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["digest"] == digest:
                found[entry["module"], entry["mutant"]] = entry["outcome"]
    return found


def survivors(path: Path) -> set[tuple[str, str]]:
    """Return the mutants that survive in results of an earlier run."""
    outcomes: dict[tuple[str, str], str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        outcomes[entry["module"], entry["mutant"]] = entry["outcome"]
    return {mutant for mutant, outcome in outcomes.items() if outcome.startswith("survived")}


def report(module: str, mutants: Sequence[Mutant], outcomes: dict[tuple[str, str], str], listed: dict[str, str]) -> int:
    """Print what became of the mutants of a module, and return how many survive or are listed wrongly."""
    of = {mutant: outcomes[module, mutant.key] for mutant in mutants if (module, mutant.key) in outcomes}
    alive = [mutant for mutant, outcome in of.items() if outcome.startswith("survived")]
    killed = [mutant for mutant, outcome in of.items() if outcome.startswith("killed")]
    unknown = [mutant for mutant in alive if mutant.key not in listed]
    wrong = [mutant for mutant in killed if mutant.key in listed]
    endless = sum(outcome.endswith("did not end") for outcome in of.values())
    none = sum(outcome.startswith("refused") for outcome in of.values())
    print(
        f"{module}: {len(mutants):,} mutants, {len(of):,} tried, {len(killed):,} killed ({endless} did not end), "
        f"{none} refused by the compiler, {len(alive) - len(unknown)} known to be equivalent, {len(unknown)} survive"
    )
    for mutant in unknown:
        print(f"{mutant}\n    {of[mutant]}; {mutant.key}")
    for mutant in wrong:
        print(f"listed as equivalent, but a test notices it: {mutant.key}")
    return len(unknown) + len(wrong)


if __name__ == "__main__":
    main()
