"""A proof whose counts are of single classes, maxima or queries, so that the checker states every one of them.

A count is exact for each class whatever its region is; only its sum is stated. Here its step becomes one for each part
of its region and a `disjoint_union`. The parts are counted again in the certifier's arithmetic; the checker decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

from .audit.convolved import account
from .audit.pure import Pure
from .errors import CompactProofsError
from .problem import Problem
from .proof import PREMISES, Builder, Json, Proof, Step, hexadecimal, region_json
from .screen import survivors
from .strategies import brute_force, margin_tree
from .task import Region, pairs, region_of
from .weights import Precision

By = Literal["class", "maximum", "query"]
Class = tuple[int, int]
"""Query and maximum."""
Counts = Mapping[Class, tuple[int, int]]
"""Masses proved right and wrong."""
MOVED: Final = PREMISES | {"errors", "right", "wrong"}
"""Arguments that name steps wherever they hold numbers: those of counts are hexadecimal text."""


def apart(problem: Problem, proof: Proof, by: By) -> Proof:
    """The same proof, its counts taken apart. Errors: APART_RULE, APART_RECOUNT."""
    builder, numbers = Builder(), list[int]()
    for step in proof.steps:
        if step["rule"] in RULES:
            numbers.append(_split(problem, proof.steps, step, by, builder, numbers))
        elif "region" in step:
            text = f"{step['rule']} counts its region as a whole; take margin-tree, brute-force, cubic or"
            raise CompactProofsError("APART_RULE", f"{text} margin-convolution", place="--by")
        else:
            builder.steps.append(_moved(step, numbers))
            numbers.append(len(builder.steps) - 1)
    return Proof(proof.strategy, tuple(builder.steps), proof.lower, proof.upper, proof.undecided)


def _split(
    problem: Problem, steps: Sequence[Step], step: Step, by: By, builder: Builder, numbers: Sequence[int]
) -> int:
    """Add the counts of the parts; the number of the step that joins them."""
    margins = steps[_int(step["margins"])]
    threshold = int(str(margins["margin_above"]), 16), _int(margins["exponent"])
    weights = steps[_int(margins["weights"])]
    chosen = Precision(_int(weights["bits"]), _int(weights["grid"]), _int(step.get("digits", 8)))
    counted = RULES[str(step["rule"])](Problem(problem.model, problem.task, threshold), step, chosen)
    keys: dict[By, Callable[[int, int], tuple[int, ...]]]
    keys = {"class": lambda q, m: (m, q), "maximum": lambda q, m: (m,), "query": lambda q, m: (q,)}
    parts: dict[tuple[int, ...], list[Class]] = {}
    for q, m in counted:
        parts.setdefault(keys[by](q, m), []).append((q, m))
    sums = [tuple(sum(counted[each][side] for each in part) for side in (0, 1)) for part in parts.values()]
    stated = [int(str(step.get(key, "0")), 16) for key in ("right", "wrong")]
    if stated != [sum(each[side] for each in sums) for side in (0, 1)]:
        raise CompactProofsError("APART_RECOUNT", f"{step['rule']}: the parts do not add up to the count; report this")
    base = _moved(step, numbers)
    found: list[Json] = []
    for part, (right, wrong) in zip(parts.values(), sums, strict=True):
        new = {**base, **_region(step, part, by), "right": hexadecimal(right)}
        builder.steps.append({**new, "wrong": hexadecimal(wrong)} if "wrong" in step else new)
        found.append(len(builder.steps) - 1)
    return len(builder.steps) - 1 if len(found) == 1 else builder.add("disjoint_union", of=found)


def _region(step: Step, part: Sequence[Class], by: By) -> Step:
    """The arguments that say what a part is."""
    if step["rule"] != "margin_convolution":
        return {"region": region_json(region_of(part))}
    if by != "maximum":
        text = f"margin_convolution counts whole maxima, not each {by}; take --by maximum, or another strategy"
        raise CompactProofsError("APART_RULE", text, place="--by")
    maxima: Any = step["maxima"]
    return {"maxima": [entry for entry in maxima if entry["m"] == part[0][1]]}


def _int(value: object) -> int:
    return int(str(value))


def _moved(step: Step, numbers: Sequence[int]) -> Step:
    """A step with its premises renumbered."""
    new: Step = {}
    for key, value in step.items():
        if key in MOVED and isinstance(value, int):
            value = numbers[value]
        elif key in MOVED and isinstance(value, list):
            value = [numbers[_int(item)] for item in value]
        new[key] = value
    return new


def _span_region(step: Step) -> Region:
    spans: Any = step["region"]
    return tuple((int(m), int(low), int(high)) for m, low, high in spans)


def _tree(problem: Problem, step: Step, chosen: Precision) -> Counts:
    """Each class walked once more."""
    task, found = problem.task, dict[Class, tuple[int, int]]()
    alive = {m: survivors(problem, m).alive for m, _, _ in _span_region(step)}
    weights = list(problem.enclosures(chosen))
    for q, m in pairs(_span_region(step)):
        wrong = undecided = 0
        if size := task.class_size(q, m):
            outputs = [int(o) for o in alive[m][q].nonzero()[0]]
            wrong, undecided = margin_tree.wrong_in_class(problem, q, m, outputs, weights[q], chosen)
        found[q, m] = size - wrong - undecided, wrong
    return found


def _enumerated(problem: Problem, step: Step, chosen: Precision) -> Counts:
    found = {}
    for q, m in pairs(_span_region(step)):
        wrong, undecided = brute_force.wrong_in_class(problem, q, m, chosen.digits)
        found[q, m] = problem.task.class_size(q, m) - wrong - undecided, wrong
    return found


def _pure(problem: Problem, step: Step, chosen: Precision) -> Counts:
    pure = Pure(problem)
    return {(q, m): (sum(pure.counts(q, m)), 0) for q, m in pairs(_span_region(step))}


def _convolved(problem: Problem, step: Step, chosen: Precision) -> Counts:
    weights = {"bits": chosen.bits, "grid": chosen.grid}
    seen, maxima = account(problem, step, weights, deep=False), set[int]()
    entries: Any = step["maxima"]
    maxima.update(int(entry["m"]) for entry in entries)
    whole = ((q, m) for q, m in pairs(problem.task.whole()) if m in maxima)
    return {(q, m): (int(seen.right[q, m]), int(seen.wrong[q, m])) for q, m in whole}


RULES: Final[Mapping[str, Callable[[Problem, Step, Precision], Counts]]] = {
    "margin_tree": _tree,
    "enumerate": _enumerated,
    "pure_sequences": _pure,
    "margin_convolution": _convolved,
}
"""Rules that count classes one by one, and how each is counted again."""
