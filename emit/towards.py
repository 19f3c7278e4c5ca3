"""The search for what certify was asked to reach: one strategy, or for `auto` the best of several tries."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import inf

from ..core.decimals import ends, percent
from ..core.errors import CompactProofsError
from ..core.problem import Problem
from ..core.progress import Progress, note
from ..core.proof import Proof
from ..core.strategies import prove, top_tree
from .certificate import document, encode, run_checker
from .goals import Wish, plain
from .tries import Tries

SUBCUBIC = (44, 14, 94, 74, 84, 64, 92, 72, 2, 82, 62, 89, 69)
"""The sub-cubic strategies that were the shortest of their bounds on one model (benchmarks/frontier.py)."""
MISSED = ("GOAL_NOT_REACHED", "BUDGET_TOO_SMALL")


@dataclass(slots=True)
class Found:
    """A proof, and the operations of the checker for it, if they matter and are known."""

    proof: Proof
    operations: float = inf


def prove_towards(
    name: str,
    problem: Problem,
    wanted: Wish | None,
    progress: Progress,
    stopped: Callable[[], bool] = lambda: False,
) -> Proof:
    """The proof of a strategy that fits the wish. `auto` chooses among several for a bound or a budget.

    `stopped` tells whether a strategy gave what it had because of Ctrl-C, so that no other is tried.
    Errors: GOAL_NOT_REACHED, BUDGET_TOO_SMALL, GOAL_STRATEGY.
    """
    if wanted is None or wanted.goal.gap is not None or name != "auto":
        try:
            return prove(name, problem, progress, goal=None if wanted is None else wanted.goal)
        except CompactProofsError as error:
            raise _advised(error, name) from None
    search = _Search(problem, wanted, progress)
    try:
        for _ in search.candidates():
            if stopped():
                break
    except KeyboardInterrupt:
        if not (wanted.goal.interruptible and search.usable()):
            raise
    return search.within(wanted.goal.operations) if wanted.least is None else search.shortest(wanted.least)


def _advised(error: CompactProofsError, name: str) -> CompactProofsError:
    """What to do about a goal that one strategy did not reach."""
    if error.code not in MISSED:
        return error
    text = "allow more" if error.code == "BUDGET_TOO_SMALL" else "add --keep-best to write that, or ask for less"
    other = "" if name == "auto" else "; or leave out --strategy, so that others are tried, too"
    return CompactProofsError(error.code, f"{error.text}; {text}{other}", error.file, error.place)


class _Search:
    """Tries for a lower bound by a short proof, or for the best bound within a budget."""

    def __init__(self, problem: Problem, wanted: Wish, progress: Progress) -> None:
        self.problem, self.wanted = problem, wanted
        self.found: list[Found] = []
        self.subcubic = SUBCUBIC if problem.task.masses is None else ()
        # the convolution takes about as long as all that comes after it
        self.tries = Tries(progress, 1 + len(self.subcubic) + problem.task.tokens.bit_length(), 0.5)

    def candidates(self) -> Iterator[None]:
        """What works towards the goal, the strategies that are short, and the exact count of the largest maxima."""
        self._try("margin-convolution", self._convolution)
        yield
        for number in self.subcubic:
            name = f"subcubic:{number}:tight"
            self._try(name, partial(prove, name, self.problem))
            yield
        # the more maxima, the more is proved, and the longer is the proof: bisect for the first that will do
        low, high = 0, self.problem.task.tokens
        while low < high:
            first = (low + high) // 2
            words = f"margin-tree of the maxima from {first} on"
            tree = self._try(words, partial(top_tree, self.problem, first))
            yield
            if self.wanted.least is None:
                fewer = tree is None or tree.operations > (self.wanted.goal.operations or 0)
            else:
                fewer = tree is None or self._reached(tree.proof)
            low, high = (first + 1, high) if fewer else (low, first)

    def _convolution(self, progress: Progress) -> Proof:
        return prove("margin-convolution", self.problem, progress, goal=replace(self.wanted.goal, keep=True))

    def _reached(self, proof: Proof) -> bool:
        return proof.lower >= (self.wanted.least or 0) * self.problem.task.total

    def _try(self, name: str, find: Callable[[Progress], Proof]) -> Found | None:
        """The proof of one candidate; None if it fails, as many do."""
        progress = self.tries.begin(name)
        try:
            proof = find(progress)
        except CompactProofsError as error:
            if name == "margin-convolution" and error.code not in MISSED:
                raise
            return None
        self.found.append(found := Found(proof))
        if self.wanted.least is None or self._reached(proof):
            note(progress, "counting the checker's operations")
            found.operations = operations_of(self.problem, proof)
        self.tries.best = self._best()
        return found

    def _best(self) -> str:
        """In words."""
        if self.wanted.least is None:
            best = max(self._fitting(), key=lambda each: each.proof.lower, default=None)
        else:
            fitting = [each for each in self.found if self._reached(each.proof)]
            best = min(fitting, key=lambda each: each.operations, default=None)
        return "" if best is None else f"{self._bound(best)} in {best.operations} operations"

    def _bound(self, found: Found) -> str:
        return percent(found.proof.lower, self.problem.task.total)

    def _fitting(self) -> list[Found]:
        return [each for each in self.found if each.operations <= (self.wanted.goal.operations or 0)]

    def usable(self) -> bool:
        """Is there something to keep?"""
        return bool(self._fitting() if self.wanted.least is None else self.found)

    def within(self, budget: int | None) -> Proof:
        """The best within a budget. Errors: BUDGET_TOO_SMALL, with the smallest that will do."""
        if fitting := self._fitting():
            return max(fitting, key=lambda each: each.proof.lower).proof
        text = f"no proof within {budget} operations was found"
        if self.found:
            least = min(self.found, key=lambda each: each.operations)
            text += f"; the shortest found takes {least.operations} and proves {self._bound(least)}:"
            text += f" write it with --budget {least.operations}, or allow more for a better bound"
        raise CompactProofsError("BUDGET_TOO_SMALL", text)

    def shortest(self, least: Fraction) -> Proof:
        """The shortest of those that reach a bound. Errors: GOAL_NOT_REACHED, with the best bound found."""
        reached = [each for each in self.found if self._reached(each.proof)]
        if reached:
            return min(reached, key=lambda each: each.operations).proof
        if not self.found:
            text = f"a lower bound of {plain(least)} was not reached, nor any other; try --strategy cubic"
            raise CompactProofsError("GOAL_NOT_REACHED", text)
        best = max(self.found, key=lambda each: each.proof.lower)
        if self.wanted.goal.keep:
            return best.proof
        total = self.problem.task.total
        text = f"a lower bound of {plain(least)} was not reached; the best found is {self._bound(best)}"
        most = min(each.proof.upper for each in self.found)
        if most < least * total:
            text += f", and no proof can reach it: at most {ends(best.proof.lower, most, total)[1]} are right"
        raise CompactProofsError("GOAL_NOT_REACHED", f"{text}; add --keep-best to write the best, or ask for less")


def operations_of(problem: Problem, proof: Proof) -> int:
    """The checker's count, by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "candidate.json")
        with open(path, "wb") as file:
            file.write(encode(document(problem, proof)))
        return int(run_checker(path)["operations"])
