"""The wrapper: members that a classifier does not need are dropped."""

from __future__ import annotations

import numpy as np
import pytest

import serape
from serape.data.example import clinic


class TestWrapper:
    def test_leaves_out_what_is_not_missed(self) -> None:
        from sklearn.naive_bayes import BernoulliNB

        random = np.random.default_rng(3)
        t = random.integers(2, size=1500)
        data = {
            "t": t,
            "good": np.where(random.random(1500) < 0.05, 1 - t, t),
            "weak": np.where(random.random(1500) < 0.42, 1 - t, t),
            "weaker": np.where(random.random(1500) < 0.44, 1 - t, t),
        }
        found = serape.markov_blanket(data, "t", algorithm="pcmb", alpha=0.05)
        assert set(found.blanket) == {"good", "weak", "weaker"}
        smaller = serape.wrapper(data, found, BernoulliNB())
        assert smaller.blanket == ("good",)
        assert smaller.parents_children == ("good",)
        assert any("removed" in note and "'weak'" in note for note in smaller.notes)
        assert set(smaller.dropped) == {"weak", "weaker"}
        assert str(smaller.explain("weak")).startswith("weak was removed by the wrapper")
        assert found.blanket == ("good", "weak", "weaker")

    def test_keeps_what_is_missed(self) -> None:
        from sklearn.tree import DecisionTreeClassifier

        random = np.random.default_rng(4)
        a, b = random.integers(2, size=(2, 2000))
        t = np.where(random.random(2000) < 0.05, random.integers(2, size=2000), a & b)
        found = serape.markov_blanket({"a": a, "b": b, "t": t}, "t", algorithm="hiton-mb")
        kept = serape.wrapper(
            {"a": a, "b": b, "t": t}, found, DecisionTreeClassifier(random_state=0), scoring="accuracy"
        )
        assert kept.blanket == ("a", "b")
        assert any("every member is needed" in note for note in kept.notes)

    def test_bad_input(self) -> None:
        from sklearn.linear_model import LinearRegression
        from sklearn.naive_bayes import BernoulliNB

        found = serape.markov_blanket(clinic(500), "HeartDisease")
        with pytest.raises(serape.InputTypeError, match="needs a scikit-learn classifier"):
            serape.wrapper(clinic(500), found, LinearRegression())
        with pytest.raises(serape.InputTypeError, match="takes a Result"):
            serape.wrapper(clinic(500), "HeartDisease", BernoulliNB())  # type: ignore[arg-type]
        with pytest.raises(serape.DataError, match="no column 'HeartDisease'"):
            serape.wrapper({"x": [0, 1] * 50, "y": [0, 1] * 50}, found, BernoulliNB())
        with pytest.raises(serape.OptionError, match="rarest level"):
            serape.wrapper(clinic(500), found, BernoulliNB(), cv=400)
        with pytest.raises(serape.OptionError, match="tolerance"):
            serape.wrapper(clinic(500), found, BernoulliNB(), tolerance=-1)
