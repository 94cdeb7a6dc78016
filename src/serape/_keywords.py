"""The keywords of every question; written by tools/keywords.py (`make stubs`), not by hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np

from serape.knowledge import Knowledge
from serape.progress import ProgressCallback
from serape.types import DofRule, EngineName, FdrMethod, MissingRules, Reliability, Variables, WeightKind


class SelectorKeywords(TypedDict, total=False):
    """Settings that a selector takes, in the order of the signatures."""

    fdr: float | Literal["auto"] | None
    fdr_method: FdrMethod
    min_effect: float | None
    max_conditioning: int | Literal["auto"] | None
    dof: DofRule
    reliability: Reliability
    decide_on_part: bool
    random_state: int | np.random.Generator | np.random.RandomState | None
    knowledge: Knowledge | Mapping[str, Any] | None
    known_members: Variables
    forbidden_members: Variables
    kinds: str | Mapping[str, str] | None
    missing: MissingRules
    weight_kind: WeightKind
    n_jobs: int | None
    progress: bool | ProgressCallback | None
    max_seconds: float | Literal["auto"] | None
    max_tests: int | None
    engine: EngineName


class DataKeywords(TypedDict, total=False):
    """Settings for reading data, in the order of the signatures."""

    header: bool | Sequence[str] | None
    na_values: Collection[str]
    delimiter: str | None
    decimal: Literal[".", ","] | None
    encoding: str | None
    quote: str | None
    comment: str | None
    index: bool | None
    table: str | int | None
    sample_weight: Any
    weight_kind: WeightKind
    groups: Any


class Keywords(TypedDict, total=False):
    """Settings, in the order of the signatures; then options of the algorithms."""

    test: str
    alpha: float | Literal["auto"]
    fdr: float | Literal["auto"] | None
    fdr_method: FdrMethod
    min_effect: float | None
    max_conditioning: int | Literal["auto"] | None
    dof: DofRule
    reliability: Reliability
    decide_on_part: bool
    random_state: int | np.random.Generator | None
    knowledge: Knowledge | Mapping[str, Any] | None
    known_members: Variables
    forbidden_members: Variables
    kinds: str | Mapping[str, str] | None
    missing: MissingRules
    ignore: Collection[str]
    header: bool | Sequence[str] | None
    na_values: Collection[str]
    delimiter: str | None
    decimal: Literal[".", ","] | None
    encoding: str | None
    quote: str | None
    comment: str | None
    index: bool | None
    table: str | int | None
    sample_weight: Any
    weight_kind: WeightKind
    groups: Any
    n_jobs: int | None
    progress: bool | ProgressCallback | None
    max_seconds: float | Literal["auto"] | None
    max_tests: int | None
    engine: EngineName
    equal_separators: bool | None
    k: Literal["inf"] | float | int | None
    max_parents: int | None
    order: Literal["strength", "as-written"] | Literal["strength", "table"]
    patience: int
    published: bool
    rank: Literal["significance", "information"]
    semi_interleaved: bool
    starts: int | None
    symmetry: bool | None
    tabu: int
    unreliable: Literal["skipped", "independent"]
    zero_dof: Literal["skipped", "independent"]
