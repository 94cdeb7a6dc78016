"""The later sections of the corpus: every question, algorithm and setting, and what results print and save.

A section and a number determine the data, the question and every setting. Names are listed here and not looked up, so
that an algorithm that is added later leaves the runs as they are; `missing_names` says which are not asked about.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import serape
from corpus_data import Column, Data, digest, draw_columns, oracle
from serape.independence.registry import TESTS as ALL_TESTS
from serape.structure.score_choice import NUMBER_SCORES
from serape.structure.scores import SCORES as COUNT_SCORES

SECTIONS = {
    "blanket": 720, "neighbours": 270, "blankets": 90, "all_blankets": 240, "causes": 480, "context_blankets": 180,
    "joint_blanket": 150, "knockoffs": 120, "wrapper": 40, "describe": 150, "skeleton": 200, "network": 420,
    "region": 90, "stability": 120, "alpha_path": 60, "all_pairs": 80, "command": 168,
    "hidden": 40, "rows": 144, "part": 20, "cores": 54, "budget": 90,
}  # fmt: skip
"""The sections, and the number of runs of each."""

BLANKET = (
    "gs", "iamb", "inter-iamb", "iamb-npc", "inter-iamb-npc", "fast-iamb", "fbed", "mmmb", "hiton-mb", "pcmb", "ipc-mb",
    "dos", "hpc", "hpc-mb", "boss-mb", "auto",
)  # fmt: skip
NEIGHBOURS = ("inter-iapc", "mmpc", "hiton-pc", "pcd", "pcmb", "ipc-mb", "dos", "hpc", "auto")
SKELETON = (*NEIGHBOURS, "pc-stable")
NETWORK = (*SKELETON, "mmhc", "h2pc", "ges", "xges", "boss", "sca", "tabu")
SCORED = ("mmhc", "h2pc", "ges", "xges", "boss", "sca", "tabu")
BY_SCORE = ("ges", "xges", "boss", "sca", "tabu")
CAUSES = ("mb-by-mb", "ldecc", "mmb-by-mmb", "auto")
STEPWISE = (
    "gs", "iamb", "inter-iamb", "iamb-npc", "inter-iamb-npc", "fast-iamb", "fbed", "inter-iapc", "auto",
)  # fmt: skip
COUNTED = ("bdeu", "bic", "aic", "k2", "loglik")  # the last is refused: it rises with every arc
OF_NUMBERS = ("gaussian-bic", "gaussian-ebic", "bge")
OF_MIXTURES = ("cg-bic", "cg-ebic", "block-ebic")
TESTS = {
    "categorical": (
        "auto", "auto", "g2", "x2", "trend", "g2-permutation", "g2-semiparametric", "x2-moments", "g2-shrinkage",
        "regression",
    ),
    "continuous": (
        "auto", "auto", "fisher-z", "partial-correlation", "spearman", "normal-scores", "residuals",
        "monotone-residuals", "correlation-permutation", "gcm", "pcm", "mixed",
    ),
    "mixed": ("auto", "auto", "residuals", "monotone-residuals", "mixed", "regression", "gcm"),
}  # fmt: skip
SLOW = ("trend", "g2-permutation", "correlation-permutation", "regression", "gcm", "pcm")
WEIGHTED = {"categorical": ("auto", "g2", "x2"), "continuous": ("auto", "partial-correlation"), "mixed": ("auto",)}
RATES = (None, 0.01, 0.05, 0.2, 0.5, "auto")
TAKES_KNOWLEDGE = (
    "blanket", "neighbours", "blankets", "all_blankets", "causes", "context_blankets", "joint_blanket", "region",
    "skeleton", "network",
)  # fmt: skip
TARGETED = (
    "blanket", "neighbours", "causes", "all-blankets", "path", "stability", "contexts", "knockoffs", "region",
)  # fmt: skip
"""Commands about one target."""
HIDDEN = ("gs", "iamb", "inter-iamb", "fast-iamb", "fbed", "auto", "iamb", "hiton-mb")  # the last is refused
OF_ROWS = ("causes", "joint_blanket", "context_blankets", "skeleton", "network", "all_blankets")
"""Questions that are asked with weights and with groups in a section of their own."""
OF_CORES = ("blankets", "skeleton", "network", "joint_blanket", "all_pairs", "stability")
OF_BUDGETS = (
    "markov_blanket", "parents_children", "blankets", "all_blankets", "causes", "context_blankets", "joint_blanket",
    "skeleton", "network", "region",
)  # fmt: skip
TAKES_MEMBERS = ("blanket", "neighbours", "all_blankets", "context_blankets")
COMMANDS = (
    "describe", "blanket", "neighbours", "causes", "all-blankets", "path", "stability", "contexts", "joint",
    "knockoffs", "region", "skeleton", "network", "algorithms",
)  # fmt: skip


def missing_names() -> list[str]:
    """Return the names of algorithms, tests and scores that no run asks about."""
    asked = {*BLANKET, *NEIGHBOURS, *NETWORK, *CAUSES, *(name for names in TESTS.values() for name in names)}
    asked |= {*COUNTED, *OF_NUMBERS, *OF_MIXTURES}
    known = [*serape.algorithms()["name"], *ALL_TESTS, *COUNT_SCORES, *NUMBER_SCORES]
    return [name for name in known if name not in asked]


@dataclass(frozen=True)
class Question:
    """One call."""

    section: str
    number: int
    data: Data | None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the run in the record."""
        return f"{self.section}-{self.number}"

    def __str__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{self.section}({self.data.words if self.data else 'no data'}; {words})"


