"""Every file of the zoo gives what it says, from its path and as an open file, by both readers."""

from __future__ import annotations

import random
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


@pytest.mark.parametrize("seed", range(10))
def test_damaged_files_give_a_table_or_a_sentence(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for animal in rng.sample(ZOO, 15):
        path = animal.write(tmp_path)
        content = bytearray(path.read_bytes())
        for _ in range(rng.choice([1, 2, 20]) if content else 0):
            at = rng.randrange(len(content) or 1)
            content[at : at + rng.choice([0, 1, 1, 30])] = rng.choice([b"", b",", b'"', b"\0", b"\xff", b"9" * 40])
        path.write_bytes(content)
        monkeypatch.setattr(arrow_text, "MIN_BYTES", rng.choice([0, 1 << 18]))
        try:
            Table(path, **animal.options)
        except serape.SerapeError as error:
            assert "\n" not in str(error), animal.name


def test_there_are_enough_animals() -> None:
    assert len({animal.name for animal in ZOO}) == len(ZOO) >= 60


@pytest.mark.parametrize("animal", ZOO, ids=lambda animal: animal.name)
def test_every_animal_is_described(animal: Animal, tmp_path: Path) -> None:
    """What can be read is described with the same kinds; a file with gaps is described in place of being refused."""
    path = animal.write(tmp_path)
    try:
        found = serape.describe(path, **animal.options)
    except serape.SerapeError as refusal:
        assert "\n" not in str(refusal)
        assert animal.error
        assert "missing='drop'" not in str(refusal)
        return
    kinds = {column.variable: column.kind for column in found.columns}
    if animal.error:
        assert found.empty or any(column.missing for column in found.columns)
    else:
        assert kinds == animal.kinds
        assert found.rows == animal.rows
    assert str(found)
    assert found.to_json()
    assert found._repr_html_()
