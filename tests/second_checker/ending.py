"""FORMAT.md, section 5.6: parts of a mixture, the conclusion, and the mean log-loss."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq, fmpz

from second_checker.counting import Count, Threshold
from second_checker.document import demand, require
from second_checker.exact import ceiling, exponential
from second_checker.model import LOG_LOSS, Claim, Semantics

BITS, UNIT = 96, 40


@dataclass(frozen=True)
class Mixed:
    """Masses over all parts."""

    threshold: Threshold
    right: fmpz
    wrong: fmpz
    semantics: Semantics | None


@dataclass(frozen=True)
class Conclusion:
    """What is proved: bounds for a threshold, or of the log-loss."""

    threshold: Threshold | str
    semantics: Semantics | None
    lower: fmpz
    upper: fmpz


def mixture(claim: Claim, counts: list[Count]) -> Mixed:
    require(len(counts) == len(claim.parts) > 1, "as many counts as parts")
    require([count.part for count in counts] == list(range(len(counts))), "parts in another order")
    first = counts[0]
    require(all(c.threshold == first.threshold and c.semantics == first.semantics for c in counts), "other counts")
    pairs = list(zip(claim.parts, counts, strict=True))
    right = sum((part.share * count.right for part, count in pairs), fmpz(0))
    wrong = sum((part.share * count.wrong for part, count in pairs), fmpz(0))
    return Mixed(first.threshold, right, wrong, first.semantics)


def total_of(claim: Claim, count: Count | Mixed) -> Conclusion:
    """At least `right`, at most what is not `wrong`; one part alone has the share 1."""
    return Conclusion(count.threshold, count.semantics, count.right, claim.all - count.wrong)


def log_loss(
    claim: Claim, outputs: int, counts: list[Count | Mixed], upper: list[fmpz], lower: list[fmpz]
) -> Conclusion:
    require(len(counts) > 1, "fewer than two counts")
    demand(len(upper) == len(lower) == len(counts), "a bound for each count")
    require(all(count.semantics is None for count in counts), "over the real numbers only")
    values = [fmpq(n) * fmpq(2) ** e for n, e in (count.threshold for count in counts)]
    places = [max(0, fmpz(x.q).bit_length() - 1) for x in values]
    demand(max(places) <= 512, "a threshold is too fine")
    require(all(a < b for a, b in pairwise(values)), "thresholds do not ascend")
    require(counts[0].right == claim.all, "some input may have a smaller margin than all thresholds")
    for bounds in (upper, lower):
        require(bounds[-1] >= 0 and all(a >= b for a, b in pairwise(bounds)), "a bound ascends")
    grid, one = max(96, *places), fmpz(1) << BITS

    def power(x: fmpq, end: int) -> fmpz:
        return exponential(int((x * fmpq(2) ** grid).p), BITS, grid)[end]

    for r, above, below in zip(values, upper, lower, strict=True):
        high, low = fmpq(above, fmpz(1) << UNIT), fmpq(below, fmpz(1) << UNIT)
        require(high + r >= 0, "an upper bound")
        require(power(high, 1) + (outputs - 1) * power(high + r, 1) <= one, "an upper bound")
        require(low + r < 0 or power(low, 0) + power(low + r, 0) >= one, "a lower bound")
    most = upper[0] * claim.all
    most -= sum((c.right * (a - b) for c, (a, b) in zip(counts[1:], pairwise(upper), strict=True)), fmpz(0))
    least = sum((c.wrong * (a - b) for c, (a, b) in zip(counts, pairwise([*lower, fmpz(0)]), strict=True)), fmpz(0))
    return Conclusion(LOG_LOSS, None, least // claim.all, ceiling(most, claim.all))
