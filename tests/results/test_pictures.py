"""Pictures of graphs: names, boxes and arrows where they belong, the same each time."""

from __future__ import annotations

import math
import sys
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from drawn import arrows, boxes, extents, has_head, in_data, overlapping, points_along
from plain import random_dag
from serape import InputTypeError, MissingLibraryError, OptionError, load_network
from serape.palette import LIGHT
from serape.results import pictures
from serape.results.pictures import draw_graph


def graph_of(*words: str, nodes: str = "") -> Any:
    """Make a graph of words like ab (an arc) and a-b (an undirected edge)."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    for word in words:
        graph.add_edge(word[0], word[-1])
        if "-" in word:
            graph.add_edge(word[-1], word[0])
    return graph


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


NETWORKS = ["asia", "child", "insurance", "alarm", "hailfinder", "win95pts"]


@pytest.mark.parametrize("name", NETWORKS)
def test_names_boxes_and_arrows_of_known_networks(name: str) -> None:
    network = load_network(name)
    figure = draw_graph(network.graph, title=name)
    assert sorted(texts(figure)) == sorted([*network.variables, name])
    assert overlapping(figure) == []
    drawn = arrows(figure)
    assert drawn.keys() == set(network.graph.edges())
    assert all(map(has_head, drawn.values()))
    # Arrows begin and end on the borders of their own boxes, and pass through no other.
    placed = {node: in_data(box) for node, box in boxes(figure).items()}
    for (tail, head), arrow in drawn.items():
        line = points_along(arrow)
        for end, node in ((line[0], tail), (line[-1], head)):
            box = placed[node]
            near = 0.06  # inches: the line of an arc ends within the head
            assert box.x0 - near <= end[0] <= box.x1 + near
            assert box.y0 - near <= end[1] <= box.y1 + near
            assert min(abs(end[0] - box.x0), abs(end[0] - box.x1), abs(end[1] - box.y0), abs(end[1] - box.y1)) < near
        for node, box in placed.items():
            inside = (box.x0 + 0.01 < line[:, 0]) & (line[:, 0] < box.x1 - 0.01)
            inside &= (box.y0 + 0.01 < line[:, 1]) & (line[:, 1] < box.y1 - 0.01)
            assert not inside.any(), (tail, head, node)


@pytest.mark.parametrize("name", NETWORKS)
def test_names_fit_into_their_boxes(name: str) -> None:
    figure = draw_graph(load_network(name).graph, target=load_network(name).variables[-1])
    figure.canvas.draw()
    placed = extents(figure)
    for text in figure.axes[0].texts:
        inside, box = text.get_window_extent(), placed[text.get_text()]
        assert box.x0 < inside.x0 < inside.x1 < box.x1
        assert box.y0 - 2 < inside.y0 < inside.y1 < box.y1 + 2
        assert float(text.get_fontsize()) >= 9
    whole = figure.bbox
    assert all(whole.x0 <= b.x0 and b.x1 <= whole.x1 and whole.y0 <= b.y0 and b.y1 <= whole.y1 for b in placed.values())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("density", [0.01, 0.04, 0.1])
def test_fifty_nodes_stand_apart(seed: int, density: float) -> None:
    """Random graphs, connected or not, with undirected edges and even cycles."""
    random = np.random.default_rng(seed)
    graph = nx.DiGraph(random_dag(random, 50, density))
    for a, b in list(graph.edges()):
        if random.random() < 0.3:
            graph.add_edge(b, a)
        elif random.random() < 0.1:
            graph.remove_edge(a, b)
            graph.add_edge(b, a)
    figure = draw_graph(graph)
    assert sorted(texts(figure)) == sorted(graph)
    assert overlapping(figure) == []
    drawn = arrows(figure)
    pairs = {frozenset(edge) for edge in graph.edges()}
    assert {frozenset(edge) for edge in drawn} == pairs
    assert len(drawn) == len(pairs)
    for (tail, head), arrow in drawn.items():
        assert has_head(arrow) == (not graph.has_edge(head, tail))
        assert graph.has_edge(tail, head)
    placed = {node: in_data(box) for node, box in boxes(figure).items()}
    for node in nx.isolates(graph):  # in rows of their own, beneath (y grows downwards)
        assert all(placed[node].y0 > placed[other].y1 for other in graph if graph.degree(other))


def test_many_nodes_that_hang_on_one_stand_in_several_rows() -> None:
    few = graph_of(*(f"a{x}" for x in "bcde"))
    many = graph_of("ab", "bc", "cd", *(f"a{chr(200 + k)}" for k in range(40)))
    for graph, rows in ((few, 1), (many, 3)):
        figure = draw_graph(graph)
        assert overlapping(figure) == []
        placed = {node: in_data(box) for node, box in boxes(figure).items()}
        leaves = [placed[node] for node in graph if graph.degree(node) == 1 and graph.has_edge("a", node)]
        assert (
            min(len({round(box.x0 + box.x1, 6) for box in leaves}), len({round(box.y0, 6) for box in leaves})) == rows
        )
        for (tail, head), arrow in arrows(figure).items():
            line = points_along(arrow)
            for node, box in placed.items():
                if node not in (tail, head):
                    inside = (
                        (box.x0 < line[:, 0]) & (line[:, 0] < box.x1) & (box.y0 < line[:, 1]) & (line[:, 1] < box.y1)
                    )
                    assert not inside.any(), (tail, head, node)


def test_arcs_run_one_way() -> None:
    figure = draw_graph(load_network("alarm").graph)
    placed = {node: in_data(box) for node, box in boxes(figure).items()}
    steps = [
        (placed[b].x0 + placed[b].x1 - placed[a].x0 - placed[a].x1, placed[b].y0 - placed[a].y1)
        for a, b in arrows(figure)
    ]
    assert all(x > 0 for x, _ in steps) or all(y > 0 for _, y in steps)


def test_heads_of_arcs_only() -> None:
    figure = draw_graph(graph_of("ab", "b-c", "cd", "da"))  # with a cycle through an undirected edge
    assert {edge: has_head(arrow) for edge, arrow in arrows(figure).items()} == {
        ("a", "b"): True,
        ("b", "c"): False,
        ("c", "d"): True,
        ("d", "a"): True,
    }
    skeleton = draw_graph(nx.Graph([("a", "b"), ("b", "c")]))
    assert not any(map(has_head, arrows(skeleton).values()))
    assert len(arrows(skeleton)) == 2


def test_a_picture_shows_a_head_where_the_arc_ends() -> None:
    """Look at the pixels: the end of an arc is wider than its middle, the end of an undirected edge is not."""
    wide = {}
    for word in ("ab", "a-b"):
        figure = draw_graph(graph_of(word))
        if (legend := figure.axes[0].get_legend()) is not None:
            legend.remove()
        figure.set_dpi(200)
        figure.canvas.draw()
        dark = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].sum(axis=2) < 300  # type: ignore[attr-defined]
        start, end = extents(figure)["a"], extents(figure)["b"]
        left, right = (start.x1, end.x0) if end.x0 > start.x1 else (None, None)
        if left is None or right is None:  # downwards
            dark, left, right = dark.T, dark.shape[0] - start.y0, dark.shape[0] - end.y1
        across = dark[:, round(left) + 3 : round(right) - 3].sum(axis=0)
        wide[word] = int(across.max()), int(across[len(across) // 3])
    assert wide["ab"][0] > 2 * wide["ab"][1]
    assert wide["a-b"][0] <= wide["a-b"][1] + 2


def test_files_are_written_the_same_each_time(tmp_path: Path) -> None:
    graph = load_network("child").graph
    for name in ("a.png", "b.png", "c.svg", "d.pdf"):
        draw_graph(graph, target="Disease", title="child").savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "BirthAsphyxia" in (tmp_path / "c.svg").read_text(encoding="utf-8")


def test_the_order_of_edges_does_not_matter() -> None:
    graph = load_network("child").graph
    other: nx.DiGraph[str] = nx.DiGraph()
    other.add_nodes_from(graph)
    other.add_edges_from(sorted(graph.edges(), reverse=True))
    first, second = (draw_graph(g) for g in (graph, other))
    assert {n: b.bounds for n, b in extents(first).items()} == {n: b.bounds for n, b in extents(second).items()}


@pytest.mark.parametrize("nodes", ["", "a", "ab"])
def test_graphs_without_edges(nodes: str) -> None:
    figure = draw_graph(graph_of(nodes=nodes), title="nothing")
    memory = BytesIO()
    figure.savefig(memory)
    assert texts(figure) == [*nodes, "nothing"]
    assert memory.getvalue().startswith(b"\x89PNG")
    draw_graph(graph_of(nodes=nodes)).savefig(BytesIO())


def test_target_stands_out() -> None:
    plain, chosen = (boxes(draw_graph(graph_of("ab"), target=t)) for t in (None, "b"))
    assert plain["a"].get_facecolor() == plain["b"].get_facecolor() == chosen["a"].get_facecolor()
    assert chosen["b"].get_facecolor() != plain["b"].get_facecolor()
    assert chosen["b"].get_linewidth() > 2 * plain["b"].get_linewidth()  # without colour too


def test_truth() -> None:
    found = graph_of("ab", "bc", "c-d", "ad", "de", nodes="abcdef")
    truth = graph_of("ab", "cb", "cd", "ed", "ef", nodes="abcdef")
    figure = draw_graph(found, truth=truth)
    drawn = arrows(figure)
    colours = {edge: to_hex(arrow.get_edgecolor()) for edge, arrow in drawn.items()}
    red, grey, own, blue = LIGHT.wrong, LIGHT.edge, LIGHT.ink, LIGHT.accent
    assert colours == {
        ("a", "b"): own,
        ("b", "c"): red,  # reversed in the truth
        ("c", "d"): blue,  # directed in the truth only
        ("a", "d"): red,
        ("d", "e"): red,
        ("e", "f"): grey,
    }
    styles = {edge: str(arrow.get_linestyle()) for edge, arrow in drawn.items()}
    assert len({styles["a", "d"], styles["b", "c"], styles["c", "d"], styles["e", "f"]}) == 4
    assert styles["b", "c"] == styles["d", "e"]
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert len(crosses) == 1
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "in the truth too",
        "directed in one graph only",
        "not in the truth",
        "reversed in the truth",
        "in the truth only",
    ]
    figure.canvas.draw()
    low = min(box.y0 for box in extents(figure).values())
    assert legend.get_window_extent().y1 < low
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert legend_of(draw_graph(found)) == ["direction not decided"]
    assert legend_of(draw_graph(graph_of("ab", "bc"))) == []
    assert legend_of(draw_graph(nx.Graph([("a", "b")]))) == []


def legend_of(figure: Figure) -> list[str]:
    legend = figure.axes[0].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_the_legend_says_what_widths_mean() -> None:
    for name, low, high, words in (
        ("effect", 0.01, 0.5, ["0.01 bits", "0.50 bits"]),
        ("log_p", math.log(0.01), math.log(1e-9), ["p = 0.01", "p = 1.0e-9"]),
        ("share", 0.6, 1.0, ["in 60 % of the draws", "in 100 % of the draws"]),
    ):
        graph = graph_of("ab", "bc")
        graph.edges["a", "b"][name], graph.edges["b", "c"][name] = low, high
        figure = draw_graph(graph)
        assert legend_of(figure) == words
        widths = [line.get_linewidth() for line in figure.axes[0].get_legend().get_lines()]  # type: ignore[union-attr]
        drawn = arrows(figure)
        assert widths == [drawn["a", "b"].get_linewidth(), drawn["b", "c"].get_linewidth()]
        assert widths[0] < widths[1]


def test_stronger_edges_are_thicker() -> None:
    graph = graph_of("ab", "bc", "cd", "de", "e-f", "fg", nodes="abcdefg")
    for edge, log_p in {"ab": -3.0, "bc": -30.0, "cd": -math.inf, "de": math.nan, "ef": -3.0, "fe": -30.0}.items():
        graph.edges[edge[0], edge[1]]["log_p"] = log_p
    width = {a + b: arrow.get_linewidth() for (a, b), arrow in arrows(draw_graph(graph)).items()}
    assert width["ab"] < width["bc"] == width["ef"] < width["cd"] < 3
    assert width["de"] == width["fg"]
    assert width["ab"] > 0.5


def test_many_nodes_have_no_names() -> None:
    for count in (pictures.MAX_NAMES, pictures.MAX_NAMES + 1):
        graph = nx.DiGraph((f"n{k // 2}", f"n{k}") for k in range(1, count))
        figure = draw_graph(graph, target="n3", title="tree")
        if count == pictures.MAX_NAMES:
            assert set(texts(figure)) == {*graph, "tree"}
        else:
            assert texts(figure) == ["tree (151 nodes, names omitted)"]
            assert texts(draw_graph(graph)) == ["151 nodes, names omitted"]
        assert overlapping(figure) == []
        assert len(boxes(figure)) == count


def test_odd_names() -> None:
    names = ["$x^2$", "", "a_very_long_name_of_a_column_that_" * 3, "two\nlines", "Größe", r"\frac", "%", "x" * 80]
    graph = nx.DiGraph((names[0], name) for name in names[1:])
    figure = draw_graph(graph, title="$5 and $6")
    figure.savefig(BytesIO())
    drawn = [text.replace("\n", "") for text in texts(figure)]
    assert set(drawn) == {*(name.replace("\n", "") for name in names if name), "$5 and $6"}
    assert overlapping(figure) == []
    assert not any(text.get_parse_math() for text in figure.axes[0].texts)  # $ is no formula


def test_arcs_that_meet_at_a_box_can_be_told_apart() -> None:
    ends: dict[str, list[Any]] = {}
    for (tail, head), arrow in arrows(draw_graph(load_network("hailfinder").graph)).items():
        line = points_along(arrow)
        ends.setdefault(tail, []).append(line[0])
        ends.setdefault(head, []).append(line[-1])
    assert max(map(len, ends.values())) > 15
    for points in ends.values():
        assert all(math.dist(a, b) > 0.08 for a, b in combinations(points, 2))


def test_into_axes_of_the_caller() -> None:
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    graph = load_network("alarm").graph
    assert draw_graph(graph, ax=left, title="left", truth=graph) is figure
    assert draw_graph(graph_of("ab"), ax=right) is figure
    figure.canvas.draw()
    frame = left.get_window_extent()
    for patch in left.patches:
        if isinstance(patch, FancyBboxPatch):
            box = patch.get_window_extent()
            assert frame.x0 - 1 <= box.x0 < box.x1 <= frame.x1 + 1
            assert frame.y0 - 1 <= box.y0 < box.y1 <= frame.y1 + 1
            name = str(patch.get_gid()).removeprefix("node ")
            text = next(t for t in left.texts if t.get_text() == name).get_window_extent()
            assert box.x0 - 1 < text.x0 < text.x1 < box.x1 + 1
    part: Any = Figure().subfigures(1, 1)
    assert isinstance(draw_graph(graph_of("ab"), ax=part.subplots()), Figure)


def test_nothing_global_is_touched() -> None:
    before = dict(mpl.rcParams)
    pyplot = "matplotlib.pyplot" in sys.modules
    draw_graph(graph_of("ab"), truth=graph_of("ba"))
    assert dict(mpl.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == pyplot


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'serape\[plots\]'"):
        draw_graph(graph_of("ab"))


@pytest.mark.parametrize(
    ("graph", "options", "error", "words"),
    [
        ({"a": "b"}, {}, InputTypeError, "not a dict"),
        (nx.MultiDiGraph([("a", "b")]), {}, InputTypeError, "MultiDiGraph"),
        (graph_of("ab"), {"target": "aa"}, OptionError, "no node 'aa'"),
        (graph_of("aa"), {}, OptionError, "to itself"),
        (nx.DiGraph([(1, "1")]), {}, OptionError, "called '1'"),
        (graph_of("ab"), {"truth": graph_of("ac")}, OptionError, "only one of them has 'b', 'c'"),
        (graph_of("ab"), {"truth": ["ab"]}, InputTypeError, "truth must be"),
    ],
)
def test_what_cannot_be_drawn(graph: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        draw_graph(graph, **options)
