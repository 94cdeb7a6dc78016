"""Names of algorithms and tests, matched without regard to case, `-` and `_`; positions of names of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from serape.errors import InputTypeError, shown, suggestion

ALIASES: Mapping[str, str] = {
    "chi2": "x2",
    "chisq": "x2",
    "chisquare": "x2",
    "pearsonx2": "x2",
    "gsq": "g2",
    "gsquare": "g2",
    "gtest": "g2",
    "zf": "fisher-z",
    "pearsonr": "partial-correlation",
    "parcorr": "partial-correlation",
    "cor": "partial-correlation",
    "bicg": "gaussian-bic",
    "sembic": "gaussian-bic",
    "ebic": "gaussian-ebic",
    "biccg": "cg-bic",
    "conditionalgaussianbic": "cg-bic",
    "neighbors": "neighbours",
    "pc": "pc-stable",
    "growshrink": "gs",
    "sihitonpc": "hiton-pc",
}
"""Names in other packages and papers, in plain letters."""

_IGNORED = str.maketrans("", "", "-_. ")


def plain(name: str) -> str:
    """Return a name in lower case without `-`, `_`, dots and spaces."""
    return name.lower().translate(_IGNORED)


def match(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that matches a name, or None."""
    if not isinstance(name, str):
        return None
    known = known if isinstance(known, Collection) else list(known)
    if name in known:
        return name
    wanted = plain(name)
    by_plain = {plain(entry): entry for entry in known}
    alias = ALIASES.get(wanted)
    return by_plain.get(wanted) or (alias if alias in known else None)


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with a suggestion and the known names."""
    if not isinstance(name, str):
        raise InputTypeError(f"{what} must be a name, not {shown(name)}")
    known = list(known)
    return f"{what} {name!r} is not known.{suggestion(name, known)} Use one of {', '.join(map(repr, known))}."


class NamePositions(Mapping[str, int]):
    """The positions of names. A few are looked for one by one, because an index of a million takes half a second."""

    _FEW = 20

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._known: dict[str, int] = {}
        self._searches = 0

    def __getitem__(self, name: str) -> int:
        if name in self._known or self._searches > self._FEW:
            return self._known[name]
        self._searches += 1
        if self._searches > self._FEW:
            self._known = {known: k for k, known in enumerate(self._names)}
            return self._known[name]
        try:
            return self._known.setdefault(name, self._names.index(name))
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
