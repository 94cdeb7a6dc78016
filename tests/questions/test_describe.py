"""What `describe` says about data, against tables whose oddities are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from command import run
from serape.data.example import clinic
from serape.questions import describe as described

ROWS = 600


def odd() -> pd.DataFrame:
    """Return a frame with one column of each oddity, and some ordinary ones."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(ROWS) < 0.4, "yes", "no")
    weight = rng.normal(70, 10, ROWS)
    city = rng.choice(["Rome", "Oslo", "Bern"], ROWS)
    visits = rng.poisson(12, ROWS)
    frame = pd.DataFrame(
        {
            "patient": np.arange(ROWS) + 5001,
            "y": y,
            "weight": weight,
            "pounds": 2.2 * weight + 1,
            "city": city,
            "land": pd.Series(city).map({"Rome": "I", "Oslo": "N", "Bern": "CH"}),
            "visits": visits,
            "last": np.datetime64("2024-01-01") + visits**2,
            "one": 1,
            "share": np.where(rng.random(ROWS) < 0.1, np.nan, rng.random(ROWS)),
            "leak": np.where((y == "yes") ^ (np.arange(ROWS) > ROWS - 3), "A", "B"),
            "nil": None,
        }
    )
    frame.loc[:2, "city"] = None
    return frame


@pytest.fixture(scope="module")
def found() -> serape.Description:
    return serape.describe(odd(), "y")


def row(found: serape.Description, name: str) -> dict[str, Any]:
    """Return the row of a column."""
    return next(row for row in found.records if row["variable"] == name)


class TestDescription:
    def test_kinds_and_reasons_are_those_of_the_table(self, found: serape.Description) -> None:
        table = serape.Table(odd(), missing="pairwise", ignore=["nil"])
        kinds = {column.variable: (column.kind, column.why) for column in found.columns if column.kind != "empty"}
        assert kinds == {name: (v.kind, v.reason) for name, v in table.variables.items()}
        assert row(found, "patient")["used_as"] == "nothing"
        assert row(found, "y")["used_as"] == "categories"
        assert row(found, "last")["used_as"] == "numbers"

    def test_what_is_odd_is_named(self, found: serape.Description) -> None:
        assert found.empty == ("nil",)
        assert found.constant == ("one",)
        assert found.identifiers == ("patient",)
        assert found.dates == ("last",)
        assert found.rescaled == (("weight", "pounds"),)
        assert found.target == "y"
        assert row(found, "one")["remarks"] == "constant"
        assert row(found, "y")["remarks"].startswith("the target")
        assert "up to scale equal to 'pounds'" in row(found, "weight")["remarks"]

    def test_gaps(self, found: serape.Description) -> None:
        gaps = odd().isna().sum()
        assert {c.variable: c.missing for c in found.columns} == gaps.to_dict()
        assert found.complete_rows == len(odd().drop(columns="nil").dropna())
        assert any("a search needs a rule for missing values" in note for note in found.notes)

    def test_near_determination(self, found: serape.Description) -> None:
        pairs = {(one.by, one.variable): one.left for one in found.determined}
        assert ("city", "land") in pairs  # a duplicate but for gaps
        assert pairs["visits", "last"] == pytest.approx(0, abs=1e-12)
        assert ("leak", "y") in pairs
        assert not any("one" in pair or "patient" in pair or "share" in pair for pair in pairs)
        assert not {("weight", "pounds"), ("pounds", "weight")} & set(pairs)  # told as duplicates

    def test_leaks_of_the_target(self, found: serape.Description) -> None:
        assert found.leaks == ("leak",)
        assert serape.describe(odd()).leaks == ()
        copied = odd().assign(cubed=lambda d: d["weight"] ** 3)
        assert serape.describe(copied, "weight").copies == ("pounds", "cubed")

    def test_values(self, found: serape.Description) -> None:
        y = odd()["y"].value_counts(normalize=True)
        assert row(found, "y")["values"] == ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in y.items())
        last = odd()["last"].dt.date
        assert row(found, "last")["values"].startswith(f"{last.min()} to {last.max()}, median ")
        assert row(found, "visits")["values"].endswith(f"median {odd()['visits'].median():.0f}")
        assert row(found, "patient")["values"] == "5,001, 5,002, 5,003, …"

    @pytest.mark.parametrize("name", ["numbers", "categories", "many rows"])
    def test_the_choice_is_what_the_questions_choose(self, name: str) -> None:
        rng = np.random.default_rng(1)
        data: Any = {
            "numbers": {k: rng.normal(size=300) for k in "abcd"},
            "categories": clinic(300),
            "many rows": {k: rng.integers(0, 2, 60_000) for k in "abc"},
        }[name]
        choices = {choice.question: choice for choice in serape.describe(data).choices}
        table = serape.Table(data)
        for question in (serape.markov_blanket, serape.parents_children):
            asked = question(table, 0)
            choice = choices[question.__name__]
            assert (choice.algorithm, choice.test, choice.alpha, choice.fdr) == (
                asked.algorithm, asked.test, asked.alpha, asked.fdr,
            )  # fmt: skip
            assert choice.max_conditioning == asked.options["max_conditioning"]
            assert choice.fdr_method == asked.options["fdr_method"]
        network = serape.network(table)
        choice = choices["network"]
        assert (choice.algorithm, choice.test, choice.score) == (network.algorithm, network.test, network.score)
        assert (choice.alpha, choice.fdr) == (network.alpha, network.fdr)

    def test_frames_and_json(self, found: serape.Description) -> None:
        assert list(found.to_pandas()["variable"]) == list(odd())
        content = json.loads(found.to_json())
        assert [column["variable"] for column in content["columns"]] == list(odd())
        assert content["leaks"] == ["leak"]
        assert content["choices"][0]["question"] == "markov_blanket"
        assert json.loads(json.dumps(found.to_dict())) == content

    def test_text(self, found: serape.Description) -> None:
        text = str(found)
        assert text.splitlines()[0] == "600 rows and 12 columns, target y"
        assert all(str(name) in text for name in odd())
        assert text.count('"auto" for') == 3
        assert repr(found) == text


