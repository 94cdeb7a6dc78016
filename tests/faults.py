"""Disturb a cluster at random moments during searches, and compare the answers with those of one process.

    python tests/faults.py [--times 10] [--seed 0] [--only NAME ...]

Each time, in a new cluster of two worker processes, one thing goes wrong while a skeleton, or searches for one target,
are under way. The answer must be that of one process, or the question must end with a `ClusterError`; then the table is
made again, and the same question with the same checkpoint must be answered. No process and no file may be left.
Prints what happened; exit code 1 if anything else did. A full disk is a small file system in memory where one can be
mounted; otherwise these faults are left out.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

import dask
import psutil  # type: ignore[import-untyped]

import distributed  # noqa: F401 - its settings must be there before some are changed for a while
import serape
from serape.dask import connect, table

SPLITS: tuple[Any, ...] = ("rows", "columns")
TIMEOUT = 8.0  # seconds, where a fault lasts
LITTLE = "240MB"  # too little for a worker that reads a large file


def skeleton(data: Any, checkpoint: Path) -> object:
    """Return the edges."""
    return serape.skeleton(data, algorithm="hiton-pc", alpha=0.01, checkpoint=checkpoint).edges


def searches(data: Any, checkpoint: Path) -> object:
    """Return the answers of several algorithms about one target."""
    del checkpoint
    found = {}
    for algorithm in ("iamb", "fbed", "hiton-mb"):
        content = serape.markov_blanket(data, "Disease", algorithm=algorithm, alpha=0.01).to_dict()
        content.pop("seconds")
        evidence = content["evidence"]
        listed, which = evidence.pop("given"), evidence.pop("which")  # sets are listed in the order of their first use
        evidence["given"] = [None if k < 0 else listed[k] for k in which]
        found[algorithm] = content
    return found


# --- faults -----------------------------------------------------------------------------------------------------------


def kill(client: Any, pid: int) -> None:
    """End a worker."""
    del client
    os.kill(pid, signal.SIGKILL)


def stop(client: Any, pid: int) -> None:
    """Let a worker stand still for good."""
    del client
    os.kill(pid, signal.SIGSTOP)


def pause(client: Any, pid: int) -> None:
    """Let a worker stand still for three seconds."""
    stop(client, pid)
    time.sleep(3)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def slow_down(client: Any, pid: int) -> None:
    """Let a worker stand still most of the time, for five seconds."""
    for _ in range(25):
        with suppress(ProcessLookupError):
            stop(client, pid)
            time.sleep(0.18)
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.02)


def restart(client: Any, pid: int) -> None:
    """Let the scheduler forget everything and start all workers again."""
    del pid
    with suppress(Exception):  # the client may be closed by now
        client.restart()


def close(client: Any, pid: int) -> None:
    """End the scheduler, and so the cluster."""
    del pid
    client.cluster.close()


FAULTS: dict[str, tuple[Callable[[Any, int], None], dict[str, Any]]] = {
    "killed": (kill, {}),
    "paused": (pause, {}),
    "slow": (slow_down, {}),
    "stopped, replaced": (stop, {"distributed.scheduler.worker-ttl": "5s"}),
    "stopped": (stop, {}),
    "restarted": (restart, {}),
    "scheduler lost": (close, {}),
}
"""Faults of workers and schedulers, with settings of Dask: without `worker-ttl`, a stopped worker is never replaced."""


def disturbed(
    name: str, question: Callable[[Any, Path], object], data: serape.Table, split: Any, moment: float, folder: Path
) -> str:
    """Ask while something goes wrong; return what came of it."""
    fault, settings = FAULTS[name]
    expected = question(data, folder / "alone.jsonl")
    with dask.config.set(settings):
        client = connect(workers=2)
    spread = table(client, data, split=split, timeout=TIMEOUT if name == "stopped" else 120)
    victim = random.choice([worker.pid for worker in client.cluster.workers.values()])
    happened: list[bool] = []

    def strike() -> None:
        happened.append(True)
        fault(client, victim)

    timer = Timer(moment, strike)
    timer.start()
    try:
        same = question(spread, folder / "kept.jsonl") == expected
        outcome = "same answer" if same else "WRONG ANSWER"
    except serape.ClusterError:
        outcome = "one sentence"
    timer.cancel()
    timer.join()
    with suppress(Exception):
        client.shutdown()
    if outcome == "one sentence":
        with connect(workers=2) as again:
            same = question(table(again, data, split=split), folder / "kept.jsonl") == expected
            outcome += ", then the same answer" if same else ", then a WRONG ANSWER"
            again.shutdown()
    return outcome if happened else "nothing happened in time, " + outcome


def undisturbed(question: Callable[[Any, Path], object], data: serape.Table, split: Any) -> float:
    """Return how many seconds a question takes if nothing goes wrong."""
    with connect(workers=2) as client, tempfile.TemporaryDirectory() as folder:
        spread = table(client, data, split=split)
        begin = time.perf_counter()
        question(spread, Path(folder, "kept.jsonl"))
        seconds = time.perf_counter() - begin
        client.shutdown()
    return seconds


def scheduler_killed(data: serape.Table, split: Any, moment: float, folder: Path) -> str:
    """Kill the process of a scheduler, start it and its workers again, and go on."""
    expected = skeleton(data, folder / "alone.jsonl")
    port = random.randrange(20_000, 60_000)

    def started() -> list[subprocess.Popen[bytes]]:
        address = f"tcp://127.0.0.1:{port}"
        options = ["--no-dashboard", "--host", "127.0.0.1"]
        worker = ["dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        commands = [["dask_scheduler", "--port", str(port), *options], worker, worker]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        return [
            subprocess.Popen([sys.executable, "-m", f"distributed.cli.{module}", *more], **quiet)  # type: ignore[call-overload]
            for module, *more in commands
        ]

    def ended(processes: list[subprocess.Popen[bytes]]) -> None:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    processes = started()
    outcome = "nothing happened in time"
    try:
        client = _connected(port)
        spread = table(client, data, split=split, timeout=30)
        timer = Timer(moment, processes[0].kill)
        timer.start()
        try:
            skeleton(spread, folder / "kept.jsonl")
        except serape.ClusterError:
            outcome = "one sentence"
        timer.cancel()
        timer.join()
        client.close()
        ended(processes)
        processes = started()
        client = _connected(port)
        same = skeleton(table(client, data, split=split), folder / "kept.jsonl") == expected
        client.close()
        return f"{outcome}, then {'the same answer' if same else 'a WRONG ANSWER'}"
    finally:
        ended(processes)


def _connected(port: int) -> Any:
    for attempt in range(6):
        try:
            client = connect(f"tcp://127.0.0.1:{port}")
            break
        except serape.OptionError:
            if attempt == 5:
                raise
    client.wait_for_workers(2)
    return client


# --- disks and memory -------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path | None]:
    """A file system of so many kilobytes; None if this process may not mount one."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder]
        is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        try:
            yield Path(folder) if is_mounted else None
        finally:
            if is_mounted:
                subprocess.run(["umount", "-l", folder], check=True)


