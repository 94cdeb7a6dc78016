"""The calls that a report shows give the answer again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import serape
from serape.cli import main
from serape.data.example import clinic
from serape.data.writing import write_table
from serape.results.report import blanket_page, network_page


class TestReproduction:
    """The calls in a report are made again, and give the same."""

    @staticmethod
    def python(page: Any, **given: Any) -> Any:
        space: dict[str, Any] = dict(given)
        exec(page.calls["In Python"], space)
        return space["found"]

    @staticmethod
    def shell(page: Any, capsys: pytest.CaptureFixture[str]) -> Any:
        with pytest.raises(SystemExit) as stop:
            main([*shlex.split(page.calls["On the command line"].replace("\\\n", " "))[1:], "--json"])
        assert not stop.value.code
        return json.loads(capsys.readouterr().out)

    @pytest.mark.parametrize(
        ("finds", "more"),
        [
            ("blanket", {}),
            ("blanket", {"algorithm": "fast-iamb", "test": "x2", "reliability": None, "random_state": 3}),
            ("parents-children", {"algorithm": "mmpc", "max_conditioning": 2, "dof": "full"}),
        ],
    )
    def test_blankets(
        self, finds: str, more: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "it's data.csv"
        write_table(serape.Table(clinic(500)), path)
        ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
        table = serape.Table(path, kinds={"Age": "categorical"}, ignore=["Ward"], na_values=["none"], header=True)
        found = ask(table, "HeartDisease", alpha=0.02, **more)
        page = blanket_page(found)
        again = self.python(page)
        same = ("members", "tests", "skipped", "options", "test", "alpha")
        assert [getattr(again, name) for name in same] == [getattr(found, name) for name in same]
        assert again.data == found.data
        printed = self.shell(page, capsys)
        assert (printed["blanket"], printed["tests"]) == (list(found.blanket), found.tests)
        assert printed["data"]["fingerprint"] == found.data.fingerprint

    def test_how_a_file_was_read(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "rows.txt"
        path.write_text("".join(f"r{k};{k % 2};{'' if k % 9 == 8 else k % 2};{k},5\n" for k in range(60)))
        table = serape.Table(
            path, missing={"*": "drop", "b": "level"}, header=["id", "a", "b", "c"], delimiter=";", decimal=",",
            encoding="utf-8", quote="", comment="#", index=True,
        )  # fmt: skip
        found = serape.markov_blanket(table, "a")
        page = blanket_page(found)
        assert self.python(page).data == found.data
        assert self.shell(page, capsys)["data"]["fingerprint"] == found.data.fingerprint

    def test_what_the_command_line_cannot_say(self) -> None:
        table = serape.Table(clinic(300))
        found = serape.markov_blanket(
            table, "HeartDisease", known_members=["Ward"], forbidden_members=["Age"],
            knowledge={"forbidden_pairs": [("Sex", "HeartDisease")]} if "Sex" in table.names else None,
        )  # fmt: skip
        page = blanket_page(found)
        assert set(page.calls) == {"In Python"}
        again = self.python(page, data=clinic(300))
        assert again.members == found.members
        assert "Ward" in again.members

    def test_an_algorithm_of_ones_own(self) -> None:
        def first(search: serape.Search, target: int) -> tuple[int, ...]:
            return tuple(x for x in search.variables if x != target)[:1]

        page = blanket_page(serape.markov_blanket(clinic(300), "HeartDisease", algorithm=first))
        assert "algorithm=first," in page.calls["In Python"]
        assert self.python(page, data=clinic(300), first=first).blanket == ("Age",)

    @pytest.mark.parametrize(
        ("algorithm", "more"),
        [
            ("mmhc", {}),
            ("mmhc", {"rule": "and", "equivalent_sample_size": 3.0}),
            ("pc-stable", {}),
            ("ges", {}),
            ("hiton-pc", {}),
            ("hiton-pc", {"rule": "or"}),
            ("sca", {}),
        ],
    )
    def test_networks(
        self, algorithm: str, more: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(1000, 1), path)
        found = serape.network(path, algorithm, **more)
        page = network_page(found)
        again = self.python(page)
        assert (again.edges, again.tests, again.total) == (found.edges, found.tests, found.total)
        assert again.options == found.options
        printed = self.shell(page, capsys)
        assert [[e["from"], e["to"]] for e in printed["edges"]] == [list(e) for e in found.edges]
        assert printed["options"] == found.options

    def test_skeletons(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(1000, 1), path)
        found = serape.skeleton(path, "inter-iapc", rule="or", alpha=0.2)
        page = network_page(found)
        assert self.python(page).edges == found.edges
        assert len(self.shell(page, capsys)["edges"]) == len(found.edges)
