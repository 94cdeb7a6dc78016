"""Studies: run, stopped and gone on with, written whole; and the commands around networks."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
from serape import studies
from serape.cli import main
from serape.data.writing import write_table
from serape.studies import fastiamb2005, hpc2010, pena2005
from serape.studies.measuring import accuracy_of_all
from serape.studies.naive_bayes import predict, split
from serape.studies.study import Cell, Settings, Study
from serape.studies.thrombin import FEATURES, read_thrombin


def small(answers: dict[str, Any], name: str) -> Study:
    """A study of three cells that counts how often each is worked at."""

    def work(key: str) -> Any:
        answers[key] = answers.get(key, 0) + 1
        if key == "b" and answers[key] == 1:
            raise KeyboardInterrupt
        return {"value": ord(key)}

    def draw(*_: Any) -> Any:
        from matplotlib.figure import Figure

        return Figure()

    return Study(
        name, "nobody 2000", "a test",
        lambda settings: [Cell(key, lambda k=key: work(k)) for key in "abc"],  # type: ignore[misc]
        lambda cells, settings: {"the values": [{"key": k, **v} for k, v in cells.items()]},
        draw,
    )  # fmt: skip


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    worked: dict[str, Any] = {}
    study = small(worked, "small")
    with pytest.raises(KeyboardInterrupt):
        studies.run(study, Settings(), tmp_path)
    kept = tmp_path / "small.cells.jsonl"
    assert [json.loads(line)["key"] for line in kept.read_text().splitlines()] == ["a"]
    with kept.open("a") as file:
        file.write('{"key": "b", "ans')  # cut off in the middle of a line
    seen: list[tuple[int, int, str]] = []
    outcome = studies.run(study, Settings(), tmp_path, lambda *now: seen.append(now))
    assert worked == {"a": 1, "b": 2, "c": 1}
    assert seen == [(1, 3, "b"), (2, 3, "c"), (3, 3, "")]
    assert [row["value"] for row in outcome.tables["the values"]] == [97, 98, 99]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["small-the-values.csv", "small.cells.jsonl", "small.json", "small.png"]
    with (tmp_path / "small-the-values.csv").open() as file:
        assert [row["key"] for row in csv.DictReader(file)] == ["a", "b", "c"]
    assert (tmp_path / "small.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["pena2005-table4", "hpc2010-accuracy", "dos2011"])
def test_studies_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["study", name, "--quick", "--out", str(tmp_path)])
    assert not stop.value.code
    assert "paper's" in capsys.readouterr().out or name == "hpc2010-accuracy"
    content = json.loads((tmp_path / f"{name}-quick.json").read_text())
    assert all(content["tables"].values())
    assert (tmp_path / f"{name}-quick.png").stat().st_size > 10_000


def test_table_4_is_near_the_papers(tmp_path: Path) -> None:
    """Alarm at 1,000 rows: the paper's pcmb has precision .99, recall .79; its inter-iamb .93 and .80."""
    del tmp_path
    answer = pena2005._one_sample("alarm", 1000, 5, 1)
    assert answer["pcmb"]["precision"] > 0.95
    assert 0.7 < answer["pcmb"]["recall"] < 0.88
    assert 0.7 < answer["inter-iamb"]["recall"] < 0.88


def test_measures_by_size_add_up() -> None:
    network = serape.load_network("asia")
    truth = {x: network.parents_children(x) for x in network.variables}
    for shared in (True, False):
        found = accuracy_of_all(network.sample(800, 1), truth, "parents-children", "hpc", 0.05, shared=shared)
        count = sum(entry[0] for entry in found["by_size"].values())
        total = sum(entry[1] for entry in found["by_size"].values())
        assert total / count == pytest.approx(found["distance"])


def test_exponents() -> None:
    points = [{"variables": n, "tests": 3.0 * n**1.2} for n in (10, 100, 1000)]
    assert hpc2010.exponent(points) == pytest.approx(1.2)
    cells = {cell.key: cell for cell in hpc2010.scaling_cells(Settings(quick=True))}
    answer = cells["child 1000"].work()
    assert answer["variables"] == 1000
    assert answer["tests"] >= 999


def test_unknown_study(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["study", "pena2005"])
    assert stop.value.code == 2
    assert "pena2005-table4" in capsys.readouterr().err


def test_a_study_without_its_data_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["study", "pena2005-table5", "--out", str(tmp_path)])
    assert stop.value.code == 1
    assert "--data" in capsys.readouterr().err


