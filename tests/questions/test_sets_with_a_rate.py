"""With a false discovery rate, skeletons are made of sets alone, and the answers are those of full searches."""

from __future__ import annotations

import contextlib
import itertools
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import serape
from serape.independence import dependent_pairs
from serape.local.registry import ALGORITHMS
from serape.parallel import marginals
from serape.parallel.precompute import precompute_sets
from serape.questions import neighbourhoods
from serape.search import Search

KEPT: dict[str, Any] = {
    "nothing": {},
    "known members": {"known_members": {"HR": ["HISTORY", "CATECHOL"]}},
    "required": {"knowledge": {"required": [("HR", "CATECHOL"), ("HISTORY", "CVP")]}},
    "forbidden": {"knowledge": {"forbidden": [("HR", "CATECHOL"), ("CATECHOL", "HR")]}},
    "no symmetry": {"symmetry": False},
    "the rule or": {"rule": "or", "symmetry": False},
}


@pytest.fixture(scope="module")
def table() -> serape.Table:
    return serape.load_network("alarm").sample(400, seed=2)


def content_of(found: serape.Structure) -> dict[str, Any]:
    return {**found.to_dict(), "seconds": 0.0, "options": {}, "evidence": list(found.evidence)}


def by_full_searches(table: serape.Table, algorithm: str, **settings: Any) -> dict[str, Any]:
    """Return the skeleton where every target has a search of its own that keeps all it finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ALGORITHMS, algorithm, replace(ALGORITHMS[algorithm], steps_are_sets=False, sets_at_once=None))
        patch.setattr(Search, "known_dependents", lambda *asked: None)
        return content_of(serape.skeleton(table, algorithm, **settings))


@pytest.mark.parametrize(
    ("algorithm", "kept"),
    [*(("mmpc", kept) for kept in KEPT), *(("hiton-pc", kept) for kept in KEPT if kept != "known members")],
)
def test_sets_alone(algorithm: str, kept: str, table: serape.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = by_full_searches(table, algorithm, **KEPT[kept])
    assert expected["fdr"] == 0.2
    sets: list[int] = []

    def counted(query: Any, targets: Any, *asked: Any) -> None:
        sets.extend(targets)
        precompute_sets(query, targets, *asked)

    monkeypatch.setattr(neighbourhoods, "precompute_sets", counted)
    monkeypatch.setattr(neighbourhoods._Targets, "find", None)  # what follows from the sets is not searched for
    one_by_one = algorithm == "mmpc" or kept == "required"  # which no test may separate
    found = content_of(serape.skeleton(table, algorithm, n_jobs=2, **KEPT[kept]))
    assert found == expected
    assert sorted(sets) == (table.varying if one_by_one else [])


@pytest.mark.parametrize("jobs", [1, 2])
def test_known_members_that_one_side_alone_has_found(jobs: int) -> None:
    table = serape.load_network("alarm").sample(300, seed=2)
    names, draw = [table.names[x] for x in table.varying], random.Random(2)
    known = {name: draw.sample([x for x in names if x != name], 3) for name in draw.sample(names, 6)}
    found = content_of(serape.skeleton(table, "mmpc", n_jobs=jobs, known_members=known))
    assert found == by_full_searches(table, "mmpc", known_members=known)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("algorithm", ["mmpc", "hiton-pc"])
def test_blocks_and_checkpoints(algorithm: str, jobs: int, table: serape.Table, tmp_path: Path) -> None:
    """Of large tables the dependent pairs alone are known, a block of targets at a time."""
    expected = by_full_searches(table, algorithm)
    path = tmp_path / "kept"
    known: list[bool] = []
    ask = Search.known_dependents

    def noted(search: Search, target: int, *excluded: int) -> list[int] | None:
        found = ask(search, target, *excluded)
        known.append(found is not None)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "MAX_SHARED", 1)
        patch.setattr(dependent_pairs, "_MAX_PAIRS", 100)
        patch.setattr(Search, "known_dependents", noted)
        assert content_of(serape.skeleton(table, algorithm, n_jobs=jobs)) == expected
        blocks = dependent_pairs.DependentBlocks.__iter__
        with patch.context() as stopped, contextlib.suppress(serape.Interrupted):
            stopped.setattr(dependent_pairs.DependentBlocks, "__iter__", lambda self: first_of(blocks(self)))
            serape.skeleton(table, algorithm, n_jobs=jobs, checkpoint=path)
        steps = path.read_text().count('{"step": ')
        assert 0 < steps < len(table.varying)
        for _ in range(2):  # what is left, and nothing
            assert content_of(serape.skeleton(table, algorithm, n_jobs=jobs, checkpoint=path)) == expected
        assert path.read_text().count('{"step": ') == len(table.varying)
    assert all(known)
    assert jobs > 1 or bool(known) == (algorithm == "hiton-pc")


def first_of(blocks: Any) -> Any:
    yield from itertools.islice(blocks, 1)
    raise KeyboardInterrupt
