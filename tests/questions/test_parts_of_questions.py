"""What the identity of a question is made of, and how differences between two are told."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.canonical import Unidentified
from serape.data.provenance import Provenance
from serape.questions import identity as module
from serape.questions.identity import ANSWERS, NOT_PART, differences, identity, parts_of, table_identity
from serape.questions.query import Query
from serape.settings import SearchSettings, Settings

NUMBERS = pd.DataFrame(np.random.default_rng(3).normal(size=(30, 4)), columns=["a", "b", "c", "d"])
COUNTS = pd.DataFrame(np.random.default_rng(3).integers(9, size=(30, 2)), columns=["a", "b"])
TABLE = serape.Table(NUMBERS)


def asked(data: Any = TABLE, **settings: Any) -> dict[str, Any]:
    return identity(Query.resolve(data, settings.pop("finds", "blanket"), Settings.of(**settings)))


class Own(serape.IndependenceTest):
    """A caller's own test, some of whose attributes are slots."""

    __slots__ = ("_by", "unset")
    name = "own"

    def __init__(self, by: Any) -> None:
        self.table = TABLE
        self.variables = TABLE.names
        self._by = by

    def test(self, x: int, y: int, given: Any = ()) -> serape.Outcome:
        del x, y, given
        return serape.Outcome(0.0, 1.0, -1.0, reliable=True)


class Named(Own):
    """A test of its own name."""

    def __init__(self, by: Any) -> None:
        super().__init__(by)
        self.name = "named"
        self.note("It has a name.")


class Declared(Own):
    """A test that says what it is made of."""

    made_of = ("_by",)


# --- what belongs to a question ---------------------------------------------------------------------------------------


def test_all_that_changes_an_answer_is_a_part() -> None:
    settings = {f.name for f in fields(SearchSettings)} - set(NOT_PART)
    found = asked()
    assert set(found) == settings | {"answers", "finds", "data", "test_parts", "options"}
    assert found["answers"] == ANSWERS
    assert found["finds"] == "blanket"
    assert asked(finds="parents-children")["finds"] == "parents-children"


def test_what_is_left_to_serape_is_the_same_as_its_choice() -> None:
    chosen: dict[str, Any] = {
        "algorithm": "hiton-mb", "test": "residuals", "alpha": 0.01, "fdr": 0.2, "fdr_method": "adaptive",
        "max_conditioning": 3,
    }  # fmt: skip
    found = asked(algorithm="HITON-MB")
    assert {name: found[name] for name in chosen} == chosen
    assert asked(**chosen | {"alpha": np.float64(0.01)}) == asked(**chosen)
    assert {name: value for name, value in asked(**chosen).items() if found[name] != value} == {}
    assert asked()["algorithm"] == Query.resolve(TABLE, "blanket", Settings.of()).algorithm.name


def test_the_rules_of_a_test_count_as_it_understands_them() -> None:
    chosen = asked(COUNTS, algorithm="iamb", test="g2")
    named = {name: chosen["test_parts"][name] for name in ("dof", "reliability")}
    assert asked(COUNTS, algorithm="iamb", test="g2", **named) == chosen
    assert any(asked(COUNTS, algorithm="iamb", test="g2", dof=dof) != chosen for dof in ("full", "adjusted"))


def test_a_rate_is_a_part_and_so_is_none() -> None:
    rates = [asked(algorithm="hiton-mb", fdr=rate) for rate in (0.1, 0.2, None)]
    assert [(one["fdr"], one["fdr_method"]) for one in rates] == [(0.1, "adaptive"), (0.2, "adaptive"), (None, None)]


def test_members_count_as_they_are_understood() -> None:
    def constrained(**settings: Any) -> dict[str, Any]:
        query, _ = Query.about(TABLE, "a", "blanket", Settings.of(algorithm="iamb", **settings))
        return identity(query)

    assert constrained(known_members=["b"]) == constrained(known_members=[1])
    assert constrained(known_members=["b"]) != constrained(known_members=["c"])
    assert constrained(forbidden_members=["b"]) == constrained(forbidden_members=[1])
    assert constrained(forbidden_members=["b"]) != constrained(known_members=["b"])
    knowledge = {"forbidden_pairs": [("a", "b")]}
    assert constrained(knowledge=knowledge) == constrained(knowledge=serape.Knowledge(**knowledge))


def test_options_are_in_one_order() -> None:
    options: dict[str, Any] = {"symmetry": False, "semi_interleaved": True}
    first, second = (
        asked(algorithm="hiton-mb", **dict(order)) for order in (options.items(), [*options.items()][::-1])
    )
    assert list(first["options"].items()) == list(second["options"].items())
    assert first["options"] == options


def test_tables_count_with_their_kinds() -> None:
    tables = [serape.Table(COUNTS, kinds={"b": kind}) for kind in ("count", "continuous")]
    assert tables[0].provenance.fingerprint == tables[1].provenance.fingerprint
    assert table_identity(tables[0]) != table_identity(tables[1])


def test_a_known_fingerprint_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fingerprint", None)
    assert table_identity(serape.Table(NUMBERS)) == table_identity(TABLE)


