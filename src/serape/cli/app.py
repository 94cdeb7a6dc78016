"""The `serape` command with all its subcommands.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 bad data, 2 bad use, 130
interrupted, 141 nobody reads the output any more.
"""

from serape.cli.base import MODULES, app, main

__all__ = ["MODULES", "app", "main"]

_COMMANDS = (
    ("describe", "describe"),
    ("local", "blanket", "neighbours", "neighbors"),
    ("questions", "causes", "all-blankets", "path", "stability", "contexts", "joint"),
    ("knockoffs", "knockoffs"),
    ("questions", "region", "skeleton", "network", "blankets", "all-pairs"),
    ("compare", "compare"),
    ("pack", "pack"),
    ("library", "algorithms", "sample", "study", "demo"),
    ("versions", "versions"),
)
"""The commands after their modules, aliases too; the help lists them in this order."""
MODULES.update({name: f"serape.cli.{module}" for module, *names in _COMMANDS for name in names})
