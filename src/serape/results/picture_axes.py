"""Axes of a picture. Imported only when something is drawn: it needs matplotlib."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class PictureAxes(Axes):
    """Axes alone in a figure of their own; a notebook shows them as the picture they hold."""

    def _repr_png_(self) -> bytes:
        from serape.results.pictures import figure_of

        content = io.BytesIO()
        figure_of(self).savefig(content, format="png")
        return content.getvalue()


def axes_of_size(width: float, height: float, margins: tuple[float, float, float, float] = (0, 0, 0, 0)) -> Axes:
    """Return axes in a figure so many inches wide and high, of which margins (left, bottom, right, top) are left free.

    The figure is nobody else's: pyplot does not know of it, so nothing piles up there.
    """
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    left, bottom, right, top = margins
    where = (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    return figure.add_axes(where, axes_class=PictureAxes)
