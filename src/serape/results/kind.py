"""What every kind of result can do: it is saved and read again, compared, drawn, reported and shown.

A kind of result is one class, a dataclass. It declares the name of its files, its fields, which entries a file has and
how those of its own are read, a table (`records`, `_grid`), a picture (`plot`), sentences (`title`, `__str__`,
`explain`), and what its report has (`_kicker`, `_around`, `_grids` and `_calls`, or all of `_page`). All else is
written here once. Its question may stand in the same file; with `@question(command=(…))` it has a command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from serape.data.provenance import Provenance
from serape.errors import worded
from serape.files import atomic_write
from serape.results.call import Call
from serape.results.displayed import Displayed
from serape.results.saved import (
    counts,
    finds,
    finite,
    json_text,
    number,
    optional,
    plain_value,
    rate,
    said,
    texts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.records import Records
    from serape.results.report import Around, Grid, Page

RESULT_KINDS: dict[str, type[ResultKind]] = {}
"""The kinds of results, by the name of their files."""

Reader = Callable[[Any], Any]

READERS: Mapping[str, Reader] = {
    "target": str,
    "finds": finds,
    "algorithm": str,
    "test": str,
    "alpha": rate,
    "fdr": optional(rate),
    "threshold": optional(rate),
    "rows": int,
    "variables": int,
    "candidates": int,
    "draws": int,
    "tests": int,
    "tests_by_size": counts,
    "skipped": int,
    "searches": int,
    "random_state": int,
    "seconds": number,
    "complete": bool,
    "options": dict,
    "notes": texts,
    "conflicts": texts,
    "data": optional(Provenance.from_dict),
    "call": Call.from_dict,
}
"""How the entries of a file are read that mean the same in all kinds."""
NEWER = frozenset({"data", "call", "fdr", "threshold", "adjusted_p"})
"""Entries that files of older versions lack."""


class ResultKind(Displayed):
    """A kind of result."""

    format: ClassVar[str]
    """The name of its files."""
    _entries: ClassVar[tuple[str, ...]] = ()
    """The fields and properties that a file has, in order; all fields if none is named."""
    _readers: ClassVar[Mapping[str, Reader]] = {}
    """How the entries are read that only this kind has, or that mean something else in it."""
    _newer: ClassVar[frozenset[str]] = NEWER
    """The entries that files of older versions lack."""
    _unnamed: ClassVar[frozenset[str]] = frozenset()
    """The entries by which a file of an older version is known that does not name its kind."""

    def __init_subclass__(cls, file: str | None = None) -> None:
        super().__init_subclass__()
        if file is not None:
            if file in RESULT_KINDS:
                raise TypeError(f"{RESULT_KINDS[file].__name__} has files of the name {file!r} already")
            cls.format = file
            RESULT_KINDS[file] = cls

    def __post_init__(self) -> None:
        """Put the notes into the words of Python; they carry those of the command line."""
        if "notes" in vars(self):
            object.__setattr__(self, "notes", tuple(map(worded, self.notes)))

    def _reword(self, words: Callable[[str], str]) -> None:
        """Put the notes, and those of results in this one, into other words: whoever shows them chooses."""
        if "notes" in vars(self):
            object.__setattr__(self, "notes", tuple(map(words, self.notes)))
        for part in (*vars(self).values(), *(self.values() if isinstance(self, dict) else ())):
            for one in part.values() if type(part) is dict else (part,):
                if isinstance(one, ResultKind):
                    one._reword(words)

    # --- saving --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts, lists, text and numbers, fit for JSON: NaN is None, infinities are text."""
        return {"format": self.format, **{name: self._plain(name) for name in self._names()}}

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        known: Any = cls
        return cls._entries or tuple(one.name for one in fields(known))

    def _plain(self, name: str) -> Any:
        value = self._entry(name)
        return finite(dict(value)) if name == "options" else plain_value(value)  # objects of the caller stay

    def _entry(self, name: str) -> Any:
        """Return what stands in a file under a name."""
        return getattr(self, name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote; the fields in `made` are taken as they are."""
        readers, written = {**READERS, **cls._readers}, cls._names()
        known: Any = cls
        read = {
            one.name: readers[one.name](content[one.name])
            for one in fields(known)
            if one.name in written and one.name not in made and not (one.name in cls._newer and one.name not in content)
        }
        found: Self = known(**read, **made)
        return found

    def to_json(self) -> str:
        """Return the result as JSON."""
        return json_text(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON, which `serape.load_result` reads. If writing fails, an old file is unchanged."""
        atomic_write(Path(path), self.to_json())

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, ResultKind)
            and said(self.to_dict()) == said(other.to_dict())
        )

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    # --- pictures and pages --------------------------------------------------------------------------------------

    @staticmethod
    def _drawn(path: str | os.PathLike[str] | None, draw: Callable[[], Axes]) -> Axes:
        """Draw, and write the picture to a file if there is a path, whose ending is looked at before."""
        from serape.results.pictures import figure_of, picture_format, save_picture

        if path is not None:
            picture_format(Path(path))
        ax = draw()
        if path is not None:
            save_picture(figure_of(ax), Path(path))
        return ax

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report to an HTML file: the answer, its tables, the number of tests, and how to reproduce the result.

        The file is self-contained: any browser opens it from disk, without the internet. If there are very many
        variables, it has only those that matter most.
        """
        from serape.results.report import check_name, page_text

        check_name(Path(path))
        atomic_write(Path(path), page_text(self._page()))

    def _page(self) -> Page:
        """Return the content of the report: by default the answer, the table, and what stands around the target."""
        from serape.results.report import plain_page

        return plain_page(self, self._kicker, self._around())

    _kicker: ClassVar[str] = ""
    """The kind of result, in a few words."""

    def _around(self) -> Around | None:
        """Return what the report draws around the target, if there is one."""
        return None

    @property
    def _asked(self) -> Any:
        """The result that says how the search was asked for, where one of several in this one does."""
        return self

    def _grids(self) -> Sequence[Grid]:
        """Return the tables of the report besides that of the records."""
        return ()

    def _calls(self) -> dict[str, str]:
        """Return the calls that reproduce the result, by where they are made."""
        return {}

    # --- words ---------------------------------------------------------------------------------------------------

    @property
    def records(self) -> Records:
        """The evidence: a table for any dataframe library."""
        found: Records = self.evidence
        return found

    if TYPE_CHECKING:
        evidence: Any
        explain: Callable[..., Any]
        """Return a sentence about a variable, or a pair of variables."""
