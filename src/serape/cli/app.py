"""The `serape` command with all its subcommands.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 bad data, 2 bad use, 3
ended by a limit, 130 interrupted, 141 nobody reads the output any more.
"""

from serape.cli.base import MODULES, SUMMARIES, app, main

__all__ = ["MODULES", "app", "main"]

_COMMANDS = (
    (
        "describe",
        "describe",
        "Describe a file: the kind of every column and why, what is odd, and what a search would choose.",
    ),
    ("local", "blanket", "Find the Markov blanket of a column."),
    ("local", "neighbours", "Find the parents and children of a column."),
    ("local", "neighbors", ""),
    (
        "questions",
        "causes",
        "Find which columns are causes of a column, which are its effects, and which the data cannot tell.",
    ),
    ("questions", "all-blankets", "Find every Markov blanket of a column that the data cannot tell apart."),
    ("questions", "path", "Find which columns enter the blanket of a column as alpha grows."),
    (
        "questions",
        "stability",
        "Find how often each column, or each edge, is in the answer when the search is repeated on drawn rows.",
    ),
    (
        "questions",
        "contexts",
        "Find the blanket of a column in several contexts: what is in all of them, and what differs.",
    ),
    (
        "questions",
        "joint",
        "Find the blanket of several columns together: the smallest set of others that tells all about them.",
    ),
    ("knockoffs", "knockoffs", "Select the columns that tell more about a column than their knockoffs do."),
    ("questions", "region", "Find the columns within a number of edges of a column, and the edges on the way."),
    ("questions", "skeleton", "Find which columns are adjacent, without the directions of the arcs."),
    (
        "questions",
        "network",
        "Find the network behind a table: which columns are adjacent, and the directions of the arcs.",
    ),
    ("questions", "blankets", "Find the Markov blankets of many targets."),
    ("questions", "all-pairs", "Test every pair of variables given nothing."),
    ("compare", "compare", "Compare a saved result with the truth: precision, recall, and what differs."),
    ("pack", "pack", "Write data as a packed file, which every command opens in milliseconds."),
    (
        "library",
        "algorithms",
        "List the algorithms: what each finds, and whether it is sound (right with perfect tests).",
    ),
    ("library", "sample", "Draw rows from a Bayesian network."),
    (
        "library",
        "study",
        "Repeat an experiment of a paper, or continue one that was stopped, and compare its numbers with ours.",
    ),
    (
        "library",
        "demo",
        "Draw data with a known answer, find it again, and leave the data, a picture and a report in a folder.",
    ),
    ("versions", "versions", "Print the versions of serape, Python, the system and all packages that serape uses."),
)
"""The module of each command, its name, and what the help says of it; "" if the help does not list it.

The help lists them in this order. What it says of a command is also the start of the command's own help: it stands here
so that the list can be printed without the modules.
"""
MODULES.update({name: f"serape.cli.{module}" for module, name, _ in _COMMANDS})
SUMMARIES.update({name: summary for _, name, summary in _COMMANDS})
