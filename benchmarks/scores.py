"""Speed of scores: one child, one set of parents, many candidates to add to it, on one thread.

Beside each figure: what NumPy's bincount with SciPy's gammaln, or NumPy's log, does in the same run.

    python benchmarks/scores.py [--quick]
"""

from __future__ import annotations

import argparse
import platform

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

import serape
from screen import Codes, median_seconds
from serape import _core
from serape.structure.scores import make_score

ESS = 10.0


def numpy_additions(
    kind: str, child: Codes, parents: list[Codes], candidates: Codes, levels: int
) -> NDArray[np.float64]:
    """Return the score of every candidate as one more parent, by NumPy's bincount; all columns have as many levels."""
    stratum = np.zeros(len(child), np.int64)
    for p in parents:
        stratum = stratum * levels + p
    strata = levels ** (len(parents) + 1)
    found = np.empty(candidates.shape[1])
    for k in range(candidates.shape[1]):
        cell = (stratum * levels + candidates[:, k]) * levels + child
        n = np.bincount(cell, minlength=strata * levels).reshape(strata, levels).astype(np.float64)
        total = n.sum(axis=1)
        if kind == "bdeu":
            a, b = ESS / (strata * levels), ESS / strata
            found[k] = (gammaln(n + a) - gammaln(a)).sum() - (gammaln(total + b) - gammaln(b)).sum()
        else:
            terms = (n * np.log(np.maximum(n, 1))).sum() - (total * np.log(np.maximum(total, 1))).sum()
            found[k] = terms - 0.5 * np.log(len(child)) * (levels - 1) * strata
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="leave out the largest tables")
    options = parser.parse_args()
    machine = platform.processor() or platform.machine()
    print(f"{machine}, kernels {_core.instruction_set()}, one thread; millions of families a second")
    print("score levels   rows parents candidates     serape     NumPy   ratio")
    for kind in ("bdeu", "bic"):
        for levels in (2, 3):
            for rows in (500, 5000) if options.quick else (500, 5000, 20_000):
                for count in (37, 1000):
                    data = np.random.default_rng([levels, rows]).integers(
                        levels, size=(rows, count + 3), dtype=np.uint8
                    )
                    score = make_score(serape.Table(data), kind, ESS)
                    child = count + 2
                    candidates = np.arange(count, dtype=np.uint32)
                    few = data[:, : min(count, 20)].astype(np.int64)
                    for size in (0, 2):
                        parents = list(range(count, count + size))
                        columns = [data[:, p].astype(np.int64) for p in (child, *parents)]
                        question = kind, columns[0], columns[1:], few, levels
                        np.testing.assert_allclose(
                            score.additions(child, candidates[: few.shape[1]], parents),
                            numpy_additions(*question),
                            rtol=1e-9,
                        )
                        seconds = median_seconds(lambda: score.additions(child, candidates, parents))  # noqa: B023
                        plain = median_seconds(lambda: numpy_additions(*question), at_least=0.05, repeats=3)  # noqa: B023
                        rate, numpy_rate = count / seconds, few.shape[1] / plain
                        print(
                            f"{kind:5} {levels:6} {rows:6} {size:7} {count:10,} {rate / 1e6:10.3f} "
                            f"{numpy_rate / 1e6:9.4f} {rate / numpy_rate:7.0f}",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
