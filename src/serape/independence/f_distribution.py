"""The tail of the F distribution, accurate for very small p-values."""

from __future__ import annotations

import math


def f_log_sf(explained: float, unexplained: float, more: int, rest: int) -> float:
    """Return log p of the F test from sums of squares and their degrees of freedom, accurate in the far tail.

    p is the regularised incomplete beta function of unexplained / (explained + unexplained), by its continued
    fraction (Abramowitz & Stegun 1964, 26.5.8).
    """
    if explained <= 0:
        return 0.0
    a, b = rest / 2, more / 2
    log_x, log_y = -math.log1p(explained / unexplained), -math.log1p(unexplained / explained)
    x = unexplained / (explained + unexplained)
    front = a * log_x + b * log_y - _log_beta(a, b)
    if x <= (a + 1) / (a + b + 2):
        return min(front + _log_fraction(a, b, x) - math.log(a), 0.0)
    lower = front + _log_fraction(b, a, explained / (explained + unexplained)) - math.log(b)
    return math.log1p(-math.exp(lower)) if lower < 0 else -math.inf


def _log_fraction(a: float, b: float, x: float) -> float:
    """Return the logarithm of the continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return math.log(value)


def _log_beta(a: float, b: float) -> float:
    """Return ln B(a, b), accurate for large a and b."""
    a, b = max(a, b), min(a, b)
    if a < 15:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    if b < 15:
        # ln Γ(a) − ln Γ(a + b) by Stirling's series
        ratio = b - (a - 0.5) * math.log1p(b / a) - b * math.log(a + b)
        return math.lgamma(b) + ratio + _stirling(a) - _stirling(a + b)
    part = (a - 0.5) * math.log1p(b / a) + b * math.log1p(a / b) + 0.5 * math.log(b) - 0.5 * math.log(2 * math.pi)
    return -part + _stirling(a) + _stirling(b) - _stirling(a + b)


def _stirling(a: float) -> float:
    """Return the difference of ln Γ(a) and Stirling's formula, for a of at least 15."""
    q = 1.0 / (a * a)
    return (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - q * (691 / 360360)))))) / a
