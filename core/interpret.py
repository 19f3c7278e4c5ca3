"""What a trained model looks like inside: the scalar statistics of the paper's section 3 and appendix B.

Averaged forms throughout (the mean position is moved from EQKP into EQKE and from PVOU into EVOU). Means of entries
are taken over exact integers and rounded once; whether a token is copied is decided exactly; singular values,
singular vectors and the scale 1/sqrt(d_head) are doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from .exact import Exact, Floats, Ints, to_floats
from .problem import Problem


@dataclass(frozen=True, slots=True)
class Averaged:
    """The five circuits in averaged form, exactly: integers over a power of two and over the length k."""

    eqke: Exact
    eqkp: Exact
    evou: Exact
    pvou: Exact
    eu: Exact
    length: int
    d_head: int

    def floats(self, name: str) -> Floats:
        """A circuit in doubles, unscaled."""
        circuits = {"EQKE": self.eqke, "EQKP": self.eqkp, "EVOU": self.evou, "PVOU": self.pvou}
        return self.eu.floats() if name == "EU" else circuits[name].floats() / self.length


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Singular values of averaged unscaled EQKE, and its first singular vectors.

    The query vector (over queries) has a positive mean; the key vector (over tokens) follows its sign.
    """

    values: Floats
    query: Floats
    key: Floats

    @property
    def ratio(self) -> float:
        """First singular value over the second; infinite for rank one."""
        if len(self.values) < 2 or self.values[1] == 0:
            return float("inf")
        return float(self.values[0] / self.values[1])


@dataclass(frozen=True, slots=True)
class Statistics:
    """Scalars of one model (paper, sections 3.1 and B.2); attention sizes are scaled by 1/sqrt(d_head).

    sigma_1, sigma_2, ratio: of the singular values of EQKE. query_entry: mean and standard deviation over the entries
    of the query-side vector. key_increases: share of neighbouring tokens between which the key-side vector grows.
    slope: attention increase per token, over all pairs; step: the same between neighbours. The sizes are means of
    absolute entries; of EQKP and EU also the largest, and of EU the mean range of a row. copy_fails: the largest token
    whose row of EVOU has an off-diagonal entry at or above the diagonal (-1: none); copy_failures: how many there are.
    """

    sigma_1: float
    sigma_2: float
    ratio: float
    query_entry_mean: float
    query_entry_std: float
    key_increases: float
    slope: float
    step: float
    eqkp_size: float
    eqkp_largest: float
    pvou_size: float
    eu_size: float
    eu_largest: float
    eu_row_range: float
    evou_diagonal: float
    evou_off_diagonal: float
    evou_difference: float
    copy_fails: int
    copy_failures: int


def averaged(problem: Problem) -> Averaged:
    """Averaged circuits of a model."""
    c = problem.circuits
    length = c.pvou.ints.shape[0]
    return Averaged(
        eqke=_shifted(c.eqke, c.eqkp.ints.sum(axis=1)[:, None], c.eqkp.exponent, length),
        eqkp=Exact(c.eqkp.ints * length - c.eqkp.ints.sum(axis=1)[:, None], c.eqkp.exponent),
        evou=_shifted(c.evou, c.pvou.ints.sum(axis=0)[None], c.pvou.exponent, length),
        pvou=Exact(c.pvou.ints * length - c.pvou.ints.sum(axis=0)[None], c.pvou.exponent),
        eu=c.eu,
        length=length,
        d_head=c.d_head,
    )


def _shifted(token: Exact, total: Ints, exponent: int, length: int) -> Exact:
    """length * token + total, broadcast."""
    low = min(token.exponent, exponent)
    return Exact(token.at(low) * length + (total << (exponent - low)), low)


def spectrum(form: Averaged) -> Spectrum:
    """Singular value decomposition of averaged EQKE."""
    left, values, right = np.linalg.svd(form.floats("EQKE"))
    query, key = left[:, 0], right[0]
    sign = 1.0 if query.mean() >= 0 else -1.0
    return Spectrum(values, sign * query, sign * key)


