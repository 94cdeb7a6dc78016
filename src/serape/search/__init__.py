"""Search: significance, reliability, counting, separating sets, evidence, progress."""

from serape.search.once import once
from serape.search.progress import Progress
from serape.search.search import Members, Positions, Search

__all__ = ["Members", "Positions", "Progress", "Search", "once"]
