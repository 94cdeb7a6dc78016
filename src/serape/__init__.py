"""Find the Markov blanket of a variable: the smallest set of columns that makes it independent of all others.

A public name is imported when it is first used, with what it needs and no more. `__init__.pyi` tells type checkers
what each is.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from serape import _core  # noqa: F401 - first, as it refuses interpreters that it cannot serve, before NumPy fails

_NAMES = {
    "data": ("Table", "Variable"),
    "data.degenerate": ("degenerate", "determined_by"),
    "data.discretise": ("Discretised", "discretise"),
    "data.packing": ("pack", "verify_packed"),
    "data.tables": ("join_tables",),
    "errors": (
        "ClusterError",
        "DataError",
        "EmptyBlanketWarning",
        "IncompleteSearchWarning",
        "InputTypeError",
        "Interrupted",
        "MissingLibraryError",
        "OptionError",
        "SerapeError",
    ),
    "independence": ("GCM", "PCM", "DSeparation", "Effect", "FunctionTest", "IndependenceTest", "Outcome"),
    "knowledge": ("Knowledge",),
    "local.answer": ("Answer",),
    "networks": ("Network", "load_network", "read_bif", "write_bif"),
    "progress": ("Progress",),
    "questions.all_blankets": ("all_blankets",),
    "questions.alpha_path": ("alpha_path",),
    "questions.blanket": ("markov_blanket", "parents_children"),
    "questions.blankets": ("blankets",),
    "questions.causes": ("causes",),
    "questions.ci": ("ci_test",),
    "questions.context_blankets": ("context_blankets",),
    "questions.counterexamples": ("Counterexample", "check_algorithm"),
    "questions.describe": ("describe",),
    "questions.joint_blanket": ("joint_blanket",),
    "questions.knockoffs": ("knockoff_filter", "knockoffs"),
    "questions.network": ("network",),
    "questions.pairs": ("all_pairs",),
    "questions.region": ("region",),
    "questions.skeleton": ("skeleton",),
    "questions.stability": ("stability",),
    "questions.wrapper": ("wrapper",),
    "results.all_blankets": ("AllBlankets",),
    "results.alpha_path": ("AlphaPath",),
    "results.blankets": ("Blankets",),
    "results.causes": ("Causes",),
    "results.comparison": ("Comparison", "compare", "kl_fitness"),
    "results.context_blankets": ("ContextBlankets", "Difference"),
    "results.description": ("Description",),
    "results.edge_stability": ("EdgeStability",),
    "results.false_selections": ("FalseSelections",),
    "results.graph_comparison": ("GraphComparison", "compare_graphs"),
    "results.joint_blanket": ("JointBlanket",),
    "results.knockoffs": ("KnockoffSelection",),
    "results.loaded": ("load_result", "load_structure"),
    "results.pairs": ("Pairs",),
    "results.region": ("Region",),
    "results.result": ("Result",),
    "results.stability": ("Stability",),
    "results.structure": ("Structure",),
    "search": ("Search",),
    "sklearn": ("MarkovBlanketSelector",),
    "structure.registry": ("algorithms",),
    "structure.scores": ("Score",),
    "versions": ("show_versions",),
}
"""The public names, by the module that has them."""
_MODULES = {name: f"serape.{module}" for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULES)
if find_spec("sklearn") is None:  # the selector is listed only where scikit-learn is installed
    __all__.remove("MarkovBlanketSelector")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("serape")
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    elif not name.startswith("_") and find_spec(f"serape.{name}"):  # a module that nobody has imported yet
        value = import_module(f"serape.{name}")
    else:
        raise AttributeError(f"module 'serape' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
