"""One maximum during the search: its items with their estimated counts, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import exp

import numpy as np
import numpy.typing as npt

from ...exact import Floats
from . import tails
from .items import (
    Item,
    Kind,
    Rest,
    cell_operations,
    ratio_operations,
    screen_operations,
    value_operations,
)
from .terms import Indices, View, terms

OFFSETS = (1, 4, 8, 16, 32)
_numbers = count()


@dataclass(frozen=True, slots=True)
class Draft:
    """An item that could be evaluated: `step` in units of the view's scale (see `scale`).

    Items are written in the order of their levels: the outputs of `rest` must be covered by lower levels.
    """

    kind: Kind
    queries: Indices
    outputs: tuple[int, ...]
    step: float = 1.0
    rest: Rest = ()
    level: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A draft with its estimate: the share of the fillings by tokens 0..m that it counts, for each query."""

    number: int
    draft: Draft
    offset: int
    share: Floats
    operations: int  # of the checker, without the weight ratios

    @property
    def total(self) -> float:
        return float(self.share.sum())


@dataclass(frozen=True, slots=True)
class Value:
    """Shares of all inputs: what may be wrong, what surely is, how far from useful; and the checker's operations."""

    above: float
    below: float
    raw: float  # like `above`, but still falling while a count exceeds its class
    operations: int


