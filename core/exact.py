"""Exact matrices: integers over one power of two, as numpy arrays of Python integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.object_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """`ints` (2-dimensional, dtype object) times 2**exponent, without error."""

    ints: Ints
    exponent: int

    def at(self, exponent: int) -> Ints:
        """The same numbers as integers over a smaller or equal power of two."""
        shift = self.exponent - exponent
        if shift < 0:
            raise ValueError(f"exponent {exponent} lies above {self.exponent}: not exact")
        return self.ints if shift == 0 else self.ints << shift

    @property
    def transposed(self) -> Exact:
        return Exact(self.ints.T, self.exponent)

    def __matmul__(self, other: Exact) -> Exact:
        return Exact(self.ints @ other.ints, self.exponent + other.exponent)

    def __add__(self, other: Exact) -> Exact:
        low = min(self.exponent, other.exponent)
        return Exact(self.at(low) + other.at(low), low)

    def __sub__(self, other: Exact) -> Exact:
        low = min(self.exponent, other.exponent)
        return Exact(self.at(low) - other.at(low), low)

    def floats(self) -> Floats:
        """Each number rounded to the nearest double."""
        return to_floats(self.ints, self.exponent)


def rational(n: int, exponent: int) -> Fraction:
    """n * 2**exponent."""
    return Fraction(n) * Fraction(2) ** exponent


def to_floats(ints: Ints, exponent: int) -> Floats:
    """ints * 2**exponent, each to a nearby double (relative error below 2**-51), infinite beyond the range."""

    def one(n: int) -> float:
        # a quotient of Python integers is rounded correctly, and OverflowError marks what a double cannot hold
        try:
            return n / (1 << -exponent) if exponent < 0 else float(n << exponent)
        except OverflowError:
            return float("inf") if n > 0 else float("-inf")

    flat = np.fromiter((one(int(n)) for n in ints.ravel()), dtype=np.float64, count=ints.size)
    return flat.reshape(ints.shape)
