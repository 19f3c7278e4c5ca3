"""Items in integers, by the formulas of docs/FORMAT.md, "Convolution"; what is near a grid line is refused.

The checker encloses the weights by its own arithmetic, a few units of the last digit wider than here. A cell that
these units could move is reported as unsafe, so that another offset or step is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, sub

from ...problem import Problem
from ...weights import Precision
from .items import Item, cell_operations, ratio_operations, screen_operations, value_operations
from .tails import Unsafe as Unsafe
from .tails import tails

Ends = tuple[list[int], list[int]]
SLACK = 4  # the checker's weights may lie this many units, and 2**-(digits - SLACK) of themselves, away from ours


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ends over a set of queries, times 2**digits: weight of a token over that of m, of a position over the best;
    and the same of each query's own term."""

    token: Ends
    position: Ends
    own: tuple[Ends, Ends]


@dataclass(frozen=True, slots=True)
class Values:
    """Logit differences as token part + position part, and each query's own, pessimised over the outputs."""

    token: list[int]
    place: list[int]
    own: list[int]


@dataclass(frozen=True, slots=True)
class Counted:
    """The count of an item for each of its queries, and the operations of the checker without the ratios."""

    counts: tuple[int, ...]
    operations: int


class Exact:
    """Counts items of one problem at one precision."""

    def __init__(self, problem: Problem, chosen: Precision, unit: int) -> None:
        self.problem, self.digits, self.unit = problem, chosen.digits, unit
        self.bits = chosen.bits
        self.scale = unit - problem.logits.exponent + 2 * chosen.digits + 4  # differences are taken 16 times
        self.weights = list(problem.enclosures(chosen))
        self.made: dict[tuple[int, tuple[int, ...]], Ratios] = {}

    def ratio_cost(self, m: int, queries: tuple[int, ...]) -> int:
        """Operations of the checker for the weight ratios of a set of queries."""
        return ratio_operations(m, self.problem.task.free, len(queries))

    def count(self, item: Item) -> Counted:
        """The count of an item. Raises Unsafe."""
        if item.kind == "screen":
            if not all(self.harmless(item, output) for output in item.outputs):
                raise Unsafe
            sizes = item.m, self.problem.task.free, len(item.queries), len(item.outputs), len(item.rest)
            return Counted((0,) * len(item.queries), screen_operations(*sizes))
        return self._count(item)

    def harmless(self, item: Item, output: int) -> bool:
        """Can this output surely win for none of the queries?"""
        ratios, task, m = self._ratios(item.m, item.queries), self.problem.task, item.m
        low, high = (ends[: task.free] for ends in ratios.position)
        values = self._values(Item("upper", m, item.queries, (output,), item.rest))
        most = max(values.place, default=0)
        each = [(x + most) * ratios.token[x + most >= 0][t] for t, x in enumerate(values.token)]
        top = max(each)
        free = top * sum((low, high)[top >= 0])
        switch = min(low, default=0) * (top - each[m])
        slack = (abs(free) + abs(switch) >> self.digits - SLACK - 2) + (abs(top) << SLACK + 2) * (task.free + 1)
        slack += (max(map(abs, values.token)) + abs(most)) * (sum(high) + 1) << SLACK + 2
        for n, q in enumerate(item.queries):
            own = values.own[n] * self._own(ratios, n, values.own[n] >= 0)
            near = self._blur(item, values.own[n], *(ends[1][n] for ends in ratios.own))
            if free + own + slack + near - (0 if task.holds_max(q, m) else switch) >= 0:
                return False
        return True

    def _count(self, item: Item) -> Counted:
        task, m = self.problem.task, item.m
        cells, thresholds = self.cells(item)
        rows: list[dict[int, int]] = []
        below: list[dict[int, int]] = []
        for position, row in enumerate(cells):
            mass, histogram = task.mass(position), dict[int, int]()
            for cell, weight in zip(row, mass, strict=False):
                histogram[cell] = histogram.get(cell, 0) + weight
            rows.append(histogram)
            below.append({**histogram, row[m]: histogram[row[m]] - mass[m]})
        (all_, first), (less, second) = tails(rows, thresholds), tails(below, thresholds)
        pairs = zip(item.queries, all_, less, strict=True)
        counts = (task.own_mass(q) * (n - (0 if task.holds_max(q, m) else k)) for q, n, k in pairs)
        sizes = m, task.free, len(item.queries)
        values = value_operations(*sizes, max(len(item.outputs), 1) + len(item.rest))
        return Counted(tuple(counts), values + cell_operations(*sizes) + first + second)

    def cells(self, item: Item) -> tuple[list[list[int]], list[int]]:
        """Cells of free positions x tokens 0..m, and for each query the least sum that counts."""
        up, h = item.kind != "lower", item.step << self.scale
        c = h * item.offset // 64
        ratios, values = self._ratios(item.m, item.queries), self._values(item)
        cells = []
        for position, place in enumerate(values.place):
            row = []
            for t, value in enumerate(values.token):
                x = value + place
                near = (x >= 0) == up
                token, weight = ratios.token[near][t], ratios.position[near][position]
                term = x * weight * token
                blur = self._blur(item, x, weight, token)
                row.append(-_floor(c - term, h, blur) if up else _floor(term + c, h, blur))
            cells.append(row)
        free = self.problem.task.free * (c if up else -c)
        thresholds = []
        for n, x in enumerate(values.own):
            blur = self._blur(item, x, *(ends[1][n] for ends in ratios.own))
            thresholds.append(-_floor(x * self._own(ratios, n, (x >= 0) == up) + free, h, blur))
        return cells, thresholds

    def _blur(self, item: Item, x: int, *weights: int) -> int:
        """How far the checker's term x * product of two weights may lie from ours: SLACK in units and in proportion.

        With several outputs x itself may differ in the last digit, as means of positions are rounded.
        """
        first, second = weights
        unit = 2 if len(item.outputs) > 1 else 0
        sway = [(weight >> self.digits - SLACK) + (1 << SLACK) for weight in weights]
        moved = first * sway[1] + second * sway[0] + sway[0] * sway[1]
        return abs(x) * moved + unit * (first + sway[0]) * (second + sway[1])

    @staticmethod
    def _own(ratios: Ratios, n: int, high: bool) -> int:
        first, second = (ends[high][n] for ends in ratios.own)
        return first * second

    def _values(self, item: Item) -> Values:
        logits, m, sign = self.problem.logits, item.m, 1 if item.kind == "both" else -1
        side: Callable[[Sequence[int]], int] = min if item.kind == "lower" else max
        shift = logits.shift * (16 + sign * sum(share for _, share in item.rest))

        def difference(row: list[int]) -> list[int]:
            rest = sign * sum(share * (row[p] - row[m]) for p, share in item.rest)
            return [16 * (n - row[m]) + rest for n in ([row[o] for o in item.outputs] or [_top(row, m)])]

        direct = [difference(logits.direct[q]) for q in item.queries]
        places = list(map(difference, logits.positions))
        middle = [sum(column) // len(places) for column in zip(*places, strict=True)]
        columns = zip(zip(*direct, strict=True), middle, strict=True)
        base = [side(column) + center + shift for column, center in columns]
        own_rows = (difference(logits.values[self.problem.task.own_row(q)]) for q in item.queries)
        return Values(
            token=[max(map(add, difference(row), base)) for row in logits.values[: m + 1]],
            place=[max(map(sub, row, middle)) for row in places[:-1]],
            own=[
                max(x + y + z for x, y, z in zip(a, b, places[-1], strict=True)) + shift
                for a, b in zip(direct, own_rows, strict=True)
            ],
        )

    def rows_of(self, item: Item) -> set[tuple[int, ...]]:
        """The rows whose largest entries an item for all outputs takes; the checker finds those of a row once."""
        logits, task = self.problem.logits, self.problem.task
        if item.outputs:
            return set()
        values = {*range(item.m + 1), *(task.own_row(q) for q in item.queries)}
        rows = [*(logits.direct[q] for q in item.queries), *(logits.values[t] for t in values), *logits.positions]
        return {tuple(row) for row in rows}

    def _ratios(self, m: int, queries: tuple[int, ...]) -> Ratios:
        """Weight ratios, pessimised over the queries."""
        if (m, queries) not in self.made:
            self.made[m, queries] = self._make(m, queries)
        return self.made[m, queries]

    def _make(self, m: int, queries: tuple[int, ...]) -> Ratios:
        digits, shift, free = self.digits, self.bits - self.digits, self.problem.task.free
        tokens = [self.weights[q][0] for q in queries]
        if any(low[m] == 0 for low, _ in tokens):
            raise Unsafe
        one = 1 << digits  # token m over itself
        least = [min((low[t] << digits) // high[m] for low, high in tokens) for t in range(m)]
        most = [max(-(-(high[t] << digits) // low[m]) for low, high in tokens) for t in range(m)]
        position_low = [[n >> shift for n in self.weights[q][1][0]] for q in queries]
        position_high = [[-(-n >> shift) for n in self.weights[q][1][1]] for q in queries]
        own: Ends = [], []
        for q, (low, high) in zip(queries, tokens, strict=True):
            row = self.problem.task.own_row(q)
            own[0].append((low[row] << digits) // high[m] if row != m else one)
            own[1].append(-(-(high[row] << digits) // low[m]) if row != m else one)
        position = [min(column) for column in zip(*position_low, strict=True)]
        position_most = [max(column) for column in zip(*position_high, strict=True)]
        place: Ends = [row[free] for row in position_low], [row[free] for row in position_high]
        return Ratios(([*least, one], [*most, one]), (position, position_most), (place, own))


def _top(row: list[int], m: int) -> int:
    """The largest of a row but that at m."""
    return max([*row[:m], *row[m + 1 :]])


def _floor(n: int, h: int, blur: int) -> int:
    """floor(n / h), if it is the same for everything within `blur` of n."""
    quotient, rest = divmod(n, h)
    if rest < blur or rest + blur >= h:
        raise Unsafe
    return quotient
