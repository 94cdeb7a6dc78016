"""How each tool finds blankets or neighbourhoods, for `suite searches`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.peers.codes import Codes, Job

Found = dict[int, list[int]]

ENOUGH_SECONDS = 0.5
MAX_REPEATS = 25
"""A search is repeated until it has taken so many seconds, or so many times."""

read = Codes.read


def one_by_one(ask: Callable[[int], Iterable[Any]], targets: list[int]) -> Job:
    """Ask for each target by itself."""

    def search(done: Callable[[], None]) -> dict[int, Any]:
        found = {}
        for target in targets:
            found[target] = ask(target)
            done()
        return found

    return search, lambda found: {target: sorted(map(int, members)) for target, members in found.items()}


def from_edges(edges: Iterable[tuple[Any, Any]], targets: list[int]) -> Found:
    """Return the neighbours of each target in a graph, whatever its edges' directions."""
    neighbours: dict[int, set[int]] = {target: set() for target in targets}
    for a, b in ((int(a), int(b)) for a, b in edges):
        if a in neighbours:
            neighbours[a].add(b)
        if b in neighbours:
            neighbours[b].add(a)
    return {target: sorted(members) for target, members in neighbours.items()}


# --- tools ------------------------------------------------------------------------------------------------------------


def serape(data: Codes, method: str, alpha: float) -> Job:
    """Prepare serape: all targets in one call, as `serape.blankets` does it, for either question."""
    package, internals = map(import_module, ("serape", "benchmarks.common.internals"))
    finds, _, algorithm = method.partition(" ")
    table = package.Table(data.codes)
    if algorithm == "pc-stable":
        return (
            lambda _: package.skeleton(table, algorithm, alpha=alpha, max_conditioning=None),
            lambda found: from_edges(((a[1:], b[1:]) for a, b in found.graph.edges), data.targets),
        )

    def read_members(found: Any) -> Found:
        return {int(name[1:]): sorted(int(x[1:]) for x in result.members) for name, result in found.items()}

    return lambda _: internals.find_many(table, finds, algorithm, alpha, data.targets), read_members


def pgmpy(data: Codes, method: str, alpha: float) -> Job:
    """Prepare pgmpy; its PC orients too, its MMPC tests by chi²."""
    frame = data.frame()
    if method == "MMPC":
        learner = import_module("pgmpy.estimators").MmhcEstimator(frame)
        return lambda _: learner.mmpc(alpha), lambda found: from_edges(found.edges, data.targets)
    learner = import_module("pgmpy.causal_discovery").PC(
        variant="stable",
        ci_test="g_sq",
        significance_level=alpha,
        max_cond_vars=data.codes.shape[1],
        n_jobs=1,
        show_progress=False,
    )
    return lambda _: learner.fit(frame), lambda found: from_edges(found.skeleton_.edges, data.targets)


def causal_learn(data: Codes, method: str, alpha: float) -> Job:
    """Prepare causal-learn."""
    make_test = import_module("causallearn.utils.cit").CIT
    codes = data.integers
    if method == "IAMB":
        iamb = import_module("causallearn.utils.MarkovNetwork.iamb").iamb
        test = make_test(codes, "gsq")
        return one_by_one(lambda target: iamb(test, codes.shape[1], target, alpha)[0], data.targets)
    learn = import_module("causallearn.utils.PCUtils.SkeletonDiscovery").skeleton_discovery
    return (
        lambda _: learn(codes, alpha, make_test(codes, "gsq"), stable=True, show_progress=False),
        lambda found: from_edges(np.argwhere(found.G.graph), data.targets),
    )


def pybnesian(data: Codes, method: str, alpha: float) -> Job:
    """Prepare PyBNesian; both of its methods orient too."""
    package = import_module("pybnesian")
    test = package.MutualInformation(data.frame())  # of categories, that is G²
    options = {"use_sepsets": True} if method == "PC" else {}
    learner = getattr(package, method)()
    return (
        lambda _: learner.estimate(test, alpha=alpha, **options),
        lambda found: from_edges((*found.arcs(), *found.edges()), data.targets),
    )


def pyagrum(data: Codes, method: str, alpha: float) -> Job:
    """Prepare pyAgrum; both of its methods orient too, and MIIC has no alpha."""
    learner = data.agrum_learner(method, alpha)
    if method == "PC":
        learner.setPCStable(True)

    def read_edges(found: Any) -> Found:
        pairs = (*found.arcs(), *found.edges())
        return from_edges(((learner.nameFromId(a), learner.nameFromId(b)) for a, b in pairs), data.targets)

    return lambda _: learner.learnPDAG(), read_edges


PYCAUSALFS = {
    "GSMB": "GSMB",
    "IAMB": "IAMB",
    "inter_IAMB": "inter_IAMB",
    "IAMBnPC": "IAMBnPC",
    "interIAMBnPC": "interIAMBnPC",
    "fast_IAMB": "fast_IAMB",
    "MMPC": "MMMB.MMPC",
    "MMMB": "MMMB.MMMB",
    "HITON_PC": "HITON.HITON_PC",
    "HITON_MB": "HITON.HITON_MB",
    "getPC": "PCMB.getPC",
    "PCMB": "PCMB.PCMB",
    "RecognizePC": "IPCMB.RecognizePC",
    "IPC_MB": "IPCMB.IPCMB",
}
"""The functions of pyCausalFS, and their modules. (Its PC cannot be imported.)"""


def pycausalfs(data: Codes, method: str, alpha: float) -> Job:
    """Prepare pyCausalFS."""
    codes: Any = data.integers
    function = getattr(import_module(f"pyCausalFS.CBD.MBs.{PYCAUSALFS[method]}"), method)
    if method in ("fast_IAMB", "interIAMBnPC"):
        codes = import_module("pandas").DataFrame(codes, columns=data.names)  # these two select columns by name
    indices = range(data.codes.shape[1])

    def ask(target: int) -> Iterable[Any]:
        if method == "interIAMBnPC":
            found = function(codes, target, alpha)
        elif method == "RecognizePC":
            found = function(codes, target, [k for k in indices if k != target], alpha, True)
        else:
            found = function(codes, target, alpha, True)
        members: Iterable[Any] = found[0]
        return members

    return one_by_one(ask, data.targets)


TOOLS: dict[str, Callable[[Codes, str, float], Job]] = {
    "serape": serape,
    "pgmpy": pgmpy,
    "causal-learn": causal_learn,
    "PyBNesian": pybnesian,
    "pyAgrum": pyagrum,
    "pyCausalFS": pycausalfs,
}
