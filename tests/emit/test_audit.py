"""audit: the checker's verdict, accounts that add up to it, and inputs replayed in two ways."""

from __future__ import annotations

import importlib.util
import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.audit.account import sizes_by_others
from compactproofs.core.audit.replay import float32_logits, raw_tokens, real_verdicts, replay
from compactproofs.core.audit.scan import scan
from compactproofs.core.audit.sequences import float_margins
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import parse, task_of
from compactproofs.core.problem import Problem
from compactproofs.core.task import pairs
from compactproofs.emit.auditing.costs import recognise
from compactproofs.emit.auditing.document import read
from compactproofs.emit.auditing.report import make_report, to_json
from made import MODEL, ROOT, SMALL, audit_json, certificate, falsified, run

STRATEGIES = ("margin-tree", "brute-force", "cubic", "subcubic:1", "subcubic:70:tight")
CLAIMS = (
    pytest.param(SMALL, marks=pytest.mark.slow),
    pytest.param("P(margin > 1/2) of max of 9 tokens", marks=pytest.mark.slow),
    "accuracy of max of 8 tokens",
    "P(margin > 1/2) of max of 8 tokens",
    "accuracy of min of 7 tokens",
    "accuracy of max of 8 tokens with query token 63",
    "accuracy of max of 6 tokens when every position ~ 3/4 {0..2} + 1/4 {3..5}",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


def problem_of(text: str) -> Problem:
    model = load(MODEL)
    claim = parse(text)
    return Problem(model, task_of(claim, model), claim.threshold)


def inputs(problem: Problem) -> list[tuple[int, int, tuple[int, ...]]]:
    """All inputs, by class."""
    task = problem.task
    found = []
    for q, m in pairs(task.whole()):
        for free in itertools.product(range(m + 1), repeat=task.free):
            if m in free or task.holds_max(q, m):
                found.append((q, m, free))
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_account_adds_up_to_the_verified_numbers(folder: Path, strategy: str) -> None:
    (report,) = audit_json(certificate(folder, strategy))["certificates"]
    losses, checker = report["losses"], report["checker"]
    lower, upper, total = (int(checker[key]) for key in ("lower", "upper", "total"))
    assert losses["recount_agrees"]
    for part in ("by_maximum", "by_query", "by_others"):
        assert sum(int(share["right"]) for share in losses[part]) == lower
        assert sum(int(share["wrong"]) for share in losses[part]) == total - upper
        assert sum(int(share["size"]) for share in losses[part]) == total
    assert sum(int(n) for row in losses["by_class"] for n in row) == total - lower


def test_exact_proofs_name_the_inputs_that_are_wrong(folder: Path) -> None:
    (report,) = audit_json(certificate(folder, "margin-tree"))["certificates"]
    wrong = [example for example in report["examples"] if example["why"].startswith("wrong")]
    assert wrong
    for example in wrong:
        assert max(example["tokens"]) == example["right_token"] != example["rival"]
        assert example["real"] == "wrong"
        assert float(example["margin"][1]) < 0
        (right_low, right_high), (rival_low, rival_high) = (tuple(map(Fraction, e)) for e in example["logits"])
        assert right_high < rival_low
        margin = Fraction(example["margin"][0])
        assert right_low - rival_high - Fraction(1, 10**9) <= margin <= right_high - rival_low + Fraction(1, 10**9)
        assert abs(example["float32_logits"][0] - float(right_low)) < 1e-4


def test_lower_bounds_show_open_inputs_that_are_right(folder: Path) -> None:
    (report,) = audit_json(certificate(folder, "subcubic:1"))["certificates"]
    open_ones = [example for example in report["examples"] if example["why"].startswith("open, yet right")]
    assert open_ones
    assert all(example["real"] == "right" for example in open_ones)
    assert [term["name"] for term in report["losses"]["by_term"]][:2] == ["gaps written", "attention error"]


def test_a_rejected_certificate_shows_only_the_checkers_words(folder: Path, tmp_path: Path) -> None:
    bad = falsified(certificate(folder, "cubic"), tmp_path / "bad.json")
    for words in ((bad,), (certificate(folder, "cubic"), bad), (bad, "--html", tmp_path / "page.html")):
        done = run("audit", *words)
        assert done.returncode == 1
        assert done.stdout == "REJECTED\n"
        assert "bad.json" in done.stderr and "RESULT" in done.stderr
    assert not (tmp_path / "page.html").exists()
    done = run("audit", "--json", bad)
    assert done.returncode == 1
    assert set(json.loads(done.stdout)) == {"verdict", "file", "checker"}


def test_other_ends_have_the_checkers_status(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}\n")
    done = run("audit", tmp_path / "no.json")
    assert (done.returncode, done.stdout) == (2, "MALFORMED\n")
    done = run("audit", tmp_path / "missing.json")
    assert (done.returncode, done.stdout) == (2, "MALFORMED\n")


def test_the_claim_is_the_checkers(folder: Path) -> None:
    path = certificate(folder, "margin-tree")
    done = run("audit", path)
    checked = run("audit", "--json", path)
    claim = json.loads(checked.stdout)["certificates"][0]["checker"]["claim"]
    assert f"claim: {claim}\n" in done.stdout
    assert done.stdout.endswith("VERIFIED\n")


def test_several_certificates_side_by_side(folder: Path) -> None:
    done = run("audit", "--quick", certificate(folder, "cubic"), certificate(folder, "subcubic:1"))
    assert done.returncode == 0
    table = done.stdout.split("side by side")[1]
    assert "cubic.json" in table and "subcubic-1.json" in table


@pytest.mark.parametrize("number", [1, 4, 12, 23, 40, 47, 56, 69, 88, 95])
def test_the_papers_strategy_is_recognised(tmp_path: Path, number: int) -> None:
    _, document = read(str(certificate(tmp_path, f"subcubic:{number}", "accuracy of max of 5 tokens")))
    assert document is not None
    found = recognise(document.steps)
    eu, combination, error = (number - 1) // 20, (number - 1) // 10 % 2, (number - 1) % 10
    cheaper = {1: 0, 4: 3}.get(eu, eu)  # the svd query and the global bound leave no trace in the steps
    assert (found.eu, found.error) == (cheaper, error)
    assert found.combination == combination or document.lower == 0


@pytest.mark.parametrize("text", CLAIMS)
def test_a_scan_finds_what_exact_arithmetic_finds(text: str) -> None:
    problem = problem_of(text)
    everything = inputs(problem)
    verdicts = real_verdicts(problem, everything)
    wrong: dict[tuple[int, int], int] = {}
    for item, verdict in zip(everything, verdicts, strict=True):
        weight = 1 if problem.task.masses is None else problem.task.own_mass(item[0])
        for i, t in enumerate(item[2]):
            weight *= problem.task.mass(i)[t]
        if verdict.kind == "wrong":
            wrong[item[:2]] = wrong.get(item[:2], 0) + weight
    found = scan(problem).account
    assert {(int(q), int(m)): found.wrong[q, m] for q, m in np.argwhere(found.wrong)} == wrong
    assert sum(sizes_by_others(problem.task, problem.task.whole())) == problem.task.total
    assert sum(share.wrong for share in found.others) == sum(wrong.values())


def test_doubles_float32_and_enclosures_agree_where_nothing_is_near() -> None:
    problem = problem_of("accuracy of min of 6 tokens")
    everything = inputs(problem)[::37]
    margins = float_margins(problem, everything)
    for item, margin, each in zip(everything, margins, replay(problem, everything), strict=True):
        assert float(each.real.low) - 1e-9 <= margin <= float(each.real.high) + 1e-9
        assert not each.disagree or abs(margin) < 1e-4
        assert each.tokens == raw_tokens(problem.task, item)
        assert min(each.tokens) == each.wanted


def test_float32_rounding_that_changes_an_answer_is_flagged() -> None:
    problem = problem_of("accuracy of max of 5 tokens")
    item = inputs(problem)[100]
    logits = float32_logits(problem.model, np.array([raw_tokens(problem.task, item)]))[0]
    margin = float(logits[item[1]]) - float(np.delete(logits, item[1]).max())
    # a threshold between the two margins: the real function and the program must then answer differently
    (each,) = replay(problem, [item])
    middle = (Fraction(margin) + each.real.low) / 2
    scaled = int(middle * 2**60)
    moved = Problem(problem.model, problem.task, (scaled, -60))
    (again,) = replay(moved, [item])
    assert again.disagree


ACCEPTED = sorted((ROOT / "tests" / "data" / "accept").glob("*.json"))


@pytest.mark.parametrize("path", ACCEPTED, ids=[path.stem for path in ACCEPTED])
def test_every_kind_of_accepted_certificate_is_explained(path: Path) -> None:
    _, document = read(str(path))
    assert document is not None
    report = make_report(document)
    assert (report.losses is None) == (report.losing is not None), report.note
    assert report.losses is None or report.losses.agrees
    assert json.dumps(to_json(report))
    if importlib.util.find_spec("jinja2") is not None:
        from compactproofs.emit.auditing.page import render

        assert "VERIFIED" in render([report])


def test_convolution_by_output_and_by_rounding() -> None:
    (report,) = audit_json(ROOT / "tests" / "data" / "accept" / "convolution.json")["certificates"]
    losses = report["losses"]
    assert losses["recount_agrees"]
    total, upper, lower = (int(report["checker"][key]) for key in ("total", "upper", "lower"))
    names = [term["name"] for term in losses["by_term"]]
    assert names[:2] == ["rounding to the grid", "attention error"] and names[-1] == "the model is wrong"
    assert sum(int(term["gained"]) for term in losses["by_term"]) == total - lower
    assert sum(int(share["right"]) for share in losses["by_others"]) == lower
    assert int(losses["model_wrong"]) >= total - upper
    assert losses["by_output"]["mass"]
