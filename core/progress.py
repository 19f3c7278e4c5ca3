"""Progress of a search: how much is done, and the bound that it would prove if it ended now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from .decimals import percent

Progress = Callable[[int, int], None]
STEPS = 1000
"""Of a whole that is done in parts."""


@runtime_checkable
class Noted(Protocol):
    """Progress that also shows a line of text."""

    def note(self, text: str) -> None: ...


def note(progress: Progress, text: str) -> None:
    """Tell what is going on, where somebody looks."""
    if isinstance(progress, Noted):
        progress.note(text)


def best_so_far(progress: Progress, right: int, total: int) -> None:
    """Tell the bound that grows."""
    note(progress, f"at least {percent(right, total, places=4)} so far")


class Part:
    """Progress of a part of longer work, from one share of the whole to another.

    It never goes back, though a search may begin anew, and its notes begin with what it is.
    """

    def __init__(self, whole: Progress, start: float, end: float, what: str) -> None:
        self.whole, self.start, self.end, self.what = whole, start, end, what
        self.share = 0.0
        self(0, 1)
        note(whole, what)

    def __call__(self, done: int, total: int) -> None:
        self.share = max(self.share, min(done / total, 1.0) if total else 0.0)
        self.whole(round(STEPS * (self.start + (self.end - self.start) * self.share)), STEPS)

    def note(self, text: str) -> None:
        note(self.whole, f"{self.what}: {text}")
