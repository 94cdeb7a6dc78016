"""The parser of BIF files; `serape.networks.bif` tells what it takes.

Nothing here recurses or looks at a character more than a few times: patterns are possessive, lists have limits, and
what a block claims is compared with what it holds before anything is allocated.
"""

from __future__ import annotations

import gzip
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from operator import itemgetter, mul
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from serape import _core
from serape.errors import DataError, suggestion
from serape.networks.network import (
    Network,
    Probabilities,
    find_cycle,
    first_wrong_row,
    in_order,
    is_name,
    normalised,
    told_cycle,
)

Missing = Literal["error", "uniform"]

MOST_BYTES = 256 << 20
"""How large a file may be, decompressed."""
MOST_NUMBERS = 1 << 26
"""How many probabilities a network may have."""
MOST_NAMES = 1 << 21
"""How many variables and levels a network may have, together."""

_STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
_COMMENT = re.compile(rf'{_STRING}"?|(?<!:)//[^\n]*+|/\*')
_TOKEN = re.compile(rf'\s*+(?:({_STRING}")|([^\s{{}}(),;|"]++)|([{{}}(),;|"])|\Z)')
_HEAD = re.compile(rf'(?:[^{{}};"]++|{_STRING}"?)*+\{{')
_BODY = re.compile(rf'(?:[^{{}}"]++|{_STRING}"?|\{{[^{{}}]*+\}})*+\}}')
_PROPERTY = re.compile(rf'(?:[^;{{}}"]++|{_STRING}"?|\{{[^{{}}]*+\}})*+')
_BETWEEN = re.compile(r"[\s;]*+")
_TYPE = re.compile(r"\s*+discrete\s*+(?:\[\s*+([0-9]{1,9})\s*+\])?\s*+=?\s*+\{", re.IGNORECASE)
_MAX = re.compile(r'\s*+"?function\s*+=?\s*+max"?\s*+', re.IGNORECASE)
_LABEL = re.compile(r'([^{}();|"]*+)\)')
_NUMBERS = re.compile(r"[0-9eE.+\-,\s]*+")
_NUMBER = re.compile(r"[^\s,;{}()|\"]++")


def text_of(path: Path) -> str:
    """Return what a file says, decompressed if need be, with plain line ends."""
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as file:
            pieces, size = [], 0
            while piece := file.read(1 << 20):
                pieces.append(piece)
                size += len(piece)
                if size > MOST_BYTES:
                    raise DataError(
                        f"{path} holds more than {MOST_BYTES >> 20} MB{' once decompressed' if zipped else ''}, "
                        f"which is the most that is read as BIF"
                    )
        text = b"".join(pieces).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path} cannot be decompressed: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


@dataclass(frozen=True, slots=True)
class _Piece:
    """A name, or a word of one."""

    text: str
    quoted: bool


@dataclass(slots=True)
class _Rows:
    """What a probability block says: rows of numbers, and where in the text each begins."""

    configurations: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    numbers: array[float] = field(default_factory=lambda: array("d"))
    default: array[float] | None = None
    table: array[float] | None = None
    noisy_max: bool = False


