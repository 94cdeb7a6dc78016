"""`hidden=True`: common causes of the variables may be hidden, that is, not among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from serape.errors import OptionError, first_few, shown
from serape.knowledge import BoundKnowledge
from serape.local.registry import ALGORITHMS
from serape.names import match
from serape.settings import Settings
from serape.wording import algorithm_option, setting

LEARNER = "fbed"
"""The algorithm for blankets where common causes are hidden, if none is named."""
NOTE = "common causes may be hidden: the blanket is that of the ancestral graph of these variables"


def unused_pairs_note(knowledge: BoundKnowledge | None, names: Sequence[str]) -> list[str]:
    """Return a note if knowledge forbids pairs: that says nothing of the edges of the ancestral graph."""
    if knowledge is None:
        return []
    untested = set(knowledge.untested_pairs)
    pairs = [pair for pair in knowledge.forbidden_pairs(range(len(names))) if pair not in untested]
    if not pairs:
        return []
    named = first_few([f"{names[x]} – {names[y]}" for x, y in pairs])
    return [
        f"knowledge of pairs bars no edge here, because two variables without an arc can share a hidden cause: {named}"
    ]


def check_hidden(hidden: Any) -> bool:
    """Return whether common causes may be hidden; refuse anything but True and False."""
    if not isinstance(hidden, bool | np.bool_):
        raise OptionError(f"{setting('hidden')} must be True or False, not {shown(hidden)}")
    return bool(hidden)


def allow_hidden(asked: Settings) -> Settings:
    """Return the settings with an algorithm and options that find blankets where common causes are hidden.

    Algorithms that do not are refused; one of the caller's own is not.
    """
    algorithm = asked.search.algorithm
    if callable(algorithm):
        return asked
    name = LEARNER if match(algorithm, ["auto"]) else match(algorithm, ALGORITHMS)
    if name is None:
        return asked  # refused later, with a suggestion
    options = ALGORITHMS[name].hidden
    if options is None:
        able = ", ".join(repr(a.name) for a in ALGORITHMS.values() if a.hidden is not None)
        raise OptionError(
            f"algorithm {name!r} does not find the blanket where common causes are hidden; use one of {able}"
        )
    for option, value in options.items():
        given = asked.options.get(option, value)
        if given is not None and given != value:
            raise OptionError(
                f"{algorithm_option(option, given)} does not find the blanket where common causes are hidden; leave it "
                f"out"
            )
    return replace(asked, search=replace(asked.search, algorithm=name), options={**asked.options, **options})
