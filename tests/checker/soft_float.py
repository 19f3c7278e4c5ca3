"""A floating-point machine in fractions that picks what suits it least: for tiny models, exhaustively.

It follows the assumptions of FORMAT.md, "Floating point", and is free wherever they leave a choice: the order of a dot
product and whether it is fused or summed in a wider format, division or multiplication with a reciprocal, the error
of exp, flushing to zero. `direction` says which way errors should go; a run with many different ones comes near to the
worst case that these choices allow.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
from oracle import numbers

ATTENTION = "blocks.0.attn."
PARAMETERS = {"binary16": (11, -14), "bfloat16": (8, -126), "binary32": (24, -126), "binary64": (53, -1022)}
Row = list[Fraction]


def two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def magnitude(x: Fraction) -> int:
    """floor(log2 |x|), x not zero."""
    n, d = abs(x.numerator), x.denominator
    guess = n.bit_length() - d.bit_length()
    return guess if Fraction(n, d) >= two(guess) else guess - 1


@dataclass
class Machine:
    """One evaluation: a format, assumptions, and a source of choices."""

    format: str
    exp_ulp: int
    underflow: str
    rng: random.Random
    greedy: bool = True

    def __post_init__(self) -> None:
        self.precision, self.emin = PARAMETERS[self.format]
        self.flushes = self.underflow == "flush" and self.rng.random() < 0.5

    def ulp(self, x: Fraction) -> Fraction:
        return two(max(magnitude(x), self.emin) - self.precision + 1) if x else two(self.emin - self.precision + 1)

    def round(self, x: Fraction, more: int = 0) -> Fraction:
        """To nearest, ties to even; `more` significant bits for a wider format."""
        if x == 0:
            return x
        if self.flushes and not more and abs(x) < two(self.emin):
            return Fraction(0)
        quantum = self.ulp(x) / (1 << more)
        return round(x / quantum) * quantum

    def read(self, x: Fraction) -> Fraction:
        """An operand: a flushing machine reads a subnormal number as zero."""
        return Fraction(0) if self.flushes and abs(x) < two(self.emin) else x

    def pick(self, exact: Fraction, options: Sequence[Fraction]) -> Fraction:
        """One of several possible results: the furthest in a random direction, or any."""
        if not self.greedy:
            return self.rng.choice(options)
        sign = self.rng.choice((-1, 1))
        return max(options, key=lambda x: (sign * (x - exact), x))

    def dot(self, a: Sequence[Fraction], b: Sequence[Fraction], bias: Fraction | None = None) -> Fraction:
        a, b = [self.read(x) for x in a], [self.read(x) for x in b]
        terms = list(zip(a, b, strict=True))
        start = Fraction(0) if bias is None else self.read(bias)
        exact = sum((x * y for x, y in terms), start)
        orders = (
            list(itertools.permutations(terms))
            if len(terms) <= 3
            else [self.rng.sample(terms, len(terms)) for _ in range(12)]
        )
        options = []
        for order in orders:
            for fused in (False, True):
                for more in (0, self.rng.choice((0, 1, 3))):
                    options += [self._sum(order, start, fused, more, last) for last in (False, True)]
        return self.pick(exact, options)

    def _sum(self, terms: Sequence[Any], start: Fraction, fused: bool, more: int, last: bool) -> Fraction:
        """One after the other, the bias first or last."""
        total = Fraction(0) if last else start
        for x, y in terms:
            total = self.round(total + (x * y if fused else self.round(x * y, more)), more)
        return self.round(self.round(total + start, more) if last else total)

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        return self.round(self.read(a) + self.read(b))

    def exp(self, x: Fraction) -> Fraction:
        """Representable, within exp_ulp units in the last place of exp(x), and not negative."""
        with mpmath.workdps(60):
            value = mpmath.exp(mpmath.mpf(self.read(x).numerator) / x.denominator)
            exact = Fraction(int(mpmath.floor(value * mpmath.mpf(2) ** 400)), 1 << 400)
        if exact < two(self.emin):
            tiny = self.ulp(Fraction(0)) if self.underflow == "gradual" else two(self.emin)
            low, high = exact - self.exp_ulp * tiny, exact + self.exp_ulp * tiny
        else:
            low, high = exact - self.exp_ulp * self.ulp(exact), exact + self.exp_ulp * self.ulp(exact)
        quantum = self.ulp(exact)
        options = [-(-low // quantum) * quantum, high // quantum * quantum, round(exact / quantum) * quantum]
        return self.pick(exact, [max(option, Fraction(0)) for option in options])

    def divide(self, a: Fraction, b: Fraction) -> Fraction:
        a = self.read(a)
        return self.pick(a / b, [self.round(a / b), self.round(a * self.round(1 / b))])

    def softmax(self, scores: Row) -> Row:
        top = max(scores)
        powers = [self.exp(self.add(s, -top)) for s in scores]
        total = self.dot(powers, [Fraction(1)] * len(powers))
        return [self.divide(power, total) for power in powers]


class Program:
    """The model, tensors as fractions; `logits` runs it on a machine, `truth` over the real numbers."""

    def __init__(self, model: Any) -> None:
        self.tensors = {t.name: t for t in model.tensors}
        self.rows = {name: self._rows(name) for name in self.tensors}

    def _rows(self, name: str) -> list[Row]:
        tensor = self.tensors[name]
        flat, width = numbers(tensor.dtype, tensor.data), tensor.shape[-1]
        return [flat[i : i + width] for i in range(0, len(flat), width)]

    def _bias(self, name: str) -> Row | None:
        return self.rows[name][0] if name in self.rows else None

    def _apply(self, machine: Machine, x: Row, weight: str, bias: str) -> Row:
        given = self._bias(bias)
        columns = list(zip(*self.rows[weight], strict=True))
        return [machine.dot(x, column, None if given is None else given[i]) for i, column in enumerate(columns)]

    def logits(self, machine: Machine, tokens: Sequence[int]) -> Row:
        embed, place = self.rows["embed.W_E"], self.rows["pos_embed.W_pos"]
        xs = [[machine.add(a, b) for a, b in zip(embed[t], place[i], strict=True)] for i, t in enumerate(tokens)]
        query = self._apply(machine, xs[-1], ATTENTION + "W_Q", ATTENTION + "b_Q")
        keys = [self._apply(machine, x, ATTENTION + "W_K", ATTENTION + "b_K") for x in xs]
        values = [self._apply(machine, x, ATTENTION + "W_V", ATTENTION + "b_V") for x in xs]
        root = machine.round(_root(len(query)))
        scores = [machine.divide(machine.dot(query, key), root) for key in keys]
        weights = machine.softmax(scores)
        average = [machine.dot(weights, column) for column in zip(*values, strict=True)]
        out = self._apply(machine, average, ATTENTION + "W_O", ATTENTION + "b_O")
        stream = [machine.add(a, b) for a, b in zip(xs[-1], out, strict=True)]
        return self._apply(machine, stream, "unembed.W_U", "unembed.b_U")

    def truth(self, tokens: Sequence[int]) -> Row:
        """The logits over the real numbers, to some 60 digits."""
        exact = _Exact()
        embed, place = self.rows["embed.W_E"], self.rows["pos_embed.W_pos"]
        xs = [[a + b for a, b in zip(embed[t], place[i], strict=True)] for i, t in enumerate(tokens)]

        def apply(x: Row, weight: str, bias: str) -> Row:
            return self._apply(exact, x, weight, bias)

        query = apply(xs[-1], ATTENTION + "W_Q", ATTENTION + "b_Q")
        keys = [apply(x, ATTENTION + "W_K", ATTENTION + "b_K") for x in xs]
        values = [apply(x, ATTENTION + "W_V", ATTENTION + "b_V") for x in xs]
        scores = [exact.dot(query, key) for key in keys]
        top = max(scores)
        powers = [_power((score - top) / _root(len(query))) for score in scores]
        weights = [power / sum(powers) for power in powers]
        average = [exact.dot(weights, column) for column in zip(*values, strict=True)]
        out = apply(average, ATTENTION + "W_O", ATTENTION + "b_O")
        return apply([a + b for a, b in zip(xs[-1], out, strict=True)], "unembed.W_U", "unembed.b_U")


class _Exact(Machine):
    """No rounding."""

    def __init__(self) -> None:
        pass

    def dot(self, a: Sequence[Fraction], b: Sequence[Fraction], bias: Fraction | None = None) -> Fraction:
        return sum((x * y for x, y in zip(a, b, strict=True)), bias or Fraction(0))


def _root(n: int) -> Fraction:
    with mpmath.workdps(70):
        return Fraction(int(mpmath.sqrt(n) * mpmath.mpf(2) ** 220), 1 << 220)


def _power(x: Fraction) -> Fraction:
    with mpmath.workdps(70):
        return Fraction(int(mpmath.exp(mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** 220), 1 << 220)


def runs(format: str, exp_ulp: int, underflow: str, seed: int, count: int) -> list[Callable[[], Machine]]:
    """Makers of machines: half of them greedy."""
    return [
        lambda i=i: Machine(format, exp_ulp, underflow, random.Random(seed * 1000 + i), greedy=i % 2 == 0)  # type: ignore[misc]
        for i in range(count)
    ]
