"""Gaps: kept by Table(missing="pairwise"), tested on complete rows only, and read from text as people write it."""

import gzip
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import serape
from plain import PlainContingency
from serape import Outcome, Table
from serape.data.example import clinic
from serape.independence import G2, X2
from serape.independence.base import IndependenceTest
from serape.independence.pairwise import Pairwise
from serape.independence.subset_query import SubsetQuery

Frame = pd.DataFrame


class PlainCorrelation(IndependenceTest):
    """Pearson's correlation of two continuous columns; nothing can be given."""

    name = "plain correlation"

    def __init__(self, table: Table) -> None:
        self.table, self.variables, self.rows = table, table.names, table.rows

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        assert not given
        found = stats.pearsonr(self.table.numbers(x), self.table.numbers(y))
        return Outcome(float(found.statistic), 1, math.log(float(found.pvalue)), reliable=True, rows=self.rows)


def gappy(
    random: np.random.Generator, rows: int, levels: Sequence[int], gaps: Sequence[float], kinds: int = 99
) -> Frame:
    """Draw columns partly copied from each other, each missing a share of its values, in at most so many patterns."""
    masks = [random.random(rows) for _ in range(min(kinds, len(levels)))]
    codes: list[NDArray[np.int64]] = []
    frame = {}
    for k, (count, share) in enumerate(zip(levels, gaps, strict=True)):
        own = random.integers(count, size=rows)
        if k:
            own = np.where(random.random(rows) < 0.5, codes[int(random.integers(k))] % count, own)
        codes.append(own)
        column = pd.Categorical.from_codes(own.tolist(), categories=pd.Index([f"l{v}" for v in range(count)]))
        frame[f"c{k}"] = pd.Series(column).where(masks[k % len(masks)] >= share)
    return pd.DataFrame(frame)


def complete(frame: Frame, positions: Sequence[int]) -> Table | None:
    """Return the table of the rows complete for some columns, or None if it has fewer than two rows."""
    rows = frame.iloc[:, list(positions)].dropna()
    return Table(rows) if len(rows) > 1 else None


