"""Margins as the audit prints them."""

from __future__ import annotations

from fractions import Fraction

from ...core.audit.replay import Verdict
from ...core.decimals import decimal


def enclosed(verdict: Verdict) -> str:
    """A real margin: both ends if they differ in the tenth decimal."""
    ends = decimal(verdict.low, 10), decimal(verdict.high, 10, up=True)
    return ends[0] if verdict.high - verdict.low < Fraction(2, 10**10) else f"{ends[0]}..{ends[1]}"
