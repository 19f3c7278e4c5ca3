"""Certificates for floating-point programs (docs/FORMAT.md, "Floating point").

If no logit of the program is further than eps from the true one, an input with a margin above r + 2 eps over the real
numbers has one above r in the program, and an input with a margin of at most r - 2 eps has not. So a claim about the
program is two counts over the real numbers, at shifted thresholds, and the bound eps, which is computed here by the
checker's formulas in code of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final, cast

import numpy as np

from .circuits import ATTENTION, tensor
from .errors import CompactProofsError
from .exact import Exact, Ints, rational
from .model import LAYOUT, Model
from .problem import Problem
from .proof import Builder, Json, Proof, Step, hexadecimal
from .semantics import STORED, Semantics
from .task import Task

GUARD_BITS: Final = 96  # of the grid beyond the finest weight; more change nothing visible
THRESHOLD_BITS: Final = 16  # significant bits of 2 eps in a threshold, rounded up

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FloatError:
    """Bounds over 2**bits: of a logit's error for each query, and of each stage.

    `scores`: the largest error of the logarithm of an attention weight, but for what all of a query share; `softmax`,
    `values`, `unembedding`: what errors of the weights, of the values, and of all that follows the average do to a
    logit. No magnitude exceeds 2**ceiling.
    """

    bits: int
    ceiling: int
    bound: tuple[int, ...]
    scores: int
    softmax: int
    values: int
    unembedding: int

    def number(self, n: int) -> Fraction:
        return Fraction(n, 1 << self.bits)

    @property
    def largest(self) -> Fraction:
        return self.number(max(self.bound))


def float_error(model: Model, task: Task, semantics: Semantics) -> FloatError:
    """How far a logit of the program can be from the true one.

    Errors: FLOAT_FORMAT when the weights do not fit the format, FLOAT_COARSE when it is too coarse for a bound, or
    magnitudes may overflow.
    """
    exponent_bits, fraction_bits = LAYOUT[STORED[semantics.format]]
    for t in model.tensors:
        if LAYOUT[t.dtype][0] > exponent_bits or LAYOUT[t.dtype][1] > fraction_bits:
            text = f"{t.dtype} may not fit into {semantics.format}; convert the weights, they are another model"
            raise CompactProofsError("FLOAT_FORMAT", text, model.source, t.name)
    ceiling = 2
    while True:
        analysis = _Analysis(model, task, semantics, ceiling)
        found = analysis.run()
        needed = max(analysis.peaks).bit_length() - analysis.bits + 1
        if needed <= ceiling:
            return found
        ceiling = needed


@dataclass(slots=True)
class _Analysis:
    """One pass; all arrays are numbers that are not negative, rounded up to the grid."""

    model: Model
    task: Task
    semantics: Semantics
    ceiling: int
    bits: int = 0
    zeta: int = 0
    peaks: list[int] = field(default_factory=list)

    def run(self) -> FloatError:
        model, n = self.model, self.model.n_ctx
        self._set_up()
        embed, place = tensor(model, "embed.W_E", model.d_model), tensor(model, "pos_embed.W_pos", model.d_model)
        token = Exact(embed.ints[self.task.token_rows()], embed.exponent)
        first, last = (0, self.task.tokens) if self.task.eos is None else (self.task.tokens, self.task.tokens + 1)
        query = Exact(token.ints[first:last], token.exponent) + Exact(place.ints[-1:], place.exponent)
        self._stored("embed.W_E", model.d_model)
        self._stored("pos_embed.W_pos", model.d_model)
        inputs, own = self._held(self._widest(token, place)), self._held(self._grid(query))
        w_q, b_q = self._tensor("W_Q", model.d_head), self._tensor("b_Q", model.d_head)
        truth = self._grid(query @ w_q + b_q)
        sides = []
        for name in ("K", "V"):
            w, b = self._tensor(f"W_{name}", model.d_head), self._tensor(f"b_{name}", model.d_head)
            true = self._widest(token @ w, place @ w + b).max(axis=0)
            sides.append((true, self._layer(inputs, name).max(axis=0)))
        scores = self._scores(truth, self._layer(own, "Q"), *sides[0])
        values, unembedding = self._after(own.max(axis=0), n, *sides[1])
        through = self._tensor("W_V", model.d_head) @ self._tensor("W_O", model.d_model)
        through = through @ tensor(model, "unembed.W_U", model.d_vocab_out)
        reach = sum(self._grid(_spread(part @ through))[0] for part in (token, place))
        moved = [_cut(min(_cut(int(s), 1), 1 << self.bits) * int(max(reach)), self.bits) for s in scores]
        bound = tuple(s + values + unembedding for s in moved)
        return FloatError(self.bits, self.ceiling, bound, max(scores), max(moved), values, unembedding)

    def _set_up(self) -> None:
        exponent_bits, fraction_bits = LAYOUT[STORED[self.semantics.format]]
        top = (1 << (exponent_bits - 1)) - 1
        finest = min(t.exact()[1] for t in self.model.tensors)
        self.bits = min(GUARD_BITS + max(-finest, 0), 8192)
        terms = max(self.model.d_model, self.model.d_head, self.model.n_ctx) + 2
        least = 1 - top - (fraction_bits if self.semantics.underflow == "gradual" else 0)
        shift = least + self.ceiling + self.bits
        zeta = 8 * terms * self.semantics.exp_ulp
        self.zeta = zeta << shift if shift >= 0 else _cut(zeta, -shift)
        self.peaks = [2 * self.model.n_ctx << self.bits]
        roundings = max(2 * terms + 1, 2 * self.semantics.exp_ulp)
        if 4 * roundings > 2 << fraction_bits or 16 * self.zeta > 1 << self.bits or not self.ceiling < top:
            text = f"{self.semantics.format} is too coarse, or too small, for {terms} terms of size 2^{self.ceiling}"
            text += "; try --underflow gradual, or --semantics float32, which holds these weights exactly, or real"
            raise CompactProofsError("FLOAT_COARSE", text, self.model.source)

    def _tensor(self, name: str, width: int) -> Exact:
        return tensor(self.model, ATTENTION + name, width)

    def _stored(self, name: str, width: int) -> Ints:
        """Absolute values of a tensor."""
        result = self._grid(tensor(self.model, name, width))
        self.peaks.append(int(result.max()))
        return result

    def _grid(self, x: Exact) -> Ints:
        shift, size = x.exponent + self.bits, cast(Ints, np.abs(x.ints))
        return cast(Ints, size << shift if shift >= 0 else -(-size >> -shift))

    def _widest(self, token: Exact, place: Exact) -> Ints:
        """Per token and column the largest |token + place|."""
        low = min(token.exponent, place.exponent)
        a, b = token.at(low), place.at(low)
        return self._grid(Exact(np.maximum(a + b.max(axis=0), -a - b.min(axis=0)), low))

    def _held(self, size: Ints) -> Ints:
        """Magnitudes after one more rounding."""
        self.peaks.append(int(size.max()))
        return cast(Ints, size - (-size >> self._precision) + self.zeta)

    @property
    def _precision(self) -> int:
        return LAYOUT[STORED[self.semantics.format]][1] + 1

    def _gamma(self, steps: int) -> int:
        return -((-steps << self.bits) // ((1 << self._precision) - steps))

    def _times(self, a: Ints, b: Ints) -> Ints:
        """The matrix product, rounded up."""
        return cast(Ints, -(-(a @ b) >> self.bits))

    def _scaled(self, factor: int, a: Ints) -> Ints:
        return cast(Ints, -(-(a * factor) >> self.bits))

    def _linear(self, size: Ints, weight: Ints, bias: Ints) -> Ints:
        """Magnitudes of all partial sums of x W + b."""
        result = cast(Ints, self._times(size, weight) + bias)
        self.peaks.append(int(result.max()))
        return result

    def _layer(self, size: Ints, name: str) -> Ints:
        """Errors of x W + b where x is off by at most u |x| + zeta."""
        head = self.model.d_head
        weight, bias = self._stored(f"{ATTENTION}W_{name}", head), self._stored(f"{ATTENTION}b_{name}", head)
        rest = self._times(np.full((1, len(weight)), self.zeta, dtype=object), weight)
        rounded = self._scaled(self._gamma(len(weight) + 3), self._linear(size, weight, bias))
        return cast(Ints, rounded + rest + self.zeta)

    def _scores(self, query: Ints, off: Ints, key: Ints, key_off: Ints) -> list[int]:
        """Per query, how far the logarithm of an attention weight can be off."""
        root = math.isqrt(self.model.d_head << 2 * self.bits)
        near = key + key_off
        slope = key_off + self._scaled(self._gamma(len(key) + 2), near)
        size = self._times(query + off, near)
        error = self._times(query + off, slope) + self._times(off, key) + self.zeta
        error = error + self._scaled(self._gamma(4), size + error)
        scaled = -((-error << self.bits) // root) + self.zeta
        distance = 2 * (-((-size << self.bits) // root) + scaled)
        self.peaks += [int(size.max()), int(distance.max())]
        total = scaled - (-distance >> self._precision) + self.zeta + self._gamma(2 * self.semantics.exp_ulp)
        return [int(x) for x in total]

    def _after(self, own: Ints, n: int, value: Ints, value_off: Ints) -> tuple[int, int]:
        """What errors of the values, and of all that follows the average, can add to a logit."""
        model = self.model
        w_o, w_u = self._tensor("W_O", model.d_model), tensor(model, "unembed.W_U", model.d_vocab_out)
        size_o, size_u = self._stored(ATTENTION + "W_O", model.d_model), self._stored("unembed.W_U", model.d_vocab_out)
        bias_o, bias_u = self._stored(ATTENTION + "b_O", model.d_model), self._stored("unembed.b_U", model.d_vocab_out)
        error = value_off + self._scaled(self._gamma(2 * n + 5) + 14 * n * self.zeta, value + value_off) + self.zeta
        average = value + error
        self.peaks.append(2 * int(average.max()))
        out = self._linear(average, size_o, bias_o)[0]
        out_off = self._scaled(self._gamma(len(size_o) + 2), out) + self.zeta
        stream = own + out + out_off
        held = self._held(stream)
        stream_off = out_off + 2 * (held - stream)
        logits = self._scaled(self._gamma(len(size_u) + 2), self._linear(held, size_u, bias_u)[0])
        last = self._times(stream_off, size_u) + logits
        return int(self._times(error, self._grid(w_o @ w_u)).max()), int(last.max()) + self.zeta


def _cut(n: int, bits: int) -> int:
    """n / 2**bits, rounded up."""
    return -(-n >> bits)


def _spread(x: Exact) -> Exact:
    """Largest less smallest entry of each column."""
    return Exact((x.ints.max(axis=0) - x.ints.min(axis=0))[None, :], x.exponent)


def shifted(threshold: tuple[int, int], change: Fraction) -> tuple[int, int]:
    """threshold + change, as an odd number times a power of two."""
    value = rational(*threshold) + change
    if value == 0:
        return 0, 0
    twos = (value.numerator & -value.numerator).bit_length() - 1
    return value.numerator >> twos, twos - (value.denominator.bit_length() - 1)


def gap(errors: FloatError) -> Fraction:
    """A short dyadic number of at least 2 eps."""
    n = 2 * max(errors.bound)
    drop = max(n.bit_length() - THRESHOLD_BITS, 0)
    return errors.number(_cut(n, drop) << drop)


def find_float(problem: Problem, find: Callable[[Problem, Progress], Proof], progress: Progress) -> Proof:
    """A proof about the program of `problem.semantics`, from two proofs about the real numbers."""
    if problem.semantics is None:
        return find(problem, progress)
    errors = float_error(problem.model, problem.task, problem.semantics)
    far = gap(errors)
    real = replace(problem, semantics=None)
    above = find(replace(real, threshold=shifted(problem.threshold, far)), progress)
    builder = Builder()
    wrong, upper, undecided = None, problem.task.total, above.undecided
    if above.upper < problem.task.total:  # the strategy proves inputs wrong, too
        below = find(replace(real, threshold=shifted(problem.threshold, -far)), progress)
        first, second = _of_one_region(above.steps, below.steps)
        right, wrong = _append(builder, first), _append(builder, second)
        upper, undecided = below.upper, below.upper - above.lower
    else:
        right = _append(builder, above.steps)
    circuits = Builder()
    values, positions = circuits.exact_circuit("EVOU"), circuits.exact_circuit("PVOU")
    numbers = builder.append(circuits.steps)
    spelled: Json = {
        "format": problem.semantics.format,
        "exp_ulp": problem.semantics.exp_ulp,
        "underflow": problem.semantics.underflow,
    }
    number = builder.add(
        "float_error",
        semantics=spelled,
        values=numbers[values],
        positions=numbers[positions],
        bits=errors.bits,
        ceiling=errors.ceiling,
    )
    count = builder.add(
        "float_count",
        errors=number,
        right=right,
        wrong=wrong,
        margin_above=hexadecimal(problem.threshold[0]),
        exponent=problem.threshold[1],
    )
    builder.add("conclude", of=count)
    return Proof(above.strategy, tuple(builder.steps), above.lower, upper, undecided)


def estimate_float(problem: Problem, estimate: Callable[[Problem], int]) -> int:
    """An estimate for the program, from one at the threshold that rounding errors ask for."""
    if problem.semantics is None:
        return estimate(problem)
    far = gap(float_error(problem.model, problem.task, problem.semantics))
    return estimate(replace(problem, semantics=None, threshold=shifted(problem.threshold, far)))


def _of_one_region(*proofs: tuple[Step, ...]) -> list[tuple[Step, ...]]:
    """The proofs with the same maxima in their convolutions: one without items says nothing, and changes no count."""
    spoken = {_number(entry["m"]) for steps in proofs for step in steps for entry in _maxima(step)}

    def widened(step: Step) -> Step:
        if step["rule"] != "margin_convolution":
            return step
        items = {_number(entry["m"]): entry for entry in _maxima(step)}
        maxima: list[Json] = [items.get(m, {"m": m, "items": []}) for m in sorted(spoken)]
        return {**step, "maxima": maxima}

    return [tuple(map(widened, steps)) for steps in proofs]


def _maxima(step: Step) -> list[dict[str, Json]]:
    return cast(list[dict[str, Json]], step["maxima"]) if step["rule"] == "margin_convolution" else []


def _number(value: Json) -> int:
    return cast(int, value)


def _append(builder: Builder, steps: tuple[Step, ...]) -> int:
    """Add the steps of a proof but its conclusion, which is about the real numbers; the number of what it concludes."""
    *before, conclusion = steps
    return builder.append(before)[cast(int, conclusion["of"])]
