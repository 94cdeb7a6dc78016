"""The treatment of missing values when a table is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns
from serape.data.reading.fields import holds_numbers
from serape.data.reading.header import with_first_line_note
from serape.errors import DataError, OptionError, abbreviate, first_few, row_text, suggestion
from serape.types import Missing, MissingRules
from serape.wording import OTHERS, setting


class Gaps(Mapping[str, NDArray[np.bool_]]):
    """By name, the masks of missing values; a mask is looked up when it is needed, as it may be in a file."""

    def __init__(
        self,
        masks: Mapping[int, NDArray[np.bool_]],
        positions: Mapping[str, int],
        origin: NDArray[np.intp] | None = None,
    ) -> None:
        self._masks, self._positions = masks, positions
        self.origin = origin
        """By row, its position in the data as given, if rows were left out."""

    def __getitem__(self, name: str) -> NDArray[np.bool_]:
        return self._masks[self._positions[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def only(self, names: Iterable[str]) -> Gaps:
        """Return the masks of some columns, in their order here."""
        kept = set(names)
        return Gaps(self._masks, {name: k for name, k in self._positions.items() if name in kept}, self.origin)


def treat_missing(columns: Columns, rules: MissingRules, notes: list[str], *, leave_out_empty: bool = False) -> Columns:
    """Return the columns with their missing values treated by rules; what was done is added to the notes.

    Columns without any value are refused, or left out on request, unless no other is there.
    """
    rule_of = rules_by_column(rules, columns.names)
    gaps = Gaps(columns.missing, {columns.names[k]: k for k in columns.missing}, columns.origin)
    if not gaps:
        return columns
    empty = [name for name, mask in gaps.items() if mask.all()]
    if empty and not (leave_out_empty and len(empty) < len(columns.names)):
        raise DataError(f"column {abbreviate(empty)} has no values at all; ignore it")
    if empty:
        notes.append(f"no values at all, so a search refuses the data unless you ignore {abbreviate(empty)}")
        columns, gaps = columns.without(empty), gaps.only(set(gaps).difference(empty))
    of_rule = {
        rule: gaps.only(name for name in gaps if rule_of[name] == rule)
        for rule in ("error", "level", "pairwise", "drop")
    }
    if of_rule["error"]:
        message = with_first_line_note(_refusal(columns, of_rule["error"]), notes)
        odd = [note for note in notes if any(note.startswith(holds_numbers(name)) for name in of_rule["error"])]
        raise DataError(f"{message}. Note that {odd[0]}" if odd else message)
    if of_rule["level"]:
        columns = _with_levels(columns, of_rule["level"], notes)
    if of_rule["pairwise"]:
        complete = int(_complete(of_rule["pairwise"]).sum())
        notes.append(
            f"values are missing in {describe_gaps(of_rule['pairwise'])}; every test uses the rows that are complete "
            f"for its variables ({complete:,} of {columns.rows:,} rows are complete for all)"
        )
        columns = columns.with_columns(c.with_nan() for c in columns.encoded)
    return _with_rows_dropped(columns, of_rule["drop"], notes) if of_rule["drop"] else columns


def rules_by_column(rules: MissingRules, names: list[str]) -> dict[str, Missing]:
    """Return the rule for the missing values of each column."""
    if not isinstance(rules, Mapping):
        return dict.fromkeys(names, rules)
    for name in rules:
        if name != OTHERS and name not in names:
            raise OptionError(
                f"{setting('missing')} names a column {name!r} that the data do not have.{suggestion(name, names)}"
            )
    return {name: rules.get(name, rules.get(OTHERS, "error")) for name in names}


def _complete(gaps: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return which rows have no missing value; one mask at a time is looked up."""
    masks = iter(gaps.values())
    complete: NDArray[np.bool_] = ~next(masks)
    for mask in masks:
        complete &= ~mask
    return complete


def _refusal(columns: Columns, gaps: Mapping[str, NDArray[np.bool_]]) -> str:
    """Return the error about missing values, with the rules that can be used."""
    complete = int(_complete(gaps).sum())
    drop = f"{setting('missing', 'drop')} to drop such rows ({columns.rows - complete:,} of {columns.rows:,})"
    pairwise = (
        f"{setting('missing', 'pairwise')} to keep them and let every test use the rows that are complete for its "
        f"variables"
    )
    level = f"{setting('missing', 'level')} to make 'missing' a level of its own"
    ways = [*([drop] if complete > 1 else []), pairwise, *([] if _continuous(columns, gaps) else [level])]
    listed = " or ".join(ways) if len(ways) < 3 else f"{', '.join(ways[:-1])}, or {ways[-1]}"
    return f"values are missing in {describe_gaps(gaps)}; pass {listed}"


def _continuous(columns: Columns, gaps: Mapping[str, NDArray[np.bool_]]) -> list[str]:
    """Return the continuous columns with missing values."""
    return [
        columns.names[k] for k in columns.missing if columns.names[k] in gaps and columns.encoded[k].values is not None
    ]


def _with_levels(columns: Columns, gaps: Mapping[str, NDArray[np.bool_]], notes: list[str]) -> Columns:
    continuous = _continuous(columns, gaps)
    if continuous:
        raise DataError(
            f"{setting('missing', 'level')} needs categorical columns, but values are missing in the continuous "
            f"{abbreviate(continuous)}; pass {setting('missing', 'pairwise')}, or give such a column a rule of its "
            f"own, as in {setting('missing', {OTHERS: 'level', continuous[0]: 'drop'})}"
        )
    notes.append(f"missing values are a level of their own in {describe_gaps(gaps)}")
    return columns.with_columns(
        c.missing_as_level() if name in gaps else c for name, c in zip(columns.names, columns.encoded, strict=True)
    )


def _with_rows_dropped(columns: Columns, gaps: Mapping[str, NDArray[np.bool_]], notes: list[str]) -> Columns:
    where = describe_gaps(gaps)
    complete = _complete(gaps)
    n_complete = int(complete.sum())
    if n_complete < 2:
        raise DataError(
            f"dropping rows with missing values leaves {n_complete} of {columns.rows:,}; values are missing in "
            f"{where}; pass {setting('missing', 'pairwise')} to keep them"
        )
    notes.append(
        f"{columns.rows - n_complete:,} of {columns.rows:,} rows dropped because values are missing in {where}"
    )
    return columns.kept(complete)


def describe_gaps(gaps: Mapping[str, NDArray[np.bool_]]) -> str:
    """Return in which columns values are missing, how many, and the first row of each."""

    def gap(name: str) -> str:
        first = int(np.argmax(gaps[name]))
        if isinstance(gaps, Gaps) and gaps.origin is not None:
            first = int(gaps.origin[first])
        return f"{name!r} ({int(gaps[name].sum()):,}, first in {row_text(first)})"

    return first_few(list(gaps), gap, what="columns")


def refusal_of_gaps(gaps: Mapping[str, NDArray[np.bool_]]) -> DataError:
    """Return the error about missing values where only complete columns can be used."""
    return DataError(
        f"values are missing in {describe_gaps(gaps)}; with {setting('missing', 'pairwise')} only tests can be done, "
        f"each on the rows that are complete for its variables; for anything else pass {setting('missing', 'drop')} or "
        f"{setting('missing', 'level')}"
    )
