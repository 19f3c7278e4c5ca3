"""The sequences that a claim is about, in classes (query, maximum), and the program that it may be about."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import prod

from .errors import Malformed, Rejected
from .reader import Fields, integer


@dataclass(frozen=True, slots=True)
class Task:
    """The largest (or smallest) of `length` tokens out of 0..tokens-1; with `eos`, that token follows and is the query.

    For `min` the tokens are renumbered in reverse, so that everything below speaks of a maximum. Free positions are
    0..free-1, the query stands at position `free`. A class (q, m) holds the sequences with query q and maximum m; with
    an end-of-sequence token there is one query, number 0, below every token.
    """

    kind: str
    length: int
    tokens: int
    eos: int | None
    masses: tuple[tuple[int, ...], ...] | None  # position x token (in the order of the task); None: all 1
    maxima: tuple[int, ...] | None = None  # the maxima that inputs are restricted to, ascending; None: any

    @property
    def free(self) -> int:
        return self.length - 1 if self.eos is None else self.length

    def mass(self, position: int) -> tuple[int, ...]:
        """Weight of each token at a position."""
        return (1,) * self.tokens if self.masses is None else self.masses[position]

    def below(self, m: int) -> list[int]:
        """The mass of tokens 0..m-1 at the free positions from each on: entry i is the product over i..free-1."""
        result = [1]
        for position in reversed(range(self.free)):
            result.append(result[-1] * (m if self.masses is None else sum(self.masses[position][:m])))
        return result[::-1]

    def own_mass(self, q: int) -> int:
        """Weight of the query."""
        return 1 if self.masses is None or self.eos is not None else self.masses[self.free][q]

    @property
    def total(self) -> int:
        """The mass of all inputs: their number, if the distribution is uniform."""
        if self.masses is None:
            n = self.length
            return self.tokens**n if self.maxima is None else sum((m + 1) ** n - m**n for m in self.maxima)
        if self.maxima is None:
            return prod(map(sum, self.masses))
        below = [tuple(accumulate(row, initial=0)) for row in self.masses]
        return sum(prod(sums[m + 1] for sums in below) - prod(sums[m] for sums in below) for m in self.maxima)

    def queries(self, m: int) -> int:
        """The queries of maximum m are 0..queries(m)-1."""
        return m + 1 if self.eos is None else 1

    def holds_max(self, q: int, m: int) -> bool:
        """Is the query token itself the maximum?"""
        return self.eos is None and q == m

    def own_row(self, q: int) -> int:
        """The row of the query's token in EQKE and EVOU."""
        return q if self.eos is None else self.tokens

    def class_size(self, q: int, m: int) -> int:
        """Mass of class (q, m): all tokens at most m, and at least one of them m."""
        free = self.below(m + 1)[0] - (0 if self.holds_max(q, m) else self.below(m)[0])
        return free * self.own_mass(q)

    def token_rows(self) -> list[int]:
        """Rows of the embedding in the order used throughout: tokens, then the end-of-sequence token."""
        order = list(range(self.tokens))
        return (order[::-1] if self.kind == "min" else order) + ([] if self.eos is None else [self.eos])

    def output_columns(self, outputs: int) -> list[int]:
        """Columns of the unembedding: the label of each token in the same order, then all other outputs."""
        labels = self.token_rows()[: self.tokens]
        return labels + list(range(self.tokens, outputs))


# format -> the dtype of its numbers
STORED = {"binary16": "F16", "bfloat16": "BF16", "binary32": "F32", "binary64": "F64"}


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a floating-point program may do: FORMAT.md, "Floating point"."""

    format: str
    exp_ulp: int
    underflow: str

    @property
    def text(self) -> str:
        """The assumptions about the machine."""
        low = "gradual underflow" + ("" if self.underflow == "gradual" else " or flush to zero")
        return (
            f"in every {self.format} evaluation (round to nearest; dot products in any order, fused or not, or wider;"
            f" all else rounded once; softmax less the maximum, exp within {self.exp_ulp} ulp; {low})"
        )


def read_semantics(fields: Fields) -> Semantics:
    """The assumptions, all of them stated."""
    result = Semantics(fields.text("format"), fields.integer("exp_ulp", 1, 1 << 20), fields.text("underflow"))
    fields.close()
    if result.format not in STORED or result.underflow not in ("gradual", "flush"):
        text = f"format {result.format[:20]!r}, underflow {result.underflow[:20]!r}"
        raise Malformed("UNKNOWN_CLAIM", text).at(fields.place)
    return result


def read_region(fields: Fields, task: Task) -> tuple[tuple[int, int, int], ...]:
    """Classes as ascending, disjoint spans [m, low, high]: queries low..high-1 of maximum m. At least one."""
    spans: list[tuple[int, int, int]] = []
    for number, item in enumerate(fields.items("region")):
        place = f"{fields.place}.region[{number}]"
        if not isinstance(item, list) or len(item) != 3:
            raise Malformed("REGION", "expected [m, low, high]").at(place)
        m = integer(item[0], 0, task.tokens - 1, place)
        require_maximum(m, task)
        low = integer(item[1], 0, task.queries(m) - 1, place)
        high = integer(item[2], low + 1, task.queries(m), place)
        if spans and (m, low) < (spans[-1][0], spans[-1][2]):
            raise Malformed("REGION", f"{[m, low, high]} after {list(spans[-1])}: not ascending").at(place)
        if spans and (m, low) == (spans[-1][0], spans[-1][2]):
            raise Malformed("REGION", f"{[m, low, high]} continues {list(spans[-1])}: join them").at(place)
        spans.append((m, low, high))
    if not spans:
        raise Rejected("EMPTY_REGION", "a count over no class proves nothing")
    return tuple(spans)


def require_maximum(m: int, task: Task) -> None:
    """Refuse to count inputs that the claim is not about."""
    if task.maxima is not None and m not in task.maxima:
        raise Rejected("MAXIMUM", f"the claim is not about inputs of maximum {m}")


def pairs(region: tuple[tuple[int, int, int], ...]) -> Iterator[tuple[int, int]]:
    """The classes (q, m) of a region."""
    for m, low, high in region:
        for q in range(low, high):
            yield q, m
