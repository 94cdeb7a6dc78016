"""The page of a report: its size, names that are meant to do harm, its name."""

import base64
import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from html_reader import Reader
from serape.data.example import clinic
from serape.markup import shown
from serape.results.report import blanket_page, page_text
from serape.results.report.page import json_for_html, listed

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


def nasty(rows: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=rows)
    data = {NASTY[0]: target}
    data.update({name: np.where(rng.random(rows) < 0.8, target, 1 - target) for name in NASTY[1:]})
    return data


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


def test_a_report_is_an_html_file(tmp_path: Path) -> None:
    found = serape.markov_blanket(clinic(500), "HeartDisease")
    with pytest.raises(serape.OptionError, match="ends in .html"):
        found.report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())
