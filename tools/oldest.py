"""Writes `constraints/oldest.txt`: the oldest versions that pyproject.toml allows, for `make test-oldest`.

python tools/oldest.py
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PLACE = ROOT / "constraints" / "oldest.txt"
EXTRAS = ("arrow", "dask", "excel", "plots", "r", "sklearn", "test")
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\d.]+)")
_HEAD = """\
# The oldest versions that pyproject.toml allows. Written by tools/oldest.py; `make test-oldest` installs them.
"""


def oldest(project: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each requirement of the package and of its extras that has a least version."""
    requirements = set(project["dependencies"])
    for extra in EXTRAS:
        requirements.update(project["optional-dependencies"][extra])
    pins: dict[str, str] = {}
    for requirement in sorted(requirements):
        found = _REQUIREMENT.fullmatch(requirement)
        if found is not None:  # those with a marker are for other systems
            if pins.setdefault(found["name"], found["version"]) != found["version"]:
                raise SystemExit(f"pyproject.toml has two least versions of {found['name']}")
        elif ">=" in requirement and ";" not in requirement:
            raise SystemExit(f"{requirement!r} of pyproject.toml is not understood")
    yield from (f"{name}=={version}" for name, version in sorted(pins.items()))


def content() -> str:
    """Return what the file has to hold."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return _HEAD + "".join(f"{line}\n" for line in oldest(project))


if __name__ == "__main__":
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_text(content(), encoding="utf-8")
