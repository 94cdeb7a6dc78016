"""Files that change while they are read: an error of one sentence, or what is left of them, never the end of Python."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.feather as feather
import pytest

import serape
from serape.data.kinds import Kinds
from serape.data.reading import ReadOptions
from serape.data.reading.formats import read_source
from serape.data.reading.sources import open_source

ENDINGS = [".csv", ".parquet", ".feather", ".arrow", ".jsonl", ".xlsx", ".csv.gz"]


def written(folder: Path, ending: str) -> Path:
    """A file of more than a page."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(3000, 4)), columns=list("abcd"))
    path = folder / f"data{ending}"
    if ending.startswith(".csv"):
        frame.to_csv(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".xlsx":
        frame[:500].to_excel(path, index=False)
    elif ending == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        feather.write_feather(frame, path, version=2, compression="uncompressed")
    return path


@pytest.mark.parametrize("left", [0, 10, 5000])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_cut_after_it_was_opened(tmp_path: Path, ending: str, left: int) -> None:
    path = written(tmp_path, ending)
    try:
        source, options = open_source(path, ReadOptions())
        os.truncate(path, left)
        columns = read_source(source, Kinds(), options)
        assert columns.rows < 3000 or ending == ".csv.gz"  # this one is read when it is opened
    except serape.SerapeError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_gone_after_it_was_opened(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path, ending)
    source, options = open_source(path, ReadOptions())
    path.unlink()
    if ending == ".csv.gz":
        assert read_source(source, Kinds(), options).rows == 3000
        return
    with pytest.raises(serape.DataError, match="cannot be read|cannot be"):
        read_source(source, Kinds(), options)
