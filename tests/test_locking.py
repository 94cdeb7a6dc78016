"""A locked file belongs to one process, or one run in a process, until it is closed or the process ends."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from serape import locking
from serape.locking import InUse, LockedFile


def test_a_file_is_made_read_appended_to_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    file = LockedFile(path)
    assert path.read_bytes() == b""
    assert file.read() == b""
    assert file.append(b"first, ") == 7
    assert file.append(bytearray(b"second\r\n\x1a")) == 9
    assert file.read() == file.read() == path.read_bytes() == b"first, second\r\n\x1a"
    file.cut(5)
    assert file.append(b".") == 1
    assert file.read() == path.read_bytes() == b"first."
    file.close()


def test_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"before")
    file = LockedFile(path)
    file.append(b", after")  # at the end, though nothing was read
    assert file.read() == b"before, after"
    file.close()
    assert path.read_bytes() == b"before, after"


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files")
def test_others_may_use_a_new_file_as_far_as_they_may_use_any(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        LockedFile(tmp_path / "kept").close()
        assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o640
        os.umask(0)
        LockedFile(tmp_path / "other").close()
        assert (tmp_path / "other").stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    file = LockedFile(path)
    assert file.is_locked
    with pytest.raises(InUse):
        LockedFile(path)
    file.append(b"mine")  # the refused one has not ended the lock
    with pytest.raises(InUse):
        LockedFile(path)
    LockedFile(tmp_path / "other").close()
    file.close()
    again = LockedFile(path)
    assert again.read() == b"mine"
    again.close()


TRY = """
import sys
from pathlib import Path
from serape.locking import InUse, LockedFile
try:
    LockedFile(Path(sys.argv[1]))
except InUse:
    print("in use")
else:
    print("free")
"""


def told_by_another_process(path: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", TRY, str(path)], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_other_processes_see_the_lock(tmp_path: Path) -> None:
    file = LockedFile(tmp_path / "kept")
    assert told_by_another_process(tmp_path / "kept") == "in use"
    file.close()
    assert told_by_another_process(tmp_path / "kept") == "free"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_closes_its_copies(tmp_path: Path) -> None:
    file = LockedFile(tmp_path / "kept")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            file.append(b"from the child")
        except ValueError:  # it is closed there
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert file.read() == b""
    assert file.append(b"from the parent") == 15
    file.close()


def test_closing_all_files_ends_their_locks(tmp_path: Path) -> None:
    """As a forked process does, which holds the same locks."""
    paths = [tmp_path / "one", tmp_path / "two"]
    files = [LockedFile(path) for path in paths]
    locking._close_all()
    for path, file in zip(paths, files, strict=True):
        with pytest.raises(ValueError, match="closed file"):
            file.read()
        LockedFile(path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="locks are others there")
class TestFileSystems:
    def test_some_know_no_locks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def unknown(*_: int) -> None:
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr("serape.locking.fcntl.flock", unknown)
        file = LockedFile(tmp_path / "kept")
        assert file.is_locked is False
        assert file.append(b"all the same") == 12
        assert file.read() == b"all the same"
        file.close()

    @pytest.mark.parametrize("error", [InUse, KeyboardInterrupt])
    def test_a_file_that_is_not_locked_is_closed(
        self, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        handles: list[int] = []

        def fail(handle: int) -> bool:
            handles.append(handle)
            raise error

        monkeypatch.setattr(locking, "_lock", fail)
        with pytest.raises(error) as raised:
            LockedFile(tmp_path / "kept")
        with pytest.raises(OSError, match="Bad file descriptor"):  # closed, though the traceback still holds the object
            os.fstat(handles[0])
        assert raised.value is not None
