"""Where bounds of the mean log-loss come from (docs/FORMAT.md, `log_loss`): bands of the margin, and three gaps.

A_i inputs are proved to be above threshold r_i and at most B_i can be. With u_i and l_i, the bounds of the loss at r_i,
and l beyond the last 0, the mean loss is at most Sum (A_i - A_i+1) u_i and at least Sum (B_i - B_i+1) l_i+1, by mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import numpy as np

from ..exact import rational
from ..problem import Problem
from ..proof import Step
from ..question import LOSS_BITS, Question
from ..strategies.convolution.terms import view
from ..task import pairs
from .stages import draw_classes, failing, weight_sums

DRAWS = 20_000
UNIT = Fraction(1, 1 << LOSS_BITS)


@dataclass(frozen=True, slots=True)
class Band:
    """Inputs with a margin above `low` and at most `high` (None: no limit), and what they add to the bounds (nats)."""

    low: Fraction
    high: Fraction | None
    share: Fraction  # of all inputs, by the counts of inputs that are proved not to be above
    most: Fraction
    least: Fraction


@dataclass(frozen=True, slots=True)
class Sampled:
    """The model's mean loss in doubles, its standard error, and the parts of the maxima in it."""

    draws: int
    mean: float
    error: float
    by_maximum: dict[int, float]


@dataclass(frozen=True, slots=True, eq=False)
class Losing:
    """The account of one distribution, or of all parts together: bounds that follow from the counts, in nats."""

    lower: Fraction
    upper: Fraction
    bands: tuple[Band, ...]
    terms: tuple[tuple[str, str, Fraction], ...]  # the gap between the bounds, in parts
    sampled: Sampled | None = None


def accounts(question: Question, steps: Sequence[Step]) -> tuple[Losing, list[Losing]]:
    """The account of a proof that ends in `log_loss`, and that of each part of its distribution."""
    last = steps[-1]
    roots = [int(str(n)) for n in _list(last["of"])]
    highs, lows = ([int(str(text), 16) for text in _list(last[key])] for key in ("upper", "lower"))
    points = [_threshold(steps, root) for root in roots]
    each = []
    for part, (_, problem) in enumerate(question.parts):
        counts = [_stated(steps, _list(steps[r]["of"])[part] if _mixed(steps, r) else r) for r in roots]
        each.append(_account(points, counts, problem.task.total, highs, lows, _sample(problem)))
    shares = [share for share, _ in question.parts]
    sums = []
    for root in roots:
        numbers = _list(steps[root]["of"]) if _mixed(steps, root) else [root]
        found = [_stated(steps, number) for number in numbers]
        sums.append(tuple(sum(s * n[side] for s, n in zip(shares, found, strict=True)) for side in (0, 1)))
    whole = _account(points, sums, question.mass, highs, lows, _mixed_sample(question, [a.sampled for a in each]))
    return whole, each


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _mixed(steps: Sequence[Step], number: int) -> bool:
    return steps[number]["rule"] == "mixture"


def _threshold(steps: Sequence[Step], number: int) -> Fraction:
    """The margin that a count is about."""
    step = steps[number]
    while "margin_above" not in step:
        step = steps[int(str(step["margins"] if "margins" in step else _list(step["of"])[0]))]
    return rational(int(str(step["margin_above"]), 16), int(str(step["exponent"])))


def _stated(steps: Sequence[Step], number: object) -> tuple[int, int]:
    """What a count or a union of counts says: right, wrong."""
    step = steps[int(str(number))]
    if step["rule"] == "disjoint_union":
        found = [_stated(steps, each) for each in _list(step["of"])]
        return sum(right for right, _ in found), sum(wrong for _, wrong in found)
    return int(str(step["right"]), 16), int(str(step.get("wrong", "0")), 16)


def _account(
    points: Sequence[Fraction],
    counts: Sequence[tuple[int, ...]],
    mass: int,
    highs: Sequence[int],
    lows: Sequence[int],
    sampled: Sampled | None,
) -> Losing:
    above = [*(right for right, _ in counts), 0]
    below = [*(mass - wrong for _, wrong in counts), 0]
    inside = [a - b for a, b in pairwise(above)], [a - b for a, b in pairwise(below)]
    unit, after = UNIT / mass, [*lows[1:], 0]
    bands = [
        Band(low, high, Fraction(b, mass), a * u * unit, b * l_next * unit)
        for low, high, a, b, u, l_next in zip(points, [*points[1:], None], *inside, highs, after, strict=True)
    ]
    rows = list(zip(*inside, highs, lows, after, strict=True))
    counting, outputs, width = (
        sum(each) * unit
        for each in zip(
            *(((a - b) * high, b * (high - low), b * (low - following)) for a, b, high, low, following in rows),
            strict=True,
        )
    )
    terms = (
        ("counts", "if the counts at every threshold were exact", counting),
        ("other outputs", "if only one other output had a logit near the best", outputs),
        ("width of bands", "if bands of the margin were narrow", width),
    )
    upper, lower = sum((band.most for band in bands), Fraction(0)), sum((band.least for band in bands), Fraction(0))
    return Losing(lower, upper, tuple(bands), terms, sampled)


def _sample(problem: Problem) -> Sampled:
    """Inputs drawn from a distribution."""
    task, generator = problem.task, np.random.default_rng(2)
    problem = Problem(problem.model, task)
    masses = {m: np.zeros(task.queries(m), dtype=object) for m in task.possible()}
    for q, m in pairs(task.whole()):
        masses[m][q] = task.class_size(q, m)
    total = squares = 0.0
    by_maximum: dict[int, float] = {}
    for m, drawn in draw_classes(task, masses, DRAWS, generator):
        seen = view(problem, m)
        ahead = failing(seen, drawn) / weight_sums(seen, drawn)[:, None]
        others = list(seen.others)
        loss = np.logaddexp.reduce(np.concatenate([np.zeros((len(ahead), 1)), ahead[:, others]], axis=1), axis=1)
        by_maximum[m] = float(loss.sum()) / DRAWS
        total, squares = total + float(loss.sum()), squares + float((loss**2).sum())
    mean = total / DRAWS
    return Sampled(DRAWS, mean, sqrt(max(squares / DRAWS - mean**2, 0.0) / DRAWS), by_maximum)


def _mixed_sample(question: Question, each: Sequence[Sampled | None]) -> Sampled:
    """That of all parts together."""
    mean = error = 0.0
    by_maximum: dict[int, float] = {}
    for (share, problem), found in zip(question.parts, each, strict=True):
        if found is not None:
            weight = share * problem.task.total / question.mass
            mean, error = mean + weight * found.mean, error + (weight * found.error) ** 2
            for m, part in found.by_maximum.items():
                by_maximum[m] = by_maximum.get(m, 0.0) + weight * part
    return Sampled(DRAWS * len(each), mean, sqrt(error), by_maximum)
