"""Search: significance, reliability, counting, separating sets, evidence, progress.

Algorithms import all they need from here, and nothing from the rooms below.
"""

from serape.arrays import Positions
from serape.independence.outcomes import Outcome, as_positions
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.progress import Progress
from serape.search.budget import Budget, BudgetSpent
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.growing_pool import can_grow_pool, grow_pool, grow_pools
from serape.search.members import Members
from serape.search.min_association import MinAssociation
from serape.search.pools import Pools
from serape.search.search import Search
from serape.search.steps import EarlierSteps, Steps, memoised, preparable

__all__ = [
    "Budget",
    "BudgetSpent",
    "CandidateGroups",
    "EarlierSteps",
    "FalseDiscoveryRate",
    "Members",
    "MinAssociation",
    "Outcome",
    "Pools",
    "Positions",
    "Progress",
    "ScreenResult",
    "Search",
    "Steps",
    "as_positions",
    "can_grow_pool",
    "grow_pool",
    "grow_pools",
    "memoised",
    "preparable",
]
