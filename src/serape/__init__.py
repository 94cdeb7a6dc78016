"""Find the Markov blanket of a variable: the smallest set of columns that tells all there is to know about it."""

from importlib.metadata import version

from serape.api import markov_blanket, parents_children
from serape.blankets import blankets
from serape.checking import Counterexample, check_algorithm
from serape.data import Table, Variable
from serape.data.degenerate import degenerate, determined_by
from serape.data.discretise import Discretised, discretise
from serape.errors import DataError, InputTypeError, Interrupted, OptionError, SerapeError
from serape.independence import DSeparation, FunctionTest, IndependenceTest, Outcome, ci_test
from serape.local.answer import Answer
from serape.networks import Network, load_network, read_bif, write_bif
from serape.paths import AlphaPath, alpha_path
from serape.results.comparison import Comparison, compare, kl_fitness
from serape.results.graph_comparison import GraphComparison, compare_graphs
from serape.results.result import Result, load_result
from serape.results.structure import Structure, load_structure
from serape.search import Progress, Search
from serape.stability import Stability, stability
from serape.structure.knowledge import Knowledge
from serape.structure.questions import network, region, skeleton
from serape.structure.registry import algorithms
from serape.structure.scores import Score
from serape.wrapper import wrapper

__version__ = version("serape")

__all__ = [
    "AlphaPath",
    "Answer",
    "Comparison",
    "Counterexample",
    "DSeparation",
    "DataError",
    "Discretised",
    "FunctionTest",
    "GraphComparison",
    "IndependenceTest",
    "InputTypeError",
    "Interrupted",
    "Knowledge",
    "Network",
    "OptionError",
    "Outcome",
    "Progress",
    "Result",
    "Score",
    "Search",
    "SerapeError",
    "Stability",
    "Structure",
    "Table",
    "Variable",
    "algorithms",
    "alpha_path",
    "blankets",
    "check_algorithm",
    "ci_test",
    "compare",
    "compare_graphs",
    "degenerate",
    "determined_by",
    "discretise",
    "kl_fitness",
    "load_network",
    "load_result",
    "load_structure",
    "markov_blanket",
    "network",
    "parents_children",
    "read_bif",
    "region",
    "skeleton",
    "stability",
    "wrapper",
    "write_bif",
]
