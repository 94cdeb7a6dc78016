"""`serape versions`: what a report of a problem should name."""

from __future__ import annotations

from serape.cli.base import command
from serape.cli.show import print_line
from serape.versions import versions as text


@command("versions", "serape versions")
def versions() -> None:
    """Print the versions of serape, Python, the system and all packages that serape uses."""
    print_line(text())
