"""FORMAT.md, section 5.4: the rule `gap_classes`."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from typing import Any

from flint import fmpq, fmpz

from second_checker.circuits import Factored
from second_checker.counting import Count, enclosures
from second_checker.document import demand, number, require, sequence
from second_checker.exact import Matrix, common, enclosure, matrix, zero
from second_checker.model import Claim, classes

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


def gap_numbers(value: Any, count: int) -> list[int]:
    """The numbers of a text of gaps."""
    demand(isinstance(value, str), "gaps are a text")
    result: list[int] = []
    current = 0
    begun = False
    for letter in value:
        demand(letter in ALPHABET, "no such digit")
        digit = ALPHABET.index(letter)
        demand(begun or digit != 32, "a leading zero")
        current = 32 * current + digit % 32
        demand(current < 32 << 20, "a gap is too large")
        begun = digit >= 32
        if not begun:
            result.append(current)
            current = 0
    demand(not begun and len(result) == count, f"{len(result)} gaps, not {count}")
    return result


def pivot_numbers(value: Any, unit: int) -> list[fmpz]:
    found: list[fmpz] = sequence(number)(value)
    ends = [fmpz(0), *found, fmpz(1) << unit]
    demand(all(a < b for a, b in pairwise(ends)), "pivots")
    return ends


def rational(m: Matrix, i: int, j: int) -> fmpq:
    return fmpq(m[i, j]) * fmpq(2) ** m.exponent


class Gaps:
    """The facts of one application, as rationals."""

    def __init__(self, claim: Claim, d_head: int, a: dict[str, Any]) -> None:
        self.claim, self.d_head, self.bits, self.grid = claim, d_head, a["bits"], a["grid"]
        scores, direct = a["scores"], a["direct"]
        require(scores.approx is not None, "nothing was peeled off the scores")
        self.scores = scores.approx
        self.bound = scores.bound
        self.positions = a["positions"].exact()
        h = direct.approx or zero(claim.queries, a["exact_direct"].factors[-1].columns)
        self.h, self.direct_bound = h, direct.bound
        require(all(h.row(i) == h.row(0) for i in range(h.rows)), "rows of the approximation of EU differ")
        self.exact_direct = a["exact_direct"].exact()
        values: Factored = a["values"]
        output_positions: Factored = a["output_positions"]
        self.values, self.outputs = values.exact(), output_positions.exact()
        require(values.centre == output_positions.centre, "centres differ")
        self.r = fmpq(a["margin_above"]) * fmpq(2) ** a["exponent"]
        require(h.columns > 1, "one output only")
        # units play no part below; numbers too far apart are refused all the same
        common(self.scores, self.bound)
        common(
            matrix([[a["margin_above"]]], a["exponent"]), h, direct.bound, self.exact_direct, self.values, self.outputs
        )

    def others(self, m: int) -> list[int]:
        return [o for o in range(self.values.columns) if o != m]

    def value(self, t: int, o: int, m: int) -> fmpq:
        return rational(self.values, t, o) - rational(self.values, t, m)

    def highest(self, o: int, m: int) -> fmpq:
        p = self.outputs
        return max(rational(p, i, o) - rational(p, i, m) for i in range(p.rows))

    def curve(self, m: int, a: fmpq) -> fmpq:
        """F(a)."""
        h = self.h
        return max(
            rational(h, 0, o) - rational(h, 0, m) + self.highest(o, m) + self.r + a * self.value(m, o, m)
            for o in self.others(m)
        )

    def accepted(self, q: int, m: int, n: int, gap: int, nodes: list[fmpq]) -> bool:
        """Both tests of one claim."""
        forced = self.claim.forced(q, m)
        rows = (list(range(m - gap + 1)) if n else []) + ([self.claim.row_of(q)] if forced else [])
        a = self.scores
        distance = rational(a, q, m) - max(rational(a, q, t) for t in rows) - rational(self.bound, q, 0)
        places = enclosures(self.positions.row(q), self.positions.exponent, self.d_head, self.bits, self.grid)
        free = places[:-1]
        x = sum(sorted(low for low, _ in free)[: self.claim.free - n], fmpz(0))
        y = sum(sorted((high for _, high in free), reverse=True)[:n], fmpz(0))
        if forced:
            y += places[-1][1]
        else:
            x += places[-1][0]
        denominator = fmpz(distance.q)
        exponent = -(denominator.bit_length() - 1)
        low, high = enclosure(abs(fmpz(distance.p)), exponent, self.d_head, self.bits, self.grid)
        one = fmpz(1) << self.bits
        holding, rest = (x * one, y * high) if distance >= 0 else (x * low, y * one)
        attention = fmpq(holding, holding + rest)
        wrong = max(self.value(t, o, m) for t in rows for o in self.others(m))
        before = max(node for node in nodes if node <= attention)
        after = min(node for node in nodes if node >= attention)
        chord = self.curve(m, before)
        if after != before:
            chord += (self.curve(m, after) - chord) * (attention - before) / (after - before)
        own = rational(self.direct_bound, q, 0)
        return bool(own + chord + (1 - attention) * wrong < 0 and own + self.curve(m, fmpq(1)) < 0)

    def all_m(self, m: int) -> bool:
        """Whether m...m is right."""
        e = self.exact_direct
        return all(
            rational(e, m, o) - rational(e, m, m) + self.value(m, o, m) + self.highest(o, m) + self.r < 0
            for o in self.others(m)
        )


def gap_classes(claim: Claim, d_head: int, a: dict[str, Any]) -> Count:
    require(claim.uniform, "for the uniform distribution only")
    spans = a["region"]
    f = claim.free
    demand(len(a["gaps"]) == len(a["pivots"]) == len(spans), "gaps, pivots and region")
    texts = [gap_numbers(t, f * (high - low)) for t, (_, low, high) in zip(a["gaps"], spans, strict=True)]
    pivots = [pivot_numbers(p, a["unit"]) for p in a["pivots"]]
    gaps = Gaps(claim, d_head, a)
    right = 0
    for (m, low, high), numbers, ends in zip(spans, texts, pivots, strict=True):
        nodes = [fmpq(end, fmpz(1) << a["unit"]) for end in ends]
        for q in range(low, high):
            forced = claim.forced(q, m)
            for k in range(f):
                gap, n = numbers[(q - low) * f + k], k if forced else k + 1
                if gap == 0:
                    continue
                require(gap == 1 if n == 0 else gap <= m, "no such gap")
                require(gaps.accepted(q, m, n, gap, nodes), "a gap fails")
                right += comb(f, n) * (m - gap + 1) ** n
            right += not forced and gaps.all_m(m)
    return Count(
        (a["margin_above"], a["exponent"]), frozenset(classes(spans)), fmpz(right), fmpz(0), None, claim.number
    )
