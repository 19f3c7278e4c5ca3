"""Numbers for people: every bound that is printed is rounded here, a lower one down and an upper one up."""

from __future__ import annotations

from fractions import Fraction
from math import floor


def decimal(value: Fraction, places: int, up: bool = False) -> str:
    """A fraction with that many decimals, rounded down, or up."""
    scaled = value * 10**places
    n = -floor(-scaled) if up else floor(scaled)
    whole, part = divmod(abs(n), 10**places)
    return f"{'-' if n < 0 else ''}{whole}.{part:0{places}}"


def percent(count: int | Fraction, total: int, up: bool = False, places: int = 6) -> str:
    """count/total in per cent, rounded down, or up."""
    return f"{decimal(Fraction(100 * count, total), places, up)} %"


def ends(lower: int | Fraction, upper: int | Fraction, total: int) -> tuple[str, str]:
    """Both bounds in per cent, rounded outwards; an exact count is one number, not two."""
    low = percent(lower, total)
    return low, low if lower == upper else percent(upper, total, up=True)


def remains(lower: int, upper: int, total: int) -> tuple[str, str]:
    """What `ends` leave of the whole, the smaller first: what is printed as right and as not right sums to 100 %."""
    most = percent(total - lower, total, up=True)
    return (most if lower == upper else percent(total - upper, total)), most
