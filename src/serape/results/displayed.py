"""How results show themselves: one line as `repr`, a small page in a notebook."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from serape import markup
from serape.errors import n_shown
from serape.independence.effects import Effect
from serape.independence.outcomes import p_text, p_value_text
from serape.results.effects import edge_effect
from serape.search.budget import STOPPED

if TYPE_CHECKING:
    from serape.results.result import Result

EVIDENCE = ("statistic", "dof", "p", "effect", "given")
"""The heads of the columns about a deciding test."""
_ADJUSTED = EVIDENCE.index("p") + 1
"""The place of the adjusted p among them, where there is one."""


class Displayed:
    """A result with a title, notes, a text in several lines, and a table of its parts."""

    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """The result, in a few words."""
        raise NotImplementedError

    def _heading(self) -> str:
        return self.title

    def _brief(self) -> str:
        """Return what `repr` says."""
        return self._heading()

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        """Return the heads of the table, its first rows as text, and the number of all rows."""
        raise NotImplementedError

    _most_rows: ClassVar[int] = 100
    """The largest number of rows of the table that a command prints."""
    _nothing: ClassVar[str] = ""
    """What it prints in place of a table without rows."""

    def _others(self, shown: int, total: int) -> str:
        """Return what a command says of the rows that it does not print."""
        return f"and {total - shown:,} more {self._grid(0)[0][0]}s"

    def _below(self) -> Sequence[str]:
        """Return what a command prints below the table: the text, without the title and what the table says."""
        return [line.strip() for line in self._lines_below()]

    def _how(self) -> Sequence[str]:
        """Return how the result was found: the lines of its text without the title and the notes."""
        return [line.strip() for line in self._lines_below() if not line.startswith("  note: ")]

    def _lines_below(self) -> Sequence[str]:
        """Return the lines of the text below the title and what is unfinished."""
        return str(self).splitlines()[2 if self._unfinished() else 1 :]

    def _unfinished(self) -> str:
        """Return that the search is not complete, and why: what a reader must know first. "" if it is complete."""
        if getattr(self, "complete", True):
            return ""
        return f"not complete: {next(filter(_tells_the_limit, self.notes), 'this is the result so far')}"

    def _other_notes(self) -> Sequence[str]:
        """Return the notes without the one that says first why the search is not complete."""
        unfinished = self._unfinished()
        return [note for note in self.notes if not (unfinished and unfinished.endswith(note))]

    def _whole_text(self, lines: Sequence[str], also: Sequence[str] = ()) -> str:
        """Return lines as one text, with what is unfinished after the first, then what else there is and the notes."""
        first = [f"  {unfinished}"] if (unfinished := self._unfinished()) else []
        notes = [f"  note: {note}" for note in self._other_notes()]
        return markup.plain("\n".join([*lines[:1], *first, *lines[1:], *also, *notes]))

    def __repr__(self) -> str:
        unfinished = " (not complete)" if self._unfinished() else ""
        return f"<{type(self).__name__}: {markup.shown(self._brief(), 300)}{unfinished}>"

    def _repr_html_(self) -> str:
        columns, rows, total = self._grid(markup.MAX_ROWS + 1)
        grid = markup.table(columns, rows[: n_shown(total, markup.MAX_ROWS)], total) if total else ""
        return markup.page(self._heading(), grid, first=self._unfinished(), how=self._how(), notes=self._other_notes())


def _tells_the_limit(note: str) -> bool:
    """Return whether a note says which limit ended a search."""
    return note.startswith(STOPPED)


# --- evidence as text ------------------------------------------------------------------------------------------------


def variables_text(count: int) -> str:
    """Return a number of variables in words."""
    return f"{count:,} variable{'' if count == 1 else 's'}" if count else "no variables"


def rate_text(fdr: float | None, threshold: float | None = None) -> str:
    """Return a false discovery rate and the p-value that it came to, to be told after alpha."""
    return "" if fdr is None else f", false discovery rate {rate_value(fdr, threshold)}"


def rate_value(fdr: float, threshold: float | None) -> str:
    """Return a false discovery rate and the p-value that it came to."""
    return f"{fdr:g}" if threshold is None else f"{fdr:g} (p up to {p_value_text(threshold)})"


def evidence_table(found: Result, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the deciding tests of variables, and adjusted p where there is a rate: the heads and the rows."""
    heads, rows = list(EVIDENCE), []
    for name in names:
        why = found.explain(name)
        rows.append(_cells(why.statistic, why.dof, why.log_p, why.effect, why.given))
    if found.adjusted_p:
        heads.insert(_ADJUSTED, "adjusted p")
        for name, row in zip(names, rows, strict=True):
            row.insert(_ADJUSTED, p_value_text(found.adjusted_p.get(name, math.nan)))
    return heads, rows


def edge_table(edges: Sequence[tuple[str, str, str, Mapping[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """Return edges, each with its arrow and its evidence, as a table: the heads and the rows."""
    tested = any("log_p" in evidence for *_, evidence in edges)
    scored = any("gain" in evidence for *_, evidence in edges)
    adjusted = tested and any(evidence.get("adjusted_p") is not None for *_, evidence in edges)
    heads = list(EVIDENCE) if tested else []
    if adjusted:
        heads.insert(_ADJUSTED, "adjusted p")
    rows = []
    for a, arrow, b, evidence in edges:
        row = [a, arrow, b]
        if scored:
            row.append(f"{evidence.get('gain', math.nan):.2f}")
        if tested:
            statistic, dof, log_p = (evidence.get(name, math.nan) for name in ("statistic", "dof", "log_p"))
            cells = _cells(statistic, dof, log_p, edge_effect(evidence), evidence.get("given"))
            if adjusted:
                p = evidence.get("adjusted_p")
                cells.insert(_ADJUSTED, p_value_text(math.nan if p is None else p))
            row += cells
        rows.append(row)
    return ["from", "", "to", *["gain"] * scored, *heads], rows


def _cells(statistic: float, dof: float, log_p: float, effect: Effect | None, given: Sequence[str] | None) -> list[str]:
    size = "–" if effect is None else str(effect)
    conditioning = "not tested" if given is None else ", ".join(given) or "none"
    return [f"{statistic:z.5g}", f"{dof:g}", p_text(log_p), size, conditioning]
