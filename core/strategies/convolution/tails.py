"""How much of a product of histograms lies at or above a threshold: in doubles for the search, then exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gmpy2
import numpy as np

from ...exact import Floats
from .terms import Indices

SLOTS = 6000  # grid points that the search allows
DENSE = 60_000  # products up to which a dense convolution is the faster one
MOST_SLOTS = 1 << 16  # and the checker


class Unsafe(Exception):
    """The checker could count otherwise: a term lies too near to a grid line, a weight vanishes, a grid is too fine."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Share of the fillings by tokens 0..m (for each threshold) that count and hold m if they must; the price."""

    share: Floats
    operations: int


def estimate(cells: Indices, share: Floats, thresholds: Indices, needs_m: Floats) -> Estimate | None:
    """The count of an item in doubles; None if the grid is too fine. `needs_m` is 1 where some position must hold m.

    `share` is the probability of each token 0..m at each position. The distributions of tokens 0..m and of tokens
    0..m-1 are walked together.
    """
    lows, highs, at_m = cells.min(axis=1).tolist(), cells.max(axis=1).tolist(), cells[:, -1].tolist()
    least, most = int(thresholds.min()), int(thresholds.max())
    best, worst = sum(highs), sum(lows)  # of the positions to come
    without = np.append(np.cumprod(1 - share[::-1, -1])[::-1], 1.0).tolist()  # token m, from each position on
    whole = bool((share > 0).all())
    slots, below = np.ones(1), np.ones(1)
    base, sure, sure_below, operations = 0, 0.0, 0.0, 0
    for level in range(len(cells)):
        best, worst = best - highs[level], worst - lows[level]
        floor = least - best
        low = max(lows[level], floor - base - len(slots) + 1)
        if highs[level] - low > SLOTS:
            return None
        index, weight = cells[level] - low, share[level]
        if not whole or low > lows[level]:
            kept = (index >= 0) & (weight > 0)
            index, weight = index[kept], weight[kept]
        if not len(index):
            break
        slots, below, count = _step(slots, below, index, weight, at_m[level] - low if share[level, -1] > 0 else -1)
        base += low
        operations += 2 * count * len(slots)
        start, end = max(floor - base, 0), max(most - worst - base, 0)
        if end < len(slots):
            sure += float(slots[max(start, end) :].sum())
            sure_below += float(below[max(start, end) :].sum()) * without[level + 1]
        slots, below, base = slots[start:end], below[start:end], base + start
        if len(slots) > SLOTS:
            return None
        if not len(slots):
            break
    else:
        operations += 2 * len(slots)
        above = _above(slots, thresholds - base) + sure
        above -= needs_m * (_above(below, thresholds - base) + sure_below)
        return Estimate(np.maximum(above, 0.0), operations)
    return Estimate(np.maximum(sure - needs_m * sure_below, 0.0), operations)


def _step(slots: Floats, below: Floats, index: Indices, share: Floats, at_m: int) -> tuple[Floats, Floats, int]:
    """One more position, in both distributions; and the additions that the checker makes, in slots."""
    histogram: Floats = np.bincount(index, weights=share).astype(np.float64)
    used = 2 * int(np.count_nonzero(histogram))
    slots = _convolved(slots, histogram)
    if at_m >= 0:
        histogram[at_m] -= share[-1]
        if histogram[at_m] < 1e-9 * share[-1]:  # what rounding leaves of nothing
            histogram[at_m] = 0.0
            used -= 1
    return slots, _convolved(below, histogram), used


def _convolved(slots: Floats, histogram: Floats) -> Floats:
    if len(slots) * len(histogram) < DENSE:
        return np.convolve(slots, histogram)
    result = np.zeros(len(slots) + len(histogram) - 1)
    for i in np.flatnonzero(histogram):
        result[i : i + len(slots)] += histogram[i] * slots
    return result


def _above(slots: Floats, thresholds: Indices) -> Floats:
    """Sum of the slots from each threshold on."""
    sums = np.concatenate([np.cumsum(slots[::-1])[::-1], np.zeros(1)])
    return np.asarray(sums[np.clip(thresholds, 0, len(slots))])


def tails(rows: Sequence[dict[int, int]], thresholds: Sequence[int]) -> tuple[list[int], int]:
    """Mass of the choices of one cell from each row (cell -> mass) that reach each threshold; the checker's operations.

    Slots of one big integer hold the masses of all sums. Sums below the reach of the least threshold are cut off, those
    above the reach of all are counted at once.
    """
    least, most = min(thresholds), max(thresholds)
    best, worst, mass = [0], [0], [1]
    for row in reversed(rows):
        best.append(best[-1] + max(row))
        worst.append(worst[-1] + min(row))
        mass.append(mass[-1] * sum(row.values()))
    width = mass[-1].bit_length() + 8 & -8
    slots, base, length = gmpy2.mpz(1), 0, 1
    sure = operations = 0
    for level, row in enumerate(rows):
        rest = len(rows) - 1 - level
        floor = least - best[rest]
        low = max(min(row), floor - base - length + 1)
        kept = [(cell - low, weight) for cell, weight in row.items() if cell >= low and weight]
        length += max((cell for cell, _ in kept), default=0)
        base += low
        operations += 2 * length * len(kept)
        if length > MOST_SLOTS:
            raise Unsafe
        total = gmpy2.mpz(0)
        for cell, weight in kept:
            total += (slots << cell * width) * weight
        slots = total
        if floor > base:
            slots, length, base = slots >> (floor - base) * width, length - floor + base, floor
        done = max(most - worst[rest] - base, 0)
        if done < length:
            sure += int((slots >> done * width) % ((gmpy2.mpz(1) << width) - 1)) * mass[rest]
            slots, length = gmpy2.f_mod_2exp(slots, done * width), done
        if slots == 0:
            return [sure] * len(thresholds), operations
    sums = _sums(int(slots), length, width // 8)
    reached = [sums[min(max(length - threshold + base, 0), length)] for threshold in thresholds]
    return [sure + n for n in reached], operations + length


def _sums(slots: int, length: int, size: int) -> list[int]:
    """Entry n is the sum of the n uppermost slots of `size` bytes."""
    data = slots.to_bytes(length * size, "little")
    sums = [0]
    for end in range(len(data), 0, -size):
        sums.append(sums[-1] + int.from_bytes(data[end - size : end], "little"))
    return sums
