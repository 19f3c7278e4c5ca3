"""Claim.lean: the task, the claim, and the chain of lemmas from the arithmetic of the certificate to the claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .certificate import Certificate
from .numerals import dyadic, natural_text, number_text, spans_text, table, tensor_text
from .steps import COUNTING, Counting, centre_table, closure, counting, ranges

TRACE = {
    "enumerate": ("Enumerated", "Rule.enumerate"),
    "margin_tree": ("Walked", "Rule.margin_tree"),
    "margin_convolution": ("Convolved", "Rule.margin_convolution.count"),
}


@dataclass(slots=True)
class Writer:
    """Collects definitions and theorems; `naturals` and the other tables hold every number that was written."""

    certificate: Certificate
    blocks: list[str] = field(default_factory=list)
    circuits: dict[tuple[int | None, int | None], str] = field(default_factory=dict)
    joined: dict[int, str] = field(default_factory=dict)  # counting steps -> their region, as Lean writes it
    stubs: list[str] = field(default_factory=list)

    @property
    def task(self) -> dict[str, Any]:
        value: dict[str, Any] = self.certificate.claim["task"]
        return value

    @property
    def floating(self) -> bool:
        return self.certificate.claim["semantics"] != "real"

    def stub(self, name: str, statement: str, words: str) -> None:
        """A theorem whose proof is the arithmetic of the certificate."""
        self.stubs.append(name)
        self.blocks.append(f"/-- **Stub.** {words} -/\ntheorem {name} : {statement} := sorry\n")

    # --- the head ------------------------------------------------------------------------------------

    def definitions(self) -> None:
        """Task, distribution, claim."""
        task, claim = self.task, self.certificate.claim
        eos, length = task["eos"], task["length"]
        self.blocks += [
            natural_text("length", length)
            + natural_text("tokens", task["tokens"])
            + natural_text("last", length if eos is not None else length - 1)
            + natural_text("outputs", self.certificate.model.d_vocab_out)
            + _start(task)
            + _task(task["kind"] == "min"),
            _distribution(claim["distribution"]),
            number_text("threshold", dyadic((claim["quantity"]["margin_above"], claim["quantity"]["exponent"])))
            + "".join(natural_text(name, int(claim["bounds"][name], 16)) for name in ("lower", "upper", "total")),
        ]

    def setting(self) -> None:
        """The setting that the lemmas speak of."""
        if self.task["kind"] == "min":
            words = "Tokens, outputs and weights are renumbered in reverse: from here on the largest token is right."
            self.blocks.append(f"/-- {words} -/\ndef setting : Setting := network.renumbered task weight\n")
        else:
            self.blocks.append("def setting : Setting := network.setting task weight\n")

    def model_circuits(self, keys: int | None, values: int | None) -> str:
        """The name of the model's circuits with these centres."""
        if (keys, values) in self.circuits:
            return self.circuits[keys, values]
        if keys is None and values is None:
            name, term = "circuits", "setting.model.circuits setting.last"
            proof = "Rule.circuit setting.model setting.last t o"
        else:
            marks = ["none" if n is None else str(n) for n in (keys, values)]
            name, parts = "circuits_" + "_".join(marks), [self._centre(n) for n in (keys, values)]
            term = f"setting.model.centred setting.last {parts[0]} {parts[1]}"
            proof = f"Rule.circuit.centred setting.model setting.last {parts[0]} {parts[1]} t o"
        self.circuits[keys, values] = name
        self.blocks.append(
            f"def {name} : Circuits R := {term}\ntheorem {name}_right : setting.Circuits {name} := fun t o => {proof}\n"
        )
        return name

    def _centre(self, number: int | None) -> str:
        """A centre as a function of the residual."""
        if number is None:
            return "(fun _ => 0)"
        name = f"step_{number}_centre"
        text = tensor_text(name, centre_table(self.certificate.steps[number]))
        if text not in self.blocks:
            self.blocks.append(text)
        return f"(fun l => {name}.at 0 l)"

    # --- the steps -----------------------------------------------------------------------------------

    def step(self, number: int) -> None:
        """Whatever a step adds to the chain."""
        rule = self.certificate.steps[number]["rule"]
        if rule in COUNTING:
            self._count(counting(self.certificate, number))
        elif rule == "disjoint_union":
            self._union(number)
        elif rule == "float_count":
            self._float_count(number)
        elif rule == "conclude":
            self._conclude(number)

    def _count(self, step: Counting) -> None:
        """A stub with what the arithmetic of the step gives, and the fact that the rule draws from it."""
        name = f"step_{step.number}"
        circuits = self.model_circuits(step.keys, step.values)
        self.blocks.append(
            number_text(f"{name}_threshold", step.threshold)
            + spans_text(f"{name}_region", step.region)
            + natural_text(f"{name}_right", step.right)
            + natural_text(f"{name}_wrong", step.wrong)
        )
        self.joined[step.number] = f"{name}_region"
        words = f"Step {step.number}, `{step.rule}`, with the arithmetic of the steps {ranges(step.inside)} that lead to it."
        if step.rule in TRACE:
            trace, lemma = TRACE[step.rule]
            arguments = f"{name}_threshold {name}_region {name}_right {name}_wrong"
            self.stub(f"{name}_arithmetic", f"{trace} setting {circuits} {arguments}", words)
            proof = f"{lemma} setting {circuits} {circuits}_right {arguments} {name}_arithmetic"
        else:
            proof = self._classes(step, name, circuits, words)
        self._fact(step.number, "", "setting.logits", f"{name}_threshold", f"{name}_region", f"{name}_right", proof)

    def _classes(self, step: Counting, name: str, circuits: str, words: str) -> str:
        """The same for rules that count by the shapes of inputs."""
        at = f"{circuits} setting.outputs setting.last {name}_threshold"
        needs, more = f"(CubicFact {at})", ""
        if step.rule == "gap_classes":
            needs, more = f"(fun k => GapFact {at} k ∨ ConstantFact {at} k)", " network.scale_nonneg"
        self.stub(f"{name}_arithmetic", f"Classes setting {needs} {name}_region {name}_right", words)
        return (
            f"Rule.{step.rule} setting {circuits} {circuits}_right{more} rfl rfl {name}_threshold {name}_region"
            f" {name}_right {name}_arithmetic"
        )

    def _fact(self, number: int, given: str, logits: str, threshold: str, region: str, right: str, proof: str) -> None:
        """The fact `Count` that a step establishes."""
        wrong = right.replace("_right", "_wrong")
        self.blocks.append(
            f"theorem step_{number}{given} : setting.Count {logits} {threshold} {region} {right} {wrong} :=\n  {proof}\n"
        )

    def _given(self, number: int) -> tuple[str, str, str]:
        """What a fact about the program takes as given, the logits it is about, and the arguments to use it."""
        steps = self.certificate.steps
        inside = (*closure(steps, number), number)
        floats = [n for n in inside if steps[n]["rule"] == "float_count"]
        if not floats:
            return "", "setting.logits", ""
        logits = "(renumbered task.tokens z)" if self.task["kind"] == "min" else "z"
        return " (z : (ℕ → ℕ) → ℕ → ℝ) (near : Near task (network.logit task.last) z epsilon)", logits, " z near"

    def _threshold(self, number: int) -> str:
        """The name of the threshold of a step that counts."""
        step = self.certificate.steps[number]
        if step["rule"] == "disjoint_union":
            return self._threshold(step["of"][0])
        return f"step_{number}_threshold"

    def _union(self, number: int) -> None:
        """One lemma for each further premise."""
        of: list[int] = self.certificate.steps[number]["of"]
        given, logits, arguments = self._given(number)
        threshold = self._threshold(number)
        region, right, wrong, proof = self.joined[of[0]], f"step_{of[0]}_right", f"step_{of[0]}_wrong", f"step_{of[0]}{arguments}"
        for n in of[1:]:
            sizes = f"({right}) step_{n}_right ({wrong}) step_{n}_wrong"
            a, b, c, d = f"({right})", f"({wrong})", f"step_{n}_right", f"step_{n}_wrong"
            del sizes
            proof = (
                f"(Rule.disjoint_union setting {logits} {threshold} {region} {self.joined[n]} {a} {b} {c} {d} rfl"
                f" {proof if proof.startswith('(') else f'({proof})'} (step_{n}{arguments}))"
            )
            region, right, wrong = f"(join {region} {self.joined[n]})", f"{right} + {c}", f"{wrong} + {d}"
        self.joined[number] = region
        total = [sum(self._counted(n, i) for n in of) for i in (0, 1)]
        self.blocks.append(natural_text(f"step_{number}_right", total[0]) + natural_text(f"step_{number}_wrong", total[1]))
        self._fact(number, given, logits, threshold, region, f"step_{number}_right", proof)

    def _counted(self, number: int, which: int) -> int:
        """The numbers of a fact `Count`: right (0), wrong (1)."""
        step = self.certificate.steps[number]
        if step["rule"] == "disjoint_union":
            return sum(self._counted(n, which) for n in step["of"])
        if step["rule"] == "float_count":
            source = step["right" if which == 0 else "wrong"]
            return 0 if source is None else self._counted(source, which)
        return int(step.get("right" if which == 0 else "wrong", "0"), 16)

    def _float_count(self, number: int) -> None:
        """Counts of the program from counts over the real numbers."""
        step = self.certificate.steps[number]
        name, right, wrong = f"step_{number}", step["right"], step["wrong"]
        given, logits, arguments = self._given(number)
        self.joined[number] = self.joined[right]
        self.blocks.append(
            number_text(f"{name}_threshold", dyadic((step["margin_above"], step["exponent"])))
            + "".join(natural_text(f"{name}_{key}", self._counted(number, i)) for i, key in enumerate(("right", "wrong")))
        )
        far = f"Step {number}, `float_count`: the thresholds are two errors apart."
        first, second = self._threshold(right), None if wrong is None else self._threshold(wrong)
        self.stub(f"{name}_far", f"FarBy {name}_threshold epsilon {first}", far)
        near = ("near_min network task weight z epsilon (fun _ => ble_le rfl)" if self.task["kind"] == "min" else
                "near_max network task weight z epsilon") + " near"
        ends = f"{self.joined[number]} {name}_right"
        if second is None:
            proof = (
                f"Rule.float_count.right setting setting.logits {logits} {name}_threshold {first} epsilon {ends}"
                f" step_{right}_wrong ({near}) {name}_far step_{right}"
            )
        else:
            self.stub(f"{name}_far_below", f"FarBy {second} epsilon {name}_threshold", far)
            proof = (
                f"Rule.float_count setting setting.logits {logits} {name}_threshold {first} {second} epsilon {ends}"
                f" step_{right}_wrong {name}_wrong step_{wrong}_right ({near}) {name}_far {name}_far_below"
                f" step_{right} step_{wrong}"
            )
        self._fact(number, given, logits, f"{name}_threshold", self.joined[number], f"{name}_right", proof)

    def epsilon(self) -> None:
        """Half the smallest distance of two thresholds: what the proof needs of the error of one logit."""
        distances = []
        for number, step in enumerate(self.certificate.steps):
            if step["rule"] == "float_count":
                own = dyadic((step["margin_above"], step["exponent"]))
                distances += [abs(self._number(step[key]) - own) for key in ("right", "wrong") if step[key] is not None]
                assert self._counted(number, 0) >= 0
        self.blocks.append(number_text("epsilon", min(distances) / 2))

    def _number(self, number: int) -> Fraction:
        """The threshold of a counting step over the real numbers."""
        step = self.certificate.steps[number]
        if step["rule"] == "disjoint_union":
            return self._number(step["of"][0])
        return counting(self.certificate, number).threshold

    def _conclude(self, number: int) -> None:
        """From the last count to the claim."""
        of = self.certificate.steps[number]["of"]
        given, logits, arguments = self._given(number)
        self._total()
        conclusion = (
            f"Rule.conclude setting {logits} {self._threshold(of)} {self.joined[of]} step_{of}_right step_{of}_wrong"
            f" (step_{of}{arguments})"
        )
        self.blocks.append(
            f"theorem step_{number}{given} :\n"
            f"    lower ≤ setting.mass (fun t => holds (setting.Above threshold {logits} t)) ∧\n"
            f"    setting.mass (fun t => holds (setting.Above threshold {logits} t)) ≤ upper :=\n"
            f"  Eq.subst (motive := fun x => lower ≤ setting.mass (fun t => holds (setting.Above threshold {logits} t)) ∧\n"
            f"      setting.mass (fun t => holds (setting.Above threshold {logits} t)) ≤ x - step_{of}_wrong) total_mass\n"
            f"    ({conclusion})\n"
        )
        self._claim(number, given, arguments)

    def _total(self) -> None:
        """The mass of all inputs."""
        statement = "totalMass setting.weight setting.tokens setting.length = total"
        if self.certificate.claim["distribution"] == "uniform":
            self.blocks.append(f"theorem total_mass : {statement} := (total_uniform tokens length).trans rfl\n")
        else:
            self.stub("total_mass", statement, "The mass of all inputs.")

    def _claim(self, number: int, given: str, arguments: str) -> None:
        """The theorem."""
        program = "program" if self.floating else "network"
        y = "z" if self.floating else "(network.logit task.last)"
        length, kind = self.task["length"], self.task["kind"]
        more = " (ble_le rfl) (fun _ => ble_le rfl)" if kind == "min" else ""
        source = f"mass_{kind}" if self.floating else f"network_{kind}"
        of = f" {y}" if self.floating else ""
        self.blocks.append(
            f"/-- **The claim**: the {program} has a margin above `threshold` on at least `lower` and at most `upper` of the"
            f" `total` inputs (by mass). -/\n"
            f"theorem claim{given} :\n"
            f"    lower ≤ task.mass weight (task.Above threshold {y}) ∧ task.mass weight (task.Above threshold {y}) ≤ upper :=\n"
            f"  replace ({source} network task weight rfl {length - 1} rfl{more} threshold{of})\n"
            f"    (fun x => lower ≤ x ∧ x ≤ upper) (step_{number}{arguments})\n"
        )


