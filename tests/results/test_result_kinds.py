"""Every kind of result has every verb: it is saved and read again, compared, drawn, reported, shown and explained."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import serape
from command import run
from serape.data.example import clinic, clinic_graph
from serape.data.writing import write_table
from serape.records import Records
from serape.results.kind import ResultKind

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

ABOUT_EDGES = (serape.Structure, serape.EdgeStability, serape.GraphComparison)
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
    ("comparison", "repr"),
    ("graph comparison", "repr"),
    ("description", "repr"),
}  # fmt: skip
"""Verbs that have no sense for a kind; a comparison and a description are themselves what consoles show."""


def _cases() -> list[Any]:
    return [(kind, verb) for kind in KINDS for verb in VERBS if (kind, verb) not in MEANINGLESS]


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """A result of every kind."""
    data = serape.Table({name: values for name, values in clinic(300).items() if name in COLUMNS})
    return {name: make(data) for name, make in KINDS.items()}


@pytest.mark.parametrize(("kind", "verb"), _cases())
def test_every_kind_has_every_verb(made: dict[str, Any], tmp_path: Path, kind: str, verb: str) -> None:
    VERBS[verb](made[kind], tmp_path)


# --- commands --------------------------------------------------------------------------------------------------------

ABOUT_TARGET = ("--target", TARGET)
COMMANDS: dict[str, tuple[str, ...]] = {
    "result": ("blanket", *ABOUT_TARGET, "--algorithm", "hiton-mb"),
    "neighbours": ("neighbours", *ABOUT_TARGET),
    "blankets": ("blankets", *ABOUT_TARGET, "--target", "ECG"),
    "region": ("region", *ABOUT_TARGET),
    "skeleton": ("skeleton", "--algorithm", "hiton-pc"),
    "network": ("network", "--algorithm", "mmhc"),
    "stability": ("stability", *ABOUT_TARGET, "--draws", "6"),
    "edge stability": ("stability", "--finds", "skeleton", "--draws", "4", "--algorithm", "hiton-pc"),
    "alpha path": ("path", *ABOUT_TARGET, "--alpha", "0.001", "--alpha", "0.05"),
    "all blankets": ("all-blankets", *ABOUT_TARGET),
    "causes": ("causes", *ABOUT_TARGET),
    "contexts": ("contexts", *ABOUT_TARGET, "--context", "Parking"),
    "joint": ("joint", "--target", "ECG", "--target", "ChestPain"),
    "knockoffs": ("knockoffs", *ABOUT_TARGET),
    "pairs": ("all-pairs",),
    "description": ("describe", *ABOUT_TARGET),
}
"""By kind, the command that writes it; networks' stability and hidden causes are written by the same."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of the data."""
    path = tmp_path_factory.mktemp("kinds") / "data.csv"
    write_table(serape.Table({name: values for name, values in clinic(300).items() if name in COLUMNS}), path)
    return path


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_command_writes_every_kind(
    made: dict[str, Any], table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    name, *options = COMMANDS[kind]
    files = {ending: tmp_path / f"found.{ending}" for ending in ("json", "html", "svg")}
    wanted = ["--output", files["json"], "--report", files["html"], "--picture", files["svg"]]
    code, out, err = run(
        capsys, name, str(table), *options, *map(str, wanted), "--quiet" if name != "describe" else "--json"
    )
    assert (code, err) == (0, "")
    assert out
    found = serape.load_result(files["json"])
    assert type(found) is type(made[kind])
    assert str(files["html"].read_text(encoding="utf-8")).endswith("</html>\n")
    assert "</svg>" in files["svg"].read_text(encoding="utf-8")


def test_interrupted_blankets_are_printed(
    monkeypatch: pytest.MonkeyPatch, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("serape.parallel.progress_bar.ProgressBar.advance", stop)
    code, out, _ = run(capsys, "blankets", str(table), *ABOUT_TARGET, "--target", "ECG")
    assert code == 130
    assert "not complete: this is the result so far" in out
    assert "interrupted: 1 of 2 targets are left undone" in out


def test_comparisons_are_written(made: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("result", "blankets", "skeleton", "network", "region")}
    for name, path in files.items():
        made[name].save(path)
    kept, report = tmp_path / "kept.json", tmp_path / "kept.html"
    for name, kind in (("result", serape.Comparison), ("network", serape.GraphComparison)):
        code, out, err = run(
            capsys, "compare", str(files[name]), str(files[name]), "--json", "-o", str(kept), "--report", str(report)
        )
        assert (code, err) == (0, "")
        found = serape.load_result(kept)
        assert type(found) is kind
        assert json.loads(out) == found.to_dict()
        assert report.read_text(encoding="utf-8").endswith("</html>\n")
    code, out, _ = run(capsys, "compare", str(files["blankets"]), str(files["blankets"]))
    assert (code, "precision" in out) == (0, True)
    code, _, err = run(capsys, "compare", str(files["region"]), str(files["region"]))
    assert (code, "is a Region; a blanket, blankets, or a network can be compared" in err) == (2, True)


# --- what was a dict or a graph still is one --------------------------------------------------------------------------


def test_blankets_are_a_mapping(made: dict[str, Any]) -> None:
    found = made["blankets"]
    plain = dict(found)
    assert isinstance(found, Mapping)
    assert type(plain) is dict
    assert list(found) == list(plain) == [TARGET, "ECG"]
    assert found == plain
    assert plain == found
    assert found != {}
    assert found != {**plain, "ECG": plain[TARGET]}
    assert found[TARGET].target == TARGET
    assert serape.compare(found, _truth()) == serape.compare(plain, _truth())


def test_a_part_of_blankets_is_not_complete(made: dict[str, Any], tmp_path: Path) -> None:
    found = made["blankets"]
    assert found.complete
    part = serape.Blankets({"ECG": found["ECG"]}, targets=found.targets)
    part.save(tmp_path / "part.json")
    for one in (part, serape.load_result(tmp_path / "part.json")):
        assert not one.complete
        assert "not complete" in str(one)


def test_a_region_is_a_graph(made: dict[str, Any]) -> None:
    found = made["region"]
    assert isinstance(found, nx.Graph)
    assert nx.shortest_path(found, TARGET, "Anxiety")[0] == TARGET
    assert nx.is_isomorphic(found, nx.Graph(found))
    assert found.copy().graph == found.graph
    assert nx.to_dict_of_dicts(found) == nx.to_dict_of_dicts(nx.Graph(found))
    assert set(found.subgraph(found[TARGET])) == set(found[TARGET])
    assert nx.minimum_spanning_tree(found).number_of_nodes() == len(found)
    assert "0 nodes" in repr(serape.Region())


def test_reports_say_how_to_repeat(made: dict[str, Any]) -> None:
    region, blankets = made["region"]._page(), made["blankets"]._page()
    assert "found = serape.region(\n    table,\n    'HeartDisease',\n" in region.calls["In Python"]
    assert "    depth=2,\n" in region.calls["In Python"]
    assert f"    {[TARGET, 'ECG']!r},\n" in blankets.calls["In Python"]


def test_a_kind_needs_a_name_of_its_own() -> None:
    with pytest.raises(TypeError, match="AllBlankets has files of the name"):

        class _Other(ResultKind, file="serape-blankets-1"):
            pass


# --- files of earlier versions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_read(path: Path) -> None:
    """Written by version 0.2.0 as it was before kinds had a base class: what they say is what is read."""
    content = json.loads(path.read_text(encoding="utf-8"))
    structure = content.get("format") == "serape-structure-1"  # regions named no kind
    found = serape.load_structure(path) if structure else serape.load_result(path)
    written = found.to_dict()
    assert {name: written[name] for name in content} == content
    assert str(found)
