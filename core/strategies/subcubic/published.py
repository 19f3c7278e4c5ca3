"""The published sub-cubic numbers in doubles, with the faults of the published code: an estimate, never a proof.

What differs from a proof (the paper's repository, verification/subcubic.py and analysis/subcubic.py):

* the combination `mean_query+diff` takes the steepest slope even where attention is below its mean, which is unsound;
* singular vectors and the largest singular value are taken as exact, so that cross terms vanish;
* a gap g is credited with m - g tokens where m - g + 1 are covered, and all queries share one worst token;
* the search sees the mean position in EU, the check the last one. (The published notebooks may also centre the PVOU of
  the search, depending on the order in which their cells ran; that is left out.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, sqrt

import numpy as np
import numpy.typing as npt

from ...circuits import factors
from ...errors import CompactProofsError
from ...exact import Floats
from ...grid import Choice
from ...problem import Problem
from .approximations import (
    ALL_MEANS,
    EXACT,
    MAX_DIFF,
    MEAN,
    MEAN_QUERY,
    MEAN_RECURSIVE,
    MEAN_SUBPRODUCT,
    ROW_RANGES,
    ROWS_OF_EU,
    SUBPRODUCT,
    SVD,
    SVD_QUERY,
    WHOLE_EU,
)
from .witnesses import directions, query_summary, singular

Gaps = npt.NDArray[np.int64]  # queries x maxima x numbers of tokens that differ from the maximum


@dataclass(frozen=True, slots=True)
class Weights:
    """The model's matrices."""

    token: Floats
    position: Floats
    w_q: Floats
    w_k: Floats
    w_v: Floats
    w_o: Floats
    w_u: Floats

    @classmethod
    def of(cls, problem: Problem) -> Weights:
        """Errors: PUBLISHED_TASK, for the published code knows neither end-of-sequence tokens nor biases."""
        f = factors(problem.model, problem.task)
        same = f.token.ints.shape[0] == f.w_u.ints.shape[1] == problem.task.tokens
        if problem.task.eos is not None or not same or f.b_q.ints.any() or f.direct.ints.any():
            text = "the published code takes no end-of-sequence token, no bias and no output that is not a token"
            raise CompactProofsError("PUBLISHED_TASK", text)
        parts = (f.token, f.position, f.w_q, f.w_k, f.w_v, f.w_o, f.w_u)
        return cls(*(part.floats() for part in parts))


@dataclass(frozen=True, slots=True)
class Tables:
    """What one evaluation sees: approximate scores and positions over sqrt(d_head), EU bounded, EVOU and PVOU."""

    scores: Floats
    error: Floats
    position: Floats  # queries x positions, the last one normalised to 0
    common: Floats
    bound: Floats  # per query
    direct: Floats  # EU exactly, for the sequences m...m
    values: Floats
    positions: Floats


def ranges(matrix: Floats) -> Floats:
    result: Floats = matrix.max(axis=1) - matrix.min(axis=1)
    return result


def tables(w: Weights, choice: Choice, searching: bool) -> Tables:
    """The tables of the check, or those of the search."""
    mean = w.position.mean(axis=0)
    queries, keys = w.token + w.position[-1], w.token + mean
    approx, error = _scores(w, queries, keys, choice.error)
    root = sqrt(w.w_q.shape[1])
    position = queries @ w.w_q @ w.w_k.T @ (w.position - mean).T / root
    common, bound, direct = _direct(w, w.token + mean if searching else queries, choice.eu)
    values, positions = w.token @ w.w_v @ w.w_o @ w.w_u, w.position @ w.w_v @ w.w_o @ w.w_u
    return Tables(approx / root, error / root, position - position[:, -1:], common, bound, direct, values, positions)


def _direct(w: Weights, queries: Floats, eu: int) -> tuple[Floats, Floats, Floats]:
    """h, Gamma and EU."""
    direct, none = queries @ w.w_u, np.zeros(w.w_u.shape[1])
    if eu == ROWS_OF_EU:
        return none, ranges(direct), direct
    if eu == WHOLE_EU:
        return none, np.full(len(direct), direct.max() - direct.min()), direct
    row = np.zeros(w.token.shape[1])
    if eu == MEAN_QUERY:
        row = queries.mean(axis=0)
    elif eu == SVD_QUERY:
        row = query_summary(w.token + w.position.mean(axis=0), w.w_u, weighted=False)
    return row @ w.w_u, np.abs(queries - row) @ ranges(w.w_u), direct


