"""Packed files: what is packed comes back, however it was read; everything else is refused in one sentence."""

from __future__ import annotations

import pickle
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from zoo import ZOO, Animal

import serape
from serape.data import packing, spool
from serape.data.example import clinic
from serape.data.provenance import fingerprint
from serape.data.reading import arrow_text


def same(found: serape.Table, expected: serape.Table) -> None:
    """Check that two tables are equal in every respect but the path."""
    assert found.names == expected.names
    assert dict(found.variables) == dict(expected.variables)
    for name in expected.names:
        levels = expected.variables[name].levels
        assert [type(level) for level in found.variables[name].levels] == [type(level) for level in levels]
    assert found.notes == expected.notes
    assert found.rows == expected.rows
    assert set(found.missing) == set(expected.missing)
    assert found.continuous == expected.continuous
    assert found.identifiers == expected.identifiers
    assert found.varying == expected.varying
    assert set(found._declared) == set(expected._declared)
    for k in range(len(expected.names)):
        assert found.levels(k) == expected.levels(k)
        if k in expected.missing:
            np.testing.assert_array_equal(found.missing[k], expected.missing[k])
        np.testing.assert_array_equal(found.column(k), expected.column(k))
    assert found.provenance.fingerprint == expected.provenance.fingerprint == fingerprint(found)
    if expected.weights is None:
        assert found.weights is None
    else:
        assert found.weights is not None
        assert found.weights.kind == expected.weights.kind
        np.testing.assert_array_equal(found.weights.values, expected.weights.values)
    if expected.groups is not None:
        np.testing.assert_array_equal(found.groups, expected.groups)


@pytest.fixture(params=["at once", "in groups", "in groups and parts"])
def _how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are packed as a whole, or one column after the other; texts are parsed by pyarrow, part by part."""
    if request.param != "at once":
        monkeypatch.setattr(packing, "LARGE_FILE", -1)
        monkeypatch.setattr(packing, "MEMORY", 1)
    if request.param == "in groups and parts":
        monkeypatch.setattr(spool, "_SMALL", 0)  # all arrays are mapped
        for name, value in (("MIN_BYTES", 0), ("_PART", 150), ("_CHUNK", 40)):
            monkeypatch.setattr(arrow_text, name, value)


@pytest.mark.usefixtures("_how")
@pytest.mark.parametrize("animal", [a for a in ZOO if not a.error], ids=lambda a: a.name)
def test_files_as_people_have_them(animal: Animal, tmp_path: Path) -> None:
    path = animal.write(tmp_path)
    expected = serape.Table(path, **animal.options)
    packed = serape.pack(path, tmp_path / "x.srp", **animal.options)
    same(serape.Table(packed), expected)
    assert serape.verify_packed(packed).made == expected.provenance.made


@pytest.mark.usefixtures("_how")
@pytest.mark.parametrize("animal", [a for a in ZOO if a.error], ids=lambda a: a.name)
def test_refused_files_leave_nothing(animal: Animal, tmp_path: Path) -> None:
    path = animal.write(tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(serape.SerapeError, match=animal.error):
        serape.pack(path, tmp_path / "x.srp", **animal.options)
    assert sorted(tmp_path.iterdir()) == before


def frame(rows: int = 600) -> pd.DataFrame:
    """Columns of every kind, and of every way in which codes are stored."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "one": ["a"] * rows,
            "two": random.choice(["no", "yes"], rows),
            "declared": pd.Categorical(random.choice(["low", "high"], rows), categories=["low", "middle", "high"]),
            "ordered": pd.Categorical(random.choice(["low", "high"], rows), ["low", "high"], ordered=True),
            "eight": random.integers(0, 8, rows),
            "nine": random.integers(0, 9, rows),
            "many": [f"c{k}" for k in random.integers(0, 300, rows)],
            "number": random.normal(size=rows),
            "share": random.random(rows),
            "count": random.poisson(30, rows),
            "truth": random.random(rows) < 0.5,
            "day": pd.to_datetime("2024-01-05") + pd.to_timedelta(random.integers(0, 900, rows), unit="D"),
            "id": [f"row {k}" for k in range(rows)],
            "Ünï\ncode": random.choice(["Ä\n", "\x00ö", "'\""], rows),
        }
    )


