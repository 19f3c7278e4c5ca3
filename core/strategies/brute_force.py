"""Brute force (paper section 4.1; docs/FORMAT.md, "Enumeration"): every sequence, for short lengths.

Doubles decide almost every sequence; those near a tie are decided by exact logits and enclosed weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ..errors import CompactProofsError
from ..problem import Problem
from ..progress import Progress, best_so_far
from ..proof import Builder, Proof, hexadecimal, region_json
from ..task import Region, Task, pairs, region_of
from ..weights import Enclosure, precision

LIMIT = 1 << 25  # sequences; beyond it other strategies prove more in less time
SLACK = 1e-9
DIGITS = (40, 96, 256, 480)
RIM = 64  # parts of the band: what is undecided, but not within one of them, the checker may decide
BAND = 4  # bits by which the certifier's band around zero is wider than the checker's


def brute_force(problem: Problem, progress: Progress = lambda done, total: None, region: Region | None = None) -> Proof:
    """Proof by enumeration of the classes of a region (all by default). Errors: ENUMERATION_TOO_LARGE."""
    task, ladder = problem.task, [max(digits, DIGITS[0]) for digits in problem.ladder(DIGITS)]  # not coarser than SLACK
    whole = task.whole() if region is None else region
    classes = list(pairs(problem.within(whole, ladder[-1])))
    size = sum(task.class_size(q, m) for q, m in classes)
    if size > LIMIT:
        text = f"{size} sequences, brute force stops at {LIMIT}; use margin-tree or margin-convolution"
        raise CompactProofsError("ENUMERATION_TOO_LARGE", text, problem.model.source)
    wrong: dict[tuple[int, int], int] = {}
    near = []
    right = 0
    for done, (q, m) in enumerate(classes):
        progress(done, len(classes))
        wrong[q, m], close = _class(problem, q, m)
        right += task.class_size(q, m) - wrong[q, m] - sum(mass(task, q, sequence) for sequence in close)
        best_so_far(progress, right, task.total)
        near += [(q, m, sequence) for sequence in close]
    for digits in ladder:
        lost, undecided, unsure = _settle(problem, near, digits)
        if not undecided:
            break
    if unsure:
        near = [item for item in near if item[:2] not in unsure]
        lost, undecided, _ = _settle(problem, near, digits)
    region = problem.some(region_of(set(classes) - unsure))
    found = _proof(problem, region, lost + sum(wrong[q, m] for q, m in pairs(region)), undecided, digits)
    return replace(found, undecided=undecided + task.mass_of(whole) - task.mass_of(region))


def wrong_in_class(problem: Problem, q: int, m: int, digits: int) -> tuple[int, int]:
    """Wrong and undecided mass of one class, with so many digits near a tie."""
    wrong, close = _class(problem, q, m)
    more, undecided, _ = _settle(problem, [(q, m, sequence) for sequence in close], digits)
    return wrong + more, undecided


def estimate(problem: Problem, progress: Progress = lambda done, total: None) -> int:
    """Right sequences by doubles alone: no proof."""
    task = problem.task
    wrong = 0
    for q in range(len(problem.circuits.eqke.ints)):
        progress(q, len(problem.circuits.eqke.ints))
        for m in task.possible():
            if q < task.queries(m):
                lost, close = _class(problem, q, m)
                wrong += lost + sum(mass(task, q, sequence) for sequence in close)
    return task.total - wrong


def _proof(problem: Problem, region: Region, wrong: int, undecided: int, digits: int) -> Proof:
    right = problem.task.mass_of(region) - wrong - undecided
    chosen = precision(problem.circuits, digits)
    builder = Builder()
    margins = builder.margins(chosen.bits, chosen.grid, problem.threshold)
    count = builder.add(
        "enumerate",
        margins=margins,
        region=region_json(region),
        digits=digits,
        logit_bits=logit_bits(problem, digits),
        right=hexadecimal(right),
        wrong=hexadecimal(wrong),
    )
    builder.add("conclude", of=count)
    return Proof("brute-force", tuple(builder.steps), right, problem.task.total - wrong, undecided)


def _class(problem: Problem, q: int, m: int) -> tuple[int, list[tuple[int, ...]]]:
    """Certainly wrong sequences of a class, and the free tokens of those that doubles do not decide."""
    task, view = problem.task, problem.floats
    own, free, holds = task.own_row(q), task.free, task.holds_max(q, m)
    others = np.arange(view.values.shape[1]) != m
    if not others.any() or task.class_size(q, m) == 0:
        return 0, []
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is close to a tie
        heavy = view.token[q, [*range(m + 1), own]].max()  # tokens above m may overflow, but they are not used
        token = np.exp(view.token[q] - heavy)
        logits = view.direct[q] + view.positions[:, None] + view.values[None]
        terms = (logits - logits[:, :, m : m + 1] + view.shift)[:, :, others]
        terms *= (view.position[q][:, None] * token[None])[:, :, None]
        start = terms[-1, own]
        # the checker's radius is relative to the heaviest weight and the widest logits, so the band must be, too
        scale = float(view.position[q].max()) * _spread(problem) * (free + 1)
    # the last two positions are summed once for the class, and all their tokens are tested at once
    tails = list(itertools.product(range(m + 1), repeat=min(free, 2)))
    tail_sums = np.array([sum((terms[free - len(t) + i, x] for i, x in enumerate(t)), start) for t in tails])
    with_m = [i for i, tail in enumerate(tails) if m in tail]
    only_m = tail_sums[with_m], [tails[i] for i in with_m]
    wrong, near = 0, []
    for prefix in itertools.product(range(m + 1), repeat=max(free - 2, 0)):
        sums, sequences = (tail_sums, tails) if holds or m in prefix else only_m
        for i, t in enumerate(prefix):
            sums = sums + terms[i, t]
        top = sums.max(axis=1)
        lost = top > SLACK * scale
        close = ~lost & ~(top < -SLACK * scale)  # a sum that is no number is close, too
        wrong += sum(mass(task, q, (*prefix, *sequences[i])) for i in lost.nonzero()[0])
        near += [(*prefix, *sequences[i]) for i in close.nonzero()[0]]
    return wrong, near


def _spread(problem: Problem) -> float:
    """No logit difference, with the threshold, is larger."""
    view = problem.floats
    parts = (view.direct, view.values, view.positions)
    return float(sum(np.ptp(part, axis=1).max() for part in parts) + abs(view.shift))


def logit_bits(problem: Problem, digits: int) -> int:
    """Fractional bits that keep `digits` significant ones of the widest logit difference."""
    spread = _spread(problem)
    return min(max(digits - (math.frexp(spread)[1] if 0 < spread < math.inf else 0), 0), 2048)


def mass(task: Task, q: int, free: Sequence[int]) -> int:
    """Weight of one input."""
    if task.masses is None:
        return 1
    return task.own_mass(q) * prod(task.masses[i][t] for i, t in enumerate(free))


def _settle(
    problem: Problem, near: list[tuple[int, int, tuple[int, ...]]], digits: int
) -> tuple[int, int, set[tuple[int, int]]]:
    """Wrong and undecided among sequences near a tie, and classes of which the checker may decide more than we do."""
    chosen = precision(problem.circuits, 2 * digits)
    logits, count = problem.logits, problem.task.free + 1
    parts = (logits.direct, logits.values, logits.positions)
    spread = sum(max(max(row) - min(row) for row in part) for part in parts) + abs(logits.shift)
    wrong = undecided = 0
    unsure = set()
    for (q, m), group in itertools.groupby(near, key=lambda item: item[:2]):
        token, position = next(problem.enclosures(chosen, [q]))
        heaviest = max(*token[1][: m + 1], token[1][problem.task.own_row(q)]) * max(position[1])
        band = (count * heaviest * spread >> digits - BAND) + 1
        for _, _, sequence in group:
            verdicts = [_margin(problem, q, m, o, sequence, token, position) for o in _others(problem, m)]
            if any(low >= band for low, _ in verdicts):
                wrong += mass(problem.task, q, sequence)
            elif any(high >= -band for _, high in verdicts):
                undecided += mass(problem.task, q, sequence)
                if any((low < -band // RIM and high >= -band) or high > band // RIM for low, high in verdicts):
                    unsure.add((q, m))
    return wrong, undecided, unsure


def _others(problem: Problem, m: int) -> Iterator[int]:
    return (o for o in range(len(problem.logits.values[0])) if o != m)


def _margin(
    problem: Problem, q: int, m: int, o: int, free: tuple[int, ...], token: Enclosure, position: Enclosure
) -> tuple[int, int]:
    """Enclosure of sum weight * logit difference."""
    logits = problem.logits
    low = high = 0
    for i, t in enumerate((*free, problem.task.own_row(q))):
        value = logits.shift + sum(row[o] - row[m] for row in (logits.direct[q], logits.values[t], logits.positions[i]))
        small, large = token[0][t] * position[0][i], token[1][t] * position[1][i]
        low += value * (small if value > 0 else large)
        high += value * (large if value > 0 else small)
    return low, high
