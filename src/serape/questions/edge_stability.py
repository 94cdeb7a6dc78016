"""How often an edge is found in rows drawn from the data."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from serape.data.table import Table
from serape.progress import ProgressCallback
from serape.questions.constraints import left_out_notes
from serape.questions.draws import DrawnAnswer, Draws
from serape.questions.structures import StructureQuery, source_notes
from serape.results.edge_stability import EdgeStability
from serape.results.structure import Structure
from serape.settings import RunSettings
from serape.structure.mixed_edges import arcs_of
from serape.types import FindsEdges


def stability_of_edges(draws: Draws, finds: FindsEdges, query: StructureQuery, settings: RunSettings) -> EdgeStability:
    """Search every draw, and count the edges."""

    def ask(sample: Table, watch: ProgressCallback) -> DrawnAnswer:
        return _found(query.ask(sample, replace(settings, n_jobs=1, progress=watch)))

    draws.search(ask, query.source, settings)
    names = draws.table.names
    index = {name: k for k, name in enumerate(names)}
    counts = draws.counts()
    fixed, candidates = _fixed_and_candidates(query, draws.table)
    searched = len(draws.found)
    arcs = Counter(arc for found in draws.found.values() for arc in found.arcs)
    algorithm, test, alpha, fdr, score = next(iter(draws.found.values())).how
    return EdgeStability(
        finds=finds,
        variables=tuple(names),
        frequencies={
            (a, b): counts[a, b] / searched
            for a, b in sorted(counts, key=lambda edge: (-counts[edge], index[edge[0]], index[edge[1]]))
        },
        directions={arc: count / searched for arc, count in arcs.items()},
        algorithm=algorithm,
        test=test,
        alpha=alpha,
        fdr=fdr,
        score=score,
        **draws.summary(fixed, candidates, (*source_notes(query.source), *left_out_notes(query.knowledge, names))),
    )


def _found(structure: Structure) -> DrawnAnswer:
    """Return the edges of a structure, in the order of the variables, and those with a decided direction."""
    index = {name: k for k, name in enumerate(structure.graph)}
    return DrawnAnswer(
        tuple((a, b) if index[a] < index[b] else (b, a) for a, b in structure.edges),
        structure.tests,
        structure.skipped,
        () if structure.finds == "skeleton" else tuple(arcs_of(structure.cpdag)),
        (structure.algorithm, structure.test, structure.alpha, structure.fdr, structure.score),
        structure.complete,
    )


def _fixed_and_candidates(query: StructureQuery, table: Table) -> tuple[set[tuple[str, str]], int]:
    """Return the edges that are known beforehand, and the number of pairs that are neither known nor forbidden."""
    searched = table.varying
    inside = set(searched)
    fixed: set[tuple[str, str]] = set()
    decided = 0
    for x in searched:
        known = set(query.known.get(x, ()))
        forbidden: set[int] = set()
        if query.knowledge is not None:
            known |= query.knowledge.required_neighbours(x)
            forbidden = set(query.knowledge.forbidden_neighbours(x))
        fixed.update((table.names[x], table.names[y]) for y in known if x < y)
        decided += len((known | forbidden) & inside - {x})
    return fixed, (len(searched) * (len(searched) - 1) - decided) // 2
