"""A sub-cubic strategy from its option names to a proof (the paper's section 4.3 and appendices F to H)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, sqrt

import numpy as np

from ...errors import CompactProofsError
from ...exact import Exact
from ...grid import Choice
from ...problem import Problem
from ...proof import Builder, Json, Proof, hexadecimal, region_json
from ...weights import LOG2_E, row_spread
from .approximations import Direct, Parts, direct, scores
from .chain import Admissible, dyadic, vector_json
from .search import Found, Ints, Maximum, Rule, View, find

BITS, MOST_BITS, GRID = 64, 4096, 48
"""Fractional bits of exp and of its argument: far finer than the search's slack. More where positions differ much."""
UNIT = 16
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The facts of one strategy before the search: EQKE and EU approximated, and the centre of EVOU and PVOU."""

    builder: Builder
    scores: Admissible
    direct: Direct
    centre: Exact | None


def prepare(problem: Problem, choice: Choice, rule: Rule) -> Bounds:
    """The exact part: witnesses are found, rounded and applied. Errors: ONE_OUTPUT, NOT_UNIFORM."""
    problem.task.require_uniform("subcubic")
    if problem.model.d_vocab_out < 2:
        raise CompactProofsError("ONE_OUTPUT", "the model has one output, so every answer is right; nothing to bound")
    parts, builder = Parts.of(problem), Builder()
    centre = dyadic(parts.tensors.position.floats().mean(axis=0)) if rule.centred else None
    found = scores(parts, choice, builder)
    return Bounds(builder, found, direct(parts, choice, builder, rule.summary), centre)


def view(problem: Problem, bounds: Bounds) -> View:
    """The same in doubles, each rounded once."""
    floats, root = problem.floats, sqrt(problem.circuits.d_head)
    values, positions, approx = floats.values, floats.positions, bounds.scores.approx
    if bounds.centre is not None:
        f = Parts.of(problem).tensors
        moved = (bounds.centre @ f.w_v @ f.w_o @ f.w_u).floats()
        values, positions = values + moved, positions - moved
    common = bounds.direct.admissible.approx
    if approx is None:
        raise ValueError("scores need an approximation")
    return View(
        scores=Exact(approx.ints - approx.ints.max(axis=1)[:, None], approx.exponent).floats() / root,
        error=bounds.scores.bound.floats()[:, 0] / root,
        position=floats.position,
        common=np.zeros(values.shape[1]) if common is None else common.floats()[0],
        direct=bounds.direct.used.floats()[:, 0],
        values=values,
        positions=positions,
        shift=floats.shift,
    )


def search(problem: Problem, bounds: Bounds, choice: Choice, rule: Rule, progress: Progress) -> list[Found]:
    """The smallest gaps of every maximum."""
    shown, result = view(problem, bounds), []
    for m in problem.task.possible():
        progress(m, problem.task.tokens)
        result.append(find(Maximum(problem, shown, rule, m, UNIT), choice.combination == 0, UNIT))
    return result


def confirm(problem: Problem, bounds: Bounds, rule: Rule, gaps: list[Ints]) -> list[Found]:
    """Those of the given gaps that pass."""
    shown, result = view(problem, bounds), []
    for m, wanted in zip(problem.task.possible(), gaps, strict=True):
        maximum = Maximum(problem, shown, rule, m, UNIT)
        possible = (wanted > 0) & (wanted <= np.where(maximum.counts == 0, 1, m))
        passes = maximum.passes(np.maximum(wanted, 1), None)
        result.append(Found(np.where(possible & passes, wanted, 0), maximum.nodes))
    return result


def certified(problem: Problem, found: list[Found]) -> int:
    """Right sequences by the gaps and the constant sequences: the number that the checker derives."""
    task, right = problem.task, 0
    for m, entry in zip(task.possible(), found, strict=True):
        right += int(task.holds_max(m, m) and constant(problem, m))
        for q, i in np.argwhere(entry.gaps > 0):
            n = int(i) + int(task.holds_max(int(q), m))
            right += comb(task.free, n) * (m - int(entry.gaps[q, i]) + 1) ** n
    return right


def constant(problem: Problem, m: int) -> bool:
    """Is the sequence m...m right, each output's best position taken for it? Exactly."""
    logits = problem.logits
    direct, values = logits.direct[m], logits.values[m]
    best = [max(row[o] - row[m] for row in logits.positions) for o in range(len(direct))]
    sums = (direct[o] - direct[m] + values[o] - values[m] + best[o] for o in range(len(direct)) if o != m)
    return all(total + logits.shift < 0 for total in sums)


def assemble(problem: Problem, name: str, bounds: Bounds, found: list[Found]) -> Proof:
    """The remaining steps, and the bound."""
    builder, task = bounds.builder, problem.task
    centre = None if bounds.centre is None else vector_json(bounds.centre)
    right = certified(problem, found)
    arguments: dict[str, Json] = {
        "scores": bounds.scores.step,
        "positions": builder.exact_circuit("EQKP"),
        "direct": bounds.direct.admissible.step,
        "exact_direct": bounds.direct.exact_step,
        "values": builder.exact_circuit("EVOU", centre),
        "output_positions": builder.exact_circuit("PVOU", centre),
        "bits": _bits(problem),
        "grid": GRID,
        "margin_above": hexadecimal(problem.threshold[0]),
        "exponent": problem.threshold[1],
        "region": region_json(task.whole()),
        "unit": UNIT,
        "gaps": [_text(entry.gaps) for entry in found],
        "pivots": [[hexadecimal(round(p * 2.0**UNIT)) for p in entry.pivots] for entry in found],
        "right": hexadecimal(right),
    }
    builder.add("conclude", of=builder.add("gap_classes", **arguments))
    return Proof(name, tuple(builder.steps), right, task.total, 0)


def _bits(problem: Problem) -> int:
    """BITS for the lightest position, too, but for the first few that all models have to spare."""
    spread = float(np.max(row_spread(problem.circuits.eqkp))) / sqrt(problem.circuits.d_head)
    return min(BITS + max(round(min(spread, MOST_BITS) * LOG2_E) - 16, 0), MOST_BITS)


def _text(gaps: Ints) -> str:
    """Numbers in base 32, most significant digit first; all digits but the last are raised by 32."""
    result = []
    for gap in gaps.ravel():
        rest, digits = divmod(int(gap), 32)
        text = DIGITS[digits]
        while rest:
            rest, digits = divmod(rest, 32)
            text = DIGITS[32 + digits] + text
        result.append(text)
    return "".join(result)
