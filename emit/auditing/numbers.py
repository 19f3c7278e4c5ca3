"""Fractions as decimals that err on the stated side."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from ...core.audit.replay import Verdict


def decimal(value: Fraction, places: int, up: bool = False) -> str:
    """A fraction with that many decimals, rounded down, or up."""
    scaled = value * 10**places
    n = -floor(-scaled) if up else floor(scaled)
    whole, part = divmod(abs(n), 10**places)
    return f"{'-' if n < 0 else ''}{whole}.{part:0{places}}"


def enclosed(verdict: Verdict) -> str:
    """A real margin: both ends if they differ in the tenth decimal."""
    ends = decimal(verdict.low, 10), decimal(verdict.high, 10, up=True)
    return ends[0] if verdict.high - verdict.low < Fraction(2, 10**10) else f"{ends[0]}..{ends[1]}"
