"""How often a variable, or an edge, is found in rows drawn from the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack, get_args, overload

from serape._keywords import Keywords
from serape.checks import is_one_of
from serape.data.table import Table
from serape.errors import OptionError, shown
from serape.progress import ProgressCallback
from serape.questions.constraints import left_out_notes
from serape.questions.draws import DrawnAnswer, Draws
from serape.questions.edge_stability import stability_of_edges
from serape.questions.network import resolve_network
from serape.questions.query import Query
from serape.questions.skeleton import resolve_skeleton
from serape.results.edge_stability import EdgeStability
from serape.results.stability import Sampling, Stability
from serape.settings import DataSettings, Settings, question
from serape.types import Finds, FindsEdges, LocalAlgorithm, Rule
from serape.wording import setting

FINDS = (*get_args(Finds), *get_args(FindsEdges))


@overload
def stability(
    data: Any,
    target: str | int,
    *,
    draws: int = 100,
    sampling: Sampling = "half",
    finds: Finds = "blanket",
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> Stability: ...


@overload
def stability(
    data: Any,
    *,
    finds: FindsEdges,
    draws: int = 100,
    sampling: Sampling = "half",
    algorithm: str | LocalAlgorithm = "auto",
    rule: Rule | None = None,
    score: str = "auto",
    equivalent_sample_size: float = 1.0,
    **settings: Unpack[Keywords],
) -> EdgeStability: ...


@question(
    command=(
        "serape stability patients.csv --target HeartDisease --alpha 0.01 --picture stability.png",
        "serape stability patients.csv --target HeartDisease --algorithm hiton-mb --max-false 0.5 --jobs -1 --json",
        "serape stability patients.csv --finds network --algorithm mmhc --draws 50 --picture edges.png",
    ),
    about="Find how often each column, or each edge, is in the answer when the search is repeated on drawn rows.\n\n"
    "Prints the share of the draws in which each is found, and a bound on the expected number of false selections.",
    words={
        "finds": "What to find: about the target, or, without a target, about all columns.",
        "draws": "The number of draws.",
        "sampling": "Draw half of the rows, or as many as there are, with replacement.",
        "equivalent_sample_size": "Equivalent sample size of the BDeu score.",
        "explain": "in how many draws this column is found or, as COLUMN,COLUMN, whether two are adjacent",
    },
)
def stability(
    data: Any,
    target: str | int | None = None,
    *,
    draws: int = 100,
    sampling: Sampling = "half",
    finds: Finds | FindsEdges = "blanket",
    algorithm: str | LocalAlgorithm = "auto",
    rule: Rule | None = None,
    score: str = "auto",
    equivalent_sample_size: float = 1.0,
    **settings: Unpack[Keywords],
) -> Stability | EdgeStability:
    """Repeat the search in rows drawn from the data, and count how often each variable, or each edge, is found.

    Parameters
    ----------
    data
        Anything a `Table` can be made of. It is encoded once; all draws have the kinds and levels of the whole table.
    target
        The variable, by name or position. Skeletons and networks have none.
    draws
        The number of samples to draw and search.
    sampling
        "half": half of the rows, each at most once, in pairs of halves that have no row in common. "bootstrap": as many
        rows as there are, drawn with replacement. A bootstrap repeats rows, which a test treats as independent rows:
        p-values are too small, and some draws find variables that are independent of the target (`docs/pictures.md`
        has figures). In a half, p-values are right, but tests have half the rows. Only halves have a bound on the
        expected number of false selections. With `groups`, whole groups are drawn in place of rows.
    finds
        The question: "blanket" or "parents-children" of the target, or "skeleton" or "network" of all variables.
    rule
        For skeletons and networks, as for `skeleton`. None is the default rule of the question.
    score, equivalent_sample_size
        For networks, as for `network`.

    Returns
    -------
    Stability or EdgeStability
        The share of the draws in which each variable, or edge, was found, and bounds on the expected number of false
        selections. On Ctrl-C, the share of the draws searched so far, or a KeyboardInterrupt if there are none. The
        answer depends on `random_state` (by default 0), the seed of the draws, and not on `n_jobs`.

    Examples
    --------
    >>> found = serape.stability(patients, "HeartDisease", draws=20, algorithm="hiton-mb", alpha=0.01)
    >>> found.stable(0.9)
    ('Age', 'Smoking', 'BloodPressure', 'ECG', 'ChestPain', 'Anxiety')
    """
    if not is_one_of(finds, FINDS):
        raise OptionError(f"finds={shown(finds)} is not known; use one of {', '.join(map(repr, FINDS))}")
    asked = Settings.of(algorithm=algorithm, **settings)
    drawn = Draws(data, draws, sampling, asked)
    resolved = replace(asked, search=replace(asked.search, random_state=None), data=DataSettings())
    if finds == "skeleton" or finds == "network":
        if target is not None:
            raise OptionError(f"a {finds} has no target, but {setting('target', target)} is given; leave it out")
        if not isinstance(score, str):
            raise OptionError("a score in an object belongs to its data; name the score ('bic', say)")
        if finds == "network":
            query = resolve_network(drawn.table, resolved, score, equivalent_sample_size, rule)
        else:
            _refuse(finds, score=(score, "auto"), equivalent_sample_size=(equivalent_sample_size, 1.0))
            query = resolve_skeleton(drawn.table, resolved, rule or "and")
        return stability_of_edges(drawn, finds, query, asked.run)
    _refuse(finds, rule=(rule, None), score=(score, "auto"), equivalent_sample_size=(equivalent_sample_size, 1.0))
    return _of_variables(drawn, target, finds, resolved)


def _of_variables(draws: Draws, target: str | int | None, finds: Finds, asked: Settings) -> Stability:
    """Search every draw, and count the variables."""
    query, at = Query.about(draws.table, target, finds, asked)

    def ask(sample: Table, watch: ProgressCallback) -> DrawnAnswer:
        result = query.on(sample).run(at, watch=watch)
        return DrawnAnswer(result.members, result.tests, result.skipped, complete=result.complete)

    names = draws.table.names
    draws.search(ask, query.source, asked.run, names[at])
    fixed = query.known.get(at, frozenset()) | query.required(at)
    possible = set(query.possible_members(query.search(at), at).tolist())
    candidates = possible.intersection(draws.table.varying) - fixed
    notes = (*draws.table.notes, *query.source.notes, *left_out_notes(query.knowledge, names, at))
    counts = draws.counts()
    others = [name for name in names if name != names[at]]
    return Stability(
        target=names[at],
        finds=finds,
        frequencies={name: counts[name] / len(draws.found) for name in sorted(others, key=lambda name: -counts[name])},
        algorithm=query.algorithm.name,
        test=query.source.name,
        alpha=float(query.alpha),
        fdr=None if query.fdr is None else query.fdr.rate,
        **draws.summary({names[x] for x in fixed}, len(candidates), notes),
    )


def _refuse(finds: str, **given: tuple[Any, Any]) -> None:
    for name, (value, default) in given.items():
        if type(value) is not type(default) or value != default:
            raise OptionError(f"{setting(name, value)} has no effect with {setting('finds', finds)}; leave it out")