def statistics(problem: Problem) -> Statistics:
    """All scalar statistics of a model of the plain task (no end-of-sequence token)."""
    form = averaged(problem)
    spec = spectrum(form)
    root = sqrt(form.d_head)
    fails, eu = copy_failures(form), form.eu.floats()
    diagonal, off_diagonal, difference = _copying_sizes(form)
    return Statistics(
        sigma_1=float(spec.values[0]),
        sigma_2=float(spec.values[1]) if len(spec.values) > 1 else 0.0,
        ratio=spec.ratio,
        query_entry_mean=float(spec.query.mean()),
        query_entry_std=float(spec.query.std()),
        key_increases=float((np.diff(spec.key) > 0).mean()),
        slope=attention_slope(form),
        step=float(np.diff(form.floats("EQKE"), axis=1).mean()) / root,
        eqkp_size=_mean_size(form.eqkp) / form.length / root,
        eqkp_largest=float(np.abs(form.floats("EQKP")).max()) / root,
        pvou_size=_mean_size(form.pvou) / form.length,
        eu_size=_mean_size(form.eu),
        eu_largest=float(np.abs(eu).max()),
        eu_row_range=float((eu.max(axis=1) - eu.min(axis=1)).mean()),
        evou_diagonal=diagonal,
        evou_off_diagonal=off_diagonal,
        evou_difference=difference,
        copy_fails=max(fails, default=-1),
        copy_failures=len(fails),
    )


def _mean_size(matrix: Exact) -> float:
    """Mean absolute entry, summed exactly."""
    total = np.array([[sum(abs(int(n)) for n in matrix.ints.ravel())]], dtype=object)
    return float(to_floats(total, matrix.exponent)[0, 0]) / matrix.ints.size


def attention_slope(form: Averaged) -> float:
    """Mean over queries and ordered pairs i != j of (EQKE[q, i] - EQKE[q, j]) / (sqrt(d_head) (i - j))."""
    rows = form.floats("EQKE")
    tokens = rows.shape[1]
    steps = np.subtract.outer(np.arange(tokens), np.arange(tokens)).astype(np.float64)
    np.fill_diagonal(steps, np.inf)
    # each entry is used with the weight sum_j 2 / (i - j), because the pair (j, i) repeats the pair (i, j)
    weights = 2 * (1 / steps).sum(axis=1)
    return float((rows @ weights).mean() / (tokens * (tokens - 1)) / sqrt(form.d_head))


def copy_failures(form: Averaged) -> list[int]:
    """Tokens t with an output o != t such that EVOU[t, o] >= EVOU[t, t], decided exactly."""
    fails = []
    for t in range(min(form.evou.ints.shape)):
        row = [int(n) for n in form.evou.ints[t]]
        if any(n >= row[t] for o, n in enumerate(row) if o != t):
            fails.append(t)
    return fails


def _copying_sizes(form: Averaged) -> tuple[float, float, float]:
    """Mean diagonal and off-diagonal entry of EVOU, and the mean of EVOU[t, t] - EVOU[t, o] over o != t."""
    rows = form.floats("EVOU")
    tokens = min(rows.shape)
    square = rows[:tokens]
    diagonal = np.diagonal(square)[:tokens]
    off = (square.sum() - diagonal.sum()) / max(square.size - tokens, 1)
    return float(diagonal.mean()), float(off), float(diagonal.mean() - off)


def diagonal_lead(form: Averaged) -> Floats:
    """max over o != t of EVOU[t, o] - EVOU[t, t] for each token t; negative where the model copies."""
    rows = form.floats("EVOU")
    tokens = min(rows.shape)
    differences = rows[:tokens] - np.diagonal(rows)[:tokens, None]
    differences[np.arange(tokens), np.arange(tokens)] = -np.inf
    lead: npt.NDArray[np.float64] = differences.max(axis=1)
    return lead