class Reader:
    """Goes through the text once for the variables, and once more for their probabilities."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.at = 0  # how far it has been read
        self.begin = 0  # where the latest token begins
        self.levels: dict[str, tuple[str, ...]] = {}
        self.index: dict[str, dict[str, int]] = {}
        self.declared: dict[str, int] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.cpts: dict[str, Probabilities] = {}
        self.defined: dict[str, int] = {}
        self.names = self.numbers = 0
        self.text = self._without_comments()

    def network(self, missing: Missing) -> Network:
        """Read everything."""
        for begin in self._variables():
            self._probabilities(begin)
        for name, levels in self.levels.items():
            if name not in self.cpts:
                if missing == "error":
                    self.fail(
                        f"variable {name!r:.60} has no probability block; add one, or pass missing='uniform' to make "
                        f"its levels equally likely",
                        self.declared[name],
                    )
                self.cpts[name] = np.full((1, len(levels)), 1 / len(levels))
        index = {name: k for k, name in enumerate(self.levels)}
        above = [tuple(index[p] for p in self.parents.get(name, ())) for name in self.levels]
        order = in_order(above)
        if len(order) < len(above):
            names = list(self.levels)
            cycle = [names[k] for k in find_cycle(above, order)]
            self.fail(f"the arcs form a cycle, {told_cycle(cycle)}; leave one of them out", self.defined[cycle[0]])
        try:
            return Network(self.levels, self.parents, self.cpts)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Refuse the file, naming the line."""
        line = self.text.count("\n", 0, self.begin if at is None else at) + 1
        raise DataError(f"{self.path}, line {line}: {message}")

    # --- text into tokens ----------------------------------------------------------------------------------------

    def _without_comments(self) -> str:
        """Return the text with nothing but their line ends left of comments."""
        text = self.text
        if "//" not in text and "/*" not in text:
            return text
        kept, copied, at = [], 0, 0
        while found := _COMMENT.search(text, at):
            begin, at = found.span()
            if text[begin] == '"':
                continue
            if text.startswith("/*", begin):
                end = text.find("*/", at)
                if end < 0:
                    self.fail("a comment opened by /* is never closed; close it with */", begin)
                at = end + 2
            kept += [text[copied:begin], "\n" * text.count("\n", begin, at) or " "]
            copied = at
        return "".join([*kept, text[copied:]])

    def _next(self) -> tuple[str, bool]:
        """Return the next token, and whether it is a name in quotes; the empty word at the end."""
        found = _TOKEN.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        kind = found.lastindex
        if kind is None:
            self.begin = self.at
            return "", False
        self.begin = found.start(kind)
        token = found[kind]
        if kind == 1:
            token = token[1:-1]
            if not token:
                self.fail("there is nothing between two quotation marks; give it a name")
            return (re.sub(r'\\([\\"])', r"\1", token) if "\\" in token else token), True
        if token == '"':
            self.fail("a quotation mark is not closed on its line; close it")
        return token, False

    def _expect(self, wanted: str, where: str) -> None:
        token, quoted = self._next()
        if token != wanted or quoted:
            self.fail(f"{_shown(token)} stands where {wanted!r} must {where}")

    def _skip(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        if found is None:
            self.fail(f"{what} is never closed; close it with '}}'")
        self.at = found.end()
        return found

    def _names(self, closing: str, what: str) -> tuple[list[list[_Piece]], int]:
        """Return the names up to a closing mark, as words between commas, and how many come before a bar (or -1)."""
        groups: list[list[_Piece]] = [[]]
        bar, words = -1, 0
        while True:
            token, quoted = self._next()
            if quoted or token not in ("", "{", "}", "(", ")", ",", ";", "|"):
                if not is_name(token):
                    self.fail(f"{token!r:.60} is not a name in {what}; a name is text of one line, and not empty")
                groups[-1].append(_Piece(token, quoted))
                words += 1
                if words > _core.MAX_LEVELS:
                    self.fail(
                        f"there are more than {_core.MAX_LEVELS:,} words in {what}, which is the most that is read"
                    )
            elif token == closing:
                if not groups[-1]:
                    groups.pop()  # nothing at all, or a comma at the end
                return groups, bar
            elif token == "," or (token == "|" and bar < 0 and closing == ")"):
                if not groups[-1]:
                    self.fail(f"a name is missing before {token!r} in {what}")
                if token == "|":
                    bar = len(groups)
                groups.append([])
            else:
                self.fail(f"{_shown(token)} stands in {what} where a name, ',' or {closing!r} must")

    def _counted(self, groups: Sequence[Sequence[_Piece]], count: int | None, what: str) -> list[str]:
        """Return so many names: what stands between commas or, where commas are left out, the single words."""
        words = [piece.text for group in groups for piece in group]
        if count is None:
            count = len(groups) if len(groups) > 1 else len(words)
        if len(groups) != count:
            if len(words) != count:
                self.fail(f"there must be {count:,} in {what}, but there are {len(groups):,}")
            return words
        for group in groups:
            if len(group) > 1 and any(piece.quoted for piece in group):
                self.fail(f"a comma is missing after {group[0].text!r:.60} in {what}")
        return [" ".join(piece.text for piece in group) for group in groups]

    # --- blocks --------------------------------------------------------------------------------------------------

    def _variables(self) -> list[int]:
        """Read the variables; return where probability blocks begin."""
        blocks = []
        while True:
            self._skip(_BETWEEN, "a block")
            token, quoted = self._next()
            keyword = "" if quoted else token.lower()
            if not token:
                break
            if keyword == "variable":
                self._variable()
            elif keyword == "probability":
                blocks.append(self.begin)
                self._skip_block("the probability block")
            elif keyword == "network":
                self._skip_block("the network block")
            elif keyword == "property":
                self._property()
            else:
                self.fail(f"{_shown(token)} stands where 'network', 'variable' or 'probability' must")
        if not self.levels:
            self.fail("there is no variable; a BIF file has at least one variable block")
        return blocks

    def _skip_block(self, what: str) -> None:
        found = _HEAD.match(self.text, self.at)
        if found is None:
            self.fail(f"{what} is never opened; open it with '{{'")
        self.at = found.end()
        self._skip(_BODY, what)

    def _property(self) -> bool:
        """Skip a property; return whether it says that the rows are a noisy MAX."""
        found = self._skip(_PROPERTY, "a property")
        if self.text.startswith(";", self.at):
            self.at += 1
        return len(found[0]) < 100 and _MAX.fullmatch(found[0]) is not None

    def _variable(self) -> None:
        begin = self.begin
        groups, _ = self._names("{", "a variable's name")
        if len(groups) != 1:
            self.fail("a variable must have one name", begin)
        name = self._counted(groups, 1, "a variable's name")[0]
        if name in self.levels:
            self.fail(f"variable {name!r:.60} is declared a second time; leave one out", begin)
        levels = None
        while True:
            token, quoted = self._next()
            keyword = "" if quoted else token.lower()
            if keyword == "property":
                self._property()
            elif keyword == "type" and levels is None:
                levels = self._type(name)
            elif keyword == "}":
                break
            elif keyword != ";":
                self.fail(f"{_shown(token)} stands in variable {name!r:.60} where 'type', 'property' or '}}' must")
        if levels is None:
            self.fail(f"variable {name!r:.60} has no levels; give it a line 'type discrete [2] {{ yes, no }};'", begin)
        self.names += 1 + len(levels)
        if self.names > MOST_NAMES:
            self.fail(f"there are more than {MOST_NAMES:,} variables and levels, which is the most that is read")
        self.levels[name] = levels
        self.index[name] = {level: k for k, level in enumerate(levels)}
        self.declared[name] = begin

    def _type(self, name: str) -> tuple[str, ...]:
        begin = self.begin
        found = _TYPE.match(self.text, self.at)
        if found is None:
            self.fail(f"the type of {name!r:.60} must be written 'discrete [2] {{ yes, no }}'; no other is read")
        self.at = found.end()
        count = None if found[1] is None else int(found[1])
        if count is not None and not 1 <= count <= _core.MAX_LEVELS:
            self.fail(f"variable {name!r:.60} claims {count:,} levels; it can have 1 to {_core.MAX_LEVELS:,}")
        groups, _ = self._names("}", f"the levels of {name!r:.60}")
        self.begin = begin
        levels = self._counted(groups, count, f"the levels of {name!r:.60}")
        if not levels:
            self.fail(f"variable {name!r:.60} has no levels; name at least one")
        if len(set(levels)) < len(levels):
            twice = next(level for level, count in Counter(levels).items() if count > 1)
            self.fail(f"variable {name!r:.60} has the level {twice!r:.60} twice; name each once")
        return tuple(levels)

    # --- probabilities -------------------------------------------------------------------------------------------

    def _probabilities(self, begin: int) -> None:
        self.at = begin + len("probability")
        self.begin = begin
        name, parents = self._family()
        if name in self.defined:
            self.fail(f"the probabilities of {name!r:.60} are given a second time; leave one block out", begin)
        self.defined[name] = begin
        self._expect("{", f"open the probabilities of {name!r:.60}")
        sizes = [len(self.levels[parent]) for parent in parents]
        configurations = 1
        for size in sizes:
            configurations *= size
            if configurations > MOST_NUMBERS:
                self._too_many(name, begin)
        rows = self._rows(name, parents, configurations)
        if self.numbers + configurations * len(self.levels[name]) > MOST_NUMBERS:
            self._too_many(name, begin)
        self.numbers += configurations * len(self.levels[name])
        self.parents[name] = parents
        self.cpts[name] = self._cpt(name, parents, configurations, rows, begin)

    def _too_many(self, name: str, begin: int) -> NoReturn:
        self.fail(
            f"with the probabilities of {name!r:.60} there are more than {MOST_NUMBERS:,} numbers, which is the most "
            f"that is read",
            begin,
        )

    def _family(self) -> tuple[str, tuple[str, ...]]:
        self._expect("(", "open the names of a probability block")
        groups, bar = self._names(")", "the head of a probability block")
        names: list[str] = []
        for k, group in enumerate(groups):
            joined = " ".join(piece.text for piece in group)
            if joined in self.levels and (len(group) == 1 or not any(piece.quoted for piece in group)):
                names.append(joined)
            else:  # commas left out
                names += [piece.text for piece in group]
            if k + 1 == bar and len(names) != 1:
                self.fail("only one variable may stand before the '|' of a probability block")
        if not names:
            self.fail("a probability block names no variable")
        for name in names:
            if name not in self.levels:
                self.fail(
                    f"the probability block names {name!r:.60}, which is not a variable; declare it"
                    f"{_suggestion(name, self.levels)}"
                )
        name, parents = names[0], tuple(names[1:])
        if name in parents:
            self.fail(f"{name!r:.60} is its own parent; leave that arc out")
        if len(set(parents)) < len(parents):
            self.fail(f"{name!r:.60} has the same parent twice; name each once")
        return name, parents

    def _rows(self, name: str, parents: Sequence[str], configurations: int) -> _Rows:
        """Read a block's lines."""
        rows, levels = _Rows(), len(self.levels[name])
        steps = _steps([len(self.levels[parent]) for parent in parents])
        indices = [(self.index[parent], step) for parent, step in zip(parents, steps, strict=True)]
        seen: set[int] = set()
        while True:
            token, quoted = self._next()
            keyword = "" if quoted else token.lower()
            begin = self.begin
            if keyword == "(":
                configuration = self._configuration(parents, indices)
                if configuration in seen:
                    self.fail(f"a row of {name!r:.60} is given a second time; leave one out", begin)
                seen.add(configuration)
                rows.configurations.append(configuration)
                rows.begins.append(begin)
                rows.numbers += self._numbers(levels, f"a row of {name!r:.60}")
            elif keyword == "table" and rows.table is None:
                rows.begins.append(begin)
                rows.table = self._numbers(configurations * levels, f"the table of {name!r:.60}")
            elif keyword == "default" and rows.default is None:
                rows.default = self._numbers(levels, f"the default row of {name!r:.60}")
                if wrong := first_wrong_row(np.array([rows.default])):
                    self.fail(f"the default probabilities of {name!r:.60} {wrong[1]}", begin)
            elif keyword == "property":
                rows.noisy_max |= self._property()
            elif keyword == "}":
                return rows
            elif keyword != ";":
                self.fail(
                    f"{_shown(token)} stands in the probabilities of {name!r:.60} where a row, 'table', 'default' or "
                    f"'}}' must"
                )

    def _configuration(self, parents: Sequence[str], indices: Sequence[tuple[Mapping[str, int], int]]) -> int:
        """Read the levels of the parents up to ')'; return the number of the row."""
        found = _LABEL.match(self.text, self.at)
        if found:  # the usual: plain words between commas
            words = found[1].split(",", len(parents))
            if len(words) == len(parents):
                try:
                    number = sum(index[word.strip()] * step for (index, step), word in zip(indices, words, strict=True))
                    self.at = found.end()
                    return number
                except KeyError:
                    pass
        groups, bar = self._names(")", "a row's levels")
        if bar >= 0:
            self.fail("a '|' stands among a row's levels; leave it out")
        levels = self._counted(groups, len(parents), "a row's levels")
        number = 0
        for parent, (index, step), level in zip(parents, indices, levels, strict=True):
            if level not in index:
                self.fail(
                    f"{level!r:.60} is not a level of {parent!r:.60}; use one it declares{_suggestion(level, index)}"
                )
            number += index[level] * step
        return number

    def _numbers(self, count: int, what: str) -> array[float]:
        """Read so many numbers up to ';'."""
        begin = self.at
        found = _NUMBERS.match(self.text, begin)
        assert found is not None
        end = found.end()
        if not self.text.startswith(";", end):
            self.begin = end
            odd = _NUMBER.match(self.text, end)
            if odd:
                self.fail(f"{odd[0]!r:.60} in {what} is not a number; write probabilities and end them with ';'")
            self.fail(f"{what} is not ended by ';'; add it")
        self.at = end + 1
        if 2 * count - 1 > end - begin:  # a digit each, and something between
            self.begin = begin
            self.fail(f"{what} needs {count:,} numbers but has fewer; give a number for every level")
        try:
            words = islice(_NUMBER.finditer(self.text, begin, end), count + 1)
            numbers = array("d", map(float, map(_whole, words)))
        except ValueError as error:
            self.begin = begin
            self.fail(f"{what} has something that is not a number: {error!s:.100}")
        if len(numbers) != count:
            self.begin = begin
            has = "more" if len(numbers) > count else f"{len(numbers):,}"
            self.fail(f"{what} needs {count:,} numbers but has {has}; give a number for every level")
        return numbers

    def _cpt(self, name: str, parents: Sequence[str], configurations: int, rows: _Rows, begin: int) -> Probabilities:
        """Put what a block says into one array."""
        levels = len(self.levels[name])
        if rows.table is not None:
            if rows.configurations or rows.default is not None:
                self.fail(f"the probabilities of {name!r:.60} are a table and rows; leave one out", begin)
            return self._from_table(name, np.array(rows.table).reshape(levels, configurations), rows.begins[0])
        given = np.array(rows.numbers).reshape(-1, levels)
        wrong = first_wrong_row(given) if len(given) else None
        if wrong is not None:
            self.fail(f"the probabilities of {name!r:.60} {wrong[1]}", rows.begins[wrong[0]])
        if len(given) < configurations and rows.default is None:
            if not rows.noisy_max:
                self._incomplete(name, parents, configurations, rows.configurations, begin)
            return self._noisy_max(name, parents, rows.configurations, given, begin)
        cpt = np.empty((configurations, levels))
        if rows.default is not None:
            cpt[:] = rows.default
        cpt[rows.configurations] = given
        return cpt

    def _from_table(self, name: str, table: Probabilities, begin: int) -> Probabilities:
        levels, configurations = table.shape
        cpt = np.ascontiguousarray(table.T)
        wrong = first_wrong_row(cpt)
        if wrong is not None:
            cpt = table.reshape(configurations, levels)
            if first_wrong_row(cpt) is not None:
                where = f" in column {wrong[0] + 1:,}" if configurations > 1 else ""
                self.fail(f"the probabilities of {name!r:.60}{where} {wrong[1]}", begin)
        return cpt

    def _incomplete(
        self, name: str, parents: Sequence[str], configurations: int, given: Sequence[int], begin: int
    ) -> NoReturn:
        if not parents:
            self.fail(f"{name!r:.60} has no probabilities; give it a line 'table …;'", begin)
        have = set(given)
        absent = next(k for k in range(configurations) if k not in have)
        label = []
        for parent in reversed(parents):
            absent, level = divmod(absent, len(self.levels[parent]))
            label.append(self.levels[parent][level])
        self.fail(
            f"{name!r:.60} has {len(given):,} of {configurations:,} rows, and none for "
            f"({', '.join(reversed(label)):.200}); add what is missing, or a default row",
            begin,
        )

    def _noisy_max(
        self, name: str, parents: Sequence[str], configurations: Sequence[int], given: Probabilities, begin: int
    ) -> Probabilities:
        at_most = dict(zip(configurations, np.cumsum(normalised(given), axis=1), strict=True)) if len(given) else {}
        sizes = [len(self.levels[parent]) for parent in parents]
        steps = _steps(sizes)
        wanted = {0, *(level * step for size, step in zip(sizes, steps, strict=True) for level in range(1, size))}
        if set(at_most) != wanted:
            self.fail(
                f"the noisy MAX of {name!r:.60} needs the row of all parents at their first level, one for every other "
                f"level of one parent alone, and no others",
                begin,
            )
        together = at_most[0][None, :]
        for size, step in zip(sizes, steps, strict=True):
            alone = np.array([np.ones_like(at_most[0]), *(at_most[level * step] for level in range(1, size))])
            together = (together[:, None, :] * alone).reshape(-1, together.shape[1])
        return normalised(np.maximum(np.diff(together, axis=1, prepend=0), 0))


_whole = itemgetter(0)


def _steps(sizes: Sequence[int]) -> list[int]:
    """Return by how much the number of a row grows with each parent's level; the last parent counts fastest."""
    return [*accumulate(reversed(sizes), mul, initial=1)][-2::-1]


def _shown(token: str) -> str:
    return f"{token!r:.60}" if token else "the end of the file"


def _suggestion(word: str, known: Mapping[str, object]) -> str:
    """Suggest as usual, unless looking for what is close could take long."""
    return f".{suggestion(word, known)}" if len(word) <= 100 and len(known) <= 2000 else ""
