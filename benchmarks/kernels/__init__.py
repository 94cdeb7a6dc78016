"""Speed of the core, on one thread: counting, scores, searches, the start, beside NumPy where it can do the same."""

from benchmarks.common.command import Command, Part
from benchmarks.common.data import add_thrombin
from benchmarks.kernels import calls, counting, gram, searches, startup, strategies

COMMAND = Command(
    {
        "screens": Part(counting.screens, add_thrombin),
        "strategies": Part(strategies.strategies),
        "subsets": Part(counting.subsets),
        "scores": Part(counting.scores),
        "pairs": Part(counting.pairs, counting.pairs_options),
        "correlations": Part(searches.correlations, searches.correlations_options),
        "gram": Part(gram.run),
        "incremental": Part(searches.incremental, searches.incremental_options),
        "divide": Part(searches.divide, searches.divide_options),
        "calls": Part(calls.run, calls.options),
        "selector": Part(searches.selector, searches.selector_options),
        "startup": Part(startup.run, startup.options),
    }
)