def _start(task: dict[str, Any]) -> str:
    """What stands at positions beyond the input: the end-of-sequence token, or nothing that matters."""
    if task["eos"] is None:
        return natural_text("after", task["tokens"])
    return "/-- the end-of-sequence token -/\n" + natural_text("after", task["eos"])


def _task(smallest: bool) -> str:
    return (
        "def task : Task where\n"
        f"  smallest := {'true' if smallest else 'false'}\n"
        "  length := length\n  tokens := tokens\n  last := last\n  start := fun _ => after\n  outputs := outputs\n"
    )


def _distribution(value: Any) -> str:
    if value == "uniform":
        return "/-- Every input counts once. -/\ndef weight : ℕ → ℕ → ℕ := fun _ _ => 1\n"
    rows = ",\n".join("    [" + ", ".join(str(int(text, 16)) for text in row) + "]" for row in value)
    return (
        "/-- position, token -/\n"
        f"def weight_table : List (List ℕ) := [\n{rows}]\n"
        "def weight : ℕ → ℕ → ℕ := fun i x => entry 0 (entry [] weight_table i) x\n"
    )


def claim_text(certificate: Certificate) -> str:
    """The file."""
    writer = Writer(certificate)
    writer.definitions()
    writer.setting()
    if writer.floating:
        writer.epsilon()
    for number in range(len(certificate.steps)):
        writer.step(number)
    body = "\n".join(writer.blocks)
    return (
        f"import Export.Rules\nimport Export.Weights\n/-!\n{_head(writer)}-/\n"
        f"namespace CompactProofs.Export\nnoncomputable section\n\n{body}end\nend CompactProofs.Export\n"
    )


def _head(writer: Writer) -> str:
    """What a reader must know."""
    certificate = writer.certificate
    program = ""
    if writer.floating:
        program = (
            "\nThe claim is about every program `z` whose logits are nowhere further than `epsilon` from those of the network."
            "\nThat a program with the arithmetic named above is one is what the rule `float_error` establishes; it is a hypothesis"
            "\nhere (`near`), for the rounding of single operations is not formalised.\n"
        )
    stubs = "\n".join(f"* `{name}`" for name in writer.stubs)
    return f"""\
# The claim of a certificate, and its proof down to the arithmetic

The checker's words, after it had verified the file:

> {certificate.words}

* certificate: sha256 {certificate.digest}
* weights: sha256 {certificate.model.sha256}
{program}
`claim`, at the end, is the theorem. Everything in its proof is proved but the stubs, the only places with a `sorry`. A stub states what a
step of the certificate finds by arithmetic with the numbers in `Weights.lean`; the checker has done that arithmetic, Lean has not:

{stubs}

Not run before this file was written: a stock Lean, Mathlib. The tests of the tool elaborate its files in Lean 4.35.0 against a stand-in
for the parts of Mathlib that are used.
"""
