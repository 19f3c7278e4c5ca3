"""Claims about mixtures, given answers and the mean log-loss, from the command line to the verdict."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from made import BIN, MODEL, run

LOSS = "E[log-loss] of max of 6 tokens"
MIXED = "P(margin > -16) of max of 6 tokens when 1/4 (uniform) + 3/4 (query in {0..2} and maximum in {5})"
RIGHT = "accuracy of max of 12 tokens when 1/4 (uniform) + 3/4 (query in {0..2} and maximum in {11})"


def check(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(BIN / "check"), *map(str, words)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def loss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("loss") / "loss.json"
    done = run("certify", "--exact", MODEL, "-o", path, "--claim", f"{LOSS} <= 8", "--strategy", "margin-tree")
    assert done.returncode == 0, done.stderr
    assert "mean log-loss is at least" in done.stdout and "nats" in done.stdout
    return path


def test_a_loss_is_asked_for_with_at_most(loss: Path) -> None:
    done = check(loss, "--at-most", "8")
    assert done.returncode == 0 and done.stdout.endswith("VERIFIED\n")
    assert "mean log-loss" in done.stdout
    assert "AT_MOST" in check(loss, "--at-most", "0.01").stderr
    assert "AT_LEAST" in check(loss, "--at-least", "0.01").stderr
    report = json.loads(check(loss, "--json").stdout)
    assert report["quantity"] == "log-loss" and report["semantics"] == "real"


def test_shares_are_not_losses(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    done = run("certify", "--exact", MODEL, "-o", path, "--claim", RIGHT)
    assert done.returncode == 0, done.stderr
    assert "AT_MOST" in check(path, "--at-most", "1").stderr
    refused = check(path, "--at-least", "1%")
    assert refused.returncode == 1 and "--weighted" in refused.stderr
    assert check(path, "--at-least", "1%", "--weighted").returncode == 0
    shown = check(path, "--show").stdout
    assert "part 1 of the distribution: share" in shown and "right answer is one of 11" in shown
    assert "of part 1 of the distribution" in check(path, "--explain", "22").stdout + "".join(
        check(path, "--explain", str(step)).stdout for step in (20, 21)
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--claim", LOSS, "--jobs", "2"], "--jobs is for claims about one distribution"),
        (["--claim", LOSS, "--gap", "1%"], "write the bound into it"),
        (["--claim", MIXED, "--budget", "1000"], "write the bound into it"),
        (["--claim", LOSS, "--semantics", "float32"], "LOSS_SEMANTICS"),
        (["--claim", MIXED, "--strategy", "cubic"], "NOT_UNIFORM"),
        (["--claim", f"{LOSS} <= 1/100"], "CLAIM_NOT_REACHED"),
    ],
)
def test_what_is_not_for_these_claims(words: list[str], text: str, tmp_path: Path) -> None:
    done = run("certify", "--exact", MODEL, "-o", tmp_path / "x.json", *words)
    assert done.returncode == 2 and text in done.stderr, done.stderr
    assert not (tmp_path / "x.json").exists()


def test_estimates_and_tables_are_for_one_distribution(tmp_path: Path) -> None:
    assert "CLAIM_NOT_PLAIN" in run("certify", MODEL, "--claim", MIXED).stderr
    done = run("certify", "--exact", MODEL, "-o", tmp_path / "d", "--claim", LOSS, "--strategy", "all")
    assert "CLAIM_NOT_PLAIN" in done.stderr and not (tmp_path / "d").exists()


def test_a_program_over_a_mixture(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    done = run("certify", "--exact", MODEL, "-o", path, "--claim", MIXED, "--semantics", "float32")
    assert done.returncode == 0, done.stderr
    assert "binary32" in check(path).stdout


def test_given_answers_by_every_strategy(tmp_path: Path) -> None:
    claim = "accuracy of max of 8 tokens when maximum in {3,7}"
    bounds = {}
    for name in ("margin-tree", "brute-force", "margin-convolution", "cubic", "subcubic:70:tight"):
        path = tmp_path / f"{name.replace(':', '-')}.json"
        done = run("certify", "--exact", MODEL, "-o", path, "--claim", claim, "--strategy", name)
        assert done.returncode == 0, done.stderr
        report = json.loads(check(path, "--json").stdout)
        bounds[name] = int(report["lower"]), int(report["upper"])
        assert int(report["total"]) == 4**4 - 3**4 + 8**4 - 7**4
    assert bounds["margin-tree"] == bounds["brute-force"]
    right = bounds["margin-tree"][0]
    assert all(lower <= right <= upper for lower, upper in bounds.values())
