"""Bounds of each class, and so of every mixture of classes: proofs taken apart, and what audit says of them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from compactproofs.core.apart import By, apart
from compactproofs.core.audit.scan import scan
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import parse, task_of
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Proof
from compactproofs.core.semantics import semantics
from compactproofs.core.sharding import split
from compactproofs.core.strategies import prove
from compactproofs.core.strategies.brute_force import brute_force
from compactproofs.core.task import pairs
from compactproofs.emit.auditing.document import read
from compactproofs.emit.auditing.report import make_report, to_json
from compactproofs.emit.certificate import publish
from made import MODEL, audit_json, certificate, run

CLAIMS = (
    "accuracy of max of 7 tokens",
    "P(margin > 1/2) of min of 6 tokens",
    "accuracy of max of 6 tokens with query token 63",
    "accuracy of max of 6 tokens when every position ~ 3/4 {0..2} + 1/4 {3..5}",
)


def problem_of(text: str, program: str = "real") -> Problem:
    model, claim = load(MODEL), parse(text)
    return Problem(model, task_of(claim, model), claim.threshold, semantics=semantics(program, 4, "flush"))


def audited(problem: Problem, proof: Proof, path: Path) -> dict[str, Any]:
    """The report on a proof that the checker verifies."""
    publish(problem, proof, path, overwrite=True)
    _, document = read(str(path))
    assert document is not None
    return to_json(make_report(document, deep=False))


@pytest.mark.parametrize("by", ["class", "maximum", "query"])
@pytest.mark.parametrize("strategy", ["margin-tree", "brute-force"])
@pytest.mark.parametrize("text", CLAIMS)
def test_each_count_is_what_the_model_does(tmp_path: Path, text: str, strategy: str, by: By) -> None:
    problem = problem_of(text)
    task, whole = problem.task, prove(strategy, problem)
    proof = apart(problem, whole, by)
    assert (proof.lower, proof.upper) == (whole.lower, whole.upper)
    report = audited(problem, proof, tmp_path / "c.json")
    if task.eos is not None and by != "class":  # one query: its classes are the maxima, and its whole is one count
        by = "class" if by == "maximum" else "query"
    table = report["mixtures"][0]
    if task.eos is not None and by == "query":
        assert not table["checked"]
        return
    assert table["checked"] and table["by"] == by
    wrong, word = scan(problem).account.wrong, "maximum" if task.kind == "max" else "minimum"
    rows, queries = task.token_rows(), task.query_tokens()
    worst = Fraction(1)
    for group in table["groups"]:
        members = [
            (q, m)
            for q, m in pairs(task.whole())
            if group["query"] in (None, queries[q]) and group[word] in (None, rows[m])
        ]
        size, lost = sum(task.class_size(q, m) for q, m in members), sum(int(wrong[q, m]) for q, m in members)
        assert (int(group["size"]), int(group["right"]), int(group["wrong"])) == (size, size - lost, lost)
        worst = min(worst, Fraction(size - lost, size))
    assert Fraction(*map(int, table["worst_case"]["lower"])) == worst


def test_other_rules(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 12 tokens")
    for strategy, by in (("cubic", "class"), ("margin-convolution", "maximum")):
        whole = prove(strategy, problem)
        proof = apart(problem, whole, by)  # type: ignore[arg-type]
        report = audited(problem, proof, tmp_path / "c.json")
        table = report["mixtures"][0]
        assert table["checked"] and table["by"] == by
        assert sum(int(group["right"]) for group in table["groups"]) == whole.lower
        assert report["losses"]["recount_agrees"]
    for strategy, by in (("margin-convolution", "class"), ("subcubic:1", "maximum")):
        with pytest.raises(CompactProofsError, match="APART_RULE"):
            apart(problem, prove(strategy, problem), by)  # type: ignore[arg-type]


def test_a_program(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 6 tokens", "float32")
    whole = prove("margin-tree", problem)
    report = audited(problem, apart(problem, whole, "class"), tmp_path / "c.json")
    table = report["mixtures"][0]
    assert table["checked"] and table["by"] == "class"
    assert sum(int(group["right"]) for group in table["groups"]) == whole.lower
    assert sum(int(group["wrong"]) for group in table["groups"]) == problem.task.total - whole.upper


def test_of_classes_that_no_step_counts_nothing_is_proved(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 12 tokens")
    part = brute_force(problem, region=split(problem.task, 2)[1])
    report = audited(problem, apart(problem, part, "class"), tmp_path / "c.json")
    table = report["mixtures"][0]
    assert table["checked"] and table["worst_case"]["lower"][0] == "0"
    assert sum(int(group["size"]) for group in table["groups"]) == problem.task.total
    assert sum(int(group["right"]) for group in table["groups"]) == part.lower


def test_a_recount_is_never_called_checked(tmp_path: Path) -> None:
    path = certificate(tmp_path, "margin-tree", CLAIMS[0])
    (report,) = audit_json(path)["certificates"]
    assert [table["checked"] for table in report["mixtures"]] == [False]
    text = run("audit", "--quick", path).stdout
    assert "NOT checked" in text and "checked: each" not in text


def test_the_option(tmp_path: Path) -> None:
    words = ("certify", "--exact", MODEL, "--claim", CLAIMS[0], "--strategy", "margin-tree", "--by", "class")
    done = run(*words, "-o", tmp_path / "c.json", "--json")
    assert json.loads(done.stdout)["checked"]["verdict"] == "VERIFIED"
    text = run("audit", "--quick", tmp_path / "c.json").stdout
    assert "every mixture of classes (query, maximum)" in text and "NOT checked" not in text
    done = run("certify", "--exact", MODEL, "--strategy", "subcubic:1", "--by", "class", "-o", tmp_path / "d.json")
    assert done.returncode == 2 and "APART_RULE" in done.stderr
    assert not (tmp_path / "d.json").exists()
