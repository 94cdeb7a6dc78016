"""The text of a BIF file, and its tokens: names, words and punctuation."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from serape import _core
from serape.errors import DataError
from serape.files import no_file
from serape.networks.network import is_name

MAX_BYTES = 256 << 20
"""The largest size of a file, decompressed."""

STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
_COMMENT = re.compile(rf'{STRING}"?|(?<!:)//[^\n]*+|/\*')
_TOKEN = re.compile(rf'\s*+(?:({STRING}")|([^\s{{}}(),;|"]++)|([{{}}(),;|"])|\Z)')


def text_of(path: Path) -> str:
    """Return the text of a file, decompressed if necessary, with line ends as line feeds."""
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if zipped else path.open("rb") as file:
            pieces, size = [], 0
            while piece := file.read(1 << 20):
                pieces.append(piece)
                size += len(piece)
                if size > MAX_BYTES:
                    raise DataError(
                        f"{path} is larger than {MAX_BYTES >> 20} MB{' once decompressed' if zipped else ''}, "
                        f"the limit for BIF files"
                    )
        text = b"".join(pieces).decode("utf-8-sig")
    except FileNotFoundError:
        raise no_file(path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path} cannot be decompressed: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


@dataclass(frozen=True, slots=True)
class Word:
    """A name, or a word of a name."""

    text: str
    quoted: bool


class Tokens:
    """Reads a text token by token."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.at = 0  # where the next token is read
        self.begin = 0  # where the latest token begins
        self.text = self._without_comments()

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise an error that names the line."""
        line = self.text.count("\n", 0, self.begin if at is None else at) + 1
        raise DataError(f"{self.path}, line {line}: {message}")

    def _without_comments(self) -> str:
        """Return the text with comments removed, except for their line ends."""
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

    def next_token(self) -> tuple[str, bool]:
        """Return the next token, empty at the end of the file, and whether it is quoted."""
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
                self.fail("there is nothing between two quotation marks; write a name")
            return (re.sub(r'\\([\\"])', r"\1", token) if "\\" in token else token), True
        if token == '"':
            self.fail("a quotation mark is not closed on its line; close it")
        return token, False

    def expect(self, wanted: str, purpose: str) -> None:
        """Read a token that must be `wanted`."""
        token, quoted = self.next_token()
        if token != wanted or quoted:
            self.fail(f"expected {wanted!r} to {purpose}, found {shown(token)}")

    def skip(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Move past a match of a pattern; return the match."""
        found = pattern.match(self.text, self.at)
        if found is None:
            self.fail(f"{what} is never closed; close it with '}}'")
        self.at = found.end()
        return found

    def name_list(self, closing: str, what: str) -> tuple[list[list[Word]], int]:
        """Return the names up to a closing mark, each as a list of words, and the number before a bar (-1 without)."""
        groups: list[list[Word]] = [[]]
        bar, words = -1, 0
        while True:
            token, quoted = self.next_token()
            if quoted or token not in ("", "{", "}", "(", ")", ",", ";", "|"):
                if not is_name(token):
                    self.fail(f"{token!r:.60} is not a name in {what}; a name is text of one line, and not empty")
                groups[-1].append(Word(token, quoted))
                words += 1
                if words > _core.MAX_LEVELS:
                    self.fail(f"there are more than {_core.MAX_LEVELS:,} words in {what}, the largest number allowed")
            elif token == closing:
                if not groups[-1]:
                    groups.pop()  # an empty list, or a comma at the end
                return groups, bar
            elif token == "," or (token == "|" and bar < 0 and closing == ")"):
                if not groups[-1]:
                    self.fail(f"a name is missing before {token!r} in {what}")
                if token == "|":
                    bar = len(groups)
                groups.append([])
            else:
                self.fail(f"expected a name, ',' or {closing!r} in {what}, found {shown(token)}")

    def joined_names(self, groups: Sequence[Sequence[Word]], count: int | None, what: str) -> list[str]:
        """Return `count` names: the texts between commas or, if there are no commas, the words."""
        words = [word.text for group in groups for word in group]
        if count is None:
            count = len(groups) if len(groups) > 1 else len(words)
        if len(groups) != count:
            if len(words) != count:
                self.fail(f"expected {count:,} name{'' if count == 1 else 's'} in {what}, found {len(groups):,}")
            return words
        for group in groups:
            if len(group) > 1 and any(word.quoted for word in group):
                self.fail(f"a comma is missing after {group[0].text!r:.60} in {what}")
        return [" ".join(word.text for word in group) for group in groups]


def shown(token: str) -> str:
    """Return a token as it is named in messages."""
    return f"{token!r:.60}" if token else "the end of the file"