def with_gaps() -> pd.DataFrame:
    gappy = frame()
    gappy.loc[3:9, "two"] = None
    gappy.loc[5:20, "number"] = np.nan
    gappy.loc[100:120, "many"] = None
    return gappy


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (frame(), {}),
        (frame(), {"kinds": {"eight": "continuous", "declared": "ordinal", "number": "categorical"}, "ignore": ["id"]}),
        (with_gaps(), {"missing": "pairwise"}),
        (with_gaps(), {"missing": "drop"}),
        (with_gaps(), {"missing": {"number": "drop", "*": "level"}}),
        (frame(), {"sample_weight": "share", "weight_kind": "survey", "groups": "eight"}),
        (frame(), {"sample_weight": "eight"}),
        (np.random.default_rng(0).integers(0, 2, (101, 40)), {}),
        (np.random.default_rng(0).normal(size=(64, 3)), {}),
        ({"x": [1, 2] * 30, "y": [1.5, 2.5] * 30}, {"kinds": "categorical"}),
        ({"t": [date(2024, 1, 1), date(2024, 1, 2)] * 30, "u": [time(1), time(2, 3)] * 30}, {"kinds": "categorical"}),
        ({"t": [datetime(2024, 1, 1, 3)] * 60, "u": [timedelta(1, 2, 3), timedelta(2)] * 30}, {"kinds": "categorical"}),
    ],
)
def test_data_in_memory(data: Any, settings: dict[str, Any], tmp_path: Path) -> None:
    expected = serape.Table(data, **settings)
    packed = serape.pack(data, tmp_path / "x.srp", **settings)
    found = serape.Table(str(packed))
    same(found, expected)
    same(serape.Table(serape.pack(found, tmp_path / "again.srp")), expected)
    pd.testing.assert_frame_equal(found.to_pandas(), expected.to_pandas())
    other = pickle.loads(pickle.dumps(found))
    same(other, expected)
    assert len(pickle.dumps(found)) < 1000


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("rule", ["pairwise", "drop", {"number": "drop", "*": "level"}])
def test_streamed_files(ending: str, rule: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"x{ending}"
    write = {".csv": lambda f: f.to_csv(path, index=False), ".parquet": lambda f: f.to_parquet(path)}
    write.get(ending, lambda f: f.to_feather(path))(with_gaps().drop(columns="Ünï\ncode"))
    settings: dict[str, Any] = {"missing": rule, "sample_weight": "share", "weight_kind": "survey", "ignore": ["id"]}
    monkeypatch.setattr(packing, "LARGE_FILE", -1)
    monkeypatch.setattr(arrow_text, "MIN_BYTES", 0)
    monkeypatch.setattr(arrow_text, "_PART", 4000)
    monkeypatch.setattr(arrow_text, "_CHUNK", 1000)
    for memory in (1, 600 * 24 * 3, 1 << 30):
        monkeypatch.setattr(packing, "MEMORY", memory)
        packed = serape.pack(path, tmp_path / "x.srp", **settings)
        same(serape.Table(packed), serape.Table(path, **settings))


def test_searches_find_the_same(tmp_path: Path) -> None:
    packed = serape.pack(clinic(2000), tmp_path / "x.srp")
    expected = serape.markov_blanket(clinic(2000), "HeartDisease")
    found = serape.markov_blanket(packed, "HeartDisease")
    assert found.blanket == expected.blanket
    assert found.data is not None
    assert expected.data is not None
    assert found.data.fingerprint == expected.data.fingerprint
    assert found.data.made == {"path": str(packed)}
    both = serape.blankets(packed, n_jobs=2)
    assert {name: one.blanket for name, one in both.items()} == {
        name: one.blanket for name, one in serape.blankets(clinic(2000)).items()
    }
    assert serape.describe(packed).notes == serape.describe(clinic(2000)).notes


def test_types_of_parts_are_united(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {
        "whole": [str(k) for k in range(90)],
        "then real": [str(k) for k in range(60)] + [f"{k}.5" for k in range(30)],
        "then text": [str(k % 9) for k in range(60)] + ["x"] * 30,
        "then date": [str(k % 9) for k in range(60)] + ["2024-05-17"] * 30,
        "gaps first": [""] * 60 + [str(k % 5) for k in range(30)],
        "quoted": ['"a\nb, c"', '"d ""e"" f"', "g"] * 30,
        "large": ["1"] * 60 + [str(2**70 + k) for k in range(30)],
        "codes": ["1"] * 60 + ["007"] * 30,
        "empty": [""] * 90,
    }
    path = tmp_path / "x.csv"
    path.write_text("\n".join([",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]) + "\n")
    settings: dict[str, Any] = {"missing": "pairwise", "ignore": ["empty"]}
    expected = serape.Table(path, **settings)
    monkeypatch.setattr(packing, "LARGE_FILE", -1)
    for part in (60, 300, 1 << 20):
        for name, value in (("MIN_BYTES", 0), ("_PART", part), ("_CHUNK", 50)):
            monkeypatch.setattr(arrow_text, name, value)
        same(serape.Table(serape.pack(path, tmp_path / "x.srp", **settings)), expected)
