"""Best-first search for items (docs/FORMAT.md, "Convolution"): in doubles, so that it proves nothing.

Every maximum starts without items: all of its inputs may be wrong. A heap holds places that could be refined, with the
gain expected for each operation of the checker; the best move of a place is found when it comes up, and applied
when it comes up again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ...problem import Problem
from .block import Block, Found, Value, block_of
from .classes import class_move
from .items import cell_operations, ratio_operations, value_operations
from .moves import Move, Samples, Sort, certain, deep, opening, refinements, sample
from .terms import view

ENOUGH = 0.999
TRIALS = 24  # of a sort of moves before it may be left out, if it wins once for more items than
LONG_ODDS = 200
SELDOM = 8  # and then it is tried as often as once in so many times
LEAST_GAIN = 1e-4
SOFT = 0.3  # what a step towards a useful count is worth beside a gain
LOSS = 5e-4  # the gap that `auto` wishes, and that classes may have where none is wished
WORTH = 3e-5  # shares of all inputs below which no deep moves are tried
CLASS_OPERATIONS = 20_000  # a hopeful guess of what the items of a class cost
CHEAPEST = 400  # operations; keeps free moves from an infinite rank


@dataclass(frozen=True, slots=True)
class Goal:
    """Where to stop: width of the bounds, or lower bound reached (as shares), or operations spent.

    In a search the operations are those of the items alone.
    """

    gap: float | None = None
    least: float | None = None
    operations: int | None = None
    keep: bool = False  # whether a search that falls short still gives a proof
    interruptible: bool = False  # whether one that is interrupted does

    @property
    def two_sided(self) -> bool:
        return self.gap is not None


@dataclass(frozen=True, slots=True)
class Place:
    """Something to refine: a maximum without items, one item, or the certain failures."""

    m: int
    what: str
    number: int = -1


@dataclass(frozen=True, slots=True)
class Ready:
    """A move with its estimates."""

    rate: float
    gone: tuple[int, ...]
    found: tuple[Found, ...]
    done: int = 0  # classes that had items of their own then


@dataclass(frozen=True, slots=True)
class State:
    """What the items so far prove, and what they cost."""

    above: float
    below: float
    operations: int

    def reached(self, goal: Goal) -> bool:
        return (goal.gap is not None and self.above - self.below <= goal.gap) or (
            goal.least is not None and 1 - self.above >= goal.least
        )


def _gain(before: Value, after: Value) -> float:
    return before.above - after.above + after.below - before.below + SOFT * max(before.raw - after.raw, 0.0)


Watch = Callable[[State], None]


@dataclass(slots=True)
class Luck:
    """How often sorts of moves were the best where they were tried: those that hardly ever are, are tried less."""

    tried: dict[Sort, int] = field(default_factory=dict)
    wins: dict[Sort, int] = field(default_factory=dict)

    def worth_trying(self, sort: Sort) -> bool:
        """Count a try, unless it is left out."""
        self.tried[sort] = tried = self.tried.get(sort, 0) + 1
        items = float(sort[-1])
        return tried < TRIALS or self.wins.get(sort, 0) * LONG_ODDS >= tried * items or tried % SELDOM == 0

    def won(self, sort: Sort | None) -> None:
        """Count a win."""
        if sort is not None:
            self.wins[sort] = self.wins.get(sort, 0) + 1


class Search:
    """The blocks of all maxima (or of some), refined until the goal is reached or nothing helps."""

    def __init__(self, problem: Problem, goal: Goal, maxima: Iterable[int] | None = None) -> None:
        self.problem, self.goal = problem, goal
        self.samples: dict[int, Samples] = {}
        self.blocks: dict[int, Block] = {}
        self.values: dict[int, Value] = {}
        self.own: dict[int, set[int]] = {m: set() for m in range(problem.task.tokens)}  # classes with own items
        self.done: dict[int, set[int]] = {m: set() for m in range(problem.task.tokens)}  # and those that need none
        self.chosen: dict[int, int] = {}
        self.heap: list[tuple[float, int, Place, Ready | None]] = []
        self.entries = 0
        self.luck = Luck()
        for m in problem.task.possible() if maxima is None else sorted(maxima):
            self._start(m)
        self.state = self._sum()

    def _start(self, m: int) -> None:
        seen = view(self.problem, m)
        block = block_of(seen, self.goal.two_sided)
        self.blocks[m], self.values[m] = block, block.value()
        loss = self.values[m].above
        if loss > 1e-12:
            sizes = m, seen.free, seen.queries
            cost = ratio_operations(*sizes) + value_operations(*sizes, seen.outputs) + cell_operations(*sizes)
            self._push(loss / cost, Place(m, "open"), None)

    def _push(self, rate: float, place: Place, ready: Ready | None) -> None:
        self.entries += 1
        heapq.heappush(self.heap, (-rate, self.entries, place, ready))

    def _sum(self) -> State:
        values = self.values.values()
        operations = sum(value.operations for value in values)
        return State(sum(value.above for value in values), sum(value.below for value in values), operations)

    def run(self, watch: Watch) -> bool:
        """Refine until the goal is reached; False if nothing more can be done."""
        while not self.state.reached(self.goal):
            if not self.heap:
                return False
            _, _, place, ready = heapq.heappop(self.heap)
            found = self.blocks[place.m].found.get(place.number)
            if place.number >= 0 and found is None:
                continue
            if ready is None or (place.number < 0 and not self._current(place.m, ready)):
                self._look(place, found)
            elif self._affordable(place.m, ready):
                self._apply(place, ready)
                watch(self.state)
        return True

    def _current(self, m: int, ready: Ready) -> bool:
        """Are the items that a move replaces still there?"""
        return ready.done == len(self.own[m]) and set(ready.gone) <= self.blocks[m].found.keys()

    def _look(self, place: Place, found: Found | None) -> None:
        """Find the best move of a place and queue it by its rate."""
        ready = self._best(place, found)
        if place.what == "class" and ready is None:
            self.done[place.m].add(self.chosen[place.m])
            self._offer_class(place.m)
        if ready is not None:
            self._push(ready.rate, place, ready)
        elif found is not None and len(found.draft.queries) > 3 and found.draft.kind == "upper":
            self._force(place, found)

    def _force(self, place: Place, found: Found) -> None:
        """Where no single step helps, fewer queries at a time may: with little hope, but in the end."""
        value = self.values[place.m]
        gap, loss = value.above - value.below, self.blocks[place.m].loss(found)
        if gap < 2e-6 or loss < 0.2 * gap:
            return
        ready = self._evaluated(self.blocks[place.m], list(refinements(self.blocks[place.m], found))[-2])
        if ready is not None:
            cost = sum(each.operations for each in ready[1])
            self._push(1e-4 * gap / max(cost, CHEAPEST), place, Ready(0.0, ready[0], ready[1]))

    def _moves(self, place: Place, found: Found | None) -> Iterator[Move]:
        block = self.blocks[place.m]
        if place.what == "class":
            gaps = block.gaps()
            gaps[list(self.done[place.m])] = 0.0
            self.chosen[place.m] = q = int(gaps.argmax())
            if gaps[q] > 0:
                yield class_move(block, q, self.goal.gap or LOSS, self.goal.two_sided)
        elif place.what == "certain":
            yield from certain(block, self._samples(place.m), self.own[place.m])
        elif found is None:
            yield from opening(block)
        else:
            yield from refinements(block, found)

    def _best(self, place: Place, found: Found | None) -> Ready | None:
        """The move with the largest gain for each operation."""
        block, before = self.blocks[place.m], self.values[place.m]
        best: Ready | None = None
        most, winner = 0.0, None

        def look(moves: Iterable[Move]) -> None:
            nonlocal best, most, winner
            for move in moves:
                sort = (place.what, *move.sort(found))
                if self.luck.worth_trying(sort):
                    ready, most = self._better(block, before, move, best, most)
                    best, winner = (ready, sort) if ready is not best else (best, winner)
                if most > ENOUGH * (before.above - before.below):
                    return  # moves come from short to long

        look(self._moves(place, found))
        hope = self._hope(place, found, block, before)
        if hope > 2e-5 and most < 0.15 * hope:
            look(deep(block, found))
        self.luck.won(winner)
        return best

    def _better(
        self, block: Block, before: Value, move: Move, best: Ready | None, most: float
    ) -> tuple[Ready | None, float]:
        """The better of two moves with its gain; given up as soon as it cannot be the better one."""
        least = LEAST_GAIN * max(before.above - before.below, 1e-12)
        operations = block.least_change(move.gone, move.drafts)
        certain = any(draft.kind in ("lower", "both") for draft in move.drafts)
        found: list[Found] = []
        for draft in move.drafts:
            gain = _gain(before, block.at_best(move.gone, found, certain))
            if gain <= least or (best is not None and gain <= best.rate * max(operations, CHEAPEST)):
                return best, most
            each = block.evaluate(draft)
            if each is None:
                return best, most
            found.append(each)
            operations += each.operations - block.least_operations(draft)
        after = block.after(move.gone, found)
        gain = _gain(before, after)
        rate = gain / max(after.operations - before.operations, CHEAPEST)
        if gain <= least or (best is not None and rate <= best.rate):
            return best, most
        return Ready(rate, move.gone, tuple(found), done=len(self.own[block.view.m])), gain

    def _hope(self, place: Place, found: Found | None, block: Block, before: Value) -> float:
        """What is still to be had, by sampling; nothing where deep moves are not worth their time."""
        if place.what in ("certain", "class") or before.above - before.below < WORTH:
            return 0.0
        if found is not None:
            loss = block.loss(found)
            if found.draft.kind != "upper" or 0 < len(found.draft.outputs) <= 4 or loss < 2e-5:
                return 0.0
        floor = self._samples(place.m).wrong * float(block.view.size @ block.view.weight)
        return max(0.0, before.above - floor)

    def _samples(self, m: int) -> Samples:
        if m not in self.samples:
            self.samples[m] = sample(self.problem, self.blocks[m].view)
        return self.samples[m]

    @staticmethod
    def _evaluated(block: Block, move: Move) -> tuple[tuple[int, ...], tuple[Found, ...]] | None:
        found = []
        for draft in move.drafts:
            each = block.evaluate(draft)
            if each is None:
                return None
            found.append(each)
        return move.gone, tuple(found)

    def _affordable(self, m: int, ready: Ready) -> bool:
        limit = self.goal.operations
        if limit is None:
            return True
        after = self.blocks[m].after(ready.gone, ready.found).operations
        return self.state.operations - self.values[m].operations + after <= limit

    def _apply(self, place: Place, ready: Ready) -> None:
        m = place.m
        block = self.blocks[m] = self.blocks[m].without(ready.gone, ready.found)
        before, value = self.values[m], block.value()
        self.values[m] = value
        state = self.state
        self.state = State(
            state.above + value.above - before.above,
            state.below + value.below - before.below,
            state.operations + value.operations - before.operations,
        )
        gap = value.above - value.below
        for each in ready.found:
            loss = min(block.loss(each), gap) if each.draft.kind == "upper" else 0.3 * gap
            if loss > 1e-9 and each.draft.kind != "screen":
                self._push(loss / max(each.operations, CHEAPEST), Place(m, "item", each.number), None)
        if place.what == "certain":
            self._push(gap * 1e-4, place, None)
        if place.what == "class":
            self.own[m].add(self.chosen[m])
            self.done[m].add(self.chosen[m])
        if place.what in ("class", "open"):
            self._offer_class(m)
        if place.what == "open" and self.goal.two_sided:
            self._push(gap * 1e-5, Place(m, "certain"), None)

    def _offer_class(self, m: int) -> None:
        """Put the class with the largest gap that has no items of its own into the heap."""
        gaps = self.blocks[m].gaps()
        gaps[list(self.done[m])] = 0.0
        if (gap := float(gaps.max())) > 1e-8:
            self._push(gap / CLASS_OPERATIONS, Place(m, "class"), None)
