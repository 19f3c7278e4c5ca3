"""Progress over several tries: which one, of how many at most, and the best so far."""

from __future__ import annotations

from ..core.progress import Part, Progress, note


class Tries:
    """Shows tries one after the other; the first takes a share of the time that is known from experience."""

    def __init__(self, progress: Progress, most: int, first: float | None = None) -> None:
        self.progress, self.most = progress, most
        self.first = 1 / most if first is None else first
        self.number, self.best = 0, ""

    def begin(self, what: str) -> Part:
        """Progress of the next try."""
        self.number += 1
        start, end = self._until(self.number - 1), self._until(self.number)
        return Part(self, start, end, f"try {self.number} of at most {self.most}, {what}")

    def _until(self, tries: int) -> float:
        """The share of all work that so many tries are."""
        return 0.0 if tries == 0 else self.first + (1 - self.first) * (tries - 1) / max(self.most - 1, 1)

    def __call__(self, done: int, total: int) -> None:
        self.progress(done, total)

    def note(self, text: str) -> None:
        note(self.progress, f"{text}; best so far {self.best}" if self.best else text)
