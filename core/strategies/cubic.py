"""The paper's cubic proof (Theorem 11; docs/FORMAT.md, "Pure sequences").

Doubles decide almost every relaxed margin; the few near zero are decided by MPFR enclosures, so that the count is the
one that the checker derives. The closed form with prefix sums of sorted position weights replaces a softmax per entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from ..exact import Floats
from ..problem import Problem
from ..proof import Builder, Proof, hexadecimal, region_json
from ..weights import Enclosure, precision

SLACK = 1e-9  # relative width of the zone around zero in which a double does not decide
DIGITS = 64
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Relaxed:
    """Relaxed margins of one maximum, up to a positive factor; NaN where a class does not exist.

    pure: queries x tokens below m x (1..free); none: queries (no free token below m). `scale` bounds the terms.
    """

    pure: Floats
    none: Floats
    pure_scale: Floats
    none_scale: Floats


def cubic(problem: Problem, progress: Progress = lambda done, total: None) -> Proof:
    """Proof of the cubic bound."""
    task = problem.task
    task.require_uniform("cubic")
    right = 0
    judge = Judge(problem)
    for m in range(task.tokens):
        progress(m, task.tokens)
        right += _maximum(problem, m, judge)
    builder = Builder()
    chosen = precision(problem.circuits, problem.ladder((DIGITS,))[0])
    margins = builder.margins(chosen.bits, chosen.grid, problem.threshold)
    region = region_json(task.whole())
    count = builder.add("pure_sequences", margins=margins, region=region, right=hexadecimal(right))
    builder.add("conclude", of=count)
    return Proof("cubic", tuple(builder.steps), right, task.total, 0)


def estimate(problem: Problem) -> int:
    """The count by doubles alone: the paper's way, and no proof."""
    return sum(_maximum(problem, m, None) for m in range(problem.task.tokens))


def relaxed(problem: Problem, m: int) -> Relaxed:
    """All relaxed margins of maximum m in doubles."""
    view, task = problem.floats, problem.task
    free = task.free
    queries = np.arange(task.queries(m))
    own = np.array([task.own_row(int(q)) for q in queries])
    others = np.arange(view.values.shape[1]) != m
    with np.errstate(over="ignore", invalid="ignore"):
        token = np.exp(view.token[queries] - view.token[queries, m : m + 1])
        pi = (view.positions - view.positions[:, m : m + 1]).max(axis=0)
        values = view.values - view.values[:, m : m + 1]
        direct = view.direct[queries] - view.direct[queries, m : m + 1] + view.shift
        own_mass = view.position[queries, -1] * token[queries, own]
        ordered = np.sort(view.position[queries, :-1], axis=1)
        zero = np.zeros((len(queries), 1))
        least = np.concatenate([zero, np.cumsum(ordered, axis=1)], axis=1)
        most = np.concatenate([zero, np.cumsum(ordered[:, ::-1], axis=1)], axis=1)
        at_m, at_own = direct + pi + values[m], direct + pi + values[own]
        terms = least[:, -1:] * at_m, own_mass[:, None] * at_own
        none = (terms[0] + terms[1])[:, others].max(axis=1)
        none_scale = (np.abs(terms[0]) + np.abs(terms[1]))[:, others].max(axis=1)
        top = direct[:, others].max(axis=1)
        best = (values + pi)[:, others].max(axis=1)
        pull = token[:, :m] * (best[None, :m] + top[:, None])
        fixed = own_mass * (best[own] + top)
        counts = np.arange(1, free + 1)
        parts = []
        for ascending, descending in ((least, most), (most, least)):
            rest = ascending[:, free - counts] * (best[m] + top)[:, None] + fixed[:, None]
            weight = np.abs(ascending[:, free - counts] * (best[m] + top)[:, None]) + np.abs(fixed)[:, None]
            mixed = pull[:, :, None] * descending[:, counts][:, None]
            parts.append((rest[:, None] + mixed, weight[:, None] + np.abs(mixed)))
    pure = np.maximum(parts[0][0], parts[1][0])
    return Relaxed(pure, none, np.maximum(parts[0][1], parts[1][1]), none_scale)


