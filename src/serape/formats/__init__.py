"""Graphs as text for other programs: DOT, GraphML, DAGitty, and bnlearn's model string.

A graph is a `networkx.Graph`, or a `networkx.DiGraph` in which an undirected edge is present in both directions.
"""

from serape.formats.bnlearn import bnlearn_text
from serape.formats.dagitty import dagitty_text
from serape.formats.dot import dot_text
from serape.formats.graphml import graphml_text

SUFFIXES = {".dot": "dot", ".gv": "dot", ".graphml": "graphml", ".dagitty": "dagitty", ".bnlearn": "bnlearn"}
"""The format of a file by the ending of its name; all others are JSON."""

__all__ = ["SUFFIXES", "bnlearn_text", "dagitty_text", "dot_text", "graphml_text"]
