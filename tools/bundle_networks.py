"""Writes the networks that come with the package, from a folder of BIF files.

    python tools/bundle_networks.py FOLDER

FOLDER holds NAME.bif or NAME.bif.gz for every name below, as in the wheel of pgmpy 0.1.26 (pgmpy/utils/example_models).
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from pathlib import Path

from serape.networks import read_bif
from serape.networks.library import pack

NAMES = (
    *("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "water", "mildew", "alarm", "barley"),
    *("hailfinder", "hepar2", "win95pts", "pathfinder", "munin1", "andes", "diabetes", "pigs", "link"),
    *("munin", "munin2", "munin3", "munin4"),
)
BUNDLED = Path(__file__).parent.parent / "src" / "serape" / "networks" / "bundled"


def main() -> None:
    """Read every network, and write it packed, with an index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    index = {}
    for name in NAMES:
        path = folder / f"{name}.bif"
        network = read_bif(path if path.exists() else path.with_suffix(".bif.gz"))
        content = lzma.compress(pack(network), preset=9 | lzma.PRESET_EXTREME)
        (BUNDLED / f"{name}.json.xz").write_bytes(content)
        index[name] = {"nodes": network.nodes, "arcs": network.arcs, "parameters": network.parameters}
        sys.stdout.write(f"{name:12} {network!r}, {len(content):,} bytes\n")
    lines = (f"{json.dumps(name)}: {json.dumps(counts)}" for name, counts in index.items())
    (BUNDLED / "index.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
