"""Files that were changed at random: CSV, Parquet, Arrow, BIF, saved results and structures, checkpoints, knowledge."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather

import serape
from fuzzing.outcomes import outcome_of, scratch

TOKENS = (
    b"9" * 5000, b"-1", b"1e999", b"NaN", b"Infinity", b"null", b"true", b'"', b"'", b",", b";", b"\t", b"\n", b"\r\n",
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\x1b[31m", b"[" * 3000, b"{" * 3000, b"{}", b"[]", b":",
    b"=1+1", b"<script>", b"../", b" " * 300, b"1" * 400 + b"x", "ü".encode(), "\u202e".encode(), b"# ", b"//", b"/*",
)  # fmt: skip
"""What parsers trip over."""


class Kind(NamedTuple):
    """A kind of file: examples, the end of its name, and what is done with it."""

    examples: list[bytes]
    suffix: str
    use: Callable[[Path], Any]


def _frame() -> pd.DataFrame:
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], 40),
            "age": random.integers(20, 90, 40),
            "dose": random.normal(size=40).round(3),
            "name, first": [f"n{k % 7}" for k in range(40)],
            "cured": random.choice([0, 1], 40),
        }
    )


def _search(path: Path) -> None:
    table = serape.Table(path)
    if len(table.varying) and table.rows < 10_000:
        serape.markov_blanket(table, int(table.varying[-1]), max_seconds=5)


def _resume(path: Path) -> None:
    """Go on from a checkpoint; a file that cannot be read is refused and left as it was."""
    serape.skeleton(_clinic(), "hiton-pc", alpha=0.01, checkpoint=path)


def _know(path: Path) -> None:
    known = json.loads(path.read_text("utf8"))
    serape.markov_blanket(_clinic(), 0, alpha=0.01, knowledge=known)


def _open_result(path: Path) -> None:
    found = serape.load_result(path)
    found.report(scratch("r.html"))
    _ = repr(found), str(found), [found.explain(name) for name in found.evidence["variable"][:3]]


def _open_structure(path: Path) -> None:
    found = serape.load_structure(path)
    found.report(scratch("r.html"))
    _ = repr(found), str(found)


@cache
def _clinic() -> serape.Table:
    from serape.data.example import clinic

    return serape.Table(clinic(300))


@cache
def kinds() -> tuple[Kind, ...]:
    """Return all kinds, with examples written by serape and others."""
    frame, table = _frame(), _clinic()
    written = {suffix: scratch(f"example{suffix}") for suffix in (".parquet", ".feather", ".bif", ".r", ".s", ".c")}
    frame.to_parquet(written[".parquet"])
    feather.write_feather(pa.Table.from_pandas(frame), str(written[".feather"]), compression="uncompressed")
    serape.write_bif(serape.load_network("asia"), written[".bif"])
    serape.markov_blanket(table, 0, alpha=0.01).save(written[".r"])
    serape.skeleton(table, "hiton-pc", alpha=0.01, checkpoint=written[".c"], max_tests=40)
    serape.network(table, "tabu").save(written[".s"])
    content = {suffix: path.read_bytes() for suffix, path in written.items() if path.exists()}
    csv = [frame.to_csv(index=False, sep=sep, lineterminator=end) for sep in ",;\t" for end in ("\n", "\r\n")]
    knowledge = {"required": [["sex", "age"]], "forbidden": [["age", "sex"]], "tiers": [["sex"], ["age"]]}
    return (
        Kind([text.encode() for text in csv], ".csv", _search),
        Kind([content[".parquet"]], ".parquet", _search),
        Kind([content[".feather"]], ".feather", _search),
        Kind([content[".bif"]], ".bif", lambda path: serape.read_bif(path).sample(20, 0)),
        Kind([content[".r"]], ".json", _open_result),
        Kind([content[".s"]], ".json", _open_structure),
        *([Kind([content[".c"]], ".json", _resume)] if ".c" in content else []),
        Kind([json.dumps(knowledge).encode()], ".json", _know),
    )


def changed(random: np.random.Generator, content: bytes) -> bytes:
    """Change bytes, cut, double or delete parts, or put in what parsers trip over."""
    data = bytearray(content)
    for _ in range(int(random.choice([1, 1, 1, 2, 4, 12]))):
        at = int(random.integers(len(data) + 1))
        end = min(len(data), at + int(random.choice([1, 1, 8, 200])))
        match int(random.integers(7)):
            case 0 if at < len(data):
                data[at] = int(random.integers(256))
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = data[at:end]
            case 3:
                del data[at:]
            case 4:
                data[at:end] = TOKENS[int(random.integers(len(TOKENS)))]
            case _:
                data[at:at] = TOKENS[int(random.integers(len(TOKENS)))]
    return bytes(data)


def attack(seed: int) -> str:
    """Change a file, and use it as what its name says."""
    random = np.random.default_rng(seed)
    kind = kinds()[seed % len(kinds())]
    path = scratch(f"x{kind.suffix}")
    path.write_bytes(changed(random, kind.examples[int(random.integers(len(kind.examples)))]))
    also = (ValueError, RecursionError) if kind.use is _know else ()  # of json, which the test calls itself
    return f"{kind.suffix[1:]} {outcome_of(kind.use, path, also=also)}"
