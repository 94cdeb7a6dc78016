"""Searches near the data of a cluster: in how many rounds what is fetched, and the answers of one process."""

from __future__ import annotations

import math
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import serape
from backend_questions import of_screen, of_subsets
from backends import cluster, same
from serape.distributed import fetched_rows, fetched_test
from serape.distributed.reading import table_on_cluster
from serape.distributed.table import ClusterTable
from serape.independence import answering
from serape.independence.answering import who_answers
from serape.independence.backends import PATTERNS, Shape
from serape.independence.counted import CountedTest
from serape.independence.registry import make_test
from serape.independence.subset_query import SubsetQuery
from serape.independence.summed import SummedTest
from serape.parallel import workers
from serape.parallel.map import parallel_map
from serape.progress import Sayer
from serape.settings import DataSettings

LOG_ALPHA = math.log(0.05)
QUERY = SubsetQuery([7, 2], 4, [6, 3, 1], range(3), (5,), stop_above=LOG_ALPHA)


def spread(table: serape.Table, split: str) -> ClusterTable:
    return table_on_cluster(cluster(), table, split, 3, DataSettings(), Sayer(None, "reading"), None)


@pytest.fixture(scope="module")
def classes() -> serape.Table:
    return serape.load_network("child").sample(300, 1).part(range(8))


@pytest.fixture(scope="module")
def numbers() -> serape.Table:
    x = np.random.default_rng(3).normal(size=(200, 8))
    x[:, 4] += x[:, 2] - x[:, 7]
    return serape.Table({f"x{k}": x[:, k] for k in range(8)})


def each_given_rest(test: Any) -> Any:
    return answering.each_given_rest(test, [7, 2], 4, [2, 3, 7], LOG_ALPHA)


def test_a_test_where_rows_are_split_is_an_ordinary_one_on_an_engine(
    classes: serape.Table, numbers: serape.Table
) -> None:
    assert type(make_test(spread(classes, "rows"), "x2")) is CountedTest
    assert type(make_test(spread(numbers, "rows"), "partial-correlation")) is SummedTest


@pytest.mark.parametrize(
    ("split", "name", "again"),
    [("rows", "g2", 0), ("rows", "partial-correlation", 1), ("rows", "trend", 0), ("columns", "g2", 0)],
)
def test_a_search_is_answered_near_what_one_round_fetches(
    classes: serape.Table, numbers: serape.Table, split: str, name: str, again: int
) -> None:
    """Sums depend on the variables of a question alone, so that they are rounded alike; they are fetched again."""
    here = numbers if name == "partial-correlation" else classes
    table = spread(here, split)
    test, alone = make_test(table, name), make_test(here, name)
    assert {who_answers(test, Shape(asked)) for asked in ("subsets", "each given the rest")} == {"cluster"}
    assert "cluster" not in {who_answers(test, Shape(asked)) for asked in PATTERNS - {"subsets", "each given the rest"}}
    table.origins(table.continuous)  # which takes a round of its own where there are numbers
    before = table.traffic.rounds
    found = of_subsets(*answering.search_subsets(test, QUERY))
    assert table.traffic.rounds == before + 1
    rest = of_subsets(*each_given_rest(test))
    assert table.traffic.rounds == before + 1 + again
    for asked in ("separate", "weakest"):
        rounds = table.traffic.rounds
        size = range(2) if asked == "separate" else 1
        own, others = (getattr(one, asked)([7, 2], 4, [6, 3, 1], size) for one in (test, alone))
        assert [one.given for one in own] == [one.given for one in others]
        assert table.traffic.rounds == rounds + again
    rounding = 1e-9 if name == "partial-correlation" else 0.0
    assert same(found, of_subsets(*alone.search_subsets(QUERY)), rounding)
    assert same(rest, of_subsets(*each_given_rest(alone)), rounding)


def test_too_many_distinct_rows_are_counted_where_they_are(
    classes: serape.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_rows, "_MOST_ROWS", 3)
    table = spread(classes, "rows")
    test, alone = make_test(table, "g2"), make_test(classes, "g2")
    for ask in (lambda test: answering.search_subsets(test, QUERY), each_given_rest):
        rounds = []
        for _ in range(2):
            before = table.traffic.rounds
            assert of_subsets(*ask(test)) == of_subsets(*ask(alone))
            rounds.append(table.traffic.rounds - before)
        assert rounds[0] > 2
        assert rounds[1] == rounds[0] - 1  # that there are too many is known


def test_what_is_announced_travels_in_one_round(classes: serape.Table) -> None:
    table = spread(classes, "rows")
    test, alone = make_test(table, "g2"), make_test(classes, "g2")
    before = table.traffic.rounds
    screens = [(x, [y for y in range(8) if y != x], ()) for x in range(4)]
    test.expect_screens(screens)
    for x, ys, given in screens:
        assert of_screen(test.screen(x, ys, given)) == of_screen(alone.screen(x, ys, given))
    test.expect_subsets([{7, 2, 4, 6, 3, 1, 5}, {4, 6}, {0, 1}])
    answering.search_subsets(test, QUERY)
    answering.search_subsets(test, SubsetQuery([0], 1, [], range(1)))
    assert table.traffic.rounds == before + 2


def test_distinct_rows_of_few_sets_are_kept(classes: serape.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched_rows, "_MOST_KNOWN", 2)
    table = spread(classes, "rows")
    test = make_test(table, "g2")
    rounds = []
    for x in (0, 2, 0, 4, 0):
        before = table.traffic.rounds
        answering.search_subsets(test, SubsetQuery([x], x + 1, [], range(1)))
        rounds.append(table.traffic.rounds - before)
    assert rounds == [1, 1, 0, 1, 1]


def test_columns_that_are_not_needed_make_room(classes: serape.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched_test, "_MOST_KEPT", 3 * classes.rows)
    table = spread(classes, "columns")
    test, alone = make_test(table, "g2"), make_test(classes, "g2")
    rounds = []
    for x, y, z in ((3, 4, 5), (5, 3, 4), (2, 1, 0), (3, 4, 5)):
        before = table.traffic.rounds
        assert test.test(x, y, (z,)) == alone.test(x, y, (z,))
        rounds.append(table.traffic.rounds - before)
    assert rounds == [1, 0, 1, 1]


@pytest.mark.parametrize("split", ["rows", "columns"])
def test_many_targets_advance_together_in_threads(classes: serape.Table, split: str) -> None:
    test, done = make_test(spread(classes, split), "g2"), []
    assert workers.choose_workers(test).run is workers._in_threads
    meeting = Barrier(64)
    parallel_map(lambda k, _: meeting.wait(20), range(64), 1, lambda k, _: done.append(k), test=test)
    assert sorted(done) == list(range(64))
