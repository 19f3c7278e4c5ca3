"""Progress of a search: how much is done, and the bound that it would prove if it ended now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

Progress = Callable[[int, int], None]


@runtime_checkable
class Noted(Protocol):
    """Progress that also shows a line of text."""

    def note(self, text: str) -> None: ...


def best_so_far(progress: Progress, right: int, total: int) -> None:
    """Tell the bound that grows, where somebody looks."""
    if isinstance(progress, Noted):
        progress.note(f"at least {100 * right / total:.4f} % so far")
