"""The same problem with one ingredient made free, for questions of the form: what if this cost nothing?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..problem import FloatView, Problem

Change = Callable[[FloatView], FloatView]


@dataclass(frozen=True)
class Altered(Problem):
    """A problem whose doubles are changed; its exact numbers are not."""

    change: Change = lambda view: view

    @cached_property
    def floats(self) -> FloatView:
        return self.change(Problem(self.model, self.task, self.threshold).floats)


def altered(problem: Problem, change: Change) -> Altered:
    """The problem with changed doubles."""
    return Altered(problem.model, problem.task, problem.threshold, change=change)


def without_direct(view: FloatView) -> FloatView:
    """EU gives every output the same."""
    return replace(view, direct=np.zeros_like(view.direct))


def without_position_values(view: FloatView) -> FloatView:
    """PVOU at its mean."""
    mean = view.positions.mean(axis=0, keepdims=True)
    return replace(view, positions=np.repeat(mean, len(view.positions), axis=0))


def without_position_attention(view: FloatView) -> FloatView:
    """EQKP equal at all positions."""
    return replace(view, position=np.ones_like(view.position))


CHANGES: dict[str, tuple[str, Change]] = {
    "direct path": ("if EU were zero", without_direct),
    "positions (values)": ("if PVOU were the same at all positions", without_position_values),
    "positions (attention)": ("if EQKP were the same at all positions", without_position_attention),
}