def checkpoint_on_a_full_disk(data: serape.Table, split: Any, folder: Path) -> str:
    """Keep a checkpoint on a disk that becomes full; then make room, and go on with it."""
    data = serape.load_network("hailfinder").sample(500, 1)  # its checkpoint takes more than a page
    expected = skeleton(data, folder / "alone.jsonl")
    with small_disk(64) as disk, connect(workers=2) as client:
        if disk is None:
            return "left out"
        (disk / "filler").write_bytes(b"0" * 60 * 1024)  # a page of four kilobytes is left
        spread = table(client, data, split=split)
        found = serape.skeleton(spread, algorithm="hiton-pc", alpha=0.01, checkpoint=disk / "kept.jsonl")
        noted = any("could not be written" in note for note in found.notes)
        (disk / "filler").unlink()
        same = found.edges == expected == skeleton(spread, disk / "kept.jsonl")
        client.shutdown()
    return "same answer and a note" if same and noted else "WRONG ANSWER, or no note"


def full_disk_of_workers(data: serape.Table, split: Any, folder: Path) -> str:
    """Fill the disk on which workers have their folder."""
    from distributed import Client, LocalCluster

    expected = skeleton(data, folder / "alone.jsonl")
    with small_disk(256) as disk:
        if disk is None:
            return "left out"
        options: dict[str, Any] = {"local_directory": str(disk), "silence_logs": 50, "dashboard_address": ":0"}
        with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
            with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
                while True:
                    file.write(b"0" * 4096)
            same = skeleton(table(client, data, split=split), folder / "kept.jsonl") == expected
    return "same answer" if same else "WRONG ANSWER"


