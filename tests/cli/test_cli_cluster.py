"""Commands on data that worker processes keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import serape
from command import run

pytest.importorskip("distributed")


def test_several_files_and_workers_give_the_answer_of_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = serape.load_network("asia").sample(300, 1).to_pandas()
    table.to_csv(tmp_path / "all.csv", index=False)
    table[:150].to_csv(tmp_path / "a.csv", index=False)
    table[150:].to_csv(tmp_path / "b.csv", index=False)
    parts = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    asked = ("--target", "either", "--algorithm", "hpc", "--json")
    found = [
        json.loads(run(capsys, "blanket", *files, *asked, *more)[1])
        for files, more in (
            ([str(tmp_path / "all.csv")], ()),
            (parts, ()),
            (parts, ("--workers", "2", "--split", "rows")),
        )
    ]
    assert found[0]["blanket"]
    assert all(one["blanket"] == found[0]["blanket"] and one["tests"] == found[0]["tests"] for one in found)


def test_options_of_a_cluster_that_do_not_fit_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,1\n")
    asked = ("blanket", str(tmp_path / "a.csv"), "--target", "x")
    code, _, err = run(capsys, *asked, "--split", "rows")
    assert (code, "give --cluster ADDRESS or --workers N" in err) == (2, True)
    code, _, err = run(capsys, *asked, "--cluster", "tcp://127.0.0.1:1", "--workers", "2")
    assert (code, "leave out --cluster or --workers" in err) == (2, True)
