"""The report of a blanket, as far as it can be read without a browser; test_report_browser opens it in one."""

import json
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

import serape
from html_reader import Reader
from serape.data.example import clinic
from serape.results.report import blanket_page, page_text


@pytest.fixture(scope="module")
def found() -> serape.Result:
    return serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01)


@pytest.fixture(scope="module")
def read(found: serape.Result) -> Reader:
    return Reader(page_text(blanket_page(found)))


class TestBlanket:
    def test_the_answer_comes_first(self, read: Reader, found: serape.Result) -> None:
        assert "6 of 13 other variables form the Markov blanket of HeartDisease :" in read.text
        assert read.text.index("form the Markov blanket") < read.text.index("Members of the blanket")
        for name in found.blanket:
            assert name in read.text

    def test_every_variable_can_be_looked_at(self, read: Reader, found: serape.Result) -> None:
        by_name = {v["name"]: v for v in read.content["variables"]}
        assert set(by_name) == set(found.trace.names)
        for name in found.trace.names:
            if name != found.target:
                assert by_name[name]["text"] == str(found.explain(name))
        names = [v["name"] for v in read.content["variables"]]
        apart = {names[k] for k in by_name["Exercise"]["separators"]}
        assert apart == set(found.explain("Exercise").separating_set or ()) != set()

    def test_roles_and_arrows(self, read: Reader, found: serape.Result) -> None:
        assert found.spouses == {"Anxiety": ("ChestPain",)}
        names = [v["name"] for v in read.content["variables"]]
        roles = {v["name"]: v["role"] for v in read.content["variables"]}
        assert (roles["Anxiety"], roles["ChestPain"], roles["Age"]) == ("spouse", "common child", "parent or child")
        arrows = {(names[e["a"]], names[e["b"]]) for e in read.content["edges"] if e["arrow"]}
        assert arrows == {("HeartDisease", "ChestPain"), ("Anxiety", "ChestPain")}
        assert len(read.content["edges"]) == 6

    def test_budget_and_tables(self, read: Reader, found: serape.Result) -> None:
        assert f"{found.tests:,} tests were performed" in read.text
        captions = [tag for tag, _ in read.elements if tag == "caption"]
        assert len(captions) == len([tag for tag, _ in read.elements if tag == "table"]) == 4
        assert set(read.attribute("th", "aria-sort")) == {"none"}
        bars = [float(width) for width in read.attribute("rect", "width")]
        counts = list(found.tests_by_size.values())
        assert bars == pytest.approx([100 * c / max(counts) for c in counts], abs=0.01)

    def test_an_algorithm_that_does_not_tell_spouses(self) -> None:
        page = blanket_page(serape.markov_blanket(clinic(5000), "HeartDisease", "iamb", alpha=0.01))
        assert {v.get("role") for v in page.graph["variables"]} == {"target", "member", "excluded"}
        assert not any(e["arrow"] for e in page.graph["edges"])

    def test_nothing_found(self) -> None:
        read = Reader(page_text(blanket_page(serape.markov_blanket(clinic(200), "Ward", alpha=1e-9))))
        assert "None of the 13 other variables belongs to the Markov blanket of Ward" in read.text
        assert read.content["drawn"] == [0]

    def test_warnings(self, read: Reader) -> None:
        assert "Take care" not in read.text  # nothing was skipped
        few = Reader(page_text(blanket_page(serape.markov_blanket(clinic(100), "HeartDisease", alpha=0.05))))
        assert "Warnings" in few.text
        assert "tests (" in few.text
        assert "skipped: too few rows" in few.text

    def test_notes_and_interruptions_are_reported(self) -> None:
        data = {**clinic(300), "Constant": ["x"] * 300}

        def stopping(search: serape.Search, target: int) -> None:
            search.members(target).add(1)
            raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as caught:
            serape.markov_blanket(data, "HeartDisease", algorithm=stopping)
        stopped = caught.value.found
        text = Reader(page_text(blanket_page(stopped))).text
        assert "The search is not complete" in text
        assert "constant, so never part of a blanket: 'Constant'" in text

    def test_an_oracle(self) -> None:
        oracle = serape.DSeparation(nx.DiGraph([("a", "t"), ("t", "c"), ("s", "c"), ("a", "b")]))
        text = Reader(page_text(blanket_page(serape.markov_blanket(oracle, "t", algorithm="pcmb")))).text
        assert "passed in place of data" in text
        assert "test = …" in text
        assert "command line" not in text

    def test_a_loaded_result_has_the_same_report(self, found: serape.Result, tmp_path: Path) -> None:
        found.save(tmp_path / "f.json")
        page, again = blanket_page(found), blanket_page(serape.load_result(tmp_path / "f.json"))
        assert page.grids[-1].id == "data"  # the only section that needs the data themselves
        assert page_text(replace(page, grids=page.grids[:-1])) == page_text(again)

    def test_an_old_file_has_a_report_too(self, found: serape.Result, tmp_path: Path) -> None:
        content = found.to_dict()
        del content["data"]
        (tmp_path / "old.json").write_text(json.dumps(content))
        serape.load_result(tmp_path / "old.json").report(tmp_path / "old.html")
        assert "HeartDisease" in (tmp_path / "old.html").read_text()

    def test_a_folder_that_is_not_there(self, found: serape.Result, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="cannot be written"):
            found.report(tmp_path / "none" / "report.html")


class TestAccess:
    def test_every_reference_leads_somewhere(self, read: Reader) -> None:
        ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
        assert len(ids) == len(set(ids))
        for name in ("aria-labelledby", "aria-controls", "aria-describedby", "for"):
            for _, attrs in read.elements:
                if name in attrs:
                    assert attrs[name] in ids
        assert {link.lstrip("#") for link in read.attribute("a", "href")} <= set(ids)

    def test_language_title_and_headings(self, read: Reader) -> None:
        assert read.attribute("html", "lang") == ["en"]
        tags = [tag for tag, _ in read.elements]
        assert tags.count("h1") == tags.count("main") == tags.count("title") == 1
        assert set(read.attribute("th", "scope")) == {"col", "row"}
