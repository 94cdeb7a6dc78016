"""The axes of a picture. This module needs matplotlib, so it is imported only for drawing."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class PictureFigure(Figure):
    """A figure that a notebook shows as a picture, also if pyplot is not in use."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


class PictureAxes(Axes):
    """The only axes of a figure; a notebook shows them as a picture."""

    def _repr_png_(self) -> bytes:
        assert isinstance(self.figure, PictureFigure)
        return self.figure._repr_png_()


def axes_of_size(width: float, height: float, margins: tuple[float, float, float, float] = (0, 0, 0, 0)) -> Axes:
    """Return axes in a figure of a width and height in inches, with free margins (left, bottom, right, top).

    The figure is not registered with pyplot, so that pyplot does not keep it alive.
    """
    figure = PictureFigure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    left, bottom, right, top = margins
    where = (left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height)
    return figure.add_axes(where, axes_class=PictureAxes)
