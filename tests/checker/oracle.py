"""The truth about a tiny model: every sequence by its forward pass, without rounding.

Written from the definition of the architecture alone: no circuit, no class, no renumbering of tokens, no code of the
certifier or the checker. Weights are fractions. The sign of a sum of exponentials with rational coefficients is exact:
terms with the same exponent are joined; if all coefficients vanish the sum is zero, else it is not, because
exponentials of distinct algebraic numbers are linearly independent over the rationals (Lindemann and Weierstrass),
and precision is raised until the sign shows.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath

ATTENTION = "blocks.0.attn."
Row = list[Fraction]
Rows = list[Row]


def numbers(dtype: str, data: bytes) -> list[Fraction]:
    """Stored numbers exactly, by the machine's own floating point."""
    if dtype == "BF16":
        words = struct.unpack(f"<{len(data) // 2}H", data)
        return [Fraction(struct.unpack("<f", struct.pack("<I", word << 16))[0]) for word in words]
    letter, size = {"F64": ("d", 8), "F32": ("f", 4), "F16": ("e", 2)}[dtype]
    return [Fraction(x) for x in struct.unpack(f"<{len(data) // size}{letter}", data)]


def _times(row: Row, matrix: Rows) -> Row:
    return [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in zip(*matrix, strict=True)]


def _plus(*rows: Row) -> Row:
    return [sum(entries, Fraction(0)) for entries in zip(*rows, strict=True)]


