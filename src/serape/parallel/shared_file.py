"""An object that several processes read: pickled once into a temporary file, in which its arrays stay.

A process that reads the file unpickles the object once and maps its arrays, so that all processes of a machine share
one copy of them. The file is in memory where the system has a folder for that. A second, empty file says that the
object is wanted: on Windows, a file that is mapped cannot be deleted.
"""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from serape.errors import DataError
from serape.wording import setting

_SMALL = 4096  # bytes: smaller arrays are pickled with the rest
_ALIGNMENT = 64
_IN_MEMORY = Path("/dev/shm")  # as joblib


class SharedFile:
    """A file with a pickled object, which whoever made it has to delete."""

    def __init__(self, value: Any) -> None:
        import cloudpickle

        buffers: list[pickle.PickleBuffer] = []

        def stays_inside(buffer: pickle.PickleBuffer) -> bool:
            if buffer.raw().nbytes < _SMALL:
                return True
            buffers.append(buffer)
            return False

        content = cloudpickle.dumps(value, protocol=5, buffer_callback=stays_inside)
        views = [memoryview(content), *(buffer.raw() for buffer in buffers)]
        sizes = np.array([len(views), *(view.nbytes for view in views)], np.int64)
        starts = _starts(sizes[1:])
        self._folder = _new_folder(starts[-1] + views[-1].nbytes)
        self._path = self._folder / "shared"
        self.path = str(self._path)
        try:
            _wanted(self.path).touch()
            with self._path.open("wb") as file:
                file.write(sizes.tobytes())
                for start, view in zip(starts, views, strict=True):
                    file.seek(start)
                    file.write(view)
        except OSError as error:
            self.delete()
            raise _no_room(self._folder.parent, error) from None

    def delete(self) -> None:
        """Delete the file; processes that have it keep it until they open another.

        Where it cannot be deleted meanwhile, it is when the workers end.
        """
        _wanted(self.path).unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)
        if not self._folder.exists():
            _tracker().unregister(str(self._folder), "folder")


def is_wanted(path: str) -> bool:
    """Return whether the object in a shared file is still wanted by the process that made the file."""
    return _wanted(path).exists()


def read_shared(path: str) -> Any:
    """Return the object in a shared file; its arrays are mapped and cannot be written to."""
    with Path(path).open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    count = int(np.frombuffer(content, np.int64, 1)[0])
    sizes = np.frombuffer(content, np.int64, count, offset=8)
    views = [content[start : start + size] for start, size in zip(_starts(sizes), sizes.tolist(), strict=True)]
    return pickle.loads(views[0], buffers=views[1:])  # written by our own process


def _wanted(path: str) -> Path:
    return Path(path).with_name("wanted")


def _starts(sizes: np.ndarray[Any, np.dtype[np.int64]]) -> list[int]:
    """Return where the parts of a file start, after the number of parts and their sizes."""
    starts, at = [], 8 * (1 + len(sizes))
    for size in sizes.tolist():
        at = -(-at // _ALIGNMENT) * _ALIGNMENT
        starts.append(at)
        at += size
    return starts


def _new_folder(size: int) -> Path:
    """Make a folder for a file of this size; if this process is killed, it is deleted when the workers end."""
    asked = os.environ.get("JOBLIB_TEMP_FOLDER")
    in_memory = _IN_MEMORY.is_dir() and os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > 2 * size
    parent = Path(asked or (_IN_MEMORY if in_memory else tempfile.gettempdir()))
    folder = parent / f"serape-{uuid.uuid4().hex}"
    _tracker().register(str(folder), "folder")
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        _tracker().unregister(str(folder), "folder")
        raise _no_room(parent, error) from None
    return folder


def _no_room(folder: Path, error: OSError) -> DataError:
    return DataError(
        f"the data cannot be given to other processes, because {folder} cannot be written to ({error.strerror}); name "
        f"another folder in JOBLIB_TEMP_FOLDER, or use {setting('n_jobs', 1)}"
    )


def _tracker() -> Any:
    from joblib.externals.loky.backend import resource_tracker

    return resource_tracker
