"""Results: explanation, evidence, graph, saving."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import serape
from serape.data.example import clinic
from serape.results.saved import json_text


@pytest.fixture(scope="module")
def found() -> serape.Result:
    return serape.markov_blanket(clinic(5000), "HeartDisease", "iamb", alpha=0.01)


def test_fields(found: serape.Result) -> None:
    assert found.target == "HeartDisease"
    assert found.blanket == ("Age", "Smoking", "BloodPressure", "Anxiety", "ECG", "ChestPain")
    assert found.parents_children is None
    assert found.spouses is None
    assert found.tests == sum(found.tests_by_size.values()) > 0
    assert found.alpha == 0.01
    assert found.algorithm == "iamb"
    assert found.test == "g2"
    assert found.seconds > 0
    assert found.complete
    assert found.options["dof"] == "full"


def test_explain_a_member(found: serape.Result) -> None:
    why = found.explain("Smoking")
    assert why.included
    assert why.separating_set is None
    assert why.given is not None
    data = clinic(5000)
    again = serape.ci_test(data, "Smoking", "HeartDisease", list(why.given))
    assert (why.statistic, why.dof, why.log_p) == (again.statistic, again.dof, again.log_p)
    assert why.p <= 0.01
    assert str(why).startswith("Smoking is in the Markov blanket of HeartDisease: given ")
    assert repr(why) == str(why)
    assert "\n" not in str(why)


def test_explain_an_outsider(found: serape.Result) -> None:
    why = found.explain("Weight")
    assert not why.included
    assert why.separating_set == why.given
    assert set(why.given or ()) == set(found.blanket)
    assert why.p > 0.01
    assert "it is independent of HeartDisease" in str(why)


def test_explain_what_could_not_be_tested() -> None:
    data = {"t": [0, 1] * 10, "x": [str(k) for k in range(20)]}
    why = serape.markov_blanket(data, "t").explain("x")
    assert not why.reliable
    assert "skipped" in str(why)


def test_explain_what_came_and_went() -> None:
    """A grandparent can enter IAMB first and has to leave."""
    graph = nx.DiGraph([("a", "p"), ("a", "q"), ("p", "t"), ("q", "t")])
    found = serape.markov_blanket(serape.DSeparation(graph), "t")
    assert found.blanket == ("p", "q")
    why = found.explain("a")
    assert why.history == ("entered", "left")
    assert "It entered and left again during the search." in str(why)


def test_explain_what_the_bound_kept_out() -> None:
    found = serape.markov_blanket(clinic(5000), "HeartDisease", "iamb", max_conditioning=2)
    outside = next(name for name in ("Age", "Smoking", "BloodPressure") if name not in found.blanket)
    assert "conditioning sets have at most 2 members" in str(found.explain(outside))
    assert "over max_conditioning" in str(found)


def test_explain_nonsense(found: serape.Result) -> None:
    with pytest.raises(serape.OptionError, match="is the target itself"):
        found.explain("HeartDisease")
    with pytest.raises(serape.OptionError, match="no variable 'Wieght'. Did you mean 'Weight'"):
        found.explain("Wieght")


def test_evidence_is_a_table(found: serape.Result) -> None:
    evidence = found.evidence
    assert len(evidence) == 13
    assert evidence.columns == (
        "variable", "included", "statistic", "dof", "log_p", "reliable",
        "p", "adjusted_p", "effect", "effect_name", "effect_value", "rows", "rows_per_cell", "given", "separating_set",
        "entered", "left",
    )  # fmt: skip
    frame = evidence.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert set(frame.loc[frame.included, "variable"]) == set(found.blanket)
    assert isinstance(evidence.to_polars(), pl.DataFrame)
    assert evidence.to_frame("pyarrow").num_rows == 13
    assert "Weight" in repr(evidence)
    rows = {row["variable"]: row for row in evidence}
    weight, smoking = rows["Weight"], rows["Smoking"]
    assert weight["separating_set"] == weight["given"] == ", ".join(found.explain("Weight").given or ())
    assert smoking["separating_set"] is None
    assert smoking["entered"] is not None
    assert smoking["left"] is weight["entered"] is None
    assert smoking["p"] <= 0.01 < weight["p"]
    # 5,000 rows; Weight has 3 levels, HeartDisease 2, and the blanket 3 · 2 · 3 · 2 · 2 · 2
    assert weight["rows_per_cell"] == pytest.approx(5000 / (3 * 2 * 144))


def test_graph(found: serape.Result) -> None:
    graph = found.graph
    assert set(graph) == {found.target, *found.blanket}
    assert graph.nodes["HeartDisease"]["role"] == "target"
    assert all(graph.edges["HeartDisease", name]["relation"] == "member" for name in found.blanket)


def test_text(found: serape.Result) -> None:
    assert str(found).startswith("Markov blanket of HeartDisease: Age, Smoking")
    assert "skipped as unreliable" in str(found)
    assert "no variables" in str(serape.markov_blanket(clinic(200), "Ward", alpha=1e-9))


class TestSaving:
    def test_round_trip(self, found: serape.Result, tmp_path: Path) -> None:
        path = tmp_path / "found.json"
        found.save(path)
        again = serape.load_result(path)
        assert again == found
        assert json_text(again) == json_text(found)
        assert str(again.explain("Weight")) == str(found.explain("Weight"))
        json.loads(path.read_text(), parse_constant=pytest.fail)  # no NaN, which JSON does not have

    def test_numbers_of_numpy_and_a_seed(self, tmp_path: Path) -> None:
        numbers: dict[str, Any] = {"alpha": np.float32(0.05), "max_conditioning": np.int64(2), "n_jobs": np.int64(1)}
        found = serape.markov_blanket(clinic(100), "Age", random_state=3, **numbers)
        found.save(tmp_path / "f.json")
        assert serape.load_result(tmp_path / "f.json").options["random_state"] == 3

    def test_a_folder_is_no_file(self, found: serape.Result, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="cannot be written"):
            found.save(tmp_path)

    def test_infinities_survive(self, tmp_path: Path) -> None:
        found = serape.markov_blanket(serape.DSeparation(nx.DiGraph([("a", "t")])), "t")
        found.save(tmp_path / "f.json")
        assert serape.load_result(tmp_path / "f.json").explain("a").log_p == -math.inf

    def test_nothing_is_left_of_a_failed_save(
        self, found: serape.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "found.json"
        path.write_text("before")

        def fail(*_: object) -> None:
            raise OSError("disk full")

        monkeypatch.setattr("os.replace", fail)
        with pytest.raises(serape.DataError, match="cannot be written: disk full"):
            found.save(path)
        assert [p.name for p in tmp_path.iterdir()] == ["found.json"]
        assert path.read_text() == "before"

    def test_a_folder_that_is_not_there(self, found: serape.Result, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="cannot be written"):
            found.save(tmp_path / "none" / "found.json")

    @pytest.mark.parametrize(
        "content", ["", "{", "[]", "3", '{"format": "other"}', '{"format": "serape-result-1"}', "[" * 5000]
    )
    def test_damaged_files(self, content: str, tmp_path: Path) -> None:
        path = tmp_path / "bad.json"
        path.write_text(content)
        with pytest.raises(serape.DataError):
            serape.load_result(path)

    def test_every_missing_or_wrong_part_is_noticed(self, found: serape.Result, tmp_path: Path) -> None:
        path = tmp_path / "bad.json"
        found.save(path)
        whole = json.loads(path.read_text())
        for key in whole:
            for damage in ("gone", 7, "text", {"a": 1}):
                content = {k: v for k, v in whole.items() if k != key} if damage == "gone" else {**whole, key: damage}
                path.write_text(json.dumps(content))
                try:
                    serape.load_result(path)
                except serape.DataError:
                    continue
                assert damage != "gone" or key in (
                    "data",
                    "call",
                    "fdr",
                    "threshold",
                    "adjusted_p",
                )  # newer than some files

    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="there is no file"):
            serape.load_result(tmp_path / "none.json")


def test_algorithms_table() -> None:
    table = serape.algorithms()
    assert table.columns == ("name", "finds", "family", "sound", "paper")
    assert {"gs", "iamb"} <= set(table["name"])
    assert table.to_pandas().shape == (len(table), 5)
    assert table[0]["name"] == "gs"


def test_too_few_rows_are_told() -> None:
    few = serape.Table({"a": [1, 2, 1], "b": [2, 1, 1], "c": [1, 1, 2]}, kinds="categorical")
    found = serape.markov_blanket(few, "a", algorithm="iamb")
    assert found.tests == 0
    assert any("no test is reliable" in note for note in found.notes)
    enough = serape.load_network("alarm").sample(200, seed=1)
    assert not any("no test is reliable" in note for note in serape.markov_blanket(enough, "HR").notes)


def test_a_column_that_was_left_out_is_told_so() -> None:
    table = serape.Table({"a": [1, 2, 1], "b": [2, 1, 1], "c": [1, 1, 2]}, kinds="categorical", ignore=["c"])
    with pytest.raises(serape.OptionError, match="'c' is ignored, as asked"):
        serape.markov_blanket(table, "c")


def test_equal_results_may_take_different_times() -> None:
    data = clinic(200)
    one, other = (serape.markov_blanket(data, "HeartDisease", "iamb") for _ in range(2))
    assert one == other
    assert one == dataclasses.replace(other, seconds=1e9)
    assert one != dataclasses.replace(other, alpha=0.5)


def test_an_infinite_effect_is_saved_and_read_again(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=200)
    frame = pd.DataFrame({"a": x, "b": -x, "c": np.random.default_rng(1).normal(size=200)})
    found = serape.parents_children(frame, "a", "ipc-mb", test="fisher-z")
    effect = found.explain("b").effect
    assert effect is not None
    assert math.isinf(effect.bits)
    found.save(tmp_path / "a.json")
    read = serape.load_result(tmp_path / "a.json")
    assert read == found
    assert str(read.explain("b")) == str(found.explain("b"))
    read.report(tmp_path / "a.html")
    skeleton = serape.skeleton(frame, "hiton-pc", test="fisher-z")
    skeleton.save(tmp_path / "s.json")
    assert serape.load_structure(tmp_path / "s.json") == skeleton
    assert skeleton != serape.skeleton(frame[["a", "c"]], "hiton-pc", test="fisher-z")
