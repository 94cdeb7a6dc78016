"""What a value is made of is the same in every process, and without addresses."""

from __future__ import annotations

import abc
import base64
import collections
import copy
import functools
import hashlib
import importlib.metadata
import json
import os
import random
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy
from scipy.stats import norm, spearmanr

from serape.canonical import Unidentified, canonical, digest
from serape.independence.outcomes import NO_OUTCOME

SCRIPT = """
import numpy as np
from serape.canonical import digest
class Kind:
    words = frozenset(("u", "v", "w", "x", "y"))
    def __init__(self, content): self.content = content
    def __call__(self, x): return x in {"k", "l", "m", "n", "o"} or helper(x)
def helper(x): return Kind(x)
values = [{"a", "b", "c", "d", "e"}, Kind({1: {"p", "q", "r"}}), Kind(helper), helper, [np.arange(3), 0.1, None]]
print([digest(value) for value in values])
"""


def test_processes_agree() -> None:
    told = set()
    for hash_seed in "123":
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=True
        )
        told.add(done.stdout)
    assert len(told) == 1


def module(source: str) -> types.ModuleType:
    made = types.ModuleType("made")
    exec(source, vars(made))
    return made


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def plain(x: float) -> float:
    return x + 1


def twice(x: float) -> float:
    return plain(x) * 2


DIFFERENT: list[Any] = [
    0, False, 0.0, -0.0, "0", b"0", None, (), [], {}, frozenset(), set(), 1, True, 1.0, 2**5000, 10**5000, float("nan"),
    float("inf"), 1j, (1, 2), (2, 1), [1, 2], {1: 2}, {2: 1}, {1, 2}, range(3), range(4), ..., len, max, dict.get,
    dict.pop, np.add, np.log, norm, spearmanr, np.arange(3), np.arange(3.0), np.arange(4), np.zeros(4),
    np.zeros((2, 2)), np.array(["a", None], object), np.array(["b", None], object), pd.DataFrame({"a": [1]}),
    pd.DataFrame({"a": [2]}), pd.Series([1]), plain, twice, functools.partial(plain, 1), functools.partial(plain, 2),
    functools.lru_cache(plain),
    np.vectorize(plain), np.vectorize(twice), lambda x: x, lambda x, y: x, lambda x, y=1: x, lambda *, x=1: x,
    int, float, pd.DataFrame, np.dtype("i4"), np.dtype("i8"), np,
]  # fmt: skip


def test_different_values_differ() -> None:
    digests = [digest(value) for value in DIFFERENT]
    assert len(set(digests)) == len(DIFFERENT)
    assert all(digest(value) == before for value, before in zip(DIFFERENT, digests, strict=True))
    assert not re.search(" at 0x", json.dumps([canonical(value) for value in DIFFERENT]))


def test_numbers_of_numpy_are_numbers() -> None:
    assert digest(np.float64(0.05)) == digest(0.05)
    assert digest(np.int32(3)) == digest(3)
    assert digest(np.bool_(True)) == digest(True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("def f(x): return x", "def f(x): return -x"),
        ("def f(x): return x + 1", "def f(x): return x + 2"),
        ("def g(x): return x\ndef f(x): return g(x)", "def g(x): return -x\ndef f(x): return g(x)"),
        ("k = 1\ndef f(x): return [x + k for _ in x]", "k = 2\ndef f(x): return [x + k for _ in x]"),
        ("class f:\n  def g(self): return 1", "class f:\n  def g(self): return 2"),
        ("class g:\n  k = 1\nclass f(g): pass", "class g:\n  k = 2\nclass f(g): pass"),
        ("def f(x): return f(x - 1) if x else 0", "def f(x): return f(x - 1) if x else 1"),
        (
            "def f(x):\n  try: a(x); b(x)\n  except KeyError: pass",
            "def f(x):\n  try: a(x)\n  except KeyError: pass\n  else: b(x)",
        ),
        ("def f(x): return x.a", "def f(x): return x.b"),
        ("def f(x):\n  def g(y): return y\n  return g", "def f(x):\n  def g(y): return -y\n  return g"),
        ("def f(x):\n  try: return x\n  except KeyError: pass", "def f(x):\n  try: return x\n  except OSError: pass"),
    ],
)  # fmt: skip
def test_code_counts_and_where_it_stands_does_not(first: str, second: str) -> None:
    assert digest(module(first).f) != digest(module(second).f)
    assert digest(module(first).f) == digest(module(f"\n\n{first}").f)


