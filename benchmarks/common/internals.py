"""The parts of serape below its public interface that benchmarks need; no other benchmark imports them.

The exception is `serape.studies`, which is loaded only where it is needed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import serape
from serape._core import PackedTable, instruction_set
from serape.data.columns import WideColumns
from serape.data.resampling import Resampler
from serape.engines.gpu import choice
from serape.engines.gpu.pairs import DevicePairs, DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gram_matrix import CoreRows
from serape.files import atomic_write
from serape.independence import G2, TESTS, X2, ContingencyTest
from serape.independence.dependent_pairs import DependentBlocks, find_dependent_pairs
from serape.independence.partial_correlation import FisherZ
from serape.independence.registry import Rules, make_test
from serape.local.hpc import de_pcs, de_sps, hpc
from serape.local.inter_iapc import inter_iapc_among
from serape.local.registry import ALGORITHMS
from serape.parallel import marginals
from serape.questions import structures
from serape.questions.blankets import ask_of_many
from serape.questions.counterexamples import ancestral_edges, edges_at, fits, graphs_to_check, oracle_of, reductions
from serape.questions.draws import rows_of_draw
from serape.questions.neighbourhoods import find_neighbourhoods
from serape.questions.network import resolve_network
from serape.questions.query import Query
from serape.results.comparison import true_members
from serape.results.stability import SAMPLINGS
from serape.search import many_targets
from serape.settings import RunSettings, Settings
from serape.skeletons import pc
from serape.skeletons.pc import pc_skeleton
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.orientation import orient
from serape.structure.perfect_score import PerfectScore
from serape.structure.registry import CAUSAL_ALGORITHMS, NETWORK_ALGORITHMS, SKELETON_ALGORITHMS
from serape.structure.scores import make_score
from serape.types import DofRule, Finds

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "ALGORITHMS",
    "CAUSAL_ALGORITHMS",
    "G2",
    "NETWORK_ALGORITHMS",
    "SAMPLINGS",
    "SKELETON_ALGORITHMS",
    "TESTS",
    "X2",
    "ContingencyTest",
    "DofRule",
    "Finds",
    "FisherZ",
    "Resampler",
    "Rules",
    "ancestral_edges",
    "atomic_write",
    "cpdag",
    "edges_at",
    "edges_of_class",
    "find_many",
    "fits",
    "gram_phases",
    "graphs_to_check",
    "hpc",
    "hpc_superset",
    "instruction_set",
    "inter_iapc_among",
    "make_score",
    "make_test",
    "network_by_perfect_score",
    "oracle_of",
    "orient",
    "pack_blocks",
    "pack_tables",
    "pc_skeleton",
    "phase_seconds",
    "reductions",
    "rows_of_draw",
    "true_members",
]


def find_many(
    data: Any,
    finds: Finds,
    algorithm: str,
    alpha: float,
    targets: Iterable[int],
    dof: DofRule = "auto",
    progress: Callable[[serape.Progress], None] | bool = False,
    **others: Any,
) -> dict[str, serape.Result]:
    """Find the blankets, or the parents and children, of many targets in one call, as `serape.blankets` does."""
    settings = Settings.of(algorithm=algorithm, alpha=alpha, dof=dof, progress=progress, **others)
    return ask_of_many(Query.resolve(data, finds, settings), list(targets), settings.run)


def pack_blocks(variables: int, rows: int, blocks: Iterable[NDArray[np.uint8]]) -> serape.Table:
    """Pack binary columns that arrive in blocks, as `serape.Table` packs an array, without the whole array."""
    packed = PackedTable(rows)
    packed.reserve_planes(variables)
    for block in blocks:
        packed.append_block(block, np.full(block.shape[1], 2, np.uint32))
    names = [f"x{k}" for k in range(variables)]
    levels, reasons = [(0, 1)] * variables, ["whole numbers, 2 distinct"] * variables
    return serape.Table(WideColumns(names, rows, [], packed, levels, reasons, ["categorical"] * variables))


def pack_tables(variables: int, rows: int, tables: Iterable[serape.Table]) -> serape.Table:
    """Pack categorical tables side by side, with numbered names; no more than one of them need be there at a time."""
    packed = PackedTable(rows)
    packed.reserve_planes(2 * variables)
    names: list[str] = []
    levels: list[tuple[Any, ...]] = []
    shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}  # equal levels are one object
    for number, table in enumerate(tables):
        names += [f"{name}.{number}" for name in table.names]
        own = [table.column_levels(k) for k in range(len(table.names))]
        levels += [shared.setdefault(values, values) for values in own]
        for begin in range(0, len(own), 2048):
            some = range(begin, min(begin + 2048, len(own)))
            codes = np.stack([table.codes(k) for k in some], axis=1).astype(np.uint8)
            packed.append_block(codes, np.array([len(own[k]) for k in some], np.uint32))
    reasons = {n: f"{n} declared categories" for n in {len(values) for values in shared}}
    return serape.Table(
        WideColumns(
            names, rows, [], packed, levels, [reasons[len(values)] for values in levels], ["categorical"] * len(names)
        )
    )


@contextmanager
def phase_seconds() -> Iterator[dict[str, float]]:
    """Measure, during skeletons, the seconds of all pairs given nothing, and of all searches for sets with these."""
    seconds = {"pairs": 0.0, "neighbourhoods": 0.0}

    def timed(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            begin = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                seconds[phase] += time.perf_counter() - begin

        return call

    def blocks(self: DependentBlocks) -> Iterator[Any]:
        step, found = timed("pairs", next), iter_blocks(self)
        while (block := step(found, None)) is not None:
            yield block

    iter_blocks = DependentBlocks.__iter__
    all_pairs = timed("pairs", timed("neighbourhoods", find_dependent_pairs))
    with (
        patch.object(many_targets, "find_dependent_pairs", all_pairs),
        patch.object(pc._Edges, "separate", _as_method(timed("neighbourhoods", pc._Edges.separate))),
        patch.object(marginals, "find_dependent_pairs", timed("pairs", find_dependent_pairs)),
        patch.object(structures, "find_neighbourhoods", timed("neighbourhoods", find_neighbourhoods)),
        patch.object(DependentBlocks, "__iter__", blocks),
    ):
        yield seconds


def _as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *arguments: function(self, *arguments)


def send(table: serape.Table) -> None:
    """Send the categorical columns of a table to a GPU."""
    choice.planes_of(table, "gpu")


def has_device() -> bool:
    """Return whether there is a GPU that can be used."""
    return choice.has_device()


def dependent_pairs_of(table: serape.Table, alpha: float, engine: Any, jobs: int) -> object:
    """Test all pairs of categorical columns given nothing by G²."""
    test = make_test(table, "g2", engine=engine)
    return find_dependent_pairs(test, range(len(table.names)), math.log(alpha), jobs)


class PairWork(NamedTuple):
    """What the kernel of all pairs does, and the seconds that it takes."""

    bits: float
    shared_bytes: float
    device_bytes: float
    seconds: float


def pair_work(table: serape.Table, alpha: float, strongest: int | None) -> PairWork:
    """Measure the kernel that lists dependent pairs, or keeps the strongest partners of binary columns."""
    import cupy

    planes = choice.planes_of(table, "gpu")
    assert isinstance(planes, DevicePlanes)
    pairs = DevicePairs(
        planes, DeviceRules("full", "dof", 5.0), np.arange(len(table.names), dtype=np.uint32), math.log(alpha)
    )
    tiles = [-(-len(kind.columns) // (128 // kind.n_planes)) for kind in pairs.kinds]
    both = sum(tiles) ** 2
    visited = both if strongest is not None else (both + sum(tiles)) / 2
    events: list[tuple[Any, Any]] = []
    launch = planes.device.launch

    def timed(file: str, macros: Any, kernel: str, *rest: Any) -> None:
        if kernel not in ("pairs", "binary_pairs"):
            return launch(file, macros, kernel, *rest)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch(file, macros, kernel, *rest)
        end.record()
        events.append((begin, end))
        return None

    seconds = []
    with patch.object(planes.device, "launch", timed):
        for _ in range(4):
            events.clear()
            pairs.dependent(1 << 24) if strongest is None else pairs.strongest(strongest)
            cupy.cuda.Device().synchronize()
            seconds.append(sum(cupy.cuda.get_elapsed_time(*two) for two in events) / 1e3)
    step = 128 * planes.words * 4
    copied = visited * step * (1 if strongest is not None else 2)
    return PairWork(
        visited * 128 * 128 * planes.words * 32, copied, planes.n_planes * planes.words * 4, min(seconds[1:])
    )


def hpc_superset(search: serape.Search, target: int) -> Sequence[int]:
    """Return the superset of parents, children and spouses within which HPC searches."""
    superset, separating = de_pcs(search, target)
    return sorted({*superset, *de_sps(search, target, superset, separating)})


def edges_of_class(dag: nx.DiGraph[str], undirected: str) -> set[str]:
    """Return the edges of the class of a DAG as text: "A→B", or "A–B" with a sign for those of no direction."""
    names = tuple(dag)
    edges = cpdag(PartlyDirected.of_networkx(dag, names).parents).to_networkx(names).edges
    return {f"{a}→{b}" if (b, a) not in edges else undirected.join(sorted((a, b))) for a, b in edges}


def network_by_perfect_score(
    algorithm: str, graph: nx.DiGraph[str], order: tuple[str, ...]
) -> tuple[nx.DiGraph[str], int]:
    """Return the DAG that a search by a perfect score finds, and the tests of the skeleton if it is restricted to one.

    A hybrid finds the skeleton by perfect tests.
    """
    chosen, score = NETWORK_ALGORITHMS[algorithm], PerfectScore(graph, order)
    if not chosen.learner:
        found = resolve_network(score, Settings.of(algorithm=algorithm)).ask(None, RunSettings()).dag
        assert found is not None
        return found, 0
    assert chosen.search is not None
    options = dict(chosen.defaults)
    skeleton = serape.skeleton(
        serape.DSeparation(graph, order), chosen.learner, rule=options.pop("rule"), **chosen.learner_options
    )
    near = {k: {order.index(x) for x in skeleton.graph.neighbors(name)} for k, name in enumerate(order)}
    return chosen.search(score, near, **options).to_networkx(order), skeleton.tests


class GramPhases(NamedTuple):
    """Seconds that a Gram matrix takes, by what is made."""

    scores: int
    ranks: float
    polynomials: float
    products: float


def gram_phases(table: serape.Table, degree: int, now: Callable[[], float]) -> GramPhases:
    """Make the sums of products of the scores of a table, and tell how long each phase takes."""
    columns = range(len(table.names))
    times = [now()]
    rows = CoreRows(table)
    rows.scored.make(table, columns)
    times.append(now())
    scores = rows.scores_of(columns, degree, 1, None)
    times.append(now())
    rows.products(scores, 0, 1, None)
    times.append(now())
    return GramPhases(len(scores), *np.diff(times).tolist())
