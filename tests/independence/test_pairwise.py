"""Tests on the rows that are complete for their variables."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import serape
from plain import PlainContingency
from serape import Outcome, Table
from serape.data.example import clinic
from serape.independence import G2, X2
from serape.independence.base import IndependenceTest
from serape.independence.pairwise import Pairwise
from serape.independence.subset_query import SubsetQuery
from tables import Frame, gappy


class PlainCorrelation(IndependenceTest):
    """Pearson's correlation of two continuous columns; nothing can be given."""

    name = "plain correlation"

    def __init__(self, table: Table) -> None:
        self.table, self.variables, self.rows = table, table.names, table.rows

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        assert not given
        found = stats.pearsonr(self.table.numbers(x), self.table.numbers(y))
        return Outcome(float(found.statistic), 1, math.log(float(found.pvalue)), reliable=True, rows=self.rows)


def complete(frame: Frame, positions: Sequence[int]) -> Table | None:
    """Return the table of the rows complete for some columns, or None if it has fewer than two rows."""
    rows = frame.iloc[:, list(positions)].dropna()
    return Table(rows) if len(rows) > 1 else None


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
        assert np.array_equal(test.screen(2, [0, 1]).rows, [3, 4])  # type: ignore[arg-type]
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
        monkeypatch.setattr("serape.independence.pairwise.MAX_PARTS", 5)
        monkeypatch.setattr("serape.independence.pairwise.MAX_VALUES", 2000)
        monkeypatch.setattr("serape.independence.pairwise._MAX_COUNTS", 5)
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
