"""The proof step by step: rule, arguments, premises, and the numbers of what was derived, in decimals and exactly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from ...core.audit.facts import Bounded, Fact, Matrix, replay_facts
from ...core.decimals import decimal, percent, remains
from ...core.exact import Exact, rational
from ...core.problem import Problem
from ...core.proof import Step
from ...core.question import LOSS_BITS
from ...core.weights import Precision
from .report import Report

PREMISES = frozenset(
    ("of", "scores", "positions", "weights", "direct", "values", "margins", "exact_direct", "output_positions", "right")
)
"""Arguments that may name earlier steps; `right` does so only where it is a number (float_count)."""
LONG = 72


def sections() -> dict[str, str]:
    """The mathematics of each rule: the sections of docs/FORMAT.md headed by a rule's name, as HTML."""
    text = (Path(__file__).with_name("FORMAT.md")).read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("### `"):
            current = found.setdefault(line.removeprefix("### `").rstrip("`"), [])
        elif line.startswith(("## ", "### ")):
            current = None
        elif current is not None:
            current.append(line)
    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    return {rule: str(renderer.render("\n".join(lines))) for rule, lines in found.items()}


def premises_of(step: Step) -> list[tuple[str, int]]:
    """(argument, step number) of all premises."""
    found: list[tuple[str, int]] = []
    for key, value in step.items():
        # "right" and "wrong" are counts in hexadecimal text elsewhere, and steps only in float_count
        if key in PREMISES or key in ("errors", "wrong"):
            numbers = value if isinstance(value, list) else [value]
            found += [(key, n) for n in numbers if type(n) is int]
    return found


def steps_of(report: Report) -> list[dict[str, Any]]:
    """All steps for the page."""
    document = report.document
    facts: Sequence[Fact] = report.losses.facts if report.losses else replay_facts(document.problem, document.steps)
    users: dict[int, list[int]] = {}
    for number, step in enumerate(document.steps):
        for _, premise in premises_of(step):
            users.setdefault(premise, []).append(number)
    return [
        {
            "rule": step["rule"],
            "title": _title(step, fact),
            "premises": premises_of(step),
            "used_by": sorted(set(users.get(number, []))),
            "arguments": [[key, _argument(value)] for key, value in step.items() if key != "rule"],
            "numbers": _numbers(report, step, fact),
        }
        for number, (step, fact) in enumerate(zip(document.steps, facts, strict=True))
    ]


def _title(step: Step, fact: Fact) -> str:
    """One line that tells steps of one rule apart."""
    if isinstance(fact, Matrix):
        sizes = " · ".join(f"{m.ints.shape[0]}×{m.ints.shape[1]}" for m in fact.factors)
        return f"{fact.circuit} = {'approximation + ' if fact.approx is not None else ''}{sizes}"
    if isinstance(fact, Bounded):
        return f"{fact.circuit} within a bound per row"
    if "right" in step and isinstance(step["right"], str):
        part = f"part {int(str(step['part'])) + 1}: " if "part" in step else ""
        return f"{part}{int(step['right'], 16)} right"
    if step["rule"] == "margins":
        n, exponent = int(str(step["margin_above"]), 16), int(str(step["exponent"]))
        return f"margins above {_decimal(n, exponent).rstrip('0').rstrip('.')} as sums" if n else "margins as sums"
    return {"weights": "attention weights, enclosed"}.get(str(step["rule"]), "")


def _argument(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONG else f"{text[: LONG - 12]}… ({len(text)} characters)"


Number = tuple[str, str, str]
"""What it is, in decimals, exactly."""


def _numbers(report: Report, step: Step, fact: Fact) -> list[Number]:
    problem, question = report.document.problem, report.document.question
    total = question.parts[int(str(step.get("part", 0)))][1].task.total
    if isinstance(fact, Matrix):
        rows = [] if fact.approx is None else _matrix("approximation", fact.approx)
        for i, factor in enumerate(fact.factors):
            rows += _matrix(fact.circuit if len(fact.factors) == 1 else f"factor {i + 1}", factor)
        return rows
    if isinstance(fact, Bounded):
        rows = [] if fact.approx is None else _matrix("approximation", fact.approx)
        return rows + _matrix("bound per row", fact.bound)
    if step["rule"] == "weights":
        return _weights(problem, step)
    document = report.document
    if step["rule"] == "log_loss":
        exact = [f"{n} · 2^−{LOSS_BITS}" for n in (document.lower, document.upper)]
        return list(zip(("at least", "at most"), document.ends, exact, strict=True))
    if step["rule"] == "conclude":
        masses = [f"{n} of {document.total}" for n in (document.lower, document.upper)]
        return list(zip(("at least right", "at most right"), document.ends, masses, strict=True))
    counts = {key: int(str(step[key]), 16) for key in ("right", "wrong") if isinstance(step.get(key), str)}
    shown = {key: percent(n, total) for key, n in counts.items()}
    if len(counts) == 2 and sum(counts.values()) == total:  # an exact count, of which nothing is lost by rounding
        shown["wrong"] = remains(counts["right"], counts["right"], total)[0]
    return [(key, shown[key], f"{n} of {total}") for key, n in counts.items()]


def _matrix(name: str, matrix: Exact) -> list[Number]:
    """Ends and first entry."""
    shape = f"{matrix.ints.shape[0]}×{matrix.ints.shape[1]}"
    places = (
        ("smallest", int(matrix.ints.min())),
        ("largest", int(matrix.ints.max())),
        ("first", int(matrix.ints[0, 0])),
    )
    return [
        (f"{name} ({shape}), {word} entry", _decimal(n, matrix.exponent), _exact(n, matrix.exponent))
        for word, n in places
    ]


def _weights(problem: Problem, step: Step) -> list[Number]:
    """Enclosures of the first query's weights."""
    bits = int(str(step["bits"]))
    (token, position) = next(problem.enclosures(Precision(bits, int(str(step["grid"])), 64), [0]))
    rows = []
    for name, (low, high) in (("token", token), ("position", position)):
        for i in dict.fromkeys((0, 1, len(low) - 1)):
            if i < len(low):
                rows.append(
                    (
                        f"query 0, weight of {name} {i}, relative to the largest",
                        f"[{_decimal(low[i], -bits)}, {_decimal(high[i], -bits, up=True)}]",
                        f"{low[i]} … {high[i]} · 2^−{bits}",
                    )
                )
    return rows


def _decimal(n: int, exponent: int, up: bool = False) -> str:
    return decimal(rational(n, exponent), 12, up)


def _exact(n: int, exponent: int) -> str:
    return f"{n} · 2^{exponent}".replace("-", "−")
