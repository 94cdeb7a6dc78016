"""How to reproduce a result: the call in Python and, where possible, on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from serape.data.provenance import ARRAY, Provenance
from serape.settings import FIELDS
from serape.wording import option_words

if TYPE_CHECKING:
    from serape.results.all_blankets import AllBlankets
    from serape.results.blankets import Blankets
    from serape.results.causes import Causes
    from serape.results.context_blankets import ContextBlankets
    from serape.results.joint_blanket import JointBlanket
    from serape.results.region import Region
    from serape.results.result import Result
    from serape.results.structure import Structure

_MAX_TARGETS = 50
"""More targets than this are not listed in a call."""


def blanket_calls(found: Result) -> dict[str, str]:
    """Return the calls that reproduce a result."""
    if found.call.selector is not None:
        return {"In Python": _selector(found.call.selector, found.call.fit)}
    question, command = (
        ("markov_blanket", "blanket") if found.finds == "blanket" else ("parents_children", "neighbours")
    )
    return _again(question, found, [found.target], command, on_command_line=not found.dropped)


def blankets_calls(found: AllBlankets) -> dict[str, str]:
    """Return the calls that reproduce all blankets."""
    return _again("all_blankets", found, [found.target], first={"max_blankets": found.max_blankets})


def many_calls(found: Blankets) -> dict[str, str]:
    """Return the calls that reproduce the blankets of many targets."""
    result = next(iter(found.values()), None)
    if result is None:
        return {}
    listed = len(found.targets) <= _MAX_TARGETS
    return _again("blankets", result, [found.targets] if listed else [])


def region_calls(found: Region) -> dict[str, str]:
    """Return the calls that reproduce a region."""
    return _again("region", found, [found.target], first={"depth": found.depth})


def causes_calls(found: Causes) -> dict[str, str]:
    """Return the calls that reproduce causes and effects."""
    result = found.blanket_result
    learner = ["learner"] if "algorithm" in result.call.own else []
    own = (*learner, *(name for name in result.call.own if name != "algorithm"))
    hidden = {"hidden": True} if found.hidden else {}
    more: dict[str, Any] = {"algorithm": found.algorithm, "learner": found.learner, **hidden}
    return _again("causes", result, [found.target], own=own, first=more)


def contexts_calls(found: ContextBlankets) -> dict[str, str]:
    """Return the calls that reproduce a blanket in several contexts."""
    result = found.pooled
    more: dict[str, Any] = {"context": found.context, "algorithm": result.algorithm}
    return _again("context_blankets", result, [found.target], "contexts", first=more)


def joint_calls(found: JointBlanket) -> dict[str, str]:
    """Return the calls that reproduce the blanket of several targets."""
    return _again("joint_blanket", next(iter(found.by_target.values())), [found.targets], "joint")


def structure_calls(found: Structure) -> dict[str, str]:
    """Return the calls that reproduce a skeleton or a network."""
    more = {} if found.score is None else {"score": found.score}
    return _again(found.finds, found, [], last=more)


def _again(
    question: str,
    found: Result | AllBlankets | Region | Structure,
    about: Sequence[str | Sequence[str]],
    command: str | None = None,
    *,
    own: tuple[str, ...] | None = None,
    on_command_line: bool = True,
    first: Mapping[str, Any] = MappingProxyType({}),
    last: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the calls that ask a question about some targets again.

    `first` are settings of the question itself, named before those of the search, `last` after them; `own` are settings
    that were objects of the caller, by default those of the call.
    """
    call = found.call
    own = call.own if own is None else own
    options = {name: value for name, value in found.options.items() if name not in call.implied}
    settings = dict(first) if "algorithm" in first else {"algorithm": found.algorithm, **first}
    if found.test is None or found.alpha is None:
        settings |= {name: value for name, value in options.items() if value is not None}
    else:
        settings |= _tested(found.test, found.alpha, options)
    settings |= last
    targets = [repr(one if isinstance(one, str) else list(one)) for one in about]
    calls = {"In Python": _python(question, found.data, found.test, [*targets, *_arguments(settings, own)])}
    words = _words(found.data, settings, call.defaults) if on_command_line and not call.own else None
    if words is not None:
        named = [["--target", name] for one in about for name in ([one] if isinstance(one, str) else one)]
        command = command or question.replace("_", "-")
        calls["On the command line"] = _shell([["serape", command, *words[0]], *named, *words[1:]])
    return calls


def _tested(test: str, alpha: float, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a call that uses tests, without those that are not set or do not apply to the test."""
    has_rules = options.get("dof") is not None  # tests without degrees of freedom to choose have no reliability either
    rules = {"reliability": options.get("reliability"), "dof": options.get("dof")} if has_rules else {}
    plain = {name: value for name, value in options.items() if name not in ("reliability", "dof") and value is not None}
    return {"test": test, "alpha": alpha, **rules, **plain}


# --- Python ----------------------------------------------------------------------------------------------------------


def _python(question: str, data: Provenance | None, test: str | None, arguments: list[str]) -> str:
    made = dict(data.made) if data is not None else {}
    path = made.pop("path", None)
    if data is None:
        name, first = "test", f"test = …  # the independence test {test!r}, which was passed in place of data"
    else:
        source = "data" if path is None else repr(path)
        comment = "" if path is not None else f"  # {data.rows:,} rows, {data.columns:,} columns"
        inside = ", ".join(
            [source, *(f"{name}={name if value == ARRAY else repr(value)}" for name, value in made.items())]
        )
        name, first = "table", f"table = serape.Table({inside}){comment}"
    lines = "".join(f"    {argument},\n" for argument in (name, *arguments))
    return f"import serape\n\n{first}\nfound = serape.{question}(\n{lines})"


def _selector(arguments: Iterable[str], fit: Iterable[str]) -> str:
    inside = "".join(f"\n    {argument}," for argument in arguments)
    made = f"serape.MarkovBlanketSelector({inside}{inside and chr(10)})"
    given = ", ".join(["X", "y", *(f"{name}={name}" for name in fit)])
    return f"import serape\n\nselector = {made}.fit({given})\nfound = selector.result_"


def _arguments(settings: Mapping[str, Any], own: tuple[str, ...]) -> list[str]:
    lines = []
    for name, value in settings.items():
        if name in ("algorithm", "learner") and name in own:
            lines.append(f"{name}={value}")  # a function of the caller
        elif name != "test" or name not in own:
            lines.append(f"{name}={value!r}")
    return lines


# --- the command line ------------------------------------------------------------------------------------------------

_OF_QUESTIONS = frozenset(
    {"rule", "score", "equivalent_sample_size", "max_blankets", "learner", "hidden", "context", "depth"}
)
"""What the commands of some questions take beside the settings; options of algorithms are not shown."""


def _words(data: Provenance | None, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[list[str]] | None:
    """Return the path and the options that differ from `defaults`, or None if the command line has no such call."""
    made = dict(data.made) if data is not None else {}
    path = made.pop("path", None)
    own = {name: value for name, value in settings.items() if name not in defaults or value != defaults[name]}
    if path is None or ARRAY in made.values() or not own.keys() <= FIELDS.keys() | _OF_QUESTIONS:
        return None
    options = [option_words(name, value) for name, value in {**made, **own}.items()]
    return None if None in options else [[str(path)], *(words for groups in options for words in groups or ())]


def _shell(groups: list[list[str]]) -> str:
    """Return a shell command with one option per line."""
    return " \\\n    ".join(shlex.join(group) for group in groups)
