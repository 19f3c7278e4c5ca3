"""Integers over powers of two: hexadecimal text, matrices, square roots and the one enclosure of exp.

A number is an integer n with an exponent e, meaning n * 2**e. Nothing here rounds except where the name says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from operator import mul

from .errors import Exhausted, Malformed, Rejected

HEX = re.compile(r"-?(0|[1-9a-f][0-9a-f]*)", re.ASCII)
HEX_DIGITS = 1 << 13
EXPONENT = 1 << 14
ENTRIES = 1 << 22  # of a product


def read_hex(text: object, place: str) -> int:
    """An integer from its one hexadecimal spelling (no sign on zero, no leading zero, lower case)."""
    if not isinstance(text, str):
        raise Malformed("NOT_HEX", f"expected a hexadecimal string, got {type(text).__name__}").at(place)
    if len(text) > HEX_DIGITS:
        raise Malformed("TOO_LONG", f"{len(text)} hexadecimal digits, at most {HEX_DIGITS}").at(place)
    if not HEX.fullmatch(text) or text == "-0":
        raise Malformed("NOT_HEX", f"{text[:40]!r} is not a canonical hexadecimal integer").at(place)
    return int(text, 16)


class Meter:
    """Counts integer additions, multiplications and comparisons: the measured length of the proof.

    An operation on an integer that packs n numbers counts as n. The count depends on the certificate only, so a
    limit on it refuses the same files on every machine. To the limit, one on numbers of more than 1023 bits is several,
    as its cost is.
    """

    def __init__(self, limit: int) -> None:
        self.operations = 0
        self.left = limit
        self.limit = limit

    def count(self, operations: int, bits: int = 0, other_bits: int = 0) -> None:
        self.operations += operations
        self.charge(operations * (bits >> 10 or 1) * (other_bits >> 10 or 1))

    def charge(self, operations: int) -> None:
        """Work that is no part of the proof's length, but of what the limit is for."""
        self.left -= operations
        if self.left < 0:
            raise Exhausted("TOO_MANY_OPERATIONS", f"more than {self.limit} integer operations (--max-operations)")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of integers, each entry times 2**exponent."""

    rows: tuple[tuple[int, ...], ...]
    exponent: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    @property
    def bits(self) -> int:
        """Of the largest entry."""
        return max(max(max(row), -min(row)).bit_length() for row in self.rows)

    def scaled_to(self, exponent: int) -> tuple[tuple[int, ...], ...]:
        """The same numbers as integers over a smaller power of two (exact)."""
        if self.exponent - exponent > EXPONENT:
            raise Rejected("EXPONENT_SPREAD", f"exponents {self.exponent} and {exponent} are too far apart")
        shift = 1 << (self.exponent - exponent)
        return tuple(tuple(n * shift for n in row) for row in self.rows)

    def transposed(self) -> "Matrix":
        return Matrix(tuple(zip(*self.rows, strict=True)), self.exponent)


def product(left: Matrix, right: Matrix, meter: Meter) -> Matrix:
    """The exact matrix product."""
    (height, inner), (inner_right, width) = left.shape, right.shape
    if inner != inner_right:
        raise Rejected("SHAPE", f"product of {height}x{inner} and {inner_right}x{width}")
    if height * width > ENTRIES:
        raise Exhausted("MATRIX_TOO_LARGE", f"{height}x{width} entries, at most {ENTRIES}")
    meter.count(height * width * (2 * inner - 1), left.bits, right.bits)
    columns = tuple(zip(*right.rows, strict=True))
    rows = tuple(tuple(sum(map(mul, row, column)) for column in columns) for row in left.rows)
    return Matrix(rows, left.exponent + right.exponent)


def add(left: Matrix, right: Matrix, meter: Meter) -> Matrix:
    """The exact sum of two matrices; a single row is added to every row of the other."""
    if right.shape[0] == 1 and left.shape[0] != 1:
        right = Matrix(right.rows * left.shape[0], right.exponent)
    if left.shape != right.shape:
        raise Rejected("SHAPE", f"sum of {left.shape} and {right.shape}")
    exponent = min(left.exponent, right.exponent)
    meter.count(left.shape[0] * left.shape[1], abs(left.exponent - right.exponent) + max(left.bits, right.bits))
    pairs = zip(left.scaled_to(exponent), right.scaled_to(exponent), strict=True)
    return Matrix(tuple(tuple(a + b for a, b in zip(x, y, strict=True)) for x, y in pairs), exponent)


def largest(rows: Sequence[Sequence[int]]) -> list[int]:
    """The largest number of each column."""
    return [max(column) for column in zip(*rows, strict=True)]


def floor_div(n: int, shift: int, d: int) -> int:
    """floor(n * 2**shift / d) for d > 0; the upper end is -floor_div(-n, shift, d)."""
    return (n << shift) // d if shift >= 0 else n // (d << -shift)


def sqrt_bounds(n: int, bits: int) -> tuple[int, int]:
    """Integers lo, hi with lo <= sqrt(n) * 2**bits <= hi."""
    lo = isqrt(n << (2 * bits))
    return lo, lo if lo * lo == n << (2 * bits) else lo + 1


def cut(n: int, bits: int, up: bool) -> int:
    """n / 2**bits, rounded up or down."""
    return -(-n >> bits) if up else n >> bits


class Exp:
    """Enclosures of exp(-x) for x = X / 2**grid, X >= 0, as integers over 2**bits.

    Only two facts are used: 1 + x <= exp(x), so that 1 - x0 <= exp(-x0) <= 1 / (1 + x0) at x0 = 2**-grid, and
    exp(x + y) = exp(x) exp(y), along the base-256 digits of X. Lower ends are rounded down, upper ends up.
    """

    def __init__(self, bits: int, grid: int, meter: Meter) -> None:
        self.bits = bits
        self.work = bits + grid  # rounding at 2**-work is magnified by at most X <= bits * 2**grid
        self.cutoff = bits << grid  # beyond it exp(-x) <= 2**-x <= 2**-bits, since 2 <= e
        self.meter = meter
        one, step = 1 << self.work, 1 << bits
        self._base = [one - step, -(-(one << self.work) // (one + step))]  # exp(-256**level * x0), below and above
        self._tables: list[tuple[list[int], list[int]]] = []

    def _table(self, level: int) -> tuple[list[int], list[int]]:
        """exp(-c * 256**level * x0) for c = 0..255: lower ends and upper ends."""
        while len(self._tables) <= level:
            table = [1 << self.work], [1 << self.work]
            for up, powers in enumerate(table):
                for _ in range(256):
                    powers.append(cut(powers[-1] * self._base[up], self.work, bool(up)))
                self._base[up] = powers.pop()
            self.meter.count(512, self.work, self.work)
            self._tables.append(table)
        return self._tables[level]

    def end(self, x: int, up: bool) -> int:
        """An integer at most (up: at least) exp(-x / 2**grid) * 2**bits."""
        if x >= self.cutoff:
            return int(up)
        value, level = 1 << self.work, 0
        while x:
            value = cut(value * self._table(level)[up][x & 255], self.work, up)
            x, level = x >> 8, level + 1
        self.meter.count(level, self.work, self.work)
        return cut(value, self.work - self.bits, up)