def little_memory(data: serape.Table, split: Any, folder: Path) -> str:
    """Read a file on workers that are killed when they take too much memory."""
    from distributed import Client, LocalCluster

    path = folder / "large.csv"
    lines = data.to_pandas().to_csv(index=False).splitlines(keepends=True)
    with path.open("w") as file:
        file.write(lines[0])
        for _ in range(600):
            file.writelines(lines[1:])
    options: dict[str, Any] = {"memory_limit": LITTLE, "silence_logs": 50, "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as client:
        try:
            table(client, path, split=split, timeout=60)
        except serape.ClusterError:
            return "one sentence"
    return "NOTHING HAPPENED"


# --- the experiment ---------------------------------------------------------------------------------------------------


def left_behind() -> list[str]:
    """Return the processes that still run, without the two helpers of Python's multiprocessing."""
    children = psutil.Process().children(recursive=True)
    _, alive = psutil.wait_procs(children, timeout=0.5)
    commands = [" ".join(child.cmdline()) for child in alive if child.is_running()]
    return [command for command in commands if "tracker" not in command and "forkserver" not in command and command]


def main() -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="per fault, question and split")
    parser.add_argument("--seed", type=int, default=0)
    names = [*FAULTS, "scheduler killed", "full disk", "full disk of workers", "little memory"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    options = parser.parse_args()
    random.seed(options.seed)
    data = serape.load_network("child").sample(500, 1)
    whole: dict[str, Callable[[serape.Table, Any, Path], str]] = {
        "full disk": checkpoint_on_a_full_disk,
        "full disk of workers": full_disk_of_workers,
        "little memory": little_memory,
        "scheduler killed": lambda data, split, folder: scheduler_killed(data, split, random.uniform(0, 0.5), folder),
    }
    wrong = 0
    for name in options.only:
        for split in SPLITS:
            if name in whole:
                wrong += _repeated(f"{name}, {split} split", options.times, lambda f: whole[name](data, split, f))  # noqa: B023
                continue
            for question in (skeleton, searches):
                most = undisturbed(question, data, split)
                ask = lambda f: disturbed(name, question, data, split, random.uniform(0, most), f)  # noqa: B023, E731
                wrong += _repeated(f"{name}, {split} split, {question.__name__}", options.times, ask)
    sys.exit(1 if wrong else 0)


def _repeated(title: str, times: int, ask: Callable[[Path], str]) -> int:
    """Print what came of one fault, several times; return how often it was not as it should be."""
    outcomes: Counter[str] = Counter()
    begin = time.perf_counter()
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            outcome = ask(Path(folder))
        left = left_behind()
        outcomes[outcome + (f", LEFT BEHIND {left}" if left else "")] += 1
    seconds = (time.perf_counter() - begin) / times
    text = "; ".join(f"{count} × {outcome}" for outcome, count in outcomes.most_common())
    print(f"{title} ({seconds:.1f} s each): {text}", flush=True)
    return sum(count for outcome, count in outcomes.items() if outcome != outcome.lower())


if __name__ == "__main__":
    main()
