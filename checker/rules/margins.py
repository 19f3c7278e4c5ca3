"""Attention weights and margins as sums over positions: FORMAT.md, "Margins"."""

from dataclasses import dataclass

from ..errors import Rejected
from ..facts import Factored, Margins, Weights
from ..numbers import Exp, Matrix, floor_div, sqrt_bounds
from ..step import Step
from .circuits import exact

Rows = tuple[tuple[int, ...], ...]


def weights(step: Step) -> Weights:
    """exp of score differences, enclosed.

    Premises:   scores, exact EQKE; positions, exact EQKP
    Arguments:  bits, fractional bits of the results; grid, fractional bits of the exponents
    Conclusion: for each query, exp((s - max s) / sqrt(d_head)) of its scores s lies in [low, high] / 2**bits
    Sound because: the exponent is rounded outward to the grid and Exp encloses each grid point.
    """
    scores = exact(step.premise("scores", Factored), "EQKE")
    positions = exact(step.premise("positions", Factored), "EQKP")
    bits, grid = step.fields.integer("bits", 8, 1 << 14), step.fields.integer("grid", 8, 512)
    exp = Exp(bits, grid, step.meter)
    root = sqrt_bounds(step.model.sizes["d_head"], grid + 32)
    token_low, token_high = softmax_terms(scores, root, exp, grid)
    position_low, position_high = softmax_terms(positions, root, exp, grid)
    free = range(step.task.free)
    order = tuple(tuple(sorted(free, key=row.__getitem__)) for row in positions.rows)
    return Weights(bits, token_low, token_high, position_low, position_high, order)


def softmax_terms(scores: Matrix, root: tuple[int, int], exp: Exp, grid: int) -> tuple[Rows, Rows]:
    """exp((s - max) / sqrt(d)) per row, below and above; `root` encloses sqrt(d) * 2**(grid + 32)."""
    shift = scores.exponent + 2 * grid + 32
    low, high = [], []
    for row in scores.rows:
        top = max(row)
        exp.meter.count(4 * len(row))
        high.append(tuple(exp.end(floor_div(top - s, shift, root[1]), True) for s in row))
        low.append(tuple(exp.end(-floor_div(s - top, shift, root[0]), False) for s in row))
    return tuple(low), tuple(high)


def margins(step: Step) -> Margins:
    """y_o - y_m + threshold has the sign of a sum of independent terms, one for each position.

    Premises:   weights; direct, exact EU; values, exact EVOU; positions, exact PVOU with the same centre
    Arguments:  margin_above and exponent, the threshold
    Conclusion: output o reaches the right token m less the threshold iff
                sum_i w(t_i, i) (EU[q,o] - EU[q,m] + EVOU[t_i,o] - EVOU[t_i,m] + PVOU[i,o] - PVOU[i,m] + threshold) >= 0
    Sound because: softmax weights are w / sum w; multiply by sum w > 0 and move the constants into the average.
    """
    given = step.premise("weights", Weights)
    parts = [step.premise(key, Factored) for key in ("direct", "values", "positions")]
    if parts[1].centre != parts[2].centre:
        raise Rejected("CENTRE", "EVOU and PVOU were centred differently")
    direct, values, positions = (exact(part, name) for part, name in zip(parts, ("EU", "EVOU", "PVOU"), strict=True))
    n, power = step.fields.hex("margin_above"), step.fields.integer("exponent", -4096, 4096)
    shift = Matrix(((n,),), power)
    exponent = min(matrix.exponent for matrix in (direct, values, positions, shift))
    rows = [matrix.scaled_to(exponent) for matrix in (direct, values, positions)]
    return Margins(given, (n, power), exponent, shift.scaled_to(exponent)[0][0], *rows)


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything about one class (q, m) that does not depend on the output.

    `token` (0..m), `own` (the query's token) and `position` are integers; each product token * position, times a
    common positive factor, lies at most `radius` below the true weight.
    """

    token: tuple[int, ...]
    own: int
    position: tuple[int, ...]
    radius: int


def terms(given: Weights, q: int, m: int, own_row: int, digits: int) -> Terms:
    """Weights of class (q, m) cut to about `digits` bits relative to token m and to the largest position.

    With u <= true u <= u + du and p <= true p <= p + dp: true u p - u p <= p du + u dp + du dp.
    """
    low, high = given.token_low[q], given.token_high[q]
    if low[m] == 0:
        raise Rejected("PRECISION", f"the weight of token {m} for query {q} vanishes at {given.bits} bits")
    token, du = _cut((*low[: m + 1], low[own_row]), (*high[: m + 1], high[own_row]), low[m].bit_length() - digits)
    position, dp = _cut(given.position_low[q], given.position_high[q], given.bits - digits)
    radius = max(position) * du + max(token) * dp + du * dp
    return Terms(token[:-1], token[-1], position, radius)


def _cut(low: tuple[int, ...], high: tuple[int, ...], shift: int) -> tuple[tuple[int, ...], int]:
    """floor(x / 2**shift) of the lower ends, and how far the upper ends lie above them (never a negative shift)."""
    shift = max(shift, 0)
    cut = tuple(n >> shift for n in low)
    return cut, max(-(-n >> shift) - base for n, base in zip(high, cut, strict=True))
