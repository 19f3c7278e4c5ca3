"""Two-sided bounds of the mean log-loss from counts at several thresholds (paper A.11; docs/FORMAT.md, `log_loss`).

An input of margin M has a loss between log(1 + exp(-M)) and log(1 + (outputs - 1) exp(-M)). So counts of the inputs
above ascending thresholds bound the mean from both sides. Bands of the margin are half a logit wide where most inputs
are, and end where the rest can contribute little.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Final

import gmpy2

from .decimals import decimal
from .errors import CompactProofsError
from .problem import Problem
from .progress import Progress, note
from .proof import Builder, Proof, hexadecimal
from .question import LOSS_BITS, Question, bounds, counted

FLOORS: Final = (0, -2, -4, -8, -16, -32, -64, -128, -256, -1024)
COARSE, FINE, FINE_FROM = Fraction(1), Fraction(1, 2), Fraction(4)
HIGHEST: Final = 64
SHARE: Final = 0.05
"""Of the upper bound: what a band may lose by an inexact count, and what may be left above the last threshold."""

Prove = Callable[[Problem, float], Proof]


def upper_loss(r: Fraction, others: int) -> int:
    """At least log(1 + others * exp(-r)), in units of 2**-LOSS_BITS."""
    with gmpy2.context(precision=160):
        value = gmpy2.log1p(others * gmpy2.exp(gmpy2.mpfr(-r)))
        return int(gmpy2.ceil(value * 2**LOSS_BITS)) + 1


def lower_loss(r: Fraction) -> int:
    """At most log(1 + exp(-r)), in units of 2**-LOSS_BITS."""
    with gmpy2.context(precision=160):
        return max(int(gmpy2.floor(gmpy2.log1p(gmpy2.exp(gmpy2.mpfr(-r))) * 2**LOSS_BITS)) - 1, 0)


class Bands:
    """Thresholds with what was proved about each; `lower` and `upper` are the bounds so far."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.others = question.model.d_vocab_out - 1
        self.proved: list[tuple[Fraction, list[Proof], int, int]] = []

    def add(self, r: Fraction, proofs: list[Proof]) -> None:
        right, wrong, _ = bounds(self.question, proofs)
        self.proved.append((r, proofs, right, wrong))

    @property
    def upper(self) -> int:
        mass, highs = self.question.mass, [upper_loss(r, self.others) for r, *_ in self.proved]
        steps = zip(self.proved[1:], pairwise(highs), strict=True)
        most = highs[0] * mass - sum(right * (a - b) for (_, _, right, _), (a, b) in steps)
        return -(-most // mass)

    @property
    def lower(self) -> int:
        lows = [*(lower_loss(r) for r, *_ in self.proved), 0]
        steps = zip(self.proved, pairwise(lows), strict=True)
        return sum(wrong * (a - b) for (_, _, _, wrong), (a, b) in steps) // self.question.mass

    def proof(self) -> Proof:
        builder = Builder()
        counts = [counted(builder, self.question, proofs) for _, proofs, _, _ in self.proved]
        builder.add(
            "log_loss",
            of=[*counts],
            upper=[hexadecimal(upper_loss(r, self.others)) for r, *_ in self.proved],
            lower=[hexadecimal(lower_loss(r)) for r, *_ in self.proved],
        )
        name = f"log-loss by {self.proved[-1][1][0].strategy}"
        return Proof(name, tuple(builder.steps), self.lower, self.upper, 0)


def log_loss(question: Question, prove: Prove, progress: Progress = lambda done, total: None) -> Proof:
    """Bounds of the mean log-loss. `prove` takes a problem and the width of its bounds that is good enough.

    Errors: LOSS_SEMANTICS, LOSS_FLOOR, and those of the strategy at the first thresholds.
    """
    if question.semantics is not None:
        raise CompactProofsError("LOSS_SEMANTICS", "the log-loss is bounded over the real numbers only")
    bands, done = Bands(question), 0
    r, proofs = _floor(question, prove)
    bands.add(r, proofs)
    while True:
        r = _next(r)
        left, right = bands.proved[-1][0], bands.proved[-1][2]
        saved = (upper_loss(left, bands.others) - upper_loss(r, bands.others)) / (1 << LOSS_BITS)
        upper = bands.upper / (1 << LOSS_BITS)
        gap = min(SHARE * upper / saved, 0.5) if saved > 0 else 0.5
        proofs = [prove(problem, gap) for _, problem in question.at(_dyadic(r)).parts]
        bands.add(r, proofs)
        done += 1
        last = upper_loss(r, bands.others) * right // question.mass
        progress(done, done + _most_left(r, bands))
        low, high = (Fraction(n, 1 << LOSS_BITS) for n in (bands.lower, bands.upper))
        note(progress, f"mean log-loss {decimal(low, 6)} to {decimal(high, 6, up=True)}")
        if len(bands.proved) > 2 and (last < SHARE * bands.upper or r >= HIGHEST):
            return bands.proof()


def _most_left(r: Fraction, bands: Bands) -> int:
    """Thresholds above r that may still be needed: the upper bound stays above what it holds of the inputs below r."""
    held = bands.upper - upper_loss(r, bands.others) * bands.proved[-1][2] // bands.question.mass
    left = 0
    while r < HIGHEST and upper_loss(r, bands.others) >= SHARE * held:
        r, left = _next(r), left + 1
    return left


def _floor(question: Question, prove: Prove) -> tuple[Fraction, list[Proof]]:
    """A threshold that all inputs exceed, near the largest: halve the distance between one that is and one that is not.

    Errors: LOSS_FLOOR when none was found.
    """
    failed: Fraction | None = None
    for value in FLOORS:
        r = Fraction(value)
        found = _holds(question, prove, r)
        if found is not None:
            break
        failed = r
    else:
        raise CompactProofsError("LOSS_FLOOR", f"no margin was proved for all inputs; some may be below {FLOORS[-1]}")
    while failed is not None and failed - r > 1:
        middle = Fraction((r + failed) // 2)
        better = _holds(question, prove, middle)
        if better is None:
            failed = middle
        else:
            r, found = middle, better
    return r, found


def _holds(question: Question, prove: Prove, r: Fraction) -> list[Proof] | None:
    """Proofs that all inputs have a margin above r, or None."""
    asked = question.at(_dyadic(r))
    proofs = []
    for _, problem in asked.parts:
        proofs.append(prove(problem, 0.5))
        if proofs[-1].lower < problem.task.total:
            return None
    return proofs


def _next(r: Fraction) -> Fraction:
    return r + (FINE if r >= FINE_FROM else COARSE)


def _dyadic(r: Fraction) -> tuple[int, int]:
    """(n, e) with r = n * 2**e and n odd, or (0, 0)."""
    n, e = r.numerator, 1 - r.denominator.bit_length()
    while n and n % 2 == 0:
        n, e = n // 2, e + 1
    return (n, e) if n else (0, 0)
