"""The versions of everything that an answer, or an error, may depend on."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator

from serape import _core

_USED = ("dask", "pandas", "polars", "scipy")
"""Packages that serape works with if they are there, beside those that it requires."""


def show_versions() -> None:
    """Print the versions of serape, Python, the system, the compiler and all packages that serape uses.

    Paste what it prints into a report of a problem. `serape versions` prints the same.

    >>> serape.show_versions()  # doctest: +ELLIPSIS
    serape ...
    """
    sys.stdout.write(versions() + "\n")


def versions() -> str:
    """Return the text of `show_versions`."""
    from importlib.metadata import version

    lines = {"serape": version("serape")} | _of_the_system() | dict(_of_packages())
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}}  {text}" for name, text in lines.items())


def _of_the_system() -> dict[str, str]:
    lock = "on" if getattr(sys, "_is_gil_enabled", lambda: True)() else "off"
    available, used = _core.instruction_sets(), _core.instruction_set()
    return {
        "Python": f"{platform.python_version()} ({platform.python_implementation()}, GIL {lock})",
        "system": platform.platform(),
        "compiler": _core.compiler(),
        "instructions": f"{used} (of {', '.join(available)})",
    }


def _of_packages() -> Iterator[tuple[str, str]]:
    from importlib.metadata import PackageNotFoundError, requires, version

    required = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in requires("serape") or () if _is_for_users(line)]
    for name in sorted({*required, *_USED} - {"serape"}):
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed"


def _is_for_users(requirement: str) -> bool:
    """Whether a requirement is not one of serape's own tests, documentation or formatting alone."""
    extra = re.search(r"extra == ['\"](\w+)['\"]", requirement)
    return extra is None or extra[1] not in ("test", "docs", "lint")
