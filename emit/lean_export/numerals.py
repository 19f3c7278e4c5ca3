"""Exact numbers as Lean writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...core.exact import rational
from ...core.proof import Json


@dataclass(frozen=True, slots=True)
class Table:
    """Integers over 2**denominator, denominator >= 0."""

    denominator: int
    rows: tuple[tuple[int, ...], ...]

    def fractions(self) -> list[list[Fraction]]:
        """The numbers themselves."""
        return [[Fraction(n, 1 << self.denominator) for n in row] for row in self.rows]


def table(rows: Sequence[Sequence[int]], exponent: int) -> Table:
    """The numbers n * 2**exponent."""
    shift = max(exponent, 0)
    return Table(max(-exponent, 0), tuple(tuple(n << shift for n in row) for row in rows))


def tensor_text(name: str, value: Table) -> str:
    """The definition of a `Tensor`."""
    rows = ",\n".join(f"    [{integers(row)}]" for row in value.rows)
    return f"def {name} : Tensor where\n  denominator := {decimal(value.denominator)}\n  rows := [\n{rows}]\n"


def number_text(name: str, value: Fraction) -> str:
    """The definition of a real number whose denominator is a power of two."""
    power = value.denominator.bit_length() - 1
    return f"def {name} : ℝ := (Int.cast ({decimal(value.numerator)}) : ℝ) / (2 : ℝ) ^ ({decimal(power)} : ℕ)\n"


def natural_text(name: str, value: int) -> str:
    """The definition of a natural number."""
    return f"def {name} : ℕ := {decimal(value)}\n"


def spans_text(name: str, spans: Iterable[Sequence[int]]) -> str:
    """The definition of a region."""
    parts = ", ".join("⟨" + ", ".join(decimal(n) for n in span) + "⟩" for span in spans)
    return f"def {name} : List Span := [{parts}]\n"


def integers(row: Iterable[int]) -> str:
    """Numbers with commas."""
    return ", ".join(decimal(n) for n in row)


def decimal(n: int) -> str:
    """Decimal digits of any length (`str` stops at 4300)."""
    if n < 0:
        return "-" + decimal(-n)
    pieces: list[str] = []
    while n >= _BLOCK:
        n, rest = divmod(n, _BLOCK)
        pieces.append(f"{rest:0{_DIGITS}d}")
    return "".join([str(n), *reversed(pieces)])


_DIGITS = 4000
_BLOCK = int("1" + "0" * _DIGITS)


def dyadic(pair: tuple[Json, Json]) -> Fraction:
    """The number of a certificate's pair: hex n, exponent e."""
    n, exponent = int(str(pair[0]), 16), int(str(pair[1]))
    return rational(n, exponent)
