"""FORMAT.md, sections 5.2, 5.3 and 5.6: weights, margins and counts, every input by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

from flint import fmpz, fmpz_mat

from second_checker.circuits import Factored
from second_checker.document import require
from second_checker.exact import Matrix, ceiling, common, enclosure, matrix, span, up
from second_checker.model import Claim, Class, Semantics, Tokens, classes

Ends = tuple[fmpz, fmpz]
Threshold = tuple[fmpz, int]


@dataclass(frozen=True)
class Weights:
    """Enclosures of 2^bits exp(...) for each query: of each token row, of each position."""

    bits: int
    grid: int
    tokens: list[list[Ends]]
    positions: list[list[Ends]]
    order: list[list[int]]  # the free positions by their EQKP, ascending


def enclosures(scores: list[fmpz], exponent: int, d_head: int, bits: int, grid: int) -> list[Ends]:
    top = max(scores)
    return [enclosure(top - s, exponent, d_head, bits, grid) for s in scores]


def weights(claim: Claim, d_head: int, scores: Factored, positions: Factored, bits: int, grid: int) -> Weights:
    by_token, by_position = scores.exact(), positions.exact()

    def rows(m: Matrix) -> list[list[Ends]]:
        return [enclosures(m.row(q), m.exponent, d_head, bits, grid) for q in range(m.rows)]

    order = [sorted(range(claim.free), key=lambda i, q=q: by_position[q, i]) for q in range(by_position.rows)]
    return Weights(bits, grid, rows(by_token), rows(by_position), order)


@dataclass(frozen=True)
class Margins:
    """Logits and threshold as integers over 2^exponent."""

    weights: Weights
    direct: fmpz_mat
    values: fmpz_mat
    positions: fmpz_mat
    r: fmpz
    exponent: int
    threshold: Threshold

    @property
    def outputs(self) -> int:
        return int(self.direct.ncols())

    def term(self, q: int, m: int, o: int, i: int, t: int) -> fmpz:
        """c_i of section 4 for output o, with token row t at position i."""
        return (
            self.direct[q, o]
            - self.direct[q, m]
            + self.values[t, o]
            - self.values[t, m]
            + self.positions[i, o]
            - self.positions[i, m]
            + self.r
        )

    def others(self, m: int) -> list[int]:
        return [o for o in range(self.outputs) if o != m]

    def rounded(self, bits: int) -> tuple[Margins, int]:
        """Logits and threshold rounded down to multiples of 2^-bits, and by how many units a difference is then off."""
        shift = -bits - self.exponent
        if shift <= 0:
            return self, 0

        def cut(m: fmpz_mat) -> fmpz_mat:
            return fmpz_mat(m.nrows(), m.ncols(), [x >> shift for x in m.entries()])

        logits = (cut(m) for m in (self.direct, self.values, self.positions))
        return Margins(self.weights, *logits, self.r >> shift, -bits, self.threshold), 4

    @cached_property
    def spread(self) -> fmpz:
        """No difference c is larger: the largest ranges of rows of the three circuits, and the threshold."""
        parts = (self.direct, self.values, self.positions)
        return sum(
            (max(span([m[i, j] for j in range(m.ncols())]) for i in range(m.nrows())) for m in parts), abs(self.r)
        )


def margins(
    weights: Weights, direct: Factored, values: Factored, positions: Factored, margin_above: fmpz, exponent: int
) -> Margins:
    found = [fact.exact() for fact in (direct, values, positions)]
    require(values.centre == positions.centre, "centres differ")
    r = matrix([[margin_above]], exponent)
    low = common(*found, r)
    a, b, c = (m.at(low) for m in found)
    return Margins(weights, a, b, c, r.at(low)[0, 0], low, (margin_above, exponent))


@dataclass(frozen=True)
class Count:
    """In the classes of a region, at least `right` inputs have a margin above the threshold, `wrong` have not."""

    threshold: Threshold
    region: frozenset[Class]
    right: fmpz
    wrong: fmpz
    semantics: Semantics | None = None
    part: int = 0


class Cut:
    """Weights of one class, cut to about `digits` bits."""

    def __init__(self, claim: Claim, weights: Weights, q: int, m: int, digits: int) -> None:
        own = claim.row_of(q)
        rows = sorted({*range(m + 1), own})
        token, position = weights.tokens[q], weights.positions[q]
        require(token[m][0] > 0, "the weight of the maximum vanishes")
        by = max(0, token[m][0].bit_length() - digits)
        at = max(0, weights.bits - digits)
        self.u = {t: token[t][0] >> by for t in rows}
        self.p = [low >> at for low, _ in position]
        du = max(up(token[t][1], by) - self.u[t] for t in rows)
        dp = max(up(high, at) - p for (_, high), p in zip(position, self.p, strict=True))
        self.rows, self.own = rows, own
        self.top_u, self.top_p = max(self.u.values()), max(self.p)
        self.rho = self.top_p * du + self.top_u * dp + du * dp

    def total(self, margins: Margins, q: int, m: int, o: int, tokens: Tokens) -> fmpz:
        """The sum over the positions of one input."""
        held = (*tokens, self.own)
        return sum((self.p[i] * self.u[t] * margins.term(q, m, o, i, t) for i, t in enumerate(held)), fmpz(0))

    def largest(self, margins: Margins, q: int, m: int, o: int) -> fmpz:
        """C for one output: the position's part by itself."""
        d, v, p = margins.direct, margins.values, margins.positions
        tokens = max(abs(d[q, o] - d[q, m] + v[t, o] - v[t, m] + margins.r) for t in self.rows)
        return tokens + max(abs(p[i, o] - p[i, m]) for i in range(len(self.p)))


