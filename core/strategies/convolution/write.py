"""From a finished search to proof steps: every item counted again in integers, as the checker will count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log2

from ...problem import Problem
from ...proof import Builder, Json, Proof, hexadecimal
from ...task import Task
from ...weights import precision
from .block import Block, Found
from .exact import Counted, Exact
from .items import Item
from .operations import setup_operations
from .tails import Unsafe

STRATEGY = "margin-convolution"
STEP_BITS = 10  # of the shortest step
MOST_DIGITS = 512
TRIES = 24


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The items of each maximum as written, what they prove, and the checker's operations for the whole proof."""

    items: dict[int, list[Item]]
    right: int
    wrong: int
    operations: int


@dataclass(slots=True)
class Tally:
    """Counts of one maximum for each query, joined as the checker joins them."""

    missing: list[set[int]]
    above: list[int]
    single: list[dict[int, int]]
    double: list[dict[frozenset[int], int]]

    def enter(self, item: Item, counts: Sequence[int]) -> None:
        """Note an item."""
        for q, count in zip(item.queries, counts, strict=True):
            if item.kind in ("screen", "upper"):
                self.missing[q] -= set(item.outputs or self.missing[q])
                self.above[q] += count
            elif item.kind == "lower":
                self.single[q][item.outputs[0]] = count
            else:
                self.double[q][frozenset((item.outputs[0], item.rest[0][0]))] = count

    def covers(self, item: Item) -> bool:
        """Is what the item leans on covered?"""
        return all(p not in self.missing[q] for q in item.queries for p, _ in item.rest)

    def wrong(self, q: int) -> int:
        """Certain failures."""
        total = 0
        taken: list[int] = []
        for output, count in self.single[q].items():
            gain = count - sum(self.double[q].get(frozenset((output, other)), count) for other in taken)
            if gain > 0:
                total += gain
                taken.append(output)
        return max((total, *self.single[q].values()))


def tally(m: int, task: Task, outputs: int) -> Tally:
    """An empty tally."""
    queries = range(task.queries(m))
    missing = [set(range(outputs)) - {m} for _ in queries]
    return Tally(missing, [0 for _ in queries], [{} for _ in queries], [{} for _ in queries])


class Writer:
    """Confirms blocks; what was counted once is kept, so that a search may go on after a first try."""

    def __init__(self, problem: Problem, digits: int, finest: float) -> None:
        self.problem, self.finest = problem, finest
        self._start(digits)

    def _start(self, digits: int) -> None:
        """Precision, and an exponent that leaves STEP_BITS bits to the shortest step that a search can take."""
        problem = self.problem
        self.chosen = precision(problem.circuits, digits)
        lowest = problem.logits.exponent - 2 * digits
        shortest = floor(log2(self.finest)) if self.finest > 0 else lowest  # differences can vanish in doubles
        self.unit = max(shortest - STEP_BITS, lowest, -4096)
        self.exact = Exact(problem, self.chosen, self.unit)
        self.known: dict[int, list[tuple[Item, Counted]]] = {}
        self.fixed = setup_operations(problem, self.chosen)

    def confirm(self, blocks: dict[int, Block]) -> Confirmed:
        """What the items of all blocks prove exactly. Items that rounding spoils call for more digits."""
        while True:
            confirmed = self._confirm(blocks)
            digits = self.chosen.digits
            if all(self.known.values()) or digits == MOST_DIGITS or self.problem.digits is not None:
                return confirmed
            self._start(min(4 * digits, MOST_DIGITS))

    def _confirm(self, blocks: dict[int, Block]) -> Confirmed:
        task, right, wrong, operations = self.problem.task, 0, 0, self.fixed
        written: dict[int, list[Item]] = {}
        tops: set[tuple[int, ...]] = set()
        for m, block in blocks.items():
            if not block.found and block.view.outputs > 1:
                continue
            total = tally(m, task, block.view.outputs)
            written[m] = []
            for item, counted in (pair for found in in_order(block) for pair in self._confirmed(block, found)):
                if item.kind in ("upper", "screen") and not total.covers(item):
                    continue  # it leans on an item that rounding spoilt
                total.enter(item, counted.counts)
                written[m].append(item)
                tops |= self.exact.rows_of(item)
                operations += counted.operations
            operations += sum(self.exact.ratio_cost(m, queries) for queries in {item.queries for item in written[m]})
            for q in range(task.queries(m)):
                size = task.class_size(q, m)
                right += size - min(size, size if total.missing[q] else total.above[q])
                wrong += total.wrong(q)
        if not written:
            written[task.tokens - 1] = []  # a count over no class at all is none
        operations += 2 * sum(map(len, tops))
        return Confirmed(written, right, wrong, operations)

    def _confirmed(self, block: Block, found: Found) -> list[tuple[Item, Counted]]:
        if found.number not in self.known:
            try:
                self.known[found.number] = self._count(block.item(found, self.unit), block)
            except Unsafe:
                self.known[found.number] = []
        return self.known[found.number]

    def _count(self, item: Item, block: Block) -> list[tuple[Item, Counted]]:
        """The item, or one beside it that no rounding can move; screened outputs that fail are counted instead."""
        if item.kind == "screen":
            clear = tuple(o for o in item.outputs if self.exact.harmless(item, o))
            rest = tuple(o for o in item.outputs if o not in clear)
            upper = Item("upper", item.m, item.queries, rest, item.rest, *self._coarse(block))
            item = replace(item, outputs=clear)
            return [*(self._safe(upper) if rest else []), *([(item, self.exact.count(item))] if clear else [])]
        return self._safe(item)

    def _coarse(self, block: Block) -> tuple[int, int]:
        return max(round(block.scale / 32 / 2.0**self.unit), 1), 8

    def _safe(self, item: Item) -> list[tuple[Item, Counted]]:
        for attempt in range(TRIES):
            step, offset = item.step + item.step * attempt // 64 + attempt // 4, (item.offset + 5 * attempt) % 64
            moved = replace(item, step=step, offset=offset)
            try:
                return [(moved, self.exact.count(moved))]
            except Unsafe:
                continue
        return []


def in_order(block: Block) -> list[Found]:
    """Items that others lean on come first."""
    return sorted(block.found.values(), key=lambda found: found.draft.level)


def proof(writer: Writer, confirmed: Confirmed) -> Proof:
    """The steps."""
    problem, chosen, builder = writer.problem, writer.chosen, Builder()
    margins = builder.margins(chosen.bits, chosen.grid, problem.threshold)
    maxima: list[Json] = [
        {"m": m, "items": [item.json() for item in items]} for m, items in sorted(confirmed.items.items())
    ]
    count = builder.add(
        "margin_convolution",
        margins=margins,
        digits=chosen.digits,
        unit=writer.unit,
        maxima=maxima,
        right=hexadecimal(confirmed.right),
        wrong=hexadecimal(confirmed.wrong),
    )
    builder.add("conclude", of=count)
    upper = problem.task.total - confirmed.wrong
    return Proof(STRATEGY, tuple(builder.steps), confirmed.right, upper, 0)
