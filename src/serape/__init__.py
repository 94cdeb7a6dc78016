"""Find the Markov blanket of a variable: the smallest set of columns that makes it independent of all others."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from serape import _core  # noqa: F401 - first, as it refuses interpreters that it cannot serve, before NumPy fails
from serape.data import Table, Variable
from serape.data.degenerate import degenerate, determined_by
from serape.data.discretise import Discretised, discretise
from serape.data.packing import pack, verify_packed
from serape.data.tables import join_tables
from serape.errors import (
    ClusterError,
    DataError,
    EmptyBlanketWarning,
    IncompleteSearchWarning,
    InputTypeError,
    Interrupted,
    MissingLibraryError,
    OptionError,
    SerapeError,
)
from serape.independence import GCM, PCM, DSeparation, Effect, FunctionTest, IndependenceTest, Outcome
from serape.knowledge import Knowledge
from serape.local.answer import Answer
from serape.networks import Network, load_network, read_bif, write_bif
from serape.progress import Progress
from serape.questions.all_blankets import all_blankets
from serape.questions.alpha_path import alpha_path
from serape.questions.blanket import markov_blanket, parents_children
from serape.questions.blankets import blankets
from serape.questions.causes import causes
from serape.questions.ci import ci_test
from serape.questions.context_blankets import context_blankets
from serape.questions.counterexamples import Counterexample, check_algorithm
from serape.questions.describe import describe
from serape.questions.joint_blanket import joint_blanket
from serape.questions.knockoffs import knockoff_filter, knockoffs
from serape.questions.network import network
from serape.questions.pairs import all_pairs
from serape.questions.region import region
from serape.questions.skeleton import skeleton
from serape.questions.stability import stability
from serape.questions.wrapper import wrapper
from serape.results.all_blankets import AllBlankets
from serape.results.alpha_path import AlphaPath
from serape.results.blankets import Blankets
from serape.results.causes import Causes
from serape.results.comparison import Comparison, compare, kl_fitness
from serape.results.context_blankets import ContextBlankets, Difference
from serape.results.description import Description
from serape.results.edge_stability import EdgeStability
from serape.results.false_selections import FalseSelections
from serape.results.graph_comparison import GraphComparison, compare_graphs
from serape.results.joint_blanket import JointBlanket
from serape.results.knockoffs import KnockoffSelection
from serape.results.loaded import load_result, load_structure
from serape.results.pairs import Pairs
from serape.results.result import Result
from serape.results.stability import Stability
from serape.results.structure import Structure
from serape.search import Search
from serape.structure.registry import algorithms
from serape.structure.scores import Score
from serape.versions import show_versions

if TYPE_CHECKING:
    from serape.results.region import Region
    from serape.sklearn import MarkovBlanketSelector

    __version__: str


__all__ = [
    "GCM",
    "PCM",
    "AllBlankets",
    "AlphaPath",
    "Answer",
    "Blankets",
    "Causes",
    "ClusterError",
    "Comparison",
    "ContextBlankets",
    "Counterexample",
    "DSeparation",
    "DataError",
    "Description",
    "Difference",
    "Discretised",
    "EdgeStability",
    "Effect",
    "EmptyBlanketWarning",
    "FalseSelections",
    "FunctionTest",
    "GraphComparison",
    "IncompleteSearchWarning",
    "IndependenceTest",
    "InputTypeError",
    "Interrupted",
    "JointBlanket",
    "KnockoffSelection",
    "Knowledge",
    "MissingLibraryError",
    "Network",
    "OptionError",
    "Outcome",
    "Pairs",
    "Progress",
    "Region",
    "Result",
    "Score",
    "Search",
    "SerapeError",
    "Stability",
    "Structure",
    "Table",
    "Variable",
    "algorithms",
    "all_blankets",
    "all_pairs",
    "alpha_path",
    "blankets",
    "causes",
    "check_algorithm",
    "ci_test",
    "compare",
    "compare_graphs",
    "context_blankets",
    "degenerate",
    "describe",
    "determined_by",
    "discretise",
    "join_tables",
    "joint_blanket",
    "kl_fitness",
    "knockoff_filter",
    "knockoffs",
    "load_network",
    "load_result",
    "load_structure",
    "markov_blanket",
    "network",
    "pack",
    "parents_children",
    "read_bif",
    "region",
    "show_versions",
    "skeleton",
    "stability",
    "verify_packed",
    "wrapper",
    "write_bif",
]

# The selector is imported on first use, and listed only where scikit-learn is installed.
if find_spec("sklearn") is not None:
    __all__ += ["MarkovBlanketSelector"]

if not TYPE_CHECKING:  # type checkers would accept any name otherwise

    def __getattr__(name):
        if name == "Region":  # a networkx graph, and networkx is imported on first use
            from serape.results.region import Region

            return Region
        if name == "MarkovBlanketSelector":
            from serape.sklearn import MarkovBlanketSelector

            return MarkovBlanketSelector
        if name == "__version__":
            from importlib.metadata import version

            return version("serape")
        raise AttributeError(f"module 'serape' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
