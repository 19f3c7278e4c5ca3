"""What the checker counts before any counting rule: circuits and attention weights (docs/FORMAT.md, "Proof length")."""

from __future__ import annotations

from math import isqrt

from ...circuits import Factors, factors
from ...exact import Exact
from ...problem import Problem
from ...proof import ORDERS
from ...weights import Precision

DIGIT = 256  # exp works along digits to this base


def setup_operations(problem: Problem, chosen: Precision) -> int:
    """Operations of all five exact circuits and of the rule `weights`."""
    f = factors(problem.model, problem.task)
    return sum(_circuit(name, f) for name in ORDERS) + _direct(f, problem) + _weights(problem, chosen)


def _circuit(name: str, f: Factors) -> int:
    """Query rows and the products in the builder's order."""
    bias = int(bool(f.b_q.ints.any()))
    queries, width = len(f.query.ints), int(f.query.ints.shape[1])
    inner = f.position if name in ("EQKP", "PVOU") else f.token
    attention = [f.w_q, f.w_k.transposed, inner.transposed]
    chains = {"EU": [f.query, f.w_u], "EVOU": [inner, f.w_v, f.w_o, f.w_u], "PVOU": [inner, f.w_v, f.w_o, f.w_u]}
    shapes = [(len(each.ints), int(each.ints.shape[1])) for each in chains.get(name, [f.query, *attention])]
    if name in ("EQKE", "EQKP"):
        shapes[:2] = [(queries, width + bias), (width + bias, shapes[1][1])]
    elif name == "EU" and f.direct.ints.any():
        shapes = [(queries, width + 1), (width + 1, shapes[1][1])]
    total: int = queries * width if name in ("EU", "EQKE", "EQKP") else 0
    for at in ORDERS[name]:
        (height, middle), (_, columns) = shapes[at : at + 2]
        total += height * columns * (2 * middle - 1)
        shapes[at : at + 2] = [(height, columns)]
    return total


def _direct(f: Factors, problem: Problem) -> int:
    """(b_V W_O + b_O) W_U + b_U, made with EU."""
    head, width = len(f.w_o.ints), int(f.w_o.ints.shape[1])
    outputs = problem.model.d_vocab_out
    return width * (2 * head - 1) + width + outputs * (2 * width - 1) + outputs


def _weights(problem: Problem, chosen: Precision) -> int:
    """Exponents, and one multiplication for each of their digits."""
    c = problem.circuits
    root = _root(c.d_head, chosen.grid + 32)
    total = deepest = 0
    for scores in (c.eqke, c.eqkp):
        levels, deep = _levels(scores, root, chosen)
        total += levels + 4 * int(scores.ints.size)
        deepest = max(deepest, deep)
    return total + 2 * DIGIT * deepest


def _root(n: int, bits: int) -> tuple[int, int]:
    low = isqrt(n << (2 * bits))
    return low, low if low * low == n << (2 * bits) else low + 1


def _levels(scores: Exact, root: tuple[int, int], chosen: Precision) -> tuple[int, int]:
    """Digits of all exponents together, and of the longest."""
    cutoff, shift = chosen.bits << chosen.grid, scores.exponent + 2 * chosen.grid + 32
    total = deepest = 0
    for row in scores.ints:
        top = max(row)
        for s in row:
            n = int(top - s)
            low = _shifted(n, shift) // (root[1] if shift >= 0 else root[1] << -shift)
            high = -(_shifted(-n, shift) // (root[0] if shift >= 0 else root[0] << -shift))
            for x in (low, high):
                if x < cutoff:
                    digits = -(-x.bit_length() // 8)
                    total += digits
                    deepest = max(deepest, digits)
    return total, deepest


def _shifted(n: int, shift: int) -> int:
    return n << shift if shift >= 0 else n
