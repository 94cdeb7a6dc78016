"""Search: significance, reliability, counting, separating sets, evidence, progress."""

from serape.progress import Progress
from serape.search.members import Members
from serape.search.memo import StepCache, memoised
from serape.search.search import Positions, Search

__all__ = ["Members", "StepCache", "Positions", "Progress", "Search", "memoised"]
