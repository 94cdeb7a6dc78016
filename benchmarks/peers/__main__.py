"""Ask one tool one question, in that tool's own environment; `benchmarks.peers.runner` starts this.

    PYTHON -m benchmarks.peers KIND WARM DATA RESULT.json TOOL METHOD ALPHA

KIND is a module beside this one. The first file of data is searched once, untimed, so that everything is imported.
"ready" is printed when the second is read, and "done" after each target by tools that search target by target. Quick
searches are repeated, each on data prepared again, so that nothing is remembered. The result holds the tool's version,
the seconds of each repeat, by the clock and of the processor, what was found, and the peak memory before and after.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.common.timing import peak_mebibytes


def main(arguments: Sequence[str]) -> None:
    """Search, and write what was found."""
    name, warm_path, data_path, result, tool, method, alpha = arguments
    level, screen = float(alpha), sys.stdout
    answer: dict[str, Any]
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            kind = import_module(f"benchmarks.peers.{name}")
            prepare = kind.TOOLS[tool]
            with contextlib.suppress(Exception):  # all that matters is that everything is imported
                prepare(kind.read(warm_path), method, level)[0](lambda: None)
            data = kind.read(data_path)
            before = peak_mebibytes()
            print("ready", file=screen, flush=True)
            times: list[float] = []
            processor: list[float] = []
            while not times or (len(times) < kind.MAX_REPEATS and sum(times) < kind.ENOUGH_SECONDS):
                search, read = prepare(data, method, level)
                begin, of_processor = time.perf_counter(), time.process_time()
                found = search(lambda: print("done", file=screen, flush=True))
                times.append(time.perf_counter() - begin)
                processor.append(time.process_time() - of_processor)
            answer = {
                "version": version(tool),
                "seconds": times,
                "processor": processor,
                "found": read(found),
                "mebibytes_before": before,
                "mebibytes": peak_mebibytes(),
            }
    except Exception as error:  # whatever a tool raises is its result
        answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    Path(result).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
