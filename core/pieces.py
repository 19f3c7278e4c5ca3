"""Strategies that can prove a region on its own, for `sharding`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from .problem import Problem
from .proof import Proof
from .strategies import brute_force
from .strategies.convolution.moves import FINEST
from .strategies.convolution.operations import setup_operations
from .strategies.convolution.search import Goal, Search
from .strategies.convolution.strategy import AUTO, DIGITS, ROUNDS
from .strategies.convolution.write import Writer, proof, unit_of
from .task import Region, pairs
from .weights import precision


@dataclass(frozen=True, slots=True)
class Pieced:
    """How to prove a region; `whole_maxima`: regions must hold all queries of their maxima."""

    find: Callable[[Problem, Region], Proof]
    whole_maxima: bool


class PartSearch(Search):
    """A search that knows only some maxima; the others stay without items, and so without a claim."""

    def __init__(self, problem: Problem, goal: Goal, fixed: int, maxima: frozenset[int]) -> None:
        self.maxima = maxima
        super().__init__(problem, goal, fixed)

    def _start(self, m: int) -> None:
        if m in self.maxima:
            super()._start(m)


def convolution_region(problem: Problem, region: Region) -> Proof:
    """Nearly exact bounds for some maxima: their share of the gap that `auto` allows for all inputs."""
    total = problem.task.total
    size = sum(problem.task.class_size(q, m) for q, m in pairs(region))
    share = size / total
    chosen = precision(problem.circuits, problem.digits or DIGITS)
    goal = replace(AUTO, gap=(AUTO.gap or 0.0) * share)
    maxima = frozenset(m for m, _, _ in region)
    search = PartSearch(problem, goal, setup_operations(problem, chosen), maxima)
    lowest = problem.logits.exponent - 2 * chosen.digits
    writer = Writer(problem, chosen, unit_of(search.blocks, FINEST, lowest))
    for _ in range(ROUNDS):
        more = search.run(lambda state: None)
        confirmed = writer.confirm(search.blocks)
        gap = share - (confirmed.right + confirmed.wrong) / total
        if not more or goal.gap is None or gap <= goal.gap:
            break
        search.goal = replace(search.goal, gap=(search.goal.gap or 0.0) - 1.2 * (gap - goal.gap) - 1e-12)
    return proof(problem, chosen, writer.unit, confirmed)


PIECED: Final = {
    "brute-force": Pieced(lambda problem, region: brute_force.brute_force(problem, region=region), False),
    "margin-convolution": Pieced(convolution_region, True),
}
