"""How a command is made of parts, each with options of its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Run = Callable[[argparse.Namespace], None]


def no_options(parser: argparse.ArgumentParser) -> None:
    """Add no options."""
    del parser


@dataclass(frozen=True)
class Part:
    """One measurement of a command, explained by the docstring of what runs it."""

    run: Run
    options: Callable[[argparse.ArgumentParser], None] = no_options
    quick: str = "small data, seconds"


@dataclass(frozen=True)
class Command:
    """A command: its parts, and the part that is run where none is named."""

    parts: Mapping[str, Part]
    default: str | None = None

    def parse(self, name: str, description: str | None, arguments: Sequence[str]) -> tuple[Run, argparse.Namespace]:
        """Return what is to be run and its options."""
        plain = argparse.RawDescriptionHelpFormatter
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks {name}", description=description, formatter_class=plain
        )
        subparsers = parser.add_subparsers(required=True, metavar="PART", help="with --help, its options")
        for part_name, part in self.parts.items():
            text = part.run.__doc__ or ""
            default = " (the default)" if part_name == self.default else ""
            one = subparsers.add_parser(
                part_name, help=text.splitlines()[0] + default, description=text, formatter_class=plain
            )
            one.set_defaults(run=part.run)
            one.add_argument("--quick", action="store_true", help=part.quick)
            part.options(one)
        first = arguments[0] if arguments else "-"
        if self.default is not None and first.startswith("-") and first not in ("-h", "--help"):
            arguments = [self.default, *arguments]
        options = parser.parse_args(arguments)
        run: Run = options.run
        del options.run
        return run, options
