"""Zero ablations: accuracy over all sequences when circuits are replaced by zero (paper, section 3.1).

An ablated score term is 0 before the softmax, an ablated value term is 0. Raw circuits. The margin tree counts
exactly where the model still works; elsewhere doubles enumerate, for which the length must be small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

from .circuits import Circuits
from .errors import CompactProofsError
from .exact import Exact, Floats
from .problem import Problem
from .strategies.margin_tree import margin_tree

CIRCUITS: Final = ("EU", "EQKE", "EQKP", "EVOU", "PVOU")
MINOR: Final = ("EU", "EQKP", "PVOU")
"""The circuits that the interpretation calls unimportant; the tree stays small without them."""
TREE_NODES: Final = 100_000
LIMIT: Final = 1 << 25


@dataclass(frozen=True)
class AblatedProblem(Problem):
    """A problem whose named circuits are zero."""

    removed: frozenset[str] = frozenset()

    @cached_property
    def circuits(self) -> Circuits:
        c, gone = Problem(self.model, self.task).circuits, self.removed
        return replace(
            c,
            eu=_zero(c.eu) if "EU" in gone else c.eu,
            eqke=_zero(c.eqke) if "EQKE" in gone else c.eqke,
            eqkp=_zero(c.eqkp) if "EQKP" in gone else c.eqkp,
            evou=_zero(c.evou) if "EVOU" in gone else c.evou,
            pvou=_zero(c.pvou) if "PVOU" in gone else c.pvou,
        )


@dataclass(frozen=True, slots=True)
class Ablation:
    """Which circuits were removed, sequences still right, all sequences, and whether the count is exact."""

    removed: tuple[str, ...]
    right: int
    total: int
    exact: bool


def subsets(names: Iterable[str] = CIRCUITS) -> Iterator[tuple[str, ...]]:
    """All subsets, small ones first: 32 of the five circuits."""
    pool = tuple(names)
    for size in range(len(pool) + 1):
        yield from combinations(pool, size)


def ablate(problem: Problem, removed: tuple[str, ...]) -> Ablation:
    """Sequences that stay right. Errors: ABLATION_TOO_LARGE."""
    ablated = AblatedProblem(problem.model, problem.task, problem.threshold, removed=frozenset(removed))
    total = problem.task.total
    if set(removed) <= set(MINOR):
        try:
            return Ablation(removed, margin_tree(ablated, nodes=TREE_NODES).lower, total, True)
        except CompactProofsError as error:
            if error.code != "TREE_TOO_LARGE":
                raise
    return Ablation(removed, enumerated(ablated), total, False)


def enumerated(problem: Problem) -> int:
    """Right sequences by float32 enumeration: largest logit strictly at the maximum. Plain task only."""
    task = problem.task
    if task.total > LIMIT or task.eos is not None:
        text = f"{task.total} sequences, at most {LIMIT} are enumerated; ablate fewer circuits"
        raise CompactProofsError("ABLATION_TOO_LARGE", text, problem.model.source)
    return sum(_right(_terms(problem, q), q) for q in range(task.tokens))


def _terms(problem: Problem, q: int) -> Floats:
    """Logit contributions [position, token, output] of a query, up to a positive factor."""
    view = problem.floats
    tokens = problem.task.tokens
    weights = view.position[q][:, None] * np.exp(view.token[q, :tokens])[None]
    logits = view.direct[q] + view.positions[:, None] + view.values[None, :tokens]
    terms: Floats = (weights[:, :, None] * logits).astype(np.float32)
    return terms


def _right(terms: Floats, q: int) -> int:
    """Right sequences with one query: all free tokens, the last two at once."""
    length, tokens, _ = terms.shape
    start = terms[-1, q]
    free = length - 1
    tail = terms[0] if free == 1 else np.zeros((1, terms.shape[2]), dtype=terms.dtype)
    top = np.arange(tokens) if free == 1 else np.zeros(1, dtype=int)
    if free >= 2:
        tail = (terms[free - 2][:, None] + terms[free - 1][None]).reshape(tokens * tokens, -1)
        top = np.maximum.outer(np.arange(tokens), np.arange(tokens)).ravel()
    right = 0
    rows = np.arange(len(tail))
    for prefix in np.ndindex(*(tokens,) * max(free - 2, 0)):
        head = start + sum((terms[i, t] for i, t in enumerate(prefix)), np.zeros_like(start))
        sums = tail + head
        wanted = np.maximum(top, max((q, *prefix)))
        own = sums[rows, wanted]
        sums[rows, wanted] = -np.inf
        right += int((own > sums.max(axis=1)).sum())
    return right


def _zero(matrix: Exact) -> Exact:
    return Exact(np.zeros(matrix.ints.shape, dtype=object), 0)
