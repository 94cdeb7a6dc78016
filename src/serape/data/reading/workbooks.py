"""Workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods), read by calamine."""

from __future__ import annotations

import io

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.reading.cells import as_field
from serape.data.reading.dialect import INDEX, layout_of_rows
from serape.data.reading.fields import FieldReader
from serape.data.reading.options import ReadOptions
from serape.data.reading.plain import encode_rows
from serape.data.reading.sources import Source, choose
from serape.data.reading.text import as_columns
from serape.errors import DataError, SerapeError, library_or, one_line


def read_workbook(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a sheet of a workbook: the only one that is not empty, or the one that the caller names."""
    options.refuse(f"{source.name} is", "header", "na_values", "index")
    calamine = library_or(
        "python_calamine", f"reading {source.name} needs python-calamine: pip install 'serape[excel]'"
    )
    try:
        with calamine.CalamineWorkbook.from_filelike(io.BytesIO(source.content)) as book:
            sheets = {name: book.get_sheet_by_name(name) for name in book.sheet_names}
            names = [name for name, sheet in sheets.items() if options.table is not None or sheet.height > 0]
            sheet = choose("sheet", names, source.name, options.table)
            rows = [[as_field(cell) for cell in row] for row in sheets[sheet].to_python(skip_empty_area=True)]
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, SerapeError):
            raise
        raise DataError(f"{source.name} cannot be read as a workbook: {one_line(error)}") from None
    rows = [row for row in rows if any(row)]
    if not rows:
        raise DataError(f"sheet {sheet!r} of {source.name} is empty; its first line must name the columns")
    layout = layout_of_rows(source.name, rows, options)
    reader = FieldReader(kinds, options)
    skip = options.ignore | {INDEX}
    encoded = encode_rows(rows[layout.first_line :], layout.names, reader, skip)
    return as_columns(layout.names, encoded, [*layout.notes, *reader.notes], layout.index)
