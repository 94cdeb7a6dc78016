"""Knockoffs of a table, and the selection of columns that stand out from theirs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from serape.data.example import clinic
from serape.networks.knockoffs import MAX_CELLS
from serape.questions.group_lasso import _design, _fitted, _norms, importances
from serape.results.knockoffs import knockoff_threshold

ALARM = serape.load_network("alarm")


def additive(rows: int, seed: int, members: int = 12) -> tuple[dict[str, NDArray[Any]], set[str]]:
    """Forty columns of three levels in chains of five, and a target that depends on some of them."""
    random = np.random.default_rng([seed, 9])
    columns: dict[str, NDArray[Any]] = {}
    for chain in range(8):
        value = random.integers(0, 3, rows)
        for k in range(5):
            value = np.where(random.random(rows) < 0.6, value, random.integers(0, 3, rows))
            columns[f"c{chain}{k}"] = value
    chosen = random.choice(list(columns), members, replace=False).tolist()
    signal = sum(random.choice([-1.5, 1.5]) * (columns[name] - 1) for name in chosen)
    columns["y"] = np.where(signal + random.logistic(size=rows) > 0, "yes", "no")
    return columns, set(chosen)


class TestKnockoffs:
    def test_the_same_names_levels_and_rows(self) -> None:
        table = ALARM.sample(300, 1)
        copies = serape.knockoffs(table, "HR")
        assert copies.names == tuple(name for name in table.names if name != "HR")
        assert len(copies) == 300
        assert all(copies.variables[name].levels == table.variables[name].levels for name in copies.names)
        again = serape.knockoffs(table, "HR")
        other = serape.knockoffs(table, "HR", random_state=1)
        assert all(np.array_equal(copies.column(name), again.column(name)) for name in copies.names)
        assert any(not np.array_equal(copies.column(name), other.column(name)) for name in copies.names)

    def test_the_target_is_not_looked_at(self) -> None:
        data, _ = additive(300, 0)
        shuffled = {**data, "y": np.random.default_rng(5).permutation(data["y"])}
        one, two = serape.knockoffs(data, "y"), serape.knockoffs(shuffled, "y")
        assert all(np.array_equal(one.column(name), two.column(name)) for name in one.names)

    def test_a_given_network_sums_out_its_other_variables(self) -> None:
        table = ALARM.sample(400, 2)
        copies = serape.knockoffs(table, "CATECHOL", ALARM)
        assert "CATECHOL" not in copies.names
        structure = serape.network(table, "ges")
        assert serape.knockoffs(table, "CATECHOL", structure).names == copies.names

    def test_moments_are_those_of_the_columns(self) -> None:
        data, _ = additive(4000, 1)
        copies = serape.knockoffs(data, "y")
        names = copies.names
        x = np.column_stack([data[name] for name in names]).astype(float)
        z = np.column_stack([copies.column(name) for name in names]).astype(float)
        own, made = np.corrcoef(x, rowvar=False), np.corrcoef(z, rowvar=False)
        cross = np.corrcoef(x, z, rowvar=False)[: len(names), len(names) :]
        apart = ~np.eye(len(names), dtype=bool)
        assert np.abs(own - made).max() < 0.1
        assert np.abs(own - cross)[apart].max() < 0.1
        assert np.diag(cross).mean() < 0.7  # and they are no copies

    def test_levels_in_another_order(self) -> None:
        network = serape.Network(
            {"a": ["x", "y", "z"], "b": ["0", "1"]},
            {"b": ["a"]},
            {"a": [[0.2, 0.3, 0.5]], "b": [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]},
        )
        table = network.sample(30_000, 1)
        rows: dict[str, list[Any]] = {
            "b": [int(v) for v in table.column("b")],
            "a": [str(v) for v in table.column("a")],
        }
        copies = serape.knockoffs({"b": rows["b"][::-1], "a": rows["a"][::-1]}, network=network)
        found = np.mean([(a == "x") & (b == 0) for a, b in zip(copies.column("a"), copies.column("b"), strict=True)])
        assert found == pytest.approx(0.18, abs=0.01)

    def test_columns_that_do_not_vary(self) -> None:
        copies = serape.knockoffs({"a": ["x"] * 20, "b": ["u", "v"] * 10})
        assert list(copies.column("a")) == ["x"] * 20
        assert set(copies.column("b")) == {"u", "v"}

    def test_what_cannot_be_used_is_refused(self) -> None:
        table = ALARM.sample(50, 1)
        with pytest.raises(serape.DataError, match="no variable 'extra'"):
            serape.knockoffs({"extra": ["a", "b"] * 20, "HR": ["LOW", "HIGH"] * 20}, network=ALARM)
        with pytest.raises(serape.DataError, match="lacks the level"):
            serape.knockoffs({"HR": ["LOW", "HIGH"] * 20}, network=ALARM)
        with pytest.raises(serape.DataError, match="the level 'NO', which the network does not have"):
            serape.knockoffs({"HR": ["LOW", "NO"] * 20}, network=ALARM)
        with pytest.raises(serape.DataError, match="categorical"):
            serape.knockoffs({"a": np.random.default_rng(0).normal(size=40), "b": [0, 1] * 20})
        with pytest.raises(serape.DataError, match="besides the target"):
            serape.knockoffs({"b": [0, 1] * 20}, "b")
        with pytest.raises(serape.DataError, match="weights or groups"):
            serape.knockoffs(
                serape.Table({"a": [0, 1] * 20, "w": [1, 2] * 20}, sample_weight="w", weight_kind="survey")
            )
        with pytest.raises(serape.InputTypeError, match="independence test"):
            serape.knockoffs(serape.DSeparation(ALARM.graph))
        with pytest.raises(serape.InputTypeError, match="network must be"):
            serape.knockoffs(table, network=3)  # type: ignore[arg-type]
        with pytest.raises(serape.OptionError, match="a generator"):
            serape.knockoffs(table, random_state=np.random.default_rng(0))
        with pytest.raises(serape.OptionError, match="no option 'netwrk'"):
            serape.knockoffs(table, netwrk="ges")  # type: ignore[call-arg]

    def test_columns_that_are_their_own_knockoffs_are_named(self) -> None:
        levels = [str(v) for v in range(30)]
        names = [f"v{k}" for k in range(4)]  # a clique of 810,000 cells
        random = np.random.default_rng(0)
        network = serape.Network(
            dict.fromkeys(names, levels),
            {name: names[:k] for k, name in enumerate(names[:3])} | {"v3": ["v0", "v1"]},
            {name: random.dirichlet(np.ones(30), 30 ** min(k, 2)) for k, name in enumerate(names)},
        )
        assert MAX_CELLS < 30**3
        table = network.sample(200, 1)
        copies = serape.knockoffs(table, network=network)
        assert "their own knockoffs" in copies.notes[-1]
        same = [name for name in names if np.array_equal(copies.column(name), table.column(name))]
        assert 1 <= len(same) <= 2


class TestFilter:
    def test_selects_what_is_true(self) -> None:
        data, truth = additive(2000, 3)
        found = serape.knockoff_filter(data, "y", fdr=0.2)
        assert len(truth.intersection(found.members)) >= 10
        assert len(set(found.members) - truth) <= 5
        assert found.members == found.selected(0.2)
        assert set(found.selected(0.1)) <= set(found.members)
        assert all((found.statistics[name] >= found.threshold) == (name in found.members) for name in found.statistics)

    def test_the_rate_holds_over_many_tables(self) -> None:
        """The mean share of false columns over 30 tables; an error of 0.03 is allowed for."""
        shares, recalls = [], []
        for seed in range(30):
            data, truth = additive(400, 100 + seed)
            found = set(serape.knockoff_filter(data, "y", fdr=0.2).members)
            shares.append(len(found - truth) / max(1, len(found)))
            recalls.append(len(found & truth) / len(truth))
        assert np.mean(shares) < 0.27
        assert np.mean(recalls) > 0.5

    def test_signs_of_noise_are_those_of_a_coin(self) -> None:
        random = np.random.default_rng(1)
        above = below = 0
        for seed in range(10):
            data = {f"n{k}": random.integers(0, 2, 100) for k in range(40)} | {"y": random.integers(0, 2, 100)}
            values = list(serape.knockoff_filter(data, "y", random_state=seed).statistics.values())
            above, below = above + sum(w > 0 for w in values), below + sum(w < 0 for w in values)
        assert above + below > 50
        assert abs(above - below) < 4 * math.sqrt(above + below)

    def test_data_drawn_with_the_same_seed(self) -> None:
        """The clinic is drawn with seed 0; knockoffs from the same random numbers would depend on the target."""
        values = serape.knockoff_filter(clinic(5000), "HeartDisease", random_state=0).statistics
        assert max(abs(values[name]) for name in ("Weekday", "Parking", "Ward")) < 0.2

    def test_a_statistic_of_your_own_cannot_prefer_the_columns(self) -> None:
        data, _ = additive(200, 4)
        seen: list[tuple[int, ...]] = []

        def first(columns: NDArray[np.intp], knockoffs: NDArray[np.intp], target: NDArray[np.intp]) -> Any:
            seen.append((*columns.shape, *knockoffs.shape, *target.shape))
            return np.ones(columns.shape[1])

        found = serape.knockoff_filter(data, "y", statistic=first)
        assert seen == [(200, 40, 200, 40, 200)]
        assert found.statistic == "first"
        assert 8 <= sum(w > 0 for w in found.statistics.values()) <= 32
        with pytest.raises(serape.InputTypeError, match="40 finite numbers"):
            serape.knockoff_filter(data, "y", statistic=lambda *_: np.ones(3))

    def test_too_few_members_for_the_rate(self) -> None:
        found = serape.knockoff_filter(clinic(1000), "HeartDisease", fdr=0.01)
        assert (found.members, found.threshold) == ((), math.inf)
        assert "at least 100 columns at a rate of 0.01, or none" in found.notes[-1]
        assert "no threshold reaches it" in str(found)

    def test_columns_equal_to_their_knockoffs(self) -> None:
        data = clinic(400)
        data["copy"] = data["Age"]
        found = serape.knockoff_filter({**data, "same": ["x"] * 400}, "HeartDisease", "tabu", equivalent_sample_size=0)
        assert {"Age", "copy", "same"} <= set(found.same)
        assert found.statistics["Age"] == found.statistics["same"] == 0
        assert any("nothing can be discovered" in note for note in found.notes)

    def test_saved_and_shown(self, tmp_path: Path) -> None:
        found = serape.knockoff_filter(clinic(500), "HeartDisease", "hpc")
        assert found.tests > 0
        found.save(tmp_path / "found.json")
        assert serape.load_result(tmp_path / "found.json") == found
        assert "hpc" in str(found)
        assert "Age" in found._repr_html_()
        assert found.records.columns == ("variable", "W", "selected")
        assert repr(found).startswith("<KnockoffSelection: ")

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"fdr": None}, "is no rate"),
            ({"fdr": 2}, "fdr"),
            ({"statistic": "ridge"}, "use 'lasso' or a callable"),
            ({"offset": 2}, "neither 0 nor 1"),
            ({"offset": True}, "neither 0 nor 1"),
        ],
    )
    def test_refusals(self, settings: dict[str, Any], message: str) -> None:
        with pytest.raises(serape.OptionError, match=message):
            serape.knockoff_filter(clinic(100), "HeartDisease", **settings)


@pytest.mark.parametrize(
    ("values", "rate", "offset", "threshold"),
    [
        ([5, 4, 3, 2, 1], 0.2, 1, 1),
        ([5, 4, 3, 2, -1], 0.2, 1, math.inf),
        ([5, 4, 3, 2, -1], 0.2, 0, 2),
        ([5, 4, 3, 2, -1, 1], 0.2, 0, 1),  # ties count together: 1 of 5
        ([6, 5, 4, -4, 3, 2, 1], 0.5, 1, 1),
        ([6, 5, 4, -4, 3, 2, 1], 0.4, 1, 1),
        ([6, 5, 4, -4, 3, 2, 1], 0.3, 0, 1),
        ([], 0.2, 1, math.inf),
        ([0, 0], 0.2, 0, math.inf),
    ],
)
def test_thresholds(values: list[float], rate: float, offset: int, threshold: float) -> None:
    assert knockoff_threshold(values, rate, offset) == threshold
    assert plain_threshold(values, rate, offset) == threshold


def plain_threshold(values: list[float], rate: float, offset: int) -> float:
    """The definition."""
    for t in sorted({abs(w) for w in values if w}):
        if (offset + sum(w <= -t for w in values)) / max(1, sum(w >= t for w in values)) <= rate:
            return t
    return math.inf


def test_thresholds_are_those_of_the_definition() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        values = random.integers(-6, 12, random.integers(1, 30)).astype(float).tolist()
        rate, offset = float(random.choice([0.1, 0.2, 0.3, 0.5])), int(random.integers(2))
        assert knockoff_threshold(values, rate, offset) == plain_threshold(values, rate, offset)


class TestGroupLasso:
    def test_strong_columns_have_large_coefficients(self) -> None:
        data, truth = additive(1500, 6)
        names = [name for name in data if name != "y"]
        codes = [data[name].astype(np.intp) for name in names]
        found = importances(codes, (data["y"] == "yes").astype(np.intp), np.random.default_rng(0))
        assert set(np.array(names)[np.argsort(-found)[: len(truth)]]) == truth

    def test_names_of_levels_and_constants_do_not_matter(self) -> None:
        random = np.random.default_rng(2)
        x, z, y = random.integers(0, 3, 300), random.integers(0, 4, 300), random.integers(0, 3, 300)
        y = np.where(random.random(300) < 0.5, x, y)
        one = importances([x, z, np.zeros(300, np.intp)], y, np.random.default_rng(0))
        two = importances([np.array([7, 2, 4])[x], z, np.zeros(300, np.intp)], y, np.random.default_rng(0))
        assert one == pytest.approx(two, abs=2e-3)
        assert one[0] > 10 * one[1]
        assert one[2] == 0
        assert not importances([x, z], np.zeros(300, np.intp), np.random.default_rng(0)).any()

    def test_the_optimum(self) -> None:
        """The gradient of a group in the model is its penalty; that of any other group is at most its penalty."""
        random = np.random.default_rng(3)
        x = [random.integers(0, 2 + k % 3, 400) for k in range(8)]
        y = np.digitize(x[0] + x[1] + x[2] + random.logistic(size=400), [1, 3])
        design, classes, penalty = _design(x), np.eye(3)[y], 0.03
        found, level = _fitted(design, classes, penalty)
        scores = np.exp(design.values @ found + level)
        gradient = design.values.T @ (scores / scores.sum(axis=1, keepdims=True) - classes) / 400
        sizes = np.diff([*design.begins, len(found)])
        norms = np.repeat(np.sqrt(np.add.reduceat((found**2).sum(axis=1), design.begins)), sizes)
        weights = np.repeat(design.weights, sizes)
        inside = norms > 0
        assert 3 <= np.count_nonzero(_norms(design, found)) < 8
        pull = penalty * (weights / np.where(inside, norms, 1))[:, None] * found
        assert gradient[inside] == pytest.approx(-pull[inside], abs=2e-4)
        assert _norms(design, np.where(inside[:, None], 0, gradient)).max() <= penalty * 1.001
