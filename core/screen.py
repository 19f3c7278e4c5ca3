"""Screening in doubles (docs/FORMAT.md, "Screening"): which outputs can win in which class. For the search only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .exact import Floats
from .problem import Problem

SLACK = 1e-9  # relative; a double that lies this near to zero, or is not a number, counts as alive
CELLS = 1 << 22  # doubles held at once


@dataclass(frozen=True, slots=True)
class Survivors:
    """For one maximum: the bound of each (query, output), and which may win."""

    bound: Floats
    alive: npt.NDArray[np.bool_]


def survivors(problem: Problem, m: int) -> Survivors:
    """Outputs that may reach token m, for all queries of m; shape queries x outputs."""
    queries = problem.task.queries(m)
    outputs = problem.floats.values.shape[1]
    block = max(1, CELLS // ((m + 2) * outputs))
    parts = [_block(problem, m, np.arange(low, min(low + block, queries))) for low in range(0, queries, block)]
    bound = np.concatenate([part.bound for part in parts])
    return Survivors(bound, np.concatenate([part.alive for part in parts]))


def _block(problem: Problem, m: int, queries: npt.NDArray[np.int64]) -> Survivors:
    view, task = problem.floats, problem.task
    with np.errstate(over="ignore", invalid="ignore"):
        own = [task.own_row(int(q)) for q in queries]
        own_score = view.token[queries, own]
        heavy = np.maximum(view.token[queries, : m + 1].max(axis=1), own_score)
        token, own_weight = np.exp(view.token[queries, : m + 1] - heavy[:, None]), np.exp(own_score - heavy)
        positions = view.positions - view.positions[:, m : m + 1]
        base = view.direct[queries] - view.direct[queries, m : m + 1] + positions.max(axis=0) + view.shift
        values = view.values - view.values[:, m : m + 1]
        terms = token[:, :, None] * (values[None, : m + 1] + base[:, None])
        best = terms.max(axis=1)
        free = view.position[queries, :-1]
        bound = free.sum(axis=1)[:, None] * best
        bound += (view.position[queries, -1] * own_weight)[:, None] * (values[own] + base)
        if task.free:
            pays = free.min(axis=1)[:, None] * (terms[:, m] - best)
            holds = np.array([task.holds_max(int(q), m) for q in queries])
            bound += np.where(holds[:, None], 0.0, pays)
        scale = np.abs(terms).max(axis=1) * (task.free + 1) + np.abs(bound)
        alive = ~(bound < -SLACK * scale)
    alive[:, m] = False
    return Survivors(bound, alive)
