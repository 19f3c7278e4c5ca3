"""One maximum during the search: its items with their estimated counts, and what they add up to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
class Totals:
    """Sums over the items of one maximum, so that trying a move takes time for the items it moves alone."""

    above: Floats  # counts of each query
    covers: Indices  # items that cover it
    sets: dict[bytes, int]  # items of each set of queries
    operations: int
    lower: Floats  # certain failures of each query


@dataclass(frozen=True, slots=True)
class Block:
    """The items of one maximum, by their numbers and in the order in which they came."""

    view: View
    scale: float
    two_sided: bool
    found: dict[int, Found]
    totals: Totals

    def of(self, *kinds: Kind) -> list[Found]:
        """Items of some kinds, in order."""
        return [each for each in self.found.values() if each.draft.kind in kinds]

    def without(self, numbers: Collection[int], more: Sequence[Found]) -> Block:
        """Some items replaced by others."""
        found = {number: each for number, each in self.found.items() if number not in numbers}
        found.update((each.number, each) for each in more)
        gone = [self.found[number] for number in numbers]
        sets = dict(self.totals.sets)
        for change, items in ((-1, gone), (1, more)):
            for each in items:
                key = each.draft.queries.tobytes()
                sets[key] = sets.get(key, 0) + change
        totals = self._moved(gone, more, found.values())
        return replace(self, found=found, totals=replace(totals, sets={key: n for key, n in sets.items() if n}))

    def _moved(self, gone: Sequence[Found], more: Sequence[Found], found: Iterable[Found] | None) -> Totals:
        """Totals after a move, but for the sets of queries. `found`: all items then, if they are at hand."""
        old, view = self.totals, self.view
        above, covers, operations = old.above.copy(), old.covers.copy(), old.operations
        for sign, items in ((-1, gone), (1, more)):
            for each in items:
                operations += sign * each.operations
                if each.draft.kind in ("upper", "screen"):
                    above[each.draft.queries] += sign * each.share
                    covers[each.draft.queries] += sign
        operations += self._ratio_change([each.draft for each in gone], [each.draft for each in more])
        lower = old.lower
        if self.two_sided and any(each.draft.kind in ("lower", "both") for each in (*gone, *more)):
            if found is None:
                numbers = {each.number for each in gone}
                found = (*(each for number, each in self.found.items() if number not in numbers), *more)
            lower = lower_bound(found, view.queries)
        return Totals(np.maximum(above, 0.0), covers, old.sets, operations, lower)

    def _ratio_change(self, gone: Iterable[Draft], more: Iterable[Draft]) -> int:
        """Operations of weight ratios that come, less those that go: one lot for each set of queries."""
        sets: dict[bytes, int] = {}
        for sign, drafts in ((-1, gone), (1, more)):
            for draft in drafts:
                key = draft.queries.tobytes()
                sets[key] = sets.get(key, 0) + sign
        total, view = 0, self.view
        for key, change in sets.items():
            before = self.totals.sets.get(key, 0)
            if bool(before) != bool(before + change):
                cost = ratio_operations(view.m, view.free, len(key) // view.rows.itemsize)
                total += cost if not before else -cost
        return total

    def least_change(self, numbers: Iterable[int], drafts: Sequence[Draft]) -> int:
        """Operations that a move adds at least."""
        gone = [self.found[number] for number in numbers]
        change = self._ratio_change([each.draft for each in gone], drafts) - sum(each.operations for each in gone)
        return change + sum(map(self.least_operations, drafts))

    def covered(self, output: int, queries: Indices, level: tuple[int, ...]) -> bool:
        """Is an output covered for all the queries by items of lower levels?"""
        seen = np.zeros(self.view.queries, dtype=bool)
        for each in self.found.values():
            draft = each.draft
            if draft.kind in ("upper", "screen") and draft.level < level and output in (draft.outputs or (output,)):
                seen[draft.queries] = True
        return bool(seen[queries].all())

    def _above(self, totals: Totals) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Counts of each query, and whether its outputs are covered."""
        return totals.above, totals.covers > 0 if self.view.outputs > 1 else np.ones(self.view.queries, dtype=bool)

    def gaps(self) -> Floats:
        """Of each query, as a share of all inputs."""
        above, covered = self._above(self.totals)
        above = np.where(covered, np.minimum(above, self.view.size), self.view.size)
        return (above - np.minimum(self.totals.lower, above)) * self.view.weight

    def loss(self, found: Found) -> float:
        """What an item counts, as a share of all inputs."""
        return float(found.share @ self.view.weight[found.draft.queries])

    def value(self) -> Value:
        """What the items prove."""
        return self._value(self.totals)

    def after(self, numbers: Iterable[int], more: Sequence[Found]) -> Value:
        """What they would prove with some of them replaced."""
        return self._value(self._moved([self.found[number] for number in numbers], more, None))

    def at_best(self, numbers: Iterable[int], more: Sequence[Found], certain: bool) -> Value:
        """What nothing that some of them are replaced by, beside `more`, could surpass. `certain`: also failures."""
        totals = self._moved([self.found[number] for number in numbers], more, None)
        found = self._value(totals, hopeful=True)
        return replace(found, below=found.above) if certain else found

    def _value(self, totals: Totals, hopeful: bool = False) -> Value:
        size, weight = self.view.size, self.view.weight
        above, covered = self._above(totals)
        covered = covered | hopeful
        # the logarithm rewards what brings a hopeless count nearer to its class
        raw = np.where(covered, size * np.log1p(above / np.maximum(size, 1e-300)), 1.5 * size)
        above = np.where(covered, np.minimum(above, size), size)
        below = np.minimum(totals.lower, above)
        return Value(float(above @ weight), float(below @ weight), float(raw @ weight), totals.operations)

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


def block_of(view: View, two_sided: bool) -> Block:
    """A maximum without items."""
    none = np.zeros(view.queries)
    return Block(view, scale(view), two_sided, {}, Totals(none, np.zeros(view.queries, dtype=np.int64), {}, 0, none))


def lower_bound(found: Iterable[Found], queries: int) -> Floats:
    """Certain failures of each query, by the checker's order: each output less what it shares with those before."""
    single: dict[int, Floats] = {}
    double: dict[frozenset[int], Floats] = {}
    for each in found:
        draft = each.draft
        if draft.kind == "lower":
            single.setdefault(draft.outputs[0], np.zeros(queries))[draft.queries] = each.share
        elif draft.kind == "both":
            pair = frozenset((draft.outputs[0], draft.rest[0][0]))
            double.setdefault(pair, np.full(queries, np.inf))[draft.queries] = each.share
    total, best = np.zeros(queries), np.zeros(queries)
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


def scale(view: View) -> float:
    """A natural size of terms: what token m says against its strongest rivals, or a part of the largest term, at a
    position of average weight."""
    if not view.others:
        return 1.0
    m, values = view.m, view.floats.values[: view.m + 1]
    values = values - values[:, m : m + 1]
    rivals = np.sort(np.delete(values[m], m))[::-1]
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
