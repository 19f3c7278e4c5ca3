"""The chain of lemmas of one proof: a stub for each step that counts by arithmetic, a fact for each counting step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .certificate import Certificate
from .numerals import dyadic, natural_text, number_text, spans_text, tensor_text
from .steps import COUNTING, Counting, centre_table, counted, counting, rests_on, threshold_step

TRACE = {
    "enumerate": ("Enumerated", "Rule.enumerate"),
    "margin_tree": ("Walked", "Rule.margin_tree"),
    "margin_convolution": ("Convolved", "Rule.margin_convolution.count"),
}
GIVEN = " (z : (ℕ → ℕ) → ℕ → ℝ) (near : Near task (network.logit task.last) z epsilon)"


@dataclass(frozen=True, slots=True)
class Known:
    """A fact `Count` as later lemmas use it: texts for its proof, the logits, threshold, region and numbers."""

    proof: str
    logits: str
    threshold: str
    region: str
    right: str
    wrong: str
    program: bool = False

    @property
    def given(self) -> str:
        """What its theorem takes: nothing, or a program that computes nearly the same logits."""
        return GIVEN if self.program else ""

    @property
    def use(self) -> str:
        """Its proof as an argument."""
        return f"({self.proof} z near)" if self.program else self.proof

    @property
    def statement(self) -> str:
        return f"setting.Count {self.logits} {self.threshold} {self.region} {self.right} {self.wrong}"


@dataclass(slots=True)
class Chain:
    """Writes one block of text after the other."""

    certificate: Certificate
    blocks: list[str] = field(default_factory=list)
    stubs: list[str] = field(default_factory=list)
    circuits: dict[tuple[int | None, int | None], str] = field(default_factory=dict)
    facts: dict[int, Known] = field(default_factory=dict)

    @property
    def smallest(self) -> bool:
        return bool(self.certificate.claim["task"]["kind"] == "min")

    def stub(self, name: str, statement: str, words: str) -> None:
        """A theorem whose proof is arithmetic of the certificate."""
        self.stubs.append(name)
        self.blocks.append(f"/-- **Stub.** {words} -/\ntheorem {name} : {statement} := sorry\n")

    def step(self, number: int) -> None:
        """Whatever a step adds to the chain."""
        step = self.certificate.steps[number]
        if step["rule"] in COUNTING:
            self._count(counting(self.certificate, number))
        elif step["rule"] == "disjoint_union":
            self._union(number, step["of"])
        elif step["rule"] == "float_count":
            self._float_count(number, step)
        elif step["rule"] == "conclude":
            self._conclude(number, step["of"])

    # --- counting over the real numbers --------------------------------------------------------------

    def _model_circuits(self, keys: int | None, values: int | None) -> str:
        """The name of the model's circuits with these centres."""
        if (keys, values) in self.circuits:
            return self.circuits[keys, values]
        name, term, proof = (
            "circuits",
            "setting.model.circuits setting.last",
            "Rule.circuit setting.model setting.last t o",
        )
        if keys is not None or values is not None:
            name = "circuits_" + "_".join("none" if n is None else str(n) for n in (keys, values))
            both = f"{self._centre(keys)} {self._centre(values)}"
            term = f"setting.model.centred setting.last {both}"
            proof = f"Rule.circuit.centred setting.model setting.last {both} t o"
        self.circuits[keys, values] = name
        self.blocks.append(
            f"def {name} : Circuits R := {term}\ntheorem {name}_right : setting.Circuits {name} := fun t o => {proof}\n"
        )
        return name

    def _centre(self, number: int | None) -> str:
        """A centre as a function of the residual."""
        if number is None:
            return "(fun _ => 0)"
        text = tensor_text(f"step_{number}_centre", centre_table(self.certificate.steps[number]))
        if text not in self.blocks:
            self.blocks.append(text)
        return f"(fun l => step_{number}_centre.at 0 l)"

    def _count(self, step: Counting) -> None:
        """A stub with what the arithmetic of the step gives, and the fact that the rule draws from it."""
        name, circuits = f"step_{step.number}", self._model_circuits(step.keys, step.values)
        self.blocks.append(
            number_text(f"{name}_threshold", step.threshold)
            + spans_text(f"{name}_region", step.region)
            + self._sizes(step.number)
        )
        words = f"Step {step.number}, `{step.rule}`, with the arithmetic of {rests_on(step.inside)} that lead to it."
        ends = f"{name}_threshold {name}_region {name}_right"
        if step.rule in TRACE:
            trace, lemma = TRACE[step.rule]
            arguments = f"{ends} {name}_wrong"
            self.stub(f"{name}_arithmetic", f"{trace} setting {circuits} {arguments}", words)
            proof = f"{lemma} setting {circuits} {circuits}_right {arguments} {name}_arithmetic"
        else:
            needs, more = self._needs(step.rule, f"{circuits} setting.outputs setting.last {name}_threshold")
            self.stub(f"{name}_arithmetic", f"Classes setting {needs} {name}_region {name}_right", words)
            proof = f"Rule.{step.rule} setting {circuits} {circuits}_right {more}rfl rfl {ends} {name}_arithmetic"
        self._fact(step.number, Known(name, "setting.logits", f"{name}_threshold", f"{name}_region", "", ""), proof)

    def _needs(self, rule: str, at: str) -> tuple[str, str]:
        """For a rule that counts by shapes: what it needs to know of a class, and a further argument."""
        if rule == "gap_classes":
            return f"(fun k => GapFact {at} k ∨ ConstantFact {at} k)", "network.scale_nonneg "
        return f"(CubicFact {at})", ""

    def _sizes(self, number: int) -> str:
        """The numbers of a fact `Count`."""
        pair = zip(("right", "wrong"), counted(self.certificate.steps, number), strict=True)
        return "".join(natural_text(f"step_{number}_{key}", n) for key, n in pair)

    def _fact(self, number: int, known: Known, proof: str) -> None:
        """The fact `Count` that a step establishes."""
        known = replace(known, right=f"step_{number}_right", wrong=f"step_{number}_wrong")
        self.facts[number] = known
        self.blocks.append(f"theorem step_{number}{known.given} : {known.statement} :=\n  {proof}\n")

    # --- putting counts together -------------------------------------------------------------------

    def _union(self, number: int, of: list[int]) -> None:
        """The lemma is for two regions; it is applied once for each further one."""
        first, *others = (self.facts[n] for n in of)
        known = replace(first, proof=first.use, program=False)
        for n in others:
            lemma = f"Rule.disjoint_union setting {known.logits} {known.threshold} {known.region} {n.region}"
            known = replace(
                known,
                proof=f"({lemma} {known.right} {known.wrong} {n.right} {n.wrong} rfl\n    {known.proof} {n.use})",
                region=f"(join {known.region} {n.region})",
                right=f"({known.right} + {n.right})",
                wrong=f"({known.wrong} + {n.wrong})",
            )
        self.blocks.append(self._sizes(number))
        self._fact(number, replace(known, proof=f"step_{number}", program=first.program), known.proof)

    def _float_count(self, number: int, step: dict[str, Any]) -> None:
        """Counts of the program from counts over the real numbers."""
        name, right = f"step_{number}", self.facts[step["right"]]
        wrong = None if step["wrong"] is None else self.facts[step["wrong"]]
        threshold = dyadic((step["margin_above"], step["exponent"]))
        self.blocks.append(number_text(f"{name}_threshold", threshold) + self._sizes(number))
        words = f"Step {number}, `float_count`, with step {step['errors']}: the thresholds are two errors apart."
        self.stub(f"{name}_far", f"FarBy {name}_threshold epsilon {right.threshold}", words)
        near = "near_min network task weight z epsilon (fun _ => ble_le rfl) near"
        logits = "(renumbered task.tokens z)"
        if not self.smallest:
            near, logits = "near_max network task weight z epsilon near", "z"
        ends = f"{right.region} {name}_right {right.wrong}"
        if wrong is None:
            proof = (
                f"Rule.float_count.right setting setting.logits {logits} {name}_threshold {right.threshold} epsilon"
                f" {ends} ({near}) {name}_far {right.use}"
            )
        else:
            self.stub(f"{name}_far_below", f"FarBy {wrong.threshold} epsilon {name}_threshold", words)
            proof = (
                f"Rule.float_count setting setting.logits {logits} {name}_threshold {right.threshold} {wrong.threshold}"
                f" epsilon {ends} {name}_wrong {wrong.right} ({near}) {name}_far {name}_far_below"
                f" {right.use} {wrong.use}"
            )
        self._fact(number, Known(name, logits, f"{name}_threshold", right.region, "", "", program=True), proof)

    # --- the end -----------------------------------------------------------------------------------

    def _conclude(self, number: int, of: int) -> None:
        """From the last count to the claim."""
        last = self.facts[of]
        statement = "totalMass setting.weight setting.tokens setting.length = total"
        if self.certificate.claim["distribution"] == "uniform":
            self.blocks.append(f"theorem total_mass : {statement} := (total_uniform tokens length).trans rfl\n")
        else:
            self.stub("total_mass", statement, "The mass of all inputs.")
        mass = f"setting.mass (fun t => holds (setting.Above threshold {last.logits} t))"
        self.blocks.append(
            f"theorem step_{number}{last.given} : lower ≤ {mass} ∧ {mass} ≤ upper :=\n"
            f"  Rule.conclude.bounds setting {last.logits} threshold {last.region} {last.right} {last.wrong}"
            f" total lower upper {last.use} total_mass rfl rfl\n"
        )
        self._claim(replace(last, proof=f"step_{number}"))

    def _claim(self, end: Known) -> None:
        """The theorem."""
        kind, length = self.certificate.claim["task"]["kind"], self.certificate.claim["task"]["length"]
        who, y, source, more = "network", "(network.logit task.last)", f"network_{kind}", "threshold"
        if end.program:
            who, y, source, more = "program", "z", f"mass_{kind}", "threshold z"
        if self.smallest:
            more = f"(ble_le rfl) (fun _ => ble_le rfl) {more}"
        mass = f"task.mass weight (task.Above threshold {y})"
        self.blocks.append(
            f"/-- **The claim**: the {who} has a margin above `threshold` on at least `lower` and at most `upper`\n"
            f"of the `total` inputs (by mass). -/\n"
            f"theorem claim{end.given} : lower ≤ {mass} ∧ {mass} ≤ upper :=\n"
            f"  replace ({source} network task weight rfl {length - 1} rfl {more})\n"
            f"    (fun x => lower ≤ x ∧ x ≤ upper) {end.use}\n"
        )

    def epsilon(self) -> None:
        """Half the smallest distance of two thresholds: what the proof needs of the error of one logit."""
        distances = []
        for step in self.certificate.steps:
            if step["rule"] == "float_count":
                own = dyadic((step["margin_above"], step["exponent"]))
                for key in ("right", "wrong"):
                    if step[key] is not None:
                        distances.append(abs(threshold_step(self.certificate, step[key]) - own))
        self.blocks.append(number_text("epsilon", min(distances) / 2))
