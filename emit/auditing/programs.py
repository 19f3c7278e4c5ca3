"""What claims about floating-point programs lose to rounding, as text, tables and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.audit.rounding import Rounding, Undecided, rounding
from ...core.audit.words import Words
from ...core.decimals import decimal, percent
from ...core.semantics import Semantics
from .document import Document
from .numbers import enclosed

MACHINE = (
    "the machine computes as the claim says: round to nearest in the format named, exp as good as stated; "
    "no TF32, no narrower accumulation, no fused attention, no fast-math (docs/TRUST.md)"
)
PLACES = 9


def rounding_of(document: Document) -> Rounding | None:
    """None for a claim about the real numbers."""
    stated = document.claim["semantics"]
    if stated == "real":
        return None
    problem = document.problem
    if len(document.question.parts) > 1:  # the inputs near the threshold are looked for among all of the task
        problem = replace(problem, task=replace(problem.task, masses=None, maxima=None))
    return rounding(problem, Semantics(**stated))


def name_of(document: Document) -> str:
    """The numbers that a claim is about."""
    stated = document.claim["semantics"]
    if stated == "real":
        return "real"
    return f"{stated['format']}, exp {stated['exp_ulp']} ulp, {stated['underflow']}"


def summary(found: Rounding) -> str:
    """What is undecided, in one sentence."""
    far = decimal(found.far, PLACES, up=True)
    text = f"a margin of the program is within 2 eps = {far} of the real one"
    if found.count is None:
        return f"{text}; the inputs that near to the threshold are too many to search"
    return f"{text}; {found.count} inputs are that near to the threshold: rounding may decide them, in either direction"


def stages(found: Rounding) -> list[tuple[str, ...]]:
    """Stage, meaning, bound, and its share of eps (none for the first, which is no part of a logit)."""
    eps = found.errors.largest
    rows: list[tuple[str, ...]] = [
        (name, text, decimal(value, PLACES, up=True), "" if name == "scores" else percent_of(value / eps))
        for name, text, value in found.stages
    ]
    return [*rows, ("eps", "all together, for the query with the largest", decimal(eps, PLACES, up=True), "")]


def percent_of(share: Any) -> str:
    return f"{decimal(100 * share, 1)} %"


def undecided_rows(found: Rounding, words: Words) -> list[tuple[str, ...]]:
    """Input, real margin, float32 margins, float32 answers."""
    return [
        (
            " ".join(map(str, each.replayed.tokens)),
            words.margin(each.replayed.real.kind, enclosed(each.replayed.real)),
            f"{each.low:.9f}..{each.high:.9f}",
            words.verdict(each.answer(found.bar)),
        )
        for each in found.undecided or ()
    ]


def tried(found: Rounding) -> str:
    """How the listed inputs fared, in one sentence."""
    listed = found.undecided or ()
    depend = sum(each.answer(found.bar).startswith("depends") for each in listed)
    other = sum(each.answer(found.bar) not in (each.replayed.real.kind, "depends on the order") for each in listed)
    text = f"{len(listed)} of them run in float32 in several orders: {depend} answers depend on the order"
    return f"{text}, {other} more differ from that over the real numbers"


def to_json(found: Rounding) -> dict[str, Any]:
    """The same for programs; masses and bounds are strings."""
    listed = None if found.undecided is None else [_undecided(each, found.bar) for each in found.undecided]
    return {
        "eps": decimal(found.errors.largest, 18, up=True),
        "two_eps": decimal(found.far, 18, up=True),
        "by_stage": {name: decimal(value, 18, up=True) for name, _, value in found.stages},
        "by_query": [decimal(found.errors.number(n), 18, up=True) for n in found.errors.bound],
        "undecided": None if found.count is None else found.count,
        "undecided_inputs": listed,
    }


def _undecided(each: Undecided, bar: float) -> dict[str, Any]:
    real = each.replayed.real
    return {
        "tokens": list(each.replayed.tokens),
        "real": real.kind,
        "margin": [decimal(real.low, 18), decimal(real.high, 18, up=True)],
        "float32_margins": [each.low, each.high],
        "float32": each.answer(bar),
    }


def side_by_side(documents: Sequence[tuple[Document, str]]) -> list[tuple[str, ...]]:
    """Certificates of one claim for different numbers: bounds, and what each loses against the reals.

    Takes certificates with the kinds of their proofs; only those with a companion of another semantics are rows.
    """
    groups: dict[str, list[tuple[Document, str]]] = {}
    for document, kind in documents:
        claim = {key: value for key, value in document.claim.items() if key not in ("semantics", "bounds")}
        key = json.dumps([document.verdict.report["model_sha256"], claim, kind], sort_keys=True)
        groups.setdefault(key, []).append((document, kind))
    rows: list[tuple[str, ...]] = []
    for group in groups.values():
        if len({name_of(document) for document, _ in group}) < 2:
            continue
        real = next((d for d, _ in group if d.claim["semantics"] == "real"), None)
        for d, kind in group:
            lost = "" if real is None else _points(real.lower - d.lower, d.total)
            freed = "" if real is None else _points(d.upper - real.upper, d.total)
            rows.append((kind, name_of(d), *d.ends, str(d.upper - d.lower), lost, freed))
    return rows


def _points(count: int, total: int) -> str:
    """A difference of two counts in percentage points."""
    return f"{'-' if count < 0 else ''}{percent(abs(count), total, up=True).removesuffix(' %')}"
