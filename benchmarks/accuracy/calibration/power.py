"""Power, size and time of the tests of several packages on the same samples."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.calibration.page import put
from benchmarks.accuracy.calibration.rates import TOLERANCE, bold, exceeds
from benchmarks.common.output import markdown, report, save, short
from benchmarks.peers.independence import FEWEST, NUMBERS_ONLY, write
from benchmarks.peers.runner import Runner, environments

Floats = NDArray[np.float64]

PEERS = ("causal-learn", "pgmpy", "PyBNesian", "tigramite", "hyppo")
LEVEL = 0.05
ROWS = (100, 300, 1000)

METHODS = (
    ("serape", "residuals"),
    ("serape", "monotone-residuals"),
    ("serape", "mixed"),
    ("causal-learn", "kci"),
    ("causal-learn", "rcit"),
    ("pgmpy", "PillaiTrace"),
    ("pgmpy", "GCM"),
    ("PyBNesian", "MutualInformation"),
    ("PyBNesian", "RCoT"),
    ("PyBNesian", "KMutualInformation"),
    ("tigramite", "RegressionCI"),
    ("tigramite", "RobustParCorr"),
    ("tigramite", "GPDC"),
    ("tigramite", "CMIknnMixed"),
    ("hyppo", "Dcorr"),
)

Answers = tuple[dict[str, Any], str]
Draw = Callable[[np.random.Generator, int, float], list[Floats]]
"""Returns x, y and perhaps z: independent, given z, if the last argument is 0."""


@dataclass(frozen=True)
class Case:
    """A kind of dependence, and the independence that it is compared with."""

    title: str
    kinds: str
    effect: float
    null: str
    draw: Draw


def plain(y: Callable[[Floats, Floats, float], Floats]) -> Draw:
    """Draw x and y alone."""

    def draw(random: np.random.Generator, rows: int, effect: float) -> list[Floats]:
        x, noise = random.standard_normal((2, rows))
        return [x, y(x, noise, effect)]

    return draw


def given(y: Callable[[Floats, Floats, Floats, float], Floats]) -> Draw:
    """Draw x and y that depend on z."""

    def draw(random: np.random.Generator, rows: int, effect: float) -> list[Floats]:
        z, own, noise = random.standard_normal((3, rows))
        x = (z + own) / np.sqrt(2)
        return [x, z + y(x, z, noise, effect), z]

    return draw


def curved(random: np.random.Generator, rows: int, effect: float) -> list[Floats]:
    """Draw x and y that depend on z by its square."""
    z, own, noise = random.standard_normal((3, rows))
    return [z * z + own, z * z + effect * own + noise, z]


def classes(conditional: bool) -> Draw:
    """Draw a category x of three levels, the second of which has another mean of y; both may depend on z."""

    def draw(random: np.random.Generator, rows: int, effect: float) -> list[Floats]:
        z, own, noise = random.standard_normal((3, rows))
        x = np.digitize(own + (z if conditional else 0.0), (-0.5, 0.5)).astype(float)
        y = effect * (x == 1) + noise
        return [x, y + z, z] if conditional else [x, y]

    return draw


def to_class(random: np.random.Generator, rows: int, effect: float) -> list[Floats]:
    """Draw a number x and a category y of two levels that depend on z."""
    z, own, noise = random.standard_normal((3, rows))
    return [z + own, (z + effect * own + noise > 0).astype(float), z]


CASES = (
    Case("linear", "nn", 0.15, "two numbers", plain(lambda x, e, b: b * x + e)),
    Case("x²", "nn", 0.2, "two numbers", plain(lambda x, e, b: b * x * x + e)),
    Case("sin 3x", "nn", 0.4, "two numbers", plain(lambda x, e, b: b * np.sin(3 * x) + e)),
    Case("spread", "nn", 0.25, "two numbers", plain(lambda x, e, b: np.exp(b * x) * e)),
    Case("class", "cn", 0.4, "class, number", classes(False)),
    Case("linear, given z", "nnn", 0.2, "two numbers given z", given(lambda x, _, e, b: b * x + e)),
    Case("x², given z", "nnn", 0.25, "two numbers given z", given(lambda x, _, e, b: b * x * x + e)),
    Case("x·z, given z", "nnn", 0.25, "two numbers given z", given(lambda x, z, e, b: b * x * z + e)),
    Case("spread, given z", "nnn", 0.4, "two numbers given z", given(lambda x, _, e, b: np.exp(b * x) * e)),
    Case("linear, given z²", "nnn", 0.15, "two numbers given z²", curved),
    Case("class, given z", "cnn", 0.4, "class, number given z", classes(True)),
    Case("to a class, given z", "ncn", 0.25, "number, class given z", to_class),
)
NULLS = {case.null: case for case in CASES}


def samples(count: int, rows: tuple[int, ...]) -> dict[str, NDArray[np.float64]]:
    """Return samples of all cases and of their nulls, by name, rows and kinds."""
    found = {}
    for n in rows:
        for k, (title, case, effect) in enumerate(
            [*((null, case, 0.0) for null, case in NULLS.items()), *((c.title, c, c.effect) for c in CASES)]
        ):
            random = np.random.default_rng([n, k])
            drawn = [np.stack(case.draw(random, n, effect), axis=1) for _ in range(count)]
            found[f"{title}/{n};{case.kinds}"] = np.stack(drawn)
    return found


def rejected(p: list[float], level: float = LEVEL) -> float:
    """Return the share of p-values up to a level."""
    return float(np.mean(np.array(p) <= level))


def power(p: list[float], null: list[float]) -> float:
    """Return the power at the level at which the test has no more than the nominal size under the null."""
    ordered = sorted(null)
    allowed = int(LEVEL * len(ordered))
    return float(np.mean(np.array(p) < ordered[allowed])) if ordered[allowed] <= LEVEL else rejected(p)


def line(
    found: Mapping[str, Any], titles: list[str], show: Callable[[dict[str, Any], str], str], fewest: int = FEWEST
) -> list[str]:
    """Return a cell for each title: a text for each number of rows."""
    cells = []
    for title in titles:
        texts = []
        for n in ROWS:
            entry = found.get(f"{title}/{n}", {})
            texts.append(show(entry, f"{title}/{n}") if len(entry.get("p", ())) >= fewest else "–")
        cells.append("–" if set(texts) == {"–"} else " ".join(texts))
    return cells


def tables(found: Mapping[tuple[str, str], Mapping[str, Any]]) -> dict[str, str]:
    """Return the tables of size, of power and of time."""
    null_of = {f"{case.title}/{n}": f"{case.null}/{n}" for case in CASES for n in ROWS}
    size_lines, power_lines, time_lines = [], [], []
    for (tool, method), answers in found.items():
        name = f"{tool} `{method}`"

        def size(entry: dict[str, Any], _: str) -> str:
            p = entry["p"]
            high = exceeds(round(rejected(p) * len(p)), TOLERANCE * LEVEL * len(p))
            return bold(f"{rejected(p):.2f}".lstrip("0"), high)

        def against(entry: dict[str, Any], title: str, answers: Mapping[str, Any] = answers) -> str:
            null = answers.get(null_of[title], {}).get("p", [])
            return f"{power(entry['p'], null):.2f}".removeprefix("0") if len(null) >= FEWEST else "–"

        def milliseconds(entry: dict[str, Any], _: str) -> str:
            return short(1e3 * entry["seconds"], 2)

        size_lines.append([name, *line(answers, list(NULLS), size)])
        power_lines.append([name, *line(answers, [case.title for case in CASES], against)])
        time_lines.append([name, *line(answers, ["linear", "linear, given z", "class, given z"], milliseconds, 1)])
    halves = (slice(0, 5), slice(5, None))
    head = [case.title for case in CASES]
    return {
        "size beside peers": markdown(("test", *NULLS), size_lines, words=range(20)),
        "power given nothing": markdown(
            ("test", *head[halves[0]]), [[r[0], *r[1:][halves[0]]] for r in power_lines], words=range(20)
        ),
        "power given z": markdown(
            ("test", *head[halves[1]]), [[r[0], *r[1:][halves[1]]] for r in power_lines], words=range(20)
        ),
        "time beside peers": markdown(
            ("test", "given nothing", "given z", "class, given z"), time_lines, words=range(4)
        ),
    }


def measure(
    runner: Runner, tool: str, method: str, drawn: Mapping[int, Mapping[str, Floats]], seconds: float
) -> Answers:
    """Return the answers of a method to all cases, and the version of its package.

    Every number of rows has a process of its own, as the answers of some packages depend on what they did before. A
    case that was too slow for `FEWEST` samples is left out at more rows.
    """
    found: dict[str, Any] = {}
    version, slow, data = "", set[str](), runner.folder / "data.npz"
    for n, cases in drawn.items():
        left = {name: values for name, values in cases.items() if name.partition("/")[0] not in slow}
        if not left:
            break
        write(data, seconds, left)
        answer = runner.call(tool, method, data)
        if "found" not in answer:
            report(f"  {n:,} rows: {answer.get('error', f'over {runner.limit:g} s')}")
            break
        version = answer["version"]
        found |= answer["found"]
        for case, entry in answer["found"].items():
            if "error" in entry and NUMBERS_ONLY not in entry["error"]:
                report(f"  {case}: {entry['error']}")
            if entry.get("seconds", 0.0) * FEWEST > seconds:
                slow.add(case.partition("/")[0])
    return found, version


def run(options: argparse.Namespace) -> None:
    """Test the same samples by all packages that are there, print tables, and write them into the page."""
    interpreters = environments(options)
    count, rows = (FEWEST, ROWS[:1]) if options.quick else (options.samples, ROWS)
    drawn = {n: samples(count, (n,)) for n in rows}
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    versions: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        warm = Path(name) / "warm.npz"
        write(warm, options.seconds, samples(1, ROWS[:1]))
        runner = Runner("independence", Path(name), warm, interpreters, LEVEL, options.limit)
        for tool, method in METHODS:
            if tool not in runner.tools or (tool == "serape" and options.tests and method not in options.tests):
                continue
            report(f"power: {tool} {method}")
            answers, version = measure(runner, tool, method, drawn, options.seconds)
            if answers:
                found[tool, method], versions[tool] = answers, version
    put(tables(found), options.page)
    print("\n" + ", ".join(f"{tool} {version}" for tool, version in versions.items()))
    save("calibration-power", {"versions": versions, "found": {f"{t} {m}": f for (t, m), f in found.items()}})
