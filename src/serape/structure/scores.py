"""Scores of Bayesian networks: sums over families, each a variable with its parents.

Let N_jk be the number of rows in which the parents have their j-th configuration and the child its k-th level, N_j
their sum over k, N the number of all rows, r the number of the child's levels and q the product of the parents' numbers
of levels (declared ones included). A family's score, in natural logarithms, larger is better, is

- `loglik`: Σ N_jk ln(N_jk / N_j);
- `bic`: loglik − ½ ln(N) (r − 1) q (Schwarz, *Estimating the dimension of a model*, Annals of Statistics 1978);
- `aic`: loglik − (r − 1) q (Akaike, *A new look at the statistical model identification*, IEEE TAC 1974);
- `bdeu`: Σ_j [lnΓ(a_j) − lnΓ(N_j + a_j)] + Σ_jk [lnΓ(N_jk + a_jk) − lnΓ(a_jk)] with a_jk = s / (r q), a_j = s / q for
  an equivalent sample size s (Heckerman, Geiger and Chickering, *Learning Bayesian networks*, Machine Learning 1995);
- `k2`: the same with a_jk = 1, a_j = r (Cooper and Herskovits, *A Bayesian method for the induction of probabilistic
  networks from data*, Machine Learning 1992).

These are for columns of categories; `gaussian_score` has those for numbers, `mixed_score` those for mixtures.

All but `k2` give Markov-equivalent networks the same score. The number of parents is not limited: memory is bounded by
the number of rows, and a_jk may be smaller than any float (a_jk → 0). Only the penalties of `bic` and `aic` become
infinite if q is larger than any float.

A new score has to implement `local` only. A faster one overrides `additions`, `additions_of_many` and `families`, with
the same values. Searches compare scores of families, never sums of many: `rounding` says which differences are none.
Variables are positions in `variables`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from serape import _core
from serape.data.table import Table
from serape.errors import DataError, InputTypeError, OptionError, shown
from serape.independence.outcomes import Candidates, Floats, Poll, as_positions
from serape.names import match, unknown

AdditionQuery = tuple[int, Candidates, Collection[int]]
"""A child, candidates for one more parent, and the parents it has."""

LAST_DIGITS = 64 * float(np.finfo(np.float64).eps)
"""What rounding may change of a family's score, relative to the largest one."""
MIN_ROUNDING = 1e-9
"""No smaller difference of scores is a gain."""


