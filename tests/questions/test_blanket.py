"""markov_blanket: algorithms of one's own, bad use, columns named by numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import serape
from serape.data.example import clinic, clinic_graph


class TestOwnAlgorithm:
    def test_any_callable(self) -> None:
        def marginal(search: serape.Search, target: int) -> list[int]:
            return [int(x) for x in search.candidates(target) if search.dependent(int(x), target)]

        found = serape.markov_blanket(clinic(2000), "Ward", algorithm=marginal)
        assert found.algorithm == "marginal"
        assert found.tests == 13

    def test_names_will_do(self) -> None:
        found = serape.markov_blanket(clinic(100), "Ward", algorithm=lambda search, target: {"Age", "Smoking"})
        assert found.blanket == ("Age", "Smoking")

    @pytest.mark.parametrize("answer", [None, 3, "Age"])
    def test_nonsense_is_refused(self, answer: Any) -> None:
        with pytest.raises(serape.InputTypeError, match="must return the variables it found"):
            serape.markov_blanket(clinic(100), "Ward", algorithm=lambda search, target: answer)

    def test_the_target_is_no_member(self) -> None:
        with pytest.raises(serape.OptionError, match="returned the target"):
            serape.markov_blanket(clinic(100), "Ward", algorithm=lambda search, target: [target])

    def test_options_are_passed_on(self) -> None:
        def several(search: serape.Search, target: int, how_many: int) -> list[int]:
            del search, target
            return list(range(how_many))

        assert len(serape.markov_blanket(clinic(100), "Ward", algorithm=partial(several, how_many=3)).blanket) == 3
        named = serape.markov_blanket(clinic(100), "Ward", algorithm=several, how_many=3)  # type: ignore[call-arg]
        assert (len(named.blanket), named.algorithm) == (3, "several")


class TestBadUse:
    def test_unknown_algorithm(self) -> None:
        with pytest.raises(serape.OptionError, match="'imab' is not known. Did you mean 'iamb'"):
            serape.markov_blanket(clinic(100), "Ward", algorithm="imab")

    def test_unknown_target(self) -> None:
        with pytest.raises(serape.OptionError, match="no column 'Wards'. Did you mean 'Ward'"):
            serape.markov_blanket(clinic(100), "Wards")

    def test_constant_target(self) -> None:
        with pytest.raises(serape.DataError, match="target 't' is constant"):
            serape.markov_blanket({"t": [1, 1, 1], "x": [0, 1, 0]}, "t")

    def test_one_column(self) -> None:
        with pytest.raises(serape.DataError, match="one column"):
            serape.markov_blanket({"t": [1, 0, 1]}, "t")

    @pytest.mark.parametrize("alpha", [0, 1, -0.1, 5])
    def test_alpha(self, alpha: float) -> None:
        with pytest.raises(serape.OptionError, match="alpha must be between 0 and 1"):
            serape.markov_blanket(clinic(100), "Ward", alpha=alpha)

    @pytest.mark.parametrize("n_jobs", [0, -2, 1.5, True])
    def test_n_jobs(self, n_jobs: Any) -> None:
        with pytest.raises(serape.OptionError, match="n_jobs"):
            serape.markov_blanket(clinic(100), "Ward", n_jobs=n_jobs)

    @pytest.mark.parametrize("bound", [-1, 2.5, True])
    def test_max_conditioning(self, bound: Any) -> None:
        with pytest.raises(serape.OptionError, match="max_conditioning"):
            serape.markov_blanket(clinic(100), "Ward", max_conditioning=bound)

    @pytest.mark.parametrize(
        "options",
        [{"alpha": "0.05"}, {"alpha": None}, {"random_state": -1}, {"random_state": "x"}, {"progress": "yes"},
         {"test": "bogus"}, {"dof": "bogus"}, {"reliability": "bogus"}],
    )  # fmt: skip
    def test_other_options(self, options: Any) -> None:
        for data in (clinic(100), serape.DSeparation(clinic_graph())):
            with pytest.raises(serape.OptionError):
                serape.markov_blanket(data, "Ward", **options)

    def test_a_misspelt_option(self) -> None:
        with pytest.raises(serape.OptionError, match="no option 'aplha' .it takes 'rank'.. Did you mean 'alpha'"):
            serape.markov_blanket(clinic(100), "Ward", algorithm="iamb", aplha=0.1)  # type: ignore[call-arg]
        with pytest.raises(serape.OptionError, match="it takes 'k'"):
            serape.markov_blanket(clinic(100), "Ward", algorithm="fast-iamb", kk=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_columns_called_by_numbers(algorithm: str) -> None:
    """An algorithm's positions are not taken for names, whatever columns are called."""
    data = clinic(2000)
    plain = serape.markov_blanket(data, "HeartDisease", algorithm)
    call = {name: str(len(data) - k) for k, name in enumerate(data)}
    found = serape.markov_blanket(
        {call[name]: values for name, values in data.items()}, call["HeartDisease"], algorithm
    )
    assert found.blanket == tuple(call[name] for name in plain.blanket)
