"""The page of `audit --html`: one file with style, script and data, for a browser, a printer, or a keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, StrictUndefined

from ...core.audit.account import Account, Share
from ...core.audit.bands import Losing
from ...core.audit.classes import Table
from ...core.audit.rounding import Rounding
from ...core.audit.words import Words
from ...core.decimals import decimal, percent
from ...core.exact import Floats
from ...core.task import Task
from . import losing, programs, worst
from .matrices import attention_profile, circuits_of, encoded
from .report import Report, assumptions, by_part, ranked, term_name, term_share, to_json
from .steps import sections, steps_of

FOLDER = Path(__file__).parent
NEAREST = 20
"""Undecided inputs shown, the nearest to the threshold first."""


def render(reports: Sequence[Report]) -> str:
    """The page for verified certificates."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_text("page.html.j2"))
    return template.render(
        style=_text("page.css"),
        script=_text("page.js"),
        data=_script_json(page_data(reports)),
        reports=[_summary(report, number) for number, report in enumerate(reports)],
        sides=programs.side_by_side([(report.document, report.kind) for report in reports]),
        models=_models(reports),
    )


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _script_json(value: object) -> str:
    """JSON that cannot end the script element that holds it."""
    return (
        json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    )


def page_data(reports: Sequence[Report]) -> dict[str, Any]:
    """What the script draws."""
    used = {str(step["rule"]) for report in reports for step in report.document.steps}
    models = _models(reports)
    return {
        "certificates": [_certificate(report, models) for report in reports],
        "models": [_model(reports, digest) for digest in models],
        "rules": {rule: text for rule, text in sections().items() if rule in used},
    }


def _models(reports: Sequence[Report]) -> list[str]:
    """Digests, each once."""
    return list(dict.fromkeys(str(report.checked["model_sha256"]) for report in reports))


def _model(reports: Sequence[Report], digest: str) -> dict[str, Any]:
    problem = next(r for r in reports if r.checked["model_sha256"] == digest).document.problem
    return {"digest": digest, "circuits": circuits_of(problem), "profile": attention_profile(problem)}


def _certificate(report: Report, models: list[str]) -> dict[str, Any]:
    document, task = report.document, report.document.problem.task
    result: dict[str, Any] = {
        "file": document.path,
        "name": Path(document.path).stem,
        "kind": report.kind,
        "model": models.index(str(report.checked["model_sha256"])),
        "operations": report.checked["operations"],
        "lost": None if document.question.log_loss else (document.total - document.lower) / document.total,
        "lower": document.ends[0],
        "exact": document.lower == document.upper,
        "steps": steps_of(report),
        "tokens": task.token_rows()[: task.tokens],
        "queries": task.query_tokens(),
        "words": [document.words.right, document.words.wrong],
    }
    losses = report.losses
    if losses is not None:
        result["losses"], result["wrong"] = _by_class(losses.account)
        result["checked"] = any(table.checked and table.kind == "class" for table in losses.tables)
        whole = np.full_like(losses.account.sizes, document.total)
        result["mass"] = encoded(_lost(losses.account.loss, whole), 4, ROUND_CEILING)
        if losses.scan is not None:
            result["model_wrong"] = int(losses.scan.account.wrong.sum()) / document.total
        elif losses.sampled is not None:
            result["model_wrong"] = 1 - losses.sampled.share
    return result


def _by_class(account: Account) -> tuple[dict[str, Any], dict[str, Any]]:
    """Shares not proved right, rounded up, and proved wrong, rounded down; the same number where they are the same."""
    lost = encoded(_lost(account.loss, account.sizes), 4, ROUND_CEILING)
    wrong = encoded(_lost(account.wrong, account.sizes), 4, ROUND_FLOOR)
    if "values" in lost:
        for q, m in np.argwhere(account.loss == account.wrong):
            wrong["values"][q][m] = lost["values"][q][m]
    return lost, wrong


def _lost(loss: Any, sizes: Any) -> Floats:
    """Share that is lost of each class, queries x maxima; NaN where there is no class."""
    flat = [int(n) / int(size) if size else np.nan for n, size in zip(loss.ravel(), sizes.ravel(), strict=True)]
    result: Floats = np.array(flat, dtype=np.float64).reshape(loss.shape)
    return result


def _summary(report: Report, number: int) -> dict[str, Any]:
    """What the template writes as text, readable without the script."""
    document, losses = report.document, report.losses
    total = document.total
    shares, lossy = {}, None if document.all_right else losses
    if losses is not None:
        word = worst.word(document.problem.task)
        shares = {"part": by_part(report), word: losses.account.by_maximum(), "query": losses.account.by_query()}
    low, high = document.ends
    bar = [100 * document.lower / total, 100 * (document.upper - document.lower) / total, document.upper < total]
    return {
        "number": number,
        "name": Path(document.path).name,
        "kind": report.kind,
        "json": to_json(report),
        "digest": report.checked["model_sha256"],
        "lower": low,
        "upper": high,
        "bar": None if document.question.log_loss else bar,
        "losing": None if report.losing is None else _losing(*report.losing, document.problem.task),
        "operations": f"{report.checked['operations']:,}",
        "bytes": f"{document.size:,}",
        "paper": None
        if report.paper is None
        else [report.paper.strategy, f"{report.paper.flops:,}", f"{report.paper.dimensions:,}"],
        "assumptions": assumptions(report),
        "terms": [] if lossy is None else _terms(report),
        "terms_of": "" if losses is None else losses.account.terms_of,
        "shares": {name: _rows(each, total) for name, each in shares.items()},
        "others": [] if lossy is None else _rows(lossy.account.others, total, ordered=True),
        "outputs": [] if lossy is None else _outputs(report),
        "mixtures": [] if lossy is None else [_mixtures(report, table) for table in lossy.tables],
        "outputs_of": "" if losses is None else losses.account.outputs_of,
        "examples": [] if losses is None else _examples(report),
        "rounding": None if report.rounding is None else _rounding(report.rounding, document.words),
        "notes": [report.note] if report.note else [] if losses is None else losses.account.notes,
        "agrees": losses is None or losses.agrees,
        "lost": _lost_words(report),
    }


