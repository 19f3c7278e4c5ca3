"""One model, one task, one threshold: what every strategy of margin sums starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .circuits import Circuits, circuits
from .errors import CompactProofsError
from .exact import Floats, to_floats
from .model import Model
from .semantics import Semantics
from .task import Region, Task, pairs, region_of
from .weights import LOG2_E, MOST_BITS, MOST_DIGITS, Enclosure, Precision, enclose, precision, relative_scores


@dataclass(frozen=True, slots=True)
class Logits:
    """Logit contributions as integers over one power of two: EU, EVOU, PVOU and the threshold."""

    exponent: int
    direct: list[list[int]]
    values: list[list[int]]
    positions: list[list[int]]
    shift: int


@dataclass(frozen=True, slots=True)
class FloatView:
    """The same in doubles, for the search: token weights are relative to the best token of each query."""

    token: Floats  # queries x token rows, log of the weight
    position: Floats  # queries x positions, weight
    direct: Floats
    values: Floats
    positions: Floats
    shift: float


@dataclass(frozen=True)
class Problem:
    """`threshold` is (n, e) for n * 2**e: sequences whose margin is above it count (0: the right answers)."""

    model: Model
    task: Task
    threshold: tuple[int, int] = (0, 0)
    digits: int | None = None
    """Significant bits of a weight to start with, where a strategy would choose them."""
    semantics: Semantics | None = None
    """The floating-point program that the claim is about; strategies prove things about the real numbers (None)."""

    def ladder(self, default: tuple[int, ...]) -> tuple[int, ...]:
        """Digits to try one after the other, until no input is too near to a tie."""
        digits = default if self.digits is None else (self.digits, 2 * self.digits, 8 * self.digits)
        return tuple(sorted({min(n, MOST_DIGITS) for n in digits}))

    @cached_property
    def circuits(self) -> Circuits:
        return circuits(self.model, self.task)

    @cached_property
    def logits(self) -> Logits:
        c = self.circuits
        n, power = self.threshold
        low = min(c.eu.exponent, c.evou.exponent, c.pvou.exponent, power)
        eu, evou, pvou = ([[int(n) for n in row] for row in part.at(low)] for part in (c.eu, c.evou, c.pvou))
        return Logits(low, eu, evou, pvou, n << (power - low))

    @cached_property
    def floats(self) -> FloatView:
        c, logits = self.circuits, self.logits
        shift = to_floats(np.array([[logits.shift]], dtype=object), logits.exponent)[0, 0]
        return FloatView(
            token=relative_scores(c.eqke, c.d_head),
            position=np.exp(relative_scores(c.eqkp, c.d_head)),
            direct=c.eu.floats(),
            values=c.evou.floats(),
            positions=c.pvou.floats(),
            shift=float(shift),
        )

    def within(self, region: Region, digits: int, positions: bool = False) -> Region:
        """The classes of a region whose maximum has an attention weight of `digits` significant bits for its query.

        `positions`: and so has every position. Attention that is too sharp for the format leaves classes out of a
        proof, which then counts them neither right nor wrong. Errors: ATTENTION_TOO_SHARP.
        """
        chosen = precision(self.circuits, digits)
        if chosen.bits < MOST_BITS:
            return region
        least = (digits + 2 - chosen.bits) / LOG2_E
        clear = self.floats.token > least
        if positions:
            clear &= (relative_scores(self.circuits.eqkp, self.circuits.d_head) > least).all(axis=1, keepdims=True)
        return self.some(region_of([(q, m) for q, m in pairs(region) if clear[q, m]]))

    def some(self, region: Region) -> Region:
        """The region, if there is something in it. Errors: ATTENTION_TOO_SHARP."""
        if not region:
            text = "attention weights differ by more than a proof holds"
            text += "; other strategies (margin-tree, sub-cubic ones) may do with less"
            raise CompactProofsError("ATTENTION_TOO_SHARP", text, self.model.source)
        return region

    def enclosures(
        self, precision: Precision, queries: Iterable[int] | None = None
    ) -> Iterator[tuple[Enclosure, Enclosure]]:
        """Token and position weights of each query (all of them by default), enclosed."""
        c = self.circuits
        for q in range(len(c.eqke.ints)) if queries is None else queries:
            yield (
                enclose([int(n) for n in c.eqke.ints[q]], c.eqke.exponent, c.d_head, precision.bits),
                enclose([int(n) for n in c.eqkp.ints[q]], c.eqkp.exponent, c.d_head, precision.bits),
            )
