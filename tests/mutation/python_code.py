"""Mutants of a Python module: changes of its syntax tree.

Conditions become true or false, comparisons move by one or turn round, operators change or lose a side, `and` and `or`
change or lose a part, numbers move by one, truth values turn round, min becomes max, keywords, entries and conditions
are left out, statements are left out, nothing is returned, loops do nothing, errors are not caught.

Annotations, names of types, decorators, docstrings, assertions (they are for type checkers) and the wording of messages
are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from mutation.mutant import Mutant, distinct

Change = Callable[[], Callable[[], None]]
"""Makes a change of the tree, and returns what takes it back."""

FLIPPED: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SWAPPED: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
BOTH_SIDES = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
OPPOSITE = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
WITHOUT = ("sorted", "sort", "reversed")
"""Calls that may be replaced by their first argument."""


def mutants(path: Path, module: str) -> list[Mutant]:
    """Return the mutants of a file."""
    return distinct(_Walk(module).body(ast.parse(path.read_text(encoding="utf-8")).body, ""))


def compiled(path: Path, mutant: Mutant) -> CodeType:
    """Return the code of the file with the change."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for found in distinct(_Walk(mutant.module).body(tree.body, "")):
        if found.key == mutant.key:
            found.change()
            return compile(ast.fix_missing_locations(tree), str(path), "exec")
    raise LookupError(mutant.key)


