"""Writes src/serape/_keywords.py: the keywords of every question, as type checkers and editors read them.

    python tools/keywords.py        (or: make stubs)

They are the fields of serape.settings and the options of the algorithms. A test holds the file to them.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from serape.local.registry import ALGORITHMS
from serape.settings import FIELDS
from serape.structure.registry import CAUSAL_ALGORITHMS, NETWORK_ALGORITHMS

PATH = Path(__file__).parent.parent / "src" / "serape" / "_keywords.py"
HEAD = '''"""The keywords of every question; written by tools/keywords.py (`make stubs`), not by hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from serape.knowledge import Knowledge
from serape.progress import ProgressCallback
from serape.types import DofRule, EngineName, FdrMethod, MissingRules, Reliability, Variables, WeightKind


class Keywords(TypedDict, total=False):
    """Settings, in the order of the signatures; then options of the algorithms."""

'''


def keywords() -> str:
    """Return the content of the file."""
    lines = [f"    {name}: {field.type}" for name, field in FIELDS.items() if name != "algorithm"]
    options = {
        name: " | ".join(sorted(kinds, key=lambda kind: (kind == "None", kind)))
        for name, kinds in sorted(_options().items())
    }
    lines += [f"    {name}: {kinds}" for name, kinds in options.items()]
    return HEAD + "\n".join(lines).replace("'", '"') + "\n"


def _options() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    local = [f for algorithm in ALGORITHMS.values() for f in (algorithm.run, algorithm.run_parents_children)]
    for function in (*local, *(algorithm.run for algorithm in CAUSAL_ALGORITHMS.values())):
        if function is not None:
            for name, parameter in list(inspect.signature(function, eval_str=True).parameters.items())[2:]:
                found.setdefault(name, set()).update(_kinds(parameter.annotation))
    for network in NETWORK_ALGORITHMS.values():
        for name, default in network.defaults.items():
            if name == "rule":  # a parameter of its own
                continue
            of_default = {"int", "None"} if default is None else {type(default).__name__}
            found.setdefault(name, set()).update(of_default)
    return found


def _kinds(annotation: Any) -> list[str]:
    """Return the parts of an annotation as text."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return ["None" if part is type(None) else inspect.formatannotation(part).replace("typing.", "") for part in parts]


if __name__ == "__main__":
    PATH.write_text(keywords(), encoding="utf-8")
