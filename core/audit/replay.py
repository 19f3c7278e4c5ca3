"""Single inputs through the real-number function (enclosed by MPFR) and through a plain float32 program."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..exact import Ints
from ..model import Model
from ..problem import Problem
from ..task import Task
from ..weights import Enclosure, precision

DIGITS = (64, 160, 512)
Kind = Literal["right", "wrong", "undecided"]
Input = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The real-number answer: margin (right logit less the largest other) enclosed, and that other output."""

    kind: Kind
    low: Fraction
    high: Fraction
    rival: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """One input as the model reads it, with both answers. Logits: of the right token, and of the best other output."""

    tokens: tuple[int, ...]
    wanted: int
    real: Verdict
    rival: int  # the output that the real function prefers among the others, as the model numbers it
    exact_logits: tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
    float_kind: Kind
    float_logits: tuple[float, float]
    float_rival: int

    @property
    def disagree(self) -> bool:
        """Does the float32 program answer otherwise than the real function?"""
        return self.float_kind != self.real.kind


def real_verdicts(problem: Problem, items: Sequence[Input]) -> list[Verdict]:
    """The exact answer for each input; undecided only for ties, or nearer than 512 digits tell."""
    result: list[Verdict | None] = [None] * len(items)
    outputs = _Outputs.of(problem)
    for digits in DIGITS:
        order = sorted((q, i) for i, (q, _, _) in enumerate(items) if (r := result[i]) is None or r.kind == "undecided")
        for q, group in itertools.groupby(order, key=lambda pair: pair[0]):
            weights = next(problem.enclosures(precision(problem.circuits, digits), [q]))
            for _, i in group:
                result[i] = outputs.verdict(items[i], _weights(problem, items[i], *weights))
    return [verdict for verdict in result if verdict is not None]


Weights = list[tuple[int, int, int]]
"""(row of the token, lower and upper end of its weight) at each position; the query is last."""


def _weights(problem: Problem, item: Input, token: Enclosure, position: Enclosure) -> Weights:
    q, _, free = item
    rows = (*free, problem.task.own_row(q))
    ends = enumerate(rows)
    return [(t, token[0][t] * position[0][i], token[1][t] * position[1][i]) for i, t in ends]


@dataclass(frozen=True, slots=True, eq=False)
class _Outputs:
    """EU, EVOU and PVOU as arrays of integers, so that all outputs of an input are looked at together."""

    direct: Ints
    values: Ints
    positions: Ints
    unit: Fraction
    bar: int

    @classmethod
    def of(cls, problem: Problem) -> _Outputs:
        logits = problem.logits
        direct, values, positions = (
            np.array(part, dtype=object) for part in (logits.direct, logits.values, logits.positions)
        )
        return cls(direct, values, positions, Fraction(2) ** logits.exponent, logits.shift)

    def verdict(self, item: Input, weights: Weights) -> Verdict:
        """Margins to all other outputs: EU and a weighted mean of EVOU + PVOU, as numerators over one total weight."""
        q, m, _ = item
        if self.direct.shape[1] == 1:
            return Verdict("right", Fraction(0), Fraction(0), m)
        total = sum(high for _, _, high in weights)
        logits = self.values[[t for t, _, _ in weights]] + self.positions
        ends = _mean(weights, np.delete(logits[:, m : m + 1] - logits, m, axis=1), total)
        base = (self.direct[q, m] - np.delete(self.direct[q], m)) * total
        lows, highs = base + ends[0], base + ends[1]
        rival = int(lows.argmin())
        low, high = lows[rival], highs.min()
        kind: Kind = "right" if low > self.bar * total else "wrong" if high <= self.bar * total else "undecided"
        unit = self.unit / total
        return Verdict(kind, low * unit, high * unit, rival + (rival >= m))


def _mean(weights: Weights, values: Ints, total: int) -> tuple[Ints, Ints]:
    """Enclosures of the means of the columns of `values` (positions x outputs) under enclosed weights, times the sum
    of the upper ends: each end moves every weight to its worse side."""
    low = np.array([low for _, low, _ in weights], dtype=object)
    least, highest = values.min(axis=0), values.max(axis=0)
    # values relative to the least (largest) one have one sign, so the quotient is monotone in numerator and denominator
    return least * total + low @ (values - least), highest * total - low @ (highest - values)


