"""Reading and encoding: from anything people have to packed columns."""

from serape.data.table import Table, Variable, as_table

__all__ = ["Table", "Variable", "as_table"]
