"""From bytes to a verdict: read the document, apply the rules in order, compare the end with the claim.

A program that calls this should call sys.set_int_max_str_digits(0) first, as `__main__` does: messages state numbers
of up to 8192 hexadecimal digits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from .claim import Claim, read_claim
from .errors import Malformed, Refusal, Rejected
from .facts import Conclusion, Count, Fact
from .model import Model, read_model
from .numbers import Meter
from .reader import Fields, parse
from .rules import COUNTING, RULES
from .step import Step

FORMAT = "compactproofs certificate"
VERSION = 1
STEPS = 1 << 14


@dataclass(frozen=True, slots=True)
class Document:
    """A certificate as read; nothing in it is believed yet."""

    model: Model
    claim: Claim
    proof: tuple[Fields, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """The only success there is; built at the end of `check` and nowhere else."""

    claim: Claim
    digest: str
    rules: tuple[str, ...]  # those that the proof used, sorted: what a reader has to trust besides this kernel
    steps: int
    operations: int


def read_document(data: bytes) -> Document:
    """Format, version, model, claim and the list of steps, with no unknown or missing part."""
    top = Fields(parse(data), "certificate")
    if top.text("format") != FORMAT:
        raise Malformed("FORMAT", f"not a {FORMAT}")
    if (version := top.take("version")) != VERSION or isinstance(version, bool):
        raise Malformed("VERSION", f"version {str(version)[:20]}, this checker knows {VERSION}")
    model = read_model(top.inner("model"))
    claim = read_claim(top.inner("claim"), model)
    proof = tuple(Fields(item, f"step {number}") for number, item in enumerate(top.items("proof")))
    end = top.integer("end", 0, STEPS)
    top.close()
    if end != len(proof):
        raise Malformed("END", f"end says {end} steps, the proof has {len(proof)}")
    return Document(model, claim, proof)


def _released(proof: tuple[Fields, ...]) -> list[list[int]]:
    """For each step the facts that no later one can ask for: none holds their number, as an argument or in a list."""
    last = list(range(len(proof)))
    for number, fields in enumerate(proof):
        for value in fields.value.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, int) and 0 <= item < number:
                    last[item] = number
    released: list[list[int]] = [[] for _ in proof]
    for fact, number in enumerate(last):
        released[number].append(fact)
    return released


def check(document: Document, limit: int, watch: Callable[[str, Fact], None]) -> Verified:
    """Apply every step; the last one must be `conclude` and give exactly the bounds claimed."""
    meter = Meter(limit)
    facts: list[Fact | None] = []
    end: Fact | None = None
    released = _released(document.proof)
    used: set[int] = set()
    for number, fields in enumerate(document.proof):
        name = fields.text("rule")
        fields.place = f"step {number}, {name[:40]}"
        try:
            if name not in RULES:
                raise Malformed("UNKNOWN_RULE", f"{name[:40]!r}")
            parts, part = document.claim.parts, 0
            if name in COUNTING and len(parts) > 1:
                part = fields.integer("part", 0, len(parts) - 1)
            fact = RULES[name](Step(fields, facts, used, document.model, parts[part][1], document.claim, meter))
            fields.close()
            if name in COUNTING and isinstance(fact, Count):
                fact = replace(fact, part=part)
        except Refusal as refusal:
            raise refusal.at(fields.place) from None
        facts.append(fact)
        watch(name, fact)
        end = fact
        for old in released[number]:
            facts[old] = None
    claim = document.claim
    if not isinstance(end, Conclusion):
        raise Rejected("NO_CONCLUSION", "the proof does not end with conclude or log_loss").at(f"step {len(facts) - 1}")
    unused = [number for number in range(len(facts) - 1) if number not in used]
    if unused:
        raise Rejected("UNUSED_STEP", "no later step uses this one").at(f"step {unused[0]}")
    if end.threshold != claim.threshold:
        text = f"claimed for {claim.threshold or 'log-loss'}, proved for {end.threshold or 'log-loss'}"
        raise Rejected("THRESHOLD", text).at("claim")
    if end.semantics != claim.semantics:
        text = f"claimed for {claim.semantics or 'real numbers'}, proved for {end.semantics or 'real numbers'}"
        raise Rejected("SEMANTICS", text).at("claim")
    if (end.lower, end.upper) != (claim.lower, claim.upper):
        text = f"claimed {claim.lower}..{claim.upper}, proved {end.lower}..{end.upper} of {claim.total}"
        raise Rejected("BOUND", text).at("claim")
    rules = tuple(sorted({fields.text("rule") for fields in document.proof}))
    return Verified(claim, document.model.digest(), rules, len(facts), meter.operations)
