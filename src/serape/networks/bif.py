"""Networks in the Bayesian Interchange Format (BIF), plain or gzipped.

Accepted beyond the definition of the format: comments (// and /* */) anywhere; names quoted or not, with spaces in them
where commas separate them; blocks in any order; missing commas; a variable followed by its parents without a bar.
Properties are skipped. Probabilities are written as

- rows: `(low, yes) 0.2, 0.8;`, one for every configuration of the parents;
- `default 0.5, 0.5;` for all configurations without a row;
- `table …;`, all numbers together: the child's levels vary slowest, the last parent's fastest, as in the format. The
  other order (one row after another, for every configuration of the parents) is assumed if only it gives rows that add
  up to 1;
- rows under `property function max;`, a noisy MAX: one row for all parents at their first level (the leak) and one for
  every other level of one parent alone. Causes act independently of each other and of the leak, and the highest effect
  counts: P(Y ≤ y) is the product of that of the leak and of every parent that is not at its first level.

A file can be damaged or malicious. The time to read it is proportional to its size. A table is no larger than the
numbers in the file, except for `default` and noisy MAX, which have a limit for the whole file.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from serape.checks import is_one_of
from serape.errors import DataError, OptionError, embedded, shown
from serape.files import as_path, atomic_write
from serape.networks.bif_names import BifNames, restored
from serape.networks.bif_names import portable as portable_names
from serape.networks.bif_reader import BifReader, MissingNumbers
from serape.networks.bif_tokens import text_of
from serape.networks.network import Network

_PLAIN = re.compile(r'[^\s"{}()\[\],;|\\]++')


def read_bif(path: str | os.PathLike[str], *, missing: MissingNumbers = "error") -> Network:
    """Read a network from a BIF file, which may be gzipped.

    Parameters
    ----------
    path
        The file.
    missing
        A variable without probabilities is an error, or its levels are equally likely ("uniform").

    Returns
    -------
    Network
        The network.

    Raises
    ------
    DataError
        If the file is not BIF; the error names the line.

    Examples
    --------
    >>> _ = serape.write_bif(serape.load_network("asia"), "asia.bif")
    >>> serape.read_bif("asia.bif").variables[:3]
    ('asia', 'tub', 'smoke')
    """
    if not is_one_of(missing, ("error", "uniform")):
        raise OptionError(f"missing={shown(missing)} is not known; use 'error' or 'uniform'")
    path = as_path(path)
    text = text_of(path)
    network = BifReader(path, text).network(missing)
    try:
        return restored(network, text)
    except DataError as error:
        raise DataError(f"{path}: {embedded(error)}") from None


def write_bif(network: Network, path: str | os.PathLike[str], *, portable: bool = True) -> list[str]:
    """Write a network as BIF, gzipped if the name ends in .gz. If writing fails, an old file is unchanged.

    Parameters
    ----------
    network
        The network.
    path
        The file.
    portable
        Replace names that bnlearn, pgmpy or pyAgrum cannot read; comments in the file keep the original names, so that
        `read_bif` restores them. If False, names are written as they are, in quotes where necessary.

    Returns
    -------
    list of str
        A note, if names were replaced.

    Examples
    --------
    >>> serape.write_bif(serape.load_network("asia"), "asia.bif")
    []
    """
    path = Path(path)
    names = portable_names(network) if portable else BifNames()
    try:
        content = "".join(_blocks(network, names)).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{error.object[error.start]!r} in a name cannot be written as UTF-8; rename it") from None
    atomic_write(path, gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content)
    return names.notes()


def _blocks(network: Network, names: BifNames) -> Iterator[str]:
    written = {name: _quoted(names.variables.get(name, name)) for name in network.variables}
    levels = {
        name: [_quoted(names.levels.get(name, {}).get(level, level)) for level in network.levels(name)]
        for name in network.variables
    }
    yield "network unknown {\n}\n"
    yield from names.comments()
    for name in network.variables:
        yield f"variable {written[name]} {{\n"
        yield f"  type discrete [ {len(levels[name])} ] {{ {', '.join(levels[name])} }};\n}}\n"
    for name in network.variables:
        parents = network.parents(name)
        rows = (", ".join(map(repr, row)) for row in network.cpt(name).tolist())
        if not parents:
            yield f"probability ( {written[name]} ) {{\n  table {next(rows)};\n}}\n"
            continue
        yield f"probability ( {written[name]} | {', '.join(written[parent] for parent in parents)} ) {{\n"
        for configuration, row in zip(product(*(levels[parent] for parent in parents)), rows, strict=True):
            yield f"  ({', '.join(configuration)}) {row};\n"
        yield "}\n"


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
