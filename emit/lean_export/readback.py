"""Reading the numbers of an export back from its text, and comparing them with the certificate by another way.

A number printed wrongly would not be noticed by Lean: 0 + 0 = 0 is as true as 2^70 - 2^70 = 0. So nothing is published
before every number, read from the text alone, has been found equal to the certificate's; weights are compared with
their bytes, decoded as floats.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ...core.errors import CompactProofsError
from ...core.model import Tensor
from .certificate import Certificate

DEFINITION = re.compile(
    r"^def (\w+) : (ℕ|ℝ|Tensor|List Span|List \(List ℕ\)) (?::= (.*?)|where\n(.*?))\n(?=\S|\n)", re.M | re.S
)
REAL = re.compile(r"\(Int\.cast \((-?\d+)\) : ℝ\) / \(2 : ℝ\) \^ \((\d+) : ℕ\)")
TENSOR = re.compile(r"  denominator := (\d+)\n  rows := (\[.*\])", re.S)
DERIVED = re.compile(r"epsilon|step_\d+_(right|wrong)")
"""Sums and differences of numbers of the certificate; the lemmas that use them compare them, by `rfl` or in a stub."""
UNPACK = {"F64": "d", "F32": "f", "F16": "e"}
Value = int | Fraction | list[list[Fraction]] | list[list[int]]


def integer(text: str) -> int:
    """A number of any length (`int` stops at 4300 digits)."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not re.fullmatch("0|[1-9][0-9]*", digits):
        raise ValueError(f"not a numeral: {text[:20]}")
    value, step = 0, 1000
    for start in range(0, len(digits), step):
        piece = digits[start : start + step]
        value = value * 10 ** len(piece) + int(piece)
    return sign * value


def lists(text: str) -> list[list[int]]:
    """`[[1, -2], [3, 4]]`, also with ⟨⟩ inside."""
    inner = re.fullmatch(r"\[(.*)\]", text.strip(), re.S)
    if inner is None or re.sub(r"[\[⟨][-\d, ]*[\]⟩]", "", inner[1]).strip(", \n"):
        raise ValueError(f"not a list of lists: {text[:40]}")
    return [[integer(n) for n in row.split(", ") if n] for row in re.findall(r"[\[⟨]([^\]⟩]*)[\]⟩]", inner[1])]


def definitions(text: str) -> dict[str, Value]:
    """Name -> value of every definition that holds numbers."""
    found: dict[str, Value] = {}
    for name, kind, body, fields in DEFINITION.findall(text):
        if name in found:
            raise ValueError(f"{name} is defined twice")
        found[name] = _value(kind, body.strip() or fields)
    return found


def _value(kind: str, body: str) -> Value:
    if kind == "ℕ":
        return integer(body)
    if kind == "ℝ":
        number = REAL.fullmatch(body)
        if number is None:
            raise ValueError(f"not a number: {body[:40]}")
        return Fraction(integer(number[1]), 1 << integer(number[2]))
    if kind == "Tensor":
        parts = TENSOR.fullmatch(body.rstrip("\n"))
        if parts is None:
            raise ValueError(f"not a tensor: {body[:40]}")
        scale = 1 << integer(parts[1])
        return [[Fraction(n, scale) for n in row] for row in lists(parts[2])]
    return lists(body)


def floats(tensor: Tensor) -> list[list[Fraction]]:
    """The numbers of a tensor, from its bytes by way of Python's floats."""
    if tensor.dtype == "BF16":  # the upper half of a binary32
        data = b"".join(b"\0\0" + tensor.data[i : i + 2] for i in range(0, len(tensor.data), 2))
        code = "f"
    else:
        data, code = tensor.data, UNPACK[tensor.dtype]
    flat = [Fraction(x) for (x,) in struct.iter_unpack(f"<{code}", data)]
    width = tensor.shape[-1]
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def expected(certificate: Certificate) -> Iterator[tuple[str, Value]]:
    """What the text must define, from the certificate."""
    model, claim = certificate.model, certificate.claim
    for tensor in model.tensors:
        yield "tensor_" + tensor.name.rpartition(".")[2], floats(tensor)
    task, eos = claim["task"], claim["task"]["eos"]
    yield from [("d_model", model.d_model), ("d_head", model.d_head), ("outputs", model.d_vocab_out)]
    yield from [("length", task["length"]), ("tokens", task["tokens"]), ("last", model.n_ctx - 1)]
    yield "after", task["tokens"] if eos is None else eos
    for key in ("lower", "upper", "total"):
        yield key, int(claim["bounds"][key], 16)
    yield "threshold", _dyadic(claim["quantity"])
    if claim["distribution"] != "uniform":
        yield "weight_table", [[int(text, 16) for text in row] for row in claim["distribution"]]
    for number, step in enumerate(certificate.steps):
        yield from ((f"step_{number}_{key}", value) for key, value in _of_step(certificate, step))


def _dyadic(value: Mapping[str, Any]) -> Fraction:
    return Fraction(int(value["margin_above"], 16)) * Fraction(2) ** int(value["exponent"])


def _of_step(certificate: Certificate, step: dict[str, Any]) -> Iterator[tuple[str, Value]]:
    """The numbers that a step states itself."""
    if step.get("centre") is not None:
        scale = Fraction(2) ** step["centre"]["exponent"]
        yield "centre", [[int(text, 16) * scale for text in step["centre"]["values"]]]
    for key in ("right", "wrong"):
        if isinstance(step.get(key), str):
            yield key, int(step[key], 16)
    if "region" in step:
        yield "region", [list(span) for span in step["region"]]
    elif "maxima" in step:
        single = certificate.claim["task"]["eos"] is not None
        yield "region", [[entry["m"], 0, 1 if single else entry["m"] + 1] for entry in step["maxima"]]
    if step["rule"] in ("gap_classes", "float_count"):
        yield "threshold", _dyadic(step)
    elif "margins" in step:
        yield "threshold", _dyadic(certificate.steps[step["margins"]])


def compare(certificate: Certificate, texts: Mapping[str, str]) -> int:
    """How many numbers were compared. Errors: LEAN_READBACK, a fault of this program."""
    try:
        found = {name: value for text in texts.values() for name, value in definitions(text).items()}
    except ValueError as error:
        raise _fault(str(error)) from None
    count, wanted = 0, dict(expected(certificate))
    for name in found:
        if name not in wanted and not DERIVED.fullmatch(name):
            raise _fault(f"{name} is not in the certificate")
    for name, value in wanted.items():
        if name.endswith("_centre") and name not in found:
            continue  # of a circuit whose centre no lemma needs
        if found.get(name) != value:
            raise _fault(f"{name} is not what the certificate says")
        count += sum(map(len, value)) if isinstance(value, list) else 1
    return count


def _fault(text: str) -> CompactProofsError:
    return CompactProofsError("LEAN_READBACK", f"{text}; nothing was written; please report this certificate")
