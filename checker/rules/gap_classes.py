"""The paper's sub-cubic proof: FORMAT.md, "Gap classes"."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb

from ..errors import Malformed, Rejected
from ..facts import Admissible, Count, Factored
from ..numbers import Exp, Matrix, floor_div, read_hex, sqrt_bounds
from ..reader import items
from ..step import Step
from ..task import read_region
from .circuits import exact
from .margins import softmax_terms

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
VALUE = {digit: value for value, digit in enumerate(DIGITS)}


def gap_classes(step: Step) -> Count:
    """Sequences of class (q, m) in which n free tokens differ from m, and are at most m - g.

    Premises:   scores, admissible EQKE; positions, exact EQKP; direct, admissible EU, its approximation alike for all
                queries; exact_direct, exact EU; values, exact EVOU; output_positions, exact PVOU with the same centre
    Arguments:  bits and grid of exp; margin_above and exponent, the threshold; per span of the region a string of gaps
                (0: none) and a list of pivots in (0, 1), over 2**unit
    Conclusion: C(free, n) (m - g + 1)^n right sequences for each gap, and m...m wherever it is right
    Sound because: the margin at attention a to m is at most a convex function of a, which lies below its chords and is
                largest at an end of [least a, 1]; FORMAT.md has the proof.
    """
    step.require_uniform()
    attention, logits = Attention(step), Logits(step)
    region = read_region(step.fields, step.task)
    unit = step.fields.integer("unit", 1, 64)
    gaps, pivots = step.fields.items("gaps"), step.fields.items("pivots")
    if not len(gaps) == len(pivots) == len(region):
        raise Malformed("SPANS", f"{len(gaps)} gap strings, {len(pivots)} lists of pivots, {len(region)} spans")
    right, free = 0, step.task.free
    for (m, low, high), text, chosen in zip(region, gaps, pivots, strict=True):
        table = _gaps(text, (high - low) * free)
        bound = logits.bound(m, _nodes(chosen, unit, f"{step.fields.place}.pivots"), step)
        for q in range(low, high):
            right += _class(attention, bound, q, table[(q - low) * free : (q - low + 1) * free], step)
    return Count(logits.threshold, region, step.agree("right", right), 0)


def _gaps(text: object, number: int) -> list[int]:
    """Numbers in base 32: the digits 32..63 stand for 0..31 with more digits of the same number to come."""
    gaps, value, more = [], 0, False
    if not isinstance(text, str) or not VALUE.keys() >= set(text):
        raise Malformed("GAPS", "expected a string of the 64 digits")
    for digit in text:
        value, more = value << 5 | VALUE[digit] & 31, VALUE[digit] > 31
        if more and not 0 < value < 1 << 20:
            raise Malformed("GAPS", "a number has a leading zero or is too large")
        if not more:
            gaps.append(value)
            value = 0
    if more or len(gaps) != number:
        raise Malformed("GAPS", f"{len(gaps)} numbers and an {'un' if more else ''}finished end, {number} needed")
    return gaps


def _nodes(value: object, unit: int, place: str) -> list[int]:
    """0, the pivots and 1 over 2**unit, ascending."""
    nodes = [0, *(read_hex(item, place) for item in items(value, place)), 1 << unit]
    if not all(a < b for a, b in pairwise(nodes)):
        raise Malformed("PIVOTS", "pivots must ascend strictly between 0 and 1").at(place)
    return nodes


class Attention:
    """Lower bounds of the attention paid to the maximum."""

    def __init__(self, step: Step) -> None:
        scores = step.premise("scores", Admissible)
        if scores.circuit != "EQKE" or scores.approx is None:
            raise Rejected("PREMISE_CIRCUIT", f"scores is {scores.circuit}, expected EQKE with an approximation")
        positions = exact(step.premise("positions", Factored), "EQKP")
        self.bits, self.grid = step.fields.integer("bits", 8, 4096), step.fields.integer("grid", 8, 512)
        self.exp = Exp(self.bits, self.grid, step.meter)
        self.root = sqrt_bounds(step.model.sizes["d_head"], self.grid + 32)
        exponent = min(scores.approx.exponent, scores.bound.exponent)
        self.shift = exponent + 2 * self.grid + 32
        self.scores, self.error = scores.approx.scaled_to(exponent), scores.bound.scaled_to(exponent)
        self.highest = [list(accumulate(row, max)) for row in self.scores]
        low, high = softmax_terms(positions, self.root, self.exp, self.grid)
        free = step.task.free
        self.least = [list(accumulate(sorted(row[:free]), initial=0)) for row in low]
        self.most = [list(accumulate(sorted(row[:free], reverse=True), initial=0)) for row in high]
        self.query = [(a[free], b[free]) for a, b in zip(low, high, strict=True)]
        step.meter.count(2 * len(low) * (len(self.scores[0]) + 2 * free))

    def odds(self, q: int, m: int, count: int, below: int, own: int) -> tuple[int, int]:
        """M, N: m's share is at least M / (M + N) when `count` free tokens are at most `below` and the rest m's.

        `own` is the row of the query's token, which may be m.
        """
        row, mass, rest = self.scores[q], self.least[q][-1 - count], self.most[q][count]
        tops = [self.highest[q][below]] if count else []
        if own == m:
            mass += self.query[q][0]
        else:
            rest += self.query[q][1]
            tops.append(row[own])
        lead = row[m] - max(tops) - self.error[q][0]
        self.exp.meter.count(8)
        if lead >= 0:
            return mass << self.bits, rest * self.exp.end(floor_div(lead, self.shift, self.root[1]), True)
        return mass * self.exp.end(-floor_div(lead, self.shift, self.root[0]), False), rest << self.bits


@dataclass(frozen=True, slots=True)
class Bound:
    """For maximum m: y_o - y_m + threshold is at most direct + (values at a) + (1 - a) wrong, over 2**unit."""

    m: int
    nodes: list[int]
    values: list[int]  # at the nodes
    direct: list[int]  # for each query
    wrong: list[int]  # for each token row: what it gives to the best wrong output
    highest: list[int]  # the largest of them up to each row
    constant: bool  # is the sequence m...m right?


class Logits:
    """Everything but attention, as integers over one power of two."""

    def __init__(self, step: Step) -> None:
        direct, own = step.premise("direct", Admissible), exact(step.premise("exact_direct", Factored), "EU")
        values, positions = step.premise("values", Factored), step.premise("output_positions", Factored)
        if direct.circuit != "EU":
            raise Rejected("PREMISE_CIRCUIT", f"direct is {direct.circuit}, expected EU")
        common = Matrix(((0,) * own.shape[1],), 0) if direct.approx is None else direct.approx
        if any(row != common.rows[0] for row in common.rows):
            raise Rejected("DIRECT_ROWS", "the approximation of EU differs between queries")
        if values.centre != positions.centre:
            raise Rejected("CENTRE", "EVOU and PVOU were centred differently")
        if own.shape[1] < 2:
            raise Rejected("ONE_OUTPUT", "there is no output but the right one")
        self.threshold = step.fields.hex("margin_above"), step.fields.integer("exponent", -4096, 4096)
        parts = [Matrix(((self.threshold[0],),), self.threshold[1]), common, direct.bound]
        parts += [own, exact(values, "EVOU"), exact(positions, "PVOU")]
        exponent = min(part.exponent for part in parts)
        shift, rows, self.direct, self.own, self.values, self.positions = (part.scaled_to(exponent) for part in parts)
        self.shift, self.common = shift[0][0], rows[0]  # what all queries share of EU, within `direct` for each of them
        self.two = [sorted(row)[-2:] for row in self.values]  # second largest and largest
        step.meter.count(3 * len(self.two) * len(self.common))

    def bound(self, m: int, nodes: list[int], step: Step) -> Bound:
        """Lines level + a * slope, one for each wrong output, and the largest of them at each node."""
        at_m, outputs, unit = self.values[m], [o for o in range(len(self.common)) if o != m], nodes[-1]
        pi = [max(column) for column in zip(*([n - row[m] for n in row] for row in self.positions), strict=True)]
        lines = [(self.common[o] - self.common[m] + pi[o] + self.shift, at_m[o] - at_m[m]) for o in outputs]
        values = [max(level * unit + slope * node for level, slope in lines) for node in nodes]
        pairs = zip(self.values, self.two, strict=True)
        wrong = [((two[1] if row[m] != two[1] else two[0]) - row[m]) * unit for row, two in pairs]
        own = self.own[m] if step.task.holds_max(m, m) else None
        constant = own is not None and all(
            own[o] - own[m] + pi[o] + at_m[o] - at_m[m] + self.shift < 0 for o in outputs
        )
        step.meter.count(len(outputs) * (2 * len(self.positions) + 9 + 3 * len(nodes)) + 4 * len(wrong))
        direct = [row[0] * unit for row in self.direct]
        return Bound(m, nodes, values, direct, wrong, list(accumulate(wrong, max)), constant)


def _class(attention: Attention, bound: Bound, q: int, gaps: list[int], step: Step) -> int:
    """The sequences that the gaps of class (q, m) certify; every gap must."""
    m, task = bound.m, step.task
    own, holds = task.own_row(q), task.holds_max(q, bound.m)
    right = 1 if holds and bound.constant else 0
    for count, gap in enumerate(gaps, 1 if holds else 0):
        if gap == 0:
            continue
        if (gap > m) if count else (gap != 1):
            raise Rejected("GAP", f"query {q}, maximum {m}, {count} others: gap {gap} leaves no token")
        below = m - gap
        odds = attention.odds(q, m, count, below, own)
        wrong = max([bound.highest[below]] * (count > 0) + [bound.wrong[own]] * (not holds))
        if not all(margin < 0 for margin in _ends(bound, odds, wrong, bound.direct[q], step)):
            raise Rejected("GAP_FAILS", f"query {q}, maximum {m}, {count} others, gap {gap}: may be wrong")
        step.meter.charge(task.free)
        right += comb(task.free, count) * (below + 1) ** count
    return right


def _ends(bound: Bound, odds: tuple[int, int], wrong: int, direct: int, step: Step) -> tuple[int, int]:
    """The bound at attention M / (M + N), times a positive number, and at attention 1."""
    nodes, values, (mass, rest) = bound.nodes, bound.values, odds
    total, at = mass + rest, mass * nodes[-1]
    i = bisect_right(nodes, at // total, 0, len(nodes) - 1) - 1
    left, right = nodes[i + 1] * total - at, at - nodes[i] * total
    step.meter.count(20)
    chord = values[i] * left + values[i + 1] * right + (nodes[i + 1] - nodes[i]) * (total * direct + rest * wrong)
    return chord, values[-1] + direct
