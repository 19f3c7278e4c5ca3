"""FORMAT.md, section 5.5: `margin_convolution`, with every tuple of cells summed by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from flint import fmpz

from second_checker.counting import Count, Margins
from second_checker.document import anything, demand, integer, number, record, require, sequence
from second_checker.exact import ceiling, down, up
from second_checker.model import Claim, Tokens, classes

Ends = tuple[fmpz, fmpz]
SHARE = sequence(integer(0, 1 << 12))


@dataclass(frozen=True)
class Item:
    kind: str
    m: int
    queries: list[int]
    outputs: list[int]  # empty: all but m
    rest: list[tuple[int, int]]  # output, signed share in 16ths
    step: fmpz
    offset: int


def mask(value: Any, limit: int) -> list[int]:
    found = number(value)
    demand(0 < found < fmpz(1) << limit, "a set")
    return [i for i in range(limit) if found >> i & 1]


def read_item(value: Any, m: int, queries: int, outputs: int) -> Item:
    found = sequence(anything)(value)
    kind = found[0] if found else None
    demand(isinstance(kind, str) and kind in ("screen", "upper", "lower", "both"), "kind of an item")
    demand(len(found) == (4 if kind == "screen" else 6), "length of an item")
    chosen = [] if found[2] == "0" else mask(found[2], outputs)
    rest = [SHARE(pair) for pair in sequence(anything)(found[3])]
    demand(all(len(pair) == 2 for pair in rest), "a pair")
    demand(bool(chosen) or (kind == "upper" and outputs > 1), "all outputs")
    if kind in ("lower", "both"):
        demand((len(chosen), len(rest)) == (1, int(kind == "both")), "one output")
    demand(m not in chosen, "the maximum cannot fail")
    demand(all(p < outputs and p != m and p not in chosen for p, _ in rest), "another output")
    step, offset = (fmpz(1), 0) if kind == "screen" else (number(found[4]), integer(0, 63)(found[5]))
    demand(step > 0, "a step is positive")
    sign = 1 if kind == "both" else -1
    return Item(kind, m, mask(found[1], queries), chosen, [(p, sign * share) for p, share in rest], step, offset)


class Ratios:
    """Ends of weights relative to token m and the best position, over a set of queries, times 2^digits."""

    def __init__(self, claim: Claim, margins: Margins, item: Item, digits: int) -> None:
        weights, m, one = margins.weights, item.m, fmpz(1) << digits
        require(all(weights.tokens[q][m][0] > 0 for q in item.queries), "the weight of the maximum vanishes")

        def ratio(q: int, t: int) -> Ends:
            (low, high), (low_m, high_m) = weights.tokens[q][t], weights.tokens[q][m]
            return (one, one) if t == m else ((low << digits) // high_m, ceiling(high << digits, low_m))

        def place(q: int, i: int) -> Ends:
            low, high = weights.positions[q][i]
            return down(low, weights.bits - digits), up(high, weights.bits - digits)

        def over(ends: list[Ends]) -> Ends:
            return min(low for low, _ in ends), max(high for _, high in ends)

        self.token = [over([ratio(q, t) for q in item.queries]) for t in range(m + 1)]
        self.position = [over([place(q, i) for q in item.queries]) for i in range(claim.free)]
        self.own: dict[int, Ends] = {}
        for q in item.queries:
            here, last = ratio(q, claim.row_of(q)), place(q, claim.free)
            self.own[q] = here[0] * last[0], here[1] * last[1]


@dataclass
class Parts:
    """What the terms of an item are made of, times 16: at each token, at each free position, of each query."""

    token: list[fmpz]
    position: list[fmpz]
    own: dict[int, fmpz]


def parts(claim: Claim, margins: Margins, item: Item) -> Parts:
    m, side = item.m, min if item.kind == "lower" else max
    r = margins.r * (16 + sum(share for _, share in item.rest))
    single = item.outputs or [None]

    def difference(of: Any, row: int, o: int | None) -> fmpz:
        best = of[row, o] if o is not None else max(of[row, p] for p in margins.others(m))
        return 16 * (best - of[row, m]) + sum(share * (of[row, p] - of[row, m]) for p, share in item.rest)

    places = claim.free + 1
    mean = {o: sum(difference(margins.positions, i, o) for i in range(places)) // places for o in single}
    base = {o: side(difference(margins.direct, q, o) for q in item.queries) + mean[o] + r for o in single}
    return Parts(
        [max(difference(margins.values, t, o) + base[o] for o in single) for t in range(m + 1)],
        [max(difference(margins.positions, i, o) - mean[o] for o in single) for i in range(claim.free)],
        {
            q: max(
                difference(margins.direct, q, o)
                + difference(margins.values, claim.row_of(q), o)
                + difference(margins.positions, claim.free, o)
                for o in single
            )
            + r
            for q in item.queries
        },
    )


def larger(x: fmpz, ends: Ends) -> fmpz:
    """x times the end that makes it larger."""
    return x * ends[1 if x >= 0 else 0]


def smaller(x: fmpz, ends: Ends) -> fmpz:
    return x * ends[0 if x >= 0 else 1]


def counts(claim: Claim, margins: Margins, item: Item, digits: int, unit: int) -> dict[int, fmpz]:
    """The item's count for each of its queries."""
    if item.kind == "screen":
        require(all(harmless(claim, margins, item, o, digits) for o in item.outputs), "an output may win")
        return {q: fmpz(0) for q in item.queries}
    ratios, found = Ratios(claim, margins, item, digits), parts(claim, margins, item)
    h = item.step << unit - margins.exponent + 2 * digits + 4
    c = h * item.offset // 64
    lower = item.kind == "lower"
    end = smaller if lower else larger

    def cell(i: int, t: int) -> fmpz:
        token, position = ratios.token[t], ratios.position[i]
        term = end(found.token[t] + found.position[i], (token[0] * position[0], token[1] * position[1]))
        return (term + c) // h if lower else ceiling(term - c, h)

    cells = [[cell(i, t) for t in range(item.m + 1)] for i in range(claim.free)]
    result = {}
    for q in item.queries:
        own = end(found.own[q], ratios.own[q])
        least = ceiling(-own + claim.free * (c if lower else -c), h)

        def reached(tokens: Tokens, least: fmpz = least) -> bool:
            return bool(sum((cells[i][t] for i, t in enumerate(tokens)), fmpz(0)) >= least)

        failing = [tokens for tokens in claim.inputs(q, item.m) if reached(tokens)]
        result[q] = sum((claim.mass(q, tokens) for tokens in failing), fmpz(0))
    return result


