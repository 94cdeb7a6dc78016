"""The command line, with the same names as in Python."""

from serape.cli.app import main

__all__ = ["main"]
