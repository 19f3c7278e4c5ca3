"""All inputs in doubles, class by class, with bounds that skip what cannot fail: which are wrong, and through what.

The last two free positions are taken at once as a matrix. Nothing here is a proof; inputs within rounding of a tie are
decided by enclosures.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt

from ..errors import CompactProofsError
from ..exact import Floats
from ..problem import Problem
from ..screen import survivors
from ..task import Region, pairs
from .account import Account, Share, sizes_by_others
from .replay import real_verdicts
from .words import words_of

SLACK = 1e-9
KEPT = 400
"""Inputs kept of each kind: the farthest below a tie, and the nearest to one."""
BUDGET = 2_000_000_000
"""Sums of terms after which a scan gives up."""
LARGEST = 1 << 31
"""Inputs that a scan may have to list if nothing can be skipped."""
NODE = 2000
"""What a node of the walk costs beside its sums, in sums."""

Input = tuple[int, int, tuple[int, ...]]
"""Query, maximum, free tokens, numbered as in the task."""


@dataclass(slots=True)
class Budget:
    """Sums of terms that may still be made."""

    left: int = BUDGET

    def spend(self, sums: int) -> None:
        """Errors: SCAN_TOO_LARGE."""
        self.left -= sums
        if self.left < 0:
            raise CompactProofsError("SCAN_TOO_LARGE", "a scan needs too many sums; a sample is taken instead")


@dataclass(slots=True, eq=False)
class Scan:
    """Masses of wrong inputs per class, per number of other tokens and per winning output; inputs worth a look."""

    account: Account
    near: list[Input] = field(default_factory=list)
    worst: list[tuple[float, Input]] = field(default_factory=list)
    closest: list[tuple[float, Input]] = field(default_factory=list)
    wrong_by_others: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Class:
    """Terms of one class for the outputs that may win: outputs x positions x tokens, the query's, and the weights."""

    q: int
    m: int
    outputs: npt.NDArray[np.int64]
    terms: Floats
    start: Floats
    weights: Floats
    own_weight: float
    scale: float


@dataclass(frozen=True, slots=True)
class Leaf:
    """All inputs of a class with one prefix, by their last tokens.

    `best`: what the largest other output is ahead of the threshold by, times the sum of the weights; `ratio`: without
    that factor, so the threshold less the margin; `valid`: in the class.
    """

    prefix: tuple[int, ...]
    winners: npt.NDArray[np.int64]
    best: Floats
    valid: npt.NDArray[np.bool_]
    ratio: Floats

    def items(self, each: Class, chosen: npt.NDArray[np.bool_]) -> list[Input]:
        """The inputs of some tails."""
        return [(each.q, each.m, (*self.prefix, *map(int, tail))) for tail in np.argwhere(chosen)]


def scan(problem: Problem, region: Region | None = None) -> Scan:
    """Every input of a region (all by default). Errors: SCAN_TOO_LARGE."""
    task, region = problem.task, task_region(problem, region)
    result = Scan(Account.empty(task))
    result.wrong_by_others = [0] * (task.free + 1)
    for q, m in pairs(region):
        result.account.right[q, m] = task.class_size(q, m)
    for each, leaf in all_leaves(problem, region):
        _enter(problem, each, leaf, result)
    _settle(problem, result)
    _by_others(problem, region, result)
    result.worst.sort(key=lambda item: -item[0])
    result.closest.sort(key=lambda item: item[0], reverse=True)
    return result


def all_leaves(problem: Problem, region: Region) -> Iterator[tuple[Class, Leaf]]:
    """All inputs of a region but those that cannot fail. Errors: SCAN_TOO_LARGE."""
    budget = Budget()
    for m, low, high in region:
        alive = survivors(problem, m).alive
        for q in range(low, high):
            outputs = alive[q].nonzero()[0]
            if len(outputs) and problem.task.class_size(q, m):
                each = class_terms(problem, q, m, outputs)
                yield from ((each, leaf) for leaf in leaves(problem, each, budget))


def task_region(problem: Problem, region: Region | None) -> Region:
    return problem.task.whole() if region is None else region


def class_terms(problem: Problem, q: int, m: int, outputs: npt.NDArray[np.int64]) -> Class:
    """The terms of a class in doubles, relative to the weight of token m."""
    view, task = problem.floats, problem.task
    own = task.own_row(q)
    with np.errstate(over="ignore", invalid="ignore"):
        token = np.exp(view.token[q] - view.token[q, m])
        base = view.direct[q, outputs] - view.direct[q, m] + view.shift
        values = view.values[:, outputs] - view.values[:, m : m + 1] + base
        places = view.positions[:, outputs] - view.positions[:, m : m + 1]
        logits = values[None, :, :] + places[:, None, :]
        weights = view.position[q][:, None] * token[None, :]
        terms = np.moveaxis(logits * weights[:, :, None], 2, 0)
    scale = float(np.abs(terms[:, :, [*range(m + 1), own]]).max()) * (task.free + 1)
    free = terms[:, :-1, : m + 1]
    return Class(q, m, outputs, free, terms[:, -1, own], weights[:-1, : m + 1], float(weights[-1, own]), scale)


