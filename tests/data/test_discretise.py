"""Classes of continuous columns: cuts against brute force, and the same cuts on other data."""

import json
import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from serape import Table
from serape.data.discretise import METHODS, Discretised, discretise, labels_of

VALUES = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.5]), st.floats(-1e308, 1e308, allow_nan=False)), min_size=2, max_size=60
)


def classes_of(values: list[float], cuts: list[float]) -> list[int]:
    """The class of every value, one comparison at a time."""
    return [sum(v > c for c in cuts) for v in values]


class TestQuantile:
    def test_without_ties(self) -> None:
        random = np.random.default_rng(0)
        for rows, bins in [(100, 5), (101, 4), (7, 3), (50, 50), (1000, 7)]:
            values = random.normal(size=rows)
            found = discretise({"x": values, "y": values > 0}, bins=bins)
            counts = np.bincount(found.table.codes(0), minlength=bins)
            assert len(counts) == bins
            assert set(counts) <= {rows // bins, -(-rows // bins)}
        assert discretise({"x": np.arange(100) / 2}, bins=4).cuts["x"].tolist() == [12.0, 24.5, 37.0]
        assert found.table.rows == 1000

    @given(VALUES, st.integers(2, 9))
    @settings(max_examples=150, deadline=None)
    def test_against_brute_force(self, values: list[float], bins: int) -> None:
        """Each cut is at the boundary between distinct values that is nearest to its share; the lower of two."""
        distinct = sorted(set(values))
        expected = set()
        for k in range(1, bins):
            wanted = Fraction(k * len(values), bins)
            boundaries = [(abs(sum(v <= d for v in values) - wanted), d) for d in distinct[:-1]]
            if boundaries:
                expected.add(min(boundaries)[1])
        found = discretise({"x": np.array(values)}, bins=bins)
        assert found.cuts["x"].tolist() == sorted(expected)
        assert found.table.codes(0).tolist() == classes_of(values, sorted(expected))
        assert len(set(found.table.codes(0).tolist())) == len(expected) + 1  # no class is empty

    def test_ties_are_told(self) -> None:
        """Nine tenths zeros, as in Adult's capital gains; and the same from above."""
        gains = np.concatenate([np.zeros(90), np.arange(1, 11) * 1000.5])
        found = discretise({"gain": gains, "loss": 5.5 - gains})
        assert found.cuts["gain"].tolist() == [0.0]
        assert found.table.variables["gain"].levels == ("(-inf, 0]", "(0, inf)")
        assert found.cuts["loss"].tolist() == [5.5 - 1000.5]
        assert any("fewer than 5 classes" in n and "'gain', 'loss'" in n for n in found.table.notes)


class TestWidth:
    @given(VALUES, st.integers(2, 9))
    @settings(max_examples=150, deadline=None)
    def test_any_values(self, values: list[float], bins: int) -> None:
        found = discretise({"x": np.array(values)}, "width", bins)
        cuts = found.cuts["x"].tolist()
        assert cuts == sorted(set(cuts))
        assert len(cuts) < bins
        assert all(min(values) <= c < max(values) for c in cuts)
        assert found.table.codes(0).tolist() == classes_of(values, cuts)
        if max(abs(v) for v in values) < 1e6 and max(values) - min(values) > 1e-3:
            width = (max(values) - min(values)) / bins
            assert cuts == pytest.approx([min(values) + k * width for k in range(1, bins)], rel=1e-9, abs=1e-9)

    def test_one_value(self) -> None:
        found = discretise({"x": [2.5, 2.5, 2.5]}, "width")
        assert found.table.variables["x"].levels == ("(-inf, inf)",)
        assert found.table.is_constant(0)

    def test_empty_classes_are_levels(self) -> None:
        found = discretise({"x": [0.0, 0.1, 0.2, 10.0]}, "width", 5)
        assert found.table.levels(0) == 5
        assert found.table.codes(0).tolist() == [0, 0, 0, 4]


def entropy(classes: list[Any]) -> float:
    return -sum(
        classes.count(c) / len(classes) * math.log2(classes.count(c) / len(classes)) for c in dict.fromkeys(classes)
    )


def plain_mdl(rows: list[tuple[float, Any]]) -> list[float]:
    """Fayyad and Irani's recursion by the formulas, trying every boundary."""
    values = sorted({v for v, _ in rows})
    best: tuple[float, float] | None = None
    for low, high in pairwise(values):
        left, right = [c for v, c in rows if v <= low], [c for v, c in rows if v > low]
        information = (len(left) * entropy(left) + len(right) * entropy(right)) / len(rows)
        if best is None or information < best[0] - 1e-9:
            best = information, (low + high) / 2
    if best is None:
        return []
    information, cut = best
    left, right = [r for r in rows if r[0] <= cut], [r for r in rows if r[0] > cut]
    k, k1, k2 = (len({c for _, c in part}) for part in (rows, left, right))
    e, e1, e2 = (entropy([c for _, c in part]) for part in (rows, left, right))
    delta = math.log2(3**k - 2) - (k * e - k1 * e1 - k2 * e2)
    if e - information <= (math.log2(len(rows) - 1) + delta) / len(rows):
        return []
    return [*plain_mdl(left), cut, *plain_mdl(right)]


class TestMdl:
    @given(
        st.integers(0, 10**6),
        st.sampled_from([2, 8, 40, 120]),
        st.sampled_from([1, 2, 3, 4]),
        st.sampled_from([0.0, 0.1, 0.3, 1.0]),
        st.sampled_from([5, 30, 10**6]),
    )
    @settings(max_examples=120, deadline=None)
    def test_against_the_formulas(self, seed: int, rows: int, classes: int, noise: float, distinct: int) -> None:
        random = np.random.default_rng(seed)
        values = random.integers(distinct, size=rows) / 4
        target = np.floor(values / values.max() * (classes - 1e-9)) if values.max() > 0 else values * 0
        target = np.where(random.random(rows) < noise, random.integers(classes, size=rows), target).astype(int)
        labels = [f"t{c}" for c in target]
        found = discretise({"x": values, "t": labels}, "mdl", target="t")
        assert found.cuts["x"].tolist() == plain_mdl(list(zip(values.tolist(), labels, strict=True)))

    def test_a_clear_case(self) -> None:
        x = np.arange(300) / 10
        target = np.where(x < 10, "low", np.where(x < 20, "mid", "high"))
        noise = np.random.default_rng(1).normal(size=300)
        found = discretise({"x": x, "noise": noise, "t": target}, "mdl", target="t")
        assert found.cuts["x"] == pytest.approx([9.95, 19.95])
        assert found.cuts["noise"].tolist() == []
        table = found.table
        assert table.is_constant(1)
        assert any("one class only, as no cut informs enough about the target: 'noise'" in note for note in table.notes)
        assert any("constant" in note for note in table.notes)
        assert found.target == "t"

    def test_many_classes_and_a_constant_target(self) -> None:
        x = np.arange(400) / 4
        many = [f"c{k // 4}" for k in range(400)]
        assert discretise({"x": x, "t": many}, "mdl", target="t").table.levels(0) > 1
        assert discretise({"x": x, "t": ["a"] * 400}, "mdl", target="t").cuts["x"].tolist() == []

    def test_neighbouring_numbers(self) -> None:
        """There is no number between these; the cut is the lower."""
        low = 1.0
        high = float(np.nextafter(low, 2))
        found = discretise({"x": [low] * 50 + [high] * 50, "t": ["a"] * 50 + ["b"] * 50}, "mdl", target="t")
        assert found.cuts["x"].tolist() == [low]
        assert found.table.codes(0).tolist() == [0] * 50 + [1] * 50


class TestTables:
    def test_other_columns_stay(self) -> None:
        frame = pd.DataFrame(
            {
                "x": [0.5, 1.5, 2.5, 3.5],
                "c": pd.Categorical(["u", "v", "u", "u"], categories=["w", "v", "u"]),
                "n": [1, 2, 1, 2],
                "y": [5.5, 4.5, 3.5, 2.5],
            }
        )
        table = Table(frame, ignore=["n"])
        found = discretise(table, bins=2, columns="x")
        assert list(found.cuts) == ["x"]
        assert found.table.names == ("x", "c", "y")
        assert found.table.variables["c"] == table.variables["c"]
        assert found.table.variables["y"].kind == "continuous"
        assert found.table.column("x").tolist() == ["(-inf, 1.5]", "(-inf, 1.5]", "(1.5, inf)", "(1.5, inf)"]
        assert found.table.variables["x"].reason == "2 classes, divided by quantiles"
        assert found.table.notes[:2] == ("ignored, as asked: 'n'", "divided into classes by quantiles: 'x' (2)")
        assert table.variables["x"].kind == "continuous"

    def test_gaps_stay(self) -> None:
        table = Table(
            {"x": [0.5, math.nan, 2.5, 3.5, 4.5, 5.5], "t": ["a", "a", "a", "b", None, "b"]}, missing="pairwise"
        )
        for method in ("quantile", "width"):
            found = discretise(table, method, 2)
            assert list(found.table.missing) == [0, 1]
            assert found.table.column("x")[1] is None
            assert found.table.column("x")[0] == found.table.variables["x"].levels[0]
        x, t = np.arange(200.0) + 0.5, [*("a" * 100), *("b" * 50), None, *("b" * 49)]
        x[3] = math.nan
        assert discretise(Table({"x": x, "t": t}, missing="pairwise"), "mdl", target="t").cuts["x"].tolist() == [100.0]

    def test_apply(self) -> None:
        random = np.random.default_rng(2)
        frame = pd.DataFrame({"x": random.normal(size=100), "y": random.normal(size=100), "c": ["u", "v"] * 50})
        for method in METHODS:
            found = discretise(frame, method, target="c" if method == "mdl" else None)
            again = found.apply(frame)
            assert again.names == found.table.names
            for k in range(3):
                assert again.variables[again.names[k]] == found.table.variables[found.table.names[k]]
                assert (again.codes(k) == found.table.codes(k)).all()
        found = discretise(frame, bins=4)
        new = found.apply({"y": [-99, 0, 99], "x": ["-1e300", "0.0", "1e300"]})
        assert new.names == ("y", "x")
        assert new.codes(0).tolist()[::2] == new.codes(1).tolist()[::2] == [0, 3]
        assert new.levels(0) == new.levels(1) == 4
        assert new.variables["x"].levels == found.levels["x"] == labels_of(found.cuts["x"])
        few = Table({"x": [1, 2, 1], "y": [1, 1, 2]})  # categories, by the rule for whole numbers
        assert found.apply(few).codes(0).tolist() == classes_of([1, 2, 1], found.cuts["x"].tolist())
        one_level = found.apply({"x": [9.5, 9.5], "y": [0.5, 1.5]})
        assert one_level.is_constant(0)
        gone = found.apply({"x": [9.5, None], "y": [0.5, 1.5]}, missing="pairwise")
        assert list(gone.missing) == [0]

    def test_apply_refuses(self) -> None:
        found = discretise({"height": [0.5, 1.5, 2.5]}, bins=2)
        with pytest.raises(serape.DataError, match="no column 'height', which has cuts. Did you mean 'heights'"):
            found.apply({"heights": [0.5, 1.5]})
        with pytest.raises(serape.DataError, match="no column 'height'"):
            found.apply(Table({"a": [0.5, 1.5]}))
        with pytest.raises(serape.DataError, match="'height' cannot be continuous: it holds 'tall'"):
            found.apply({"height": ["tall", "1"]})
        with pytest.raises(serape.DataError, match="'height' cannot be divided into classes: it holds 'short'"):
            found.apply(Table({"height": ["tall", "short"]}))
        with pytest.raises(serape.DataError, match="values are missing in 'height'"):
            found.apply({"height": [0.5, math.nan]})

    def test_saved_and_loaded(self, tmp_path: Path) -> None:
        random = np.random.default_rng(3)
        frame = {"x": random.normal(size=100) / 3, "c": ["u", "v"] * 50}
        found = discretise(frame, bins=7)
        path = tmp_path / "cuts.json"
        path.write_text(json.dumps(found.to_dict()))
        loaded = Discretised.from_dict(json.loads(path.read_text()))
        assert loaded.to_dict() == found.to_dict()
        assert (loaded.cuts["x"] == found.cuts["x"]).all()
        assert (loaded.apply(frame).codes(0) == found.table.codes(0)).all()
        assert repr(loaded) == repr(found)
        with pytest.raises(serape.OptionError, match="have no table; use apply"):
            _ = loaded.table

    @pytest.mark.parametrize(
        "saved",
        [
            {},
            [],
            None,
            {"method": "quantile"},
            {"method": "magic", "cuts": {}},
            {"method": "width", "cuts": [1]},
            {"method": "width", "cuts": {"x": [2, 1]}},
            {"method": "width", "cuts": {"x": [1, 1]}},
            {"method": "width", "cuts": {"x": [math.nan]}},
            {"method": "width", "cuts": {"x": [math.inf]}},
            {"method": "width", "cuts": {"x": "abc"}},
            {"method": "width", "cuts": {"x": [[1, 2]]}},
            {"method": "width", "cuts": {"x": list(range(65_536))}},
            {"method": "mdl", "cuts": {}, "target": 3},
        ],
    )
    def test_loading_refuses(self, saved: Any) -> None:
        with pytest.raises(serape.DataError):
            Discretised.from_dict(saved)

    def test_then_a_discrete_algorithm(self) -> None:
        random = np.random.default_rng(4)
        a = random.normal(size=4000)
        b = a + random.normal(size=4000) / 2
        c = b + random.normal(size=4000) / 2
        table = discretise({"a": a, "b": b, "c": c, "d": random.normal(size=4000)}, bins=3).table
        assert "b" in serape.markov_blanket(table, "a").blanket
        assert "d" not in serape.markov_blanket(table, "a").blanket

    def test_nothing_to_divide(self) -> None:
        found = discretise({"a": [1, 2, 1]})
        assert found.cuts == {}
        assert any("no column is continuous" in note for note in found.table.notes)


class TestRefusals:
    DATA: dict[str, list[Any]] = {"x": [0.5, 1.5, 2.5], "c": ["u", "v", "u"], "n": [1, 2, 1]}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"method": "quantiles"}, "method='quantiles' is not known.*Did you mean 'quantile'"),
            ({"method": 3}, "method=3 is not known"),
            ({"bins": 1}, "bins must be a whole number from 2"),
            ({"bins": 2.5}, "bins must be a whole number"),
            ({"bins": True}, "bins must be a whole number"),
            ({"bins": 100_000}, "bins must be a whole number from 2 to 65,536"),
            ({"columns": ["y"]}, "there is no column 'y'"),
            ({"columns": [7]}, "no column at position 7"),
            ({"columns": ["x", "c"]}, "'c' cannot be divided into classes: categorical already .text."),
            ({"columns": "n"}, "'n' cannot be divided.*pass kinds={'n': 'continuous'} to Table"),
            ({"method": "mdl"}, "method='mdl' needs a target"),
            ({"target": "c"}, "target is for method='mdl'; method='quantile' does not"),
            ({"method": "mdl", "target": "x"}, "needs a categorical target, but 'x' is continuous"),
            ({"method": "mdl", "target": "z"}, "there is no column 'z'"),
            ({"columns": 1.5}, "columns must be names or positions"),
        ],
    )
    def test_options(self, options: Any, sentence: str) -> None:
        with pytest.raises(serape.SerapeError, match=sentence):
            discretise(self.DATA, **options)

    def test_missing_and_infinite_values(self) -> None:
        with pytest.raises(serape.DataError, match="values are missing in 'x'"):
            discretise({"x": [0.5, math.nan]})
        with pytest.raises(serape.DataError, match="infinite"):
            discretise({"x": [0.5, math.inf]})


class TestLabels:
    def test_as_few_digits_as_needed(self) -> None:
        assert labels_of([3.2, 7.1]) == ("(-inf, 3.2]", "(3.2, 7.1]", "(7.1, inf)")
        assert labels_of([]) == ("(-inf, inf)",)
        assert labels_of([1.00001, 1.00002]) == ("(-inf, 1.00001]", "(1.00001, 1.00002]", "(1.00002, inf)")

    @given(st.sets(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
    def test_all_different(self, cuts: set[float]) -> None:
        labels = labels_of(sorted(cuts))
        assert len(set(labels)) == len(labels) == len(cuts) + 1