def exact_logit(problem: Problem, item: Input, output: int, digits: int = 64) -> tuple[Fraction, Fraction]:
    """Enclosure of one logit, output numbered as in the task."""
    q = item[0]
    weights = _weights(problem, item, *next(problem.enclosures(precision(problem.circuits, digits), [q])))
    logits, unit = problem.logits, Fraction(2) ** problem.logits.exponent
    values = [[logits.values[t][output] + logits.positions[i][output]] for i, (t, _, _) in enumerate(weights)]
    total = sum(high for _, _, high in weights)
    low, high = (int(end[0]) for end in _mean(weights, np.array(values, dtype=object), total))
    base = logits.direct[q][output]
    return (base + Fraction(low, total)) * unit, (base + Fraction(high, total)) * unit


def raw_tokens(task: Task, item: Input) -> tuple[int, ...]:
    """The input as the model reads it, the end-of-sequence token included."""
    q, _, free = item
    rows = task.token_rows()
    return tuple(rows[t] for t in (*free, task.own_row(q)))


def replay(problem: Problem, items: Sequence[Input]) -> list[Replayed]:
    """Both answers for each input."""
    if not items:
        return []
    task = problem.task
    columns = task.output_columns(problem.model.d_vocab_out)
    tokens = [raw_tokens(task, item) for item in items]
    floats = float32_logits(problem.model, np.array(tokens))
    bar = float(problem.logits.shift * Fraction(2) ** problem.logits.exponent)
    result = []
    for item, raw, row, verdict in zip(items, tokens, floats, real_verdicts(problem, items), strict=True):
        wanted = columns[item[1]]
        others = row.copy()
        others[wanted] = -np.inf
        rival = int(others.argmax())
        kind: Kind = "right" if float(row[wanted]) - float(others[rival]) > bar else "wrong"
        exact = exact_logit(problem, item, item[1]), exact_logit(problem, item, verdict.rival)
        pair = float(row[wanted]), float(row[rival])
        result.append(Replayed(raw, wanted, verdict, columns[verdict.rival], exact, kind, pair, rival))
    return result


def float32_logits(model: Model, tokens: npt.NDArray[np.int64], order: int = 0) -> npt.NDArray[np.float32]:
    """The forward pass in float32 as one would write it in numpy, last position only.

    Another `order` permutes the coordinates of stream and head: the same function, summed in another order.
    """
    d, h, out = model.d_model, model.d_head, model.d_vocab_out
    generator = np.random.default_rng(order)
    stream, head = (generator.permutation(n) if order else np.arange(n) for n in (d, h))

    def weight(name: str, *shape: int) -> npt.NDArray[np.float32]:
        if not model.has(name):
            return np.zeros(shape, dtype=np.float32)
        flat, exponent = model.tensor(name).exact()
        doubles = np.array([float(n) * 2.0**exponent for n in flat])  # exact: a stored number fits a double
        return doubles.astype(np.float32).reshape(shape)

    attention = "blocks.0.attn."
    x = weight("embed.W_E", model.d_vocab, d)[tokens] + weight("pos_embed.W_pos", model.n_ctx, d)
    x = x[:, :, stream]
    q, k, v = (
        y @ weight(f"{attention}W_{name}", d, h)[stream][:, head] + weight(f"{attention}b_{name}", h)[head]
        for name, y in (("Q", x[:, -1]), ("K", x), ("V", x))
    )
    scores = np.einsum("nh,nph->np", q, k) / np.sqrt(np.float32(h))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    z = np.einsum("np,nph->nh", weights, v)
    after = z @ weight(attention + "W_O", h, d)[head][:, stream] + weight(attention + "b_O", d)[stream]
    logits: npt.NDArray[np.float32] = (x[:, -1] + after) @ weight("unembed.W_U", d, out)[stream]
    return logits + weight("unembed.b_U", out)
