"""How much of a product of histograms lies at or above a threshold: in doubles for the search, then exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gmpy2
import numpy as np

from ...exact import Floats
from .terms import Indices

SLOTS = 6000  # grid points that the search allows
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
    rows = len(cells)
    without = np.append(np.cumprod(1 - share[::-1, -1])[::-1], 1.0)  # of token m from each position on
    least, most = int(thresholds.min()), int(thresholds.max())
    best = np.append(np.cumsum(cells.max(axis=1)[::-1])[::-1], 0)
    worst = np.append(np.cumsum(cells.min(axis=1)[::-1])[::-1], 0)
    slots = np.array([[1.0], [1.0]])
    base, sure, operations = 0, np.zeros(2), 0
    for level in range(rows):
        floor = least - int(best[level + 1])
        low = max(int(cells[level].min()), floor - base - slots.shape[1] + 1)
        index = cells[level] - low
        if int(index.max()) > SLOTS:
            return None
        kept = (index >= 0) & (share[level] > 0)
        if not kept.any():
            break
        slots, count = _step(slots, index[kept], share[level][kept], index[-1] if kept[-1] else -1)
        base += low
        operations += 2 * count * slots.shape[1]
        if floor > base:
            slots, base = slots[:, floor - base :], floor
        done = max(most - int(worst[level + 1]) - base, 0)
        if done < slots.shape[1]:
            sure += slots[:, done:].sum(axis=1) * np.array([1.0, without[level + 1]])
            slots = slots[:, :done]
        if slots.shape[1] > SLOTS:
            return None
        if not slots.size or not slots[0].any():
            break
    else:
        operations += 2 * slots.shape[1]
        return Estimate(_read(slots, sure, thresholds - base, needs_m), operations)
    return Estimate(np.maximum(sure[0] - needs_m * sure[1], 0.0), operations)


def _step(slots: Floats, index: Indices, share: Floats, at_m: int) -> tuple[Floats, int]:
    """One more position; and the additions that the checker makes, in slots. `at_m` is the cell of m, or negative."""
    histogram = np.bincount(index, weights=share)
    below, used = histogram, 2 * int(np.count_nonzero(histogram))
    if at_m >= 0:
        below = histogram.copy()
        below[at_m] -= share[-1]
        if np.count_nonzero(index == at_m) == 1:
            below[at_m] = 0.0
            used -= 1
    if slots.shape[1] * len(histogram) < 60_000:
        return np.array([np.convolve(slots[0], histogram), np.convolve(slots[1], below)]), used
    result = np.zeros((2, slots.shape[1] + len(histogram) - 1))
    for i in np.flatnonzero(histogram):
        result[0, i : i + slots.shape[1]] += histogram[i] * slots[0]
        result[1, i : i + slots.shape[1]] += below[i] * slots[1]
    return result, used


def _read(slots: Floats, sure: Floats, thresholds: Indices, needs_m: Floats) -> Floats:
    """Shares at each threshold (relative to the first slot)."""
    above = np.concatenate([np.cumsum(slots[:, ::-1], axis=1)[:, ::-1], np.zeros((2, 1))], axis=1)
    above = above[:, np.clip(thresholds, 0, slots.shape[1])] + sure[:, None]
    share: Floats = np.maximum(above[0] - needs_m * above[1], 0.0)
    return share


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
