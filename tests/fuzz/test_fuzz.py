"""A smoke run of the fuzzers, the inputs that they have found so far, and a proof that their oracle bites."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "checker")]

import certificates  # noqa: E402
import fuzz  # noqa: E402

FOUND = sorted((HERE / "found").glob("*"))


@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="atheris is not installed")
@pytest.mark.parametrize(("target", "runs"), [("reader", 2000), ("certificates", 100)])
def test_a_short_run(target: str, runs: int, tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "fuzz.py"), target, "--runs", str(runs), "--seconds", "60"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " cov: " in done.stderr  # the checker is instrumented
    assert "stat::number_of_executed_units" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_inputs_that_were_found(path: Path) -> None:
    oracle = fuzz.Oracle()
    oracle.reader(path.read_bytes())
    oracle.certificates(path.read_bytes())


def test_changes_reach_other_claims_and_the_second_checker() -> None:
    """Without guidance, too, some changes give valid certificates of other claims."""
    oracle, others = fuzz.Oracle(), fuzz.seeds()
    for seed in range(150):
        oracle.certificates(fuzz.changed(others[seed % len(others)], 20000, seed, others))
    assert oracle.new >= 3


def test_the_oracle_bites(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = (fuzz.TESTS / "data" / "reject" / "lower_one_too_high.json").read_bytes()
    oracle = fuzz.Oracle()
    oracle.certificates(wrong)
    monkeypatch.setattr(certificates, "judge", lambda data, limit: certificates.Outcome("VERIFIED"))
    with pytest.raises(AssertionError, match="not by the second"):
        oracle.certificates(wrong)
    monkeypatch.setattr(certificates, "judge", lambda data, limit: certificates.Outcome("INTERNAL"))
    with pytest.raises(AssertionError, match="INTERNAL"):
        oracle.certificates(wrong)
