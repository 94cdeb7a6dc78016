"""The notebooks in examples run from top to bottom, are valid, and hold no output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pages
import serape

NOTEBOOKS = sorted((pages.ROOT / "examples" / "notebooks").glob("*.ipynb"))
KEYS = {
    "markdown": {"cell_type", "id", "metadata", "source"},
    "code": {"cell_type", "id", "metadata", "source", "execution_count", "outputs"},
}


def _genes(names: dict[str, Any]) -> bool:
    loose, found, truth = names["loose"], names["found"], set(names["truth"])
    return (
        set(found.blanket) == truth < set(loose.blanket)
        and names["by_chance"] == ()
        and len(names["by_chance_at_005"]) > 5
        and set(names["stability"].stable(max_false=1)) <= truth
        and Path("response.png").stat().st_size > 0
    )


def _model(names: dict[str, Any]) -> bool:
    selected = names["selector"].blanket_
    return (
        0 < len(selected) < 10
        and names["left_out"] not in selected
        and tuple(names["evidence"].query("included")["variable"]) == selected
        and "<html" in Path("tumours.html").read_text(encoding="utf-8")
    )


def _algorithm(names: dict[str, Any]) -> bool:
    return (
        isinstance(names["wrong"], serape.Counterexample)
        and names["right"] is None
        and serape.markov_blanket(names["test"], "x2", names["grow_shrink"], alpha=0.01).blanket == ("x1",)
        and all(network.compare(names["alarm"]).skeleton_precision > 0.9 for network in names["networks"].values())
        and Path("alarm.png").stat().st_size > 0
    )


SHOWN: dict[str, Callable[[dict[str, Any]], bool]] = {
    "many_genes_few_patients": _genes,
    "columns_for_a_model": _model,
    "your_own_algorithm": _algorithm,
}
"""By notebook, what its text says about what its cells find."""


def name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_cells_run_and_show_what_the_text_says(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for k, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {k}", "exec"), names)
    pyplot.close("all")
    assert SHOWN[path.stem](names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_it_is_a_valid_notebook_without_output(path: Path) -> None:
    """The structure is that of nbformat 4.5."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        assert set(cell) == KEYS[cell["cell_type"]]
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert cell["source"]
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert cells[0]["source"][0].startswith("# ")
    assert path.stat().st_size < 20_000


def test_every_notebook_is_in_the_gallery_and_names_pages_that_are_there() -> None:
    gallery = (pages.DOCS / "gallery.md").read_text()
    assert set(re.findall(r"notebooks/(\w+)\.ipynb", gallery)) == {path.stem for path in NOTEBOOKS} == set(SHOWN)
    for path in NOTEBOOKS:
        for page in re.findall(r"`((?:docs|examples)/[\w.-]+)`", path.read_text(encoding="utf-8")):
            assert (pages.ROOT / page).exists(), page
