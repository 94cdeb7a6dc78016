"""Fitted networks: counts by hand, the formula, known networks found again, every refusal."""

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from plain import random_network
from serape import DataError, InputTypeError, OptionError, Table, load_network, read_bif, write_bif
from serape.networks import Network
from serape.networks import fitting as module
from serape.networks.fitting import fit

SMALL = {
    "a": ["x", "x", "x", "y", "y", "x"],
    "b": ["p", "q", "p", "r", "r", "p"],
    "c": ["0", "1", "1", "0", "0", "1"],
}


def parents_of(network: Network) -> dict[str, tuple[str, ...]]:
    return {name: network.parents(name) for name in network.variables}


def test_frequencies_of_a_small_table() -> None:
    network = fit(Table(SMALL), {"b": ["a"], "c": ["a", "b"]}, 0)
    assert network.variables == ("a", "b", "c")
    assert network.levels("b") == ("p", "q", "r")
    assert network.parents("c") == ("a", "b")
    assert network.cpt("a").tolist() == [[4 / 6, 2 / 6]]
    assert network.cpt("b").tolist() == [[3 / 4, 1 / 4, 0], [0, 0, 1]]
    # a, b: xp, xq, xr, yp, yq, yr; xr, yp and yq do not occur
    assert network.cpt("c").tolist() == [[1 / 3, 2 / 3], [0, 1], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [1, 0]]


def test_order_of_parents_is_kept() -> None:
    network = fit(Table(SMALL), {"c": ["b", "a"]}, 0)
    assert network.parents("c") == ("b", "a")
    assert network.cpt("c").tolist() == [[1 / 3, 2 / 3], [0.5, 0.5], [0, 1], [0.5, 0.5], [0.5, 0.5], [1, 0]]


@pytest.mark.parametrize("size", [0, 0.1, 1, 10, 12345.678])
def test_formula(size: float) -> None:
    source = random_network(np.random.default_rng(5), 6, 0.5)
    table = source.sample(57, 3)
    network = fit(table, parents_of(source), size)
    exact = Fraction(size)
    for name in source.variables:
        above = source.parents(name)
        column = [str(v) for v in table.column(name)]
        configuration = list(zip(*(map(str, table.column(p)) for p in above), strict=True)) or [()] * len(table)
        own, configurations = source.levels(name), list(product(*map(source.levels, above)))
        r, q = len(own), len(configurations)
        for row, wanted in zip(network.cpt(name), configurations, strict=True):
            here = [level for level, c in zip(column, configuration, strict=True) if c == wanted]
            for level, p in zip(own, row, strict=True):
                if here or size:
                    right = (here.count(level) + exact / (r * q)) / (len(here) + exact / q)
                else:
                    right = Fraction(1, r)
                assert p == pytest.approx(float(right), rel=1e-12)


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "insurance"])
def test_known_networks_are_found_again(name: str) -> None:
    source = load_network(name)
    rows = 200_000
    table = source.sample(rows, 11)
    network = fit(table, parents_of(source), 0)
    assert network.graph.edges == source.graph.edges
    statistic, dof = 0.0, 0
    for variable in source.variables:
        above = source.parents(variable)
        number = np.zeros(rows, int)
        for parent in above:
            number = number * len(source.levels(parent)) + table.packed.codes(table.position(parent))
        totals = np.bincount(number, minlength=len(source.cpt(variable)))
        expected = totals[:, None] * source.cpt(variable)
        observed = totals[:, None] * network.cpt(variable)
        assert observed[(expected == 0) & (totals > 0)[:, None]].sum() == 0
        usable = (expected >= 5).all(axis=1)
        statistic += float(((observed - expected)[usable] ** 2 / expected[usable]).sum())
        dof += int(usable.sum()) * (expected.shape[1] - 1)
    assert 1e-4 < stats.chi2.sf(statistic, dof) < 1 - 1e-4


def test_frequencies_are_the_likeliest() -> None:
    """Moving any row of a table a little makes the data less likely."""
    source = random_network(np.random.default_rng(1), 5, 0.6)
    table = source.sample(300, 0)
    network = fit(table, parents_of(source), 0)
    for name in source.variables:
        number = np.zeros(300, int)
        for parent in source.parents(name):
            number = number * len(source.levels(parent)) + table.packed.codes(table.position(parent))
        codes = table.packed.codes(table.position(name))
        cpt = network.cpt(name)
        best = np.log(cpt[number, codes]).sum()
        other = 0.95 * cpt + 0.05 * np.roll(cpt, 1, axis=1)
        same = np.allclose(other[number], cpt[number])
        assert same or np.log(other[number, codes]).sum() < best


