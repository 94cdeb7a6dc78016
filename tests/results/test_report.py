"""Reports, as far as they can be read without a browser; test_report_browser opens them in one."""

import base64
import hashlib
import json
import re
import shlex
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import serape
from serape.cli import main
from serape.data.example import clinic
from serape.data.provenance import fingerprint
from serape.data.writing import write_table
from serape.results.report import blanket_page, network_page, page_text
from serape.results.report.page import json_for_html, listed, shown

NASTY = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "' onfocus='alert(4)",
    "a\u2028b\u2029c",
    "{{script}}",
    "&lt;b&gt;",
    "<!--",
    "]]>",
    "\u202egnorw",
    "a\x00b",
    "\ud800",
]


class Reader(HTMLParser):
    """Reads a page: elements, texts, and what stands in which script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.inside:
            self._open = tag
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag == self._open else self._open

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.inside[self._open][-1] += data
        else:
            self.texts.append(data)

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.inside["script"][0])
        return found

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def attribute(self, tag: str, name: str) -> list[str]:
        return [attrs[name] or "" for t, attrs in self.elements if t == tag and name in attrs]


@pytest.fixture(scope="module")
def found() -> serape.Result:
    return serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01)


@pytest.fixture(scope="module")
def read(found: serape.Result) -> Reader:
    return Reader(page_text(blanket_page(found)))


def nasty(rows: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=rows)
    data = {NASTY[0]: target}
    data.update({name: np.where(rng.random(rows) < 0.8, target, 1 - target) for name in NASTY[1:]})
    return data


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
        assert len(captions) == len([tag for tag, _ in read.elements if tag == "table"]) == 3
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
        few = Reader(page_text(blanket_page(serape.markov_blanket(clinic(100), "HeartDisease"))))
        assert "Warnings" in few.text
        assert "tests (" in few.text
        assert "skipped: too few rows" in few.text

    def test_notes_and_interruptions_are_told(self) -> None:
        data = {**clinic(300), "Constant": ["x"] * 300}

        def stopping(search: serape.Search, target: int) -> None:
            search.members(target).add(1)
            raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as caught:
            serape.markov_blanket(data, "HeartDisease", algorithm=stopping)
        stopped = caught.value.found
        text = Reader(page_text(blanket_page(stopped))).text
        assert "The search was interrupted" in text
        assert "constant, so never part of a blanket: 'Constant'" in text

    def test_an_oracle(self) -> None:
        oracle = serape.DSeparation(nx.DiGraph([("a", "t"), ("t", "c"), ("s", "c"), ("a", "b")]))
        text = Reader(page_text(blanket_page(serape.markov_blanket(oracle, "t", algorithm="pcmb")))).text
        assert "passed in place of data" in text
        assert "test = …" in text
        assert "command line" not in text

    def test_a_loaded_result_has_the_same_report(self, found: serape.Result, tmp_path: Path) -> None:
        found.save(tmp_path / "f.json")
        found.report(tmp_path / "a.html")
        serape.load_result(tmp_path / "f.json").report(tmp_path / "b.html")
        assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()

    def test_an_old_file_has_a_report_too(self, found: serape.Result, tmp_path: Path) -> None:
        content = found.to_dict()
        del content["data"]
        (tmp_path / "old.json").write_text(json.dumps(content))
        serape.load_result(tmp_path / "old.json").report(tmp_path / "old.html")
        assert "HeartDisease" in (tmp_path / "old.html").read_text()

    def test_a_folder_that_is_not_there(self, found: serape.Result, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="cannot be written"):
            found.report(tmp_path / "none" / "report.html")


class TestSize:
    def test_100_000_variables(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        values = rng.integers(2, size=(200, 100_000)).astype(np.int8)
        for k in range(1, 10):
            values[:, k] = np.where(rng.random(200) < 0.8, values[:, 0], values[:, k])
        found = serape.markov_blanket(values, "x0", algorithm="gs")
        found.report(tmp_path / "r.html")
        assert (tmp_path / "r.html").stat().st_size < 1_000_000
        read = Reader((tmp_path / "r.html").read_text())
        outside = 99_999 - len(found.blanket)
        assert f"{outside - 300:,} more are excluded and not embedded" in read.text
        assert read.content["absent"] == outside - 300
        # those embedded are those of the least p
        here = {v["name"] for v in read.content["variables"][: read.content["described"]]} - {*found.blanket, "x0"}
        log_p = dict(zip(found.trace.names, found.trace.to_dict()["log_p"], strict=True))
        rest = sorted(log_p[name] for name in log_p if name not in {*found.blanket, "x0"})
        assert sorted(log_p[name] for name in here) == rest[:300]

    def test_very_long_names(self, tmp_path: Path) -> None:
        values = np.random.default_rng(0).integers(2, size=(100, 500))
        found = serape.markov_blanket({f"{'long' * 2000}{k}": values[:, k] for k in range(500)}, 0, max_conditioning=2)
        found.report(tmp_path / "r.html")
        assert (tmp_path / "r.html").stat().st_size < 1_000_000

    def test_a_large_network(self, tmp_path: Path) -> None:
        graph: nx.Graph[str] = nx.Graph()
        names = [f"{'variable' * 12}{k}" for k in range(3000)]
        graph.add_nodes_from(names)
        seen = {"statistic": 9.0, "dof": 1.0, "log_p": -9.0, "reliable": True, "given": tuple(names[:3])}
        graph.add_edges_from((names[k], names[k // 3], seen) for k in range(1, 3000))
        found = serape.Structure(
            finds="skeleton", graph=graph, algorithm="hiton-pc", test="g2", alpha=0.05, score=None, total=None,
            tests=1, tests_by_size={0: 1}, skipped=0, seconds=1.0, options={}, notes=(), complete=True,
            separating_sets={},
        )  # fmt: skip
        found.report(tmp_path / "r.html")
        assert (tmp_path / "r.html").stat().st_size < 1_000_000
        read = Reader((tmp_path / "r.html").read_text())
        assert read.content["absent"] == 3000 - read.content["described"]
        assert "of 2,999 edges, between" in read.text
        assert read.content["mode"] == "around"


class TestSafety:
    @pytest.fixture(scope="class")
    @classmethod
    def text(cls) -> str:
        return page_text(
            blanket_page(serape.markov_blanket(nasty(), NASTY[0], algorithm="hiton-mb", max_conditioning=2))
        )

    def test_names_are_shown_not_run(self, text: str) -> None:
        read = Reader(text)
        plain = Reader(page_text(blanket_page(serape.markov_blanket(
            {f"v{k}": values for k, values in enumerate(nasty().values())}, 0, algorithm="hiton-mb", max_conditioning=2
        ))))  # fmt: skip
        assert Counter(tag for tag, _ in read.elements) == Counter(tag for tag, _ in plain.elements)
        known = {name for _, attrs in plain.elements for name in attrs}
        assert {name for _, attrs in read.elements for name in attrs} == known
        assert not [name for name in known if name.startswith("on")]
        assert {v["name"] for v in read.content["variables"]} == {shown(name) for name in NASTY}
        assert "<script>alert(1)</script>" in read.text

    def test_the_script_cannot_be_left(self, text: str) -> None:
        assert len(re.findall("<script", text)) == 2
        inside = Reader(text).inside["script"][0]
        assert not re.search("[<>&\u2028\u2029]", inside)

    def test_it_can_be_written_as_utf_8(self, text: str) -> None:
        text.encode()
        assert "\x00" not in text

    def test_the_policy_names_what_is_there(self, text: str) -> None:
        read = Reader(text)
        policy = next(a["content"] or "" for t, a in read.elements if t == "meta" and "http-equiv" in a)
        digest = {
            kind: base64.b64encode(hashlib.sha256(read.inside[kind][-1].encode()).digest()).decode()
            for kind in ("script", "style")
        }
        assert policy.startswith("default-src 'none';")
        assert f"script-src 'sha256-{digest['script']}'" in policy
        assert f"style-src 'sha256-{digest['style']}'" in policy

    def test_nothing_is_fetched(self, text: str) -> None:
        read = Reader(text)
        assert not [t for t, attrs in read.elements if t in ("link", "img", "iframe", "object") or "src" in attrs]
        assert all(link.startswith("#") for link in read.attribute("a", "href"))
        assert "url(" not in read.inside["style"][0]
        assert not [attrs for _, attrs in read.elements if "style" in attrs]  # which the policy forbids

    def test_json(self) -> None:
        value = {"a": "</script>\u2028&", "b": [1.5, float("nan")]}
        assert json.loads(json_for_html(value)) == {"a": "</script>\u2028&", "b": [1.5, None]}

    def test_words(self) -> None:
        assert "".join(listed(["a"])) == "a"
        assert "".join(listed(["a", "b", "c"])) == "a, b and c"
        assert "".join(listed("abcdef", 3)) == "a, b, c and 3 more"
        assert len(shown("x" * 500)) == 120
        assert shown("y" * 500 + "end").endswith("end")


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

    @pytest.mark.parametrize("algorithm", ["mmhc", "pc-stable", "ges", "hiton-pc", "sca"])
    def test_networks(self, algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(1000, 1), path)
        found = serape.network(path, algorithm)
        page = network_page(found)
        again = self.python(page)
        assert (again.edges, again.tests, again.total) == (found.edges, found.tests, found.total)
        assert again.options == found.options
        assert [[e["from"], e["to"]] for e in self.shell(page, capsys)["edges"]] == [list(e) for e in found.edges]

    def test_skeletons(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(1000, 1), path)
        found = serape.skeleton(path, "inter-iapc", rule="or", alpha=0.2)
        page = network_page(found)
        assert self.python(page).edges == found.edges
        assert len(self.shell(page, capsys)["edges"]) == len(found.edges)


class TestNetworks:
    def test_whole(self) -> None:
        found = serape.network(serape.load_network("asia").sample(2000, 1), "pc-stable")
        read = Reader(page_text(network_page(found)))
        assert read.content["mode"] == "full"
        assert len(read.content["boxes"]) == 8
        names = [v["name"] for v in read.content["variables"]]
        assert [(names[e["a"]], names[e["b"]]) for e in read.content["edges"]] == list(found.edges)
        boxes = read.content["boxes"]
        for k, (x, y, w, h) in enumerate(boxes):
            for x2, y2, w2, h2 in boxes[k + 1 :]:
                assert abs(x - x2) > (w + w2) / 2 or abs(y - y2) > (h + h2) / 2  # no box on another

    def test_no_edges(self) -> None:
        values = np.random.default_rng(0).integers(2, size=(50, 4))
        text = Reader(page_text(network_page(serape.network(values, "pc-stable", alpha=1e-9)))).text
        assert "None of the 4 variables has a neighbour" in text

    def test_found_by_score_alone(self) -> None:
        text = Reader(page_text(network_page(serape.network(serape.load_network("asia").sample(300, 1), "ges")))).text
        assert "No tests were performed" in text
        assert "what the score would lose without it" in text


class TestFingerprint:
    def test_where_data_come_from_does_not_matter(self, tmp_path: Path) -> None:
        data = clinic(100)
        write_table(serape.Table(data), tmp_path / "d.csv")
        prints = {fingerprint(serape.Table(d)) for d in (data, pd.DataFrame(data), tmp_path / "d.csv")}
        assert len(prints) == 1
        assert re.fullmatch("[0-9a-f]{32}", prints.pop())

    def test_every_change_shows(self) -> None:
        data: dict[str, list[Any]] = {"a": [0, 1, 0, 1], "b": [0.5, 1.5, 2.5, 3.5], "c": ["u", "v", "u", "u"]}
        changed = [
            {**data, "a": [0, 1, 1, 1]},
            {**data, "b": [0.5, 1.5, 2.5, 3.6]},
            {**data, "c": ["u", "w", "u", "u"]},
            {"A": data["a"], "b": data["b"], "c": data["c"]},
            {"b": data["b"], "a": data["a"], "c": data["c"]},
            {name: values[:3] for name, values in data.items()},
        ]
        prints = [fingerprint(serape.Table(d)) for d in (data, *changed)]
        assert len(set(prints)) == len(prints)

    def test_missing_values(self) -> None:
        gap = serape.Table({"a": [0, 1, None, 1], "b": [1, 1, 0, 0]}, missing="pairwise")
        other = serape.Table({"a": [0, 1, 1, None], "b": [1, 1, 0, 0]}, missing="pairwise")
        assert fingerprint(gap) != fingerprint(other)
        assert fingerprint(gap) == fingerprint(
            serape.Table({"a": [0, 1, None, 1], "b": [1, 1, 0, 0]}, missing="pairwise")
        )

    def test_a_result_carries_it(self, tmp_path: Path) -> None:
        table = serape.Table(clinic(200))
        found = serape.markov_blanket(table, "Age")
        assert found.data is not None
        assert (found.data.rows, found.data.columns, found.data.fingerprint) == (200, 14, fingerprint(table))
        found.save(tmp_path / "f.json")
        assert serape.load_result(tmp_path / "f.json").data == found.data
        net = serape.network(table)
        net.save(tmp_path / "n.json")
        kept = serape.load_structure(tmp_path / "n.json").data
        assert kept is not None
        assert kept.fingerprint == fingerprint(table)


def test_a_report_is_an_html_file(tmp_path: Path) -> None:
    found = serape.markov_blanket(clinic(500), "HeartDisease")
    with pytest.raises(serape.OptionError, match="ends in .html"):
        found.report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())
