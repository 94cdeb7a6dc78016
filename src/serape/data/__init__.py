"""Reading data from any source and encoding them as packed columns."""

from serape.data.table import Table
from serape.data.variables import Variable

__all__ = ["Table", "Variable"]
