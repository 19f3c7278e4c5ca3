"""What a certificate should reach: a width of the bounds, a lower bound by a short proof, or a limit on its length."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import click

from ..core.decimals import percent
from ..core.errors import CompactProofsError
from ..core.problem import Problem
from ..core.proof import Proof
from ..core.strategies import prove, top_tree
from ..core.strategies.convolution import Goal
from .certificate import document, encode, run_checker

Progress = Callable[[int, int], None]
SUBCUBIC = (44, 14, 94, 74, 84, 64, 92, 72, 2, 82, 62, 89, 69)


@dataclass(frozen=True, slots=True)
class Wish:
    """As the command line has it; the lower bound exactly."""

    goal: Goal
    least: Fraction | None


def wish(gap: str | None, at_least: str | None, budget: int | None, keep_best: bool) -> Wish | None:
    """The wish of the options, if there is one."""
    if sum(option is not None for option in (gap, at_least, budget)) > 1:
        raise click.UsageError("--gap, --at-least and --budget exclude each other")
    width, least = share("--gap", gap), share("--at-least", at_least)
    if width is not None:
        return Wish(Goal(gap=float(width), keep=keep_best, interruptible=keep_best), None)
    if least is not None:
        return Wish(Goal(least=float(least), keep=keep_best, interruptible=keep_best), least)
    if budget is not None:
        return Wish(Goal(operations=budget, interruptible=keep_best), None)
    return Wish(Goal(gap=0.0005, keep=True, interruptible=True), None) if keep_best else None


def missed(wanted: Wish | None, proof: Proof, total: int) -> str | None:
    """What a proof that was kept lacks of the wish."""
    if wanted is None:
        return None
    width = Fraction(proof.upper - proof.lower, total)
    if wanted.goal.gap is not None and width > Fraction(wanted.goal.gap):
        apart = percent(proof.upper - proof.lower, total, up=True)
        return f"the goal was NOT reached: the bounds are {apart} apart, asked for were {100 * wanted.goal.gap:.6g} %"
    if wanted.least is not None and proof.lower < wanted.least * total:
        reached, asked = percent(proof.lower, total), f"{100 * float(wanted.least):.6g} %"
        return f"the goal was NOT reached: the lower bound is {reached}, asked for was {asked}"
    return None


def share(option: str, text: str | None) -> Fraction | None:
    """0.998, 99.8%, 998/1000."""
    if text is None:
        return None
    try:
        value = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        raise click.UsageError(f"{option} {text!r} is not a number, a fraction or a percentage") from None
    if not 0 <= value <= 1:
        raise click.UsageError(f"{option} {text} must lie between 0 and 1, or 0% and 100%")
    return value


def prove_towards(name: str, problem: Problem, wanted: Wish | None, progress: Progress) -> Proof:
    """The proof of a strategy that fits the wish. `auto` chooses among several for a bound or a budget.

    Errors: GOAL_NOT_REACHED, BUDGET_TOO_SMALL, GOAL_STRATEGY.
    """
    if wanted is None or wanted.goal.gap is not None or name != "auto":
        return prove(name, problem, progress, goal=None if wanted is None else wanted.goal)
    measured = list(_candidates(problem, wanted, progress))
    if wanted.least is not None:
        return _shortest(problem, wanted, wanted.least, measured)
    limit = wanted.goal.operations or 0
    fitting = [(proof, operations) for proof, operations in measured if operations <= limit]
    if not fitting:
        shortest = f"; the shortest found takes {min(n for _, n in measured)}" if measured else ""
        text = f"no proof within {limit} operations was found{shortest}"
        raise CompactProofsError("BUDGET_TOO_SMALL", text)
    return max(fitting, key=lambda pair: pair[0].lower)[0]


def _shortest(problem: Problem, wanted: Wish, least: Fraction, measured: list[tuple[Proof, int]]) -> Proof:
    total = problem.task.total
    reached = [(proof, operations) for proof, operations in measured if proof.lower >= least * total]
    if not reached and wanted.goal.keep and measured:
        return max(measured, key=lambda pair: pair[0].lower)[0]
    if not reached:
        best = max((proof.lower for proof, _ in measured), default=0)
        text = f"a lower bound of {float(least):.6%} was not reached; the best found is {percent(best, total)}"
        raise CompactProofsError("GOAL_NOT_REACHED", text)
    return min(reached, key=lambda pair: pair[1])[0]


def _candidates(problem: Problem, wanted: Wish, progress: Progress) -> Iterator[tuple[Proof, int]]:
    """Proofs with their lengths: what works towards the goal, and the exact count of the largest maxima."""
    try:
        proof = prove("margin-convolution", problem, progress, goal=wanted.goal)
        yield proof, operations_of(problem, proof)
    except CompactProofsError as error:
        if error.code not in ("GOAL_NOT_REACHED", "BUDGET_TOO_SMALL"):
            raise
    yield from _subcubic(problem, wanted)
    # the more maxima, the more is proved, and the longer is the proof: bisect for the first that will do
    low, high = 0, problem.task.tokens
    while low < high:
        first = (low + high) // 2
        try:
            tree = top_tree(problem, first)
        except CompactProofsError as error:
            if error.code != "TREE_TOO_LARGE":
                raise
            low = first + 1
            continue
        operations = operations_of(problem, tree)
        yield tree, operations
        if wanted.least is not None:
            reached = tree.lower >= wanted.least * problem.task.total
            low, high = (first + 1, high) if reached else (low, first)
        else:
            low, high = (low, first) if operations <= (wanted.goal.operations or 0) else (first + 1, high)


def _subcubic(problem: Problem, wanted: Wish) -> Iterator[tuple[Proof, int]]:
    """The sub-cubic strategies that were the shortest of their bounds on one model (benchmarks/frontier.py)."""
    if problem.task.masses is not None:
        return
    for number in SUBCUBIC:
        try:
            proof = prove(f"subcubic:{number}:tight", problem)
        except CompactProofsError:
            continue
        if wanted.least is None or proof.lower >= wanted.least * problem.task.total:
            yield proof, operations_of(problem, proof)


def operations_of(problem: Problem, proof: Proof) -> int:
    """The checker's count, by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "candidate.json")
        with open(path, "wb") as file:
            file.write(encode(document(problem, proof)))
        return int(run_checker(path)["operations"])
