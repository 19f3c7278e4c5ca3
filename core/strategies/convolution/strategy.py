"""Nearly exact bounds at every length: search, confirm, and search on where the exact counts fall short of the goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, log, log2
from typing import Protocol, runtime_checkable

from ...errors import CompactProofsError
from ...problem import Problem
from ...proof import Proof
from ...weights import precision
from .moves import FINEST
from .operations import setup_operations
from .search import Goal, Search, State
from .write import Confirmed, Writer, proof, unit_of

AUTO = Goal(gap=0.0005)
DIGITS = 32
ROUNDS = 8
Progress = Callable[[int, int], None]


@runtime_checkable
class Noted(Protocol):
    """Progress that also shows a line of text."""

    def note(self, text: str) -> None: ...


def margin_convolution(problem: Problem, progress: Progress = lambda done, total: None, goal: Goal = AUTO) -> Proof:
    """A proof that reaches the goal; the best there is, if the goal says to keep it.

    Errors: GOAL_NOT_REACHED, BUDGET_TOO_SMALL.
    """
    return measured(problem, progress, goal)[0]


def measured(problem: Problem, progress: Progress, goal: Goal) -> tuple[Proof, int]:
    """The proof, and the operations of the checker for it."""
    chosen = precision(problem.circuits, problem.digits or _digits(problem))
    fixed = setup_operations(problem, chosen)
    if goal.operations is not None and goal.operations <= fixed:
        text = f"the circuits and weights alone take {fixed} operations; {goal.operations} are allowed"
        raise CompactProofsError("BUDGET_TOO_SMALL", text)
    search = Search(problem, goal, fixed)
    lowest = problem.logits.exponent - 2 * chosen.digits
    writer = Writer(problem, chosen, unit_of(search.blocks, FINEST, lowest))
    wanted: Goal | None = goal
    for _ in range(ROUNDS):
        more = _run(search, _watch(progress, goal))
        confirmed = writer.confirm(search.blocks)
        wanted = _adjusted(problem, search.goal, goal, confirmed, fixed)
        if wanted is None or (goal.keep and not more):
            return proof(problem, chosen, writer.unit, confirmed), fixed + confirmed.operations
        if not more and goal.operations is None:
            break
        search.goal = wanted
        if goal.operations is not None:
            search = Search(problem, wanted, fixed)
    raise _not_reached(problem, goal, confirmed)


def _digits(problem: Problem) -> int:
    """DIGITS of them for the lightest position, too: its weight counts relative to the best."""
    lightest = float(problem.floats.position.min())
    return min(DIGITS + (ceil(-log2(lightest)) if lightest > 0 else 512), 512)


def _run(search: Search, watch: Callable[[State], None]) -> bool:
    """Search; False if there is nothing more to do, or no more time."""
    try:
        return search.run(watch)
    except KeyboardInterrupt:
        if search.goal.keep:
            return False
        raise


def estimate(problem: Problem) -> int:
    """Right inputs by a search for the goal of `auto`, without confirmation."""
    search = Search(problem, AUTO, 0)
    search.run(lambda state: None)
    return int(problem.task.total * Fraction(1 - search.state.above))


def _watch(progress: Progress, goal: Goal) -> Callable[[State], None]:
    """How far the search is on its way, and the bounds it has."""

    def watch(state: State) -> None:
        if goal.operations is not None:
            done = state.operations / goal.operations
        elif goal.gap is not None:
            done = log(max(state.above - state.below, 1e-15)) / log(max(goal.gap, 1e-15))
        else:
            done = log(max(state.above, 1e-15)) / log(max(1 - (goal.least or 0.0), 1e-15))
        progress(min(round(done * 1000), 1000), 1000)
        if isinstance(progress, Noted):
            progress.note(f"{100 * (1 - state.above):.4f} % to {100 * (1 - state.below):.4f} %")

    return watch


def _adjusted(problem: Problem, wanted: Goal, goal: Goal, confirmed: Confirmed, fixed: int) -> Goal | None:
    """None if the exact counts reach the goal; else what to search for instead."""
    total = problem.task.total
    lower, gap = confirmed.right / total, 1 - (confirmed.right + confirmed.wrong) / total
    if goal.gap is not None and wanted.gap is not None and gap > goal.gap:
        return replace(wanted, gap=wanted.gap - 1.2 * (gap - goal.gap) - 1e-12)
    if goal.least is not None and wanted.least is not None and lower < goal.least:
        return replace(wanted, least=wanted.least + 1.2 * (goal.least - lower) + 1e-12)
    if goal.operations is not None and wanted.operations is not None:
        excess = fixed + confirmed.operations - goal.operations
        if excess > 0:
            return replace(wanted, operations=wanted.operations - 2 * excess)
    return None


def _not_reached(problem: Problem, goal: Goal, confirmed: Confirmed) -> CompactProofsError:
    lower, upper = confirmed.right / problem.task.total, 1 - confirmed.wrong / problem.task.total
    wish = f"gap {goal.gap}" if goal.gap is not None else f"lower bound {goal.least}"
    text = f"{wish} was not reached; the best found is {lower:.6%} to {upper:.6%}, try a weaker goal"
    return CompactProofsError("GOAL_NOT_REACHED", text)
