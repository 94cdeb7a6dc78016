"""A file that keeps the neighbourhoods found so far, so that a long run can continue where it stopped.

Each line is a JSON text: the first holds the identity of the question, each further line a target with its
neighbourhood, or the step about a target from which neighbourhoods are made. Lines are appended about once a second, as
they are found. Where there is no room on the disk, lines are kept until there is.

Each line ends with a checksum of its text and of the question. A line that is damaged or says what cannot be is not
believed, nor are the lines after it, whose tests may count on it: all of them are found again, and a note says so. A
last line without an end was being written when the run ended. One run at a time uses the file.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from serape.canonical import Unidentified
from serape.errors import OptionError
from serape.files import parsed_json
from serape.independence import table_of
from serape.independence.outcomes import Tally
from serape.locking import InUse, LockedFile
from serape.questions.deciding import Weighed
from serape.questions.identity import differences, identity
from serape.questions.neighbourhoods import KeptNeighbourhood
from serape.questions.query import Query
from serape.search.associations import Associations, DecidingTest
from serape.search.record import Record, Step
from serape.settings import RunSettings
from serape.wording import setting

FORMAT = "serape-neighbourhoods-2"
_OLDER = ("serape-neighbourhoods-1",)
_WRITE_EVERY = 1.0  # seconds
_MAX_COUNT = 1 << 53  # no run performs so many tests
_CHECKSUM = ', "checksum": "'


class Checkpoint:
    """The neighbourhoods of a query that a file keeps. It is locked until it is closed."""

    def __init__(self, path: Path, query: Query) -> None:
        self.path = path
        self.kept: dict[int, KeptNeighbourhood] = {}
        """The neighbourhoods that the file had when it was opened, by target."""
        self.counted: set[str] = set()
        """The shared steps whose tests are among those of the neighbourhoods."""
        self.common: Tally | None = None
        """The tests that belong to no single target, if the file had them."""
        self.steps: dict[int, Step[tuple[int, ...]]] = {}
        """The steps that the file had, by target."""
        self._names = query.source.variables
        self._largest = query.max_conditioning
        self._judged = query.fdr is not None
        self._index = {name: k for k, name in enumerate(self._names)}
        self._pending = bytearray()
        self._due = -math.inf
        self._notes: list[str] = []
        header = {"format": FORMAT, "question": _question(query)}
        self._key = key_of(header)
        self._file = self._opened(header)

    @property
    def tests(self) -> int:
        """The number of tests behind what the file has."""
        records = [*(kept.record for kept in self.kept.values()), *(step.record for step in self.steps.values())]
        return sum(record.tally.performed for record in records) + (0 if self.common is None else self.common.performed)

    def check_budget(self, settings: RunSettings) -> None:
        """Refuse a number of tests that what the file has exceeds already."""
        if settings.max_tests is not None and self.tests >= settings.max_tests:
            raise OptionError(
                f"the checkpoint {self.path} has the answers of {self.tests:,} tests, which count, so "
                f"{setting('max_tests', settings.max_tests)} leaves none; pass a larger number, or choose another file"
            )

    def add(self, target: int, found: KeptNeighbourhood) -> None:
        """Write one neighbourhood to the file, with the shared steps whose tests are among its own."""
        neighbours, record, weighed = found
        entry = self._entry("target", target, neighbours, record.tally)
        entry |= {"notes": record.notes, "steps": list(dict.fromkeys(record.steps))}
        if self._judged:
            entry["log_p"] = [weighed[x].log_p for x in neighbours]
            entry["deciding"] = [self._written(weighed[x].test) for x in neighbours]
        self._write(entry)

    def add_step(self, step: Step[tuple[int, ...]]) -> None:
        """Write the step about one target to the file."""
        entry = self._entry("step", step.target, step.value, step.record.tally)
        if step.record.associations is not None:
            weakest = step.record.associations.about(step.target).items()
            entry["weakest"] = {self._names[x]: [self._written(test), test.separated] for x, test in weakest}
        self._write(entry)

    def add_common(self, tally: Tally) -> None:
        """Write the tests that belong to no single target to the file."""
        self._write({"common": True, "tests": tally.tests_by_size, "skipped": tally.skipped_by_size})

    def close(self) -> list[str]:
        """Write what is left and release the file; return notes on what was not read or cannot be written."""
        try:
            self._flush()
        except OSError as error:
            lines = self._pending.count(b"\n")
            self._notes.append(
                f"{lines:,} lines could not be written to the checkpoint {self.path} ({error.strerror or error}); make "
                f"room on the disk"
            )
        finally:
            self._file.close()
        return self._notes

    # --- writing -------------------------------------------------------------------------------------------------

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
        return [test.log_p, test.statistic, test.dof, test.rows, [self._names[z] for z in test.given]]

    def _write(self, entry: dict[str, Any]) -> None:
        self._pending += written_line(entry, self._key)
        if time.monotonic() >= self._due:
            with suppress(OSError):  # the search is worth more than the file, and goes on
                self._flush()
            self._due = time.monotonic() + _WRITE_EVERY

    def _flush(self) -> None:
        """Write as much as there is room for."""
        while self._pending:
            del self._pending[: self._file.append(self._pending)]

    # --- reading -------------------------------------------------------------------------------------------------

    def _opened(self, header: dict[str, Any]) -> LockedFile:
        """Open and lock the file, and take over what it has."""
        if self.path.exists() and not self.path.is_file():
            raise OptionError(f"the checkpoint {self.path} is not a file that can be kept; choose another")
        try:
            file = LockedFile(self.path)
            try:
                self._take_over(file, header)
            except BaseException:
                file.close()
                raise
        except InUse:
            raise OptionError(
                f"the checkpoint {self.path} is in use by another run; wait until that has ended, or choose another "
                f"file"
            ) from None
        except OSError as error:
            raise OptionError(
                f"the checkpoint {self.path} cannot be read and written: {error.strerror or error}; choose another file"
            ) from None
        if not file.is_locked:
            self._notes.append(
                f"the file system of the checkpoint {self.path} has no locks; do not start a second run with it"
            )
        return file

    def _take_over(self, file: LockedFile, header: dict[str, Any]) -> None:
        """Read what the file has; begin it if it has nothing."""
        content = file.read()
        first = written_line(header, self._key)
        if first.startswith(content):  # empty, or ended within the first line
            file.cut(0)
            if file.append(first) < len(first):
                file.cut(0)
                raise OSError("there is no room")
            return
        if not content.startswith(first):
            raise self._refused(content.split(b"\n", 1)[0], header)
        lines = content[len(first) :].split(b"\n")
        whole = len(first)
        for number, line in enumerate(lines[:-1]):
            try:
                self._read(line)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
                after = len(lines) - 2 - number
                self._notes.append(
                    f"line {number + 2:,} of the checkpoint {self.path} is damaged; "
                    f"{f'it and the {after:,} after it were' if after else 'it was'} left out and found again"
                )
                break
            whole += len(line) + 1
        file.cut(whole)

    def _refused(self, line: bytes, header: dict[str, Any]) -> OptionError:
        """Return why a file with this first line belongs to no run of the question."""
        try:
            found = parsed_json(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            found = {}
        if found.get("format") in _OLDER:
            return OptionError(
                f"the checkpoint {self.path} was written by an older version of serape, without checksums; delete it, "
                f"or choose another file"
            )
        question = found.get("question")
        if found.get("format") != FORMAT or not isinstance(question, dict):
            return OptionError(f"{self.path} is not a checkpoint of serape; choose another file")
        told = differences(question, header["question"])
        if not told:
            return OptionError(f"the first line of the checkpoint {self.path} is damaged; delete it, or choose another")
        return OptionError(
            f"the checkpoint {self.path} belongs to a run with {told}; choose another file, or delete this one"
        )

    def _read(self, line: bytes) -> None:
        """Keep what a line says; raise one of several errors if it is not whole."""
        text, _, rest = line.decode("ascii").rpartition(_CHECKSUM)
        _require(rest == f'{_checksum(text, self._key)}"}}')
        self._believe(parsed_json(f"{text}}}"))

    def _believe(self, line: dict[str, Any]) -> None:
        """Keep what a line says; raise one of several errors if it cannot be."""
        tally = self._tally(line)
        if line.get("common") is True:
            _require(self.common is None)
            self.common = tally
            return
        kind = "step" if "step" in line else "target"
        target = self._index[line[kind]]
        neighbours = tuple(self._index[name] for name in line["neighbours"])
        _require(len({target, *neighbours}) == 1 + len(neighbours))
        if kind == "step":
            _require(target not in self.steps)
            weakest = Associations.of(target, self._weakest(line, target)) if self._judged else None
            self.steps[target] = Step(target, neighbours, Record(target, tally, associations=weakest))
            return
        _require(target not in self.kept)
        weighed = self._weighed(line, target, neighbours) if self._judged else {}
        notes, steps = line["notes"], line["steps"]
        _require(isinstance(notes, list) and isinstance(steps, list))
        _require(all(isinstance(text, str) for text in (*notes, *steps)))
        self.counted.update(steps)
        self.kept[target] = KeptNeighbourhood(neighbours, Record(target, tally, notes, steps=steps), weighed)

    def _weighed(self, line: dict[str, Any], target: int, neighbours: tuple[int, ...]) -> dict[int, Weighed]:
        """Return what counts for each neighbour."""
        log_p, deciding = line["log_p"], line["deciding"]
        _require(all(_is_log_p(value) for value in log_p))
        tests = [self._read_test(test, {target, x}) for x, test in zip(neighbours, deciding, strict=True)]
        return {x: Weighed(float(p), test) for x, p, test in zip(neighbours, log_p, tests, strict=True)}

    def _weakest(self, line: dict[str, Any], target: int) -> dict[int, DecidingTest]:
        """Return the weakest associations of a step."""
        found = {}
        for name, (written, separated) in line["weakest"].items():
            x = self._index[name]
            _require(type(separated) is bool)
            test = self._read_test(written, {target, x})
            if test is None:
                raise ValueError
            found[x] = test._replace(separated=separated)
        return found

    def _read_test(self, written: Any, pair: set[int]) -> DecidingTest | None:
        if written is None:
            return None
        log_p, statistic, dof, rows, given = written
        _require(_is_log_p(log_p) and _is_number(statistic) and _is_number(dof))
        _require(rows is None or _is_count(rows))
        at = tuple(self._index[z] for z in given)
        _require(len({*pair, *at}) == 2 + len(at))
        return DecidingTest(float(log_p), float(statistic), float(dof), True, rows, at)

    def _tally(self, line: dict[str, Any]) -> Tally:
        """Return the numbers of tests in a line: there are conditioning sets of these sizes, and numbers are counts."""
        tally = Tally()
        for name, counts in (("tests", tally.tests_by_size), ("skipped", tally.skipped_by_size)):
            for text, count in line[name].items():
                size = int(text)
                _require(str(size) == text and 0 <= size <= len(self._names) - 2)
                _require(_is_count(count))
                _require(name == "skipped" or self._largest is None or size <= self._largest)
                counts[size] = count
        return tally


def _question(query: Query) -> dict[str, Any]:
    """Return the identity of the question about neighbourhoods, on which the edges are judged afterwards."""
    if table_of(query.source) is None:
        raise OptionError(
            f"a checkpoint needs a test on a table, and {query.source.name!r} is not; leave out {setting('checkpoint')}"
        )
    try:
        found = identity(query)
    except Unidentified as reason:
        raise OptionError(
            f"a checkpoint needs a question that another run can recognise, but {reason}; leave out "
            f"{setting('checkpoint')}"
        ) from None
    found.pop("fdr_method")
    return found | {"fdr": None if query.fdr is None else "bounded"}


def key_of(header: Mapping[str, Any]) -> bytes:
    """Return what the checksums of the lines depend on besides their text: the question."""
    return hashlib.blake2b(json.dumps(header).encode()).digest()


def written_line(entry: Mapping[str, Any], key: bytes) -> bytes:
    """Return an entry as a line of the file."""
    text = json.dumps(entry)[:-1]
    return f'{text}{_CHECKSUM}{_checksum(text, key)}"}}\n'.encode()


def _checksum(text: str, key: bytes) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8, key=key).hexdigest()


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_log_p(value: Any) -> bool:
    return _is_number(value) and value <= 0


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MAX_COUNT


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError
