"""The axes of a picture. This module needs matplotlib, so it is imported only for drawing."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class PictureAxes(Axes):
    """The only axes of a figure; a notebook shows them as a picture."""

    def _repr_png_(self) -> bytes:
        from serape.results.pictures import figure_of

        content = io.BytesIO()
        figure_of(self).savefig(content, format="png")
        return content.getvalue()


def axes_of_size(width: float, height: float, margins: tuple[float, float, float, float] = (0, 0, 0, 0)) -> Axes:
    """Return axes in a figure of a width and height in inches, with free margins (left, bottom, right, top).

    The figure is not registered with pyplot, so that pyplot does not keep it alive.
    """
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    left, bottom, right, top = margins
    where = (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    return figure.add_axes(where, axes_class=PictureAxes)
