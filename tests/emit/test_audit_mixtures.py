"""audit of mixtures, given answers and the mean log-loss: accounts that add up to the verified numbers."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from math import ceil, exp, floor, log1p, prod
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.audit.bands import Losing
from compactproofs.core.audit.replay import float32_logits, raw_tokens
from compactproofs.core.audit.scan import scan
from compactproofs.core.problem import Problem
from compactproofs.core.question import LOSS_BITS
from compactproofs.core.task import pairs
from compactproofs.emit.auditing.document import Document, read
from compactproofs.emit.auditing.report import Report, make_report, to_json
from made import MODEL, ROOT, audit_json, run

ACCEPT = ROOT / "tests" / "data" / "accept"
MIXTURE = "accuracy of max of 8 tokens when 1/2 (uniform) + 1/2 (query in {0..3} and maximum in {4..7})"
UNWEIGHTED = "accuracy of max of 8 tokens when 1/2 (uniform) + 1/2 (maximum in {4..7})"
LOSS = "E[log-loss] of max of 6 tokens when 1/4 (query in {5}) + 3/4 (maximum in {2..5})"


def report_on(path: Path) -> Report:
    _, document = read(str(path))
    assert document is not None
    return make_report(document)


def certified(path: Path, claim: str, strategy: str, *words: str) -> Report:
    done = run("certify", "--exact", MODEL, "-o", path, "--claim", claim, "--strategy", strategy, *words)
    assert done.returncode == 0, done.stderr
    return report_on(path)


def parts_add_up(report: Report) -> None:
    document, losses = report.document, report.losses
    assert losses is not None and losses.agrees
    for shares in (losses.account.by_maximum(), losses.account.by_query(), losses.account.others):
        assert sum(share.size for share in shares) == document.total
        assert sum(share.right for share in shares) == document.lower
        assert sum(share.wrong for share in shares) == document.total - document.upper
    assert losses.scan is not None
    wrong = sum(share * int(scan(problem).account.wrong.sum()) for share, problem in document.question.parts)
    assert int(losses.scan.account.wrong.sum()) == wrong
    if losses.account.terms_of:
        assert sum(term.gained for term in losses.account.terms) == document.total - document.lower


@pytest.mark.parametrize("name", ["mixture", "mixture_convolution", "given"])
def test_small_mixtures_add_up(name: str) -> None:
    parts_add_up(report_on(ACCEPT / f"{name}.json"))


@pytest.mark.parametrize("strategy", ["margin-tree", "brute-force", "margin-convolution", "cubic"])
def test_a_mixture_by_part_and_by_class(tmp_path: Path, strategy: str) -> None:
    claim = (
        MIXTURE if strategy != "cubic" else "accuracy of max of 8 tokens when 1/2 (uniform) + 1/2 (maximum in {4..7})"
    )
    report = certified(tmp_path / "c.json", claim, strategy)
    parts_add_up(report)
    (table,) = to_json(report)["mixtures"]
    assert table["checked"] and table["by"] == "part"
    for group, (_, problem) in zip(table["groups"], report.document.question.parts, strict=True):
        wrong = int(scan(problem).account.wrong.sum())
        assert int(group["right"]) <= problem.task.total - wrong <= int(group["size"]) - int(group["wrong"])
    assert len(to_json(report)["parts"]) == 2
    by_part = to_json(report)["losses"]["by_part"]
    for key, number in (("right", report.document.lower), ("size", report.document.total)):
        assert sum(int(share[key]) for share in by_part) == number
    for group, share, (weight, _) in zip(table["groups"], by_part, report.document.question.parts, strict=True):
        assert int(share["right"]) == weight * int(group["right"])


def test_a_mixture_for_a_program(tmp_path: Path) -> None:
    report = certified(tmp_path / "c.json", MIXTURE, "margin-tree", "--semantics", "float32")
    assert report.losses is not None and report.losses.agrees
    assert report.rounding is not None


def test_given_answers_show_their_classes_only(tmp_path: Path) -> None:
    report = certified(tmp_path / "c.json", "accuracy of min of 9 tokens when minimum in {0..2}", "margin-tree")
    parts_add_up(report)
    assert {share.label for share in report.losses.account.by_maximum() if share.size} == {"0", "1", "2"}  # type: ignore[union-attr]


def exact_mean(problem: Problem) -> float:
    """The mean loss of a distribution, input by input (logits in float32)."""
    task = problem.task
    items = [
        (q, m, free)
        for q, m in pairs(task.whole())
        for free in itertools.product(range(m + 1), repeat=task.free)
        if m in free or task.holds_max(q, m)
    ]
    logits = float32_logits(problem.model, np.array([raw_tokens(task, item) for item in items])).astype(float)
    columns = task.output_columns(logits.shape[1])
    total = 0.0
    for (q, m, free), row in zip(items, logits, strict=True):
        weight = prod(task.mass(i)[t] for i, t in enumerate((*free, q)))
        total += weight * log1p(sum(exp(n - row[columns[m]]) for n in row) - 1)
    return total / task.total


def loss_adds_up(document: Document, whole: Losing, each: list[Losing]) -> None:
    assert (floor(whole.lower * 2**LOSS_BITS), ceil(whole.upper * 2**LOSS_BITS)) == (document.lower, document.upper)
    question = document.question
    weights = [Fraction(share * problem.task.total, question.mass) for share, problem in question.parts]
    for side in ("lower", "upper"):
        assert sum(w * getattr(part, side) for w, part in zip(weights, each, strict=True)) == getattr(whole, side)
    means = [exact_mean(problem) for _, problem in question.parts]
    truth = sum(float(w) * mean for w, mean in zip(weights, means, strict=True))
    for found, mean in zip((whole, *each), (truth, *means), strict=True):
        assert sum(value for _, _, value in found.terms) == found.upper - found.lower
        assert all(value >= 0 for _, _, value in found.terms)
        assert found.lower <= mean + 1e-4 and mean <= found.upper + 1e-4
        assert sum(band.share for band in found.bands) == 1
        assert found.sampled is not None
        assert abs(found.sampled.mean - mean) <= 5 * found.sampled.error + 1e-4
        assert sum(found.sampled.by_maximum.values()) == pytest.approx(found.sampled.mean)


@pytest.mark.parametrize("name", ["log_loss", "log_loss_mixture"])
def test_small_losses_by_band(name: str) -> None:
    report = report_on(ACCEPT / f"{name}.json")
    assert report.losing is not None
    loss_adds_up(report.document, *report.losing)


def test_a_loss_in_all_forms(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    report = certified(tmp_path / "loss.json", LOSS, "margin-tree")
    assert report.losing is not None
    loss_adds_up(report.document, *report.losing)
    certified(tmp_path / "mixture.json", MIXTURE, "margin-tree")
    done = run("audit", tmp_path / "loss.json", tmp_path / "mixture.json", "--html", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "each part of the distribution" in done.stdout and "nats apart" in done.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Where the bounds come from, by margin" in page and "Every mixture of parts of the distribution" in page
    found = audit_json(tmp_path / "loss.json")["certificates"][0]["log_loss"]
    assert len(found["parts"]) == 2 and found["by_band"] and "losses" not in found
    assert json.dumps(to_json(report))


def test_mixtures_are_not_joined(tmp_path: Path) -> None:
    done = run("join", ACCEPT / "mixture.json", ACCEPT / "mixture.json", "-o", tmp_path / "x.json")
    assert done.returncode == 2 and "JOIN_MIXTURE" in done.stderr
