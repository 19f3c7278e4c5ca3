"""The paper's cubic proof (Theorem 11; docs/FORMAT.md, "Pure sequences").

Doubles decide almost every relaxed margin; the few near zero are decided by MPFR enclosures, so that the count is the
one that the checker derives. The closed form with prefix sums of sorted position weights replaces a softmax per entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from ..errors import CompactProofsError
from ..exact import Floats
from ..problem import Problem
from ..progress import Progress, best_so_far
from ..proof import Builder, Proof, hexadecimal, region_json
from ..task import pairs
from ..weights import Enclosure, Precision, precision

SLACK = 1e-9  # relative width of the zone around zero in which a double does not decide
DIGITS = (64, 256, 1024)


@dataclass(frozen=True, slots=True)
class Relaxed:
    """Relaxed margins of one maximum, over the sum of the sizes of their terms; NaN where those vanish in doubles.

    pure: queries x tokens below m x (1..free); none: queries (no free token below m).
    """

    pure: Floats
    none: Floats


def cubic(problem: Problem, progress: Progress = lambda done, total: None) -> Proof:
    """Proof of the cubic bound."""
    task = problem.task
    task.require_uniform("cubic")
    right = 0
    judge = Judge(problem)
    region = problem.within(task.whole(), DIGITS[-1], positions=True)
    for m in task.possible():
        progress(m, task.tokens)
        right += _maximum(problem, m, {q for q, maximum in pairs(region) if maximum == m}, judge)
        best_so_far(progress, right, task.total)
    builder = Builder()
    chosen = precision(problem.circuits, judge.digits)
    margins = builder.margins(chosen.bits, chosen.grid, problem.threshold)
    count = builder.add("pure_sequences", margins=margins, region=region_json(region), right=hexadecimal(right))
    builder.add("conclude", of=count)
    return Proof("cubic", tuple(builder.steps), right, task.total, 0)


def estimate(problem: Problem, progress: Progress = lambda done, total: None) -> int:
    """The count by doubles alone: the paper's way, and no proof."""
    task, right = problem.task, 0
    for m in task.possible():
        progress(m, task.tokens)
        right += _maximum(problem, m, set(range(task.queries(m))), None)
    return right


def relaxed(problem: Problem, m: int) -> Relaxed:
    """All relaxed margins of maximum m in doubles."""
    view, task = problem.floats, problem.task
    free = task.free
    queries = np.arange(task.queries(m))
    own = np.array([task.own_row(int(q)) for q in queries])
    others = np.arange(view.values.shape[1]) != m
    scores = view.token[queries]
    at_m, at_own = scores[:, m], scores[np.arange(len(queries)), own]
    # relative to the heaviest of the weights of a sum, so that no weight overflows
    heavy = np.maximum(at_m, at_own)
    heaviest = np.maximum(heavy[:, None], scores[:, :m])
    pi = (view.positions - view.positions[:, m : m + 1]).max(axis=0)
    values = view.values - view.values[:, m : m + 1]
    direct = view.direct[queries] - view.direct[queries, m : m + 1] + view.shift
    last = view.position[queries, -1]
    ordered = np.sort(view.position[queries, :-1], axis=1)
    zero = np.zeros((len(queries), 1))
    least = np.concatenate([zero, np.cumsum(ordered, axis=1)], axis=1)
    most = np.concatenate([zero, np.cumsum(ordered[:, ::-1], axis=1)], axis=1)
    terms = (
        (least[:, -1] * np.exp(at_m - heavy))[:, None] * (direct + pi + values[m]),
        (last * np.exp(at_own - heavy))[:, None] * (direct + pi + values[own]),
    )
    none = _relative(*terms)[:, others].max(axis=1)
    top = direct[:, others].max(axis=1)
    best = (values + pi)[:, others].max(axis=1)
    pull = np.exp(scores[:, :m] - heaviest) * (best[None, :m] + top[:, None])
    fixed = np.exp(at_own[:, None] - heaviest) * (last * (best[own] + top))[:, None]
    kept = np.exp(at_m[:, None] - heaviest) * (best[m] + top)[:, None]
    counts = np.arange(1, free + 1)
    parts = []
    for ascending, descending in ((least, most), (most, least)):
        summands = (
            kept[:, :, None] * ascending[:, free - counts][:, None],
            fixed[:, :, None],
            pull[:, :, None] * descending[:, counts][:, None],
        )
        parts.append(_relative(*summands))
    return Relaxed(np.maximum(*parts), none)


