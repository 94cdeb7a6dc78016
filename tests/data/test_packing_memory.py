"""Files are packed column by column: neither memory nor address space is needed for all of them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import serape
from serape.data.encoding import Encoded
from serape.data.spool import Spool, StoredColumn

COLUMNS, ROWS = 40, 500_000
SPARE = 320 << 20
"""Bytes that packing may take, with the stacks and heaps of pyarrow's threads.

The columns are read and marked where values are missing (180 MB), changed (160 MB) and packed (163 MB).
"""
ONE_HEAP = {"MALLOC_ARENA_MAX": "1", "ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1"}

PACK = """
import resource, sys
from pathlib import Path
import pyarrow.parquet
import serape
from serape.data import packing

packing.LARGE_FILE = packing.MEMORY = 1
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (size, size))
serape.pack(sys.argv[1], sys.argv[2], missing="pairwise")
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's account of address space")
def test_packing_within_a_limit_of_address_space(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    random = np.random.default_rng(1)
    values = random.integers(40, size=ROWS) / 8
    values[random.integers(ROWS, size=100)] = np.nan
    source, packed = tmp_path / "x.parquet", tmp_path / "x.srp"
    pq.write_table(pa.table({f"x{k}": np.roll(values, 7 * k) for k in range(COLUMNS)}), source)
    command = [sys.executable, "-W", "error", "-c", PACK, str(source), str(packed), str(SPARE)]
    done = subprocess.run(command, env=os.environ | ONE_HEAP, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert 3 * 8 * COLUMNS * ROWS > SPARE
    table = serape.Table(packed)
    assert len(table.missing) == COLUMNS
    np.testing.assert_array_equal(table.numbers(3), np.roll(values, 21))


@pytest.mark.parametrize("rows", [2, 100_000], ids=["read", "mapped"])
def test_a_stored_column_is_the_column(rows: int, tmp_path: Path) -> None:
    codes = (np.arange(rows) % 3).astype(np.uint8)
    missing = codes == 1
    columns = [
        Encoded("categorical", "text", ("a", "b", "c"), codes, missing=missing, declared=True),
        Encoded("continuous", "real numbers", values=np.arange(rows) / 4),
    ]
    with Spool(tmp_path) as spool:
        first, second = spool.store(columns)
        for found, column in zip((first, second), columns, strict=True):
            assert isinstance(found, StoredColumn)
            assert (found.kind, found.reason, found.levels, found.declared, len(found)) == (
                column.kind, column.reason, column.levels, column.declared, rows,
            )  # fmt: skip
            for name in ("codes", "values", "missing"):
                array = getattr(column, name)
                assert (getattr(found, name) is None) == (array is None)
                if array is not None:
                    np.testing.assert_array_equal(getattr(found, name), array)
        renamed = second.changed(kind="count")
        assert isinstance(renamed, StoredColumn)
        assert renamed.kind == "count"
        other = first.changed(codes=codes + 1)
        assert type(other) is Encoded
        np.testing.assert_array_equal(other.missing, missing)
        np.testing.assert_array_equal(first.kept_rows(~missing).codes, columns[0].kept_rows(~missing).codes)


def test_columns_in_the_file_are_not_written_again(tmp_path: Path) -> None:
    column = Encoded("continuous", "real numbers", values=np.arange(20_000.0))
    with Spool(tmp_path) as spool:
        (first,) = spool.store([column])
        end = spool._end

        def changed() -> Iterator[Encoded]:
            yield first
            yield first.changed(values=-np.arange(20_000.0))  # written behind what is read here

        same, other = spool.store(changed())
        assert same is first
        assert spool._end == 2 * end
        assert other.values is not None
        assert first.values is not None
        np.testing.assert_array_equal(other.values, -first.values)
