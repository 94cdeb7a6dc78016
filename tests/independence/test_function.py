"""A function of one's own as a test: every algorithm, every mistake."""

import math
import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import serape
from serape.data.example import clinic
from serape.independence.function import FunctionTest
from serape.local.registry import ALGORITHMS
from serape.types import Finds

Column = NDArray[Any]


def g2(x: Column, y: Column, z: tuple[Column, ...]) -> Any:
    """G² with adjusted degrees of freedom; NaN where there are fewer than 5 rows for each full one."""
    (a, b), strata = (np.unique(v, return_inverse=True)[1] for v in (x, y)), np.zeros(len(x), int)
    full = max(a) * max(b)
    for column in z:
        levels, codes = np.unique(column, return_inverse=True)
        strata = strata * len(levels) + codes
        full *= len(levels)
    if len(x) < 5 * full:
        return math.nan
    strata = np.unique(strata, return_inverse=True)[1]
    n = np.zeros((max(strata) + 1, max(a) + 1, max(b) + 1))
    np.add.at(n, (strata, a, b), 1)
    rows, columns = n.sum(axis=2, keepdims=True), n.sum(axis=1, keepdims=True)
    expected = rows * columns / n.sum(axis=(1, 2), keepdims=True)
    seen = n > 0
    statistic = max(0.0, 2 * float((n[seen] * np.log(n[seen] / expected[seen])).sum()))
    dof = int((((rows > 0).sum(axis=(1, 2)) - 1) * ((columns > 0).sum(axis=(1, 2)) - 1)).sum())
    return statistic, dof, stats.chi2.logsf(statistic, dof) if dof else math.nan


FINDS: tuple[Finds, ...] = ("blanket", "parents-children")


class TestWithEveryAlgorithm:
    table = serape.Table(clinic(500))
    own = FunctionTest(table, g2)

    @pytest.mark.parametrize(
        ("finds", "algorithm"), [(f, name) for f in FINDS for name, a in ALGORITHMS.items() if a.answers(f)]
    )
    def test_the_answer_of_g2(self, finds: Finds, algorithm: str) -> None:
        ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
        for target in self.table.names:
            native = ask(self.table, target, algorithm, test="g2", dof="adjusted", reliability="dof")
            own = ask(self.own, target, algorithm)
            assert own.members == native.members
            assert own.tests_by_size == native.tests_by_size
            assert own.skipped == native.skipped
        assert own.test == "g2"

    def test_blankets_skeletons_networks(self) -> None:
        for n_jobs in (1, 2):
            own = serape.blankets(self.own, algorithm="iamb", n_jobs=n_jobs)
            native = serape.blankets(self.table, algorithm="iamb", dof="adjusted", n_jobs=n_jobs)
            assert {t: r.blanket for t, r in own.items()} == {t: r.blanket for t, r in native.items()}
        for ask, algorithm in (
            (serape.skeleton, "hiton-pc"),
            (serape.skeleton, "pc-stable"),
            (serape.network, "pc-stable"),
        ):
            one, other = (ask(d, algorithm, max_conditioning=3) for d in (self.own, self.table))
            assert set(one.graph.edges) == set(other.graph.edges)
        near = serape.region(self.own, "HeartDisease", 1, max_conditioning=3)
        assert "HeartDisease" in near


class TestWhatTheFunctionIsGiven:
    frame = pd.DataFrame(
        {
            "word": pd.Categorical(["b", "a", "b"], categories=["b", "a", "c"]),
            "whole": [3, 5, 3],
            "real": [0.5, 1.5, 2.25],
            "truth": [True, False, True],
        }
    )

    def asked(self, x: int, y: int, z: tuple[int, ...] = ()) -> tuple[Any, ...]:
        given: list[Any] = []

        def remember(*columns: Any) -> float:
            given.extend(columns)
            return 0.5

        FunctionTest(self.frame, remember).test(x, y, z)
        return tuple(given)

    def test_values_not_codes(self) -> None:
        x, y, z = self.asked(0, 1, (2, 3))
        assert x.tolist() == ["b", "a", "b"]
        assert y.tolist() == [3, 5, 3]
        assert isinstance(z, tuple)
        assert [column.tolist() for column in z] == [[0.5, 1.5, 2.25], [True, False, True]]
        assert [column.dtype.kind for column in z] == ["f", "b"]
        assert self.asked(0, 1)[2] == ()

    def test_in_the_order_of_the_table(self) -> None:
        """Whichever way it is asked, so that a function that is not symmetric has one answer."""
        x, y, z = self.asked(3, 1, (2, 0))
        assert x.tolist() == [3, 5, 3]
        assert y.tolist() == [True, False, True]
        assert z[0].tolist() == ["b", "a", "b"]

    def test_read_only(self) -> None:
        for column in self.asked(2, 1):
            if len(column):
                with pytest.raises(ValueError, match="read-only"):
                    column[0] = 9
        assert serape.Table(self.frame).column("real").flags.writeable  # and only there


