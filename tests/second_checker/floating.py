"""FORMAT.md, section 5.7: bounds of rounding errors, in exact rationals rounded up only where the page says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz

from second_checker.circuits import Circuits, Factored
from second_checker.counting import Count, Threshold
from second_checker.document import require
from second_checker.exact import Matrix
from second_checker.model import FORMATS, Semantics

Row = list[fmpq]
HOLDS = {"F64": ("binary64",), "F32": ("binary32", "binary64"), "F16": ("binary16", "binary32", "binary64")}
HOLDS["BF16"] = ("bfloat16", "binary32", "binary64")


@dataclass(frozen=True)
class FloatError:
    semantics: Semantics
    errors: list[fmpq]  # of each query


def rows(m: Matrix) -> list[Row]:
    return [[fmpq(x) * fmpq(2) ** m.exponent for x in m.row(i)] for i in range(m.rows)]


def absolute(row: Row) -> Row:
    return [abs(x) for x in row]


def dot(a: Sequence[fmpq], b: Sequence[fmpq]) -> fmpq:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def most(found: list[Row]) -> Row:
    """Componentwise maximum."""
    return [max(column) for column in zip(*found, strict=True)]


def through(row: Row, weights: list[Row], bias: Row | None = None) -> Row:
    """row |W| + |b|."""
    columns = [absolute(list(c)) for c in zip(*weights, strict=True)]
    return [dot(row, c) + (abs(bias[j]) if bias else 0) for j, c in enumerate(columns)]


def float_error(
    circuits: Circuits, semantics: Semantics, values: Factored, positions: Factored, bits: int, ceiling: int
) -> FloatError:
    evou, pvou = rows(values.exact()), rows(positions.exact())
    model = circuits.model
    p, e, largest = FORMATS[semantics.format]
    require(all(semantics.format in HOLDS[d] for d in model.dtypes.values()), "weights of another format")
    d_model, d_head, n = (model.sizes[s] for s in ("d_model", "d_head", "n_ctx"))
    u = fmpq(1, fmpz(1) << p)
    ulp = semantics.exp_ulp
    nu = fmpq(2) ** (e if semantics.underflow == "flush" else e - p + 1)
    big, depth = fmpq(2) ** ceiling, max(d_model, d_head, n) + 2
    zeta = 8 * depth * ulp * big * nu
    require(zeta <= fmpq(1, 16) and 4 * max(2 * depth + 1, 2 * ulp) * u <= 1, "too coarse")
    require(ceiling < largest, "the ceiling is too high")
    seen = [fmpq(2 * n), *(abs(x) for m in model.tensors.values() for row in rows(m) for x in row)]

    def bounded(row: Row) -> Row:
        seen.extend(row)
        return row

    def gamma(k: int) -> fmpq:
        return k * u / (1 - k * u)

    def w(name: str) -> list[Row]:
        return rows(model[name])

    unembed, b_U = rows(circuits.unembed), rows(circuits.b_U)[0]
    embed, pos = rows(circuits.embed), rows(circuits.positions)
    streams = [[[a + b for a, b in zip(t, i, strict=True)] for i in pos] for t in embed]
    own = rows(circuits.direct)
    x_t = [bounded([(1 + u) * x + zeta for x in most([absolute(s) for s in stream])]) for stream in streams]
    x_q = [bounded([(1 + u) * abs(x) + zeta for x in row]) for row in own]

    def projected(row: Row, name: str) -> tuple[Row, Row]:
        """The sums of magnitudes, and the error of step 2."""
        weights, bias = w("W_" + name), w("b_" + name)[0]
        sums = bounded(through(row, weights, bias))
        spill = through([zeta] * d_model, weights)
        return sums, [gamma(d_model + 3) * a + b + zeta for a, b in zip(sums, spill, strict=True)]

    def exact(row: Row, name: str) -> Row:
        weights, bias = w("W_" + name), w("b_" + name)[0]
        return [dot(row, c) + b for c, b in zip(zip(*weights, strict=True), bias, strict=True)]

    delta_k = most([projected(row, "K")[1] for row in x_t])
    delta_v = most([projected(row, "V")[1] for row in x_t])
    k = most([absolute(exact(s, "K")) for stream in streams for s in stream])
    v = most([absolute(exact(s, "V")) for stream in streams for s in stream])
    root = fmpq((fmpz(4) ** bits // d_head).isqrt() + 1, fmpz(2) ** bits) if d_head > 1 else fmpq(1)

    sharp: list[fmpq] = []
    for row in range(len(own)):
        delta_q = projected(x_q[row], "Q")[1]
        q = absolute(exact(own[row], "Q"))
        a = [x + d for x, d in zip(q, delta_q, strict=True)]
        b = [x + d for x, d in zip(k, delta_k, strict=True)]
        eta = dot(a, [d + gamma(d_head + 2) * x for d, x in zip(delta_k, b, strict=True)]) + dot(delta_q, k) + zeta
        sigma = dot(a, b)
        score = (eta + gamma(4) * (sigma + eta)) * root + zeta
        rho = 2 * (sigma * root + score)
        bounded([sigma, rho])
        sharp.append(score + u * rho + zeta + gamma(2 * ulp))
    spread = max(
        max(a) - min(a) + max(b) - min(b) for a, b in zip(zip(*evou, strict=True), zip(*pvou, strict=True), strict=True)
    )
    delta_z = [d + (gamma(2 * n + 5) + 14 * n * zeta) * (x + d) + zeta for x, d in zip(v, delta_v, strict=True)]
    z = [x + d for x, d in zip(v, delta_z, strict=True)]
    bounded([2 * x for x in z])
    onward = rows(model["W_O"] @ circuits.unembed)
    value_part = max(through(delta_z, onward))
    o = bounded(through(z, w("W_O"), w("b_O")[0]))
    delta_o = [gamma(d_head + 2) * x + zeta for x in o]
    s = [x + y + d for x, y, d in zip(most(x_q), o, delta_o, strict=True)]
    delta_s = [d + 2 * (u * x + zeta) for d, x in zip(delta_o, s, strict=True)]
    s_ = bounded([(1 + u) * x + zeta for x in s])
    logits = bounded(through(s_, unembed, b_U))
    last = max(a + gamma(d_model + 2) * b + zeta for a, b in zip(through(delta_s, unembed), logits, strict=True))
    require(all(2 * x <= big for x in seen), "overflow")
    return FloatError(semantics, [min(d / 2, fmpq(1)) * spread + value_part + last for d in sharp])


def real(threshold: Threshold) -> fmpq:
    return fmpq(threshold[0]) * fmpq(2) ** threshold[1]


def float_count(errors: FloatError, right: Count, wrong: Count | None, margin_above: fmpz, exponent: int) -> Count:
    for count in (right, wrong) if wrong else (right,):
        require(count.semantics is None and count.region == right.region, "not a real count of that region")
        require(count.part == right.part, "different parts")
    room = 2 * max(errors.errors[q] for q, _ in right.region)
    r = real((margin_above, exponent))
    require(real(right.threshold) >= r + room, "errors reach the threshold")
    require(wrong is None or real(wrong.threshold) <= r - room, "errors reach the threshold")
    fails = wrong.wrong if wrong else fmpz(0)
    return Count((margin_above, exponent), right.region, right.right, fails, errors.semantics, right.part)