def test_list_of_studies(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["study"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in studies.STUDIES)


class TestThrombin:
    def files(self, folder: Path) -> tuple[Path, Path]:
        random = np.random.default_rng(0)
        bits = (random.random((4, FEATURES)) < 0.01).astype(np.uint8)
        labels = "AIIA"
        dense, sparse = folder / "thrombin.data", folder / "sparse.txt.xz"
        dense.write_text("".join(f"{a},{','.join(map(str, row))}\n" for a, row in zip(labels, bits, strict=True)))
        with lzma.open(sparse, "wt") as file:
            for a, row in zip(labels, bits, strict=True):
                file.write(" ".join([a, *map(str, np.flatnonzero(row) + 1)]) + "\n")
        return dense, sparse

    def test_both_forms(self, tmp_path: Path) -> None:
        dense, sparse = self.files(tmp_path)
        features, label = read_thrombin(dense)
        assert features.shape == (4, FEATURES)
        assert label.tolist() == [1, 0, 0, 1]
        again, also = read_thrombin(sparse)
        assert np.array_equal(features, again)
        assert np.array_equal(label, also)

    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            ("", "is empty"),
            ("X 1 2\n", "line 1 begins with 'X'"),
            ("A 1 2\nI 0 5\n", "line 2 has a position outside"),
            ("A 1 two\n", "line 1 has an entry that is not a whole number"),
            ("A,0,1\n", "line 1 must have 139,351 zeros and ones"),
        ],
    )
    def test_bad_files(self, tmp_path: Path, content: str, complaint: str) -> None:
        path = tmp_path / "bad.txt"
        path.write_text(content)
        with pytest.raises(serape.DataError, match=complaint):
            read_thrombin(path)
        with pytest.raises(serape.DataError, match="cannot be read"):
            read_thrombin(tmp_path / "not there")


def test_naive_bayes_by_hand() -> None:
    learn = np.array([[1], [1], [0], [0]], np.uint8)
    label = np.array([1, 1, 0, 0], np.uint8)
    assert predict(learn, label, learn, {}).tolist() == [1, 1, 0, 0]
    pair = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20, np.uint8)
    other = (pair[:, 0] ^ pair[:, 1]).astype(np.uint8)
    assert (predict(pair, other, pair, {1: 0}) == other).all()  # the tree tells what naive Bayes cannot
    seen = [split(other, k, 4)[1] for k in range(4)]
    assert sorted(np.concatenate(seen).tolist()) == list(range(80))


def test_adult_as_uci_ships_it(tmp_path: Path) -> None:
    folder = tmp_path / "adult"
    folder.mkdir()
    line = "39, {}, 77516, Bachelors, 13, Never-married, {}, Not-in-family, White, Male, 2174, 0, 40, Cuba, {}\n"
    random = np.random.default_rng(2)
    for name, dot in (("adult.data", ""), ("adult.test", ".")):
        rows = "".join(line.format(*random.choice(["?", "Private", "Gov"], 2), f"<=50K{dot}") for _ in range(200))
        (folder / name).write_text("|1x3 Cross validator\n" + rows)
    table = fastiamb2005._adult(folder, None)
    assert len(table.names) == 9
    assert 100 < table.rows < 400
    assert table.variables["income"].levels == ("<=50K",)
    (folder / "adult.test").unlink()
    (folder / "adult.test.xz").write_bytes(b"not compressed")
    with pytest.raises(serape.DataError, match="cannot be decompressed"):
        fastiamb2005._adult(folder, None)
    (folder / "adult.test.xz").unlink()
    with pytest.raises(serape.DataError, match=r"has no adult\.test"):
        fastiamb2005._adult(folder, None)
    with pytest.raises(serape.DataError, match="has no folder 'adult'"):
        fastiamb2005.cells(Settings(data=folder))


class TestSampleCommand:
    def test_to_files_and_back(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        expected = serape.load_network("asia").sample(300, 7)
        for name in ("asia.csv", "asia.csv.gz", "asia.csv.xz", "asia.parquet"):
            with pytest.raises(SystemExit) as stop:
                main(["sample", "asia", "--rows", "300", "--seed", "7", "-o", str(tmp_path / name)])
            assert not stop.value.code
            assert "300 rows of 8 columns" in capsys.readouterr().err
            table = serape.Table(tmp_path / name)
            assert table.names == expected.names
            assert (table.column("lung") == expected.column("lung")).all()
        assert sorted(p.name for p in tmp_path.iterdir()) == ["asia.csv", "asia.csv.gz", "asia.csv.xz", "asia.parquet"]

    def test_to_standard_output(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            main(["sample", "cancer", "--rows", "5", "--seed", "1", "--copies", "2"])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 6
        assert lines[0].split(",")[5].endswith("_2")

    def test_from_a_bif_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "own.bif.gz"
        serape.write_bif(serape.load_network("survey"), path)
        with pytest.raises(SystemExit):
            main(["sample", str(path), "--rows", "3"])
        assert len(capsys.readouterr().out.splitlines()) == 4

    @pytest.mark.parametrize(
        ("arguments", "code", "complaint"),
        [
            (["sample", "alram"], 2, "alarm"),
            (["sample", "asia", "-o", "asia.txt"], 2, "must end in"),
            (["sample", "asia", "-o", "no/such/folder/asia.csv"], 1, "cannot be written"),
            (["sample"], 2, "name a network"),
        ],
    )
    def test_bad_use(self, arguments: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == code
        assert complaint in capsys.readouterr().err

    def test_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as stop:
            main(["sample", "--list"])
        assert not stop.value.code
        assert "hailfinder" in capsys.readouterr().out


def test_names_with_commas_survive(tmp_path: Path) -> None:
    table = serape.Table({"a,b": ["x", 'say "y"'] * 5, "c": ["1", "2\n3"] * 5})
    write_table(table, tmp_path / "t.csv.gz")
    with gzip.open(tmp_path / "t.csv.gz", "rt", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["a,b", "c"]
    assert rows[2] == ['say "y"', "2\n3"]