class TestAskedOnce:
    def test_from_either_side(self) -> None:
        asked: list[int] = []

        def remember(x: Column, y: Column, z: tuple[Column, ...]) -> float:
            asked.append(len(z))
            return 0.25 if len(x) == len(y) else math.nan

        test = FunctionTest(clinic(50), remember)
        answers = {test.test(3, 1, (2, 0)), test.test(1, 3, (0, 2)), test.test(1, 3, [2, 0])}
        assert len(answers) == 1
        assert asked == [2]
        test.test(1, 3, (0,))
        assert asked == [2, 1]

    def test_by_searches(self) -> None:
        """Two runs of two algorithms, threads and all, never ask the same thing twice."""
        seen: list[Any] = []

        def remember(x: Column, y: Column, z: tuple[Column, ...]) -> float:
            seen.append((id(x), id(y), tuple(map(id, z))))
            time.sleep(0)  # let other threads in
            return float(g2(x, y, z)[2] > math.log(0.05))

        test = FunctionTest(dict(list(clinic(200).items())[:7]), remember)
        for algorithm in ("hiton-mb", "iamb"):
            for n_jobs in (1, 3):
                serape.blankets(test, algorithm=algorithm, max_conditioning=1, n_jobs=n_jobs)
        assert len(seen) == len(set(seen)) > 21

    def test_threads_wait_for_each_other(self) -> None:
        started, go = threading.Event(), threading.Event()
        asked: list[int] = []

        def slow(*_: Any) -> float:
            asked.append(1)
            started.set()
            go.wait(10)
            return 0.5

        test = FunctionTest(clinic(50), slow)
        found: list[serape.Outcome] = []
        workers = [threading.Thread(target=lambda: found.append(test.test(0, 1))) for _ in range(4)]
        for worker in workers:
            worker.start()
        started.wait(10)
        go.set()
        for worker in workers:
            worker.join(10)
        assert len(found) == 4
        assert len(set(found)) == len(asked) == 1

    def test_an_error_is_no_answer(self) -> None:
        fail = [True]

        def sometimes(*_: Any) -> float:
            if fail.pop():
                raise RuntimeError("not today")
            return 0.5

        test = FunctionTest(clinic(50), sometimes)
        with pytest.raises(RuntimeError):
            test.test(0, 1)
        fail.append(False)
        assert test.test(0, 1).p == 0.5


def outcome(returned: Any, **options: Any) -> serape.Outcome:
    def mine(*_: Any) -> Any:
        return returned

    return FunctionTest(clinic(50), mine, **options).test(0, 1, (4,))