@pytest.mark.parametrize(
    "name",
    [
        "__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__",
        "__type_params__", "__doc__", "__module__",
    ],
)  # fmt: skip
def test_what_some_versions_of_python_note_in_a_class_does_not_count(name: str) -> None:
    assert digest(type("K", (), {name: None, "k": 1})) == digest(type("K", (), {"k": 1}))


def test_what_python_notes_in_a_class_does_not_count() -> None:
    """It adds `__slotnames__` with the first copy of an object."""
    made = module("class f:\n  __slots__ = ('k',)\n  def g(self): return self.k").f
    before = digest(made)
    copy.copy(made())
    assert "__slotnames__" in vars(made)
    assert digest(made) == before


def test_what_is_not_used_does_not_count() -> None:
    assert digest(module("k = 1\ndef f(x): return x").f) == digest(module("k = 2\ndef f(x): return x").f)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.random.default_rng(1), r"'it' \(Generator\) answers differently each time"),
        (iter([1]), "answers differently each time"),
        ([].append, "'it' is a built-in method of a list, whose state may change"),
        (
            module("import threading\nk = threading.Lock()\ndef f(x): return k").f,
            "'k' of f is a lock, whose state is not",
        ),
        (types.ModuleType("made"), "'it' is a module without a file"),
        (nested(100_000), "'it' is nested too deep"),
    ],
)
def test_what_cannot_be_told_is_refused(value: Any, why: str) -> None:
    with pytest.raises(Unidentified, match=why):
        canonical(value)


# --- what the descriptions are ----------------------------------------------------------------------------------------

PYTHON = sys.version.split()[0]
NONE = ["NoneType", None]
ONE, TWO, A, B = ["int", "1"], ["int", "2"], ["str", "a"], ["str", "b"]
_SHAPE = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_names", "co_varnames",
          "co_freevars", "co_cellvars")  # fmt: skip


