"""How to reproduce a result: the call in Python and, where possible, on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from serape.data.provenance import ARRAY, Provenance
from serape.wording import option_words

if TYPE_CHECKING:
    from serape.results.all_blankets import AllBlankets
    from serape.results.causes import Causes
    from serape.results.context_blankets import ContextBlankets
    from serape.results.joint_blanket import JointBlanket
    from serape.results.result import Result
    from serape.results.structure import Structure


def blanket_calls(found: Result) -> dict[str, str]:
    """Return the calls that reproduce a result."""
    if found.call.selector is not None:
        return {"In Python": _selector(found.call.selector, found.call.fit)}
    blanket = found.finds == "blanket"
    settings = {"algorithm": found.algorithm, **_tested(found.test, found.alpha, found.options)}
    arguments = [repr(found.target), *_arguments(settings, found.call.own)]
    question = "markov_blanket" if blanket else "parents_children"
    calls = {"In Python": _python(question, found.data, found.test, arguments)}
    words = None if found.dropped or found.call.own else _words(found.data, settings, {})
    if words is not None:
        command = ["serape", "blanket" if blanket else "neighbours", *words[0]]
        calls["On the command line"] = _shell([command, ["--target", found.target], *words[1:]])
    return calls


def blankets_calls(found: AllBlankets) -> dict[str, str]:
    """Return the calls that reproduce all blankets."""
    settings = {"algorithm": found.algorithm, "max_blankets": found.max_blankets}
    settings |= _tested(found.test, found.alpha, found.options)
    calls = {
        "In Python": _python(
            "all_blankets", found.data, found.test, [repr(found.target), *_arguments(settings, found.call.own)]
        )
    }
    words = None if found.call.own else _words(found.data, settings, {})
    if words is not None:
        command = ["serape", "all-blankets", *words[0]]
        calls["On the command line"] = _shell([command, ["--target", found.target], *words[1:]])
    return calls


def causes_calls(found: Causes) -> dict[str, str]:
    """Return the calls that reproduce causes and effects."""
    result = found.blanket_result
    hidden = {"hidden": True} if found.hidden else {}
    chosen = {"algorithm": found.algorithm, "learner": found.learner, **hidden}
    settings = {**chosen, **_tested(result.test, result.alpha, result.options)}
    learner = ["learner"] if "algorithm" in result.call.own else []
    own = (*learner, *(name for name in result.call.own if name != "algorithm"))
    arguments = [repr(found.target), *_arguments(settings, own)]
    calls = {"In Python": _python("causes", result.data, result.test, arguments)}
    words = None if result.call.own else _words(result.data, settings, {})
    if words is not None:
        calls["On the command line"] = _shell([["serape", "causes", *words[0]], ["--target", found.target], *words[1:]])
    return calls


def contexts_calls(found: ContextBlankets) -> dict[str, str]:
    """Return the calls that reproduce a blanket in several contexts."""
    result = found.pooled
    settings = {"context": found.context, "algorithm": result.algorithm}
    settings |= _tested(result.test, result.alpha, result.options)
    arguments = [repr(found.target), *_arguments(settings, result.call.own)]
    calls = {"In Python": _python("context_blankets", result.data, result.test, arguments)}
    words = None if result.call.own else _words(result.data, settings, {})
    if words is not None:
        command = ["serape", "contexts", *words[0]]
        calls["On the command line"] = _shell([command, ["--target", found.target], *words[1:]])
    return calls


def joint_calls(found: JointBlanket) -> dict[str, str]:
    """Return the calls that reproduce the blanket of several targets."""
    result = next(iter(found.by_target.values()))
    settings = {"algorithm": result.algorithm, **_tested(result.test, result.alpha, result.options)}
    arguments = [repr(list(found.targets)), *_arguments(settings, result.call.own)]
    calls = {"In Python": _python("joint_blanket", result.data, result.test, arguments)}
    words = None if result.call.own else _words(result.data, settings, {})
    if words is not None:
        targets = [["--target", target] for target in found.targets]
        calls["On the command line"] = _shell([["serape", "joint", *words[0]], *targets, *words[1:]])
    return calls


def structure_calls(found: Structure) -> dict[str, str]:
    """Return the calls that reproduce a result."""
    call = found.call
    options = {name: value for name, value in found.options.items() if name not in call.implied}
    settings: dict[str, Any] = {"algorithm": found.algorithm}
    if found.test is not None and found.alpha is not None:
        settings |= _tested(found.test, found.alpha, options)
    else:
        settings |= {name: value for name, value in options.items() if value is not None}
    if found.score is not None:
        settings["score"] = found.score
    calls = {"In Python": _python(found.finds, found.data, found.test, _arguments(settings, call.own))}
    words = None if call.own else _words(found.data, settings, call.defaults)
    if words is not None:
        calls["On the command line"] = _shell([["serape", found.finds, *words[0]], *words[1:]])
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

_SETTINGS = frozenset(
    {
        "algorithm", "test", "alpha", "fdr", "fdr_method", "max_conditioning", "reliability", "dof", "random_state",
        "rule", "score", "equivalent_sample_size", "max_blankets", "learner", "hidden", "context",
    }
)  # fmt: skip
"""The settings that the command line can show; others are objects, or in files."""


def _words(data: Provenance | None, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> list[list[str]] | None:
    """Return the path and the options that differ from `defaults`, or None if the command line has no such call."""
    made = dict(data.made) if data is not None else {}
    path = made.pop("path", None)
    own = {name: value for name, value in settings.items() if name not in defaults or value != defaults[name]}
    if path is None or ARRAY in made.values() or not own.keys() <= _SETTINGS or ("rule" in own and "rule" in defaults):
        return None
    options = [option_words(name, value) for name, value in {**made, **own}.items()]
    return None if None in options else [[str(path)], *(words for groups in options for words in groups or ())]


def _shell(groups: list[list[str]]) -> str:
    """Return a shell command with one option per line."""
    return " \\\n    ".join(shlex.join(group) for group in groups)
