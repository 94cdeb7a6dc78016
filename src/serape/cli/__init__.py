"""The command line: the same names as in Python."""

from serape.cli.app import main

__all__ = ["main"]
