"""Structures read from files that `Structure.save` wrote."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serape.data.provenance import Provenance
from serape.results.call import Call
from serape.results.saved import bits, known, load_saved, log_p, number, optional_number, texts
from serape.results.structure import FORMAT, Structure

if TYPE_CHECKING:
    import networkx as nx


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
    found: Structure = load_saved(path, {FORMAT: _from_dict}, "structure")
    return found


def _from_dict(content: Mapping[str, Any]) -> Structure:
    import networkx as nx

    directed = content["finds"] == "network"
    data = content.get("data")  # files of older versions have none
    names = texts(content["variables"])
    graph: nx.Graph[str] = nx.DiGraph(directed=bool(content["directed"])) if directed else nx.Graph()
    graph.add_nodes_from(names)
    for edge in content["edges"]:
        a, b = str(edge["from"]), str(edge["to"])
        if a not in graph or b not in graph:
            raise ValueError(f"an edge joins {a!r} and {b!r}, which are not both variables")
        attributes: dict[str, Any] = {}
        if edge.get("given") is not None:
            attributes |= {name: number(edge[name]) for name in ("statistic", "dof")}
            attributes |= {
                "log_p": log_p(edge["log_p"]),
                "reliable": bool(edge["reliable"]),
                "given": texts(edge["given"]),
            }
            for name, read in (("effect", bits), ("effect_value", number)):  # files of older versions have none
                if edge.get(name) is not None:
                    attributes[name] = read(edge[name])
            if edge.get("effect_name") is not None:
                attributes["effect_name"] = str(edge["effect_name"])
        if edge.get("adjusted_p") is not None:
            attributes["adjusted_p"] = number(edge["adjusted_p"], 0, 1)
        if edge.get("gain") is not None:
            attributes["gain"] = number(edge["gain"])
        graph.add_edge(a, b, **attributes)
        if directed and not edge["directed"]:
            graph.add_edge(b, a, **attributes)
    return Structure(
        finds="network" if directed else "skeleton",
        graph=graph,
        algorithm=str(content["algorithm"]),
        test=_optional_text(content["test"]),
        alpha=optional_number(content, "alpha"),
        score=_optional_text(content["score"]),
        total=optional_number(content, "total", -math.inf, math.inf),
        tests=int(content["tests"]),
        tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
        skipped=int(content["skipped"]),
        seconds=number(content["seconds"]),
        options=dict(content["options"]),
        notes=texts(content["notes"]),
        complete=bool(content["complete"]),
        separating_sets={_pair(e["pair"], names): known(texts(e["given"]), names) for e in content["separating_sets"]},
        conflicts=texts(content["conflicts"]),
        fdr=optional_number(content, "fdr"),
        threshold=optional_number(content, "threshold"),
        data=None if data is None else Provenance.from_dict(data),
        call=Call.from_dict(content.get("call")),
    )


def _optional_text(value: Any) -> str | None:
    return None if value is None else str(value)


def _pair(values: Any, names: Sequence[str]) -> frozenset[str]:
    pair = frozenset(known(texts(values), names))
    if len(pair) != 2:
        raise ValueError("a pair has two variables")
    return pair