class TestTable:
    def test_gaps_are_kept_and_counted(self) -> None:
        table = Table(
            {"a": ["x", None, "y", None], "b": [0.5, 1.5, math.nan, 2.5], "c": [1, 2, 1, 2]}, missing="pairwise"
        )
        assert table.rows == 4
        assert {k: mask.tolist() for k, mask in table.missing.items()} == {
            0: [False, True, False, True],
            1: [False, False, True, False],
        }
        assert table.variables["a"].levels == ("x", "y")
        assert table.column("a").tolist() == ["x", None, "y", None]
        assert np.array_equal(table.column("b"), [0.5, 1.5, math.nan, 2.5], equal_nan=True)
        assert table.column("c").tolist() == [1, 2, 1, 2]
        assert "'a' (2, first in row 1), 'b' (1, first in row 2)" in table.notes[0]
        assert "1 of 4 rows are complete for all" in table.notes[0]
        back = table.to_pandas()
        assert back["a"].isna().tolist() == [False, True, False, True]
        assert back["b"].isna().tolist() == [False, False, True, False]

    @pytest.mark.parametrize(
        "data",
        [
            pd.DataFrame({"a": pd.array([1, None, 2, 2], dtype="Int64"), "b": [1, 2, 1, 2]}),
            pl.DataFrame({"a": [True, None, False, True], "b": [1, 2, 1, 2]}),
            np.ma.array(
                [[0, 1], [9, 2], [2, 0], [2, 0]], mask=[[False, False], [True, False], [False, False], [False, False]]
            ),
            np.array([[0.5, 1], [math.nan, 2], [2, 0], [2, 0]]),
            [{"a": "x", "b": 1}, {"b": 2}, {"a": "y", "b": 1}, {"a": "x", "b": 2}],
        ],
    )
    def test_every_source(self, data: Any) -> None:
        table = Table(data, missing="pairwise")
        assert list(table.missing) == [0]
        assert table.missing[0].tolist() == [False, True, False, False]

    def test_without_gaps_nothing_changes(self) -> None:
        for rule in ("error", "drop", "level", "pairwise"):
            table = Table({"a": [1, 2, 1], "b": [0.5, 1.5, 2.5]}, missing=rule)
            assert table.missing == {}
            assert table.notes == ()
        assert Table({"a": ["x", None, "y"], "b": [1, 2, 1]}, missing="level").missing == {}
        assert Table({"a": ["x", None, "y"], "b": [1, 2, 1]}, missing="drop").missing == {}

    def test_what_is_not_there_is_never_counted(self) -> None:
        table = Table({"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]}, missing="pairwise")
        with pytest.raises(serape.DataError, match=r"'a' \(1, first in row 1\); with missing='pairwise' only tests"):
            G2(table)

    def test_constant_but_for_gaps(self) -> None:
        table = Table(
            {"a": ["x", None, "x"], "b": [0.5, math.nan, 0.5], "c": [0.5, math.nan, 1.5], "d": [1, 2, 1]},
            missing="pairwise",
        )
        assert [table.is_constant(k) for k in range(4)] == [True, True, False, False]
        assert table.varying == [2, 3]

    def test_the_refusal_offers_it(self) -> None:
        with pytest.raises(serape.DataError, match=r"\(1 of 3\), missing='pairwise' to keep them"):
            Table({"a": ["x", None, "x"], "b": [1, 2, 3]})
        with pytest.raises(serape.DataError, match="no values at all"):
            Table({"a": [None, None], "b": [1, 2]}, missing="pairwise")

    def test_parts(self) -> None:
        random = np.random.default_rng(1)
        frame = gappy(random, 60, [2, 3, 9, 2], [0, 0.3, 0.2, 0.5])
        frame["r"] = random.normal(size=60)
        frame.loc[::7, "r"] = math.nan
        frame["wide"] = [f"w{k:03}" for k in range(60)]
        table = Table(frame, missing="pairwise")
        mask = random.random(60) < 0.5
        for rows in (mask, np.flatnonzero(mask), None):
            part = table.part([5, 2, 4, 1], rows)
            expected = frame.iloc[:, [5, 2, 4, 1]]
            expected = expected if rows is None else expected[mask]
            assert part.names == ("wide", "c2", "r", "c1")
            assert part.rows == len(expected)
            for k, name in enumerate(part.names):
                assert part.variables[name] == table.variables[name]
                gone = expected[name].isna().to_numpy()
                assert (k in part.missing) == bool(gone.any())
                assert (part.column(k)[~gone] == expected[name].to_numpy()[~gone]).all()
        part = table.part([1], np.flatnonzero(frame["c1"] == "l1"))
        assert part.levels(0) == 3
        assert part.is_constant(0)


QUESTIONS = st.tuples(
    st.integers(0, 10**6),
    st.sampled_from([3, 20, 100, 400]),
    st.lists(st.sampled_from([2, 2, 3, 5, 9]), min_size=6, max_size=6),
    st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.5, 0.9]), min_size=6, max_size=6),
    st.sampled_from([1, 2, 99]),
)


