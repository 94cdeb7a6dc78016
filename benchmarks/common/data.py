"""The data that several benchmarks measure on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.common.internals import Finds, pack_blocks

SEED = 1
Codes = NDArray[np.int64]

# --- networks ---------------------------------------------------------------------------------------------------------


def true_answers(network: serape.Network, finds: Finds = "blanket") -> dict[str, tuple[str, ...]]:
    """Return the true blanket, or parents and children, of every variable of a network."""
    ask = network.markov_blanket if finds == "blanket" else network.parents_children
    return {name: tuple(ask(name)) for name in network.variables}


def tiled_to(name: str, size: int) -> serape.Network:
    """Return a bundled network, tiled to about so many variables."""
    network = serape.load_network(name)
    copies = round(size / len(network.graph))
    return network.tile(copies, seed=1) if copies > 1 else network


def codes_of(table: serape.Table) -> list[NDArray[Any]]:
    """Return the codes of every column of a table."""
    return [table.packed.codes(k) for k in range(len(table.names))]


def observed(columns: Iterable[NDArray[Any]]) -> NDArray[np.uint8]:
    """Number the levels of every column that occur from 0, so that every package sees the same levels."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in columns], axis=1).astype(np.uint8)


def random_network(
    random: np.random.Generator, nodes: int, levels: tuple[int, ...]
) -> tuple[nx.DiGraph[str], dict[str, int]]:
    """Draw a DAG in which a node has 0 to 3 parents among the ten before it, and numbers of levels."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    names = [f"v{k}" for k in range(nodes)]
    graph.add_nodes_from(names)
    for k, name in enumerate(names):
        earlier = names[max(0, k - 10) : k]
        count = min(len(earlier), int(random.integers(4))) if earlier else 0
        for parent in random.choice(earlier, count, replace=False) if earlier else ():
            graph.add_edge(str(parent), name)
    return graph, {name: int(random.choice(levels)) for name in names}


def sample_network(
    random: np.random.Generator, graph: nx.DiGraph[str], levels: dict[str, int], rows: int
) -> dict[str, Codes]:
    """Sample a network whose conditional distributions are Dirichlet draws."""
    columns: dict[str, Codes] = {}
    for name in nx.topological_sort(graph):
        stratum = np.zeros(rows, np.int64)
        strata = 1
        for parent in graph.predecessors(name):
            stratum = stratum * levels[parent] + columns[parent]
            strata *= levels[parent]
        table = random.dirichlet(np.full(levels[name], 0.7), strata).cumsum(axis=1)
        columns[name] = (random.random(rows)[:, None] > table[stratum]).sum(axis=1).clip(max=levels[name] - 1)
    return columns


def gaussian_network(
    random: np.random.Generator, rows: int, variables: int
) -> tuple[NDArray[np.float64], set[frozenset[int]]]:
    """Draw rows of a linear-Gaussian network with two arcs a variable, in shuffled order, and its edges."""
    order = random.permutation(variables)
    data = random.standard_normal((rows, variables))
    edges = set()
    for k in range(1, variables):
        for parent in random.choice(k, min(k, int(random.integers(1, 4))), replace=False):
            weight = random.uniform(0.3, 0.9) * random.choice([-1, 1])
            data[:, order[k]] += weight * data[:, order[parent]]
            edges.add(frozenset((int(order[k]), int(order[parent]))))
        data[:, order[k]] /= data[:, order[k]].std()
    return data, edges


FORMS = ("linear", "monotone", "curved")
"""How numbers depend on each other in `numbers_on_graph`."""


def random_graph(random: np.random.Generator, variables: int, degree: float) -> nx.DiGraph[int]:
    """Draw a directed acyclic graph in which a variable has so many neighbours on average."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(variables))
    while graph.number_of_edges() < variables * degree / 2:
        a, b = sorted(random.choice(variables, 2, replace=False).tolist())
        graph.add_edge(a, b)
    return graph


def numbers_on_graph(graph: nx.DiGraph[int], rows: int, form: str, random: np.random.Generator) -> NDArray[np.float64]:
    """Draw numbers whose relations have a form; columns are scaled, and those of nodes 0, 1, 2 …"""
    data = np.zeros((rows, len(graph)))
    for node in nx.topological_sort(graph):
        data[:, node] = random.normal(size=rows)
        for parent in sorted(graph.predecessors(node)):
            x = data[:, parent]
            if form == "curved":
                x = (np.tanh(2 * x), x * x - 1, x)[int(random.integers(3))] * 1.5
            data[:, node] += random.uniform(0.3, 1.0) * random.choice([-1, 1]) * x
        data[:, node] /= data[:, node].std()
    if form == "monotone":
        for k in range(data.shape[1]):
            x = data[:, k]
            data[:, k] = (np.exp(x), x**3, np.sign(x) * np.sqrt(np.abs(x)), x)[int(random.integers(4))]
    return data


KINDS = ("numbers", "categories", "mixed")
"""What columns are in `drawn_columns`."""


