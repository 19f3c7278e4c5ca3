"""What one convolution speaks about (docs/FORMAT.md, "Convolution"), and what it costs the checker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ...proof import Json, hexadecimal

Kind = Literal["screen", "upper", "lower", "both"]
Rest = tuple[tuple[int, int], ...]
"""Other outputs with shares in 16ths: `upper` and `screen` assume that they do not win, `both` that they do."""


@dataclass(frozen=True, slots=True)
class Item:
    """As a certificate holds it: `step` in units of 2**unit, `offset` in 64ths of a step."""

    kind: Kind
    m: int
    queries: tuple[int, ...]
    outputs: tuple[int, ...]  # none: all but m, with the largest difference of each circuit by itself
    rest: Rest = ()
    step: int = 1
    offset: int = 0

    def json(self) -> list[Json]:
        """The list that the certificate holds."""
        rest: list[Json] = [list(pair) for pair in self.rest]
        sets: list[Json] = [self.kind, mask(self.queries), mask(self.outputs), rest]
        return sets if self.kind == "screen" else [*sets, hexadecimal(self.step), self.offset]


def mask(members: Iterable[int]) -> str:
    """A set as a hexadecimal mask."""
    return hexadecimal(sum(1 << i for i in members))


def ratio_operations(m: int, free: int, queries: int) -> int:
    """Weight ratios of one set of queries; the checker makes them once."""
    return 2 * queries * (2 * m + 2 * free + 6)


def value_operations(m: int, free: int, queries: int, outputs: int) -> int:
    """Logit differences, pessimised over the outputs (at least one: all together count as one)."""
    return max(outputs, 1) * (3 * (m + 1) + 4 * (free + 1) + 6 * queries)


def cell_operations(m: int, free: int, queries: int) -> int:
    """Rounding of all terms to the grid."""
    return 6 * free * (m + 1) + 4 * queries


def screen_operations(m: int, free: int, queries: int, outputs: int, rest: int) -> int:
    """The bounds of a `screen` item, values included: each output is looked at with the rest."""
    return outputs * (value_operations(m, free, queries, 1 + rest) + 4 * (m + 1) + 5 * queries)
