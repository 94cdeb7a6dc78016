"""Packed files that are read rather than mapped, because settings are given or several are read as one."""

from __future__ import annotations

from pathlib import Path

from serape.data.columns import Columns
from serape.data.encoding import Encoded, as_codes
from serape.data.kinds import Kinds
from serape.data.packed_files.opened import PackedFile
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source
from serape.errors import OptionError


def read_packed(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read the columns of a packed file as they were before packing."""
    options.refuse(f"{source.name} is")
    options.refuse_table(f"{source.name} is")
    if kinds:
        raise OptionError(f"{source.name} is packed, so its columns have their kinds; pass kinds to serape.pack")
    file = PackedFile(source.content, Path(source.name))
    if file.weights is not None or file.groups is not None:
        raise OptionError(
            f"{source.name} was packed with the weights or groups of its rows, so it can only be used as it is; pass "
            f"other settings to serape.pack"
        )
    encoded = [_encoded(file, k) for k in range(file.columns)]
    return Columns(list(file.names), file.rows, encoded, notes=file.reading_notes)


def _encoded(file: PackedFile, k: int) -> Encoded:
    about, missing = file.about[k], file.missing.get(k)
    if k in file.numbers:
        return Encoded(about.kind, about.reason, about.levels, None, file.numbers[k], missing)
    codes = as_codes(file.packed.codes(k), len(about.levels))
    return Encoded(about.kind, about.reason, about.levels, codes, missing=missing, declared=about.declared)
