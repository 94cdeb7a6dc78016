"""Engines: counts made anywhere give the bits of the fused core, in tests, scores and whole searches."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import random_table
from serape import _core
from serape.data.origins import Origin
from serape.engines import Engine, NativeEngine, PlainEngine
from serape.independence import G2, X2, IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.partial_correlation import PartialCorrelation
from serape.independence.subset_query import SubsetQuery
from serape.independence.summed import SummedTest
from serape.structure.counted_score import CountedScore
from serape.structure.scores import make_score

LEVELS = [2, 3, 2, 2, 4, 1, 2, 8, 9, 300, 2, 3]
STRATEGIES = ("automatic", "planes", "scatter", "sparse", "ones")
ENGINES: dict[str, type[NativeEngine | PlainEngine]] = {"native": NativeEngine, "plain": PlainEngine}
TESTS: dict[str, type[G2 | X2]] = {"g2": G2, "x2": X2}


def table_of(rows: int, seed: int = 1) -> serape.Table:
    return random_table(np.random.default_rng(seed), rows, LEVELS, 0.4)


def as_dict(counts: _core.Counts, candidate: int) -> dict[tuple[int, ...], int]:
    """Return the rows by cell, keyed by the levels of the conditioning set where the engine tells them."""
    return {tuple(map(int, cell[:3])): int(cell[3]) for cell in counts.cells[counts.begin[candidate] :][
        : counts.begin[candidate + 1] - counts.begin[candidate]
    ]}  # fmt: skip


@pytest.fixture(params=ENGINES)
def make_engine(request: pytest.FixtureRequest) -> type[NativeEngine | PlainEngine]:
    return ENGINES[request.param]


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("dof", ["full", "adjusted"])
@pytest.mark.parametrize("reliability", ["dof", None])
@pytest.mark.parametrize("rows", [2, 65, 1909])
def test_answers_from_counts_have_the_bits_of_the_fused_core(
    make_engine: type[NativeEngine], name: str, dof: str, reliability: str | None, rows: int
) -> None:
    table = table_of(rows)
    fused = TESTS[name](table, dof=dof, reliability=reliability)  # type: ignore[arg-type]
    counted = CountedTest(make_engine(table), name, dof, reliability)  # type: ignore[arg-type]
    for target, given_set in ((0, ()), (1, (2,)), (7, (0, 3)), (9, (1,)), (0, (1, 2, 4, 7, 8))):
        candidates = [k for k in range(len(LEVELS)) if k != target and k not in given_set]
        expected, found = fused.screen(target, candidates, given_set), counted.screen(target, candidates, given_set)
        for field in ("statistic", "dof", "reliable"):
            assert getattr(found, field).tobytes() == getattr(expected, field).tobytes(), field
        for x in candidates:
            assert repr(counted.test(x, target, given_set)) == repr(fused.test(x, target, given_set))


@pytest.mark.parametrize("kind", ["loglik", "bic", "aic", "bdeu", "k2"])
@pytest.mark.parametrize("rows", [2, 65, 1909])
def test_scores_from_counts_have_the_bits_of_the_fused_core(
    make_engine: type[NativeEngine], kind: str, rows: int
) -> None:
    table = table_of(rows)
    fused, counted = make_score(table, kind, 10.0), CountedScore(make_engine(table), kind, 10.0)
    for child, parents in ((0, ()), (1, (2,)), (7, (0, 3)), (9, (1,)), (0, (1, 2, 4, 7, 8))):
        candidates = [k for k in range(len(LEVELS)) if k != child and k not in parents]
        assert (
            counted.additions(child, candidates, parents).tolist()
            == fused.additions(child, candidates, parents).tolist()
        )
        sets = [parents, *((*parents, x) for x in candidates)]
        assert counted.families(child, sets).tolist() == fused.families(child, sets).tolist()
        assert counted.local(child, parents) == fused.local(child, parents)
        assert counted.additions(child, [], parents).tolist() == []


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([2, 40, 513]), size=st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_engines_count_alike(seed: int, rows: int, size: int) -> None:
    table = table_of(rows, seed)
    columns = np.random.default_rng(seed).permutation(len(LEVELS)).tolist()
    target, given_set, candidates = columns[0], columns[1 : 1 + size], columns[1 + size :]
    plain = PlainEngine(table).counts(target, candidates, given_set)
    for strategy in STRATEGIES:
        native = _core.counts(table.packed, target, candidates, given_set, strategy=strategy)
        assert native.candidate_levels == plain.candidate_levels
        assert native.strata.shape == (len({tuple(row) for row in native.strata.tolist()}), size)
        for k in range(len(candidates)):
            assert as_dict(native, k) == as_dict(plain, k), (strategy, k)


def test_counts_add_over_rows() -> None:
    """Cells in any order, listed several times, in strata of any number: the same answer."""
    table = table_of(500)
    whole = NativeEngine(table).counts(0, [1, 4, 9], (2, 3))
    pieces = [table.part(range(len(LEVELS)), np.arange(first, 500, 7)) for first in range(7)]
    keys: dict[tuple[int, ...], int] = {}
    lists: list[list[list[int]]] = [[], [], []]
    for piece in pieces:
        part = _core.counts(piece.packed, 0, [1, 4, 9], (2, 3))
        numbers = [1000 - keys.setdefault(tuple(levels), len(keys)) for levels in part.strata.tolist()]
        for k in range(3):
            for stratum, *rest in part.cells[part.begin[k] : part.begin[k + 1]].tolist():
                lists[k].append([numbers[stratum], *rest])
    joined = _core.Counts(
        500, whole.target_levels, whole.given_levels, whole.candidate_levels,
        np.cumsum([0, *map(len, lists)]).tolist(), np.concatenate(list(map(np.array, lists))),
    )  # fmt: skip
    for name in TESTS:
        test = _core.CountedTest(500, name, "adjusted", "none", 5.0)
        found, expected = (test.screen(counts).arrays() for counts in (joined, whole))
        assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 9}, "add up to 8"),
        ({"rows": 7}, "more counts than rows"),
        ({"target_levels": 1}, "does not exist"),
        ({"candidate_levels": [1]}, "does not exist"),
        ({"begin": [0, 3]}, "begin"),
        ({"cells": np.array([[0, 0, 0, -1], [0, 1, 1, 9]])}, "negative"),
    ],
)
def test_counts_that_cannot_be_are_refused(change: dict[str, object], message: str) -> None:
    fields = {
        "rows": 8, "target_levels": 2, "given_levels": [2], "candidate_levels": [2], "begin": [0, 4],
        "cells": np.array([[0, 0, 0, 2], [0, 1, 1, 2], [1, 0, 1, 2], [1, 1, 0, 2]]),
    } | change  # fmt: skip
    if "cells" in change:
        fields["begin"] = [0, 2]
    with pytest.raises(ValueError, match=message):
        _core.CountedTest(fields["rows"], "g2", "full", "none", 5.0).test(_core.Counts(**fields))  # type: ignore[arg-type]


def test_counts_of_another_number_of_rows_are_refused() -> None:
    counts = NativeEngine(table_of(65)).counts(0, [1])
    with pytest.raises(ValueError, match="65 rows where 66 are expected"):
        _core.CountedTest(66, "g2", "full", "none", 5.0).screen(counts)
    with pytest.raises(ValueError, match="65 rows where 66 are expected"):
        _core.CountedScore(66, "bic").scores(counts)


@pytest.mark.parametrize(
    "algorithm", ["iamb", "gs", "fast-iamb", "fbed", "inter-iamb", "hiton-mb", "mmmb", "pcmb", "ipc-mb", "hpc"]
)
def test_searches_over_a_plain_engine(algorithm: str) -> None:
    table = serape.load_network("asia").sample(500, 3)
    for test in (G2, X2):
        fused: IndependenceTest = test(table)
        counted = CountedTest(PlainEngine(table), test.name)  # type: ignore[arg-type]
        expected, found = (serape.markov_blanket(data, "dysp", algorithm) for data in (fused, counted))
        assert found.blanket == expected.blanket
        assert found.tests_by_size == expected.tests_by_size
        assert found.skipped == expected.skipped
        for name in set(table.names) - {"dysp"}:
            assert str(found.explain(name)) == str(expected.explain(name))


def test_all_batch_questions_are_answered_alike() -> None:
    table = table_of(400)
    fused, counted = G2(table), CountedTest(PlainEngine(table))
    xs, pool = [0, 2, 3, 6], [1, 4, 10, 11]
    choices: list[dict[str, Any]] = [{}, {"stop_above": -3.0}, {"n_exhausted": 2}]
    for options in [*choices, {"stop_above": -3.0, "shrinking": True}]:
        (expected, tally), (found, other) = (
            test.search_subsets(SubsetQuery(xs, 7, pool, range(4), **options)) for test in (fused, counted)
        )
        assert [repr(found[k]) for k in range(4)] == [repr(expected[k]) for k in range(4)]
        assert tally == other
    marginals = counted.marginals([0, 1])
    for target, screen in fused.marginals([0, 1]).items():
        assert screen.statistic.tobytes() == marginals[target].statistic.tobytes()
    assert counted.first_dependent(0, xs[1:], (1,), -2.0).statistic.tolist() == pytest.approx(
        fused.first_dependent(0, xs[1:], (1,), -2.0).statistic.tolist(), abs=0, nan_ok=True
    )


def test_gram() -> None:
    random = np.random.default_rng(5)
    frame = pd.DataFrame(random.normal(3, 2, (300, 6)), columns=list("abcdef"))
    frame["g"] = random.integers(0, 3, 300).astype(str)
    table = serape.Table(frame)
    native, plain = NativeEngine(table).gram([0, 2, 4], [1, 5]), PlainEngine(table).gram([0, 2, 4], [1, 5])
    assert native.products.shape == (3, 2)
    assert native.rows == plain.rows == 300
    for a, b in zip(native[1:], plain[1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    covariance = native.products / 300 - np.outer(native.sums, native.other_sums) / 300**2
    units = [2.0 ** Origin.of(frame[name].to_numpy()).exponent for name in "acebf"]
    expected = np.cov(frame[list("acebf")].to_numpy().T, bias=True)[:3, 3:]
    np.testing.assert_allclose(covariance * np.outer(units[:3], units[3:]), expected, rtol=1e-9)


def test_engines_are_engines(make_engine: type[NativeEngine]) -> None:
    table = table_of(65)
    engine = make_engine(table)
    assert isinstance(engine, Engine)
    assert engine.levels(9) == table.levels(9) > 9
    test = pickle.loads(pickle.dumps(CountedTest(engine, "x2")))
    assert repr(test.test(0, 1)) == repr(X2(table).test(0, 1))


@pytest.mark.parametrize("make", [NativeEngine, PlainEngine])
def test_partial_correlations_from_sums_are_those_of_the_core(make: type[NativeEngine]) -> None:
    random = np.random.default_rng(5)
    values = random.normal(size=(120, 6)) @ random.normal(size=(6, 6)) + 3.0
    values[:, 5] = values[:, 0] + values[:, 1]  # collinear
    table = serape.Table({f"c{k}": values[:, k] for k in range(6)})
    core, summed = PartialCorrelation(table), SummedTest(make(table))
    for fixed in ((), (2,), (2, 3), (0, 1), (1, 0, 3)):
        candidates = [x for x in range(5, 0, -1) if x not in fixed and x != 4]
        expected, found = core.screen(4, candidates, fixed), summed.screen(4, candidates, fixed)
        assert found.reliable.tolist() == expected.reliable.tolist()
        np.testing.assert_allclose(found.statistic, expected.statistic, rtol=1e-6)
        np.testing.assert_allclose(found.log_p, expected.log_p, rtol=1e-6)
        assert summed.test(candidates[-1], 4, fixed).dof == core.test(candidates[-1], 4, fixed).dof
    apart = serape.Table({f"c{k}": values[:, k] for k in range(5)})  # without exact ties
    blankets = [serape.markov_blanket(t, "c4", "iamb").blanket for t in (SummedTest(make(apart)), apart)]
    assert blankets[0] == blankets[1]
    with pytest.raises(serape.DataError, match="needs continuous columns"):
        SummedTest(make(serape.Table({"a": [0, 1, 0], "b": [0.5, 1.5, 2.5]})))
