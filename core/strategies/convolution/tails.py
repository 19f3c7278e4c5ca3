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
    least_cells, highs = cells.min(axis=1).tolist(), cells.max(axis=1).tolist()
    least, most = int(thresholds.min()), int(thresholds.max())
    best, worst = sum(highs), sum(least_cells)  # of the positions to come
    reach = best - least  # what all positions together may fall short of their best
    if reach < 0:
        return Estimate(np.zeros(len(thresholds)), 0)
    lows = [max(low, high - reach) for low, high in zip(least_cells, highs, strict=True)]
    if max((high - low for low, high in zip(lows, highs, strict=True)), default=0) > SLOTS:
        return None
    histograms, below_m, used = _histograms(cells, np.array(lows), share)
    without = np.append(np.cumprod(1 - share[::-1, -1])[::-1], 1.0).tolist()  # token m, from each position on
    slots, below = np.ones(1), np.ones(1)
    base, sure, sure_below, operations = 0, 0.0, 0.0, 0
    for level, (low, high) in enumerate(zip(lows, highs, strict=True)):
        best, worst = best - high, worst - least_cells[level]
        cut, end = max(least - best - base - len(slots) + 1 - low, 0), high - low + 1
        if cut >= end:
            return Estimate(np.maximum(sure - needs_m * sure_below, 0.0), operations)
        slots = _convolved(slots, histograms[level, cut:end])
        below = _convolved(below, below_m[level, cut:end])
        base += low + cut
        operations += 2 * used[level][cut] * len(slots)
        start, end = max(least - best - base, 0), max(most - worst - base, 0)
        if end < len(slots):
            sure += float(slots[max(start, end) :].sum())
            sure_below += float(below[max(start, end) :].sum()) * without[level + 1]
        slots, below, base = slots[start:end], below[start:end], base + start
        if len(slots) > SLOTS:
            return None
        if not len(slots):
            return Estimate(np.maximum(sure - needs_m * sure_below, 0.0), operations)
    operations += 2 * len(slots)
    above = _above(slots, thresholds - base) + sure
    above -= needs_m * (_above(below, thresholds - base) + sure_below)
    return Estimate(np.maximum(above, 0.0), operations)


def _histograms(cells: Indices, lows: Indices, share: Floats) -> tuple[Floats, Floats, list[list[int]]]:
    """Of each position, from its lowest cell that matters on: shares of tokens 0..m, of tokens 0..m-1, and the
    additions that the checker makes for both, in slots, for the cells from each one on."""
    index = cells - lows[:, None]
    shape = len(cells), int(index.max(initial=0)) + 1
    kept = (index >= 0) & (share > 0)
    if not shape[0]:
        return np.zeros(shape), np.zeros(shape), []
    flat = (index + shape[1] * np.arange(shape[0])[:, None])[kept]
    weighted = np.bincount(flat, weights=share[kept], minlength=shape[0] * shape[1])
    all_: Floats = np.asarray(weighted, np.float64).reshape(shape)
    below = all_.copy()
    rows = np.flatnonzero(kept[:, -1])
    at = rows, index[rows, -1]
    below[at] -= share[rows, -1]
    below[at] *= below[at] >= 1e-9 * share[rows, -1]  # what rounding leaves of nothing
    used = (all_ != 0).astype(np.int64) + (below != 0)
    later: list[list[int]] = np.cumsum(used[:, ::-1], axis=1)[:, ::-1].tolist()
    return all_, below, later


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
