"""Packed files that are refused, several files as one table, and what is left behind when packing stops."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape import progress
from serape.data import packing
from serape.data.example import clinic
from serape.data.packed_files import layout


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return serape.pack(clinic(300), tmp_path / "x.srp")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a packed file|cannot be read"),
        (b"\x89SRP\r\n\x1a\n", "is cut short: it has 8 bytes"),
        (b"a,b\n1,2\n", "is not a packed file"),
        (b"\x89SRP\n\x1a\n" + bytes(600), "is not a packed file"),
        (layout.MAGIC + b"\2" + bytes(600), "version 2, but this serape reads version 1"),
    ],
)
def test_foreign_files(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "x.srp"
    path.write_bytes(content)
    for ask in (serape.Table, serape.verify_packed):
        with pytest.raises(serape.DataError, match=sentence):
            ask(path)


def test_every_changed_byte_of_a_column_is_found(packed: Path) -> None:
    content = packed.read_bytes()
    header = layout.read_header(content, len(content), "x")
    table = serape.Table(packed)
    planes = header.sections["planes"].offset
    for at in range(planes, planes + 64 * 20, 77):
        packed.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        with pytest.raises(serape.DataError, match="is damaged: the content of column '.*' is not as it was written"):
            serape.verify_packed(packed)
        damaged = serape.Table(packed)  # opening does not read the columns
        with pytest.raises(serape.DataError, match="does not match its checksum; pack the data again"):
            list(map(damaged.column, table.names))
        with pytest.raises(serape.DataError, match="is damaged"):
            serape.markov_blanket(packed, "HeartDisease")


def test_files_cut_short_or_continued(packed: Path) -> None:
    content = packed.read_bytes()
    packed.write_bytes(content[:-1])
    with pytest.raises(serape.DataError, match=f"is cut short: it has {len(content) - 1:,} bytes in place of"):
        serape.Table(packed)
    packed.write_bytes(content + b"x")
    with pytest.raises(serape.DataError, match="is longer than it was written"):
        serape.Table(packed)


def test_settings_of_packed_files(tmp_path: Path, packed: Path) -> None:
    table = serape.Table(packed, ignore=["Age"])
    assert table.names == serape.Table(clinic(300), ignore=["Age"]).names
    assert serape.Table(packed, missing="drop").notes == serape.Table(clinic(300)).notes
    with pytest.raises(serape.OptionError, match="is packed, so its columns have their kinds; pass kinds to serape.p"):
        serape.Table(packed, kinds="categorical")
    with pytest.raises(serape.OptionError, match="about files of delimited text"):
        serape.Table(packed, header=True)
    gappy = pd.DataFrame({"x": [1.0, None, 2.5, 3.5] * 10, "y": ["a", "b"] * 20})
    serape.pack(gappy, tmp_path / "gaps.srp", missing="pairwise")
    assert serape.Table(tmp_path / "gaps.srp", missing="drop").rows == 30
    serape.pack(gappy, tmp_path / "w.srp", missing="drop", sample_weight=np.full(40, 1.5), weight_kind="survey")
    with pytest.raises(serape.OptionError, match="was packed with the weights or groups of its rows"):
        serape.Table(tmp_path / "w.srp", ignore=["x"])


def test_what_cannot_be_packed(tmp_path: Path) -> None:
    target = tmp_path / "x.srp"
    for data, sentence in (
        ({"x\0y": [1, 2], "z": [1, 2]}, "the name 'x.x00y' has a character that ends texts"),
        ({"x\ud800": [1, 2], "z": [1, 2]}, "cannot be written as UTF-8"),
        ({"x": [(1, 2), (3, 4)]}, r"column 'x' has the level \(1, 2\), a tuple, which cannot be packed; make it text"),
    ):
        with pytest.raises(serape.DataError, match=sentence):
            serape.pack(data, target)
    with pytest.raises(serape.OptionError, match="must end in .srp"):
        serape.pack(clinic(20), tmp_path / "x.csv")
    with pytest.raises(serape.OptionError, match="packing makes no search"):
        serape.pack(clinic(20), target, alpha=0.01)
    with pytest.raises(serape.DataError, match="cannot be written"):
        serape.pack(clinic(20), tmp_path / "nowhere" / "x.srp")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("large", [False, True])
def test_a_stopped_packing_leaves_the_old_file(large: bool, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame(clinic(500)).to_csv(packed.parent / "new.csv", index=False)
    before, content = sorted(packed.parent.iterdir()), packed.read_bytes()
    if large:
        monkeypatch.setattr(packing, "LARGE_FILE", -1)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("serape.data.packed_files.writing._finish", stop)
    with pytest.raises(KeyboardInterrupt):
        serape.pack(packed.parent / "new.csv", packed)
    assert sorted(packed.parent.iterdir()) == before
    assert packed.read_bytes() == content


def test_progress_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame(clinic(200)).to_csv(tmp_path / "x.csv", index=False)
    monkeypatch.setattr(packing, "LARGE_FILE", -1)
    monkeypatch.setattr(progress, "INTERVAL", -1.0)
    said: list[str] = []
    serape.pack(tmp_path / "x.csv", tmp_path / "x.srp", progress=lambda now: said.append(now.doing))
    assert "1 columns read" in said
    columns = len(serape.Table(tmp_path / "x.srp").names)
    assert f"{columns} of {columns} columns written" in said


def test_a_pickle_refuses_another_file(packed: Path) -> None:
    stored = pickle.dumps(serape.Table(packed))
    serape.pack(clinic(301), packed)
    with pytest.raises(serape.DataError, match="holds other data than before"):
        pickle.loads(stored)
    packed.unlink()
    with pytest.raises(serape.DataError, match="cannot be read: No such file"):
        pickle.loads(stored)


def test_an_open_table_keeps_its_file(packed: Path) -> None:
    table = serape.Table(packed)
    expected = serape.Table(clinic(300))
    serape.pack(clinic(40), packed)
    packed.unlink()
    for name in expected.names:
        np.testing.assert_array_equal(table.column(name), expected.column(name))


# --- several files ----------------------------------------------------------------------------------------------------


def parts(folder: Path, ending: str) -> tuple[pd.DataFrame, list[str]]:
    random = np.random.default_rng(0)
    whole = pd.DataFrame(
        {
            "few": random.integers(0, 5, 400),
            "count": np.concatenate([random.integers(0, 4, 200), random.integers(0, 90, 200)]),
            "real": random.normal(size=400),
            "text": np.concatenate([random.choice(["b", "c"], 200), random.choice(["a", "c"], 200)]),
            "truth": random.random(400) < 0.5,
            "day": pd.to_datetime("2024-01-05") + pd.to_timedelta(random.integers(0, 900, 400), unit="D"),
            "id": [f"row {k}" for k in range(400)],
            "gaps": [None if k % 7 == 3 else "u" if k < 200 else "v" for k in range(400)],
        }
    )
    paths = []
    for number, part in enumerate((whole[:200], whole[200:])):
        path = folder / f"{number}{ending}"
        if ending == ".csv":
            part.to_csv(path, index=False)
        elif ending == ".parquet":
            part.to_parquet(path, index=False)
        else:
            serape.pack(part, path, missing="pairwise")
        paths.append(str(path))
    return whole, paths


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".srp"])
@pytest.mark.parametrize("large", [False, True])
def test_several_files(ending: str, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, paths = parts(tmp_path, ending)
    if large:
        monkeypatch.setattr(packing, "LARGE_FILE", -1)
        monkeypatch.setattr(packing, "MEMORY", 1)
    expected = serape.Table(whole, missing="pairwise")
    joined = serape.Table(paths, missing="pairwise")
    packed = serape.Table(serape.pack(paths, tmp_path / "all.srp", missing="pairwise"))
    assert packed.notes == joined.notes
    assert joined.notes[0] == f"2 files are read as one table, from {paths[0]!r} to {paths[1]!r}"
    for table in (joined, packed):
        assert table.rows == 400
        assert dict(table.kinds) == dict(expected.kinds) | ({"truth": "boolean"} if ending == ".csv" else {})
        for name in expected.names:
            if ending != ".csv" or name != "truth":
                assert table.variables[name].levels == expected.variables[name].levels
                np.testing.assert_array_equal(table.column(name), expected.column(name))


def test_files_that_are_not_one_table(tmp_path: Path) -> None:
    texts = {"a.csv": "x,y\n1,u\n2,v\n", "b.csv": "x,z\n1,u\n2,v\n", "c.csv": "x,y\n1,2\n2,3\n", "d.csv": "x\n1\n2\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    a, b, c, d = (str(tmp_path / name) for name in texts)
    with pytest.raises(serape.DataError, match=r"b.csv lacks the column 'y', unlike .*a.csv; files of one table have"):
        serape.Table([a, b])
    with pytest.raises(serape.DataError, match=r"a.csv has also 'y', unlike"):
        serape.Table([d, a])
    with pytest.raises(serape.DataError, match=r"column 'y' holds text in .*a.csv but whole numbers in .*c.csv; pass"):
        serape.Table([a, c])
    assert serape.Table([a, c], kinds={"y": "categorical"}).variables["y"].levels == ("2", "3", "u", "v")
    assert serape.Table([a]).notes == serape.Table(a).notes
