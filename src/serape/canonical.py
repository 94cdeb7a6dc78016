"""What a value is made of, as plain JSON: the same in every process for equal values, and free of addresses.

Numbers, texts, arrays and containers are described by their content, objects by their class and state. A function is
described by its code, its defaults, the values it encloses and the globals it names, functions of its own among them.
What belongs to an installed package, Python or serape is described by its name and the version of the package.

Some things cannot be described, because the same content may answer differently the next time: generators of random
numbers, built-in methods of objects, iterators, locks, open files. These are refused (`Unidentified`).
"""

from __future__ import annotations

import base64
import copyreg
import dis
import functools
import hashlib
import importlib.metadata
import json
import math
import operator
import random
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from serape.errors import shown

OWN = "serape"
_CODE = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_names", "co_varnames", "co_freevars",
         "co_cellvars")  # fmt: skip
_OF_CLASSES = ("__dict__", "__weakref__", "__module__", "__qualname__", "__doc__", "__firstlineno__",
               "__static_attributes__", "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__",
               "__abstractmethods__", "_abc_impl", "__parameters__", "__type_params__", "__orig_bases__",
               "__slotnames__")  # fmt: skip
"""What Python itself notes in a class; some of it only once an object of the class was copied or pickled."""
_WITHOUT_IDENTITY = (tuple, frozenset, types.CodeType)
"""Of these, Python may keep one for equal ones, or not."""
_DRAWN = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_BUILTIN = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)  # fmt: skip


class Unidentified(Exception):  # noqa: N818 (a reason, which callers put into a sentence)
    """A value whose content does not say how it will behave; the message says which, and why."""


def canonical(value: Any, name: str = "it") -> Any:
    """Return what a value is made of, as lists, texts and numbers that JSON can hold; raise Unidentified if unknown."""
    try:
        return _Described().of(value, (name,))
    except RecursionError:
        raise Unidentified(f"{shown(name)} is nested too deep") from None


def digest(value: Any, name: str = "it") -> str:
    """Return 32 hexadecimal digits: the same for values made of the same. `name` is what a refusal calls the value."""
    return hashlib.blake2b(_text(canonical(value, name)).encode(), digest_size=16).hexdigest()


def _text(described: Any) -> str:
    return json.dumps(described)