class Oracle:
    """All sequences of a task. `model` needs `tensors` with name, dtype, shape and data; `task` the claim's fields."""

    def __init__(self, model: Any, task: Any, threshold: tuple[int, int] = (0, 0)) -> None:
        self.tensors = {tensor.name: tensor for tensor in model.tensors}
        self.task = task
        self.threshold = Fraction(threshold[0]) * Fraction(2) ** threshold[1]
        embed, positions = self._rows("embed.W_E"), self._rows("pos_embed.W_pos")
        self.context, self.vocab = len(positions), len(embed)
        self.unembed = self._rows("unembed.W_U")
        self.outputs, self.d_head = len(self.unembed[0]), len(self._rows(ATTENTION + "W_Q")[0])
        self.stream = {(t, i): _plus(embed[t], positions[i]) for t in range(self.vocab) for i in range(self.context)}
        b_k, b_v = self._bias(ATTENTION + "b_K", self.d_head), self._bias(ATTENTION + "b_V", self.d_head)
        w_k, w_v, w_o = (self._rows(ATTENTION + name) for name in ("W_K", "W_V", "W_O"))
        self.key = {place: _plus(_times(x, w_k), b_k) for place, x in self.stream.items()}
        self.value = {
            place: _times(_times(_plus(_times(x, w_v), b_v), w_o), self.unembed) for place, x in self.stream.items()
        }
        self._queries: dict[int, tuple[dict[tuple[int, int], Fraction], Row]] = {}

    def _rows(self, name: str) -> Rows:
        tensor = self.tensors[name]
        flat, width = numbers(tensor.dtype, tensor.data), tensor.shape[-1]
        return [flat[i : i + width] for i in range(0, len(flat), width)]

    def _bias(self, name: str, width: int) -> Row:
        return self._rows(name)[0] if name in self.tensors else [Fraction(0)] * width

    def _query(self, token: int) -> tuple[dict[tuple[int, int], Fraction], Row]:
        """Scores (before the division by the root) of every token at every position, and the logits but attention."""
        if token not in self._queries:
            width = len(self.unembed)
            own = self.stream[token, self.context - 1]
            query = _plus(_times(own, self._rows(ATTENTION + "W_Q")), self._bias(ATTENTION + "b_Q", self.d_head))
            scores = {
                place: sum((a * b for a, b in zip(query, key, strict=True)), Fraction(0))
                for place, key in self.key.items()
            }
            direct = _times(_plus(own, self._bias(ATTENTION + "b_O", width)), self.unembed)
            self._queries[token] = scores, _plus(direct, self._bias("unembed.b_U", self.outputs))
        return self._queries[token]

    def terms(self, tokens: tuple[int, ...], o: int, right: int) -> dict[Fraction, Fraction]:
        """Exponent -> coefficient of a sum with the sign of logit(o) - logit(right) + threshold."""
        scores, direct = self._query(tokens[-1])
        result: dict[Fraction, Fraction] = {}
        for i, t in enumerate(tokens):
            value = self.value[t, i]
            part = direct[o] - direct[right] + value[o] - value[right] + self.threshold
            result[scores[t, i]] = result.get(scores[t, i], Fraction(0)) + part
        return {exponent: part for exponent, part in result.items() if part}

    def sign(self, terms: dict[Fraction, Fraction]) -> int:
        """Sign of sum part * exp(exponent / sqrt(d_head)), exactly."""
        if not terms:
            return 0
        top = max(terms)
        digits = 40
        while True:
            with mpmath.workdps(digits):
                root = mpmath.sqrt(self.d_head)
                parts = [_mpf(part) * mpmath.exp(_mpf(exponent - top) / root) for exponent, part in terms.items()]
                total, size = mpmath.fsum(parts), mpmath.fsum(parts, absolute=True)
                # each term is right to a few units of the last digit, times the size of its exponent
                spread = 1 + max(abs(_mpf(exponent - top)) for exponent in terms)
                if abs(total) > size * spread * mpmath.mpf(10) ** (8 - digits):
                    return 1 if total > 0 else -1
            digits *= 2
            if digits > 100_000:
                raise ArithmeticError("the sum is not zero but nearer to it than 10^-100000")

    def sequences(self) -> Iterator[tuple[int, ...]]:
        """The sequences of the task, the query last."""
        tail = () if self.task.eos is None else (self.task.eos,)
        for tokens in itertools.product(range(self.task.tokens), repeat=self.task.length):
            yield tokens + tail

    def right(self, tokens: tuple[int, ...]) -> bool:
        """Is the margin above the threshold?"""
        label = self.label(tokens)
        return all(self.sign(self.terms(tokens, o, label)) < 0 for o in range(self.outputs) if o != label)

    def label(self, tokens: tuple[int, ...]) -> int:
        """The right token."""
        inputs = tokens[: self.task.length]
        return max(inputs) if self.task.kind == "max" else min(inputs)

    def logits(self, tokens: tuple[int, ...]) -> list[Any]:
        """To the precision of mpmath."""
        scores, direct = self._query(tokens[-1])
        root, top = mpmath.sqrt(self.d_head), max(scores[t, i] for i, t in enumerate(tokens))
        weight = [mpmath.exp(_mpf(scores[t, i] - top) / root) for i, t in enumerate(tokens)]
        logits = []
        for o in range(self.outputs):
            mean = mpmath.fsum(
                w * _mpf(self.value[t, i][o]) for i, (t, w) in enumerate(zip(tokens, weight, strict=True))
            )
            logits.append(_mpf(direct[o]) + mean / mpmath.fsum(weight))
        return logits

    def loss(self, tokens: tuple[int, ...]) -> Any:
        """-log softmax of the right token."""
        logits = self.logits(tokens)
        return mpmath.log(mpmath.fsum(mpmath.exp(y - logits[self.label(tokens)]) for y in logits))

    def margin(self, tokens: tuple[int, ...]) -> Any:
        """The right logit less the largest other one, of which there must be one."""
        logits, right = self.logits(tokens), self.label(tokens)
        return logits[right] - max(logit for o, logit in enumerate(logits) if o != right)

    def all(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Every sequence with its verdict."""
        return ((tokens, self.right(tokens)) for tokens in self.sequences())

    def count(self) -> int:
        """How many sequences are right."""
        return sum(verdict for _, verdict in self.all())

    def ties(self) -> int:
        """Sequences that are wrong, but without any output above the right one."""
        count = 0
        for tokens in self.sequences():
            label = self.label(tokens)
            signs = [self.sign(self.terms(tokens, o, label)) for o in range(self.outputs) if o != label]
            count += max(signs, default=-1) == 0
        return count


def _mpf(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator
