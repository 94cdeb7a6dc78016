"""Inter-IAPC: parents and children within the blanket."""

import networkx as nx
import numpy as np

import serape
from serape.data.example import clinic


class TestInterIapc:
    def test_parents_and_children_within_the_blanket(self) -> None:
        graph = nx.DiGraph([("p", "t"), ("t", "c"), ("s", "c"), ("g", "p")])
        found = serape.parents_children(serape.DSeparation(graph), "t")
        assert found.algorithm == "inter-iapc"
        assert set(found.parents_children or ()) == {"p", "c"} == set(found.members)
        assert set(found.blanket) == {"p", "c"}  # the question is about these
        assert str(found).startswith("Parents and children of t: ")
        assert str(found.explain("s")).startswith("s is not a parent or child of t")
        assert found.graph.edges["t", "p"]["relation"] == "adjacent"

    def test_neither_order_nor_threads_matter(self) -> None:
        data = clinic(3000, seed=1)
        random = np.random.default_rng(0)
        for target in ("HeartDisease", "BloodPressure"):
            answers = set()
            for jobs in (1, 2, 3):
                shuffled = {name: data[name] for name in random.permutation(list(data))}
                answers.add(frozenset(serape.parents_children(shuffled, target, n_jobs=jobs).members))
            assert len(answers) == 1
