"""The runs of the corpus of answers: a number determines the data, the question and every setting.

Names are listed here and not looked up, so that an algorithm or test that is added later leaves the runs as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corpus_data import NETWORKS, ROWS, Data, Kind, by_function, oracle, sampled, sparse, tabular

RUNS = 5000

BLANKET = (
    "gs", "iamb", "inter-iamb", "iamb-npc", "inter-iamb-npc", "fast-iamb", "mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos",
    "hpc", "hpc-mb", "boss-mb", "auto",
)  # fmt: skip
NEIGHBOURS = ("inter-iapc", "mmpc", "hiton-pc", "pcmb", "ipc-mb", "dos", "hpc", "auto")
NETWORK = (
    "pc-stable",
    "mmhc",
    "h2pc",
    "ges",
    "sca",
    "tabu",
    "hiton-pc",
    "mmpc",
    "hpc",
    "inter-iapc",
    "pcmb",
    "dos",
    "ipc-mb",
)
BY_SCORE = ("ges", "sca", "tabu")
INCREMENTAL = ("gs", "iamb", "inter-iamb", "iamb-npc", "inter-iamb-npc", "fast-iamb", "inter-iapc", "auto")
TESTS = {
    "categorical": ("auto", "auto", "g2", "g2", "g2", "x2", "x2", "trend", "g2-permutation", "mixed", "regression"),
    "continuous": (
        "auto", "partial-correlation", "fisher-z", "spearman", "normal-scores", "correlation-permutation", "regression",
        "mixed",
    ),
    "mixed": ("auto", "mixed", "mixed", "regression"),
}  # fmt: skip
SLOW = ("trend", "g2-permutation", "correlation-permutation", "regression", "mixed")
QUESTIONS = {
    "markov_blanket": 1350, "parents_children": 750, "blankets": 330, "region": 150, "skeleton": 280, "network": 420,
    "stability": 90, "alpha_path": 110, "all_pairs": 130, "ci_test": 260, "table": 80, "columns": 50,
}  # fmt: skip
CHECKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mmpc", {"symmetry": False}),
    ("mmmb", {"symmetry": False}),
    ("mmmb", {"published": True}),
    ("hiton-pc", {"symmetry": False}),
    ("hiton-mb", {"symmetry": False, "semi_interleaved": True}),
    ("iamb", {"cases": 20}),
)
"""What `check_algorithm` is asked: mostly about what errs, because the search for an error ends there."""
SHARED: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("blankets", "alarm", 20_000, {"algorithm": "hpc"}),
    ("blankets", "insurance", 20_000, {"algorithm": "mmmb", "alpha": 0.01}),
    ("blankets", "andes", 5000, {"algorithm": "iamb", "test": "x2"}),
    ("blankets", "hailfinder", 2000, {"algorithm": "hiton-mb", "max_conditioning": 2}),
    ("skeleton", "alarm", 20_000, {"algorithm": "hpc"}),
    ("skeleton", "win95pts", 5000, {"algorithm": "pc-stable"}),
    ("skeleton", "hepar2", 20_000, {"algorithm": "hiton-pc", "rule": "or"}),
    ("network", "andes", 2000, {"algorithm": "mmhc"}),
    ("network", "win95pts", 1000, {"algorithm": "h2pc"}),
    ("network", "insurance", 2000, {"algorithm": "ges"}),
    ("stability", "alarm", 10_000, {"target": "HR", "algorithm": "mmmb", "draws": 40}),
    ("alpha_path", "insurance", 20_000, {"target": 3, "algorithm": "pcmb"}),
    ("all_pairs", "andes", 2000, {}),
    ("all_pairs", "pathfinder", 2000, {}),
)
"""Work large enough to be shared between processes or threads: question, network, rows, settings; for 1 and 2 jobs."""
INVALID: tuple[dict[str, Any], ...] = (
    {"alpha": 0.0}, {"alpha": 1.5}, {"algorithm": "no-such-algorithm"}, {"test": "no-such-test"}, {"target": "nobody"},
    {"max_conditioning": -1}, {"dof": "none"}, {"reliability": "none"}, {"n_jobs": 0}, {"no_such_option": 1},
    {"random_state": -1}, {"target": 1000}, {"algorithm": "mmhc"}, {"knowledge": {"required": [["x0", "nobody"]]}},
    {"known_members": ["nobody"]}, {"forbidden_members": "x0"},
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One call."""

    number: int
    question: str
    data: Data | None
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{self.question}({self.data.words if self.data else 'no data'}; {words})"


