"""Fast-IAMB: several additions at once, and when it halts."""

import networkx as nx
import numpy as np

import serape
from serape.data.example import clinic


class TestFastIamb:
    def test_adds_several_at_once(self) -> None:
        """Three independent parents enter on one screen: 2 screens and 3 shrink tests."""
        graph = nx.DiGraph([("a", "t"), ("b", "t"), ("c", "t"), ("t", "d")])
        found = serape.markov_blanket(serape.DSeparation(graph), "t", algorithm="fast-iamb")
        assert set(found.blanket) == set("abcd")
        assert found.tests_by_size == {0: 4, 3: 4}

    def test_halts_when_rows_run_out(self) -> None:
        """150 rows and binary columns: 5 rows a cell allow a table of four variables and not of six."""
        random = np.random.default_rng(0)
        parents = random.integers(2, size=(8, 150))
        t = (parents.sum(axis=0) + random.integers(2, size=150) > 4).astype(int)
        data = {f"p{k}": column for k, column in enumerate(parents)} | {"t": t}
        found = serape.markov_blanket(data, "t", algorithm="fast-iamb", alpha=0.4)
        assert 150 / 2 ** (len(found.blanket) + 1) >= 5 / 2
        assert any("fast-iamb stopped" in note for note in found.notes)
        assert found.options["reliability"] == "cells"

    def test_k(self) -> None:
        data = clinic(3000)
        few, many = (serape.markov_blanket(data, "HeartDisease", algorithm="fast-iamb", k=k) for k in (200.0, 5.0))
        assert len(few.blanket) < len(many.blanket)

    def test_no_test_in_the_add_loop(self) -> None:
        """Additions cost nothing: tests are screens and shrinks only."""
        found = serape.markov_blanket(clinic(3000), "HeartDisease", algorithm="fast-iamb", alpha=0.01)
        screens = [13] + [13 - size for size in found.tests_by_size if size]
        assert found.tests <= sum(screens) + 30
