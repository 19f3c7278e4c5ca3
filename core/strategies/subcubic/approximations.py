"""The paper's options for EU (Theorems 21 and 24) and for the error of EQKE (H.2.1), as steps with exact values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...circuits import Factors, factors
from ...exact import Exact, Floats
from ...grid import Choice
from ...problem import Problem
from ...proof import Builder
from .chain import Admissible, Chain, dyadic, least, vector_json
from .witnesses import directions, query_summary, singular

SVD, MAX_DIFF, SUBPRODUCT, RECURSIVE, MEAN, MEAN_SUBPRODUCT, MEAN_RECURSIVE, ALL_MEANS, EXACT, ROW_RANGES = range(10)
MEAN_QUERY, SVD_QUERY, NO_QUERY, ROWS_OF_EU, WHOLE_EU = range(5)


@dataclass(frozen=True, slots=True)
class Parts:
    """The factors of EQKE and EU with the biases of queries and outputs folded in as the rule `circuit` does."""

    tensors: Factors
    queries: Exact
    w_q: Exact
    direct_queries: Exact
    unembed: Exact

    @classmethod
    def of(cls, problem: Problem) -> Parts:
        f = factors(problem.model, problem.task)
        return cls(f, *_augmented(f.query, f.w_q, f.b_q), *_augmented(f.query, f.w_u, f.direct))


def _augmented(left: Exact, right: Exact, row: Exact) -> tuple[Exact, Exact]:
    """left right + row as [left | 1] [right ; row], unless the row is zero."""
    if not row.ints.any():
        return left, right
    low, lower = min(left.exponent, 0), min(right.exponent, row.exponent)
    ones = np.full((len(left.ints), 1), 1 << -low, dtype=object)
    stacked = np.concatenate([right.at(lower), row.at(lower)])
    return Exact(np.concatenate([left.at(low), ones], axis=1), low), Exact(stacked, lower)


def scores(parts: Parts, choice: Choice, builder: Builder) -> Admissible:
    """EQKE, approximated and bounded as the error option says."""
    f = parts.tensors
    centre = dyadic(f.position.floats().mean(axis=0))
    keys = (f.token + Exact(np.repeat(centre.ints, len(f.token.ints), axis=0), centre.exponent)).transposed
    step = builder.circuit("EQKE", vector_json(centre))
    chain = Chain(builder, step, None, (parts.queries, parts.w_q, f.w_k.transposed, keys))
    if choice.error == EXACT:
        return chain.product(0).product(0).product(0).exact()
    if choice.error in (SUBPRODUCT, RECURSIVE, MEAN_SUBPRODUCT, MEAN_RECURSIVE, ALL_MEANS):
        return _bound_four(_peeled(chain), choice.error)
    # the published code associates three and one when the head is as wide as the model, else two and two
    left = 3 if len(f.w_q.ints) == f.w_q.ints.shape[1] else 2
    return _bound_two(chain.joined(left), choice.error)


def _peeled(chain: Chain) -> Chain:
    """Six rank-one terms into the approximation; what is left keeps its four factors."""
    queries, w_q, w_k, keys = (factor.floats() for factor in chain.factors)
    found = directions(queries, keys.T, w_q, w_k.T)
    for row in (found.query, found.second_query):
        chain = _along_rows(chain, 0, row)
    for row in (found.key, found.second_key):
        chain = _along_columns(chain, 3, row)
    return _along_columns(_along_rows(chain, 1, found.w_q), 2, found.w_k)


def _along_rows(chain: Chain, at: int, direction: Floats) -> Chain:
    """Peel y z with y near a unit direction and z the best row for it."""
    return chain.peel(at, dyadic(direction), dyadic(direction @ chain.factors[at].floats()))


def _along_columns(chain: Chain, at: int, direction: Floats) -> Chain:
    return chain.peel(at, dyadic(chain.factors[at].floats() @ direction), dyadic(direction))


def _bound_four(chain: Chain, error: int) -> Admissible:
    """Lemma C, or the best of the three splits of four factors (Lemma D)."""
    if error in (RECURSIVE, MEAN_RECURSIVE, ALL_MEANS):
        levels = {RECURSIVE: 0, MEAN_RECURSIVE: 1, ALL_MEANS: 3}[error]
        return chain.range_chain([_mean_row(f) if i < levels else None for i, f in enumerate(chain.factors[:-1])])
    splits = [chain.joined(left) for left in (1, 2, 3)]
    means = [_mean_row(split.factors[0]) if error == MEAN_SUBPRODUCT else None for split in splits]
    return least(chain.builder, [split.range_chain([mean]) for split, mean in zip(splits, means, strict=True)])


def _bound_two(chain: Chain, error: int) -> Admissible:
    """EQKE without its first singular vectors. The cross terms that the published code drops are kept."""
    left, right = (factor.floats() for factor in chain.factors)
    u, w = singular(left @ right)
    chain = _along_rows(chain, 0, u)
    if error == SVD:
        return chain.norm()
    if error == ROW_RANGES:
        return chain.product(0).range_chain([])
    chain = _along_columns(chain, 1, w)
    return chain.range_chain([_mean_row(chain.factors[0]) if error == MEAN else None])


def _mean_row(matrix: Exact) -> Exact:
    return dyadic(matrix.floats().mean(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Direct:
    """EU: the step of its exact product, its approximation, and the bound per query that the strategy uses."""

    exact_step: int
    admissible: Admissible
    used: Exact


def direct(parts: Parts, choice: Choice, builder: Builder, summary: bool) -> Direct:
    """EU, bounded as the EU option says."""
    chain = Chain(builder, builder.circuit("EU"), None, (parts.direct_queries, parts.unembed))
    product = chain.product(0)
    if choice.eu in (ROWS_OF_EU, WHOLE_EU):
        centred = _without_row(product, _mean_row(product.factors[0])) if summary else product
        found, entries = centred.range_chain([]), centred.factors[0]
        whole = np.full_like(found.bound.ints, entries.ints.max() - entries.ints.min())
        used = Exact(whole, entries.exponent) if choice.eu == WHOLE_EU else found.bound
        return Direct(product.step, found, used)
    row = _query_row(parts, choice.eu, summary)
    if row is not None:
        chain = _without_row(chain, row)
    found = chain.range_chain([None])
    return Direct(product.step, found, found.bound)


def _without_row(chain: Chain, row: Exact) -> Chain:
    """One row taken off every row of the first factor: what is common to all queries."""
    ones = Exact(np.ones((1, len(chain.factors[0].ints)), dtype=object), 0)
    return chain.peel(0, ones, row)


def _query_row(parts: Parts, eu: int, summary: bool) -> Exact | None:
    """The row that stands for all queries; folded biases are common to them and always belong to it."""
    biased = parts.direct_queries.ints.shape[1] - parts.tensors.query.ints.shape[1]
    if eu == MEAN_QUERY:
        return _mean_row(parts.direct_queries)
    width = parts.tensors.query.ints.shape[1]
    row = np.zeros(width)
    if eu == SVD_QUERY:
        f = parts.tensors
        position = f.position.floats()
        row = query_summary(f.query.floats() - position[-1] + position.mean(axis=0), f.w_u.floats(), weighted=summary)
    elif not biased:
        return None
    return dyadic(np.concatenate([row, np.ones(biased)]))
