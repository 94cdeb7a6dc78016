"""Find blankets or neighbourhoods by one tool, in that tool's own environment; `suite.py` starts this.

    PYTHON benchmarks/peer_local.py WARM.npz DATA.npz RESULT.json TOOL METHOD ALPHA

The files of data hold `codes` (rows × columns, from 0, all levels occur) and `targets` (positions). The first file is
searched once, untimed, so that everything is imported. "ready" is printed when the second is read, and "done" after
each target by tools that go target by target. Quick searches are repeated, each from data that were prepared anew, so
that nothing is remembered. The result holds the seconds of each repeat, what was found by target,
and the most memory the process had before and after.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measure import peak_mebibytes

Found = dict[int, list[int]]
Job = tuple[Callable[[Callable[[], None]], Any], Callable[[Any], Found]]
"""What searches (told what to call after each target), and what reads the answer."""

ENOUGH = 0.5
MOST = 25
"""A search is repeated until it has taken so many seconds, or so many times."""


@dataclass(frozen=True)
class Data:
    """Integer codes, and whom to ask about."""

    codes: NDArray[np.uint8]
    targets: list[int]

    @classmethod
    def read(cls, path: str) -> Data:
        """Read what `suite.py` wrote."""
        content = np.load(path)
        return cls(content["codes"], content["targets"].tolist())

    @property
    def names(self) -> list[str]:
        """A name for every column."""
        return [str(k) for k in range(self.codes.shape[1])]

    def frame(self) -> Any:
        """Return a pandas frame of categories."""
        pandas = import_module("pandas")
        columns = {}
        for k, name in enumerate(self.names):
            states = [str(level) for level in range(int(self.codes[:, k].max()) + 1)]
            columns[name] = pandas.Categorical.from_codes(self.codes[:, k].astype(np.int64), states)
        return pandas.DataFrame(columns)


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
    near: dict[int, set[int]] = {target: set() for target in targets}
    for a, b in ((int(a), int(b)) for a, b in edges):
        if a in near:
            near[a].add(b)
        if b in near:
            near[b].add(a)
    return {target: sorted(members) for target, members in near.items()}


# --- tools ------------------------------------------------------------------------------------------------------------


def serape(data: Data, method: str, alpha: float) -> Job:
    """Prepare serape: all targets in one call, as `serape.blankets` does it, for either question."""
    package, api, many = map(import_module, ("serape", "serape.api", "serape.blankets"))
    finds, _, algorithm = method.partition(" ")
    table = package.Table(data.codes)
    if algorithm == "pc-stable":
        return (
            lambda _: package.skeleton(table, algorithm, alpha=alpha, max_conditioning=None),
            lambda found: from_edges(((a[1:], b[1:]) for a, b in found.graph.edges), data.targets),
        )

    def search(_: Callable[[], None]) -> Any:
        task = api.Task.make(table, finds, algorithm, "auto", alpha, None, "auto", "auto", None, {})
        return many.ask_of_many(task, data.targets, 1, False)

    def read(found: Any) -> Found:
        return {int(name[1:]): sorted(int(x[1:]) for x in result.members) for name, result in found.items()}

    return search, read


def pgmpy(data: Data, method: str, alpha: float) -> Job:
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


def causal_learn(data: Data, method: str, alpha: float) -> Job:
    """Prepare causal-learn."""
    make_test = import_module("causallearn.utils.cit").CIT
    codes = data.codes.astype(np.int64)
    if method == "IAMB":
        iamb = import_module("causallearn.utils.MarkovNetwork.iamb").iamb
        test = make_test(codes, "gsq")
        return one_by_one(lambda target: iamb(test, codes.shape[1], target, alpha)[0], data.targets)
    learn = import_module("causallearn.utils.PCUtils.SkeletonDiscovery").skeleton_discovery
    return (
        lambda _: learn(codes, alpha, make_test(codes, "gsq"), stable=True, show_progress=False),
        lambda found: from_edges(np.argwhere(found.G.graph), data.targets),
    )


def pybnesian(data: Data, method: str, alpha: float) -> Job:
    """Prepare PyBNesian; both of its methods orient too."""
    package = import_module("pybnesian")
    test = package.MutualInformation(data.frame())  # of categories, that is G²
    options = {"use_sepsets": True} if method == "PC" else {}
    learner = getattr(package, method)()
    return (
        lambda _: learner.estimate(test, alpha=alpha, **options),
        lambda found: from_edges((*found.arcs(), *found.edges()), data.targets),
    )


def pyagrum(data: Data, method: str, alpha: float) -> Job:
    """Prepare pyAgrum; both of its methods orient too, and MIIC has no alpha."""
    pandas, package = map(import_module, ("pandas", "pyagrum"))
    columns = package.BayesNet()
    for k, name in enumerate(data.names):
        columns.add(package.RangeVariable(name, name, 0, int(data.codes[:, k].max())))
    learner = package.BNLearner(pandas.DataFrame(data.codes.astype(np.int64), columns=data.names), columns)
    learner.setNumberOfThreads(1)
    if method == "PC":
        learner.usePC()
        learner.useG2Test()
        learner.setPCAlpha(alpha)
        learner.setPCStable(True)
    else:
        learner.useMIIC()

    def read(found: Any) -> Found:
        pairs = (*found.arcs(), *found.edges())
        return from_edges(((learner.nameFromId(a), learner.nameFromId(b)) for a, b in pairs), data.targets)

    return lambda _: learner.learnPDAG(), read


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
"""The functions of pyCausalFS, and their modules. (Its PC cannot be imported: it reads a file of its author's.)"""


def pycausalfs(data: Data, method: str, alpha: float) -> Job:
    """Prepare pyCausalFS."""
    codes: Any = data.codes.astype(np.int64)
    function = getattr(import_module(f"pyCausalFS.CBD.MBs.{PYCAUSALFS[method]}"), method)
    if method in ("fast_IAMB", "interIAMBnPC"):
        codes = import_module("pandas").DataFrame(codes, columns=data.names)  # these two look columns up by name
    everyone = range(data.codes.shape[1])

    def ask(target: int) -> Iterable[Any]:
        if method == "interIAMBnPC":
            found = function(codes, target, alpha)
        elif method == "RecognizePC":
            found = function(codes, target, [k for k in everyone if k != target], alpha, True)
        else:
            found = function(codes, target, alpha, True)
        members: Iterable[Any] = found[0]
        return members

    return one_by_one(ask, data.targets)


TOOLS: dict[str, Callable[[Data, str, float], Job]] = {
    "serape": serape,
    "pgmpy": pgmpy,
    "causal-learn": causal_learn,
    "PyBNesian": pybnesian,
    "pyAgrum": pyagrum,
    "pyCausalFS": pycausalfs,
}


def main() -> None:
    """Search, and write what was found."""
    warm_path, data_path, result, tool, method, alpha = sys.argv[1:]
    prepare, level, screen = TOOLS[tool], float(alpha), sys.stdout
    answer: dict[str, Any]
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            with contextlib.suppress(Exception):  # all that matters is that everything is imported
                prepare(Data.read(warm_path), method, level)[0](lambda: None)
            data = Data.read(data_path)
            before = peak_mebibytes()
            print("ready", file=screen, flush=True)
            times: list[float] = []
            while not times or (len(times) < MOST and sum(times) < ENOUGH):
                search, read = prepare(data, method, level)
                begin = time.perf_counter()
                found = search(lambda: print("done", file=screen, flush=True))
                times.append(time.perf_counter() - begin)
            answer = {
                "seconds": times,
                "found": read(found),
                "mebibytes_before": before,
                "mebibytes": peak_mebibytes(),
            }
    except Exception as error:  # whatever a tool raises is its result
        answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    Path(result).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
