"""A sample of the mutants of every golden certificate; `python -m tests.checker.mutate --full` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from certificates import GOLDEN
from mutate import NEUTRAL, Score, leaf_mutants, run

STRIDE = 97


def assert_sound(score: Score) -> None:
    assert score.faults == [], "the harness made mutants that change nothing"
    assert score.false == [], "accepted, and not true"
    assert score.crashes == []
    assert set(score.neutral) <= set(NEUTRAL), f"neutral fields that are not listed: {score.neutral}"
    # a claim about other inputs may happen to have the same bounds: it says so, and it is true
    assert all("claim.distribution" in label for label in score.others), "accepted with another claim"


@pytest.mark.parametrize("name", GOLDEN)
def test_sample(name: str) -> None:
    score = run(name, STRIDE)
    assert score.total > 100
    assert_sound(score)


@pytest.mark.slow
@pytest.mark.parametrize("name", GOLDEN)
def test_a_larger_sample(name: str) -> None:
    assert_sound(run(name, 11, 3))


def test_every_leaf_of_a_certificate_is_mutated() -> None:
    from certificates import golden

    seen = {mutant.where for mutant in leaf_mutants(golden("margin_tree"))}
    assert {
        "claim.bounds.lower",
        "model.sha256",
        "model.tensors.data",
        "margin_tree.wrong",
        "weights.bits",
        "end",
    } <= seen


def test_the_published_page_is_of_a_full_run_without_survivors() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "mutation.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| ") and line[2].isdigit())
    mutants, *zeros = [int(cell) for cell in row.strip("| ").split(" | ")]
    assert mutants >= 200_000
    assert zeros == [0, 0, 0]
    assert "**not listed**" not in page
