"""Every kind of result has every verb: it is saved and read again, compared, drawn, reported, shown and explained."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import serape
from serape.data.example import clinic, clinic_graph
from serape.records import Records

SAVED = Path(__file__).parent / "saved"
TARGET = "HeartDisease"
COLUMNS = ("Age", "Smoking", "ECG", "ChestPain", "Anxiety", TARGET, "Parking")


def _truth() -> Any:
    return clinic_graph().subgraph(COLUMNS).copy()


KINDS: dict[str, Callable[[serape.Table], Any]] = {
    "result": lambda data: serape.markov_blanket(data, TARGET, "hiton-mb", alpha=0.05, fdr=0.2),
    "neighbours": lambda data: serape.parents_children(data, TARGET, alpha=0.05),
    "blankets": lambda data: serape.blankets(data, [TARGET, "ECG"], alpha=0.05),
    "region": lambda data: serape.region(data, TARGET, alpha=0.05),
    "skeleton": lambda data: serape.skeleton(data, "hiton-pc", alpha=0.05),
    "network": lambda data: serape.network(data, "mmhc"),
    "stability": lambda data: serape.stability(data, TARGET, draws=6, alpha=0.05),
    "edge stability": lambda data: serape.stability(data, finds="skeleton", draws=4, algorithm="hiton-pc"),
    "network stability": lambda data: serape.stability(data, finds="network", draws=4, algorithm="tabu"),
    "alpha path": lambda data: serape.alpha_path(data, TARGET, [1e-10, 0.001, 0.05]),
    "all blankets": lambda data: serape.all_blankets(data, TARGET, alpha=0.05),
    "causes": lambda data: serape.causes(data, TARGET, alpha=0.05),
    "hidden causes": lambda data: serape.causes(data, TARGET, alpha=0.05, hidden=True),
    "contexts": lambda data: serape.context_blankets(data, TARGET, "Parking", alpha=0.05),
    "joint": lambda data: serape.joint_blanket(data, ["ECG", "ChestPain"], alpha=0.05),
    "knockoffs": lambda data: serape.knockoff_filter(data, TARGET, fdr=0.9, offset=0, random_state=0),
    "pairs": lambda data: serape.all_pairs(data, alpha=0.01),
    "description": lambda data: serape.describe(data, TARGET),
    "comparison": lambda data: serape.compare(["Age", "Parking"], ["Age", "ECG"]),
    "graph comparison": lambda data: serape.network(data, "mmhc").compare(_truth()),
}

ABOUT_EDGES = (serape.Structure, serape.EdgeStability)
"""Kinds that explain a pair of variables."""

# --- the verbs -------------------------------------------------------------------------------------------------------


def _save(found: Any, folder: Path) -> None:
    path = folder / "found.json"
    found.save(path)
    read = serape.load_result(path)
    assert type(read) is type(found)
    assert read == found
    assert str(read) == str(found)
    assert read.to_dict() == found.to_dict()


def _equal(found: Any, _: Path) -> None:
    assert found == pickle.loads(pickle.dumps(found))
    assert found != "something else"
    assert found.__eq__ is not object.__eq__


def _to_dict(found: Any, _: Path) -> None:
    content = found.to_dict()
    assert content["format"].startswith("serape-")
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def _records(found: Any, _: Path) -> None:
    records = found.records
    assert isinstance(records, Records)
    assert len(records)
    assert len(records.to_pandas()) == len(records)


def _html(found: Any, _: Path) -> None:
    assert found._repr_html_().count("<table>") == 1


def _brief(found: Any, _: Path) -> None:
    assert repr(found).startswith(f"<{type(found).__name__}: ")
    assert "\n" not in repr(found)


def _plot(found: Any, folder: Path) -> None:
    path = folder / "found.svg"
    found.plot(path)
    assert "</svg>" in path.read_text(encoding="utf-8")


def _report(found: Any, folder: Path) -> None:
    path = folder / "found.html"
    found.report(path)
    page = path.read_text(encoding="utf-8")
    assert page.endswith("</html>\n")
    assert "<table" in page
    with pytest.raises(serape.SerapeError, match="html"):
        found.report(folder / "found.txt")


def _explain(found: Any, _: Path) -> None:
    others = ("ECG",) if isinstance(found, ABOUT_EDGES) else ()
    assert "Age" in str(found.explain("Age", *others))
    with pytest.raises(serape.SerapeError, match="'Nobody'"):
        found.explain("Nobody", *others)


VERBS: dict[str, Callable[[Any, Path], None]] = {
    "save": _save,
    "==": _equal,
    "to_dict": _to_dict,
    "records": _records,
    "html": _html,
    "repr": _brief,
    "plot": _plot,
    "report": _report,
    "explain": _explain,
}
MEANINGLESS = {
    *((kind, verb) for kind in ("comparison", "graph comparison") for verb in ("repr", "plot", "report", "explain")),
    ("description", "repr"),
}  # fmt: skip
"""Verbs that have no sense for a kind; a comparison and a description are themselves what consoles show."""
MISSING: dict[str, tuple[str, ...]] = {
    "blankets": ("save", "to_dict", "records", "html", "repr", "plot", "report", "explain"),
    "region": ("save", "==", "to_dict", "records", "html", "repr", "plot", "report", "explain"),
    "comparison": ("save", "to_dict", "records", "html"),
    "graph comparison": ("save", "to_dict", "records", "html"),
}
"""What is still missing."""


def _cases() -> list[Any]:
    return [
        pytest.param(kind, verb, marks=[pytest.mark.xfail] if verb in MISSING.get(kind, ()) else [])
        for kind in KINDS
        for verb in VERBS
        if (kind, verb) not in MEANINGLESS
    ]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """A result of every kind."""
    data = serape.Table({name: values for name, values in clinic(300).items() if name in COLUMNS})
    return {name: make(data) for name, make in KINDS.items()}


@pytest.mark.parametrize(("kind", "verb"), _cases())
def test_every_kind_has_every_verb(made: dict[str, Any], tmp_path: Path, kind: str, verb: str) -> None:
    VERBS[verb](made[kind], tmp_path)


# --- files of earlier versions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_read(path: Path) -> None:
    """Written by version 0.2.0 as it was before kinds had a base class: what they say is what is read."""
    content = json.loads(path.read_text(encoding="utf-8"))
    structure = content["format"] == "serape-structure-1"
    found = serape.load_structure(path) if structure else serape.load_result(path)
    written = found.to_dict()
    assert {name: written[name] for name in content} == content
    assert str(found)
