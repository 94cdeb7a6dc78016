"""Graphs, networks and knowledge to and from other packages: one module each.

Every module has `export_graph` and `import_graph` (a networkx graph that has an undirected edge in both directions),
`export_knowledge`, and `hand_over`, which gives the columns of a region and what is known about them to that package.
`serape.bridges.pgmpy` and `serape.bridges.pyagrum` also have `export_network` and `import_network`, with probabilities.
The packages are imported when a function needs them.
"""

from __future__ import annotations

from typing import Any

from serape.bridges.prescreen import prescreened

__all__ = ["as_networkx", "prescreened"]


def as_networkx(graph: Any) -> Any:
    """Return the networkx graph of an object of causal-learn, pgmpy or pyAgrum.

    Parameters
    ----------
    graph
        A graph of one of these packages, or any other object, which is returned unchanged.

    Returns
    -------
    networkx.DiGraph
        An undirected edge is present in both directions.

    Examples
    --------
    >>> graph = nx.DiGraph([("a", "b")])
    >>> serape.bridges.as_networkx(graph) is graph
    True
    """
    package = type(graph).__module__.partition(".")[0].lower()
    if package == "causallearn":
        from serape.bridges.causal_learn import import_graph
    elif package == "pgmpy":
        from serape.bridges.pgmpy import import_graph
    elif package == "pyagrum":
        from serape.bridges.pyagrum import import_graph
    else:
        return graph
    return import_graph(graph)
