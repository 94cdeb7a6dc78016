"""How a file is read, where the caller says so."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from serape.checks import is_one_of
from serape.data.columns import Store
from serape.errors import OptionError, is_integer, shown
from serape.settings import DataSettings
from serape.wording import setting

MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?"})
"""Fields that are missing values in any column of a text file."""
TEXT_OPTIONS = ("header", "na_values", "delimiter", "decimal", "encoding", "quote", "comment", "index")
"""The settings about text files."""
_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "whitespace": " ", "bar": "|"}


_BYTES = 24  # that a value takes while it is read, at most in the usual case


@dataclass(frozen=True, slots=True)
class Keeping:
    """How columns are kept while others are read."""

    store: Store = list
    max_bytes: int | None = None
    """Columns that take more than this are read in groups, one after the other."""

    def groups(self, names: Sequence[str], rows: int) -> list[Sequence[str]]:
        """Divide columns of so many rows into groups."""
        if self.max_bytes is None or len(set(names)) < len(names):
            return [names]
        step = max(1, self.max_bytes // (_BYTES * max(rows, 1)))
        return [names[k : k + step] for k in range(0, len(names), step)]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read; None is detected."""

    header: bool | tuple[str, ...] | None = None
    missing: frozenset[str] = MISSING
    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None
    quote: str | None = None
    """The quotation mark; an empty text if there is none."""
    comment: str | None = None
    """How a comment begins; an empty text if there are none."""
    index: bool | None = None
    """Whether the first column is an index and no variable."""
    table: str | int | None = None
    """The sheet of a workbook, the table of a database or the file in an archive, by name or position."""
    ignore: frozenset[str] = frozenset()
    given: tuple[str, ...] = ()
    """The names of the settings about text files that the caller gives."""
    keeping: Keeping = Keeping()

    @classmethod
    def of(cls, settings: DataSettings) -> ReadOptions:
        """Check the settings that a caller gives, and return them."""
        header, words = settings.header, settings.na_values
        if isinstance(words, str | bytes) or not isinstance(words, Collection):
            raise OptionError(f"na_values must be a list of words, not {shown(words)}")
        if header is not None and not isinstance(header, bool):
            if isinstance(header, str | bytes) or not isinstance(header, Sequence):
                raise OptionError(f"header must be True, False or a list of names, not {shown(header)}")
            header = tuple(str(name) for name in header)
        if not is_one_of(settings.decimal, (None, ".", ",")):
            raise OptionError(f"decimal must be '.' or ',', not {shown(settings.decimal)}")
        if settings.index is not None and not isinstance(settings.index, bool):
            raise OptionError(f"index must be True or False, not {shown(settings.index)}")
        table = settings.table
        if table is not None and not isinstance(table, str) and not is_integer(table):
            raise OptionError(f"table must be the name or position of a table, not {shown(table)}")
        of_rows = {name for name in (settings.sample_weight, settings.groups) if isinstance(name, str)}
        options = cls(
            header,
            MISSING | {str(word).strip() for word in words},
            _delimiter(settings.delimiter),
            settings.decimal,
            _encoding(settings.encoding),
            _mark("quote", settings.quote, 1),
            _mark("comment", settings.comment, 10),
            settings.index,
            table,
            frozenset(map(str, settings.ignore)) - of_rows,
            tuple(name for name in settings.given() if name in TEXT_OPTIONS),
        )
        if options.delimiter is not None and options.delimiter in (options.quote, options.decimal):
            raise OptionError(
                f"{setting('delimiter', options.delimiter)} is another mark as well; the marks must differ"
            )
        return options

    def refuse(self, what: str, *allowed: str) -> None:
        """Refuse settings about text files where data are something else, but for those allowed."""
        refused = [name for name in self.given if name not in allowed]
        if refused:
            are = "is" if len(refused) == 1 else "are"
            raise OptionError(
                f"{' and '.join(map(setting, refused))} {are} about files of delimited text; {what} not one"
            )

    def refuse_table(self, what: str) -> None:
        """Refuse the name of a table where there is only one."""
        if self.table is not None:
            raise OptionError(
                f"{setting('table', self.table)} names a sheet of a workbook, a table of a database or a file of an "
                f"archive; "
                f"{what} not one"
            )

    def without_table(self) -> ReadOptions:
        """Return the options once the table is chosen."""
        return replace(self, table=None)


def _delimiter(given: object) -> str | None:
    if given is None:
        return None
    mark = _WORDS.get(given.lower(), given) if isinstance(given, str) else given
    if not isinstance(mark, str) or len(mark) != 1 or mark in '"\r\n\0' or ord(mark) > 127:
        raise OptionError(
            f"{setting('delimiter')} must be one character such as ',', ';', '|', 'tab' or 'whitespace', not "
            f"{shown(given)}"
        )
    return mark


def _encoding(given: object) -> str | None:
    if given is None:
        return None
    try:
        if isinstance(given, str) and codecs.lookup(given)._is_text_encoding:
            return given
    except (LookupError, ValueError):
        pass
    raise OptionError(f"{setting('encoding', given)} is not known; use a name such as 'utf-8', 'cp1252' or 'utf-16'")


def _mark(name: str, given: object, longest: int) -> str | None:
    if given is not None and (
        not isinstance(given, str) or len(given) > longest or not given.isascii() or given != given.strip()
    ):
        what = "one character" if longest == 1 else "a mark"
        raise OptionError(f"{setting(name)} must be {what} or '', not {shown(given)}")
    return given
