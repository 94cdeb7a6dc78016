"""Which algorithm answers a question, which options it has, and the data that the choice may depend on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from serape.data.table import Table
from serape.errors import OptionError, shown, suggestion
from serape.independence import IndependenceTest
from serape.local.registry import Algorithm, DataKind, automatic, find_algorithm, names_of, unknown_algorithm
from serape.names import match
from serape.settings import FIELDS, DataSettings
from serape.types import Finds
from serape.wording import algorithm_option, literal, question

TableOrTest = Table | IndependenceTest
Choice = Callable[[object, Finds, Callable[[], TableOrTest]], Algorithm]
"""Returns the algorithm for a name or callable; it reads the data only if the choice depends on them."""
ALPHA, RATE = 0.01, 0.2
"""The meaning of `alpha="auto"`, and of `fdr="auto"` beside it (docs/choosing.md)."""
_FEW_PASSES: dict[Finds, str] = {"blanket": "fbed", "parents-children": "hiton-pc"}
"""The algorithms for tables on a cluster, which ask about all columns least often."""
MANY_NODES, MANY_ROWS = 1000, 50_000
"""Tables beyond these have structures found by faster algorithms."""


def choose_local(asked: object, finds: Finds, data: Callable[[], TableOrTest]) -> Algorithm:
    """Return the algorithm for a single target."""
    if match(asked, ["auto"]):
        kind, columns, rows = _shape(source := data())
        asked = _FEW_PASSES[finds] if _is_remote(source) else automatic(finds, columns, rows, kind)
    return _known(asked, finds)


def choose_learner(asked: object, finds: Finds, data: Callable[[], TableOrTest]) -> Algorithm:
    """Return the algorithm that learns neighbourhoods, or a skeleton."""
    from serape.structure.registry import NETWORK_ALGORITHMS, SKELETON_ALGORITHMS

    if match(asked, ["auto"]):
        kind, columns, rows = _shape(source := data())
        few = columns <= MANY_NODES and rows <= MANY_ROWS and not _is_remote(source)
        asked = "hpc" if kind == "categorical" and few else "hiton-pc"
    by_pairs = match(asked, SKELETON_ALGORITHMS)
    if by_pairs is not None:
        return SKELETON_ALGORITHMS[by_pairs]
    return _known(asked, finds, NETWORK_ALGORITHMS)


def check_algorithm_options(algorithm: Algorithm, finds: Finds, options: Mapping[str, Any]) -> None:
    """Refuse options that an algorithm does not have."""
    if not options:
        return
    try:
        signature = inspect.signature(algorithm.asked_for(finds))
    except (TypeError, ValueError):  # some callables have no signature
        return
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        return
    own = [] if algorithm.by_pairs else list(signature.parameters)[2:]
    for option, value in options.items():
        if option not in own:
            takes = f"it takes {', '.join(map(repr, own))}" if own else "it takes none"
            raise OptionError(
                f"algorithm {algorithm.name!r} has no option {option!r} ({takes}).{suggestion(option, [*own, *FIELDS])}"
            )
        if not algorithm.of_caller:
            check_choice(option, value, algorithm.asked_for(finds))


def check_choice(option: str, value: Any, run: Callable[..., Any]) -> None:
    """Refuse a value that is none of the words of an algorithm's option, or neither True nor False where it must be."""
    annotation = get_type_hints(run)[option]
    if get_origin(annotation) is Literal:
        known = get_args(annotation)
        allowed = isinstance(value, str) and value in known
    elif annotation in (bool, bool | None):
        known = (True, False)
        allowed = isinstance(value, bool | np.bool_) or (value is None and annotation is not bool)
    else:
        return
    if not allowed:
        raise OptionError(f"{algorithm_option(option)} must be {' or '.join(map(literal, known))}, not {shown(value)}")


def choose_network(data: TableOrTest, *, by_score: bool, by_tests: bool = False) -> str:
    """Return the name of the algorithm for a network; `by_score` or `by_tests` if the caller has settings for these."""
    kind, columns, rows = _shape(data)
    if kind == "numbers" and columns <= MANY_NODES and not by_tests and not _is_remote(data):
        return "boss"
    if by_score or (kind == "categorical" and columns > MANY_NODES):
        return "mmhc"
    if kind == "categorical":
        return "hpc" if rows <= MANY_ROWS else "ges"
    return "hiton-pc"


def _is_remote(data: TableOrTest) -> bool:
    """Return whether the columns are on a cluster."""
    return isinstance(data, Table) and data.remote is not None


def _shape(data: TableOrTest) -> tuple[DataKind, int, int]:
    """Return the kind of the columns, their number, and the number of rows."""
    if isinstance(data, Table):
        categorical = data.identifiers.issuperset(data.continuous)
        kind: DataKind = "categorical" if categorical else "gaps" if data.missing else "numbers"
        return kind, len(data.names), data.rows
    return "categorical" if data.counts_cells else "unknown", len(data.variables), data.rows or 0


def _known(asked: object, finds: Finds, others: Iterable[str] = ()) -> Algorithm:
    """Return a known algorithm, or refuse the name; `others` are proposed too."""
    found = find_algorithm(asked, finds)
    if found is not None:
        return found
    from serape.structure.registry import NETWORK_ALGORITHMS

    network = match(asked, NETWORK_ALGORITHMS)
    if network is not None:
        raise OptionError(
            f"algorithm {network!r} finds a whole network; use {question('network')}, or another algorithm"
        )
    raise unknown_algorithm(asked, [*names_of(finds), *others])


class SourceReader:
    """Reads the data once, when they are first needed."""

    def __init__(self, data: Any, settings: DataSettings) -> None:
        self._data, self._settings = data, settings
        self._read: TableOrTest | None = None

    def __call__(self) -> TableOrTest:
        """Return the table, or the test."""
        if self._read is None:
            is_test = isinstance(self._data, IndependenceTest)
            self._read = self._data if is_test else Table.of(self._data, self._settings)
        return self._read
