"""MB-by-MB: the causes and effects of a target, from one blanket after another.

Wang, Zhou, Zhao and Geng, *Discovering and orienting the edges connected to a target variable in a DAG via a sequential
local learning approach*, Computational Statistics and Data Analysis 77, 2014.

Finds which neighbours of the target are causes, which are effects, and which the data cannot tell. Sound: with perfect
tests, these are the parents, children and undirected neighbours of the target in the completed graph of the whole DAG.
The blanket of the target is learned first; then, one after another, those of the variables that undirected paths join
to the target; v-structures and Meek's rules direct edges each time. It ends when every edge of the target has a
direction, or no undirected path is left that leads to a variable whose blanket is not known.

Why that is enough: say that the completed graph directs an edge between two variables of the part that undirected paths
join to the target. The first such edge that v-structures and Meek's rules direct depends only on edges at variables of
this part, all of which are known, so it would have been directed.

The paper learns the structure over a blanket by a search of its own. Here the blankets come from any algorithm that
finds them, and members that a subset of the blanket separates from its owner are spouses (`local_graph` has the rules).

See docs/papers.md: Wang et al. 2014.
"""

from __future__ import annotations

from serape.structure.local_graph import LocalGraph


def mb_by_mb(local: LocalGraph, target: int) -> None:
    """Learn blankets around the target until its edges are directed, or no undirected path leads on."""
    local.expand(target)
    while local.undirected(target):
        waiting = [x for x in local.undirected_paths(target) if x not in local.expanded]
        if not waiting:
            return
        local.expand(waiting[0])
