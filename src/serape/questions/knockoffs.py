"""Knockoffs of the columns of a table, and the columns that stand out from theirs.

Candès, Fan, Janson and Lv, *Panning for gold: model-X knockoffs for high dimensional controlled variable selection*
(JRSS B 2018); the rule of selection: Barber and Candès, *Controlling the false discovery rate via knockoffs* (Annals of
Statistics 2015). How knockoffs are drawn is described, and proved, in `serape.networks.knockoffs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from serape._keywords import Keywords
from serape.checks import is_auto, is_one_of
from serape.data.encoding import as_codes
from serape.data.table import Table
from serape.errors import DataError, InputTypeError, OptionError, abbreviate, is_integer
from serape.independence import IndependenceTest
from serape.networks.fitting import fit, level_texts
from serape.networks.knockoffs import Levels, draw_knockoffs, make_plan
from serape.networks.network import Network
from serape.questions.group_lasso import importances
from serape.questions.network import resolve_network
from serape.questions.run import Run
from serape.results.knockoffs import KnockoffSelection, knockoff_threshold
from serape.results.structure import Structure
from serape.settings import Settings, check_options, question, refuse
from serape.wording import setting

Statistic = Callable[[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]], Any]
NETWORK = "ges"
"""The algorithm that finds the network if none is given."""
_RATE = 0.2
_OF_NETWORK = "knockoffs need a network alone; pass one, found by `serape.network` with these settings, as `network`"
_ROWS = "every row counts once"
_WITHOUT = dict.fromkeys(
    (
        "algorithm", "test", "alpha", "fdr_method", "min_effect", "max_conditioning", "dof", "reliability", "knowledge",
        "known_members", "forbidden_members",
    ),
    _OF_NETWORK,
) | dict.fromkeys(("sample_weight", "weight_kind", "groups"), _ROWS)  # fmt: skip


@question(without=_WITHOUT | {"fdr": "nothing is selected"})
def knockoffs(
    data: Any,
    target: str | int | None = None,
    network: str | Network | Structure = NETWORK,
    *,
    equivalent_sample_size: float = 1.0,
    **settings: Unpack[Keywords],
) -> Table:
    """Draw a knockoff of every column: any columns can be exchanged with their knockoffs, and the joint law stays.

    The knockoffs are drawn without a look at the target, so they are independent of it given the columns.

    Parameters
    ----------
    data
        As for `markov_blanket`, with categorical columns.
    target
        A column that has no knockoff, by name or position.
    network
        The law of the columns: the name of an algorithm of `serape.network`, which finds a network in all columns but
        the target, or a `Network` or `Structure`. Variables of the network that are no columns, and the target, are
        summed out.
    equivalent_sample_size
        Of the probabilities that are estimated from the data, as for `Structure.fit`.

    Returns
    -------
    Table
        The knockoffs, with the names and levels of the columns. They depend on `random_state` (by default 0). A note
        names columns that are their own knockoff, because exact tables would be too large.

    Examples
    --------
    >>> copies = serape.knockoffs(patients, "HeartDisease")
    >>> copies.names[:3], len(copies)
    (('Age', 'Smoking', 'Exercise'), 2000)
    """
    refuse(knockoffs, settings)
    asked = Settings.of(**settings)
    check_options("knockoffs", asked.options, ["target", "network", "equivalent_sample_size"])
    drawn = _draw(data, target, network, equivalent_sample_size, asked)
    encoded = [
        replace(drawn.features.encoded(k), codes=as_codes(codes, drawn.features.levels(k)), declared=True)
        for k, codes in enumerate(drawn.copies)
    ]
    return drawn.features.with_columns(encoded, drawn.notes)


@question(without=_WITHOUT)
def knockoff_filter(
    data: Any,
    target: str | int,
    network: str | Network | Structure = NETWORK,
    *,
    statistic: Literal["lasso"] | Statistic = "lasso",
    offset: Literal[0, 1] = 1,
    equivalent_sample_size: float = 1.0,
    **settings: Unpack[Keywords],
) -> KnockoffSelection:
    """Select the columns that tell more about the target than their knockoffs, with a bound on the share of false ones.

    A column is false if it is independent of the target given all other columns. The rate holds for any law of the
    target and any statistic if the network is the law of the columns (docs/knockoffs.md).

    Parameters
    ----------
    data, network, equivalent_sample_size
        As for `knockoffs`.
    target
        The target, by name or position; it is categorical.
    statistic
        "lasso": the difference of the norms of the coefficients of a column and of its knockoff, in a logistic model of
        the target by all columns and knockoffs with a group lasso. Or a callable `statistic(columns, knockoffs,
        target)` that receives codes (rows × columns, twice, and the target's) and returns a number for every column:
        above 0 if the column is more important. Before the call, columns are exchanged with their knockoffs at random,
        and after it the signs are set right, so no callable can prefer the columns.
    offset
        1 is knockoff+. It bounds the rate, and cannot select fewer than 1 / rate columns: 5 at 0.2, 10 at 0.1. 0
        bounds the expectation of false / (selected + 1 / rate), and can select any number.

    Returns
    -------
    KnockoffSelection
        The selected columns, W of every column, and the threshold. It depends on `random_state` (by default 0).

    Here `fdr="auto"` is 0.2.

    Examples
    --------
    >>> found = serape.knockoff_filter(clinic(5000), "HeartDisease")
    >>> found.members
    ('Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain', 'Weekday')
    """
    refuse(knockoff_filter, settings)
    asked = Settings.of(**settings)
    check_options("knockoff_filter", asked.options, ["network", "statistic", "offset", "equivalent_sample_size"])
    if asked.search.fdr is None:
        raise OptionError(f"{setting('fdr', None)} is no rate; pass one, such as {setting('fdr', 0.2)}")
    if not callable(statistic) and not is_one_of(statistic, ("lasso",)):
        raise OptionError(f"{setting('statistic', statistic)} is not known; use 'lasso' or a callable")
    if not is_integer(offset) or offset not in (0, 1):
        raise OptionError(f"{setting('offset', offset)} is neither 0 nor 1")
    if target is None:
        raise OptionError("a selection needs a target; name a column")
    rate = _RATE if is_auto(asked.search.fdr) else float(asked.search.fdr)
    drawn = _draw(data, target, network, equivalent_sample_size, asked)
    values = _statistics(drawn, statistic)
    threshold = knockoff_threshold(values.tolist(), rate, offset)
    names = drawn.features.names
    same = tuple(name for name, x, y in zip(names, drawn.columns, drawn.copies, strict=True) if np.array_equal(x, y))
    return KnockoffSelection(
        target=drawn.target,
        members=tuple(name for name, w in zip(names, values.tolist(), strict=True) if w >= threshold),
        statistics=dict(zip(names, values.tolist(), strict=True)),
        threshold=threshold,
        fdr=rate,
        offset=int(offset),
        statistic=statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "your own"),
        network=drawn.network,
        same=same,
        rows=drawn.features.rows,
        tests=drawn.tests,
        random_state=drawn.seed,
        seconds=drawn.run.seconds,
        notes=(*drawn.notes, *_notes(values, rate, offset, threshold, same, drawn.fixed)),
    )


# --- internal --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    """Columns and their knockoffs."""

    features: Table
    columns: list[Levels]
    copies: list[Levels]
    target: str
    labels: Levels | None
    """The codes of the target."""
    network: str
    fixed: frozenset[str]
    tests: int
    seed: int
    notes: tuple[str, ...]
    run: Run


def _generator(seed: int, part: int) -> np.random.Generator:
    """Return a generator of its own: a small seed may have drawn the data, and knockoffs from the same random numbers
    would depend on the target."""
    return np.random.default_rng([seed, *b"knockoffs", part])


def _draw(data: Any, target: str | int | None, law: Any, size: float, asked: Settings) -> _Drawn:
    if isinstance(data, IndependenceTest):
        raise InputTypeError(
            f"knockoffs are drawn for rows, not for the independence test {data.name!r}; pass its table"
        )
    seed = asked.search.random_state
    if isinstance(seed, np.random.Generator):
        raise OptionError(f"{setting('random_state')} must be a whole number, the seed of the draws, not a generator")
    table = Table.of(data, asked.data).whole
    run = Run(asked.run, table)
    if table.weights is not None or table.groups is not None:
        raise DataError(f"knockoffs cannot use weights or groups of rows: {_ROWS}; read the table without them")
    at = None if target is None else table.position(target)
    chosen = [k for k in table.searched if k != at]
    if not chosen:
        raise DataError("there is no column besides the target; knockoffs need at least one")
    table.check_categorical("a knockoff", chosen if at is None else [*chosen, at])
    table.check_complete()
    features = table.part(chosen)
    network, words, tests, notes = _network(features, law, size, run)
    codes, own = _codes(features, network)
    plan = make_plan(network, [k for k in range(network.nodes) if codes[k] is None])
    random = _generator(0 if seed is None else int(seed), 0)
    made = draw_knockoffs(network, codes, plan, random)
    copies = [back[made[network.variables.index(name)]] for name, back in own.items()]
    fixed = frozenset(network.variables[k] for k in plan.fixed)
    if fixed:
        notes = [*notes, f"their own knockoffs, because exact tables would be too large: {abbreviate(sorted(fixed))}"]
    return _Drawn(
        features=features,
        columns=[features.codes(k).astype(np.intp) for k in range(len(features.names))],
        copies=copies,
        target="" if at is None else table.names[at],
        labels=None if at is None else table.codes(at).astype(np.intp),
        network=words,
        fixed=fixed,
        tests=tests,
        seed=0 if seed is None else int(seed),
        notes=(*table.notes, *notes),
        run=run,
    )


def _network(features: Table, law: Any, size: float, run: Run) -> tuple[Network, str, int, list[str]]:
    """Return the law of the columns, its description, the number of tests that found it, and notes."""
    if isinstance(law, Network):
        return law, f"the given network of {_counted(law.nodes, 'variable')}", 0, []
    if isinstance(law, Structure):
        return law.fit(size), f"the given structure of {_counted(len(law.edges), 'edge')}", 0, []
    if not isinstance(law, str):
        raise InputTypeError(f"network must be a name, a Network or a Structure, not a {type(law).__name__}")
    if len(features.varying) < 2:
        return fit(features, {}, size), "a network without edges", 0, []
    asked = replace(Settings.of(algorithm=law), run=run.settings)
    with run.whole():  # knockoffs from a part of the network would be wrong
        found: Structure = resolve_network(features, asked).ask(None, run.settings)
    words = f"a network of {_counted(len(found.edges), 'edge')} by {found.algorithm}"
    return found.fit(size), words, found.tests, [note for note in found.notes if note not in features.notes]


def _codes(features: Table, network: Network) -> tuple[list[Levels | None], dict[str, Levels]]:
    """Return the columns in the order and levels of the network, and by name the codes of its levels in the table."""
    absent = [name for name in features.names if name not in network.variables]
    if absent:
        raise DataError(f"the network has no variable {abbreviate(absent)}; ignore these columns, or add them to it")
    codes: list[Levels | None] = [None] * network.nodes
    back: dict[str, Levels] = {}
    for k, name in enumerate(features.names):
        texts, levels = level_texts(name, features.variables[name].levels), network.levels(name)
        used = np.unique(features.codes(k))
        strange = [texts[code] for code in used if texts[code] not in levels]
        if strange:
            raise DataError(f"column {name!r} has the level {strange[0]!r}, which the network does not have; merge it")
        if set(levels) - set(texts):
            lacking = sorted(set(levels) - set(texts))
            raise DataError(
                f"column {name!r} lacks the level {lacking[0]!r} of the network; declare all of its levels, or fit a "
                f"network to these data"
            )
        back[name] = np.array([texts.index(level) for level in levels], np.intp)
        forth = np.zeros(len(texts), np.intp)
        forth[back[name]] = np.arange(len(levels))
        codes[network.variables.index(name)] = forth[features.codes(k)]
    return codes, back


def _statistics(drawn: _Drawn, statistic: Any) -> NDArray[np.float64]:
    """Return W of every column; whether a column or its knockoff comes first is decided by the throw of a coin."""
    assert drawn.labels is not None
    random = _generator(drawn.seed, 1)
    coins = random.integers(0, 2, len(drawn.columns)).astype(bool)
    pairs = list(zip(drawn.columns, drawn.copies, strict=True))
    first = [pair[int(coin)] for pair, coin in zip(pairs, coins, strict=True)]
    second = [pair[1 - int(coin)] for pair, coin in zip(pairs, coins, strict=True)]
    if callable(statistic):
        found = np.asarray(statistic(np.stack(first, axis=1), np.stack(second, axis=1), drawn.labels), np.float64)
        if found.shape != (len(pairs),) or not np.isfinite(found).all():
            raise InputTypeError(f"the statistic must return {len(pairs):,} finite numbers, one for every column")
    else:
        both = importances([*first, *second], drawn.labels, random)
        found = both[: len(pairs)] - both[len(pairs) :]
    signed: NDArray[np.float64] = np.where(coins, -found, found) + 0.0  # no negative zeros
    return signed


def _notes(
    values: NDArray[np.float64],
    rate: float,
    offset: int,
    threshold: float,
    same: Sequence[str],
    fixed: frozenset[str],
) -> list[str]:
    notes = []
    determined = [name for name in same if name not in fixed]
    if determined:
        notes.append(
            f"equal to their knockoffs in every row, because other columns determine them or they are constant, so "
            f"nothing can be discovered about them: {abbreviate(determined)}"
        )
    least = math.ceil(offset / rate - 1e-9)
    if offset and threshold == math.inf:
        notes.append(
            f"knockoff+ selects at least {least:,} columns at a rate of {rate:g}, or none; "
            f"W is above 0 for {_counted(int((values > 0).sum()), 'column')}"
        )
    return notes


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