class _Described:
    """The descriptions of one value and all that it refers to. An object that occurs again is given by its number."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # by identity, in the order in which objects occur
        self._kept: list[Any] = []  # what has a number, so that no identity is used twice

    def of(self, value: Any, path: tuple[str, ...]) -> Any:
        """Return the description of a value; `path` names it in a refusal."""
        plain = _plain(value)
        if plain is not None:
            return plain
        if type(value) not in _WITHOUT_IDENTITY:
            if id(value) in self._numbers:
                return ["again", self._numbers[id(value)]]
            self._numbers[id(value)] = len(self._numbers)
            self._kept.append(value)
        return self._content(value, path)

    def _each(self, values: Sequence[Any], path: tuple[str, ...]) -> list[Any]:
        return [self.of(value, path) for value in values]

    def _items(self, values: Mapping[Any, Any], path: tuple[str, ...]) -> list[Any]:
        return [[self.of(key, path), self.of(value, (*path, str(key)))] for key, value in values.items()]

    def _content(self, value: Any, path: tuple[str, ...]) -> Any:
        kind = type(value)
        if isinstance(value, _DRAWN) or (hasattr(value, "__next__") and not isinstance(value, type)):
            raise Unidentified(f"{_named(path)} ({_kind(value)}) answers differently each time it is asked")
        if kind in (tuple, list):
            return [kind.__name__, *self._each(value, path)]
        if kind in (set, frozenset):
            return [kind.__name__, *sorted(self._each(list(value), path), key=_text)]
        if kind in (dict, types.MappingProxyType):
            return ["dict", *self._items(value, path)]
        if kind is types.CodeType:
            return self._code(value, path)
        if kind is np.ndarray and value.dtype != object:
            data = np.ascontiguousarray(value)
            content = hashlib.blake2b(data.view(np.uint8).data if data.size else b"", digest_size=16).hexdigest()
            return ["array", _dtype(value.dtype), list(value.shape), content]
        if kind is types.ModuleType:
            return self._module(value, path)
        if kind is functools._lru_cache_wrapper:
            return ["cached", self.of(value.__wrapped__, path)]
        home = _library_name(value)
        if home is not None:
            return home
        if kind is types.FunctionType:
            return self._function(value, path)
        if kind is types.MethodType:
            return ["method", self.of(value.__func__, path), self.of(value.__self__, path)]
        if isinstance(value, _BUILTIN):
            raise Unidentified(
                f"{_named(path)} is a built-in method of a {_kind(getattr(value, '__self__', value))}, whose "
                f"state may change"
            )
        if isinstance(value, type):
            return self._class(value, path)
        if isinstance(value, property | staticmethod | classmethod | functools.cached_property):
            parts = [getattr(value, name, None) for name in ("fget", "fset", "fdel", "__func__", "func")]
            return [kind.__name__, *self._each(parts, path)]
        return self._object(value, path)

    # --- functions -----------------------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType, path: tuple[str, ...]) -> Any:
        path = (*path, function.__name__)
        code = function.__code__
        cells = function.__closure__ or ()
        enclosed = []
        for name, cell in zip(code.co_freevars, cells, strict=True):
            try:
                enclosed.append(self.of(cell.cell_contents, (*path, name)))
            except ValueError:  # not bound yet
                enclosed.append(["unbound"])
        known = function.__globals__
        named = {name: known[name] for name in sorted(set(_global_names(code))) if name in known}
        return [
            "function",
            self._code(code, path),
            self.of(function.__defaults__, path),
            self.of(function.__kwdefaults__, path),
            enclosed,
            self._items(named, path),
            self._items(dict(sorted(vars(function).items())), path),
        ]

    def _code(self, code: types.CodeType, path: tuple[str, ...]) -> Any:
        constants = self._each(code.co_consts, path)
        handlers = getattr(code, "co_exceptiontable", b"")
        shape = [self.of(getattr(code, name), path) for name in _CODE]
        return ["code", list(sys.version_info[:2]), _bytes(code.co_code), _bytes(handlers), shape, constants]

    def _module(self, module: types.ModuleType, path: tuple[str, ...]) -> Any:
        if _is_library(module.__name__):
            return ["library", module.__name__, _version(module.__name__)]
        file = getattr(module, "__file__", None)
        try:
            content = Path(file).read_bytes() if file else None
        except OSError:
            content = None
        if content is None:
            raise Unidentified(f"{_named(path)} is a module without a file")
        return ["module", module.__name__, hashlib.blake2b(content, digest_size=16).hexdigest()]

    # --- classes and objects ---------------------------------------------------------------------------------------

    def _class(self, made: type, path: tuple[str, ...]) -> Any:
        path = (*path, made.__name__)
        own = {name: value for name, value in vars(made).items() if name not in _OF_CLASSES}
        slots = [name for name, value in own.items() if isinstance(value, types.MemberDescriptorType)]
        content = {name: value for name, value in sorted(own.items()) if name not in slots}
        return ["class", made.__qualname__, self._each(made.__bases__, path), slots, self._items(content, path)]

    def _object(self, value: Any, path: tuple[str, ...]) -> Any:
        """Describe an object by its class and what a copy of it would be made of."""
        try:
            made = value.__reduce_ex__(4)
        except Exception as error:  # whatever a class raises that cannot be copied
            raise Unidentified(f"{_named(path)} is a {_kind(value)}, whose state is not known ({error})") from None
        if isinstance(made, str):
            raise Unidentified(f"{_named(path)} is a {_kind(value)}, whose code is not known")
        self._kept.append(made)
        make, arguments, state, items, pairs = (*made, None, None, None)[:5]
        how = make.__name__ if make in (copyreg.__newobj__, copyreg.__newobj_ex__) else self.of(make, path)  # type: ignore[attr-defined]
        return [
            "object",
            how,
            *(self.of(part, path) for part in arguments),
            self._state(state, path),
            [] if items is None else self._each(list(items), path),
            [] if pairs is None else self._items(dict(pairs), path),
        ]

    def _state(self, state: Any, path: tuple[str, ...]) -> Any:
        if type(state) is tuple and len(state) == 2 and all(part is None or type(part) is dict for part in state):
            return [self._state(part, path) for part in state]
        if type(state) is dict:  # attributes, in whatever order they were set
            return self._items(dict(sorted(state.items(), key=lambda item: str(item[0]))), path)
        return self.of(state, path)


def _plain(value: Any) -> Any:
    """Return the description of a value without parts; None if it has parts."""
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return [kind.__name__, value]
    if kind is int:
        return ["int", str(value) if abs(value) < 1 << 4096 else f"{value:#x}"]
    if kind is float:
        return ["float", "nan" if math.isnan(value) else value.hex()]
    if kind is complex:
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind in (bytes, bytearray):
        return [kind.__name__, _bytes(value)]
    if kind is range:
        return ["range", value.start, value.stop, value.step]
    return ["built-in", str(value)] if value is Ellipsis or value is NotImplemented else None


def _bytes(content: bytes | bytearray) -> str:
    return base64.b85encode(bytes(content)).decode()


def _dtype(dtype: np.dtype[Any]) -> str:
    return str(dtype.descr if dtype.fields else dtype.str)


def _global_names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals that code uses, also within the functions that it defines."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            yield str(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


# --- libraries ------------------------------------------------------------------------------------------------------


@functools.cache
def _is_library(module: str) -> bool:
    """Return whether a module belongs to Python, an installed package or serape, and not to the user's own code."""
    top = module.partition(".")[0]
    if top == OWN or top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or getattr(sys.modules.get(top), "__file__", None)
    return file is not None and not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)


