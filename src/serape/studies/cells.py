"""Cells, the independent pieces of work of a study, and the file that keeps their answers.

An answer is kept together with all that determines it: the arguments of the cell, the content of its data files, and
the version of serape. A kept answer is used again only if all of these are the same. So a study that was stopped
continues where it stopped, and its result is that of a study that was not.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import serape
from serape.errors import DataError, SerapeError
from serape.files import atomic_write, parsed_json

CellKey = tuple[str | int, ...]
CellAnswers = Mapping[CellKey, Any]
"""Answers in the order of the cells."""
CellWatch = Callable[[int, int, str], None]


@dataclass(frozen=True)
class StudyCell:
    """A piece of work: a function of a module, called with the paths of files and with arguments in JSON."""

    key: CellKey
    work: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    files: Sequence[Path] = ()

    def answer(self) -> Any:
        """Do the work; return the answer as it is read back from JSON."""
        return json.loads(json.dumps(self.work(*self.files, **self.arguments)))

    def determined_by(self) -> dict[str, Any]:
        """Return all that determines the answer, besides what the work does."""
        return {
            "key": list(self.key),
            "arguments": json.loads(json.dumps(dict(self.arguments))),
            "files": [_digest(path) for path in self.files],
            "version": serape.__version__,
        }


def samples_of(answers: CellAnswers, *key: str | int) -> list[Any]:
    """Return the answers of the cells whose key begins with `key`."""
    return [answer for own, answer in answers.items() if own[: len(key)] == key]


def answer_cells(cells: Sequence[StudyCell], kept: Path, jobs: int, watch: CellWatch | None = None) -> CellAnswers:
    """Return the answers of all cells: those that the file has, and the others by work in `jobs` processes.

    Each answer is added to the file as soon as it is known.
    """
    lines = _lines(kept)
    identities = [json.dumps(cell.determined_by(), sort_keys=True) for cell in cells]
    known = {json.dumps(_identity(line), sort_keys=True): line["answer"] for line in lines}
    answers = {k: known[identity] for k, identity in enumerate(identities) if identity in known}
    missing = [k for k in range(len(cells)) if k not in answers]
    if watch is not None:
        watch(len(answers), len(cells), _name(cells[missing[0]]) if missing else "")
    for k, answer in _worked(cells, missing, jobs):
        answers[k] = answer
        _append(kept, json.dumps({**cells[k].determined_by(), "answer": answer}))
        if watch is not None:
            watch(len(answers), len(cells), _name(cells[k]))
    current = [{**cell.determined_by(), "answer": answers[k]} for k, cell in enumerate(cells)]
    others = [line for line in lines if json.dumps(_identity(line), sort_keys=True) not in identities]
    atomic_write(kept, "".join(json.dumps(line) + "\n" for line in (*current, *others)))
    return {cell.key: answers[k] for k, cell in enumerate(cells)}


def _worked(cells: Sequence[StudyCell], missing: Sequence[int], jobs: int) -> Iterator[tuple[int, Any]]:
    """Yield the number and the answer of each cell when it is done."""
    if jobs == 1 or len(missing) < 2:
        for k in missing:
            yield k, cells[k].answer()
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(missing)), context, _leave_interrupts_to_the_parent)
    try:
        numbers = {pool.submit(cells[k].answer): k for k in missing}
        for done in as_completed(numbers):
            yield numbers[done], done.result()
    except BrokenProcessPool:
        message = "a process of the study ended before its work was done; if memory is short, use a smaller --jobs"
        raise SerapeError(message) from None
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _name(cell: StudyCell) -> str:
    return " ".join(map(str, cell.key))


def _identity(line: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "answer"}


def _digest(path: Path) -> str:
    try:
        status = path.stat()
        return _content_digest(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


@lru_cache
def _content_digest(path: Path, size: int, changed: int) -> str:
    """Return a digest of the content, computed again if the file has changed."""
    del size, changed
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _lines(path: Path) -> list[dict[str, Any]]:
    """Return the kept answers with what determines them; an incomplete line is ignored."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}; delete it to begin anew") from None
    lines = []
    for line in text.splitlines():
        try:
            entry = parsed_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "answer" in entry:
            lines.append(entry)
    return lines


def _append(path: Path, line: str) -> None:
    try:
        with path.open("a+b") as file:
            complete = file.tell() == 0 or _last_byte(file) == b"\n"
            file.write((b"" if complete else b"\n") + line.encode() + b"\n")
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None


def _last_byte(file: Any) -> bytes:
    file.seek(-1, 2)
    last: bytes = file.read(1)
    return last
