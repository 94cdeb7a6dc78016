"""Files are written completely or not at all, and what is no regular file is never replaced."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import serape
from serape.data.example import clinic
from serape.files import atomic_file, atomic_write, parsed_json


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    atomic_write(pipe, "text")
    reader.join(10)
    assert heard == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(serape.DataError, match="cannot be written: Is a directory"):
        atomic_write(tmp_path, "text")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_names_that_no_file_has(tmp_path: Path, name: str) -> None:
    with pytest.raises(serape.DataError, match="is no name that a file can have"):
        atomic_write(tmp_path / name, "text")


def test_what_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(serape.DataError, match=r"a name has the character '\\ud800', which is no text"):
        atomic_write(tmp_path / "file", "a\ud800b")
    assert list(tmp_path.iterdir()) == []


def test_long_names(tmp_path: Path) -> None:
    atomic_write(tmp_path / ("x" * 250), "text")
    assert (tmp_path / ("x" * 250)).read_text() == "text"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(serape.DataError, match="file cannot be written: No space left on device"), atomic_file(path):
        raise OSError(28, "No space left on device")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


WRITERS: dict[str, Callable[[Any, Path], object]] = {
    "json": lambda found, path: found.save(path),
    "html": lambda found, path: found.report(path),
    "png": lambda found, path: found.plot(path),
    "bif": lambda found, path: serape.write_bif(serape.load_network("cancer"), path),
    "srp": lambda found, path: serape.pack(clinic(50), path),
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk(kind: str, tmp_path: Path) -> None:
    if kind == "png":
        pytest.importorskip("matplotlib")
    full = tmp_path / f"full.{kind}"
    full.symlink_to("/dev/full")
    found = serape.markov_blanket(clinic(100), "HeartDisease", "iamb")
    with pytest.raises(serape.DataError, match="cannot be written: No space left on device"):
        WRITERS[kind](found, full)
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"a": ' * 50_000, "", "nul"])
def test_json_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parsed_json(text)