def leaves(problem: Problem, each: Class, budget: Budget) -> Iterator[Leaf]:
    """Walk the first free positions of a class; the last two (or fewer) are one matrix. Errors: SCAN_TOO_LARGE.

    Prefixes with which no input reaches the threshold from above (a margin of at most it) are skipped.
    """
    task, m = problem.task, each.m
    depth = max(task.free - 2, 0)
    rest = each.terms.max(axis=2)
    after = [rest[:, i:].sum(axis=1) for i in range(task.free + 1)]
    stack: list[tuple[tuple[int, ...], Floats, float]] = [((), each.start, each.own_weight)]
    while stack:
        prefix, sums, weight = stack.pop()
        if (sums + after[len(prefix)]).max() < -SLACK * each.scale:
            continue
        if len(prefix) < depth:
            level = len(prefix)
            children = sums[:, None] + each.terms[:, level]
            live = ((children + after[level + 1][:, None]).max(axis=0) >= -SLACK * each.scale).nonzero()[0]
            budget.spend(children.size + NODE)
            stack += [((*prefix, int(t)), children[:, t], weight + float(each.weights[level, t])) for t in live]
            continue
        budget.spend(len(each.outputs) * (m + 1) ** (task.free - depth) + NODE)
        yield _leaf(problem, each, prefix, sums, weight)


def _leaf(problem: Problem, each: Class, prefix: tuple[int, ...], sums: Floats, weight: float) -> Leaf:
    """All tails of a prefix at once."""
    task, m, size = problem.task, each.m, each.m + 1
    rows = range(len(prefix), task.free)
    grid, mass = sums.reshape(-1, *(1 for _ in rows)), np.full((1,) * len(rows), weight)
    for axis, i in enumerate(rows):
        shape = [1] * len(rows)
        shape[axis] = size
        grid = grid + each.terms[:, i].reshape(-1, *shape)
        mass = mass + each.weights[i].reshape(shape)
    best = grid.max(axis=0)
    valid = np.ones(best.shape, dtype=bool)
    if not task.holds_max(each.q, m) and m not in prefix:
        valid = np.zeros(best.shape, dtype=bool)
        for axis in range(len(rows)):
            np.moveaxis(valid, axis, 0)[m] = True
    ratio = np.where(valid & np.isfinite(best), best / mass, -np.inf)
    return Leaf(prefix, each.outputs[grid.argmax(axis=0)], best, valid, ratio)


def _enter(problem: Problem, each: Class, leaf: Leaf, result: Scan) -> None:
    """What the tails of a prefix add to the scan."""
    near = leaf.valid & (np.abs(leaf.best) <= SLACK * each.scale)
    result.near += leaf.items(each, near)
    wrong = leaf.valid & (leaf.best > SLACK * each.scale)
    for item, winner in zip(leaf.items(each, wrong), leaf.winners[wrong], strict=True):
        _note(problem, item, int(winner), result)
    _keep(each, leaf.prefix, leaf.ratio, wrong, result)


def _note(problem: Problem, item: Input, winner: int, result: Scan) -> None:
    """Enter one wrong input."""
    q, m, free = item
    weight = input_mass(problem, item)
    account = result.account
    account.right[q, m] -= weight
    account.wrong[q, m] += weight
    account.outputs[winner] = account.outputs.get(winner, 0) + weight
    result.wrong_by_others[sum(t != m for t in free)] += weight


def input_mass(problem: Problem, item: Input) -> int:
    """Weight of one input."""
    task, (q, _, free) = problem.task, item
    if task.masses is None:
        return 1
    return task.own_mass(q) * prod(task.mass(i)[t] for i, t in enumerate(free))


def _keep(each: Class, prefix: tuple[int, ...], ratio: Floats, wrong: npt.NDArray[np.bool_], result: Scan) -> None:
    """The inputs farthest on the wrong side, and those nearest to a tie on either side."""
    for values, heap in ((ratio, result.worst), (-np.abs(ratio), result.closest)):
        flat = np.where(wrong, ratio, -np.inf).ravel() if heap is result.worst else values.ravel()
        floor = heap[0][0] if len(heap) >= KEPT else -np.inf
        chosen = (flat > floor).nonzero()[0]
        if len(chosen) > KEPT:
            chosen = chosen[np.argpartition(flat[chosen], -KEPT)[-KEPT:]]
        for at in chosen:
            tail = tuple(int(i) for i in np.unravel_index(int(at), ratio.shape))
            item = (float(flat[at]), (each.q, each.m, (*prefix, *tail)))
            if len(heap) < KEPT:
                heapq.heappush(heap, item)
            else:
                heapq.heappushpop(heap, item)


def _settle(problem: Problem, result: Scan) -> None:
    """Inputs that doubles do not decide."""
    for item, verdict in zip(result.near, real_verdicts(problem, result.near), strict=True):
        if verdict.kind == "wrong":
            _note(problem, item, verdict.rival, result)
        elif verdict.kind == "undecided":
            result.account.right[item[0], item[1]] -= input_mass(problem, item)


def _by_others(problem: Problem, region: Region, result: Scan) -> None:
    sizes = sizes_by_others(problem.task, region)
    for n, (size, wrong) in enumerate(zip(sizes, result.wrong_by_others, strict=True)):
        result.account.others.append(Share(str(n), size, size - wrong, wrong))
    result.account.outputs_of = words_of(problem.threshold).outputs


def inputs(items: list[tuple[float, Input]]) -> Iterator[Input]:
    """The inputs alone."""
    return (item for _, item in items)