class TestAnswers:
    @pytest.mark.parametrize("rule", ["full", "adjusted"])
    @given(QUESTIONS)
    @settings(max_examples=30, deadline=None)
    def test_each_on_its_complete_rows(self, rule: Literal["full", "adjusted"], question: Any) -> None:
        """Every test, in any order, is what a fresh table of the complete rows gives."""
        seed, rows, levels, gaps, kinds = question
        random = np.random.default_rng(seed)
        frame = gappy(random, rows, levels, gaps, kinds)
        if frame.isna().all().any():
            return
        test = Pairwise(Table(frame, missing="pairwise"), lambda t: G2(t, rule))
        for _ in range(12):
            x, y, *z = (int(v) for v in random.permutation(6)[: int(random.integers(2, 6))])
            found = test.test(x, y, z)
            present = frame.iloc[:, [x, y, *z]].notna().all(axis=1)
            assert found.rows == int(present.sum()) == test.rows_of([x, y, *z])
            table = complete(frame, [x, y, *z])
            if table is None:
                assert not found.reliable
                continue
            indices = range(2, 2 + len(z))
            expected = G2(table, rule).test(0, 1, indices)
            assert found == expected or (math.isnan(found.log_p) and found.dof == expected.dof == 0)
            plain = PlainContingency(table, "g2", rule).test(0, 1, indices)
            assert found.statistic == pytest.approx(plain.statistic, abs=1e-8)
            assert test.rows_per_cell([x, *z]) == pytest.approx(
                len(frame.iloc[:, [x, *z]].dropna()) / math.prod(levels[v] for v in (x, *z))
            )

    @given(QUESTIONS)
    @settings(max_examples=40, deadline=None)
    def test_batches_are_single_tests(self, question: Any) -> None:
        seed, rows, levels, gaps, kinds = question
        random = np.random.default_rng(seed)
        frame = gappy(random, rows, levels, gaps, kinds)
        if frame.isna().all().any():
            return
        table = Table(frame, missing="pairwise")
        test, single = Pairwise(table, G2), Pairwise(table, G2)
        for _ in range(4):
            target, *others = (int(v) for v in random.permutation(6))
            z = others[: int(random.integers(0, 3))]
            candidates = others[len(z) :]
            screen = test.screen(target, candidates, z)
            for index, x in enumerate(candidates):
                outcome, expected = screen.outcome(index), single.test(x, target, z)
                assert outcome.rows == expected.rows
                assert outcome.reliable == expected.reliable
                if expected.reliable:
                    assert outcome == expected
                else:
                    assert math.isnan(outcome.log_p)
            assert (screen.at(np.array([1])).outcome(0).rows) == screen.outcome(1).rows
            first = test.first_dependent(target, candidates, z, math.log(0.2))
            expected_first = IndependenceTest.first_dependent(single, target, candidates, z, math.log(0.2))
            assert first.xs.tolist() == expected_first.xs.tolist()
            assert np.array_equal(first.log_p, expected_first.log_p, equal_nan=True)
            for stop, shrinking, survivor in [(None, False, False), (math.log(0.05), True, False), (-1.0, False, True)]:
                options: Any = {"stop_above": stop, "shrinking": shrinking, "until_survivor": survivor, "fixed": z[:1]}
                pool = [v for v in others if v not in z[:1]]
                sizes, options["n_exhausted"] = range(int(random.integers(2)), 6), int(random.integers(-1, 4))
                found, tally = test.search_subsets(SubsetQuery(pool, target, pool, sizes, **options))
                plain, counted = IndependenceTest.search_subsets(
                    single, SubsetQuery(pool, target, pool, sizes, **options)
                )
                assert tally == counted
                assert found.xs.tolist() == plain.xs.tolist()
                assert found.survivors == plain.survivors
                for one, other in zip(found, plain, strict=True):
                    assert (one.given, one.separated) == (other.given, other.separated)
                    if other.outcome.reliable:
                        x = int(found.xs[list(found).index(one)])
                        assert one.outcome == single.test(x, target, one.given)

    def test_any_test_and_continuous_columns(self) -> None:
        random = np.random.default_rng(3)
        values = random.normal(size=(80, 4))
        values[:, 1] += values[:, 0]
        values[random.random((80, 4)) < 0.2] = math.nan
        values[:, 3] = random.normal(size=80)
        test = Pairwise(Table(values, missing="pairwise"), PlainCorrelation)
        assert test.name == "plain correlation"
        for x, y in combinations(range(4), 2):
            present = ~np.isnan(values[:, [x, y]]).any(axis=1)
            expected = stats.pearsonr(values[present, x], values[present, y])
            for found in (test.test(x, y), test.screen(y, [x]).outcome(0)):
                assert found.statistic == pytest.approx(expected.statistic)
                assert found.rows == int(present.sum())

    def test_never_observed_together(self) -> None:
        table = Table(
            {"a": ["x", "y", "x", None, None, None], "b": [None, None, "u", "u", "v", "u"], "c": [0, 1] * 3},
            missing="pairwise",
        )
        test = Pairwise(table, lambda t: G2(t, reliability=None))
        for outcome in (test.test(0, 1), test.test(0, 2, [1]), test.screen(0, [1]).outcome(0)):
            assert not outcome.reliable
            assert math.isnan(outcome.p)
            assert outcome.rows == 1
        assert test.screen(2, [0, 1]).rows.tolist() == [3, 4]  # type: ignore[attr-defined]
        found, tally = test.search_subsets(SubsetQuery([0], 1, [2], range(2)))
        assert not found.reliable.any()
        assert tally.performed == 0
        assert tally.skipped == 2

    def test_without_gaps_it_is_the_test_itself(self) -> None:
        table = Table(np.random.default_rng(4).integers(3, size=(200, 8)))
        made = []

        def make(part: Table) -> G2:
            made.append(part)
            return G2(part)

        test = Pairwise(table, make)
        plain = G2(table)
        assert test.name == "g2"
        assert test.test(0, 1, [2]) == plain.test(0, 1, [2])
        assert np.array_equal(test.screen(0, [3, 1, 2], [5]).log_p, plain.screen(0, [3, 1, 2], [5]).log_p)
        assert made[-1] is table

    def test_refusals_are_those_of_the_test(self) -> None:
        columns = {"a": ["x", None, "y", "x"], "r": [0.5, 1.5, math.nan, 2.5], "b": [1, 2, 1, 2], "s": [0.5, 1.5, 0, 1]}
        test = Pairwise(Table(columns, missing="pairwise"), X2)
        assert test.name == "x2"
        test.check([0, 2])
        with pytest.raises(serape.DataError, match="test 'x2' needs categorical columns, but 's' is continuous"):
            test.check([0, 2, 3])
        with pytest.raises(serape.DataError, match="test 'x2' needs categorical columns, but 'r' is continuous"):
            test.check([0, 1])

    def test_few_tables_are_made(self) -> None:
        """Questions about the same rows share a table; a screen makes one for each pattern of gaps."""
        random = np.random.default_rng(5)
        frame = gappy(random, 300, [2] * 40, [0.0] * 20 + [0.2] * 20, kinds=2)
        made = []

        def make(part: Table) -> G2:
            made.append(part)
            return G2(part)

        test = Pairwise(Table(frame, missing="pairwise"), make)
        made.clear()
        test.screen(0, range(1, 40))
        assert len(made) == 3  # no gaps, and two patterns
        test.screen(0, range(1, 40), [1, 2])
        assert len(made) == 5  # asked about again: with all columns that fit
        for x in range(1, 40):
            test.test(x, 0, [k for k in (3, 4) if k != x])
        assert len(made) == 5
        assert [len(part.names) for part in made[3:]] == [30, 30]

    def test_held_parts_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("serape.independence.pairwise.MOST_PARTS", 5)
        monkeypatch.setattr("serape.independence.pairwise.MOST_VALUES", 2000)
        monkeypatch.setattr("serape.independence.pairwise._MOST_COUNTS", 5)
        random = np.random.default_rng(6)
        table = Table(gappy(random, 100, [2] * 9, [0.1] * 9), missing="pairwise")
        small, large = Pairwise(table, G2), Pairwise(table, G2)
        for x, y in combinations(range(9), 2):
            assert small.test(x, y) == large.test(x, y)
            assert len(small._parts) <= 5
            assert small._held == sum(part.values for part in small._parts.values()) <= 2000

    def test_threads(self) -> None:
        random = np.random.default_rng(7)
        table = Table(gappy(random, 500, [2, 3] * 6, [0.1] * 12), missing="pairwise")
        test = Pairwise(table, G2)
        questions = [(x, y, z) for x, y in combinations(range(12), 2) for z in range(12) if z not in (x, y)]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda q: test.test(q[0], q[1], [q[2]]), questions))
        one = Pairwise(table, G2)
        assert found == [one.test(x, y, [z]) for x, y, z in questions]

    def test_a_blanket_is_found_through_gaps(self) -> None:
        """Values that go missing at random leave the blanket what it is."""
        patients = pd.DataFrame(serape.Table(clinic(8000, 1)).to_pandas())
        random = np.random.default_rng(8)
        for name in patients.columns[1:]:
            patients[name] = patients[name].where(random.random(len(patients)) >= 0.05)
        table = Table(patients, missing="pairwise")
        for algorithm in ("iamb", "hiton-mb", "pcmb"):
            found = serape.markov_blanket(Pairwise(table, G2), "HeartDisease", algorithm=algorithm)
            assert set(found.blanket) >= {"Smoking", "BloodPressure", "ECG", "ChestPain"}
            assert not set(found.blanket) & {"Ward", "Weekday", "Parking", "Diabetes"}


