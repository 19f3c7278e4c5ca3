"""The facts of a verified certificate again, in the certifier's own arithmetic: for showing, not for deciding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..circuits import factors
from ..exact import Exact, Ints
from ..problem import Problem
from ..proof import Builder, Step
from ..strategies.subcubic.chain import Admissible, Chain, least


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A circuit as `approx` plus a product of factors."""

    circuit: str
    approx: Exact | None
    factors: tuple[Exact, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """A circuit as `approx` plus a rest whose rows range by at most `bound` (a column)."""

    circuit: str
    approx: Exact | None
    bound: Exact


Fact = Matrix | Bounded | None
"""None: a step that is not about matrices."""
Facts = Sequence[Fact]


def replay_facts(problem: Problem, steps: Sequence[Step]) -> list[Fact]:
    """One fact per step."""
    facts: list[Fact] = []
    for step in steps:
        rule = str(step["rule"])
        facts.append(RULES[rule](problem, step, facts) if rule in RULES else None)
    return facts


def _vector(value: Any) -> Exact:
    numbers: list[int] = [int(text, 16) for text in value["values"]]
    return Exact(np.array([numbers], dtype=object), int(value["exponent"]))


def _circuit(problem: Problem, step: Step, _: Facts) -> Fact:
    name, f = str(step["name"]), factors(problem.model, problem.task)
    if name == "EU":
        return Matrix(name, None, _augmented(f.query, f.w_u, f.direct))
    inner = f.token if name in ("EQKE", "EVOU") else f.position
    if isinstance(step["centre"], Mapping):
        centre, sign = _vector(step["centre"]), 1 if name in ("EQKE", "EVOU") else -1
        inner = inner + Exact(np.repeat(sign * centre.ints, len(inner.ints), axis=0), centre.exponent)
    if name in ("EVOU", "PVOU"):
        return Matrix(name, None, (inner, f.w_v, f.w_o, f.w_u))
    return Matrix(name, None, (*_augmented(f.query, f.w_q, f.b_q), f.w_k.transposed, inner.transposed))


def _augmented(left: Exact, right: Exact, row: Exact) -> tuple[Exact, Exact]:
    """left right + row as [left | 1] [right ; row], unless the row is zero."""
    if not row.ints.any():
        return left, right
    low, lower = min(left.exponent, 0), min(right.exponent, row.exponent)
    ones: Ints = np.full((len(left.ints), 1), 1 << -low, dtype=object)
    stacked = np.concatenate([right.at(lower), row.at(lower)])
    return Exact(np.concatenate([left.at(low), ones], axis=1), low), Exact(stacked, lower)


def _chain(step: Step, facts: Facts) -> tuple[str, Chain]:
    fact = facts[int(str(step["of"]))]
    if not isinstance(fact, Matrix):
        raise ValueError("premise is not a circuit")
    return fact.circuit, Chain(Builder(), 0, fact.approx, fact.factors)


def _product(_: Problem, step: Step, facts: Facts) -> Fact:
    name, chain = _chain(step, facts)
    done = chain.product(int(str(step["at"])))
    return Matrix(name, done.approx, done.factors)


def _peel(_: Problem, step: Step, facts: Facts) -> Fact:
    name, chain = _chain(step, facts)
    done = chain.peel(int(str(step["at"])), _vector(step["column"]), _vector(step["row"]))
    return Matrix(name, done.approx, done.factors)


def _row_exact(_: Problem, step: Step, facts: Facts) -> Fact:
    name, chain = _chain(step, facts)
    return _bounded(name, chain.exact())


def _row_norm(_: Problem, step: Step, facts: Facts) -> Fact:
    name, chain = _chain(step, facts)
    return _bounded(name, chain.norm())


def _row_range_chain(_: Problem, step: Step, facts: Facts) -> Fact:
    name, chain = _chain(step, facts)
    rows = step["summaries"]
    if not isinstance(rows, list):
        raise ValueError("summaries must be a list")
    return _bounded(name, chain.range_chain([None if row is None else _vector(row) for row in rows]))


def _row_bound_min(_: Problem, step: Step, facts: Facts) -> Fact:
    numbers = step["of"]
    if not isinstance(numbers, list):
        raise ValueError("premises must be a list")
    found = [facts[int(str(number))] for number in numbers]
    bounded = [fact for fact in found if isinstance(fact, Bounded)]
    smallest = least(Builder(), [Admissible(0, fact.approx, fact.bound) for fact in bounded])
    return Bounded(bounded[0].circuit, smallest.approx, smallest.bound)


def _bounded(name: str, fact: Admissible) -> Bounded:
    return Bounded(name, fact.approx, fact.bound)


RULES = {
    "circuit": _circuit,
    "product": _product,
    "peel": _peel,
    "row_exact": _row_exact,
    "row_norm": _row_norm,
    "row_range_chain": _row_range_chain,
    "row_bound_min": _row_bound_min,
}
