"""The causes and effects of one target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from serape._keywords import Keywords
from serape.errors import OptionError
from serape.independence.registry import has_rows
from serape.local.answer import Answer
from serape.names import match, unknown
from serape.questions.choice import check_choice
from serape.questions.deciding import Deciding, Discoveries
from serape.questions.hidden import allow_hidden, check_hidden, unused_pairs_note
from serape.questions.min_effect import without_weak
from serape.questions.query import MAX_CONDITIONING, Query
from serape.questions.run import Run
from serape.results.causes import Causes
from serape.settings import Settings, question
from serape.structure.local_graph import LocalBlanket, LocalGraph
from serape.structure.mmb_by_mmb import local_pag
from serape.structure.pag import PartialAncestralGraph
from serape.structure.reasons import reasons
from serape.structure.registry import CAUSAL_ALGORITHMS, CausalAlgorithm
from serape.types import LocalAlgorithm
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx


@question(
    command=(
        "serape causes patients.csv --target HeartDisease --alpha 0.01 --explain Smoking",
        "serape causes patients.csv --target HeartDisease --learner hiton-mb --picture causes.png --report report.html",
        "serape causes patients.csv --target HeartDisease --outcome ECG",
        "serape causes patients.csv --target HeartDisease --hidden",
        "serape sample alarm --rows 5000 | serape causes - --target HR --json > found.json",
    ),
    about="Find which columns are causes of a column, which are its effects, and which the data cannot tell.\n\n"
    "Prints the neighbours with their roles and the test that decided on each, then how they were found and notes.",
)
def causes(
    data: Any,
    target: str | int,
    algorithm: str = "auto",
    learner: str | LocalAlgorithm = "auto",
    *,
    hidden: bool = False,
    **settings: Unpack[Keywords],
) -> Causes:
    """Find which neighbours of a variable are causes, which are effects, and which the data cannot tell.

    The search learns blankets around the target, no further than its edges need. With perfect tests the answer is that
    of the whole network's class. Unless `hidden`, it assumes that no common cause of the variables is hidden.

    Parameters
    ----------
    data, target
        As for `markov_blanket`.
    algorithm
        "mb-by-mb": blankets of one variable after another, along undirected paths from the target. "ldecc": the blanket
        of the target, then the tests of the PC algorithm until its edges have directions; it asks for no more blankets,
        but possibly about all pairs of variables. "mmb-by-mmb": as "mb-by-mb", where common causes may be hidden.
        "auto" is "mb-by-mb", or "mmb-by-mmb" with `hidden`. Options: `published`, and `equal_separators` of "ldecc"
        (docs/causes.md).
    learner
        What finds the blankets: an algorithm for `markov_blanket`, to which all other options are passed on; "auto" as
        there.
    hidden
        Whether common causes of the variables may be hidden. Then an edge may also mean a hidden common cause
        (`found.confounded`), and `found.marks` has what is known of each neighbour (docs/hidden-causes.md).

    Returns
    -------
    Causes
        The causes, effects and undecided neighbours, how they were found, and why each is one.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the result so far.

    Examples
    --------
    >>> found = serape.causes(patients, "ChestPain", alpha=0.01)
    >>> found.causes, found.effects, found.undecided
    (('Anxiety', 'HeartDisease'), (), ())
    >>> print(found.explain("Anxiety"))
    Anxiety is a cause of ChestPain, because Anxiety and HeartDisease are independent given nothing, but not given
    ChestPain. Anxiety is in the Markov blanket of ChestPain: on its own, it is associated with ChestPain
    (g2 = 220.9, 1 degree of freedom, p = 5.6e-50, 0.08 bits, Cramér's V 0.34, at most alpha = 0.01).
    """
    asked = Settings.of(algorithm=learner, **settings)
    chosen = find_causal(algorithm, hidden=check_hidden(hidden))
    if chosen.hidden:
        asked = allow_hidden(asked)
    options = {name: value for name, value in asked.options.items() if name in chosen.options}
    for name, value in options.items():
        check_choice(name, value, chosen.run)
    asked = replace(asked, options={name: value for name, value in asked.options.items() if name not in options})
    query = Query.resolve(data, "blanket", asked)
    at = query.position(target)
    query = query.constrained(asked.search, [at], symmetric=True)
    if not chosen.uses_directions and query.knowledge is not None and query.knowledge.has_orientations:
        raise OptionError(
            f"algorithm {chosen.name!r} does not use directions that knowledge gives; use 'mb-by-mb', or forbid pairs "
            f"only"
        )
    return _Search(query, at, chosen, options, asked).run()


def find_causal(algorithm: object, *, hidden: bool) -> CausalAlgorithm:
    """Return the algorithm of a name; refuse one that does not go with `hidden`."""
    automatic = "mmb-by-mmb" if hidden else "mb-by-mb"
    name = automatic if match(algorithm, ["auto"]) else match(algorithm, CAUSAL_ALGORITHMS)
    if name is None:
        raise OptionError(unknown("algorithm", algorithm, ["auto", *CAUSAL_ALGORITHMS]))
    chosen = CAUSAL_ALGORITHMS[name]
    if hidden and not chosen.hidden:
        raise OptionError(f"algorithm {name!r} does not allow for hidden common causes; use {automatic!r}")
    if chosen.hidden and not hidden:
        raise OptionError(f"algorithm {name!r} allows for hidden common causes; pass {setting('hidden', True)} with it")
    return chosen


@dataclass(frozen=True)
class _Edges:
    """By neighbour of the target, why its edge has its marks; the graph around, and what was dropped."""

    reasons: dict[int, str]
    graph: nx.DiGraph[str]
    conflicts: tuple[str, ...]


class _Search:
    """One search for causes and effects."""

    def __init__(
        self, query: Query, target: int, algorithm: CausalAlgorithm, options: Mapping[str, Any], asked: Settings
    ) -> None:
        self.query, self.target, self.algorithm, self.options = query, target, algorithm, options
        self.run_of_call = Run(asked.run, query.source)
        self.search = query.search(target, asked.run.threads, self.run_of_call.watch, budget=self.run_of_call.budget)
        # A hidden common cause can join two variables that have no arc, so knowledge of arcs bars nothing there.
        knowledge = None if algorithm.hidden else query.knowledge
        if algorithm.hidden:
            self.search.notes.extend(unused_pairs_note(query.knowledge, query.source.variables))
        self.local = LocalGraph(self.search, self.learn, query.source.variables, knowledge)
        self.ancestral: PartialAncestralGraph | None = None
        self.through: dict[int, set[int]] = {}
        """By spouse of the target, the neighbours that it is adjacent to, where this is known."""
        self.discoveries = Discoveries()
        self.deciding: Deciding | None = None

    def run(self) -> Causes:
        """Search, and return the result; what was found so far if a budget or Ctrl-C ends the search."""
        run = self.run_of_call
        with run.part():
            self.ancestral = self.algorithm.run(self.local, self.target, **self.options)
            self.find_common_effects()
        if not run.complete and not run.interrupted:
            self.search.notes.append(f"{run.ended}: directions are as far as they were found")
        return run.hand_over(self.result(complete=run.complete))

    def learn(self, x: int) -> LocalBlanket:
        """Learn the blanket of a variable, and which of its members are its neighbours."""
        query, search = self.query, self.search
        answer, discoveries = query.discovered(search, x)
        if x == self.target:
            members = {int(y) for y in answer.blanket or ()}
            search.reconcile_sides(members)
            self.deciding = deciding = Deciding(search, x, answer, discoveries, by_subsets=self.query.by_subsets)
            answer = without_weak(query, search, x, answer, deciding)
            search.notes.extend(query.warnings(search, x, {int(y) for y in answer.blanket or ()}, deciding))
            search.close_evidence()
            self.discoveries = discoveries
            self.through = {int(s): {int(c) for c in near} for s, near in (answer.spouses or {}).items()}
        members = {int(y) for y in answer.blanket or ()}
        if answer.parents_children is None:
            near = self._not_separated(x, sorted(members))
            neighbours = {*(near if self.algorithm.hidden else search.possible_neighbours(x, near)), *query.required(x)}
        else:
            neighbours = {int(y) for y in answer.parents_children}
        return LocalBlanket(frozenset(neighbours), frozenset(members - neighbours))

    def _not_separated(self, x: int, members: list[int]) -> list[int]:
        """Return the members of a blanket that no subset of the others separates from x: they are neighbours."""
        return self.search.separate(members, x, members, self._sizes(members)).survivors

    def _sizes(self, pool: list[int]) -> range:
        """Return the sizes of the subsets of a pool that may separate two variables."""
        bounded = self.search.max_conditioning is None and has_rows(self.query.source)
        return range((min(MAX_CONDITIONING, len(pool)) if bounded else len(pool)) + 1)

    def find_common_effects(self) -> None:
        """Find which effects of the target its spouses are adjacent to.

        Given any effect of a common effect, too, the target and the spouse depend on each other. The parents of an
        effect are in the blanket of the target, so if it is not adjacent to the spouse, a subset of the blanket and the
        target separates the two. Unless common causes may be hidden, a single possible effect needs no test.
        """
        around, marks = self.local.expanded[self.target], self._marks()
        members = sorted({*around.neighbours, *around.spouses})
        for s in (x for x in members if x not in marks and x not in self.through):
            opening = self._opening(s, marks)
            pool = [self.target, *(x for x in members if x != s)]
            if len(opening) > 1 or self.algorithm.hidden:
                self.through[s] = set(self.search.separate(opening, s, pool, self._sizes(pool)).survivors)

    def _opening(self, spouse: int, marks: dict[int, str]) -> list[int]:
        """Return the effects of the target given which it and a spouse depend on each other."""
        return [c for c in sorted(marks) if marks[c] == "←" and self.local.depends(self.target, c, spouse)]

    def _common_effects(self, spouse: int, marks: dict[int, str]) -> list[int | str]:
        """Return the effects that the target has in common with a spouse, as far as they are known."""
        opening = self._opening(spouse, marks)
        if spouse in self.through:
            return [c for c in opening if c in self.through[spouse]]
        return [c for c in opening if len(opening) == 1 and not self.algorithm.hidden]

    def result(self, *, complete: bool) -> Causes:
        """Return the result, as far as the search has come."""
        local, search, target = self.local, self.search, self.target
        names = self.query.source.variables
        expanded = tuple(names[x] for x in local.expanded)
        if target not in local.expanded:  # the blanket itself is not complete
            local.expanded[target] = LocalBlanket(frozenset(), frozenset(search.members_so_far(target)))
            search.close_evidence()
        around = local.expanded[target]
        marks = self._marks()
        edges = self._ancestral(marks) if self.algorithm.hidden else self._directed(marks)
        spouses: dict[int | str, list[int | str]] = {
            s: self._common_effects(s, marks) for s in sorted((around.neighbours | around.spouses) - marks.keys())
        }
        seconds = self.run_of_call.seconds
        answer = Answer([*marks, *spouses], list(marks), spouses)
        result = self.query.result_of(
            search, target, answer, self.discoveries, seconds, deciding=self.deciding, complete=complete
        )
        result = replace(result, options={**result.options, **self.options})
        return Causes(
            blanket_result=result,
            marks={names[x]: marks[x] for x in sorted(marks)},
            reasons={names[x]: edges.reasons[x] for x in sorted(edges.reasons)},
            graph=edges.graph,
            expanded=expanded,
            algorithm=self.algorithm.name,
            learner=self.query.algorithm.name,
            tests=result.tests,
            tests_by_size=result.tests_by_size,
            skipped=result.skipped,
            seconds=seconds,
            notes=result.notes,
            complete=complete,
            hidden=self.algorithm.hidden,
            conflicts=edges.conflicts,
        )

    def _marks(self) -> dict[int, str]:
        """Return the marks of the target's edges, by neighbour, as far as they are known."""
        local, target = self.local, self.target
        if self.algorithm.hidden:
            graph = self.ancestral or local_pag(local)
            return {x: graph.sign(x, target) for x in sorted(graph.near[target])}
        return {
            **dict.fromkeys(local.parents(target), "→"),
            **dict.fromkeys(local.children(target), "←"),
            **dict.fromkeys(local.undirected(target), "–"),
        }

    def _directed(self, marks: dict[int, str]) -> _Edges:
        """Return why the target's edges have their directions, and the graph around it."""
        local, target = self.local, self.target
        why = reasons(local)
        found = {x: why.get((x, target)) or why.get((target, x)) for x in marks}
        oriented = local.oriented()
        graph = oriented.graph.to_networkx([local.names[x] for x in local.variables])
        return _Edges({x: text for x, text in found.items() if text}, graph, tuple(map(str, oriented.conflicts)))

    def _ancestral(self, marks: dict[int, str]) -> _Edges:
        """Return why the target's edges have their marks, and the graph around it, if common causes may be hidden."""
        import networkx as nx

        local, target = self.local, self.target
        found = self.ancestral or local_pag(local)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(local.names[x] for x in local.variables)
        for x, y in found.mark:
            if found.sign(x, y) not in ("←", "←o"):
                graph.add_edge(local.names[x], local.names[y], marks=found.sign(x, y))
        why = {x: [found.reasons.get(end, "") for end in ((x, target), (target, x))] for x in marks}
        texts = {x: "; ".join(dict.fromkeys(filter(None, both))) for x, both in why.items()}
        conflicts = tuple(f"{mark} is dropped: it contradicts another mark" for mark in found.conflicts)
        return _Edges({x: text for x, text in texts.items() if text}, graph, conflicts)
