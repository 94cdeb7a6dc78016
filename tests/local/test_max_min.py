"""MMPC and MMMB on the two graphs of Peña, Björkegren and Tegnér (2005)."""

from __future__ import annotations

from typing import Any

import pytest

import serape
from plain import PENA_2005_A, PENA_2005_B
from serape.data.example import clinic


class TestTwoGraphs:
    def test_mmpc_without_symmetry_returns_a_descendant(self) -> None:
        oracle = serape.DSeparation(PENA_2005_A)
        as_published: tuple[dict[str, Any], ...] = ({"symmetry": False}, {"published": True})
        for options in as_published:
            found = serape.parents_children(oracle, "T", algorithm="mmpc", **options)
            assert set(found.members) == {"Q", "S"}
        assert serape.parents_children(oracle, "T", algorithm="mmpc").members == ("Q",)

    @pytest.mark.parametrize("algorithm", ["hiton-pc", "pcmb", "ipc-mb", "dos", "hpc"])
    def test_other_algorithms_do_not(self, algorithm: str) -> None:
        assert serape.parents_children(serape.DSeparation(PENA_2005_A), "T", algorithm=algorithm).members == ("Q",)

    def test_mmmb_as_published_returns_a_grandparent_even_with_a_right_mmpc(self) -> None:
        """P ⊥ T | Q, but P ⊥̸ T | Q, S: tried with S, which P is not next to, P looks like a spouse."""
        oracle = serape.DSeparation(PENA_2005_B)
        assert set(serape.parents_children(oracle, "T", algorithm="mmpc").members) == {"Q", "S"}
        as_published = serape.markov_blanket(oracle, "T", algorithm="mmmb", published=True, symmetry=True)
        assert set(as_published.blanket) == {"P", "Q", "R", "S"}
        assert set(serape.markov_blanket(oracle, "T", algorithm="mmmb").blanket) == {"Q", "R", "S"}

    def test_the_checker_finds_such_graphs_by_itself(self) -> None:
        without_symmetry = serape.check_algorithm("mmpc", symmetry=False)
        assert without_symmetry is not None
        assert len(without_symmetry.graph) == 4
        published = serape.check_algorithm("mmmb", published=True, symmetry=True, cases=400)
        assert published is not None
        assert len(published.graph) == 5


class TestAsPublishedItIsOneSided:
    """Without symmetry, x may be a neighbour of y though y is none of x."""

    def test_a_region_asks_the_other_side(self) -> None:
        oracle = serape.DSeparation(PENA_2005_A)
        as_published: tuple[dict[str, Any], ...] = ({"symmetry": False}, {"published": True})
        for options in as_published:
            assert set(serape.region(oracle, "T", 1, algorithm="mmpc", **options)) == {"T", "Q"}

    def test_either_side_counts_for_false_discoveries(self) -> None:
        def adjusted_p(**options: Any) -> list[float]:
            found = serape.skeleton(clinic(1000), "mmpc", rule="or", alpha=0.05, fdr=0.2, **options)
            return [edge["adjusted_p"] for edge in found.evidence]

        one, published = adjusted_p(symmetry=False), adjusted_p(published=True)
        both = adjusted_p(published=True, symmetry=True)
        assert one == published != both