def enumerate_inputs(claim: Claim, margins: Margins, spans: list[list[int]], digits: int, logit_bits: int) -> Count:
    logits, slack = margins.rounded(logit_bits)
    right = wrong = fmpz(0)
    for q, m in classes(spans):
        if claim.size(q, m) == 0:
            continue
        cut = Cut(claim, margins.weights, q, m, digits)
        limit = (claim.free + 1) * (cut.rho * (logits.spread + slack) + slack * cut.top_p * cut.top_u) + 1
        for tokens in claim.inputs(q, m):
            sums = [cut.total(logits, q, m, o, tokens) for o in logits.others(m)]
            right += claim.mass(q, tokens) * all(s < -limit for s in sums)
            wrong += claim.mass(q, tokens) * any(s >= limit for s in sums)
    return Count(margins.threshold, frozenset(classes(spans)), right, wrong, None, claim.number)


def ruled_out(claim: Claim, margins: Margins, m: int, queries: list[int]) -> set[int]:
    """Screening for a whole maximum: the outputs that no query of the region can lose to."""
    weights = margins.weights
    tokens = [weights.tokens[q] for q in queries]
    if any(row[m][0] == 0 for row in tokens):
        return set()
    rows = sorted({*range(m), *(claim.row_of(q) for q in queries)} - {m})
    most = {t: max(ceiling(row[t][1] << 32, row[m][0]) for row in tokens) for t in rows}
    places = [weights.positions[q] for q in queries]
    lightest = min(low for row in places for low, _ in row) << 32 >> weights.bits
    total = sum(up(max(high for _, high in column) << 32, weights.bits) for column in zip(*places, strict=True))
    d, v, p = margins.direct, margins.values, margins.positions
    result = set()
    for o in margins.others(m):
        rest = max(d[q, o] - d[q, m] for q in queries) + margins.r
        rest += max(p[i, o] - p[i, m] for i in range(p.nrows()))
        at_m = (v[m, o] - v[m, m] + rest) << 32
        top = max([fmpz(0), at_m, *((v[t, o] - v[t, m] + rest) * most[t] for t in rows)])
        if total * top - lightest * (top - at_m) < 0:
            result.add(o)
    return result


def cannot_win(claim: Claim, margins: Margins, cut: Cut, q: int, m: int, o: int) -> bool:
    """Screening of one output in one class."""
    d, v, p = margins.direct, margins.values, margins.positions
    rest = d[q, o] - d[q, m] + margins.r + max(p[i, o] - p[i, m] for i in range(p.nrows()))
    at_m = cut.u[m] * (v[m, o] - v[m, m] + rest)
    top = max([fmpz(0), at_m, *(cut.u[t] * (v[t, o] - v[t, m] + rest) for t in range(m))])
    bound = sum(cut.p[:-1], fmpz(0)) * top
    bound += cut.p[-1] * cut.u[cut.own] * (v[cut.own, o] - v[cut.own, m] + rest)
    if claim.forced(q, m):
        bound -= min(cut.p[:-1], default=fmpz(0)) * (top - at_m)
    return bool(bound + len(cut.p) * margins.spread * cut.rho < 0)


