"""Columns that are duplicates of each other: one is used, the others are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import serape
from plain import random_table
from serape.data.example import clinic
from serape.local.registry import ALGORITHMS

BLANKET = [name for name, a in ALGORITHMS.items() if a.answers("blanket")]


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = len(set(zip(a.tolist(), b.tolist(), strict=True)))
    return pairs == len(set(a.tolist())) == len(set(b.tolist()))


@pytest.mark.parametrize("rows", [5, 63, 64, 65, 700])
def test_first_copies_against_the_definition(rows: int) -> None:
    random = np.random.default_rng(rows)
    levels = [2, 3, 2, 9, 300, 8, 2, 12]
    plain = random_table(random, rows, levels)
    columns = [plain.packed.codes(k).astype(np.int64) for k in range(len(levels))]
    for k in (0, 1, 3, 4, 5, 0, 3):  # copies under other names
        renamed = random.permutation(400)[columns[k]]
        columns.append(renamed)
    columns.append(np.zeros(rows, np.int64))
    order = random.permutation(len(columns))
    shuffled = [columns[k] for k in order]
    table = serape.Table({f"c{k}": [f"l{v}" for v in column] for k, column in enumerate(shuffled)})
    first = table.packed.first_copies()
    for k, column in enumerate(shuffled):
        wanted = next(j for j, other in enumerate(shuffled) if same_partition(other, column))
        assert first[k] == wanted


@pytest.mark.parametrize("algorithm", BLANKET)
def test_copies_of_members_are_named_and_change_nothing(algorithm: str) -> None:
    data = clinic(2000)
    plain = serape.markov_blanket(data, "HeartDisease", algorithm, alpha=0.01)
    more = {**data, "Smoking2": np.char.add("x", data["Smoking"].astype(str))}
    found = serape.markov_blanket(more, "HeartDisease", algorithm, alpha=0.01)
    assert found.blanket == plain.blanket
    assert found.tests == plain.tests
    assert found.interchangeable == ({"Smoking": ("Smoking2",)} if "Smoking" in plain.blanket else {})
    seeded = serape.markov_blanket(more, "HeartDisease", algorithm, alpha=0.01, random_state=1)
    assert seeded.tests >= found.tests


@pytest.mark.parametrize("algorithm", BLANKET)
def test_a_copy_of_the_target_is_noted(algorithm: str) -> None:
    data = clinic(500)
    more = {**data, "Again": data["HeartDisease"].copy()}
    found = serape.markov_blanket(more, "HeartDisease", algorithm, max_conditioning=1)
    assert "Again" in found.blanket
    assert any("duplicates of the target: 'Again'" in note and "ignore=['Again']" in note for note in found.notes)


def test_a_copy_that_is_known_stands_for_the_others() -> None:
    data = clinic(2000)
    more = {**data, "Smoking2": data["Smoking"].copy()}
    found = serape.markov_blanket(more, "HeartDisease", "iamb", alpha=0.01, known_members=["Smoking2"])
    assert "Smoking2" in found.blanket
    assert "Smoking" not in found.blanket
    assert found.interchangeable == {"Smoking2": ("Smoking",)}


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc"])
def test_many_targets_answer_as_one_by_one(algorithm: str) -> None:
    data = clinic(800)
    more = {**data, "Smoking2": data["Smoking"].copy(), "Again": data["HeartDisease"].copy()}
    for name, found in serape.blankets(more, algorithm=algorithm).items():
        assert found.blanket == serape.markov_blanket(more, name, algorithm).blanket


def test_numbers() -> None:
    random = np.random.default_rng(1)
    a = random.normal(size=400)
    t = a + random.normal(size=400)
    found = serape.markov_blanket({"a": a, "b": a.copy(), "t": t, "c": random.normal(size=400)}, "t")
    assert found.blanket == ("a",)
    assert found.interchangeable == {"a": ("b",)}


def test_saved(tmp_path: Path) -> None:
    data = clinic(500)
    more = {**data, "Age2": data["Age"].copy()}
    found = serape.markov_blanket(more, "HeartDisease")
    path = tmp_path / "found.json"
    found.save(path)
    assert serape.load_result(path).interchangeable == found.interchangeable == {"Age": ("Age2",)}


def test_duplicates_by_position() -> None:
    x, y = [0, 1, 1, 0], [1, 1, 0, 0]
    columns = {
        "x": x,
        "y": y,
        "again": x,
        "one": [1] * 4,
        "other": [1] * 4,
        "turned": [1, 0, 0, 1],
        "alone": [0, 0, 0, 1],
    }
    table = serape.Table({**columns, "number": [0.5, 1.5, 2.5, 0.1], "same": [0.5, 1.5, 2.5, 0.1]})
    groups = {0: (0, 2, 5), 2: (0, 2, 5), 5: (0, 2, 5), 7: (7, 8), 8: (7, 8)}
    assert table.duplicates == groups
    assert list(table.duplicates) == [0, 2, 5, 7, 8]
    assert len(table.duplicates) == 5
    assert table.later_duplicates == {2, 5, 8}
    for k in (1, 3, 4, 6, 9, -1):
        assert k not in table.duplicates
    assert not serape.Table({"x": x, "y": y}).duplicates
