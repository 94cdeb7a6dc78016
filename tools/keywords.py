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
from serape.settings import FIELDS, DataSettings, selector_settings
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


'''
CLASSES = {
    "SelectorKeywords(TypedDict": "Settings that a selector takes, in the order of the signatures.",
    "DataKeywords(TypedDict": "Settings for reading data, in the order of the signatures.",
    "Keywords(TypedDict": "Settings, in the order of the signatures; then options of the algorithms.",
}


WIDER = {"random_state": "int | np.random.Generator | np.random.RandomState | None"}
"""Settings for which a selector takes more, as scikit-learn does."""


def keywords() -> str:
    """Return the content of the file."""
    types = {name: str(field.type) for name, field in FIELDS.items() if name != "algorithm"}
    options = {
        name: " | ".join(sorted(kinds, key=lambda kind: (kind == "None", kind)))
        for name, kinds in sorted(_options().items())
    }
    # The parameters of the selector and of Table that may be given by position are not among their keywords.
    of_selector = set(selector_settings()) - {"test", "alpha"}
    entries = [
        {name: WIDER.get(name, kind) for name, kind in types.items() if name in of_selector},
        {name: types[name] for name in DataSettings.__dataclass_fields__ if name not in ("kinds", "missing", "ignore")},
        types | options,
    ]
    parts = []
    for (head, meaning), own in zip(CLASSES.items(), entries, strict=True):
        lines = "\n".join(f"    {name}: {kind}" for name, kind in own.items()).replace("'", '"')
        parts.append(f'class {head}, total=False):\n    """{meaning}"""\n\n{lines}\n')
    return HEAD + "\n\n".join(parts)


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