def make_run(number: int) -> Run:
    """Return the run of a number."""
    random = np.random.default_rng([18, number])
    if number < len(CHECKS):
        algorithm, options = CHECKS[number]
        return Run(number, "check_algorithm", None, {"algorithm": algorithm, "cases": 0, **options})
    if number < len(CHECKS) + 2 * len(SHARED):
        at, jobs = divmod(number - len(CHECKS), 2)
        question, name, rows, settings = SHARED[at]
        return Run(number, question, sampled(name, rows, at), {**settings, "n_jobs": 1 + jobs})
    weights = np.array(list(QUESTIONS.values()), float)
    question = str(random.choice(list(QUESTIONS), p=weights / weights.sum()))
    return _Maker(random, number, question).make()


class _Maker:
    """Draws a run."""

    def __init__(self, random: np.random.Generator, number: int, question: str) -> None:
        self.random, self.number, self.question = random, number, question

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def pick(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def some(self, names: tuple[str, ...], most: int) -> list[str]:
        return [names[k] for k in self.random.permutation(len(names))[: self.random.integers(most + 1)]]

    def make(self) -> Run:
        match self.question:
            case "all_pairs" | "ci_test" | "table" | "columns":
                data, test = self.data("none")
                return Run(self.number, self.question, data, getattr(self, f"_{self.question}")(data, test))
            case "parents_children" | "region" | "skeleton":
                algorithm = NEIGHBOURS[self.number % len(NEIGHBOURS)]
                if self.question == "skeleton" and self.chance(0.25):
                    algorithm = "pc-stable"
            case "network":
                algorithm = NETWORK[self.number % len(NETWORK)]
            case _:
                algorithm = BLANKET[self.number % len(BLANKET)]
        data, test = self.data(algorithm)
        settings: dict[str, Any] = {"algorithm": algorithm}
        if algorithm not in BY_SCORE:
            settings |= self.settings(algorithm, data, test)
        if self.chance(0.3):
            settings["n_jobs"] = self.pick([2, 4])
        if self.chance(0.15):
            settings["knowledge"] = self.knowledge(data.names)
        settings |= getattr(self, f"_{self.question}")(data, settings)
        return Run(self.number, self.question, data, settings)

    # --- data ----------------------------------------------------------------------------------------------------

    def data(self, algorithm: str) -> tuple[Data, str]:
        """Draw data, and the name of a test that can answer questions about them."""
        scored = algorithm in ("mmhc", "h2pc", *BY_SCORE)
        needs_rows = self.question in ("stability", "table", "columns")
        most = 9 if algorithm in ("dos", "ipc-mb", "pcmb") else 16
        many = self.question in ("blankets", "skeleton", "network", "stability", "alpha_path", "region")
        if not (scored or needs_rows):
            if self.chance(0.1):
                return oracle(self.random, int(self.random.integers(3, 9 if many else 13))), "auto"
            if self.chance(0.04):
                return by_function(tabular(self.random, "categorical", self.pick(ROWS[:5]), 5, 3, gaps=False)), "auto"
        if self.chance(0.2) and self.question not in ("table", "columns"):
            name = self.pick(NETWORKS[:6] if many and most < 16 else NETWORKS)
            return sampled(name, int(self.pick([50, 200, 1000, 5000])), int(self.random.integers(100))), self.pick(
                ["auto", "g2", "x2"]
            )
        kind: Kind = "categorical" if scored or self.chance(0.55) else self.pick(["continuous", "continuous", "mixed"])
        test = self.pick(TESTS[kind])
        if kind == "mixed" or test in SLOW:
            return tabular(self.random, kind, self.pick(ROWS[:6]), int(self.random.integers(3, 7 if many else 9))), test
        if kind == "categorical" and self.chance(0.12):
            return sparse(self.random, self.pick(ROWS), int(self.random.integers(4, most))), test
        if self.chance(0.12):  # few rows
            return tabular(self.random, kind, int(self.random.integers(2, 31)), int(self.random.integers(3, 12))), test
        if kind == "categorical" and self.chance(0.05):
            return tabular(
                self.random, kind, self.pick(ROWS), int(self.random.integers(3, 7)), int(self.pick([40, 300]))
            ), test
        if self.chance(0.1) and (algorithm in (*INCREMENTAL, "none") or algorithm.startswith("hiton")) and not scored:
            wide = tabular(
                self.random, kind, self.pick(ROWS[:5]), int(self.random.integers(60, 130 if many else 600)), 3
            )
            return wide, test
        if self.chance(0.02) and not many:
            return tabular(self.random, kind, int(self.pick([20_000, 66_000])), 6, 2), test
        width = int(self.random.integers(3, most))
        return tabular(self.random, kind, self.pick(ROWS), width, self.pick([None, None, 2, 3])), test

    # --- settings ------------------------------------------------------------------------------------------------

    def settings(self, algorithm: str, data: Data, test: str) -> dict[str, Any]:
        """Draw what nearly every question takes."""
        found: dict[str, Any] = {}
        if test != "auto":
            found["test"] = test
        if self.chance(0.6):
            found["alpha"] = self.pick([0.001, 0.01, 0.02, 0.1, 0.3])
        wide = len(data.names) > 20
        if self.chance(0.3) or wide or (test in SLOW and algorithm not in INCREMENTAL):
            found["max_conditioning"] = int(self.pick([1, 2] if wide else [0, 1, 2, 3]))
        if data.kind != "oracle":
            if self.chance(0.3):
                found["dof"] = self.pick(["full", "adjusted"])
            if self.chance(0.3):
                found["reliability"] = self.pick(["dof", "cells", *([] if wide else [None])])
        if self.chance(0.15) and self.question != "stability":
            found["random_state"] = int(self.random.integers(1000))
        return found | self.options(algorithm)

    def options(self, algorithm: str) -> dict[str, Any]:
        """Draw options of an algorithm."""
        choices: dict[str, tuple[Any, ...]] = {
            "mmpc": ({"symmetry": False}, {"published": True}, {"symmetry": True}),
            "hiton-pc": ({"symmetry": False}, {"semi_interleaved": True}),
            "fast-iamb": ({"k": 1.0}, {"k": 20.0}),
            "ipc-mb": ({"order": "table"}, {"order": "strength"}),
        }
        choices |= {"mmmb": choices["mmpc"], "hiton-mb": choices["hiton-pc"]}
        return self.pick(choices[algorithm]) if algorithm in choices and self.chance(0.4) else {}

    def knowledge(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Draw arcs that are known; one in a few contradicts itself."""

        def arcs(most: int) -> list[list[str]]:
            pairs = (self.random.permutation(len(names))[:2] for _ in range(self.random.integers(most + 1)))
            return [[names[a], names[b]] for a, b in pairs]

        found: dict[str, Any] = {"required": arcs(1), "forbidden": arcs(3), "forbidden_pairs": arcs(3)}
        if self.chance(0.4):
            found["tiers"] = [[name for k, name in enumerate(names) if k % 3 == tier] for tier in range(2)]
        return {name: value for name, value in found.items() if value}

    # --- questions -----------------------------------------------------------------------------------------------

    def _target(self, data: Data) -> dict[str, Any]:
        at = int(self.random.integers(len(data.names)))
        return {"target": at if self.chance(0.2) else data.names[at]}

    def _members(self, data: Data) -> dict[str, Any]:
        found = {}
        if self.chance(0.12):
            found["known_members"] = self.some(data.names, 2)
        if self.chance(0.12):
            found["forbidden_members"] = self.some(data.names, 2)
        return {name: value for name, value in found.items() if value}

    def _markov_blanket(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        del settings
        found = self._target(data) | self._members(data)
        return found | (self.pick(INVALID) if data.kind != "oracle" and self.chance(0.03) else {})

    _parents_children = _markov_blanket

    def _blankets(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        del settings
        some = len(data.names) > 40 or self.chance(0.4)
        return {"targets": self.some(data.names, 5) or [data.names[0]]} if some else {}

    def _region(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        del settings
        return self._target(data) | {"depth": int(self.pick([1, 2, 2, 3]))}

    def _skeleton(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        del data
        return {"rule": "or"} if settings["algorithm"] != "pc-stable" and self.chance(0.3) else {}

    def _network(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        algorithm = settings["algorithm"]
        found: dict[str, Any] = self._skeleton(data, settings) if algorithm not in BY_SCORE else {}
        if algorithm in ("mmhc", "h2pc", *BY_SCORE):
            if self.chance(0.6):
                found["score"] = self.pick(["bdeu", "bic", "aic", "k2"])
            if self.chance(0.2):
                found["equivalent_sample_size"] = self.pick([0.5, 10.0])
            if self.chance(0.3):
                found["max_parents"] = int(self.pick([1, 2, 3]))
        if algorithm in ("mmhc", "sca", "tabu") and self.chance(0.3):
            found |= {"tabu": int(self.pick([1, 10])), "patience": int(self.pick([0, 5]))}
        if algorithm == "sca" and self.chance(0.5):
            found["k"] = int(self.pick([1, 3]))
        return found

    def _stability(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        del settings
        drawn = {"draws": int(self.pick([3, 6])), "sampling": self.pick(["half", "bootstrap"])}
        return self._target(data) | self._members(data) | drawn | {"random_state": int(self.random.integers(9))}

    def _alpha_path(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        settings.pop("alpha", None)
        return (
            self._target(data)
            | self._members(data)
            | {"alphas": [0.0001, 0.01, 0.05, 0.2][: self.random.integers(1, 5)]}
        )

    def _all_pairs(self, data: Data, test: str) -> dict[str, Any]:
        del data
        found = {"test": test, "alpha": self.pick([0.01, 0.05, 0.3]), "strongest": int(self.pick([0, 1, 3, 10]))}
        return found | ({"n_jobs": 2} if self.chance(0.3) else {})

    def _ci_test(self, data: Data, test: str) -> dict[str, Any]:
        """Draw several questions: x, y and what is given."""
        width = len(data.names)
        sizes = [2 + int(self.random.integers(min(width - 1, 6))) for _ in range(12)]
        asked = [[data.names[k] for k in self.random.permutation(width)[:size]] for size in sizes]
        rules = {"dof": self.pick(["full", "adjusted"]), "reliability": self.pick(["dof", "cells", None])}
        return {"asked": asked, "test": test, **(rules if data.kind != "oracle" else {})}

    def _table(self, data: Data, test: str) -> dict[str, Any]:
        del data, test
        return {}

    def _columns(self, data: Data, test: str) -> dict[str, Any]:
        """Draw a question about columns themselves: degenerate ones, or classes of continuous ones."""
        del data, test
        if self.chance(0.5):
            return {"tolerance": self.pick([None, 0.0, 0.1])}
        return {"method": self.pick(["quantile", "width"]), "bins": int(self.pick([2, 5]))}
