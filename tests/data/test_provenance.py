"""Fingerprints of data."""

import re
from pathlib import Path
from typing import Any

import pandas as pd

import serape
from serape.data.example import clinic
from serape.data.provenance import fingerprint
from serape.data.writing import write_table


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