def test_a_table_whose_fingerprint_nobody_knows_is_read() -> None:
    """As one on a cluster that is too large to be fetched."""
    table = serape.Table(NUMBERS)
    vars(table)["provenance"] = Provenance(table.rows, len(table.names), {})
    assert table.provenance.fingerprint == ""
    assert table_identity(table) == table_identity(TABLE)


# --- tests ------------------------------------------------------------------------------------------------------------


def test_a_test_of_serape_is_made_of_what_it_says() -> None:
    assert parts_of(serape.GCM(NUMBERS, folds=4)).keys() == parts_of(serape.GCM(NUMBERS)).keys()
    assert parts_of(serape.GCM(NUMBERS, folds=4))["folds"] == 4


def test_a_test_of_ones_own_is_made_of_its_class_and_attributes() -> None:
    assert parts_of(Own(3)) == {"class": Own, "_by": 3, "variables": TABLE.names}
    assert parts_of(Named(3)) == {"class": Named, "_by": 3, "variables": TABLE.names}
    assert list(parts_of(Named(3))) == ["class", "_by", "variables"]


def test_a_test_that_says_what_it_is_made_of_is_made_of_that() -> None:
    assert parts_of(Declared(3)) == {"class": Declared, "by": 3}
    assert parts_of(type("Further", (Declared,), {})(4))["by"] == 4


def test_parts_are_in_one_order() -> None:
    names = tuple("gecahbfd")
    attributes = dict.fromkeys(names, 1)
    told, untold = type("Told", (Own,), {"made_of": names, **attributes})(2), Own(2)
    vars(untold).update(attributes)
    assert list(parts_of(told)) == ["class", *sorted(names)]
    assert list(parts_of(untold)) == ["class", "_by", *sorted(names), "variables"]


def test_a_test_that_adds_to_one_of_serape_says_what() -> None:
    class Silent(serape.GCM):
        """It does not."""

    with pytest.raises(Unidentified, match="does not say what it adds to GCM"):
        parts_of(Silent(NUMBERS))


@pytest.mark.parametrize(
    ("value", "told"),
    [("x" * 58, "x" * 58), ("x" * 59, None), (np.int64(3), 3), (TABLE, None), (len, None)],
    ids=range(5),
)
def test_short_values_are_told_and_others_have_a_digest(value: Any, told: Any) -> None:
    part = asked(Own(value))["test_parts"]["_by"]
    name = getattr(value, "__name__", type(value).__name__)
    assert part == told if told is not None else part.startswith(f"{name} ")
    assert told is not None or len(part) == len(name) + 33


def test_a_value_that_holds_itself_has_a_digest() -> None:
    value: list[Any] = []
    value.append(value)
    assert asked(Own(value))["test_parts"]["_by"].startswith("list ")


# --- differences ------------------------------------------------------------------------------------------------------

SAID: dict[str, Any] = {"answers": 2, "data": "00", "alpha": 0.1, "test_parts": {"seed": 0}, "options": {"k": 1}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, ""),
        ({"data": "01"}, "other data"),
        ({"answers": 1}, "another version of serape, which may answer in another way"),
        ({"alpha": 0.2}, "alpha 0.2, not 0.1"),
        ({"alpha": None, "data": "01"}, "other data and alpha None, not 0.1"),
        ({"test_parts": {"seed": 1}}, "seed 1, not 0"),
        ({"test_parts": {"seed": False}}, "seed False, not 0"),
        ({"test_parts": {}, "options": {"k": 2}}, "seed None, not 0 and k 2, not 1"),
        ({"options": {"k": 1, "m": 2}}, "m 2, not None"),
        ({"options": 3}, "options 3, not {'k': 1}"),
        ({"extra": {"k": 3}}, "extra {'k': 3}, not None"),
        ({"alpha": {"k": 3}}, "alpha {'k': 3}, not 0.1"),
        (
            {"alpha": 0.2, "data": "01", "answers": 1, "options": {}},
            "another version of serape, which may answer in another way and other data and alpha 0.2, not 0.1",
        ),
        ({"x" * 60: 3}, f"{'x' * 60} 3, not None"),
        ({"x" * 99: 3}, f"'{'x' * 58}… 3, not None"),
        ({"two words": 3}, "'two words' 3, not None"),
    ],
    ids=str,
)  # fmt: skip
def test_differences_are_told(change: dict[str, Any], told: str) -> None:
    assert differences(SAID | change, SAID) == told


def test_members_are_told_whole() -> None:
    one, other = ({"known_members": {"a": [name], "d": ["c"]}} for name in "bc")
    assert differences(one, other) == "known_members {'a': ['b'], 'd': ['c']}, not {'a': ['c'], 'd': ['c']}"


def test_parts_that_the_other_does_not_have_are_told_whole() -> None:
    """In whichever order the two are given."""
    assert differences(SAID, SAID | {"options": 3}) == "options {'k': 1}, not 3"
    assert differences(SAID, {name: SAID[name] for name in SAID if name != "options"}) == "options {'k': 1}, not None"


def test_what_is_no_part_of_the_first_is_told_last() -> None:
    assert differences({"b": 1, "a": 1}, {"a": 2}) == "a 1, not 2 and b 1, not None"
