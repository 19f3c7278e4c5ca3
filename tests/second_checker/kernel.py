"""FORMAT.md, sections 1 and 5: a document, its steps, its conclusion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpz

from second_checker import circuits, counting, ending, floating, gaps
from second_checker.circuits import Admissible, Circuits, Factored
from second_checker.convolution import margin_convolution
from second_checker.counting import Count, Margins, Weights
from second_checker.document import (
    Refused,
    anything,
    demand,
    integer,
    load,
    number,
    one_of,
    optional,
    record,
    require,
    sequence,
    text,
    vector,
)
from second_checker.ending import Conclusion, Mixed
from second_checker.floating import FloatError
from second_checker.model import Claim, Model, float_semantics

PREMISE = integer(0, 10**9)


@dataclass(frozen=True)
class Need:
    """An argument that is a premise (or a list of premises, or one or null) of a kind."""

    kind: type
    many: bool = False
    absent: bool = False
    circuit: str = ""  # which circuit it must be about, and exact if it is Factored


class Whole:
    """The kind of a fact about all inputs: Mixed if there are several parts, else Count."""


class Proof:
    """The steps of one document; rules are methods."""

    def __init__(self, value: Any) -> None:
        found = record(
            value,
            {
                "format": one_of("compactproofs certificate"),
                "version": integer(1, 1),
                "model": Model,
                "claim": anything,
                "proof": sequence(anything),
                "end": integer(0, 1 << 14),
            },
        )
        self.model: Model = found["model"]
        self.claim = Claim(found["claim"], self.model)
        self.circuits = Circuits(self.model, self.claim)
        self.d_head = self.model.sizes["d_head"]
        self.steps = found["proof"]
        demand(found["end"] == len(self.steps), "the number of steps")
        self.facts: list[Any] = []
        self.used: set[int] = set()

    def run(self) -> None:
        """Every step, then the conclusion against the claim."""
        for step in self.steps:
            self.facts.append(self.apply(step))
        last = len(self.steps) - 1
        require(bool(self.facts) and isinstance(self.facts[-1], Conclusion), "no conclusion")
        require(self.used == set(range(last)), "a step is not used")
        end, claim = self.facts[-1], self.claim
        require(end.threshold == claim.threshold, "another threshold is claimed")
        require(end.semantics == claim.semantics, "other semantics are claimed")
        require((end.lower, end.upper) == (claim.lower, claim.upper), "other bounds are claimed")

    def apply(self, step: Any) -> Any:
        demand(isinstance(step, dict) and "rule" in step, "not a step")
        name = text(step["rule"])
        demand(name in RULES, "no such rule")
        rule, fields = RULES[name]
        parts = self.claim.parts
        if name in COUNTING and len(parts) > 1:
            fields = {"part": integer(0, len(parts) - 1), **fields}
        record(step, {"rule": text, **dict.fromkeys(fields, anything)})
        arguments = {key: self.premise(step[key], need) for key, need in fields.items() if isinstance(need, Need)}
        for key, field in fields.items():
            if field is REGION:
                arguments[key] = parts[arguments.get("part", 0)].region(step[key])
            elif not isinstance(field, Need):
                arguments[key] = field(step[key])
        stated = {side: arguments.pop(side) for side in ("right", "wrong") if fields.get(side) is number}
        self.part = parts[arguments.pop("part", 0)]
        fact = rule(self, arguments)
        for side, value in stated.items():
            require(getattr(fact, side) == value, f"{side}: {value} stated, {getattr(fact, side)} derived")
        return fact

    def premise(self, value: Any, need: Need) -> Any:
        """The fact, or facts, that an argument names."""
        if need.many:
            numbers = sequence(PREMISE)(value)
            require(len(set(numbers)) == len(numbers), "a premise is repeated")
            return [self.premise(item, Need(need.kind)) for item in numbers]
        kind = Mixed if need.kind is Whole and len(self.claim.parts) > 1 else Count if need.kind is Whole else need.kind
        if value is None and need.absent:
            return None
        place = PREMISE(value)
        require(place < len(self.facts), "a later step")
        self.used.add(place)
        fact = self.facts[place]
        require(isinstance(fact, kind), "a premise of another kind")
        if need.circuit:
            require(fact.name == need.circuit, f"a fact about {fact.name}, not {need.circuit}")
            if need.kind is Factored:
                fact.exact()
        return fact


Rule = Callable[[Proof, dict[str, Any]], Any]
REGION: Any = "region"
COUNTING = ("enumerate", "margin_tree", "pure_sequences", "gap_classes", "margin_convolution")
FACTORED, BITS, GRID, DIGITS = Need(Factored), integer(8, 4096), integer(8, 512), integer(8, 1024)
EQKE, EQKP, EU, EVOU, PVOU = (Need(Factored, circuit=name) for name in ("EQKE", "EQKP", "EU", "EVOU", "PVOU"))
THRESHOLD = {"margin_above": number, "exponent": integer(-4096, 4096)}
RULES: dict[str, tuple[Rule, dict[str, Any]]] = {
    "circuit": (
        lambda p, a: p.circuits.factored(**a),
        {"name": text, "centre": optional(vector)},
    ),
    "product": (
        lambda p, a: circuits.product(a["of"], a["at"]),
        {"of": FACTORED, "at": integer(0, 10**9)},
    ),
    "peel": (
        lambda p, a: circuits.peel(a["of"], a["at"], a["column"], a["row"]),
        {"of": FACTORED, "at": integer(0, 10**9), "column": vector, "row": vector},
    ),
    "row_exact": (lambda p, a: circuits.row_exact(a["of"]), {"of": FACTORED}),
    "row_range_chain": (
        lambda p, a: circuits.row_range_chain(a["of"], a["summaries"]),
        {"of": FACTORED, "summaries": sequence(optional(vector))},
    ),
    "row_norm": (lambda p, a: circuits.row_norm(a["of"]), {"of": FACTORED}),
    "row_bound_min": (lambda p, a: circuits.row_bound_min(a["of"]), {"of": Need(Admissible, many=True)}),
    "weights": (
        lambda p, a: counting.weights(p.claim, p.d_head, **a),
        {"scores": EQKE, "positions": EQKP, "bits": integer(8, 1 << 14), "grid": GRID},
    ),
    "margins": (
        lambda p, a: counting.margins(**a),
        {"weights": Need(Weights), "direct": EU, "values": EVOU, "positions": PVOU, **THRESHOLD},
    ),
    "enumerate": (
        lambda p, a: counting.enumerate_inputs(p.part, a["margins"], a["region"], a["digits"], a["logit_bits"]),
        {
            "margins": Need(Margins),
            "region": REGION,
            "digits": DIGITS,
            "logit_bits": integer(0, 2048),
            "right": number,
            "wrong": number,
        },
    ),
    "margin_tree": (
        lambda p, a: counting.margin_tree(p.part, a["margins"], a["region"], a["digits"]),
        {"margins": Need(Margins), "region": REGION, "digits": DIGITS, "right": number, "wrong": number},
    ),
    "pure_sequences": (
        lambda p, a: counting.pure_sequences(p.part, a["margins"], a["region"]),
        {"margins": Need(Margins), "region": REGION, "right": number},
    ),
    "gap_classes": (
        lambda p, a: gaps.gap_classes(p.part, p.d_head, a),
        {
            "scores": Need(Admissible, circuit="EQKE"),
            "positions": EQKP,
            "direct": Need(Admissible, circuit="EU"),
            "exact_direct": EU,
            "values": EVOU,
            "output_positions": PVOU,
            "bits": BITS,
            "grid": GRID,
            **THRESHOLD,
            "region": REGION,
            "gaps": sequence(anything),
            "unit": integer(1, 64),
            "pivots": sequence(anything),
            "right": number,
        },
    ),
    "margin_convolution": (
        lambda p, a: margin_convolution(p.part, **a),
        {
            "margins": Need(Margins),
            "digits": integer(8, 512),
            "unit": integer(-4096, 4096),
            "maxima": sequence(anything),
            "right": number,
            "wrong": number,
        },
    ),
    "disjoint_union": (lambda p, a: counting.disjoint_union(a["of"]), {"of": Need(Count, many=True)}),
    "mixture": (lambda p, a: ending.mixture(p.claim, a["of"]), {"of": Need(Count, many=True)}),
    "conclude": (lambda p, a: ending.total_of(p.claim, a["of"]), {"of": Need(Whole)}),
    "log_loss": (
        lambda p, a: ending.log_loss(p.claim, p.model.sizes["d_vocab_out"], a["of"], a["upper"], a["lower"]),
        {"of": Need(Whole, many=True), "upper": sequence(number), "lower": sequence(number)},
    ),
    "float_error": (
        lambda p, a: floating.float_error(p.circuits, **a),
        {
            "semantics": float_semantics,
            "values": EVOU,
            "positions": PVOU,
            "bits": integer(32, 8192),
            "ceiling": integer(2, 1022),
        },
    ),
    "float_count": (
        lambda p, a: floating.float_count(**a),
        {"errors": Need(FloatError), "right": Need(Count), "wrong": Need(Count, absent=True), **THRESHOLD},
    ),
}


def examine(data: bytes) -> fmpz:
    """The proved lower bound; raises why there is none."""
    proof = Proof(load(data))
    proof.run()
    return proof.claim.lower


def verdict(data: bytes) -> str:
    """VERIFIED, REJECTED, MALFORMED or RESOURCE."""
    try:
        examine(data)
    except Refused as refused:
        return refused.verdict
    return "VERIFIED"
