"""Identifiers take part in no search; candidates that could not be tested are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import serape
from serape.independence import G2
from serape.questions.query import Query
from serape.settings import Settings

ROWS = 2000


def visits() -> dict[str, Any]:
    """Return a chain x → y → z that changes with time, and so with the numbers of the rows."""
    random = np.random.default_rng(1)
    late = np.arange(ROWS) > ROWS / 2
    x = (random.random(ROWS) < np.where(late, 0.7, 0.3)).astype(int)
    y = x ^ (random.random(ROWS) < np.where(late, 0.1, 0.2))
    z = y ^ (random.random(ROWS) < 0.2)
    return {
        "id": np.arange(ROWS) + 1000,
        "x": x,
        "y": y,
        "z": z,
        "name": [f"n{k}" for k in random.permutation(ROWS)],
        "noise": random.integers(0, 3, ROWS),
    }


TABLE = serape.Table(visits())
WITHOUT = serape.Table(visits(), ignore=["id", "name"])


@pytest.mark.parametrize("algorithm", ["auto", "iamb", "hiton-mb", "fast-iamb", "gs"])
def test_a_search_is_one_without_them(algorithm: str) -> None:
    found, plain = (serape.markov_blanket(table, "y", algorithm) for table in (TABLE, WITHOUT))
    assert (found.blanket, found.algorithm, found.test) == (plain.blanket, plain.algorithm, "g2")
    assert (found.tests, found.skipped) == (plain.tests, plain.skipped)
    assert sum("identifiers, so not part of any search: 'id', 'name'" in note for note in found.notes) == 1
    assert "id" not in str(found.explain("x"))
    assert "not" in str(found.explain("id"))


def test_they_can_be_forced() -> None:
    found = serape.markov_blanket(
        visits(), "y", ignore=["name"], kinds={"id": "continuous"}, algorithm="iamb", alpha=0.1
    )
    assert found.test != "g2"
    assert "id" in found.blanket
    assert not any("identifier" in note for note in found.notes)


def test_refusals() -> None:
    for target, kind in (("id", "continuous"), ("name", "categorical")):
        with pytest.raises(serape.DataError, match=f"{target}' is an identifier .*kinds={{'{target}': '{kind}'}}"):
            serape.markov_blanket(TABLE, target)
        with pytest.raises(serape.DataError, match=f"known member '{target}' is an identifier"):
            serape.markov_blanket(TABLE, "y", known_members=[target])
        assert serape.markov_blanket(TABLE, "y", forbidden_members=[target]).blanket
        with pytest.raises(serape.DataError, match=f"the variable '{target}' is an identifier"):
            serape.ci_test(TABLE, "y", target, test="mixed")
        with pytest.raises(serape.DataError, match=f"'g2' cannot use '{target}', an identifier"):
            G2(TABLE).check([TABLE.position(target)])
    assert serape.ci_test(visits(), "y", "id", ignore=["name"], kinds={"id": "continuous"}).reliable


def test_many_targets() -> None:
    assert list(serape.blankets(TABLE)) == ["x", "y", "z", "noise"]
    pairs = serape.all_pairs(TABLE)
    plain = serape.all_pairs(WITHOUT)
    assert pairs.tests == plain.tests == 6
    assert (len(pairs.partners("id")), len(pairs.partners("name"))) == (0, 0)
    for algorithm in ("hiton-pc", "pc-stable"):
        found = serape.skeleton(TABLE, algorithm)
        assert {frozenset(e) for e in found.graph.edges} == {frozenset("xy"), frozenset("yz")}


@pytest.mark.parametrize("algorithm", ["mmhc", "tabu", "ges", "pc-stable"])
def test_networks(algorithm: str) -> None:
    found = serape.network(TABLE, algorithm)
    assert {frozenset(e) for e in found.graph.edges} == {frozenset("xy"), frozenset("yz")}
    assert any("identifiers" in note for note in found.notes)


def test_the_target_of_a_selector_is_no_identifier() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(100, 3))
    y = np.argsort(np.argsort(x[:, 1] + 0.1 * random.normal(size=100)))
    assert serape.MarkovBlanketSelector().fit(x, y).blanket_ == ("x1",)


# --- candidates that cannot be tested --------------------------------------------------------------------------------


def towns(rows: int = 4500) -> dict[str, Any]:
    """Return a target that depends on a town of 200, an income and a trade; given the town, few rows are left."""
    random = np.random.default_rng(2)
    town, trade = random.integers(0, 200, rows), random.integers(0, 12, rows)
    return {
        "town": [f"t{v}" for v in town],
        "trade": [f"w{v}" for v in trade],
        "noise": random.integers(0, 2, rows),
        "y": ((town % 7 + trade % 3 + random.normal(size=rows)) > 4).astype(int),
    }


def test_untested_candidates_are_named() -> None:
    found = serape.markov_blanket(towns(), "y", "iamb", reliability="cells", alpha=0.01, test="g2")
    assert found.blanket == ("town",)
    notes = [note for note in found.notes if note.startswith("too few rows to test given the members")]
    assert notes == [
        "too few rows to test given the members, so perhaps members too: 'trade' (1 of 2 candidates); fewer levels of "
        "'town' would help, which has the most of all members (200): merge some, or ignore the column"
    ]
    assert serape.ci_test(towns(), "trade", "y", ["town"], reliability="cells").reliable is False
    assert serape.ci_test(towns(), "noise", "y", ["town"], reliability="cells").reliable is True
    assert "trade" in serape.markov_blanket(towns(), "y", "iamb", ignore=["town"]).blanket


def test_a_candidate_that_is_separated_is_not_named() -> None:
    """The target is independent of everything given nothing; no test given more is needed."""
    data = towns()
    data["y"] = np.random.default_rng(3).permutation(data["y"])
    found = serape.markov_blanket(data, "y", "hiton-mb", reliability="cells", alpha=0.01)
    assert not any("too few rows to test" in note for note in found.notes)


def test_naming_takes_one_screen_that_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    table = serape.Table(towns())
    query, at = Query.about(table, "y", "blanket", Settings.of(algorithm="iamb", reliability="cells", alpha=0.01))
    plain, screens = query.run(at), []
    original = type(query.source).screen

    def screen(self: Any, target: int, candidates: Any, given: Any = (), **more: Any) -> Any:
        screens.append(tuple(given))
        return original(self, target, candidates, given, **more)

    monkeypatch.setattr(type(query.source), "screen", screen)
    silent = query.run(at)
    silently = len(screens)
    named = query.run(at, warn=True)
    assert len(screens) == 2 * silently + 1
    assert (named.tests, named.skipped, named.blanket) == (plain.tests, plain.skipped, silent.blanket)
    assert len(named.notes) == len(plain.notes) + 1


def test_a_determined_candidate_is_not_named() -> None:
    """Given the town, its region does not vary: there is nothing to test, however many rows there are."""
    data = towns()
    data["region"] = [int(town[1:]) % 5 for town in data["town"]]
    data["height"] = np.random.default_rng(5).normal(size=len(data["town"]))
    for test in ("g2", "auto"):
        ignored = ["height"] if test == "g2" else []
        found = serape.markov_blanket(
            data, "y", "iamb", test=test, alpha=0.01, reliability="cells", known_members=["town"], ignore=ignored
        )
        assert not any("too few rows to test" in note and "region" in note for note in found.notes)
    data["same"] = [["no", "yes"][v] for v in data["y"]]
    found = serape.markov_blanket(data, "y", "iamb", alpha=0.01)
    assert "same" in found.blanket
    assert not any("too few rows to test" in note for note in found.notes)


def test_growth_that_stops_for_want_of_rows_is_noted() -> None:
    """Six causes of four levels each: after some, nothing can be tested given all members."""
    rng = np.random.default_rng(0)
    causes = rng.integers(0, 4, (400, 8))
    data = {f"c{k}": causes[:, k] for k in range(8)}
    data["y"] = (causes[:, :6].sum(axis=1) + rng.integers(0, 2, 400) > 9).astype(int)
    for algorithm in ("iamb", "gs", "fbed"):  # all separate some candidates before, given fewer members
        found = serape.markov_blanket(data, "y", algorithm)
        (note,) = [note for note in found.notes if "too few rows to test" in note]
        members, untested = len(found.blanket), 8 - len(found.blanket)
        assert f"the search stopped for want of rows, at {members} members" in note
        assert f"({untested} of {untested} candidates)" in note
        assert "algorithm='hiton-mb'" in note

    def one_screen(search: serape.Search, target: int) -> list[int]:
        search.screen(target, search.candidates(target, 0, 1, 4))
        search.screen(target, search.candidates(target, 0, 1, 4), (0, 1, 4))
        return [0, 1, 4]

    (note,) = serape.markov_blanket(data, "y", one_screen).notes
    assert note.startswith("too few rows to test")  # another algorithm may go on all the same
    assert "(5 of 5 candidates)" in note  # also those that the first screen separates
    many = {name: np.tile(values, 500) for name, values in data.items()}
    assert not any("stopped" in note for note in serape.markov_blanket(many, "y", "iamb").notes)
