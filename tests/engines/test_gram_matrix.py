"""The Gram matrix of scores: the plain twin, ties, zeros, categories, weights, threads, order, what is kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import plain_gram_matrix as plain
import serape
from serape import _core
from serape.engines.gram_matrix import CoreRows, GramMatrix, gram_matrix
from serape.engines.scored import Scored
from serape.errors import DataError, OptionError
from serape.independence.residuals import Residuals

Matrix = NDArray[np.float64]


def mixture(rows: int, seed: int = 1) -> pd.DataFrame:
    """Return numbers with and without ties, with zeros and with few values, categories, and columns without scores."""
    r = np.random.default_rng(seed)
    z = r.normal(size=rows)
    return pd.DataFrame(
        {
            "line": z + r.normal(size=rows),
            "zeros": np.where(r.random(rows) < 0.4, 0.0, np.exp(z)),
            "two_zeros": np.where(r.random(rows) < 0.5, np.round(z), z),
            "tied": np.round(2 * z) + 0.5,
            "three": r.integers(0, 3, rows) + 0.5,
            "two": np.where(z > 1, 1.5, 2.5),
            "constant": 1.5,
            "nearly": np.where(np.arange(rows) < 3, 7.5, 1.5),
            "letters": np.array(list("abcd"))[np.clip(np.abs(2 * z).astype(int), 0, 3)],
            "rare": np.where(np.arange(rows) % 97 == 0, "x", np.where(z > 0, "y", "n")),
            "many": r.integers(0, 90, rows).astype(str),
            "one": "a",
        }
    )


NUMBERS = ["line", "zeros", "two_zeros", "tied", "three", "two", "constant", "nearly"]


def table_of(frame: pd.DataFrame, **settings: Any) -> serape.Table:
    kinds = {str(name): "continuous" if name in NUMBERS else "categorical" for name in frame}
    return serape.Table(frame, kinds=kinds, **settings)


def check(found: GramMatrix, frame: pd.DataFrame, degree: int, weights: Matrix | None = None) -> None:
    """Compare with the plain twin; indicators may stand in another order where levels are equally frequent."""
    expected, sizes = plain.gram_matrix([frame[name].to_numpy() for name in frame], degree, weights)
    assert np.diff(found.blocks).tolist() == sizes
    assert found.matrix.shape == expected.shape
    np.testing.assert_allclose(found.matrix, expected, atol=1e-11)


@pytest.mark.parametrize("rows", [6, 30, 128, 129, 1000])
@pytest.mark.parametrize("degree", [1, 3, 12])
def test_it_is_what_the_plain_twin_makes(rows: int, degree: int) -> None:
    frame = mixture(rows).drop(columns="many")
    check(gram_matrix(table_of(frame), degree=degree), frame, degree)


def test_scores_say_what_they_are() -> None:
    frame = mixture(500)
    table = table_of(frame)
    found = gram_matrix(table, degree=3)
    of = {name: found.names[found.block(k)] for k, name in enumerate(frame)}
    assert of["line"] == ("score", "power 2", "power 3")
    assert of["zeros"] == ("score", "common value", "power 2", "power 3")
    assert of["three"] in {("score", "common value"), ("score", "power 2")}  # one less than its values
    assert of["two"] == ("score",)
    assert of["constant"] == of["nearly"] == of["one"] == ()
    assert len(of["many"]) <= 63
    assert all(name.startswith("level") for name in of["many"])
    levels = np.array(table.column_levels(table.names.index("rare")))
    shown = {levels[int(name.split()[1])] for name in of["rare"]}
    assert shown == set(levels) - {frame["rare"].value_counts().index[0]}
    assert found.rows == 500
    np.testing.assert_allclose(np.diag(found.matrix), 1.0, atol=1e-12)
    assert found.columns == tuple(range(len(frame.columns)))
    assert not found.matrix.flags.writeable


def test_identifiers_have_no_scores() -> None:
    frame = pd.DataFrame({"id": np.arange(300), "x": np.random.default_rng(0).normal(size=300)})
    table = serape.Table(frame)
    assert table.identifiers == {0}
    assert gram_matrix(table).columns == (1,)
    assert np.diff(gram_matrix(table, [0, 1]).blocks).tolist() == [0, 1]


def test_no_column_is_singular_by_itself() -> None:
    found = gram_matrix(table_of(mixture(800)), degree=12)
    for k in range(len(found.columns)):
        own = found.matrix[found.block(k), found.block(k)]
        assert len(own) == 0 or np.linalg.eigvalsh(own)[0] > 1e-8


def test_no_columns_and_columns_named_twice() -> None:
    table = table_of(mixture(100))
    assert gram_matrix(table, []).matrix.shape == (0, 0)
    twice = gram_matrix(table, [1, 0, 1])
    assert np.array_equal(twice.matrix[twice.block(0), twice.block(0)], twice.matrix[twice.block(2), twice.block(2)])


def test_frequencies_are_repeated_rows() -> None:
    frame = mixture(400).drop(columns="many")
    times = np.random.default_rng(5).integers(1, 5, 400)
    repeated = frame.loc[frame.index.repeat(times)].reset_index(drop=True)
    weighted = table_of(frame, sample_weight=times, weight_kind="frequency")
    found, expected = (gram_matrix(table, degree=4) for table in (weighted, table_of(repeated)))
    assert found.rows == times.sum()
    assert found.names == expected.names
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-12)
    check(found, frame, 4, times.astype(float))


def test_survey_weights_are_scaled_to_the_effective_number_of_rows() -> None:
    frame = mixture(400).drop(columns="many")
    weights = np.random.default_rng(6).uniform(0.2, 7, 400)
    found = gram_matrix(table_of(frame, sample_weight=weights, weight_kind="survey"), degree=4)
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert found.rows == pytest.approx(effective, rel=1e-12)
    check(found, frame, 4, weights * effective / weights.sum())


@pytest.mark.parametrize("shape", [(20_000, 5, 3), (300, 150, 2)])
def test_threads_and_instruction_sets_change_no_bit(shape: tuple[int, int, int]) -> None:
    rows, columns, degree = shape  # several ranges of rows; several tiles of scores
    values = np.random.default_rng(2).normal(size=(rows, columns)).cumsum(axis=1)
    values[:, 0] = np.round(values[:, 0])
    expected = gram_matrix(serape.Table(values), degree=degree)
    before = _core.instruction_set()
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            for threads in (1, 3):
                found = gram_matrix(serape.Table(values), degree=degree, threads=threads)
                assert np.array_equal(found.matrix, expected.matrix)
    finally:
        _core.use_instruction_set(before)
    check(expected, pd.DataFrame(values), degree)


def test_the_order_of_rows_changes_the_last_digits_alone() -> None:
    frame = mixture(1000)
    shuffled = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    found, expected = (gram_matrix(table_of(one), degree=4) for one in (shuffled, frame))
    assert found.names == expected.names
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-12)


def test_the_order_of_columns_changes_no_bit() -> None:
    frame = mixture(700)
    order = np.random.default_rng(4).permutation(len(frame.columns))
    found, expected = gram_matrix(table_of(frame.iloc[:, order]), degree=3), gram_matrix(table_of(frame), degree=3)
    places = np.concatenate([np.arange(len(expected.matrix))[expected.block(k)] for k in order])
    assert np.array_equal(found.matrix, expected.matrix[np.ix_(places, places)])


@pytest.mark.parametrize(
    "values",
    [
        1e9 + np.random.default_rng(1).normal(size=900),  # one upper half of the bits
        1 + 1e-12 * np.random.default_rng(2).normal(size=900),
        np.r_[1 + 2.0**-40 * np.random.default_rng(3).integers(0, 9, 450), -np.random.default_rng(4).random(450)],
        np.random.default_rng(5).choice([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324], 900),
        np.random.default_rng(6).normal(size=900) * 10.0 ** np.random.default_rng(7).integers(-300, 300, 900),
    ],
)
def test_scores_are_those_of_ranks(values: Matrix) -> None:
    table = serape.Table({"x": values}, kinds={"x": "continuous"})
    scored = Scored.of(table)
    scored.make(table, [0])
    found = scored.native.scores(0)[0] * np.sqrt(900)
    np.testing.assert_allclose(found, plain.of_number(values, 1, np.ones(900))[0], atol=1e-12)


@pytest.mark.parametrize("changed", [lambda v: np.exp(v / 3), lambda v: v**3])
def test_increasing_functions_change_no_bit(changed: Callable[[Matrix], Matrix]) -> None:
    values = np.random.default_rng(7).normal(size=(500, 3))
    found = gram_matrix(serape.Table(changed(values)), degree=5)
    assert np.array_equal(found.matrix, gram_matrix(serape.Table(values), degree=5).matrix)


def test_a_negative_changes_signs_alone() -> None:
    values = np.random.default_rng(8).normal(size=(500, 1))
    both = np.column_stack([values[:, 0], -values[:, 0], np.random.default_rng(9).normal(size=500) + values[:, 0]])
    found = gram_matrix(serape.Table(both), degree=4).matrix
    signs = np.array([-1, 1, -1, 1])
    np.testing.assert_allclose(found[:4, 8:], signs[:, None] * found[4:8, 8:], atol=1e-13)


def test_copies_have_equal_rows() -> None:
    values = np.random.default_rng(8).normal(size=(500, 2))
    found = gram_matrix(serape.Table(np.column_stack([values, values])), degree=3).matrix
    assert np.array_equal(found[:6], found[6:])


class Counting:
    """Counts the products that the core is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[int] = []
        products = CoreRows.products

        def counted(rows: CoreRows, scores: Any, known: int, *more: Any) -> Any:
            self.asked.append(len(scores) - known)
            return products(rows, scores, known, *more)

        monkeypatch.setattr(CoreRows, "products", counted)


