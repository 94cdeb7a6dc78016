"""The `serape` command with all its subcommands.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 bad data, 2 bad use, 130
interrupted, 141 nobody reads the output any more.
"""

from serape.cli.base import app, main

# The help lists the commands in the order of these imports.
# isort: off
from serape.cli import describe  # noqa: F401
from serape.cli import local  # noqa: F401
from serape.cli import causes  # noqa: F401
from serape.cli import repeated  # noqa: F401
from serape.cli import contexts  # noqa: F401
from serape.cli import knockoffs  # noqa: F401
from serape.cli import structure  # noqa: F401
from serape.cli import questions  # noqa: F401
from serape.cli import compare  # noqa: F401
from serape.cli import pack  # noqa: F401
from serape.cli import library  # noqa: F401
from serape.cli import versions  # noqa: F401
# isort: on

__all__ = ["app", "main"]
