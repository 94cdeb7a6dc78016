"""Text of any encoding as UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from serape.data.reading.sources import Source
from serape.errors import DataError
from serape.wording import setting

_CHUNK = 1 << 22
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, and what they say; a shorter one that begins a longer comes after it."""
_SAMPLE = 4096
FALLBACK = "cp1252"
"""The encoding of text that is not UTF-8: that of most programs on Windows in Western Europe and America."""


def as_utf8(source: Source, encoding: str | None) -> tuple[bytes | memoryview, str]:
    """Return the text of a source in UTF-8, without a byte order mark, and the encoding that it had."""
    content: bytes | memoryview = source.content
    if encoding is None:
        mark, encoding = next(((m, e) for m, e in _MARKS if source.starts_with(m)), (b"", ""))
        if encoding == "utf-8":
            content = memoryview(content)[len(mark) :]
        encoding = encoding or _without_mark(source)
    elif source.starts_with(codecs.BOM_UTF8) and _same(encoding, "utf-8"):
        content = memoryview(content)[len(codecs.BOM_UTF8) :]
    if not _same(encoding, "utf-8"):
        return _decoded(source, encoding), encoding
    bad = _first_bad_byte(content)
    if bad is not None:
        raise DataError(
            f"{source.name} is not UTF-8 text (at byte {bad}); name its encoding, such as "
            f"{setting('encoding', 'cp1252')}"
        )
    return content, "utf-8"


def _same(encoding: str, other: str) -> bool:
    return codecs.lookup(encoding).name.removesuffix("-sig") == codecs.lookup(other).name


def _without_mark(source: Source) -> str:
    """Return the encoding of text without a byte order mark: UTF-8 if it is, UTF-16 if every second byte is zero."""
    start = source.content[:_SAMPLE]
    if b"\0" in start:
        for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
            half = start[offset::2]
            if half.count(0) > 0.7 * len(half) and b"\0\0" not in start[: len(start) // 2]:
                return encoding
        raise DataError(f"{source.name} holds bytes that are no text (a zero at byte {start.index(0)})")
    return "utf-8" if _first_bad_byte(source.content) is None else FALLBACK


def _first_bad_byte(content: bytes | memoryview) -> int | None:
    """Return the position of the first byte that is not UTF-8, if there is one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for begin, chunk in _chunks(content):
        if chunk.isascii() and not decoder.getstate()[0]:
            continue
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            return begin - pending + error.start
    return len(content) - len(decoder.getstate()[0]) if decoder.getstate()[0] else None


def _chunks(content: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
    for begin in range(0, len(content), _CHUNK):
        yield begin, bytes(content[begin : begin + _CHUNK])


def _decoded(source: Source, encoding: str) -> bytes:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        parts = [decoder.decode(chunk).encode("utf-8") for _, chunk in _chunks(source.content)]
        parts.append(decoder.decode(b"", final=True).encode("utf-8"))
    except UnicodeError as error:
        at = f" (at byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        if encoding == FALLBACK:
            raise DataError(
                f"{source.name} is neither UTF-8 nor Windows-1252 text{at}; name its encoding, such as "
                f"{setting('encoding', 'cp1251')}"
            ) from None
        raise DataError(f"{source.name} is not text in the encoding {encoding!r}{at}; name another") from None
    return b"".join(parts).removeprefix(codecs.BOM_UTF8)
