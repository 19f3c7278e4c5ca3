"""Which gap certifies which class: the wrong-logit bound in doubles, and the smallest gap at which it is negative.

The paper's Theorem 15 and appendix F with the repairs of docs/FORMAT.md, "Gap classes". The checker's bound is at most
this one, so that a value below zero by more than rounding is confirmed there; what is nearer to zero is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from ...exact import Floats
from ...problem import Problem

Ints = npt.NDArray[np.int64]
SLACK = 1e-9
"""Relative distance from zero at which a double decides; the checker's enclosures are a thousand times finer."""
PASSES = 2
"""How often the pivot is moved to the mean attention of the classes that it certified."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Refinements of the bound that keep its cost. The checker has the first three built in, the others are witnesses.

    envelope: the largest line at the attention itself instead of one pivot for all queries (or none);
    best_wrong: a wrong token gives its largest wrong logit less that of the maximum, instead of the range of its row;
    own_query: the query's token is no subject to the gap;
    centred: the mean of PVOU moves to EVOU, for a position's largest value is taken before the average;
    summary: the row that stands for all queries has the right length (the published one by singular vectors has not),
        and exact EU is centred by a row as well.
    """

    envelope: bool = False
    best_wrong: bool = False
    own_query: bool = False
    centred: bool = False
    summary: bool = False


PAPER = Rule()
TIGHT = Rule(True, True, True, True, True)


@dataclass(frozen=True, slots=True)
class View:
    """Everything in doubles. Scores are divided by sqrt(d_head); `error` and `direct` bound them per query."""

    scores: Floats  # queries x token rows
    error: Floats  # queries
    position: Floats  # attention weights, queries x positions
    common: Floats  # outputs: what all queries share of EU
    direct: Floats  # queries
    values: Floats
    positions: Floats
    shift: float


@dataclass(frozen=True, slots=True)
class Found:
    """For one maximum: the smallest gaps (queries x free; 0: none) and the pivots used, ascending, in (0, 1)."""

    gaps: Ints
    pivots: tuple[float, ...]


