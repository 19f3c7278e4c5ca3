"""Approximations of a circuit and what they leave out, row by row: FORMAT.md, "Approximations"."""

from operator import mul

from ..errors import Malformed, Rejected
from ..facts import Admissible, Factored
from ..numbers import Matrix, Meter, add, product, sqrt_bounds
from ..reader import Fields
from ..step import Step, read_vector


def peel(step: Step) -> Factored:
    """C = A + F1..Fp becomes C = (A + (F1..F(i-1) y)(z F(i+1)..Fp)) + F1..(Fi - y z)..Fp.

    Premises:   of, a factored circuit
    Arguments:  at, the index i from 0; column y and row z, any vectors of the sides of Fi
    Sound because: products distribute over Fi = y z + (Fi - y z), whatever y and z are.
    """
    fact = step.premise("of", Factored)
    at = step.fields.integer("at", 0, len(fact.factors) - 1)
    factor = fact.factors[at]
    column = read_vector(step.fields.inner("column"), factor.shape[0]).transposed()
    row = read_vector(step.fields.inner("row"), factor.shape[1])
    rest = add(factor, product(_negated(column), row, step.meter), step.meter)
    for left in reversed(fact.factors[:at]):
        column = product(left, column, step.meter)
    for right in fact.factors[at + 1 :]:
        row = product(row, right, step.meter)
    approx = _sum(fact.approx, product(column, row, step.meter), step.meter)
    return Factored(fact.circuit, fact.centre, approx, (*fact.factors[:at], rest, *fact.factors[at + 1 :]))


def row_exact(step: Step) -> Admissible:
    """C = A + F: the approximation A + F leaves nothing out.

    Premises:   of, a circuit with one factor F left
    Conclusion: (C - (A + F))[q,i] - (C - (A + F))[q,j] <= 0
    Sound because: C - (A + F) = 0.
    """
    fact = _with_factors(step, 1)
    whole = _sum(fact.approx, fact.factors[0], step.meter)
    return Admissible(fact.circuit, fact.centre, whole, Matrix(((0,),) * whole.shape[0], 0))


def row_range_chain(step: Step) -> Admissible:
    """r(F B)[q] <= r(e B) + sum_k |F[q,k] - e[k]| r(B)[k], where r(M)[q] = max M[q,.] - min M[q,.].

    Premises:   of, a circuit with factors F1..Fp left
    Arguments:  summaries, for each of F1..F(p-1) a row e of its width, or null for e = 0
    Conclusion: (C - A)[q,i] - (C - A)[q,j] <= the bound of r(F1..Fp)[q], from the exact r(Fp) on
    Sound because: row q of F B is e B + (F[q,.] - e) B, r is subadditive, and r(B) may be replaced by its bound.
    """
    fact = step.premise("of", Factored)
    summaries = step.fields.items("summaries")
    if len(summaries) != len(fact.factors) - 1:
        raise Malformed("SUMMARIES", f"{len(summaries)} summaries, {len(fact.factors) - 1} needed")
    bound = _ranges(fact.factors[-1], step.meter)
    for level in reversed(range(len(summaries))):
        factor, summary = fact.factors[level], summaries[level]
        shared = None
        if summary is not None:
            row = read_vector(Fields(summary, f"{step.fields.place}.summaries[{level}]"), factor.shape[1])
            factor = add(factor, _negated(row), step.meter)
            for right in fact.factors[level + 1 :]:
                row = product(row, right, step.meter)
            shared = _ranges(row, step.meter)
        sizes = Matrix(tuple(tuple(map(abs, entries)) for entries in factor.rows), factor.exponent)
        bound = product(sizes, bound, step.meter)
        bound = bound if shared is None else add(bound, shared, step.meter)
    return Admissible(fact.circuit, fact.centre, fact.approx, bound)


def row_norm(step: Step) -> Admissible:
    """sqrt(2) |row q of X B'| bounds the range of row q of X B, B' being B with the mean of each row taken off.

    Premises:   of, a circuit with two factors X, B left
    Conclusion: (C - A)[q,i] - (C - A)[q,j] <= b[q] with b[q]^2 >= 2 X[q,.] B' B'^T X[q,.]^T, rounded up
    Sound because: (a - b)^2 <= 2 (a^2 + b^2), and X B' differs from X B by a constant in each row.
    """
    fact = _with_factors(step, 2)
    left, right = fact.factors
    width = right.shape[1]
    step.meter.count(3 * width * right.shape[0])
    centred = Matrix(tuple(tuple(width * n - sum(row) for n in row) for row in right.rows), right.exponent)
    gram = product(centred, centred.transposed(), step.meter)  # width^2 B' B'^T
    halves = product(left, gram, step.meter)
    step.meter.count(2 * left.shape[0] * (left.shape[1] + 4))
    squares = [2 * sum(map(mul, x, y)) for x, y in zip(left.rows, halves.rows, strict=True)]
    roots = tuple((-(-sqrt_bounds(square, 0)[1] // width),) for square in squares)
    return Admissible(fact.circuit, fact.centre, fact.approx, Matrix(roots, left.exponent + right.exponent))


def row_bound_min(step: Step) -> Admissible:
    """The smallest of several bounds, row by row.

    Premises:   of, two or more admissible facts on one circuit with one approximation
    Conclusion: the same with min of their bounds
    Sound because: each of them bounds every difference.
    """
    facts = step.premises("of", Admissible)
    first = facts[0]
    for fact in facts[1:]:
        if (fact.circuit, fact.centre, fact.approx) != (first.circuit, first.centre, first.approx):
            raise Rejected("OTHER_APPROXIMATION", f"{first.circuit} and {fact.circuit} are not approximated alike")
    exponent = min(fact.bound.exponent for fact in facts)
    step.meter.count(len(facts) * first.bound.shape[0])
    least = tuple(map(min, *(fact.bound.scaled_to(exponent) for fact in facts)))
    return Admissible(first.circuit, first.centre, first.approx, Matrix(least, exponent))


def _with_factors(step: Step, number: int) -> Factored:
    fact = step.premise("of", Factored)
    if len(fact.factors) != number:
        raise Rejected("FACTORS", f"{len(fact.factors)} factors left, {number} needed")
    return fact


def _ranges(matrix: Matrix, meter: Meter) -> Matrix:
    """max - min of each row, as a column."""
    meter.count(2 * matrix.shape[0] * matrix.shape[1])
    return Matrix(tuple((max(row) - min(row),) for row in matrix.rows), matrix.exponent)


def _sum(left: Matrix | None, right: Matrix, meter: Meter) -> Matrix:
    return right if left is None else add(left, right, meter)


def _negated(matrix: Matrix) -> Matrix:
    return Matrix(tuple(tuple(-n for n in row) for row in matrix.rows), matrix.exponent)