def _scores(w: Weights, queries: Floats, keys: Floats, error: int) -> tuple[Floats, Floats]:
    """Approximate EQKE and its error per query, not scaled."""
    whole = queries @ w.w_q @ w.w_k.T @ keys.T
    if error == EXACT:
        return whole, np.zeros(len(queries))
    if error in (SVD, MAX_DIFF, MEAN, ROW_RANGES):
        wide = w.w_q.shape[0] == w.w_q.shape[1]
        left, right = (queries @ w.w_q @ w.w_k.T, keys.T) if wide else (queries @ w.w_q, w.w_k.T @ keys.T)
        u, v = singular(left @ right)
        approx = np.outer(u, u @ left @ right @ v * v)
        left, right = left - np.outer(u, u @ left), right - np.outer(right @ v, v)
        if error == SVD:
            return approx, np.full(len(queries), sqrt(2) * np.linalg.svd(left @ right, compute_uv=False)[0])
        if error == ROW_RANGES:
            return approx, ranges(left @ right)
        return approx, _product_bound(left, right, error == MEAN)
    found = directions(queries, keys, w.w_q, w.w_k)
    parts = [queries, w.w_q, w.w_k.T, keys.T]
    for at, direction in ((0, found.query), (0, found.second_query), (1, found.w_q)):
        parts[at] = parts[at] - np.outer(direction, direction @ parts[at])
    for at, direction in ((3, found.key), (3, found.second_key), (2, found.w_k)):
        parts[at] = parts[at] - np.outer(parts[at] @ direction, direction)
    rest = parts[0] @ parts[1] @ parts[2] @ parts[3]
    return whole - rest, _four(parts, error)


def _four(parts: list[Floats], error: int) -> Floats:
    if error in (SUBPRODUCT, MEAN_SUBPRODUCT):
        splits = []
        for at in (1, 2, 3):
            left, right = np.linalg.multi_dot([np.eye(len(parts[0])), *parts[:at]]), parts[at]
            for part in parts[at + 1 :]:
                right = right @ part
            splits.append(_product_bound(left, right, error == MEAN_SUBPRODUCT))
        smallest: Floats = np.minimum.reduce(splits)
        return smallest
    bound: Floats = ranges(parts[3])
    tail = parts[3]
    for at in (2, 1, 0):
        mean = error == ALL_MEANS or (error == MEAN_RECURSIVE and at == 0)
        row = parts[at].mean(axis=0) if mean else np.zeros(parts[at].shape[1])
        bound = np.add(np.abs(parts[at] - row) @ bound, ranges((row @ tail)[None]))
        tail = parts[at] @ tail
    return bound


def _product_bound(left: Floats, right: Floats, mean: bool) -> Floats:
    row = left.mean(axis=0) if mean else np.zeros(left.shape[1])
    result: Floats = np.abs(left - row) @ ranges(right) + ranges((row @ right)[None])
    return result


