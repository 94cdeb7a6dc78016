"""Every test gives the same answers for numbers that are moved, stretched or turned round, and in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from moved import MOVES, ROWS, Numbers, categories, moved, numbers, table
from serape.engines import NativeEngine, PlainEngine, WeightedEngine
from serape.independence import IndependenceTest
from serape.independence.registry import TESTS, make_test
from serape.independence.summed import SummedTest

Categories = Mapping[str, NDArray[Any]]
Question = tuple[str, str, tuple[str, ...]]
SLOW = ("gcm", "pcm")
"""Tests of which fewer questions are asked."""
OF_RANKS = ("spearman", "normal-scores", "residuals", "monotone-residuals")
WEIGHTS: dict[str, dict[str, Any]] = {
    "rows": {},
    "frequencies": {"sample_weight": np.random.default_rng(6).integers(1, 2**24, ROWS)},
    "survey": {"sample_weight": np.random.default_rng(7).uniform(0.2, 4.0, ROWS), "weight_kind": "survey"},
}
ASKED = [(name, rows) for name, entry in TESTS.items() for rows in WEIGHTS if rows == "rows" or entry.weighted]


def taken(name: str, **options: Any) -> tuple[Numbers, Categories]:
    """Return the columns that a test takes: all, the numbers, or the categories."""
    for given, classes in ((numbers(), categories()), (numbers(), {}), ({}, categories())):
        made = table(given, classes, **options)
        try:
            make_test(made, name).check(range(len(made.names)))
        except serape.DataError:
            continue
        return given, classes
    raise AssertionError(name)


def questions(name: str, names: Sequence[str]) -> list[Question]:
    """Return questions for a test about all pairs, given none to three others."""
    found = []
    for k, (x, y) in enumerate(combinations(names, 2)):
        rest = [z for z in names if z not in (x, y)]
        rest = rest[k % len(rest) :] + rest[: k % len(rest)]
        found.append((x, y, tuple(rest[: k % 4])))
    return found[1::21] if name in SLOW else found


def answers(test: IndependenceTest, asked: Sequence[Question], swapped: bool = False) -> NDArray[np.float64]:
    """Return statistic, dof, log p, reliability and effect of each question, asked alone and in a screen."""
    at = {name: k for k, name in enumerate(test.variables)}
    found = []
    for x, y, given in asked:
        a, b, z = at[x], at[y], [at[v] for v in given]
        a, b = (b, a) if swapped else (a, b)
        one, many = test.test(a, b, z), test.screen(b, [a], z)
        effect = None
        if test.has_effect and one.reliable:
            effect = test.effects(b, [a], z, np.array([one.statistic]), np.array([one.dof]))
        sizes = [np.nan, np.nan] if effect is None else [effect.bits[0], effect.value[0]]
        alone = [one.statistic, one.dof, one.log_p] if one.reliable else [np.nan] * 3
        found.append([one.reliable, *alone, many.reliable[0], many.statistic[0], *sizes])
    return np.array(found, np.float64)


def turned(expected: NDArray[np.float64], asked: Sequence[Question], how: str, given: Numbers) -> NDArray[np.float64]:
    """Return what answers must be after a move: a correlation changes its sign with each of its two numbers."""
    sign = {name: np.sign(MOVES[how](name, np.array([1.0])) - MOVES[how](name, np.array([-1.0])))[0] for name in given}
    found = expected.copy()
    found[:, -1] *= [sign.get(x, 1.0) * sign.get(y, 1.0) for x, y, _ in asked]
    return found


def assert_same(found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)  # near-perfect dependence magnifies rounding


@pytest.mark.parametrize(("name", "rows"), [asked for asked in ASKED if taken(asked[0])[0]])
def test_moved_numbers_change_no_answer(name: str, rows: str) -> None:
    given, classes = taken(name, **WEIGHTS[rows])
    asked = questions(name, [*given, *classes])
    expected = answers(make_test(table(given, classes, **WEIGHTS[rows]), name), asked)
    assert expected[:, 0].sum() > len(asked) / 2
    for how in MOVES:
        found = answers(make_test(table(moved(given, how), classes, **WEIGHTS[rows]), name), asked)
        assert_same(found, turned(expected, asked, how, given))


@pytest.mark.parametrize(("name", "rows"), ASKED)
def test_no_order_changes_an_answer(name: str, rows: str) -> None:
    """Neither that of the columns, nor that of x and y; and that of the rows only random numbers."""
    given, classes = taken(name, **WEIGHTS[rows])
    asked = questions(name, [*given, *classes])
    test = make_test(table(given, classes, **WEIGHTS[rows]), name)
    expected = answers(test, asked)
    assert_same(answers(test, asked, swapped=True), expected)
    random = np.random.default_rng(8)
    order = random.permutation(len(given) + len(classes))
    backwards = [(x, y, z[::-1]) for x, y, z in asked]
    assert_same(answers(make_test(table(given, classes, order, **WEIGHTS[rows]), name), backwards), expected)
    if TESTS[name].uses_seed:
        return
    by = random.permutation(ROWS)
    options = {key: value[by] if key == "sample_weight" else value for key, value in WEIGHTS[rows].items()}
    given, classes = ({key: column[by] for key, column in some.items()} for some in (given, classes))
    assert_same(answers(make_test(table(given, classes, **options), name), asked), expected)


@pytest.mark.parametrize("name", OF_RANKS)
@pytest.mark.parametrize("rows", WEIGHTS)
def test_monotone_functions_change_no_bit_of_tests_of_ranks(name: str, rows: str) -> None:
    given, classes = taken(name, **WEIGHTS[rows])
    asked = questions(name, [*given, *classes])
    curved = {key: np.arctan(x) ** 3 + x for key, x in given.items()}
    found, expected = (answers(make_test(table(n, classes, **WEIGHTS[rows]), name), asked) for n in (curved, given))
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", [name for name, entry in TESTS.items() if entry.uses_groups])
def test_moved_numbers_change_no_answer_within_groups(name: str) -> None:
    groups = np.arange(ROWS) // 19
    given, classes = taken(name, groups=groups)
    asked = questions(name, [*given, *classes])
    expected = answers(make_test(table(given, classes, groups=groups), name), asked)
    assert expected[:, 0].any()
    for how in ("far above 0", "very small", "the negatives from far"):
        found = answers(make_test(table(moved(given, how), classes, groups=groups), name), asked)
        assert_same(found, turned(expected, asked, how, given))


@pytest.mark.parametrize("name", TESTS)
def test_moved_numbers_change_no_answer_in_pairwise_complete_rows(name: str) -> None:
    given, classes = taken(name)
    asked = questions(name, [*given, *classes])[::3]

    def with_gaps(some: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        found = {key: column.astype(object) for key, column in some.items()}
        for key in found.keys() & {"b", "q"}:
            found[key][3::17] = None
        return found

    def of(some: Numbers) -> NDArray[np.float64]:
        return answers(make_test(table(with_gaps(some), with_gaps(classes), missing="pairwise"), name), asked)

    how = "the negatives from far"
    assert_same(of(moved(given, how)), turned(of(given), asked, how, given))


@pytest.mark.parametrize("make", [NativeEngine, PlainEngine, WeightedEngine])
def test_sums_of_any_engine_keep_the_digits_of_far_numbers(make: Any) -> None:
    options = WEIGHTS["frequencies"] if make is WeightedEngine else {}
    asked = questions("partial-correlation", list(numbers()))
    core = answers(make_test(table(numbers(), {}, **options), "partial-correlation"), asked)
    for how in MOVES:
        found = answers(SummedTest(make(table(moved(numbers(), how), {}, **options))), asked)
        assert_same(found, turned(core, asked, how, numbers()))


def test_beyond_the_digits_of_doubles_numbers_are_constants() -> None:
    """No test finds a dependence in what rounding leaves of a column."""
    given = numbers()
    lost = {**given, "a": given["a"] + 2.0**60}
    assert len(set(lost["a"])) == 1
    for name in TESTS:
        if taken(name)[0]:
            test = make_test(table(lost, {}), name)
            assert not test.test(0, 1).reliable, name
            assert test.test(1, 2, [0]).reliable, name
