"""FORMAT.md, sections 2 to 4: the weights, the claim, the classes of inputs."""

from __future__ import annotations

import base64
import binascii
import hashlib
import itertools
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import gcd, prod
from typing import Any

from flint import fmpz

from second_checker.document import (
    Malformed,
    anything,
    demand,
    integer,
    number,
    one_of,
    optional,
    record,
    require,
    sequence,
    text,
)
from second_checker.exact import Matrix, matrix, zero

ATTENTION = "blocks.0.attn."
SHAPES = {
    "embed.W_E": ("d_vocab", "d_model"),
    "pos_embed.W_pos": ("n_ctx", "d_model"),
    ATTENTION + "W_Q": ("1", "d_model", "d_head"),
    ATTENTION + "W_K": ("1", "d_model", "d_head"),
    ATTENTION + "W_V": ("1", "d_model", "d_head"),
    ATTENTION + "W_O": ("1", "d_head", "d_model"),
    "unembed.W_U": ("d_model", "d_vocab_out"),
    ATTENTION + "b_Q": ("1", "d_head"),
    ATTENTION + "b_K": ("1", "d_head"),
    ATTENTION + "b_V": ("1", "d_head"),
    ATTENTION + "b_O": ("d_model",),
    "unembed.b_U": ("d_vocab_out",),
}
# bytes, bits of the fraction, bits of the exponent
LAYOUT = {"F64": (8, 52, 11), "F32": (4, 23, 8), "F16": (2, 10, 5), "BF16": (2, 7, 8)}
FORMATS = {  # p, e, e'
    "binary16": (11, -14, 15),
    "binary32": (24, -126, 127),
    "bfloat16": (8, -126, 127),
    "binary64": (53, -1022, 1023),
}
Class = tuple[int, int]  # query, maximum
Tokens = tuple[int, ...]


def decoded(data: bytes, dtype: str) -> tuple[list[fmpz], int]:
    """The stored numbers over one power of two, from their bits."""
    size, fraction, width = LAYOUT[dtype]
    bias = (1 << width - 1) - 1
    numbers: list[tuple[int, int]] = []
    for i in range(0, len(data), size):
        word = int.from_bytes(data[i : i + size], "little")
        exponent, significand = word >> fraction & (1 << width) - 1, word & (1 << fraction) - 1
        demand(exponent != (1 << width) - 1, "not a finite number")
        if exponent:
            significand += 1 << fraction
        sign = -1 if word >> 8 * size - 1 else 1
        numbers.append((sign * significand, max(exponent, 1) - bias - fraction))
    least = min((e for n, e in numbers if n), default=0)
    return [fmpz(n) << e - least if n else fmpz(0) for n, e in numbers], least


class Model:
    """The tensors as matrices of exact numbers."""

    def __init__(self, value: Any) -> None:
        shape = sequence(integer(1, 1 << 16))
        tensor = {"name": text, "dtype": one_of(*LAYOUT), "shape": shape, "data": text}
        found = record(value, {"tensors": sequence(lambda item: record(item, tensor)), "sha256": text})
        tensors = found["tensors"]
        names = [t["name"] for t in tensors]
        required = list(SHAPES)[:7]
        demand(names == [n for n in SHAPES if n in required or n in names], "the list of tensors")
        self.sizes: dict[str, int] = {"1": 1}
        self.dtypes = {t["name"]: t["dtype"] for t in tensors}
        self.tensors: dict[str, Matrix] = {}
        hasher = hashlib.sha256()
        for t in tensors:
            name, dtype, shape = t["name"], t["dtype"], t["shape"]
            demand(len(shape) == len(SHAPES[name]), "rank")
            for symbol, size in zip(SHAPES[name], shape, strict=True):
                demand(self.sizes.setdefault(symbol, size) == size, "shape")
            try:
                data = base64.b64decode(t["data"].encode("ascii"), validate=True)
            except (ValueError, binascii.Error) as fault:
                raise Malformed("not base64") from fault
            demand(base64.b64encode(data).decode() == t["data"], "base64 in another spelling")
            demand(len(data) == LAYOUT[dtype][0] * prod(shape), "number of bytes")
            hasher.update(f"{name} {dtype} {'x'.join(map(str, shape))}\n".encode() + data)
            flat, exponent = decoded(data, dtype)
            width = shape[-1]
            self.tensors[name.rpartition(".")[2]] = matrix(
                [flat[i : i + width] for i in range(0, len(flat), width)], exponent
            )
        demand(hasher.hexdigest() == found["sha256"], "digest")

    def __getitem__(self, name: str) -> Matrix:
        """A tensor as a matrix (a bias as one row); zero where it is absent."""
        if name not in self.tensors:
            self.tensors[name] = zero(1, self.sizes[next(s for n, s in SHAPES.items() if n.endswith(name))[-1]])
        return self.tensors[name]

    def has(self, name: str) -> bool:
        return any(n.endswith(name) for n in self.dtypes)


