"""Structures read from files that `Structure.save` wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import networkx as nx

from serape.data.provenance import Provenance
from serape.errors import DataError
from serape.files import as_path
from serape.results.call import Call
from serape.results.result import optional_number, read_saved
from serape.results.structure import FORMAT, Structure


def load_structure(path: str | os.PathLike[str]) -> Structure:
    """Read a structure written by `Structure.save`.

    Parameters
    ----------
    path
        The JSON file.

    Returns
    -------
    Structure
        The structure; it has no data, so it cannot be fitted.

    Raises
    ------
    DataError
        If the file is no such structure.

    Examples
    --------
    >>> found = serape.skeleton(patients, "hiton-pc", alpha=0.01)
    >>> found.save("found.json")
    >>> serape.load_structure("found.json").edges == found.edges
    True
    """
    content = read_saved(as_path(path), FORMAT, "structure")
    try:
        return _from_dict(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged: {type(error).__name__} {error}") from None


def _from_dict(content: Mapping[str, Any]) -> Structure:
    directed = content["finds"] == "network"
    data = content.get("data")  # files of older versions have none
    names = [str(name) for name in content["variables"]]
    graph: nx.Graph[str] = nx.DiGraph(directed=bool(content["directed"])) if directed else nx.Graph()
    graph.add_nodes_from(names)
    for edge in content["edges"]:
        a, b = str(edge["from"]), str(edge["to"])
        if a not in graph or b not in graph:
            raise ValueError(f"an edge joins {a!r} and {b!r}, which are not both variables")
        attributes: dict[str, Any] = {}
        if edge.get("given") is not None:
            numbers = ("statistic", "dof", "log_p")
            attributes = {name: float("nan" if edge[name] is None else edge[name]) for name in numbers}
            attributes |= {"reliable": bool(edge["reliable"]), "given": tuple(str(z) for z in edge["given"])}
            for name in ("effect", "effect_value"):  # files of older versions have none
                if edge.get(name) is not None:
                    attributes[name] = float(edge[name])
            if edge.get("effect_name") is not None:
                attributes["effect_name"] = str(edge["effect_name"])
        for name in ("adjusted_p", "gain"):
            if edge.get(name) is not None:
                attributes[name] = float(edge[name])
        graph.add_edge(a, b, **attributes)
        if directed and not edge["directed"]:
            graph.add_edge(b, a, **attributes)
    return Structure(
        finds="network" if directed else "skeleton",
        graph=graph,
        algorithm=str(content["algorithm"]),
        test=content["test"],
        alpha=content["alpha"],
        score=content["score"],
        total=content["total"],
        tests=int(content["tests"]),
        tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
        skipped=int(content["skipped"]),
        seconds=float(content["seconds"]),
        options=dict(content["options"]),
        notes=tuple(content["notes"]),
        complete=bool(content["complete"]),
        separating_sets={frozenset(e["pair"]): tuple(e["given"]) for e in content["separating_sets"]},
        conflicts=tuple(content["conflicts"]),
        fdr=optional_number(content, "fdr"),
        threshold=optional_number(content, "threshold"),
        data=None if data is None else Provenance.from_dict(data),
        call=Call.from_dict(content.get("call")),
    )
