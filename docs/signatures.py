"""How the reference shows signatures and docstrings.

Questions take all settings as keywords. The page of settings describes these once, so that a signature shows them as
`**settings`, and the description names those that a question takes. A class that only serape makes has no signature.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from sphinx.pycode import ModuleAnalyzer
from sphinx.util.inspect import signature as signature_of
from sphinx.util.inspect import stringify_signature

from serape.settings import FIELDS

ALIASES = {"ArrayLike": "ArrayLike", "LocalAlgorithm": "Callable"}
"""Types that are shown by these names."""
SECTIONS = ("Returns", "Raises", "Attributes", "Examples")
SHOWN = ("algorithm", "kinds", "missing", "ignore")
"""Settings that a class shows all the same, where it has them as parameters."""


def short_signature(
    _app: Any, what: str, _name: str, obj: Any, _options: Any, arguments: str | None, returned: str | None
) -> tuple[str, str] | None:
    """Return the signature of an object as the page shows it; None leaves it unchanged."""
    if arguments is None:
        return None
    if what == "exception" or (what == "class" and _is_returned(obj)):
        return "", ""
    hidden = _hidden_settings(what, obj)
    if hidden:
        _shorten_overloads(obj)
        made_by = obj.__init__ if what == "class" else obj
        full = signature_of(made_by, bound_method=what == "class", type_aliases=ALIASES)
        own = [p for p in full.parameters.values() if p.name not in hidden and p.kind is not p.VAR_KEYWORD]
        own.append(inspect.Parameter("settings", inspect.Parameter.VAR_KEYWORD))
        text = stringify_signature(full.replace(parameters=own), unqualified_typehints=True, short_literals=True)
        arguments, _, returned = text.partition(" -> ")
    return _plain(arguments), "" if what == "class" else _plain(returned or "")


def _hidden_settings(what: str, obj: Any) -> list[str]:
    """Return the settings that `**settings` stands for."""
    if hasattr(obj, "refused_settings"):
        parameters = inspect.signature(obj).parameters.values()
        return [p.name for p in parameters if p.name in FIELDS and p.kind is p.KEYWORD_ONLY]
    if what != "class":
        return []
    taken = [name for name in inspect.signature(obj.__init__).parameters if name in FIELDS]
    return [name for name in taken if name not in SHOWN] if len(taken) > len(SHOWN) else []


def _shorten_overloads(obj: Any) -> None:
    """Show the keywords of overloads as `**settings` too; autodoc takes overloads from the source."""
    analyzer = ModuleAnalyzer.for_module(obj.__module__)
    analyzer.analyze()
    for overloads in analyzer.overloads.values():
        overloads[:] = [
            one.replace(parameters=[
                p.replace(annotation=p.empty) if p.kind is p.VAR_KEYWORD else p
                for p in one.parameters.values()
            ])
            for one in overloads
        ]  # fmt: skip


def _plain(types: str) -> str:
    """Return types as they are read best."""
    for pattern, shown in (
        (r"TypeAliasForwardRef\('(\w+)'\)", r"\1"),
        (r"<function (\w+)>", r"\1"),
        (r"~?\bnx\.(\w+)(\[\w+\])?", r"networkx.\1"),
        (r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^\]]+)\]\]", r"NDArray[\1]"),
    ):
        types = re.sub(pattern, shown, types)
    return types


def short_docstring(_app: Any, _what: str, _name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    """Replace the settings of a question by a link, and pages by links."""
    if hasattr(obj, "refused_settings"):
        text = inspect.cleandoc("\n".join(lines)).partition("\nSettings\n--------")[0].rstrip().split("\n")
        heads = [k for k, line in enumerate(text) if line in SECTIONS and text[k + 1].startswith("---")]
        at = heads[0] if heads else len(text)
        own = [] if "Parameters" in text else ["Parameters", "----------"]
        lines[:] = [*text[:at], *own, *_settings_taken(obj), "", *text[at:], ""]
    lines[:] = [re.sub(r"`?docs/([\w/-]+)\.md`?", r":doc:`/\1`", line) for line in lines]


def _settings_taken(obj: Any) -> list[str]:
    """Return the description of `**settings`."""
    taken = [name for name in FIELDS if name in inspect.signature(obj).parameters and name != "algorithm"]
    left = [name for name in FIELDS if name in obj.refused_settings and name != "algorithm"]
    if not left:
        which = "All :doc:`settings </settings>`."
    elif len(left) < len(taken):
        which = f"All :doc:`settings </settings>` but {', '.join(f'`{name}`' for name in left)}."
    else:
        which = f":doc:`Settings </settings>`: {', '.join(f'`{name}`' for name in taken)}."
    takes_options = "algorithm" not in obj.refused_settings
    return ["**settings", f"    {which}{' Other keywords are options of the algorithm.' if takes_options else ''}"]


def _is_returned(obj: Any) -> bool:
    """Return whether a class is a result, which users do not make."""
    own = obj.__module__.startswith(("serape.results", "serape.search", "serape.questions", "serape.data"))
    return own and (dataclasses.is_dataclass(obj) or obj.__name__ in ("Search", "Discretised", "Region", "Blankets"))


def keep_sentence(_app: Any, what: str, name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Keep the docstring of an attribute as it is: napoleon reads what stands before a colon as a type."""
    if what in ("attribute", "property"):
        if name in _kept:
            lines[:] = _kept.pop(name)
        else:
            _kept[name] = list(lines)


_kept: dict[str, list[str]] = {}


def setup(app: Any) -> dict[str, bool]:
    """Register these functions; napoleon has priority 500."""
    app.config.autodoc_type_aliases = ALIASES
    app.connect("autodoc-process-signature", short_signature)
    app.connect("autodoc-process-docstring", short_docstring, priority=300)
    app.connect("autodoc-process-docstring", keep_sentence, priority=400)
    app.connect("autodoc-process-docstring", keep_sentence, priority=600)
    return {"parallel_read_safe": True}
