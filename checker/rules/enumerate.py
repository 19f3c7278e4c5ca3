"""Brute force: FORMAT.md, "Enumeration". All outputs of a sequence are summed and tested at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as sequences
from math import prod
from operator import mul

from ..facts import Count, Margins
from ..step import Step
from ..task import Task, pairs, read_region
from .margins import terms


@dataclass(frozen=True, slots=True)
class Packed:
    """Class (q, m): one integer per position and token, with a slot of `slot` bits for each output."""

    tables: list[list[int]]  # free positions x tokens 0..m
    start: int  # the query's term, plus a bias that puts the sign of every sum into the top bit of its slot
    radius: int  # how far a sum may lie from the true one
    top: int  # the top bits of the slots of all outputs but m
    ones: int  # one in each of those slots


def enumerate_rule(step: Step) -> Count:
    """Every sequence is evaluated.

    Premises:   margins
    Arguments:  digits, bits of a weight; logit_bits, fractional bits of a logit
    Conclusion: right sequences have every sum below -radius, wrong ones some sum at or above radius
    Sound because: the sums are within the radius of the true ones times a positive factor.
    """
    given = step.premise("margins", Margins)
    region = read_region(step.fields, step.task)
    digits = step.fields.integer("digits", 8, 1024)
    logits = Logits(given, step.fields.integer("logit_bits", 0, 2048), step)
    right = wrong = 0
    for q, m in pairs(region):
        size = step.class_size(q, m)
        if size == 0:
            continue
        tuples = (m + 1) ** step.task.free - (0 if step.task.holds_max(q, m) else m**step.task.free)
        step.meter.count(tuples * 2 * logits.outputs)  # walked whatever their weights are
        table = logits.table(q, m, digits, step)
        floor = table.radius * 2 * table.ones
        right += size
        for total, mass in _not_right(table, q, m, step.task):
            right -= mass
            wrong += mass if (total - floor) & table.top else 0
    return Count(given.threshold, region, step.agree("right", right), step.agree("wrong", wrong))


class Logits:
    """EU, EVOU and PVOU rounded down to units of 2**-bits, and packed: one integer per row, one slot per output."""

    def __init__(self, given: Margins, bits: int, step: Step) -> None:
        drop = max(-given.exponent - bits, 0)
        self.given = given
        self.outputs = len(given.values[0])
        self.slack = 4 if drop else 0  # EU, EVOU, PVOU and the threshold: less than one unit each
        self.parts = [
            [tuple(n >> drop for n in row) for row in part] for part in (given.direct, given.values, given.positions)
        ]
        self.shift = given.shift >> drop
        ranges = [max(max(row) - min(row) for row in part) for part in self.parts]
        self.bound = sum(ranges) + abs(self.shift) + self.slack  # no true logit difference is larger
        self.packed: dict[int, list[list[int]]] = {}
        step.meter.count(sum(len(part) for part in self.parts) * self.outputs * 3)

    def table(self, q: int, m: int, digits: int, step: Step) -> Packed:
        """weight * (EU + EVOU + PVOU - the same at m + threshold) for each position and token."""
        own, count = step.task.own_row(q), len(self.given.positions)
        weight = terms(self.given.weights, q, m, own, digits)
        heaviest = max((*weight.token, weight.own)) * max(weight.position)
        radius = count * (weight.radius * self.bound + heaviest * self.slack) + 1
        slot = (count * heaviest * self.bound + 2 * radius).bit_length() + 2
        slot += -slot % 64
        places = [1 << (slot * o) for o in range(self.outputs)]
        if slot not in self.packed:
            self.packed[slot] = [[sum(map(mul, row, places)) for row in part] for part in self.parts]
            step.meter.count(sum(len(part) for part in self.parts) * self.outputs * 2)
        all_ones, packed, parts = sum(places), self.packed[slot], self.parts

        def entry(scale: int, t: int, i: int) -> int:
            at_m = parts[0][q][m] + parts[1][t][m] + parts[2][i][m] - self.shift
            return scale * (packed[0][q] + packed[1][t] + packed[2][i] - at_m * all_ones)

        tables = [[entry(p * u, t, i) for t, u in enumerate(weight.token)] for i, p in enumerate(weight.position[:-1])]
        query = entry(weight.position[-1] * weight.own, own, count - 1)
        step.meter.count(5 * self.outputs * (1 + (count - 1) * (m + 1)))
        ones = all_ones - places[m]
        start = query + (radius + (1 << (slot - 1))) * all_ones
        return Packed(tables, start, radius, ones << (slot - 1), ones)


def _not_right(table: Packed, q: int, m: int, task: Task) -> Iterator[tuple[int, int]]:
    """The packed sums of all sequences of the class that are not certainly right, with their mass."""
    top, free, holds, own = table.top, task.free, task.holds_max(q, m), task.own_mass(q)
    if free == 0:
        if table.start & top:
            yield table.start, own
        return
    masses = [task.mass(position) for position in range(free)]
    last = list(enumerate(table.tables[-1]))
    for prefix in sequences(range(m + 1), repeat=free - 1):
        start = table.start
        for row, t in zip(table.tables, prefix, strict=False):
            start += row[t]
        for t, term in last if holds or m in prefix else last[m:]:
            if (start + term) & top:
                yield start + term, own * prod(mass[x] for mass, x in zip(masses, (*prefix, t), strict=True))
