"""Find the Markov blanket of a variable: the smallest set of columns that tells all there is to know about it."""

from importlib.metadata import version

from serape.api import markov_blanket, parents_children
from serape.blankets import blankets
from serape.checking import Counterexample, check_algorithm
from serape.data import Table, Variable
from serape.errors import DataError, InputTypeError, Interrupted, OptionError, SerapeError
from serape.independence import DSeparation, IndependenceTest, Outcome, ci_test
from serape.local.answer import Answer
from serape.local.registry import algorithms
from serape.networks import Network, load_network, read_bif, write_bif
from serape.results.comparison import Comparison, compare, kl_fitness
from serape.results.result import Result, load_result
from serape.search import Progress, Search
from serape.wrapper import wrapper

__version__ = version("serape")

__all__ = [
    "Answer",
    "Comparison",
    "Counterexample",
    "DSeparation",
    "DataError",
    "IndependenceTest",
    "InputTypeError",
    "Interrupted",
    "Network",
    "OptionError",
    "Outcome",
    "Progress",
    "Result",
    "Search",
    "SerapeError",
    "Table",
    "Variable",
    "algorithms",
    "blankets",
    "check_algorithm",
    "ci_test",
    "compare",
    "kl_fitness",
    "load_network",
    "load_result",
    "markov_blanket",
    "parents_children",
    "read_bif",
    "wrapper",
    "write_bif",
]