class Score(ABC):
    """A decomposable score of Bayesian networks; larger is better.

    A new score supplies `local`, `name` and `variables`.

    Examples
    --------
    >>> class FewArcs(serape.Score):
    ...     name, variables = "few", ("a", "b", "c")
    ...     def local(self, child, parents):
    ...         return -float(len(parents))
    >>> serape.network(FewArcs(), "ges").edges
    ()
    """

    name: str = "custom"
    variables: tuple[str, ...]
    equivalent: bool = True
    """Whether Markov-equivalent networks have the same score."""
    rises_with_arcs: bool = False
    """Whether no arc lowers it, so that the best network has all arcs."""
    of_caller: ClassVar[bool] = False
    """Whether code of the caller answers."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Note who wrote a score."""
        super().__init_subclass__(**options)
        cls.of_caller = not cls.__module__.startswith("serape.")

    @abstractmethod
    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents."""

    @property
    def size(self) -> int:
        """What the time of a family grows with: the variables, or the scores that stand for them."""
        return len(self.variables)

    @cached_property
    def rounding(self) -> float:
        """The largest difference of two networks' scores that is put down to rounding: no gain, and no loss.

        Rounding grows with the scores of families, and these with the rows; what a parent costs does not. So it is
        measured by the largest score of a variable without parents, and is far below any cost: 2·10⁻⁵ at 2·10⁹ rows.
        """
        alone = (abs(self.family(y, ())) for y in range(len(self.variables)))
        return max(MIN_ROUNDING, LAST_DIGITS * max((own for own in alone if own < math.inf), default=0.0))

    @cached_property
    def _known(self) -> dict[tuple[int, tuple[int, ...]], float]:
        return {}

    def family(self, child: int, parents: Collection[int]) -> float:
        """Return the score of a child with its parents, computed once."""
        key = child, tuple(sorted(parents))
        if key not in self._known:
            value = float(self.local(*key))
            if math.isnan(value) or value == math.inf:
                above = ", ".join(repr(self.variables[x]) for x in key[1]) or "no parents"
                raise DataError(
                    f"score {self.name!r} of {self.variables[child]!r} with {above} is {value}; it must be a number"
                )
            self._known[key] = value
        return self._known[key]

    def additions(
        self,
        child: int,
        candidates: Candidates,
        parents: Collection[int],
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> Floats:
        """Return, by candidate, the score of the child with the parents and that candidate."""
        return self.families(child, [(*parents, int(x)) for x in candidates], threads=threads, poll=poll)

    def additions_of_many(
        self, queries: Sequence[AdditionQuery], *, threads: int = 1, poll: Poll | None = None
    ) -> list[Floats]:
        """Return `additions` of each of many queries."""
        return [self.additions(*query, threads=threads, poll=poll) for query in queries]

    def families(
        self, child: int, parent_sets: Sequence[Collection[int]], *, threads: int = 1, poll: Poll | None = None
    ) -> Floats:
        """Return the scores of the child with each of several sets of parents."""
        del threads
        found = np.empty(len(parent_sets))
        for k, parents in enumerate(parent_sets):
            found[k] = self.family(child, parents)
            if poll is not None:
                poll()
        return found

    def core(self) -> _core.NetworkScore:
        """Return the score as searches in the core ask it: here, by calls of its methods."""
        return _core.CallerScore(self, len(self.variables))

    def total(self, parents_of: Sequence[Collection[int]]) -> float:
        """Return the score of a network: the parents of every variable, in the order of `variables`."""
        if len(parents_of) != len(self.variables):
            raise OptionError(f"there are {len(self.variables)} variables, but parents of {len(parents_of)}")
        return math.fsum(self.family(child, parents) for child, parents in enumerate(parents_of))

    def gain(self, before: Sequence[Collection[int]], after: Sequence[Collection[int]]) -> float:
        """Return how much the score rises from one network to another; families that both have cancel exactly."""
        changed = [y for y, (old, new) in enumerate(zip(before, after, strict=True)) if set(old) != set(new)]
        return math.fsum(s for y in changed for s in (self.family(y, after[y]), -self.family(y, before[y])))


class PermutedScore(Score):
    """The score of another one with its variables in another order: position k is position `order[k]` of the other."""

    def __init__(self, score: Score, order: Sequence[int]) -> None:
        self.name = score.name
        self.equivalent = score.equivalent
        self.rises_with_arcs = score.rises_with_arcs
        self.variables = tuple(score.variables[k] for k in order)
        self._score = score
        self._order = np.array(order, np.uint32)

    @property
    def size(self) -> int:
        """What the time of a family grows with."""
        return self._score.size

    @cached_property
    def rounding(self) -> float:
        """The largest difference of scores that is put down to rounding."""
        return self._score.rounding

    def core(self) -> _core.NetworkScore:
        """Return the other score as the core asks it, with its variables in this order."""
        return _core.PermutedScore(self._score.core(), self._order.tolist())

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents."""
        return self._score.family(int(self._order[child]), self._permuted(parents))

    def additions(
        self,
        child: int,
        candidates: Candidates,
        parents: Collection[int],
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> Floats:
        """Return the score of a child with its parents and each candidate."""
        xs = self._order[as_positions(candidates)]
        return self._score.additions(int(self._order[child]), xs, self._permuted(parents), threads=threads, poll=poll)

    def additions_of_many(
        self, queries: Sequence[AdditionQuery], *, threads: int = 1, poll: Poll | None = None
    ) -> list[Floats]:
        """Return `additions` of each of many queries."""
        permuted = [
            (int(self._order[child]), self._order[as_positions(candidates)], self._permuted(parents))
            for child, candidates, parents in queries
        ]
        return self._score.additions_of_many(permuted, threads=threads, poll=poll)

    def families(
        self, child: int, parent_sets: Sequence[Collection[int]], *, threads: int = 1, poll: Poll | None = None
    ) -> Floats:
        """Return the score of a child with each of several sets of parents."""
        sets = [self._permuted(parents) for parents in parent_sets]
        return self._score.families(int(self._order[child]), sets, threads=threads, poll=poll)

    def _permuted(self, parents: Collection[int]) -> list[int]:
        return [int(self._order[x]) for x in parents]


class NativeScore(Score):
    """A score whose families are scored by the core."""

    _native: _core.NetworkScore

    def core(self) -> _core.NetworkScore:
        """Return the score of the core, unless the caller has changed what it answers."""
        return super().core() if self.of_caller else self._native

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents."""
        return float(self._native.families(child, [list(parents)])[0])

    def additions(
        self,
        child: int,
        candidates: Candidates,
        parents: Collection[int],
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> Floats:
        """Return, by candidate, the score of the child with the parents and that candidate, in one native call."""
        return self._native.additions_of_many([child], [as_positions(candidates)], [list(parents)], threads, poll)

    def additions_of_many(
        self, queries: Sequence[AdditionQuery], *, threads: int = 1, poll: Poll | None = None
    ) -> list[Floats]:
        """Return `additions` of each of many queries, in one native call, of which threads share the queries."""
        children = [child for child, _, _ in queries]
        candidates = [as_positions(xs) for _, xs, _ in queries]
        parents = [list(given) for _, _, given in queries]
        found = self._native.additions_of_many(children, candidates, parents, threads, poll)
        ends = list(accumulate(map(len, candidates)))
        return [found[begin:end] for begin, end in pairwise([0, *ends])]

    def families(
        self, child: int, parent_sets: Sequence[Collection[int]], *, threads: int = 1, poll: Poll | None = None
    ) -> Floats:
        """Return the scores of the child with each of several sets of parents, in one native call."""
        return self._native.families(child, [list(parents) for parents in parent_sets], threads, poll)


class RoundedScore(NativeScore):
    """A score whose families the core rounds to multiples of a unit, so that equal ones are equal to the bit."""

    _native: _core.GaussianScore | _core.MixedScore | _core.BlockScore

    @cached_property
    def rounding(self) -> float:
        """The largest difference of scores that is put down to rounding: of four families, two units each."""
        return 8.0 * self._native.unit


class _TableScore(NativeScore):
    """A score computed by the native core from the counts of a Table's columns."""

    kind: ClassVar[Literal["loglik", "bic", "aic", "bdeu", "k2"]]
    uses_sample_size: ClassVar[bool] = False
    """Whether it uses an equivalent sample size."""

    _ess: float = 1.0  # the equivalent sample size, used by BDeu only
    _native: _core.FamilyScore

    def __init__(self, table: Table) -> None:
        self.table = table
        self.name = self.kind
        self.variables = table.names
        table.check_categorical(f"score {self.name!r}", table.searched)
        self._native = _core.FamilyScore(table.packed, self.kind, self._ess)

    @classmethod
    def of(cls, table: Table, equivalent_sample_size: float) -> _TableScore:
        """Return the score on a table; only BDeu uses the equivalent sample size."""
        del equivalent_sample_size
        return cls(table)

    @classmethod
    def checked_size(cls, size: Any) -> float:
        """Return an equivalent sample size, if the score uses one; refuse what is none."""
        del size
        return 1.0

    @classmethod
    def log_prior(cls, size: float, log_q: float, levels: int) -> float | None:
        """Return ln a_jk for an equivalent sample size; None if the score has no prior."""
        del size, log_q, levels
        return None

    @classmethod
    def penalty(cls, rows: float) -> float:
        """Return what a parameter costs."""
        del rows
        return 0.0

    def additions(
        self,
        child: int,
        candidates: Candidates,
        parents: Collection[int],
        *,
        threads: int = 1,
        poll: Poll | None = None,
        strategy: str = "automatic",
    ) -> Floats:
        """Return, by candidate, the score of the child with the parents and that candidate, in one native call.

        `strategy` forces a counting strategy ("planes", "scatter", "sparse", "ones"); all give the same bits.
        """
        return self._native.additions(child, as_positions(candidates), list(parents), threads, poll, strategy)


class BDeu(_TableScore):
    """The Bayesian Dirichlet equivalent uniform score."""

    kind = "bdeu"
    uses_sample_size = True

    def __init__(self, table: Table, equivalent_sample_size: float = 1.0) -> None:
        self.equivalent_sample_size = self._ess = self.checked_size(equivalent_sample_size)
        super().__init__(table)

    @classmethod
    def checked_size(cls, size: Any) -> float:
        """Return an equivalent sample size; refuse what is none."""
        if not isinstance(size, int | float | np.number) or not 0 < size < math.inf:
            raise OptionError(f"the equivalent sample size must be a positive number of rows, not {shown(size)}")
        return float(size)

    @classmethod
    def of(cls, table: Table, equivalent_sample_size: float) -> BDeu:
        """Return the score on a table."""
        return cls(table, equivalent_sample_size)

    @classmethod
    def log_prior(cls, size: float, log_q: float, levels: int) -> float:
        """Return ln a_jk for an equivalent sample size."""
        return math.log(size) - log_q - math.log(levels)


class BIC(_TableScore):
    """The Bayesian information criterion, as a score: multiplied by −½."""

    kind = "bic"

    @classmethod
    def penalty(cls, rows: float) -> float:
        """Return what a parameter costs."""
        return 0.5 * math.log(rows)


class AIC(_TableScore):
    """Akaike's information criterion, as a score: multiplied by −½."""

    kind = "aic"

    @classmethod
    def penalty(cls, rows: float) -> float:
        """Return what a parameter costs."""
        del rows
        return 1.0


class K2(_TableScore):
    """The score of the K2 algorithm: a uniform prior on the probabilities of every family."""

    kind = "k2"
    equivalent = False

    @classmethod
    def log_prior(cls, size: float, log_q: float, levels: int) -> float:
        """Return ln a_jk."""
        del size, log_q, levels
        return 0.0


class LogLikelihood(_TableScore):
    """The maximum log-likelihood."""

    kind = "loglik"
    rises_with_arcs = True


SCORES: dict[str, type[_TableScore]] = {score.kind: score for score in (BDeu, BIC, AIC, K2, LogLikelihood)}


def make_score(data: Any, score: str | Score = "bdeu", equivalent_sample_size: float = 1.0) -> Score:
    """Return the score of a name on data; a score is returned unchanged.

    `data` is a Table, anything that a Table can be made of, or a score. `equivalent_sample_size` is used by "bdeu".
    """
    for given in (score, data):
        if isinstance(given, Score):
            return given
    if not isinstance(score, str):
        raise InputTypeError(f"a score is a name or a serape.Score, not {shown(score)}")
    from serape.structure.score_choice import NUMBER_SCORES  # it builds on this module

    name = match(score, [*SCORES, *NUMBER_SCORES])
    if name is None:
        raise OptionError(unknown("score", score, [*SCORES, *NUMBER_SCORES]))
    table = Table(data)
    if name in NUMBER_SCORES:
        if table.remote is not None:
            raise DataError(
                f"score {name!r} needs the columns in this process; pass the data, not a table on a cluster"
            )
        return NUMBER_SCORES[name].of(table, equivalent_sample_size)
    if table.remote is not None:
        made: Score = table.remote.score(name, equivalent_sample_size)
        return made
    if table.weights is not None:
        from serape.structure.weighted_score import make_weighted_score  # it builds on this module

        return make_weighted_score(table, name, equivalent_sample_size)
    return SCORES[name].of(table, equivalent_sample_size)
