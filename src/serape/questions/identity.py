"""What makes two questions the same: the data, the algorithm, the test, and every setting that can change the answer.

Nothing of it is an address, so the same question has the same identity in another process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from serape.canonical import OWN, Unidentified, digest
from serape.data.provenance import fingerprint
from serape.data.table import Table
from serape.errors import shown
from serape.independence import IndependenceTest, table_of
from serape.questions.query import Query
from serape.settings import DataSettings, SearchSettings

ANSWERS = 2
"""The version of the answers; one more where a release answers a question in another way than the last."""
NOT_PART = {
    "n_jobs": "the answer is the same on any number of cores",
    "progress": "it shows what is done, and changes nothing",
    "engine": "a GPU gives the same answers as the processor",
    "max_seconds": "a search that it ends is not complete; what was complete by then is the same",
    "max_tests": "a search that it ends is not complete; what was complete by then is the same",
    **{f.name: "it changes the table, whose content is part" for f in fields(DataSettings)},
    "dof": "it is one of the parts of the tests that use it",
    "reliability": "it is one of the parts of the tests that use it",
}
"""The settings that are no part of the identity as such, each with the reason. Every other setting is a part."""
_PARTS = ("test_parts", "options")  # what has parts of its own
_NOT_A_PART = ("name", "table", "_noted")  # of a test
_MAX_LENGTH = 60  # longer values are represented by a digest
_MAX_TOLD = 3


def identity(query: Query) -> dict[str, Any]:
    """Return what a question is made of, as plain JSON; raise Unidentified if that cannot be told."""
    source = query.source
    table = table_of(source)
    resolved = {
        "algorithm": query.algorithm.run if query.algorithm.of_caller else query.algorithm.name,
        "test": source.name,
        "alpha": query.alpha,
        "fdr": None if query.fdr is None else query.fdr.rate,
        "fdr_method": None if query.fdr is None else query.fdr.method,
        "max_conditioning": query.max_conditioning,
        **{name: query.constraints.get(name) for name in ("knowledge", "known_members", "forbidden_members")},
    }
    settings = {f.name: getattr(query.asked, f.name) for f in fields(SearchSettings) if f.name not in NOT_PART}
    return {
        "answers": ANSWERS,
        "finds": query.finds,
        "data": digest(source.variables) if table is None else table_identity(table),
        **{name: _compact(resolved.get(name, value), name) for name, value in settings.items()},
        "test_parts": {name: _compact(value, name) for name, value in parts_of(source).items()},
        "options": {name: _compact(value, name) for name, value in sorted(query.options.items())},
    }


def table_identity(table: Table) -> str:
    """Return a digest of the names, kinds, values, gaps, weights and groups of a table, in their order."""
    content = table.provenance.fingerprint or fingerprint(table)  # that of a large one on a cluster is not known
    return digest((content, *table.kinds.values()))


def parts_of(test: IndependenceTest) -> dict[str, Any]:
    """Return what the answers of a test depend on besides its table: some of its attributes, and a caller's class."""
    classes = type(test).__mro__
    at = next(k for k, made in enumerate(classes) if made.__module__.partition(".")[0] == OWN)
    own, ours = classes[:at], classes[at]
    declared = {name for made in classes for name in vars(made).get("made_of") or ()}
    parts = {name.lstrip("_"): getattr(test, name) for name in sorted(declared)}
    if not own:
        return parts
    if not any("made_of" in vars(made) for made in own):
        if ours is not IndependenceTest:
            raise Unidentified(
                f"the class of test {test.name!r} does not say what it adds to {ours.__name__} (write made_of = (…) in "
                f"it, the names of the attributes that its answers depend on)"
            )
        slots = [name for made in own for name in vars(made).get("__slots__", ()) if hasattr(test, name)]
        names = sorted({*vars(test), *slots}.difference(_NOT_A_PART))
        parts = {name: getattr(test, name) for name in names}
    return {"class": type(test), **parts}


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return in words what one identity has in place of what is in another; "" if they are the same."""
    told = list(_differences(found, wanted))
    return " and ".join(told[:_MAX_TOLD])


def _differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    told: list[str] = []
    for name in dict.fromkeys([*wanted, *found]):
        here, there = found.get(name), wanted.get(name)
        if json.dumps(here) == json.dumps(there):
            continue
        if name in _PARTS and isinstance(here, dict) and isinstance(there, dict):
            told += _differences(here, there)
        elif name == "data":
            told.append("other data")
        elif name == "answers":
            told.append("another version of serape, which may answer in another way")
        else:
            told.append(
                f"{name if name.isidentifier() and len(name) <= 60 else shown(name)} {shown(here)}, not {shown(there)}"
            )
    return told


def _compact(value: Any, name: str) -> Any:
    """Return a value as it is if it is short and plain; otherwise its name and a digest of what it is made of."""
    value = value.item() if isinstance(value, np.generic) else value
    content = digest(value, name)
    try:
        if len(json.dumps(value)) <= _MAX_LENGTH:
            return value
    except (TypeError, ValueError):
        pass
    return f"{getattr(value, '__name__', type(value).__name__)} {content}"
