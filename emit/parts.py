"""Proofs of claims about mixtures of distributions and about the log-loss, from proofs about their parts."""

from __future__ import annotations

from collections.abc import Callable

import click

from ..core.log_loss import log_loss
from ..core.problem import Problem
from ..core.proof import Proof
from ..core.question import Question, answer
from ..core.strategies import TOWARDS, prove
from ..core.strategies.convolution import Goal
from .goals import Wish, prove_towards

Progress = Callable[[int, int], None]


def prove_parts(question: Question, strategy: str, wanted: Wish | None, jobs: int, progress: Progress) -> Proof:
    """One proof for all parts; each reaches the wished width by itself. Errors: those of the strategy."""
    if jobs != 1:
        raise click.UsageError("--jobs is for claims about one distribution that are no mean loss")
    if wanted is not None and (wanted.goal.gap is None or question.log_loss):
        option = "--gap, --at-least and --budget are" if question.log_loss else "--at-least and --budget are"
        raise click.UsageError(f"{option} not for this claim; write the bound into it: '... >= 99%', '... <= 0.05'")
    if question.log_loss:
        return log_loss(question, lambda problem, gap: _near(strategy, problem, gap), progress)
    return answer(question, lambda problem: prove_towards(strategy, problem, wanted, progress))


def _near(strategy: str, problem: Problem, gap: float) -> Proof:
    """Bounds of about a width, or as good as the strategy gives them."""
    goal = Goal(gap=gap, keep=True) if strategy in TOWARDS else None
    return prove(strategy, problem, goal=goal)
