"""Search: significance, reliability, counting, separating sets, evidence, progress."""

from serape.search.once import Memory, once
from serape.search.progress import Progress
from serape.search.search import Members, Positions, Search

__all__ = ["Members", "Memory", "Positions", "Progress", "Search", "once"]
