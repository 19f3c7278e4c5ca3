"""Bounds of the mean log-loss taken apart, as words, tables and JSON; numbers are nats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ...core.audit.bands import Losing, accounts
from ...core.decimals import decimal
from ...core.task import Task
from .document import Document

PLACES = 9
TOP = 8
BANDS = ("margin above", "at most", "of all inputs", "adds at least", "adds at most")
TERMS = ("part of the gap", "would vanish", "nats")

Found = tuple[Losing, list[Losing]]


def losing_of(document: Document) -> Found | None:
    """The account of all inputs and that of each part; None for a claim that is not about the log-loss."""
    return accounts(document.question, document.steps) if document.question.log_loss else None


def summary(found: Losing) -> str:
    """The gap, and where in it the model is."""
    gap = f"the bounds are {_nats(found.upper - found.lower, up=True)} nats apart"
    if any(band.share < 0 for band in found.bands):
        gap += " (counts of two thresholds need not be equally close, so a band can have a negative share)"
    s = found.sampled
    if s is None:
        return gap
    return f"{gap}; of {s.draws} sampled inputs the mean loss is {s.mean:.6f} ± {s.error:.6f} nats (in doubles)"


def band_rows(found: Losing) -> list[tuple[str, ...]]:
    """One row for each band of the margin that adds to a bound."""
    return [
        (
            decimal(band.low, 6),
            "-" if band.high is None else decimal(band.high, 6),
            f"{decimal(100 * band.share, 6)} %",
            _nats(band.least),
            _nats(band.most, up=True),
        )
        for band in found.bands
        if band.share or band.most or band.least
    ]


def term_rows(found: Losing) -> list[tuple[str, ...]]:
    """The gap in parts, which add up to it."""
    return [(name, meaning, _nats(value, up=True)) for name, meaning, value in found.terms]


def part_rows(parts: list[Losing]) -> list[tuple[str, ...]]:
    """Each part of the distribution: what follows from the counts of the proof."""
    return [
        (
            f"part {number}",
            _nats(part.lower),
            _nats(part.upper, up=True),
            "" if part.sampled is None else f"{part.sampled.mean:.6f}",
        )
        for number, part in enumerate(parts, 1)
    ]


def maximum_rows(found: Losing, task: Task) -> list[tuple[str, ...]]:
    """The maxima that the sampled loss comes from."""
    if found.sampled is None:
        return []
    ordered = sorted(found.sampled.by_maximum.items(), key=lambda pair: -pair[1])[:TOP]
    return [(str(task.token_rows()[m]), f"{value:.6f}") for m, value in ordered if value > 0]


def to_json(found: Found, task: Task) -> dict[str, Any]:
    """Nats as decimals, rounded outwards."""
    whole, parts = found
    return {**_json(whole, task), "parts": [_json(part, task) for part in parts] if len(parts) > 1 else []}


def _json(found: Losing, task: Task) -> dict[str, Any]:
    s = found.sampled
    return {
        "lower": _nats(found.lower),
        "upper": _nats(found.upper, up=True),
        "by_band": [
            {
                "above": decimal(band.low, PLACES),
                "at_most": None if band.high is None else decimal(band.high, PLACES),
                "share": decimal(band.share, 12),
                "adds": [_nats(band.least), _nats(band.most, up=True)],
            }
            for band in found.bands
        ],
        "by_term": [{"name": n, "meaning": m, "nats": _nats(value, up=True)} for n, m, value in found.terms],
        "sampled": None if s is None else {"draws": s.draws, "mean": s.mean, "standard_error": s.error},
        "by_maximum": None if s is None else {str(task.token_rows()[m]): n for m, n in sorted(s.by_maximum.items())},
    }


def _nats(value: Fraction, up: bool = False) -> str:
    return decimal(value, PLACES, up)
