"""Load, certify, check and audit from Python, for notebooks: thin functions whose results show themselves.

from compactproofs.emit import load, certify, check, audit
model = load("model.safetensors")
certificate = certify(model)
check(certificate)
audit(certificate)
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ..core import checkpoint
from ..core.claim import parse
from ..core.decimals import ends
from ..core.errors import CompactProofsError, shown
from ..core.files import FilePath, write_atomically
from ..core.interpret import Averaged, averaged
from ..core.model import Model
from ..core.proof import Proof
from ..core.question import Question, problem_of, question_of
from ..core.strategies import prove
from . import display
from .auditing.document import read
from .auditing.report import Report, make_report
from .auditing.text import Table, blocks_of, comparisons, plain
from .auditing.verdict import judge
from .certificate import document, encode, enforce
from .console import nats
from .parts import prove_parts

Source = FilePath | Model


def load(source: object) -> Model:
    """A model from a safetensors file, from a mapping of arrays, or from a TransformerLens model.

    Errors: those of the reader, all CompactProofsError with a stable code.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, str | Path):
        return checkpoint.load(source)
    if isinstance(source, dict):
        return checkpoint.from_arrays(source)
    if not hasattr(source, "state_dict"):
        text = f"{shown(source)} is no model; give the path of a safetensors file, a dictionary of arrays with "
        raise CompactProofsError("CONFIG_OBJECT", text + "TransformerLens names, or a HookedTransformer")
    return checkpoint.from_transformer_lens(source)


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """A proof with its bytes. What it claims counts only once `check` says VERIFIED."""

    question: Question
    proof: Proof
    data: bytes

    @property
    def lower(self) -> float:
        """The lower bound as a double, a share or nats; `proof.lower` of `question.total` is exact."""
        return self.proof.lower / self.question.total

    @property
    def upper(self) -> float:
        """The upper bound as a double."""
        return self.proof.upper / self.question.total

    def save(self, path: FilePath, overwrite: bool = False) -> None:
        """Write the file that `check` reads. Errors: FILE_EXISTS, FILE_WRITE."""
        write_atomically(path, self.data, overwrite)

    def __repr__(self) -> str:
        if self.question.log_loss:
            return f"Certificate({self.proof.strategy}: {self._loss()}, {len(self.data)} bytes, not checked)"
        low, high = ends(self.proof.lower, self.proof.upper, self.question.total)
        shown = f"exactly {low}" if self.proof.lower == self.proof.upper else f"{low} to {high}"
        return f"Certificate({self.proof.strategy}: {shown}, {len(self.data)} bytes, not checked)"

    def _repr_html_(self) -> str:
        note = "not checked by this object; call check(certificate)"
        if self.question.log_loss:
            return display.note(self.proof.strategy, self._loss(), note)
        return display.bound(self.proof.strategy, self.proof.lower, self.proof.upper, self.question.total, note)

    def _loss(self) -> str:
        return f"{nats(self.proof.lower)} to {nats(self.proof.upper, up=True)} nats"


def certify(model: object, claim: str = "accuracy", strategy: str = "auto") -> Certificate:
    """Prove a claim about a model (anything that `load` takes), with the bound that it states.

    Errors: those of the claim and of the strategy; CLAIM_NOT_REACHED.
    """
    loaded = load(model)
    meant = parse(claim)
    question = question_of(meant, loaded)
    if meant.plain:
        proof = prove(strategy, question.parts[0][1])
    else:
        proof = prove_parts(question, strategy, None, 1, lambda done, total: None)
    enforce(meant.bound, question, proof)
    return Certificate(question, proof, encode(document(question, proof)))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The checker's word: VERIFIED, REJECTED, MALFORMED, INTERNAL or RESOURCE. True only if VERIFIED."""

    verdict: str
    claim: str
    lower: int
    upper: int
    total: int
    operations: int
    message: str
    quantity: str = "margin"

    def __bool__(self) -> bool:
        return self.verdict == "VERIFIED"

    def __repr__(self) -> str:
        return f"{self.verdict}: {self.claim or self.message}"

    def _repr_html_(self) -> str:
        if not self:
            return display.refusal(self.verdict, self.message)
        if self.quantity == "log-loss":
            return display.note(self.verdict, f"{nats(self.lower)} to {nats(self.upper, up=True)} nats", self.claim)
        return display.bound(self.verdict, self.lower, self.upper, self.total, self.claim)


def check(certificate: Certificate | FilePath) -> Verdict:
    """Run the checker, a program of its own, on a certificate or a file."""
    if not isinstance(certificate, Certificate):
        return _verdict(str(certificate))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_bytes(certificate.data)
        return _verdict(str(path))


def _verdict(path: str) -> Verdict:
    found = judge(path)
    if not found.verified:
        return Verdict(found.verdict, "", 0, 0, 0, 0, found.message)
    report = found.report
    lower, upper, total, operations = (int(report[key]) for key in ("lower", "upper", "total", "operations"))
    return Verdict(found.verdict, str(report["claim"]), lower, upper, total, operations, "", str(report["quantity"]))


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """Reports on verified certificates: text by print, tables and maps in a notebook, a page by `save_html`."""

    reports: tuple[Report, ...]

    def __str__(self) -> str:
        blocks = [block for report in self.reports for block in blocks_of(report)]
        blocks += comparisons(self.reports) if len(self.reports) > 1 else []
        return "\n".join(line for block in blocks for line in (plain(block) if isinstance(block, Table) else [block]))

    def __repr__(self) -> str:
        return f"Audit of {len(self.reports)} VERIFIED; print it, or save_html"

    def _repr_html_(self) -> str:
        return "".join(display.losses(report) for report in self.reports)

    def save_html(self, path: FilePath, overwrite: bool = False) -> None:
        """The page of `audit --html`; needs jinja2."""
        from .auditing.page import render

        write_atomically(path, render(self.reports).encode(), overwrite)


def audit(*certificates: Certificate | FilePath, deep: bool = True) -> Audit:
    """Check certificates and take them apart; `deep`: also what each term costs.

    Errors: NOTHING_TO_AUDIT; NOT_VERIFIED with the checker's message, for the first that is not VERIFIED.
    """
    if not certificates:
        raise CompactProofsError("NOTHING_TO_AUDIT", "give one certificate or more, objects or the paths of files")
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        for number, each in enumerate(certificates):
            path = name = str(each)
            if isinstance(each, Certificate):
                name = each.proof.strategy.replace(":", "-")
                path = str(Path(folder) / f"{number}-{name}.json")
                Path(path).write_bytes(each.data)
            verdict, found = read(path)
            if found is None:
                raise CompactProofsError("NOT_VERIFIED", f"{verdict.verdict}: {verdict.message}", name)
            reports.append(make_report(replace(found, path=name), deep))
    return Audit(tuple(reports))


@dataclass(frozen=True, slots=True, eq=False)
class Circuits:
    """The five circuits in the paper's averaged form, exact; heat maps in a notebook."""

    form: Averaged

    def __getitem__(self, name: str) -> object:
        """EQKE, EQKP, EVOU, PVOU or EU in doubles, attention not divided by the root of d_head."""
        return self.form.floats(name)

    def __repr__(self) -> str:
        return "Circuits(EQKE, EQKP, EVOU, PVOU, EU)"

    def _repr_html_(self) -> str:
        return display.circuits(self.form)


def circuits(model: object, claim: str = "accuracy") -> Circuits:
    """The circuits of a model for the task of a claim."""
    loaded = load(model)
    meant = parse(claim)
    return Circuits(averaged(problem_of(meant, loaded)))
