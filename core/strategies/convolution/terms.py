"""Terms of margin sums in doubles, for the search (docs/FORMAT.md, "Convolution"). They decide nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ...exact import Floats
from ...problem import FloatView, Problem
from ...task import Task
from .items import Kind, Rest

Indices = npt.NDArray[np.int64]
RECENT = 16  # terms kept for each maximum
MANY = 16  # outputs, of which the differences are kept a while


@dataclass(frozen=True, slots=True)
class Ends:
    """Largest and smallest weights over a set of queries: of tokens over that of m, of free positions over the best."""

    token_high: Floats
    token_low: Floats
    place_high: Floats
    place_low: Floats


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One maximum m: everything relative to token m."""

    m: int
    free: int
    ratio: Floats  # queries x tokens: log of the weight over that of m
    own: Floats  # of each query's own term, weight over those of m and of the best position
    place: Floats  # queries x free positions: weight over the best
    floats: FloatView
    rows: Indices  # of each query: the row of its own token
    share: Floats  # free positions x tokens 0..m: probability of a token among these
    holds: npt.NDArray[np.bool_]  # of each query: is it token m?
    size: Floats  # of each query: probability that the class has a filling of the free positions by these
    weight: Floats  # of each query: probability of such a filling with this query among all inputs
    ends: dict[bytes, Ends] = field(default_factory=dict)
    recent: dict[tuple[object, ...], tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def queries(self) -> int:
        return len(self.ratio)

    @property
    def outputs(self) -> int:
        return int(self.floats.values.shape[1])

    @property
    def others(self) -> tuple[int, ...]:
        """All outputs but m."""
        return tuple(o for o in range(self.outputs) if o != self.m)

    def differences(self, queries: Indices, outputs: Indices) -> tuple[Floats, Floats, Floats, Floats]:
        """Logits less those of m, at the outputs: direct (with the threshold) and own for the queries, then values for
        tokens 0..m, and positions, of which the query's is the last."""
        find = _kept_differences if len(outputs) > MANY else _differences
        return find(self, queries.tobytes(), outputs.tobytes())

    def ends_of(self, queries: Indices) -> Ends:
        """Weights over a set of queries, kept for the next item with this set."""
        key = queries.tobytes()
        if key not in self.ends:
            ratio, place = self.ratio[queries], self.place[queries]
            ends = (np.exp(ratio.max(axis=0)), np.exp(ratio.min(axis=0)), place.max(axis=0), place.min(axis=0))
            self.ends[key] = Ends(*ends)
        return self.ends[key]


def _differences(view: View, queries: bytes, outputs: bytes) -> tuple[Floats, Floats, Floats, Floats]:
    floats, m = view.floats, view.m
    rows, columns = np.frombuffer(queries, np.int64), np.frombuffer(outputs, np.int64)

    def relative(array: Floats) -> Floats:
        return np.asarray(array.take(columns, axis=1) - array[:, m : m + 1])

    own, values = relative(floats.values[view.rows[rows]]), relative(floats.values[: m + 1])
    return relative(floats.direct[rows]) + floats.shift, own, values, relative(floats.positions)


_kept_differences = lru_cache(maxsize=8)(_differences)  # a search asks for the same several times in a row


def view(problem: Problem, m: int) -> View:
    """The view of one maximum."""
    task, floats = problem.task, problem.floats
    queries = np.arange(task.queries(m))
    rows = np.array([task.own_row(int(q)) for q in queries])
    holds = np.array([task.holds_max(int(q), m) for q in queries])
    token = floats.token[queries]
    share = shares(task, m)
    below, total = task.below(m + 1)[0], task.total
    own = np.exp(np.minimum(token[queries, rows] - token[:, m], 600.0)) * floats.position[queries, -1]
    return View(
        m=m,
        free=task.free,
        ratio=np.minimum(token[:, : m + 1] - token[:, m : m + 1], 600.0),
        own=own,
        place=floats.position[queries, :-1] if task.eos is None else floats.position[queries, : task.free],
        floats=floats,
        rows=rows,
        share=share,
        holds=holds,
        size=np.where(holds, 1.0, 1.0 - np.prod(1.0 - share[:, m])),
        weight=np.array([task.own_mass(int(q)) * below / total for q in queries]),
    )


def shares(task: Task, m: int) -> Floats:
    """Probability of each token 0..m at each free position, if none is larger."""
    rows = [np.array(task.mass(i)[: m + 1], dtype=object) for i in range(task.free)]
    each = [row / row.sum() if row.any() else np.full(m + 1, 1 / (m + 1)) for row in rows]
    return np.array(each, dtype=np.float64).reshape(task.free, m + 1)


def terms(view: View, kind: Kind, queries: Indices, outputs: Indices, rest: Rest = ()) -> tuple[Floats, Floats]:
    """Bounds of G for free positions x tokens 0..m, and of each query's own term. The same are tried on many grids."""
    key = kind, queries.tobytes(), outputs.tobytes(), rest
    if key not in view.recent:
        while len(view.recent) >= RECENT:
            del view.recent[next(iter(view.recent))]
        view.recent[key] = bound_terms(view, kind, queries, outputs, rest)
    return view.recent[key]


def bound_terms(view: View, kind: Kind, queries: Indices, outputs: Indices, rest: Rest) -> tuple[Floats, Floats]:
    ends, up = view.ends_of(queries), kind != "lower"
    direct, own_values, values, positions = relative_differences(
        view, queries, outputs, rest, 1 if kind == "both" else -1
    )
    middle = positions.mean(axis=0)
    base = (direct.max(axis=0) if up else direct.min(axis=0)) + middle
    token, place = (values + base).max(axis=1), (positions[: view.free] - middle).max(axis=1, initial=-np.inf)
    value = token[None] + place[:, None]
    near = ends.place_high[:, None] * ends.token_high, ends.place_low[:, None] * ends.token_low
    own = (direct + own_values + positions[view.free]).max(axis=1)
    return (np.maximum if up else np.minimum)(near[0] * value, near[1] * value), own * view.own[queries]


def relative_differences(
    view: View, queries: Indices, outputs: Indices, rest: Rest, sign: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Direct, own, token and position parts of each output's difference with its share of the rest."""
    each = list(view.differences(queries, outputs if len(outputs) else np.array(view.others)))
    if not len(outputs):
        each = [part.max(axis=1, keepdims=True) for part in each]
    for p, share in rest:
        pairs = zip(each, view.differences(queries, np.array([p])), strict=True)
        each = [one + sign * share / 16 * part for one, part in pairs]
    direct, own_values, values, positions = each
    return direct, own_values, values, positions


def harmless(view: View, queries: Indices, outputs: Indices, rest: Rest = ()) -> npt.NDArray[np.bool_]:
    """Which of the outputs can win for none of the queries: the test of a `screen` item, with a margin for rounding."""
    ends = view.ends_of(queries)
    direct, own_values, values, positions = relative_differences(view, queries, outputs, rest, -1)
    most = positions[: view.free].max(axis=0) if view.free else 0.0
    value = values + direct.max(axis=0) + most
    each = np.maximum(ends.token_high[:, None] * value, ends.token_low[:, None] * value)
    top = each.max(axis=0)
    free = top * np.where(top >= 0, ends.place_high.sum(), ends.place_low.sum())
    switch = ends.place_low.min(initial=np.inf) * (top - each[view.m]) if view.free else np.zeros(len(outputs))
    own = (direct + own_values + positions[view.free]) * view.own[queries][:, None]
    bound = free + own - np.where(view.holds[queries][:, None], 0.0, switch)
    scale = np.abs(own) + np.abs(free) + np.abs(switch)
    return np.asarray((bound < -1e-6 * scale).all(axis=0))