def _maximum(problem: Problem, m: int, queries: set[int], judge: Judge | None) -> int:
    """Certified sequences of maximum m with these queries; without a judge doubles decide everything."""
    task, outputs = problem.task, problem.floats.values.shape[1]
    if outputs == 1:
        return sum(task.class_size(q, m) for q in queries)
    values = relaxed(problem, m)
    pure, none = values.pure < 0, values.none < 0
    if judge is not None:
        for q, t, i in np.argwhere(_unclear(values.pure)):
            if q in queries and (i + 1 < task.free or task.holds_max(int(q), m)):  # else m stands nowhere
                pure[q, t, i] = judge.pure(int(q), m, int(t), int(i) + 1)
        for (q,) in np.argwhere(_unclear(values.none)):
            if q in queries:
                none[q] = judge.none(int(q), m)
    count = 0
    for q in queries:
        holds = task.holds_max(q, m)
        if task.free or holds:
            count += int(none[q])
        for c in range(1, task.free + 1 if holds else task.free):
            count += comb(task.free, c) * int(pure[q, :, c - 1].sum()) ** c
    return count


def _relative(*terms: Floats) -> Floats:
    """The sum over the sum of absolute values."""
    total, size = terms[0], np.abs(terms[0])
    for term in terms[1:]:
        total, size = total + term, size + np.abs(term)
    with np.errstate(invalid="ignore"):
        quotient: Floats = total / size
    return quotient


def _unclear(values: Floats) -> npt.NDArray[np.bool_]:
    """Where a double does not decide the sign; what is not a number is unclear."""
    return ~(np.abs(values) > SLACK)


class Judge:
    """Decides relaxed margins near zero by exact logits and enclosed weights, at rising precision.

    `digits` is the precision at which the checker comes to the same decisions.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.digits = max(DIGITS[0], problem.digits or 0)
        self.chosen: dict[int, Precision] = {}
        self.rows: dict[tuple[int, int], tuple[Enclosure, Enclosure]] = {}
        self.gains: dict[tuple[int, int], int] = {}
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
            if (row, m) not in self.gains:
                values = logits.values[row]
                self.gains[row, m] = max(values[o] - values[m] + self._pi(m, o) for o in others)
            return top + self.gains[row, m]

        return [(m, order[: free - c], best(m)), (t, order[free - c :], best(t)), (own, [free], best(own))]

    def _negative(self, terms: list[tuple[int, list[int], int]], q: int) -> bool:
        """Is sum weight * value < 0? Zero, and what 1024 digits cannot tell from it, is not.

        Errors: CUBIC_NEAR_TIE if that depends on how the checker rounds.
        """
        if all(value == 0 for _, _, value in terms):
            return False
        for digits in sorted({self.digits, *DIGITS}):
            (low, high), (p_low, p_high) = self._weights(q, digits)
            upper = lower = widest = 0
            for row, positions, value in terms:
                small = low[row] * sum(p_low[i] for i in positions)
                large = high[row] * sum(p_high[i] for i in positions)
                upper += value * (large if value > 0 else small)
                lower += value * (small if value > 0 else large)
                token, place = (high, p_high) if value > 0 else (low, p_low)
                ends = (self._wider(n, digits, value > 0) for n in (token[row], *(place[i] for i in positions)))
                widest += value * next(ends) * sum(ends)
            if widest < 0:
                self.digits = max(self.digits, digits)
                return True
            if lower >= 0:
                return False
        if upper < 0:
            text = f"a relaxed margin of query {q} is nearer to zero than {digits} digits of a weight tell"
            raise CompactProofsError("CUBIC_NEAR_TIE", f"{text}; use margin-tree", self.problem.model.source)
        return False

    def _weights(self, q: int, digits: int) -> tuple[Enclosure, Enclosure]:
        if digits not in self.chosen:
            self.chosen[digits] = precision(self.problem.circuits, digits)
        if (q, digits) not in self.rows:
            self.rows[q, digits] = next(self.problem.enclosures(self.chosen[digits], [q]))
        return self.rows[q, digits]

    def _wider(self, end: int, digits: int, up: bool) -> int:
        """An end of a weight moved beyond the checker's, which is off by a few units and by the grid of exponents."""
        blur = (end >> self.chosen[digits].grid - 16) + 3
        return end + blur if up else max(end - blur, 0)
