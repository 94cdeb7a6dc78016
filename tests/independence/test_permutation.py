"""Permutation tests: against all permutations, the same answers whatever the order, early stops."""

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import serape
from plain import PlainContingency, random_table
from serape.independence import G2
from serape.independence import permutation as module
from serape.independence.permutation import Permutation
from serape.independence.semiparametric import SemiParametric

Floats = NDArray[np.float64]


@pytest.fixture(params=["rows", "counts"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Either way of permuting x: row by row, or drawing the counts that come of it."""
    monkeypatch.setattr(module, "_ROWS_PER_DRAW", 10**9 if request.param == "rows" else 0)
    return str(request.param)


def exact_g2(x: list[int], y: list[int], z: list[int]) -> float:
    """Return p over all permutations of x within the strata of z, one by one."""
    strata = [[k for k, value in enumerate(z) if value == s] for s in sorted(set(z))]

    def g2(permuted: list[int]) -> float:
        table = serape.Table({"x": permuted, "y": y, "z": z})
        return PlainContingency(table, dof="adjusted", reliability=None).test(0, 1, [2]).statistic

    observed, seen = g2(x), {}
    hits = total = 0
    for orders in product(*(permutations(rows) for rows in strata)):
        permuted = list(x)
        for rows, order in zip(strata, orders, strict=True):
            for to, from_ in zip(rows, order, strict=True):
                permuted[to] = x[from_]
        key = tuple(permuted)
        if key not in seen:
            seen[key] = g2(permuted) >= observed * (1 - 1e-12)
        hits += seen[key]
        total += 1
    return hits / total


def within_chance(found: float, truth: float, draws: int) -> bool:
    return abs(found - truth) <= 4 * math.sqrt(truth * (1 - truth) / draws) + 2 / draws


@pytest.mark.usefixtures("way")
class TestG2:
    @pytest.mark.parametrize(
        ("x", "y", "z"),
        [
            ([0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1], [0] * 7),
            ([0, 1, 2, 0, 1, 2, 0], [0, 1, 1, 0, 1, 1, 1], [0] * 7),
            ([0, 0, 1, 1, 0, 1, 1, 0], [0, 0, 1, 1, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 1]),
            ([0, 1, 1, 2, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0, 0, 1], [0, 0, 0, 0, 0, 1, 1, 1]),
            ([0, 1, 0, 1, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2, 3, 3]),
        ],
    )
    def test_against_all_permutations(self, x: list[int], y: list[int], z: list[int]) -> None:
        exact, draws = exact_g2(x, y, z), 20_000
        found = Permutation(serape.Table({"x": x, "y": y, "z": z}), permutations=draws, stop_early=False)
        assert exact > 0.01
        assert within_chance(found.test(0, 1, [2]).p, exact, draws)

    def test_against_chi_square_with_many_rows(self) -> None:
        random = np.random.default_rng(0)
        for _ in range(10):
            z = random.integers(2, size=600)
            x, y = ((z + random.integers(3, size=600)) % 3 for _ in range(2))
            table = serape.Table(np.stack([x, y, z], axis=1))
            found = Permutation(table, permutations=2000, stop_early=False).test(0, 1, [2])
            asymptotic = G2(table, dof="adjusted").test(0, 1, [2])
            assert (found.statistic, found.dof) == (asymptotic.statistic, asymptotic.dof)
            assert abs(found.p - asymptotic.p) < 4 * math.sqrt(asymptotic.p / 2000) + 0.01

    def test_valid_where_chi_square_is_not(self) -> None:
        """Twenty rows, two strata, three levels of which two are rare: p <= alpha at most as often as alpha says."""
        random = np.random.default_rng(1)
        p = []
        for _ in range(1000):
            z = random.integers(2, size=20)
            x, y = (random.choice(3, 20, p=[0.6, 0.2, 0.2]) for _ in range(2))
            table = serape.Table(np.stack([x, y, z], axis=1))
            p.append([t.test(0, 1, [2]).p for t in (Permutation(table, permutations=199), G2(table, "adjusted", None))])
        ours, chi_square = np.array(p).T
        for alpha in (0.02, 0.05, 0.1, 0.3):
            assert (ours <= alpha).mean() <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / 1000)
        assert (ours <= 0.3).mean() > 0.2  # nor is it too careful
        assert (chi_square <= 0.1).mean() > 0.15

    def test_power_rises_with_the_effect(self) -> None:
        random = np.random.default_rng(2)
        power = []
        for effect in (0.0, 0.3, 0.6):
            hits = 0
            for _ in range(100):
                x = random.integers(2, size=30)
                y = np.where(random.random(30) < effect, x, random.integers(2, size=30))
                hits += Permutation(serape.Table({"x": x, "y": y}), permutations=99).test(0, 1).p <= 0.05
            power.append(hits / 100)
        assert power[0] < 0.12
        assert power[0] + 0.1 < power[1] < power[2] - 0.2

    def test_ties_are_exceedances(self) -> None:
        """Every row of y is a level of its own: all permutations have the same G², however it is added up."""
        rows = np.arange(40)
        table = serape.Table({"x": rows % 3, "y": rows, "z": rows % 2}, kinds="categorical")
        for stop_early in (True, False):
            assert Permutation(table, permutations=200, stop_early=stop_early).test(0, 1, [2]).p == 1.0

    def test_smallest_p(self) -> None:
        x = np.arange(100) % 2
        test = Permutation(serape.Table({"x": x, "y": x}), permutations=400)
        assert test.test(0, 1).log_p == pytest.approx(-math.log(401), rel=1e-15)

    @pytest.mark.parametrize("size", [0, 2, 5])
    def test_sums_over_cells_dense_or_sparse(self, size: int) -> None:
        """Both ways of counting, against the G² of every permutation by the plain twin."""
        table = random_table(np.random.default_rng(size), 80, [3, 4, 2, 3, 2, 2, 3])
        test = Permutation(table)
        given = list(range(2, 2 + size))
        draw = test._tables(np.random.default_rng(3), 0, 1, given)
        plain = PlainContingency(table, dof="adjusted", reliability=None)
        base = plain.test(0, 1, given).statistic - 2 * draw(0)[0]
        some = draw(50)
        assert np.all(2 * some + base > -1e-9)  # all are G²
        values = np.array([n * math.log(max(n, 1)) for n in range(81)])
        cell = np.random.default_rng(4).integers(30, size=(7, 80))
        dense, sparse = (module._sum_over_cells(cell, cells, values) for cells in (30, 10**9))
        np.testing.assert_allclose(dense, sparse, rtol=1e-12)
        np.testing.assert_allclose(dense, [sum(values[n] for n in np.bincount(line)) for line in cell], rtol=1e-12)

    def test_permutes_evenly_within_strata_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Six distinct x in a stratum of three and three: each of the 36 arrangements as often as any other."""
        monkeypatch.setattr(module, "_ROWS_PER_DRAW", 10**9)
        x, z = [0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 1, 1]
        table = serape.Table({"x": x, "y": [0, 0, 1, 1, 1, 0], "z": z}, kinds="categorical")
        seen: list[NDArray[np.int64]] = []

        def look(cell: NDArray[np.int64], *_: Any) -> Floats:
            seen.append(cell)
            return np.zeros(len(cell))

        monkeypatch.setattr(module, "_sum_over_cells", look)
        Permutation(table)._tables(np.random.default_rng(5), 0, 1, [2])(7200)
        stratum, code = np.divmod(seen[0], 12)
        np.testing.assert_array_equal(stratum, np.broadcast_to(z, stratum.shape))
        arrangements, counts = np.unique(code // 2, axis=0, return_counts=True)
        assert len(arrangements) == 36
        assert {tuple(sorted(a[:3])) for a in arrangements.tolist()} == {(0, 1, 2)}
        assert stats.chisquare(counts).pvalue > 0.001


def partial_correlation(x: Floats, y: Floats, z: Floats) -> float:
    """Return |partial correlation| by two regressions."""
    design = np.column_stack([np.ones(len(x)), z])
    left = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    return abs(float(np.corrcoef(*left)[0, 1]))


def test_both_ways_draw_the_same_distribution() -> None:
    table = random_table(np.random.default_rng(14), 150, [3, 4, 2], 0.2)
    drawn = []
    for threshold in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_ROWS_PER_DRAW", threshold)
            drawn.append(Permutation(table)._tables(np.random.default_rng(15), 0, 1, [2])(4000))
    assert stats.ks_2samp(drawn[0], drawn[1]).pvalue > 0.01
    assert drawn[0].std() > 0


class TestCorrelation:
    @pytest.mark.parametrize("size", [0, 1, 2])
    def test_against_all_permutations(self, size: int) -> None:
        """Freedman and Lane as they put it: fitted values plus permuted residuals, and the regression once more."""
        random = np.random.default_rng(size)
        data = random.normal(size=(7, 4))
        data[:, 1] += 0.8 * data[:, 0] + data[:, 2:].sum(axis=1)
        x, y, z = data[:, 0], data[:, 1], data[:, 2 : 2 + size]
        design = np.column_stack([np.ones(7), z])
        fitted = design @ np.linalg.lstsq(design, x, rcond=None)[0]
        observed = partial_correlation(x, y, z)
        hits = [
            partial_correlation(fitted + (x - fitted)[list(order)], y, z) >= observed - 1e-12
            for order in permutations(range(7))
        ]
        found = Permutation(serape.Table(data), "correlation", permutations=5000, stop_early=False)
        outcome = found.test(0, 1, list(range(2, 2 + size)))
        assert outcome.statistic == pytest.approx(observed, rel=1e-9)
        assert outcome.dof == 7 - size - 2
        assert within_chance(outcome.p, float(np.mean(hits)), 5000)

    def test_against_t_with_many_rows(self) -> None:
        random = np.random.default_rng(3)
        for _ in range(10):
            data = random.normal(size=(300, 4))
            data[:, :2] += data[:, 2:]
            data[:, 1] += 0.07 * data[:, 0]
            found = Permutation(serape.Table(data), "correlation", permutations=2000, stop_early=False)
            outcome = found.test(0, 1, [2, 3])
            t = outcome.statistic * math.sqrt(outcome.dof / (1 - outcome.statistic**2))
            assert abs(outcome.p - 2 * stats.t.sf(t, 296)) < 4 * math.sqrt(outcome.p / 2000) + 0.01

    @pytest.mark.parametrize("size", [0, 2])
    def test_calibrated_under_independence(self, size: int) -> None:
        random = np.random.default_rng(4)
        found = []
        for _ in range(2000):
            data = random.exponential(size=(20, 4))  # skew
            data[:, :2] += data[:, 2 : 2 + size].sum(axis=1, keepdims=True)
            test = Permutation(serape.Table(data), "correlation", permutations=199, stop_early=False)
            found.append(test.test(0, 1, list(range(2, 2 + size))).p)
        assert stats.kstest(found, "uniform").pvalue > 0.01

    def test_scale_and_place_do_not_matter(self) -> None:
        data = np.random.default_rng(5).normal(size=(50, 3))
        one = Permutation(serape.Table(data), "correlation").test(0, 1, [2])
        for scale in (1e-200, 1e200):
            other = Permutation(serape.Table(data * scale), "correlation").test(0, 1, [2])
            assert other.p == one.p
            assert other.statistic == pytest.approx(one.statistic, rel=1e-9)
        moved = Permutation(serape.Table(data * 3 - 100), "correlation").test(0, 1, [2])
        assert moved.p == one.p

    def test_copies_in_the_conditioning_set(self) -> None:
        data = np.random.default_rng(6).normal(size=(50, 3))
        more = np.column_stack([data, 2 * data[:, 2] + 1, np.full(50, 0.5)])
        one, other = (Permutation(serape.Table(d, "continuous"), "correlation") for d in (data, more))
        assert other.test(0, 1, [2, 3, 4]).dof == one.test(0, 1, [2]).dof == 47
        assert other.test(0, 1, [2, 3, 4]).statistic == pytest.approx(one.test(0, 1, [2]).statistic, rel=1e-9)


@pytest.mark.usefixtures("way")
class TestTheSameAnswer:
    """Whoever asks, whenever, from either side."""

    table = random_table(np.random.default_rng(7), 200, [3, 3, 2, 4, 2], 0.2)
    numbers = serape.Table(np.random.default_rng(8).normal(size=(60, 5)))
    questions = ((0, 1, (2,)), (0, 1, ()), (3, 4, (0, 2)), (2, 3, (1,)))

    @pytest.mark.parametrize("statistic", ["g2", "correlation"])
    def test_from_either_side_after_any_other(self, statistic: Any) -> None:
        table = self.table if statistic == "g2" else self.numbers
        one, other = (Permutation(table, statistic, seed=3) for _ in range(2))
        answers = [one.test(x, y, z) for x, y, z in self.questions]
        assert [other.test(y, x, z[::-1]) for x, y, z in self.questions[::-1]] == answers[::-1]
        screen = Permutation(table, statistic, seed=3).screen(1, np.array([4, 0], np.uint32), (2,), threads=2)
        assert screen.outcome(1).log_p == answers[0].log_p
        assert len({a.log_p for a in answers}) > 1

    @pytest.mark.parametrize("statistic", ["g2", "correlation"])
    def test_in_any_order_of_columns(self, statistic: Any) -> None:
        table = self.table if statistic == "g2" else self.numbers
        frame = table.to_pandas()
        shuffled = serape.Table(frame[list(frame.columns)[::-1]])
        one, other = (Permutation(t, statistic) for t in (table, shuffled))
        for x, y, z in self.questions:
            found = other.test(4 - x, 4 - y, [4 - k for k in z])
            assert found.log_p == one.test(x, y, z).log_p

    def test_with_renamed_levels(self) -> None:
        codes = np.stack([self.table.packed.codes(k) for k in range(5)], axis=1).astype(int)
        renamed = serape.Table(7 - codes)
        same = serape.Table(codes)
        for x, y, z in self.questions:
            assert Permutation(renamed).test(x, y, z).p == Permutation(same).test(x, y, z).p

    @pytest.mark.parametrize("statistic", ["g2", "correlation"])
    def test_in_batches_of_any_size(self, statistic: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        table = self.table if statistic == "g2" else self.numbers
        answers = []
        for first, batch in ((1, 1), (7, 3000), (1000, 10**7)):
            monkeypatch.setattr(module, "_FIRST_BATCH", first)
            monkeypatch.setattr(module, "_BATCH", batch)
            answers.append([Permutation(table, statistic, 300).test(x, y, z).p for x, y, z in self.questions])
        assert answers[0] == answers[1] == answers[2]

    def test_on_any_number_of_threads(self) -> None:
        found = [
            {t: (r.blanket, r.explain(r.blanket[0]).log_p if r.blanket else None) for t, r in each.items()}
            for each in (serape.blankets(Permutation(self.table, permutations=99), n_jobs=n) for n in (1, 2))
        ]
        assert found[0] == found[1]

    def test_seeds_differ(self) -> None:
        p = {Permutation(self.table, permutations=300, seed=s, stop_early=False).test(0, 3, (2,)).p for s in range(5)}
        assert len(p) > 1

    @pytest.mark.parametrize("test", ["g2-permutation", "g2-semiparametric"])
    def test_the_seed_of_a_call_is_that_of_the_test(self, test: str) -> None:
        made: Any = {"g2-permutation": Permutation, "g2-semiparametric": SemiParametric}[test]
        names = self.table.names
        for seed in (None, 0, 7):
            expected = made(self.table, seed=seed or 0).test(0, 3, (2,))
            asked = serape.ci_test(self.table, names[0], names[3], [names[2]], test=test, random_state=seed)
            assert (asked.log_p, asked.statistic) == (expected.log_p, expected.statistic)
            found = serape.markov_blanket(self.table, 0, "gs", test=test, random_state=seed, alpha=0.5)
            for name in names[1:]:
                why = found.explain(name)
                if why.given is not None and why.reliable:
                    given = [names.index(one) for one in why.given]
                    assert why.log_p == made(self.table, seed=seed or 0).test(names.index(name), 0, given).log_p

    def test_a_generator_draws_the_seed(self) -> None:
        p = [
            serape.ci_test(self.table, 0, 3, [2], test="g2-permutation", random_state=np.random.default_rng(seed)).p
            for seed in (1, 1, 2, 3, 4)
        ]
        assert p[0] == p[1]
        assert len(set(p)) > 1
        generator = np.random.default_rng(1)
        serape.ci_test(self.table, 0, 3, test="g2", random_state=generator)
        assert generator.integers(1 << 32) == np.random.default_rng(1).integers(1 << 32)  # nothing was drawn


@pytest.mark.usefixtures("way")
class TestStoppingEarly:
    @pytest.mark.parametrize("statistic", ["g2", "correlation"])
    def test_is_the_same_sequence_cut_short(self, statistic: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """p = 10 / l, where l is the place of the tenth exceedance; without ten, p is that of all permutations."""
        random = np.random.default_rng(9)
        kinds = set()
        for _ in range(20):
            if statistic == "g2":
                table = random_table(random, 60, [3, 3, 2], 0.3)
            else:
                table = serape.Table(random.normal(size=(40, 3)) + 0.9 * random.normal(size=(40, 1)))
            short = Permutation(table, statistic, 500).test(0, 1, [2])
            full = Permutation(table, statistic, 500, stop_early=False).test(0, 1, [2])
            assert (short.statistic, short.dof) == (full.statistic, full.dof)
            with monkeypatch.context() as patch:
                patch.setattr(module, "ENOUGH_EXCEEDANCES", 10**9)
                assert Permutation(table, statistic, 500).test(0, 1, [2]) == full
            stopped = round(full.p * 501) > 10
            kinds.add(stopped)
            if stopped:
                index = 10 / short.p
                assert index == pytest.approx(round(index), abs=1e-9)
                assert abs(short.p - full.p) < 4 * short.p / math.sqrt(10) + 0.01
                sooner = Permutation(table, statistic, round(index), stop_early=False).test(0, 1, [2])
                assert round(sooner.p * (round(index) + 1)) == 11  # ten by then,
                before = Permutation(table, statistic, round(index) - 1, stop_early=False).test(0, 1, [2])
                assert round(before.p * round(index)) == 10  # and nine one before
            else:
                assert short.p == full.p
        assert kinds == {True, False}

    def test_draws_few_where_nothing_is_at_stake(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_ROWS_PER_DRAW", 10**9)
        drawn: list[int] = []
        sums = module._sum_over_cells

        def count(cell: NDArray[np.int64], *rest: Any) -> Floats:
            drawn.append(len(cell))
            return sums(cell, *rest)

        monkeypatch.setattr(module, "_sum_over_cells", count)
        table = random_table(np.random.default_rng(10), 100, [2] * 10, 0.0)
        Permutation(table, permutations=10_000).screen(0, np.arange(1, 10, dtype=np.uint32))
        assert sum(drawn) < 9 * 1000


def test_finds_a_blanket_in_few_rows() -> None:
    """Forty rows, where G² may not even ask given two variables of three levels."""
    random = np.random.default_rng(13)
    a, b, c, d = (random.integers(3, size=40) for _ in range(4))
    t = np.where(random.random(40) < 0.05, c, (a >= 1).astype(int) + 2 * (b >= 1))
    table = serape.Table({"a": a, "b": b, "c": c, "d": d, "t": t})
    for algorithm in ("iamb", "hiton-mb", "pcmb"):
        found = serape.markov_blanket(Permutation(table), "t", algorithm)
        assert {"a", "b"} <= set(found.blanket)
        assert found.test == "g2-permutation"
