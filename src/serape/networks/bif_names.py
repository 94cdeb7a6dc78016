"""Names that every reader of BIF files accepts, and the comments that keep the original ones.

pyAgrum reads names of letters, digits and underscores, and levels that are such names or whole numbers; bnlearn reads
names of letters, digits and underscores; pgmpy drops what follows a space. Other names are replaced. A comment for each
has the original, and `read_bif` restores it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from serape.errors import DataError
from serape.networks.network import Network

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_KEYWORDS = frozenset({"default", "discrete", "network", "probability", "property", "table", "type", "variable"})
_COMMENT = re.compile(r'^// serape: (?:variable|level of (\w++)) (\S++) is (".*")$', re.MULTILINE)


@dataclass(frozen=True)
class BifNames:
    """The names and levels as they are written; those that are not mentioned are written as they are."""

    variables: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def comments(self) -> Iterator[str]:
        """Return a comment for every name that is written in another way."""
        for name, written in self.variables.items():
            yield f"// serape: variable {written} is {_quoted(name)}\n"
        for name, levels in self.levels.items():
            for level, written in levels.items():
                yield f"// serape: level of {self.variables.get(name, name)} {written} is {_quoted(level)}\n"

    def notes(self) -> list[str]:
        """Return a note if names are written in another way."""
        levels = sum(map(len, self.levels.values()))
        if not self.variables and not levels:
            return []
        parts = [
            f"{count:,} {what}" for count, what in ((len(self.variables), "variables"), (levels, "levels")) if count
        ]
        first = next(iter(self.variables.items()), None) or next(
            item for own in self.levels.values() for item in own.items()
        )
        return [
            f"names that other programs cannot read are written in another way ({' and '.join(parts)}, such as "
            f"{first[0]!r:.60} as {first[1]!r:.60}); comments in the file keep the original names, and serape restores "
            f"them"
        ]


def portable(network: Network) -> BifNames:
    """Return the names for a file that other programs can read."""
    levels = {
        name: _replaced(network.levels(name), lambda text: _readable(text) or _NUMBER.fullmatch(text) is not None)
        for name in network.variables
    }
    return BifNames(_replaced(network.variables, _readable), {name: own for name, own in levels.items() if own})


def _quoted(name: str) -> str:
    """Return a name in quotes, in ASCII; raise UnicodeEncodeError if it is no Unicode text."""
    name.encode()
    return json.dumps(name)


def _readable(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name.lower() not in _KEYWORDS


def _replaced(names: Collection[str], accepts: Callable[[str], bool]) -> dict[str, str]:
    """Return new names for those that are not accepted, different from all others."""
    taken = {name for name in names if accepts(name)}
    replaced: dict[str, str] = {}
    for name in names:
        if name in taken:
            continue
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", plain)
        base = plain if _readable(plain) else f"x{plain}"
        written, count = base, 1
        while written in taken:
            count += 1
            written = f"{base}_{count}"
        taken.add(written)
        replaced[name] = written
    return replaced


def restored(network: Network, text: str) -> Network:
    """Return the network of a file's text with the original names that its comments keep."""
    variables: dict[str, str] = {}
    levels: dict[str, dict[str, str]] = {}
    for found in _COMMENT.finditer(text):
        try:
            original = json.loads(found[3])
            original.encode()
        except (json.JSONDecodeError, UnicodeEncodeError):
            continue
        if found[1] is None:
            variables[found[2]] = original
        else:
            levels.setdefault(found[1], {})[found[2]] = original
    if not variables and not levels:
        return network

    def named(names: Iterable[str]) -> list[str]:
        return [variables.get(name, name) for name in names]

    new = dict(zip(network.variables, named(network.variables), strict=True))
    if len(set(new.values())) < len(new):
        raise DataError("two variables have the same original name in the comments; correct one")
    return Network(
        {new[name]: [levels.get(name, {}).get(v, v) for v in network.levels(name)] for name in network.variables},
        {new[name]: named(network.parents(name)) for name in network.variables},
        {new[name]: network.cpt(name) for name in network.variables},
    )
