"""Gram matrices of scores on a cluster are those of one process, whichever way the table is split."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.engines.gram_matrix import gram_matrix
from serape.errors import OptionError

pytest.importorskip("distributed")
import serape.dask
from serape.distributed import scores as on_the_cluster
from serape.distributed import waiting


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two worker processes on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def frame_of(rows: int = 900) -> pd.DataFrame:
    r = np.random.default_rng(1)
    z = np.sort(r.normal(size=rows))  # parts of the rows have different values
    return pd.DataFrame(
        {
            "line": z + r.normal(size=rows),
            "letter": np.array(list("abcde"))[np.clip(np.abs(2 * z).astype(int), 0, 4)],
            "zeros": np.where(r.random(rows) < 0.4, 0.0, np.exp(z)),
            "constant": 1.5,
            "rare": np.where(np.arange(rows) % 97 == 0, "x", np.where(z > 0, "y", "n")),
            "sorted": z,
            "name": [f"n{k}" for k in range(rows)],
        }
    )


def check(found: Any, expected: Any) -> None:
    assert found.columns == expected.columns
    assert found.names == expected.names
    assert found.rows == expected.rows
    assert np.array_equal(found.scores, expected.scores)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-12, rtol=0)


@pytest.mark.parametrize("split", ["rows", "columns", "both"])
@pytest.mark.parametrize("together", [1, 1 << 26])
def test_it_is_that_of_one_process(client: Any, split: str, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_the_cluster, "_TOGETHER", together)  # bytes: one column a task, or all
    here = serape.Table(frame_of())
    there = serape.dask.table(client, here, split=split)  # type: ignore[arg-type]
    for degree in (1, 3):
        check(gram_matrix(there, degree=degree), gram_matrix(here, degree=degree))


def test_parts_that_workers_read(client: Any, tmp_path: Path) -> None:
    frame = frame_of()
    paths = [tmp_path / f"{name}.csv" for name in "abc"]
    for path, (begin, end) in zip(paths, ((0, 100), (100, 701), (701, 900)), strict=True):
        frame[begin:end].to_csv(path, index=False)
    there = serape.dask.table(client, [str(path) for path in paths])
    check(gram_matrix(there, degree=4), gram_matrix(serape.Table(paths), degree=4))


def test_what_is_known_is_not_asked_again(client: Any) -> None:
    here = serape.Table(frame_of())
    there = serape.dask.table(client, here, split="rows")
    for columns, degree in (([4, 0], 2), ([5], 1), (None, 3), ([0, 1], 1), ([3], 1)):
        check(gram_matrix(there, columns, degree), gram_matrix(here, columns, degree))
    before = there.traffic.rounds
    gram_matrix(there, degree=3)
    assert there.traffic.rounds == before
    with pytest.raises(OptionError, match="cluster"):
        gram_matrix(there, engine="gpu")


def test_columns_stay_with_the_workers(client: Any) -> None:
    there = serape.dask.table(client, serape.Table(frame_of(5000).drop(columns="name")), split="rows")
    before = there.traffic.received
    found = gram_matrix(there, degree=2)
    parts = len(there.cluster.grid)
    assert there.traffic.received - before < parts * (found.matrix.nbytes + 500)  # and the levels' counts


def test_it_can_be_stopped(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "POLL", 0.0)  # it looks before any answer can be there
    there = serape.dask.table(client, serape.Table(frame_of()), split="rows")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gram_matrix(there, poll=stop)
    check(gram_matrix(there), gram_matrix(serape.Table(frame_of())))
