"""FORMAT.md, sections 5.1 and 5.4: circuits as products, what is peeled off, and bounds of the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from flint import fmpz

from second_checker.document import demand, require
from second_checker.exact import Matrix, ceiling, common, matrix, span, zero
from second_checker.model import Claim, Model

Vector = tuple[list[fmpz], int]
Centre = tuple[tuple[fmpz, ...], int] | None


@dataclass(frozen=True)
class Factored:
    """The circuit is `approx` plus the product of the factors."""

    name: str
    centre: Centre
    approx: Matrix | None  # null: 0
    factors: tuple[Matrix, ...]

    def exact(self) -> Matrix:
        require(len(self.factors) == 1 and self.approx is None, f"{self.name} is not exact")
        return self.factors[0]


@dataclass(frozen=True)
class Admissible:
    """Rows of the circuit minus `approx` have ranges of at most `bound`, a column."""

    name: str
    centre: Centre
    approx: Matrix | None
    bound: Matrix


def plus(approx: Matrix | None, term: Matrix) -> Matrix:
    return term if approx is None else approx + term


def length(found: Vector, wanted: int) -> list[fmpz]:
    demand(len(found[0]) == wanted, f"{len(found[0])} numbers, not {wanted}")
    return found[0]


def ones(rows: int) -> Matrix:
    return matrix([[fmpz(1)]] * rows)


class Circuits:
    """The factors of section 4."""

    def __init__(self, model: Model, claim: Claim) -> None:
        self.model, self.claim = model, claim
        v, outputs = claim.tokens, model.sizes["d_vocab_out"]
        tokens = list(range(v))[::-1] if claim.minimum else list(range(v))
        rows = tokens + ([] if claim.eos is None else [claim.eos])
        columns = tokens + list(range(v, outputs))
        self.embed = model["W_E"].part(rows)
        self.positions = model["W_pos"]
        last = self.positions.part([claim.free])
        queries = rows[-1:] if claim.eos is not None else rows
        self.direct = model["W_E"].part(queries) + ones(len(queries)) @ last
        self.unembed = model["W_U"].turned().part(columns).turned()
        self.b_U = model["b_U"].turned().part(columns).turned()

    def factored(self, name: str, centre: Vector | None) -> Factored:
        model = self.model
        key: Centre = None
        embed, positions = self.embed, self.positions
        demand(name in ("EU", "EQKE", "EQKP", "EVOU", "PVOU"), "no such circuit")
        if centre is not None:
            demand(name != "EU", "EU has no centre")
            row = matrix([length(centre, model.sizes["d_model"])], centre[1])
            key = tuple(centre[0]), centre[1]
            embed = embed + ones(embed.rows) @ row
            positions = positions - ones(positions.rows) @ row
        if name == "EU":
            bias = (model["b_V"] @ model["W_O"] + model["b_O"]) @ self.unembed + self.b_U
            factors = self.biased(self.unembed, bias)
        elif name.startswith("EQK"):
            columns = embed if name == "EQKE" else positions
            factors = [*self.biased(model["W_Q"], model["b_Q"])]
            factors += [model["W_K"].turned(), columns.turned()]
        else:
            factors = [embed if name == "EVOU" else positions, model["W_V"], model["W_O"], self.unembed]
        return Factored(name, key, None, tuple(factors))

    def biased(self, weights: Matrix, bias: Matrix) -> list[Matrix]:
        if not bias:
            return [self.direct, weights]
        return [self.direct.beside(ones(self.direct.rows)), weights.above(bias)]


def product(fact: Factored, at: int) -> Factored:
    require(len(fact.factors) > 1, "one factor only")
    demand(at < len(fact.factors) - 1, "no such factors")
    joined = fact.factors[at] @ fact.factors[at + 1]
    return replace(fact, factors=(*fact.factors[:at], joined, *fact.factors[at + 2 :]))


def peel(fact: Factored, at: int, column: Vector, row: Vector) -> Factored:
    demand(at < len(fact.factors), "no such factor")
    factor = fact.factors[at]
    y = matrix([[x] for x in length(column, factor.rows)], column[1])
    z = matrix([length(row, factor.columns)], row[1])
    before, after = fact.factors[:at], fact.factors[at + 1 :]
    left = reduce(lambda done, f: f @ done, reversed(before), y)
    right = reduce(lambda done, f: done @ f, after, z)
    return replace(fact, approx=plus(fact.approx, left @ right), factors=(*before, factor - y @ z, *after))


def row_exact(fact: Factored) -> Admissible:
    require(len(fact.factors) == 1, "not one factor")
    factor = fact.factors[0]
    return Admissible(fact.name, fact.centre, plus(fact.approx, factor), zero(factor.rows, 1))


def ranges(factor: Matrix) -> Matrix:
    return matrix([[span(factor.row(i))] for i in range(factor.rows)], factor.exponent)


def row_range_chain(fact: Factored, summaries: list[Vector | None]) -> Admissible:
    demand(len(summaries) == len(fact.factors) - 1, "number of summaries")
    given: list[Matrix] = []
    for factor, summary in zip(fact.factors, summaries, strict=False):
        values, exponent = summary or ([fmpz(0)] * factor.columns, 0)
        given.append(matrix([length((values, exponent), factor.columns)], exponent))
    tau, rest = ranges(fact.factors[-1]), fact.factors[-1]
    for factor, e in zip(reversed(fact.factors[:-1]), reversed(given), strict=True):
        every = ones(factor.rows)
        tau = every @ ranges(e @ rest) + (factor - every @ e).absolute() @ tau
        rest = factor @ rest
    return Admissible(fact.name, fact.centre, fact.approx, tau)


def row_norm(fact: Factored) -> Admissible:
    require(len(fact.factors) == 2, "not two factors")
    x, b = fact.factors
    w = b.columns
    centred = matrix([[w * n - sum(b.row(k)) for n in b.row(k)] for k in range(b.rows)])
    gram = centred.values * centred.values.transpose()
    bounds = []
    for i in range(x.rows):
        row = matrix([x.row(i)]).values
        square = (row * gram * row.transpose())[0, 0] * 2
        root = square.isqrt()
        bounds.append([ceiling(root + (root * root != square), fmpz(w))])
    return Admissible(fact.name, fact.centre, fact.approx, matrix(bounds, x.exponent + b.exponent))


def row_bound_min(facts: list[Admissible]) -> Admissible:
    require(len(facts) > 1, "one bound only")
    first = facts[0]
    for fact in facts[1:]:
        same = (fact.name, fact.centre, fact.approx) == (first.name, first.centre, first.approx)
        require(same, "bounds of different approximations")
    low = common(*(fact.bound for fact in facts))
    columns = [fact.bound.at(low) for fact in facts]
    least = [[min(column[i, 0] for column in columns)] for i in range(first.bound.rows)]
    return replace(first, bound=matrix(least, low))