def _maximum(problem: Problem, m: int, judge: Judge | None) -> int:
    """Certified sequences of maximum m; without a judge doubles decide everything."""
    task, outputs = problem.task, problem.floats.values.shape[1]
    if outputs == 1:
        return sum(task.class_size(q, m) for q in range(task.queries(m)))
    values = relaxed(problem, m)
    pure, none = values.pure < 0, values.none < 0
    if judge is not None:
        for q, t, i in np.argwhere(_unclear(values.pure, values.pure_scale)):
            pure[q, t, i] = judge.pure(int(q), m, int(t), int(i) + 1)
        for (q,) in np.argwhere(_unclear(values.none, values.none_scale)):
            none[q] = judge.none(int(q), m)
    count = 0
    for q in range(task.queries(m)):
        holds = task.holds_max(q, m)
        if task.free or holds:
            count += int(none[q])
        for c in range(1, task.free + 1 if holds else task.free):
            count += comb(task.free, c) * int(pure[q, :, c - 1].sum()) ** c
    return count


def _unclear(values: Floats, scale: Floats) -> npt.NDArray[np.bool_]:
    """Where a double does not decide the sign; what is not a number is unclear."""
    return ~(np.abs(values) > SLACK * scale)


class Judge:
    """Decides relaxed margins near zero by exact logits and enclosed weights, at rising precision."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.rows: dict[tuple[int, int], tuple[Enclosure, Enclosure]] = {}
        self.order = [sorted(range(problem.task.free), key=row.__getitem__) for row in problem.circuits.eqkp.ints]

    def pure(self, q: int, m: int, t: int, c: int) -> bool:
        """Are both arrangements of c copies of t negative?"""
        return all(self._negative(self._pure_terms(q, m, t, c, order), q) for order in self._orders(q))

    def none(self, q: int, m: int) -> bool:
        """Is every output negative when all free positions hold m?"""
        logits, own = self.problem.logits, self.problem.task.own_row(q)
        free = list(range(self.problem.task.free))
        for o in range(len(logits.values[0])):
            if o != m:
                base = logits.direct[q][o] - logits.direct[q][m] + self._pi(m, o) + logits.shift
                at_m = base + logits.values[m][o] - logits.values[m][m]
                at_own = base + logits.values[own][o] - logits.values[own][m]
                if not self._negative([(m, free, at_m), (own, [len(free)], at_own)], q):
                    return False
        return True

    def _orders(self, q: int) -> tuple[list[int], list[int]]:
        return self.order[q], self.order[q][::-1]

    def _pi(self, m: int, o: int) -> int:
        return max(row[o] - row[m] for row in self.problem.logits.positions)

    def _pure_terms(self, q: int, m: int, t: int, c: int, order: list[int]) -> list[tuple[int, list[int], int]]:
        """(token row, its positions, relaxed value): m on the first positions of the order, t on the last c."""
        logits, own, free = self.problem.logits, self.problem.task.own_row(q), self.problem.task.free
        others = [o for o in range(len(logits.values[0])) if o != m]
        top = max(logits.direct[q][o] for o in others) - logits.direct[q][m] + logits.shift

        def best(row: int) -> int:
            return top + max(logits.values[row][o] - logits.values[row][m] + self._pi(m, o) for o in others)

        return [(m, order[: free - c], best(m)), (t, order[free - c :], best(t)), (own, [free], best(own))]

    def _negative(self, terms: list[tuple[int, list[int], int]], q: int) -> bool:
        """Is sum weight * value < 0? Zero, and what 1024 digits cannot tell from it, is not."""
        if all(value == 0 for _, _, value in terms):
            return False
        for digits in (DIGITS, 256, 1024):
            (low, high), (p_low, p_high) = self._weights(q, digits)
            upper = lower = 0
            for row, positions, value in terms:
                small = low[row] * sum(p_low[i] for i in positions)
                large = high[row] * sum(p_high[i] for i in positions)
                upper += value * (large if value > 0 else small)
                lower += value * (small if value > 0 else large)
            if upper < 0 or lower >= 0:
                return upper < 0
        return False

    def _weights(self, q: int, digits: int) -> tuple[Enclosure, Enclosure]:
        if (q, digits) not in self.rows:
            chosen = precision(self.problem.circuits, digits)
            self.rows[q, digits] = next(self.problem.enclosures(chosen, [q]))
        return self.rows[q, digits]