@dataclass(frozen=True, slots=True)
class Block:
    """The items of one maximum."""

    view: View
    scale: float
    two_sided: bool
    found: tuple[Found, ...] = ()

    def of(self, *kinds: Kind) -> list[Found]:
        """Items of some kinds, in order."""
        return [each for each in self.found if each.draft.kind in kinds]

    def without(self, numbers: Iterable[int], more: Sequence[Found]) -> Block:
        """Some items replaced by others."""
        gone = set(numbers)
        return replace(self, found=(*(each for each in self.found if each.number not in gone), *more))

    def covered(self, output: int, queries: Indices, level: tuple[int, ...]) -> bool:
        """Is an output covered for all the queries by items of lower levels?"""
        seen = np.zeros(self.view.queries, dtype=bool)
        for each in self.of("upper", "screen"):
            if each.draft.level < level and output in (each.draft.outputs or (output,)):
                seen[each.draft.queries] = True
        return bool(seen[queries].all())

    def above(self) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Sum of the counts of each query, and whether its outputs are covered."""
        view = self.view
        above, covered = np.zeros(view.queries), np.full(view.queries, view.outputs == 1)
        for each in self.of("upper", "screen"):
            above[each.draft.queries] += each.share
            covered[each.draft.queries] = True
        return above, covered

    def gaps(self) -> Floats:
        """Of each query, as a share of all inputs."""
        above, covered = self.above()
        above = np.where(covered, np.minimum(above, self.view.size), self.view.size)
        return (above - (np.minimum(self.lower(), above) if self.two_sided else 0.0)) * self.view.weight

    def loss(self, found: Found) -> float:
        """What an item counts, as a share of all inputs."""
        return float(found.share @ self.view.weight[found.draft.queries])

    def value(self) -> Value:
        """What the items prove."""
        view = self.view
        above, covered = self.above()
        # the logarithm rewards what brings a hopeless count nearer to its class
        raw = np.where(covered, view.size * np.log1p(above / np.maximum(view.size, 1e-300)), 1.5 * view.size)
        above = np.where(covered, np.minimum(above, view.size), view.size)
        below = np.minimum(self.lower(), above) if self.two_sided else np.zeros(view.queries)
        queries = {each.draft.queries.tobytes(): len(each.draft.queries) for each in self.found}
        operations = sum(ratio_operations(view.m, view.free, n) for n in queries.values())
        operations += sum(each.operations for each in self.found)
        return Value(float(above @ view.weight), float(below @ view.weight), float(raw @ view.weight), operations)

    def lower(self) -> Floats:
        """Certain failures of each query, by the checker's order: each output less what it shares with those before."""
        single: dict[int, Floats] = {}
        double: dict[frozenset[int], Floats] = {}
        for each in self.of("lower"):
            single.setdefault(each.draft.outputs[0], np.zeros(self.view.queries))[each.draft.queries] = each.share
        for each in self.of("both"):
            pair = frozenset((each.draft.outputs[0], each.draft.rest[0][0]))
            double.setdefault(pair, np.full(self.view.queries, np.inf))[each.draft.queries] = each.share
        total, best = np.zeros(self.view.queries), np.zeros(self.view.queries)
        taken: list[tuple[int, Floats]] = []
        for output, share in single.items():
            gain = share.copy()
            for other, used in taken:
                shared = double.get(frozenset((output, other)))
                gain -= np.where(used > 0, share if shared is None else np.minimum(shared, 2.0), 0.0)
            best, used = np.maximum(best, share), gain > 0
            total += np.where(used, gain, 0.0)
            taken.append((output, used.astype(np.float64)))
        return np.maximum(total, best)

    def least_operations(self, draft: Draft) -> int:
        """What a draft costs at least."""
        sizes = self.view.m, self.view.free, len(draft.queries)
        if draft.kind == "screen":
            return screen_operations(*sizes, len(draft.outputs), len(draft.rest))
        return cell_operations(*sizes) + value_operations(*sizes, max(len(draft.outputs), 1) + len(draft.rest))

    def evaluate(self, draft: Draft) -> Found | None:
        """The estimate of a draft; None if its grid is too fine."""
        view, queries = self.view, draft.queries
        if draft.kind == "screen":
            return Found(next(_numbers), draft, 0, np.zeros(len(queries)), self.least_operations(draft))
        up, h = draft.kind != "lower", draft.step * self.scale
        term, own = terms(view, draft.kind, queries, np.array(draft.outputs, dtype=np.int64), draft.rest)
        offset = best_offset(term if up else -term, h)
        c = h * offset / 64
        cells = np.ceil((term - c) / h) if up else np.floor((term + c) / h)
        thresholds = np.ceil((-own - view.free * (c if up else -c)) / h)
        if max(np.abs(cells).max(initial=0.0), np.abs(thresholds).max()) > 1e15:
            return None
        needs_m = np.where(view.holds[queries], 0.0, 1.0)
        counted = tails.estimate(cells.astype(np.int64), view.share, thresholds.astype(np.int64), needs_m)
        if counted is None:
            return None
        share = counted.share if draft.kind == "both" else np.minimum(counted.share, view.size[queries])
        return Found(next(_numbers), draft, offset, share, counted.operations + self.least_operations(draft))

    def item(self, found: Found, unit: int) -> Item:
        """As the certificate writes it, with steps in units of 2**unit."""
        draft = found.draft
        step = max(round(draft.step * self.scale / 2.0**unit), 1) if draft.kind != "screen" else 1
        queries = tuple(int(q) for q in draft.queries)
        return Item(draft.kind, self.view.m, queries, tuple(sorted(draft.outputs)), draft.rest, step, found.offset)


def scale(view: View) -> float:
    """A natural size of terms: what token m says against its strongest rivals, or a part of the largest term, at a
    position of average weight."""
    if not view.others:
        return 1.0
    values = view.differences(np.arange(view.queries), np.array(view.others))[2]
    rivals = np.sort(values[view.m])[::-1]
    pull = exp(min(float(view.ratio.mean(axis=0).max()), 4.0))
    place = float(view.place.mean()) if view.free else 1.0
    return place * max(1e-9, -float(rivals[min(3, len(rivals) - 1)]), 0.03 * float(np.abs(values).max()) * pull)


def best_offset(term: Floats, h: float) -> int:
    """Rounding up loses least where the frequent terms lie just above a grid line: the least exponential moment."""
    x = term.mean(axis=0) if len(term) else np.zeros(term.shape[1])
    rate = 1 / max(4 * h, 0.12 * abs(float(x[-1])) + 0.02 * float(np.abs(x).max()), 1e-9)

    offsets = np.array(OFFSETS)[:, None] / 64
    y = rate * h * (np.ceil(x / h - offsets) + offsets)
    top = y.max(axis=1)
    return OFFSETS[int((top + np.log(np.exp(y - top[:, None]).sum(axis=1))).argmin())]
