"""Claim.lean: the task, the claim, and the chain of lemmas from the arithmetic of the certificate to the claim."""

from __future__ import annotations

from typing import Any

from .certificate import Certificate
from .chain import Chain
from .numerals import decimal, dyadic, natural_text, number_text
from .steps import COUNTING

PROGRAM = """
The claim is about every program `z` whose logits are nowhere further than `epsilon` from those of the network. That
a program with the arithmetic named above is one is what the rule `float_error` establishes, by the theorem
`CompactProofs.Rule.float_error`; here it is a hypothesis (`near`).
"""


APPLIED = frozenset((*COUNTING, "circuit", "margins", "disjoint_union", "float_count", "conclude"))
"""Rules whose lemmas the chain applies; the others serve within the arithmetic of a step that counts."""


def claim_text(certificate: Certificate) -> str:
    """The file."""
    chain, floating = Chain(certificate, _definitions(certificate)), certificate.claim["semantics"] != "real"
    if floating:
        chain.epsilon()
    for number in range(len(certificate.steps)):
        chain.step(number)
    stubs = "\n".join(f"* `{name}`" for name in chain.stubs)
    body = "\n".join(chain.blocks)
    used = frozenset(str(step["rule"]) for step in certificate.steps)
    return f"""\
import Export.Rules
import Export.Weights
/-!
# The claim of a certificate, and its proof down to the arithmetic

The checker's words, after it had verified the file:

> {certificate.words}

* certificate: sha256 {certificate.digest}
* weights: sha256 {certificate.model.sha256}
{PROGRAM if floating else ""}
`claim`, at the end, is the theorem. Everything in its proof is proved but the stubs, the only places with a `sorry`.
A stub states what steps of the certificate find by arithmetic with the numbers in `Weights.lean`; the checker has done
that arithmetic, Lean has not:

{stubs}

Of the rules of the certificate, {_names(used & APPLIED)} are applied below as lemmas{_inside(used - APPLIED)}.

A stock Lean and Mathlib have **not** been run on these files: neither was at hand. The tests of the tool that wrote
them have Lean 4.35.0 elaborate files of every kind, against a stand-in for the few declarations of Mathlib in use.
-/
namespace CompactProofs.Export
noncomputable section

{body}end
end CompactProofs.Export
"""


def _definitions(certificate: Certificate) -> list[str]:
    """Task, distribution, claim, and what the lemmas speak of."""
    claim = certificate.claim
    task, quantity = claim["task"], claim["quantity"]
    return [
        _sizes(task, certificate.model.d_vocab_out) + _task(task["kind"] == "min"),
        _distribution(claim["distribution"]),
        number_text("threshold", dyadic((quantity["margin_above"], quantity["exponent"])))
        + "".join(natural_text(name, int(claim["bounds"][name], 16)) for name in ("lower", "upper", "total")),
        _setting(task["kind"] == "min"),
    ]


def _sizes(task: dict[str, Any], outputs: int) -> str:
    """Numbers of the task; `after` stands at positions beyond the input."""
    eos, length, tokens = task["eos"], task["length"], task["tokens"]
    last, after = (length - 1, tokens) if eos is None else (length, eos)
    words = "what stands after the input: " + ("nothing that matters" if eos is None else "the end-of-sequence token")
    return (
        natural_text("length", length)
        + natural_text("tokens", tokens)
        + natural_text("last", last)
        + natural_text("outputs", outputs)
        + f"/-- {words} -/\n"
        + natural_text("after", after)
    )


def _task(smallest: bool) -> str:
    return (
        "def task : Task where\n"
        f"  smallest := {'true' if smallest else 'false'}\n"
        "  length := length\n  tokens := tokens\n  last := last\n  start := fun _ => after\n  outputs := outputs\n"
    )


def _distribution(value: Any) -> str:
    if value == "uniform":
        return "/-- Every input counts once. -/\ndef weight : ℕ → ℕ → ℕ := fun _ _ => 1\n"
    rows = ",\n".join("    [" + ", ".join(decimal(int(text, 16)) for text in row) + "]" for row in value)
    return (
        "/-- position, token -/\n"
        f"def weight_table : List (List ℕ) := [\n{rows}]\n"
        "def weight : ℕ → ℕ → ℕ := fun i x => entry 0 (entry [] weight_table i) x\n"
    )


def _setting(smallest: bool) -> str:
    if not smallest:
        return "def setting : Setting := network.setting task weight\n"
    words = "Tokens, outputs and weights are renumbered in reverse: from here on the largest token is right."
    return f"/-- {words} -/\ndef setting : Setting := network.renumbered task weight\n"


def _names(rules: frozenset[str]) -> str:
    return ", ".join(f"`{rule}`" for rule in sorted(rules))


def _inside(rules: frozenset[str]) -> str:
    """What is said of rules that the chain does not apply itself."""
    formal = rules - {"float_error"}
    return f"; {_names(formal)} serve inside the stubs and are stated in `Rules.lean`" if formal else ""