def margin_tree(claim: Claim, margins: Margins, spans: list[list[int]], digits: int) -> Count:
    right = wrong = fmpz(0)
    region = classes(spans)
    screened = {m: ruled_out(claim, margins, m, [q for q, n in region if n == m]) for _, m in region}
    for q, m in region:
        if claim.size(q, m) == 0:
            continue
        cut = Cut(claim, margins.weights, q, m, digits)
        left = [o for o in margins.others(m) if o not in screened[m] and not cannot_win(claim, margins, cut, q, m, o)]
        limit = {o: (claim.free + 1) * cut.largest(margins, q, m, o) * cut.rho for o in left}
        for tokens in claim.inputs(q, m):
            sums = {o: cut.total(margins, q, m, o, tokens) for o in left}
            right += claim.mass(q, tokens) * all(s < -limit[o] for o, s in sums.items())
            wrong += claim.mass(q, tokens) * any(s >= limit[o] for o, s in sums.items())
    return Count(margins.threshold, frozenset(region), right, wrong, None, claim.number)


class Pure:
    """Relaxed sums of one class of the cubic proof."""

    def __init__(self, claim: Claim, margins: Margins, q: int, m: int) -> None:
        self.margins, self.q, self.m = margins, q, m
        self.own, self.free, self.forced = claim.row_of(q), claim.free, claim.forced(q, m)
        self.others = margins.others(m)

    @cached_property
    def pi(self) -> dict[int, fmpz]:
        p = self.margins.positions
        return {o: max(p[i, o] - p[i, self.m] for i in range(p.nrows())) for o in self.others}

    def w(self, t: int) -> fmpz:
        v = self.margins.values
        return max(v[t, o] - v[t, self.m] + self.pi[o] for o in self.others)

    def negative(self, tokens: list[int], part: dict[int, fmpz]) -> bool:
        """Whether the weighted sum of the parts of the tokens is certainly negative."""
        weights = self.margins.weights
        total = fmpz(0)
        for i, t in enumerate([*tokens, self.own]):
            ends = weights.tokens[self.q][t], weights.positions[self.q][i]
            end = 1 if part[t] > 0 else 0
            total += ends[0][end] * ends[1][end] * part[t]
        return bool(total < 0)

    def allowed(self, c: int, t: int, part: dict[int, fmpz]) -> bool:
        order = self.margins.weights.order[self.q]
        for held in (order[: self.free - c], order[c:]):
            if not self.negative([self.m if i in held else t for i in range(self.free)], part):
                return False
        return True

    def right(self) -> int:
        d, r = self.margins.direct, self.margins.r
        q, m, f = self.q, self.m, self.free
        # with one output everything is right, and the classes are counted by the same formula
        u = max((d[q, o] - d[q, m] for o in self.others), default=fmpz(0)) + r
        rows = {*range(m + 1), self.own}
        part = {t: u + self.w(t) if self.others else fmpz(-1) for t in rows}
        total = 0
        for c in range(1, f + (not self.forced)):
            total += comb(f, c) * sum(self.allowed(c, t, part) for t in range(m)) ** c
        v = self.margins.values
        for o in self.others:
            alone = {t: d[q, o] - d[q, m] + r + self.pi[o] + v[t, o] - v[t, m] for t in rows}
            if not self.negative([m] * f, alone):
                return total
        return total + 1


def pure_sequences(claim: Claim, margins: Margins, spans: list[list[int]]) -> Count:
    require(claim.uniform, "for the uniform distribution only")
    right = fmpz(0)
    for q, m in classes(spans):
        if claim.inputs(q, m):
            right += Pure(claim, margins, q, m).right()
    return Count(margins.threshold, frozenset(classes(spans)), right, fmpz(0), None, claim.number)


def disjoint_union(counts: list[Count]) -> Count:
    require(len(counts) > 1, "fewer than two counts")
    first = counts[0]
    region: set[Class] = set()
    for count in counts:
        require(count.threshold == first.threshold, "thresholds differ")
        require(count.semantics == first.semantics, "semantics differ")
        require(count.part == first.part, "different parts")
        require(not region & count.region, "regions overlap")
        region |= count.region
    right, wrong = (sum((getattr(c, side) for c in counts), fmpz(0)) for side in ("right", "wrong"))
    return Count(first.threshold, frozenset(region), right, wrong, first.semantics, first.part)
