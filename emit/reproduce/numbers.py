"""Statistics of the report: the paper's conventions (appendix B.3, sections 5 and 9 of its evaluation)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Final

import numpy as np

PERCENTILES: Final = (0.0, 2.151, 8.867, 25.0, 50.0, 75.0, 91.133, 97.849, 100.0)
"""Minimum, the normal distribution's values at j times its third quartile for j = -3..3, and maximum."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and population standard deviation, as the paper's summaries use."""

    mean: float
    std: float
    count: int

    def text(self, scale: float = 1.0, unit: str = "") -> str:
        """Mean and deviation with two significant digits of the deviation, at most six decimals."""
        mean, std = self.mean * scale, self.std * scale
        if not isfinite(mean):
            return "—"
        space = " " if unit else ""
        if self.count == 1 or std == 0:
            return f"{significant(mean, 4)}{space}{unit}"
        digits = min(max(1 - floor(log10(std)), 0), 6)
        if 0 < abs(mean) < 1e-4:
            power = floor(log10(abs(mean)))
            return f"({mean / 10.0**power:.2f} ± {std / 10.0**power:.2f})·10^{power}{space}{unit}"
        return f"{mean:.{digits}f} ± {std:.{digits}f}{space}{unit}"


def significant(value: float, digits: int) -> str:
    """A number with some significant digits, without an exponent where that reads well."""
    return f"{value:.{digits}g}"


def spread(values: Sequence[float]) -> Spread:
    """Mean and deviation of finite values; NaN if there are none."""
    array = np.array([v for v in values if isfinite(v)], dtype=np.float64)
    if not len(array):
        return Spread(float("nan"), float("nan"), 0)
    return Spread(float(array.mean()), float(array.std()), len(array))


@dataclass(frozen=True, slots=True)
class Fit:
    """Least-squares line y = slope x + intercept with the share of variance that it explains."""

    slope: float
    intercept: float
    r_squared: float


def fit(x: Sequence[float], y: Sequence[float]) -> Fit | None:
    """The line through at least three points that do not share one x."""
    a, b = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)
    if len(a) < 3 or float(np.ptp(a)) == 0:
        return None
    slope, intercept = np.polyfit(a, b, 1)
    rest = float(((b - slope * a - intercept) ** 2).sum())
    whole = float(((b - b.mean()) ** 2).sum())
    return Fit(float(slope), float(intercept), 1 - rest / whole if whole else 1.0)


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Pearson's; NaN where it is not defined."""
    if len(x) < 2 or float(np.ptp(x)) == 0 or float(np.ptp(y)) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


@dataclass(frozen=True, slots=True)
class Summary:
    """One of the eleven numbers: its name, its value, and the seed whose value is nearest."""

    name: str
    value: float
    seed: int
    of_seed: float


def eleven(values: dict[int, float]) -> list[Summary]:
    """Minimum, the seven percentiles, maximum and mean by seed; with the standard deviation they are eleven numbers."""
    array = np.array(list(values.values()))
    rows = [(f"{p:g} %", float(np.percentile(array, p))) for p in PERCENTILES]
    rows[0], rows[-1] = ("minimum", rows[0][1]), ("maximum", rows[-1][1])
    rows.append(("mean", float(array.mean())))
    result = []
    for name, value in rows:
        seed = min(values, key=lambda s: abs(values[s] - value))
        result.append(Summary(name, value, seed, values[seed]))
    return result


def frontier(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Which (cost, bound) stay: none other has a strictly higher bound at strictly lower cost."""
    return [not any(b > bound and c < cost for c, b in points) for cost, bound in points]
