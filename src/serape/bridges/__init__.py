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
    """Return the networkx graph of a causal-learn, pgmpy or pyAgrum object; anything else is returned unchanged.

    An undirected edge is present in both directions.
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
