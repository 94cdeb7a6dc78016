"""A file that keeps the neighbourhoods found so far, so that a long run can continue where it stopped.

Each line is a JSON text: the first holds the settings of the run and a digest of the data, each further line a target
with its neighbourhood, or the step about a target from which neighbourhoods are made. Lines are written about once a
second. An incomplete last line is ignored. Where there is no room on the disk, lines are kept until there is.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

from serape.data.table import Table
from serape.errors import DataError, OptionError
from serape.files import atomic_write, parsed_json
from serape.independence.outcomes import Tally
from serape.knowledge import Knowledge
from serape.questions.deciding import Weighed
from serape.questions.query import Query
from serape.search.associations import DecidingTest
from serape.wording import setting

FORMAT = "serape-neighbourhoods-1"
_WRITE_EVERY = 1.0  # seconds
_MAX_BLOCK = 1 << 26  # bytes that are fetched from a cluster at once


class Checkpoint:
    """The neighbourhoods of a query that a file keeps."""

    def __init__(self, path: Path, query: Query, knowledge: Knowledge | None = None) -> None:
        self.path = path
        self.kept: dict[int, tuple[tuple[int, ...], Tally, dict[int, Weighed], list[str]]] = {}
        """The neighbourhoods in the file by target: parents and children, tests, what counts for each, and notes."""
        self.counted: set[str] = set()
        """The shared steps whose tests are among those of the neighbourhoods."""
        self.common: Tally | None = None
        """The tests that belong to no single target, if the file has them."""
        self.steps: dict[int, tuple[tuple[int, ...], Tally]] = {}
        """The steps in the file, by target: the set that was found, and the tests for it."""
        self._names = query.source.variables
        self._lock = threading.Lock()
        self._file: FileIO | None = None
        self._pending: list[bytes] = []
        self._tried = -math.inf
        self._failure: OSError | None = None
        header = _header(query, knowledge)
        lines = self._lines()
        if lines:
            self._check(lines[0], header)
            self._read(lines[1:])
        try:
            atomic_write(path, "".join(json.dumps(line) + "\n" for line in [header, *lines[1:]]))
        except DataError as error:
            raise OptionError(f"the checkpoint {error}") from None

    def add(
        self,
        target: int,
        neighbours: tuple[int, ...],
        tally: Tally,
        weighed: Mapping[int, Weighed],
        notes: Sequence[str],
        steps: Sequence[str],
    ) -> None:
        """Write one neighbourhood to the file, with the shared steps whose tests are among its own."""
        entry = self._entry("target", target, neighbours, tally) | {"notes": list(notes), "steps": list(steps)}
        if weighed:
            entry["log_p"] = [weighed[x].log_p for x in neighbours]
            entry["deciding"] = [self._written(weighed[x].test) for x in neighbours]
        self._write(entry)

    def add_step(self, target: int, members: tuple[int, ...], tally: Tally) -> None:
        """Write the step about one target to the file."""
        self._write(self._entry("step", target, members, tally))

    def add_common(self, tally: Tally) -> None:
        """Write the tests that belong to no single target to the file."""
        self.common = tally
        self._write({"common": True, "tests": tally.tests_by_size, "skipped": tally.skipped_by_size})

    def close(self) -> list[str]:
        """Write what is left; return a note if that is not possible."""
        with self._lock:
            self._flush()
            if self._file is not None:
                self._file.close()
                self._file = None
            if not self._pending:
                return []
            lines = b"".join(self._pending).count(b"\n")
            why = "" if self._failure is None else f" ({self._failure.strerror or self._failure})"
            return [f"{lines:,} lines could not be written to the checkpoint {self.path}{why}; make room on the disk"]

    def _entry(self, kind: str, target: int, members: tuple[int, ...], tally: Tally) -> dict[str, Any]:
        return {
            kind: self._names[target],
            "neighbours": [self._names[x] for x in members],
            "tests": tally.tests_by_size,
            "skipped": tally.skipped_by_size,
        }

    def _written(self, test: DecidingTest | None) -> list[Any] | None:
        if test is None or not test.reliable:
            return None
        return [test.log_p, test.statistic, test.dof, [self._names[z] for z in test.given]]

    def _write(self, entry: dict[str, Any]) -> None:
        with self._lock:
            self._pending.append(json.dumps(entry).encode() + b"\n")
            if time.monotonic() - self._tried > _WRITE_EVERY:
                self._flush()
                self._tried = time.monotonic()

    def _flush(self) -> None:
        """Write as much as there is room for; the search is worth more than the file, and goes on."""
        text = b"".join(self._pending)
        try:
            while text:
                self._file = self._file or FileIO(self.path, "a")
                text = text[self._file.write(text) :]
        except OSError as error:
            self._failure = error
        self._pending = [text] if text else []

    def _lines(self) -> list[Any]:
        try:
            texts = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"the checkpoint {self.path} cannot be read: {error}") from None
        lines = []
        for k, text in enumerate(texts):
            try:
                lines.append(parsed_json(text))
            except ValueError:
                if k == 0:
                    raise OptionError(f"{self.path} is not a checkpoint of serape; choose another file") from None
                if k < len(texts) - 1:
                    raise DataError(f"line {k + 1} of the checkpoint {self.path} is damaged; delete the file") from None
        return lines

    def _check(self, found: Any, header: dict[str, Any]) -> None:
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise OptionError(f"{self.path} is not a checkpoint of serape; choose another file")
        for key, wanted in json.loads(json.dumps(header)).items():
            if found.get(key) != wanted:
                what = "other data" if key == "data" else f"{key} {found.get(key)!r}, not {wanted!r}"
                raise OptionError(
                    f"the checkpoint {self.path} belongs to a run with {what}; choose another file, or delete this one"
                )

    def _read(self, lines: list[Any]) -> None:
        index = {name: k for k, name in enumerate(self._names)}
        try:
            for line in lines:
                tally = Tally()
                for size, count in line["tests"].items():
                    tally.add(int(size), int(count), 0)
                for size, count in line["skipped"].items():
                    tally.add(int(size), 0, int(count))
                if "common" in line:
                    self.common = tally
                    continue
                neighbours = tuple(index[name] for name in line["neighbours"])
                if "step" in line:
                    self.steps[index[line["step"]]] = neighbours, tally
                    continue
                weighed = {
                    x: Weighed(float(log_p), _read_test(test, index))
                    for x, log_p, test in zip(neighbours, line.get("log_p", ()), line.get("deciding", ()), strict=False)
                }
                notes = [str(note) for note in line.get("notes", ())]
                self.counted.update(str(step) for step in line.get("steps", ()))
                self.kept.setdefault(index[line["target"]], (neighbours, tally, weighed, notes))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise DataError(f"the checkpoint {self.path} is damaged; delete the file") from None


def _read_test(written: Any, index: Mapping[str, int]) -> DecidingTest | None:
    if written is None:
        return None
    log_p, statistic, dof, given = written
    return DecidingTest(float(log_p), float(statistic), float(dof), True, None, tuple(index[z] for z in given))


def _header(query: Query, knowledge: Knowledge | None) -> dict[str, Any]:
    source = query.source
    if not isinstance(getattr(source, "table", None), Table):
        raise OptionError(
            f"a checkpoint needs a test on a table, and {source.name!r} is not; leave out {setting('checkpoint')}"
        )
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(list(source.variables)).encode())
    table = getattr(source, "table", None)
    if table is not None:
        for block in _blocks(table):
            for k in range(len(block.names)):
                digest.update(str(block.levels(k)).encode())
                digest.update((block.numbers(k) if block.levels(k) == 0 else block.codes(k)).tobytes())
                if k in block.missing:
                    digest.update(block.missing[k].tobytes())
        if table.weights is not None:
            digest.update(table.weights.kind.encode() + table.weights.values.tobytes())
    return {
        "format": FORMAT,
        "data": digest.hexdigest(),
        "algorithm": _algorithm_key(query),
        "options": {name: repr(value) for name, value in query.options.items()},
        "test": source.name,
        "dof": getattr(source, "dof", None),
        "reliability": getattr(source, "reliability", None),
        "alpha": query.alpha,
        "max_conditioning": query.max_conditioning,
        "random_state": repr(query.random_state),
        "knowledge": None if knowledge is None else knowledge.to_dict(),
        **({} if query.fdr is None else {"fdr": "bounded"}),
    }


def _blocks(table: Table) -> Iterator[Table]:
    """Return the table; of one on a cluster some columns at a time, so that few rounds fetch them."""
    if table.remote is None:
        yield table
        return
    size = max(1, _MAX_BLOCK // (8 * table.rows))
    for first in range(0, len(table.names), size):
        yield table.part(range(first, min(first + size, len(table.names))))


def _algorithm_key(query: Query) -> str:
    """Return the name of the algorithm; for a caller's own function, its module and a digest of its code."""
    if query.algorithm.family != "custom":
        return query.algorithm.name
    code = getattr(query.algorithm.run, "__code__", None)
    if code is None:
        raise OptionError(
            f"a checkpoint needs an algorithm that is a name or a function, and {query.algorithm.name!r} is neither; "
            f"leave out {setting('checkpoint')}"
        )
    content = repr((code.co_code, code.co_names, [c for c in code.co_consts if isinstance(c, str | int | float)]))
    digest = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return f"{query.algorithm.run.__module__}.{code.co_qualname} {digest}"