def text_of(node: ast.AST) -> str:
    """Return the text of a statement, of one with a body its head."""
    shown = copy.copy(node)
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        if isinstance(getattr(shown, name, None), list):
            empty = name == "body" or (name == "handlers" and not getattr(node, "finalbody", None))
            setattr(shown, name, [ast.Pass()] if name == "body" else getattr(shown, name) if empty else [])
    if isinstance(shown, ast.Try):
        return "try:"
    if isinstance(shown, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        shown.decorator_list = []
    return ast.unparse(ast.fix_missing_locations(shown)).removesuffix("\n    pass").strip()


def _replace(parent: Any, field: str, index: int | None, node: Any) -> Change:
    """Return a change of one field, or of one of its items; None leaves the item out."""

    def change() -> Callable[[], None]:
        held = getattr(parent, field)
        if index is None:
            setattr(parent, field, node)
            return lambda: setattr(parent, field, held)
        before = list(held)
        held[index : index + 1] = [] if node is None else [node]
        return lambda: held.__setitem__(slice(None), before)

    return change


def _name(call: ast.expr) -> str:
    return call.id if isinstance(call, ast.Name) else call.attr if isinstance(call, ast.Attribute) else ""


def _is_type_alias(statement: ast.stmt) -> bool:
    """Return whether a statement names a type, as in `Found = Answer | None` or `Stores = tuple[Store, Store]`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.BitOr()) | ast.Subscript()):
            return name[0].isupper() and not name.isupper()
    return False


class _Walk:
    """Draws the mutants of a tree, from top to bottom."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.where = ""
        self.unit: Any = None

    def made(self, change: Change, after: ast.AST | str | None = None) -> Mutant:
        """Return a mutant of the present statement; `after` is its new text, if it is not its own."""
        before = text_of(self.unit)
        take_back = change()
        try:
            text = after if isinstance(after, str) else text_of(self.unit if after is None else after)
        finally:
            take_back()
        inside = getattr(self.unit, "body", None)  # of a statement with a body the lines of its head count
        end = inside[0].lineno if isinstance(inside, list) else self.unit.end_lineno + 1
        if isinstance(self.unit, ast.Try):
            end += 1  # the head is no line that is reached
        lines = range(self.unit.lineno, max(end, self.unit.lineno + 1))
        return Mutant(self.module, self.where or "module", before, text, lines, change)

    def body(self, statements: list[Any], where: str, owner: Any = None, field: str = "body") -> Iterator[Mutant]:
        """Draw the mutants of statements."""
        for index, statement in enumerate(statements):
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if text or isinstance(statement, ast.Import | ast.ImportFrom | ast.Assert | ast.Pass):
                continue
            if _is_type_alias(statement):
                continue
            self.where, self.unit = where, statement
            if owner is not None:
                yield from self.left_out(owner, field, index, statement)
            yield from self.statement(statement, where)

    def left_out(self, owner: Any, field: str, index: int, statement: ast.stmt) -> Iterator[Mutant]:
        """Draw what a statement may be replaced by."""
        nothing = ast.copy_location(ast.Pass(), statement)
        match statement:
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                return
            case ast.Return(value=None) | ast.Return(value=ast.Constant(value=None)):
                yield self.made(_replace(owner, field, index, nothing), "")
            case ast.Return():
                none = ast.copy_location(ast.Return(ast.copy_location(ast.Constant(None), statement)), statement)
                yield self.made(_replace(owner, field, index, none), none)
            case ast.Expr() | ast.AugAssign() | ast.Delete() | ast.Raise() | ast.Continue() | ast.Break():
                yield self.made(_replace(owner, field, index, nothing), "")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AnnAssign(target=ast.Attribute()):
                yield self.made(_replace(owner, field, index, nothing), "")
            case ast.With() if all(item.optional_vars is None for item in statement.items):
                always = ast.copy_location(ast.If(ast.Constant(True), statement.body, []), statement)
                ast.fix_missing_locations(always)
                yield self.made(_replace(owner, field, index, always), "(no with)")
            case _:
                return

    def statement(self, node: Any, where: str) -> Iterator[Mutant]:
        """Draw the mutants within a statement."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = f"{where}.{node.name}" if where else node.name
                self.where = inner
                for k in range(len(node.args.defaults)):
                    yield from self.expression(node.args.defaults[k], node.args, "defaults", k)
                for k, default in enumerate(node.args.kw_defaults):
                    if default is not None:
                        yield from self.expression(default, node.args, "kw_defaults", k)
                yield from self.body(node.body, inner, node)
                return
            case ast.ClassDef():
                yield from self.body(node.body, f"{where}.{node.name}" if where else node.name, node)
                return
            case ast.Raise():
                return
            case ast.If() | ast.While():
                for value in (True, False) if isinstance(node, ast.If) else (False,):
                    constant = ast.copy_location(ast.Constant(value), node.test)
                    yield self.made(_replace(node, "test", None, constant))
                yield from self.expression(node.test, node, "test", None, asked=True)
            case ast.For():
                empty = ast.copy_location(ast.Tuple([], ast.Load()), node.iter)
                yield self.made(_replace(node, "iter", None, empty))
                yield from self.expression(node.iter, node, "iter", None)
            case ast.With():
                for item in node.items:
                    yield from self.expression(item.context_expr, item, "context_expr", None)
            case ast.Assign() | ast.AugAssign() | ast.Return() | ast.Expr() | ast.AnnAssign():
                if isinstance(node, ast.AugAssign) and type(node.op) in SWAPPED:
                    yield self.made(_replace(node, "op", None, SWAPPED[type(node.op)]()))
                if node.value is not None:
                    yield from self.expression(node.value, node, "value", None)
            case ast.Match():
                yield from self.expression(node.subject, node, "subject", None)
                for case in node.cases:
                    self.unit = case
                    case.lineno, case.end_lineno = case.pattern.lineno, case.pattern.end_lineno  # type: ignore[attr-defined]
                    if case.guard is not None:
                        for value in (True, False):
                            yield self.made(
                                _replace(case, "guard", None, ast.copy_location(ast.Constant(value), case.guard))
                            )
                        yield from self.expression(case.guard, case, "guard", None, asked=True)
                    yield from self.body(case.body, where, case)
                return
            case ast.Try():
                for handler in node.handlers:
                    self.unit = handler
                    again = [ast.copy_location(ast.Raise(), handler)]
                    yield self.made(_replace(handler, "body", None, again), "(not caught)")
                    if handler.type is not None:
                        yield from self.expression(handler.type, handler, "type", None)
                    yield from self.body(handler.body, where, handler)
                self.unit = node
                if node.finalbody and node.handlers:
                    yield self.made(_replace(node, "finalbody", None, []), "(nothing finally)")
                yield from self.body(node.finalbody, where, node, "finalbody")
        for field in ("body", "orelse"):
            held = getattr(node, field, None)
            if isinstance(held, list):
                yield from self.body(held, where, node, field)

    def expression(
        self, node: Any, parent: Any, field: str, index: int | None, *, asked: bool = False
    ) -> Iterator[Mutant]:
        """Draw the mutants of an expression; `asked` if it is a condition, which is made true and false anyway."""

        def swap(new: Any) -> Mutant:
            return self.made(_replace(parent, field, index, ast.copy_location(new, node)))

        match node:
            case ast.JoinedStr() | ast.Name():
                return
            case ast.Constant(value=bool(value)):
                yield swap(ast.Constant(not value))
            case ast.Constant(value=int(value)):
                yield swap(ast.Constant(value + 1))
                if value:
                    yield swap(ast.Constant(value - 1))
            case ast.Constant(value=float(value)):
                yield swap(ast.Constant(2 * value if value else 1.0))
            case ast.Compare():
                for k, operator in enumerate(node.ops):
                    flipped = FLIPPED[type(operator)]
                    for other in flipped[:1] if asked and len(flipped) > 1 else () if asked else flipped:
                        yield self.made(_replace(node, "ops", k, other()))
                for k, side in enumerate([node.left, *node.comparators]):
                    if isinstance(side, ast.Constant) and isinstance(side.value, str):
                        other_text = ast.copy_location(ast.Constant(side.value + "?"), side)
                        change = (
                            _replace(node, "comparators", k - 1, other_text)
                            if k
                            else _replace(node, "left", None, other_text)
                        )
                        yield self.made(change)
            case ast.BinOp() if not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)):
                if type(node.op) in SWAPPED:
                    yield self.made(_replace(node, "op", None, SWAPPED[type(node.op)]()))
                yield swap(node.left)
                if isinstance(node.op, BOTH_SIDES):
                    yield swap(node.right)
            case ast.BoolOp():
                yield self.made(_replace(node, "op", None, ast.Or() if isinstance(node.op, ast.And) else ast.And()))
                for k in range(len(node.values)):
                    rest = [value for i, value in enumerate(node.values) if i != k]
                    yield swap(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))
            case ast.UnaryOp(op=ast.Not()) if not asked:
                yield swap(node.operand)
            case ast.UnaryOp(op=ast.USub() | ast.Invert()):
                yield swap(node.operand)
            case ast.IfExp():
                yield swap(node.body)
                yield swap(node.orelse)
            case ast.Call():
                name = _name(node.func)
                if name in OPPOSITE:
                    called: Any = node.func
                    field_name = "id" if isinstance(called, ast.Name) else "attr"
                    yield self.made(_replace(called, field_name, None, OPPOSITE[name]))
                if name in WITHOUT and node.args:
                    yield swap(node.args[0])
                for k, keyword in enumerate(node.keywords):
                    if keyword.arg is not None and name != "zip":
                        yield self.made(_replace(node, "keywords", k, None))
            case ast.Dict():
                for k in range(len(node.keys)):
                    rest_keys = [key for i, key in enumerate(node.keys) if i != k]
                    rest_values = [value for i, value in enumerate(node.values) if i != k]
                    yield swap(ast.Dict(rest_keys, rest_values))
            case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) | ast.Set() if len(node.elts) > 1:
                for k in range(len(node.elts)):
                    yield self.made(_replace(node, "elts", k, None))
            case ast.comprehension():
                for k in range(len(node.ifs)):
                    yield self.made(_replace(node, "ifs", k, None))
            case _:
                pass
        for name, held in ast.iter_fields(node):
            if isinstance(node, ast.keyword | ast.Call) and _is_strict(node, held):
                continue
            inner = asked and isinstance(node, ast.BoolOp)
            if isinstance(held, ast.expr | ast.slice | ast.comprehension | ast.keyword):
                yield from self.expression(held, node, name, None, asked=inner)
            elif isinstance(held, list):
                for k, item in enumerate(held):
                    if isinstance(item, ast.expr | ast.comprehension | ast.keyword) and not _is_strict(node, item):
                        yield from self.expression(item, node, name, k, asked=inner)


def _is_strict(node: Any, item: Any) -> bool:
    """Return whether an item is `strict=` of a zip: that lengths agree is for the reader."""
    return isinstance(node, ast.Call) and _name(node.func) == "zip" and isinstance(item, ast.keyword)
