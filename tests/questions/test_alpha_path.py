"""alpha_path: which variables enter as alpha grows."""

from __future__ import annotations

import pytest

import serape
from drawn import names_of, rows_of
from serape import AlphaPath, InputTypeError, OptionError
from tables import PATIENTS

# --- the alpha path --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["iamb", "pcmb"])
def test_each_alpha_is_a_search_of_its_own(algorithm: str) -> None:
    path = serape.alpha_path(PATIENTS, "HeartDisease", [0.2, 1e-6, 0.05, 0.05], algorithm, n_jobs=2)
    assert path.alphas == (1e-6, 0.05, 0.2)
    searches = [serape.markov_blanket(PATIENTS, "HeartDisease", algorithm, alpha=alpha) for alpha in path.alphas]
    assert path.members == tuple(found.blanket for found in searches)
    assert path.tests == sum(found.tests for found in searches)
    assert path.complete
    near = serape.alpha_path(PATIENTS, "HeartDisease", [0.01], "mmpc", finds="parents-children")
    assert near.members == (serape.parents_children(PATIENTS, "HeartDisease", "mmpc", alpha=0.01).parents_children,)


def test_records_show_where_a_variable_enters() -> None:
    path = AlphaPath("t", "blanket", (0.01, 0.05, 0.1, 0.2), (("b",), ("a", "b"), ("b",), ("a", "b", "c")), 5, "gs",
                     "g2", 9, 0.1, True)  # fmt: skip
    assert list(path.records) == [
        {"variable": "b", "enters": 0.01, "share": 1.0},
        {"variable": "a", "enters": 0.05, "share": 0.5},
        {"variable": "c", "enters": 0.2, "share": 0.25},
    ]
    assert "from 0.05: a" in str(path)
    ax = path.plot()
    assert names_of(ax) == ["b", "a", "c"]
    bars = rows_of(ax)
    assert {name: len(runs) for name, runs in bars.items()} == {"b": 1, "a": 2, "c": 1}  # a has a gap
    for name, runs in bars.items():
        for alpha, members in zip(path.alphas, path.members, strict=True):
            assert any(left < alpha < right for left, right in runs) == (name in members)


# --- refusals --------------------------------------------------------------------------------------------------------


def test_alpha_path_refuses() -> None:
    oracle = serape.DSeparation(serape.load_network("asia").graph)
    for alphas, words in (([], "empty"), ([0.05, 1.5], "not 1.5"), (["a"], "not 'a'")):
        with pytest.raises(OptionError, match=words):
            serape.alpha_path(PATIENTS, "HeartDisease", alphas)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="list of numbers"):
        serape.alpha_path(PATIENTS, "HeartDisease", 0.05)  # type: ignore[arg-type]
    assert set(serape.alpha_path(oracle, "dysp", [0.05]).members[0]) == {"bronc", "either"}
