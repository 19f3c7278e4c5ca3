"""Nearly exact bounds at every length: search, confirm, and search on where the exact counts fall short of the goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log, log2

from ...decimals import ends, percent
from ...errors import CompactProofsError
from ...problem import Problem
from ...progress import Part, Progress, note
from ...proof import Proof
from .moves import FINEST
from .search import LOSS, Goal, Search, State
from .write import MOST_DIGITS, Confirmed, Writer, proof

AUTO = Goal(gap=LOSS, keep=True)
DIGITS = 32
ROUNDS = 8
HALVINGS = 5  # of the room that a budget leaves beside circuits and weights


def margin_convolution(
    problem: Problem,
    progress: Progress = lambda done, total: None,
    goal: Goal = AUTO,
    maxima: frozenset[int] | None = None,
) -> Proof:
    """A proof that reaches the goal; the best there is, if the goal says to keep it. `maxima`: of these alone.

    Errors: GOAL_NOT_REACHED, BUDGET_TOO_SMALL.
    """
    return measured(problem, progress, goal, maxima)[0]


def measured(
    problem: Problem, progress: Progress, goal: Goal, maxima: frozenset[int] | None = None
) -> tuple[Proof, int]:
    """The proof, and the operations of the checker for it."""
    if goal.operations is not None:
        return _within(problem, progress, goal, maxima)
    return _towards(problem, progress, goal, maxima)[:2]


def _within(problem: Problem, progress: Progress, goal: Goal, maxima: frozenset[int] | None) -> tuple[Proof, int]:
    """The best of the searches for the whole budget, for half of its room, and so on: a search is no monotone thing."""
    budget, fixed = goal.operations or 0, Writer(problem, problem.digits or _digits(problem), 1.0).fixed
    if budget <= fixed:
        text = f"the circuits and weights alone take {fixed} operations; {budget} are allowed"
        raise CompactProofsError("BUDGET_TOO_SMALL", text)
    found = list[tuple[Proof, int]]()
    for halved in range(HALVINGS):
        if room := (budget - fixed) >> halved:
            try:
                part = Part(progress, halved / HALVINGS, (halved + 1) / HALVINGS, f"search {halved + 1} of {HALVINGS}")
                made, operations, stopped = _towards(problem, part, replace(goal, operations=fixed + room), maxima)
            except CompactProofsError:
                continue
            except KeyboardInterrupt:
                if goal.interruptible and found:
                    break
                raise
            found.append((made, operations))
            if stopped:
                break
    if not found:  # estimates can miss a budget with little room
        found.append(_towards(problem, progress, Goal(least=0.0), maxima)[:2])
    fitting = [each for each in found if each[1] <= budget]
    if not fitting:
        text = f"{budget} operations are allowed, the shortest proof found by convolution takes {found[-1][1]}"
        raise CompactProofsError("BUDGET_TOO_SMALL", text)
    return max(fitting, key=lambda each: (each[0].lower, -each[1]))


def _towards(
    problem: Problem, progress: Progress, goal: Goal, maxima: frozenset[int] | None
) -> tuple[Proof, int, bool]:
    """One search, repeated with another aim where its estimates were wrong; also tells if it was stopped."""
    search = Search(problem, goal, maxima)
    finest = min(block.scale for block in search.blocks.values()) * FINEST
    writer = Writer(problem, problem.digits or _digits(problem), finest)
    if goal.operations is not None:
        search.goal = replace(goal, operations=goal.operations - writer.fixed)
    for _ in range(ROUNDS):
        more = _run(search, _watch(progress, search.goal))
        confirmed = writer.confirm(search.blocks)
        wanted = _adjusted(search, goal, confirmed)
        if (
            wanted is None
            or more is None
            or ((goal.keep or goal.interruptible) and not more and goal.operations is None)
        ):
            return proof(writer, confirmed), confirmed.operations, more is None
        if not more and goal.operations is None:
            break
        search.goal = wanted
        if goal.operations is not None:
            search = Search(problem, wanted, maxima)
    raise _not_reached(problem, goal, confirmed)


def _digits(problem: Problem) -> int:
    """DIGITS of them for the lightest position, too: its weight counts relative to the best."""
    lightest = float(problem.floats.position.min())
    return min(DIGITS + (ceil(-log2(lightest)) if lightest > 0 else MOST_DIGITS), MOST_DIGITS)


def _run(search: Search, watch: Callable[[State], None]) -> bool | None:
    """Search; False if there is nothing more to do, None if there is no more time."""
    try:
        return search.run(watch)
    except KeyboardInterrupt:
        if search.goal.interruptible:
            return None
        raise


def estimate(problem: Problem, progress: Progress = lambda done, total: None) -> int:
    """Right inputs by a search for the goal of `auto`, without confirmation."""
    search = Search(problem, AUTO)
    search.run(_watch(progress, AUTO))
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
        low, high = floor(10**6 * (1 - state.above)), ceil(10**6 * (1 - state.below))
        note(progress, f"{percent(low, 10**6, places=4)} to {percent(high, 10**6, places=4)}")

    return watch


def _adjusted(search: Search, goal: Goal, confirmed: Confirmed) -> Goal | None:
    """None if the exact counts reach the goal; else what to search for instead."""
    task, wanted = search.problem.task, search.goal
    size = sum(task.class_size(q, m) for m in search.blocks for q in range(task.queries(m)))
    above, gap = ((size - n) / task.total for n in (confirmed.right, confirmed.right + confirmed.wrong))
    if goal.gap is not None and wanted.gap is not None and gap > goal.gap:
        return replace(wanted, gap=wanted.gap - 1.2 * (gap - goal.gap) - 1e-12)
    if goal.least is not None and wanted.least is not None and above > 1 - goal.least:
        return replace(wanted, least=wanted.least + 1.2 * (above - 1 + goal.least) + 1e-12)
    if goal.operations is not None and wanted.operations is not None:
        excess = confirmed.operations - goal.operations
        if excess > 0:
            return replace(wanted, operations=wanted.operations - 2 * excess)
    return None


def _not_reached(problem: Problem, goal: Goal, confirmed: Confirmed) -> CompactProofsError:
    low, high = ends(confirmed.right, problem.task.total - confirmed.wrong, problem.task.total)
    share = 100 * (goal.least or 0.0 if goal.gap is None else goal.gap)
    wish = f"{'a lower bound' if goal.gap is None else 'a gap'} of {share:.12g} %"
    if goal.operations is not None:
        wish = f"a proof within {goal.operations} operations"
    text = f"{wish} was not reached; the best found is {low} to {high}"
    return CompactProofsError("GOAL_NOT_REACHED", text)
