"""Studies: run, stopped and gone on with, written whole; and the commands around networks."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
import study_pages
from command import run
from serape import studies
from serape.cli import main
from serape.data.writing import write_table
from serape.studies import fastiamb2005, hpc2010_scaling, pena2005_table4
from serape.studies.cells import StudyCell, answer_cells
from serape.studies.measuring import accuracy
from serape.studies.naive_bayes import predict, split, tree
from serape.studies.pages import markdown, slug
from serape.studies.study import Study, StudySettings
from serape.studies.thrombin import FEATURES, read_thrombin, thrombin_file


def work(key: str, log: str, stop: str = "") -> dict[str, int]:
    """Note that the cell was worked at; the cell `stop` is stopped the first time."""
    path = Path(log)
    path.write_text(path.read_text() + key)
    if key == stop and path.read_text().count(key) == 1:
        raise KeyboardInterrupt
    return {"value": ord(key)}


def work_with_file(path: Path, key: str) -> dict[str, int]:
    return {"value": ord(key), "size": len(path.read_text())}


def small(log: Path, keys: str = "abc", stop: str = "") -> Study:
    """A study whose cells append their key to a file when they are worked at."""
    log.touch()
    return study_of([StudyCell((key,), work, {"key": key, "log": str(log), "stop": stop}) for key in keys])


def study_of(cells: Sequence[StudyCell]) -> Study:
    def draw(_: Any) -> Any:
        from matplotlib.figure import Figure

        return Figure()

    return Study(
        "small", "nobody 2000", "a test", lambda _: cells,
        lambda answers: {"the values": [{"key": key[0], **value} for key, value in answers.items()]},
        draw, lambda _: {},
    )  # fmt: skip


QUICK = StudySettings(quick=True)


class TestCells:
    def test_a_study_that_was_stopped_goes_on(self, tmp_path: Path) -> None:
        log, out = tmp_path / "log", tmp_path / "out"
        study = small(log, stop="b")
        with pytest.raises(KeyboardInterrupt):
            studies.run(study, QUICK, out)
        kept = out / "small-quick.cells.jsonl"
        assert [json.loads(line)["key"] for line in kept.read_text().splitlines()] == [["a"]]
        with kept.open("a") as file:
            file.write('{"key": ["b"], "ans')  # cut off in the middle of a line
        seen: list[tuple[int, int, str]] = []
        outcome = studies.run(study, QUICK, out, lambda *now: seen.append(now))
        assert log.read_text() == "abbc"
        assert seen == [(1, 3, "b"), (2, 3, "b"), (3, 3, "c")]
        assert [row["value"] for row in outcome.tables["the values"]] == [97, 98, 99]
        names = sorted(path.name for path in out.iterdir())
        stem = "small-quick"
        assert names == [f"{stem}-the-values.csv", f"{stem}.cells.jsonl", f"{stem}.json", f"{stem}.png"]
        with (out / f"{stem}-the-values.csv").open() as file:
            assert [row["key"] for row in csv.DictReader(file)] == ["a", "b", "c"]
        assert (out / f"{stem}.png").read_bytes().startswith(b"\x89PNG")

    def test_the_result_is_that_of_a_study_that_was_not_stopped(self, tmp_path: Path) -> None:
        """Stopped in the middle, and its cells left in another order by several processes."""
        whole, stopped = tmp_path / "whole", tmp_path / "stopped"
        cells = [
            StudyCell(
                (n, a), accuracy, {"network": "asia", "rows": n, "seed": 0, "finds": "blanket", "setting": setting}
            )
            for n in (50, 100)
            for a, setting in (("gs", {"algorithm": "gs"}), ("iamb", {"algorithm": "iamb", "alpha": 0.01}))
        ]
        studies.run(study_of(cells), QUICK, whole)
        studies.run(study_of([cells[3], cells[1]]), QUICK, stopped)
        studies.run(study_of(cells), QUICK, stopped)

        def lines(folder: Path) -> list[Any]:
            kept = [json.loads(line) for line in (folder / "small-quick.cells.jsonl").read_text().splitlines()]
            assert all(line["answer"].pop("seconds") >= 0 for line in kept)
            return kept

        assert len(lines(whole)) == 4
        assert lines(whole) == lines(stopped)

    def test_several_processes_give_the_same(self, tmp_path: Path) -> None:
        answers = [answer_cells(small(tmp_path / "log").cells(QUICK), tmp_path / f"{n}", n) for n in (1, 2)]
        assert list(answers[0]) == [("a",), ("b",), ("c",)]
        assert answers[0] == answers[1]
        assert list(answers[0]) == list(answers[1])
        assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()

    def test_an_error_in_another_process_ends_the_study(self, tmp_path: Path) -> None:
        cells = [StudyCell((k,), work_with_file, {"key": "ab"[k]}, (tmp_path / "x",)) for k in range(2)]
        (tmp_path / "x").write_bytes(b"\xff")
        with pytest.raises(UnicodeDecodeError):
            answer_cells(cells, tmp_path / "kept", 2)

    def test_other_settings_data_or_versions_are_not_taken_for_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data, kept = tmp_path / "data", tmp_path / "kept"
        data.write_text("12")

        def answer(key: str = "a") -> Any:
            (value,) = answer_cells([StudyCell(("k",), work_with_file, {"key": key}, (data,))], kept, 1).values()
            return value, len(kept.read_text().splitlines())

        assert answer() == ({"value": 97, "size": 2}, 1)
        assert answer("b") == ({"value": 98, "size": 2}, 2)
        data.write_text("1234")
        assert answer() == ({"value": 97, "size": 4}, 3)
        monkeypatch.setattr(serape, "__version__", "other")
        assert answer() == ({"value": 97, "size": 4}, 4)
        data.write_text("12")
        monkeypatch.undo()
        assert answer() == ({"value": 97, "size": 2}, 4)  # kept since the first time

    def test_no_data(self, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="cannot be read"):
            answer_cells([StudyCell((1,), work_with_file, {}, (tmp_path / "none",))], tmp_path / "kept", 1)


class TestPages:
    def test_pages_are_what_their_tables_give(self) -> None:
        assert study_pages.outdated() == []

    def test_every_study_has_a_text(self) -> None:
        texts = {path.stem for path in (files("serape.studies") / "texts").iterdir()}  # type: ignore[attr-defined]
        assert texts == set(studies.STUDIES)

    def test_tables(self) -> None:
        rows = [{"a": 1000, "b": ".5"}, {"a": 2, "b": ""}]
        assert markdown(rows) == "| a | b |\n| --- | --- |\n| 1,000 | .5 |\n| 2 |  |"
        assert markdown([]) == "(not run)"
        assert slug("The paper's, full dof") == "the-papers-full-dof"


@pytest.mark.parametrize("name", ["pena2005-table4", "hpc2010-accuracy", "dos2011"])
def test_studies_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["study", name, "--quick", "--out", str(tmp_path)])
    assert not stop.value.code
    assert "paper's" in capsys.readouterr().out or name == "hpc2010-accuracy"
    content = json.loads((tmp_path / f"{name}-quick.json").read_text())
    assert all(content["tables"].values())
    assert (tmp_path / f"{name}-quick.png").stat().st_size > 10_000


def test_table_4_is_near_the_papers() -> None:
    """Alarm at 1,000 rows: the paper's pcmb has precision .99, recall .79; its inter-iamb .93 and .80."""
    cells = {cell.key: cell for cell in pena2005_table4.cells(StudySettings())}
    pcmb, inter_iamb = (cells["alarm", 1000, algorithm, 5].answer() for algorithm in ("pcmb", "inter-iamb"))
    assert pcmb["precision"] > 0.95
    assert 0.7 < pcmb["recall"] < 0.88
    assert 0.7 < inter_iamb["recall"] < 0.88


