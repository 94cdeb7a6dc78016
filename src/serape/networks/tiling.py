"""Large networks made of copies of a small one.

After Tsamardinos, Statnikov, Brown and Aliferis (2006), "Generating realistic large Bayesian networks by tiling":
copies form a sequence, and a few variables of every copy depend on variables of the copy before. As in the paper, the
copies keep the distribution of the original; this construction is different and makes that exact.

Between a copy and the next, arcs V → W are chosen at random such that

1. W has no parents in the original, every W gets one V, and both vary: no level has a probability above 0.99. If no
   variable without parents varies in this sense, W is one with at least two levels that occur;
2. no two V have an ancestor in common, nor is one an ancestor of another, so the V are independent of each other;
3. P(W | V) = (1 − s) P(W) + s M(W | V), where M is the joint distribution of V and W that couples them as tightly as
   their margins allow (the levels of both, in random order, divide the interval from 0 to 1; M is the overlap of two
   levels), and the strength s is drawn from 0.5 to 0.9.

The mean of P(W | V) over P(V) is P(W), so every W has the distribution of the original. The V are independent, so the W
of a copy are too. All other variables of the copy depend on these as before: *the joint distribution of every copy is
the original's*, for any number of copies. P(V) is computed exactly, so V is chosen from variables for which that takes
little time. In the graph, only V and W have new neighbours: each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError, either
from serape.networks.marginals import ancestry, marginal
from serape.networks.network import Network, normalised

_MAX_SOURCES = 64  # candidates for V
_VARIES = 0.99
_RARE = 1e-9  # given a level of V as rare as this, W keeps P(W): the quotient would be rounding errors


@dataclass(frozen=True, slots=True)
class _Source:
    name: str
    probabilities: NDArray[np.float64]
    ancestry: frozenset[str]


def tile(network: Network, copies: int, links: int, seed: int | None) -> Network:
    """Return a network of copies, each joined to the next by up to `links` arcs."""
    random = np.random.default_rng(seed)
    linked = links > 0 and copies > 1
    targets = _targets(network) if linked else {}
    sources = _sources(network, targets, random) if linked else []
    names = list(targets)
    levels: dict[str, tuple[str, ...]] = {}
    parents: dict[str, tuple[str, ...]] = {}
    cpts: dict[str, NDArray[np.float64]] = {}
    shape = [(name, network.levels(name), network.parents(name), network.cpt(name)) for name in network.variables]
    for copy in range(1, copies + 1):
        for name, values, above, cpt in shape:
            called = f"{name}_{copy}"
            levels[called], cpts[called] = values, cpt
            parents[called] = tuple([f"{parent}_{copy}" for parent in above])
        if linked and copy > 1:
            chosen = _independent(sources, min(links, len(targets)), random)
            for index, source in zip(random.permutation(len(targets)), chosen, strict=False):
                called = f"{names[index]}_{copy}"
                parents[called] = (f"{source.name}_{copy - 1}",)
                cpts[called] = coupled(source.probabilities, targets[names[index]], random)
    return Network(levels, parents, cpts)


def _targets(network: Network) -> dict[str, NDArray[np.float64]]:
    """Return the variables that may get a parent, with their distributions."""
    roots = {name: normalised(network.cpt(name))[0] for name in network.variables if not network.parents(name)}
    targets = {name: p for name, p in roots.items() if p.max() <= _VARIES}
    targets = targets or {name: p for name, p in roots.items() if (p > _RARE).sum() > 1}
    if not targets:
        raise OptionError(
            "the copies cannot be joined, because no variable without parents has two levels that occur; "
            f"{either('pass links=0', 'leave out --copies')}"
        )
    return targets


def _sources(network: Network, targets: dict[str, NDArray[np.float64]], random: np.random.Generator) -> list[_Source]:
    """Return variables that may become parents, drawn at random."""
    sources: list[_Source] = []
    for k in random.permutation(network.nodes):
        name = network.variables[k]
        probabilities = marginal(network, name)
        if probabilities is not None and probabilities.max() <= _VARIES:
            sources.append(_Source(name, probabilities, ancestry(network, name) or frozenset()))
            if len(sources) == _MAX_SOURCES:
                break
    return sources or [_Source(name, p, frozenset({name})) for name, p in targets.items()]


def _independent(sources: list[_Source], max_sources: int, random: np.random.Generator) -> list[_Source]:
    """Return up to `max_sources` sources without common ancestors."""
    chosen: list[_Source] = []
    for k in random.permutation(len(sources)):
        if len(chosen) == max_sources:
            break
        if all(sources[k].ancestry.isdisjoint(other.ancestry) for other in chosen):
            chosen.append(sources[k])
    return chosen


def coupled(
    source: NDArray[np.float64], target: NDArray[np.float64], random: np.random.Generator
) -> NDArray[np.float64]:
    """Return P(W | V), a row for every level of V, whose mean over P(V) is P(W)."""
    rows, columns = random.permutation(len(source)), random.permutation(len(target))
    row_ends, column_ends = np.cumsum(source[rows]), np.cumsum(target[columns])
    row_begins, column_begins = row_ends - source[rows], column_ends - target[columns]
    overlap = np.minimum.outer(row_ends, column_ends) - np.maximum.outer(row_begins, column_begins)
    tight = np.zeros((len(source), len(target)))
    tight[np.ix_(rows, columns)] = np.maximum(overlap, 0)
    strength = random.uniform(0.5, 0.9)
    common = source > _RARE
    conditional = np.tile(target, (len(source), 1))
    conditional[common] *= 1 - strength
    conditional[common] += strength * tight[common] / source[common, None]
    return normalised(conditional)
