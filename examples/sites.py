"""Three hospitals keep their rows; the search sees tables of counts only.

Each hospital is a process of its own that answers through a pipe. A table of counts in which a combination of values
occurs, but less than ten times, is refused.

    python examples/sites.py
"""

from __future__ import annotations

from multiprocessing import Process
from multiprocessing.connection import Connection, Pipe

import numpy as np

import serape
from serape.data.example import clinic
from serape.sites import About, Answers, Site, SitesTest


def hospital(pipe: Connection, seed: int) -> None:
    """Answer questions about the rows of one hospital until there are no more."""
    patients = serape.Table(clinic(4000))
    own = np.random.default_rng(seed).permutation(patients.rows)[:1500]  # no hospital has seen all patients
    site = Site(patients.part(range(len(patients.names)), own), min_count=10)
    while (asked := pipe.recv()) is not None:
        method, arguments = asked
        pipe.send(getattr(site, method)(*arguments))
    pipe.send((site.sent, site.refused))


class Line:
    """Passes questions on to a hospital."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    def about(self) -> About:
        """Ask for names, levels and the number of rows."""
        self.pipe.send(("about", ()))
        found: About = self.pipe.recv()
        return found

    def counts(self, target: int, candidates: tuple[int, ...], given: tuple[int, ...]) -> Answers:
        """Ask for tables of counts."""
        self.pipe.send(("counts", (target, candidates, given)))
        found: Answers = self.pipe.recv()
        return found


def main() -> None:
    """Find the blanket of HeartDisease in the data of three hospitals."""
    lines, processes = [], []
    for seed in range(3):
        here, there = Pipe()
        processes.append(Process(target=hospital, args=(there, seed)))
        processes[-1].start()
        lines.append(Line(here))
    found = serape.markov_blanket(SitesTest(lines), "HeartDisease", algorithm="iamb", alpha=0.01)
    print(found)
    for k, (line, process) in enumerate(zip(lines, processes, strict=True)):
        line.pipe.send(None)
        sent, refused = line.pipe.recv()
        process.join()
        print(f"hospital {k}: {sent} tables of counts sent, {refused} refused")


if __name__ == "__main__":
    main()
