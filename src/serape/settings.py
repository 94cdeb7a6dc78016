"""The settings of a question: every parameter that questions share, with its default, its meaning and its check.

The fields of these dataclasses are the parameters. Signatures, the parameters of the selector and the options of the
command line are generated from the fields or tested against them. A new setting is one field here (and `make stubs`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from serape.checks import (
    check_alpha,
    check_flag,
    check_limits,
    check_max_conditioning,
    check_members,
    check_min_effect,
    check_missing,
    check_random_state,
    check_weight_kind,
    is_auto,
    is_one_of,
    thread_count,
)
from serape.errors import OptionError, shown, suggestion
from serape.knowledge import Knowledge
from serape.progress import ProgressCallback, check_progress
from serape.types import (
    DofRule,
    EngineName,
    FdrMethod,
    LocalAlgorithm,
    MissingRules,
    Reliability,
    Variables,
    WeightKind,
)
from serape.wording import OPTIONS, setting

QuestionFunction = TypeVar("QuestionFunction", bound=Callable[..., Any])


# --- settings --------------------------------------------------------------------------------------------------------


_HOW, _DATA, _TEXT, _OUTPUT = "How to search", "Data", "Text files", "Output"


def _setting(
    default: Any,
    meaning: str,
    brief: str = "",
    *,
    option: str = "",
    metavar: str | None = None,
    completes: str = "",
    panel: str = _HOW,
    of: Literal["search", "file", "rows"] = "search",
) -> Any:
    """Return a setting: its default and its meaning; all else may be left out.

    `brief` is its meaning in the help of the command line, where its option is called `option` and stands under a
    heading, the `panel`; `completes` is what its value names: an "algorithm", a "test" or a "column". `of` a "file" are
    settings that mean nothing for data in memory, `of` "rows" those that a selector takes beside X and y.
    """
    told = {"meaning": meaning, "brief": brief or meaning, "metavar": metavar, "completes": completes}
    return field(default=default, metadata={**told, "option": option, "panel": panel, "of": of})


def _unwrap_single_values(settings: Any) -> None:
    """Take the values out of arrays without dimensions, which are collections by their type alone."""
    for f in fields(settings):
        value = getattr(settings, f.name)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            object.__setattr__(settings, f.name, value.item())


def _check_words(settings: Any) -> None:
    """Refuse values of settings that are some words, and no other value; a default needs no check."""
    for f in fields(settings):
        value = getattr(settings, f.name)
        if value is f.default:
            continue
        words, types = _allowed(f)
        known = (*words, None) if NoneType in types else words
        if words and not types - {NoneType} and not is_one_of(value, known):
            *others, last = map(repr, known)
            raise OptionError(f"{setting(f.name, value)} is not known; use {', '.join(others)} or {last}")


def hint_of(setting_field: Any) -> Any:
    """Return the type of a setting; it is evaluated only now, as some types take long to import."""
    kind = setting_field.type
    return eval(kind, globals()) if isinstance(kind, str) else kind


@functools.cache
def _allowed(setting_field: Any) -> tuple[tuple[str, ...], set[Any]]:
    """Return what the type of a setting allows; searches ask for the same settings again and again."""
    return divided(hint_of(setting_field))


def divided(hint: Any) -> tuple[tuple[str, ...], set[Any]]:
    """Return the words that a type allows, and the types of its other values."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    types = {NoneType if part is None else part for part in parts if get_origin(part) is not Literal}
    return tuple(sorted(dict.fromkeys(words), key=lambda word: word != "auto")), types