def make_question(section: str, number: int) -> Question:
    """Return the run of a section and a number."""
    return _Maker(section, number).make()


class _Maker:
    """Draws a run."""

    def __init__(self, section: str, number: int) -> None:
        self.random = np.random.default_rng([41, zlib.crc32(section.encode()), number])
        self.section, self.number = section, number
        self.kind = "categorical"
        self.names_target = ""

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def pick(self, values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def some(self, names: tuple[str, ...], most: int) -> list[str]:
        return [names[k] for k in self.random.permutation(len(names))[: self.random.integers(1, most + 1)]]

    def turn(self, values: tuple[Any, ...]) -> Any:
        """Return each of the values in turn, so that none is forgotten."""
        return values[self.number % len(values)]

    def make(self) -> Question:
        data, settings = getattr(self, f"_{self.section}")()
        return Question(self.section, self.number, data, settings)

    # --- data ----------------------------------------------------------------------------------------------------

    def table(
        self,
        kinds: tuple[str, ...],
        rows: tuple[int, ...],
        widths: tuple[int, int],
        *,
        gaps: bool = True,
        levels: int = 4,
    ) -> tuple[Data, dict[str, Any]]:
        """Draw columns, and settings for the data: rules for gaps, weights, groups, kinds."""
        self.kind = self.pick(kinds)
        count, width = int(self.pick(rows)), int(self.random.integers(*widths))
        share = {"categorical": 0.0, "continuous": 1.0}.get(self.kind, 0.5)
        of_columns = [0 if self.chance(share) else int(self.random.integers(2, levels + 1)) for _ in range(width)]
        if self.kind == "mixed":
            of_columns[:2] = [0, 3]
        columns = draw_columns(self.random, count, of_columns)
        names = tuple(f"v{k}" for k in range(width))
        settings: dict[str, Any] = {"kinds": _kinds(dict(zip(names, columns, strict=True)))}
        words = f"{self.kind} {count}×{width}"
        if gaps and self.chance(0.2):
            rule = self.pick(["drop", "pairwise", "level"] if self.kind == "categorical" else ["drop", "pairwise"])
            columns = [np.where(self.random.random(count) < 0.03, np.nan, c) for c in columns]
            settings["missing"] = {"*": rule, names[0]: "drop"} if self.chance(0.2) else rule
            words += f", gaps ({settings['missing']})"
        held = dict(zip(names, columns, strict=True))
        return Data(words, lambda: held, names, "mixed", digest(columns)), settings

    def with_rows(self, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        """Draw weights or groups of the rows."""
        rows = len(next(iter(data.make().values())))
        if self.chance(0.12) and "missing" not in settings:
            whole = self.chance(0.5)
            weights = self.random.integers(0, 4, rows) if whole else self.random.integers(1, 9, rows) / 4
            settings["test"] = self.pick(WEIGHTED[self.kind])
            return {"sample_weight": weights, "weight_kind": "frequency" if whole else "survey"}
        return {"groups": self.random.integers(0, rows // 3 + 1, rows)} if self.chance(0.06) else {}

    # --- settings ------------------------------------------------------------------------------------------------

    def search(self, algorithm: str, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        """Draw what nearly every question takes."""
        found: dict[str, Any] = {"algorithm": algorithm}
        test = self.pick(TESTS[self.kind]) if data.kind != "oracle" else "auto"
        if test in SLOW and self.section not in ("blanket", "neighbours"):
            test = "auto"
        found["test"] = settings.pop("test", test)
        if self.chance(0.5):
            found["alpha"] = self.pick([0.001, 0.01, 0.05, 0.2])
        if self.chance(0.6):
            found["fdr"] = self.pick(RATES)
            methods = ("auto", "bh", "by") if algorithm in STEPWISE else ("auto", "bh", "by", "adaptive")
            if found["fdr"] is not None and self.chance(0.6):
                found["fdr_method"] = self.pick(methods)
        if self.chance(0.12) and data.kind != "oracle":
            found["min_effect"] = self.pick([0.001, 0.02, 0.1])
        if self.chance(0.3) or test in SLOW:
            found["max_conditioning"] = self.pick([1, 2, 3])
        if self.kind == "categorical" and data.kind != "oracle" and self.chance(0.2):
            found |= {"dof": self.pick(["full", "adjusted"]), "reliability": self.pick(["dof", "cells", None])}
        if self.chance(0.08):
            found["random_state"] = int(self.random.integers(100))
        if self.section in TAKES_KNOWLEDGE and self.chance(0.35):
            found["knowledge"] = self.knowledge(data.names)
        others = tuple(name for name in data.names if name != self.names_target)
        if self.section in TAKES_MEMBERS and self.chance(0.15):
            found["known_members"] = self.some(others, 2)
        if self.section in TAKES_MEMBERS and self.chance(0.15):
            found["forbidden_members"] = self.some(others, 2)
        return found

    def knowledge(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Draw knowledge of each form in turn, and of several at once; it seldom contradicts itself."""
        order = [names[k] for k in self.random.permutation(len(names))]

        def arcs(most: int) -> list[list[str]]:
            count = int(self.random.integers(1, most + 1))
            drawn = (sorted(self.random.permutation(len(order))[:2].tolist()) for _ in range(count))
            return [[order[a], order[b]] for a, b in drawn]

        forms = ("required", "forbidden", "forbidden_pairs", "tiers", "both ways")
        chosen = {self.turn(forms), *(form for form in forms if self.chance(0.2))}
        found: dict[str, Any] = {}
        if "required" in chosen:
            found["required"] = arcs(1)
        if "forbidden" in chosen:
            found["forbidden"] = [[b, a] for a, b in arcs(3)]
        if "both ways" in chosen:
            found["forbidden"] = found.get("forbidden", []) + [pair for a, b in arcs(1) for pair in ([a, b], [b, a])]
        if "forbidden_pairs" in chosen:
            found["forbidden_pairs"] = arcs(3)
        if "tiers" in chosen:
            cut = int(self.random.integers(1, len(order)))
            found["tiers"] = [order[:cut], order[cut:]]
        return found

    def target(self, data: Data) -> dict[str, Any]:
        at = int(self.random.integers(len(data.names)))
        self.names_target = data.names[at]
        return {"target": at if self.chance(0.1) else data.names[at]}

    def any_data(self, most: int = 9, share: float = 0.15) -> tuple[Data, dict[str, Any]]:
        """Draw data of any kind, or a graph."""
        if self.chance(share):
            return oracle(self.random, int(self.random.integers(3, most + 1))), {}
        return self.table(("categorical", "categorical", "continuous", "mixed"), (60, 150, 300, 600), (3, most))

    def local(self, algorithms: tuple[str, ...], most: int = 9) -> tuple[Data, dict[str, Any]]:
        """Draw a question about one target."""
        algorithm = self.turn(algorithms)
        data, settings = self.any_data(most)
        if data.kind != "oracle":
            settings |= self.with_rows(data, settings)
        settings |= self.target(data)
        return data, settings | self.search(algorithm, data, settings)

    # --- questions -----------------------------------------------------------------------------------------------

    def _blanket(self) -> tuple[Data, dict[str, Any]]:
        return self.local(BLANKET)

    def _neighbours(self) -> tuple[Data, dict[str, Any]]:
        return self.local(NEIGHBOURS)

    def _blankets(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.local(BLANKET, 7)
        settings["targets"] = self.some(data.names, 3)
        del settings["target"]
        return data, settings

    def _all_blankets(self) -> tuple[Data, dict[str, Any]]:
        """Draw data in which a column is often a relabelled or noisy copy of another."""
        data, settings = self.local(BLANKET, 7)
        if data.kind != "oracle" and self.chance(0.6):
            columns: dict[str, Column] = dict(data.make())
            a, b = (data.names[k] for k in self.random.permutation(len(data.names))[:2])
            if settings["kinds"][a] == settings["kinds"][b]:
                copied = columns[a].max() - columns[a]
                noisy = self.random.random(len(copied)) < self.pick([0.0, 0.02])
                columns[b] = np.where(noisy, columns[b], copied)
                data = Data(
                    f"{data.words}, {b} from {a}", lambda: columns, data.names, data.kind, digest([*columns.values()])
                )
        if self.chance(0.3):
            settings["max_blankets"] = self.pick([1, 3])
        return data, settings

    def _causes(self) -> tuple[Data, dict[str, Any]]:
        algorithm = self.turn(CAUSES)
        learners = (*BLANKET, "mmpc")
        data, settings = self.any_data(7, 0.3)
        settings |= self.search(algorithm, data, settings) | self.target(data)
        if self.chance(0.7):
            settings["learner"] = learners[self.number // len(CAUSES) % len(learners)]
        if algorithm == "mmb-by-mmb" or (algorithm == "auto" and self.chance(0.4)):
            settings["hidden"] = True
            if self.chance(0.9):
                settings["learner"] = self.pick(("gs", "iamb", "inter-iamb", "fast-iamb", "fbed"))
        return data, settings

    def _context_blankets(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical", "mixed"), (150, 300, 600), (4, 8), gaps=False, levels=3)
        settings |= self.target(data)
        settings |= self.search(self.turn(BLANKET), data, settings)
        names = [name for name in data.names if settings["kinds"][name] == "categorical" and name != self.names_target]
        return data, settings | {"context": self.pick(names or data.names)}

    def _joint_blanket(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.any_data(8)
        settings |= self.search(self.turn(BLANKET), data, settings)
        return data, settings | {"targets": list(dict.fromkeys([*data.names[:1], *self.some(data.names, 3)]))}

    def _knockoffs(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical",), (100, 300, 600), (4, 8), gaps=False, levels=3)
        settings |= self.target(data) | {"random_state": int(self.random.integers(100))}
        if self.chance(0.5):
            settings["fdr"] = self.pick([0.1, 0.3, 0.5])
        if self.chance(0.3):
            settings["offset"] = self.pick([0, 1])
        return data, settings

    def _wrapper(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical",), (150, 300), (4, 8), gaps=False, levels=2)
        return data, {"kinds": settings["kinds"], "tolerance": self.pick([0.0, 0.02])} | self.target(data)

    def _describe(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical", "continuous", "mixed"), (5, 60, 300), (2, 9))
        if self.chance(0.6):
            settings.pop("kinds")
        if self.chance(0.5):
            settings |= self.target(data)
        if self.chance(0.2) and self.names_target != data.names[0]:
            settings["ignore"] = [data.names[0]]
        if self.chance(0.2):
            settings |= self.with_rows(data, settings)
            settings.pop("test", None)
        return data, settings

    def _skeleton(self) -> tuple[Data, dict[str, Any]]:
        algorithm = self.turn(SKELETON)
        data, settings = self.any_data(7)
        settings |= self.search(algorithm, data, settings)
        return data, settings | ({"rule": "or"} if algorithm != "pc-stable" and self.chance(0.3) else {})

    def _network(self) -> tuple[Data, dict[str, Any]]:
        algorithm = self.turn(NETWORK)
        if algorithm not in SCORED:
            data, settings = self.any_data(7)
        elif algorithm in ("mmhc", "h2pc", "sca"):
            data, settings = self.table(("categorical",), (150, 300, 600), (3, 7), gaps=False)
        else:
            data, settings = self.table(("categorical", "continuous", "mixed"), (150, 300, 600), (3, 7), gaps=False)
        if algorithm in BY_SCORE:
            settings["algorithm"] = algorithm
        else:
            settings |= self.search(algorithm, data, settings)
        if algorithm in SCORED and self.chance(0.7):
            scores = {
                "categorical": COUNTED if algorithm == "tabu" else COUNTED[:-1],
                "continuous": OF_NUMBERS,
                "mixed": OF_MIXTURES,
            }[self.kind]
            settings["score"] = scores[self.number // len(NETWORK) % len(scores)]
        if algorithm in ("tabu", "mmhc", "boss", "ges") and self.chance(0.3):
            settings["max_parents"] = int(self.pick([1, 2, 3]))
        return data, settings

    def _region(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.local(NEIGHBOURS, 7)
        return data, settings | {"depth": int(self.pick([1, 2]))}

    def _stability(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical", "mixed"), (60, 150), (3, 6), gaps=False)
        settings |= self.with_rows(data, settings)
        finds = self.turn(("blanket", "parents-children", "skeleton", "network"))
        settings |= {"finds": finds, "draws": 3, "sampling": self.pick(["half", "bootstrap"])}
        settings |= {"alpha": 0.05} if self.chance(0.5) else {"fdr": 0.2}
        if finds in ("blanket", "parents-children"):
            settings |= self.target(data)
        return data, settings | {"random_state": int(self.random.integers(9))}

    def _alpha_path(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical", "continuous", "mixed"), (60, 150), (3, 7), gaps=False)
        return data, settings | self.target(data) | {"algorithm": self.turn(BLANKET), "alphas": [0.0001, 0.01, 0.1]}

    def _all_pairs(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.table(("categorical", "continuous", "mixed"), (60, 300), (3, 8), gaps=False)
        settings |= {"test": self.pick([t for t in TESTS[self.kind] if t not in SLOW]), "alpha": 0.05}
        return data, settings | {"strongest": int(self.pick([0, 2]))}

    def _hidden(self) -> tuple[Data, dict[str, Any]]:
        data, settings = self.local((self.turn(HIDDEN),), 7)
        return data, settings | {"question": "markov_blanket", "hidden": True}

    def _rows(self) -> tuple[Data, dict[str, Any]]:
        """Draw weights or groups, in turn, for questions that have none in their own sections."""
        question = self.turn(OF_ROWS)
        kinds = ("categorical", "mixed") if question == "context_blankets" else ("categorical", "continuous", "mixed")
        data, settings = self.table(kinds, (150, 300), (4, 7), gaps=False, levels=3)
        count = len(next(iter(data.make().values())))
        which = self.number // len(OF_ROWS) % 3
        if which == 0:
            settings["groups"] = self.random.integers(0, count // 3 + 1, count)
        else:
            weights = self.random.integers(0, 4, count) if which == 1 else self.random.integers(1, 9, count) / 4
            settings |= {"sample_weight": weights, "weight_kind": "frequency" if which == 1 else "survey"}
            settings["test"] = self.pick(WEIGHTED[self.kind])
        return data, settings | self.asked_of(question, data, settings)

    def _part(self) -> tuple[Data, dict[str, Any]]:
        """Draw as many rows as a part may decide about, and more; twice each, with and without."""
        self.random = np.random.default_rng([41, zlib.crc32(b"part"), self.number // 2])
        data, settings = self.table(("continuous", "mixed"), (19_999, 20_000, 24_000), (3, 5), gaps=False, levels=3)
        settings |= self.target(data) | {"algorithm": self.pick(("iamb", "inter-iamb", "fbed", "hiton-mb", "hpc"))}
        question = self.pick(("markov_blanket", "skeleton"))
        if question == "skeleton":
            del settings["target"]
            settings["algorithm"] = self.pick(("hiton-pc", "pc-stable"))
        settings |= {"test": "residuals", "decide_on_part": bool(self.number % 2)}
        return data, settings | {"question": question}

    def _cores(self) -> tuple[Data, dict[str, Any]]:
        question = self.turn(OF_CORES)
        data, settings = self.table(("categorical", "continuous", "mixed"), (150, 300), (4, 7), gaps=False, levels=3)
        settings |= self.asked_of(question, data, settings)
        return data, settings | {"n_jobs": int(self.pick([2, 3]))}

    def _budget(self) -> tuple[Data, dict[str, Any]]:
        question = self.turn(OF_BUDGETS)
        kinds = ("categorical", "mixed") if question == "context_blankets" else ("categorical", "continuous", "mixed")
        data, settings = self.table(kinds, (150, 300), (4, 7), gaps=False, levels=3)
        settings |= self.asked_of(question, data, settings)
        return data, settings | {"max_tests": int(self.pick([1, 5, 20, 60, 200]))}

    def asked_of(self, question: str, data: Data, settings: dict[str, Any]) -> dict[str, Any]:
        """Draw the settings of a question of a section that has several."""
        found: dict[str, Any] = {"question": question}
        if question == "all_pairs":
            return found | {"test": self.pick([t for t in TESTS[self.kind] if t not in SLOW]), "alpha": 0.05}
        if question == "stability":
            found |= {"finds": self.pick(("blanket", "skeleton")), "draws": 4, "random_state": 1, "alpha": 0.05}
            return found | (self.target(data) if found["finds"] == "blanket" else {})
        if question in ("markov_blanket", "parents_children", "all_blankets", "causes", "context_blankets", "region"):
            found |= self.target(data)
        if question == "joint_blanket":
            found["targets"] = list(data.names[:2])
        algorithms: dict[str, tuple[str, ...]] = {
            "skeleton": SKELETON, "network": (*SKELETON, "mmhc", "h2pc"), "causes": CAUSES, "region": NEIGHBOURS,
            "parents_children": NEIGHBOURS,
        }  # fmt: skip
        found |= self.search(self.pick(algorithms.get(question, BLANKET)), data, settings)
        if question == "causes" and self.chance(0.5):
            found["learner"] = self.pick(BLANKET)
        if found.get("algorithm") == "mmb-by-mmb":
            found |= {"hidden": True, "learner": self.pick(HIDDEN[:5])}
        if question == "context_blankets":
            names = [name for name in data.names if settings["kinds"][name] == "categorical"]
            found["context"] = self.pick([name for name in names if name != self.names_target] or data.names)
        return found

    def _command(self) -> tuple[Data, dict[str, Any]]:
        command = self.turn(COMMANDS)
        kinds = ("categorical",) if command in ("contexts", "knockoffs") else ("categorical", "continuous", "mixed")
        data, settings = self.table(kinds, (150, 300), (4, 7), gaps=False, levels=3)
        kinds_of = [word for name, kind in settings["kinds"].items() for word in ("--kind", f"{name}={kind}")]
        arguments = [command] + ([] if command == "algorithms" else ["data.csv", *kinds_of])
        if command in TARGETED:
            arguments += ["--target", data.names[0]]
        if command == "contexts":
            arguments += ["--context", data.names[1]]
        if command == "joint":
            arguments += ["--target", data.names[0], "--target", data.names[1]]
        if command == "stability":
            arguments += ["--draws", "3"]
        if command in ("blanket", "neighbours", "causes", "all-blankets", "skeleton", "network") and self.chance(0.5):
            arguments += ["--alpha", "0.05"] if self.chance(0.5) else ["--fdr", "0.1"]
        if command in ("blanket", "neighbours") and self.chance(0.5):
            arguments += ["--explain", data.names[2]]
        if command != "algorithms" and self.number // len(COMMANDS) % 2:
            arguments += ["--json"]
        return data, {"arguments": arguments}


def _kinds(columns: dict[str, Column]) -> dict[str, str]:
    return {name: "continuous" if c.dtype.kind == "f" else "categorical" for name, c in columns.items()}
