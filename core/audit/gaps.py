"""Where a sub-cubic proof loses (docs/FORMAT.md, `gap_classes`): gaps per class, and what each approximation costs."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np

from ..problem import Problem
from ..proof import Step
from ..strategies.subcubic.proof import DIGITS, UNIT
from ..strategies.subcubic.search import TIGHT, Ints, Maximum, View, find
from ..task import Region
from .account import Account, Share, Term, sizes_by_others
from .facts import Bounded, Facts, Matrix


class Gaps:
    """The gaps of a `gap_classes` step as the certificate writes them."""

    def __init__(self, problem: Problem, step: Step, region: Region) -> None:
        self.problem, self.region = problem, region
        self.tables: dict[int, list[int]] = {}
        texts = step["gaps"]
        if not isinstance(texts, list):
            raise ValueError("gaps must be a list")
        for (m, low, _), text in zip(region, texts, strict=True):
            self.tables.setdefault(m, [0] * (problem.task.queries(m) * problem.task.free))
            numbers = numbers_of(str(text))
            start = low * problem.task.free
            self.tables[m][start : start + len(numbers)] = numbers

    def gap(self, q: int, m: int, others: int) -> int:
        """The gap of a class and number of other tokens; 0 if none is claimed."""
        at = others - int(self.problem.task.holds_max(q, m))
        table = self.tables.get(m)
        return 0 if table is None or not 0 <= at < self.problem.task.free else table[q * self.problem.task.free + at]

    def counts(self, q: int, m: int, constant: bool) -> list[int]:
        """Certified inputs of a class with 0, 1, ... others."""
        free = self.problem.task.free
        result = [int(constant) if self.problem.task.holds_max(q, m) else 0, *[0] * free]
        for n in range(free + 1):
            gap = self.gap(q, m, n)
            if gap:
                result[n] += comb(free, n) * (m - gap + 1) ** n
        return result

    def certified(self, q: int, m: int, free: tuple[int, ...]) -> bool:
        """Is this input counted?"""
        others = [t for t in free if t != m]
        if not others and self.problem.task.holds_max(q, m):
            return constant_right(self.problem, m)
        gap = self.gap(q, m, len(others))
        return gap > 0 and all(t <= m - gap for t in others)


def numbers_of(text: str) -> list[int]:
    """Numbers in base 32; the digits 32..63 have more to come."""
    result, value = [], 0
    for digit in text:
        place = DIGITS.index(digit)
        value = value << 5 | place & 31
        if place < 32:
            result.append(value)
            value = 0
    return result


def constant_right(problem: Problem, m: int) -> bool:
    """Is the sequence m...m counted?"""
    logits = problem.logits
    direct, values = logits.direct[m], logits.values[m]
    best = [max(row[o] - row[m] for row in logits.positions) for o in range(len(direct))]
    sums = (direct[o] - direct[m] + values[o] - values[m] + best[o] for o in range(len(direct)) if o != m)
    return all(total + logits.shift < 0 for total in sums)


def account(problem: Problem, step: Step, region: Region, total: int) -> Account:
    """Recount what the gaps certify. `total` is the number that was verified: it settles the centred positions."""
    gaps, task = Gaps(problem, step, region), problem.task
    result = Account.empty(task)
    by_others = [0] * (task.free + 1)
    for m, low, high in region:
        constant = task.holds_max(m, m) and constant_right(problem, m)
        for q in range(low, high):
            counts = gaps.counts(q, m, constant)
            result.right[q, m] = sum(counts)
            by_others = [a + b for a, b in zip(by_others, counts, strict=True)]
    sizes = sizes_by_others(task, region)
    result.others = [Share(str(n), s, r, 0) for n, (s, r) in enumerate(zip(sizes, by_others, strict=True))]
    result.certified = gaps.certified
    if int(result.right.sum()) != total:
        result.notes.append("the recount per class differs from the verified total by sequences m...m")
    return result


def view_of(problem: Problem, step: Step, facts: Facts) -> View:
    """The proof's approximations in doubles, from its replayed steps."""
    scores, direct = facts[int(str(step["scores"]))], facts[int(str(step["direct"]))]
    values, positions = facts[int(str(step["values"]))], facts[int(str(step["output_positions"]))]
    if not (isinstance(scores, Bounded) and isinstance(direct, Bounded) and scores.approx is not None):
        raise ValueError("scores and direct must be bounded")
    if not (isinstance(values, Matrix) and isinstance(positions, Matrix)):
        raise ValueError("values and positions must be matrices")
    root = np.sqrt(problem.circuits.d_head)
    lead = scores.approx.ints - scores.approx.ints.max(axis=1)[:, None]
    common = direct.approx
    return View(
        scores=replace(scores.approx, ints=lead).floats() / root,
        error=scores.bound.floats()[:, 0] / root,
        position=problem.floats.position,
        common=np.zeros(problem.model.d_vocab_out) if common is None else common.floats()[0],
        direct=direct.bound.floats()[:, 0],
        values=values.factors[0].floats(),
        positions=positions.factors[0].floats(),
        shift=problem.floats.shift,
    )


def terms(problem: Problem, step: Step, region: Region, facts: Facts, right: int) -> list[Term]:
    """What each approximation costs, the smallest possible gaps taken each time."""
    seen = view_of(problem, step, facts)
    base = _best(problem, seen, region)
    mean = np.repeat(seen.positions.mean(axis=0, keepdims=True), len(seen.positions), axis=0)
    changes = (
        ("attention error", "if EQKE were known exactly", _exact_scores(problem, seen)),
        ("direct path", "if EU were bounded without error", replace(seen, direct=np.zeros_like(seen.direct))),
        ("positions (values)", "if PVOU were the same at all positions", replace(seen, positions=mean)),
        ("positions (attention)", "if EQKP were flat", replace(seen, position=np.ones_like(seen.position))),
    )
    found = [
        Term("gaps written", "with the smallest gaps and best pivots that these approximations allow", base - right)
    ]
    found += [Term(name, meaning, _best(problem, changed, region) - base) for name, meaning, changed in changes]
    return found


def _exact_scores(problem: Problem, seen: View) -> View:
    return replace(seen, scores=problem.floats.token, error=np.zeros_like(seen.error))


def _best(problem: Problem, seen: View, region: Region) -> int:
    """Certified inputs with the smallest gaps."""
    task, total = problem.task, 0
    for m, low, high in region:
        maximum = Maximum(problem, seen, TIGHT, m, UNIT)
        gaps: Ints = find(maximum, False, UNIT).gaps[low:high]
        counts = maximum.counts[low:high]
        for gap, n in zip(gaps.ravel(), counts.ravel(), strict=True):
            if gap:
                total += comb(task.free, int(n)) * (m - int(gap) + 1) ** int(n)
        total += int(low <= m < high and task.holds_max(m, m) and constant_right(problem, m))
    return total
