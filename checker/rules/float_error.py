"""How far a floating-point program can be from the real numbers: FORMAT.md, "Floating point"."""

from math import isqrt
from operator import mul

from ..errors import Rejected
from ..facts import Count, Factored, FloatError
from ..model import ATTENTION, FORMATS
from ..numbers import Matrix, add, cut, largest, product
from ..step import Step
from ..task import STORED, read_semantics
from .circuits import exact, query_rows
from .grid import shifted

Row = list[int]  # numbers that are not negative, rounded up to multiples of 2**-bits


class Rounding:
    """Sizes and errors on the grid. `zeta` bounds all that underflow adds to one result, `peaks` are magnitudes."""

    def __init__(self, step: Step) -> None:
        self.step, self.semantics = step, read_semantics(step.fields.inner("semantics"))
        self.bits, ceiling = step.fields.integer("bits", 32, 8192), step.fields.integer("ceiling", 2, 1022)
        _, mantissa, width = FORMATS[STORED[self.semantics.format]]
        sizes, self.precision, top = step.model.sizes, mantissa + 1, (1 << (width - 1)) - 1
        for tensor in step.model.tensors:
            if FORMATS[tensor.dtype][1] > mantissa or FORMATS[tensor.dtype][2] > width:
                raise Rejected("FORMAT", f"{tensor.name} of {tensor.dtype} may not fit into {self.semantics.format}")
        terms = max(sizes["d_model"], sizes["d_head"], sizes["n_ctx"]) + 2
        least = 1 - top - (mantissa if self.semantics.underflow == "gradual" else 0)
        self.zeta = shifted(8 * terms * self.semantics.exp_ulp, -(least + ceiling + self.bits), True)
        self.one, self.limit = 1 << self.bits, 1 << (self.bits + ceiling - 1)
        self.peaks = [2 * sizes["n_ctx"] * self.one]
        if max(2 * terms + 1, 2 * self.semantics.exp_ulp) << 2 > 1 << self.precision or 16 * self.zeta > self.one:
            raise Rejected("TOO_COARSE", f"{self.semantics.format} is too coarse for {terms} terms of size 2^{ceiling}")
        if ceiling >= top:
            raise Rejected("OVERFLOW", f"2^{ceiling} does not stay below half the largest {self.semantics.format}")

    def gamma(self, steps: int) -> int:
        """steps * u / (1 - steps * u), the relative error of so many roundings; u = 2**-precision."""
        return -((-steps << self.bits) // ((1 << self.precision) - steps))

    def times(self, factor: int, row: Row) -> Row:
        return [cut(factor * n, self.bits, True) for n in row]

    def absolute(self, matrix: Matrix) -> list[Row]:
        """The absolute values."""
        self.step.meter.count(len(matrix.rows) * len(matrix.rows[0]))
        return [[shifted(abs(n), -(matrix.exponent + self.bits), True) for n in row] for row in matrix.rows]

    def through(self, row: Row, weights: list[Row]) -> Row:
        """row |W|."""
        self.step.meter.count(2 * len(row) * len(weights[0]))
        return [cut(sum(map(mul, row, column)), self.bits, True) for column in zip(*weights, strict=True)]

    def stored(self, *names: str) -> list[list[Row]]:
        """Absolute values of tensors."""
        result = [self.absolute(self.step.model.matrix(name)) for name in names]
        self.peaks += (max(row) for rows in result for row in rows)
        return result

    def rounded(self, row: Row) -> Row:
        """Magnitudes after one more operation."""
        result = [n + cut(n, self.precision, True) + self.zeta for n in row]
        self.peaks.append(max(result))
        return result

    def linear(self, rows: list[Row], weights: list[Row], bias: Row) -> list[Row]:
        """Magnitudes of x W + b, all partial sums among them, for |x| in `rows`."""
        sizes = [_sum(self.through(row, weights), bias) for row in rows]
        self.peaks += map(max, sizes)
        return sizes

    def layer(self, rows: list[Row], name: str) -> list[Row]:
        """Errors of x W + b where x is off by at most u|x| + zeta."""
        weights, (bias,) = self.stored(f"{ATTENTION}W_{name}", f"{ATTENTION}b_{name}")
        rest = self.through([self.zeta] * len(weights), weights)
        gamma, zeta = self.gamma(len(weights) + 3), [self.zeta] * len(rest)
        return [_sum(self.times(gamma, row), rest, zeta) for row in self.linear(rows, weights, bias)]

    def widest(self, tokens: Matrix, places: Matrix) -> list[Row]:
        """For each token and column the largest |token + place|."""
        exponent = min(tokens.exponent, places.exponent)
        columns = list(zip(*places.scaled_to(exponent), strict=True))
        ends = [(min(column), max(column)) for column in columns]
        rows = (
            [max(n + high, -n - low) for n, (low, high) in zip(row, ends, strict=True)]
            for row in tokens.scaled_to(exponent)
        )
        return self.absolute(Matrix(tuple(map(tuple, rows)), exponent))


def float_error(step: Step) -> FloatError:
    """|logit of the program - logit over the real numbers| <= bound[q], in every evaluation that `semantics` allows.

    Premises:   values, exact EVOU; positions, exact PVOU
    Arguments:  semantics; bits of the grid; ceiling c, no magnitude exceeds 2^c
    Conclusion: a bound for each query; no operation overflows
    Sound because: absolute values bound what each stage rounds, and the exact maps carry it on; scores that are off by
                at most D move an average by at most D/2 times the range of what is averaged.
    """
    up, model = Rounding(step), step.model
    reach = [0] * model.sizes["d_vocab_out"]
    for key, name in (("values", "EVOU"), ("positions", "PVOU")):
        matrix = exact(step.premise(key, Factored), name)
        ranges = tuple(max(column) - min(column) for column in zip(*matrix.rows, strict=True))
        reach = _sum(reach, up.absolute(Matrix((ranges,), matrix.exponent))[0])
    embed, places = model.matrix("embed.W_E"), model.matrix("pos_embed.W_pos")
    tokens = Matrix(tuple(embed.rows[t] for t in step.task.token_rows()), embed.exponent)
    queries = query_rows(step, tokens, places)
    inputs = [up.rounded(row) for row in up.widest(tokens, places)]
    own = [up.rounded(row) for row in up.absolute(queries)]
    up.stored("embed.W_E", "pos_embed.W_pos")
    sides = []
    for name in "KV":
        weight, bias = model.matrix(f"{ATTENTION}W_{name}"), model.matrix(f"{ATTENTION}b_{name}")
        at_token, at_place = (product(rows, weight, step.meter) for rows in (tokens, places))
        true = up.widest(at_token, add(at_place, bias, step.meter))
        sides.append((largest(true), largest(up.layer(inputs, name))))
    scores = _scores(up, queries, up.layer(own, "Q"), *sides[0])
    carried, rounded = _after(up, largest(own), *sides[1])
    if max(up.peaks) > up.limit:
        raise Rejected("OVERFLOW", "a magnitude may exceed half of 2^ceiling")
    moved = [cut(min(cut(n, 1, True), up.one) * max(reach), up.bits, True) for n in scores]
    bounds = tuple(n + carried + rounded for n in moved)
    return FloatError(up.semantics, -up.bits, bounds, (max(scores), max(moved), carried, rounded))


def _scores(up: Rounding, queries: Matrix, off: list[Row], keys: Row, keys_off: Row) -> Row:
    """For each query, how far the logarithm of an attention weight can be off, but for a factor common to all."""
    model, meter = up.step.model, up.step.meter
    true = add(product(queries, model.matrix(ATTENTION + "W_Q"), meter), model.matrix(ATTENTION + "b_Q"), meter)
    root = isqrt(model.sizes["d_head"] << 2 * up.bits)
    near = _sum(keys, keys_off)
    slope = _sum(keys_off, up.times(up.gamma(len(keys) + 2), near))
    result = []
    for query, error in zip(up.absolute(true), off, strict=True):
        size, first = up.through(_sum(query, error), [[*pair] for pair in zip(near, slope, strict=True)])
        first += up.through(error, [[n] for n in keys])[0] + up.zeta
        first += cut(up.gamma(4) * (size + first), up.bits, True)
        score = -(-first * up.one // root) + up.zeta
        distance = 2 * (-(-size * up.one // root) + score)
        up.peaks += size, distance
        result.append(score + cut(distance, up.precision, True) + up.zeta + up.gamma(2 * up.semantics.exp_ulp))
    return result


def _after(up: Rounding, own: Row, values: Row, off: Row) -> tuple[int, int]:
    """What errors of the values, and of everything after the average, can add to a logit."""
    n, model, meter, zeta = up.step.model.sizes["n_ctx"], up.step.model, up.step.meter, [up.zeta]
    w_o, (b_o,), w_u, (b_u,) = up.stored(ATTENTION + "W_O", ATTENTION + "b_O", "unembed.W_U", "unembed.b_U")
    both = up.absolute(product(model.matrix(ATTENTION + "W_O"), model.matrix("unembed.W_U"), meter))
    error = _sum(off, up.times(up.gamma(2 * n + 5) + 14 * n * up.zeta, _sum(values, off)), zeta * len(off))
    out = up.linear([_sum(values, error)], w_o, b_o)[0]
    out_off = _sum(up.times(up.gamma(len(w_o) + 2), out), zeta * len(out))
    stream = _sum(own, out, out_off)
    held = up.rounded(stream)
    stream_off = [e + 2 * (b - a) for e, a, b in zip(out_off, stream, held, strict=True)]
    logits = up.times(up.gamma(len(w_u) + 2), up.linear([held], w_u, b_u)[0])
    up.peaks.append(2 * max(_sum(values, error)))
    return max(up.through(error, both)), max(_sum(up.through(stream_off, w_u), logits)) + up.zeta


def _sum(*rows: Row) -> Row:
    return [sum(column) for column in zip(*rows, strict=True)]


def float_count(step: Step) -> Count:
    """Inputs that the program gets right, or wrong, in every evaluation.

    Premises:   errors; right, a count over the real numbers; wrong, another over the same region, or null
    Arguments:  margin_above and exponent, the threshold r
    Conclusion: `right` inputs whose margin in the program is above r, `wrong` inputs whose margin is not
    Sound because: a margin changes by at most 2 bound[q]; for each query of the region, the threshold of the first
                count is at least r + 2 bound[q], that of the second one at most r - 2 bound[q].
    """
    errors, right = step.premise("errors", FloatError), step.premise("right", Count)
    wrong = None if step.fields.take("wrong") is None else step.premise("wrong", Count)
    threshold = step.fields.hex("margin_above"), step.fields.integer("exponent", -4096, 4096)
    step.meter.charge(sum(high - low for _, low, high in right.region))
    need = 2 * max(max(errors.bound[low:high]) for _, low, high in right.region)
    for count, sign in ((right, 1), (wrong, -1)):
        if count is None:
            continue
        if count.semantics is not None or (count.region, count.part) != (right.region, right.part):
            raise Rejected("FLOAT_COUNT", "needed: counts over the real numbers, of one region and part")
        least = min(count.threshold[1], threshold[1], errors.exponent)
        (a, d), (b, e) = count.threshold, threshold
        if sign * ((a << d - least) - (b << e - least)) < need << errors.exponent - least:
            raise Rejected("UNDERSTATED", f"a threshold of {a} * 2^{d} is nearer than the errors of two logits")
    lost = 0 if wrong is None else wrong.wrong
    return Count(threshold, right.region, right.right, lost, errors.semantics, right.part)
