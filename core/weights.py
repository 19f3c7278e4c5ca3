"""Attention weights of margin sums (docs/FORMAT.md, "Margins"): floats for the search, MPFR enclosures for claims."""

from __future__ import annotations

import math
from dataclasses import dataclass

import gmpy2
import numpy as np

from .circuits import Circuits
from .exact import Exact, Floats, to_floats

LOG2_E = 1.4426950408889634
MOST_BITS = 1 << 14  # that the rule `weights` takes
MOST_GRID = 512
MOST_DIGITS = 480  # for which such a grid is fine enough


@dataclass(frozen=True, slots=True)
class Precision:
    """Fractional bits of the attention weights and of their exponents; significant bits of a weight in a sum."""

    bits: int
    grid: int
    digits: int


def precision(circuits: Circuits, digits: int) -> Precision:
    """Enough bits that the smallest weight, of a token or of a position, still has `digits` significant ones."""
    widest = max(float(np.max(row_spread(part))) for part in (circuits.eqke, circuits.eqkp))
    spread = min(widest / math.sqrt(circuits.d_head), float(MOST_BITS))
    bits = digits + 16 + math.ceil(spread * LOG2_E)
    far = math.frexp(spread)[1] - 8  # the relative error of exp(-x) grows with x
    return Precision(min(bits, MOST_BITS), min(digits + 8 + max(far, 0), MOST_GRID), digits)


def row_spread(scores: Exact) -> Floats:
    """Largest minus smallest score of each row, unscaled."""
    return to_floats((scores.ints.max(axis=1) - scores.ints.min(axis=1))[:, None], scores.exponent)


def relative_scores(scores: Exact, d_head: int) -> Floats:
    """(s - row maximum) / sqrt(d_head) in doubles; the differences are exact before they are rounded."""
    differences = scores.ints - scores.ints.max(axis=1)[:, None]
    return to_floats(differences, scores.exponent) / math.sqrt(d_head)


Enclosure = tuple[list[int], list[int]]
"""Lower and upper ends as integers over 2**bits."""


def enclose(row: list[int], exponent: int, d_head: int, bits: int) -> Enclosure:
    """exp((s - max s) / sqrt(d_head)) for one row of scores s * 2**exponent, by MPFR with directed rounding."""
    top = max(row)
    work = bits + 64
    down = gmpy2.context(precision=work, round=gmpy2.RoundDown, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
    up = gmpy2.context(precision=work, round=gmpy2.RoundUp, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max())
    root_low, root_high = down.sqrt(gmpy2.mpz(d_head)), up.sqrt(gmpy2.mpz(d_head))
    low: list[int] = []
    high: list[int] = []
    for s in row:
        n = gmpy2.mpz(top - s)  # the exponent is -n * 2**exponent / sqrt(d_head), and n >= 0
        x_high = up.div(_scaled(n, exponent, up), root_low)
        x_low = down.div(_scaled(n, exponent, down), root_high)
        # every operation names its context: a bare operator would round to the 53 bits of gmpy2's default
        low.append(_fixed(down.exp(down.minus(x_high)), bits))
        high.append(-_fixed(up.minus(up.exp(up.minus(x_low))), bits))
    return low, high


def _fixed(x: gmpy2.mpfr, bits: int) -> int:
    """floor(x * 2**bits), exactly."""
    mantissa, exponent = x.as_mantissa_exp()
    shift = int(exponent) + bits
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


def _scaled(n: gmpy2.mpz, exponent: int, context: gmpy2.context) -> gmpy2.mpfr:
    """n * 2**exponent rounded in the direction of the context."""
    with context:
        value = gmpy2.mpfr(n)
    return context.mul_2exp(value, exponent) if exponent >= 0 else context.div_2exp(value, -exponent)