@dataclass(frozen=True)
class Semantics:
    """The floating-point program; real arithmetic is None."""

    format: str
    exp_ulp: int
    underflow: str


def semantics(value: Any) -> Semantics | None:
    if isinstance(value, str):
        demand(value == "real", "semantics")
        return None
    return float_semantics(value)


def float_semantics(value: Any) -> Semantics:
    return Semantics(
        **record(
            value,
            {
                "format": one_of(*FORMATS),
                "exp_ulp": integer(1, 1 << 20),
                "underflow": one_of("gradual", "flush"),
            },
        )
    )


LOG_LOSS = "log_loss"
PART = partial(record, fields={"answers": optional(sequence(anything)), "positions": anything, "share": number})


def quantity(value: Any) -> tuple[fmpz, int] | str:
    """The threshold, or the log-loss."""
    if isinstance(value, dict) and LOG_LOSS in value:
        record(value, {LOG_LOSS: integer(-40, -40)})
        return LOG_LOSS
    found = record(value, {"margin_above": number, "exponent": integer(-4096, 4096)})
    odd, exponent = found["margin_above"], found["exponent"]
    demand(odd % 2 == 1 or (odd == 0 and exponent == 0), "the threshold is not reduced")
    return odd, exponent


class Claim:
    """What is claimed, and the classes of section 4 with their inputs; tokens are renumbered for `min`."""

    def __init__(self, value: Any, model: Model) -> None:
        length, size = integer(1, 1 << 10), integer(1, 1 << 16)
        found = record(
            value,
            {
                "architecture": one_of("one-layer attention-only"),
                "task": lambda v: record(
                    v, {"kind": one_of("max", "min"), "length": length, "tokens": size, "eos": lambda x: x}
                ),
                "distribution": lambda v: v,
                "quantity": quantity,
                "semantics": semantics,
                "bounds": lambda v: record(v, dict.fromkeys(("lower", "upper", "total"), number)),
            },
        )
        task, bounds = found["task"], found["bounds"]
        self.minimum, self.tokens = task["kind"] == "min", task["tokens"]
        self.eos = None
        vocab, context = model.sizes["d_vocab"], model.sizes["n_ctx"]
        demand(self.tokens <= vocab and self.tokens <= model.sizes["d_vocab_out"], "tokens")
        if task["eos"] is not None:
            self.eos = integer(self.tokens, vocab - 1)(task["eos"])
        self.free = context - 1
        self.length = task["length"]
        demand(self.length == context - (self.eos is not None), "length")
        self.threshold: tuple[fmpz, int] | str = found["quantity"]
        self.semantics: Semantics | None = found["semantics"]
        self.parts: list[Claim] = []  # this claim, with the weights and answers of each part
        self.share, self.number = fmpz(1), 0
        self._distribution(found["distribution"])
        self.lower, self.upper, self.total = bounds["lower"], bounds["upper"], bounds["total"]
        self.all = sum((part.share * part.whole() for part in self.parts), fmpz(0))
        loss = self.threshold == LOG_LOSS
        demand(self.total == (fmpz(1) << 40 if loss else self.all), "total")
        demand(0 <= self.lower <= self.upper and (loss or self.upper <= self.total), "bounds")

    def _distribution(self, value: Any) -> None:
        """Weights and answers, of the parts of a mixture too."""
        self.answers = set(range(self.tokens))
        if not isinstance(value, dict):
            self.weights = self._weights(value)
            self.parts = [self]
            return
        entries = record(value, {"parts": sequence(PART)})["parts"]
        demand(0 < len(entries) <= 256, "number of parts")
        for index, entry in enumerate(entries):
            part = copy(self)
            part.number, part.share = index, entry["share"]
            part.weights = part._weights(entry["positions"])
            if entry["answers"] is not None:
                given = [integer(0, self.tokens - 1)(t) for t in entry["answers"]]
                demand(bool(given) and all(a < b for a, b in pairwise(given)), "answers")
                demand(len(given) < self.tokens, "all answers")
                part.answers = {self.tokens - 1 - t if self.minimum else t for t in given}
            demand(part.share > 0 and part.whole() > 0, "a part without mass")
            self.parts.append(part)
        demand(len(entries) > 1 or entries[0]["answers"] is not None, "a mixture of one part")
        demand(gcd(*(int(entry["share"]) for entry in entries)) == 1, "shares have a common factor")

    def whole(self) -> fmpz:
        """The mass of all inputs with these answers."""

        def below(m: int) -> fmpz:
            return prod((sum(row[:m], fmpz(0)) for row in self.weights), start=fmpz(1))

        return sum((below(m + 1) - below(m) for m in self.answers), fmpz(0))

    def _weights(self, value: Any) -> list[list[fmpz]]:
        self.uniform = isinstance(value, str)
        if self.uniform:
            demand(value == "uniform", "distribution")
            return [[fmpz(1)] * self.tokens] * self.length
        rows = sequence(sequence(number))(value)
        demand(len(rows) == self.length and all(len(row) == self.tokens for row in rows), "distribution")
        demand(all(min(row) >= 0 and any(row) for row in rows), "distribution")
        demand(sum(sum(row).bit_length() - 1 for row in rows) <= 1 << 15, "the mass of all inputs is too large")
        demand(any(x != 1 for row in rows for x in row), "a uniform distribution")
        return [row[::-1] for row in rows] if self.minimum else rows

    def row_of(self, query: int) -> int:
        """The token row of a query's token."""
        return self.tokens if self.eos is not None else query

    @cached_property
    def queries(self) -> int:
        return 1 if self.eos is not None else self.tokens

    def forced(self, query: int, m: int) -> bool:
        """Whether a free position must hold the maximum."""
        return self.eos is not None or query != m

    def inputs(self, query: int, m: int) -> list[Tokens]:
        """The free tokens of the inputs of a class."""
        tuples = itertools.product(range(m + 1), repeat=self.free)
        return [t for t in tuples if m in t or not self.forced(query, m)]

    def mass(self, query: int, tokens: Tokens) -> fmpz:
        """What an input counts."""
        whole = tokens if self.eos is not None else (*tokens, query)
        return prod((self.weights[i][t] for i, t in enumerate(whole)), start=fmpz(1))

    def size(self, query: int, m: int) -> fmpz:
        return sum((self.mass(query, tokens) for tokens in self.inputs(query, m)), fmpz(0))

    def region(self, value: Any) -> list[list[int]]:
        """Spans of classes."""
        demand(isinstance(value, list), "not a list")
        spans = [sequence(lambda x: x)(item) for item in value]
        end = (-1, 0)
        for found in spans:
            demand(len(found) == 3, "a span")
            m = integer(0, self.tokens - 1)(found[0])
            self.answer(m)
            limit = 1 if self.eos is not None else m + 1
            low, high = integer(0, limit)(found[1]), integer(0, limit)(found[2])
            demand(low < high, "an empty span")
            demand((m, low) > end, "spans are not ascending, or adjoin")
            end = (m, high)
        require(bool(spans), "an empty region")
        return spans

    def answer(self, m: int) -> None:
        """A region may name maxima that are answers only."""
        require(m in self.answers, "a maximum that is no answer")


def classes(spans: list[list[int]]) -> list[Class]:
    return [(q, m) for m, low, high in spans for q in range(low, high)]