def _mixtures(report: Report, table: Table) -> dict[str, Any]:
    """The worst groups of classes, and the bound that they give for all mixtures."""
    task = report.document.problem.task
    return {
        "sentence": worst.sentence(task, table, report.document.words.right),
        "checked": table.checked,
        "kinds": worst.kinds(task, table),
        "word": worst.word(task),
        "order": worst.ORDER,
        "rows": worst.rows(task, table),
    }


def _losing(whole: Losing, parts: list[Losing], task: Task) -> list[dict[str, Any]]:
    """The tables of a mean loss: title, head, rows, and how many columns are words."""
    tables: list[tuple[str, tuple[str, ...], list[tuple[str, ...]], int]] = [
        ("Where the bounds come from, by margin (nats)", losing.BANDS, losing.band_rows(whole), 0),
        ("Where the bounds are apart, exactly", losing.TERMS, losing.term_rows(whole), 2),
        (f"The sampled loss by {worst.word(task)}", (worst.word(task), "nats"), losing.maximum_rows(whole, task), 1),
    ]
    if len(parts) > 1:
        head = ("part", "at least", "at most", "sampled")
        tables.append(("Each part of the distribution, from its counts (nats)", head, losing.part_rows(parts), 1))
    return [{"title": title, "head": head, "rows": rows, "left": left} for title, head, rows, left in tables]


def _rounding(found: Rounding, words: Words) -> dict[str, Any]:
    """Errors by stage, and the inputs that they leave undecided."""
    rows = programs.undecided_rows(found, words)
    return {
        "stages": programs.stages(found),
        "summary": programs.summary(found),
        "rows": rows[:NEAREST],
        "tried": programs.tried(found) if rows else "",
    }


def _lost_words(report: Report) -> str:
    document, losses, right = report.document, report.losses, report.document.words
    if report.losing is not None:
        return f"{losing.summary(report.losing[0]).capitalize()}."
    lost = document.total - document.lower
    if document.all_right:
        return f"All {document.total:,} inputs are proved {right.right}."
    share = percent(lost, document.total, up=True)
    words = f"{lost:,} of {document.total:,} inputs ({share}) are not counted as {right.right}."
    if document.lower == document.upper:
        return f"{words} All of them are proved {right.wrong}: nothing is lost by the proof."
    if losses is not None and losses.scan is not None:
        wrong = int(losses.scan.account.wrong.sum())
        return f"{words} In doubles the model is {right.wrong} on {wrong:,}; the rest is what the proof gives away."
    if losses is not None and losses.sampled is not None:
        s = losses.sampled
        return f"{words} Of {s.samples:,} sampled inputs the model got {s.right:,} {right.right}."
    return words


def _terms(report: Report) -> list[dict[str, Any]]:
    terms = report.losses.account.terms if report.losses else []
    total = report.document.total
    top = max((term.gained for term in terms), default=0)
    return [
        {
            "name": term_name(term, report),
            "meaning": term.meaning,
            "gain": term_share(term, total),
            "width": 100 * max(term.gained, 0) / top if top > 0 else 0,
        }
        for term in terms
    ]


def _rows(shares: Sequence[Share], total: int, ordered: bool = False, top: int = 8) -> list[dict[str, Any]]:
    """The parts with the largest losses, or all in order."""
    chosen = [share for share in shares if share.size]
    if not ordered:
        losing = sorted((share for share in chosen if share.loss), key=lambda share: -share.loss)
        chosen, rest = losing[:top], losing[top:]
        if rest:
            sums = (sum(s.size for s in rest), sum(s.right for s in rest), sum(s.wrong for s in rest))
            chosen.append(Share(f"{len(rest)} more", *sums))
    most = max((share.loss for share in chosen), default=0)
    return [
        {
            "label": share.label,
            "lost": percent(share.loss, total, up=True),
            "own": percent(share.loss, share.size, up=True),
            "width": 100 * share.loss / most if most else 0,
        }
        for share in chosen
    ]


def _outputs(report: Report, top: int = 8) -> list[dict[str, Any]]:
    outputs = report.losses.account.outputs if report.losses else {}
    names = report.document.problem.task.output_columns(report.document.problem.model.d_vocab_out)
    most = max(outputs.values(), default=0)
    return [
        {
            "label": "several at once" if o < 0 else str(names[o]),
            "mass": percent(n, report.document.total, up=True),
            "width": 100 * n / most if most else 0,
        }
        for o, n in ranked(outputs)[:top]
    ]


def _examples(report: Report) -> list[dict[str, Any]]:
    rows, words = [], report.document.words
    for example in report.losses.examples if report.losses else []:
        each = example.replayed
        rows.append(
            {
                "why": example.why,
                "tokens": " ".join(map(str, each.tokens)),
                "rival": each.rival,
                "kind": each.real.kind,
                "said": words.verdict(each.real.kind),
                "float_said": words.verdict(each.float_kind),
                "low": decimal(each.real.low, 16),
                "high": decimal(each.real.high, 16, up=True),
                "margin": decimal(each.real.low, 7),
                "float_kind": each.float_kind,
                "float_margin": f"{each.float_logits[0] - each.float_logits[1]:.7f}",
                "disagree": each.disagree,
            }
        )
    return rows
