"""Gap tables as a proof writes them: what Figure 20 counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import comb
from typing import Final

from ...core.proof import Proof
from ...core.task import Task

DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
"""Digit n below 32 ends a number, digit 32 + n goes on (docs/FORMAT.md, "Gap classes")."""


def decode(text: str) -> Iterator[int]:
    """The gaps of one maximum, queries x free positions."""
    number = 0
    for letter in text:
        digit = DIGITS.index(letter)
        number = 32 * number + digit % 32
        if digit < 32:
            yield number
            number = 0


def certified_by_gap(task: Task, proof: Proof) -> dict[str, int]:
    """Certified sequences by the gap of their class; empty for other proofs."""
    found: Counter[int] = Counter()
    for step in proof.steps:
        rows = step.get("gaps")
        if step["rule"] != "gap_classes" or not isinstance(rows, list):
            continue
        for m, text in enumerate(rows):
            for place, gap in enumerate(decode(str(text))):
                q, i = divmod(place, max(task.free, 1))
                n = i + int(task.holds_max(q, m))
                if gap:
                    found[gap] += comb(task.free, n) * (m - gap + 1) ** n
    return {str(gap): found[gap] for gap in sorted(found)}