def test_measures_by_size_add_up() -> None:
    for shared in (True, False):
        found = accuracy(
            network="asia", rows=800, seed=1, finds="parents-children", setting={"algorithm": "hpc"}, shared=shared
        )
        count = sum(entry[0] for entry in found["by_size"].values())
        total = sum(entry[1] for entry in found["by_size"].values())
        assert total / count == pytest.approx(found["distance"], abs=1e-5)


def test_exponents() -> None:
    points = [(n, np.array([[3.0 * n**1.2, 0, 0], [5.0 * n**1.2, 0, 0]])) for n in (10, 100, 1000)]
    exponent, low, high = hpc2010_scaling._fit(points, 0)
    assert exponent == pytest.approx(1.2)
    assert low < 1.19
    assert high > 1.21
    cells = {cell.key: cell for cell in hpc2010_scaling.cells(StudySettings(quick=True))}
    answer = cells["child", 1000, 0].answer()
    assert answer["variables"] == 1000
    counts = np.array([answer[label] for label in hpc2010_scaling.SETTINGS])
    assert counts.shape == (3, 5, 3)
    assert (counts[:, :, 0] >= 900).all()


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
        assert thrombin_file(tmp_path) == dense
        with pytest.raises(serape.DataError, match="has no file"):
            thrombin_file(tmp_path.parent)
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
    assert tree(pair, other) == {1: 0}
    noise = np.random.default_rng(0).integers(0, 2, (80, 1), np.uint8)
    assert tree(np.concatenate([pair[:, :1], noise, pair[:, :1]], axis=1), other)[2] == 0
    assert tree(pair[:, :0], other) == {}
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
    table = fastiamb2005._adult(fastiamb2005._files(folder), None)
    assert len(table.names) == 9
    assert 100 < table.rows < 400
    assert table.variables["income"].levels == ("<=50K",)
    (folder / "adult.test").unlink()
    (folder / "adult.test.xz").write_bytes(b"not compressed")
    with pytest.raises(serape.DataError, match="cannot be decompressed"):
        fastiamb2005._adult(fastiamb2005._files(folder), None)
    (folder / "adult.test.xz").unlink()
    with pytest.raises(serape.DataError, match=r"has no adult\.test"):
        fastiamb2005.cells(StudySettings(data=tmp_path))
    with pytest.raises(serape.DataError, match="has no folder 'adult'"):
        fastiamb2005.cells(StudySettings(data=folder))


