"""A value of the wrong type gets one sentence, wherever it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.settings import FIELDS

FRAME = pd.DataFrame(np.random.default_rng(0).integers(2, size=(60, 3)), columns=["y", "a", "b"])
WRONG: list[Any] = [FRAME["y"], FRAME, np.zeros(3), 3.5, True, {"y": 1}, b"y", object(), -1, 10**30, "", float("nan"),
                    2**40, 2**70, 10**5000, 1e308, float("inf"), np.int64(2**62), "\ud800", "\x1b[31m"]  # fmt: skip
"""Of which a parameter may take some."""
QUESTIONS: dict[str, Callable[[Any], object]] = {
    "target": lambda value: serape.markov_blanket(FRAME, value),
    "targets": lambda value: serape.blankets(FRAME, value),
    "x": lambda value: serape.ci_test(FRAME, value, "a"),
    "given": lambda value: serape.ci_test(FRAME, "y", "a", value),
    "depth": lambda value: serape.region(FRAME, "y", value),
    "alphas": lambda value: serape.alpha_path(FRAME, "y", value),
    "draws": lambda value: serape.stability(FRAME, "y", draws=value if value is not True else 1),
    "sampling": lambda value: serape.stability(FRAME, "y", draws=1, sampling=value),
    "finds": lambda value: serape.stability(FRAME, "y", draws=1, finds=value),
    "rule": lambda value: serape.skeleton(FRAME, rule=value),
    "checkpoint": lambda value: serape.skeleton(FRAME, checkpoint=value),
    "score": lambda value: serape.network(FRAME, score=value),
    "equivalent_sample_size": lambda value: serape.network(FRAME, "ges", equivalent_sample_size=value),
    "strongest": lambda value: serape.all_pairs(FRAME, strongest=value),
    "method": lambda value: serape.discretise(FRAME, value),
    "tabu": lambda value: serape.network(FRAME, "tabu", tabu=value),
    "rows": lambda value: serape.load_network("asia").sample(value, 1),
    "copies": lambda value: serape.load_network("asia").tile(value),
    "network": serape.load_network,
    "bif": serape.read_bif,
    "result": serape.load_result,
    "structure": serape.load_structure,
}


def assert_one_sentence(ask: Callable[[], object]) -> None:
    try:
        ask()
    except serape.SerapeError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 500
        str(error).encode()


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.filterwarnings("ignore")
def test_of_any_value(value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for ask in QUESTIONS.values():
        assert_one_sentence(lambda ask=ask: ask(value))  # type: ignore[misc]
    for name in FIELDS:
        assert_one_sentence(lambda name=name: serape.markov_blanket(FRAME, "y", **{name: value}))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: serape.markov_blanket(FRAME, None), "target must be the name or the position of a column, not None"),  # type: ignore[arg-type]
        (lambda: serape.markov_blanket(FRAME, FRAME["y"]), "target must be .* not a Series"),  # type: ignore[arg-type]
        (lambda: serape.parents_children(FRAME, ["y"]), "target must be .* not a list"),  # type: ignore[arg-type]
        (lambda: serape.markov_blanket(FRAME, "Y"), "Did you mean 'y'?"),
        (lambda: serape.markov_blanket(FRAME, "y", ignore="ab"), "ignore must be a list of names, not 'ab'"),
        (lambda: serape.markov_blanket(FRAME, "y", dof=FRAME), "dof=a DataFrame is not known"),  # type: ignore[arg-type]
        (lambda: serape.discretise(FRAME, columns=np.array("x")), "Did you mean|no column"),  # type: ignore[arg-type]
        (lambda: serape.markov_blanket(FRAME, "y", engine=np.array("x")), "engine='x' is not known"),  # type: ignore[arg-type]
        (lambda: serape.skeleton(FRAME, checkpoint=3), "checkpoint must be a path, as text or a Path, not 3"),  # type: ignore[arg-type]
        (lambda: serape.read_bif(3.5), "the path must be a path, as text"),  # type: ignore[arg-type]
        (lambda: serape.ci_test(FRAME, "y", "a", 3.5), "given must be a list of variables, not 3.5"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_sentences(ask: Callable[[], object], sentence: str) -> None:
    with pytest.raises(serape.SerapeError, match=sentence):
        ask()


def test_arrays_of_names() -> None:
    for known in (np.array(["a"]), pd.Index(["a"])):
        found = serape.markov_blanket(FRAME, "y", known_members=known, ignore=pd.Index(["b"]))
        assert found.blanket == ("a",)
