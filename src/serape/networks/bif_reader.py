"""The parser of BIF files; `serape.networks.bif` describes what it accepts.

Nothing here recurses or reads a character more than a few times: patterns are possessive and lists have limits. The
size that a block declares is compared with its content before memory is allocated.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from serape import _core
from serape.errors import DataError, either, embedded, suggestion
from serape.networks.bif_tables import BlockRows, from_noisy_max, from_table, row_steps
from serape.networks.bif_tokens import STRING, Tokens, shown
from serape.networks.network import (
    Network,
    Probabilities,
    describe_cycle,
    find_cycle,
    first_wrong_row,
    parents_first,
)

MissingNumbers = Literal["error", "uniform"]

MAX_NUMBERS = 1 << 26
"""The largest number of probabilities in a network."""
MAX_NAMES = 1 << 21
"""The largest number of variables and levels, together, in a network."""

_HEAD = re.compile(rf'(?:[^{{}};"]++|{STRING}"?)*+\{{')
_BODY = re.compile(rf'(?:[^{{}}"]++|{STRING}"?|\{{[^{{}}]*+\}})*+\}}')
_PROPERTY = re.compile(rf'(?:[^;{{}}"]++|{STRING}"?|\{{[^{{}}]*+\}})*+')
_BETWEEN = re.compile(r"[\s;]*+")
_TYPE = re.compile(r"\s*+discrete\s*+(?:\[\s*+([0-9]{1,9})\s*+\])?\s*+=?\s*+\{", re.IGNORECASE)
_MAX = re.compile(r'\s*+"?function\s*+=?\s*+max"?\s*+', re.IGNORECASE)
_LABEL = re.compile(r'([^{}();|"]*+)\)')
_NUMBERS = re.compile(r"[0-9eE.+\-,\s]*+")
_NUMBER = re.compile(r"[^\s,;{}()|\"]++")
_OR_UNIFORM = ", or pass missing='uniform' to make its levels equally likely"


class BifReader(Tokens):
    """Reads the variables in a first pass over the text and their probabilities in a second."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(path, text)
        self.levels: dict[str, tuple[str, ...]] = {}
        self.index: dict[str, dict[str, int]] = {}
        self.declared: dict[str, int] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.cpts: dict[str, Probabilities] = {}
        self.defined: dict[str, int] = {}
        self.names = self.numbers = 0

    def network(self, missing: MissingNumbers) -> Network:
        """Return the network of the file."""
        for begin in self._variables():
            self._probabilities(begin)
        for name, levels in self.levels.items():
            if name not in self.cpts:
                if missing == "error":
                    self.fail(
                        f"variable {name!r:.60} has no probability block; add one{either(_OR_UNIFORM, '')}",
                        self.declared[name],
                    )
                self.cpts[name] = np.full((1, len(levels)), 1 / len(levels))
        index = {name: k for k, name in enumerate(self.levels)}
        above = [tuple(index[p] for p in self.parents.get(name, ())) for name in self.levels]
        order = parents_first(above)
        if len(order) < len(above):
            names = list(self.levels)
            cycle = [names[k] for k in find_cycle(above, order)]
            self.fail(f"the arcs form a cycle, {describe_cycle(cycle)}; remove one of them", self.defined[cycle[0]])
        try:
            return Network(self.levels, self.parents, self.cpts)
        except DataError as error:
            raise DataError(f"{self.path}: {embedded(error)}") from None

    # --- blocks --------------------------------------------------------------------------------------------------

    def _variables(self) -> list[int]:
        """Read the variables; return where the probability blocks begin."""
        blocks = []
        while True:
            self.skip(_BETWEEN, "a block")
            token, quoted = self.next_token()
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
                self.fail(f"expected 'network', 'variable' or 'probability', found {shown(token)}")
        if not self.levels:
            self.fail("there is no variable; a BIF file has at least one variable block")
        return blocks

    def _skip_block(self, what: str) -> None:
        found = _HEAD.match(self.text, self.at)
        if found is None:
            self.fail(f"{what} is never opened; open it with '{{'")
        self.at = found.end()
        self.skip(_BODY, what)

    def _property(self) -> bool:
        """Skip a property; return whether it declares the rows as a noisy MAX."""
        found = self.skip(_PROPERTY, "a property")
        if self.text.startswith(";", self.at):
            self.at += 1
        return len(found[0]) < 100 and _MAX.fullmatch(found[0]) is not None

    def _variable(self) -> None:
        begin = self.begin
        groups, _ = self.name_list("{", "a variable's name")
        if len(groups) != 1:
            self.fail("a variable must have one name", begin)
        name = self.joined_names(groups, 1, "a variable's name")[0]
        if name in self.levels:
            self.fail(f"variable {name!r:.60} is declared twice; remove one declaration", begin)
        levels = None
        while True:
            token, quoted = self.next_token()
            keyword = "" if quoted else token.lower()
            if keyword == "property":
                self._property()
            elif keyword == "type" and levels is None:
                levels = self._type(name)
            elif keyword == "}":
                break
            elif keyword != ";":
                self.fail(f"expected 'type', 'property' or '}}' in variable {name!r:.60}, found {shown(token)}")
        if levels is None:
            self.fail(f"variable {name!r:.60} has no levels; give it a line 'type discrete [2] {{ yes, no }};'", begin)
        self.names += 1 + len(levels)
        if self.names > MAX_NAMES:
            self.fail(f"there are more than {MAX_NAMES:,} variables and levels, the largest number allowed")
        self.levels[name] = levels
        self.index[name] = {level: k for k, level in enumerate(levels)}
        self.declared[name] = begin

    def _type(self, name: str) -> tuple[str, ...]:
        begin = self.begin
        found = _TYPE.match(self.text, self.at)
        if found is None:
            self.fail(
                f"the type of {name!r:.60} must be written 'discrete [2] {{ yes, no }}'; other types are not supported"
            )
        self.at = found.end()
        count = None if found[1] is None else int(found[1])
        if count is not None and not 1 <= count <= _core.MAX_LEVELS:
            self.fail(f"variable {name!r:.60} declares {count:,} levels; it can have 1 to {_core.MAX_LEVELS:,}")
        groups, _ = self.name_list("}", f"the levels of {name!r:.60}")
        self.begin = begin
        levels = self.joined_names(groups, count, f"the levels of {name!r:.60}")
        if not levels:
            self.fail(f"variable {name!r:.60} has no levels; name at least one")
        if len(set(levels)) < len(levels):
            repeated = next(level for level, count in Counter(levels).items() if count > 1)
            self.fail(f"variable {name!r:.60} has the level {repeated!r:.60} twice; name each once")
        return tuple(levels)

    # --- probabilities -------------------------------------------------------------------------------------------

    def _probabilities(self, begin: int) -> None:
        self.at = begin + len("probability")
        self.begin = begin
        name, parents = self._family()
        if name in self.defined:
            self.fail(f"the probabilities of {name!r:.60} are given twice; remove one block", begin)
        self.defined[name] = begin
        self.expect("{", f"open the probabilities of {name!r:.60}")
        sizes = [len(self.levels[parent]) for parent in parents]
        configurations = 1
        for size in sizes:
            configurations *= size
            if configurations > MAX_NUMBERS:
                self._too_many(name, begin)
        rows = self._rows(name, parents, configurations)
        if self.numbers + configurations * len(self.levels[name]) > MAX_NUMBERS:
            self._too_many(name, begin)
        self.numbers += configurations * len(self.levels[name])
        self.parents[name] = parents
        self.cpts[name] = self._cpt(name, parents, configurations, rows, begin)

    def _too_many(self, name: str, begin: int) -> NoReturn:
        self.fail(
            f"with the probabilities of {name!r:.60} there are more than {MAX_NUMBERS:,} numbers, the largest "
            f"number allowed",
            begin,
        )

    def _family(self) -> tuple[str, tuple[str, ...]]:
        self.expect("(", "open the names of a probability block")
        groups, bar = self.name_list(")", "the head of a probability block")
        names: list[str] = []
        for k, group in enumerate(groups):
            joined = " ".join(word.text for word in group)
            if joined in self.levels and (len(group) == 1 or not any(word.quoted for word in group)):
                names.append(joined)
            else:  # words without commas
                names += [word.text for word in group]
            if k + 1 == bar and len(names) != 1:
                self.fail("a probability block must have one variable before '|'")
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
            self.fail(f"{name!r:.60} is its own parent; remove that arc")
        if len(set(parents)) < len(parents):
            self.fail(f"{name!r:.60} has the same parent twice; name each once")
        return name, parents

    def _rows(self, name: str, parents: Sequence[str], configurations: int) -> BlockRows:
        """Read the rows, tables and defaults of a probability block."""
        rows, levels = BlockRows(), len(self.levels[name])
        steps = row_steps([len(self.levels[parent]) for parent in parents])
        indices = [(self.index[parent], step) for parent, step in zip(parents, steps, strict=True)]
        known: set[int] = set()
        while True:
            token, quoted = self.next_token()
            keyword = "" if quoted else token.lower()
            begin = self.begin
            if keyword == "(":
                configuration = self._configuration(parents, indices)
                if configuration in known:
                    self.fail(f"a row of {name!r:.60} is given twice; remove one", begin)
                known.add(configuration)
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
                    f"expected a row, 'table', 'default' or '}}' in the probabilities of {name!r:.60}, found "
                    f"{shown(token)}"
                )

    def _configuration(self, parents: Sequence[str], indices: Sequence[tuple[Mapping[str, int], int]]) -> int:
        """Read the levels of the parents up to ')'; return the index of the row."""
        found = _LABEL.match(self.text, self.at)
        if found:  # the usual case: plain words between commas
            words = found[1].split(",", len(parents))
            if len(words) == len(parents):
                try:
                    number = sum(index[word.strip()] * step for (index, step), word in zip(indices, words, strict=True))
                    self.at = found.end()
                    return number
                except KeyError:
                    pass
        groups, bar = self.name_list(")", "a row's levels")
        if bar >= 0:
            self.fail("there is a '|' among a row's levels; remove it")
        levels = self.joined_names(groups, len(parents), "a row's levels")
        number = 0
        for parent, (index, step), level in zip(parents, indices, levels, strict=True):
            if level not in index:
                self.fail(
                    f"{level!r:.60} is not a level of {parent!r:.60}; use one of its levels{_suggestion(level, index)}"
                )
            number += index[level] * step
        return number

    def _numbers(self, count: int, what: str) -> array[float]:
        """Read `count` numbers up to ';'."""
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
        if 2 * count - 1 > end - begin:  # each number takes a digit, and a separator but for the last
            self.begin = begin
            self.fail(f"{what} needs {count:,} numbers but has fewer; give a number for every level")
        try:
            words = islice(_NUMBER.finditer(self.text, begin, end), count + 1)
            numbers = array("d", map(float, map(_match_text, words)))
        except ValueError as error:
            self.begin = begin
            self.fail(f"{what} has a value that is not a number: {error!s:.100}")
        if len(numbers) != count:
            self.begin = begin
            has = "more" if len(numbers) > count else f"{len(numbers):,}"
            self.fail(f"{what} needs {count:,} numbers but has {has}; give a number for every level")
        return numbers

    def _cpt(
        self, name: str, parents: Sequence[str], configurations: int, rows: BlockRows, begin: int
    ) -> Probabilities:
        """Return the content of a probability block as one array."""
        levels = len(self.levels[name])
        if rows.table is not None:
            if rows.configurations or rows.default is not None:
                self.fail(f"the probabilities of {name!r:.60} are both a table and rows; remove one", begin)
            table = from_table(rows.table, levels, configurations)
            if isinstance(table, tuple):
                column, why = table
                where = f" in column {column + 1:,}" if configurations > 1 else ""
                self.fail(f"the probabilities of {name!r:.60}{where} {why}", rows.begins[0])
            return table
        given = np.array(rows.numbers).reshape(-1, levels)
        wrong = first_wrong_row(given) if len(given) else None
        if wrong is not None:
            self.fail(f"the probabilities of {name!r:.60} {wrong[1]}", rows.begins[wrong[0]])
        if len(given) < configurations and rows.default is None:
            if not rows.noisy_max:
                self._incomplete(name, parents, configurations, rows.configurations, begin)
            noisy_max = from_noisy_max([len(self.levels[p]) for p in parents], rows.configurations, given)
            if noisy_max is None:
                self.fail(
                    f"the noisy MAX of {name!r:.60} needs the row of all parents at their first level, a row for every "
                    f"other level of one parent alone, and no other rows",
                    begin,
                )
            return noisy_max
        cpt = np.empty((configurations, levels))
        if rows.default is not None:
            cpt[:] = rows.default
        cpt[rows.configurations] = given
        return cpt

    def _incomplete(
        self, name: str, parents: Sequence[str], configurations: int, given: Sequence[int], begin: int
    ) -> NoReturn:
        if not parents:
            self.fail(f"{name!r:.60} has no probabilities; give it a line 'table …;'", begin)
        known = set(given)
        absent = next(k for k in range(configurations) if k not in known)
        label = []
        for parent in reversed(parents):
            absent, level = divmod(absent, len(self.levels[parent]))
            label.append(self.levels[parent][level])
        self.fail(
            f"{name!r:.60} has {len(given):,} of {configurations:,} rows, and none for "
            f"({', '.join(reversed(label)):.200}); add the missing rows, or a default row",
            begin,
        )


_match_text = itemgetter(0)


def _suggestion(word: str, known: Mapping[str, object]) -> str:
    """Return a suggestion, unless finding one could take long."""
    return f".{suggestion(word, known)}" if len(word) <= 100 and len(known) <= 2000 else ""
