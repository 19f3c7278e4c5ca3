"""Proofs of claims about mixtures of distributions and about the log-loss, from proofs about their parts."""

from __future__ import annotations

from itertools import count

import click

from ..core.log_loss import log_loss
from ..core.problem import Problem
from ..core.progress import Part, Progress, note
from ..core.proof import Proof
from ..core.question import Question, answer
from ..core.strategies import TOWARDS, prove
from ..core.strategies.convolution import Goal
from .goals import Wish
from .towards import prove_towards

GROWTH = 1.2
"""How much longer each threshold of a mean loss takes than the one before it, by experience."""


def prove_parts(question: Question, strategy: str, wanted: Wish | None, jobs: int, progress: Progress) -> Proof:
    """One proof for all parts; each reaches the wished width by itself. Errors: those of the strategy."""
    if jobs != 1:
        raise click.UsageError("--jobs is for claims about one distribution that are no mean loss")
    if wanted is not None and (wanted.goal.gap is None or question.log_loss):
        option = "--gap, --at-least and --budget are" if question.log_loss else "--at-least and --budget are"
        raise click.UsageError(f"{option} not for this claim; write the bound into it: '... >= 99%', '... <= 0.05'")
    if question.log_loss:
        shown = Thresholds(progress, len(question.parts))
        return log_loss(question, lambda problem, gap: _near(strategy, problem, gap, shown.begin(problem)), shown)
    numbers, parts = count(), len(question.parts)

    def part(problem: Problem) -> Proof:
        n = next(numbers)
        done = Part(progress, n / parts, (n + 1) / parts, f"part {n + 1} of {parts} of the distribution")
        return prove_towards(strategy, problem, wanted, done)

    return answer(question, part)


def _near(strategy: str, problem: Problem, gap: float, progress: Progress) -> Proof:
    """Bounds of about a width, or as good as the strategy gives them."""
    goal = Goal(gap=gap, keep=True) if strategy in TOWARDS else None
    return prove(strategy, problem, progress, goal=goal)


class Thresholds:
    """Progress of a mean loss: the thresholds that are done, the count at the one at hand, and the bounds so far."""

    def __init__(self, progress: Progress, parts: int) -> None:
        self.progress, self.parts = progress, parts
        self.done, self.most, self.part, self.bounds = 0, 0, 0, ""

    def __call__(self, done: int, most: int) -> None:
        self.done, self.most, self.part = done, most, 0

    def note(self, text: str) -> None:
        self.bounds = f" ({text})"

    def begin(self, problem: Problem) -> Progress:
        """Progress of the count of one part of the distribution at one threshold."""
        n, exponent = problem.threshold
        what = f"margins above {n * 2.0**exponent:g}"
        if not self.most:  # the first thresholds tell how many there may be
            note(self.progress, f"first thresholds, {what}")
            return lambda done, total: None
        start, end = (self._until(self.done + (self.part + k) / self.parts) for k in (0, 1))
        self.part += 1
        number = f"threshold {self.done + 1} of at most {self.most}{self.bounds}"
        return Part(self.progress, start, end, f"{number}, {what}")

    def _until(self, thresholds: float) -> float:
        """The share of all work that so many thresholds are."""
        return float((GROWTH**thresholds - 1) / (GROWTH**self.most - 1))