class TestText:
    def write(self, folder: Path, text: str, name: str = "f.csv", opener: Callable[..., Any] = open) -> Path:
        path = folder / name
        with opener(path, "wt", encoding="utf-8") as file:
            file.write(text)
        return path

    ADULT = (
        "39, State-gov, 77516, Bachelors, 0, 0, <=50K\n50, Self-emp, 83311, Bachelors, 5, 0, <=50K\n"
        "38, ?, 215646, HS-grad, 0, 0, >50K\n53, State-gov, 234721, 11th, 0, 0, <=50K\n\n"
    )

    @pytest.mark.parametrize("name", ["adult.data", "adult.test", "adult", "adult.csv", "adult.data.gz", "ADULT.DAT"])
    def test_as_uci_ships_it(self, name: str, tmp_path: Path) -> None:
        opener: Callable[..., Any] = gzip.open if name.endswith("gz") else open
        path = self.write(tmp_path, self.ADULT, name, opener)
        with pytest.raises(
            serape.DataError, match=r"'x1' \(1, first in row 2\).*Note that the first line is taken for data"
        ):
            Table(path)
        table = Table(path, missing="pairwise")
        assert table.names == tuple(f"x{k}" for k in range(7))
        assert table.rows == 4
        assert table.column("x1").tolist() == ["State-gov", "Self-emp", None, "State-gov"]
        assert table.column("x0").tolist() == [39, 50, 38, 53]
        assert "columns are called x0 to x6; pass header=True" in table.notes[0]
        with pytest.raises(serape.OptionError, match="no column 'income'.*Note that the first line is taken for data"):
            table.position("income")

    def test_header_can_be_said(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "1,2\n3,2\n1,4\n")
        table = Table(path)
        assert table.names == ("1", "2")
        assert "the first line is taken for names, though '1', '2' could be data; pass header=False" in table.notes[0]
        assert Table(path, header=True).notes == ()
        table = Table(path, header=False)
        assert (table.names, table.notes, table.column(0).tolist()) == (("x0", "x1"), (), [1, 3, 1])
        table = Table(path, header=["a", "b"], kinds={"b": "continuous"})
        assert (table.names, table.column(1).tolist()) == (("a", "b"), [2.0, 2.0, 4.0])
        with pytest.raises(serape.DataError, match="has 2 columns, but header names 3"):
            Table(path, header=["a", "b", "c"])
        with pytest.raises(serape.DataError, match="'a' occurs more than once"):
            Table(path, header=["a", "a"])

    @pytest.mark.parametrize(
        ("text", "is_data"),
        [
            ("a,b\n1,2\n3,4\n", False),
            ("5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n", True),
            ("14.23,1.71,2.43\n13.2,1.78,2.14\n", True),
            ("400.5,401.0,401.5\n0.2,0.1,0.3\n0.1,0.1,0.2\n", False),  # wavelengths
            ("0,1,2,3\n5,5,6,7\n6,5,8,7\n", False),  # as pandas numbers columns
            (",0,1,2\n0,5,5,6\n1,6,7,8\n", None),  # the same with an index: a column without a name
            ("id,2019,2020\n1,5,5\n2,6,7\n", False),
            ("id,2019,2019\n1,5,5\n2,6,7\n", None),  # a name twice
            ("p,x,s,p\ne,x,s,p\np,b,y,e\n", True),  # letters, as in Mushroom
            ("usual,proper,one\nusual,less,one\npret,proper,one\n", True),
            ("a,b\nx,y\na,b\nx,z\n", False),  # a header repeated
            ("city,country\nLyon,France\nParis,France\n", False),
            ("1,0,0,1\n0,1,1,0\n", True),
            ("1,b\nx,y\nz,b\n", False),  # no number below
            ("a\nb\na\n", False),
            ("?,1,1\n2,3,4\n3,3,3\n", True),
        ],
    )
    def test_names_or_data(self, text: str, is_data: bool | None, tmp_path: Path) -> None:
        path = self.write(tmp_path, text)
        if is_data is None:
            with pytest.raises(serape.DataError, match="has no name|occurs more than once"):
                Table(path)
            return
        table = Table(path, missing="pairwise")
        lines = [line.split(",") for line in text.splitlines()]
        assert table.rows == len(lines) - (0 if is_data else 1)
        assert table.names == (tuple(f"x{k}" for k in range(len(lines[0]))) if is_data else tuple(lines[0]))
        assert any("the first line is taken for data" in note for note in table.notes) == is_data
        forced = Table(path, header=not is_data, missing="pairwise")
        assert [forced.column(name).tolist() for name in forced.names] == [
            table.column(name).tolist() for name in table.names
        ]

    def test_words_for_missing(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a,b,c\n1,x,-999\n2, unknown ,3\n-,y,4\nn/a,?,5\n")
        table = Table(path, na_values=("-", "unknown", -999), missing="pairwise")  # type: ignore[arg-type]
        assert {table.names[k]: mask.tolist() for k, mask in table.missing.items()} == {
            "a": [False, False, True, True],
            "b": [False, True, False, True],
            "c": [True, False, False, False],
        }
        assert table.variables["a"].levels == (1, 2)
        assert Table(path, missing="pairwise").variables["a"].levels == ("-", "1", "2")

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"na_values": "?"}, "na_values must be a list of words, not '?'"),
            ({"na_values": 3}, "na_values must be a list of words"),
            ({"header": "names"}, "header must be True, False or a list of names"),
            ({"header": 1}, "header must be True, False or a list of names"),
        ],
    )
    def test_bad_options(self, options: Any, sentence: str, tmp_path: Path) -> None:
        with pytest.raises(serape.OptionError, match=sentence):
            Table(self.write(tmp_path, "a,b\n1,2\n3,4\n"), **options)

    def test_options_for_other_data(self, tmp_path: Path) -> None:
        pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "f.parquet")
        for data in ({"a": [1, 2]}, tmp_path / "f.parquet"):
            with pytest.raises(serape.OptionError, match="about files of delimited text"):
                Table(data, header=False)
            with pytest.raises(serape.OptionError, match="about files of delimited text"):
                Table(data, na_values=["-"])

    def test_a_remark_in_the_first_line(self, tmp_path: Path) -> None:
        for name in ("adult.test", "adult.csv"):
            path = self.write(tmp_path, "|1x3 Cross validator\n" + self.ADULT, name)
            assert Table(path, missing="drop").rows == 3
        path = self.write(tmp_path, "|a|b\n|1|2\n|3|4\n", "bars.csv")
        with pytest.raises(serape.DataError, match="position 0 has no name"):
            Table(path)
        path = self.write(tmp_path, "|remark\n\na,b\n1,2\n3,4\n5\n")
        with pytest.raises(serape.DataError):
            Table(path)

    def test_lines_are_counted_from_the_first(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "\n\na,b\n1,2\n\n3\n")
        with pytest.raises(serape.DataError, match="line 6: 1 fields"):
            Table(path)

    def test_tabs_in_tsv(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a, of x, y\tb\n1\t2\n3\t4\n", "f.tsv")
        assert Table(path).names == ("a, of x, y", "b")

    @pytest.mark.parametrize(
        "content",
        [
            b"x",
            b"",
            b"PK\x03\x04\x00\x00,\n,\x00\n",
            b"one\ntwo\nthree\n",
            b"a,b\n1\n2,3,4\n",
            b"\xff\xfe,\n1,2\n",
        ],
    )
    def test_what_is_no_delimited_text(self, content: bytes, tmp_path: Path) -> None:
        for name in ("f.xlsx", "f", "f.gz"):
            path = tmp_path / name
            path.write_bytes(content)
            with pytest.raises(serape.DataError, match="of a kind that cannot be read"):
                Table(path)

    @given(st.binary(max_size=300))
    @settings(max_examples=150, deadline=None)
    def test_any_bytes_under_any_name(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        for name in ("f", "f.data"):
            path = tmp_path_factory.mktemp("fuzz") / name
            path.write_bytes(content)
            try:
                Table(path, missing="pairwise", na_values=["0"])
            except serape.SerapeError as error:
                assert str(error)

    @given(
        st.lists(st.lists(st.sampled_from(["0", "1", "2.5", "a", "b", "?", ""]), min_size=3, max_size=3), min_size=2)
    )
    @settings(max_examples=100, deadline=None)
    def test_no_row_is_lost(self, tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]) -> None:
        path = tmp_path_factory.mktemp("rows") / "f.csv"
        path.write_text("\n".join(",".join(row) for row in cells) + "\n")
        try:
            table = Table(path, header=False, missing="pairwise")
        except serape.DataError as error:
            assert "no values at all" in str(error)
            return
        assert table.rows == len(cells)
        for k in range(3):
            gone = table.missing.get(k, np.zeros(len(cells), bool))
            assert gone.tolist() == [row[k] in ("?", "") for row in cells]
