"""Causes and effects read from files that `Causes.save` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from serape.results.causes import FORMAT, MARKS, Causes
from serape.results.result import result_from_dict
from serape.results.saved import known, number, texts

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["FORMAT", "causes_from_dict"]


def causes_from_dict(content: Mapping[str, Any]) -> Causes:
    """Return the result that `Causes.to_dict` wrote."""
    import networkx as nx

    result = result_from_dict(content["blanket"])
    names = known(texts(content["nodes"]), result.trace.names)
    if result.target not in names:
        raise ValueError("the target is not among the nodes")
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    for edge in content["edges"]:
        a, b = known(texts([edge["from"], edge["to"]]), names)
        if a == b:
            raise ValueError(f"an edge joins {a!r} to itself")
        graph.add_edge(a, b)
        if edge["marks"] is not None:
            graph.edges[a, b]["marks"] = _mark(edge["marks"])
    marks = {name: _mark(mark) for name, mark in content["marks"].items()}
    return Causes(
        blanket_result=result,
        marks={name: marks[name] for name in known(list(marks), result.blanket)},
        reasons={str(name): str(reason) for name, reason in content["reasons"].items()},
        graph=graph,
        expanded=known(texts(content["expanded"]), names),
        algorithm=str(content["algorithm"]),
        learner=str(content["learner"]),
        tests=int(content["tests"]),
        tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
        skipped=int(content["skipped"]),
        seconds=number(content["seconds"]),
        notes=texts(content["notes"]),
        complete=bool(content["complete"]),
        hidden=bool(content["hidden"]),
        conflicts=texts(content["conflicts"]),
    )


def _mark(value: Any) -> str:
    if value not in MARKS:
        raise ValueError(f"{value!r} is no mark of an edge")
    return str(value)
