"""The legend below a picture of a graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from serape.results.lettering import text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontProperties

_ROW = 0.21
_HANDLE = 0.66  # of an entry, beside its text
_BETWEEN = 0.2


class Legend:
    """Entries in as many columns as a picture is wide; all lengths are in inches."""

    def __init__(self, handles: Sequence[Any], font: FontProperties) -> None:
        self._handles, self._font = list(handles), font
        self._entries = [text_size(handle.get_label(), font)[0] + _HANDLE for handle in handles]
        self._columns = 1
        self.width = max(self._entries, default=0.0)
        """The width that it needs at least."""

    def fit(self, width: float) -> float:
        """Choose the number of columns for a width, and return the height."""
        count = len(self._entries)
        if not count:
            return 0.0
        self._columns = next((n for n in range(count, 1, -1) if self._table_width(n) <= width), 1)
        rows = math.ceil(count / self._columns)
        self._columns = math.ceil(count / rows)
        return 0.24 + _ROW * rows

    def _table_width(self, columns: int) -> float:
        """Return the width of a legend that is filled column by column."""
        rows = math.ceil(len(self._entries) / columns)
        widths = [max(self._entries[k : k + rows]) for k in range(0, len(self._entries), rows)]
        return sum(widths) + _BETWEEN * (len(widths) - 1)

    def draw(self, ax: Axes, scale: float) -> None:
        """Draw it at the bottom."""
        if not self._handles:
            return
        for handle in self._handles:
            handle.set_linewidth(handle.get_linewidth() * scale)
        font = self._font.copy()
        font.set_size(font.get_size_in_points() * scale)
        legend = ax.legend(
            handles=self._handles,
            loc="lower center",
            ncols=self._columns,
            prop=font,
            frameon=False,
            borderaxespad=0.3,
            borderpad=0,
            handlelength=2.4,
            handletextpad=0.6,
            columnspacing=1.4,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)


def line_entry(label: str, colour: Any, width: float, dashes: Any = "-", **options: Any) -> Any:
    """Return an entry for a line."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=width, linestyle=dashes, label=label, **options)
