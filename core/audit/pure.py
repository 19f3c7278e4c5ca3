"""Where the cubic proof loses (docs/FORMAT.md, `pure_sequences`): classes, numbers of others, four relaxations."""

from __future__ import annotations

from functools import cached_property
from math import comb

import numpy as np
import numpy.typing as npt

from ..problem import Problem
from ..strategies.cubic import relaxed
from ..task import Region
from .account import Account, Share, Term, sizes_by_others
from .altered import CHANGES, altered

Bools = npt.NDArray[np.bool_]


class Pure:
    """Which tokens are right with how many copies, for the maxima asked for."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[int, tuple[Bools, Bools]] = {}

    @cached_property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.problem.floats.values.shape[1])

    def good(self, m: int) -> tuple[Bools, Bools]:
        """queries x tokens below m x copies: are both arrangements negative; and queries: m on all free positions."""
        if m not in self._known:
            values = relaxed(self.problem, m)
            self._known[m] = values.pure < 0, values.none < 0
        return self._known[m]

    def counts(self, q: int, m: int) -> list[int]:
        """Certified inputs of a class with 0, 1, ... free tokens below m."""
        task = self.problem.task
        holds = task.holds_max(q, m)
        if self.outputs == 1:
            return [comb(task.free, c) * m**c if holds or c < task.free else 0 for c in range(task.free + 1)]
        pure, none = self.good(m)
        result = [int(none[q]) if task.free or holds else 0]
        for c in range(1, task.free + 1):
            good = int(pure[q, :, c - 1].sum())
            result.append(comb(task.free, c) * good**c if holds or c < task.free else 0)
        return result

    def certified(self, q: int, m: int, free: tuple[int, ...]) -> bool:
        """Is this input counted?"""
        others = [t for t in free if t != m]
        pure, none = self.good(m)
        if not others:
            return bool(none[q])
        return all(bool(pure[q, t, len(others) - 1]) for t in others)


def account(problem: Problem, region: Region) -> Account:
    """Recount in doubles what the proof counts."""
    pure, task = Pure(problem), problem.task
    result = Account.empty(task)
    by_others = [0] * (task.free + 1)
    for m, low, high in region:
        for q in range(low, high):
            counts = pure.counts(q, m)
            result.right[q, m] = sum(counts)
            by_others = [a + b for a, b in zip(by_others, counts, strict=True)]
    sizes = sizes_by_others(task, region)
    result.others = [Share(str(n), s, r, 0) for n, (s, r) in enumerate(zip(sizes, by_others, strict=True))]
    result.certified = pure.certified
    return result


def terms(problem: Problem, region: Region, right: int) -> list[Term]:
    """What each relaxation costs."""
    found = []
    for name, (meaning, change) in CHANGES.items():
        found.append(Term(name, meaning, _total(Pure(altered(problem, change)), region) - right))
    if problem.floats.values.shape[1] > 1:
        gained = _total(EachOutput(problem), region) - right
        found.append(Term("union over outputs", "if every output were bounded on its own", gained))
    return found


def _total(pure: Pure, region: Region) -> int:
    return sum(sum(pure.counts(q, m)) for m, low, high in region for q in range(low, high))


class EachOutput(Pure):
    """The same proof with EU, EVOU and PVOU of one output at a time instead of the largest of each."""

    def good(self, m: int) -> tuple[Bools, Bools]:
        if m not in self._known:
            values = relaxed(self.problem, m)
            self._known[m] = self._pure(m), values.none < 0
        return self._known[m]

    def _pure(self, m: int) -> Bools:
        view, task = self.problem.floats, self.problem.task
        queries = np.arange(task.queries(m))
        own = [task.own_row(int(q)) for q in queries]
        token = np.exp(view.token[queries] - view.token[queries, m : m + 1])
        ordered, zero = np.sort(view.position[queries, :-1], axis=1), np.zeros((len(queries), 1))
        least = np.concatenate([zero, np.cumsum(ordered, axis=1)], axis=1)
        most = np.concatenate([zero, np.cumsum(ordered[:, ::-1], axis=1)], axis=1)
        counts = np.arange(1, task.free + 1)
        own_mass = view.position[queries, -1] * token[queries, own]
        places = view.positions - view.positions[:, m : m + 1]
        result = np.ones((len(queries), m, task.free), dtype=bool)
        for o in range(view.values.shape[1]):
            if o == m:
                continue
            base = view.direct[queries, o] - view.direct[queries, m] + view.shift + places[:, o].max()
            values = view.values[:, o] - view.values[:, m]
            pull = token[:, :m] * (values[None, :m] + base[:, None])
            fixed = own_mass * (values[own] + base)
            for ascending, descending in ((least, most), (most, least)):
                rest = ascending[:, task.free - counts] * (values[m] + base)[:, None] + fixed[:, None]
                result &= rest[:, None] + pull[:, :, None] * descending[:, counts][:, None] < 0
        return result
