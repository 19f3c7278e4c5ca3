"""The exact number of wrong sequences by branch and bound: FORMAT.md, "Margin tree"."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

from ..facts import Count, Margins
from ..step import Step
from ..task import pairs, read_region
from .margins import Terms, terms
from .screen import Screen


@dataclass(frozen=True, slots=True)
class Level:
    """One free position for one output: the terms of all tokens, sorted, with the tokens at or above each as a mask."""

    term: tuple[int, ...]
    values: tuple[int, ...]
    masks: tuple[int, ...]
    best: int  # the most that the later free positions can add
    best_with_m: int | None  # the same if one of them holds token m; None: there is none
    worst: int  # the least that they can add


@dataclass(frozen=True, slots=True)
class Output:
    """One output that is not screened off: its levels, the query's term, and how far a sum may be from the truth."""

    levels: tuple[Level, ...]
    start: int
    radius: int


def margin_tree(step: Step) -> Count:
    """Walk the free positions; drop an output that can no longer win, close a subtree that one output has won.

    Premises:   margins
    Arguments:  digits, bits of a weight
    Conclusion: the sequences found right, and those found wrong
    Sound because: a sum of the terms so far and the best (worst) of the rest bounds every sum below that node.
    """
    given = step.premise("margins", Margins)
    region = read_region(step.fields, step.task)
    digits = step.fields.integer("digits", 8, 1024)
    screen = Screen(given, region, step)
    right = wrong = 0
    for q, m in pairs(region):
        size = step.class_size(q, m)
        if size == 0:
            continue
        weight = terms(given.weights, q, m, step.task.own_row(q), digits)
        outputs = [_output(given, q, m, o, weight, step) for o in screen.alive(q, m, weight)]
        lost, undecided = _walk(tuple(outputs), m, step.task.holds_max(q, m), step)
        right += size - (lost + undecided) * step.task.own_mass(q)
        wrong += lost * step.task.own_mass(q)
    return Count(given.threshold, region, step.agree("right", right), step.agree("wrong", wrong))


def _output(given: Margins, q: int, m: int, o: int, weight: Terms, step: Step) -> Output:
    """The table of one output for class (q, m): term = position weight * token weight * logit difference."""
    own, positions = step.task.own_row(q), [row[o] - row[m] for row in given.positions]
    base = given.direct[q][o] - given.direct[q][m] + given.shift
    values = [row[o] - row[m] + base for row in (*given.values[: m + 1], given.values[own])]
    largest = max(map(abs, values)) + max(map(abs, positions))
    step.meter.count(len(positions) * (m + 1) * (4 + m.bit_length()))
    levels: list[Level] = []
    best = worst = 0
    best_with_m: int | None = None
    for position, p in reversed(list(zip(positions, weight.position, strict=True))[:-1]):
        term = tuple(p * u * (value + position) for u, value in zip(weight.token, values, strict=False))
        rank = sorted(range(m + 1), key=term.__getitem__)
        masks = [0]
        for t in reversed(rank):
            masks.append(masks[-1] | 1 << t)
        levels.append(Level(term, tuple(term[t] for t in rank), tuple(masks[::-1]), best, best_with_m, worst))
        top = term[rank[-1]]
        best_with_m = best + term[m] if best_with_m is None else max(best + term[m], best_with_m + top)
        best, worst = best + top, worst + term[rank[0]]
    start = weight.position[-1] * weight.own * (values[-1] + positions[-1])
    return Output(tuple(levels[::-1]), start, len(positions) * largest * weight.radius)


def _walk(outputs: tuple[Output, ...], m: int, holds: bool, step: Step) -> tuple[int, int]:
    """The free tokens of the class, by mass, that are certainly wrong, and those left undecided."""
    free = step.task.free
    if free == 0:
        fails = any(output.start >= output.radius for output in outputs)
        may_fail = any(output.start >= -output.radius for output in outputs)
        return int(fails), int(may_fail and not fails)
    masses = [step.task.mass(position) for position in range(free)]
    at_most, below = step.task.below(m + 1), step.task.below(m)
    comparisons = 2 * (m + 1).bit_length() + 3
    wrong = undecided = 0
    stack = [(0, holds, 1, [(output, output.start) for output in outputs])] if outputs else []
    while stack:
        level, has, before, live = stack.pop()  # `before` is the mass of the tokens chosen so far
        after = level + 1
        step.meter.count(len(live) * comparisons)
        lost, alive = 0, []
        for output, total in live:
            table = output.levels[level]
            lost |= table.masks[bisect_left(table.values, output.radius - total - table.worst)]
            alive.append(_alive(table, -output.radius - total, has, m))
        remaining = reduce(or_, alive) & ~lost
        for t in _tokens(lost):
            wrong += before * masses[level][t] * (at_most[after] - (0 if has or t == m else below[after]))
        for t in _tokens(remaining):
            if after == free:
                undecided += before * masses[level][t]
                continue
            child = [
                (o, total + o.levels[level].term[t])
                for (o, total), mask in zip(live, alive, strict=True)
                if mask >> t & 1
            ]
            step.meter.count(len(child))
            stack.append((after, has or t == m, before * masses[level][t], child))
    return wrong, undecided


def _tokens(mask: int) -> Iterator[int]:
    """The tokens of a mask, from the largest."""
    while mask:
        t = mask.bit_length() - 1
        mask ^= 1 << t
        yield t


def _alive(table: Level, needed: int, has: bool, m: int) -> int:
    """Tokens after which the sum can still reach `needed`, some position holding token m."""
    if has:
        return table.masks[bisect_left(table.values, needed - table.best)]
    at_m = 1 << m if table.term[m] + table.best >= needed else 0
    if table.best_with_m is None:
        return at_m
    return table.masks[bisect_left(table.values, needed - table.best_with_m)] | at_m