def drawn_columns(kinds: str, rows: int, columns: int, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Draw columns that depend on up to three earlier ones each: normal and skewed numbers, four levels and two.

    Levels are text. "numbers" and "categories" are columns of these alone, "mixed" all in turns.
    """
    random = np.random.default_rng(seed)
    offset, period = {"numbers": (0, 2), "categories": (2, 2), "mixed": (0, 4)}[kinds]
    made: list[NDArray[np.float64]] = []
    for k in range(columns):
        latent = np.zeros(rows)
        if k:
            for j in random.choice(k, min(k, int(random.integers(0, 4))), replace=False):
                latent += random.normal(0.8, 0.2) * (made[j] - made[j].mean()) / (made[j].std() + 1e-9)
        latent += random.normal(size=rows)
        form = offset + k % period
        if form == 0:
            made.append(latent)
        elif form == 1:
            made.append(np.exp(0.5 * latent))
        else:
            made.append(np.digitize(latent, [-1, 0, 1] if form == 2 else [0]).astype(float))
    return {
        f"x{k}": values if offset + k % period < 2 else values.astype(int).astype(str) for k, values in enumerate(made)
    }


# --- large tables with a known graph ----------------------------------------------------------------------------------

Large = tuple[serape.Table, "nx.DiGraph[str]"]


def wide() -> Large:
    """Make 2,000 binary variables with one to three parents each, 1,000 rows."""
    random = np.random.default_rng(SEED)
    rows, variables = 1000, 2000
    codes = np.zeros((rows, variables), np.int64)
    graph: nx.DiGraph[str] = nx.DiGraph()
    for k in range(variables):
        graph.add_node(f"x{k}")
        parents = random.choice(k, min(k, int(random.integers(1, 4))), replace=False)
        graph.add_edges_from((f"x{p}", f"x{k}") for p in parents)
        stratum = codes[:, parents] @ (1 << np.arange(len(parents)))
        codes[:, k] = random.random(rows) < random.beta(0.5, 0.5, 1 << len(parents))[stratum]
    return serape.Table(codes), graph


def link() -> Large:
    """Sample Link: 724 variables, 5,000 rows."""
    network = serape.load_network("link")
    return network.sample(5000, SEED), network.graph


def tiled() -> Large:
    """Sample 540 joined copies of Alarm: 19,980 variables, 1,000 rows."""
    network = serape.load_network("alarm").tile(540, 0)
    return network.sample(1000, 0), network.graph


LARGE: dict[str, Callable[[], Large]] = {"wide": wide, "link": link, "tiled": tiled}

THROMBIN_CLASS = 139_351
"""The index of the class in Thrombin, behind all features."""


def add_thrombin(parser: Any) -> None:
    """Add the option that names the file of Thrombin."""
    parser.add_argument("--thrombin", type=Path, help="also measure Thrombin: an .npz with packed bits X and classes y")


def thrombin(path: Path) -> NDArray[np.uint8]:
    """Read the KDD Cup 2001 data, 139,351 features and the class: an .npz with `X` (packed bits by row) and `y`."""
    with np.load(path) as content:
        features = np.unpackbits(content["X"], axis=1)[:, :THROMBIN_CLASS]
        return np.concatenate([features, content["y"][:, None].astype(np.uint8)], axis=1)


# --- groups of eight --------------------------------------------------------------------------------------------------

BLOCK = 2048
"""Columns drawn at once."""
GROUP = 8


def draw_groups(random: np.random.Generator, rows: int, width: int) -> NDArray[np.uint8]:
    """Draw independent groups of eight binary columns, all first members first, then all second ones, and so on.

    A group has a target with two parents, two children, a spouse and a grandchild, and one column of noise.
    """
    count = -(-width // GROUP)

    def coins(of_256: int) -> NDArray[np.uint8]:
        drawn = np.frombuffer(random.bytes(rows * count), np.uint8).reshape(rows, count)
        heads: NDArray[np.uint8] = (drawn < of_256).view(np.uint8)
        return heads

    fair, rare = 128, 51  # a fifth of the copies of anything are wrong
    mother, father, spouse, noise = (coins(fair) for _ in range(4))
    target = (mother | father) ^ coins(rare)
    child = target ^ coins(rare)
    joint = (target & spouse) ^ coins(rare)
    grandchild = child ^ coins(rare)
    block = np.concatenate([mother, father, target, child, spouse, joint, grandchild, noise], axis=1)
    return np.ascontiguousarray(block[:, :width])


def target_index(variables: int) -> int:
    """Return the index of the target of the first group."""
    return 2 * -(-min(variables, BLOCK) // GROUP)


def grouped_table(variables: int, rows: int) -> serape.Table:
    """Draw and pack a table of groups block by block: the codes of a million columns are never in memory unpacked."""
    random = np.random.default_rng(SEED)

    def blocks() -> Iterator[NDArray[np.uint8]]:
        for begin in range(0, variables, BLOCK):
            yield draw_groups(random, rows, min(BLOCK, variables - begin))

    return pack_blocks(variables, rows, blocks())


# --- a yardstick ------------------------------------------------------------------------------------------------------


def nothing_shared(processes: int) -> None:
    """Count to four million in processes that share nothing: the best speed-up of the machine."""
    children = []
    for _ in range(processes - 1):
        if (child := os.fork()) == 0:
            _count(4_000_000 // processes)
            os._exit(0)
        children.append(child)
    _count(4_000_000 // processes)
    for child in children:
        os.waitpid(child, 0)


def _count(up_to: int) -> int:
    reached = 0
    while reached < up_to:
        reached += 1
    return reached
