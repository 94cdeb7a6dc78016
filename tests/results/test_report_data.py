"""The section of reports about the columns of the data."""

import numpy as np
import pytest

import serape
from serape.data.example import clinic
from serape.results.report import blanket_page, network_page
from serape.results.report.data import MAX_COLUMNS
from serape.results.report.page import Grid, Page


def columns(page: Page) -> Grid:
    """Return the table of the columns."""
    (grid,) = (grid for grid in page.grids if grid.id == "data")
    return grid


def test_every_column_is_described_and_the_target_comes_first() -> None:
    data = {**clinic(500), "same": clinic(500)["Age"], "one": np.ones(500, int)}
    found = serape.markov_blanket(data, "HeartDisease")
    texts = {str(row[0].text): [str(cell.text) for cell in row[1:]] for row in columns(blanket_page(found)).rows}
    assert set(texts) == set(data)
    assert list(texts)[: 1 + len(found.members)] == ["HeartDisease", *found.members]
    described = {column.variable: column for column in serape.describe(data).columns}
    assert texts["Weight"] == ["categorical", f"{described['Weight'].levels}", "0", described["Weight"].about]
    assert texts["same"][-1].endswith("duplicate of 'Age'")
    assert texts["one"][-1].endswith("constant")


def test_missing_values_are_counted() -> None:
    age = [None if k < 7 else str(value) for k, value in enumerate(clinic(500)["Age"])]
    found = serape.network({**clinic(500), "Age": age}, "pc-stable", missing="pairwise", max_conditioning=1)
    (row,) = (row for row in columns(network_page(found)).rows if row[0].text == "Age")
    assert row[3].text == "7"
    assert row[3].order == 7


@pytest.mark.parametrize("more", [0, 5])
def test_many_columns_are_cut_and_this_is_told(more: int) -> None:
    rng = np.random.default_rng(0)
    data = {f"c{k}": rng.integers(0, 2, 50) for k in range(MAX_COLUMNS + more)}
    grid = columns(blanket_page(serape.markov_blanket(data, f"c{MAX_COLUMNS + more - 1}", algorithm="iamb")))
    assert len(grid.rows) == MAX_COLUMNS
    assert (f"Of {MAX_COLUMNS + more:,} columns, these are {MAX_COLUMNS:,}" in grid.about) == (more > 0)


def test_without_data_there_is_no_section() -> None:
    found = serape.markov_blanket(serape.DSeparation(serape.load_network("asia").graph), 0)
    assert not [grid for grid in blanket_page(found).grids if grid.id == "data"]
