"""How a search by score tells of its progress, and what it leaves on Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from serape.structure.graphs import PartlyDirected

ScoreCallback = Callable[[int, float], None]
"""Receives the number of arcs and the score, after every step."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C during a search by score. `graph` is the best one so far."""

    def __init__(self, graph: PartlyDirected) -> None:
        super().__init__()
        self.graph = graph


@contextmanager
def keeping(best: Callable[[], PartlyDirected]) -> Iterator[None]:
    """Search; on Ctrl-C, raise Stopped with the best graph so far, unless a search within has done so."""
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        raise Stopped(best()) from None
