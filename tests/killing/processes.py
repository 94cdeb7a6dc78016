"""Kills workers of a question, and processes that ask one, at random moments.

A killed worker must not change the answer. A killed process that asks must take its workers with it at once; one that
gets Ctrl-C hands over what it has found, which is right as far as it goes. Files must be left by none.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import serape
from serape.parallel import map as parallel_map

MAX_SECONDS = 60.0
"""No question takes as long, even on a busy machine."""
_PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when its parent ends
_PR_SET_CHILD_SUBREAPER = 36  # of Linux: orphans become children of this process

TABLE = serape.load_network("alarm").tile(2, 0).sample(500, 0)
ASKED: dict[str, Callable[[int], Any]] = {
    "blankets": lambda jobs: serape.blankets(TABLE, algorithm="hiton-mb", alpha=0.01, fdr=None, n_jobs=jobs),
    "skeleton": lambda jobs: serape.skeleton(TABLE, "hpc", alpha=0.01, fdr=None, n_jobs=jobs),
    "network": lambda jobs: serape.network(TABLE, "mmpc", alpha=0.01, fdr=None, n_jobs=jobs),
    "stability": lambda jobs: serape.stability(TABLE, 0, draws=40, random_state=0, n_jobs=jobs),
}


def said(found: Any) -> Any:
    """Return all that an answer says but the time it took."""
    if isinstance(found, dict):
        return {name: said(one) for name, one in found.items()}
    content = found.to_dict()
    content.pop("seconds", None)
    return content


class Killer:
    """Asks each question once undisturbed, to know its answer and its time; then kills."""

    def __init__(self, drawn: random.Random, folder: str) -> None:
        parallel_map.LARGE = 0  # workers begin at once
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self.drawn = drawn
        self.folder = Path(folder)
        """Where processes put what they share, and nothing else is."""
        os.environ["TMPDIR"] = os.environ["JOBLIB_TEMP_FOLDER"] = folder
        self.expected: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}
        for name, ask in ASKED.items():
            began = time.perf_counter()
            self.expected[name] = said(ask(2))
            self.seconds[name] = time.perf_counter() - began
        self.longest = 0.0
        """The longest time from the end of a process to that of its last worker."""

    def kill_worker(self) -> str:
        """Kill a worker of a question; say which question it was, or nothing if it was over before."""
        name = self.drawn.choice(list(ASKED))
        wait = self.drawn.uniform(0, self.seconds[name])
        over, hit = threading.Event(), threading.Event()

        def kill() -> None:
            over.wait(wait)
            while not over.is_set():
                workers = children(os.getpid())
                if workers:
                    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                        os.kill(self.drawn.choice(workers), signal.SIGKILL)
                        hit.set()
                        return
                time.sleep(0.001)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            found = ASKED[name](2)
        finally:
            over.set()
            killer.join()
        assert said(found) == self.expected[name], f"{name}: another answer"
        self._nothing_is_left()
        return name if hit.is_set() else ""

    def kill_parent(self) -> str:
        """Kill a process that asks a question, or let it hear Ctrl-C; say which question it was and what it got."""
        name = self.drawn.choice(list(ASKED))
        number = self.drawn.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGINT])
        wait = self.drawn.uniform(0, self.seconds[name])
        ready, begun = os.pipe()
        parent = os.fork()
        if parent == 0:
            self._ask_on(name, begun)
        os.close(begun)
        os.read(ready, 1)
        os.close(ready)
        time.sleep(wait)
        if number == signal.SIGINT:
            os.killpg(parent, number)  # as a terminal does
        else:
            os.kill(parent, number)
        _, status = os.waitpid(parent, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code == (0 if number == signal.SIGINT else -number), f"{name}: {number.name} ended it with {code}"
        self._nothing_is_left()
        return f"{name} {number.name}"

    def _ask_on(self, name: str, begun: int) -> None:
        """Ask a question over and over, in this process alone, until Ctrl-C."""
        code = 1
        heard: list[int] = []

        def hear(*_: object) -> None:
            heard.append(1)
            raise KeyboardInterrupt

        try:
            os.setsid()
            # Ctrl-C may come between two lines of `socket.socketpair`, whose sockets are then closed by their end.
            warnings.simplefilter("ignore", ResourceWarning)
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.signal(signal.SIGINT, hear)
            os.write(begun, b".")
            while not heard:
                found = ASKED[name](2)
                if said(found) != self.expected[name]:
                    assert heard, f"{name}: another answer"
                    self._is_a_part(name, found)
            code = 0
        except KeyboardInterrupt:
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _is_a_part(self, name: str, found: Any) -> None:
        """Check what is returned after Ctrl-C: some blankets, or fewer draws; other questions raise an error."""
        if name == "stability":
            assert 0 < found.draws < self.expected[name]["draws"], found
            return
        assert name == "blankets", name
        for target, one in found.items():
            assert one.notes[-1].startswith("interrupted: "), one.notes
            expected = {**self.expected[name][target], "notes": list(one.notes)}
            assert said(one) == expected, (said(one), expected)

    def _nothing_is_left(self) -> None:
        """Wait for the ends of orphans; there must be no process and no file then."""
        began = time.perf_counter()
        while True:
            try:
                process, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if process == 0:
                assert time.perf_counter() < began + MAX_SECONDS, f"{children(os.getpid())} outlive their parent"
                time.sleep(0.001)
        self.longest = max(self.longest, time.perf_counter() - began)
        left = list(self.folder.iterdir())
        assert not left, left


def children(parent: int) -> list[int]:
    """Return the processes that a process has started, but for those that have ended."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, of = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if int(of) == parent and state != "Z":
            found.append(int(entry.name))
    return found
