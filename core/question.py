"""What a claim asks of a model: a quantity over a mixture of distributions; and proofs about parts put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from .claim import Claim, task_of, tasks_of
from .model import Model
from .problem import Problem
from .proof import Builder, Proof
from .semantics import Semantics
from .task import Task

LOSS_BITS: Final = 40  # bounds of a log-loss are in units of 2**-LOSS_BITS nats
COUNTING: Final = frozenset(("enumerate", "pure_sequences", "gap_classes", "margin_tree", "margin_convolution"))
"""The rules whose steps name a part of the distribution, if it has several (docs/FORMAT.md, section 3)."""

Prove = Callable[[Problem], Proof]


@dataclass(frozen=True, slots=True)
class Question:
    """`parts` are (share, problem); they differ in masses and maxima only. `log_loss`: thresholds are then free."""

    parts: tuple[tuple[int, Problem], ...]
    log_loss: bool = False

    @property
    def model(self) -> Model:
        return self.parts[0][1].model

    @property
    def task(self) -> Task:
        """The task of the first part: sizes are the same in all of them."""
        return self.parts[0][1].task

    @property
    def semantics(self) -> Semantics | None:
        return self.parts[0][1].semantics

    @property
    def threshold(self) -> tuple[int, int]:
        return self.parts[0][1].threshold

    @property
    def mass(self) -> int:
        """Mass of all inputs, each part taken as often as its share says."""
        return sum(share * problem.task.total for share, problem in self.parts)

    @property
    def total(self) -> int:
        """What the bounds of a proof are numbers of: the mass, or one nat."""
        return 1 << LOSS_BITS if self.log_loss else self.mass

    def at(self, threshold: tuple[int, int]) -> Question:
        """The same inputs, and how many of them have a margin above a threshold."""
        return Question(tuple((share, replace(problem, threshold=threshold)) for share, problem in self.parts))


def question_of(claim: Claim, model: Model, digits: int | None = None, semantics: Semantics | None = None) -> Question:
    """Errors: those of tasks_of."""
    threshold = claim.threshold or (0, 0)
    tasks = tasks_of(claim, model)
    parts = tuple((share, Problem(model, task, threshold, digits, semantics)) for share, task in tasks)
    return Question(parts, claim.threshold is None)


def counted(builder: Builder, question: Question, proofs: Sequence[Proof]) -> int:
    """The steps of one proof for each part but their conclusions; the number of the step that counts all parts."""
    counts = []
    for part, proof in enumerate(proofs):
        steps = proof.steps
        if len(proofs) > 1:
            steps = tuple({**step, "part": part} if step["rule"] in COUNTING else step for step in steps)
        counts.append(builder.append(steps[:-1])[cast(int, steps[-1]["of"])])
    return counts[0] if len(counts) == 1 else builder.add("mixture", of=[*counts])


def bounds(question: Question, proofs: Sequence[Proof]) -> tuple[int, int, int]:
    """Mass right, wrong and undecided by the proofs of the parts."""
    pairs = list(zip(question.parts, proofs, strict=True))
    right = sum(share * proof.lower for (share, _), proof in pairs)
    wrong = sum(share * (problem.task.total - proof.upper) for (share, problem), proof in pairs)
    return right, wrong, sum(share * proof.undecided for (share, _), proof in pairs)


def answer(question: Question, prove: Prove) -> Proof:
    """A proof of how many inputs have a margin above the threshold, from proofs about the parts."""
    proofs = [prove(problem) for _, problem in question.parts]
    if len(proofs) == 1:
        return proofs[0]
    builder = Builder()
    builder.add("conclude", of=counted(builder, question, proofs))
    right, wrong, undecided = bounds(question, proofs)
    return Proof(proofs[0].strategy, tuple(builder.steps), right, question.mass - wrong, undecided)


def problem_of(claim: Claim, model: Model) -> Problem:
    """The problem of a claim about one distribution. Errors: CLAIM_NOT_PLAIN, and those of tasks_of."""
    task = task_of(claim, model)
    return Problem(model, task, claim.threshold or (0, 0))
