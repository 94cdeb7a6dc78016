"""Checkpoints: a run goes on where it was stopped."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import serape
from oracles import undirected_pairs
from serape.independence import dependent_pairs
from serape.parallel import marginals
from serape.questions import checkpoint


@contextlib.contextmanager
def room_for(size: int) -> Iterator[Callable[[], None]]:
    """No file can grow beyond so many bytes, as on a full disk, until the function is called."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    written = sys.dont_write_bytecode

    def make_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = written

    sys.dont_write_bytecode = True  # Python would keep a part of a module that is first imported here
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield make_room
    finally:
        make_room()


def content_of(found: serape.Structure) -> dict[str, Any]:
    content = found.to_dict()
    content.pop("seconds")
    return content


def stopping(after: int) -> Callable[[serape.Progress], None]:
    count = itertools.count(1)

    def stop(_: serape.Progress) -> None:
        if next(count) == after:
            raise KeyboardInterrupt

    return stop


class TestCheckpoint:
    def test_a_full_disk_does_not_end_the_run(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc")
        path = tmp_path / "kept.jsonl"
        with room_for(2000):
            found = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert (found.edges, found.tests) == (whole.edges, whole.tests)
        assert any(
            f"lines could not be written to the checkpoint {path} (File too large); make room" in note
            for note in found.notes
        )
        with (
            room_for(100),
            pytest.raises(serape.OptionError, match="cannot be read and written: .*; choose another file"),
        ):
            serape.skeleton(table, "hiton-pc", checkpoint=tmp_path / "other.jsonl")
        assert (tmp_path / "other.jsonl").read_bytes() == b""
        (tmp_path / "other.jsonl").unlink()
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert (again.edges, again.tests) == (whole.edges, whole.tests)
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]

    def test_lines_are_written_when_there_is_room_again(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        path = tmp_path / "kept.jsonl"
        seen: list[str] = []

        def watch(now: serape.Progress) -> None:
            seen.append(now.target)
            if len(seen) == 15:
                make_room()

        with room_for(2000) as make_room:
            found = serape.skeleton(table, "hiton-pc", checkpoint=path, progress=watch)
        assert not any("checkpoint" in note for note in found.notes)
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert again.edges == found.edges
        assert path.read_text().count('"target"') == len(table.names)

    def test_goes_on_where_it_was_stopped(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc")
        path = tmp_path / "kept.jsonl"
        seen: list[str] = []

        def stop(now: serape.Progress) -> None:
            seen.append(now.target)
            if len(seen) == 7:
                raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.skeleton(table, "hiton-pc", checkpoint=path, progress=stop)
        assert not stopped.value.found.complete
        lines = path.read_text().splitlines()
        assert len(lines) == 2 + 7  # the settings, the tests that all targets share, and the targets
        path.write_text("\n".join(lines) + '\n{"target": "BirthA')  # cut off in the middle of a line
        seen.clear()
        found = serape.skeleton(table, "hiton-pc", checkpoint=path, progress=lambda now: seen.append(now.target))
        assert len(seen) == len(table.names) - 7
        assert undirected_pairs(found.graph) == undirected_pairs(whole.graph)
        assert content_of(found) == content_of(whole)
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert again.edges == found.edges

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_keeps_steps_of_blocks(self, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        table = serape.load_network("alarm").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc", alpha=0.01)
        monkeypatch.setattr(marginals, "MAX_SHARED", 1)
        monkeypatch.setattr(dependent_pairs, "_MAX_PAIRS", 100)
        path = tmp_path / "kept.jsonl"
        blocks = dependent_pairs.DependentBlocks.__iter__

        def stop(self: Any) -> Any:
            for number, block in enumerate(blocks(self)):
                if number == 2:
                    raise KeyboardInterrupt
                yield block

        with monkeypatch.context() as patch:
            patch.setattr(dependent_pairs.DependentBlocks, "__iter__", stop)
            with pytest.raises(serape.Interrupted) as stopped:
                serape.skeleton(table, "hiton-pc", alpha=0.01, n_jobs=jobs, checkpoint=path)
        assert stopped.value.found.edges == ()
        lines = path.read_text().splitlines()
        kept = sum('{"step": ' in line for line in lines)
        assert 0 < kept == len(lines) - 2 < len(table.varying)
        asked: list[int] = []

        def noted(self: Any) -> Iterator[Any]:
            for block in blocks(self):
                asked.extend(block)
                yield block

        monkeypatch.setattr(dependent_pairs.DependentBlocks, "__iter__", noted)
        found = serape.skeleton(table, "hiton-pc", alpha=0.01, n_jobs=jobs, checkpoint=path)
        assert len(asked) == len(table.varying) - kept
        assert list(found.evidence) == list(whole.evidence)
        assert found.tests_by_size == whole.tests_by_size
        again = serape.skeleton(table, "hiton-pc", alpha=0.01, n_jobs=jobs, checkpoint=path)
        assert list(again.evidence) == list(whole.evidence)

    def test_refuses_another_run(self, tmp_path: Path) -> None:
        path = tmp_path / "kept.jsonl"
        network = serape.load_network("asia")
        serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match="other data"):
            serape.skeleton(network.sample(300, 2), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match=r"alpha 0.01, not 0.05"):
            serape.skeleton(network.sample(300, 1), "mmpc", alpha=0.05, checkpoint=path)
        path.write_text("hello\nworld\n")
        with pytest.raises(serape.OptionError, match="not a checkpoint"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        path.write_text("[]\n")
        with pytest.raises(serape.OptionError, match="not a checkpoint"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match="cannot be read and written: .*; choose another file"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=tmp_path / "no" / "such" / "folder")
        with pytest.raises(serape.OptionError, match="is not a file that can be kept"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=tmp_path)
        path.write_text('{"format": "serape-neighbourhoods-1", "data": "00"}\n')
        with pytest.raises(
            serape.OptionError, match="older version of serape, without checksums; delete it, or choose"
        ):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)

    def test_of_own_learners_and_tests(self, tmp_path: Path) -> None:
        table = serape.load_network("asia").sample(300, 1)
        path = tmp_path / "kept.jsonl"

        def make(size: int) -> Any:
            if size == 0:

                def mine(search: serape.Search, target: int) -> list[int]:
                    del search, target
                    return []
            else:

                def mine(search: serape.Search, target: int) -> list[int]:
                    return search.dependents(target, search.candidates(target))

            return mine

        serape.skeleton(table, make(1), checkpoint=path)
        assert serape.skeleton(table, make(1), checkpoint=path).graph.number_of_edges() > 0
        with pytest.raises(serape.OptionError, match="belongs to a run with algorithm"):
            serape.skeleton(table, make(0), checkpoint=path)
        with pytest.raises(serape.OptionError, match="needs a test on a table"):
            serape.skeleton(serape.DSeparation(nx.DiGraph([("a", "b")])), "mmpc", checkpoint=tmp_path / "other")

    @pytest.mark.parametrize("fdr", [None, 0.2])
    @pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "hpc", "pcmb", "ipc-mb", "inter-iapc"])
    def test_every_field_is_that_of_a_run_that_was_not_stopped(
        self, algorithm: str, fdr: float | None, tmp_path: Path
    ) -> None:
        table = serape.load_network("child").sample(300, 1)
        whole = content_of(serape.skeleton(table, algorithm, alpha=0.02, fdr=fdr))
        for number, (after, first, then) in enumerate([(1, 1, 1), (7, 1, 1), (15, 2, 1), (7, 1, 2), (19, 1, 1)]):
            path = tmp_path / str(number)
            with contextlib.suppress(serape.Interrupted):
                serape.skeleton(table, algorithm, alpha=0.02, fdr=fdr, checkpoint=path, n_jobs=first,
                                progress=stopping(after))  # fmt: skip
            for _ in range(2):  # what is left, and nothing
                found = serape.skeleton(table, algorithm, alpha=0.02, fdr=fdr, checkpoint=path, n_jobs=then)
                assert content_of(found) == whole

    @pytest.mark.parametrize("algorithm", ["mmhc", "h2pc"])
    def test_every_field_of_networks(self, algorithm: str, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(300, 1)
        whole = content_of(serape.network(table, algorithm))
        with contextlib.suppress(serape.Interrupted):
            serape.network(table, algorithm, checkpoint=tmp_path / "kept", progress=stopping(9))
        assert content_of(serape.network(table, algorithm, checkpoint=tmp_path / "kept")) == whole


ASK = """
import itertools, sys, serape
count, after = itertools.count(1), int(sys.argv[2])
def watch(now):
    if next(count) == after:
        print("there", flush=True)
        sys.stdin.readline()
        raise KeyboardInterrupt
try:
    table = serape.load_network("child").sample(300, 1)
    serape.skeleton(table, "hiton-pc", alpha=0.02, fdr=None, checkpoint=sys.argv[1], progress=watch)
except serape.Interrupted:
    print("stopped", flush=True)
"""


@contextlib.contextmanager
def another_process(path: Path, after: int, hash_seed: str) -> Iterator[subprocess.Popen[str]]:
    """A process that uses a checkpoint, and stands still after some targets."""
    command = [sys.executable, "-c", ASK, str(path), str(after)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        try:
            yield process
        finally:
            process.kill()


class TestOtherProcesses:
    def asked(self, path: Path | None, **more: Any) -> serape.Structure:
        table = serape.load_network("child").sample(300, 1)
        return serape.skeleton(table, "hiton-pc", alpha=0.02, fdr=None, checkpoint=path, **more)

    def test_every_test_counts_once(self, tmp_path: Path) -> None:
        path, whole = tmp_path / "kept", content_of(self.asked(None))
        for after, hash_seed in ((6, "1"), (7, "2")):
            with another_process(path, after, hash_seed) as process:
                out, _ = process.communicate("\n")
            assert out == "stopped\n"
        assert path.read_text().count('"target"') == 13
        assert content_of(self.asked(path)) == whole

    def test_a_killed_process_leaves_its_lines_and_no_lock(self, tmp_path: Path) -> None:
        path, whole = tmp_path / "kept", content_of(self.asked(None))
        with another_process(path, 9, "1") as process:
            with pytest.raises(serape.OptionError, match="is in use by another run; wait until that has ended"):
                self.asked(path)
            process.kill()
            process.wait()
            assert content_of(self.asked(path)) == whole


def small() -> serape.Table:
    return serape.load_network("child").sample(200, 1)


class TestLock:
    def test_two_runs_of_one_process(self, tmp_path: Path) -> None:
        table, told = small(), []

        def second(now: serape.Progress) -> None:
            del now
            with pytest.raises(serape.OptionError, match="is in use by another run") as refused:
                serape.skeleton(table, "hiton-pc", checkpoint=tmp_path / "kept")
            told.append(str(refused.value))

        found = serape.skeleton(table, "hiton-pc", checkpoint=tmp_path / "kept", progress=second)
        assert len(set(told)) == 1
        assert content_of(found) == content_of(serape.skeleton(table, "hiton-pc"))
        assert [entry.name for entry in tmp_path.iterdir()] == ["kept"]

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_ends_with_the_run_however_it_ends(self, jobs: int, tmp_path: Path) -> None:
        table, path = small(), tmp_path / "kept"
        kept = []
        for error in (KeyboardInterrupt, ValueError):

            def stop(now: serape.Progress, error: type[BaseException] = error) -> None:
                del now
                raise error

            with pytest.raises((serape.Interrupted, ValueError)) as ended:
                serape.skeleton(table, "hiton-pc", checkpoint=path, progress=stop, n_jobs=jobs)
            kept.append(ended)  # with all that its frames refer to
        assert serape.skeleton(table, "hiton-pc", checkpoint=path, n_jobs=jobs).complete

    def test_a_forked_process_does_not_hold_it(self, tmp_path: Path) -> None:
        if not hasattr(os, "fork"):
            pytest.skip("no processes are forked here")
        table, path = small(), tmp_path / "kept"
        goes_on, gone = os.pipe(), threading.Event()

        def fork(now: serape.Progress) -> None:
            del now
            if not gone.is_set():
                gone.set()
                if os.fork() == 0:
                    os.read(goes_on[0], 1)  # lives on while the run is over
                    os._exit(0)

        try:
            serape.skeleton(table, "hiton-pc", checkpoint=path, progress=fork)
            assert serape.skeleton(table, "hiton-pc", checkpoint=path).complete
        finally:
            os.write(goes_on[1], b"x")
            os.wait()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[bytes], dict[str, Any]]:
    """The lines of a checkpoint, and the answer."""
    path = tmp_path_factory.mktemp("damage") / "kept"
    found = serape.skeleton(small(), "hiton-pc", checkpoint=path)
    return path.read_bytes().splitlines(keepends=True), content_of(found)


class TestDamage:
    def again(self, path: Path) -> tuple[dict[str, Any], list[str]]:
        """Go on; return what was found, and the notes about damage."""
        found = content_of(serape.skeleton(small(), "hiton-pc", checkpoint=path))
        notes = [note for note in found["notes"] if "damaged" in note]
        return found | {"notes": [note for note in found["notes"] if note not in notes]}, notes

    @pytest.mark.parametrize("number", [1, 2, 9, 20])
    @pytest.mark.parametrize("how", ["a character", "half", "gone bytes", "another question"])
    def test_a_damaged_line(
        self, number: int, how: str, whole: tuple[list[bytes], dict[str, Any]], tmp_path: Path
    ) -> None:
        lines, expected = list(whole[0]), whole[1]
        line = lines[number]
        at = line.index(b', "checksum"') - 3
        changed = {
            "a character": line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :],
            "half": line[: len(line) // 2] + b"\n",
            "gone bytes": b"\xff\x00" + line[2:],
            "another question": self.of_another_question(tmp_path, number),
        }
        lines[number] = changed[how]
        (tmp_path / "kept").write_bytes(b"".join(lines))
        found, notes = self.again(tmp_path / "kept")
        assert found == expected
        after = len(lines) - 1 - number
        left = f"it and the {after} after it were" if after else "it was"
        assert notes == [
            f"line {number + 1} of the checkpoint {tmp_path / 'kept'} is damaged; {left} left out and found again"
        ]
        assert self.again(tmp_path / "kept") == (expected, [])

    def of_another_question(self, folder: Path, number: int) -> bytes:
        serape.skeleton(small(), "hiton-pc", alpha=0.02, fdr=0.1, checkpoint=folder / "other")
        return (folder / "other").read_bytes().splitlines(keepends=True)[number]

    def test_lines_in_another_order_or_twice(self, whole: tuple[list[bytes], dict[str, Any]], tmp_path: Path) -> None:
        header, *rest = whole[0]
        for lines, n_notes in (
            ([header, *rest, rest[0]], 1),
            ([header, *rest, rest[3]], 1),
            ([header, *rest[::-1]], 0),
        ):
            (tmp_path / "kept").write_bytes(b"".join(lines))
            found, notes = self.again(tmp_path / "kept")
            assert found == whole[1]
            assert len(notes) == n_notes

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("tests", {"1": -5}), ("tests", {"1": 10**30}), ("tests", {"-1": 5}), ("tests", {"40": 5}),
            ("tests", {"4": 5}), ("tests", {"1.5": 5}), ("tests", {"1": 5.0}), ("tests", {"1": True}), ("tests", [1]),
            ("tests", {"01": 5}), ("skipped", {"19": 1}), ("skipped", {"1": None}), ("skipped", None),
            ("neighbours", ["@target"]), ("neighbours", ["nobody"]), ("neighbours", ["Disease", "Disease"]),
            ("neighbours", 3), ("neighbours", [0]), ("log_p", []), ("log_p", [0.5] * 20), ("log_p", ["x"]),
            ("log_p", "@nan"), ("notes", [3]), ("notes", "x"), ("steps", [3]), ("steps", None), ("target", "nobody"),
            ("target", None), ("@gone", "steps"), ("@gone", "tests"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_is_not_believed(
        self, name: str, value: Any, whole: tuple[list[bytes], dict[str, Any]], tmp_path: Path
    ) -> None:
        lines, expected = list(whole[0]), whole[1]
        number = next(k for k, line in enumerate(lines) if b'"Disease"], "tests"' in line or k == len(lines) - 1)
        entry = json.loads(lines[number])
        del entry["checksum"]
        if name == "@gone":
            del entry[value]
        else:
            special = {"@nan": [float("nan")] * len(entry["log_p"])}
            entry[name] = special.get(value, value) if isinstance(value, str) else value
            if value == ["@target"]:
                entry[name] = [entry["target"]]
                entry["log_p"] = [-9.0]
        lines[number] = forged(lines[0], entry)
        (tmp_path / "kept").write_bytes(b"".join(lines))
        found, notes = self.again(tmp_path / "kept")
        assert found == expected
        assert len(notes) == 1

    def test_a_forged_line_that_can_be_is_believed(
        self, whole: tuple[list[bytes], dict[str, Any]], tmp_path: Path
    ) -> None:
        lines = list(whole[0])
        entry = json.loads(lines[2])
        del entry["checksum"]
        lines[2] = forged(lines[0], entry | {"tests": {"1": 123456}})
        (tmp_path / "kept").write_bytes(b"".join(lines))
        assert self.again(tmp_path / "kept")[0]["tests"] > 123456

    def test_the_first_line(self, whole: tuple[list[bytes], dict[str, Any]], tmp_path: Path) -> None:
        lines, path = list(whole[0]), tmp_path / "kept"
        path.write_bytes(lines[0][:-30])  # ended while it was being written
        assert self.again(path) == (whole[1], [])
        header = json.loads(lines[0])
        path.write_bytes(b"".join([lines[0].replace(header["checksum"].encode(), b"0" * 16), *lines[1:]]))
        with pytest.raises(serape.OptionError, match="the first line of the checkpoint .* is damaged; delete it"):
            self.again(path)


def forged(first: bytes, entry: dict[str, Any]) -> bytes:
    """Return a line with a right checksum."""
    header = json.loads(first)
    del header["checksum"]
    key = checkpoint.key_of(header)
    return checkpoint.written_line(entry, key)
