"""The five circuits as products of factors: FORMAT.md, "Circuits"."""

from ..errors import Malformed, Rejected
from ..facts import Factored
from ..model import ATTENTION
from ..numbers import Matrix, add, product
from ..step import Step, read_vector

CENTRED = ("EQKE", "EQKP", "EVOU", "PVOU")


def circuit(step: Step) -> Factored:
    """C = F1 F2 ... Fp, with the factors read off the weights.

    Arguments:  name; centre, a row vector c or null (c = 0)
    Conclusion: EQKE = (Q_rows W_Q + b_Q) W_K^T (E + c)^T, EQKP the same with P - c; EVOU = (E + c) W_V W_O W_U, PVOU
                the same with P - c; EU = Q_rows W_U + (b_V W_O + b_O) W_U + b_U, where Q_rows = E + P[query position]
    Sound because: c moves a constant of each query between scores, or a row between values and positions; b_K adds
                a constant to the scores of a query; b_V and b_O pass through the average, whose weights sum to 1.
    """
    name = step.fields.text("name")
    step.meter.charge(2 * step.model.entries)  # they are copied
    centre = None
    if step.fields.take("centre") is not None:
        centre = read_vector(step.fields.inner("centre"), step.model.sizes["d_model"])
    embed = step.model.matrix("embed.W_E")
    rows = Matrix(tuple(embed.rows[t] for t in step.task.token_rows()), embed.exponent)
    positions = step.model.matrix("pos_embed.W_pos")
    if name == "EU":
        if centre is not None:
            raise Malformed("CENTRE", "EU has no centre")
        return Factored(name, None, None, _direct(step, rows, positions))
    if name not in CENTRED:
        raise Malformed("UNKNOWN_CIRCUIT", f"{name[:20]!r}, known are EU, EQKE, EQKP, EVOU, PVOU")
    inner = rows if name in ("EQKE", "EVOU") else positions
    if centre is not None:
        sign = 1 if name in ("EQKE", "EVOU") else -1
        inner = add(inner, Matrix((tuple(sign * n for n in centre.rows[0]),), centre.exponent), step.meter)
    if name in ("EVOU", "PVOU"):
        value, output = step.model.matrix(ATTENTION + "W_V"), step.model.matrix(ATTENTION + "W_O")
        return Factored(name, centre, None, (inner, value, output, _unembed(step)))
    queries, bias = query_rows(step, rows, positions), step.model.matrix(ATTENTION + "b_Q")
    query = _augment(queries, step.model.matrix(ATTENTION + "W_Q"), bias)
    return Factored(name, centre, None, (*query, step.model.matrix(ATTENTION + "W_K").transposed(), inner.transposed()))


def product_rule(step: Step) -> Factored:
    """F1 ... Fi F(i+1) ... Fp = F1 ... (Fi F(i+1)) ... Fp.

    Premises:   of, a factored circuit;  Arguments: at, the index i from 0
    Sound because: matrix multiplication is associative.
    """
    fact = step.premise("of", Factored)
    if len(fact.factors) < 2:
        raise Rejected("ONE_FACTOR", "there is nothing left to multiply")
    at = step.fields.integer("at", 0, len(fact.factors) - 2)
    joined = product(fact.factors[at], fact.factors[at + 1], step.meter)
    return Factored(fact.circuit, fact.centre, fact.approx, (*fact.factors[:at], joined, *fact.factors[at + 2 :]))


def exact(fact: Factored, circuit_name: str) -> Matrix:
    """The matrix of a circuit that has been multiplied out."""
    if fact.circuit != circuit_name:
        raise Rejected("PREMISE_CIRCUIT", f"premise is {fact.circuit}, expected {circuit_name}")
    if len(fact.factors) != 1 or fact.approx is not None:
        raise Rejected("NOT_EXACT", f"{circuit_name} is not a single exact matrix")
    return fact.factors[0]


def query_rows(step: Step, rows: Matrix, positions: Matrix) -> Matrix:
    """Embedding plus last position, for each token that can be the query."""
    tokens = step.task.tokens
    chosen = rows.rows[:tokens] if step.task.eos is None else rows.rows[tokens:]
    return add(Matrix(chosen, rows.exponent), Matrix(positions.rows[-1:], positions.exponent), step.meter)


def _unembed(step: Step) -> Matrix:
    """The unembedding with its columns in the order of the task."""
    unembed = step.model.matrix("unembed.W_U")
    columns = step.task.output_columns(step.model.sizes["d_vocab_out"])
    return Matrix(tuple(tuple(row[c] for c in columns) for row in unembed.rows), unembed.exponent)


def _augment(left: Matrix, right: Matrix, row: Matrix) -> tuple[Matrix, Matrix]:
    """left right + row as one product, [left | 1] [right ; row]; unchanged when the row is zero."""
    if not any(row.rows[0]):
        return left, right
    low, lower = min(left.exponent, 0), min(right.exponent, row.exponent)
    one = 1 << -low
    return (
        Matrix(tuple((*entries, one) for entries in left.scaled_to(low)), low),
        Matrix((*right.scaled_to(lower), *row.scaled_to(lower)), lower),
    )


def _direct(step: Step, rows: Matrix, positions: Matrix) -> tuple[Matrix, Matrix]:
    """EU with everything that does not depend on the attention: b_V W_O, b_O and b_U."""
    columns = step.task.output_columns(step.model.sizes["d_vocab_out"])
    unembed = _unembed(step)
    model, meter = step.model, step.meter
    carried = product(model.matrix(ATTENTION + "b_V"), model.matrix(ATTENTION + "W_O"), meter)
    through = product(add(carried, model.matrix(ATTENTION + "b_O"), meter), unembed, meter)
    bias = model.matrix("unembed.b_U")
    constant = add(through, Matrix((tuple(bias.rows[0][c] for c in columns),), bias.exponent), meter)
    return _augment(query_rows(step, rows, positions), unembed, constant)
