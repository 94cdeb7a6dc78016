"""Seven published algorithms in short functions, and a graph on which one is wrong though its tests are perfect.

    python examples/published.py

The functions restate the steps of the papers after public code: Causal-Learner (by authors of BAMB and EEMB),
pyCausalFS, and, for STMB, the code of the laboratory where it was written (rpi_d3m_primitives). EEMB has been restated
without a source at hand. Where a step can be read in two ways, or two sources differ, an option has the other one.
"Is there a set Z" is asked of all sets, however large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from random import Random

import serape


def separating_set(
    search: serape.Search, x: int, target: int, pool: Iterable[int], fixed: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """Return the first, smallest set Z ⊆ pool with X ⊥ T | Z ∪ fixed; None if there is none."""
    found = search.separate([x], target, [z for z in pool if z not in (x, target, *fixed)], fixed=fixed)[0]
    return found.given if found.separated else None


def joined(*sets: Iterable[int], without: int) -> tuple[int, ...]:
    """Return the union of sets without one variable."""
    return tuple(dict.fromkeys(z for some in sets for z in some if z != without))


def subsets(pool: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield all subsets of a pool, smaller ones first."""
    return (z for size in range(len(pool) + 1) for z in combinations(pool, size))


def recognize_pc(search: serape.Search, target: int) -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """RecognizePC: all variables but those that a subset of the rest separates; and the separating sets of these."""
    adjacent, sep = [int(x) for x in search.candidates(target)], {}
    cut_size = 0
    while cut_size < len(adjacent):
        found = search.separate(adjacent, target, adjacent, range(cut_size, cut_size + 1))
        sep.update({x: found[k].given for k, x in enumerate(adjacent) if found[k].separated})
        adjacent = [x for x in adjacent if x not in sep]
        cut_size += 1
    return adjacent, sep


def ipc_mb_one_pass(search: serape.Search, target: int, both_sides: bool = False) -> list[int]:
    """IPC-MB (Fu and Desmarais 2008), as the toolboxes have it: one pass checks symmetry and finds spouses.

    They forget the set that separates X from T in the search about X; with `both_sides` it is kept.
    """
    pc, sep = recognize_pc(search, target)
    blanket = list(pc)
    for x in pc:
        candidates, sep_x = recognize_pc(search, x)
        if target not in candidates:  # X is no neighbour
            blanket.remove(x)
            if both_sides:
                sep[x] = sep_x[target]
            continue
        for y in candidates:
            if y == target or y in blanket or x in sep.get(y, ()):
                continue
            if search.dependent(y, target, (*sep.get(y, ()), x)):
                blanket.append(y)
    return blanket


def stmb(search: serape.Search, target: int, own_spouses: bool = False, laboratory: bool = False) -> list[int]:
    """STMB (Gao and Ji 2017): spouses, and descendants that are no children, are found at the same time.

    Step 4 conditions on the spouses of all other members of PC (Causal-Learner), or, with `own_spouses`, on those of X
    as well, and the spouses through removed variables are kept (pyCausalFS). The code of the `laboratory` does this in
    step 4. Its step 2 tries sets of one variable alone, and its step 3 removes false spouses after all tests.
    """
    keeps = own_spouses or laboratory
    pc, sep = recognize_pc(search, target)  # step 1
    spouses: dict[int, list[int]] = {y: [] for y in pc}
    removed = []
    for y in pc:  # step 2: X, outside PC, is a spouse through Y, or shows that Y is no child
        for x in sep:
            if y in sep[x] or not search.dependent(x, target, (*sep[x], y)):
                continue
            pool = [z for z in (*pc, x) if z != y]
            if laboratory:
                is_descendant = any(search.independent(y, target, (z,)) for z in pool)
            else:
                is_descendant = separating_set(search, y, target, pool) is not None
            if is_descendant:
                removed.append(y)
                spouses[y] = spouses[y] if own_spouses else []
                break
            spouses[y].append(x)
    pc = [y for y in pc if y not in removed]
    for y in spouses:  # step 3: false spouses
        at_once = list(spouses[y])
        for x in at_once:
            if search.independent(x, target, joined(pc, at_once if laboratory else spouses[y], without=x)):
                spouses[y] = [z for z in spouses[y] if z != x]
    for x in list(pc):  # step 4: other descendants
        others = [z for y in spouses if keeps or y != x for z in spouses[y]]
        if search.independent(x, target, joined(pc, others, without=x)):
            pc.remove(x)
            spouses[x] = spouses[x] if keeps else []
    return list(joined(pc, *spouses.values(), without=target))


