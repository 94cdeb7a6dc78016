"""Columns of numbers and categories as files that Python and R read, and as frames of pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBER, WHOLE = 0, -1
"""What stands in place of a number of levels for columns of real and of whole numbers."""


@dataclass(frozen=True)
class Frame:
    """Columns, their levels, and the indices of the targets, of which the first is asked about alone."""

    columns: list[NDArray[Any]]
    """Numbers, or codes from 0 of categories."""
    levels: list[int]
    targets: list[int]

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], target: str) -> Frame:
        """Take columns of numbers and of anything else, which is categories; four further targets are spread evenly.

        Constant columns are left out, as some tools refuse them.
        """
        columns = {name: values for name, values in columns.items() if (values != values[0]).any()}
        taken: list[NDArray[Any]] = []
        levels: list[int] = []
        for values in columns.values():
            number = values.dtype.kind in "iuf"
            distinct, codes = (None, values) if number else np.unique(values.astype(str), return_inverse=True)
            taken.append(codes)
            levels.append(len(distinct) if distinct is not None else NUMBER if values.dtype.kind == "f" else WHOLE)
        first, step = list(columns).index(target), max(1, len(columns) // 5)
        return cls(taken, levels, [(first + k * step) % len(columns) for k in range(min(5, len(columns)))])

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0])

    @property
    def kinds(self) -> str:
        """Whether there are numbers, categories, or both."""
        if all(count > 0 for count in self.levels):
            return "categories"
        return "mixed" if any(count > 0 for count in self.levels) else "numbers"

    def write(self, folder: Path) -> Path:
        """Write a folder: rows, targets and levels as a line of text each; numbers and codes, column after column."""
        folder.mkdir(exist_ok=True)
        lines = ([self.rows], self.targets, self.levels)
        (folder / "frame.txt").write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
        with (folder / "numbers.bin").open("wb") as numbers, (folder / "codes.bin").open("wb") as codes:
            for values, count in zip(self.columns, self.levels, strict=True):
                if count > 0:
                    values.astype("<i4").tofile(codes)
                else:
                    values.astype("<f8").tofile(numbers)
        return folder

    @classmethod
    def read(cls, path: str) -> Frame:
        """Read what `write` wrote."""
        folder = Path(path)
        (rows,), targets, levels = (
            [*map(int, line.split())] for line in (folder / "frame.txt").read_text().splitlines()
        )
        numbers = iter(np.fromfile(folder / "numbers.bin", "<f8").reshape(-1, rows))
        codes = iter(np.fromfile(folder / "codes.bin", "<i4").reshape(-1, rows))
        columns = [
            next(codes) if count > 0 else next(numbers) if count == NUMBER else next(numbers).astype(np.int64)
            for count in levels
        ]
        return cls(columns, levels, targets)

    @property
    def names(self) -> list[str]:
        """The names of the columns in `pandas`."""
        return [f"x{k}" for k in range(len(self.columns))]

    def pandas(self) -> Any:
        """Return a frame of pandas with numbers and categories."""
        pandas = import_module("pandas")
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(values, [f"l{level}" for level in range(count)])
                if count > 0
                else values
                for name, values, count in zip(self.names, self.columns, self.levels, strict=True)
            }
        )

    def asked(self, which: str) -> Sequence[str]:
        """Return the names of the targets: "one", "five" or "all"."""
        return self.names if which == "all" else [self.names[k] for k in self.targets[: 1 if which == "one" else 5]]
