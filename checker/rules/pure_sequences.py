"""The paper's cubic proof: FORMAT.md, "Pure sequences"."""

from math import comb

from ..facts import Count, Margins
from ..numbers import largest
from ..step import Step
from ..task import pairs, read_region


def pure_sequences(step: Step) -> Count:
    """Sequences of pure shape decide the mixed ones.

    Premises:   margins
    Conclusion: the class (q, m) with c free positions below m holds at least C(free, c) |S|^c right sequences, S being
                the tokens t < m whose pure sequences (c copies of t on the most, or on the least, favoured free
                positions, m on the others, positions' values pessimised) have all their relaxed margins negative
    Sound because: positions to values (lemma P), outputs to one value function (W), purity (X), two orderings (O).
    """
    given = step.premise("margins", Margins)
    step.require_uniform()
    region = read_region(step.fields, step.task)
    right = 0
    classes = list(pairs(region))
    worst = _worst_positions(given, sorted({m for _, m in classes}), step)
    for q, m in classes:
        right += _class(given, q, m, worst[m], step)
    return Count(given.threshold, region, step.agree("right", right), 0)


def _worst_positions(given: Margins, maxima: list[int], step: Step) -> dict[int, tuple[list[int], list[int]]]:
    """For each m: Pi_o = max_i (PVOU[i,o] - PVOU[i,m]), and W(t) = max_{o != m} (EVOU[t,o] - EVOU[t,m] + Pi_o)."""
    result = {}
    outputs = len(given.values[0])
    step.meter.count(len(maxima) * outputs * 2 * (len(given.positions) + len(given.values)))
    for m in maxima:
        pi = largest([[n - row[m] for n in row] for row in given.positions])
        others = [o for o in range(outputs) if o != m]
        top = [max((row[o] + pi[o] for o in others), default=None) for row in given.values]
        result[m] = pi, [0 if best is None else best - row[m] for best, row in zip(top, given.values, strict=True)]
    return result


def _class(given: Margins, q: int, m: int, worst: tuple[list[int], list[int]], step: Step) -> int:
    """The sequences of class (q, m) that the pure ones certify."""
    pi, relaxed = worst
    others = [o for o in range(len(pi)) if o != m]
    if not others:
        return step.class_size(q, m)  # no other output exists
    free, own, holds = step.task.free, step.task.own_row(q), step.task.holds_max(q, m)
    direct = given.direct[q]
    low, high = given.weights.token_low[q], given.weights.token_high[q]
    position = given.weights.position_low[q], given.weights.position_high[q]
    order = given.weights.order[q]
    least = _prefix_sums(position, order), _prefix_sums(position, order[::-1])
    own_mass = low[own] * position[0][free], high[own] * position[1][free]
    step.meter.count(len(others) * 8 + 4 * free)
    count = 0
    # c = 0: all free positions hold m, each output on its own
    mass = low[m] * least[0][0][free], high[m] * least[0][1][free]
    sums = []
    for o in others:
        base = direct[o] - direct[m] + pi[o] + given.shift
        at_m = base + given.values[m][o] - given.values[m][m]
        at_own = base + given.values[own][o] - given.values[own][m]
        sums.append(_upper(at_m, mass) + _upper(at_own, own_mass))
    if (free > 0 or holds) and all(value < 0 for value in sums):
        count += 1
    top = max(direct[o] for o in others) - direct[m] + given.shift
    fixed = relaxed[m] + top, _upper(relaxed[own] + top, own_mass)
    step.meter.count(3 * m + 1)
    pull = [_upper(relaxed[t] + top, (low[t], high[t])) for t in range(m)]
    for c in range(1, free + 1 if holds else free):
        good = _good(fixed, pull, (low[m], high[m]), least, free, c)
        step.meter.count(4 * m + 8)
        count += comb(free, c) * good**c
    return count


def _good(
    fixed: tuple[int, int],
    pull: list[int],
    weight: tuple[int, int],
    least: tuple[tuple[list[int], list[int]], tuple[list[int], list[int]]],
    free: int,
    c: int,
) -> int:
    """How many tokens are right with c copies, under both arrangements."""
    constants, slopes = [], []
    for ascending, descending in (least, least[::-1]):
        mass = weight[0] * ascending[0][free - c], weight[1] * ascending[1][free - c]
        constants.append(_upper(fixed[0], mass) + fixed[1])
        slopes.append((descending[0][c], descending[1][c]))
    good = 0
    for pulled in pull:
        side = 1 if pulled >= 0 else 0
        if all(constant + pulled * slope[side] < 0 for constant, slope in zip(constants, slopes, strict=True)):
            good += 1
    return good


def _prefix_sums(
    position: tuple[tuple[int, ...], tuple[int, ...]], order: tuple[int, ...]
) -> tuple[list[int], list[int]]:
    """Sums over the first n positions of an order, n = 0, 1, ...: lower ends and upper ends."""
    lows, highs = [0], [0]
    for i in order:
        lows.append(lows[-1] + position[0][i])
        highs.append(highs[-1] + position[1][i])
    return lows, highs


def _upper(value: int, mass: tuple[int, int]) -> int:
    """The largest value * x for x in the enclosure."""
    return value * (mass[1] if value >= 0 else mass[0])
