"""What the later sections of the corpus look at in an answer.

These are the `answer` (names, edges, roles), the `counts` of tests, the `numbers` of the tables of evidence and of
records, column by column, the `layout` of the saved JSON (its entries), the `json` itself, the `text` that is printed,
and the `html` of notebooks. A change of wording is so told apart from a changed answer.

Floats are rounded to seven digits, as the last ones differ between machines. Times, versions and addresses are left
out.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from corpus_questions import Question
from serape.cli import main as command_line

LATER_PARTS = ("call", "answer", "counts", "layout", "json", "text", "html")
"""Besides `numbers:COLUMN` for each column."""
DIGITS = 7
VARYING = ("seconds", "version", "serape", "data", "created")
"""Entries of saved results that differ from run to run, or name the version."""
TIME = re.compile(r"\b\d[\d,.]*(?:e-?\d+)?(?: ?(?:s|ms|µs|min|seconds?|minutes?)\b)")
ADDRESS = re.compile(r"0x[0-9a-f]+")
SHARED = ("answer", "numbers", "layout")
"""What is looked at where several processes share the work: who makes a test first varies, and so does how many."""
FIXED: dict[str, Any] = {"progress": False, "max_seconds": None}
"""Settings under which answers do not depend on how busy the machine is."""

# --- what is looked at: where the public surface changes, adapt this section ---------------------------------------

ANSWERS: dict[str, tuple[str, ...]] = {
    "Result": (
        "target", "algorithm", "test", "blanket", "parents_children", "spouses", "dropped", "interchangeable",
        "complete",
    ),
    "AllBlankets": ("target", "algorithm", "test", "blankets", "interchangeable", "known", "status", "complete"),
    "Causes": (
        "target", "algorithm", "learner", "hidden", "causes", "effects", "undecided", "confounded", "spouses",
        "blanket", "marks", "expanded", "conflicts", "complete",
    ),
    "ContextBlankets": (
        "target", "context", "blanket", "contexts", "status", "common", "in_some", "undecided", "invariant", "changes",
        "invariant_sets", "causes", "not_searched", "complete",
    ),
    "JointBlanket": ("targets", "blanket", "shared", "serves", "links", "status", "complete"),
    "KnockoffSelection": ("target", "members", "offset", "statistic", "network", "same"),
    "Structure": ("algorithm", "test", "score", "directed", "edges", "conflicts", "complete"),
    "Stability": ("target", "algorithm", "test", "sampling", "draws", "rows", "frequencies"),
    "EdgeStability": ("algorithm", "test", "sampling", "draws", "rows", "frequencies", "directions"),
    "AlphaPath": ("target", "algorithm", "test", "alphas", "members"),
    "Pairs": ("test", "alpha", "variables", "dependents"),
    "Description": (
        "rows", "complete_rows", "target", "empty", "constant", "identifiers", "dates", "duplicates", "rescaled",
        "copies", "leaks",
    ),
}  # fmt: skip
COUNTS = ("tests", "tests_by_size", "skipped", "searches")
TABLES = ("evidence", "records")


def parts_of(found: Any) -> dict[str, Any]:
    """Return the parts of a result of any kind."""
    if isinstance(found, dict):  # blankets
        each = {target: parts_of(result) for target, result in found.items()}
        numbers: dict[str, Any] = {}
        for target, parts in each.items():
            for column, values in parts["numbers"].items():
                numbers.setdefault(column, []).append([target, values])
        return {part: {t: one[part] for t, one in each.items()} for part in LATER_PARTS[1:]} | {"numbers": numbers}
    if isinstance(found, nx.Graph):
        return graph_parts(found)
    answer = {name: getattr(found, name) for name in ANSWERS[type(found).__name__]}
    if isinstance(found, serape.Structure):
        answer["separating_sets"] = {" ".join(sorted(pair)): given for pair, given in found.separating_sets.items()}
        if found.directed:
            answer["class"] = sorted(found.cpdag.edges)
    if isinstance(found, serape.Causes):
        answer["adjustment_sets"] = _or_error(found.adjustment_sets)
    saved = _or_error(found.to_dict) if hasattr(found, "to_dict") else None
    return {
        "answer": answer,
        "counts": {name: getattr(found, name, None) for name in COUNTS},
        "numbers": {
            column: table[column]
            for name in TABLES
            if (table := getattr(found, name, None)) is not None
            for column in table.columns
        },
        "layout": sorted(saved) if isinstance(saved, dict) else saved,
        "json": saved,
        "text": [str(found), repr(found), *explanations(found)],
        "html": found._repr_html_(),
    }


def explanations(found: Any) -> Iterator[str]:
    """Return why each variable is in or out, in words."""
    explain = getattr(found, "explain", None)
    table = getattr(found, "evidence", None)
    if explain is None or isinstance(found, serape.Structure):
        return
    names = getattr(found, "members", None) if table is None else list(dict.fromkeys(table["variable"]))
    for name in names or ():
        yield str(_or_error(lambda name=name: explain(name)))  # type: ignore[misc]


def graph_parts(graph: nx.Graph[str]) -> dict[str, Any]:
    """Return the parts of a region."""
    edges = {" ".join(sorted(edge)): dict(graph.edges[edge]) for edge in graph.edges}
    columns = sorted({name for evidence in edges.values() for name in evidence})
    return {
        "answer": {"nodes": {name: graph.nodes[name] for name in graph}, "edges": sorted(edges)},
        "counts": {name: graph.graph.get(name) for name in ("tests", "skipped")},
        "numbers": {name: {edge: edges[edge].get(name) for edge in sorted(edges)} for name in columns},
        "layout": [sorted(graph.graph), columns],
    }


def _or_error(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except serape.SerapeError as error:
        return f"{type(error).__name__}: {error}"


# --- asking --------------------------------------------------------------------------------------------------------


def ask(run: Question) -> dict[str, Any]:
    """Make a run, and return the parts of its answer."""
    assert run.data is not None
    if run.section == "command":
        return commanded(run)
    settings = dict(run.settings)
    data = run.data.make()
    found: Any
    question = settings.pop("question", run.section)
    match question:
        case "blanket":
            found = serape.markov_blanket(data, **settings, **FIXED)
        case "neighbours":
            found = serape.parents_children(data, **settings, **FIXED)
        case "knockoffs":
            found = serape.knockoff_filter(data, **settings, **FIXED)
        case "describe":
            found = serape.describe(data, **settings)
        case "wrapper":
            from sklearn.naive_bayes import BernoulliNB

            target, kinds = settings["target"], settings["kinds"]
            first = serape.markov_blanket(data, target, alpha=0.2, kinds=kinds, **FIXED)
            found = serape.wrapper(data, first, BernoulliNB(), cv=3, kinds=kinds, tolerance=settings["tolerance"])
        case "alpha_path" | "all_pairs":
            found = getattr(serape, question)(data, **settings, progress=False)
        case _:
            found = getattr(serape, question)(data, **settings, **FIXED)
    parts = parts_of(found)
    return {part: parts[part] for part in SHARED if part in parts} if settings.get("n_jobs", 1) > 1 else parts


def commanded(run: Question) -> dict[str, Any]:
    """Run a command on a file in a folder of its own, and return what it prints."""
    assert run.data is not None
    columns = run.data.make()
    out, err = io.StringIO(), io.StringIO()
    status: Any = 0
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with Path("data.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                missing = (
                    ["" if isinstance(v, float) and math.isnan(v) else v for v in row]
                    for row in zip(*(column.tolist() for column in columns.values()), strict=True)
                )
                writer.writerows(missing)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                command_line(list(run.settings["arguments"]))
        except SystemExit as end:
            status = end.code or 0
        finally:
            os.chdir(before)
    printed = out.getvalue()
    saved = None
    if "--json" in run.settings["arguments"]:
        with contextlib.suppress(ValueError):
            saved, printed = json.loads(printed), ""
    return {
        "answer": {"status": status},
        "layout": sorted(saved) if isinstance(saved, dict) else None,
        "json": saved,
        "text": [printed, err.getvalue()],
    }


def later_texts(run: Question) -> dict[str, str]:
    """Make a run, and return a text for every part; of an error its class and its sentence."""
    try:
        parts = ask(run)
    except Exception as error:  # an error that is not serape's own is an answer too
        parts = {"answer": f"error {type(error).__name__}", "text": [str(error)]}
    assert run.data is not None
    parts["call"] = [str(run), run.data.digest, {k: v for k, v in run.settings.items() if isinstance(v, np.ndarray)}]
    columns = {
        f"numbers:{'_'.join(str(name).split())}": values for name, values in (parts.pop("numbers", None) or {}).items()
    }
    kept = {part: parts.get(part) for part in LATER_PARTS} | columns
    found = {part: json.dumps(rounded(value), indent=0, ensure_ascii=False) for part, value in kept.items()}
    for part in ("text", "html"):
        found[part] = ADDRESS.sub("0x", TIME.sub("· s", found[part]))
    return found


def rounded(value: Any) -> Any:
    """Return lists, dicts, text and whole numbers, with floats rounded, and without what varies."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return 0.0 if 0 < abs(number) < 1e-12 else float(f"{number:.{DIGITS}g}")  # what is left of 0 by rounding
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Mapping):
        return {
            " ".join(map(str, key)) if isinstance(key, tuple) else str(key): rounded(v)
            for key, v in value.items()
            if key not in VARYING
        }
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        return [rounded(v) for v in value]
    return value if isinstance(value, str) or value is None else str(value)
