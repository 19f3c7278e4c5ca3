"""What the export needs to know of the proof: its counting steps, their thresholds, centres and premises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .certificate import Certificate
from .numerals import Table, dyadic, table

COUNTING = ("enumerate", "margin_tree", "pure_sequences", "gap_classes", "margin_convolution")
PREMISES = ("of", "scores", "positions", "weights", "direct", "exact_direct", "values", "output_positions", "margins")
PREMISES_OF_FLOATS = ("errors", "right", "wrong")


@dataclass(frozen=True, slots=True)
class Counting:
    """One step that counts inputs over the real numbers."""

    number: int
    rule: str
    threshold: Fraction
    region: tuple[tuple[int, int, int], ...]
    right: int
    wrong: int
    keys: int | None  # the step whose centre the scores use
    values: int | None
    inside: tuple[int, ...]  # the earlier steps whose arithmetic it rests on


def premises(step: dict[str, Any]) -> list[int]:
    """The numbers of the steps that a step uses."""
    keys = PREMISES_OF_FLOATS if step["rule"] == "float_count" else PREMISES
    found: list[int] = []
    for key in keys:
        value = step.get(key)
        found += [n for n in (value if isinstance(value, list) else [value]) if isinstance(n, int)]
    return found


def closure(steps: Sequence[dict[str, Any]], number: int) -> tuple[int, ...]:
    """All steps that a step rests on, in order."""
    seen: set[int] = set()
    todo = premises(steps[number])
    while todo:
        n = todo.pop()
        if n not in seen:
            seen.add(n)
            todo += premises(steps[n])
    return tuple(sorted(seen))


def counting(certificate: Certificate, number: int) -> Counting:
    """A counting step, read."""
    steps, step = certificate.steps, certificate.steps[number]
    margins = steps[step["margins"]] if "margins" in step else step
    scores = steps[margins["weights"]]["scores"] if "weights" in margins else margins["scores"]
    return Counting(
        number=number,
        rule=step["rule"],
        threshold=dyadic((margins["margin_above"], margins["exponent"])),
        region=_region(certificate, step),
        right=int(step["right"], 16),
        wrong=int(step.get("wrong", "0"), 16),
        keys=_centre(steps, scores),
        values=_centre(steps, margins["values"]),
        inside=closure(steps, number),
    )


def _region(certificate: Certificate, step: dict[str, Any]) -> tuple[tuple[int, int, int], ...]:
    """The spans; margin_convolution takes all classes of the maxima that it lists."""
    if "region" in step:
        return tuple((span[0], span[1], span[2]) for span in step["region"])
    one_query = certificate.claim["task"]["eos"] is not None
    return tuple((item["m"], 0, 1 if one_query else item["m"] + 1) for item in step["maxima"])


def _centre(steps: Sequence[dict[str, Any]], number: int) -> int | None:
    """The step `circuit` that a fact about a circuit comes from, if that has a centre."""
    step = steps[number]
    while step["rule"] != "circuit":
        number = step["of"][0] if isinstance(step["of"], list) else step["of"]
        step = steps[number]
    return None if step["centre"] is None else number


def centre_table(step: dict[str, Any]) -> Table:
    """The centre of a step `circuit`, as one row."""
    value = step["centre"]
    return table([[int(text, 16) for text in value["values"]]], value["exponent"])


def counted(steps: Sequence[dict[str, Any]], number: int) -> tuple[int, int]:
    """The numbers of a fact `Count`: right, wrong."""
    step = steps[number]
    if step["rule"] == "disjoint_union":
        parts = [counted(steps, n) for n in step["of"]]
        return sum(right for right, _ in parts), sum(wrong for _, wrong in parts)
    if step["rule"] == "float_count":
        return counted(steps, step["right"])[0], 0 if step["wrong"] is None else counted(steps, step["wrong"])[1]
    return int(step["right"], 16), int(step.get("wrong", "0"), 16)


def threshold_step(certificate: Certificate, number: int) -> Fraction:
    """The threshold of a count over the real numbers."""
    step = certificate.steps[number]
    if step["rule"] == "disjoint_union":
        return threshold_step(certificate, step["of"][0])
    return counting(certificate, number).threshold


def rests_on(numbers: Sequence[int]) -> str:
    """`the steps 0 to 4, 7`."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][1] + 1:
            parts[-1][1] = n
        else:
            parts.append([n, n])
    return "the steps " + ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in parts)