class Evaluation:
    """The published bound for every class at once."""

    def __init__(self, t: Tables, choice: Choice) -> None:
        v, k = t.position.shape
        self.t, self.choice, self.k = t, choice, k
        self.q, self.m, self.n = np.ogrid[:v, :v, :k]
        self.others = self.n - (self.q < self.m)
        self.highest, self.lowest = (f.accumulate(t.scores, axis=1) for f in (np.maximum, np.minimum))
        weight = np.exp(np.sort(t.position[:, :-1], axis=1))
        zero = np.zeros((v, 1))
        up = np.concatenate([zero, np.cumsum(weight, axis=1)], axis=1)
        down = np.concatenate([zero, np.cumsum(weight[:, ::-1], axis=1)], axis=1)
        copies = np.clip(k - self.n - (self.q == self.m), 0, k - 1)
        holds = (self.q == self.m) * 1.0
        self.least, self.most = up[self.q, copies] + holds, down[self.q, copies] + holds
        self.total = 1 + up[:, -1][:, None, None]
        slopes = t.values - np.diag(t.values)[:, None]  # maxima x outputs
        pi = np.max(t.positions[:, None, :] - t.positions[:, :, None], axis=0)
        lines = t.common - t.common[:, None] + pi
        off = ~np.eye(v, dtype=bool)
        self.slopes, self.lines = slopes[off].reshape(v, -1), lines[off].reshape(v, -1)
        self.steepest = self.slopes.max(axis=1)
        self.worst = np.maximum.accumulate(ranges(t.values))
        constant = np.where(off, t.direct - np.diag(t.direct)[:, None] + slopes + pi, -np.inf)
        self.constant = constant.max(axis=1)

    def values(self, gaps: Gaps, shared: bool) -> Floats:
        """The published wrong logit of every class, NaN where the class is empty; `shared`: one worst token for all."""
        live = (self.q <= self.m) & ((self.q == self.m) | (self.m - self.q >= gaps)) & (self.m >= gaps) & (self.n > 0)
        below = np.clip(self.m - gaps, 0, None)
        top = self.t.scores[self.q, self.m] - self.highest[self.q, below] - self.t.error[self.q]
        bottom = self.t.scores[self.q, self.m] - self.lowest[self.q, below] + self.t.error[self.q]
        ordered = np.where(self.q <= self.m, gaps, gaps.max() + 1).min(axis=0)[None]
        level = ordered if shared else gaps
        live = live & (self.m >= level)
        wrong = self.worst[np.clip(self.m - level, 0, None)]
        slope = self.steepest[self.m]
        attention = np.where(slope < wrong, self._attention(self.least, top), self._attention(self.most, bottom))
        attention = np.where(live, attention, np.nan)
        count = np.maximum(live.sum(axis=0), 1)
        pivot = np.nansum(attention, axis=0) / count if self.choice.combination == 0 else np.zeros(count.shape)
        lines = (self.lines[:, None, :] + pivot[:, :, None] * self.slopes[:, None, :]).max(axis=2)
        value = lines + (1 - pivot) * wrong + self.t.bound[self.q] + (attention - pivot) * (slope - wrong)
        value[:, :, 0] = np.where(np.eye(len(pivot), dtype=bool), self.constant, np.nan)
        result: Floats = value
        return result

    def _attention(self, mass: Floats, lead: Floats) -> Floats:
        with np.errstate(over="ignore"):
            result: Floats = mass / (mass + (self.total - mass) * np.exp(-lead))
        return result


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """Sequences as the published count has them, the same with the count repaired, and the gaps that pass."""

    count: int
    repaired: int
    gaps: Gaps
    passes: npt.NDArray[np.bool_]


def published(
    problem: Problem, choice: Choice, progress: Callable[[int, int], None], repaired_search: bool = False
) -> Published:
    """The published search and check of one strategy; `repaired_search` lets the search see what the check sees."""
    w = Weights.of(problem)
    v, k = len(w.token), len(w.position)
    gaps: Gaps = np.ones((v, v, k), dtype=np.int64)
    evaluation = Evaluation(tables(w, choice, not repaired_search), choice)
    for g in range(v - 1, 0, -1):
        progress(v - 1 - g, v)
        gaps[evaluation.values(np.full_like(gaps, g), shared=False) < 0] = g
    evaluation = Evaluation(tables(w, choice, searching=False), choice)
    passes = evaluation.values(gaps, shared=True) < 0
    return Published(_count(passes, gaps, k, 0), _count(passes, gaps, k, 1), gaps, passes)


def _count(passes: npt.NDArray[np.bool_], gaps: Gaps, k: int, extra: int) -> int:
    total = 0
    for q, m, n in np.argwhere(passes):
        others = int(n) - int(q < m)
        if m > 0 or n == 0:
            total += comb(k - 1, others) * max(int(m) - int(gaps[q, m, n]) + extra, 0) ** others if others else 1
    return total
