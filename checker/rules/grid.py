"""Terms of margin sums on a grid, for sets of queries and outputs, and the mass of sums above a threshold."""

from dataclasses import dataclass
from operator import add, sub

from ..errors import Exhausted, Malformed, Rejected
from ..facts import Margins
from ..numbers import Meter, cut
from ..step import Step

SLOTS = 1 << 16
Ends = tuple[list[int], list[int]]  # lower and upper ends


@dataclass(frozen=True, slots=True)
class Item:
    """What one convolution speaks about.

    `screen` says that no output can win, `upper` bounds the failures through any output, both unless an output of
    `rest` wins too; `both` bounds the failures through its output and the one of `rest` at once; `lower` counts certain
    failures through its one output.
    """

    kind: str
    m: int
    queries: tuple[int, ...]
    outputs: tuple[int, ...]  # none: all, with the largest difference of each part by itself
    rest: tuple[tuple[int, int], ...]  # other outputs, with what their differences count beside 16 times each output's
    step: int  # grid step in units of 2**unit, relative to the weights of token m and of the best position
    offset: int  # in 1/64 of a step


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ends over a set of queries, times 2**digits: weight of token t over that of m; of a position over the best; and
    of each query's own term, times 2**(2 digits)."""

    token: Ends
    position: Ends
    own: Ends