class Maximum:
    """The bound for one maximum m: gaps in, values out. Entry (q, i) speaks of i + [q = m] free tokens other than m."""

    def __init__(self, problem: Problem, view: View, rule: Rule, m: int, unit: int) -> None:
        task, self.m, self.view, self.rule = problem.task, m, view, rule
        queries = np.arange(task.queries(m))
        self.free = task.free
        self.holds = np.array([task.holds_max(int(q), m) for q in queries])
        self.own = np.array([task.own_row(int(q)) for q in queries])
        self.eos = task.eos is not None
        self.counts = np.arange(task.free)[None, :] + self.holds[:, None]
        outputs = np.arange(view.values.shape[1]) != m
        scores = view.scores[queries]
        self.highest = np.maximum.accumulate(scores[:, : max(m, 1)], axis=1)
        self.at_m, self.own_score = scores[:, m], scores[queries, self.own]
        self.error, self.direct = view.error[queries][:, None], view.direct[queries][:, None]
        self._positions(view.position[queries])
        pi = (view.positions - view.positions[:, m : m + 1]).max(axis=0)
        self.levels = (view.common - view.common[m] + pi + view.shift)[outputs]
        self.slopes = (view.values[m] - view.values[m, m])[outputs]
        if rule.best_wrong:
            wrong = view.values[:, outputs].max(axis=1) - view.values[:, m]
        else:
            wrong = view.values.max(axis=1) - view.values.min(axis=1)
        self.wrong, self.worst = wrong, np.maximum.accumulate(wrong[: max(m, 1)])
        self.nodes = rounded(self._breakpoints(), unit)
        self.at_one = float((self.levels + self.slopes).max())
        magnitude = np.abs(self.levels).max() + np.abs(self.slopes).max() + np.abs(wrong).max()
        self.guard = SLACK * (magnitude + np.abs(self.direct))

    def _positions(self, weight: Floats) -> None:
        """Mass of the lightest positions left to m and of the heaviest ones taken by others, with the query's."""
        ordered, zero = np.sort(weight[:, :-1], axis=1), np.zeros((len(weight), 1))
        least = np.concatenate([zero, np.cumsum(ordered, axis=1)], axis=1)
        most = np.concatenate([zero, np.cumsum(ordered[:, ::-1], axis=1)], axis=1)
        last = weight[:, -1:]
        self.mass = np.take_along_axis(least, self.free - self.counts, axis=1) + last * self.holds[:, None]
        self.rest = np.take_along_axis(most, self.counts, axis=1) + last * ~self.holds[:, None]

    def attention(self, gaps: Ints) -> tuple[Floats, Floats]:
        """The least attention to m, and the worst that the rest of it can give."""
        below = np.clip(self.m - gaps, 0, max(self.m - 1, 0))
        own = ~self.holds[:, None]
        top = np.take_along_axis(self.highest, below, axis=1)
        wrong = self.worst[below]
        lone = self.counts == 0  # no other token than the query's
        top = np.where(lone, -np.inf, top)
        wrong = np.where(lone, -np.inf, wrong)
        top = np.where(own, np.maximum(top, self.own_score[:, None]), top)
        wrong = np.where(own, np.maximum(wrong, self.wrong[self.own][:, None]), wrong)
        with np.errstate(over="ignore", invalid="ignore"):  # 0/0 is NaN, which passes nothing
            odds = np.exp(np.minimum(top - self.at_m[:, None] + self.error, 700.0))
            return self.mass / (self.mass + self.rest * odds), wrong

    def values(self, gaps: Ints, pivots: Floats | None) -> Floats:
        """The largest wrong logit less that of m, with a pivot for each number of others (none: the exact envelope)."""
        attention, wrong = self.attention(gaps)
        if pivots is None:
            line = self._envelope(attention)
        else:
            at = pivots[np.clip(self.counts, 0, len(pivots) - 1)]
            pivoted = (self.levels[:, None] + self.slopes[:, None] * pivots).max(axis=0)
            steep, flat = self.slopes.max(), self.slopes.min()
            distance = attention - at
            line = pivoted[np.clip(self.counts, 0, len(pivots) - 1)] + np.where(distance >= 0, steep, flat) * distance
        return self.direct + np.maximum(line + (1 - attention) * wrong, self.at_one)

    def _envelope(self, attention: Floats) -> Floats:
        """The chords of the largest line between its breakpoints."""
        nodes = np.array([0.0, *self.nodes, 1.0])
        heights = (self.levels[:, None] + self.slopes[:, None] * nodes).max(axis=0)
        result: Floats = np.interp(attention, nodes, heights)
        return result

    def _breakpoints(self) -> list[float]:
        """Where the largest line changes, between 0 and 1."""
        at = 0.0
        found: list[float] = []
        best = self._best_at(at)
        while True:
            steeper = self.slopes > self.slopes[best]
            if not steeper.any():
                return found
            crossing = (self.levels[best] - self.levels[steeper]) / (self.slopes[steeper] - self.slopes[best])
            at = float(crossing.min())
            if at >= 1:
                return found
            ties = np.flatnonzero(steeper)[crossing <= at + 1e-12]
            best = int(ties[self.slopes[ties].argmax()])
            if at > 0:
                found.append(at)

    def _best_at(self, at: float) -> int:
        heights = self.levels + at * self.slopes
        ties = np.flatnonzero(heights >= heights.max())
        return int(ties[self.slopes[ties].argmax()])

    def smallest(self, pivots: Floats | None) -> Ints:
        """The smallest gap that passes, by bisection: values fall as the gap grows. 0 where none passes."""
        limit = np.full(self.counts.shape, self.m, dtype=np.int64)
        if not self.rule.own_query and not self.eos:
            limit = np.where(self.holds[:, None], limit, self.m - np.arange(len(limit))[:, None])
        limit = np.where(self.counts == 0, 1, limit)
        low, high = np.ones_like(limit), np.maximum(limit, 1)
        while (low < high).any():
            middle = (low + high) // 2
            passes = self.passes(middle, pivots)
            low, high = np.where(passes, low, middle + 1), np.where(passes, middle, high)
            low = np.minimum(low, high)
        return np.where(self.passes(low, pivots) & (low <= limit), low, 0)

    def passes(self, gaps: Ints, pivots: Floats | None) -> npt.NDArray[np.bool_]:
        result: npt.NDArray[np.bool_] = self.values(gaps, pivots) < -self.guard
        return result

    def sizes(self, gaps: Ints) -> list[int]:
        """Certified sequences for each number of others, 0..free."""
        result = [0] * (self.free + 1)
        for row, counts in zip(gaps, self.counts, strict=True):
            for gap, n in zip(row, counts, strict=True):
                if gap:
                    result[n] += comb(self.free, int(n)) * (self.m - int(gap) + 1) ** int(n)
        return result


def find(maximum: Maximum, mean_query: bool, unit: int) -> Found:
    """Smallest gaps, with the pivots that the combination allows: one for each number of others, or none."""
    gaps = maximum.smallest(None)
    if maximum.rule.envelope:
        return Found(gaps, maximum.nodes)
    if not mean_query:
        return Found(maximum.smallest(np.zeros(maximum.free + 1)), ())
    best, best_pivots, best_sizes = np.zeros_like(gaps), np.zeros(maximum.free + 1), [-1] * (maximum.free + 1)
    for _ in range(PASSES):
        pivots = _mean_attention(maximum, gaps, unit)
        gaps = maximum.smallest(pivots)
        sizes = maximum.sizes(gaps)
        better = np.array([size > other for size, other in zip(sizes, best_sizes, strict=True)])
        best, best_pivots = np.where(better[maximum.counts], gaps, best), np.where(better, pivots, best_pivots)
        best_sizes = list(map(max, sizes, best_sizes))
    return Found(best, rounded([float(p) for p in best_pivots], unit))


def _mean_attention(maximum: Maximum, gaps: Ints, unit: int) -> Floats:
    """Per number of others the mean of the least attention over certified queries, a multiple of 2**-unit."""
    attention, _ = maximum.attention(np.maximum(gaps, 1))
    pivots = np.zeros(maximum.free + 1)
    for n in range(maximum.free + 1):
        chosen = attention[(maximum.counts == n) & (gaps > 0)]
        if len(chosen):
            pivots[n] = np.round(chosen.mean() * 2.0**unit) / 2.0**unit
    return pivots


def rounded(pivots: list[float], unit: int) -> tuple[float, ...]:
    """Multiples of 2**-unit strictly between 0 and 1, ascending, each once."""
    grid = sorted({round(p * 2.0**unit) for p in pivots})
    return tuple(n / 2.0**unit for n in grid if 0 < n < 1 << unit)
