"""The checker's factored circuits, mirrored exactly: each method writes a step and computes the fact that it derives.

docs/FORMAT.md, "Approximations"; the paper's appendix G. Witnesses enter as dyadic vectors; after that nothing rounds
except square roots, upward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import frexp, isqrt

import numpy as np

from ...exact import Exact, Floats
from ...proof import Builder, Json, hexadecimal

BITS = 20
"""Bits kept of the largest entry of a witness: its error disappears in the rest of a peel, exactly."""


def dyadic(values: Floats, bits: int = BITS) -> Exact:
    """A row near `values`, in integers of at most `bits` bits and a sign."""
    largest = float(np.abs(values).max(initial=0.0))
    exponent = frexp(largest)[1] - bits
    return Exact(np.array([[round(float(x) * 2.0**-exponent) for x in values.ravel()]], dtype=object), exponent)


def vector_json(row: Exact) -> Json:
    """How a certificate writes a vector."""
    return {"exponent": row.exponent, "values": [hexadecimal(int(n)) for n in row.ints.ravel()]}


def absolute(matrix: Exact) -> Exact:
    return Exact(abs(matrix.ints), matrix.exponent)


def ranges(matrix: Exact) -> Exact:
    """max - min of each row, as a column."""
    return Exact((matrix.ints.max(axis=1) - matrix.ints.min(axis=1))[:, None], matrix.exponent)


@dataclass(frozen=True, slots=True, eq=False)
class Admissible:
    """For each row of a circuit C: differences of C - approx are at most `bound` (a column)."""

    step: int
    approx: Exact | None
    bound: Exact


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """A circuit equals `approx` plus the product of `factors`, as step number `step` of the proof says."""

    builder: Builder
    step: int
    approx: Exact | None
    factors: tuple[Exact, ...]

    def product(self, at: int) -> Chain:
        """Multiply two neighbours."""
        joined = self.factors[at] @ self.factors[at + 1]
        step = self.builder.add("product", of=self.step, at=at)
        return Chain(self.builder, step, self.approx, (*self.factors[:at], joined, *self.factors[at + 2 :]))

    def joined(self, left: int) -> Chain:
        """Two factors: the first `left` multiplied out, and the others."""
        chain = self
        for _ in range(left - 1):
            chain = chain.product(0)
        while len(chain.factors) > 2:
            chain = chain.product(1)
        return chain

    def peel(self, at: int, column: Exact, row: Exact) -> Chain:
        """Move column * row out of a factor, and what that gives into the approximation."""
        rest = self.factors[at] - column.transposed @ row
        step = self.builder.add("peel", of=self.step, at=at, column=vector_json(column), row=vector_json(row))
        left, right = column.transposed, row
        for factor in reversed(self.factors[:at]):
            left = factor @ left
        for factor in self.factors[at + 1 :]:
            right = right @ factor
        term = left @ right
        approx = term if self.approx is None else self.approx + term
        return Chain(self.builder, step, approx, (*self.factors[:at], rest, *self.factors[at + 1 :]))

    def exact(self) -> Admissible:
        """Rule row_exact: the last factor joins the approximation."""
        (factor,) = self.factors
        approx = factor if self.approx is None else self.approx + factor
        bound = Exact(np.zeros((len(factor.ints), 1), dtype=object), 0)
        return Admissible(self.builder.add("row_exact", of=self.step), approx, bound)

    def range_chain(self, summaries: Sequence[Exact | None]) -> Admissible:
        """Rule row_range_chain (Theorems 21, 23, 24, 26): ranges from the last factor on, with summary rows."""
        bound = ranges(self.factors[-1])
        for level in reversed(range(len(summaries))):
            factor, row = self.factors[level], summaries[level]
            if row is None:
                bound = absolute(factor) @ bound
                continue
            centred = Exact(factor.at(low := min(factor.exponent, row.exponent)) - row.at(low), low)
            for right in self.factors[level + 1 :]:
                row = row @ right
            bound = absolute(centred) @ bound + ranges(row)
        written = [None if row is None else vector_json(row) for row in summaries]
        return Admissible(self.builder.add("row_range_chain", of=self.step, summaries=written), self.approx, bound)

    def norm(self) -> Admissible:
        """Rule row_norm (sharper than Equation 11): sqrt(2) times the norm of each row, centred."""
        left, right = self.factors
        width = right.ints.shape[1]
        centred = right.ints * width - right.ints.sum(axis=1)[:, None]
        squares = 2 * (left.ints * (left.ints @ (centred @ centred.T))).sum(axis=1)
        roots = [-(-_root_up(int(square)) // width) for square in squares]
        bound = Exact(np.array(roots, dtype=object)[:, None], left.exponent + right.exponent)
        return Admissible(self.builder.add("row_norm", of=self.step), self.approx, bound)


def least(builder: Builder, facts: Sequence[Admissible]) -> Admissible:
    """Rule row_bound_min: per row the smallest of bounds on one approximation."""
    low = min(fact.bound.exponent for fact in facts)
    bound = np.minimum.reduce([fact.bound.at(low) for fact in facts])
    step = builder.add("row_bound_min", of=[fact.step for fact in facts])
    return Admissible(step, facts[0].approx, Exact(bound, low))


def _root_up(n: int) -> int:
    root = isqrt(n)
    return root if root * root == n else root + 1
