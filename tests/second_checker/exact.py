"""FORMAT.md, section 6: dyadic matrices, and enclosures of exponentials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from flint import arb, ctx, fmpz, fmpz_mat

from second_checker.document import require

Entry = Callable[[fmpz, fmpz], fmpz]


@dataclass(frozen=True)
class Matrix:
    """`values` times 2^`exponent`."""

    values: fmpz_mat
    exponent: int

    @property
    def rows(self) -> int:
        return int(self.values.nrows())

    @property
    def columns(self) -> int:
        return int(self.values.ncols())

    def __getitem__(self, place: tuple[int, int]) -> fmpz:
        return self.values[place]

    def at(self, exponent: int) -> fmpz_mat:
        """The integers over another, not larger, exponent."""
        return self.values * (fmpz(1) << self.exponent - exponent)

    def row(self, i: int) -> list[fmpz]:
        return [self.values[i, j] for j in range(self.columns)]

    def column(self, j: int) -> list[fmpz]:
        return [self.values[i, j] for i in range(self.rows)]

    def __matmul__(self, other: Matrix) -> Matrix:
        return Matrix(self.values * other.values, self.exponent + other.exponent)

    def __add__(self, other: Matrix) -> Matrix:
        low = common(self, other)
        return Matrix(self.at(low) + other.at(low), low)

    def __sub__(self, other: Matrix) -> Matrix:
        return self + Matrix(-other.values, other.exponent)

    def __bool__(self) -> bool:
        return any(self.values.entries())

    def same(self, other: Matrix) -> bool:
        """Equal number for number."""
        return not self - other

    def turned(self) -> Matrix:
        return Matrix(self.values.transpose(), self.exponent)

    def part(self, rows: list[int]) -> Matrix:
        return matrix([self.row(i) for i in rows], self.exponent)

    def beside(self, other: Matrix) -> Matrix:
        low = common(self, other)
        a, b = Matrix(self.at(low), low), Matrix(other.at(low), low)
        return matrix([a.row(i) + b.row(i) for i in range(a.rows)], low)

    def above(self, other: Matrix) -> Matrix:
        return self.turned().beside(other.turned()).turned()

    def absolute(self) -> Matrix:
        return matrix([[abs(x) for x in self.row(i)] for i in range(self.rows)], self.exponent)


def matrix(rows: list[list[fmpz]], exponent: int = 0) -> Matrix:
    """From rows; at least one row."""
    return Matrix(fmpz_mat(len(rows), len(rows[0]), [x for row in rows for x in row]), exponent)


def zero(rows: int, columns: int) -> Matrix:
    return Matrix(fmpz_mat(rows, columns), 0)


def common(*matrices: Matrix) -> int:
    """The least exponent."""
    low, high = min(m.exponent for m in matrices), max(m.exponent for m in matrices)
    require(high - low <= 16384, "exponents too far apart")
    return low


def span(row: list[fmpz]) -> fmpz:
    """Largest minus smallest."""
    return max(row) - min(row)


def ceiling(a: fmpz, b: fmpz) -> fmpz:
    return -(-a // b)


def up(n: fmpz, bits: int) -> fmpz:
    """n / 2^bits, rounded up."""
    return -(-n >> bits) if bits >= 0 else n << -bits


def down(n: fmpz, bits: int) -> fmpz:
    return n >> bits if bits >= 0 else n << -bits


def scaled(n: fmpz, exponent: int, root_of: int, grid: int) -> tuple[fmpz, fmpz]:
    """Integers around n * 2^exponent / sqrt(root_of) * 2^grid, n >= 0, by ends of the root at grid + 32 bits."""
    square = fmpz(root_of) << 2 * (grid + 32)
    low = square.isqrt()
    high = low if low * low == square else low + 1
    shift = exponent + 2 * grid + 32
    top, bottom = n << max(shift, 0), max(-shift, 0)
    return top // (high << bottom), ceiling(top, low << bottom)


@lru_cache(maxsize=64)
def powers(bits: int, grid: int, digit: int) -> tuple[list[fmpz], list[fmpz]]:
    """Lower and upper ends of e^(-c 256^digit 2^-grid) for c < 256, at bits + grid bits."""
    size = bits + grid
    one = fmpz(1) << size
    if digit == 0:
        low, high = one - (one >> grid), ceiling(one << grid, (fmpz(1) << grid) + 1)
    else:
        lows, highs = powers(bits, grid, digit - 1)
        low, high = lows[255] * lows[1] >> size, up(highs[255] * highs[1], size)
    lows, highs = [one], [one]
    for _ in range(255):
        lows.append(lows[-1] * low >> size)
        highs.append(up(highs[-1] * high, size))
    return lows, highs


@lru_cache(maxsize=1 << 16)
def exponential(x: int, bits: int, grid: int) -> tuple[fmpz, fmpz]:
    """Integers around 2^bits e^(-x / 2^grid), x >= 0, by the recipe of section 6; Arb must agree."""
    if x >> grid >= bits:
        return fmpz(0), fmpz(1)
    size = bits + grid
    low = high = fmpz(1) << size
    digit, rest = 0, x
    while rest:
        lows, highs = powers(bits, grid, digit)
        low = low * lows[rest & 255] >> size
        high = up(high * highs[rest & 255], size)
        digit, rest = digit + 1, rest >> 8
    low, high = low >> grid, up(high, grid)
    agrees(x, bits, grid, low, high)
    return low, high


def agrees(x: int, bits: int, grid: int, low: fmpz, high: fmpz) -> None:
    """Whether Arb's ball can lie between the ends: neither end may be certainly on the wrong side."""
    before, ctx.prec = ctx.prec, bits + grid + 64
    try:
        ball = (-arb(x) / arb(2) ** grid).exp() * arb(2) ** bits
        if ball < arb(low) or ball > arb(high):
            raise ArithmeticError(f"e^(-{x}/2^{grid}) is not within {low}..{high} / 2^{bits}")
    finally:
        ctx.prec = before


def enclosure(n: fmpz, exponent: int, root_of: int, bits: int, grid: int) -> tuple[fmpz, fmpz]:
    """Integers around 2^bits exp(-n 2^exponent / sqrt(root_of)), n >= 0."""
    near, far = scaled(n, exponent, root_of, grid)
    return exponential(int(far), bits, grid)[0], exponential(int(near), bits, grid)[1]
