"""audit of claims about floating-point programs: errors by stage, undecided inputs, real numbers beside programs."""

from __future__ import annotations

import itertools
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.audit.replay import float32_logits, real_verdicts
from compactproofs.core.audit.rounding import _within, rounding
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import parse, task_of
from compactproofs.core.problem import Problem
from compactproofs.core.semantics import Semantics
from compactproofs.core.task import pairs
from made import MODEL, audit_json, certificate, run

BINARY32 = Semantics("binary32")
CLAIM = "accuracy of max of 14 tokens"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same claim over the real numbers and for float32 programs."""
    folder = tmp_path_factory.mktemp("rounding")
    real = certificate(folder, "margin-tree", CLAIM)
    floating = folder / "float32.json"
    done = run(
        "certify", "--exact", MODEL, "-o", floating, "--strategy", "margin-tree", "--claim", CLAIM,
        "--semantics", "float32",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return real, floating


def test_every_input_near_the_threshold_is_found() -> None:
    """Against a plain walk over all inputs, with a distance wide enough to catch many."""
    model = load(MODEL)
    claim = parse("P(margin > 1/2) of max of 8 tokens")
    problem, far = Problem(model, task_of(claim, model), claim.threshold), Fraction(3)
    items = [
        (q, m, free)
        for q, m in pairs(problem.task.whole())
        for free in itertools.product(range(m + 1), repeat=problem.task.free)
        if m in free or problem.task.holds_max(q, m)
    ]
    near = [
        item
        for item, verdict in zip(items, real_verdicts(problem, items), strict=True)
        if abs(verdict.low - Fraction(1, 2)) < far
    ]
    assert len(near) > 10
    assert sorted(_within(problem, far)) == sorted(near)


def test_undecided_inputs_are_those_between_the_bounds(both: tuple[Path, Path]) -> None:
    (report,) = audit_json(both[1])["certificates"]
    found, checker = report["rounding"], report["checker"]
    assert found["undecided"] == int(checker["upper"]) - int(checker["lower"]) > 0
    assert len(found["undecided_inputs"]) == found["undecided"]
    far = Fraction(found["two_eps"])
    for each in found["undecided_inputs"]:
        low, high = map(Fraction, each["margin"])
        assert -far <= low <= high <= far
        least, largest = map(Fraction, each["float32_margins"])
        assert low - far <= least <= largest <= high + far
        signs = {least > 0, largest > 0}
        assert each["float32"] == (
            "depends on the order" if len(signs) > 1 else "right" if signs == {True} else "wrong"
        )
    nearest = [abs(Fraction(each["margin"][0])) for each in found["undecided_inputs"]]
    assert nearest == sorted(nearest)


def test_the_stages_add_up_to_the_error_of_a_logit(both: tuple[Path, Path]) -> None:
    (report,) = audit_json("--quick", both[1])["certificates"]
    stages = {name: Fraction(value) for name, value in report["rounding"]["by_stage"].items()}
    assert set(stages) == {"scores", "softmax", "values", "unembedding"}
    eps = Fraction(report["rounding"]["eps"])
    assert abs(stages["softmax"] + stages["values"] + stages["unembedding"] - eps) < Fraction(1, 10**16)
    assert eps == max(map(Fraction, report["rounding"]["by_query"]))
    assert report["semantics"] == {"format": "binary32", "exp_ulp": 4, "underflow": "flush"}
    assert any("TF32" in words for words in report["trusted"]["assumptions"])


def test_real_numbers_and_a_program_side_by_side(both: tuple[Path, Path]) -> None:
    done = run("audit", "--quick", *both)
    assert done.returncode == 0, done.stderr
    for words in ("rounding errors, by stage", "unembedding", "undecided: within rounding errors of the threshold"):
        assert words in done.stdout
    table = done.stdout.split("real numbers and programs, one claim\n")[1].splitlines()
    rows = [re.split(r"\s{2,}", line.strip()) for line in table[1:3]]
    assert [row[1] for row in rows] == ["real", "binary32, exp 4 ulp, flush"]
    assert [float(row[2].rstrip(" %")) for row in rows] == sorted(
        (float(r[2].rstrip(" %")) for r in rows), reverse=True
    )
    assert int(rows[0][4]) == 0 < int(rows[1][4])
    assert rows[0][5] == "0.000000" and float(rows[1][5]) >= 0 <= float(rows[1][6])


def test_claims_that_differ_are_not_compared(both: tuple[Path, Path], tmp_path: Path) -> None:
    other = certificate(tmp_path, "margin-tree", "accuracy of max of 5 tokens")
    assert "one claim" not in run("audit", "--quick", other, both[1]).stdout
    assert json.loads(run("audit", "--quick", "--json", other).stdout)["certificates"][0]["rounding"] is None


def test_the_page_shows_both(both: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    done = run("audit", "--quick", "--html", tmp_path / "page.html", *both)
    assert done.returncode == 0, done.stderr
    text = re.sub(r"<script.*?</script>", "", (tmp_path / "page.html").read_text(encoding="utf-8"), flags=re.DOTALL)
    for words in ("Rounding errors, by stage", "undecided input", "Real numbers and programs, one claim"):
        assert words in text


def test_where_inputs_cannot_be_listed_none_are() -> None:
    model = load(MODEL.parent / "max_of_20_v64_seed123.safetensors")
    found = rounding(Problem(model, task_of(parse("accuracy"), model)), BINARY32)
    assert found.count is None and found.undecided is None
    assert sum(found.errors.number(n) for n in (found.errors.softmax, found.errors.values)) < found.errors.largest


def test_another_order_is_the_same_function() -> None:
    model = load(MODEL)
    tokens = np.random.default_rng(0).integers(0, model.d_vocab, (50, model.n_ctx))
    first, second = (float32_logits(model, tokens, order) for order in (0, 3))
    assert (first != second).any()
    assert np.abs(first - second).max() < 1e-3
