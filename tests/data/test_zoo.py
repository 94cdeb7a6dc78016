"""Every file of the zoo gives what it says, from its path and as an open file, by both readers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO

import pytest
from zoo import ZOO, Animal

import serape
from serape import Table
from serape.data.reading import arrow_text

USUAL = ("recognised, and used as numbers", "whole numbers of few distinct values")
"""Notes about kinds, which are tested elsewhere."""


def check(animal: Animal, source: Path | IO[bytes]) -> None:
    if animal.error:
        with pytest.raises(serape.SerapeError) as refusal:
            Table(source, **animal.options)
        assert re.search(animal.error, str(refusal.value)), str(refusal.value)
        assert "\n" not in str(refusal.value)
        return
    table = Table(source, **animal.options)
    assert table.kinds == animal.kinds
    assert table.rows == animal.rows
    notes = [note for note in table.notes if not note.startswith(USUAL)]
    expected = [part for part in animal.notes if part != "dates"]
    assert len(notes) == len(expected), notes
    assert all(part in note for part, note in zip(expected, notes, strict=True)), notes
    assert any("dates (in days" in note for note in table.notes) == ("dates" in animal.notes)


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.name)
def test_zoo(animal: Animal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = animal.write(tmp_path)
    check(animal, path)
    with path.open("rb") as file:
        check(animal, file)
    monkeypatch.setattr(arrow_text, "MIN_BYTES", 0)
    check(animal, path)


def test_there_are_enough_animals() -> None:
    assert len({animal.name for animal in ZOO}) == len(ZOO) >= 60