class Grid:
    """Makes the cells of items."""

    def __init__(self, given: Margins, digits: int, unit: int, step: Step) -> None:
        self.given, self.digits, self.step = given, digits, step
        self.scale = unit - given.exponent + 2 * digits + 4  # differences are taken 16 times
        if self.scale < 0:
            raise Malformed("UNIT", f"unit 2^{unit} is finer than the logits, 2^{unit - self.scale}")
        self.ratios: dict[tuple[int, tuple[int, ...]], Ratios] = {}
        self.tops: dict[tuple[int, ...], list[int]] = {}  # the two largest of a row
        self.seen: dict[int, tuple[tuple[int, ...], list[int]]] = {}  # by the identity of a row: to hash one takes time

    def cells(self, item: Item) -> tuple[list[list[int]], list[int]]:
        """Cells of positions x tokens 0..m, and for each query the least sum of cells that counts.

        Upwards: G <= cell * h + c, so a failing sum has sum of cells >= (-own - free * c) / h. Downwards: G >= cell * h
        - c, so a sum of cells >= (-own + free * c) / h certainly fails.
        """
        up, h = item.kind != "lower", item.step << self.scale
        c = h * item.offset // 64
        ratios = self._ratios(item.m, item.queries)
        token, place, own = self._values(item, up)
        near, far = (1, 0) if up else (0, 1)  # which end of a weight suits a value >= 0, and a value < 0
        cells = []
        for position, place_value in enumerate(place):
            ends = ratios.position[near][position], ratios.position[far][position]
            row = []
            for t, value in enumerate(token):
                x = value + place_value
                term = x * (ends[0] * ratios.token[near][t] if x >= 0 else ends[1] * ratios.token[far][t])
                row.append(-((c - term) // h) if up else (term + c) // h)
            cells.append(row)
        free = self.step.task.free * (c if up else -c)
        terms = [x * ratios.own[near if x >= 0 else far][n] for n, x in enumerate(own)]
        self.step.meter.count(6 * len(place) * len(token) + 4 * len(own))
        return cells, [-((term + free) // h) for term in terms]

    def harmless(self, item: Item) -> bool:
        """Can no output of the item win for any of its queries? Each on its own, with pessimised positions.

        Every free position adds at most its weight times the best token; one of them, or the query, holds token m.
        """
        ratios, m = self._ratios(item.m, item.queries), item.m
        positions = ratios.position[0][:-1], ratios.position[1][:-1]
        for output in item.outputs:
            token, place, own = self._values(Item("upper", m, item.queries, (output,), item.rest, 1, 0), True)
            most = max(place, default=0)
            terms = [(x + most) * ratios.token[x + most >= 0][t] for t, x in enumerate(token)]
            top = max(terms)
            free = top * sum(positions[top >= 0])
            switch = min(positions[0], default=0) * (top - terms[m])
            self.step.meter.count(4 * len(token) + 5 * len(own))
            for n, q in enumerate(item.queries):
                bound = free + own[n] * ratios.own[own[n] >= 0][n]
                if bound - (0 if self.step.task.holds_max(q, m) else switch) >= 0:
                    return False
        return True

    def _values(self, item: Item, up: bool) -> tuple[list[int], list[int], list[int]]:
        """Logit differences split as token part + position part, and each query's own, pessimised over the outputs.

        If o reaches zero and p does not, 16 times o's sum less a part of p's reaches zero; if both do, so does 16 times
        o's sum and a part of p's.
        """
        given, m = self.given, item.m
        side, shift = max if up else min, given.shift * (16 + sum(share for _, share in item.rest))

        def difference(row: tuple[int, ...]) -> list[int]:
            rest = sum(share * (row[p] - row[m]) for p, share in item.rest)
            return [16 * (n - row[m]) + rest for n in ([row[o] for o in item.outputs] or [self._top(row, m)])]

        direct, places = [difference(given.direct[q]) for q in item.queries], list(map(difference, given.positions))
        middle = [sum(column) // len(places) for column in zip(*places, strict=True)]
        base = [side(column) + center + shift for column, center in zip(zip(*direct, strict=True), middle, strict=True)]
        token = [max(map(add, difference(row), base)) for row in given.values[: m + 1]]
        place = [max(map(sub, row, middle)) for row in places[:-1]]
        own_rows = (difference(given.values[self.step.task.own_row(q)]) for q in item.queries)
        own = [
            max(x + y + z for x, y, z in zip(a, b, places[-1], strict=True)) + shift
            for a, b in zip(direct, own_rows, strict=True)
        ]
        width = max(len(item.outputs), 1) + len(item.rest)
        self.step.meter.count(width * (3 * len(token) + 4 * len(places) + 6 * len(own)))
        return token, place, own

    def _top(self, row: tuple[int, ...], m: int) -> int:
        """The largest of a row but that at m."""
        if id(row) not in self.seen:
            if row not in self.tops:
                self.step.meter.count(2 * len(row))
                self.tops[row] = sorted(row)[-2:]
            self.seen[id(row)] = row, self.tops[row]
        top = self.seen[id(row)][1]
        return top[row[m] < top[1]]

    def _ratios(self, m: int, queries: tuple[int, ...]) -> Ratios:
        """Weight ratios, pessimised over the queries."""
        if (m, queries) in self.ratios:
            return self.ratios[m, queries]
        weights, digits, free = self.given.weights, self.digits, self.step.task.free
        low, high = weights.token_low, weights.token_high
        if any(low[q][m] == 0 for q in queries):
            raise Rejected("PRECISION", f"the weight of token {m} vanishes at {weights.bits} bits")
        least = [min((low[q][t] << digits) // high[q][m] for q in queries) for t in range(m)]
        most = [max(-(-(high[q][t] << digits) // low[q][m]) for q in queries) for t in range(m)]
        shift = weights.bits - digits
        position_low = [[shifted(n, shift, False) for n in weights.position_low[q]] for q in queries]
        position_high = [[shifted(n, shift, True) for n in weights.position_high[q]] for q in queries]
        own: Ends = [], []
        for q, lows, highs in zip(queries, position_low, position_high, strict=True):
            row = self.step.task.own_row(q)
            own[0].append(lows[free] * ((low[q][row] << digits) // high[q][m] if row != m else 1 << digits))
            own[1].append(highs[free] * (-(-(high[q][row] << digits) // low[q][m]) if row != m else 1 << digits))
        one = [1 << digits]  # token m over itself
        position = (
            [min(column) for column in zip(*position_low, strict=True)],
            [max(column) for column in zip(*position_high, strict=True)],
        )
        self.step.meter.count(2 * len(queries) * (2 * m + 2 * free + 6))
        self.ratios[m, queries] = Ratios((least + one, most + one), position, own)
        return self.ratios[m, queries]


def shifted(n: int, bits: int, up: bool) -> int:
    """n / 2**bits rounded, or n * 2**-bits."""
    return n << -bits if bits < 0 else cut(n, bits, up)


def _sum(slots: int, length: int, width: int) -> int:
    """Of all slots: the upper half is added to the lower one, so that the time is linear."""
    while length > 1:
        length = (length + 1) // 2
        slots = (slots >> length * width) + (slots & (1 << length * width) - 1)
    return slots


def tails(rows: list[dict[int, int]], thresholds: list[int], meter: Meter) -> list[int]:
    """Mass of the choices of one cell from each row (cell -> mass) whose sum reaches each threshold.

    The masses of all sums are slots of one integer: adding a cell is a shift. Sums that can no longer reach the least
    threshold are cut off below, those that reach every threshold whatever follows are counted and cut off above.
    """
    least, most = min(thresholds), max(thresholds)
    best, worst, mass = [0], [0], [1]
    for row in reversed(rows):
        best.append(best[-1] + max(row))
        worst.append(worst[-1] + min(row))
        mass.append(mass[-1] * sum(row.values()))
    width = mass[-1].bit_length() + 8 & -8
    slots, base, length, surely = 1, 0, 1, 0
    for level, row in enumerate(rows):
        rest = len(rows) - 1 - level
        floor = least - best[rest]
        low = max(min(row), floor - base - length + 1)
        kept = [(cell - low, weight) for cell, weight in row.items() if cell >= low and weight]
        length += max((cell for cell, _ in kept), default=0)
        base += low
        meter.count(2 * length * len(kept))
        meter.charge(2 * length * len(kept) * (width >> 6))
        if length > SLOTS:
            raise Exhausted("GRID_TOO_FINE", f"{length} grid points at position {level}, at most {SLOTS}")
        slots = sum((slots << cell * width) * weight for cell, weight in kept)
        if floor > base:
            slots, length, base = slots >> (floor - base) * width, length - floor + base, floor
        done = max(most - worst[rest] - base, 0)
        if done < length:
            surely += _sum(slots >> done * width, length - done, width) * mass[rest]
            slots, length = slots & (1 << done * width) - 1, done
        if slots == 0:
            return [surely] * len(thresholds)
    meter.count(length)
    size = width // 8
    data = slots.to_bytes(length * size, "little")
    sums = [0]
    for end in range(len(data), 0, -size):
        sums.append(sums[-1] + int.from_bytes(data[end - size : end], "little"))
    return [surely + sums[min(max(length - threshold + base, 0), length)] for threshold in thresholds]
