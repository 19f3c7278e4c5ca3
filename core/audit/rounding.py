"""What a claim about a floating-point program loses to rounding: the bound by stage, and the undecided inputs.

An input is undecided if its margin over the real numbers is within two errors of the threshold: only there can the
order of evaluation decide. Whether it does is tried, in float32, with the coordinates of stream and head permuted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import CompactProofsError
from ..exact import rational
from ..float_semantics import FloatError, float_error, gap, shifted
from ..problem import Problem
from ..semantics import Semantics
from .replay import Input, Replayed, float32_logits, replay
from .scan import LARGEST, all_leaves

LISTED = 400
"""More undecided inputs than this are counted, not listed."""
ORDERS = 8
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Undecided:
    """An input, and the least and largest margin of float32 programs that sum in different orders."""

    replayed: Replayed
    low: float
    high: float

    def answer(self, bar: float) -> str:
        """What float32 says: one answer, or that it depends on the order."""
        return "right" if self.low > bar else "wrong" if self.high <= bar else "depends on the order"


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """`undecided` is None where the inputs cannot be listed, and incomplete where `count` is larger."""

    semantics: Semantics
    errors: FloatError
    far: Fraction
    bar: float
    count: int | None
    undecided: tuple[Undecided, ...] | None

    @property
    def stages(self) -> list[tuple[str, str, Fraction]]:
        """Name, meaning and bound of each stage; the last three add up to the error of a logit."""
        e = self.errors
        meanings = {
            "scores": "the logarithm of an attention weight is off by",
            "softmax": "that, and exp, move a logit by",
            "values": "errors of the averaged values move a logit by",
            "unembedding": "all that follows the average moves a logit by",
        }
        return [(name, text, e.number(getattr(e, name))) for name, text in meanings.items()]


def rounding(problem: Problem, semantics: Semantics) -> Rounding:
    """The account of one claim."""
    errors = float_error(problem.model, problem.task, semantics)
    far, bar = gap(errors), float(rational(*problem.threshold))
    found: list[Input] | None = None
    if problem.task.total <= LARGEST:
        try:
            found = sorted(_within(problem, far))
        except CompactProofsError as error:
            if error.code != "SCAN_TOO_LARGE":
                raise
    if found is None:
        return Rounding(semantics, errors, far, bar, None, None)
    chosen = found[:LISTED]
    return Rounding(semantics, errors, far, bar, len(found), tuple(_tried(problem, chosen)))


def _within(problem: Problem, far: Fraction) -> Iterator[Input]:
    """Inputs whose real margin is above threshold - far, and at most threshold + far (in doubles)."""
    high = Problem(problem.model, problem.task, shifted(problem.threshold, far))
    reach = 2 * float(far)
    for each, leaf in all_leaves(high, problem.task.whole()):
        yield from leaf.items(each, (leaf.ratio >= -SLACK) & (leaf.ratio < reach + SLACK))


def _tried(problem: Problem, items: list[Input]) -> Iterator[Undecided]:
    """Each input in several orders of summation, nearest to the threshold first."""
    if not items:
        return
    replayed = replay(problem, items)
    tokens = np.array([each.tokens for each in replayed])
    at, wanted = np.arange(len(tokens)), [each.wanted for each in replayed]
    margins = []
    for seed in range(ORDERS):
        logits = float32_logits(problem.model, tokens, seed)
        own = logits[at, wanted].copy()
        logits[at, wanted] = -np.inf
        margins.append(own - logits.max(axis=1))
    low, high = np.min(margins, axis=0), np.max(margins, axis=0)
    bar = rational(*problem.threshold)
    for i in sorted(at, key=lambda i: abs(replayed[i].real.low - bar)):
        yield Undecided(replayed[i], float(low[i]), float(high[i]))
