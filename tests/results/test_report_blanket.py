"""The report of a blanket, as far as it can be read without a browser; test_report_browser opens it in one."""

import json
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import serape
from html_reader import Reader
from serape.data.example import clinic
from serape.independence.outcomes import p_value_text
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
        assert all(e["loose"] for e in page.graph["edges"])
        assert page_text(page).count('class="line loose"') == len(page.widths) == 2

    def test_nothing_found(self) -> None:
        read = Reader(page_text(blanket_page(serape.markov_blanket(clinic(200), "Ward", alpha=1e-9))))
        assert "None of the 13 other variables was shown to belong to the Markov blanket of Ward" in read.text
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


def wide(*, by_chance: bool = False) -> serape.Result:
    """Return a search with the default false discovery rate in 60 rows and 500 numbers, of which two matter."""
    random = np.random.default_rng(2)
    x = random.normal(size=(60, 500))
    target = np.where(x[:, 3] + x[:, 70] > 0, "tumour", "normal")
    data = {f"G{k}": x[:, k] for k in range(500)}
    return serape.markov_blanket(data | {"class": random.permutation(target) if by_chance else target}, "class")


class TestRate:
    def test_the_rate_is_said_where_alpha_is(self) -> None:
        found = wide()
        assert found.threshold is not None
        assert set(found.blanket) == {"G3", "G70"}
        page = blanket_page(found)
        limit = p_value_text(found.threshold)
        assert page.facts["Alpha"] == "0.01"
        assert page.facts["False discovery rate"] == f"0.2 (p up to {limit})"
        members, outside, *_ = page.grids
        assert f"at most alpha but above {limit}, the association is too weak" in outside.about
        assert "Adjusted p is" in members.about
        at = members.columns.index("Adjusted p")
        assert [row[at].text for row in members.rows] == [p_value_text(found.adjusted_p[n]) for n in found.blanket]
        assert "Adjusted p" not in outside.columns  # no member was removed
        assert "Adjusted p is" not in outside.about

    def test_a_weak_association_is_not_called_separated(self) -> None:
        found = wide()
        variables = {v["name"]: v for v in blanket_page(found).graph["variables"]}
        evidence = {row["variable"]: row for row in found.evidence if not row["included"]}
        weak = [name for name, row in evidence.items() if found.level < row["p"] <= found.alpha]
        assert weak
        assert not any(s["label"].startswith("Separated") for name in weak for s in variables[name]["sets"])
        apart = next(n for n, row in evidence.items() if row["p"] > found.alpha and "sets" in variables.get(n, {}))
        assert any(s["label"].startswith("Separated") for s in variables[apart]["sets"])

    def test_without_a_rate(self, found: serape.Result) -> None:
        page = blanket_page(found)
        assert "False discovery rate" not in page.facts
        assert not any(" rate" in grid.about or "Adjusted p" in grid.columns for grid in page.grids[:2])

    def test_columns_that_say_nothing_are_hidden(self, found: serape.Result) -> None:
        assert "Rows per cell" in blanket_page(found).grids[0].columns
        numbers = blanket_page(wide()).grids[0]
        assert "Rows per cell" not in numbers.columns
        assert {"Statistic", "Degrees of freedom"} < set(numbers.columns)
        assert {len(row) for row in numbers.rows} == {len(numbers.columns)}

    def test_an_empty_answer_names_the_nearest(self) -> None:
        found = wide(by_chance=True)
        assert not found.members
        text = "".join(blanket_page(found).answer)
        nearest = sorted(found.evidence, key=lambda row: row["p"])[:5]
        said = ", ".join(f"{row['variable']} {p_value_text(row['p'])}" for row in nearest)
        assert f"was shown to belong to the Markov blanket of class. The smallest p: {said}." in text
        assert f"By the false discovery rate, a member needs p of at most {p_value_text(found.level)}." in text

    def test_notes_come_before_the_tables(self) -> None:
        text = Reader(page_text(blanket_page(wide()))).text
        assert text.index("was chosen because") < text.index("Members of the blanket")


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
