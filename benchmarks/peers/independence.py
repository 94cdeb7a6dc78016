"""How each tool tests x ⊥ y given nothing or z, for `accuracy calibration power`.

A file has samples of several cases. A sample has columns x, y and perhaps z; the kinds of a case say which of them are
numbers ("n") and which are codes of categories ("c").
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.codes import Job

Floats = NDArray[np.float64]
Test = Callable[[Floats, str], float]
"""Returns the p-value of x and y in columns of these kinds."""

ENOUGH_SECONDS = 0.0
MAX_REPEATS = 1
FEWEST = 15
"""Samples below which a case tells nothing."""
PERMUTATIONS = 100
"""Of tests that permute."""
NUMBERS_ONLY = "for numbers only"


@dataclass(frozen=True)
class Samples:
    """Samples of each case, with the kinds of its columns, and the seconds that a case may take."""

    cases: dict[str, tuple[str, Floats]]
    seconds: float


def write(path: Path, seconds: float, cases: Mapping[str, Floats]) -> None:
    """Write what `read` reads."""
    content: dict[str, Any] = {"seconds": np.float64(seconds), **cases}
    np.savez(path, **content)


def read(path: str) -> Samples:
    """Read a file of samples: an array `case;kinds` of samples × rows × columns for each case, and `seconds`."""
    with np.load(path) as file:
        content = {name: file[name] for name in file.files}
    seconds = float(content.pop("seconds"))
    cases = {}
    for name, values in content.items():
        case, _, kinds = name.partition(";")
        cases[case] = (kinds, values)
    return Samples(cases, seconds)


def job(samples: Samples, test: Test) -> Job:
    """Test all samples of each case, as long as there is time for it."""

    def search(_: Callable[[], None]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for case, (kinds, values) in samples.cases.items():
            p: list[float] = []
            begin, spent = time.process_time(), 0.0  # whatever else the machine does
            try:
                for columns in values:
                    p.append(float(test(columns, kinds)))
                    spent = time.process_time() - begin
                    if spent > samples.seconds or spent / len(p) * FEWEST > 2 * samples.seconds:
                        break
            except Exception as error:  # whatever a tool raises is its result
                found[case] = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
                continue
            found[case] = {"p": p, "seconds": spent / len(p)}
        return found

    return search, lambda found: found


def frame_of(columns: Floats, kinds: str) -> Any:
    """Return a pandas frame with columns x, y and perhaps z; codes are categories."""
    pandas = import_module("pandas")
    named = zip("xyz", kinds, columns.T, strict=False)
    return pandas.DataFrame(
        {
            name: values if kind == "n" else pandas.Categorical(values.astype(int).astype(str))
            for name, kind, values in named
        }
    )


def serape(samples: Samples, method: str, alpha: float) -> Job:
    """Prepare serape; making the table and the test are timed."""
    del alpha
    package, registry = import_module("serape"), import_module("serape.independence.registry")

    def test(columns: Floats, kinds: str) -> float:
        named = {
            name: values if kind == "n" else values.astype(int).astype(str)
            for name, kind, values in zip("xyz", kinds, columns.T, strict=False)
        }
        table = package.Table(
            named, kinds={n: "continuous" if k == "n" else "categorical" for n, k in zip(named, kinds, strict=True)}
        )
        outcome = registry.make_test(table, method).test(0, 1, list(range(2, len(kinds))))
        return float(np.exp(outcome.log_p)) if outcome.reliable else 1.0

    return job(samples, test)


def causal_learn(samples: Samples, method: str, alpha: float) -> Job:
    """Prepare causal-learn; codes are numbers to it."""
    del alpha
    make = import_module("causallearn.utils.cit").CIT
    return job(samples, lambda columns, kinds: make(columns, method)(0, 1, list(range(2, len(kinds)))))


def pgmpy(samples: Samples, method: str, alpha: float) -> Job:
    """Prepare pgmpy."""
    del alpha
    make = getattr(import_module("pgmpy.ci_tests"), method)

    def test(columns: Floats, kinds: str) -> float:
        if method == "GCM" and "c" in kinds:
            raise ValueError(NUMBERS_ONLY)
        made = make(frame_of(columns, kinds))
        made("x", "y", ["z"] if len(kinds) > 2 else [], significance_level=0.05)
        return float(made.p_value_)

    return job(samples, test)


def pybnesian(samples: Samples, method: str, alpha: float) -> Job:
    """Prepare PyBNesian; ten neighbours where it asks for a number of them."""
    del alpha
    make = getattr(import_module("pybnesian"), method)
    extra = {"k": 10, "seed": 0, "samples": PERMUTATIONS} if method == "KMutualInformation" else {}

    def test(columns: Floats, kinds: str) -> float:
        if method != "MutualInformation" and "c" in kinds:
            raise ValueError(NUMBERS_ONLY)
        given = ["z"] if len(kinds) > 2 else []
        return float(make(frame_of(columns, kinds), **extra).pvalue("x", "y", *given))

    return job(samples, test)


def tigramite(samples: Samples, method: str, alpha: float) -> Job:
    """Prepare tigramite."""
    del alpha
    module = import_module(f"tigramite.independence_tests.{TIGRAMITE.get(method, method.lower())}")
    permuted = method.startswith("CMIknn")
    mixed = method in ("RegressionCI", "CMIknnMixed")
    extra = {"significance": "shuffle_test", "sig_samples": PERMUTATIONS} if permuted else {"significance": "analytic"}
    made = getattr(module, method)(**extra)

    def test(columns: Floats, kinds: str) -> float:
        if not mixed and "c" in kinds:
            raise ValueError(NUMBERS_ONLY)
        x, y, *z = (values[:, None] for values in columns.T)
        types = [np.full((len(columns), 1), kind == "c", dtype=int) for kind in kinds]
        kind_of = {"x_type": types[0], "y_type": types[1], "z_type": types[2] if z else None} if mixed else {}
        return float(made.run_test_raw(x, y, z[0] if z else None, **kind_of)[1])

    return job(samples, test)


def hyppo(samples: Samples, method: str, alpha: float) -> Job:
    """Prepare hyppo: its distance correlation, the conditional one given z; codes are numbers to it."""
    del alpha
    marginal = getattr(import_module("hyppo.independence"), method)
    conditional = getattr(import_module("hyppo.conditional"), f"Conditional{method}")

    def test(columns: Floats, kinds: str) -> float:
        arrays = [np.ascontiguousarray(values[:, None]) for values in columns.T]
        made = conditional() if len(kinds) > 2 else marginal()
        return float(made.test(*arrays, reps=PERMUTATIONS)[1])

    return job(samples, test)


TIGRAMITE = {"RegressionCI": "regressionCI", "CMIknnMixed": "cmiknn_mixed", "RobustParCorr": "robust_parcorr"}
TOOLS: dict[str, Callable[[Samples, str, float], Job]] = {
    "serape": serape,
    "causal-learn": causal_learn,
    "pgmpy": pgmpy,
    "PyBNesian": pybnesian,
    "tigramite": tigramite,
    "hyppo": hyppo,
}