def harmless(claim: Claim, margins: Margins, item: Item, o: int, digits: int) -> bool:
    """Whether this output cannot win for any query of the item, unless one of the rest does."""
    ratios = Ratios(claim, margins, item, digits)
    found = parts(claim, margins, Item("upper", item.m, item.queries, [o], item.rest, fmpz(1), 0))
    most = max(found.position, default=fmpz(0))
    terms = [larger(x + most, ends) for x, ends in zip(found.token, ratios.token, strict=True)]
    top = max(terms)
    light, heavy = ([ends[k] for ends in ratios.position] for k in (0, 1))
    free = top * sum(heavy if top >= 0 else light, fmpz(0))
    switch = min(light, default=fmpz(0)) * (top - terms[item.m])
    for q in item.queries:
        bound = free + larger(found.own[q], ratios.own[q]) - (switch if claim.forced(q, item.m) else 0)
        if bound >= 0:
            return False
    return True


@dataclass
class Tally:
    """What is known of one class."""

    missing: set[int]
    above: fmpz = field(default_factory=fmpz)
    single: dict[int, fmpz] = field(default_factory=dict)
    double: dict[frozenset[int], fmpz] = field(default_factory=dict)

    def enter(self, item: Item, count: fmpz) -> None:
        if item.kind == "lower":
            self.single[item.outputs[0]] = count
        elif item.kind == "both":
            self.double[frozenset((item.outputs[0], item.rest[0][0]))] = count
        else:
            require(not self.missing & {p for p, _ in item.rest}, "an output of the rest is not covered")
            self.missing -= set(item.outputs) if item.outputs else set(self.missing)
            self.above += count

    def failing(self) -> fmpz:
        """At least so much fails."""
        total, taken = fmpz(0), list[int]()
        for o, count in self.single.items():
            gain = count - sum(self.double.get(frozenset((o, p)), count) for p in taken)
            if gain > 0:
                total += gain
                taken.append(o)
        return max([total, *self.single.values()])


def margin_convolution(claim: Claim, margins: Margins, digits: int, unit: int, maxima: list[Any]) -> Count:
    demand(unit >= margins.exponent - 2 * digits - 4, "the unit is finer than the logits")
    right = wrong = fmpz(0)
    spans: list[list[int]] = []
    for entry in maxima:
        value = record(entry, {"m": anything, "items": sequence(anything)})
        m = integer(spans[-1][0] + 1 if spans else 0, claim.tokens - 1)(value["m"])
        claim.answer(m)
        queries = 1 if claim.eos is not None else m + 1
        spans.append([m, 0, queries])
        tallies = [Tally(set(margins.others(m))) for _ in range(queries)]
        for text in value["items"]:
            item = read_item(text, m, queries, margins.outputs)
            for q, count in counts(claim, margins, item, digits, unit).items():
                tallies[q].enter(item, count)
        for q, tally in enumerate(tallies):
            size = claim.size(q, m)
            right += size - (size if tally.missing else min(size, tally.above))
            wrong += tally.failing()
    require(bool(spans), "no maxima")
    return Count(margins.threshold, frozenset(classes(spans)), right, wrong, None, claim.number)