def test_census_income_is_nominal_and_complete(tmp_path: Path) -> None:
    folder = tmp_path / "census-income"
    folder.mkdir()
    with pytest.raises(serape.DataError, match=r"has no census-income\.csv"):
        fastiamb2005.cells(StudySettings(data=tmp_path))
    path = folder / "census-income.csv"
    rows = [[f"{c}{r % 2}" for c in range(42)] for r in range(8)]
    rows[3][7] = "?"
    path.write_text("\n".join(",".join(row) for row in ([f"x{c}" for c in range(42)], *rows)))
    table = fastiamb2005._census(path, None)
    assert (len(table.names), table.rows) == (34, 7)
    assert "x5" not in table.names
    path.write_text("a,b\n1,2\n")
    with pytest.raises(serape.DataError, match="42 fields"):
        fastiamb2005._census(path, None)


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


@pytest.mark.parametrize("blocked", ["out", "out/pena2005-table4-quick.cells.jsonl"])
def test_a_folder_that_cannot_be_written(blocked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / blocked
    path.parent.mkdir(exist_ok=True)
    path.touch() if blocked == "out" else path.mkdir()
    code, _, err = run(capsys, "study", "pena2005-table4", "--quick", "--out", str(tmp_path / "out"))
    assert code == 1
    assert str(path) in err
    assert err.rstrip().splitlines()[-1].startswith("serape: ")
