"""Strategies that can prove a region on its own, for `sharding`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from .problem import Problem
from .proof import Proof
from .strategies import brute_force
from .strategies.convolution import AUTO, margin_convolution
from .task import Region, pairs


@dataclass(frozen=True, slots=True)
class Pieced:
    """How to prove a region; `whole_maxima`: regions must hold all queries of their maxima."""

    find: Callable[[Problem, Region], Proof]
    whole_maxima: bool


def convolution_region(problem: Problem, region: Region) -> Proof:
    """Nearly exact bounds for some maxima: their share of the gap that `auto` allows for all inputs."""
    size = sum(problem.task.class_size(q, m) for q, m in pairs(region))
    goal = replace(AUTO, gap=(AUTO.gap or 0.0) * (size / problem.task.total), keep=True)
    return margin_convolution(problem, goal=goal, maxima=frozenset(m for m, _, _ in region))


PIECED: Final = {
    "brute-force": Pieced(lambda problem, region: brute_force.brute_force(problem, region=region), False),
    "margin-convolution": Pieced(convolution_region, True),
}
