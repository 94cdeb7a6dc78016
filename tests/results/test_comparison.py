"""compare and kl_fitness: by hand and by definition."""

import itertools
import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import serape
from serape.data.example import clinic


class TestCompare:
    def test_measures(self) -> None:
        found = serape.compare(["a", "b", "x", "y"], ["a", "b", "c"])
        assert found.precision == 0.5
        assert found.recall == pytest.approx(2 / 3)
        assert found.distance == pytest.approx(math.hypot(0.5, 1 / 3))
        assert found.missed == ("c",)
        assert found.extra == ("x", "y")

    def test_conventions_for_empty_sets(self) -> None:
        assert serape.compare([], ["a"]).precision == 1
        assert serape.compare(["a"], []).recall == 1
        assert serape.compare([], []).distance == 0

    def test_of_different_targets_are_refused(self) -> None:
        oracle = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c")]))
        found = serape.markov_blanket(oracle, "a")
        with pytest.raises(serape.OptionError, match="one result is about 'a', the other about 'b'"):
            serape.compare(found, serape.markov_blanket(oracle, "b"))
        with pytest.raises(serape.OptionError, match="the true names include the target 'a' itself; leave it out"):
            serape.compare(found, ["a", "b"])

    def test_a_graph_as_truth(self) -> None:
        graph = nx.DiGraph([("p", "t"), ("t", "c"), ("s", "c")])
        oracle = serape.DSeparation(graph)
        assert serape.compare(serape.markov_blanket(oracle, "t"), graph).distance == 0
        assert serape.compare(serape.parents_children(oracle, "t"), graph).distance == 0

    def test_mean_over_targets(self) -> None:
        results = serape.blankets(clinic(500), ["Age", "Ward"])
        truths = {name: result.blanket for name, result in results.items()}
        truths["Ward"] = (*truths["Ward"], "Age")
        assert 0 < serape.compare(results, truths).distance <= 0.5

    @pytest.mark.parametrize(("found", "truth"), [("abc", ["a"]), (["a"], 3), (["a"], nx.DiGraph([("a", "b")]))])
    def test_nonsense(self, found: object, truth: object) -> None:
        with pytest.raises(serape.SerapeError):
            serape.compare(found, truth)


class TestFitness:
    def test_against_the_definition(self) -> None:
        """The expected divergence of P(T|B) from P(T|B,X), by frequencies, written out."""
        random = np.random.default_rng(5)
        b, x, y = random.integers(2, size=(3, 400))
        t = np.where(random.random(400) < 0.3, x ^ b, random.integers(2, size=400))
        expected = []
        for other in (x, y):
            total = 0.0
            for vb, vx in itertools.product((0, 1), repeat=2):
                here = (b == vb) & (other == vx)
                for vt in (0, 1):
                    p = (t[here] == vt).mean()
                    q = (t[b == vb] == vt).mean()
                    total += here.mean() * p * math.log(p / q)
            expected.append(total)
        found = serape.kl_fitness({"b": b, "x": x, "y": y, "t": t}, "t", ["b"])
        assert found == pytest.approx(sum(expected) / 2, rel=1e-9)

    def test_a_blanket_is_fitter_than_none(self) -> None:
        data = serape.Table(clinic(5000))
        blanket = serape.markov_blanket(data, "HeartDisease", max_conditioning=3).blanket
        assert serape.kl_fitness(data, "Age", []) > 0
        assert serape.kl_fitness(data, "HeartDisease", [n for n in data.names if n != "HeartDisease"]) == 0
        with pytest.raises(serape.OptionError, match="own blanket"):
            serape.kl_fitness(data, "HeartDisease", [*blanket, "HeartDisease"])

    def test_a_test_stands_for_its_table(self) -> None:
        data = serape.load_network("asia").sample(300, 1)
        expected = serape.kl_fitness(data, "either", ["lung"])
        for test in (serape.independence.X2(data), serape.FunctionTest(data, lambda x, y, z: 1.0)):
            assert serape.kl_fitness(test, "either", ["lung"]) == expected
        with pytest.raises(serape.InputTypeError, match="not an oracle"):
            serape.kl_fitness(serape.independence.DSeparation(nx.DiGraph([("a", "b")])), "a", ["b"])


def test_names_and_means(tmp_path: Path) -> None:
    told = serape.compare(["Age", "ECG", "Ward"], ["Age", "Weight"])
    assert (told.correct, told.extra, told.missed) == (("Age",), ("ECG", "Ward"), ("Weight",))
    assert told.explain("Age") == "Age is found, and true."
    assert told.explain("Ward") == "Ward is found, and not true."
    assert told.explain("Weight") == "Weight is not found, and true."
    with pytest.raises(serape.OptionError, match="'Wart' is neither found nor true. Did you mean 'Ward'"):
        told.explain("Wart")
    mean = serape.Comparison(0.5, 0.25, 0.9)
    path = tmp_path / "mean.svg"
    mean.plot(path)
    assert "No variables are named." in path.read_text(encoding="utf-8")
    content = {name: value for name, value in told.to_dict().items() if name != "correct"}
    assert serape.Comparison.from_dict(content) == told  # as files of earlier versions are
