"""`pack` writes packed files, `verify_packed` reads all of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import IO, Any, Unpack

from serape._keywords import Keywords
from serape.data.columns import Columns
from serape.data.encoding import Codes, Encoded
from serape.data.kinds import Kinds
from serape.data.notes import column_notes
from serape.data.packed_files.layout import packed_path
from serape.data.packed_files.opened import PackedFile
from serape.data.packed_files.writing import Content, metadata_of, write_content
from serape.data.preparing import prepared
from serape.data.provenance import Provenance, fingerprint, how_made
from serape.data.reading import ReadOptions, read
from serape.data.reading.options import Keeping
from serape.data.reading.sources import are_paths, is_source
from serape.data.spool import Spool
from serape.data.table import Table
from serape.errors import OptionError
from serape.files import atomic_file
from serape.progress import ProgressCallback, Sayer, StatusLine, progress_callback
from serape.settings import FIELDS, DataSettings, Settings, check_options, question, refuse, refuse_encoding_again

ENDING = ".srp"
LARGE_FILE = 1 << 26
"""Files of more bytes are packed column by column; smaller ones are read as a whole."""
MEMORY = 1 << 30
"""About the bytes that columns take that are read together, where a file is packed column by column."""
_USED = {*(f.name for f in fields(DataSettings)), "progress"}


@question(without=dict.fromkeys((name for name in FIELDS if name not in _USED), "packing makes no search"))
def pack(data: Any, path: str | Path, **settings: Unpack[Keywords]) -> Path:
    """Write data as a packed file, which `Table` and every question open in milliseconds, whatever its size.

    Large files of delimited text, Parquet and Arrow are read in groups of columns, so that they may be larger than
    memory. The file is written completely or not at all.

    Parameters
    ----------
    data
        A Table, or anything that makes one: a frame, an array, a path, or a list of paths of files with the same
        columns, whose rows are put one below the other.
    path
        The file to write; its name ends in .srp.

    Returns
    -------
    Path
        The path of the file.

    Examples
    --------
    >>> packed = serape.pack(patients, "patients.srp")
    >>> serape.Table(packed).rows == len(patients["Age"])
    True
    """
    refuse(pack, settings)
    asked = Settings.of(**settings)
    check_options("pack", asked.options, ["data", "path"])
    target = Path(path)
    if target.suffix.lower() != ENDING:
        raise OptionError(f"{target.name!r} must end in {ENDING}, so that no other file is overwritten")
    callback = progress_callback(asked.run.progress, "Ctrl-C leaves no file")
    say = Sayer(callback, f"packing {target.name}")
    try:
        with atomic_file(target) as file:
            _write(file, data, target, asked.data, say)
    finally:
        if isinstance(callback, StatusLine):
            callback.close()
    return target


def verify_packed(path: str | Path, progress: bool | ProgressCallback | None = None) -> Provenance:
    """Read all of a packed file and compare it with its checksums; an error names the first column that is damaged.

    Parameters
    ----------
    path
        The packed file.
    progress
        Whether to show progress; by default on a terminal or in a notebook.

    Returns
    -------
    Provenance
        Rows, columns and fingerprint of the table, and how it was made when it was packed.

    Raises
    ------
    DataError
        If the file is damaged.

    Examples
    --------
    >>> packed = serape.pack(patients, "patients.srp")
    >>> serape.verify_packed(packed).rows == len(patients["Age"])
    True
    """
    file = PackedFile.open(Path(path))
    callback = progress_callback(progress, "Ctrl-C stops")
    say = Sayer(callback, f"verifying {Path(path).name}")
    try:
        file.verify(say.of(file.columns, "columns verified"))
    finally:
        if isinstance(callback, StatusLine):
            callback.close()
    return file.provenance


# --- internal --------------------------------------------------------------------------------------------------------


def _write(file: IO[bytes], data: Any, target: Path, settings: DataSettings, say: Sayer) -> None:
    if isinstance(data, Table):
        refuse_encoding_again(settings)
        _write_table(file, data, say)
    elif not _is_large(data):
        _write_table(file, Table.of(data, settings), say)
    else:
        with Spool(target.parent or Path()) as spool:
            options = replace(ReadOptions.of(settings), keeping=Keeping(_watched(spool, say), MEMORY))
            columns = read(data, Kinds(settings.kinds), options)
            _write_columns(file, columns, settings, how_made(data, settings), say)


def _is_large(data: Any) -> bool:
    """Return whether data are files that are packed column by column; a packed file is mapped in any case."""
    if packed_path(data) is not None:
        return False
    paths = data if are_paths(data) else [data] if is_source(data) else []
    try:
        return sum(Path(path).stat().st_size for path in paths) > LARGE_FILE
    except (OSError, TypeError):
        return False


def _watched(spool: Spool, say: Sayer) -> Callable[[Any], Any]:
    def store(encoded: Any) -> Any:
        def told() -> Any:
            for k, column in enumerate(encoded):
                say(f"{k + 1:,} columns read")
                yield column

        return spool.store(told())

    return store


def _write_table(file: IO[bytes], table: Table, say: Sayer) -> None:
    made = table._made if table._file is None else table._file.provenance.made
    metadata = metadata_of(table.notes, len(table._reading_notes), made, table.provenance.fingerprint, table.weights)
    write_content(file, Content.of_table(table), metadata, say.of(len(table.names), "columns written"))


class _Codes:
    """The codes of columns that are not packed."""

    def __init__(self, encoded: Sequence[Encoded]) -> None:
        self._encoded = encoded

    def codes(self, position: int) -> Codes | None:
        return self._encoded[position].codes


def _not_packed(columns: Columns) -> Table:
    """Return a table for notes and the fingerprint alone: its columns stay in the file."""
    table = object.__new__(Table)
    vars(table).update(
        names=tuple(columns.names), rows=columns.rows, weights=columns.weights, groups=columns.groups,
        missing=columns.missing, _values=columns.values, _packed=_Codes(columns.encoded), _constant={},
        _kinds=columns.kinds, _reasons=columns.reasons, _levels=[c.levels for c in columns.encoded],
        _declared={k for k, c in enumerate(columns.encoded) if c.declared},
    )  # fmt: skip
    return table


def _write_columns(file: IO[bytes], columns: Columns, settings: DataSettings, made: dict[str, Any], say: Sayer) -> None:
    """Write columns that are not in memory."""
    ready = prepared(columns, settings)
    columns = ready.columns
    say("making the fingerprint")
    table = _not_packed(columns)
    notes = [*ready.notes, *column_notes(table)]
    metadata = metadata_of(notes, len(ready.notes), made, fingerprint(table), columns.weights)
    write_content(file, Content.of_columns(columns), metadata, say.of(len(columns.names), "columns written"))
