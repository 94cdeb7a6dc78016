"""The comparison of a blanket or neighbourhood with the true one."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from serape.data.table import Table
from serape.errors import InputTypeError, OptionError, shown, suggestion
from serape.independence import G2, IndependenceTest
from serape.independence.outcomes import as_positions
from serape.independence.registry import table_of
from serape.markup import plain
from serape.results.charts import draw_membership
from serape.results.compared import Compared
from serape.results.result import Result
from serape.results.saved import number, share, texts

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes


_BOTH, _ONE = "found and true", "only one of both"
_NONE = "No variables are named."


@dataclass(frozen=True)
class Comparison(Compared, file="serape-comparison-1"):
    """Precision, recall, and the Euclidean distance of the two from (1, 1).

    Precision is 1 if no variable is found; recall is 1 if the true set is empty. The mean over several targets names no
    variables.

    Examples
    --------
    >>> comparison = serape.compare(["Age", "ECG", "Ward", "Parking"], truth=["Age", "ECG"])
    >>> comparison.precision, comparison.recall, comparison.extra
    (0.5, 1.0, ('Parking', 'Ward'))
    """

    precision: float
    recall: float
    distance: float
    missed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    correct: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The variables that are found and true."""

    title = "Comparison with the truth"
    _newer = frozenset({"correct"})
    _readers: ClassVar = {
        **dict.fromkeys(("precision", "recall"), share),
        "distance": lambda value: number(value, 0),
        **dict.fromkeys(("missed", "extra", "correct"), texts),
    }

    def explain(self, variable: str) -> str:
        """Return whether a variable is found, and whether it is true."""
        found, true = variable in (*self.correct, *self.extra), variable in (*self.correct, *self.missed)
        if not (found or true):
            names = (*self.correct, *self.missed, *self.extra)
            raise OptionError(f"{variable!r} is neither found nor true.{suggestion(str(variable), names)}")
        return plain(f"{variable} is {'found' if found else 'not found'}, and {'true' if true else 'not true'}.")

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw which variables are found, and which are true: a row for each.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        sets = {"found": {*self.correct, *self.extra}, "true": {*self.correct, *self.missed}}
        status = dict.fromkeys(self.correct, _BOTH) | dict.fromkeys((*self.missed, *self.extra), _ONE)
        told = f"Precision {self.precision:.3g}, recall {self.recall:.3g}."
        return self._drawn(
            path,
            lambda: draw_membership(list(status), sets, status, (_BOTH, _ONE), self.title, told, "", ax, none=_NONE),
        )


def compare(found: Any, truth: Any) -> Comparison:
    """Compare a result with the truth.

    Parameters
    ----------
    found
        A result, a collection of names, or a dict of results by target, as `blankets` returns.
    truth
        A collection of names, another result, or the true graph; for a dict, a graph or a dict of collections by
        target.

    Returns
    -------
    Comparison
        Precision, recall and distance; for a dict, their means over the targets.

    Examples
    --------
    >>> found = serape.markov_blanket(patients, "HeartDisease", "hiton-mb", alpha=0.01)
    >>> serape.compare(found, clinic_graph())
    Comparison(precision=1.0, recall=1.0, distance=0.0, missed=(), extra=())
    """
    import networkx as nx

    if isinstance(found, Mapping):
        if not found:
            raise OptionError("there is nothing to compare: the dict has no targets")
        pairs = [compare(one, truth if isinstance(truth, nx.DiGraph) else truth[name]) for name, one in found.items()]
        precision, recall, distance = (
            math.fsum(getattr(c, measure) for c in pairs) / len(pairs)
            for measure in ("precision", "recall", "distance")
        )
        return Comparison(precision, recall, distance)
    members = set(found.members) if isinstance(found, Result) else _names(found)
    if isinstance(truth, nx.DiGraph):
        if not isinstance(found, Result):
            raise InputTypeError(
                "to compare names with a graph, the target must be known; pass a result, or names as the truth"
            )
        true = true_members(truth, found.target, found.finds)
    elif isinstance(truth, Result):
        if isinstance(found, Result) and found.target != truth.target:
            raise OptionError(
                f"one result is about {found.target!r}, the other about {truth.target!r}; compare results about one "
                f"target"
            )
        true = set(truth.members)
    else:
        true = _names(truth)
        if isinstance(found, Result) and found.target in true:
            raise OptionError(f"the true names include the target {found.target!r} itself; leave it out")
    correct = len(members & true)
    precision = correct / len(members) if members else 1.0
    recall = correct / len(true) if true else 1.0
    distance = math.hypot(1 - precision, 1 - recall)
    named = (tuple(sorted(one)) for one in (true - members, members - true, members & true))
    return Comparison(precision, recall, distance, *named)


def true_members(graph: nx.DiGraph[Any], target: str, finds: str = "blanket") -> set[str]:
    """Return the parents and children of a target in a graph, for a blanket also the children's other parents."""
    nodes = {str(node): node for node in graph}
    if target not in nodes:
        raise OptionError(f"the graph has no node {target!r}")
    children = set(graph.successors(nodes[target]))
    members = children | set(graph.predecessors(nodes[target]))
    if finds == "blanket":
        members |= {parent for child in children for parent in graph.predecessors(child)}
    return {str(node) for node in members} - {target}


def _names(names: Any) -> set[str]:
    if isinstance(names, str) or not isinstance(names, Collection):
        raise InputTypeError(f"a result, a graph or a collection of names is needed, not {shown(names)}")
    return {str(name) for name in names}


def kl_fitness(data: Any, target: str | int, blanket: Collection[str | int]) -> float:
    """Return how much the variables outside a blanket still inform about the target: less is better, 0 is perfect.

    The measure of Yaramakala and Margaritis (2005): the mean, over all X outside the blanket B, of the expected
    Kullback-Leibler divergence of P(T | B) from P(T | B, X), with frequencies as probabilities. For one X it is the
    conditional mutual information of X and T given B, which is G² / 2N (in nats).

    Parameters
    ----------
    data
        As for `markov_blanket`; all columns must be categorical.
    target
        The variable, by name or position.
    blanket
        Its blanket, by names or positions.

    Returns
    -------
    float
        The mean divergence, in nats.

    Examples
    --------
    >>> round(serape.kl_fitness(patients, "HeartDisease", ["Age", "Smoking", "ECG"]), 4)
    0.0114
    >>> round(serape.kl_fitness(patients, "HeartDisease", []), 4)
    0.0332
    """
    table = table_of(data) if isinstance(data, IndependenceTest) else Table(data)
    if table is None:
        raise InputTypeError("the fitness of a blanket needs data, not an oracle")
    test = G2(table, dof="full", reliability=None)
    at, given = table.position(target), sorted(table.position(v) for v in blanket)
    if at in given:
        raise OptionError(f"the target {table.names[at]!r} cannot be in its own blanket")
    test.check(range(len(table.names)))
    outside = [k for k in range(len(table.names)) if k != at and k not in given]
    if not outside:
        return 0.0
    statistic = test.screen(at, as_positions(outside), given).statistic
    return float(np.nansum(statistic)) / (2 * table.rows * len(outside))  # NaN is a constant X, which adds nothing
