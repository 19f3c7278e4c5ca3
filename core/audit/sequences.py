"""Concrete inputs that a proof leaves open: drawn from the classes where it loses, with their margins in doubles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..exact import Floats
from ..problem import Problem
from ..task import pairs
from .account import Account
from .replay import Input

DRAWS = 6000
TRIES = 40


@dataclass(frozen=True, slots=True)
class Drawn:
    """An input that the proof does not count, and its margin in doubles."""

    item: Input
    margin: float


def draw_open(problem: Problem, account: Account, seed: int = 0, draws: int = DRAWS) -> list[Drawn]:
    """Distinct open inputs, smallest margin first; classes are drawn in proportion to what they lose."""
    generator = np.random.default_rng(seed)
    loss = account.loss
    classes = [(q, m) for q, m in pairs(problem.task.whole()) if loss[q, m] > 0]
    if not classes:
        return []
    top = max(int(loss[q, m]) for q, m in classes)
    chances = np.array([int(loss[q, m]) / top for q, m in classes])
    found: dict[Input, None] = {}
    for at in generator.choice(len(classes), draws, p=chances / chances.sum()):
        item = _draw(problem, account, *classes[int(at)], generator)
        if item is not None:
            found[item] = None
    items = list(found)
    margins = float_margins(problem, items)
    order = sorted(range(len(items)), key=lambda i: (margins[i], items[i]))
    return [Drawn(items[i], float(margins[i])) for i in order]


def _draw(problem: Problem, account: Account, q: int, m: int, generator: np.random.Generator) -> Input | None:
    """An input of a class that the proof does not count; None if a few tries find none."""
    task = problem.task
    for _ in range(TRIES):
        free = tuple(_token(task.mass(i), m, generator) for i in range(task.free))
        if m in free or task.holds_max(q, m):
            pass
        elif task.free:
            at = int(generator.integers(task.free))
            free = (*free[:at], m, *free[at + 1 :])
        if account.certified is None or not account.certified(q, m, free):
            return q, m, free
    return None


def _token(mass: Sequence[int], m: int, generator: np.random.Generator) -> int:
    if mass[0] == 1 and min(mass[: m + 1]) == max(mass[: m + 1]):
        return int(generator.integers(m + 1))
    chances = np.array([float(n) for n in mass[: m + 1]])
    return int(generator.choice(m + 1, p=chances / chances.sum())) if chances.any() else m


def float_margins(problem: Problem, items: Sequence[Input]) -> Floats:
    """Right logit less the largest other one, in doubles."""
    if not items:
        return np.zeros(0)
    view, task = problem.floats, problem.task
    query = np.array([q for q, _, _ in items])
    rows = np.array([(*free, task.own_row(q)) for q, _, free in items])
    wanted = np.array([m for _, m, _ in items])
    scores = np.take_along_axis(view.token[query], rows, axis=1)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)) * view.position[query]
    weights /= weights.sum(axis=1, keepdims=True)
    logits = view.direct[query] + weights @ view.positions
    for i in range(rows.shape[1]):
        logits += weights[:, i, None] * view.values[rows[:, i]]
    at: npt.NDArray[np.int64] = np.arange(len(items))
    own = logits[at, wanted].copy()
    logits[at, wanted] = -np.inf
    result: Floats = own - logits.max(axis=1)
    return result