_RESOLVED = frozenset(
    {"algorithm", "test", "alpha", "fdr", "fdr_method", "min_effect", "max_conditioning", "dof", "reliability",
     "random_state", "knowledge", "known_members", "forbidden_members"}
)  # fmt: skip
"""Settings that a question reports as it resolves them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """Settings of the search."""

    algorithm: str | LocalAlgorithm = _setting(
        "auto",
        "A name from `serape.algorithms()`, in any case, a callable `algorithm(search, target, **options)`, or "
        '"auto", which depends on the number and kinds of the columns (docs/choosing.md).',
        "The name of an algorithm (see `serape algorithms`), in any case, or auto.",
        metavar="NAME",
        completes="algorithm",
    )
    test: str = _setting(
        "auto",
        'The name of an independence test, or "auto": "g2" if all columns are categorical ("x2-moments" if more than '
        '500 columns have up to 100 rows and the algorithm searches subsets), otherwise "residuals", which takes any '
        "columns.",
        "The name of an independence test, in any case: auto, {tests}.",
        metavar="NAME",
        completes="test",
    )
    alpha: float | Literal["auto"] = _setting(
        "auto",
        "Significance level: a reliable test with p <= alpha shows dependence, one with p > alpha independence "
        '(docs/concepts/alpha.md). "auto" is 0.01.',
        "Significance level: a number, or auto (0.01).",
    )
    fdr: float | Literal["auto"] | None = _setting(
        "auto",
        "A bound on the false discovery rate: the expected share of false members among those found (of false edges, "
        "for skeletons and networks). None is no bound: alpha alone judges (docs/false-discoveries.md). "
        '"auto" is 0.2, and None if you pass an alpha, your own algorithm or a test without data.',
        "Bound the share of false members among those found: a number, none, or auto (0.2; none if alpha is given).",
    )
    fdr_method: FdrMethod = _setting(
        "auto",
        'How the rate is bounded: "bh", Benjamini–Hochberg over all candidates; "by", Benjamini–Yekutieli, which '
        'allows for any dependence between tests; "adaptive", "bh" with the number of false candidates estimated; or '
        '"auto": "by" for algorithms that condition on the whole blanket, "adaptive" for all others.',
        "How the share is bounded; by allows for any dependence.",
    )
    min_effect: float | None = _setting(
        None,
        "The smallest effect of a member or an edge, in bits of conditional mutual information: those whose deciding "
        "test shows less are left out of the answer, and a note names them (docs/concepts/effect.md). Known and "
        "required ones stay.",
        "Leave out members and edges whose effect is less than this many bits.",
    )
    max_conditioning: int | Literal["auto"] | None = _setting(
        "auto",
        "The size of the largest conditioning set; tests with larger sets are skipped. None means no limit. "
        '"auto" is 3 for algorithms that search the subsets of neighbourhoods, on data, and no limit for all others.',
        "Largest conditioning set: a number, none, or auto.",
    )
    dof: DofRule = _setting(
        "auto",
        'Degrees of freedom of contingency tables: "full", "adjusted" for empty margins, or "auto": "full" for the '
        'incremental family, which conditions on whole blankets, "adjusted" for all others '
        "(docs/degrees-of-freedom.md).",
        "Degrees of freedom.",
    )
    reliability: Reliability = _setting(
        "auto",
        'Which tests of contingency tables are reliable: "dof" requires 5 rows per degree of freedom, "cells" 5 rows '
        "per cell, None accepts all (docs/concepts/reliability.md). "
        '"auto" is "cells" for fast-iamb, as in its paper, and "dof" for all others.',
        "Require 5 rows per degree of freedom, 5 rows per cell, or nothing.",
    )
    decide_on_part: bool = _setting(
        True,
        "Whether a fixed part of 5,000 rows may show clear dependence where a search asks which candidate is "
        "strongest, whether a member still depends on the target, or which set separates two variables: with the test "
        "`residuals` and at least 20,000 independent rows without weights (docs/cores.md#many-rows). False: all rows "
        "decide.",
        "Let 5,000 of many rows decide where dependence is clear (test residuals).",
    )
    random_state: int | np.random.Generator | None = _setting(
        None,
        "A seed. Results are fixed without one. With a seed, exact ties between candidates are broken at random "
        "(docs/ties.md); "
        "without, by the order of columns. Tests that draw random numbers, such as permutation tests, use the seed "
        "too; without one, theirs is 0. For `stability` it seeds the draws alone.",
        "Seed for drawing rows, for permutation tests, and for breaking exact ties at random.",
        option="--seed",
    )
    knowledge: Knowledge | Mapping[str, Any] | None = _setting(
        None,
        "What is known about the network: a `Knowledge`, or a dict with `required`, `forbidden`, `tiers` and "
        "`forbidden_pairs`. Required neighbours are never removed. A pair that has no arc is tested like others, and "
        "never adjacent; it can be spouses. Their common child must be a possible child of both. A network has all "
        "required arcs, none that is not allowed, and the directions that follow (docs/networks.md).",
        "A JSON file of what is known about the network: pairs of names under required and forbidden (arcs, from and "
        "to) and forbidden_pairs, and lists of names, earlier to later, under tiers.",
    )
    known_members: Variables = _setting(
        (),
        "Variables that belong to the answer whatever the tests show: a list for every target, or a dict by target.",
        "A column that belongs to the answer whatever the tests show; repeatable.",
        option="--known",
        completes="column",
    )
    forbidden_members: Variables = _setting(
        (),
        "Variables that do not belong to the answer and are never tested against the target: a list for every target, "
        "or a dict by target.",
        "A column that does not belong to the answer and is not tested; repeatable.",
        option="--forbid",
        completes="column",
    )

    def __post_init__(self) -> None:
        _unwrap_single_values(self)
        if not is_auto(self.alpha):
            check_alpha(self.alpha, setting("alpha"))
        if self.fdr is not None and not is_auto(self.fdr):
            check_alpha(self.fdr, setting("fdr"))
        _check_words(self)
        if self.fdr is None and self.fdr_method != "auto":
            raise OptionError(
                f"{setting('fdr_method', self.fdr_method)} needs a rate; pass one, such as {setting('fdr', 0.05)}"
            )
        check_min_effect(self.min_effect)
        check_max_conditioning(self.max_conditioning, "auto")
        check_random_state(self.random_state)
        check_flag("decide_on_part", self.decide_on_part)
        for name in ("known_members", "forbidden_members"):
            check_members(name, getattr(self, name))

    def more(self) -> dict[str, Any]:
        """Return the settings that are not at their default, without those that a question resolves."""
        return {
            f.name: value
            for f in fields(self)
            if f.name not in _RESOLVED and not _same(value := getattr(self, f.name), f.default)
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class DataSettings:
    """Settings for reading data into a Table."""

    kinds: str | Mapping[str, str] | None = _setting(
        None,
        'The kinds of columns: "categorical", "boolean", "ordinal", "continuous", "count", "proportion", "date" or '
        '"identifier" (docs/data.md); one word for all, or a dict by name. Detected if not given.',
        "Kind of a column; repeatable. Kinds: {kinds}.",
        option="--kind",
        metavar="NAME=KIND",
        panel=_DATA,
    )
    missing: MissingRules = _setting(
        "error",
        'The rule for missing values (docs/data.md): "error" refuses them, "drop" leaves out rows that have any, '
        '"level" makes them a level of their own (categorical columns), "pairwise" uses in every test the rows that '
        "are complete for it. "
        'A dict gives rules by column, and one for all others under "*" ("error" if not given).',
        "Missing values: refuse (error, the default), drop the rows, make them a level, or use the complete rows of "
        "each test (pairwise). NAME=RULE is for one column; repeatable.",
        metavar="[error|drop|level|pairwise|NAME=RULE]",
        panel=_DATA,
    )
    ignore: Collection[str] = _setting(
        (),
        "Names of columns to leave out.",
        "Leave this column out; repeatable.",
        completes="column",
        panel=_DATA,
        of="file",
    )
    header: bool | Sequence[str] | None = _setting(
        None,
        "For text files: whether the first line holds the names of the columns, or a list of names. Detected if not "
        "given.",
        "Whether the first line holds the names of the columns; detected if not given.",
        panel=_TEXT,
        of="file",
    )
    na_values: Collection[str] = _setting(
        (),
        "For text files: more words that mean a missing value, besides an empty field, ?, NA, N/A, NaN and null.",
        "A word that means a missing value; repeatable.",
        option="--na",
        metavar="WORD",
        panel=_TEXT,
        of="file",
    )
    delimiter: str | None = _setting(
        None,
        'For text files: what separates fields, such as ",", ";", "tab" or "whitespace". Detected if not given.',
        "What separates fields: a character, tab or whitespace; detected if not given.",
        panel=_TEXT,
        of="file",
    )
    decimal: Literal[".", ","] | None = _setting(
        None,
        "For text files: the decimal mark, a point or a comma. Detected if not given.",
        "The decimal mark; detected if not given.",
        panel=_TEXT,
        of="file",
    )
    encoding: str | None = _setting(
        None,
        'For text files: the encoding, such as "utf-8", "cp1252" or "utf-16". Detected if not given.',
        "The encoding, such as cp1252; detected if not given.",
        panel=_TEXT,
        of="file",
    )
    quote: str | None = _setting(
        None,
        'For text files: the quotation mark around fields, or "" for none. Detected if not given.',
        "The quotation mark around fields, or '' for none.",
        panel=_TEXT,
        of="file",
    )
    comment: str | None = _setting(
        None,
        'For text files: how lines begin that are comments, such as "#", or "" for none. Detected if not given.',
        "How lines begin that are comments, or '' for none.",
        panel=_TEXT,
        of="file",
    )
    index: bool | None = _setting(
        None,
        "For files: whether the first column only names the rows, as the index of a frame does, and is no variable. "
        "Detected if not given.",
        "Whether the first column only names the rows; detected if not given.",
        panel=_TEXT,
        of="file",
    )
    table: str | int | None = _setting(
        None,
        "The sheet of a workbook, the table of a database or the file of an archive, by name or position; needed if "
        "there are several.",
        "The sheet of a workbook, the table of a database or the file of an archive.",
        panel=_DATA,
        of="file",
    )
    sample_weight: Any = _setting(
        None,
        "The weights of the rows (docs/weights.md): the name of a column, which is then no variable, or one number per "
        "row. Rows of weight 0 are left out.",
        "The column that holds the weights of the rows.",
        completes="column",
        panel=_DATA,
        of="rows",
    )
    weight_kind: WeightKind = _setting(
        "frequency",
        'What the weights mean. "frequency": how often each row occurs, a whole number; the answer is that on the rows '
        'repeated. "survey": how many members of the population a row stands for, any number; counts and correlations '
        "are weighted, and the rows count as the effective number of rows (Σw)² / Σw².",
        "What weights mean: how often a row occurs, or how many of a population it stands for.",
        panel=_DATA,
    )
    groups: Any = _setting(
        None,
        "Groups of rows that depend on each other (docs/weights.md), such as the visits of a patient: the name of a "
        "column, which is then no variable, or one label per row. `stability` draws whole groups.",
        "The column that names rows that depend on each other; stability draws whole groups.",
        completes="column",
        panel=_DATA,
        of="rows",
    )

    def __post_init__(self) -> None:
        _unwrap_single_values(self)
        check_missing(self.missing)
        if isinstance(self.ignore, str | bytes) or not isinstance(self.ignore, Collection):
            raise OptionError(f"{setting('ignore')} must be a list of names, not {shown(self.ignore)}")
        check_weight_kind(self.weight_kind, self.sample_weight)

    def given(self) -> list[str]:
        """Return the names of the settings that differ from their default."""
        if self is _NO_DATA_SETTINGS:
            return []
        return [f.name for f in fields(self) if not _same(getattr(self, f.name), f.default)]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSettings:
    """Settings of the run; the answer does not depend on them, unless a budget ends the search."""

    n_jobs: int | None = _setting(
        1,
        "The number of processes or threads; -1 uses all cores.",
        "Processes or threads; -1 for all cores.",
        option="--jobs",
    )
    progress: bool | ProgressCallback | None = _setting(
        None,
        "None shows progress on a terminal or in a notebook once the work takes two seconds, True always, False never; "
        "a callable is called with a `Progress` now and then.",
        "Show no progress.",
        option="--quiet",
        panel=_OUTPUT,
    )
    max_seconds: float | Literal["auto"] | None = _setting(
        "auto",
        "The time of the processor that the call may take: each target of `blankets` and `joint_blanket`, each draw of "
        "`stability`, each search of `context_blankets`. Other work on the machine does not count; by the clock, the "
        "limit is ten times as much. A search that takes longer stops and returns the result so far: `complete` is "
        "False, and a note says what is left undone. None is no limit. "
        '"auto" is 60 for a target, 600 for `all_blankets`, `causes`, `region`, `skeleton` and `network`.',
        "Stop after so many seconds, and keep what was found: a number, none, or auto (60 for a target, 600 for a "
        "structure or all blankets).",
    )
    max_tests: int | None = _setting(
        None,
        "The number of tests that the call may perform, as `max_seconds`; the answer is the same on any machine.",
        "Stop after so many tests, and keep what was found.",
    )
    engine: EngineName = _setting(
        "auto",
        'Where tests are computed: "cpu", "gpu" (docs/gpu.md), or "auto", a GPU where it is quicker.',
        "Where tests are computed: auto, cpu or gpu.",
    )

    def __post_init__(self) -> None:
        _unwrap_single_values(self)
        thread_count(self.n_jobs)
        check_progress(self.progress)
        check_limits(self.max_seconds, self.max_tests)
        _check_words(self)

    @property
    def bounded(self) -> bool:
        """Whether the caller bounds the time or the number of tests."""
        return self.max_tests is not None or not (self.max_seconds is None or is_auto(self.max_seconds))

    @property
    def threads(self) -> int:
        """The number of threads or processes."""
        return thread_count(self.n_jobs)


GROUPS: tuple[type[SearchSettings] | type[DataSettings] | type[RunSettings], ...] = (
    SearchSettings,
    DataSettings,
    RunSettings,
)
FIELDS = {f.name: f for group in GROUPS for f in fields(group)}
"""All settings by name, in the order of the signatures."""
OPTIONS.update({name: f.metadata["option"] for name, f in FIELDS.items() if f.metadata["option"]})


def selector_settings() -> tuple[str, ...]:
    """Return the names of the settings that a selector takes: of data in memory, without what `fit` takes by row."""
    return tuple(name for name, f in FIELDS.items() if f.metadata["of"] == "search")


_PLAIN = (str, int, float, bool, type(None))
_GROUP_OF = {f.name: group for group in GROUPS for f in fields(group)}
_NO_DATA_SETTINGS, _NO_RUN_SETTINGS = DataSettings(), RunSettings()


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one call."""

    search: SearchSettings = SearchSettings()
    data: DataSettings = DataSettings()
    run: RunSettings = RunSettings()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the algorithm: the keywords that are not settings."""

    @classmethod
    def of(cls, **keywords: Any) -> Settings:
        """Divide the keywords of a call into settings and options of the algorithm, and check the settings.

        Settings of plain values alone are one object for the same keywords, as long as it is remembered.
        """
        plain = all(type(value) in _PLAIN for value in keywords.values())
        return _plain_settings(**keywords) if plain else cls._divided(keywords)

    @classmethod
    def _divided(cls, keywords: Mapping[str, Any]) -> Settings:
        search: dict[str, Any] = {}
        data: dict[str, Any] = {}
        run: dict[str, Any] = {}
        options: dict[str, Any] = {}
        groups = {SearchSettings: search, DataSettings: data, RunSettings: run, None: options}
        for name, value in keywords.items():
            groups[_GROUP_OF.get(name)][name] = value
        return cls(
            SearchSettings(**search),
            DataSettings(**data) if data else _NO_DATA_SETTINGS,
            RunSettings(**run) if run else _NO_RUN_SETTINGS,
            options,
        )


@functools.lru_cache(maxsize=64, typed=True)
def _plain_settings(**keywords: Any) -> Settings:
    return Settings._divided(keywords)


def _parameters(settings: Iterable[Any]) -> list[inspect.Parameter]:
    """Return fields as keywords of a signature."""
    return [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
        for f in settings
    ]


def signature_with(function: Callable[..., Any], names: Iterable[str]) -> inspect.Signature:
    """Return a function's signature with some settings in place of its keywords, after its positional parameters."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    shared = _parameters(FIELDS[name] for name in names if name not in signature.parameters)
    of_keywords = [p for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
    return signature.replace(parameters=[*(p for p in own if p not in of_keywords), *shared, *of_keywords])


def question(
    *,
    without: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
    about: str = "",
    words: Mapping[str, str] | None = None,
) -> Callable[[QuestionFunction], QuestionFunction]:
    """Make a function a question: its signature and docstring show all settings in place of its keywords.

    `without` are settings that it does not use, each with the reason; `refuse` refuses them. `command` are examples of
    its command, which is made of the signature; a question without has no command, or one of its own. Where the words
    of the docstring are not those of the command line, `about` is what its help says, `words` what it says of
    parameters.
    """
    refused = dict(without or {})

    def decorate(function: QuestionFunction) -> QuestionFunction:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        settings = [f for name, f in FIELDS.items() if name not in refused and name not in signature.parameters]
        shared = _parameters(settings)
        rest = [] if "algorithm" in refused else [inspect.Parameter("algorithm_options", inspect.Parameter.VAR_KEYWORD)]
        function.__signature__ = signature.replace(parameters=[*own, *shared, *rest])  # type: ignore[attr-defined]
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\n{_described(settings, options=bool(rest))}\n"
        function.refused_settings = refused  # type: ignore[attr-defined]
        function.command_examples = tuple(command)  # type: ignore[attr-defined]
        function.command_words = {"": about, **(words or {})}  # type: ignore[attr-defined]
        return function

    return decorate


def refuse(asked_by: Callable[..., Any], keywords: Mapping[str, Any]) -> None:
    """Refuse settings that a question does not use."""
    for name, reason in asked_by.refused_settings.items():  # type: ignore[attr-defined]
        if name in keywords and not _same(keywords[name], FIELDS[name].default):
            raise OptionError(f"{setting(name, keywords[name])} has no effect here: {reason}; leave it out")


def refuse_encoding_again(settings: DataSettings | None) -> None:
    """Refuse settings about the encoding of data that are a Table already."""
    for name in () if settings is None else settings.given():
        raise OptionError(
            f"the data are a Table already, so {setting(name, getattr(settings, name))} has no effect; pass it to "
            f"Table "
            f"when the data are read, or pass the data themselves"
        )


def check_options(asked_by: str, options: Mapping[str, Any], takes: Collection[str] = ()) -> None:
    """Refuse keywords that are neither settings nor options of the question."""
    for name in options:
        if name not in takes:
            raise OptionError(f"{asked_by} has no option {name!r}.{suggestion(name, [*takes, *FIELDS])}")


def _described(settings: Sequence[Any], options: bool) -> str:
    lines = ["Settings", "--------"]
    for f in settings:
        lines += [f.name, f"    {f.metadata['meaning']}"]
    if options:
        lines += ["**algorithm_options", "    Keywords that are not settings are options of the algorithm."]
    return "\n".join(lines)


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if isinstance(value, Collection) and not isinstance(value, str) and not len(value) and default in ((), None):
        return True
    return type(value) is type(default) and bool(value == default)