def hashed(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def of_bytes(content: bytes) -> str:
    return base64.b85encode(content).decode()


@pytest.mark.parametrize(
    ("value", "description"),
    [
        (None, NONE),
        (True, ["bool", True]),
        ("a", A),
        (1, ONE),
        (2**4096 - 1, ["int", str(2**4096 - 1)]),
        (2**4096, ["int", f"0x1{0:01024}"]),  # Python may refuse to write many decimals
        (-(2**4096), ["int", f"-0x1{0:01024}"]),
        (0.1, ["float", "0x1.999999999999ap-4"]),
        (float("-nan"), ["float", "nan"]),
        (1 + 2j, ["complex", "0x1.0000000000000p+0", "0x1.0000000000000p+1"]),
        (b"a\0", ["bytes", of_bytes(b"a\0")]),
        (bytearray(b"a"), ["bytearray", of_bytes(b"a")]),
        (range(1, 9, 2), ["range", 1, 9, 2]),
        (..., ["built-in", "Ellipsis"]),
        (NotImplemented, ["built-in", "NotImplemented"]),
        ((1, 2), ["tuple", ONE, TWO]),
        ([1, "a"], ["list", ONE, A]),
        ({10, 9}, ["set", ["int", "10"], ["int", "9"]]),
        (frozenset("ba"), ["frozenset", A, B]),
        ({"b": 1, "a": [2]}, ["dict", [B, ONE], [A, ["list", TWO]]]),
        (types.MappingProxyType({1: 2}), ["dict", [ONE, TWO]]),
        (np.arange(4.0).reshape(2, 2), ["array", "<f8", [2, 2], hashed(np.arange(4.0).tobytes())]),
        (np.zeros((0, 3), "i4"), ["array", "<i4", [0, 3], hashed(b"")]),
        (
            np.zeros(2, [("a", "<i4"), ("b", "<f4")]),
            ["array", "[('a', '<i4'), ('b', '<f4')]", [2], hashed(bytes(16))],
        ),
        (len, ["library", "builtins.len", PYTHON]),
        (dict.get, ["library", "builtins.dict.get", PYTHON]),
        (dict.fromkeys, ["library", "builtins.dict.fromkeys", PYTHON]),
        (json.dumps, ["library", "json.dumps", PYTHON]),
        (json, ["library", "json", PYTHON]),
        (np, ["library", "numpy", np.__version__]),
        (np.add, ["library", "numpy.add", np.__version__]),
        (int, ["library", "builtins.int", PYTHON]),
        (pd.DataFrame, ["library", "pandas.DataFrame", pd.__version__]),
        (norm, ["library", "scipy: norm", scipy.__version__]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_descriptions(value: Any, description: list[Any]) -> None:
    assert canonical(value) == description
    assert digest(value) == hashed(json.dumps(description).encode())


def test_an_array_counts_by_its_content_in_rows() -> None:
    square = np.arange(4).reshape(2, 2)
    assert digest(square.T) == digest(square.T.copy()) != digest(square)


def test_numbers_in_other_notations_differ() -> None:
    digits = "1" * 1100
    assert digest(int(digits)) != digest(int(digits, 16))


def test_records_of_numpy_are_no_tuples() -> None:
    record = np.zeros(1, [("a", "i4")])[0]
    assert digest(record) != digest((0,))
    assert digest(np.void(b"abc")) != digest(b"abc")


def test_what_occurs_again_is_a_number() -> None:
    """Each value that is no plain one has a number, in the order in which they occur."""
    inner: list[Any] = [1]
    assert canonical([inner, inner]) == ["list", ["list", ONE], ["again", 1]]
    inner.append(inner)
    assert canonical(inner) == ["list", ONE, ["again", 0]]
    for same in ((1, 2), frozenset([1]), plain.__code__):  # of equal ones, Python keeps one or several
        assert canonical([same, same]) == ["list", canonical(same), canonical(same)]


class Fresh:
    """Its copies are made of what nobody else keeps."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> Any:
        return list, ({"a": self.name},), None, ({self.name: k} for k in range(3))


def test_values_that_are_soon_gone_are_not_taken_for_others() -> None:
    """Two objects, one after the other, may have one identity."""
    for made in canonical([Fresh(name) for name in "abcdefgh"])[1:]:
        parts = [part for part in (made[2], *made[-2]) if part[0] != "dict"]
        assert parts == []


# --- functions --------------------------------------------------------------------------------------------------------


def test_a_function_is_made_of_code_defaults_cells_globals_and_attributes() -> None:
    made = module(
        "b, a = 2, 1\ndef outer(k):\n  def f(x, y=1, /, *, z=2):\n    return b + a + k\n  return f\nf = outer('b')"
    ).f
    made.second, made.first = 1, 2
    kind, code, *rest = canonical(made)
    assert kind == "function"
    assert rest == [
        ["tuple", ONE],
        ["dict", [["str", "z"], TWO]],
        [B],
        [[A, ONE], [B, TWO]],
        [[["str", "first"], TWO], [["str", "second"], ONE]],
    ]
    its = made.__code__
    assert code == [
        "code",
        list(sys.version_info[:2]),
        of_bytes(its.co_code),
        of_bytes(its.co_exceptiontable),
        [canonical(getattr(its, name)) for name in _SHAPE],
        [canonical(constant) for constant in its.co_consts],
    ]


def test_a_cell_that_is_not_bound_yet() -> None:
    made = module("def outer():\n  def f(): return k\n  return f\n  k = 1\nf = outer()").f
    assert canonical(made)[4] == [["unbound"]]


@pytest.mark.parametrize(
    ("source", "counts"),
    [
        ("def f(x):\n  class K:\n    b = k\n  return K", True),
        ("def f(x): return [[k for _ in x] for _ in x]", True),
        ("def f(x): return x.k", False),
        ("def f(k): return k", False),
    ],
)
def test_globals_count_where_they_are_used(source: str, counts: bool) -> None:
    first, second = (module(f"k = {k}\n{source}").f for k in (1, 2))
    assert (digest(first) != digest(second)) == counts


def test_functions_that_are_wrapped() -> None:
    made: Any = plain
    own = canonical(made)
    assert canonical(functools.lru_cache(made)) == ["cached", own]
    assert canonical(property(made)) == ["property", own, *[NONE] * 4]
    assert canonical(property(None, made)) == ["property", NONE, own, *[NONE] * 3]
    assert canonical(property(None, None, made)) == ["property", NONE, NONE, own, NONE, NONE]
    assert canonical(staticmethod(made)) == ["staticmethod", *[NONE] * 3, own, NONE]
    assert canonical(classmethod(made)) == ["classmethod", *[NONE] * 3, own, NONE]
    assert canonical(functools.cached_property(made)) == ["cached_property", *[NONE] * 4, own]


class Kept:
    """An object with two methods."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def first(self) -> Any:
        return self.content

    def second(self) -> Any:
        return -self.content


KEPT = Kept(1)


def test_a_method_is_made_of_a_function_and_an_object() -> None:
    kind, function, owner = canonical(KEPT.first)
    assert kind == "method"
    assert function == canonical(Kept.first)
    assert owner[:2] == ["object", "__newobj__"]
    assert len({digest(one) for one in (KEPT.first, KEPT.second, Kept(2).first)}) == 3


def test_a_refusal_names_what_holds_the_value() -> None:
    generator = random.Random(1)

    def outer() -> Any:
        def inner() -> Any:
            return generator

        return inner

    holder = Kept({"deep": generator})

    def at_first(x: Any = generator) -> Any:
        return x

    for value, named in (
        (outer(), "'generator' of inner"),
        (at_first, "'at_first' of it"),
        ([outer()], "'generator' of inner"),
        (holder, "'deep' of content"),
        (type("K", (), {"drawn": generator}), "'drawn' of K"),
        (module("import random\ng = random.Random(1)\ndef f(x): return g").f, "'g' of f"),
    ):
        with pytest.raises(Unidentified, match=rf"^{named} \(Random\) answers differently"):
            canonical(value)
    with pytest.raises(Unidentified, match=r"^'seed' \(Random\) answers differently each time it is asked$"):
        canonical(generator, "seed")


# --- classes and objects ----------------------------------------------------------------------------------------------


def test_a_class_is_made_of_bases_slots_and_attributes() -> None:
    made = module(
        "class base: pass\nclass f(base):\n  'a text'\n  __slots__ = ('k',)\n  b = 1\n  a = 2\n  c: int = 3"
    ).f
    kind, name, bases, slots, items = canonical(made)
    assert (kind, name, slots) == ("class", "f", ["k"])
    assert bases == [["class", "base", [canonical(object)], [], []]]
    assert items == [
        [["str", "__slots__"], ["tuple", ["str", "k"]]], [A, TWO], [B, ONE], [["str", "c"], ["int", "3"]]
    ]  # fmt: skip


def test_an_abstract_class_is_described_like_others() -> None:
    source = "import abc\nfrom typing import Generic, TypeVar\nT = TypeVar('T')\n"
    first = module(source + "class f(Generic[T], metaclass=abc.ABCMeta):\n  @abc.abstractmethod\n  def g(self): ...").f
    before = canonical(first)
    assert [key[1] for key, _ in before[4]] == ["g"]
    first.register(int)
    assert canonical(first) == before


class Odd:
    """What a copy of it is made of is told by the caller."""

    def __init__(self, *told: Any) -> None:
        self.told = told

    def __reduce_ex__(self, protocol: Any) -> Any:
        assert protocol == 4
        if isinstance(self.told[0], Exception):
            raise self.told[0]
        return self.told[0] if isinstance(self.told[0], str) else self.told


def test_an_object_is_made_of_what_a_copy_is_made_of() -> None:
    described = canonical(Odd(plain, (1, "a"), {"b": 1, "a": 2}, iter([[1], 2]), iter([("a", 1), ("b", [2])])))
    assert described == [
        "object",
        canonical(plain),
        ONE,
        A,
        [[A, TWO], [B, ONE]],
        [["list", ONE], TWO],
        [[A, ONE], [B, ["list", TWO]]],
    ]
    assert canonical(Odd(plain, ())) == ["object", canonical(plain), NONE, [], []]


@pytest.mark.parametrize(
    ("state", "description"),
    [
        ((None, {"b": 1, "a": 2}), [NONE, [[A, TWO], [B, ONE]]]),
        (({"a": 1}, None), [[[A, ONE]], NONE]),
        ((None, None), [NONE, NONE]),
        (({"a": 1}, {"b": 2}), [[[A, ONE]], [[B, TWO]]]),
        ((1, {"a": 2}), ["tuple", ONE, ["dict", [A, TWO]]]),
        (({"a": 2}, 1), ["tuple", ["dict", [A, TWO]], ONE]),
        (({"a": 2},), ["tuple", ["dict", [A, TWO]]]),
        (({"b": 1, "a": 2},) * 3, ["tuple", ["dict", [B, ONE], [A, TWO]], ["again", 2], ["again", 2]]),
        ([{"a": 1}, None], ["list", ["dict", [A, ONE]], NONE]),
        ({10: 3, 9: 1, "a": 2}, [[["int", "10"], ["int", "3"]], [["int", "9"], ONE], [A, TWO]]),
        (5, ["int", "5"]),
    ],
)
def test_states(state: Any, description: list[Any]) -> None:
    """Attributes, and those in slots beside them, are in one order; anything else is a value like others."""
    assert canonical(Odd(plain, (), state))[2] == description


def test_attributes_count_in_any_order() -> None:
    first, second = Kept(1), Kept(1)
    first.a, first.b = 1, 2  # type: ignore[attr-defined]
    second.b, second.a = 2, 1  # type: ignore[attr-defined]
    assert digest(first) == digest(second) != digest(Kept(1))


class Words(list[str]):
    """A list with a class of its own."""


class Counts(dict[str, int]):
    """A dict with a class of its own."""


def test_items_of_subclasses_count() -> None:
    assert canonical(Words("ab"))[-2:] == [[A, B], []]
    assert canonical(Counts(a=1))[-2:] == [[], [[A, ONE]]]


class Named:
    """An object that is made with keywords."""

    def __getnewargs_ex__(self) -> Any:
        return (1,), {"a": 2}


def test_an_object_that_is_made_with_keywords() -> None:
    how, cls, arguments, keywords, *rest = canonical(Named())[1:]
    assert (how, cls[1], arguments) == ("__newobj_ex__", "Named", ["tuple", ONE])
    assert keywords == ["dict", [A, TWO]]
    assert rest == [NONE, [], []]


def test_sets_of_objects_are_in_one_order() -> None:
    described = canonical({Odd(plain, (1,)), Kept(1), Odd(KEPT.first, ())})
    assert described[0] == "set"
    assert len(described) == 4
    texts = [json.dumps(one) for one in described[1:]]
    assert texts == sorted(texts)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("plain", r"^'it' is a Odd, whose code is not known$"),
        (ValueError("no copies"), r"^'it' is a Odd, whose state is not known \(no copies\)$"),
    ],
)
def test_objects_that_do_not_say_what_they_are_made_of(told: Any, why: str) -> None:
    with pytest.raises(Unidentified, match=why):
        canonical(Odd(told))


class Endless:
    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "value", [np.random.PCG64(1), np.random.RandomState(1), random.Random(1), Endless(), (k for k in range(2))],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_answers_otherwise_the_next_time_is_refused(value: Any) -> None:
    with pytest.raises(Unidentified, match=rf"\({type(value).__name__}\) answers differently each time"):
        canonical(value)


HIDDEN: type = type(iter([]))
"""A class that no module offers."""


@pytest.mark.parametrize(
    ("value", "of"),
    [
        ("".join, "str"),
        (object().__str__, "object"),
        (Words("ab").append, "Words"),
        (vars(HIDDEN)["__length_hint__"], "method_descriptor"),
        (vars(HIDDEN)["__next__"], "wrapper_descriptor"),
        (vars(dict)["fromkeys"], "classmethod_descriptor"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_built_in_methods_are_refused(value: Any, of: str) -> None:
    with pytest.raises(Unidentified, match=f"^'it' is a built-in method of a {of}, whose state may change$"):
        canonical(value)


def test_functions_of_arrays_that_numpy_does_not_offer_are_refused() -> None:
    with pytest.raises(Unidentified):
        canonical(np.frompyfunc(plain, 1, 1))


def test_a_value_that_is_nested_too_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(*_: Any) -> None:
        raise RecursionError

    monkeypatch.setattr("serape.canonical._Described.of", too_deep)
    with pytest.raises(Unidentified, match="^'seed' is nested too deep$"):
        canonical(1, "seed")


def test_a_class_of_iterators_is_no_iterator() -> None:
    assert canonical(Endless)[:2] == ["class", "Endless"]


# --- modules and libraries --------------------------------------------------------------------------------------------


def test_a_module_of_ones_own_is_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own_of_test_canonical.py"
    file.write_bytes(b"k = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module(file.stem)
    assert canonical(own) == ["module", file.stem, hashed(b"k = 1\n")]
    file.unlink()
    with pytest.raises(Unidentified, match="^'it' is a module without a file$"):
        canonical(own)


def registered(monkeypatch: pytest.MonkeyPatch, name: str, **content: Any) -> types.ModuleType:
    """Return a module that is in use under a name, until the test ends."""
    made = types.ModuleType(name)
    vars(made).update(content)
    monkeypatch.setitem(sys.modules, name, made)
    return made


@pytest.mark.parametrize(
    ("file", "is_library"),
    [
        ("/usr/lib/python3/dist-packages/{}.py", True),
        ("/venv/lib/site-packages/{}.py", True),
        ("/home/me/{}.py", False),
        ("/home/me/my-site-packages/{}.py", False),
    ],
)
def test_what_is_installed_is_known_by_name(file: str, is_library: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"package_{abs(hash(file))}"
    package = registered(monkeypatch, name, __file__=file.format(name), __version__="1.2")
    exec("def f(x): return x", vars(package))
    described = canonical(package.f)
    assert described == ["library", f"{name}.f", "1.2"] if is_library else described[0] == "function"


def test_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """That which a package says, that of what is installed, or none."""
    at = "/venv/site-packages/module.py"
    registered(monkeypatch, "pip.of_test", __file__=at)
    for name, version in (
        ("pip.of_test", importlib.metadata.version("pip")),
        ("parted_of_test.part", ""),  # its package has no file
        ("numbered_of_test", ""),
    ):
        made = registered(monkeypatch, name, __file__=at, __version__=3)
        exec("def f(x): return x", vars(made))
        assert canonical(made.f) == ["library", f"{name}.f", version]
        assert canonical(made) == ["library", name, version]


@pytest.mark.parametrize("name", ["absent_part", "norm"])
def test_functions_that_say_to_be_of_a_library_and_are_not(name: str) -> None:
    """They are described by their code."""
    own = module("def f(x): return x").f
    before = canonical(own)
    for where in ("scipy.stats", "scipy.absent", None, 3):
        own.__module__, own.__qualname__ = where, name
        assert canonical(own) == before


def test_a_name_alone_does_not_make_an_object_one_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Kept(3)
    held.__qualname__, held.__module__ = "held", "holding_of_test"  # type: ignore[attr-defined]
    registered(monkeypatch, "holding_of_test", __file__="/venv/site-packages/holding.py", held=held)
    assert canonical(held)[0] == "object"


def test_a_class_of_ones_own_that_a_library_keeps_is_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = module("import abc\nclass f(abc.ABC):\n  def g(self): return 1").f
    monkeypatch.setattr(abc, "kept_of_test", own, raising=False)
    assert canonical(own)[0] == "class"


def test_objects_that_modules_keep() -> None:
    """Those of other packages are known by name; one's own, and those of serape, by their content."""
    assert canonical(KEPT)[0] == "object"
    assert canonical(NO_OUTCOME)[0] == "object"
    assert canonical(collections.Counter.fromkeys)[0] == "method"
    assert canonical(spearmanr) == ["library", "scipy.stats._stats_py.spearmanr", scipy.__version__]


def test_an_object_of_a_part_that_is_not_loaded_is_offered_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    held = type("K", (), {"__module__": "numpy.absent_of_test"})()
    assert canonical(held)[0] == "object"
    monkeypatch.setattr(np, "held_of_test", held, raising=False)
    monkeypatch.setitem(sys.modules, "numpy.none_of_test", None)  # that it is not there is noted so
    assert canonical(held) == ["library", "numpy: held_of_test", np.__version__]
