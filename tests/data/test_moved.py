"""Kinds, classes and notes of numbers that are moved or stretched."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import serape
from moved import FAR, MOVES, ROWS, categories, moved, numbers, table


def test_moved_numbers_are_numbers_still() -> None:
    random = np.random.default_rng(2)
    columns = {
        **numbers(),
        "whole": np.floor(100 * random.normal(size=ROWS)),
        "share": np.floor(2**12 * random.random(ROWS)) / 2**12,
        "counts": random.poisson(200, ROWS),
        "few": random.integers(0, 5, ROWS),
        "row": np.arange(ROWS),
    }

    def uses(shift: int, sign: int) -> dict[str, tuple[bool, bool]]:
        made = serape.Table({name: sign * (x + shift) for name, x in columns.items()})
        return {name: (made.levels(k) == 0, k in made.identifiers) for k, name in enumerate(made.names)}

    expected = uses(0, 1)
    assert [name for name, (is_number, _) in expected.items() if not is_number] == ["few"]
    assert [name for name, (_, is_identifier) in expected.items() if is_identifier] == ["row"]
    for shift in (-(10**9), 10**9):
        for sign in (-1, 1):
            assert uses(shift, sign) == expected


@pytest.mark.parametrize("method", ["quantile", "width", "mdl"])
def test_moved_numbers_have_the_same_classes(method: Literal["quantile", "width", "mdl"]) -> None:
    """But for negatives: a class includes its upper end."""
    classes = {"q": categories()["q"]}
    target = "q" if method == "mdl" else None
    near = serape.discretise(table(numbers(), classes), method, target=target)
    assert sum(map(len, near.cuts.values())) > 2
    for how in set(MOVES) - {"the negatives", "the negatives from far", "one negative"}:
        far = serape.discretise(table(moved(numbers(), how), classes), method, target=target)
        for k in range(len(numbers())):
            assert (far.table.codes(k) == near.table.codes(k)).all()


def test_numbers_of_which_doubles_hold_few_digits_are_noted() -> None:
    given = numbers()
    assert not any("last digits" in note for note in table(moved(given, "far above 0"), {}).notes)
    with_gap = {**given, "b": np.where(np.arange(ROWS) == 3, np.nan, given["b"] + FAR**2 / 2**14)}
    lost = {**with_gap, "a": given["a"] + FAR**2 / 2**14, "c": given["c"] + FAR**3}
    notes = [note for note in table(lost, {}, missing="pairwise").notes if "last digits" in note]
    assert len(notes) == 1
    assert "'a', 'b';" in notes[0]  # all values of c are equal
    assert "subtract a constant" in notes[0]