def bamb(
    search: serape.Search, target: int, wide: bool = False, examined: bool = False, spouses_first: bool = False
) -> list[int]:
    """BAMB (Ling, Yu, Wang, Liu, Ding and Wu 2019): each new candidate brings its spouses, and both are examined.

    `wide`: step 2 also conditions on candidates of PC when it separates a spouse from the child (pyCausalFS). Every
    variable outside PC may be a spouse, or, with `examined`, those that have been separated from the target. With
    `spouses_first`, older candidates are examined after steps 2 and 3 (Causal-Learner), not before (pyCausalFS).
    """
    pc: list[int] = []
    spouses: dict[int, list[int]] = {}
    dependent, independent = search.ranked_split(target, search.candidates(target))
    sep: dict[int, tuple[int, ...]] = {int(x): () for x in independent}

    def examine_older(newest: int) -> None:
        for b in [b for b in reversed(pc) if b != newest]:
            found = separating_set(search, b, target, pc)
            if found is not None:
                pc.remove(b)
                sep[b], spouses[b] = found, []

    for a in dependent:  # the strongest first
        found = separating_set(search, a, target, pc)
        if found is not None:
            sep[a] = found
            continue
        pc.append(a)  # step 1
        if not spouses_first:
            examine_older(a)
        outside = list(sep) if examined else [int(x) for x in search.candidates(target) if x not in pc]
        given = {x: joined(sep.get(x, ()), [a], without=x) for x in outside}
        candidates = [x for x in outside if search.dependent(x, target, given[x])]
        spouses[a] = true_spouses(search, target, a, candidates, pc, wide)  # step 2
        for x in reversed(list(pc)):  # step 3
            if separated_with_spouses(search, x, target, pc, spouses):
                pc.remove(x)
                spouses[x] = []
        if spouses_first:
            examine_older(a)
    return list(joined(pc, *(spouses[y] for y in pc), without=target))


def eemb(search: serape.Search, target: int, wide: bool = False) -> list[int]:
    """EEMB (Wang, Ling, Yu and Wu 2020): ADDTrue, then RMFalse; `wide` as in `bamb`."""
    pc: list[int] = []
    spouses: dict[int, list[int]] = {}
    dependent, independent = search.ranked_split(target, search.candidates(target))
    sep: dict[int, tuple[int, ...]] = {int(x): () for x in independent}
    for a in dependent:  # ADDTrue
        pc.append(a)
        spouses[a] = []
        for y in reversed(list(pc)):
            found = separating_set(search, y, target, pc)
            if found is None:
                if y == a:  # the spouses through the new member
                    spouses[a] = [x for x in sep if a not in sep[x] and search.dependent(x, target, (*sep[x], a))]
                continue
            pc.remove(y)
            sep[y], spouses[y] = found, []
            for z in pc:  # what was removed may be a spouse
                if z not in found and search.dependent(y, target, (*found, z)):
                    spouses[z].append(y)
            if y == a:
                break
    for y in pc:  # RMFalse, phase I
        spouses[y] = true_spouses(search, target, y, spouses[y], pc, wide)

    def false_member(x: int, others: list[int]) -> bool:
        return separated_with_spouses(search, x, target, others, spouses)

    kept = one_by_one(pc, false_member)  # RMFalse, phase II
    return list(joined(kept, *(spouses[y] for y in kept), without=target))


def one_by_one(xs: list[int], is_false: Callable[[int, list[int]], bool]) -> list[int]:
    """Add one variable after another; after each, examine all from the last to the first, and remove false ones."""
    kept: list[int] = []
    for e in xs:
        kept.append(e)
        for x in reversed(list(kept)):
            if is_false(x, [z for z in kept if z != x]):
                kept.remove(x)
                if x == e:
                    break
    return kept


def true_spouses(
    search: serape.Search, target: int, y: int, candidates: list[int], pc: list[int], wide: bool
) -> list[int]:
    """Return the candidates that three kinds of tests leave as spouses through Y (step 2 of BAMB, phase I of EEMB)."""

    def first(x: int, others: list[int]) -> bool:
        return any(search.independent(x, target, (y, z)) for z in others)

    def second(x: int, others: list[int]) -> bool:
        pool = joined(others, pc if wide else (), without=target)
        return separating_set(search, x, y, pool) is not None

    def third(x: int, others: list[int]) -> bool:
        return separating_set(search, x, target, joined(pc, others, without=y), fixed=(y,)) is not None

    for is_false in (first, second, third):
        candidates = one_by_one(candidates, is_false)
    return candidates


