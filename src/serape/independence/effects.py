"""How strong a dependence is: effect sizes of tests.

The effect of a test is an estimate of the conditional mutual information I(X; Y | Z) in bits: what Y tells about X
beyond what Z tells. Beside it stands a familiar measure where the test has one.

- Contingency tables: G² / (2 N ln 2), and Cramér's V, √(X² / (N · (the smaller number of levels − 1))), with G² and X²
  summed over the strata of Z.
- Correlations: −½ log₂(1 − r²), exact for normal variables, and r.
- Likelihood ratios LR: LR / (2 N ln 2).
- Residuals: −½ log₂ Λ with Wilks' Λ of the two blocks of residuals. For two single columns Λ is 1 − r².

All are estimates from the data as they are, not corrected for chance. Where X ⊥ Y | Z they are not 0 but about
dof / (2 N ln 2) on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats

MEASURES = ("partial correlation", "partial rank correlation", "Cramér's V")
"""The familiar measures. In arrays each is its index here; −1 stands for none."""
CORRELATION, RANK_CORRELATION, CRAMERS_V = range(3)

Indices = NDArray[np.int64]
EffectGroup = tuple[int, Sequence[int], tuple[int, ...], Sequence[float], Sequence[float]]
"""Reliable tests of a target: the target, the candidates, the conditioning set, the statistics and dof."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect size of one test.

    Examples
    --------
    >>> print(serape.ci_test(patients, "Smoking", "HeartDisease").effect)
    0.035 bits, Cramér's V 0.23
    """

    bits: float
    """Conditional mutual information, in bits."""
    name: str | None = None
    """The name of a familiar measure, or None."""
    value: float = math.nan
    """Its value."""

    def __str__(self) -> str:
        own = f"{size_text(self.bits)} bits"
        return own if self.name is None or math.isnan(self.value) else f"{own}, {self.name} {size_text(self.value)}"


@dataclass(frozen=True, slots=True)
class Effects:
    """The effect sizes of many tests, in arrays; NaN where there is none."""

    bits: Floats
    value: Floats
    measure: Indices

    @classmethod
    def unknown(cls, count: int) -> Effects:
        """Return effects of which none is known."""
        return cls(np.full(count, math.nan), np.full(count, math.nan), np.full(count, -1, np.int64))

    @classmethod
    def of(cls, bits: Floats, measure: int = -1, value: Floats | None = None) -> Effects:
        """Return effects that have one familiar measure in common."""
        value = np.full(len(bits), math.nan) if value is None else value
        return cls(bits, value, np.where(np.isnan(value), -1, measure).astype(np.int64))

    def put(self, at: NDArray[np.bool_] | Indices, others: Effects) -> None:
        """Replace some of the effects."""
        self.bits[at], self.value[at], self.measure[at] = others.bits, others.value, others.measure

    def __getitem__(self, index: int) -> Effect | None:
        return _effect(float(self.bits[index]), int(self.measure[index]), float(self.value[index]))

    def each(self) -> list[Effect | None]:
        """Return all effects."""
        return list(map(_effect, self.bits.tolist(), self.measure.tolist(), self.value.tolist()))


def _effect(bits: float, measure: int, value: float) -> Effect | None:
    return None if math.isnan(bits) else Effect(bits, None if measure < 0 else MEASURES[measure], value)


def in_bits(nats: Floats) -> Floats:
    """Return bits for nats; rounding below 0 is removed."""
    return np.asarray(np.maximum(nats, 0.0) / math.log(2.0))


def likelihood_bits(statistic: Floats, rows: float) -> Floats:
    """Return the bits of likelihood ratios such as G²."""
    return in_bits(statistic / (2.0 * rows))


def correlation_bits(r: Floats) -> Floats:
    """Return the bits of correlations."""
    with np.errstate(divide="ignore"):
        return in_bits(-0.5 * np.log1p(-np.minimum(r * r, 1.0)))


def table_effects(g2: Floats, x2: Floats, rows: float, least_levels: NDArray[np.int64]) -> Effects:
    """Return the effects of contingency tables; `least_levels` is the smaller number of levels of x and y."""
    v = np.sqrt(np.clip(x2 / (rows * np.maximum(least_levels - 1, 1)), 0.0, 1.0))
    return Effects.of(likelihood_bits(g2, rows), CRAMERS_V, v)


def residual_effects(y: Floats, xs: Iterable[Floats]) -> Effects:
    """Return the effects of blocks of residuals against those of y, columns side by side; r if both have one column."""
    bits, value = [], []
    basis = _basis(y)
    for x in xs:
        canonical = np.asarray(np.linalg.svd(_basis(x).T @ basis, compute_uv=False), np.float64)
        bits.append(float(correlation_bits(canonical).sum()))
        single = x.shape[1] == y.shape[1] == 1
        value.append(math.copysign(float(canonical[0]), float(x[:, 0] @ y[:, 0])) if single else math.nan)
    return Effects.of(np.array(bits), CORRELATION, np.array(value))


def size_text(value: float) -> str:
    """Return an effect size as text, with two or three digits."""
    if math.isnan(value):
        return "–"
    size = abs(value)
    text = f"{size:.2f}" if size >= 0.1 else f"{size:.2g}"
    return f"−{text}" if value < 0 else text


def _basis(columns: Floats) -> Floats:
    """Return orthonormal columns of the same span."""
    basis, lengths, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(basis[:, lengths > 1e-9 * lengths[0]])
