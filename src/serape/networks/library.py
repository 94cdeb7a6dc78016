"""The networks that come with the package."""

from __future__ import annotations

import json
import lzma
from importlib.resources import files
from typing import Any

import numpy as np

from serape.errors import OptionError, either, shown, suggestion
from serape.networks.network import Network
from serape.records import Records

FORMAT = "serape-network-1"
_FOLDER = files("serape.networks") / "bundled"


def bundled_networks() -> Records:
    """Return the networks that come with the package: name, nodes, arcs, parameters."""
    index = _index()
    columns = {"name": list(index)}
    return Records(columns | {what: [one[what] for one in index.values()] for what in ("nodes", "arcs", "parameters")})


def load_network(name: str) -> Network:
    """Return a network that comes with the package.

    Parameters
    ----------
    name
        "alarm", "asia", …: `serape sample --list` and `serape.networks.bundled_networks()` list them.

    Returns
    -------
    Network
        The network, with its probabilities.

    Raises
    ------
    OptionError
        If no network of this name comes with the package.

    Examples
    --------
    >>> alarm = serape.load_network("alarm")
    >>> alarm.nodes, alarm.arcs, alarm.markov_blanket("HISTORY")
    (37, 46, ('LVFAILURE',))
    """
    index = _index()
    key = name.lower() if isinstance(name, str) else ""
    if key not in index:
        raise OptionError(
            f"no network {shown(name)} comes with serape.{suggestion(key, index)} There are {', '.join(index)}; "
            f"{either('for a file use serape.read_bif', 'the name of a file ends in .bif or .bif.gz')}."
        )
    return unpack(lzma.decompress((_FOLDER / f"{key}.json.xz").read_bytes()))


def _index() -> dict[str, dict[str, int]]:
    index: dict[str, dict[str, int]] = json.loads((_FOLDER / "index.json").read_text(encoding="utf-8"))
    return index


def pack(network: Network) -> bytes:
    """Return a network as JSON: names, levels, parents by position, probabilities row by row."""
    index = {name: k for k, name in enumerate(network.variables)}
    content: dict[str, Any] = {
        "format": FORMAT,
        "levels": {name: network.levels(name) for name in network.variables},
        "parents": [[index[parent] for parent in network.parents(name)] for name in network.variables],
        "cpts": [network.cpt(name).ravel().tolist() for name in network.variables],
    }
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def unpack(content: bytes) -> Network:
    """Return the network that `pack` wrote."""
    found = json.loads(content)
    levels: dict[str, list[str]] = found["levels"]
    names = list(levels)
    return Network(
        levels,
        {name: [names[k] for k in parents] for name, parents in zip(names, found["parents"], strict=True)},
        {name: np.reshape(cpt, (-1, len(levels[name]))) for name, cpt in zip(names, found["cpts"], strict=True)},
    )
