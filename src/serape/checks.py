"""Checks of single values: each refuses a value with one sentence that says what is meant."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from serape.errors import InputTypeError, OptionError, is_integer, shown
from serape.types import Missing
from serape.wording import setting

MISSING_RULES: tuple[Missing, ...] = ("error", "drop", "level", "pairwise")
MAX_NUMBER = 1.7976931348623157e308
"""The largest number that is a float."""
MAX_SIZE = 2**31
"""Sizes of conditioning sets and numbers of threads are smaller than this."""


def check_alpha(alpha: Any, name: str) -> None:
    """Refuse a value that is not a significance level; `name` is what the caller calls it."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
        raise OptionError(f"{name} must be between 0 and 1, not {shown(alpha)}")


def is_auto(value: Any) -> bool:
    """Return whether a value is the word "auto"."""
    return isinstance(value, str) and value == "auto"


def is_several(value: Any) -> bool:
    """Return whether a value is several values: an iterable that is not a text, nor an array without dimensions."""
    if isinstance(value, str | bytes) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return False
    return isinstance(value, Iterable)


def is_one_of(value: Any, words: Collection[str | None]) -> bool:
    """Return whether a value is one of some words."""
    return (value is None or isinstance(value, str)) and value in words


def check_flag(name: str, value: Any) -> None:
    """Refuse a value that is neither True nor False."""
    if not isinstance(value, bool):
        raise OptionError(f"{setting(name)} must be True or False, not {shown(value)}")


def check_max_conditioning(size: Any, *words: str) -> None:
    """Refuse a value that is neither None, one of the words, nor a size of conditioning sets."""
    if size is None or (isinstance(size, str) and size in words):
        return
    if not is_integer(size) or not 0 <= size < MAX_SIZE:
        raise OptionError(f"{setting('max_conditioning')} must be a whole number, 0 or more, not {shown(size)}")


def check_min_effect(bits: Any) -> None:
    """Refuse a value that is neither None nor a number of bits."""
    if bits is None:
        return
    if isinstance(bits, bool) or not isinstance(bits, int | float | np.number) or not 0 <= bits <= MAX_NUMBER:
        raise OptionError(f"{setting('min_effect')} must be a number of bits, 0 or more, not {shown(bits)}")


def check_random_state(random_state: Any) -> None:
    """Refuse a value that is not a seed."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return
    if not is_integer(random_state) or random_state < 0:
        raise OptionError(f"{setting('random_state')} must be a whole number, 0 or more, not {shown(random_state)}")


def check_missing(missing: Any) -> None:
    """Refuse a value that is neither a rule for missing values nor a dict of such rules by column."""
    for rule in missing.values() if isinstance(missing, Mapping) else (missing,):
        if not is_one_of(rule, MISSING_RULES):
            raise OptionError(
                f"{setting('missing', rule)} is not known; use one of {', '.join(map(repr, MISSING_RULES))}"
            )


def check_finds(finds: Any) -> None:
    """Refuse what is no question about a target."""
    if not is_one_of(finds, ("blanket", "parents-children")):
        raise OptionError(f"finds={shown(finds)} is not known; use 'blanket' or 'parents-children'")


def check_weight_kind(weight_kind: Any, sample_weight: Any) -> None:
    """Refuse an unknown meaning of weights, and one other than the usual without weights."""
    if not is_one_of(weight_kind, ("frequency", "survey")):
        raise OptionError(f"{setting('weight_kind', weight_kind)} is not known; use 'frequency' or 'survey'")
    if weight_kind != "frequency" and sample_weight is None:
        raise OptionError(
            f"{setting('weight_kind', weight_kind)} needs weights; name their column with {setting('sample_weight')}"
        )


def check_limits(max_seconds: Any, max_tests: Any) -> None:
    """Refuse limits of time or of tests that are no limits."""
    if not (max_seconds is None or is_auto(max_seconds)) and (
        isinstance(max_seconds, bool)
        or not isinstance(max_seconds, int | float | np.number)
        or not (0 < max_seconds <= MAX_NUMBER or max_seconds == math.inf)
    ):
        raise OptionError(f"{setting('max_seconds')} must be a number above 0, not {shown(max_seconds)}")
    if max_tests is not None and (not is_integer(max_tests) or max_tests < 1):
        raise OptionError(f"{setting('max_tests')} must be a whole number, 1 or more, not {shown(max_tests)}")


def thread_count(n_jobs: Any) -> int:
    """Return the number of threads for `n_jobs`; None is one."""
    if n_jobs is None:
        return 1
    if not is_integer(n_jobs) or (n_jobs < 1 and n_jobs != -1) or n_jobs >= MAX_SIZE:
        raise OptionError(f"{setting('n_jobs')} must be 1 or more, or -1 for all cores, not {shown(n_jobs)}")
    if n_jobs > 0:
        return int(n_jobs)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_members(name: str, members: Any) -> None:
    """Refuse a value that is neither a collection of variables nor a dict of such collections by target."""
    if type(members) is tuple:
        return
    groups = members.values() if isinstance(members, Mapping) else (members,)
    for group in groups:
        if isinstance(group, str) or not isinstance(group, Collection):
            raise InputTypeError(
                f"{name} must be a list of variables, or a dict of lists by target, not {shown(group)}"
            )
