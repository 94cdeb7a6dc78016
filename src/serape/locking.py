"""Locks of files: one process, or one run in a process, uses a file at a time. A lock ends with its process."""

from __future__ import annotations

import os
import sys
import weakref
from io import FileIO
from pathlib import Path

_FAR = 1 << 62
"""Windows locks bytes, which nobody else can read then: one that no file has."""


class InUse(Exception):  # noqa: N818 (a state, not an error)
    """Somebody else has locked the file."""


class LockedFile:
    """A file that is open to read and to append to, and locked; it is made if it is not there."""

    def __init__(self, path: Path) -> None:
        self._file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _BINARY, 0o666), "r+")
        self.is_locked = True
        """Whether the file system knows locks."""
        try:
            self.is_locked = _lock(self._file.fileno())
        except BaseException:
            self._file.close()
            raise
        _open.add(self)

    def read(self) -> bytes:
        """Return the content."""
        self._file.seek(0)
        return self._file.readall()

    def cut(self, size: int) -> None:
        """Leave out what comes after so many bytes."""
        self._file.truncate(size)

    def append(self, content: bytes | bytearray) -> int:
        """Write at the end; return how many bytes were written."""
        return self._file.write(content)

    def close(self) -> None:
        """Close the file, which ends the lock."""
        self._file.close()


_BINARY = getattr(os, "O_BINARY", 0)
_open: weakref.WeakSet[LockedFile] = weakref.WeakSet()


def _close_all() -> None:
    """Close the files in a forked process: otherwise it would keep the locks when its parent is gone."""
    for file in list(_open):
        file.close()


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            raise InUse from None
        return True

else:
    import fcntl

    os.register_at_fork(after_in_child=_close_all)

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse from None
        except OSError:  # such as some that are mounted over a network
            return False
        return True
