"""What an item of a convolution proof counts (docs/FORMAT.md, `margin_convolution`): how many inputs, by the number of
their free tokens other than the maximum, and which ones, drawn with equal chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import gmpy2
import numpy as np
import numpy.typing as npt

from ..exact import Floats
from ..task import Task

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Fillings of the free positions by tokens 0..m count if their cells (positions x tokens) sum to a threshold."""

    task: Task
    m: int
    cells: Sequence[Sequence[int]]

    @classmethod
    def everything(cls, task: Task, m: int) -> Grid:
        """Every filling reaches the threshold 0."""
        return cls(task, m, [[0] * (m + 1)] * task.free)

    def by_others(self, thresholds: Sequence[int]) -> list[list[int]]:
        """For each threshold the mass of the fillings that reach it, by the number of their tokens below m."""
        free, m = self.task.free, self.m
        rows = [_histogram(row[:m], self.task.mass(i)) for i, row in enumerate(self.cells)]
        tops = [(row[m], self.task.mass(i)[m]) for i, row in enumerate(self.cells)]
        best, worst = _ends(self.cells)
        spread = [[1]]  # mass of the positions to come, by the number of m among them
        for row, (_, mass) in zip(reversed(rows), reversed(tops), strict=True):
            rest, last = sum(row.values()), spread[-1]
            spread.append([rest * a + mass * b for a, b in zip([*last, 0], [0, *last], strict=True)])
        least, most = min(thresholds), max(thresholds)
        width = sum(spread[-1]).bit_length() + 1
        sums, base, length, sure = [gmpy2.mpz(1)], 0, 1, [0] * (free + 1)
        for level, (row, (cell, mass)) in enumerate(zip(rows, tops, strict=True)):
            after = free - 1 - level
            floor = least - best[level + 1]
            low = max(min([*row, cell]), floor - base - length + 1)
            step = [gmpy2.mpz(0) for _ in range(level + 2)]
            for k, slots in enumerate(sums):
                for at, weight in row.items():
                    if at >= low and slots:
                        step[k] += (slots << (at - low) * width) * weight
                if cell >= low:
                    step[k + 1] += (slots << (cell - low) * width) * mass
            base, length = base + low, length + max(max([*row, cell]) - low, 0)
            if floor > base:
                step, base, length = [n >> (floor - base) * width for n in step], floor, length - floor + base
            done = max(most - worst[level + 1] - base, 0)
            if done < length:
                for k, slots in enumerate(step):
                    reached = _total(slots >> done * width, width)
                    for j, rest in enumerate(spread[after]):
                        sure[k + j] += reached * rest
                step, length = [gmpy2.f_mod_2exp(slots, done * width) for slots in step], done
            sums = step
        counts = [
            [n + _total(slots >> max(threshold - base, 0) * width, width) for n, slots in zip(sure, sums, strict=True)]
            for threshold in thresholds
        ]
        return [each[::-1] for each in counts]

    def draw(self, thresholds: Indices, has: npt.NDArray[np.bool_], generator: np.random.Generator) -> Indices:
        """One filling for each entry, among those that reach its threshold and, unless `has`, hold m."""
        tables, lows = self._tails(int(thresholds.min()))
        wanted, has = thresholds.copy(), has.copy()
        tokens = np.zeros((len(wanted), self.task.free), dtype=np.int64)
        for level, row in enumerate(self.cells):
            mass = _masses(self.task, level, self.m)
            left = wanted[:, None] - np.array(row, dtype=np.int64)
            holds = np.repeat(has[:, None], self.m + 1, axis=1)
            holds[:, self.m] = True
            table = tables[level + 1]
            at = np.clip(left - lows[level + 1], 0, table.shape[1] - 1)
            chances = np.cumsum(mass * table[holds.astype(np.int64), at], axis=1)
            chosen = (chances <= (generator.random(len(wanted)) * chances[:, -1])[:, None]).sum(axis=1)
            tokens[:, level] = chosen
            wanted = np.take_along_axis(left, chosen[:, None], axis=1)[:, 0]
            has |= chosen == self.m
        return tokens

    def _tails(self, least: int) -> tuple[list[Floats], list[int]]:
        """For each level: (does no, does some position before hold m) x (sum still wanted, from a low end on): the mass
        of the fillings of the positions from here on that do. The last entry is beyond reach: 0."""
        best, worst = _ends(self.cells)
        tables, lows = [np.array([[0.0, 0.0], [1.0, 0.0]])], [0]
        reached = best[0] - np.array(best)  # at most, by the positions before
        for level in reversed(range(self.task.free)):
            low = max(worst[level], least - int(reached[level]))
            wanted = np.arange(low, best[level] + 2)
            table, after, start = np.zeros((2, len(wanted))), tables[-1], lows[-1]
            for t, (cell, mass) in enumerate(zip(self.cells[level], _masses(self.task, level, self.m), strict=True)):
                at = np.clip(wanted - cell - start, 0, after.shape[1] - 1)
                table += mass * (after[1, at] if t == self.m else after[:, at])
            tables.append(table)
            lows.append(low)
        return tables[::-1], lows[::-1]


def _histogram(row: Sequence[int], mass: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for cell, weight in zip(row, mass, strict=False):
        found[cell] = found.get(cell, 0) + weight
    return found


def _masses(task: Task, position: int, m: int) -> Floats:
    """Weights of tokens 0..m relative to their sum: the counts are used in proportion only."""
    mass = task.mass(position)[: m + 1]
    total = sum(mass) or 1
    return np.array([n / total for n in mass])


def _ends(cells: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Largest and least sum of the positions from each one on."""
    best, worst = [0], [0]
    for row in reversed(cells):
        best.append(best[-1] + max(row))
        worst.append(worst[-1] + min(row))
    return best[::-1], worst[::-1]


def _total(slots: gmpy2.mpz, width: int) -> int:
    """The sum of all slots, which fits into one."""
    return int(slots % ((gmpy2.mpz(1) << width) - 1))