def separated_with_spouses(
    search: serape.Search, x: int, target: int, pc: list[int], spouses: dict[int, list[int]]
) -> bool:
    """Return whether X ⊥ T given some Z ⊆ PC and the spouses through Z (step 3 of BAMB, phase II of EEMB)."""
    sets = subsets([z for z in pc if z != x])
    return any(search.independent(x, target, joined(z, *(spouses[y] for y in z), without=x)) for z in sets)


def grown_and_shrunk(
    search: serape.Search,
    target: int,
    chosen: Callable[[list[int], list[int]], int],
    among: Iterable[int] | None = None,
) -> list[int]:
    """IAMB's two phases: add what is chosen of the dependent candidates and the members, then remove false members."""
    members: list[int] = []
    pool = [int(x) for x in search.candidates(target) if among is None or x in set(among)]
    while dependent := search.ranked_split(target, [x for x in pool if x not in members], tuple(members))[0]:
        members.append(chosen(dependent, members))
    for x in list(members):
        if search.independent(x, target, joined(members, without=x)):
            members.remove(x)
    return members


def kiamb(search: serape.Search, target: int, k: float = 0.5, seed: int = 0) -> list[int]:
    """KIAMB (Peña, Nilsson, Björkegren and Tegnér 2007): IAMB, but the best of a random share of candidates enters."""
    random = Random(seed)

    def best_of_some(dependent: list[int], members: list[int]) -> int:
        del members
        some = set(random.sample(dependent, max(1, int(k * len(dependent)))))
        return next(x for x in dependent if x in some)

    return grown_and_shrunk(search, target, best_of_some)


def lrh(search: serape.Search, target: int) -> list[int]:
    """LRH (Liu and Liu 2016): IAMB, but a candidate enters that other candidates do not separate, if there is one."""

    def not_separated(dependent: list[int], members: list[int]) -> int:
        for x in dependent:
            near = [y for y in dependent if y != x and search.dependent(x, y, tuple(members))]
            if separating_set(search, x, target, near, fixed=tuple(members)) is None:
                return x
        return dependent[0]

    return grown_and_shrunk(search, target, not_separated)


def mbor(search: serape.Search, target: int, without_target: bool = False) -> list[int]:
    """MBOR (Rodrigues de Morais and Aussem 2008): supersets first, then parents and children with an OR, then spouses.

    The neighbours of a neighbour are found among all variables, or, in pyCausalFS, `without_target`.
    """
    every = [target, *(int(x) for x in search.candidates(target))]

    def parents_children(y: int, among: Iterable[int]) -> list[int]:  # MBtoPC
        blanket = grown_and_shrunk(search, y, lambda dependent, _: dependent[0], among)
        return [x for x in blanket if separating_set(search, x, y, blanket) is None]

    dependent, independent = search.ranked_split(target, every[1:])  # PCSuperset
    superset = list(dependent)
    separators: dict[int, tuple[int, ...]] = {int(x): () for x in independent}
    for x in dependent:
        y = next((y for y in superset if y != x and search.independent(x, target, (y,))), None)
        if y is not None:
            superset.remove(x)
            separators[x] = (y,)
    spouses: list[int] = []  # SPSuperset
    for x in superset:
        through = [y for y in separators if x not in separators[y] and search.dependent(y, target, (*separators[y], x))]
        for y in list(through):
            if any(search.independent(y, target, (x, z)) for z in through if z != y):
                through.remove(y)
        spouses += through
    blanket_superset = joined(superset, spouses, without=target)
    pc = parents_children(target, blanket_superset)
    pc += [x for x in superset if x not in pc and target in parents_children(x, [target, *blanket_superset])]
    found = list(pc)
    for x in pc:
        for y in parents_children(x, every[1:] if without_target else every):
            separator = separating_set(search, y, target, blanket_superset) if y not in (target, *pc) else None
            if separator is not None and search.dependent(y, target, joined(separator, [x], without=y)):
                found.append(y)
    return list(joined(found, without=target))


PUBLISHED: dict[str, tuple[Callable[..., list[int]], str]] = {
    "IPC-MB in one pass": (ipc_mb_one_pass, "Fu & Desmarais 2008"),
    "STMB": (stmb, "Gao & Ji 2017"),
    "BAMB": (bamb, "Ling and others 2019"),
    "EEMB": (eemb, "Wang and others 2020"),
    "KIAMB": (kiamb, "Peña and others 2007"),
    "LRH": (lrh, "Liu & Liu 2016"),
    "MBOR": (mbor, "Rodrigues de Morais & Aussem 2008"),
}


if __name__ == "__main__":
    for name, (algorithm, _) in PUBLISHED.items():
        wrong = serape.check_algorithm(algorithm, cases=200, max_nodes=5)
        print(wrong if wrong is not None else f"{name}: no counterexample was found")
