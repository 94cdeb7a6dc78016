"""Tables on a cluster give the answers of one process, whichever way they are split."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moved
import serape
from serape.independence.registry import TESTS, make_test

pytest.importorskip("distributed")
import serape.dask

SPLITS = ("rows", "columns", "both")
ALGORITHMS = [entry["name"] for entry in serape.algorithms()]


def comparable(found: Any) -> dict[str, Any]:
    """Return all of a result but its seconds."""
    content: dict[str, Any] = found.to_dict()
    content.pop("seconds", None)
    return content


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two worker processes on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def asia() -> serape.Table:
    return serape.load_network("asia").sample(400, 5)


@pytest.fixture(scope="module")
def numbers() -> serape.Table:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 5))
    x[:, 2] += x[:, 0] - x[:, 1]
    x[:, 3] += x[:, 2]
    columns: dict[str, Any] = {f"x{k}": x[:, k] for k in range(5)}
    return serape.Table({**columns, "c": np.where(x[:, 3] + rng.normal(size=200) > 0, "a", "b").tolist()})


@pytest.mark.parametrize("split", SPLITS)
def test_every_algorithm_gives_the_answer_of_one_process(client: Any, asia: serape.Table, split: str) -> None:
    table = serape.dask.table(client, asia, split=split)  # type: ignore[arg-type]
    for algorithm in set(ALGORITHMS) - {"boss-mb"}:  # which refuses columns that are not in this process
        for question in (serape.markov_blanket, serape.parents_children):
            try:
                expected = question(asia, "either", algorithm=algorithm)
            except serape.OptionError:  # the algorithm does not find this
                continue
            assert comparable(question(table, "either", algorithm=algorithm)) == comparable(expected), algorithm


@pytest.mark.parametrize("split", SPLITS)
def test_questions_about_many_variables(client: Any, asia: serape.Table, split: str) -> None:
    table = serape.dask.table(client, asia, split=split)  # type: ignore[arg-type]
    own = {name: found.blanket for name, found in serape.blankets(asia, algorithm="iamb").items()}
    assert {name: found.blanket for name, found in serape.blankets(table, algorithm="iamb").items()} == own
    for algorithm in ("hiton-pc", "pc-stable"):
        expected = serape.skeleton(asia, algorithm=algorithm)
        found = serape.skeleton(table, algorithm=algorithm)
        assert comparable(found) == comparable(expected)
    for algorithm in ("tabu", "ges", "mmhc"):
        assert serape.network(table, algorithm).edges == serape.network(asia, algorithm).edges
    assert (
        serape.stability(table, "either", draws=3).frequencies == serape.stability(asia, "either", draws=3).frequencies
    )
    assert str(serape.all_pairs(table)) == str(serape.all_pairs(asia))


def test_questions_of_pc_stable_travel_together(client: Any) -> None:
    child = serape.load_network("child").sample(2000, 1)
    table = serape.dask.table(client, child, split="rows")
    before = table.traffic.rounds
    found = serape.skeleton(table, "pc-stable", max_conditioning=2)
    assert comparable(found) == comparable(serape.skeleton(child, "pc-stable", max_conditioning=2))
    assert table.traffic.rounds - before <= 8  # 20 variables: pairs, sets of one and of two, separations, effects


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("test", ["auto", "mixed", "gcm"])
def test_tests_on_numbers_and_mixtures(client: Any, numbers: serape.Table, split: str, test: str) -> None:
    table = serape.dask.table(client, numbers, split=split)  # type: ignore[arg-type]
    expected = serape.markov_blanket(numbers, "x2", algorithm="iamb", test=test)
    assert comparable(serape.markov_blanket(table, "x2", algorithm="iamb", test=test)) == comparable(expected)


def test_sums_of_split_rows_agree_up_to_rounding(client: Any, numbers: serape.Table) -> None:
    alone = numbers.part(range(5))
    table = serape.dask.table(client, alone, split="rows")
    for algorithm in ("iamb", "hiton-mb"):
        expected = serape.markov_blanket(alone, "x2", algorithm=algorithm, test="partial-correlation")
        found = serape.markov_blanket(table, "x2", algorithm=algorithm, test="partial-correlation")
        assert (found.blanket, found.tests) == (expected.blanket, expected.tests)
        for name in found.blanket:
            assert found.adjusted_p is not None
            assert expected.adjusted_p is not None
            assert found.adjusted_p[name] == pytest.approx(expected.adjusted_p[name], rel=1e-9)


@pytest.mark.parametrize("split", SPLITS)
def test_every_test_on_far_numbers_gives_the_answers_of_one_process(client: Any, split: str) -> None:
    """Numbers 10⁹ standard deviations away, turned round, with rows in any order, are answered as near ones are."""
    by = np.random.default_rng(1).permutation(moved.ROWS)
    given, classes = moved.numbers(), moved.categories()
    for name, entry in TESTS.items():
        rows = np.arange(moved.ROWS) if entry.uses_seed else by  # random numbers follow the order of the rows
        far = {key: x[rows] for key, x in moved.moved(given, "the negatives from far").items()}
        own = {key: x[rows] for key, x in classes.items()}
        for some, others, of in ((given, classes, {**far, **own}), (given, {}, far), ({}, classes, own)):
            here = moved.table(some, others)
            kinds = {key: "continuous" if key in some else "categorical" for key in here.names}
            try:
                near = make_test(here, name)
                near.check(range(len(here.names)))
            except serape.DataError:
                continue
            there = make_test(serape.dask.table(client, serape.Table(of, kinds=kinds), split=split), name)  # type: ignore[arg-type]
            for x, y, z in ((0, 1, ()), (3, 2, (0, 1))):
                found, expected = there.test(x, y, z), near.test(x, y, z)
                assert found.reliable == expected.reliable
                assert found.log_p == pytest.approx(expected.log_p, rel=1e-8, abs=1e-9), name
                assert there.screen(y, [x], z).statistic[0] == pytest.approx(expected.statistic, rel=1e-8, abs=1e-9)
            break


def test_columns_are_measured_from_the_same_origin_however_rows_are_split(client: Any) -> None:
    """Parts of rows in ascending order lie far from each other, and one part has three rows."""
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    data = pd.DataFrame(moved.moved(moved.numbers(), "far above 0")).sort_values("a", ignore_index=True)
    data["time"] = np.arange(moved.ROWS) * 2.0**20 + 1e15
    expected = make_test(serape.Table(data, kinds="continuous"), "partial-correlation")
    frames = [data.iloc[begin:end] for begin, end in pairwise([0, 3, 50, moved.ROWS])]
    parts = dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames])
    test = make_test(serape.dask.table(client, parts, split="rows", kinds="continuous"), "partial-correlation")
    for x, y, z in ((0, 1, ()), (2, 0, (1, 6)), (6, 2, (0, 1)), (3, 4, (0, 1, 2, 6))):
        assert test.test(x, y, z).log_p == pytest.approx(expected.test(x, y, z).log_p, rel=1e-8, abs=1e-9)


# --- sources ----------------------------------------------------------------------------------------------------------


def frame(rows: int, seed: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    smoker = rng.random(rows) < 0.4
    return {
        "row": list(range(1000 * seed, 1000 * seed + rows)),
        "smoker": np.where(smoker, "yes", "no").tolist(),
        "visits": rng.poisson(2 + 2 * smoker).tolist(),
        "steps": rng.integers(0, 400, rows).tolist(),
        "age": (40 + 10 * rng.normal(size=rows)).round(1).tolist(),
        "share": rng.random(rows).round(3).tolist(),
        "town": rng.choice(["Ayr", "Bern", "Cork"][: 2 + seed], rows).tolist(),
        "day": [f"2024-01-{1 + k % 28:02d}" for k in range(rows)],
        "old": (rng.random(rows) < 0.5).tolist(),
    }


def same_encoding(table: serape.Table, expected: serape.Table) -> None:
    assert table.names == expected.names
    assert table.rows == expected.rows
    assert table.kinds == expected.kinds
    for k in range(len(expected.names)):
        assert table.column_levels(k) == expected.column_levels(k)
        column = table.codes(k) if expected.levels(k) else table.numbers(k)
        assert np.array_equal(column, expected.codes(k) if expected.levels(k) else expected.numbers(k))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_are_read_by_the_workers_as_one_table(client: Any, tmp_path: Path, split: str, ending: str) -> None:
    pd = pytest.importorskip("pandas")
    paths = []
    for k in range(2):
        paths.append(tmp_path / f"part{k}.{ending}")
        data = pd.DataFrame(frame(150 + 30 * k, k))
        data.to_csv(paths[-1], index=False) if ending == "csv" else data.to_parquet(paths[-1])
    expected = serape.Table([str(path) for path in paths])
    table = serape.dask.table(client, str(tmp_path / f"*.{ending}"), split=split)  # type: ignore[arg-type]
    same_encoding(table, expected)
    found = serape.markov_blanket(table, "smoker", algorithm="iamb")
    assert found.blanket == serape.markov_blanket(expected, "smoker", algorithm="iamb").blanket


def test_groups_of_rows_of_one_parquet_file(client: Any, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    data = pd.concat([pd.DataFrame(frame(100, k)) for k in range(2)], ignore_index=True)
    path = tmp_path / "one.parquet"
    data.to_parquet(path, row_group_size=60)
    table = serape.dask.table(client, path, split="rows")
    assert len(table.cluster.grid) == 4
    same_encoding(table, serape.Table(path))


def test_a_dask_frame(client: Any) -> None:
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    data = pd.DataFrame(frame(120, 0)).drop(columns="row")
    table = serape.dask.table(client, dd.from_pandas(data, npartitions=3), split="rows")
    same_encoding(table, serape.Table(data))


@pytest.mark.parametrize("split", SPLITS)
def test_a_packed_file(client: Any, tmp_path: Path, asia: serape.Table, split: str) -> None:
    path = serape.pack(asia, tmp_path / "asia.srp")
    table = serape.dask.table(client, path, split=split)  # type: ignore[arg-type]
    same_encoding(table, asia)


def test_missing_values(client: Any, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    for k in range(2):
        data = pd.DataFrame(frame(60, k))
        data.loc[[3, 7], "town"] = None
        data.to_parquet(tmp_path / f"part{k}.parquet")
    paths = [str(path) for path in sorted(tmp_path.glob("*.parquet"))]
    with pytest.raises(serape.DataError, match=r"values are missing in 'town' \(4, first in row 4\)"):
        serape.dask.table(client, paths, split="rows")
    for rule in ("drop", "level"):
        same_encoding(serape.dask.table(client, paths, split="rows", missing=rule), serape.Table(paths, missing=rule))
    with pytest.raises(serape.OptionError, match="'pairwise'"):
        serape.dask.table(client, paths, missing="pairwise")


@pytest.mark.parametrize("split", SPLITS)
def test_notes_about_reading_stay_where_the_whole_table_is_fetched(client: Any, tmp_path: Path, split: Any) -> None:
    pd = pytest.importorskip("pandas")
    data = pd.DataFrame(frame(60, 0)).assign(odd="1", other="2")
    data.loc[[3, 7], "town"] = None
    data.to_parquet(path := tmp_path / "one.parquet")
    table = serape.dask.table(client, str(path), split=split, missing="drop", ignore=["odd", "other"])
    notes = ("ignored, as asked: 'odd', 'other'", "2 of 60 rows dropped because values are missing")
    assert table.notes[:2] == notes
    assert serape.stability(table, "town", draws=2).notes[:2] == notes


def test_bad_sources_are_refused_in_one_sentence(client: Any, tmp_path: Path, asia: serape.Table) -> None:
    with pytest.raises(serape.DataError, match="no file has a name like"):
        serape.dask.table(client, str(tmp_path / "*.parquet"))
    with pytest.raises(serape.SerapeError, match=r"nothing\.csv"):
        serape.dask.table(client, str(tmp_path / "nothing.csv"))
    with pytest.raises(serape.OptionError, match="split='sideways' is not known"):
        serape.dask.table(client, asia, split="sideways")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="must be a dask"):
        serape.dask.table(None, asia)
    (tmp_path / "empty.csv").write_text("x,y\n")
    with pytest.raises(serape.DataError, match="the table has no rows; at least two are needed"):
        serape.dask.table(client, str(tmp_path / "empty.csv"))
    (tmp_path / "empty.csv").unlink()
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,1\n")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n2,1\n")
    with pytest.raises(serape.DataError, match="have different columns"):
        serape.dask.table(client, str(tmp_path / "*.csv"))


def test_columns_that_do_not_fit_here_are_not_fetched(
    client: Any, asia: serape.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = serape.dask.table(client, asia, split="columns")
    monkeypatch.setattr("serape.distributed.table.MAX_FETCHED", 1000)
    with pytest.raises(serape.DataError, match="at most"):
        serape.all_pairs(table)
