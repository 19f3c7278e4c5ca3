"""What an audit calls right and wrong: by the threshold of the claim, where that is not a tie."""

from __future__ import annotations

from dataclasses import dataclass

from ..exact import rational

LONGEST = 20
"""Characters of a threshold as a fraction; a longer one is written with a power of two."""


@dataclass(frozen=True, slots=True)
class Words:
    """`bar`: the threshold, empty for a tie."""

    bar: str

    @property
    def right(self) -> str:
        return f"right by more than {self.bar}" if self.bar else "right"

    @property
    def wrong(self) -> str:
        return f"not right by more than {self.bar}" if self.bar else "wrong"

    @property
    def proved(self) -> str:
        """The head of a column."""
        return f"proved ≤ {self.bar}" if self.bar else "proved wrong"

    @property
    def worst(self) -> str:
        return f"farthest below {self.bar}" if self.bar else "wrong by the largest margin"

    @property
    def nearest(self) -> str:
        return f"nearest to {self.bar}" if self.bar else "nearest to a tie"

    @property
    def wide(self) -> str:
        return f"open, yet far above {self.bar}" if self.bar else "open, yet right by a wide margin"

    @property
    def outputs(self) -> str:
        """Wrong inputs, as they are told apart."""
        inputs = f"inputs {self.wrong}" if self.bar else "wrong inputs"
        return f"{inputs}, by the output with the largest {'other ' * bool(self.bar)}logit"

    def verdict(self, kind: str) -> str:
        """On one input: right, wrong or something else, which stays as it is."""
        return {"right": f"> {self.bar}", "wrong": f"≤ {self.bar}"}.get(kind, kind) if self.bar else kind

    def margin(self, kind: str, number: str) -> str:
        """A margin with the verdict on it."""
        return f"{number} {self.verdict(kind)}" if self.bar and kind != "undecided" else f"{kind} {number}"


def words_of(threshold: tuple[int, int]) -> Words:
    """The words for a threshold n * 2**e."""
    n, exponent = threshold
    text = "" if n == 0 else str(rational(n, exponent))
    return Words(text if len(text) <= LONGEST else f"{n} * 2^{exponent}")
