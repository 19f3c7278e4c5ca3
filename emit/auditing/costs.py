"""How long a proof is by the paper's counting, as far as the steps tell which of its strategies wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.cost import (
    Sizes,
    brute_force_dimensions,
    brute_force_flops,
    cubic_dimensions,
    cubic_flops,
    subcubic_dimensions,
    subcubic_flops,
)
from ...core.grid import Choice
from ...core.problem import Problem
from ...core.proof import Step

KINDS = {
    "enumerate": "brute force",
    "pure_sequences": "cubic",
    "gap_classes": "sub-cubic",
    "margin_tree": "margin tree",
    "margin_convolution": "margin convolution",
}


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper's strategy, its estimated FLOPs and its unexplained dimensions."""

    strategy: str
    flops: int
    dimensions: int


def kind_of(rules: Sequence[str]) -> str:
    """The kind of a proof in words."""
    return " + ".join(KINDS.get(rule, rule) for rule in rules)


def paper_cost(problem: Problem, rules: Sequence[str], steps: Sequence[Step]) -> Paper | None:
    """None for proofs that the paper does not have, and for tasks that it does not treat."""
    task = problem.task
    if task.eos is not None or task.masses is not None or task.maxima is not None or len(rules) != 1:
        return None
    sizes = Sizes(problem.task.length, problem.task.tokens, problem.model.d_model)
    if rules[0] == "enumerate":
        return Paper("brute force", brute_force_flops(sizes), brute_force_dimensions(sizes))
    if rules[0] == "pure_sequences":
        return Paper("cubic", cubic_flops(sizes), cubic_dimensions(sizes))
    if rules[0] == "gap_classes":
        choice = recognise(steps)
        name = f"sub-cubic {choice.number}: {choice.name}"
        return Paper(name, subcubic_flops(sizes, choice), subcubic_dimensions(sizes, choice))
    return None


def recognise(steps: Sequence[Step]) -> Choice:
    """The strategy of a sub-cubic proof. Options that differ only in the search are told as the cheaper one."""
    count = next(step for step in steps if step["rule"] == "gap_classes")
    scores, direct = _ancestry(steps, _int(count["scores"])), _ancestry(steps, _int(count["direct"]))
    pivots: Any = count["pivots"]
    return Choice(_direct_option(direct), 0 if any(pivots) else 1, _error_option(scores))


def _ancestry(steps: Sequence[Step], last: int) -> list[Step]:
    """A step and all that it rests on."""
    found, queue = set(), [last]
    while queue:
        number = queue.pop()
        if number not in found:
            found.add(number)
            of: Any = steps[number].get("of")
            queue += [] if of is None else of if isinstance(of, list) else [of]
    return [steps[number] for number in sorted(found)]


def _direct_option(steps: list[Step]) -> int:
    rules = [str(step["rule"]) for step in steps]
    if "product" in rules:
        return 3
    return 0 if "peel" in rules else 2


def _error_option(steps: list[Step]) -> int:
    rules, last = [str(step["rule"]) for step in steps], steps[-1]
    if last["rule"] == "row_exact":
        return 8
    if last["rule"] == "row_norm":
        return 0
    if last["rule"] == "row_bound_min":
        return 5 if any(_summaries(step) for step in steps) else 2
    if rules.count("peel") > 2:
        return {0: 3, 1: 6}.get(_summaries(last), 7)
    if rules.count("peel") == 1:
        return 9
    return 4 if _summaries(last) else 1


def _summaries(step: Step) -> int:
    rows: Any = step.get("summaries") or []
    return sum(row is not None for row in rows)


def _int(value: object) -> int:
    return int(str(value))
