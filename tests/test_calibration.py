"""The arithmetic of the calibration benchmark, and that what it draws is independent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.accuracy.calibration import draws, page, power, rare, rates, real, size
from benchmarks.common.internals import make_test
from benchmarks.peers import runner
from benchmarks.peers.independence import FEWEST, TOOLS, Samples, job, read
from serape.independence import TESTS


def test_rates_that_are_too_high() -> None:
    for mean in (0.4, 3.0, 40.0):
        first = next(k for k in range(200) if rates.exceeds(k, mean))
        assert first == next(k for k in range(200) if stats.poisson.sf(k - 1, mean) < rates.SURE)
    found = rates.Rates()
    found.add(np.log([0.05, 0.0005, 0.2, 0.3]), np.array([1, 1, 1, 0], bool))
    assert (found.asked, found.reliable, found.rejected) == (4, 3, [2, 1, 1])
    assert found.shown() == [".667", ".333", ".3333", "25%"]
    many = rates.Rates(2000, 2000, [100, 20, 12])
    assert many.too_high == [False, False, True]
    assert many.worst_ratio == pytest.approx(6)
    assert many.shown()[2] == "**.0060**"
    many.join(many)
    assert many.rejected == [200, 40, 24]
    assert rates.Rates().shown() == ["–", "–", "–", "–"]


def test_every_test_is_measured() -> None:
    assert set(size.TESTS) | set(size.ELSEWHERE) >= set(TESTS)
    grid = list(draws.cells())
    assert {cell.rows for cell in grid} == set(draws.ROWS)
    assert {cell.shape for cell in grid} == {*draws.SHAPES, "–"}
    for test in size.TESTS:
        assert any(size.applicable(test, cell) for cell in grid), test


@pytest.mark.parametrize("dependence", draws.dependences("20 levels + 3 numbers"))
def test_drawn_columns_depend_on_z_alone(dependence: str) -> None:
    """Residuals on the truth are uncorrelated; without Z the columns are dependent, unless nothing depends on it."""
    cell = draws.Cell(4000, "20 levels + 3 numbers", dependence, "normal", "number, number")
    table, y, xs, given = draws.draw(np.random.default_rng(3), cell)
    assert [table.names[k] for k in given] == ["g", "z0", "z1", "z2"]
    codes, numbers = table.column("g").astype(int), np.stack([table.numbers(k) for k in given[1:]])
    x, other = table.numbers(xs[0]), table.numbers(y)
    squares = dependence == "spread"
    alone = np.corrcoef(x * x, other * other)[0, 1] if squares else np.corrcoef(x, other)[0, 1]
    assert (abs(alone) < 0.05) == (dependence == "not at all")
    signal = draws.signal(dependence, numbers, codes)
    basis = np.column_stack([np.eye(20)[codes], signal])
    if not squares:
        left = [v - basis @ np.linalg.lstsq(basis, v, rcond=None)[0] for v in (x, other)]
        assert abs(np.corrcoef(*left)[0, 1]) < 0.06


def test_rare_things_are_rare_and_depend_on_z_alone() -> None:
    cells = list(rare.cells())
    assert len(cells) > 500
    assert {(cell.x, cell.y) for cell in cells} == set(rare.PAIRS)
    assert {shape for pair in rare.PAIRS for shape in pair} == set(rare.SHAPES)
    random = np.random.default_rng(4)
    u = random.standard_normal(20_000)
    for share in (75, 93, 98):
        assert np.mean(rare.SHAPES[f"{share} % zeros"](u) == 0) == pytest.approx(share / 100, abs=0.01)
    for shape, mean in (("Poisson .05", 0.05), ("Poisson .3", 0.3), ("Poisson 3", 3), ("negative binomial .2", 0.2)):
        assert rare.SHAPES[shape](u).mean() == pytest.approx(mean, rel=0.1)
    assert len(np.unique(rare.SHAPES["50 levels"](u))) == 50
    for form in rare.FORMS:
        for depends in rare.SIGNALS if form != "nothing" else (False,):
            table, y, xs, given = rare.draw(random, rare.RareCell(4000, form, depends, "normal", "normal"))
            x, other = table.numbers(xs[0]), table.numbers(y)
            assert (abs(np.corrcoef(x, other)[0, 1]) > 0.2) == depends
            assert len(given) == {"nothing": 0, "15 levels + number": 2}.get(form, 1)


def test_rare_alternatives_depend() -> None:
    for name, draw in rare.ALTERNATIVES.items():
        x, y = draw(np.random.default_rng(5), 20_000)
        table = rare.table_of({"x": x, "y": y, "z": np.random.default_rng(6).normal(size=20_000)})
        assert make_test(table, "residuals").test(0, 1, [2]).log_p < -10, name


def test_power_at_equal_size() -> None:
    null = list(np.linspace(0.01, 1, 100))
    assert power.power([0.02, 0.04, 0.06, 0.5], null) == 0.5  # the size is right: as at the level
    assert power.power([0.0001, 0.0004, 0.04], [p / 100 for p in null]) == pytest.approx(2 / 3)  # it is 100 times that
    assert power.power([0.02, 0.2], [0.9] * 20) == 0.5


def test_cases_have_a_null_and_every_method_a_package() -> None:
    drawn = power.samples(2, (50,))
    assert len(drawn) == len(power.CASES) + len(power.NULLS)
    for name, values in drawn.items():
        assert values.shape == (2, 50, len(name.partition(";")[2]))
    assert {tool for tool, _ in power.METHODS} == {"serape", *power.PEERS} == set(TOOLS)
    for peer in power.PEERS:
        assert (runner.PINS / f"{peer}.txt").read_text().startswith(f"{peer}==")


def test_samples_are_tested_while_there_is_time() -> None:
    cases = {"a/5": ("nn", np.zeros((FEWEST, 5, 2))), "b/9": ("nn", np.zeros((3, 9, 2)))}
    found = job(Samples(cases, 1.0), lambda columns, _: columns.shape[0] / 10)[0](lambda: None)
    assert [found[case]["p"] for case in cases] == [[0.5] * FEWEST, [0.9] * 3]
    slow = job(Samples(cases, 0.0), lambda *_: sum(range(10**5)) * 0.0)[0](lambda: None)
    assert [len(slow[case]["p"]) for case in cases] == [1, 1]

    def fails(*_: object) -> float:
        raise ValueError("no\nmore")

    assert job(Samples(cases, 1.0), fails)[0](lambda: None)["b/9"] == {"error": "ValueError: no"}


def test_a_case_that_is_too_slow_is_left_out_at_more_rows(tmp_path: Path) -> None:
    asked: list[set[str]] = []

    class Slow(runner.Runner):
        def call(self, tool: str, method: str, data: Path) -> dict[str, Any]:
            cases = read(str(data)).cases
            asked.append(set(cases))
            seconds = {case: 1.0 if case.startswith("linear/") else 0.001 for case in cases}
            return {"version": tool + method, "found": {c: {"p": [1.0], "seconds": s} for c, s in seconds.items()}}

    slow = Slow("independence", tmp_path, tmp_path, {}, 0.05, 1.0)
    drawn = {n: power.samples(1, (n,)) for n in (20, 30)}
    found, version = power.measure(slow, "a", "b", drawn, seconds=4.0)
    assert version == "ab"
    assert "linear/20" in asked[0]
    assert {case.partition("/")[0] for case in asked[0]} - {case.partition("/")[0] for case in asked[1]} == {"linear"}
    assert len(found) == len(asked[0]) + len(asked[1])


def test_tables_go_between_their_marks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.md"
    file.write_text("a\n<!-- one -->\nold\n<!-- end one -->\nb\n")
    page.put({"one": "| new |", "two": "x"}, file)
    assert file.read_text() == "a\n<!-- one -->\n\n| new |\n\n<!-- end one -->\nb\n"
    assert "no place for 'two'" in capsys.readouterr().err


def test_probes_are_shuffled_copies() -> None:
    columns = {"a": np.arange(9.0), "b": np.repeat("x", 9), "t": np.arange(9)}
    wide, probes = real.with_shuffled(columns, "t", 3, 0, True)
    assert probes == ["probe0", "probe1", "probe2"]
    assert list(wide) == ["a", "b", "t", *probes]
    for name in probes:
        assert sorted(wide[name]) == sorted(columns["a"])  # a constant column is not shuffled
