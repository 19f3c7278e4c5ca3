"""Everything that is known of one certificate, and the same as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.audit.account import WRONG, Share, Term
from ...core.audit.losses import Example, Losses, analyse
from ...core.audit.rounding import Rounding
from ...core.decimals import decimal, percent
from ...core.errors import CompactProofsError
from . import losing, programs, worst
from .costs import Paper, kind_of, paper_cost
from .document import Document
from .verdict import trusted_lines

ASSUMPTIONS = (
    "CPython's integers and standard library run the checker as its language reference says",
    "the lines of checker/ that this proof uses do what docs/FORMAT.md says",
    "the mathematics of the rules used (docs/FORMAT.md, section 5) is sound; lean/ proves it",
    "the digest of the model is that of the model you mean",
)
REAL_NUMBERS = "the claim is about the real-number function of the weights, not about a float32 program"


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """One verified certificate; `losses` is None where its rules are not known here (`note` says why).

    `rounding` is None for a claim about the real numbers, `losing` for one that is not about the log-loss.
    """

    document: Document
    kind: str
    losses: Losses | None
    paper: Paper | None
    lines: dict[str, int]
    rounding: Rounding | None = None
    losing: losing.Found | None = None
    note: str = ""

    @property
    def checked(self) -> dict[str, Any]:
        """The checker's own report."""
        return self.document.verdict.report


def make_report(document: Document, deep: bool = True, progress: Callable[[str], None] = lambda text: None) -> Report:
    """Take a verified certificate apart."""
    note, losses = "", None
    try:
        if not document.question.log_loss:
            losses = analyse(document.question, document.steps, (document.lower, document.upper), deep, progress)
    except CompactProofsError as error:
        if error.code != "AUDIT_KIND":
            raise
        note = str(error)
    kinds = losses.kinds if losses else ()
    found = losing.losing_of(document)
    return Report(
        document=document,
        kind=kind_of(kinds) or ("unknown" if found is None else _loss_kind(document)),
        losses=losses,
        paper=None if len(document.question.parts) > 1 else paper_cost(document.problem, kinds, document.steps),
        lines=trusted_lines(list(document.verdict.report.get("rules", []))),
        rounding=programs.rounding_of(document),
        losing=found,
        note=note,
    )


def _loss_kind(document: Document) -> str:
    """By what the inputs above each threshold are counted."""
    used = dict.fromkeys(str(step["rule"]) for step in document.steps if "right" in step or "region" in step)
    return f"log-loss by {kind_of(list(used))}"


def assumptions(report: Report) -> list[str]:
    """What a reader takes on trust."""
    return [*ASSUMPTIONS, REAL_NUMBERS if report.rounding is None else programs.MACHINE]


def to_json(report: Report) -> dict[str, Any]:
    """Masses are strings, for they may be of any size."""
    document, losses = report.document, report.losses
    result: dict[str, Any] = {
        "file": document.path,
        "checker": report.checked,
        "kind": report.kind,
        "length": {
            "steps": report.checked["steps"],
            "operations": report.checked["operations"],
            "bytes": document.size,
            "paper": None if report.paper is None else _paper(report.paper),
        },
        "trusted": {"lines": report.lines, "assumptions": assumptions(report)},
        "semantics": document.claim["semantics"],
        "rounding": None if report.rounding is None else programs.to_json(report.rounding),
        "log_loss": None if report.losing is None else losing.to_json(report.losing, document.problem.task),
        "note": report.note,
    }
    if losses is not None:
        result["losses"] = {**_losses(losses), "by_part": [_share(share) for share in by_part(report)]}
        result["parts"] = [
            {"share": str(share), "total": str(problem.task.total), "losses": _losses(part)}
            for (share, problem), part in zip(document.question.parts, losses.parts, strict=False)
        ]
        result["mixtures"] = [worst.to_json(document.problem.task, table) for table in losses.tables]
        result["examples"] = [_example(example) for example in losses.examples]
        result["float32_compared"] = losses.examined
    return result


def _paper(paper: Paper) -> dict[str, Any]:
    return {"strategy": paper.strategy, "flops": str(paper.flops), "dimensions": str(paper.dimensions)}


def _losses(losses: Losses) -> dict[str, Any]:
    account, model = losses.account, losses.scan
    return {
        "recount_agrees": losses.agrees,
        "by_maximum": [_share(share) for share in account.by_maximum()],
        "by_query": [_share(share) for share in account.by_query()],
        "by_others": [_share(share) for share in account.others],
        "by_output": {"meaning": account.outputs_of, "mass": {str(o): str(n) for o, n in ranked(account.outputs)}},
        "by_term": [_term(term) for term in account.terms],
        "by_term_meaning": account.terms_of or "each freed alone, in doubles",
        "by_class": [[str(n) for n in row] for row in account.loss.tolist()],
        "model_wrong": None if model is None else str(int(model.account.wrong.sum())),
        "sampled": None if losses.sampled is None else [losses.sampled.right, losses.sampled.samples],
        "notes": account.notes,
    }


def by_part(report: Report) -> list[Share]:
    """What each part of a mixture adds; nothing where there is one distribution."""
    parts = report.losses.parts if report.losses is not None else []
    shares = (share for share, _ in report.document.question.parts)
    accounts = (part.account.times(share) for share, part in zip(shares, parts, strict=False))
    return [
        Share(str(number), int(each.sizes.sum()), int(each.right.sum()), int(each.wrong.sum()))
        for number, each in enumerate(accounts, 1)
    ]


def ranked(outputs: dict[int, int]) -> list[tuple[int, int]]:
    """Largest first."""
    return sorted(outputs.items(), key=lambda pair: (-pair[1], pair[0]))


def _share(share: Share) -> dict[str, str]:
    mass = {"size": share.size, "right": share.right, "wrong": share.wrong, "open": share.open}
    return {"label": share.label, **{key: str(value) for key, value in mass.items()}}


def _term(term: Term) -> dict[str, str]:
    known = {"name": term.name, "meaning": term.meaning, "gained": str(term.gained)}
    return {**known, "standard_error": str(term.error)} if term.error else known


def term_name(term: Term, report: Report) -> str:
    """Its name, by the threshold of the claim."""
    return f"the model is {report.document.words.wrong}" if term.name == WRONG[0] else term.name


def term_share(term: Term, total: int) -> str:
    """What a term costs, with its standard error where inputs were drawn."""
    sign = "-" if term.gained < 0 else ""
    error = f" ± {percent(term.error, total, up=True)}" if term.error else ""
    return f"{sign}{percent(abs(term.gained), total)}{error}"


def _example(example: Example) -> dict[str, Any]:
    each = example.replayed
    return {
        "why": example.why,
        "tokens": list(each.tokens),
        "right_token": each.wanted,
        "real": each.real.kind,
        "margin": [decimal(each.real.low, 12), decimal(each.real.high, 12, up=True)],
        "rival": each.rival,
        "logits": [[decimal(low, 12), decimal(high, 12, up=True)] for low, high in each.exact_logits],
        "float32": each.float_kind,
        "float32_logits": list(each.float_logits),
        "float32_rival": each.float_rival,
        "disagree": each.disagree,
    }
