"""Constant columns, copies and functions of other columns, against comparing all pairs."""

import math
from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import serape
from serape import Table
from serape.data.degenerate import Degenerate, degenerate, determined_by, functions_of


def groups_of(names: list[str], pairs: list[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    graph: nx.Graph[str] = nx.Graph(pairs)
    found = [tuple(n for n in names if n in part) for part in nx.connected_components(graph)]
    return tuple(sorted(found, key=lambda group: names.index(group[0])))


def same_partition(a: list[Any], b: list[Any]) -> bool:
    """Whether two columns put the same rows together; None is equal to None only."""
    if [v is None for v in a] != [v is None for v in b]:
        return False
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


class TestCopies:
    @given(st.integers(0, 10**6), st.sampled_from([2, 3, 7, 9, 40]), st.sampled_from([2, 3, 5]), st.booleans())
    @settings(max_examples=80, deadline=None)
    def test_categories_against_all_pairs(self, seed: int, rows: int, levels: int, gaps: bool) -> None:
        random = np.random.default_rng(seed)
        columns: dict[str, list[Any]] = {}
        for k in range(12):
            own: list[Any] = [f"v{v}" for v in random.integers(random.integers(1, levels + 1), size=rows)]
            if gaps and random.random() < 0.5:
                own = [None if random.random() < 0.2 else v for v in own]
            if k and random.random() < 0.5:  # a copy with levels renamed
                own = list(columns[f"c{random.integers(k)}"])
                seen = list(dict.fromkeys(v for v in own if v is not None))
                new = dict(zip(seen, random.permutation([f"w{v}" for v in range(len(seen))]), strict=True))
                own = [None if v is None else str(new[v]) for v in own]
            columns[f"c{k}"] = own if any(v is not None for v in own) else ["x"] * rows
        found = degenerate(Table(columns, missing="pairwise"))
        constant = [name for name, values in columns.items() if len({v for v in values if v is not None}) == 1]
        assert found.constant == tuple(constant)
        varying = [name for name in columns if name not in constant]
        pairs = [(a, b) for a, b in combinations(varying, 2) if same_partition(columns[a], columns[b])]
        assert found.duplicates == groups_of(varying, pairs)
        assert found.rescaled == ()
        for name in columns:
            assert set(found.interchangeable(name)) == {a if b == name else b for a, b in pairs if name in (a, b)}

    def test_numbers_against_all_pairs(self) -> None:
        random = np.random.default_rng(1)
        base = random.normal(size=(50, 6)) * [1, 1e-200, 1e200, 1e3, 1, 5] + [0, 0, 0, 1e6, -3, 0]
        columns: dict[str, NDArray[Any]] = {f"b{k}": base[:, k] for k in range(6)}
        columns["copy"] = base[:, 0].copy()
        columns["negative"] = -base[:, 0]
        columns["fahrenheit"] = 32 + 1.8 * base[:, 3]
        columns["tiny"] = base[:, 1] * 1e-90
        columns["nearly"] = base[:, 4] + 1e-5 * random.normal(size=50)
        columns["huge"] = base[:, 2] * -3e99
        columns["same"] = np.full(50, 0.5)
        columns["cubed"] = base[:, 5] ** 3
        found = degenerate(columns)
        assert found.constant == ("same",)
        assert found.duplicates == (("b0", "copy"),)
        assert found.rescaled == (
            ("b0", "copy", "negative"),
            ("b1", "tiny"),
            ("b2", "huge"),
            ("b3", "fahrenheit"),
        )
        assert found.interchangeable("copy") == ("b0", "negative")
        assert found.interchangeable("nearly") == ()
        assert found.interchangeable("no such column") == ()
        assert bool(found)
        assert any("duplicates up to scale" in note and "'b3', 'fahrenheit'" in note for note in found.notes)

    def test_gaps_in_numbers(self) -> None:
        values = np.random.default_rng(2).normal(size=30)
        gone, other = values.copy(), values.copy()
        gone[3], other[4] = math.nan, math.nan
        table = Table(
            {"a": values, "b": gone, "c": gone.copy(), "d": 2 * gone + 1, "e": other, "f": np.where(gone > 9, 0, gone)},
            missing="pairwise",
        )
        found = degenerate(table)
        assert found.duplicates == (("b", "c", "f"),)
        assert found.rescaled == (("b", "c", "d", "f"),)

    def test_a_gap_is_no_value(self) -> None:
        columns = {"a": ["x", None, "y", "x"], "b": [None, "v", "u", None], "c": ["x", "z", "y", "x"]}
        assert degenerate(Table(columns, missing="pairwise")).duplicates == ()

    def test_zeros_of_both_signs(self) -> None:
        assert degenerate({"a": [0.0, 1.5, 2.5], "b": [-0.0, 1.5, 2.5]}).duplicates == (("a", "b"),)

    def test_levels_that_do_not_occur(self) -> None:
        frame = pd.DataFrame(
            {
                "two": ["u", "v", "u", "v"],
                "three": pd.Categorical(["q", "p", "q", "p"], categories=["p", "q", "r"]),
                "many": pd.Categorical(["k1", "k0", "k1", "k0"], categories=[f"k{k}" for k in range(300)]),
                "never": pd.Categorical(["p"] * 4, categories=["p", "q", "r"]),
            }
        )
        found = degenerate(frame)
        assert found.duplicates == (("two", "three", "many"),)
        assert found.constant == ("never",)

    def test_hostile_numbers(self) -> None:
        found = degenerate(
            {
                "extremes": [-1.7e308, 1.7e308, 0.0, 1.0],
                "halves": [-0.85e308, 0.85e308, 0.0, 0.5],
                "subnormal": [0.0, 5e-324, 1e-323, 0.0],
                "far": [1e16, 1e16 + 2, 1e16 + 4, 1e16],
            }
        )
        assert found.constant == ()
        assert found.duplicates == ()
        assert ("extremes", "halves") in found.rescaled
        assert ("subnormal", "far") in found.rescaled  # (0, 1, 2, 0) both

    def test_nothing(self) -> None:
        found = degenerate(np.random.default_rng(3).integers(3, size=(100, 5)))
        assert not found
        assert found == Degenerate((), ())
        assert str(found) == "no degenerate columns"

    def test_wide(self) -> None:
        """Blocks do not matter."""
        random = np.random.default_rng(4)
        values = random.integers(2, size=(9, 5000))
        found = degenerate(values)
        expected = defaultdict(list)
        for k, column in enumerate((values ^ values[0]).T):
            expected[column.tobytes()].append(f"x{k}")
        assert found.constant == tuple(expected.pop(np.zeros(9, values.dtype).tobytes(), ()))
        assert set(found.duplicates) == {tuple(group) for group in expected.values() if len(group) > 1}

    def test_small_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values = np.random.default_rng(5).integers(2, size=(6, 50))
        expected = degenerate(values)
        monkeypatch.setattr("serape.data.degenerate._BLOCK", 20)
        assert degenerate(values) == expected

    def test_a_copy_of_a_member_is_named(self) -> None:
        """Of two copies a search finds one; the other is interchangeable with it."""
        random = np.random.default_rng(6)
        cause = random.integers(2, size=2000)
        effect = np.where(random.random(2000) < 0.8, cause, random.integers(2, size=2000))
        table = Table({"cause": cause, "effect": effect, "copy": np.array(["no", "yes"])[cause]})
        found = serape.markov_blanket(table, "effect").blanket
        assert len(found) == 1
        other = degenerate(table).interchangeable(found[0])
        assert {*found, *other} == {"cause", "copy"}


class TestDetermined:
    @given(
        st.integers(0, 10**6),
        st.sampled_from([2, 10, 200]),
        st.integers(0, 3),
        st.sampled_from([0.0, 0.05, 0.5]),
        st.booleans(),
    )
    @settings(max_examples=80, deadline=None)
    def test_against_counting(self, seed: int, rows: int, size: int, noise: float, gaps: bool) -> None:
        random = np.random.default_rng(seed)
        columns: dict[str, Any] = {f"c{k}": random.integers(3, size=rows).astype(object) for k in range(3)}
        columns["c2"] = columns["c2"] + 0.5  # continuous
        target = (columns["c0"] + columns["c1"]) % 3
        columns["t"] = np.where(random.random(rows) < noise, random.integers(3, size=rows), target).astype(object)
        if gaps:
            for values in columns.values():
                values[random.random(rows) < 0.1] = None
                values[0] = 0.5 if values is columns["c2"] else 1
        table = Table({name: list(values) for name, values in columns.items()}, missing="pairwise")
        names = [f"c{k}" for k in range(size)]
        seen: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
        for row in zip(*(columns[name] for name in [*names, "t"]), strict=True):
            if None not in row:
                seen[row[:-1]][row[-1]] += 1
        count = sum(c.total() for c in seen.values())
        violations = count - sum(max(c.values()) for c in seen.values())
        found = determined_by(table, "t", names, tolerance=0.1)
        assert (found.violations, found.rows, found.combinations) == (violations, count, len(seen))
        assert bool(found) == (violations <= 0.1 * count)
        assert found.exact == (violations == 0)
        assert found.columns == tuple(names)

    def test_one_column_by_name_or_position(self) -> None:
        data = {"age": [1, 2, 3, 4, 5, 6] * 5, "adult": ["no"] * 15 + ["yes"] * 15, "half": [0, 0, 0, 1, 1, 1] * 5}
        assert determined_by(data, "half", "age")
        assert determined_by(data, 2, 0).exact
        assert not determined_by(data, "age", ["half"])
        assert determined_by(data, "adult", []).violations == 15

    def test_near(self) -> None:
        x = np.arange(1000) % 4
        y = x // 2
        y[:7] = 1 - y[:7]
        data = {"x": x, "y": y}
        assert not determined_by(data, "y", "x")
        assert determined_by(data, "y", "x", tolerance=0.007)
        assert not determined_by(data, "y", "x", tolerance=0.0069)
        assert determined_by(data, "y", "x").share == 0.007

    @pytest.mark.parametrize("tolerance", [-0.1, 1, 2, math.nan])
    def test_bad_tolerance(self, tolerance: float) -> None:
        with pytest.raises(serape.OptionError, match="tolerance is a share"):
            determined_by({"a": [1, 2], "b": [1, 2]}, "a", "b", tolerance)

    def test_bad_columns(self) -> None:
        with pytest.raises(serape.OptionError, match="'a' determines itself"):
            determined_by({"a": [1, 2], "b": [1, 2]}, "a", ["b", "a"])
        with pytest.raises(serape.OptionError, match="no column 'c'"):
            determined_by({"a": [1, 2], "b": [1, 2]}, "a", "c")


class TestPairs:
    def test_what_determines_what(self) -> None:
        """State determines country, nearly; a rare level is not determined because it is rare."""
        random = np.random.default_rng(8)
        state = random.integers(12, size=3000)
        country = state // 4
        country[:5] = (country[:5] + 1) % 3
        rare = (np.arange(3000) % 500 == 0).astype(int)
        data = {"state": state, "country": country, "again": 2 - country, "rare": rare, "one": np.zeros(3000, int)}
        assert degenerate(data).determined == ()
        found = degenerate(data, tolerance=0.01)
        assert [(d.columns, d.target, d.violations) for d in found.determined] == [
            (("state",), "country", 5),
            (("state",), "again", 5),
        ]
        assert "'state' determines 'country' in all but 5 of 3,000 rows" in str(found)
        assert not degenerate(data, tolerance=0.001).determined

    def test_gaps_and_identifiers(self) -> None:
        x = [0, 1, 2, 3] * 10
        table = Table(
            {"x": x, "y": [None if k == 0 else v // 2 for k, v in enumerate(x)], "id": [f"p{k}" for k in range(40)]},
            kinds={"y": "categorical"},
            missing="pairwise",
        )
        found = degenerate(table, tolerance=0.0).determined
        assert [(d.columns, d.target, d.rows) for d in found] == [(("x",), "y", 39)]

    def test_bad_tolerance(self) -> None:
        with pytest.raises(serape.OptionError, match="tolerance is a share"):
            degenerate({"a": [1, 2], "b": [1, 2]}, tolerance=1)
        with pytest.raises(serape.OptionError, match="tolerance is a share"):
            degenerate({"a": [1, 2], "b": [1, 2]}, tolerance="x")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(8))
def test_functions_of_is_determined_by_for_many_targets(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 3, 40), random.integers(0, 2, 40)
    columns: dict[str, Any] = {
        "a": a,
        "b": b,
        "of a": a // 2,
        "of both": (a + b) % 3,
        "noise": random.integers(0, 2, 40),
    }
    columns["row"] = np.arange(40)
    if seed % 2:
        columns = {name: [None if random.random() < 0.1 else int(v) for v in c] for name, c in columns.items()}
    table = serape.Table(columns, kinds="categorical", missing="pairwise")
    targets = [table.position(name) for name in ("of a", "of both", "noise", "row")]
    for some_columns in (("a",), ("a", "b"), ("row", "a")):
        sets = [(name,) for name in some_columns] + [some_columns]
        expected = []
        for x in targets:
            answers = [serape.determined_by(table, table.names[x], some) for some in sets if table.names[x] not in some]
            if any(one.exact and 2 * one.combinations <= one.rows for one in answers):
                expected.append(x)
        asked = [x for x in targets if table.names[x] not in some_columns]
        got = functions_of(table, asked, [table.position(name) for name in some_columns])
        assert got == [x for x in expected if x in asked]
        assert ("of a" in {table.names[x] for x in got}) >= (seed % 2 == 0)


def test_identifiers_are_no_duplicates() -> None:
    found = serape.degenerate({"id": range(100, 140), "day": [k / 2 for k in range(40)], "x": [0, 1] * 20})
    assert not found.rescaled
