"""bnlearn's model string, for its function `model2network`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serape.errors import DataError, shown

if TYPE_CHECKING:
    import networkx as nx


def bnlearn_text(dag: nx.DiGraph[str]) -> str:
    """Return a DAG as bnlearn's model string, such as `[A][B|A][C|A:B]`."""
    import networkx as nx

    for name in dag:
        if found := [sign for sign in "[]|:" if sign in name]:
            raise DataError(f"{shown(name)} has {found[0]!r}, which has a meaning in bnlearn's model string; rename it")
    parts = []
    for name in nx.lexicographical_topological_sort(dag, key=list(dag).index):
        parents = ":".join(x for x in dag if dag.has_edge(x, name))
        parts.append(f"[{name}|{parents}]" if parents else f"[{name}]")
    return "".join(parts) + "\n"