class TestWhatItReturns:
    @pytest.mark.parametrize("p", [1, 0.5, np.float32(0.5), np.float64(1e-300), np.int64(1), np.array(0.25), 1 + 1e-15])
    def test_p(self, p: Any) -> None:
        found = outcome(p)
        assert found.reliable
        assert found.p == pytest.approx(min(float(p), 1.0), rel=1e-12)
        assert stats.chi2.logsf(found.statistic, found.dof) == pytest.approx(found.log_p, rel=1e-12)
        assert found.rows == 50

    @pytest.mark.parametrize("p", [0, 0.0, -1e-17])
    def test_p_of_nothing(self, p: float) -> None:
        found = outcome(p)
        assert (found.p, found.log_p, found.statistic) == (0.0, -math.inf, math.inf)
        assert found.reliable

    @pytest.mark.parametrize("three", [(3.5, 2, -40_000.0), [3.5, np.int64(2), np.float64(-40_000)]])
    def test_three_numbers(self, three: Any) -> None:
        assert outcome(three) == serape.Outcome(3.5, 2.0, -40_000.0, reliable=True, rows=50)

    @pytest.mark.parametrize("returned", [math.nan, np.float64("nan"), (math.nan, 1, -1.0), (1.0, 1, math.nan)])
    def test_nan_is_unreliable_and_noted(self, returned: Any) -> None:
        test = FunctionTest(clinic(50), lambda x, y, z: returned, name="mine")
        assert not test.notes
        found = test.test(0, 1, (4,))
        assert not found.reliable
        assert math.isnan(found.p)
        assert test.notes == (
            "'mine' returned NaN once for 'Age' ⊥ 'Smoking' | 'Diabetes'; such tests are not reliable",
        )
        test.test(1, 0, (4,))
        test.test(2, 3)
        assert "NaN 2 times, first for 'Age' ⊥ 'Smoking' | 'Diabetes'" in test.notes[0]

    def test_no_freedom_is_unreliable(self) -> None:
        found = outcome((0.0, 0, 0.0))
        assert not found.reliable
        assert math.isnan(found.p)

    def test_all_nan_finds_nothing(self) -> None:
        found = serape.markov_blanket(FunctionTest(clinic(50), lambda x, y, z: math.nan), "Ward")
        assert found.blanket == ()
        assert (found.tests, found.skipped) == (0, 13)

    @pytest.mark.parametrize(
        "returned",
        [1.5, -0.1, math.inf, None, "0.5", True, np.bool_(True), (0.5,), (1.0, 0.5), np.array([0.5]), {}, 1j],
    )
    def test_anything_else_is_refused(self, returned: Any) -> None:
        with pytest.raises(serape.DataError) as caught:
            outcome(returned)
        assert str(caught.value) == (
            f"the independence test 'mine' must return p, a number from 0 to 1, or the three numbers (statistic, dof, "
            f"log p), but returned {returned!r} when asked whether 'Age' ⊥ 'Smoking' | 'Diabetes'"
        )

    @pytest.mark.parametrize("three", [(-1.0, 1, -1.0), (1.0, -1, -1.0), (1.0, 1, 0.5), (1.0, 1, None), ("1", 1, 0.0)])
    def test_three_that_cannot_be(self, three: Any) -> None:
        with pytest.raises(serape.DataError) as caught:
            outcome(three)
        assert str(caught.value) == (
            f"the independence test 'mine' must return (statistic, dof, log p) with a statistic and dof of 0 or more "
            f"and a log p of 0 or less, but returned {three!r} when asked whether 'Age' ⊥ 'Smoking' | 'Diabetes'"
        )

    def test_long_values_are_cut(self) -> None:
        with pytest.raises(serape.DataError) as caught:
            outcome("x" * 10_000)
        assert len(str(caught.value)) < 400

    @pytest.mark.parametrize("ask", ["test", "markov_blanket"])
    def test_an_exception_says_what_was_asked(self, ask: str) -> None:
        def broken(*_: Any) -> float:
            raise ZeroDivisionError("oh")

        test = FunctionTest(clinic(50), broken)
        with pytest.raises(ZeroDivisionError, match="oh") as caught:
            test.test(1, 0) if ask == "test" else serape.markov_blanket(test, "Smoking")
        assert caught.value.__notes__ == [
            "The independence test 'broken' raised this when asked whether 'Age' ⊥ 'Smoking'."
        ]


class TestNames:
    def test_of_the_function_or_given(self) -> None:
        assert FunctionTest(clinic(50), g2).name == "g2"
        assert FunctionTest(clinic(50), partial(g2)).name == "partial"
        assert FunctionTest(clinic(50), partial(g2), name="likelihood ratio").name == "likelihood ratio"

    def test_no_function(self) -> None:
        with pytest.raises(serape.InputTypeError, match=r"needs a function \(x, y, z\) -> p, not 'g2'"):
            FunctionTest(clinic(50), "g2")  # type: ignore[arg-type]


def test_rows_per_cell_counts_categories_only() -> None:
    test = FunctionTest({"a": [0, 1, 1, 0], "b": [0.5, 1.5, 2.5, 3.5]}, g2)
    assert test.rows_per_cell((0, 1)) == 2.0
    assert test.rows_per_cell((1,)) == 4.0
