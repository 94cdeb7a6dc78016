"""Write docs/commands.md, the command-line reference, from the commands themselves.

    python tools/commands.py [--check]        (or: make stubs)

Options that several commands take alike are described once. A test holds the page to the commands.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from typer.models import ArgumentInfo, CommandInfo

from serape.cli.app import MODULES
from serape.cli.base import EXIT_CODES, find_command
from serape.cli.show import PIPED

PATH = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
GROUPS = {None: "Main options", "Data": "Data options", "Text files": "Text file options", "Cluster": "Cluster options",
          "How to search": "Search options", "Output": "Output options"}  # fmt: skip
"""The groups of --help, with their headings on the page."""
TYPES = {str: "TEXT", int: "INTEGER", float: "NUMBER", Path: "PATH"}

HEAD = f"""# Command-line reference

`serape COMMAND --help` shows what is on this page, which `python tools/commands.py` makes from the commands. Options
that several commands share are [described once](#options-that-commands-share). Most are
[settings](settings.md) with the same names in Python.

{{commands}}

## Output, exit codes and environment

- **Standard output**: the result, as tables for people. `--json` prints JSON for programs in their place. Tables fit
  the terminal; where there is none, they are {PIPED} characters wide.
- **Standard error**: progress (of a search only on a terminal, after two seconds), remarks about files, and errors. An
  error is one sentence that names the column, the value and the remedy.
- **Files**: a command writes only the files that options name; `demo` and `study` write into a folder.
- **Standard input**: `-` in place of a file name. Commands can be joined by pipes.

| exit code | meaning |
|---|---|
{{codes}}

| environment variable | effect |
|---|---|
| `NO_COLOR` | `1`, or any other text, turns colours off. |
| `COLUMNS` | The width of tables, in place of that of the terminal. |
| `OPENBLAS_NUM_THREADS` | Threads of NumPy's linear algebra, 1 if not set: the matrices are too small for several. |

`serape --install-completion` installs completion in your shell: names of commands, options, algorithms, networks, and
of the columns of a text file. `serape --version` prints the version.
"""


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a command."""

    names: tuple[str, ...]
    value: str
    default: str
    meaning: str
    group: str | None
    is_argument: bool = False

    @property
    def line(self) -> str:
        """How the page describes it."""
        first, *others = self.names or ("",)
        words = ", ".join(f"`{word}`" for word in (f"{first} {self.value}".strip(), *others))
        return f"- {words}{f' (default `{self.default}`)' if self.default else ''}: {self.meaning}"


@dataclass(frozen=True)
class Command:
    """A command, its parameters, and which of them are required."""

    name: str
    about: list[str]
    parameters: list[Parameter]
    required: set[Parameter]
    examples: list[str]
    aliases: list[str]

    @property
    def usage(self) -> str:
        """The call, with what is required."""
        words = [
            (p.value if p in self.required else f"[{p.value}]")
            if p.is_argument
            else f"{p.names[0]} {p.value}"
            for p in self.parameters
            if p.is_argument or p in self.required
        ]  # fmt: skip
        return " ".join(["serape", self.name, *words, "[OPTIONS]"])


def commands() -> list[Command]:
    """Return the commands in the order of the help."""
    listed = [find_command(name) for name in MODULES]
    return [_command(info, [str(o.name) for o in listed if o.hidden and o.callback is info.callback])
            for info in listed if not info.hidden]  # fmt: skip


def _command(info: CommandInfo, aliases: list[str]) -> Command:
    assert info.callback is not None
    parameters, required = [], set()
    for parameter in inspect.signature(info.callback).parameters.values():
        if get_args(parameter.annotation):  # all but the context
            parameters.append(one := _parameter(parameter))
            if parameter.default is inspect.Parameter.empty:
                required.add(one)
    about = inspect.cleandoc(info.help or info.callback.__doc__ or "").split("\n\n")
    examples = [line.removeprefix("Example: ") for line in (info.epilog or "").split("\n\n") if "serape " in line]
    return Command(str(info.name), about, parameters, required, examples, aliases)


def _parameter(parameter: inspect.Parameter) -> Parameter:
    kind, info, *_ = get_args(parameter.annotation)
    if isinstance(info, ArgumentInfo):
        return Parameter((), parameter.name.upper(), "", info.help or "", None, is_argument=True)
    words = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    names = tuple(part for word in words for part in word.split("/")) or (f"--{parameter.name.replace('_', '-')}",)
    absent = any(parameter.default is value for value in (None, False, inspect.Parameter.empty))
    least = f">={info.min}" if info.min is not None else ""
    value = (info.metavar or _value(kind)) + least
    return Parameter(names, value, "" if absent else str(parameter.default), info.help or "", info.rich_help_panel)


def _value(kind: Any) -> str:
    """Return the type of an option's value as the page shows it; an empty text for a flag."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is Literal:
        return f"[{'|'.join(get_args(kind))}]"
    if get_origin(kind) is list:
        kind = get_args(kind)[0]
    return "" if kind is bool else TYPES[kind]


def page() -> str:
    """Return the page."""
    known = commands()
    used: dict[Parameter, list[str]] = {}
    for command in known:
        for parameter in command.parameters:
            used.setdefault(parameter, []).append(command.name)
    shared = {parameter: names for parameter, names in used.items() if len(names) > 1}
    table = "\n".join(["| command | what it does |", "|---|---|",
                       *(f"| [`{c.name}`](#serape-{c.name}) | {c.about[0]} |" for c in known)])  # fmt: skip
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    parts = [HEAD.format(commands=table, codes=codes), *(_section(command, shared) for command in known)]
    parts.append("## Options that commands share\n")
    for group, title in GROUPS.items():
        parts += [f"### {title}\n", *_lines(shared, group), ""]
    return "\n".join(parts).strip() + "\n"


def _section(command: Command, shared: dict[Parameter, list[str]]) -> str:
    """Return the section of a command."""
    own = [parameter for parameter in command.parameters if parameter not in shared]
    also = f" (also `serape {'`, `'.join(command.aliases)}`)" if command.aliases else ""
    parts = [f"## serape {command.name}", *(" ".join(text.split()) for text in command.about)]
    parts.append(f"Usage: `{command.usage}`{also}")
    if own:
        parts.append("\n".join(one.line for one in own))
    taken = [_taken(command, shared, group) for group in GROUPS]
    if any(taken):
        parts.append("Shared: " + "; ".join(filter(None, taken)) + ".")
    parts.append("```sh\n" + "\n".join(command.examples) + "\n```\n")
    return "\n\n".join(parts)


def _taken(command: Command, shared: Iterable[Parameter], group: str | None) -> str:
    """Return which of the shared options of a group a command takes."""
    of_group = [one for one in shared if one.group == group]
    names = list(dict.fromkeys(_name(one) for one in of_group))
    taken = [_name(one) for one in of_group if one in command.parameters]
    left = [name for name in names if name not in map(_name, command.parameters)]
    link = f"[{GROUPS[group].lower()}](#{GROUPS[group].lower().replace(' ', '-')})"
    if not taken:
        return ""
    if not left:
        return f"all {link}"
    if len(left) < len(taken) and len(taken) > 3:
        return f"all {link} but {', '.join(left)}"
    return f"{', '.join(taken)} ({link})"


def _name(parameter: Parameter) -> str:
    return f"`{parameter.value if parameter.is_argument else parameter.names[0]}`"


def _lines(shared: dict[Parameter, list[str]], group: str | None) -> list[str]:
    """Return the descriptions of the shared options of a group, one for each name; it has each meaning's commands."""
    by_name: dict[str, list[Parameter]] = {}
    for one in shared:
        if one.group == group:
            by_name.setdefault(_name(one), []).append(one)
    lines = []
    for first, *others in by_name.values():
        more = [f"For {_listed(shared[other])}: {other.meaning}" for other in others]
        lines.append(" ".join([first.line, *more]))
    return lines


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(f"`{word}`" for word in words[:-1]), f"`{words[-1]}`"]))


def outdated() -> bool:
    """Return whether the page differs from what the commands give."""
    return not PATH.exists() or PATH.read_text(encoding="utf-8") != page()


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit("docs/commands.md is out of date; run python tools/commands.py" if outdated() else 0)
    PATH.write_text(page(), encoding="utf-8")
