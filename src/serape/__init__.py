"""Find the Markov blanket of a variable: the smallest set of columns that tells all there is to know about it."""

from importlib.metadata import version

from serape.api import markov_blanket
from serape.data import Table, Variable
from serape.errors import DataError, InputTypeError, Interrupted, OptionError, SerapeError
from serape.independence import DSeparation, IndependenceTest, Outcome, ci_test
from serape.local.registry import algorithms
from serape.results.result import Result, load_result
from serape.search import Progress, Search

__version__ = version("serape")

__all__ = [
    "DSeparation",
    "DataError",
    "IndependenceTest",
    "InputTypeError",
    "Interrupted",
    "OptionError",
    "Outcome",
    "Progress",
    "Result",
    "Search",
    "SerapeError",
    "Table",
    "Variable",
    "algorithms",
    "ci_test",
    "load_result",
    "markov_blanket",
]