def test_what_is_known_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixture(20_000)
    whole = gram_matrix(table_of(frame), degree=4)
    table = table_of(frame)
    counting = Counting(monkeypatch)
    asked: list[tuple[list[int] | None, int]]
    asked = [([3, 0], 2), ([3, 0], 2), ([0, 8], 1), ([1], 3), (None, 4), ([10, 0], 3)]
    for columns, degree in asked:
        found = gram_matrix(table, columns, degree)
        own = [
            k for c in found.columns for k in range(whole.blocks[c], whole.blocks[c + 1])
            if whole.scores[k, 0] != 2 or whole.scores[k, 2] <= degree
        ]  # fmt: skip
        assert np.array_equal(found.scores, whole.scores[own])
        assert np.array_equal(found.matrix, whole.matrix[np.ix_(own, own)])
    assert counting.asked[:3] == [5, 3, 4]  # the letters; the column of zeros
    assert len(counting.asked) == 4
    assert sum(counting.asked) == len(whole.matrix)
    again = gram_matrix(table, degree=4)
    assert np.shares_memory(again.matrix, gram_matrix(table, degree=4).matrix)
    assert len(counting.asked) == 4


def test_it_is_kept_with_the_table_and_shares_its_scores_with_tests() -> None:
    table = table_of(mixture(5_000))
    test = Residuals(table)
    before = table.memory.nbytes
    found = gram_matrix(table, degree=2)
    assert CoreRows(table).scored is test._scored
    assert table.memory.nbytes == before + found.matrix.nbytes
    table.memory.put("something large", None, 512 << 20)  # all else goes
    assert np.array_equal(gram_matrix(table, degree=2).matrix, found.matrix)


def test_gaps_are_refused() -> None:
    frame = mixture(50)
    frame.loc[3, "line"] = np.nan
    with pytest.raises(DataError, match="line"):
        gram_matrix(table_of(frame, missing="pairwise"))


@pytest.mark.parametrize("degree", [0, 13])
def test_degrees_that_are_not_made_are_refused(degree: int) -> None:
    with pytest.raises(OptionError, match="from 1 to 12"):
        gram_matrix(table_of(mixture(50)), degree=degree)


def test_it_can_be_stopped() -> None:
    table = serape.Table(np.random.default_rng(0).normal(size=(200_000, 40)))
    gram_matrix(table, [0, 1])

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gram_matrix(table, degree=8, poll=stop)
    assert gram_matrix(table, [0, 1]).matrix.shape == (2, 2)


def test_the_core_refuses_scores_that_a_column_lacks() -> None:
    native = CoreRows(table_of(mixture(50))).scored.native
    for score in ([0, 0, 1], [9, 0, 0], [0, 99, 1]):  # not made; no kind; no column
        with pytest.raises(ValueError, match="scores"):
            native.score_products(np.array(score, np.uint32))
    with pytest.raises(ValueError, match="known"):
        native.score_products(np.array([], np.uint32), 1)