@functools.cache
def _version(module: str) -> str:
    """Return the version of the package that a module belongs to."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return sys.version.split()[0]
    known = getattr(sys.modules.get(top), "__version__", None)
    if isinstance(known, str):
        return known
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _library_name(value: Any) -> Any:
    """Return the name and version of what a library offers by name; None if it is something else."""
    if isinstance(value, np.ufunc):  # they know no module
        return ["library", f"numpy.{value.__name__}", np.__version__] if hasattr(np, value.__name__) else None
    name = getattr(value, "__qualname__", None)
    owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
    where = getattr(value, "__module__", None) or getattr(owner if isinstance(owner, type) else None, "__module__", "")
    if callable(value) and isinstance(name, str) and isinstance(where, str) and _is_library(where):
        try:
            found = operator.attrgetter(name)(sys.modules[where])
        except (KeyError, AttributeError):
            return None
        same = found is value or (isinstance(value, _BUILTIN) and found == value)
        return ["library", f"{where}.{name}", _version(where)] if same else None
    home = type(value).__module__
    unnamed = isinstance(value, (type, types.FunctionType, types.MethodType, *_BUILTIN))
    if unnamed or home in ("builtins", "functools") or not _is_library(home) or home.partition(".")[0] == OWN:
        return None
    return _offered(value, home.partition(".")[0])


def _offered(value: Any, package: str) -> Any:
    """Return the name under which a package offers an object of its own, such as a distribution of SciPy."""
    names = {
        name
        for key, module in list(sys.modules.items())
        if key.partition(".")[0] == package and isinstance(module, types.ModuleType)
        for name, offered in list(vars(module).items())
        if offered is value
    }
    return ["library", f"{package}: {min(names)}", _version(package)] if names else None


def _kind(value: Any) -> str:
    return type(value).__name__


def _named(path: tuple[str, ...]) -> str:
    """Return how a refusal names a value."""
    within = f" of {path[-2]}" if len(path) > 1 else ""
    return f"{shown(path[-1])}{within}"
