"""Categorical data as files, and as the frames and learners of other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Job = tuple[Callable[[Callable[[], None]], Any], Callable[[Any], Any]]
"""What searches (and calls its argument after each target), and what reads the answer."""


@dataclass(frozen=True)
class Codes:
    """Integer codes from 0, with names and numbers of levels, and the indices of the targets."""

    codes: NDArray[Any]
    names: list[str]
    levels: list[int]
    targets: list[int]
    network: str = ""
    """The network that the rows were drawn from, if serape is to draw them again."""
    seed: int = 0

    @classmethod
    def of_levels_that_occur(cls, codes: NDArray[np.uint8], targets: Sequence[int]) -> Codes:
        """Return codes whose levels all occur, under names that are indices."""
        levels = (codes.max(axis=0).astype(int) + 1).tolist()
        return cls(codes, [str(k) for k in range(codes.shape[1])], levels, list(targets))

    def write(self, path: Path) -> Path:
        """Write a file that any environment with NumPy can read."""
        content: dict[str, Any] = {name: np.array(value) for name, value in vars(self).items()}
        np.savez(path, **content)
        return path

    @classmethod
    def read(cls, path: str) -> Codes:
        """Read what `write` wrote."""
        with np.load(path) as file:
            content = {name: file[name] for name in file.files}
        return cls(content.pop("codes"), **{name: value.tolist() for name, value in content.items()})

    @property
    def integers(self) -> NDArray[np.int64]:
        """The codes as 64-bit integers."""
        return self.codes.astype(np.int64)

    @property
    def states(self) -> dict[str, list[str]]:
        """The levels of every column as text."""
        return {name: list(map(str, range(count))) for name, count in zip(self.names, self.levels, strict=True)}

    def frame(self) -> Any:
        """Return a pandas frame of categories."""
        pandas = import_module("pandas")
        states = self.states
        return pandas.DataFrame(
            {
                name: pandas.Categorical.from_codes(self.codes[:, k].astype(np.int64), states[name])
                for k, name in enumerate(self.names)
            }
        )

    def agrum_learner(self, method: str, alpha: float) -> Any:
        """Return a learner of pyAgrum on one thread, set to PC or MIIC if that is the method."""
        pandas, package = map(import_module, ("pandas", "pyagrum"))
        columns = package.BayesNet()
        for name, levels in zip(self.names, self.levels, strict=True):
            columns.add(package.RangeVariable(name, name, 0, levels - 1))
        learner = package.BNLearner(pandas.DataFrame(self.integers, columns=self.names), columns)
        learner.setNumberOfThreads(1)
        if method == "PC":
            learner.usePC()
            learner.useG2Test()
            learner.setPCAlpha(alpha)
        elif method == "MIIC":
            learner.useMIIC()
        return learner
