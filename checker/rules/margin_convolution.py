"""Counting by convolution, for any length: FORMAT.md, "Convolution"."""

from ..errors import Malformed, Rejected
from ..facts import Count, Margins
from ..numbers import read_hex
from ..reader import Fields, integer, items
from ..step import Step
from ..task import Task, require_maximum
from .grid import Grid, Item, tails


def margin_convolution(step: Step) -> Count:
    """Count the token tuples whose sum reaches zero, on a grid, for many queries and outputs at once.

    Premises:   margins
    Arguments:  digits, bits of a weight ratio; unit, the exponent of grid steps; maxima, a list of m with its items
    Conclusion: in the classes of these maxima, right = size - what may fail, and wrong = what certainly fails
    Sound because: terms are rounded towards the side of the bound, so a failing tuple (a certain failure) is counted
                (is one); the failing ones of a class lie in the union over its outputs.
    """
    given = step.premise("margins", Margins)
    outputs = len(given.values[0])
    grid = Grid(given, step.fields.integer("digits", 8, 512), step.fields.integer("unit", -4096, 4096), step)
    right = wrong = 0
    region: list[tuple[int, int, int]] = []
    for number, entry in enumerate(step.fields.items("maxima")):
        fields = Fields(entry, f"{step.fields.place}.maxima[{number}]")
        m = fields.integer("m", region[-1][0] + 1 if region else 0, step.task.tokens - 1)
        require_maximum(m, step.task)
        region.append((m, 0, step.task.queries(m)))
        step.meter.charge(step.task.queries(m) * outputs)
        tally = Tally(m, step.task, outputs)
        for index, value in enumerate(fields.items("items")):
            item = _read_item(value, m, step.task, outputs, f"{fields.place}.items[{index}]")
            tally.enter(item, _counts(item, grid, step))
        fields.close()
        for q in range(step.task.queries(m)):
            size = step.class_size(q, m)
            right += size - min(size, tally.upper(q, size))
            wrong += tally.lower(q)
    if not region:
        raise Rejected("EMPTY_REGION", "a count over no class proves nothing")
    return Count(given.threshold, tuple(region), step.agree("right", right), step.agree("wrong", wrong))


def _read_item(value: object, m: int, task: Task, outputs: int, place: str) -> Item:
    """["screen", queries, outputs, rest], or ["upper" | "lower" | "both", the same, step, offset in 1/64 of it]."""
    kind, *numbers = items(value, place) or [None]
    if kind not in ("screen", "upper", "lower", "both") or len(numbers) != (3 if kind == "screen" else 5):
        text = "expected [screen, queries, outputs, rest] or [kind, ..., rest, step, offset]"
        raise Malformed("ITEM", text).at(place)
    queries, whole = _members(numbers[0], task.queries(m), place), numbers[1] == "0"
    chosen = () if whole else _members(numbers[1], outputs, place)
    pairs = [tuple(integer(n, 0, 1 << 12, place) for n in items(pair, place)) for pair in items(numbers[2], place)]
    shape, bad = (len(chosen), len(pairs)), whole and (kind == "screen" or outputs == 1)
    bad |= shape != {"lower": (1, 0), "both": (1, 1)}.get(str(kind), shape) or any(len(pair) != 2 for pair in pairs)
    if bad:
        raise Malformed("ITEM", f"{kind} for {shape[0]} outputs and {shape[1]} others").at(place)
    rest = tuple((p, share if kind == "both" else -share) for p, share in pairs)
    if m in chosen or any(p in (m, *chosen) or p >= outputs for p, _ in rest):
        raise Malformed("ITEM", f"outputs {list(chosen)[:8]} and {rest[:8]} of maximum {m}").at(place)
    size, offset = (1, 0) if kind == "screen" else (read_hex(numbers[3], place), integer(numbers[4], 0, 63, place))
    if size <= 0:
        raise Malformed("ITEM", f"step {size} is not positive").at(place)
    return Item(str(kind), m, queries, chosen, rest, size, offset)


def _members(value: object, limit: int, place: str) -> tuple[int, ...]:
    """The members of a set below `limit`, written as a hexadecimal mask; at least one."""
    mask = read_hex(value, place)
    if not 0 < mask < 1 << limit:
        raise Malformed("ITEM", f"mask of {mask.bit_length()} bits for a set out of {limit}").at(place)
    return tuple(i for i in range(limit) if mask >> i & 1)


def _counts(item: Item, grid: Grid, step: Step) -> list[int]:
    """The mass counted for each query of the item."""
    task, m = step.task, item.m
    if item.kind == "screen":
        if not grid.harmless(item):
            raise Rejected("NOT_HARMLESS", f"an output of {list(item.outputs)[:8]} may win for maximum {m}")
        return [0] * len(item.queries)
    cells, thresholds = grid.cells(item)
    rows = []
    for position, row in enumerate(cells):
        mass = task.mass(position)
        histogram: dict[int, int] = {}
        for cell, weight in zip(row, mass, strict=False):
            histogram[cell] = histogram.get(cell, 0) + weight
        rows.append((histogram, {**histogram, row[m]: histogram[row[m]] - mass[m]}))
    at_most = tails([row[0] for row in rows], thresholds, step.meter)
    below = tails([row[1] for row in rows], thresholds, step.meter)
    pairs = zip(item.queries, at_most, below, strict=True)
    return [task.own_mass(q) * (all_ - (0 if task.holds_max(q, m) else less)) for q, all_, less in pairs]


class Tally:
    """Counts per query: failures through covered outputs, certain failures through single ones, double failures."""

    def __init__(self, m: int, task: Task, outputs: int) -> None:
        self.missing = [set(range(outputs)) - {m} for _ in range(task.queries(m))]
        self.above = [0 for _ in self.missing]
        self.single: list[dict[int, int]] = [{} for _ in self.missing]  # in the order of the items
        self.double: list[dict[frozenset[int], int]] = [{} for _ in self.missing]

    def enter(self, item: Item, counts: list[int]) -> None:
        """Note the counts of an item."""
        for q, count in zip(item.queries, counts, strict=True):
            if item.kind in ("screen", "upper"):
                if not self.missing[q].isdisjoint(p for p, _ in item.rest):
                    text = f"{item.rest[:8]} not covered for query {q} of {item.m} by earlier items"
                    raise Rejected("NOT_COVERED", text)
                self.missing[q] -= set(item.outputs or self.missing[q])
                self.above[q] += count
            elif item.kind == "lower":
                self.single[q][item.outputs[0]] = count
            else:
                self.double[q][frozenset((*item.outputs, item.rest[0][0]))] = count

    def upper(self, q: int, size: int) -> int:
        """At least the mass that fails: everything, unless all outputs are covered."""
        return size if self.missing[q] else self.above[q]

    def lower(self, q: int) -> int:
        """At most the mass that fails: each output's own failures less those shared with outputs counted before."""
        total = 0
        taken: list[int] = []
        for output, count in self.single[q].items():
            shared = [self.double[q].get(frozenset((output, other)), count) for other in taken]
            if (gain := count - sum(shared)) > 0:
                total += gain
                taken.append(output)
        return max((total, *self.single[q].values()))