class TestBounds:
    def test_pairs_of_many_columns_are_not_compared_and_this_is_told(self) -> None:
        rng = np.random.default_rng(0)
        few = {f"c{k}": rng.integers(0, 2, 300) for k in range(described.MAX_COMPARED - 1)}
        few["last"] = np.where(np.arange(300) == 7, 1 - few["c0"], few["c0"])
        assert {one.by for one in serape.describe(few).determined} == {"c0", "last"}
        many = {**few, "more": rng.integers(0, 2, 300)}
        found = serape.describe(many)
        assert found.determined == ()
        assert any("61 columns and at most 60 are compared in pairs" in note for note in found.notes)

    def test_candidates_that_are_not_compared_are_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(described, "MAX_CANDIDATES", 5)
        found = serape.describe(clinic(200), "HeartDisease")
        assert any("8 columns were not compared with the target" in note for note in found.notes)


class TestInput:
    def test_a_table_is_described_as_it_is(self) -> None:
        table = serape.Table(odd().drop(columns="nil"), missing="drop")
        found = serape.describe(table, "y")
        assert found.rows == found.complete_rows == table.rows
        assert found.duplicates == (("city", "land"),)
        assert row(found, "land")["remarks"] == "duplicate of 'city'"

    def test_rules_for_missing_values(self) -> None:
        data = odd()[["y", "city", "share"]]
        assert serape.describe(data, missing="drop").rows == len(data.dropna())
        found = serape.describe(data, missing={"city": "drop"})
        assert (found.rows, found.complete_rows) == (len(data.dropna(subset="city")), len(data.dropna()))
        with pytest.raises(serape.DataError, match="values are missing in 'city'"):
            serape.describe(data, missing={"city": "error"})

    def test_refusals(self) -> None:
        test = serape.DSeparation(serape.load_network("asia").graph)
        with pytest.raises(serape.InputTypeError, match="describe needs data, not the independence test"):
            serape.describe(test)
        with pytest.raises(serape.OptionError, match=r"there is no column 'z'"):
            serape.describe(odd(), "z")
        with pytest.raises(serape.DataError, match="the target 'one' is constant"):
            serape.describe(odd(), "one")
        with pytest.raises(serape.OptionError, match="alpha=0.25 has no effect here: no search is made"):
            serape.describe(odd(), alpha=0.25)

    def test_data_without_any_search(self) -> None:
        found = serape.describe({"a": [1, 2, 1, 2]})
        assert found.choices == ()
        assert "no search is possible: the table has one column" in " ".join(found.notes)
        assert serape.describe({"a": [None, None], "b": [1, 2]}).empty == ("a",)
        with pytest.raises(serape.DataError, match="'a' has no values at all"):
            serape.describe({"a": [None, None]})


def test_only_a_description_leaves_columns_without_values_out() -> None:
    data = {"nil": [None] * 300, **clinic(300)}
    assert serape.describe(data).columns[-1].variable == "nil"
    for rule in ("error", "pairwise"):
        with pytest.raises(serape.DataError, match="'nil' has no values at all; ignore it"):
            serape.markov_blanket(data, "HeartDisease", missing=rule)
    with pytest.raises(serape.OptionError, match="name the target, because columns without values"):
        serape.describe(data, 3)
    assert serape.describe(clinic(300), 3).target == list(clinic(300))[3]


class TestCommand:
    def test_table_and_json(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "odd.csv"
        odd().to_csv(path, index=False)
        code, out, err = run(capsys, "describe", str(path), "--target", "y")
        assert (code, err) == (0, "")
        assert "600 rows and 12 columns, target y" in out
        assert "identifier" in out
        assert '"auto" for network' in out
        content = json.loads(run(capsys, "describe", str(path), "-t", "y", "--json")[1])
        assert content["leaks"] == ["leak"]
        assert content["empty"] == ["nil"]

    def test_many_columns(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "wide.csv"
        pd.DataFrame(np.arange(750).reshape(5, 150) % 7).to_csv(path, index=False)
        out = run(capsys, "describe", str(path))[1]
        assert "and 50 more variables (--json lists all)" in out

    def test_bad_data_and_bad_use(self, capsys: pytest.CaptureFixture[str], patients: str) -> None:
        assert run(capsys, "describe", "nothing.csv")[0] == 1
        assert run(capsys, "describe", patients, "--target", "Nobody")[0] == 2
