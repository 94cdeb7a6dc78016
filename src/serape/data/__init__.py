"""Reading and encoding: from anything people have to packed columns."""

from serape.data.table import Table, Variable

__all__ = ["Table", "Variable"]
