"""check_algorithm: wrong algorithms are caught, and the graph is made small."""

from collections.abc import Iterator
from typing import Any

import pytest

import serape
from serape.questions import counterexamples
from serape.questions.counterexamples import graphs_to_check
from serape.search import Members


class TestCheckAlgorithm:
    @pytest.mark.parametrize("algorithm", ["fbed", "ges"])
    def test_sound_algorithms_pass(self, algorithm: str) -> None:
        assert serape.check_algorithm(algorithm, cases=20) is None

    def test_a_wrong_one_is_caught_and_shrunk(self) -> None:
        def no_spouses(search: serape.Search, target: int) -> list[int]:
            """Grows by single tests given nothing: spouses never enter, grandparents do."""
            return [int(x) for x in search.candidates(target) if search.dependent(int(x), target)]

        wrong = serape.check_algorithm(no_spouses)
        assert wrong is not None
        assert wrong.graph.number_of_nodes() == 3  # a chain, a fork or a collider
        assert wrong.graph.number_of_edges() == 2
        assert "no_spouses is wrong on" in str(wrong)
        assert "does not belong to it" in str(wrong) or "is missing: it is a spouse" in str(wrong)

    def test_forgetting_to_shrink_is_caught(self) -> None:
        from serape.local.iamb import grow

        def grow_only(search: serape.Search, target: int) -> Members:
            blanket = search.members(target)
            grow(search, target, blanket)
            return blanket

        wrong = serape.check_algorithm(grow_only)
        assert wrong is not None
        assert set(wrong.found) > set(wrong.truth)
        assert " ⊥ " in str(wrong)

    def test_inter_iamb_npc_as_published_has_a_counterexample(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def random_ones(*arguments: Any, **options: Any) -> Iterator[Any]:
            return (one for one in graphs_to_check(*arguments, **options) if len(one[0]) > 4)

        monkeypatch.setattr(counterexamples, "graphs_to_check", random_ones)
        wrong = serape.check_algorithm("inter-iamb-npc", cases=500, seed=4, published=True)
        assert wrong is not None
        assert wrong.graph.number_of_nodes() == 5

    @pytest.mark.parametrize("algorithm", ["tabu", "sca"])
    def test_searches_that_end_at_a_local_optimum_are_caught(self, algorithm: str) -> None:
        wrong = serape.check_algorithm(algorithm)
        assert wrong is not None
        assert wrong.graph.number_of_nodes() <= 4
        assert wrong.target == ""
        assert set(wrong.found) != set(wrong.truth)
        assert f"{algorithm} is wrong on" in str(wrong)
        assert "the network is" in str(wrong)

    def test_networks_by_tests_are_refused(self) -> None:
        with pytest.raises(serape.OptionError, match="finds a whole network"):
            serape.check_algorithm("mmhc")

    def test_nonsense(self) -> None:
        with pytest.raises(serape.OptionError):
            serape.check_algorithm("magic")
        with pytest.raises(serape.OptionError):
            serape.check_algorithm("iamb", max_nodes=3)