def test_bif_round_trip_with_levels_of_every_kind(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": [3, 1, 2, 3, 1, 2],
            "truth": [True, False, True, True, False, False],
            "real": pd.Categorical([1.0, 2.5, 1.0, 2.5, 2.5, 1.0]),
            "odd": ["a, b", 'say "x"', " space ", "//", "{", "\\"],
            "gap": ["u", None, "v", "u", None, "v"],
            "unseen": pd.Categorical(["l", "l", "h", "h", "l", "h"], categories=["l", "m", "h"]),
        }
    )
    network = fit(
        Table(frame, missing="level"), {"odd": ["truth"], "whole": ["odd", "gap"], "unseen": ["real"], "gap": ["truth"]}
    )
    assert network.levels("whole") == ("1", "2", "3")
    assert network.levels("truth") == ("False", "True")
    assert network.levels("real") == ("1.0", "2.5")
    assert network.levels("gap") == ("u", "v", "None")
    assert network.levels("unseen") == ("l", "m", "h")
    assert (network.cpt("unseen") > 0).all()
    write_bif(network, tmp_path / "n.bif")
    assert read_bif(tmp_path / "n.bif") == network
    assert len(network.sample(10, 0)) == 10


def test_fitting_a_sample_again_gives_the_same_names() -> None:
    network = fit(Table({"a": [0, 1, 1, 0], "b": [True, False, True, True]}), {"b": ["a"]})
    again = fit(network.sample(50, 0), {"b": ["a"]})
    assert (again.variables, again.levels("a"), again.levels("b")) == (("a", "b"), ("0", "1"), ("False", "True"))


def test_tiny_sample_size_does_not_underflow() -> None:
    network = fit(Table(SMALL), {"c": ["a", "b"]}, 5e-324)
    assert network.cpt("c").sum(axis=1) == pytest.approx(np.ones(6))
    assert network.cpt("c")[2].tolist() == [0.5, 0.5]


def test_many_rows_of_many_levels() -> None:
    """Codes of 16 bits must not run over when they are combined."""
    codes = np.arange(90_000)
    table = Table({"a": codes % 300, "b": codes // 300}, kinds="categorical")
    cpt = fit(table, {"b": ["a"]}, 0).cpt("b")
    assert cpt.shape == (300, 300)
    assert (cpt == 1 / 300).all()


@pytest.mark.parametrize(
    ("parents", "error", "words"),
    [
        ({"d": ["a"]}, OptionError, "no column 'd'"),
        ({"a": ["bb"]}, OptionError, "no column 'bb'"),
        ({"a": [1]}, OptionError, "as text"),
        ({"a": "b"}, DataError, "give a list of names"),
        ({"a": ["a"]}, DataError, "its own parent"),
        ({"a": ["b", "b"]}, DataError, "twice"),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, DataError, "cycle"),
        ([("a", ["b"])], InputTypeError, "dict"),
    ],
)
def test_arcs_that_are_no_network(parents: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        fit(Table(SMALL), parents)


@pytest.mark.parametrize("size", [-1, float("nan"), float("inf"), "1", True, None])
def test_sample_sizes_that_are_none(size: Any) -> None:
    with pytest.raises(OptionError, match="equivalent_sample_size"):
        fit(Table(SMALL), {}, size)


def test_a_table_is_needed() -> None:
    with pytest.raises(InputTypeError, match="a Table is needed, not a dict"):
        fit(SMALL, {})  # type: ignore[arg-type]


def test_continuous_columns_are_refused() -> None:
    with pytest.raises(DataError, match="'h' is continuous.*ignore"):
        fit(Table({"a": ["x", "y"], "h": [0.5, 0.25]}), {})


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ([1, "1"], "levels 1 and '1' of column 'a' are both called '1'"),
        (["None", None], "levels 'None' and None of column 'a'"),
        (["", "x"], "has the level ''"),
        (["one\ntwo", "x"], "one line"),
    ],
)
def test_levels_that_cannot_be_names(levels: list[Any], words: str) -> None:
    frame = pd.DataFrame({"a": pd.Series(levels, dtype=object)})
    with pytest.raises(DataError, match=words):
        fit(Table(frame, missing="level"), {})


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.arange(400) % 20
    table = Table({f"v{k}": codes for k in range(7)})
    with pytest.raises(DataError, match=r"'v6' given 'v0', 'v1', 'v2', 'v3', 'v4', 'v5' .*1,280,000,000 cells"):
        fit(table, {"v6": [f"v{k}" for k in range(6)]})
    monkeypatch.setattr(module, "MAX_CELLS", 400)
    assert fit(table, {"v1": ["v0"]}).cpt("v1").shape == (20, 20)
    monkeypatch.setattr(module, "MAX_CELLS", 399)
    with pytest.raises(DataError, match="remove a parent"):
        fit(table, {"v1": ["v0"]})
