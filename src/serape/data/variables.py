"""The variables of a table, and how to find one by name or position."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from serape.data.kinds import Kind
from serape.errors import OptionError, abbreviate, is_integer, shown, suggestion

if TYPE_CHECKING:
    from serape.data.table import Table


@dataclass(frozen=True, slots=True)
class Variable:
    """A column: its name, kind and levels, and why it is of this kind.

    Examples
    --------
    >>> serape.Table(patients).variables["Age"]
    Variable(name='Age', kind='categorical', levels=('40 to 60', 'over 60', 'under 40'), reason='text')
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...]
    """The values that a column of categories can have, in the order of their codes; empty for one of numbers, unless
    the numbers are the positions of these levels."""
    reason: str
    """Why it is of this kind."""


def position_of(
    variable: object, names: Sequence[str], positions: Mapping[str, int], identifiers: Collection[int] = ()
) -> int:
    """Return the position of a variable, given by name or position, among names; those of identifiers name rows."""
    if isinstance(variable, str):
        if variable not in positions:
            hint = f" If {names[min(identifiers)]!r} names it as a row, transpose the table." if identifiers else ""
            raise OptionError(
                f"there is no column {variable!r}.{suggestion(variable, names)} The columns are {abbreviate(names)}."
                f"{hint}"
            )
        return positions[variable]
    if isinstance(variable, Integral) and is_integer(variable):
        variable = int(variable)
        called = positions.get(shown(variable), variable)
        if called != variable:
            raise OptionError(
                f"{variable} could be the column called {str(variable)!r} or the one at position {variable}; "
                f"give its name as text"
            )
        if not 0 <= variable < len(names):
            raise OptionError(
                f"there is no column at position {shown(variable)}; positions go from 0 to {len(names) - 1}"
            )
        return variable
    what = "None" if variable is None else f"a {type(variable).__name__}"
    raise OptionError(f"a variable is given by its name or its position, not by {what}; give one of its names")


def refuse_removed(variable: str, made: Mapping[str, Any]) -> None:
    """Refuse a column that the data have, but that is no variable of the table."""
    for name, what in (("sample_weight", "weights"), ("groups", "groups")):
        if variable == made.get(name):
            raise OptionError(f"the column {variable!r} holds the {what}, so it is no variable; name another")
    if variable in made.get("ignore", ()):
        raise OptionError(f"the column {variable!r} is ignored, as asked; remove it from the ignored columns")


class VariableView(Mapping[str, Variable]):
    """A view of a table's columns; a `Variable` is made when it is looked up."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __getitem__(self, name: str) -> Variable:
        if name not in self._table._position:
            raise KeyError(name)
        return self._table._variable(self._table._position[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.names)

    def __len__(self) -> int:
        return len(self._table.names)

    def __repr__(self) -> str:
        return repr(self._table)


class LevelCounts(Sequence[int]):
    """The numbers of levels of a table's columns, looked up on use."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table.names)

    def __getitem__(self, k: Any) -> Any:
        return self._table.levels(k)

    def __iter__(self) -> Iterator[int]:
        return map(self._table.levels, range(len(self)))
